//! Shifts into Laplace noise.
//!
//! # Guarantee
//! Let a_t ≥ 0 be such that z_T = 0, where z_0 = 0 and z_t = min{D, (ω′_t(z_{t−1}) − a_t)₊}; D is the diameter of the
//! domain, or ∞. Then the released iterates of two neighbours are dominated, at every γ > 0 and in both directions, by
//! the product of the pairs (Lap(a_t, v_t), Lap(0, v_t)), v_t being the scale of the noise of step t. In particular
//! their D_α is at most the sum of those of the pairs.
//!
//! *Proof.* Let X and X′ be the two runs, in one dimension, and Z_t the noise of X. Set Y_0 = X_0 and Y_t =
//! Π(ψ′_t(Y_{t−1}) + V_t + Z_t) with V_t = λ_t·(ψ_t(X_{t−1}) − ψ′_t(Y_{t−1})) and λ_t = min{1, a_t/ω′_t(z_{t−1})}.
//! By induction |ψ_t(X_{t−1}) − ψ′_t(Y_{t−1})| ≤ ω′_t(z_{t−1}), so |V_t| ≤ a_t. Before the projection X_t and Y_t are (1
//! − λ_t) of that apart, which is at most (ω′_t(z_{t−1}) − a_t)₊; a projection to an interval brings nothing apart, and
//! both are in the domain: |X_t − Y_t| ≤ z_t. As z_T = 0, Y_T = X_T, and Y is to be compared with X′.
//!
//! Let N_t = V_t + Z_t. Given N_1, …, N_{t−1}, and hence Y_{t−1}, V_t has some law on [−a_t, a_t] and Z_t is independent of
//! it, so that N_t is a mixture of the laws Lap(v, v_t), |v| ≤ a_t; the noise Z′_t of X′ is Lap(0, v_t) whatever came
//! before. E_γ is jointly convex, so E_γ of the mixture from Lap(0, v_t), and in the other order, is at most the largest E_γ
//! of Lap(v, v_t) from Lap(0, v_t). That is [1 − e^((ε − |v|/v_t)/2)]₊ for γ = e^ε ≥ 1 (and γ times the same at −ε below),
//! which grows with |v|, as for every symmetric log-concave law: v = a_t is the worst. (In terms of tests: the trade-off
//! of the mixture is at least the least trade-off of its members, which is that of a_t.) So (Lap(a_t, v_t), Lap(0, v_t)) dominates the
//! t-th output given all earlier ones, at every γ > 0, and the product of the pairs dominates (N_1, …, N_T) against (Z′_1,
//! …, Z′_T) (`composition`: domination carries over to adaptive composition). Y_T and X′_T are the same function of them. ∎
//!
//! Runs that start apart have a first step without noise, which moves them apart and into which nothing can be shifted.
//! Nothing else is needed of a_t: not that z_t would stay positive, nor that the a_t are the best. They are found in ordinary
//! arithmetic; that z_T = 0 is then computed with every rounding counted ([`all_is_shifted`]). In equal steps, n of them,
//! with a line cz + o and equal shifts a, z becomes (c^n·z + (o − a)·Σ_{j<n} c^j)₊: for o ≥ a nothing is ever cut off, and
//! for o < a a number that has become negative stays negative. If these steps are more than n, from equal iterates, or fewer,
//! z before the last n of them is at most that of the limit, and z_T grows with it.
//!
//! # Which shifts
//! A pair with a small ratio r = a_t/v_t has D_α ≈ α·r²/2, as a Gaussian pair: the taut string of [`super::allocation`] is
//! nearly the best. For larger r the price grows only linearly, so it is better to shift late, where updates have brought
//! iterates together: the same ratio in the last K steps, for several K, is tried too. Those that are the best at some order are
//! kept. Every one is a bound, so the least at each ε is.

use super::allocation::{ShiftStep, from_the_best_start, one_by_one, taut};
use super::lines::{Lines, each_laplace_line, growing};
use crate::chain::{Chain, Count, Mixture, StepNoise};
use crate::divergence::LaplacePair;
use crate::numeric::Boundary;
use crate::numeric::elementary::powi;
use crate::profile::{ComposedCurve, PairCurve};
use crate::{Enclosure, NotApplicable};

/// Steps that shift the same multiple of their noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shifts {
    /// a_t/v_t.
    pub ratio: f64,
    /// The number of steps.
    pub count: u64,
}

/// All shifts of a chain; their order does not matter.
pub(super) type Allocation = Vec<Shifts>;

