//! The best way to shift the difference of two iterates into the noise: the taut string.
//!
//! Two runs are at most z_t apart with z_t = c_t·z_{t−1} + o_t − a_t, where a_t ≥ 0 is shifted into the noise s_t of
//! step t, at a price of (a_t/s_t)². With w_t = c_{t+1}⋯c_T, U_t = Σ_{i>t} (s_i·w_i)² and V_t = Σ_{i>t} o_i·w_i the
//! constraints z_t ≥ 0 and z_T = 0 say that a curve A of the total shift stays below the points P_t = (−U_t, −V_t) and
//! ends at the last of them, and the price is ∫A′². The cheapest A is the greatest convex minorant of the points, from
//! P_0 if the runs start together, or from a point D·w_τ below P_τ if they are at most D apart at time τ and nothing
//! was spent before.
//!
//! # Implementation
//! Where to start, and where the minorant touches, is found in plain `f64`, from the end backwards. At two consecutive
//! such times the difference is 0, and the price between them is (Σo_i·w_i)²/Σ(s_i·w_i)², which is enclosed, stretch by
//! stretch, in closed form. That z_t ≥ 0 in between is *checked*, with every rounding counted, at the end of each
//! stretch. Where it is not certain, either every shift is reduced by a share of at most 1e-8, or z_t = 0 is enforced;
//! both are always allowed. Inside a stretch of equal steps the points are concave if c ≤ 1, so its ends suffice; steps
//! with c > 1 are treated one by one.

use crate::Enclosure;
use crate::chain::Count;
use crate::numeric::elementary::powi;
use crate::numeric::{UNIT_ROUNDOFF, partition_point};
use std::borrow::Cow;
use std::cmp::Ordering;

/// Equal steps: a line slope·z + offset above their modulus, and their noise.
///
/// ```
/// use dobrushin::analysis::{ShiftStep, squared_shift_from};
/// use dobrushin::chain::Count;
///
/// // An update of length 2 and noise 1, and three more steps that only add noise: μ² = 2²/4.
/// let used = ShiftStep { slope: 1.0, offset: 2.0, noise: 1.0, count: Count::Times(1) };
/// let later = ShiftStep { offset: 0.0, count: Count::Times(3), ..used };
/// assert!((squared_shift_from(0.0, &[used, later]).upper() - 1.0).abs() < 1e-6);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShiftStep {
    /// c, 0 or more.
    pub slope: f64,
    /// o, 0 or more.
    pub offset: f64,
    /// s, above 0.
    pub noise: f64,
    /// The number of steps.
    pub count: Count,
}

/// Steps that expand distances are treated one by one, up to this many.
const MOST_SINGLE: u64 = 1_000_000;

/// μ² = Σ(a_t/s_t)² of the best allocation, for iterates that start at most `distance` apart; ∞ if there is none.
///
/// ```
/// use dobrushin::analysis::{ShiftStep, squared_shift_from};
/// use dobrushin::chain::Count;
///
/// // Four steps share a distance of 2 evenly: each shifts 1/2, and μ² = 4·(1/2)².
/// let steps = [ShiftStep { slope: 1.0, offset: 0.0, noise: 1.0, count: Count::Times(4) }];
/// assert!((squared_shift_from(2.0, &steps).upper() - 1.0).abs() < 1e-6);
/// // Iterates that start together, and that no step moves apart, need no shift.
/// assert_eq!(squared_shift_from(0.0, &steps).upper(), 0.0);
/// ```
pub fn squared_shift_from(distance: f64, steps: &[ShiftStep]) -> Enclosure {
    let Some(steps) = one_by_one(steps) else {
        return Enclosure::INFINITE;
    };
    if distance == 0.0 {
        return price(&steps);
    }
    let mut steps = steps.into_owned();
    steps.insert(0, ShiftStep { slope: 1.0, offset: distance, noise: 0.0, count: Count::Times(1) });
    price(&steps)
}

