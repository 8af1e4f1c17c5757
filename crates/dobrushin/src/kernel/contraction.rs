//! η_γ of a finite kernel: the largest E_γ between two of its rows.
//!
//! # Implementation
//! All m² ordered pairs are compared in plain `f64`, in blocks of rows that stay
//! in the cache, with several partial sums for the processor's vector units. The
//! sum of (p − γq)₊ over k outcomes in 8 partial sums is off by at most k/8 + 8
//! units of roundoff, and each of its terms, in which γq ≤ p, by at most 3 units
//! and twice the relative error of the entries, of p. That error is added once to
//! the largest sum; the pair that attains it is then enclosed by itself, which
//! gives the lower end.

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

/// Rows compared with one row while it is in the cache.
const BLOCK: usize = 16;

impl FiniteKernel {
    /// η_γ for any γ > 0, with the pair of inputs that attains it.
    pub fn contraction_with_pair(&self, gamma: Gamma) -> Contraction {
        let gamma = if gamma.is_below_one() { gamma.reciprocal() } else { gamma };
        let best = self.largest_pair(gamma.value().lower());
        if self.largest_log_ratio().upper() <= gamma.epsilon().lower() {
            return Contraction { value: Enclosure::ZERO, pair: best.pair };
        }
        let own = self.pair_divergence(best.pair, gamma);
        let upper = (best.sum + self.slack()).next_up().min(1.0).max(own.upper());
        Contraction { value: Enclosure::between(own.lower(), upper), pair: best.pair }
    }

    /// How far a computed sum may be from E_γ, see the module's documentation.
    fn slack(&self) -> f64 {
        (self.outputs() as f64 / 8.0 + 12.0) * UNIT_ROUNDOFF + 2.1 * self.relative_error()
    }

    /// The smallest ε ≥ 0 at which the kernel is (ε, δ)-locally private. At the
    /// upper end η was seen to be at most δ.
    ///
    /// By Dinkelbach's iteration: the pair and the set of outcomes A that attain
    /// η_γ give the next γ = (P(A) − δ)/Q(A), which increases to the root; a
    /// handful of evaluations of η_γ.
    pub fn epsilon_at(&self, delta: Delta) -> Enclosure {
        let pure = self.largest_log_ratio();
        if self.contraction_with_pair(Gamma::ONE).value.upper() <= delta.get() {
            return Enclosure::ZERO;
        }
        if delta.get() == 0.0 {
            return pure;
        }
        let target = Enclosure::from(delta);
        let mut root = Enclosure::ONE;
        let steepness = loop {
            let gamma = root.midpoint();
            let (p, q) = self.attaining_set(self.largest_pair(gamma).pair, gamma);
            let above = p - target;
            if q == Enclosure::ZERO && above.lower() > 0.0 {
                // What one input alone can produce is more than δ.
                return Enclosure::INFINITE;
            }
            let next = above / q;
            if q == Enclosure::ZERO || next.lower() <= root.lower() {
                break q.lower();
            }
            root = next;
        };
        // That is the root up to rounding: step up until it is certain.
        let mut upper = root.upper();
        let mut stride = f64::EPSILON + 2.0 * self.slack() / (steepness * upper).max(f64::MIN_POSITIVE);
        while let Ok(gamma) = Gamma::new(upper) {
            if self.contraction_with_pair(gamma).value.upper() <= delta.get() {
                break;
            }
            upper *= 1.0 + stride;
            stride *= 2.0;
        }
        let upper = Enclosure::from(upper).ln().min(pure).upper();
        let lower = Enclosure::from(root.lower().max(1.0)).ln().lower();
        Enclosure::between(lower.min(upper), upper)
    }

    /// The smallest ε at which the kernel is ε-locally private with δ = 0: the
    /// largest ln(K(z|x)/K(z|y)), found in O(mk) as the largest over the smallest
    /// entry of a column.
    pub fn largest_log_ratio(&self) -> Enclosure {
        let columns = self.outputs();
        let (mut least, mut most) = (vec![f64::INFINITY; columns], vec![0.0_f64; columns]);
        for x in 0..self.inputs() {
            for ((least, most), &p) in least.iter_mut().zip(&mut most).zip(self.row(x)) {
                *least = least.min(p);
                *most = most.max(p);
            }
        }
        let ratio =
            least.iter().zip(&most).filter(|(_, most)| **most > 0.0).map(|(least, most)| most / least);
        let ratio = ratio.fold(1.0, f64::max);
        if (1..self.inputs()).all(|x| self.same_law(0, x)) {
            return Enclosure::ZERO;
        }
        if ratio == f64::INFINITY {
            return Enclosure::INFINITE;
        }
        Enclosure::around(ratio, UNIT_ROUNDOFF + 2.1 * self.relative_error()).ln().positive_part()
    }

    /// E_γ between two rows, for γ ≥ 1.
    fn pair_divergence(&self, (x, y): (usize, usize), gamma: Gamma) -> Enclosure {
        if self.same_law(x, y) {
            return Enclosure::ZERO;
        }
        let terms = self.row_enclosures(x).zip(self.row_enclosures(y)).map(|(p, q)| {
            let cost = if q == Enclosure::ZERO { q } else { gamma.value() * q };
            (p - cost).positive_part()
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