/// Whether there is a chain all of whose steps have Laplace noise.
pub(super) fn is_laplace(released: &Mixture) -> bool {
    let is_laplace =
        |chain: &Chain| chain.different_steps().all(|step| matches!(step.noise, StepNoise::Laplace(_)));
    released.branches().iter().any(|branch| is_laplace(&branch.chain))
}

/// Shifts of a chain with Laplace noise; each of these ways is a bound.
///
/// # Errors
/// [`NotApplicable`] if a step has other noise, nothing bounds the distance of iterates, or no way is found.
pub(super) fn allocations(chain: &Chain) -> Result<Vec<Allocation>, NotApplicable> {
    let diameter = chain.domain().width().upper();
    let mut found = Vec::new();
    each_laplace_line(chain, |lines| found.extend(along(lines, diameter)))?;
    if found.is_empty() { Err(growing()) } else { Ok(best_at_some_order(found)) }
}

/// The sum of the divergences of the shifts.
///
/// # Errors
/// [`NotApplicable`] if a ratio is not a number of 0 or more.
pub(super) fn curve(way: &Allocation) -> Result<ComposedCurve, NotApplicable> {
    way.iter().try_fold(ComposedCurve::default(), |curve, shifts| {
        Ok(curve.then(shifts.count, PairCurve::symmetric(LaplacePair::new(shifts.ratio, 1.0)?)))
    })
}

/// The ways along one choice of lines.
fn along(lines: &Lines, diameter: f64) -> Vec<Allocation> {
    match &lines.first_apart[..] {
        // Everything is shifted before steps whose number may be 0.
        [before @ .., last] if lines.is_endless() && !lines.alone => {
            let (before, after) = (counted(before, diameter), endless(last, diameter));
            let both = |before: &Allocation| {
                after.iter().map(|after| [&before[..], after].concat()).collect::<Vec<_>>()
            };
            before.iter().flat_map(both).collect()
        }
        _ if lines.is_endless() => lines.all.first().map_or(Vec::new(), |step| endless(step, diameter)),
        steps => counted(steps, diameter),
    }
}

/// Any number of equal steps from equal iterates. Before the last n of them iterates are at most as far apart as in the
/// limit.
fn endless(step: &ShiftStep, diameter: f64) -> Vec<Allocation> {
    let limit = match step {
        ShiftStep { offset: 0.0, .. } => return vec![Vec::new()],
        ShiftStep { slope: 0.0..1.0, .. } => {
            (Enclosure::from(step.offset) / (Enclosure::ONE - Enclosure::from(step.slope))).upper()
        }
        _ => f64::INFINITY,
    };
    let start = limit.min(diameter);
    if start == f64::INFINITY {
        return Vec::new();
    }
    from_the_best_start(&[start], &[*step]).map_or(Vec::new(), |steps| counted(&steps, diameter))
}

/// The ways of a number of steps from equal iterates.
fn counted(steps: &[ShiftStep], diameter: f64) -> Vec<Allocation> {
    let Some(steps) = one_by_one(steps) else {
        return Vec::new();
    };
    let from_anywhere = (diameter < f64::INFINITY)
        .then(|| from_the_best_start(&vec![diameter; steps.len()], &steps))
        .flatten();
    let strings = [Some(steps.to_vec()), from_anywhere].into_iter().flatten();
    let mut found: Vec<Allocation> =
        strings.filter_map(|steps| spread(&taut_parts(&steps), diameter)).collect();
    // Equal ratios in all steps are the best at every order if nothing brings iterates together, as prices are convex.
    let keeps_distances = diameter == f64::INFINITY && steps.iter().all(|step| step.slope == 1.0);
    if keeps_distances && found.iter().any(|way| way.len() <= 1) {
        return found;
    }
    let all = steps.iter().fold(0_u64, |sum, step| sum.saturating_add(times(step)));
    let mut last = 1;
    while last <= all.min(MOST_LAST) {
        found.extend(in_the_last(last, &steps, diameter));
        last *= 4;
    }
    found
}

/// The most steps at the end of a chain that share a ratio.
const MOST_LAST: u64 = 1 << 24;

fn times(step: &ShiftStep) -> u64 {
    match step.count {
        Count::Times(times) => times,
        Count::Any => 0,
    }
}

/// Equal steps with the ratio that each of them shifts.
#[derive(Clone, Copy)]
struct Part {
    step: ShiftStep,
    ratio: f64,
}

/// A stretch in which the taut string bends is cut where its ratio has changed by this factor, …
const CUT: f64 = 0.5;
/// … this many times at most: the rest, less than e^(−4) of the largest ratio, is not used.
const MOST_CUTS: usize = 8;
/// The most different ratios.
const MOST_RATIOS: usize = 12;

