//! What a count out of so many says about a probability, for certain.

use super::frequencies::Interval;
use crate::numeric::beta;
use crate::{Enclosure, Positive, Probability};

/// c of n.
#[derive(Clone, Copy)]
pub(super) struct Proportion {
    pub count: u64,
    pub records: u64,
}

impl Proportion {
    /// The interval of Clopper and Pearson, at least from (c − 1)/n to (c + 1)/n.
    ///
    /// # Guarantee
    /// At each end (unless that is 0 or 1, or set by (c ± 1)/n) the tail from the count on was seen to be at most half
    /// the error. The ends are not more than 1e-5 of the distance to c/n further out than necessary.
    pub fn interval(self, error: Enclosure) -> Interval {
        let half = error.lower() / 2.0;
        let [c, n] = [self.count, self.records].map(|number| number as f64);
        let others = Self { count: self.records - self.count, records: self.records };
        // The upper end is 1 minus the lower end of the others.
        let lower = self.lower(half).min(((c - 1.0) / n).next_down()).max(0.0);
        let upper = (1.0 - others.lower(half)).next_up().max(((c + 1.0) / n).next_up()).min(1.0);
        Interval { lower, upper }
    }

    /// Nearly the largest s for which P(Binomial(n, s) ≥ c) = I_s(c, n − c + 1) is seen to be at most `error`.
    fn lower(self, error: f64) -> f64 {
        let Ok(a) = Positive::new(self.count as f64) else { return 0.0 };
        let Ok(b) = Positive::new((self.records - self.count) as f64 + 1.0) else { return 0.0 };
        let centre = self.count as f64 / self.records as f64;
        let tail = |distance: f64| {
            Probability::new(centre - distance).map_or(1.0, |s| beta::regularised(a, b, s).upper())
        };
        // √(−ln tail) is nearly linear in the distance from c/n, from its median on, where it is √(ln 2). The whole
        // distance, to s = 0, is outside for certain, and none inside.
        let wanted = (-error.ln()).sqrt();
        let (mut inside, mut outside) = (0.0, centre);
        let (mut last, mut slope) =
            ((0.0, 2f64.ln().sqrt()), (0.5 / (centre * (1.0 - centre) / b.get())).sqrt());
        for _ in 0..MOST_STEPS {
            if outside - inside <= SHARPNESS * outside {
                break;
            }
            // A bit beyond what is aimed at, so that both sides close in.
            let aim = last.0 + (wanted - last.1) / slope;
            let beyond = if last.1 < wanted { 1.0 + SHARPNESS / 3.0 } else { 1.0 - SHARPNESS / 3.0 };
            let inner = inside < aim * beyond && aim * beyond < outside;
            let distance = if inner { aim * beyond } else { 0.5 * (inside + outside) };
            let found = tail(distance);
            let next = (distance, (-found.ln()).max(0.0).sqrt());
            if found <= error {
                outside = distance
            } else {
                inside = distance
            }
            let steepness = (next.1 - last.1) / (next.0 - last.0);
            (slope, last) = (if steepness.is_finite() && steepness > 0.0 { steepness } else { slope }, next);
        }
        (centre - outside).max(0.0)
    }
}

/// How near the ends come to the best ones, relative to their distance from c/n.
const SHARPNESS: f64 = 1e-5;
/// Halving alone takes 17.
const MOST_STEPS: u32 = 60;
