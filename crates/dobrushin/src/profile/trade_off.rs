//! Profiles as hypothesis tests.

use super::{Direction, PrivacyProfile};
use crate::numeric::GoldenSection;
use crate::numeric::elementary::powi;
use crate::{Enclosure, Epsilon, Probability};

/// How well any test can distinguish the two laws of a profile: Q, the null hypothesis (the record is out), and P (the
/// record is in), where E_{e^ε}(P‖Q) is the forward direction.
///
/// A test that claims P with probability α under Q misses P with probability at least
///
/// ```text
/// f(α) = sup_{ε ≥ 0} max{ 0, 1 − δ_forward(ε) − e^ε α, e^(−ε)(1 − δ_reverse(ε) − α) },
/// ```
///
/// convex and non-increasing with f(α) ≤ 1 − α (Dong, Roth, Su 2022, Proposition 2.12, for both
/// directions).
///
/// # Guarantee
/// The lower end of an error, and the upper end of a power, hold for every test: each ε gives a bound, so the search
/// for the best one need not be exact. The other end encloses the supremum: δ is convex in e^ε, so between three points
/// it is above the lines through two of them.
#[derive(Clone, Copy)]
pub struct TradeOff<'a> {
    profile: &'a dyn PrivacyProfile,
}

impl<'a> TradeOff<'a> {
    /// The tests between the two laws of a profile.
    pub fn new(profile: &'a dyn PrivacyProfile) -> Self {
        Self { profile }
    }

    /// f(α): the smallest type II error at type I error α.
    pub fn type_two_error(&self, type_one: Probability) -> Enclosure {
        self.best(Direction::Forward, type_one).least_error
    }

    /// 1 − f(α), the largest power at type I error α, with relative accuracy where it is small.
    pub fn power(&self, type_one: Probability) -> Enclosure {
        self.best(Direction::Forward, type_one).most_power
    }

    /// f⁻¹(β): the smallest type I error at type II error β. It is f with the directions
    /// exchanged.
    pub fn type_one_error(&self, type_two: Probability) -> Enclosure {
        self.best(Direction::Reverse, type_two).least_error
    }

    fn best(&self, direction: Direction, alpha: Probability) -> Bounds {
        let delta = |direction, epsilon: f64| {
            Epsilon::new(epsilon).map_or(Enclosure::UNIT, |e| self.profile.delta_of(direction, e))
        };
        let level = Enclosure::from(alpha);
        if alpha.get() == 0.0 {
            let only_one_law = delta(direction, f64::INFINITY);
            return Bounds { least_error: Enclosure::ONE - only_one_law, most_power: only_one_law };
        }
        // δ + e^ε α, which is above 1 for ε > −ln α; computed in halves, since e^ε alone may overflow.
        let power = |epsilon: f64| {
            let root = (Enclosure::from(epsilon) / Enclosure::from(2.0)).exp();
            delta(direction, epsilon) + root * level * root
        };
        let most_power = minimum(Scale::Growing, -libm::log(alpha.get()), power).min(Enclosure::ONE);
        // −e^(−ε)(1 − δ − α), which is above −2⁻¹⁰⁷⁵ for ε > −ln 2⁻¹⁰⁷⁵.
        let miss = |epsilon: f64| {
            let rest = Enclosure::ONE - level - delta(direction.reversed(), epsilon);
            -((-Enclosure::from(epsilon)).exp() * rest)
        };
        let least_miss = -minimum(Scale::Shrinking, LAST_SHRINKING, miss);
        let smallest = Enclosure::UNIT.min(Enclosure::from(f64::from_bits(1)));
        let least_miss = least_miss.max(smallest).positive_part();
        let most = Enclosure::ONE - level;
        let least_error = (Enclosure::ONE - most_power).positive_part().max(least_miss).min(most);
        let most_power = most_power.min(Enclosure::ONE - least_miss).max(level);
        Bounds { least_error, most_power }
    }
}

struct Bounds {
    least_error: Enclosure,
    most_power: Enclosure,
}

/// Beyond this, e^(−ε) is below every positive number.
const LAST_SHRINKING: f64 = 746.0;

/// The function of ε in which the function to minimise is convex.
#[derive(Clone, Copy)]
enum Scale {
    /// e^ε.
    Growing,
    /// e^(−ε).
    Shrinking,
}

impl Scale {
    /// |e^(±a) − e^(±m)|/|e^(±b) − e^(±m)|.
    fn ratio(self, a: f64, m: f64, b: f64) -> Enclosure {
        let distance = |x: f64| {
            let gap = Enclosure::from(x) - Enclosure::from(m);
            match self {
                Self::Growing => gap.exp_m1().abs(),
                Self::Shrinking => (-gap).exp_m1().abs(),
            }
        };
        distance(a) / distance(b)
    }
}

/// The minimum over [0, end] of a function that is convex in e^ε or e^(−ε): the upper end is a
/// value, the lower end comes from lines through two values on one side of an interval.
fn minimum(scale: Scale, end: f64, f: impl Fn(f64) -> Enclosure) -> Enclosure {
    let (best, value) = lowest(end, &f);
    // At `to`, and from `through` to there, f is above the line from `from`, where it is larger.
    let beyond = |from: f64, through: f64, to: f64| {
        let (start, least) = (Enclosure::from(f(from).upper()), Enclosure::from(f(through).lower()));
        (least - (start - least).positive_part() * scale.ratio(to, through, from)).lower()
    };
    let mut lower = f64::NEG_INFINITY;
    // The best width is where rounding and curvature cost the same.
    for power in 0..=20 {
        let width = end * powi(8f64, -power);
        let (a, b) = ((best - width).max(0.0), (best + width).min(end));
        let m = if a < best && best < b { best } else { a.midpoint(b) };
        let (before, after) = ((a - width).max(0.0), (b + width).min(end));
        if !(a < m && m < b) {
            continue;
        }
        // Beyond a and b, the function is at least its values there.
        let middle = f(m).upper();
        let falls_to_m = a == 0.0 || f(a).lower() >= middle;
        let rises_from_m = b == end || f(b).lower() >= middle;
        if falls_to_m && rises_from_m {
            let (mut left, mut right) = (beyond(b, m, a), beyond(a, m, b));
            if before < a {
                left = left.max(beyond(before, a, m));
            }
            if b < after {
                right = right.max(beyond(after, b, m));
            }
            lower = lower.max(left.min(right));
        }
    }
    Enclosure::between(lower.min(value), value)
}

/// The lowest upper end found by a golden-section search in ln ε, and at 0 and the end.
fn lowest(end: f64, f: impl Fn(f64) -> Enclosure) -> (f64, f64) {
    /// The search starts at e⁻⁶⁰ of the end.
    const DECAY: f64 = 60.0;
    let place = |s: f64| end * libm::exp(-DECAY * s);
    let lower = |a: (f64, f64), b: (f64, f64)| if b.1 < a.1 { b } else { a };
    let mut best = lower((0.0, f(0.0).upper()), (place(0.0), f(place(0.0)).upper()));
    let mut search = GoldenSection::new((0.0, 1.0), |s| f(place(s)).upper());
    for _ in 0..75 {
        let (s, value) = search.lowest();
        best = lower(best, (place(s), value));
        search.narrow();
    }
    best
}
