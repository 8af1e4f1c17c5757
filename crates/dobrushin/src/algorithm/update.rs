//! From what is known of a training run to one step of a chain.

use super::training::{Contribution, Divisor, LearningRate, Noise, NoiseKind, Order, Training};
use crate::chain::{Modulus, Participation, Piece, Step, StepNoise};
use crate::mechanism::Neighbours;
use crate::{Enclosure, NotApplicable};

impl Training {
    /// Whether all steps are equal.
    pub(crate) fn has_equal_steps(&self) -> bool {
        matches!(self.learning_rate, Some(LearningRate::Constant(_)))
            && !matches!(self.noise, Noise::GradientList(_))
    }

    /// Whether the noise is the same multiple of one record's contribution in every step.
    pub(super) fn has_equal_ratios(&self) -> bool {
        self.has_equal_steps() || matches!(self.noise, Noise::Multiplier(_) | Noise::Gradient(_))
    }

    /// The numbers of a step, counted from 1, for whoever carries it out; `None` if the step is not fully described.
    ///
    /// # Guarantee
    /// Every analysis covers a step with this learning rate and this noise: the rate is within the rounding of the
    /// analyses, and the noise at least as large.
    pub fn update_at(&self, time: u64) -> Option<Update> {
        let rate = self.rate_of(time)?;
        let norm = Enclosure::from(self.contribution?.norm());
        Some(Update {
            rate: rate.midpoint(),
            noise: self.noise_at(time, rate, norm).upper(),
            divisor: self.nominal_batch().midpoint(),
        })
    }

    /// η of a step, counted from 1.
    pub(crate) fn rate_of(&self, time: u64) -> Option<Enclosure> {
        match self.learning_rate.as_ref()? {
            LearningRate::Constant(rate) => Some(Enclosure::from(*rate)),
            LearningRate::List(list) => {
                list.get(usize::try_from(time).ok()?.checked_sub(1)?).map(|&r| r.into())
            }
            LearningRate::InverseSqrt(first) => Some(Enclosure::from(*first) / Enclosure::from(time).sqrt()),
        }
    }

    /// What a step does to two iterates, used by one record with the given participation.
    ///
    /// The linear part of an update is (1−λ)·I − η·A. With gradients of β-smooth losses, of |B| records
    /// divided by b, ‖A‖ ≤ β|B|/b; if they are convex, A is symmetric between ρ|B|/b and β|B|/b, so the factor
    /// is at most max(|1−λ−ηρ|B|/b|, |1−λ−ηβ|B|/b|). Clipping is a projection: it keeps ‖A‖ ≤ β, but not
    /// the symmetry, unless the loss is generalised linear: a clipped monotone derivative is
    /// monotone (and no longer strongly so). Every constant is the worst over the batches that can occur.
    pub(crate) fn step_at(&self, time: u64, participation: Participation) -> Result<Step, NotApplicable> {
        let missing =
            |what| NotApplicable::new(format!("how far a step moves the iterate is unknown: give {what}"));
        let rate = self.rate_of(time).ok_or_else(|| missing("update.learning-rate"))?;
        let norm = self.contribution.ok_or_else(|| missing("update.clip-norm or update.lipschitz"))?;
        let push = rate * Enclosure::from(norm.norm());
        let share = self.batch_shares(participation);
        let keep = Enclosure::ONE - Enclosure::from(self.weight_decay);
        let bounded = Piece::enclosed(keep, Enclosure::from(2.0) * push * share.upper_end());
        let mut pieces = vec![bounded];
        if let Some(smoothness) = self.loss.smoothness {
            let most = rate * Enclosure::from(smoothness) * share.upper_end();
            let slope = if self.uses_convexity() {
                let least = rate * self.usable_strong_convexity() * share.lower_end();
                (keep - least).abs().max((keep - most).abs())
            } else {
                keep + most
            };
            pieces.insert(0, Piece::enclosed(slope, Enclosure::ZERO));
        }
        let noise = self.noise_at(time, rate, Enclosure::from(norm.norm()));
        let contribution = push / self.smallest_divisor();
        Ok(Step {
            noise: match self.noise_kind {
                NoiseKind::Gaussian => StepNoise::Gaussian(noise),
                NoiseKind::Laplace => StepNoise::Laplace(noise),
            },
            modulus: Modulus::new(pieces),
            displacement: Enclosure::from(self.contributions_apart()) * contribution,
            absence: Enclosure::from(self.contributions_missing()) * contribution,
            crossed: Modulus::new(vec![bounded]),
            growth: Some(Piece::enclosed(keep, push * share.upper_end())),
            participation,
        })
    }

    /// The noise of the iterate.
    pub(crate) fn noise_at(&self, time: u64, rate: Enclosure, norm: Enclosure) -> Enclosure {
        match &self.noise {
            Noise::Multiplier(m) => rate * Enclosure::from(*m) * norm / self.nominal_batch(),
            Noise::Gradient(sigma) => rate * Enclosure::from(*sigma),
            Noise::GradientList(list) => {
                let index = usize::try_from(time).unwrap_or(usize::MAX).saturating_sub(1);
                list.get(index).map_or(Enclosure::ENTIRE, |&sigma| rate * Enclosure::from(sigma))
            }
            Noise::Iterate(noise) => Enclosure::from(*noise),
        }
    }

