//! The best allocation of shifts, against optimisers that know nothing of taut strings.
//!
//! Two runs are z_t = ω′_t(z_{t−1}) − a_t apart and a_t ≥ 0 costs (a_t/s_t)². The least Σ(a_t/s_t)² with
//! z_T = 0 is found here by looking at every set of times at which z may be 0 (short chains), by
//! gift-wrapping (long ones), and in closed form.

use dobrushin::analysis::{Bound, HiddenStates, ShiftRenyi};
use dobrushin::chain::{Chain, Count, Domain, Mixture, Modulus, Participation, Piece, Step, StepNoise};
use dobrushin::numeric::Random;
use dobrushin::profile::Direction;
use dobrushin::{Enclosure, NonNegative, NotApplicable, Probability};
use dobrushin_reference::{Real, is_inside};
use std::time::Instant;

const BITS: usize = 256;

/// z ↦ c·z + o, and the noise.
#[derive(Clone, Copy, Debug)]
struct Line {
    c: f64,
    o: f64,
    s: f64,
}

/// μ² by the library.
fn squared_shift(chain: &Chain) -> Result<Enclosure, NotApplicable> {
    match ShiftRenyi.apply(&Mixture::last(chain.clone()))? {
        // D_2 = μ².
        Bound::Renyi(curve) => Ok(curve.log_moment(Direction::Forward, 2.0)),
        Bound::Profile(_) | Bound::Gaussian(_) => panic!("it bounds D_α"),
    }
}

fn chain(steps: Vec<(Step, Count)>) -> Chain {
    Chain::new(steps, Domain::default()).unwrap()
}

fn clean(c: f64, o: f64, s: f64) -> Step {
    Step::new(StepNoise::gaussian(s).unwrap()).with_modulus(vec![Piece::new(c, o).unwrap()])
}

fn used(c: f64, d: f64, s: f64) -> Step {
    clean(c, 0.0, s).used_by(Participation::Always, NonNegative::new(d).unwrap())
}

/// What must be shifted at the end of some steps, and the noise there, from nothing at their start.
fn cost_between_contacts(lines: &[Line]) -> (f64, f64) {
    lines.iter().fold((0.0, 0.0), |(shift, variance), line| {
        (line.c * shift + line.o, line.c * line.c * variance + line.s * line.s)
    })
}

/// The cost of shifting all to nothing over these steps with z > 0 in between; `None` if z would be negative.
fn free_segment(lines: &[Line]) -> Option<f64> {
    let (shift, variance) = cost_between_contacts(lines);
    if shift == 0.0 {
        return Some(0.0);
    }
    // a_t ∝ s_t²·w_t with w_t = c_{t+1}⋯c_T minimises Σ(a/s)² for a given Σa·w.
    let mut weights = vec![1.0; lines.len()];
    for t in (0..lines.len() - 1).rev() {
        weights[t] = weights[t + 1] * lines[t + 1].c;
    }
    let rate = shift / variance;
    let mut z = 0.0;
    for (line, weight) in lines.iter().zip(weights) {
        let before = line.c * z + line.o;
        z = before - rate * weight * line.s * line.s;
        if z < -1e-13 * (before + shift) {
            return None;
        }
    }
    Some(shift * shift / variance)
}

/// The least cost over all sets of times at which z = 0.
fn by_enumeration(lines: &[Line]) -> f64 {
    let last = lines.len();
    let mut least = vec![f64::INFINITY; last + 1];
    least[0] = 0.0;
    for to in 1..=last {
        for from in 0..to {
            if let Some(cost) = free_segment(&lines[from..to]) {
                least[to] = f64::min(least[to], least[from] + cost);
            }
        }
    }
    least[last]
}

/// The same where only every single subset is looked at, without dynamic programming.
fn by_subsets(lines: &[Line]) -> f64 {
    let inner = lines.len() - 1;
    let mut least = f64::INFINITY;
    for contacts in 0_u32..1 << inner {
        let (mut from, mut total) = (0, Some(0.0));
        for to in 1..=lines.len() {
            if to == lines.len() || contacts >> (to - 1) & 1 == 1 {
                total = total.and_then(|sum: f64| Some(sum + free_segment(&lines[from..to])?));
                from = to;
            }
        }
        least = least.min(total.unwrap_or(f64::INFINITY));
    }
    least
}

