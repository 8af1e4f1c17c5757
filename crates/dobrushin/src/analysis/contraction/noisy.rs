//! How much some noise contracts E_γ: linearly, and along the tight curve.

use super::super::logs::{ln_contracted, ln_excess_down, raised};
use crate::chain::{Count, StepNoise};
use crate::numeric::theta;
use crate::{Enclosure, Epsilon};

/// η of some steps: E_γ of their noise at a distance.
#[derive(Clone, Copy)]
pub(super) enum Noisy {
    /// Gaussian noise, at this many of its standard deviations.
    Gaussian(Enclosure),
    /// Other noise, at a distance.
    Other(StepNoise, Enclosure),
}

/// ε, with ln(e^ε − 1) rounded down.
#[derive(Clone, Copy)]
pub(super) struct Level {
    pub epsilon: Epsilon,
    ln_excess: f64,
}

impl Level {
    pub(super) fn new(epsilon: Epsilon) -> Self {
        Self { epsilon, ln_excess: ln_excess_down(epsilon.get()) }
    }
}

impl Noisy {
    /// This noise around points at most this distance apart.
    pub(super) fn new(noise: StepNoise, distance: Enclosure) -> Self {
        match noise {
            StepNoise::Gaussian(size) if size != Enclosure::ZERO => Self::Gaussian(distance / size),
            _ => Self::Other(noise, distance),
        }
    }

    /// ln η_γ.
    pub(super) fn ln_eta(&self, epsilon: Epsilon) -> Enclosure {
        match self {
            Self::Gaussian(ratio) => theta::ln_theta_range(epsilon.into(), *ratio),
            Self::Other(noise, distance) => noise.ln_overlap(*distance, epsilon),
        }
    }

    /// ln F_γ(e), increasing in e.
    pub(super) fn ln_tight(&self, epsilon: Epsilon, ln_e: Enclosure) -> Enclosure {
        ln_e.map_monotone(|ln_e| {
            if ln_e == f64::NEG_INFINITY {
                return Enclosure::from(ln_e);
            }
            let ln_e = Enclosure::from(ln_e);
            // ln γ̃ = ln(1 + (γ−1)/e), where (γ−1)/e may overflow.
            let excess = Enclosure::from(epsilon).exp_m1().ln() - ln_e;
            let tilted =
                if excess.lower() > 40.0 { excess + (-excess).exp().ln_1p() } else { excess.exp().ln_1p() };
            ln_e + tilted.positive_part().map_monotone(|tilted| {
                Epsilon::new(tilted).map_or(Enclosure::ZERO, |tilted| self.ln_eta(tilted))
            })
        })
    }

    /// An upper bound on ln F_γ(e), several times faster, for searches.
    fn ln_tight_at_most(&self, level: Level, ln_e: f64) -> f64 {
        match self {
            Self::Gaussian(ratio) => ln_contracted(ratio.upper(), level.ln_excess, ln_e),
            Self::Other(..) => self.ln_tight(level.epsilon, Enclosure::from(ln_e)).upper(),
        }
    }

    /// F_γ, iterated; after some iterations, bounded by the last ratio, since the ratios only fall.
    pub(super) fn repeated(&self, epsilon: Epsilon, mut ln_e: Enclosure, count: Count) -> Enclosure {
        let Count::Times(times) = count else {
            return ln_e;
        };
        for done in 0..times {
            let next = self.ln_tight(epsilon, ln_e);
            let ratio = (next - ln_e).min(Enclosure::ZERO);
            if is_enough(done, ratio.upper(), next.upper()) {
                return next + Count::Times(times - done - 1).times(Enclosure::from(ratio.upper()));
            }
            ln_e = next.min(ln_e);
        }
        ln_e
    }

    /// An upper bound on the upper end of [`Noisy::repeated`], for searches.
    pub(super) fn repeated_at_most(&self, level: Level, mut ln_e: f64, count: Count) -> f64 {
        let Count::Times(times) = count else {
            return ln_e;
        };
        for done in 0..times {
            let next = self.ln_tight_at_most(level, ln_e);
            let left = times - done - 1;
            if left == 0 || next == f64::NEG_INFINITY {
                return next;
            }
            let ratio = raised(next - ln_e, next.abs() + ln_e.abs()).min(0.0);
            if is_enough(done, ratio, next) {
                let others = left as f64 * ratio;
                return raised(next + others, next.abs() + others.abs());
            }
            ln_e = next.min(ln_e);
        }
        ln_e
    }
}

/// Whether further single repetitions would gain little: there were many, or nothing is forgotten, or everything is.
fn is_enough(done: u64, ln_ratio: f64, ln_e: f64) -> bool {
    const ONE_BY_ONE: u64 = 24;
    done + 1 == ONE_BY_ONE || ln_ratio > -1e-9 || ln_e < -1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_find_what_is_then_enclosed() {
        let laplace = StepNoise::laplace(1.0).expect("valid");
        let noises = [
            Noisy::Gaussian(Enclosure::from(0.3)),
            Noisy::Gaussian(Enclosure::from(3.0)),
            Noisy::Gaussian(Enclosure::from(9.0)),
            Noisy::new(laplace, Enclosure::from(2.0)),
        ];
        for noise in noises {
            for epsilon in [0.0, 1e-3, 0.5, 3.0] {
                let level = Level::new(Epsilon::new(epsilon).expect("valid"));
                for ln_e in [f64::NEG_INFINITY, -500.0, -3.0, -0.1, 0.0] {
                    for times in [1, 2, 5, 24, 25, 1_000_000] {
                        let count = Count::Times(times);
                        let enclosed = noise.repeated(level.epsilon, Enclosure::from(ln_e), count).upper();
                        let searched = noise.repeated_at_most(level, ln_e, count);
                        // The margin of a ratio counts each time it is used.
                        let near = (1e-9 + 2e-14 * times as f64) * (1.0 + enclosed.abs());
                        assert!(
                            searched == enclosed || (searched - enclosed).abs() <= near,
                            "{times} times from {ln_e} at {epsilon}: {searched} against {enclosed}"
                        );
                    }
                }
            }
        }
    }
}
