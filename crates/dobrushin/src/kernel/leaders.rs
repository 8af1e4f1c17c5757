//! The pairs of rows of a finite kernel that are farthest apart, in plain `f64`.
//!
//! All ordered pairs of the rows that matter are compared in blocks of rows that stay in the cache, with
//! several partial sums for the processor's vector units.

use super::finite::FiniteKernel;
use crate::numeric::UNIT_ROUNDOFF;
use rayon::prelude::*;

/// The number of rows compared with one row while it is in the cache.
const BLOCK: usize = 16;

/// If more pairs than this come near the best, they are not listed.
const MOST_NEAR: usize = 4096;

impl FiniteKernel {
    /// The largest error of a computed sum Σ(p − γq)₊ as E_γ: over k outcomes in 8 partial sums it is off by at most
    /// k/8 + 8 units of roundoff, and each of its terms, in which γq ≤ p, by at most 3 units of p and twice the
    /// relative error of the entries.
    pub(super) fn slack(&self) -> f64 {
        (self.outputs() as f64 / 8.0 + 12.0) * UNIT_ROUNDOFF + 2.1 * self.relative_error()
    }

    /// The ordered pairs of rows that may have the largest E_γ, for γ ≥ 1.
    pub(super) fn leaders(&self, gamma: f64) -> Leaders {
        // A pair whose sum is more than twice the slack below the largest is
        // certainly not better.
        let margin = 2.0 * self.slack();
        let rows = self.outer_rows();
        let block = |start: usize| {
            let end = (start + BLOCK).min(rows.len());
            let mut leaders = Leaders::none(margin);
            for (place, &y) in rows.iter().enumerate().skip(start) {
                for &x in &rows[start..end.min(place).max(start)] {
                    let (forward, backward) = hockey_sticks(self.row(x), self.row(y), gamma);
                    leaders.see(forward, (x, y));
                    leaders.see(backward, (y, x));
                }
            }
            leaders
        };
        let starts: Vec<usize> = (0..rows.len()).step_by(BLOCK).collect();
        starts.into_par_iter().map(block).reduce(|| Leaders::none(margin), Leaders::merge)
    }
}

/// The pair with the largest sum so far, and those within a margin of it.
pub(super) struct Leaders {
    /// The largest sum.
    pub sum: f64,
    /// Its pair; the first of equal ones, so that the answer does not depend on the scheduling of threads.
    pub pair: (usize, usize),
    /// Every pair within the margin of the largest sum, and perhaps others; `None` if there are too many.
    pub near: Option<Vec<(usize, usize)>>,
    margin: f64,
}

impl Leaders {
    fn none(margin: f64) -> Self {
        Self { sum: f64::NEG_INFINITY, pair: (0, 0), near: Some(Vec::new()), margin }
    }

    #[inline]
    fn see(&mut self, sum: f64, pair: (usize, usize)) {
        if sum >= self.sum - self.margin {
            self.add(sum, pair);
        }
    }

    fn add(&mut self, sum: f64, pair: (usize, usize)) {
        if sum - self.margin > self.sum {
            self.near = Some(Vec::new());
        }
        if sum > self.sum || (sum == self.sum && pair < self.pair) {
            (self.sum, self.pair) = (sum, pair);
        }
        self.near = self.near.take().filter(|near| near.len() < MOST_NEAR);
        if let Some(near) = &mut self.near {
            near.push(pair);
        }
    }

    fn merge(self, other: Self) -> Self {
        let (mut best, less) = if other.sum > self.sum { (other, self) } else { (self, other) };
        if less.sum < best.sum - best.margin {
            return best;
        }
        if less.sum == best.sum {
            best.pair = best.pair.min(less.pair);
        }
        let both = best.near.zip(less.near).map(|(mut a, b)| {
            a.extend(b);
            a
        });
        best.near = both.filter(|near| near.len() <= MOST_NEAR);
        best
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
