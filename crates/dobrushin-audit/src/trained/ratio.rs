//! The likelihood ratio of what is released along a quiet direction, where its law is known.
//!
//! Along a direction that no other record moves, the release is Σ aᵀ⁻ᵗ·(push of step t + noise of step t) with
//! a = 1 − λ. If the last iterate is released, its law is a mixture of Gaussians with one variance v and means κ·m ≥ 0
//! for `With`, where κ is 1, and 0 or −1 for `Without`. With M(x) = Σ weight·e^(−m²/2v + m·x/v), the likelihood
//! ratio is M(x), or M(x)/M(−x). Both grow with x. So every likelihood-ratio test is a threshold for x, and x
//! itself is as good a score as the ratio. If a run stops or starts at random, the variances differ, and the ratio is
//! computed.

use super::uses::Uses;
use dobrushin::mechanism::Neighbours;
use dobrushin::numeric::elementary::powi;
use dobrushin::run::{NoiseKind, Release, Training};

/// Runs with more outcomes than this are scored without the ratio.
const MOST: u64 = 1 << 14;

/// Gaussians of equal weight: one for each number of steps that may have been carried out.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ratio {
    /// The mean for `With`, and the variance.
    parts: Vec<(f64, f64)>,
    /// By what the means are multiplied for `Without`.
    other: f64,
}

impl Ratio {
    /// The ratio for a record that pushes in all of its steps for which `pushes` holds, if it must be computed.
    pub fn new(training: &Training, uses: &Uses, pushes: impl Fn(u64) -> bool) -> Option<Self> {
        let known = uses.are_known() && training.noise_kind == NoiseKind::Gaussian;
        let last = uses.steps.saturating_add(training.public_steps);
        if !known || last > MOST {
            return None;
        }
        let keep = 1.0 - training.weight_decay;
        let clip = training.contribution?.norm().get();
        let mut steps = Vec::new();
        for time in 1..=last {
            let update = training.update_at(time)?;
            let used = if pushes(time) { uses.probability(time) } else { 0.0 };
            steps.push((used * update.rate * clip / update.divisor, update.noise * update.noise));
        }
        let parts = match training.release {
            Release::RandomStop => {
                let after = steps.iter().scan((0.0, 0.0), |(mean, variance), (push, noise)| {
                    (*mean, *variance) = (keep * *mean + push, keep * keep * *variance + noise);
                    Some((*mean, *variance))
                });
                after.collect()
            }
            Release::RandomSkip => {
                let skipped = uses.steps / 2;
                let (mut mean, mut variance, mut factor) = (0.0, 0.0, 1.0);
                let mut parts = Vec::new();
                for (index, (push, noise)) in steps.iter().enumerate().rev() {
                    mean += factor * push;
                    variance += factor * factor * noise;
                    factor *= keep;
                    if index as u64 <= skipped {
                        parts.push((mean, variance));
                    }
                }
                parts
            }
            Release::Last | Release::All => return None,
        };
        let other = if training.neighbours == Neighbours::ReplaceOne { -1.0 } else { 0.0 };
        Some(Self { parts, other })
    }

    /// The logarithm of the likelihood ratio.
    pub fn at(&self, x: f64) -> f64 {
        self.log_density(x, 1.0) - self.log_density(x, self.other)
    }

    fn log_density(&self, x: f64, factor: f64) -> f64 {
        let terms = || {
            let term = |&(mean, variance): &(f64, f64)| {
                -powi(x - factor * mean, 2) / (2.0 * variance) - 0.5 * libm::log(variance)
            };
            self.parts.iter().map(term)
        };
        log_sum(terms)
    }
}

/// ln Σ e^term.
pub(super) fn log_sum<Terms: Iterator<Item = f64>>(terms: impl Fn() -> Terms) -> f64 {
    let most = terms().fold(f64::NEG_INFINITY, f64::max);
    if most.is_finite() {
        most + libm::log(terms().map(|term| libm::exp(term - most)).sum::<f64>())
    } else {
        most
    }
}