/// The greatest convex minorant by gift-wrapping: from each contact, on to the point in the flattest direction.
fn by_wrapping(lines: &[Line]) -> f64 {
    let (mut scale, mut u, mut s) = (1.0, 0.0, 0.0);
    let mut points = vec![(0.0, 0.0)];
    for line in lines {
        scale /= line.c;
        u += (line.s * scale).powi(2);
        s += line.o * scale;
        points.push((u, s));
    }
    let (mut at, mut total) = (0, 0.0);
    while at + 1 < points.len() {
        let slope = |&(u, s): &(f64, f64)| (s - points[at].1) / (u - points[at].0);
        let flattest = points[at + 1..].iter().map(slope).fold(f64::INFINITY, f64::min);
        let to = (at + 1..points.len()).rev().find(|&j| slope(&points[j]) <= flattest).unwrap();
        total += flattest * flattest * (points[to].0 - points[at].0);
        at = to;
    }
    total
}

/// A chain with one line for each step: never, always or sometimes used.
fn random_chain(
    random: &mut Random,
    length: usize,
    slope: impl Fn(&mut Random) -> f64,
) -> (Chain, Vec<Line>) {
    let mut steps = Vec::new();
    let mut lines: Vec<Line> = Vec::new();
    for t in 0..length {
        let (c, s) = (slope(random), random.log_between(0.1, 10.0));
        let (o, d) = match random.below(3) {
            0 => (0.0, random.log_between(1e-3, 10.0)),
            1 => (random.log_between(1e-3, 1.0), 0.0),
            _ => (random.log_between(1e-3, 1.0), random.log_between(1e-3, 10.0)),
        };
        let participation = match random.below(if t == 0 { 2 } else { 4 }) {
            0 => Participation::Always,
            1 => Participation::Sometimes(Probability::new(random.between(0.01, 1.0)).unwrap()),
            // What follows the last use may be left out, and is where that costs less.
            _ if t + 1 == length => Participation::Always,
            _ => Participation::Never,
        };
        let step = clean(c, o, s).used_by(participation, NonNegative::new(d).unwrap());
        steps.push((step, Count::Times(1)));
        let offset = if participation.is_never() { o } else { o + d };
        // Equal iterates are moved apart by the displacement only.
        lines.push(if t == 0 { Line { c: 1.0, o: d, s } } else { Line { c, o: offset, s } });
    }
    (chain(steps), lines)
}

/// Fails unless the library's cost is at least the least one; says how much above it.
fn excess((chain, lines): &(Chain, Vec<Line>)) -> f64 {
    let truth = by_enumeration(lines);
    let subsets = by_subsets(lines);
    assert!((truth - subsets).abs() <= 1e-12 * truth, "{truth:e} and {subsets:e} at {lines:?}");
    let ours = squared_shift(chain).unwrap();
    assert!(ours.upper() >= truth * (1.0 - 1e-12), "unsound: {ours} < {truth:e} at {lines:?}");
    if truth == 0.0 { ours.upper() } else { ours.upper() / truth - 1.0 }
}

#[test]
fn short_chains_cost_what_the_best_set_of_contacts_costs() {
    let mut random = Random::new(1);
    for _ in 0..2000 {
        let length = 1 + random.below(8);
        let case = random_chain(&mut random, length, |random| match random.below(5) {
            0 => 1.0,
            1 => random.log_between(1e-3, 1.0),
            2 => random.between(1.0, 3.0),
            _ => random.between(0.7, 1.3),
        });
        let excess = excess(&case);
        assert!(excess <= 1e-9, "{excess:e} too much at {:?}", case.1);
    }
}

fn with_forgetting_steps(random: &mut Random) -> (Chain, Vec<Line>) {
    let length = 2 + random.below(7);
    random_chain(random, length, |random| if random.below(4) == 0 { 0.0 } else { random.between(0.3, 1.3) })
}

#[test]
fn steps_that_forget_everything_never_make_the_cost_too_small() {
    let mut random = Random::new(5);
    for _ in 0..1000 {
        excess(&with_forgetting_steps(&mut random));
    }
}

#[test]
fn steps_that_forget_everything_cost_no_more_than_needed() {
    let mut random = Random::new(5);
    for _ in 0..1000 {
        let case = with_forgetting_steps(&mut random);
        let excess = excess(&case);
        assert!(excess <= 1e-9, "{excess:e} too much at {:?}", case.1);
    }
}

