//! The numbers of each step, and which properties of the loss its gradients keep.

use super::training::{Contribution, LearningRate, Noise, Training};
use crate::Enclosure;

/// The numbers of one step.
///
/// ```
/// use dobrushin::run::Update;
/// use dobrushin::{Order, Run};
///
/// let run = Run::dp_sgd(1000).order(Order::Cyclic).batch_size(10).epochs(1.0).learning_rate(0.5).clip_norm(1.0);
/// let run = run.iterate_noise(0.25).build()?;
/// let update = run.as_training().and_then(|training| training.update_at(1));
/// assert_eq!(update, Some(Update { rate: 0.5, noise: 0.25, divisor: 10.0 }));
/// # Ok::<(), dobrushin::RunError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Update {
    /// η.
    pub rate: f64,
    /// The size of the iterate's noise: the standard deviation, or the scale of Laplace noise.
    pub noise: f64,
    /// What the sum of gradients is divided by, unless it is the number of records drawn.
    pub divisor: f64,
}

impl Training {
    /// Whether all steps are equal.
    pub(crate) fn has_equal_steps(&self) -> bool {
        matches!(self.learning_rate, Some(LearningRate::Constant(_)))
            && !matches!(self.noise, Noise::GradientList(_))
    }

    /// Whether the noise is the same multiple of one record's contribution in every step.
    pub(crate) fn has_equal_ratios(&self) -> bool {
        self.has_equal_steps() || matches!(self.noise, Noise::Multiplier(_) | Noise::Gradient(_))
    }

    /// The numbers of a step, counted from 1, for code that carries it out; `None` if the step is not fully described.
    ///
    /// # Guarantee
    /// Every analysis covers a step with this learning rate and this noise: the rate is within the rounding of the
    /// analyses, and the noise is at least as large as theirs.
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

    /// The largest learning rate of any step.
    pub(crate) fn fastest_rate(&self) -> Option<f64> {
        Some(match self.learning_rate.as_ref()? {
            LearningRate::Constant(rate) | LearningRate::InverseSqrt(rate) => rate.get(),
            LearningRate::List(rates) => rates.iter().map(|rate| rate.get()).fold(0.0, f64::max),
        })
    }

    /// 2/β if the loss is convex: a longer step on a convex loss may drive iterates apart (E6).
    pub(crate) fn largest_rate(&self) -> f64 {
        match self.loss.smoothness {
            Some(beta) if self.is_convex() => 2.0 / beta.get(),
            _ => f64::INFINITY,
        }
    }

    /// Whether the loss is known to be convex.
    pub(crate) fn is_convex(&self) -> bool {
        self.loss.convex == Some(true) || self.loss.strong_convexity.is_some_and(|rho| rho.get() > 0.0)
    }

    pub(crate) fn is_clipped(&self) -> bool {
        matches!(self.contribution, Some(Contribution::Clipped(_)))
    }

    /// Whether the gradients in use are gradients of convex functions.
    pub(crate) fn uses_convexity(&self) -> bool {
        self.is_convex() && (!self.is_clipped() || self.loss.generalised_linear == Some(true))
    }

    pub(crate) fn usable_strong_convexity(&self) -> Enclosure {
        match self.loss.strong_convexity {
            Some(rho) if !self.is_clipped() => rho.into(),
            _ => Enclosure::ZERO,
        }
    }
}
