//! From the known facts about a training run to one step of a chain.

use super::batch::Ordinary;
use crate::chain::{Modulus, Participation, Piece, Step, StepNoise};
use crate::mechanism::Neighbours;
use crate::numeric::decimal::{nearest, plain};
use crate::run::{Fact, NoiseKind, Order, Training, missing};
use crate::{Enclosure, NotApplicable};

impl Training {
    /// The effect of a step on two iterates, if one record has the given participation.
    ///
    /// The linear part of an update is (1−λ)·I − η·A. With gradients of β-smooth losses, of |B| records divided by b,
    /// ‖A‖ ≤ β|B|/b; if they are convex, A is symmetric between ρ|B|/b and β|B|/b, so the Lipschitz factor is at most
    /// max(|1−λ−ηρ|B|/b|, |1−λ−ηβ|B|/b|). This holds for every η: beyond 2/β it is above 1, and nothing is kept together
    /// that is not. Clipping is a projection: it keeps ‖A‖ ≤ β, but not the symmetry, unless the
    /// loss is generalised linear: a clipped monotone derivative is monotone (and no longer strongly so). Every
    /// constant is the worst over the batches that can occur.
    pub(super) fn step_at(
        &self,
        time: u64,
        participation: Participation,
        ordinary: Option<&Ordinary>,
    ) -> Result<Step, NotApplicable> {
        let rate = self
            .rate_of(time)
            .ok_or_else(|| missing!("how far a step moves the iterate is unknown: give {}", LearningRate))?;
        self.step_of(rate, self.noise_at(time, rate, self.largest_norm()?), participation, ordinary)
    }

    /// The largest norm of one record's gradient.
    pub(super) fn largest_norm(&self) -> Result<Enclosure, NotApplicable> {
        let norm = self.contribution.ok_or_else(|| {
            missing!("how far a step moves the iterate is unknown: give {} or {}", ClipNorm, Lipschitz)
        })?;
        Ok(Enclosure::from(norm.norm()))
    }

    /// The same for a step with any of these learning rates and of these sizes of the noise.
    pub(super) fn step_of(
        &self,
        rate: Enclosure,
        noise: Enclosure,
        participation: Participation,
        ordinary: Option<&Ordinary>,
    ) -> Result<Step, NotApplicable> {
        let push = rate * self.largest_norm()?;
        let share = self.batch_shares(participation, ordinary);
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
        let moved = self.moved(ordinary);
        let contribution = push / moved.divisor;
        Ok(Step {
            noise: match self.noise_kind {
                NoiseKind::Gaussian => StepNoise::Gaussian(noise),
                NoiseKind::Laplace => StepNoise::Laplace(noise),
            },
            modulus: Modulus::new(pieces),
            displacement: Enclosure::from(moved.apart) * contribution,
            absence: Enclosure::from(moved.missing) * contribution,
            crossed: Modulus::new(vec![bounded]),
            growth: Some(Piece::enclosed(keep, push * share.upper_end())),
            vanishes: self.record_vanishes(),
            members: None,
            participation,
            diameter: None,
        })
    }

    /// The noise of the iterate in the first step, if it is known.
    pub(crate) fn first_noise(&self) -> Option<Enclosure> {
        self.step_at(1, Participation::Never, None).ok().map(|step| step.noise.size())
    }

    /// How far a record that a step uses moves the iterate, in units of its noise.
    pub(crate) fn exposure_at(&self, time: u64) -> Result<Enclosure, NotApplicable> {
        let step = self.step_at(time, Participation::Always, None)?;
        Ok(step.displacement / step.noise.size())
    }

    /// The number of contributions of one record by which neighbours differ in a step that uses it.
    pub(super) fn contributions_apart(&self) -> f64 {
        match (self.neighbours, self.order) {
            (Neighbours::ReplaceOne, _) => 2.0,
            // A batch of fixed size without the record contains another in its place.
            (Neighbours::AddOrRemoveOne, Order::WithoutReplacement) => 2.0,
            (Neighbours::AddOrRemoveOne | Neighbours::ZeroOut, _) => 1.0,
        }
    }

    /// The number of contributions by which a step with the record differs from one without it.
    pub(super) fn contributions_missing(&self) -> f64 {
        match self.order {
            // Another record is in its place.
            Order::WithoutReplacement => 2.0,
            // If the sum is divided by the number drawn, joining k ≥ 1 others moves their average w by (g − w)/(k + 1).
            Order::Poisson => 1.0,
            // It is never missing.
            _ => self.contributions_apart(),
        }
    }

    /// What was said about the loss but cannot be used, and why.
    pub(super) fn unused_facts(&self, ordinary: Option<&Ordinary>) -> Vec<String> {
        let mut notes = Vec::new();
        if self.is_convex() && !self.uses_convexity() {
            notes.push(format!(
                "convexity is not used: gradients are clipped ({}), and clipped gradients of a convex loss are not those \
                 of a convex loss, unless it is {}",
                Fact::ClipNorm,
                Fact::GeneralisedLinear
            ));
        }
        if self.uses_convexity() && self.loss.smoothness.is_none() {
            notes.push(format!("convexity is not used: {} is missing", Fact::Smoothness));
        }
        let strong = self.loss.strong_convexity.is_some_and(|rho| rho.get() > 0.0);
        if strong && self.uses_convexity() && self.is_clipped() {
            notes.push(
                "strong convexity is not used: clipped gradients need not be strongly monotone".to_owned(),
            );
        }
        notes.extend(self.too_fast());
        let largest = self.batch_shares(Participation::Never, None).most;
        if self.order == Order::Poisson && largest.lower() > 1.0 && ordinary.is_none() {
            notes.push(format!(
                "a Poisson batch may hold all records, so with a fixed divisor an update may be {:.1} times the usual \
                 one, and may also be empty: smoothness and clipping count that much more, and strong convexity not \
                 at all; order = \"without-replacement\" has no such problem",
                largest.upper()
            ));
        }
        notes
    }

    /// That some steps are too long for convexity to keep iterates together, what is left of it, and the remedy.
    fn too_fast(&self) -> Option<String> {
        let (rate, limit) = (self.fastest_rate()?, self.largest_rate());
        let beta = self.loss.smoothness.filter(|_| self.uses_convexity())?;
        // Rounding must not make a rate of exactly 2/β too large.
        (rate > limit * (1.0 + 1e-12)).then(|| {
            let apart = (rate * beta.get() + self.weight_decay - 1.0).max(1.0);
            format!(
                "convexity keeps iterates together only up to a learning rate of 2/{} = {}, but {} is {}: such a step may \
                 drive two iterates apart by a factor of {}, and is counted so. A learning rate of at most {} would hide more",
                Fact::Smoothness,
                plain(limit),
                Fact::LearningRate,
                plain(rate),
                nearest(apart, 4),
                plain(limit)
            )
        })
    }
}