#[test]
fn stretches_cost_what_their_single_steps_cost() {
    let mut random = Random::new(2);
    for _ in 0..300 {
        let mut steps = Vec::new();
        let mut lines: Vec<Line> = Vec::new();
        for kind in 0..2 + random.below(5) {
            let c = match random.below(4) {
                0 => 1.0,
                1 => random.between(1.0, 1.2),
                _ => random.between(0.8, 1.0),
            };
            let (s, d, times) =
                (random.log_between(0.3, 3.0), random.log_between(0.01, 3.0), 1 + random.below(9));
            let taken = kind == 0 || random.below(2) == 0;
            let step = if taken { used(c, d, s) } else { clean(c, 0.0, s) };
            steps.push((step, Count::Times(times as u64)));
            lines.extend((0..times).map(|_| Line { c, o: if taken { d } else { 0.0 }, s }));
        }
        lines[0].c = 1.0;
        let ours = squared_shift(&chain(steps)).unwrap();
        let truth = by_enumeration(&lines);
        assert!(ours.upper() >= truth * (1.0 - 1e-12), "unsound: {ours} < {truth:e} at {lines:?}");
        assert!(ours.upper() <= truth * (1.0 + 1e-9), "{ours} > {truth:e} at {lines:?}");
    }
}

#[test]
fn long_chains_cost_what_gift_wrapping_finds() {
    let mut random = Random::new(3);
    for length in [50, 200, 1000] {
        for _ in 0..10 {
            let (chain, lines) = random_chain(&mut random, length, |random| match random.below(3) {
                0 => 1.0,
                _ => random.between(0.97, 1.02),
            });
            let (ours, truth) = (squared_shift(&chain).unwrap(), by_wrapping(&lines));
            assert!(ours.upper() >= truth * (1.0 - 1e-10), "unsound: {ours} < {truth:e}");
            assert!(ours.upper() <= truth * (1.0 + 1e-9), "{ours} > {truth:e}");
        }
    }
}

#[test]
fn steps_with_several_lines_cost_between_the_best_mixed_and_the_best_uniform_choice() {
    let mut random = Random::new(4);
    for _ in 0..300 {
        let mut steps = Vec::new();
        // The lines above ω′ in each step: two of the modulus, and one more in steps with the record.
        let mut options: Vec<Vec<Line>> = Vec::new();
        for t in 0..2 + random.below(4) {
            let s = random.log_between(0.3, 3.0);
            let modulus =
                [(random.between(1.0, 1.5), 0.0), (random.between(0.5, 1.0), random.log_between(0.05, 2.0))];
            let d = random.log_between(0.01, 1.0);
            let mut step = Step::new(StepNoise::gaussian(s).unwrap())
                .with_modulus(modulus.iter().map(|&(c, o)| Piece::new(c, o).unwrap()).collect());
            if t == 0 || random.below(2) == 0 {
                let (c, o) = (random.between(0.5, 1.0), d * random.between(1.0, 3.0));
                step = step.used_by(Participation::Always, NonNegative::new(d).unwrap());
                step.crossed = Modulus::new(vec![Piece::new(c, o).unwrap()]);
                let moved = modulus.iter().map(|&(c, o)| Line { c, o: o + d, s });
                options.push(moved.chain([Line { c, o, s }]).collect());
            } else {
                options.push(modulus.iter().map(|&(c, o)| Line { c, o, s }).collect());
            }
            if t == 0 {
                options[0] = vec![Line { c: 1.0, o: d, s }];
            }
            steps.push((step, Count::Times(1)));
        }
        let mixed = choices(&options).iter().map(|lines| by_enumeration(lines)).fold(f64::INFINITY, f64::min);
        let uniform = |same: usize, crossed: usize| {
            let pick = |lines: &Vec<Line>| {
                lines[(if lines.len() == 3 { crossed } else { same }).min(lines.len() - 1)]
            };
            by_enumeration(&options.iter().map(pick).collect::<Vec<_>>())
        };
        let uniform = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
            .map(|(same, crossed)| uniform(same, crossed))
            .into_iter()
            .fold(f64::INFINITY, f64::min);
        let ours = squared_shift(&chain(steps)).unwrap();
        assert!(ours.upper() >= mixed * (1.0 - 1e-12), "unsound: {ours} < {mixed:e} at {options:?}");
        assert!(ours.upper() <= uniform * (1.0 + 1e-9), "{ours} > {uniform:e} at {options:?}");
    }
}