    /// By how many contributions of one record neighbours differ in a step that uses it.
    fn contributions_apart(&self) -> f64 {
        match (self.neighbours, self.order) {
            (Neighbours::ReplaceOne, _) => 2.0,
            // A batch of fixed size without the record has another in its place.
            (Neighbours::AddOrRemoveOne, Order::WithoutReplacement) => 2.0,
            (Neighbours::AddOrRemoveOne | Neighbours::ZeroOut, _) => 1.0,
        }
    }

    /// By how many contributions a step with the record differs from one without it.
    fn contributions_missing(&self) -> f64 {
        match self.order {
            // Another record is in its place.
            Order::WithoutReplacement => 2.0,
            // Divided by the number drawn, joining k ≥ 1 others moves their average w by (g − w)/(k + 1).
            Order::Poisson => 1.0,
            // It is never missing.
            _ => self.contributions_apart(),
        }
    }

    /// The least and the largest |B|/b that can occur, for either neighbour, of records that are not empty.
    ///
    /// Under zero-out the record's gradient is zero in one of the neighbours, and adds no curvature there: if it takes part,
    /// that neighbour's batch has one record less. (Where only the distance of the two neighbours' iterates counts, it
    /// would be enough that one of their updates contracts; analyses that let both go on with the same update, of either
    /// of them, need this.)
    fn batch_shares(&self, participation: Participation) -> Shares {
        let one = Enclosure::ONE;
        let divisor = self.nominal_batch();
        let records = Enclosure::from(self.records);
        let mut shares = match (self.order, self.divide_by) {
            // A batch may be empty, or hold every record.
            (Order::Poisson, Divisor::Actual) => Shares { least: Enclosure::ZERO, most: one },
            (Order::Poisson, Divisor::BatchSize) => {
                let extra = if self.neighbours == Neighbours::AddOrRemoveOne { one } else { Enclosure::ZERO };
                Shares { least: Enclosure::ZERO, most: (records + extra) / divisor }
            }
            (Order::Full, Divisor::BatchSize) if self.neighbours == Neighbours::AddOrRemoveOne => {
                Shares { least: (records - one) / divisor, most: (records + one) / divisor }
            }
            (order, divide_by) if order.is_by_passes() => {
                let fewest = self.fewest_in_a_batch(false);
                let least = match divide_by {
                    Divisor::BatchSize => fewest / divisor,
                    // The same unless empty records count: then their batch has the full divisor.
                    Divisor::Actual if fewest == self.fewest_in_a_batch(true) => one,
                    Divisor::Actual => fewest / divisor,
                };
                Shares { least, most: one }
            }
            _ => Shares { least: one, most: one },
        };
        if self.neighbours == Neighbours::ZeroOut && !participation.is_never() {
            shares.least = (shares.least - one / self.smallest_divisor()).positive_part();
        }
        shares
    }

    /// Whether the loss is said to be convex.
    pub(crate) fn is_convex(&self) -> bool {
        self.loss.convex == Some(true) || self.loss.strong_convexity.is_some_and(|rho| rho.get() > 0.0)
    }

    pub(crate) fn is_clipped(&self) -> bool {
        matches!(self.contribution, Some(Contribution::Clipped(_)))
    }

    /// Whether the gradients that are used are those of convex functions.
    pub(crate) fn uses_convexity(&self) -> bool {
        self.is_convex() && (!self.is_clipped() || self.loss.generalised_linear == Some(true))
    }

    pub(super) fn usable_strong_convexity(&self) -> Enclosure {
        match self.loss.strong_convexity {
            Some(rho) if !self.is_clipped() => rho.into(),
            _ => Enclosure::ZERO,
        }
    }

    /// What is said of the loss but cannot be used, and why.
    pub(super) fn unused_facts(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.is_convex() && !self.uses_convexity() {
            notes.push(
                "convexity is not used: gradients are clipped (update.clip-norm), and clipped gradients of a convex \
                 loss are not those of a convex loss, unless it is loss.generalised-linear"
                    .to_owned(),
            );
        }
        if self.uses_convexity() && self.loss.smoothness.is_none() {
            notes.push("convexity is not used: loss.smoothness is missing".to_owned());
        }
        let strong = self.loss.strong_convexity.is_some_and(|rho| rho.get() > 0.0);
        if strong && self.uses_convexity() && self.is_clipped() {
            notes.push(
                "strong convexity is not used: clipped gradients need not be strongly monotone".to_owned(),
            );
        }
        let largest = self.batch_shares(Participation::Never).most;
        if self.order == Order::Poisson && largest.lower() > 1.0 {
            notes.push(format!(
                "a Poisson batch may hold all records, so with a fixed divisor an update may be {:.1} times the usual \
                 one, and may also be empty: smoothness and clipping count that much more, and strong convexity not \
                 at all; order = \"without-replacement\" has no such problem",
                largest.upper()
            ));
        }
        notes
    }
}

/// The numbers of one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Update {
    /// η.
    pub rate: f64,
    /// The size of the iterate's noise: the standard deviation, or the scale of Laplace noise.
    pub noise: f64,
    /// What the sum of gradients is divided by, unless it is the number of records that were drawn.
    pub divisor: f64,
}

struct Shares {
    least: Enclosure,
    most: Enclosure,
}

impl Shares {
    fn lower_end(&self) -> Enclosure {
        Enclosure::from(self.least.lower())
    }

    fn upper_end(&self) -> Enclosure {
        Enclosure::from(self.most.upper())
    }
}