/// μ² of the best allocation if iterates are never more than `diameter` apart, so the argument may begin at any step as
/// if nothing had been spent.
///
/// ```
/// use dobrushin::analysis::{ShiftStep, squared_shift_anywhere};
/// use dobrushin::chain::Count;
///
/// // Updates that halve distances and move iterates apart by 1, on a domain of diameter 2. The argument may begin
/// // a few steps before the end, so that it does not matter how many came before.
/// let steps = |count| [ShiftStep { slope: 0.5, offset: 1.0, noise: 1.0, count: Count::Times(count) }];
/// let (few, many) = (squared_shift_anywhere(2.0, &steps(100)), squared_shift_anywhere(2.0, &steps(1_000_000)));
/// assert!((few.upper() / many.upper() - 1.0).abs() < 1e-6);
/// ```
pub fn squared_shift_anywhere(diameter: f64, steps: &[ShiftStep]) -> Enclosure {
    squared_shift_within(&vec![diameter; steps.len()], steps)
}

/// The same, if iterates are at most so far apart before each step of a stretch: one distance for each stretch.
pub(super) fn squared_shift_within(diameters: &[f64], stretches: &[ShiftStep]) -> Enclosure {
    from_the_best_start(diameters, stretches).map_or(Enclosure::INFINITE, |steps| price(&steps))
}

/// The steps from where it is cheapest to begin, after one that moves iterates as far apart as they may be there; `None`
/// if there are too many steps, or none.
pub(super) fn from_the_best_start(diameters: &[f64], stretches: &[ShiftStep]) -> Option<Vec<ShiftStep>> {
    let steps = one_by_one(stretches)?;
    let most = diameters.iter().copied().fold(0.0, f64::max);
    // Where stretches were split, distances no longer belong to them.
    let diameters: Cow<'_, [f64]> = match &steps {
        Cow::Borrowed(_) if diameters.len() == stretches.len() => Cow::Borrowed(diameters),
        _ => Cow::Owned(vec![most; steps.len()]),
    };
    let start = best_start(&diameters, &steps)?;
    let diameter = diameters[start.run];
    let used = steps.len() - start.run;
    let mut rest = Vec::with_capacity(used + 1);
    rest.push(ShiftStep { slope: 1.0, offset: diameter, noise: 0.0, count: Count::Times(1) });
    rest.push(ShiftStep { count: Count::Times(start.steps), ..steps[start.run] });
    rest.extend_from_slice(&steps[start.run + 1..]);
    Some(rest)
}

/// The shifts of the cheapest allocation from equal iterates, without a guarantee: for each stretch the g with which
/// g·c^j·s² is shifted in the step that j others of the stretch follow.
pub(super) fn taut(steps: &[ShiftStep]) -> Vec<f64> {
    let mut rates = vec![0.0; steps.len()];
    let mut from = 0;
    for to in touching(steps) {
        let gathered = gather(&steps[from..to]);
        let mut rate = if gathered.nothing { 0.0 } else { gathered.shift / gathered.variance };
        for index in (from..to).rev() {
            rates[index] = rate;
            rate *= Sums::of(&steps[index]).factor;
        }
        from = to;
    }
    rates
}

/// The steps, with those that expand distances split into single ones; `None` if there would be too many.
pub(super) fn one_by_one(steps: &[ShiftStep]) -> Option<Cow<'_, [ShiftStep]>> {
    let expands = |step: &ShiftStep| step.slope > 1.0 && step.offset > 0.0;
    let as_they_are = |step: &ShiftStep| match step.count {
        Count::Times(1) => true,
        count => count != Count::Times(0) && !expands(step),
    };
    if steps.iter().all(as_they_are) {
        return Some(Cow::Borrowed(steps));
    }
    let mut single = 0_u64;
    let mut all = Vec::with_capacity(steps.len() + 1);
    for step in steps {
        match step.count {
            Count::Times(0) => (),
            Count::Times(times) if expands(step) && times > 1 => {
                single = single.saturating_add(times);
                if single > MOST_SINGLE {
                    return None;
                }
                all.extend((0..times).map(|_| ShiftStep { count: Count::Times(1), ..*step }));
            }
            _ => all.push(*step),
        }
    }
    Some(Cow::Owned(all))
}

/// The total difference and noise at the end of some steps, with a bound on the relative error of both: nothing is ever
/// subtracted.
#[derive(Clone, Copy)]
pub(super) struct Gathered {
    /// Σo_i·w_i.
    shift: f64,
    /// Σ(s_i·w_i)².
    variance: f64,
    error: f64,
    /// Whether the difference is exactly 0.
    nothing: bool,
}

