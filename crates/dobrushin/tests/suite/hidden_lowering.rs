//! What a training run becomes for an observer of one hidden-state release: the chains of its records,
//! against constants worked out by hand.

use dobrushin::account::Question;
use dobrushin::analysis::{self, Bound, HiddenStates, NonconvexPublished, ShiftRenyi};
use dobrushin::chain::{Branch, Chain, Count, Mixture, Participation, Step, StepNoise, Stop};
use dobrushin::lower::Released;
use dobrushin::mechanism::Neighbours;
use dobrushin::numeric::Random;
use dobrushin::numeric::theta::theta;
use dobrushin::profile::Direction;
use dobrushin::run::{
    Batch, Contribution, Divisor, DomainFacts, LearningRate, Length, LossFacts, Noise, NoiseKind, Order,
    Record, Release, Run, Training,
};
use dobrushin::{Enclosure, Epsilon, NonNegative, Positive, Probability};
use dobrushin_reference::depth;

fn positive(value: f64) -> Positive {
    Positive::new(value).unwrap()
}

/// 12 records one by one, η = 1/4, Lipschitz constant 2, iterate noise 1/2.
fn base(order: Order) -> Training {
    Run::pnsgd(12)
        .order(order)
        .batch_size(if order == Order::Full { 12 } else { 1 })
        .steps(12)
        .release(Release::Last)
        .learning_rate(0.25)
        .lipschitz(2.0)
        .iterate_noise(0.5)
        .training()
        .expect("all is said")
}

/// 12 records in batches of 4 (all of them for full batches).
fn batched(order: Order) -> Training {
    let size = if order == Order::Full { 12 } else { 4 };
    Training { batch: Batch::Size(size), length: Length::Steps(3), ..base(order) }
}

fn released(training: &Training) -> Released {
    Run::training(training.clone()).unwrap().released().unwrap()
}

fn refusal(training: &Training) -> String {
    let outcome = Run::training(training.clone()).unwrap().released();
    outcome.err().unwrap_or_else(|| panic!("{training:?} has chains")).to_string()
}

/// The only view, which has one branch.
fn view(training: &Training) -> (f64, Chain, Stop) {
    let released = released(training);
    assert_eq!(released.views.len(), 1);
    let [branch] = released.views[0].branches() else { panic!("one branch") };
    assert!(branch.weight.width() < 1e-15);
    (branch.weight.midpoint(), branch.chain.clone(), branch.stop)
}

/// Runs of steps as (whether the record may take part, how many).
fn pattern(chain: &Chain) -> Vec<(f64, Count)> {
    chain.stretches().map(|s| (s.step.participation.probability().midpoint(), s.count)).collect()
}

fn times(pattern: &[(f64, u64)]) -> Vec<(f64, Count)> {
    pattern.iter().map(|&(p, n)| (p, Count::Times(n))).collect()
}

fn first_step(training: &Training) -> Step {
    let view = &released(training).views[0];
    view.branches()[0].chain.stretches().next().unwrap().step.clone()
}

#[track_caller]
fn is(found: Enclosure, expected: f64) {
    let room = 1e-14 * expected.abs().max(1e-3);
    assert!(
        (found.midpoint() - expected).abs() <= room && found.width() <= room,
        "{found} is not {expected}"
    );
}

/// The lines of ω, as (slope, offset).
#[track_caller]
fn has_modulus(step: &Step, expected: &[(f64, f64)]) {
    assert_eq!(step.modulus.pieces().len(), expected.len(), "{:?}", step.modulus);
    for (piece, &(slope, offset)) in step.modulus.pieces().iter().zip(expected) {
        is(piece.slope(), slope);
        is(piece.offset(), offset);
    }
}

fn noise(step: &Step) -> Enclosure {
    step.noise.size()
}

#[test]
fn one_pass_uses_the_record_once_and_the_last_is_the_worst() {
    for index in 1..=12 {
        let run = Training { record: Record::Index(index), ..base(Order::Once) };
        let (weight, chain, stop) = view(&run);
        let expected: Vec<_> =
            [(0.0, index - 1), (1.0, 1), (0.0, 12 - index)].into_iter().filter(|(_, n)| *n > 0).collect();
        assert_eq!((weight, pattern(&chain), stop), (1.0, times(&expected), Stop::End));
        // s as given, d = 2ηL, ω(z) = z + 2ηL.
        let step = chain.since_the_record().next().unwrap().step.clone();
        is(noise(&step), 0.5);
        is(step.displacement, 1.0);
        has_modulus(&step, &[(1.0, 1.0)]);
    }
    assert_eq!(pattern(&view(&base(Order::Once)).1), times(&[(0.0, 11), (1.0, 1)]));
    // Fewer steps than records: the last that is used.
    let short = Training { length: Length::Steps(7), ..base(Order::Once) };
    assert_eq!(pattern(&view(&short).1), times(&[(0.0, 6), (1.0, 1)]));
    // A record that is never reached has nothing to hide.
    let unused = Training { record: Record::Index(8), ..short };
    assert!(released(&unused).views[0].branches().is_empty());
}

