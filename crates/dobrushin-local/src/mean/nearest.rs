//! How near the nearest of some random axes are to a given direction.

use super::direction::mean_cosine;
use dobrushin::numeric::beta;
use dobrushin::{Enclosure, Error, Positive, Probability};
use std::num::NonZeroU32;

/// The cosines between a direction and the nearest m of h independent uniform axes, where an axis is z or −z, whichever
/// is nearer.
pub(super) struct Nearest {
    /// The expected sum of the m cosines.
    pub cosines: Enclosure,
    /// The expected sum of their squares.
    pub squares: Enclosure,
}

/// The cells into which the place of the last of the m axes is divided.
const CELLS: u32 = 256;
/// How many standard deviations of this place the cells cover; the rest to either side is one cell each.
const SPREAD: f64 = 8.0;
/// Places nearer to 1 than this, times 1/h, are in the last cell.
const NEAR_THE_END: f64 = 1e-3;

impl Nearest {
    /// For 1 ≤ m ≤ h, in d ≥ 2 dimensions; m = h is also possible in one dimension.
    ///
    /// # Guarantee
    /// With T = |⟨z, e⟩|, whose distribution function F at √x is I_x(1/2, (d − 1)/2), the sum of the m largest of h such
    /// cosines has expectation
    ///
    /// ```text
    /// h·E[T·1{at most m − 1 of the h − 1 others are larger}] = h·E[T·I_{F(T)}(h − m, m)] = h·E[g(B)],
    /// ```
    ///
    /// where B has the law Beta(h − m, m) and g(u) = E[T; F(T) > u], by integration by parts. As g′(u) = −F⁻¹(u) falls, g
    /// is concave: between two places it is above its chord, and everywhere below its tangents, and both have exact means
    /// over the cells of a beta law. At u = F(√x), g = c·(1 − x)^((d − 1)/2) with c = E T. For squares the same holds with
    /// g(u) = E[T²; F(T) > u] = P(Beta(3/2, (d − 1)/2) > x)/d, and slope −x.
    pub fn of(axes: NonZeroU32, nearest: NonZeroU32, dimension: NonZeroU32) -> Result<Self, Error> {
        let [h, m, d] = [axes, nearest, dimension].map(|n| f64::from(n.get()));
        let count = Enclosure::from(h);
        let mean = mean_cosine(dimension)?;
        if m == h {
            // All of them: E T = c and E T² = 1/d.
            return Ok(Self { cosines: count * mean, squares: count / Enclosure::from(d) });
        }
        let [half, three_halves, rest] = [0.5, 1.5, (d - 1.0) / 2.0].map(Positive::new);
        let cosine = Cosine { half: half?, three_halves: three_halves?, rest: rest?, mean };
        let place = Place { axes: axes.get(), nearest: nearest.get() };
        let knots: Vec<Knot> = cosine.knots(&place).into_iter().map(|x| cosine.knot(&place, x)).collect();
        let mut total = [Enclosure::ZERO; 2];
        for pair in knots.windows(2) {
            for (which, total) in total.iter_mut().enumerate() {
                *total = *total + cell(&pair[0], &pair[1], which);
            }
        }
        let [cosines, squares] = total.map(|mean| count * mean);
        Ok(Self { cosines, squares: squares.min(count / Enclosure::from(d)) })
    }
}

/// The law of a cosine.
struct Cosine {
    /// 1/2.
    half: Positive,
    /// 3/2.
    three_halves: Positive,
    /// (d − 1)/2.
    rest: Positive,
    /// c.
    mean: Enclosure,
}

/// The law Beta(h − m, m), with m < h.
struct Place {
    axes: u32,
    nearest: u32,
}

impl Place {
    /// The ends of the places where it is likely.
    fn likely(&self) -> [f64; 2] {
        let h = f64::from(self.axes);
        let mean = 1.0 - f64::from(self.nearest) / h;
        let deviation = (mean * (1.0 - mean) / (h + 1.0)).sqrt();
        [mean - SPREAD * deviation, (mean + SPREAD * deviation).min(1.0 - NEAR_THE_END / h)]
    }

    /// P(B ≤ u) and E[B; B ≤ u], from u and 1 − u: P(B ≤ u) = I_u(h − m, m) is the probability that fewer than m of
    /// h − 1 independent events of probability 1 − u happen, and E[B; B ≤ u] is 1 − m/h times that with h events.
    fn below(&self, u: Enclosure, rest: Enclosure) -> [Enclosure; 2] {
        let share =
            Enclosure::ONE - Enclosure::from(f64::from(self.nearest)) / Enclosure::from(f64::from(self.axes));
        [self.fewer(self.axes - 1, u, rest), share * self.fewer(self.axes, u, rest)]
    }