/// Every way to take one line in each step.
fn choices(options: &[Vec<Line>]) -> Vec<Vec<Line>> {
    options.iter().fold(vec![Vec::new()], |begun, lines| {
        let longer =
            |begun: &Vec<Line>| lines.iter().map(|&line| [&begun[..], &[line]].concat()).collect::<Vec<_>>();
        begun.iter().flat_map(longer).collect()
    })
}

/// The least cost over all contacts, in arithmetic without overflow.
fn by_exact_enumeration(lines: &[Line]) -> Real {
    let mut least: Vec<Option<Real>> = vec![Some(int(0))];
    for to in 1..=lines.len() {
        let mut best: Option<Real> = None;
        for from in 0..to {
            let (Some(before), Some(cost)) = (&least[from], exact_segment(&lines[from..to])) else {
                continue;
            };
            let total = before + &cost;
            best = Some(match best {
                Some(best) if best < total => best,
                _ => total,
            });
        }
        least.push(best);
    }
    least.pop().flatten().unwrap()
}

fn exact_segment(lines: &[Line]) -> Option<Real> {
    let (mut shift, mut variance) = (int(0), int(0));
    for line in lines {
        let (c, o, s) = (real(line.c), real(line.o), real(line.s));
        shift = &c * &shift + o;
        variance = &c * &c * &variance + &s * &s;
    }
    let rate = &shift / &variance;
    let mut z = int(0);
    for (t, line) in lines.iter().enumerate() {
        let weight = lines[t + 1..].iter().fold(int(1), |product, later| product * real(later.c));
        let (before, shifted) =
            (real(line.c) * z + real(line.o), &rate * &weight * real(line.s) * real(line.s));
        // At the end both are equal up to rounding.
        if t + 1 < lines.len() && before < shifted {
            return None;
        }
        z = before - shifted;
    }
    Some(&shift * &shift / variance)
}

#[test]
fn extreme_chains_never_cost_too_little() {
    let mut random = Random::new(6);
    let mut finite = 0;
    for _ in 0..3000 {
        let size = |random: &mut Random| match random.below(5) {
            0 => random.log_between(1e-300, 1e300),
            1 => [1.0, 1.0_f64.next_up(), 1.0_f64.next_down(), 5e-324, 1e308][random.below(5)],
            2 => random.log_between(1e-160, 1e-140),
            _ => random.log_between(1e-3, 1e3),
        };
        let mut steps = Vec::new();
        let mut lines: Vec<Line> = Vec::new();
        for t in 0..1 + random.below(5) {
            let (c, d) = (size(&mut random), size(&mut random));
            let c = if random.below(8) == 0 { 0.0 } else { c };
            let s = size(&mut random).max(1e-300);
            let taken = t == 0 || random.below(2) == 0;
            steps.push((if taken { used(c, d, s) } else { clean(c, 0.0, s) }, Count::Times(1)));
            let o = if taken { d } else { 0.0 };
            lines.push(Line { c: if t == 0 { 1.0 } else { c }, o, s });
        }
        let Ok(ours) = squared_shift(&chain(steps)) else { continue };
        finite += 1;
        let truth = by_exact_enumeration(&lines) * (int(1) - int(2).powi(-100));
        assert!(
            is_inside(f64::NEG_INFINITY, ours.upper(), &truth),
            "unsound: {ours} < {:e} at {lines:?}",
            truth.to_f64()
        );
    }
    // Sizes beyond 1e±140 are refused.
    assert!(finite > 500, "{finite}");
}

#[test]
fn contacts_that_rounding_hides_never_make_the_cost_too_small() {
    // After one step that expands much, all later points (u, S) are within rounding of each other, but not
    // of the cost.
    let mut random = Random::new(8);
    for _ in 0..3000 {
        let mut steps = Vec::new();
        let mut lines: Vec<Line> = Vec::new();
        for t in 0..4 + random.below(3) {
            let c = match t {
                0 => 1.0,
                1 => random.log_between(1e6, 1e9),
                _ => random.between(0.9, 1.1),
            };
            let (d, s) = (random.between(0.1, 2.0), random.between(0.5, 2.0));
            steps.push((used(c, d, s), Count::Times(1)));
            lines.push(Line { c, o: d, s });
        }
        let ours = squared_shift(&chain(steps)).unwrap();
        let truth = by_exact_enumeration(&lines) * (int(1) - int(2).powi(-100));
        assert!(
            is_inside(f64::NEG_INFINITY, ours.upper(), &truth),
            "unsound: {ours} < {:e} at {lines:?}",
            truth.to_f64()
        );
    }
}