#[test]
fn public_steps_follow_in_every_order() {
    for (order, expected) in [
        (Order::Once, vec![(0.0, 11), (1.0, 1), (0.0, 5)]),
        (Order::Cyclic, vec![(0.0, 11), (1.0, 1), (0.0, 5)]),
        (Order::Full, vec![(1.0, 12), (0.0, 5)]),
    ] {
        let run = Training { public_steps: 5, ..base(order) };
        assert_eq!(pattern(&view(&run).1), times(&expected), "{order:?}");
    }
    for order in [Order::Poisson, Order::WithoutReplacement] {
        let run = Training { public_steps: 5, ..batched(order) };
        let pattern = pattern(&view(&run).1);
        assert!((pattern[0].0 - 1.0 / 3.0).abs() < 1e-15 && pattern[0].1 == Count::Times(3));
        assert_eq!(pattern[1], (0.0, Count::Times(5)));
    }
}

#[test]
fn random_stops_and_skips_have_the_papers_weights() {
    let stopped = Training { release: Release::RandomStop, ..base(Order::Once) };
    // The first record has every stopping time.
    assert_eq!(
        view(&stopped),
        (1.0, view(&Training { record: Record::Index(1), ..stopped.clone() }).1, Stop::Uniform(12))
    );
    let (_, chain, stop) = view(&Training { record: Record::Index(5), public_steps: 3, ..stopped.clone() });
    assert_eq!((pattern(&chain), stop), (times(&[(0.0, 4), (1.0, 1), (0.0, 10)]), Stop::Uniform(15)));
    // Skip-PNSGD starts after 0, …, 6 of 12 steps, each with probability 1/7.
    for index in 1..=12_u64 {
        let run =
            Training { release: Release::RandomSkip, record: Record::Index(index), ..base(Order::Once) };
        let (weight, chain, stop) = view(&run);
        assert!((weight - index.min(7) as f64 / 7.0).abs() < 1e-15, "{index}: {weight}");
        assert_eq!((chain.steps(), stop), (Some(12), Stop::End));
    }
    for order in [Order::Full, Order::Poisson, Order::Shuffled, Order::WithoutReplacement] {
        let reason = refusal(&Training { release: Release::RandomSkip, ..base(order) });
        assert!(reason.contains("once"), "{order:?}: {reason}");
    }
}

#[test]
fn skipped_passes_leave_the_uses_that_follow() {
    for (records, steps) in [(12, 12), (5, 23), (3, 100), (1, 7), (2, 900)] {
        for place in 1..=records.min(steps) {
            let run = Training {
                records,
                length: Length::Steps(steps),
                release: Release::RandomSkip,
                record: Record::Index(place),
                ..base(Order::Cyclic)
            };
            let released = released(&run);
            let branches = released.views[0].branches();
            // How often each number of uses is left, by counting the choices.
            let choices = steps / 2 + 1;
            let left =
                |skipped: u64| (skipped + 1..=steps).filter(|t| t % records == place % records).count();
            let uses = |branch: &Branch| {
                let used = branch.chain.stretches().filter(|stretch| !stretch.step.participation.is_never());
                used.map(|stretch| match stretch.count {
                    Count::Times(times) => times as usize,
                    Count::Any => panic!("a number"),
                })
                .sum::<usize>()
            };
            for least in 1..=left(0) {
                let exact =
                    (0..choices).filter(|&skipped| left(skipped) >= least).count() as f64 / choices as f64;
                let found: f64 =
                    branches.iter().filter(|b| uses(b) >= least).map(|b| b.weight.midpoint()).sum();
                assert!(found >= exact - 1e-12, "{records}, {steps}, {place}: {found} < {exact} for {least}");
                // Of many passes, some are skipped together.
                let each = steps / records <= 30;
                assert!(!each || found <= exact + 1e-12, "{records}, {steps}, {place}");
            }
            assert!(branches.len() <= 16);
        }
    }
}

#[test]
fn a_shuffled_pass_puts_the_record_at_every_place() {
    // At the k-th last of 12 places k − 1 steps follow: a use followed by 0, …, 11.
    let (weight, chain, stop) = view(&base(Order::Shuffled));
    assert_eq!((weight, pattern(&chain), stop), (1.0, times(&[(1.0, 1), (0.0, 11)]), Stop::Uniform(12)));
    // Of 12 records 7 are used.
    let (weight, chain, stop) =
        view(&Training { length: Length::Steps(7), public_steps: 2, ..base(Order::Shuffled) });
    assert!((weight - 7.0 / 12.0).abs() < 1e-15);
    assert_eq!((pattern(&chain), stop), (times(&[(1.0, 1), (0.0, 8)]), Stop::Uniform(7)));
    let (weight, _, stop) = view(&Training { release: Release::RandomStop, ..base(Order::Shuffled) });
    assert_eq!((weight, stop), (1.0, Stop::Uniform(12)));
    assert!(
        refusal(&Training { length: Length::Steps(13), ..base(Order::Shuffled) }).contains("several passes")
    );
    assert!(
        refusal(&Training { batch: Batch::Size(5), length: Length::Steps(2), ..base(Order::Shuffled) })
            .contains("batch-size")
    );
}