/// The parts of the taut string: equal ratios where steps have them, or about have them.
fn taut_parts(steps: &[ShiftStep]) -> Vec<Part> {
    let mut parts = Vec::with_capacity(steps.len());
    for (step, rate) in steps.iter().zip(taut(steps)) {
        parts.extend(cut(step, rate * step.noise));
    }
    let mut factor = 1e-9;
    while distinct(&parts, factor) > MOST_RATIOS {
        factor = f64::max(1.5 * factor, 0.01);
    }
    even_out(&mut parts, factor);
    parts
}

/// Equal steps, the last of which shifts this ratio, and each other c times as much as the next: in pieces, in order.
fn cut(step: &ShiftStep, last: f64) -> Vec<Part> {
    let (count, slope) = (times(step), step.slope);
    let part =
        |count: u64, ratio: f64| Part { step: ShiftStep { count: Count::Times(count), ..*step }, ratio };
    if count <= 1 || slope == 1.0 || last == 0.0 {
        return vec![part(count, last)];
    }
    // The most is shifted in the last steps if c < 1, and in the first if c > 1.
    let (largest, fall) =
        if slope < 1.0 { (last, slope) } else { (last * libm::pow(slope, (count - 1) as f64), 1.0 / slope) };
    let each = (CUT / -libm::log(fall)).floor().clamp(1.0, 1e15) as u64;
    let mut pieces = Vec::new();
    let (mut left, mut ratio) = (count, largest);
    while left > 0 && pieces.len() < MOST_CUTS && ratio > 0.0 {
        let taken = each.min(left);
        // Σr²/Σr of the steps keeps what they shift together.
        let sum =
            |q: f64| if taken == 1 { 1.0 } else { -libm::expm1(libm::log(q) * taken as f64) / (1.0 - q) };
        pieces.push(part(taken, ratio * sum(fall * fall) / sum(fall)));
        left -= taken;
        ratio *= libm::pow(fall, taken as f64);
    }
    pieces.extend((left > 0).then(|| part(left, 0.0)));
    if slope < 1.0 {
        pieces.reverse();
    }
    pieces
}

/// The ratios in decreasing order, with the places of the parts that have them.
fn by_ratio(parts: &[Part]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..parts.len()).filter(|&index| parts[index].ratio > 0.0).collect();
    order.sort_by(|&a, &b| parts[b].ratio.total_cmp(&parts[a].ratio));
    order
}

/// The number of groups of ratios that are within a factor of 1 + this.
fn distinct(parts: &[Part], factor: f64) -> usize {
    let mut groups = 0;
    let mut least = f64::INFINITY;
    for index in by_ratio(parts) {
        if parts[index].ratio < least {
            groups += 1;
            least = parts[index].ratio / (1.0 + factor);
        }
    }
    groups
}

/// Gives the ratios of a group one value, with which they shift about as much as before.
fn even_out(parts: &mut [Part], factor: f64) {
    let order = by_ratio(parts);
    let mut rest = &order[..];
    while let Some(&first) = rest.first() {
        let least = parts[first].ratio / (1.0 + factor);
        let (group, others) = rest.split_at(rest.partition_point(|&index| parts[index].ratio >= least));
        let total = |power: i32| -> f64 {
            group
                .iter()
                .map(|&index| times(&parts[index].step) as f64 * powi(parts[index].ratio, power))
                .sum()
        };
        let ratio = total(2) / total(1);
        group.iter().for_each(|&index| parts[index].ratio = ratio);
        rest = others;
    }
}

/// The smallest multiple of the ratios with which everything is shifted, approximately.
fn spread(parts: &[Part], diameter: f64) -> Option<Allocation> {
    let holds = |scale: f64| all_is_shifted(parts, scale, diameter);
    let exact = 1.0 + 1e-12;
    if holds(exact) {
        return Some(gathered(parts, exact));
    }
    let enough = [1.001, 1.1, 2.0, 16.0].into_iter().find(|&scale| holds(scale))?;
    let found = Boundary { holds: enough, fails: 1.0 }.halved_to(1e-6, holds);
    Some(gathered(parts, found.holds))
}

