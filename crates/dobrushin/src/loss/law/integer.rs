//! Losses of symmetric noise on the integers, shifted by an integer.

use crate::Enclosure;
use crate::loss::{Masses, Split};

/// Symmetric, log-concave noise on the integers, and a shift s > 0 of it: Q is the law of the noise x, and P that of
/// x + s.
///
/// By log-concavity the loss at x increases with x, and here it increases by a constant step wherever it changes: it
/// exceeds ℓ iff x > ℓ/step + s/2.
///
/// A smaller shift is dominated: E_γ = max_m [P(x ≥ m) − γQ(x ≥ m)], and P(x ≥ m) increases
/// with the shift.
pub(super) struct Shift {
    pub shift: u32,
    /// The change of the loss from one integer to the next.
    pub step: Enclosure,
}

/// All integers of interest are smaller.
const LARGEST: f64 = (1u64 << 52) as f64;

impl Shift {
    /// The split at the first integer whose loss exceeds a threshold, whichever integer that may be.
    pub fn split(&self, loss: Enclosure, from: impl Fn(i64) -> Split) -> Split {
        let place = loss / self.step + Enclosure::from(f64::from(self.shift)) / Enclosure::from(2.0);
        let first = |place: f64| place.clamp(-LARGEST, LARGEST).floor() as i64 + 1;
        let (least, most) = (first(place.lower()), first(place.upper()));
        let lower = from(least);
        if least == most { lower } else { lower.hull(from(most)) }
    }

    /// The masses on the two sides of x ≥ m, given P(x ≥ k) of the noise for k ≥ 1.
    pub fn split_from(&self, m: i64, tail: impl Fn(i64) -> Enclosure) -> Split {
        // By symmetry x ≤ −k is as likely as x ≥ k, so every tail is one with k ≥ 1, or the complement of one.
        let at_least = |k: i64| if k >= 1 { tail(k) } else { Enclosure::ONE - tail(1 - k) };
        let shift = i64::from(self.shift);
        Split {
            below: Masses { p: at_least(shift + 1 - m), q: at_least(1 - m) },
            above: Masses { p: at_least(m - shift), q: at_least(m) },
        }
    }

    /// The losses are multiples of half a step, and of a whole one if the shift is even.
    pub fn lattice(&self) -> f64 {
        let step = self.step.midpoint();
        if self.shift.is_multiple_of(2) { step } else { step / 2.0 }
    }
}