#[test]
fn passes_repeat_the_record_and_a_last_partial_pass_ends_with_the_worst() {
    let run = |steps, index| Training {
        length: Length::Steps(steps),
        record: Record::Index(index),
        ..base(Order::Cyclic)
    };
    assert_eq!(
        pattern(&view(&run(36, 4)).1),
        times(&[(0.0, 3), (1.0, 1), (0.0, 11), (1.0, 1), (0.0, 11), (1.0, 1), (0.0, 8)])
    );
    // 29 steps: the fifth record is the last to be used.
    let worst = Training { record: Record::Worst, ..run(29, 1) };
    assert_eq!(pattern(&view(&worst).1), pattern(&view(&run(29, 5)).1));
    assert_eq!(pattern(&view(&run(29, 6)).1).iter().filter(|(p, _)| *p == 1.0).count(), 2);
    assert!(refusal(&Training { length: Length::Any, ..worst.clone() }).contains("number of steps"));
    assert!(refusal(&Training { batch: Batch::Size(5), ..worst }).contains("batch-size"));
}

#[test]
fn random_batches_take_the_record_with_their_rate_and_full_ones_always() {
    for order in [Order::Poisson, Order::WithoutReplacement] {
        let [(p, Count::Times(3))] = pattern(&view(&batched(order)).1)[..] else { panic!("one stretch") };
        assert!((1.0 / 3.0..1.0 / 3.0 + 1e-15).contains(&p));
    }
    assert_eq!(pattern(&view(&batched(Order::Full)).1), times(&[(1.0, 3)]));
    let any = Training { length: Length::Any, ..batched(Order::Poisson) };
    assert_eq!(pattern(&view(&any).1)[0].1, Count::Any);
    assert!(refusal(&Training { public_steps: 1, ..any.clone() }).contains("run.steps"));
    assert!(refusal(&Training { release: Release::RandomStop, ..any.clone() }).contains("run.steps"));
    let rates = Some(LearningRate::InverseSqrt(positive(0.25)));
    assert!(refusal(&Training { learning_rate: rates, ..any }).contains("run.steps"));
    assert!(refusal(&Training { release: Release::All, ..batched(Order::Full) }).contains("all"));
}

/// Displacement in units of ηC for batches of 4 of 12 (or all 12), by order, neighbours and divisor.
#[test]
fn the_displacement_is_the_largest_over_the_batches_that_can_occur() {
    use Neighbours::{AddOrRemoveOne, ReplaceOne, ZeroOut};
    let cases = [
        (Order::Once, ReplaceOne, Divisor::BatchSize, 2.0 / 4.0),
        (Order::Once, ZeroOut, Divisor::BatchSize, 1.0 / 4.0),
        (Order::Cyclic, ReplaceOne, Divisor::Actual, 2.0 / 4.0),
        (Order::Shuffled, ZeroOut, Divisor::Actual, 1.0 / 4.0),
        // A fixed divisor 4, or the record alone in its batch.
        (Order::Poisson, ReplaceOne, Divisor::BatchSize, 2.0 / 4.0),
        (Order::Poisson, ReplaceOne, Divisor::Actual, 2.0),
        (Order::Poisson, AddOrRemoveOne, Divisor::BatchSize, 1.0 / 4.0),
        (Order::Poisson, AddOrRemoveOne, Divisor::Actual, 1.0),
        (Order::Poisson, ZeroOut, Divisor::BatchSize, 1.0 / 4.0),
        (Order::Poisson, ZeroOut, Divisor::Actual, 1.0),
        // Another record takes its place.
        (Order::WithoutReplacement, ReplaceOne, Divisor::BatchSize, 2.0 / 4.0),
        (Order::WithoutReplacement, AddOrRemoveOne, Divisor::BatchSize, 2.0 / 4.0),
        (Order::WithoutReplacement, ZeroOut, Divisor::Actual, 1.0 / 4.0),
        (Order::Full, ReplaceOne, Divisor::BatchSize, 2.0 / 12.0),
        (Order::Full, ZeroOut, Divisor::BatchSize, 1.0 / 12.0),
        (Order::Full, AddOrRemoveOne, Divisor::BatchSize, 1.0 / 12.0),
        // An average of 12 against one of 11: (g − w)/12.
        (Order::Full, AddOrRemoveOne, Divisor::Actual, 2.0 / 12.0),
    ];
    for (order, neighbours, divide_by, expected) in cases {
        let run = Training { neighbours, divide_by, ..batched(order) };
        let step = first_step(&run);
        is(step.displacement, expected * 0.25 * 2.0);
        // The updates without the record are no nearer than that, if it may be missing.
        assert!(step.absence.upper() >= 0.0);
    }
}