/// The relative error of a handful of roundings.
const ROUNDINGS: f64 = 8.0 * UNIT_ROUNDOFF;
/// Between these bounds nothing overflows, and nothing that matters underflows.
const MODERATE: std::ops::Range<f64> = 1e-140..1e140;

/// Σ_{j<n} c^j, Σ_{j<n} c^(2j) and c^n of equal steps, with their relative error.
struct Sums {
    sum: f64,
    squares: f64,
    factor: f64,
    error: f64,
}

impl Sums {
    fn of(step: &ShiftStep) -> Self {
        if step.count == Count::Times(1) {
            return Self { sum: 1.0, squares: 1.0, factor: step.slope, error: 0.0 };
        }
        // The logarithm of a square is exactly twice that of the slope.
        let ln_slope = Enclosure::from(step.slope).ln();
        let sum = step.count.geometric_sum_of_log(ln_slope);
        let squares = step.count.geometric_sum_of_log(ln_slope + ln_slope);
        let factor = step.count.power(Enclosure::from(step.slope));
        let error = sum.relative_width().max(squares.relative_width());
        let (sum, squares) = (sum.midpoint(), squares.midpoint());
        match factor.upper() {
            // A number close to 0 is rounded up: a shift is then too large, and the square is negligible anyway.
            lost if lost < 1e-300 => Self { sum, squares, factor: lost, error },
            _ => {
                let error = error.max(factor.relative_width());
                Self { sum, squares, factor: factor.midpoint(), error }
            }
        }
    }
}

impl Gathered {
    pub(super) const NOTHING: Self = Self { shift: 0.0, variance: 0.0, error: 0.0, nothing: true };

    pub(super) fn then(self, step: &ShiftStep) -> Self {
        let sums = Sums::of(step);
        let moderate = |x: f64| x == 0.0 || MODERATE.contains(&x);
        let known = moderate(step.offset) && moderate(step.noise) && sums.factor < 1e140;
        Self {
            shift: sums.factor * self.shift + step.offset * sums.sum,
            variance: sums.factor * sums.factor * self.variance + step.noise * step.noise * sums.squares,
            error: if known { self.error + ROUNDINGS + 2.0 * sums.error } else { f64::INFINITY },
            nothing: self.nothing && step.offset == 0.0,
        }
    }

    /// Raises the difference to at least this much.
    pub(super) fn raise_to(&mut self, least: f64) {
        self.shift = self.shift.max(least);
    }

    fn enclosed(self, value: f64) -> Enclosure {
        match self.error {
            error if error < 1e-7 && value < 1e300 => Enclosure::around(value, error),
            _ => Enclosure::between(0.0, f64::INFINITY),
        }
    }

    /// The price of shifting the whole difference.
    pub(super) fn price(self) -> Enclosure {
        if self.nothing {
            return Enclosure::ZERO;
        }
        let price = self.enclosed(self.shift).square() / self.enclosed(self.variance);
        price.max(Enclosure::ZERO)
    }
}

fn gather(steps: &[ShiftStep]) -> Gathered {
    steps.iter().fold(Gathered::NOTHING, |gathered, step| gathered.then(step))
}

/// The price of the cheapest allocation from equal iterates, or of one that costs hardly more.
fn price(steps: &[ShiftStep]) -> Enclosure {
    let mut total = Enclosure::ZERO;
    let mut from = 0;
    for to in touching(steps) {
        total = total + edge(&steps[from..to]);
        from = to;
    }
    total
}

/// The price of shifting everything from z = 0 to z = 0, with z ≥ 0 checked in between.
fn edge(mut steps: &[ShiftStep]) -> Enclosure {
    let mut total = Enclosure::ZERO;
    while !steps.is_empty() {
        let mut part = steps;
        loop {
            let gathered = gather(part);
            match certainty(part, gathered) {
                Certainty::Exactly => total = total + gathered.price(),
                Certainty::Nearly(share) => total = total + nearly(part, gathered, share),
                Certainty::Until(certain) => {
                    part = &part[..certain];
                    continue;
                }
            }
            break;
        }
        steps = &steps[part.len()..];
    }
    total
}

