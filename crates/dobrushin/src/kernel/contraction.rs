//! η_γ of a finite kernel: the largest E_γ between two of its rows.
//!
//! # Implementation
//! The pairs of rows that may be the best are found in plain `f64` and then enclosed one by one. If there are too many
//! (a symmetric channel with hundreds of inputs), only the first is enclosed, and the upper end is the largest sum plus
//! the largest error of a sum.

use super::finite::FiniteKernel;
use crate::{Delta, Enclosure, Gamma};
use rayon::prelude::*;

/// A contraction coefficient and the two inputs that attain it.
///
/// ```
/// use dobrushin::Gamma;
/// use dobrushin::kernel::FiniteKernel;
///
/// // The first two inputs are nearly alike; the first and the third are told apart best.
/// let kernel = FiniteKernel::new(vec![vec![1.0, 0.0], vec![0.75, 0.25], vec![0.0, 1.0]])?;
/// let contraction = kernel.contraction_with_pair(Gamma::ONE);
/// assert_eq!((contraction.value.upper(), contraction.pair), (1.0, (0, 2)));
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contraction {
    /// η_γ.
    pub value: Enclosure,
    /// The inputs x, y with the largest E_γ(K(x)‖K(y)), counted from 0; the first of several such pairs.
    pub pair: (usize, usize),
}

impl FiniteKernel {
    /// η_γ for any γ > 0, with the pair of inputs that attains it.
    pub fn contraction_with_pair(&self, gamma: Gamma) -> Contraction {
        let gamma = if gamma.is_below_one() { gamma.reciprocal() } else { gamma };
        if self.largest_ratio().upper() <= gamma.value().lower() {
            return Contraction { value: Enclosure::ZERO, pair: (0, 1) };
        }
        let leaders = self.leaders(gamma.value().lower());
        let own = self.pair_divergence(leaders.pair, gamma);
        let upper = match leaders.near {
            Some(near) => {
                let ends = near.into_par_iter().map(|pair| self.pair_divergence(pair, gamma).upper());
                ends.reduce(|| own.upper(), f64::max)
            }
            None => (leaders.sum + self.slack()).next_up().min(1.0).max(own.upper()),
        };
        Contraction { value: Enclosure::between(own.lower(), upper), pair: leaders.pair }
    }

    /// The smallest ε ≥ 0 at which the kernel is (ε, δ)-locally private. At the upper end, η was checked to be at most
    /// δ.
    ///
    /// It uses Dinkelbach's iteration: the pair and the set of outcomes A that attain η_γ give the next γ = (P(A) −
    /// δ)/Q(A), which increases to the root of the pair, and then the best pair there is taken; a handful of
    /// evaluations of η_γ suffice.
    pub fn epsilon_at(&self, delta: Delta) -> Enclosure {
        let is_private = |gamma: Gamma| self.contraction_with_pair(gamma).value.upper() <= delta.get();
        if is_private(Gamma::ONE) {
            return Enclosure::ZERO;
        }
        let pure = self.largest_log_ratio();
        if delta.get() == 0.0 {
            return pure;
        }
        let mut root = Enclosure::ONE;
        let steepness = loop {
            let (next, steepness) = self.pair_root(self.leaders(root.midpoint()).pair, root, delta);
            if next == Enclosure::INFINITE {
                // Outcomes that only one input can produce have a probability above δ.
                return next;
            }
            if next.lower() <= root.lower() {
                break steepness;
            }
            root = next;
        };
        // This is the root up to rounding: γ is increased until the bound is certain.
        let mut upper = root.upper();
        let mut stride = (f64::EPSILON + 4.0 * f64::EPSILON / (steepness * upper).abs()).min(1e-9);
        while let Ok(gamma) = Gamma::new(upper) {
            if is_private(gamma) || gamma.epsilon().upper() > pure.upper() {
                break;
            }
            upper *= 1.0 + stride;
            stride *= 2.0;
        }
        let upper = Enclosure::from(upper).ln().min(pure).upper();
        let lower = Enclosure::from(root.lower().max(1.0)).ln().lower();
        Enclosure::between(lower.min(upper), upper)
    }

    /// Where E_γ between two rows falls to δ, starting at a smaller γ, and how fast.
    fn pair_root(&self, pair: (usize, usize), from: Enclosure, delta: Delta) -> (Enclosure, f64) {
        let mut root = from;
        loop {
            let (p, q) = self.attaining_set(pair, root.midpoint());
            let above = p - Enclosure::from(delta);
            if q == Enclosure::ZERO {
                return (if above.lower() > 0.0 { Enclosure::INFINITE } else { root }, 0.0);
            }
            let next = above / q;
            if next.lower() <= root.lower() {
                return (root, q.lower());
            }
            root = next;
        }
    }

    /// E_γ between two rows, for γ ≥ 1.
    fn pair_divergence(&self, (x, y): (usize, usize), gamma: Gamma) -> Enclosure {
        if self.same_law(x, y) {
            return Enclosure::ZERO;
        }
        let terms = self.row_enclosures(x).zip(self.row_enclosures(y)).map(|(p, q)| {
            let cost = if q == Enclosure::ZERO { q } else { gamma.value() * q };
            (p - cost).positive_part().min(p)
        });
        terms.sum::<Enclosure>().min(Enclosure::ONE)
    }

    /// P(A) and Q(A) of the set A = {p > γq}.
    fn attaining_set(&self, (x, y): (usize, usize), gamma: f64) -> (Enclosure, Enclosure) {
        let inside = || {
            let stored = self.row(x).iter().zip(self.row(y)).map(move |(p, q)| *p > gamma * q);
            self.row_enclosures(x).zip(self.row_enclosures(y)).zip(stored).filter(|(_, inside)| *inside)
        };
        (inside().map(|((p, _), _)| p).sum(), inside().map(|((_, q), _)| q).sum())
    }
}