/// The displacement found by trying gradients ±C and 0 in batches of all sizes, in one dimension.
#[test]
fn no_batch_moves_further_than_the_displacement() {
    let average =
        |batch: &[f64], divisor: f64| if divisor == 0.0 { 0.0 } else { batch.iter().sum::<f64>() / divisor };
    for neighbours in [Neighbours::ReplaceOne, Neighbours::AddOrRemoveOne, Neighbours::ZeroOut] {
        for divide_by in [Divisor::BatchSize, Divisor::Actual] {
            for order in [Order::Poisson, Order::Full] {
                let run = Training { neighbours, divide_by, ..batched(order) };
                let nominal = if order == Order::Full { 12.0 } else { 4.0 };
                let sizes = if order == Order::Full { 11..=11 } else { 0..=11 };
                let mut furthest = 0.0_f64;
                for others in sizes {
                    for other in [-1.0, 0.0, 1.0] {
                        let rest = vec![other; others];
                        let with = |g: f64| [&rest[..], &[g]].concat();
                        for g in [-1.0, 1.0] {
                            let divisor = |batch: &[f64]| match divide_by {
                                Divisor::BatchSize => nominal,
                                Divisor::Actual => batch.len() as f64,
                            };
                            let mine = with(g);
                            let theirs = match neighbours {
                                Neighbours::ReplaceOne => with(-g),
                                Neighbours::ZeroOut => with(0.0),
                                Neighbours::AddOrRemoveOne => rest.clone(),
                            };
                            let gap = average(&mine, divisor(&mine)) - average(&theirs, divisor(&theirs));
                            furthest = furthest.max(gap.abs());
                        }
                    }
                }
                let claimed = first_step(&run).displacement.upper() / 0.5;
                assert!(
                    claimed >= furthest * (1.0 - 1e-15),
                    "{order:?} {neighbours:?} {divide_by:?}: {claimed} < {furthest}"
                );
                assert!(
                    claimed <= furthest * (1.0 + 1e-12),
                    "{order:?} {neighbours:?} {divide_by:?}: {claimed} > {furthest}"
                );
            }
        }
    }
}

#[test]
fn bounded_gradients_move_iterates_apart_by_the_largest_batch() {
    // (1−λ)z + 2ηC·max|B|/b with η·C = 1/2.
    let cases = [
        (Order::Once, Neighbours::ReplaceOne, Divisor::BatchSize, 1.0),
        (Order::WithoutReplacement, Neighbours::ReplaceOne, Divisor::BatchSize, 1.0),
        (Order::Full, Neighbours::ReplaceOne, Divisor::BatchSize, 1.0),
        (Order::Full, Neighbours::AddOrRemoveOne, Divisor::BatchSize, 13.0 / 12.0),
        (Order::Full, Neighbours::AddOrRemoveOne, Divisor::Actual, 1.0),
        (Order::Poisson, Neighbours::ReplaceOne, Divisor::BatchSize, 3.0),
        (Order::Poisson, Neighbours::AddOrRemoveOne, Divisor::BatchSize, 13.0 / 4.0),
        (Order::Poisson, Neighbours::ReplaceOne, Divisor::Actual, 1.0),
    ];
    for (order, neighbours, divide_by, share) in cases {
        for decay in [0.0, 0.25, 1.0] {
            let run = Training { neighbours, divide_by, weight_decay: decay, ..batched(order) };
            let step = first_step(&run);
            has_modulus(&step, &[(1.0 - decay, share)]);
            let [crossed] = step.crossed.pieces() else { panic!("one line") };
            is(crossed.slope(), 1.0 - decay);
            is(crossed.offset(), share);
            // ‖ψ(w)‖ ≤ (1−λ)‖w‖ + ηC·max|B|/b.
            let growth = step.growth.unwrap();
            is(growth.slope(), 1.0 - decay);
            is(growth.offset(), 0.5 * share);
        }
    }
}

fn facts(convex: Option<bool>, smoothness: f64, strong: Option<f64>, linear: bool) -> LossFacts {
    LossFacts {
        convex,
        smoothness: Some(positive(smoothness)),
        strong_convexity: strong.map(|rho| NonNegative::new(rho).unwrap()),
        generalised_linear: Some(linear),
    }
}