/// Whether z ≥ 0 is certain in between.
enum Certainty {
    /// It is certain.
    Exactly,
    /// It is certain if every shift is divided by 1 + τ, except the last.
    Nearly(f64),
    /// It fails after this many stretches.
    Until(usize),
}

/// The largest τ.
const SHARE: f64 = 1e-8;

/// z_j = shift_j − λ·w_j·variance_j after j stretches, with λ = shift/variance of all of them and w_j the product of
/// the later slopes; if every shift is divided by 1 + τ, so is the second term.
fn certainty(steps: &[ShiftStep], all: Gathered) -> Certainty {
    if steps.len() == 1 || all.nothing {
        return Certainty::Exactly;
    }
    let rate = all.shift / all.variance;
    let mut weights = vec![1.0; steps.len()];
    for j in (1..steps.len()).rev() {
        weights[j - 1] = weights[j] * Sums::of(&steps[j]).factor;
    }
    // Each of the compared numbers, and λ, has at most the error of all of them, plus some roundings.
    let slack = 1.0 + 6.0 * all.error + 2.0 * ROUNDINGS;
    let mut gathered = Gathered::NOTHING;
    let mut exactly = all.error < 1e-7;
    let mut uncertain: Option<usize> = None;
    let mut share: f64 = 0.0;
    for (j, step) in steps.iter().enumerate().take(steps.len() - 1) {
        gathered = gathered.then(step);
        let shifted = rate * weights[j] * gathered.variance * slack;
        let certain = all.error < 1e-7 && gathered.shift >= shifted;
        exactly &= certain;
        if !certain {
            share = share.max(shifted / gathered.shift - 1.0);
        }
        // Errors that are not small are not trusted. Of several such places, the one nearest to the middle is taken;
        // otherwise each of millions would be cut off separately.
        if !certain && (all.error > 1e-9 || gathered.shift * (1.0 + SHARE) < shifted) {
            let middle = steps.len() / 2;
            if uncertain.is_none_or(|before| (j + 1).abs_diff(middle) < before.abs_diff(middle)) {
                uncertain = Some(j + 1);
            }
        }
    }
    match uncertain {
        Some(certain) => Certainty::Until(certain),
        None if exactly => Certainty::Exactly,
        // The quotient is rounded as well.
        None => Certainty::Nearly((share * (1.0 + 1e-9) + ROUNDINGS).min(SHARE)),
    }
}

/// The rest, τ/(1+τ) of the difference, is shifted in the last step: V²/U·(1 + 2τ) + (τV/s)² is more than this costs.
fn nearly(steps: &[ShiftStep], all: Gathered, share: f64) -> Enclosure {
    let Some(last) = steps.last() else {
        return Enclosure::ZERO;
    };
    let left = Enclosure::from(share) * all.enclosed(all.shift) / Enclosure::from(last.noise);
    all.price() * (Enclosure::ONE + Enclosure::from(2.0 * share)) + left.square()
}

/// A point P_t, approximately.
#[derive(Clone, Copy)]
struct Point {
    /// −U.
    x: f64,
    /// −V.
    y: f64,
    /// The number of stretches before it.
    run: usize,
    /// The price from here to the end along the minorant of the later points.
    price: f64,
}

impl Point {
    fn slope_to(self, other: Self) -> f64 {
        (other.y - self.y) / (other.x - self.x)
    }

    fn price_to(self, other: Self) -> f64 {
        let rise = other.y - self.y;
        if rise <= 0.0 { other.price } else { rise * rise / (other.x - self.x) + other.price }
    }
}

/// The points from the end backwards, with the minorant of the points so far.
struct Backwards {
    /// U, V and w at the current time.
    variance: f64,
    shift: f64,
    weight: f64,
    /// The corners of the minorant, the leftmost last.
    corners: Vec<Point>,
}

impl Backwards {
    fn new(end: usize) -> Self {
        let last = Point { x: 0.0, y: 0.0, run: end, price: 0.0 };
        Self { variance: 0.0, shift: 0.0, weight: 1.0, corners: vec![last] }
    }

    /// U, V and w, this many steps of a stretch before the current time.
    fn before(&self, step: &ShiftStep, count: Count) -> (f64, f64, f64) {
        let sums = Sums::of(&ShiftStep { count, ..*step });
        let variance = self.variance + powi(self.weight * step.noise, 2) * sums.squares;
        (variance, self.shift + self.weight * step.offset * sums.sum, self.weight * sums.factor)
    }