fn real(x: f64) -> Real {
    Real::from_f64(x, BITS)
}

fn int(n: i64) -> Real {
    Real::from_i64(n, BITS)
}

fn is_close(ours: Enclosure, truth: &Real, what: &str) {
    let truth = truth.to_f64();
    let room = 1e-12 * truth;
    assert!(
        ours.lower() <= truth * (1.0 + 1e-15)
            && ours.upper() >= truth * (1.0 - 1e-15)
            && ours.upper() - truth <= room
            && truth - ours.lower() <= room,
        "{what}: {ours} against {truth:e}"
    );
}

/// (d/s)².
fn unit(d: f64, s: f64) -> Real {
    let ratio = real(d) / real(s);
    &ratio * &ratio
}

/// (1 − c^T)/(1 + c^T)·(1 + c)/(1 − c), or T for c = 1.
fn noisy_descent(c: f64, steps: i32) -> Real {
    if c == 1.0 {
        return int(i64::from(steps));
    }
    let power = real(c).powi(steps);
    (int(1) - &power) / (int(1) + &power) * (int(1) + real(c)) / (int(1) - real(c))
}

#[test]
fn noisy_gradient_descent_costs_its_closed_form() {
    for c in [0.25_f64, 0.5, 0.9, 0.999, 1.0] {
        for steps in [1, 2, 3, 10, 300, 1_000_000] {
            if f64::from(steps) * c.ln() < -300.0 {
                continue;
            }
            let ours = squared_shift(&chain(vec![(used(c, 0.3, 0.7), Count::Times(steps as u64))])).unwrap();
            is_close(ours, &(unit(0.3, 0.7) * noisy_descent(c, steps)), &format!("c = {c}, T = {steps}"));
        }
    }
}

#[test]
fn regularised_descent_costs_its_closed_form() {
    for decay in [0.65_f64, 0.25, 0.01, 1.0 / 1024.0] {
        let c = 1.0 - decay;
        let (push, s) = (0.1, 5.0);
        let step = Step {
            crossed: Modulus::new(vec![Piece::new(c, 2.0 * push).unwrap()]),
            ..clean(c, 2.0 * push, s).used_by(
                Participation::Sometimes(Probability::new(0.001).unwrap()),
                NonNegative::new(0.2).unwrap(),
            )
        };
        for steps in [1, 7, 100, 100_000] {
            if f64::from(steps) * c.ln() < -300.0 {
                continue;
            }
            let ours = squared_shift(&chain(vec![(step.clone(), Count::Times(steps as u64))])).unwrap();
            is_close(ours, &(unit(0.2, s) * noisy_descent(c, steps)), &format!("λ = {decay}, T = {steps}"));
        }
        let ours = squared_shift(&chain(vec![(step, Count::Any)])).unwrap();
        is_close(ours, &(unit(0.2, s) * (int(1) + real(c)) / (int(1) - real(c))), "any number of steps");
    }
}

/// E passes of l steps, the record in step i of each.
fn cyclic(c: f64, d: f64, s: f64, (batches, place, passes): (u64, u64, u64)) -> Chain {
    let pass = [
        (clean(c, 0.0, s), Count::Times(place - 1)),
        (used(c, d, s), Count::Times(1)),
        (clean(c, 0.0, s), Count::Times(batches - place)),
    ];
    chain((0..passes).flat_map(|_| pass.clone()).collect())
}

#[test]
fn cyclic_descent_costs_its_closed_form_at_the_worst_place() {
    let (d, s) = (0.4, 1.1);
    for c in [0.5_f64, 0.9, 0.99] {
        for batches in [2_u64, 5, 40] {
            for passes in [1_u64, 2, 3, 20] {
                if (batches * passes) as f64 * c.ln() < -300.0 {
                    continue;
                }
                let ours = squared_shift(&cyclic(c, d, s, (batches, batches, passes))).unwrap();
                let l = batches as i32;
                let share = int(1) - real(c).powi(l);
                let power = real(c).powi(l * (passes as i32 - 1));
                let more = real(c).powi(2 * l - 2) * (int(1) - real(c) * real(c)) / (&share * &share)
                    * (int(1) - &power)
                    / (int(1) + &power);
                let truth = unit(d, s) * (int(1) + more);
                is_close(ours, &truth, &format!("c = {c}, {batches} batches, {passes} passes"));
            }
        }
    }
}