#[test]
fn what_is_known_of_the_loss_becomes_a_factor() {
    let lipschitz = Contribution::Lipschitz(positive(2.0));
    let clipped = Contribution::Clipped(positive(2.0));
    let convex = facts(Some(true), 4.0, None, false);
    let strong = facts(Some(true), 4.0, Some(2.0), false);
    let linear = facts(Some(true), 4.0, Some(2.0), true);
    let rough = facts(None, 4.0, None, true);
    // η = 1/4: ηβ = 1, ηρ = 1/2.
    let cases = [
        (Order::Once, lipschitz, convex, 0.0, 1.0),
        (Order::Once, lipschitz, strong, 0.0, 0.5),
        // Clipping destroys convexity, and in any case strong convexity.
        (Order::Once, clipped, convex, 0.0, 2.0),
        (Order::Once, clipped, strong, 0.0, 2.0),
        (Order::Once, clipped, linear, 0.0, 1.0),
        (Order::Once, lipschitz, rough, 0.0, 2.0),
        (Order::Once, clipped, rough, 0.0, 2.0),
        // Weight decay: max(|1−λ−ηρ|, |1−λ−ηβ|).
        (Order::Once, lipschitz, convex, 0.25, 0.75),
        (Order::Once, lipschitz, strong, 0.25, 0.25),
        (Order::Once, lipschitz, strong, 0.75, 0.75),
        (Order::Once, clipped, rough, 0.5, 1.5),
        (Order::WithoutReplacement, lipschitz, strong, 0.0, 0.5),
        (Order::Full, lipschitz, strong, 0.0, 0.5),
        // A Poisson batch may be empty, or hold all 12 where 4 are divided by: |1 − 3ηβ| = 2.
        (Order::Poisson, lipschitz, strong, 0.0, 2.0),
        (Order::Poisson, lipschitz, rough, 0.0, 4.0),
        (Order::Poisson, clipped, linear, 0.5, 2.5),
    ];
    for (order, contribution, loss, decay, factor) in cases {
        let run = Training { contribution: Some(contribution), loss, weight_decay: decay, ..batched(order) };
        let step = first_step(&run);
        is(step.modulus.pieces()[0].slope(), factor);
        is(step.modulus.pieces()[0].offset(), 0.0);
        assert_eq!(step.modulus.pieces().len(), 2, "bounded gradients still say something");
    }
    // Divided by the number drawn, a batch still may be empty.
    let run = Training { loss: strong, divide_by: Divisor::Actual, ..batched(Order::Poisson) };
    is(first_step(&run).modulus.pieces()[0].slope(), 1.0);
    // One record more or less of 12: ρ counts 11/12 times, β 13/12 times.
    let run = Training { loss: strong, neighbours: Neighbours::AddOrRemoveOne, ..batched(Order::Full) };
    is(first_step(&run).modulus.pieces()[0].slope(), 1.0 - 0.5 * 11.0 / 12.0);
}

#[test]
fn steps_longer_than_twice_the_reciprocal_smoothness_have_the_factor_by_which_they_drive_apart() {
    let loss = facts(Some(true), 4.0, None, false);
    let long = |rate| Training { learning_rate: Some(rate), loss, ..base(Order::Once) };
    for (rate, factor) in [(0.5, 1.0), (0.51, 1.04), (3.0, 11.0)] {
        for rates in [LearningRate::Constant(positive(rate)), LearningRate::InverseSqrt(positive(rate))] {
            is(first_step(&long(rates)).modulus.pieces()[0].slope(), factor);
        }
    }
    // Only the steps that are too long do.
    let last = LearningRate::List((0..12).map(|t| positive(if t == 11 { 0.51 } else { 0.1 })).collect());
    is(first_step(&long(last)).modulus.pieces()[0].slope(), 1.0);
    // Without a claim of convexity a long step has the factor 1 + ηβ.
    let loss = facts(None, 4.0, None, false);
    let long = Some(LearningRate::Constant(positive(3.0)));
    is(
        first_step(&Training { learning_rate: long, loss, ..base(Order::Once) }).modulus.pieces()[0].slope(),
        13.0,
    );
}

/// Losses in one dimension that satisfy what is said of them, tried on all batches: no pair of points
/// may end up further apart than the modulus.
#[test]
fn no_update_moves_points_further_apart_than_the_modulus() {
    let mut random = Random::new(7);
    for _ in 0..4000 {
        let (beta, decay) = (random.between(0.2, 8.0), [0.0, random.between(0.0, 1.0)][random.below(2)]);
        let rho = [0.0, beta * random.between(0.0, 1.0)][random.below(2)];
        let convex = random.below(2) == 0;
        let clip = random.below(2) == 0;
        let linear = random.below(2) == 0;
        let norm = random.log_between(0.1, 10.0);
        // Beyond 2/β, steps of a convex loss drive points apart.
        let largest = [2.0, 8.0][random.below(2)];
        let eta = random.between(0.01, largest) / beta;
        let (order, divide_by) = (
            [Order::Once, Order::Poisson, Order::WithoutReplacement, Order::Full][random.below(4)],
            [Divisor::BatchSize, Divisor::Actual][random.below(2)],
        );
        let run = Training {
            contribution: Some(if clip {
                Contribution::Clipped(positive(norm))
            } else {
                Contribution::Lipschitz(positive(norm))
            }),
            learning_rate: Some(LearningRate::Constant(positive(eta))),
            loss: LossFacts {
                convex: convex.then_some(true),
                smoothness: Some(positive(beta)),
                strong_convexity: (convex && rho > 0.0).then(|| NonNegative::new(rho).unwrap()),
                generalised_linear: Some(linear),
            },
            weight_decay: decay,
            divide_by,
            records: 6,
            batch: Batch::Size(if order == Order::Full { 6 } else { 4 }),
            length: Length::Steps(1),
            ..base(order)
        };
        let step = first_step(&run);
        // Gradients: of slope between the smallest and largest curvature around a random place, and cut at ±norm. A
        // gradient that is cut is what clipping does; Lipschitz losses are tried where they are not cut.
        let lowest = if convex { rho } else { -beta };
        let slopes = [lowest, beta];
        let nominal = if order == Order::Full { 6.0 } else { 4.0 };
        let sizes: &[usize] = match order {
            Order::Poisson => &[0, 1, 2, 3, 4, 5, 6],
            Order::Once => &[2, 4],
            Order::Full => &[6],
            _ => &[4],
        };
        for &size in sizes {
            let divisor = if divide_by == Divisor::Actual { size.max(1) as f64 } else { nominal };
            for slope in slopes {
                let gap = random.log_between(1e-3, 1.0) * norm / beta;
                let (x, y) =
                    if clip { (0.9 * norm / beta, 0.9 * norm / beta + gap) } else { (-gap / 2.0, gap / 2.0) };
                let gradient = |w: f64| (slope * w).clamp(-norm, norm);
                let update = |w: f64| (1.0 - decay) * w - eta * size as f64 / divisor * gradient(w);
                let apart = (update(x) - update(y)).abs();
                let claimed = step.modulus.at(Enclosure::from((x - y).abs())).upper();
                assert!(
                    apart <= claimed * (1.0 + 1e-12),
                    "{apart} > {claimed}: {run:?}, {size} records, slope {slope}"
                );
            }
        }
    }
}

