//! Tests of the roundings and the convolution, each against a naive computation of what it bounds.

use super::convolve::{Copies, Errors, Summed, Workshop, sum};
use super::grid::{Discretised, Grid, Nodes, Placement, discretise};
use super::window::Allowance;
use super::*;
use crate::numeric::Random;
use crate::numeric::rounding::two_sum;
use crate::{Epsilon, Positive};

/// Room for the rounding errors of the checks themselves, relatively.
const SLACK: f64 = 1e-11;

/// A sum with the errors of its additions summed separately.
fn compensated(terms: impl Iterator<Item = f64>) -> f64 {
    let (sum, error) = terms.fold((0.0, 0.0), |(sum, lost), term| {
        let (next, error) = two_sum(sum, term);
        (next, lost + error)
    });
    sum + error
}

/// Σ m_j (1 − γe^(−jh))₊ of masses that are stored tilted.
fn hockey_stick(first: i64, masses: &[f64], grid: Grid, log_gamma: f64) -> f64 {
    compensated(masses.iter().enumerate().map(|(i, mass)| {
        let index = (first + i as i64) as f64;
        mass * (-grid.tilt * index).exp() * -(log_gamma - index * grid.step).min(0.0).exp_m1()
    }))
}

/// Masses of one of many shapes.
fn masses(random: &mut Random, length: usize) -> Vec<f64> {
    let shape = random.below(6);
    let decay = random.log_between(1e-3, 30.0);
    let peak = random.below(length) as f64;
    (0..length)
        .map(|i| {
            let away = (i as f64 - peak).abs();
            match shape {
                0 => random.between(0.0, 1.0),
                1 => random.log_between(1e-40, 1.0),
                2 => (-decay * away).exp(),
                3 => (-0.5 * (away / (1.0 + decay)).powi(2)).exp() * random.between(0.5, 1.0),
                4 if random.below(20) > 0 => 0.0,
                4 => random.log_between(1e-12, 1.0),
                _ if i as f64 == peak => 1.0,
                _ => 0.0,
            }
        })
        .collect()
}

#[test]
fn a_coarser_grid_is_pessimistic_above_and_optimistic_below_for_every_hockey_stick() {
    let mut random = Random::new(1);
    for round in 0..1500 {
        let length = 1 + random.below(120);
        let first = random.below(400) as i64 - 200;
        let step = random.log_between(1e-6, 0.5);
        let tilt = if random.below(3) == 0 { 0.0 } else { random.log_between(1e-6, 0.5) };
        let (grid, factor) = (Grid { step, tilt }, [2, 4, 8, 16][random.below(4)]);
        let nodes = Nodes { first, upper: masses(&mut random, length), lower: masses(&mut random, length) };
        let (coarse, coarsened) = nodes.coarsen(grid, factor);
        assert!(coarsened.upper.iter().chain(&coarsened.lower).all(|m| m.is_finite() && *m >= 0.0));
        for _ in 0..30 {
            let near = (first as f64 + random.between(-20.0, length as f64 + 40.0)) * step;
            let log_gamma = if random.below(4) == 0 { random.between(-60.0, 60.0) } else { near };
            let fine = |of: &[f64]| hockey_stick(first, of, grid, log_gamma);
            let rough = |of: &[f64]| hockey_stick(coarsened.first, of, coarse, log_gamma);
            let (upper, least) = (rough(&coarsened.upper), fine(&nodes.upper));
            assert!(upper >= least * (1.0 - SLACK), "{round}: {upper:e} < {least:e}");
            let (lower, most) = (rough(&coarsened.lower), fine(&nodes.lower));
            assert!(lower <= most * (1.0 + SLACK), "{round}: {lower:e} > {most:e}");
        }
    }
}

/// E_γ at γ = e^ℓ, from the masses above ℓ.
fn exact(law: &dyn LossLaw, loss: f64) -> Enclosure {
    let above = law.split(loss.into()).above;
    above.p - Enclosure::from(loss).exp() * above.q
}