    /// The price if iterates are at most a given distance apart at that time.
    fn price_from(&self, (variance, shift, weight): (f64, f64, f64), distance: f64) -> f64 {
        let start = Point { x: -variance, y: -shift - distance * weight, run: 0, price: 0.0 };
        // The corner with the least slope from here: slopes fall up to it and rise after it.
        let corners = &self.corners;
        // Corners are stored from right to left.
        let falls = |index: usize| {
            let [here, next] = [index, index + 1].map(|index| start.slope_to(corners[index]));
            here.partial_cmp(&next).is_none_or(Ordering::is_gt)
        };
        let price = start.price_to(corners[partition_point(0..corners.len() - 1, falls)]);
        if price.is_nan() { f64::INFINITY } else { price }
    }

    /// Goes back over a whole stretch; `run` stretches come before its first point.
    fn pass(&mut self, step: &ShiftStep, run: usize) {
        (self.variance, self.shift, self.weight) = self.before(step, step.count);
        let mut point = Point { x: -self.variance, y: -self.shift, run, price: 0.0 };
        // Corners between equal slopes are kept: shorter edges are easier to verify.
        while let [.., next, last] = self.corners[..] {
            let nothing_between = point.x >= last.x;
            if nothing_between || point.slope_to(last) > last.slope_to(next) * (1.0 + 1e-12) {
                self.corners.pop();
            } else {
                break;
            }
        }
        if let Some(last) = self.corners.last() {
            point.price = point.price_to(*last);
        }
        self.corners.push(point);
    }
}

/// Where the minorant touches, as numbers of stretches; the last is all of them.
fn touching(steps: &[ShiftStep]) -> Vec<usize> {
    if steps.iter().any(|step| step.count == Count::Any) {
        return vec![steps.len()];
    }
    let mut backwards = Backwards::new(steps.len());
    for (run, step) in steps.iter().enumerate().rev() {
        backwards.pass(step, run);
    }
    backwards.corners.iter().rev().map(|corner| corner.run).filter(|&run| run > 0).collect()
}

/// A time to begin: this many steps before the end of a stretch.
#[derive(Clone, Copy)]
struct Start {
    run: usize,
    steps: u64,
}

/// Where it is cheapest to begin, with iterates that are this far apart before the steps of each stretch.
fn best_start(diameters: &[f64], steps: &[ShiftStep]) -> Option<Start> {
    let mut backwards = Backwards::new(steps.len());
    let mut best: Option<(f64, Start)> = None;
    for (run, step) in steps.iter().enumerate().rev() {
        let most = match step.count {
            Count::Times(times) => times,
            Count::Any => MOST_STEPS_BACK,
        };
        let diameter = diameters[run];
        let price = |steps: u64| backwards.price_from(backwards.before(step, Count::Times(steps)), diameter);
        let mut note = |steps: u64, price: f64| {
            if price < best.map_or(f64::INFINITY, |(least, _)| least) {
                best = Some((price, Start { run, steps }));
            }
        };
        if most == 1 {
            note(1, price(1));
        } else {
            let least = lowest(most, &price);
            note(least, price(least));
        }
        backwards.pass(step, run);
    }
    best.map(|(_, start)| start)
}

/// In a stretch of any number of steps, the search goes back at most this many.
const MOST_STEPS_BACK: u64 = 1 << 50;

/// Approximately where a function on 1..=most is lowest, if it falls and then rises.
fn lowest(most: u64, height: &dyn Fn(u64) -> f64) -> u64 {
    let mut best = 1;
    let mut look = 1_u64;
    while look < most {
        look = look.saturating_mul(2).min(most);
        if height(look) < height(best) {
            best = look;
        }
    }
    let (mut low, mut high) = ((best / 2).max(1), best.saturating_mul(2).min(most));
    while high - low > 2 {
        let (a, b) = (low + (high - low) / 3, high - (high - low) / 3);
        if height(a) <= height(b) {
            high = b;
        } else {
            low = a;
        }
    }
    (low..=high).min_by(|&a, &b| height(a).total_cmp(&height(b))).unwrap_or(best)
}