#[test]
fn noise_is_that_of_the_iterate_in_every_convention() {
    // η = 1/4, C = 2, b = 4.
    for (given, expected) in [
        (Noise::Multiplier(positive(6.0)), 0.75),
        (Noise::Gradient(positive(3.0)), 0.75),
        (Noise::Iterate(positive(0.75)), 0.75),
        (Noise::GradientList(vec![positive(3.0); 3]), 0.75),
    ] {
        let run = Training { noise: given, ..batched(Order::Once) };
        is(noise(&first_step(&run)), expected);
    }
    let run = Training {
        noise: Noise::Multiplier(positive(6.0)),
        batch: Batch::Probability(Probability::new(0.25).unwrap()),
        ..batched(Order::Poisson)
    };
    is(noise(&first_step(&run)), 1.0);
    is(first_step(&run).displacement, 1.0 / 3.0);
    let laplace = Training { noise_kind: NoiseKind::Laplace, ..batched(Order::Once) };
    assert!(matches!(first_step(&laplace).noise, StepNoise::Laplace(scale) if scale.contains(0.5)));
}

#[test]
fn schedules_give_each_step_its_own_constants() {
    let (rates, noises) = ([0.25, 0.125, 0.5, 0.25, 0.125], [1.0, 2.0, 3.0, 4.0, 5.0]);
    let run = Training {
        records: 4,
        length: Length::Steps(4),
        public_steps: 1,
        learning_rate: Some(LearningRate::List(rates.map(positive).to_vec())),
        noise: Noise::GradientList(noises.map(positive).to_vec()),
        record: Record::Index(2),
        ..base(Order::Once)
    };
    let (_, chain, _) = view(&run);
    let steps: Vec<&Step> = chain.stretches().map(|s| s.step).collect();
    assert_eq!(steps.len(), 5);
    for (t, step) in steps.iter().enumerate() {
        is(noise(step), rates[t] * noises[t]);
        is(step.displacement, 2.0 * rates[t] * 2.0);
        assert_eq!(step.participation == Participation::Always, t == 1);
    }
    let run = Training {
        learning_rate: Some(LearningRate::InverseSqrt(positive(0.5))),
        record: Record::Index(12),
        ..base(Order::Once)
    };
    let (_, chain, _) = view(&run);
    for (t, stretch) in chain.stretches().enumerate() {
        is(stretch.step.displacement, 2.0 / ((t + 1) as f64).sqrt());
    }
    // Each of the 12 records may be the worst.
    assert_eq!(released(&Training { record: Record::Worst, ..run.clone() }).views.len(), 12);
    // With noise in proportion the last one is.
    let run = Training { record: Record::Worst, noise: Noise::Gradient(positive(1.0)), ..run };
    assert_eq!(released(&run).views.len(), 1);
}

#[test]
fn an_incomplete_last_batch_is_neither_counted_on_nor_forgotten() {
    // 10 records in batches of 4: the last batch has 2.
    let run = Training { records: 10, batch: Batch::Size(4), length: Length::Steps(3), ..base(Order::Once) };
    let strong = facts(Some(true), 4.0, Some(2.0), false);
    let step = first_step(&Training { loss: strong, ..run.clone() });
    // |1 − ηρ·2/4|, and β as in a full batch.
    is(step.modulus.pieces()[0].slope(), 0.75);
    is(step.displacement, 0.25);
    let actual = first_step(&Training { loss: strong, divide_by: Divisor::Actual, ..run.clone() });
    is(actual.modulus.pieces()[0].slope(), 0.5);
    is(actual.displacement, 0.5);
    for index in 1..=10 {
        let (_, chain, _) = view(&Training { record: Record::Index(index), ..run.clone() });
        let later: u64 = chain
            .since_the_record()
            .skip(1)
            .map(|s| match s.count {
                Count::Times(n) => n,
                Count::Any => 0,
            })
            .sum();
        // The third step may be left out.
        assert_eq!(later, if index <= 4 { 1 } else { 0 }, "{index}");
    }
    for release in [Release::RandomStop, Release::RandomSkip] {
        assert!(refusal(&Training { release, ..run.clone() }).contains("batch-size"));
    }
}