fn laws(random: &mut Random) -> Vec<Box<dyn LossLaw>> {
    let positive = |x: f64| Positive::new(x).unwrap();
    let rate = crate::Probability::new(random.log_between(1e-4, 1.0)).unwrap();
    let gaussian = GaussianLoss::new(positive(random.log_between(0.02, 3.0)));
    vec![
        Box::new(gaussian),
        Box::new(PoissonLoss::new(gaussian, rate).unwrap()),
        Box::new(Exchanged(PoissonLoss::new(gaussian, rate).unwrap())),
        Box::new(LaplaceLoss::new(positive(random.log_between(0.02, 3.0)))),
        Box::new(FiniteLoss::response(Epsilon::new(random.log_between(0.01, 3.0)).unwrap(), 3)),
    ]
}

#[test]
fn a_law_on_a_grid_is_enclosed_for_every_hockey_stick() {
    let mut random = Random::new(2);
    for round in 0..60 {
        for (which, law) in laws(&mut random).iter().enumerate() {
            let step = random.log_between(1e-3, 0.3);
            let lambda = if random.below(3) == 0 { 0.0 } else { random.log_between(0.01, 0.7 / step) };
            let range = (-(random.below(400) as i64) - 1, random.below(400) as i64 + 1);
            let origin = if random.below(2) == 0 { 0.0 } else { random.between(-1.0, 1.0) };
            let offset = [0.0, 1e-9, 0.3 * step][random.below(3)];
            let grid = Grid { step, tilt: lambda * step };
            let placement = Placement { range, origin, offset, log_scale: random.between(-5.0, 5.0) };
            let Discretised { nodes, infinite, total } = discretise(law.as_ref(), grid, placement);
            let scale = placement.log_scale.exp();
            // The points are shifted by the origin and the offset.
            let value = |of: &[f64], shift: f64, loss: f64| {
                scale * hockey_stick(nodes.first, of, grid, loss - origin - shift)
            };
            for _ in 0..40 {
                let near = (range.0 as f64 + random.between(-10.0, (range.1 - range.0) as f64 + 10.0)) * step;
                let loss = near + origin;
                let truth = exact(law.as_ref(), loss);
                let upper = value(&nodes.upper, offset, loss) + infinite;
                assert!(upper >= truth.lower() * (1.0 - SLACK), "{which}, {round}: {upper:e} < {truth}");
                let lower = value(&nodes.lower, -offset, loss);
                assert!(
                    lower <= truth.upper().max(0.0) * (1.0 + SLACK) + 1e-15,
                    "{which}, {round}: {lower:e} > {truth}"
                );
            }
            let weight = scale
                * compensated(
                    (nodes.first..).zip(&nodes.upper).map(|(j, m)| m * (-grid.tilt * j as f64).exp()),
                );
            assert!((weight + infinite - total).abs() <= 1e-9 * total, "{which}, {round}: {weight} {total}");
        }
    }
}

fn summed(grid: Grid, nodes: Nodes) -> Summed {
    Summed {
        grid,
        nodes,
        log_scale: Enclosure::ZERO,
        origin: Enclosure::ZERO,
        offset: 0.0,
        error: Errors::default(),
        infinite: 0.0,
        infinite_lower: 0.0,
        total: 1.0,
    }
}

fn normalised(mut masses: Vec<f64>) -> Vec<f64> {
    let total: f64 = masses.iter().sum();
    if total == 0.0 {
        masses[0] = 1.0;
    } else {
        masses.iter_mut().for_each(|mass| *mass /= total);
    }
    masses
}

/// The convolution by its definition, first factor first.
fn convolved(factors: &[(&[f64], u64)]) -> Vec<f64> {
    let mut result = vec![1.0];
    for (masses, count) in factors {
        for _ in 0..*count {
            let mut next = vec![0.0; result.len() + masses.len() - 1];
            for (i, x) in result.iter().enumerate() {
                for (j, y) in masses.iter().enumerate() {
                    next[i + j] += x * y;
                }
            }
            result = next;
        }
    }
    result
}