    /// Σ_{k < m} C(n, k)·(1 − u)^k·u^(n − k).
    fn fewer(&self, events: u32, u: Enclosure, rest: Enclosure) -> Enclosure {
        if rest.upper() <= 0.0 {
            return Enclosure::ONE;
        }
        if u.lower() <= 0.0 || rest.lower() <= 0.0 {
            return Enclosure::ZERO.hull(if u.upper() <= 0.0 { Enclosure::ZERO } else { Enclosure::ONE });
        }
        let number = |n: u32| Enclosure::from(f64::from(n));
        let (ln_u, ln_rest) = (u.ln(), rest.ln());
        let mut ln_ways = Enclosure::ZERO;
        let mut sum = Enclosure::ZERO;
        for k in 0..self.nearest {
            sum = sum + (ln_ways + number(k) * ln_rest + number(events - k) * ln_u).exp();
            ln_ways = ln_ways + (number(events - k) / number(k + 1)).ln();
        }
        sum.min(Enclosure::ONE)
    }
}

/// What is known at the cosine √x.
struct Knot {
    /// u = F(√x).
    place: Enclosure,
    /// P(B ≤ u) and E[B; B ≤ u].
    below: [Enclosure; 2],
    /// g(u) and −g′(u), for cosines and for their squares.
    curves: [[Enclosure; 2]; 2],
}

impl Cosine {
    /// F(√x).
    fn below(&self, x: f64) -> Enclosure {
        Probability::new(x).map_or(Enclosure::UNIT, |x| beta::regularised(self.half, self.rest, x))
    }

    /// P(Beta(a, (d − 1)/2) > x).
    fn above(&self, a: Positive, x: f64) -> Enclosure {
        Probability::new(x).map_or(Enclosure::UNIT, |x| beta::complement(a, self.rest, x))
    }

    /// The squares of cosines that divide the places: equal steps of the cosine where B is likely.
    fn knots(&self, place: &Place) -> Vec<f64> {
        let [from, to] = place.likely().map(|u| self.cosine_at(u));
        let steps = (0..=CELLS).map(|i| from + (to - from) * f64::from(i) / f64::from(CELLS));
        let inner = steps.map(|cosine| cosine * cosine).filter(|x| (0.0..1.0).contains(x));
        let mut knots: Vec<f64> = [0.0].into_iter().chain(inner).chain([1.0]).collect();
        knots.dedup();
        knots
    }

    /// About F⁻¹(u), by bisection; 0 or 1 beyond the ends.
    fn cosine_at(&self, u: f64) -> f64 {
        let (mut from, mut to) = (0.0, 1.0);
        for _ in 0..50 {
            let middle = f64::midpoint(from, to);
            if self.below(middle * middle).midpoint() < u { from = middle } else { to = middle }
        }
        to
    }

    fn knot(&self, place: &Place, x: f64) -> Knot {
        let one = Enclosure::ONE;
        let u = self.below(x);
        let square = Enclosure::from(x);
        let rest = Enclosure::from(self.rest);
        let dimension = rest + rest + one;
        let far = match x {
            1.0 => Enclosure::ZERO,
            _ => (rest * (one - square).ln()).exp(),
        };
        Knot {
            place: u,
            below: place.below(u, self.above(self.half, x)),
            curves: [
                [self.mean * far, square.sqrt()],
                [self.above(self.three_halves, x) / dimension, square],
            ],
        }
    }
}

/// The mean of g(B) over a cell.
fn cell(left: &Knot, right: &Knot, which: usize) -> Enclosure {
    let [mass, mean] = [0, 1].map(|i| (right.below[i] - left.below[i]).positive_part());
    let [[high, fall_left], [low, fall_right]] = [left.curves[which], right.curves[which]];
    // E[B − u; cell], to the right of the left end, and to the left of the right end.
    let after = (mean - left.place * mass).positive_part();
    let before = (right.place * mass - mean).positive_part();
    let width = right.place - left.place;
    let chord = match width.lower() > 0.0 {
        true => (high * mass - (high - low).positive_part() / width * after).lower(),
        false => f64::NEG_INFINITY,
    };
    let tangents = (high * mass - fall_left * after).upper().min((low * mass + fall_right * before).upper());
    let lower = chord.max((low * mass).lower());
    let upper = tangents.min((high * mass).upper());
    Enclosure::between(lower.min(upper), upper)
}