/// What each analysis says of what is released, where it applies.
fn answers(view: &Mixture, epsilon: f64) -> Vec<Option<f64>> {
    let epsilon = Epsilon::new(epsilon).unwrap();
    let answer = |bound: Bound| bound.into_profile().log_delta(epsilon).upper();
    analysis::about_hidden_states().map(|analysis| analysis.apply(view).ok().map(answer)).collect()
}

/// The view without the steps that follow the last use of the record, which are post-processing.
fn without_the_rest(view: &Mixture) -> Mixture {
    let cut = |branch: &Branch| {
        let mut end = 0;
        let mut last = 0;
        for stretch in branch.chain.stretches() {
            let Count::Times(times) = stretch.count else { panic!("a number of steps") };
            end += times;
            last = if stretch.step.participation.is_never() { last } else { end };
        }
        let chain = if branch.stop == Stop::End { branch.chain.cut_at(last) } else { branch.chain.clone() };
        Branch { chain, ..branch.clone() }
    };
    Mixture::new(view.branches().iter().map(cut).collect())
}

#[test]
fn no_record_is_less_private_than_the_worst() {
    let mut random = Random::new(11);
    let mut compared = 0;
    for case in 0..depth(20, 80) {
        let order = [Order::Once, Order::Cyclic][case % 2];
        let size = [1, 1, 2, 3][random.below(4)];
        let records = size * (1 + random.below(6)) as u64
            + if order == Order::Once && size > 1 { random.below(2) as u64 } else { 0 };
        let pass = records.div_ceil(size);
        let steps = if order == Order::Once {
            1 + random.below(pass as usize) as u64
        } else {
            1 + random.below(3 * pass as usize) as u64
        };
        let public_steps = [0, 0, 3][random.below(3)];
        let total = (steps + public_steps) as usize;
        let convex = random.below(2) == 0;
        let run = Training {
            records,
            batch: Batch::Size(size),
            length: Length::Steps(steps),
            public_steps,
            release: [Release::Last, Release::Last, Release::RandomStop, Release::RandomSkip]
                [random.below(4)],
            neighbours: [Neighbours::ReplaceOne, Neighbours::ZeroOut][random.below(2)],
            learning_rate: Some(match random.below(4) {
                0 => LearningRate::InverseSqrt(positive(0.4)),
                1 => LearningRate::List((0..total).map(|_| positive(random.between(0.05, 0.5))).collect()),
                _ => LearningRate::Constant(positive(random.between(0.05, 0.5))),
            }),
            noise: match random.below(4) {
                0 => Noise::GradientList((0..total).map(|_| positive(random.between(1.0, 5.0))).collect()),
                1 => Noise::Gradient(positive(2.0)),
                2 => Noise::Multiplier(positive(2.0)),
                _ => Noise::Iterate(positive(0.7)),
            },
            weight_decay: [0.0, 0.3][random.below(2)],
            divide_by: [Divisor::BatchSize, Divisor::Actual][random.below(2)],
            loss: if convex {
                facts(Some(true), 4.0, Some(random.between(0.0, 3.0)), true)
            } else {
                LossFacts::default()
            },
            domain: DomainFacts {
                diameter: (random.below(2) == 0).then(|| positive(2.0)),
                dimension: Some(1),
            },
            ..base(order)
        };
        let Ok(worst) = Run::training(run.clone()).unwrap().released() else { continue };
        for epsilon in [0.0, 0.1, 1.0, 4.0] {
            let worst: Vec<Vec<Option<f64>>> =
                worst.views.iter().map(|view| answers(view, epsilon)).collect();
            for index in 1..=records {
                let one = released(&Training { record: Record::Index(index), ..run.clone() });
                let [view] = &one.views[..] else { panic!("one view") };
                // What follows the last use cannot hurt, though bounds by shifts of bounded gradients grow with it.
                let sooner = answers(&without_the_rest(view), epsilon);
                for (analysis, answer) in answers(view, epsilon).into_iter().zip(sooner).enumerate() {
                    let answer = answer.0.into_iter().chain(answer.1).reduce(f64::min);
                    // An analysis that does not apply to the worst says nothing of it.
                    let most = worst.iter().map(|view| view[analysis]).collect::<Option<Vec<f64>>>();
                    let (Some(answer), Some(most)) = (answer, most) else { continue };
                    let most = most.into_iter().fold(f64::NEG_INFINITY, f64::max);
                    compared += 1;
                    // On grids, far out, one chain may come out a little better than another.
                    let id = analysis::about_hidden_states().nth(analysis).expect("one of them").id();
                    let grid = ["recursion", "shift-subsampled"].contains(&id);
                    let (answer, most) =
                        if grid { (answer.max(-300.0), most.max(-300.0)) } else { (answer, most) };
                    let room = if grid { 1e-2 } else { 1e-9 };
                    assert!(
                        answer <= most + room * most.abs(),
                        "{id}: record {index} has ln δ = {answer}, the worst {most}, at ε = {epsilon}: {run:?}"
                    );
                }
            }
        }
    }
    assert!(compared > depth(600, 2_500), "{compared}");
}