/// Fails unless the sum satisfies its guarantee for the convolution of the true factors, from which the given ones
/// differ by their errors.
fn check_sum(factors: &[Copies], truths: &[&Nodes], allowance: Allowance, context: &str) {
    let total = sum(&mut Workshop::default(), factors, allowance).unwrap();
    let grid = factors[0].summed.grid;
    let first: i64 = factors.iter().map(|f| f.count as i64 * f.summed.nodes.first).sum();
    let naive = |of: fn(&Nodes) -> &[f64]| {
        convolved(&factors.iter().zip(truths).map(|(f, truth)| (of(truth), f.count)).collect::<Vec<_>>())
    };
    let kept = |of: &[f64], index: i64| {
        usize::try_from(index - total.nodes.first).ok().and_then(|i| of.get(i)).copied().unwrap_or(0.0)
    };
    // Pessimistic: missing mass is raised into the window, counted as error, or at ∞.
    let (mut missing, mut above) = (0.0, 0.0);
    for (index, mass) in (first..).zip(naive(|n| &n.upper)) {
        if index > total.nodes.last() {
            above += mass * (total.log_scale.upper() - grid.tilt * index as f64).exp();
        } else {
            let raised = (grid.tilt * (total.nodes.first - index).max(0) as f64).exp();
            missing += (mass - kept(&total.nodes.upper, index)).max(0.0) * raised;
        }
    }
    assert!(missing <= total.error.upper + 1e-13, "{context}: {missing:e} > {:e}", total.error.upper);
    assert!(above <= total.infinite * (1.0 + 1e-9) + 1e-15, "{context}: {above:e} > {:e}", total.infinite);
    // Optimistic: the excess mass.
    let lower = naive(|n| &n.lower);
    let there = |index: i64| usize::try_from(index - first).ok().and_then(|i| lower.get(i)).copied();
    let excess: f64 = (total.nodes.first..)
        .zip(&total.nodes.lower)
        .map(|(index, mass)| (mass - there(index).unwrap_or(0.0)).max(0.0))
        .sum();
    assert!(excess <= total.error.lower + 1e-13, "{context}: {excess:e} > {:e}", total.error.lower);
}

#[test]
fn a_sum_keeps_all_but_its_error_of_the_naive_convolution() {
    let mut random = Random::new(3);
    for round in 0..100 {
        let step = random.log_between(1e-4, 0.1);
        let tilt = if random.below(3) == 0 { 0.0 } else { random.log_between(1e-6, 0.3) };
        let grid = Grid { step, tilt };
        let mut one = || {
            let length = 2 + random.below(300);
            let first = random.below(100) as i64 - 50;
            let upper = normalised(masses(&mut random, length));
            let lower: Vec<f64> = upper.iter().map(|mass| mass * random.between(0.5, 1.0)).collect();
            let truth = Nodes { first, upper, lower };
            // Some of the mass is not on its node, or on a node with less mass.
            let mut given = summed(grid, truth.clone());
            if random.below(2) == 0 {
                let place = random.below(length);
                let moved = truth.upper[place] * random.between(0.0, 1.0);
                given.nodes.upper[place] -= moved;
                given.nodes.lower[place] += moved;
                given.error = Errors { upper: moved, lower: moved };
            }
            (truth, given)
        };
        let ((true_a, a), (true_b, b)) = (one(), one());
        let counts = (1 + random.below(8) as u64, 1 + random.below(2) as u64);
        let factors = [Copies { summed: &a, count: counts.0 }, Copies { summed: &b, count: counts.1 }];
        let tilted = random.log_between(1e-12, 1e-3);
        let allowance = Allowance { tilted, log_infinite: random.between(-25.0, -3.0) };
        check_sum(&factors, &[&true_a, &true_b], allowance, &format!("{round}: {counts:?}, {allowance:?}"));
    }
}

#[test]
fn what_wraps_around_is_counted_also_where_only_the_optimistic_law_reaches() {
    // The optimistic law has mass where the pessimistic one has none, so the latter alone must not determine the
    // window.
    let peak = |at: usize| (0..41).map(|i| f64::from(u8::from(i == at))).collect::<Vec<f64>>();
    let allowance = Allowance { tilted: 1e-10, log_infinite: -25.0 };
    for (upper, lower) in (1..41).flat_map(|upper| (0..upper).map(move |lower| (upper, lower))) {
        let nodes = Nodes { first: -20, upper: peak(upper), lower: peak(lower) };
        let one = summed(Grid { step: 0.1, tilt: 0.01 }, nodes);
        let factors = [Copies { summed: &one, count: 20 }];
        check_sum(&factors, &[&one.nodes], allowance, &format!("{upper}, {lower}"));
    }
}

/// Tiny losses ±ℓ and ±3ℓ whose masses are known only roughly, but whose differences are known well.
struct Rough {
    loss: f64,
    slack: (f64, f64),
}