#[test]
fn convex_passes_cost_their_closed_form_at_every_place() {
    for batches in [1_u64, 2, 7, 30] {
        for passes in [1_u64, 2, 30] {
            for place in 1..=batches {
                let ours = squared_shift(&cyclic(1.0, 2.0, 3.0, (batches, place, passes))).unwrap();
                let later = int(1) / int((batches - place + 1) as i64);
                let truth = unit(2.0, 3.0) * (int(passes as i64 - 1) / int(batches as i64) + later);
                is_close(ours, &truth, &format!("place {place} of {batches}, {passes} passes"));
            }
        }
    }
}

#[test]
fn one_use_and_clean_steps_cost_their_closed_form() {
    for c in [0.5, 0.9, 1.0, 1.25, 2.0] {
        for later in [0_i32, 1, 5, 100] {
            let steps =
                vec![(used(c, 1.5, 0.5), Count::Times(1)), (clean(c, 0.0, 0.5), Count::Times(later as u64))];
            let sum = (0..=later).fold(int(0), |sum, i| sum + int(1) / real(c).powi(2 * i));
            let ours = squared_shift(&chain(steps)).unwrap();
            is_close(ours, &(unit(1.5, 0.5) / sum), &format!("c = {c}, {later} later"));
        }
    }
}

fn descent(c: f64, count: Count) -> Enclosure {
    squared_shift(&chain(vec![(used(c, 1.0, 1.0), count)])).unwrap()
}

const MANY: Count = Count::Times(1_000_000_000);

#[test]
fn factors_that_underflow_are_enclosed() {
    // c^T is 0 to every precision.
    is_close(descent(0.5, Count::Any), &int(3), "c = 1/2, any T");
    let price = descent(0.5, MANY);
    assert!(price.upper() >= 3.0, "unsound: {price}");
    // Nothing is lost to underflow: some cost remains above 0.
    let price = squared_shift(&chain(forgotten(MANY))).unwrap();
    assert!(price.lower() >= 0.0 && price.upper() > 0.0, "{price}");
}

/// One use, and then contraction by 1/2.
fn forgotten(later: Count) -> Vec<(Step, Count)> {
    vec![(used(1.0, 1.0, 1.0), Count::Times(1)), (clean(0.5, 0.0, 1.0), later)]
}

#[test]
fn factors_that_underflow_cost_no_more_than_needed() {
    is_close(descent(0.5, MANY), &int(3), "c = 1/2, T = 1e9");
    is_close(descent(0.25, Count::Times(1000)), &(int(5) / int(3)), "c = 1/4, T = 1000");
    is_close(descent(0.0, MANY), &int(1), "c = 0");
    for later in [500, 600, 1_000_000_000] {
        let price = squared_shift(&chain(forgotten(Count::Times(later)))).unwrap();
        assert!(price.upper() < 1e-300, "{later} later steps: {price}");
    }
    // Expansion that overflows would hide a little, too, 1/Σ4^(−i), which is not counted on.
    let lost = vec![(used(1.0, 1.0, 1.0), Count::Times(1)), (clean(2.0, 0.0, 1.0), Count::Times(2000))];
    let price = squared_shift(&chain(lost)).unwrap().upper();
    assert!((0.75..=1.0 + 1e-9).contains(&price), "c = 2, T = 2000: {price}");
    // 40 steps between uses, 20 uses, c = 1/2: as if the last use were the only one.
    is_close(squared_shift(&cyclic(0.5, 1.0, 1.0, (40, 40, 20))).unwrap(), &int(1), "40·20 steps");
}

#[test]
fn factors_close_to_one_keep_their_digits() {
    for (gap, steps) in [(1e-6, 1_000_000), (1e-9, 1_000_000_000), (1e-12, 1_000_000_000_000)] {
        let ours = descent(1.0 - gap, Count::Times(steps));
        // (1 − c^T)/(1 + c^T) = tanh(−T·ln(c)/2), and c itself is exact.
        let ln_c = real(1.0 - gap).ln() * Real::from_f64(steps as f64, BITS);
        let power = ln_c.exp();
        let truth =
            (int(1) - &power) / (int(1) + &power) * (int(1) + real(1.0 - gap)) / (int(1) - real(1.0 - gap));
        is_close(ours, &truth, &format!("c = 1 − {gap:e}, T = {steps}"));
    }
}