/// D_α of shifts.
fn renyi(view: &Mixture, alpha: f64) -> Enclosure {
    let Bound::Renyi(curve) = ShiftRenyi.apply(view).unwrap() else { panic!("it bounds D_α") };
    curve.log_moment(Direction::Forward, alpha) / Enclosure::from(alpha - 1.0)
}

#[test]
fn many_stopping_times_are_grouped_to_the_safe_side() {
    let convex = facts(Some(true), 4.0, None, false);
    // The largest μ²·s²/d² of each stopping time: k + 1 steps share one use, k steps are k uses.
    let once = |t: f64| 1.0 / t;
    let always = |t: f64| t;
    let n = 20_000_u64;
    for (order, release, public, unit, of) in [
        (Order::Once, Release::RandomStop, 0, 1.0, &once as &dyn Fn(f64) -> f64),
        (Order::Shuffled, Release::Last, 0, 1.0, &once),
        (Order::Shuffled, Release::Last, 3000, 1.0, &once),
        (Order::Full, Release::RandomStop, 0, 1.0 / n as f64, &always),
    ] {
        let run = Training {
            records: n,
            batch: Batch::Size(if order == Order::Full { n } else { 1 }),
            length: Length::Steps(n),
            release,
            public_steps: public,
            loss: convex,
            ..base(order)
        };
        let view = &released(&run).views[0];
        // d/s = 2ηL/s = 2.
        let ratio = 2.0 * unit;
        for alpha in [1.5, 2.0, 8.0] {
            let term =
                |t: u64| (0.5 * alpha * (alpha - 1.0) * ratio * ratio * of((t + public) as f64)).exp_m1();
            let truth = ((1..=n).rev().map(term).sum::<f64>() / n as f64).ln_1p() / (alpha - 1.0);
            let ours = renyi(view, alpha);
            assert!(
                ours.upper() >= truth * (1.0 - 1e-9),
                "unsound: {order:?}, α = {alpha}: {ours} < {truth}"
            );
            assert!(ours.upper() <= truth * 1.02, "{order:?}, α = {alpha}: {ours} > {truth}");
        }
    }
}

#[test]
fn several_tasks_cost_as_much_as_their_composition() {
    // The last record of each pass: four Gaussian mechanisms at distance d/s = 1/4 make one at distance 1/2.
    let run = Training {
        tasks: 4,
        noise: Noise::Iterate(positive(4.0)),
        domain: DomainFacts { diameter: Some(positive(1.0)), dimension: None },
        ..base(Order::Once)
    };
    let run = Run::training(run).unwrap();
    for epsilon in [0.0, 0.3, 1.0] {
        let epsilon = Epsilon::new(epsilon).unwrap();
        let truth = theta(epsilon, NonNegative::new(0.5).unwrap());
        let report = run.account(Question::DeltaAt(epsilon));
        for id in ["composition", "contraction-published", "shift-renyi"] {
            let value = report.answer(id).unwrap_or_else(|| panic!("{id}")).value;
            assert!(value.upper() >= truth.lower(), "{id}: {value} < {truth}");
            let most = if id == "shift-renyi" { f64::INFINITY } else { 1.01 };
            assert!(value.upper() <= truth.upper() * most, "{id}: {value} > {truth}");
        }
    }
}

#[test]
fn random_participation_on_a_domain_is_the_recursion_step_by_step() {
    // Convex, D = 2, s = 1/2, p = 1/3, divided by the number drawn: ω(D) = 2, and with the record
    // ω′(D) = 2 + 2ηL = 3.
    for (release, public) in
        [(Release::Last, 0), (Release::Last, 2), (Release::RandomStop, 0), (Release::RandomStop, 2)]
    {
        let run = Training {
            loss: facts(Some(true), 4.0, None, false),
            domain: DomainFacts { diameter: Some(positive(2.0)), dimension: None },
            divide_by: Divisor::Actual,
            length: Length::Steps(5),
            release,
            public_steps: public,
            ..batched(Order::Poisson)
        };
        let view = &released(&run).views[0];
        for epsilon in [0.0, 0.5, 2.0] {
            let epsilon = Epsilon::new(epsilon).unwrap();
            let overlap =
                |distance: f64| theta(epsilon, NonNegative::new(distance / 0.5).unwrap()).midpoint();
            let (mut h, mut sum) = (0.0, 0.0);
            for time in 1..=5 + public {
                let p = if time <= 5 { 1.0 / 3.0 } else { 0.0 };
                h = (1.0 - p) * overlap(2.0) * h + p * overlap(3.0);
                sum += h;
            }
            let truth = if release == Release::Last { h } else { sum / (5 + public) as f64 };
            let ours = NonconvexPublished.apply(view).unwrap().into_profile().delta(epsilon);
            assert!(
                (ours.midpoint() / truth - 1.0).abs() < 1e-12 && ours.relative_width() < 1e-11,
                "{ours} is not {truth}"
            );
        }
    }
}
