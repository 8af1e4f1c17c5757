//! η_γ of a finite kernel: the largest E_γ between two of its rows.
//!
//! # Implementation
//! All m² ordered pairs are compared in plain `f64`, in blocks of rows that stay
//! in the cache, with several partial sums for the processor's vector units. The
//! sum of (p − γq)₊ over k outcomes in 8 partial sums is off by at most k/8 + 8
//! units of roundoff, and each of its terms, in which γq ≤ p, by at most 3 units
//! and twice the relative error of the entries, of p. That error is added once to
//! the largest sum; the pair that attains it is then enclosed by itself, which
//! gives the lower end. With few inputs every pair that comes near is enclosed by
//! itself, which gives the upper end without that error.

use super::finite::FiniteKernel;
use crate::numeric::UNIT_ROUNDOFF;
use crate::{Delta, Enclosure, Gamma};
use rayon::prelude::*;

/// A contraction coefficient and the two inputs that attain it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contraction {
    /// η_γ.
    pub value: Enclosure,
    /// The inputs x, y with the largest E_γ(K(x)‖K(y)), counted from 0; of
    /// several the first.
    pub pair: (usize, usize),
}

/// Up to this many inputs a second pass over the pairs is worth its price.
const FEW_INPUTS: usize = 8;

/// Relative steps in γ above this are not taken before pairs of rows have been
/// enclosed one by one.
const FINE_STRIDE: f64 = 1e-9;

/// Rows compared with one row while it is in the cache.
const BLOCK: usize = 16;

impl FiniteKernel {
    /// η_γ for any γ > 0, with the pair of inputs that attains it.
    pub fn contraction_with_pair(&self, gamma: Gamma) -> Contraction {
        let gamma = if gamma.is_below_one() { gamma.reciprocal() } else { gamma };
        let best = self.largest_pair(gamma.value().lower());
        if self.largest_ratio().upper() <= gamma.value().lower() {
            return Contraction { value: Enclosure::ZERO, pair: best.pair };
        }
        let own = self.pair_divergence(best.pair, gamma);
        let upper = if self.inputs() <= FEW_INPUTS {
            self.largest_near(gamma, own.upper())
        } else {
            (best.sum + self.slack()).next_up().min(1.0).max(own.upper())
        };
        Contraction { value: Enclosure::between(own.lower(), upper), pair: best.pair }
    }

    /// The larger of `floor` and the upper ends of all pairs of rows, of which those
    /// that are certainly below it need not be enclosed.
    fn largest_near(&self, gamma: Gamma, floor: f64) -> f64 {
        let mut most = floor;
        for (x, y) in (0..self.inputs()).flat_map(|x| (0..x).map(move |y| (x, y))) {
            let (forward, backward) = hockey_sticks(self.row(x), self.row(y), gamma.value().lower());
            for (sum, pair) in [(forward, (x, y)), (backward, (y, x))] {
                if (sum + self.slack()).next_up() > most {
                    most = most.max(self.pair_divergence(pair, gamma).upper());
                }
            }
        }
        most
    }

    /// How far a computed sum may be from E_γ, see the module's documentation.
    fn slack(&self) -> f64 {
        (self.outputs() as f64 / 8.0 + 12.0) * UNIT_ROUNDOFF + 2.1 * self.relative_error()
    }

    /// The smallest ε ≥ 0 at which the kernel is (ε, δ)-locally private. At the
    /// upper end η was seen to be at most δ.
    ///
    /// By Dinkelbach's iteration: the pair and the set of outcomes A that attain
    /// η_γ give the next γ = (P(A) − δ)/Q(A), which increases to the root of the
    /// pair, and then the best pair there; a handful of evaluations of η_γ.
    pub fn epsilon_at(&self, delta: Delta) -> Enclosure {
        let pure = self.largest_log_ratio();
        if self.is_private(Gamma::ONE, delta) {
            return Enclosure::ZERO;
        }
        if delta.get() == 0.0 {
            return pure;
        }
        let mut root = Enclosure::ONE;
        let steepness = loop {
            let (next, steepness) = self.pair_root(self.largest_pair(root.midpoint()).pair, root, delta);
            if next == Enclosure::INFINITE {
                // What one input alone can produce is more than δ.
                return next;
            }
            if next.lower() <= root.lower() {
                break steepness;
            }
            root = next;
        };
        // That is the root up to rounding: step up until it is certain.
        let mut stride =
            f64::EPSILON + (2.0 * self.slack() / (steepness * root.upper()).abs()).min(FINE_STRIDE);
        let mut upper = root.upper() * if self.inputs() > FEW_INPUTS { 1.0 + stride } else { 1.0 };
        while let Ok(gamma) = Gamma::new(upper) {
            // Where the curve is flat at δ, no step makes up for the slack.
            let quick = self.contraction_with_pair(gamma).value.upper() <= delta.get();
            let seen = quick || stride > FINE_STRIDE && self.is_private(gamma, delta);
            if seen || gamma.epsilon().upper() > pure.upper() {
                break;
            }
            upper *= 1.0 + stride;
            stride *= 2.0;
        }
        let upper = Enclosure::from(upper).ln().min(pure).upper();
        let lower = Enclosure::from(root.lower().max(1.0)).ln().lower();
        Enclosure::between(lower.min(upper), upper)
    }