/// The same ratio in the last steps, this many, and nothing before.
fn in_the_last(last: u64, steps: &[ShiftStep], diameter: f64) -> Option<Allocation> {
    let mut parts = Vec::new();
    let mut left = last;
    for step in steps.iter().rev() {
        let taken = times(step).min(left);
        let shifts = [(taken, 1.0), (times(step) - taken, 0.0)];
        let some = shifts.into_iter().filter(|(count, _)| *count > 0);
        parts.extend(
            some.map(|(count, ratio)| Part {
                step: ShiftStep { count: Count::Times(count), ..*step },
                ratio,
            }),
        );
        left -= taken;
    }
    parts.reverse();
    // What came before does not depend on the ratio.
    let first = parts.iter().position(|part| part.ratio > 0.0)?;
    let before = distance(&parts[..first], 1.0, diameter);
    let start = ShiftStep { slope: 0.0, offset: before, noise: 0.0, count: Count::Times(1) };
    parts.splice(..first, [Part { step: start, ratio: 0.0 }]);
    // The last step alone could shift everything.
    let unshifted: Vec<Part> = parts.iter().map(|part| Part { ratio: 0.0, ..*part }).collect();
    let most = 2.0 * distance(&unshifted, 1.0, diameter) / parts.last()?.step.noise;
    let holds = |ratio: f64| all_is_shifted(&parts, ratio, diameter);
    if !(most < f64::INFINITY && holds(most)) {
        return None;
    }
    let found = Boundary { holds: most, fails: 0.0 }.halved_to(1e-9, holds);
    Some(gathered(&parts, found.holds))
}

/// Whether nothing is left at the end, if each part shifts its ratio times the scale.
fn all_is_shifted(parts: &[Part], scale: f64, diameter: f64) -> bool {
    distance(parts, scale, diameter) == 0.0
}

/// An upper bound on z at the end, from z = 0.
fn distance(parts: &[Part], scale: f64, diameter: f64) -> f64 {
    let product = |a: Enclosure, b: Enclosure| {
        if a == Enclosure::ZERO || b == Enclosure::ZERO { Enclosure::ZERO } else { a * b }
    };
    let mut z = Enclosure::ZERO;
    for Part { step, ratio } in parts {
        let slope = Enclosure::from(step.slope);
        // At least this is shifted: its ratio to the noise is not above the one that is charged.
        let shift = (Enclosure::from(ratio * scale) * Enclosure::from(step.noise)).lower().max(0.0);
        let added = Enclosure::from(step.offset) - Enclosure::from(shift);
        let next = match step.count {
            Count::Times(1) => product(slope, z) + added,
            count => product(count.power(slope), z) + product(count.geometric_sum(slope), added),
        };
        let upper = if next.upper().is_nan() { f64::INFINITY } else { next.upper() };
        z = Enclosure::from(upper.max(0.0).min(diameter));
    }
    z.upper()
}

/// A smaller ratio is charged as this one.
const LEAST_RATIO: f64 = 1e-100;

/// The shifts, with equal ratios together.
fn gathered(parts: &[Part], scale: f64) -> Allocation {
    let mut shifts: Allocation = Vec::new();
    for index in by_ratio(parts) {
        let (ratio, count) = ((parts[index].ratio * scale).max(LEAST_RATIO), times(&parts[index].step));
        match shifts.last_mut() {
            // The first of almost equal ratios is the largest, and a larger shift is dominated by none.
            Some(last) if ratio * (1.0 + 1e-9) >= last.ratio => last.count = last.count.saturating_add(count),
            _ => shifts.push(Shifts { ratio, count }),
        }
    }
    shifts
}

/// The orders at which ways are compared.
const ORDERS: [f64; 10] = [1.1, 1.5, 2.0, 4.0, 8.0, 16.0, 64.0, 256.0, 1024.0, f64::INFINITY];

/// The ways whose D_α is the least at one of the orders.
fn best_at_some_order(found: Vec<Allocation>) -> Vec<Allocation> {
    let mut kept: Vec<usize> = Vec::new();
    for order in ORDERS {
        let divergence = |way: &Allocation| -> f64 {
            way.iter().map(|shifts| shifts.count as f64 * divergence(order, shifts.ratio)).sum()
        };
        let mut best = (0, f64::INFINITY);
        for (index, way) in found.iter().enumerate() {
            let value = divergence(way);
            if value < best.1 * (1.0 - 1e-6) {
                best = (index, value);
            }
        }
        kept.push(best.0);
    }
    kept.sort_unstable();
    kept.dedup();
    kept.into_iter().map(|index| found[index].clone()).collect()
}

/// D_α of two Laplace laws, approximately.
fn divergence(order: f64, ratio: f64) -> f64 {
    let below = order - 1.0;
    if order == f64::INFINITY {
        return ratio;
    }
    if order * ratio < 1e-4 {
        return order * ratio * ratio / 2.0;
    }
    let width = order + below;
    ratio + libm::log1p(below / width * libm::expm1(-width * ratio)) / below
}