impl Rough {
    /// The losses with their masses under P and p − q.
    fn atoms(&self) -> [(f64, f64, f64); 4] {
        [-3.0, -1.0, 1.0, 3.0].map(|multiple: f64| {
            let (loss, weight) = (multiple * self.loss, if multiple.abs() > 2.0 { 0.2 } else { 0.8 });
            (loss, weight / (1.0 + (-loss).exp()), weight * (loss / 2.0).tanh())
        })
    }

    fn sum(&self, of: impl Fn((f64, f64, f64)) -> f64, above: impl Fn(f64) -> bool) -> f64 {
        self.atoms().into_iter().filter(|atom| above(atom.0)).map(of).sum()
    }
}

impl LossLaw for Rough {
    fn split(&self, loss: Enclosure) -> Split {
        let rough = |mass: f64| {
            let (less, more) = self.slack;
            if mass == 0.0 {
                Enclosure::ZERO
            } else {
                Enclosure::between((mass - less).max(0.0), mass + more)
            }
        };
        let side = |is_there: &dyn Fn(f64) -> bool| Masses {
            p: rough(self.sum(|atom| atom.1, is_there)),
            q: rough(self.sum(|atom| atom.1 - atom.2, is_there)),
        };
        let at = |end: f64| Split { below: side(&|loss| loss <= end), above: side(&|loss| loss > end) };
        at(loss.lower()).hull(at(loss.upper()))
    }

    fn advantage(&self, loss: Enclosure) -> Enclosure {
        let at = |end: f64| {
            let value = self.sum(|atom| atom.2, |loss| loss > end);
            Enclosure::between(value - 1e-14 * self.loss, value + 1e-14 * self.loss)
        };
        at(loss.lower()).hull(at(loss.upper()))
    }
}

#[test]
fn rough_masses_of_tiny_losses_stay_enclosed_where_only_their_difference_is_known_well() {
    let mut random = Random::new(4242);
    for round in 0..500 {
        let loss = 1e-7 * (1.0 + random.between(0.0, 1.0));
        let slack = 10f64.powf(-8.0 + 5.0 * random.between(0.0, 1.0));
        let law = Rough { loss, slack: (slack * random.between(0.0, 1.0), slack * random.between(0.0, 1.0)) };
        let grid = Grid { step: loss * (0.2 + 3.0 * random.between(0.0, 1.0)), tilt: 0.0 };
        let origin = grid.step * (random.between(0.0, 1.0) - 0.5);
        let reach = (4.5 * loss / grid.step).ceil() as i64 + 2;
        let placement = Placement { range: (-reach, reach), origin, offset: 0.0, log_scale: 0.0 };
        let found = discretise(&law, grid, placement);
        for i in -400..400 {
            let log_gamma = loss * f64::from(i) / 100.0;
            let stick = |mass: f64, loss: f64| mass * -(log_gamma - loss).min(0.0).exp_m1();
            let truth: f64 = law.atoms().iter().map(|atom| stick(atom.1, atom.0)).sum();
            let of = |masses: &[f64]| -> f64 {
                let at = |j: usize| (j as i64 - reach) as f64 * grid.step + origin;
                masses.iter().enumerate().map(|(j, mass)| stick(*mass, at(j))).sum()
            };
            let (lower, upper) = (of(&found.nodes.lower), of(&found.nodes.upper) + found.infinite);
            // The reference is a sum of differences of numbers near 1e-7.
            let room = 1e-9 * truth + 1e-22;
            assert!(
                lower <= truth + room && truth - room <= upper,
                "{round}, {i}: {lower:e} {truth:e} {upper:e}"
            );
        }
    }
}

#[test]
fn masses_that_overflow_are_not_read_as_nothing() {
    let nodes = Nodes { first: 0, upper: vec![0.5, f64::INFINITY], lower: vec![0.0, 0.0] };
    let placement = Placement { range: (0, 1), origin: 0.0, offset: 0.0, log_scale: 0.0 };
    let discretised = Discretised { nodes, infinite: 0.0, total: 1.0 };
    let grid = Grid { step: 0.5, tilt: 1.0 };
    let distribution = LossDistribution::new(Summed::one(grid, placement, discretised, 0.0));
    for epsilon in [0.0, 0.25, 0.5] {
        let delta = distribution.delta(Epsilon::new(epsilon).unwrap());
        assert!(delta.upper() == 1.0 && delta.lower() == 0.0, "{epsilon}: {delta}");
    }
}