    /// Where E_γ between two rows falls to δ, from a γ before that on, and how fast.
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

    /// Whether η_γ is certainly at most δ, for γ ≥ 1. Pairs of rows too close to δ
    /// for the slack are enclosed one by one.
    fn is_private(&self, gamma: Gamma, delta: Delta) -> bool {
        let best = self.largest_pair(gamma.value().lower());
        if best.sum + self.slack() < delta.get() {
            return true;
        }
        if best.sum - self.slack() > delta.get() {
            return false;
        }
        let certain = |sum: f64, pair: (usize, usize)| {
            sum + self.slack() < delta.get() || self.pair_divergence(pair, gamma).upper() <= delta.get()
        };
        (0..self.inputs()).into_par_iter().all(|x| {
            (0..x).all(|y| {
                let (forward, backward) = hockey_sticks(self.row(x), self.row(y), gamma.value().lower());
                certain(forward, (x, y)) && certain(backward, (y, x))
            })
        })
    }

    /// The smallest ε at which the kernel is ε-locally private with δ = 0: the
    /// largest ln(K(z|x)/K(z|y)).
    pub fn largest_log_ratio(&self) -> Enclosure {
        let ratio = self.largest_ratio();
        if ratio == Enclosure::INFINITE || ratio.upper() < f64::INFINITY {
            return ratio.ln();
        }
        // The ratio overflows, its logarithm does not.
        let error = 3.0 * self.relative_error();
        let logs = self
            .column_extremes()
            .map(|(least, most)| Enclosure::from(most).ln() - Enclosure::from(least).ln());
        logs.fold(Enclosure::ZERO, Enclosure::max) + Enclosure::between(-error, error)
    }

    /// The largest K(z|x)/K(z|y): from this γ on η_γ is 0. Found in O(mk) as the
    /// largest over the smallest entry of a column.
    pub fn largest_ratio(&self) -> Enclosure {
        if (1..self.inputs()).all(|x| self.same_law(0, x)) {
            return Enclosure::ONE;
        }
        let ratios = self.column_extremes().map(|(least, most)| {
            if least == 0.0 {
                return Enclosure::INFINITE;
            }
            Enclosure::from(most) / Enclosure::from(least)
        });
        let stored = ratios.fold(Enclosure::ONE, Enclosure::max);
        if self.relative_error() == 0.0 || stored == Enclosure::INFINITE {
            return stored;
        }
        let error = 3.0 * self.relative_error();
        (stored * Enclosure::between(1.0 - error, 1.0 + error)).max(Enclosure::ONE)
    }

    /// The smallest and the largest entry of each column that has a positive one.
    fn column_extremes(&self) -> impl Iterator<Item = (f64, f64)> {
        let columns = self.outputs();
        let mut extremes = vec![(f64::INFINITY, 0.0_f64); columns];
        for x in 0..self.inputs() {
            for ((least, most), &p) in extremes.iter_mut().zip(self.row(x)) {
                *least = least.min(p);
                *most = most.max(p);
            }
        }
        extremes.into_iter().filter(|(_, most)| *most > 0.0)
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

    /// The ordered pair of rows with the largest computed sum.
    fn largest_pair(&self, gamma: f64) -> Best {
        let starts: Vec<usize> = (0..self.inputs()).step_by(BLOCK).collect();
        let block = |start: usize| {
            let end = (start + BLOCK).min(self.inputs());
            let mut best = Best::NONE;
            for y in start..self.inputs() {
                for x in start..end.min(y) {
                    let (forward, backward) = hockey_sticks(self.row(x), self.row(y), gamma);
                    best = best.or(Best { sum: forward, pair: (x, y) });
                    best = best.or(Best { sum: backward, pair: (y, x) });
                }
            }
            best
        };
        starts.into_par_iter().map(block).reduce(|| Best::NONE, Best::or)
    }
}

/// The largest sum so far. Of equal sums the first pair in order stays, so that
/// the answer does not depend on the scheduling of threads.
#[derive(Clone, Copy)]
struct Best {
    sum: f64,
    pair: (usize, usize),
}

impl Best {
    const NONE: Self = Self { sum: -1.0, pair: (0, 0) };

    fn or(self, other: Self) -> Self {
        let other_first = other.sum == self.sum && other.pair < self.pair;
        if other.sum > self.sum || other_first { other } else { self }
    }
}

/// Σ(p − γq)₊ and Σ(q − γp)₊, in 8 partial sums each.
fn hockey_sticks(p: &[f64], q: &[f64], gamma: f64) -> (f64, f64) {
    const LANES: usize = 8;
    let part = |x: f64| if x > 0.0 { x } else { 0.0 };
    let (mut forward, mut backward) = ([0.0; LANES], [0.0; LANES]);
    let (p_chunks, q_chunks) = (p.chunks_exact(LANES), q.chunks_exact(LANES));
    let rest = p_chunks.remainder().iter().zip(q_chunks.remainder());
    for (lane, (p, q)) in rest.enumerate() {
        forward[lane] = part(p - gamma * q);
        backward[lane] = part(q - gamma * p);
    }
    for (p, q) in p_chunks.zip(q_chunks) {
        for lane in 0..LANES {
            forward[lane] += part(p[lane] - gamma * q[lane]);
            backward[lane] += part(q[lane] - gamma * p[lane]);
        }
    }
    (forward.iter().sum(), backward.iter().sum())
}