#[test]
fn factors_next_to_one_are_enclosed() {
    let below = descent(1.0_f64.next_down(), MANY);
    assert!(below.lower() <= 1e9 && below.upper() > 1e9 * (1.0 - 1e-6), "{below}");
    assert!(below.upper() < 1e9 * (1.0 + 1e-12), "{below}");
    is_close(descent(1.0, MANY), &int(1_000_000_000), "c = 1");
    // Above 1 the points bend upwards: every step is a contact.
    is_close(descent(1.0_f64.next_up(), Count::Times(1000)), &int(1000), "c = 1 + 2e-16");
}

#[test]
fn any_number_of_steps_without_contraction_has_no_bound() {
    for c in [1.0, 1.0_f64.next_up(), 1.5] {
        let outcome = squared_shift(&chain(vec![(used(c, 1.0, 1.0), Count::Any)]));
        assert!(outcome.is_err(), "c = {c}: {outcome:?}");
    }
    // Steps that may not be there protect nothing.
    let tail = vec![(used(1.0, 2.0, 1.0), Count::Times(1)), (clean(0.5, 0.0, 1.0), Count::Any)];
    is_close(squared_shift(&chain(tail)).unwrap(), &int(4), "a clean tail of any length");
}

#[test]
fn any_number_of_steps_covers_every_number_of_them() {
    // The first step costs (10/1)² if none of the others follow.
    let steps = |count| vec![(used(1.0, 10.0, 1.0), Count::Times(1)), (used(0.5, 0.1, 1.0), count)];
    let any = squared_shift(&chain(steps(Count::Any)));
    for times in [0, 1, 2, 5, 100] {
        let some = squared_shift(&chain(steps(Count::Times(times)))).unwrap();
        let covered = any.as_ref().map_or(f64::INFINITY, |any| any.upper());
        assert!(covered >= some.lower(), "{times} further steps cost {some}, any number {covered:e}");
    }
}

#[test]
fn the_time_is_proportional_to_the_number_of_stretches() {
    let noises = [1.0, 1.5];
    let patterns: [(&str, &dyn Fn(usize) -> Step); 5] = [
        ("convex, used every other step", &|t| {
            if t % 2 == 0 { used(1.0, 1.0, 1.0) } else { clean(1.0, 0.0, 1.0) }
        }),
        ("contracting", &|t| if t % 2 == 0 { used(0.999, 1.0, 1.0) } else { clean(0.999, 0.0, 2.0) }),
        ("expanding and contracting", &|t| {
            if t % 2 == 0 { used(1.01, 1.0, 1.0) } else { clean(0.99, 0.0, 1.0) }
        }),
        ("alternating noise", &|t| used(1.0, 1.0, noises[t % 2])),
        ("decaying", &|t| used(1.0, 1.0 / ((t + 1) as f64).sqrt(), 1.0)),
    ];
    for (what, step) in patterns {
        let chain = chain((0..250_000).map(|t| (step(t), Count::Times(1))).collect());
        let start = Instant::now();
        let price = squared_shift(&chain).unwrap();
        let time = start.elapsed().as_secs_f64();
        assert!(price.upper().is_finite() && price.relative_width() < 1e-8, "{what}: {price}");
        // Linear, with much room for a busy machine; quadratic would be hours.
        assert!(time < 10.0, "{what}: {time} s");
    }
}

#[test]
fn steps_that_hardly_differ_do_not_take_for_ever() {
    for drift in [1e-4, 1e-6, 1e-8, 1e-10] {
        let step = |t: usize| used(1.0, 1.0 - drift * t as f64 / 20_000.0, 1.0);
        let chain = chain((0..20_000).map(|t| (step(t), Count::Times(1))).collect());
        let start = Instant::now();
        let price = squared_shift(&chain).unwrap();
        let time = start.elapsed().as_secs_f64();
        let truth = 20_000.0 * (1.0 - 0.5 * drift).powi(2);
        assert!((price.upper() / truth - 1.0).abs() < 1e-4, "{drift:e}: {price}");
        assert!(time < 1.0, "drift {drift:e}: {time} s");
    }
}
