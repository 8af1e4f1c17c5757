//! What becomes of records that fill no batch, of fractions of a step, and of batches with an empty record.

use dobrushin::chain::{Participation, Step};
use dobrushin::mechanism::{Mechanism, Neighbours};
use dobrushin::run::{
    Algorithm, Assumption, Batch, Divisor, IncompleteBatch, Length, LossFacts, Order, Record, Release, Run,
    Training,
};
use dobrushin::{Enclosure, NonNegative, Positive};

fn positive(value: f64) -> Positive {
    Positive::new(value).expect("above 0")
}

/// Ten records in batches of four.
fn training(order: Order, steps: u64) -> Training {
    Run::dp_sgd(10)
        .order(order)
        .batch_size(4)
        .steps(steps)
        .release(Release::Last)
        .learning_rate(0.5)
        .lipschitz(1.0)
        .noise_multiplier(2.0)
        .convex()
        .smoothness(1.0)
        .diameter(3.0)
        .dimension(1)
        .training()
        .expect("all is said")
}

const ENDINGS: [IncompleteBatch; 4] =
    [IncompleteBatch::Drop, IncompleteBatch::Short, IncompleteBatch::Pad, IncompleteBatch::Fill];

fn run(training: &Training) -> Run {
    Run::training(training.clone()).expect("its keys fit together")
}

/// How often the Gaussian mechanism with each multiplier is used.
fn uses(training: &Training) -> Vec<(f64, u64)> {
    let parts = run(training).composition().expect("it is finite").parts;
    let multiplier = |mechanism: &Mechanism| match mechanism {
        Mechanism::Gaussian { noise_multiplier } => noise_multiplier.get(),
        _ => panic!("the noise is Gaussian"),
    };
    parts.iter().map(|part| (multiplier(&part.mechanism), part.count)).collect()
}

#[test]
fn uses_are_counted_by_what_becomes_of_an_incomplete_batch() {
    // Nine steps: 4½ passes of two, three passes of three, or 36 records of 3.6 passes.
    let counts = |order| {
        ENDINGS.map(|ending| uses(&Training { incomplete_batch: Some(ending), ..training(order, 9) }))
    };
    assert_eq!(counts(Order::Cyclic), [5, 3, 3, 4].map(|count| vec![(2.0, count)]));
    let [drop, short, pad, fill] = counts(Order::Shuffled);
    assert_eq!([drop, short, pad], [5, 3, 3].map(|count| vec![(2.0, count)]));
    assert_eq!(fill, [(1.0, 2)]);
    // What is not said may be any of them.
    assert_eq!(uses(&training(Order::Cyclic, 9)), [(2.0, 5)]);
    assert_eq!(uses(&training(Order::Shuffled, 9)), [(2.0, 1), (1.0, 2)]);
    // In whole passes each record is used once in each of them, but two of them may share a batch.
    let passes = |ending| Training {
        length: Length::Epochs(positive(3.0)),
        incomplete_batch: Some(ending),
        ..training(Order::Shuffled, 1)
    };
    assert_eq!(ENDINGS[..3].iter().map(|&ending| uses(&passes(ending))).collect::<Vec<_>>(), [[(2.0, 3)]; 3]);
    assert_eq!(uses(&passes(IncompleteBatch::Fill)), [(2.0, 1), (1.0, 1)]);
    // After nine tenths of a pass, three batches of four may be complete, which hold twelve of ten records.
    let fraction = Training {
        length: Length::Epochs(positive(0.9)),
        incomplete_batch: Some(IncompleteBatch::Fill),
        ..training(Order::Cyclic, 1)
    };
    assert_eq!(uses(&fraction), [(2.0, 2)]);
    // Where batches hold all records, nothing is incomplete.
    let whole = Training { records: 12, ..training(Order::Shuffled, 9) };
    assert_eq!(uses(&whole), [(2.0, 3)]);
}

#[test]
fn the_least_divisor_is_that_of_the_smallest_batch() {
    let actual = |ending, length| Training {
        divide_by: Divisor::Actual,
        incomplete_batch: ending,
        length,
        ..training(Order::Cyclic, 1)
    };
    let least = |training: &Training| uses(training)[0].0;
    let [drop, short, pad, fill] = ENDINGS.map(|ending| least(&actual(Some(ending), Length::Steps(9))));
    assert_eq!([drop, short, pad, fill], [2.0, 1.0, 2.0, 2.0]);
    assert_eq!(least(&actual(None, Length::Steps(9))), 1.0);
    // Three passes are 30 records, of which the last two are a batch; half a pass ends anywhere.
    let filled = |epochs| least(&actual(Some(IncompleteBatch::Fill), Length::Epochs(positive(epochs))));
    assert_eq!((filled(2.0), filled(3.0), filled(2.5)), (2.0, 1.0, 0.5));
}

#[test]
fn passes_are_hidden_where_it_is_known_how_they_end() {
    let hides = |training: &Training| run(training).released().is_ok();
    for order in [Order::Cyclic, Order::Once] {
        let steps = if order == Order::Once { 2 } else { 9 };
        for ending in ENDINGS {
            let said = Training { incomplete_batch: Some(ending), ..training(order, steps) };
            match (order, ending) {
                (Order::Once, IncompleteBatch::Fill) => {
                    let refused = Run::training(said).err().expect("there is no next pass");
                    assert_eq!(refused.fact.name(), "run.incomplete-batch");
                }
                _ => assert_eq!(hides(&said), ending != IncompleteBatch::Fill, "{order:?} {ending:?}"),
            }
        }
        assert_eq!(hides(&training(order, steps)), order == Order::Once);
    }
    let shuffled = |ending| Training { incomplete_batch: Some(ending), ..training(Order::Shuffled, 2) };
    assert_eq!(ENDINGS.map(|ending| hides(&shuffled(ending))), [true, false, true, false]);
    // Two steps use eight of ten records, whatever becomes of the others; three steps use all.
    let weight = |ending| run(&shuffled(ending)).released().expect("it hides").views[0].branches()[0].weight;
    assert!(weight(IncompleteBatch::Drop).contains(0.8) && weight(IncompleteBatch::Pad).contains(0.8));
    let pass = Training { length: Length::Steps(3), ..shuffled(IncompleteBatch::Pad) };
    assert!(run(&pass).released().expect("it hides").views[0].branches()[0].weight.contains(1.0));
    let poisson = Training { incomplete_batch: Some(IncompleteBatch::Drop), ..training(Order::Poisson, 9) };
    assert_eq!(Run::training(poisson).err().map(|error| error.fact.name()), Some("run.incomplete-batch"));
}

#[test]
fn a_record_that_is_left_out_of_every_pass_costs_nothing() {
    let last = Training {
        incomplete_batch: Some(IncompleteBatch::Drop),
        record: Record::Index(9),
        ..training(Order::Cyclic, 9)
    };
    assert!(uses(&last).is_empty());
    assert!(run(&last).released().expect("it hides").views[0].branches().is_empty());
    let used = Training { record: Record::Index(8), ..last };
    assert_eq!(uses(&used), [(2.0, 4)]);
}

#[test]
fn a_fraction_of_a_step_is_never_rounded_away() {
    let epochs = |epochs: f64| Training {
        records: 10,
        batch: Batch::Size(1),
        length: Length::Epochs(positive(epochs)),
        ..training(Order::WithoutReplacement, 1)
    };
    for (passes, steps) in [
        (1.5, 15),
        (0.3, 3),
        (1.04, 11),
        (1e8, 1_000_000_000),
        (1e8 + 0.04, 1_000_000_001),
        (5e7 + 0.01, 500_000_001),
    ] {
        assert_eq!(epochs(passes).steps(), Some(steps), "{passes}");
        assert_eq!(uses_at_random(&epochs(passes)), steps, "{passes}");
    }
    let views = run(&epochs(1.04)).released().expect("it hides").views.len();
    assert_eq!(views, 2);
}

/// Half a pass over seven records in batches of two is two steps, or one and a half if the last record is left out.
#[test]
fn a_part_of_a_single_pass_may_be_that_of_a_shorter_one() {
    let half = |ending| Training {
        records: 7,
        batch: Batch::Size(2),
        length: Length::Epochs(positive(0.5)),
        record: Record::Index(1),
        incomplete_batch: ending,
        ..training(Order::Once, 1)
    };
    let views = |ending| run(&half(ending)).released().expect("it hides").views;
    let [drop, short] = [IncompleteBatch::Drop, IncompleteBatch::Short].map(|ending| views(Some(ending)));
    let unsaid = views(None);
    assert_eq!((drop.len(), short.len(), unsaid.len()), (2, 1, 2));
    assert!(drop.iter().chain(&short).all(|view| unsaid.contains(view)));
    let words = run(&half(None)).released().expect("it hides").assumptions;
    assert!(words.iter().any(|words| words.to_string().contains("exactly 1 or 2 steps")), "{words:?}");
    // A whole pass counts on no step that may be left out.
    let whole = Training { length: Length::Epochs(positive(1.0)), ..half(None) };
    assert_eq!(run(&whole).released().expect("it hides").views.len(), 2);
}

fn uses_at_random(training: &Training) -> u64 {
    run(training).composition().expect("it is finite").parts.iter().map(|part| part.count).sum()
}

/// The slope of the modulus of steps with the record, and of steps without it.
fn slopes(training: &Training) -> [Option<Enclosure>; 2] {
    let released = run(training).released().expect("it hides");
    let chain = &released.views[0].branches()[0].chain;
    let slope = |step: &Step| step.modulus.pieces()[0].at(Enclosure::ONE);
    [false, true].map(|never| {
        let step = chain.stretches().map(|stretch| stretch.step);
        step.filter(|step| (step.participation == Participation::Never) == never).map(slope).next()
    })
}

#[test]
fn an_emptied_record_adds_no_curvature() {
    let rho = NonNegative::new(0.5).expect("valid");
    let strong = |neighbours, size: u64| Training {
        records: 12,
        batch: Batch::Size(size),
        neighbours,
        public_steps: 1,
        loss: LossFacts { strong_convexity: Some(rho), ..training(Order::Cyclic, 1).loss },
        ..training(Order::WithoutReplacement, 5)
    };
    // η·ρ = 1/4 for a whole batch.
    for (neighbours, size, with) in [
        (Neighbours::ReplaceOne, 4, 0.75),
        (Neighbours::ZeroOut, 4, 1.0 - 0.25 * 0.75),
        (Neighbours::ReplaceOne, 1, 0.75),
        (Neighbours::ZeroOut, 1, 1.0),
    ] {
        let [used, unused] = slopes(&strong(neighbours, size));
        assert!(used.is_some_and(|slope| slope.contains(with)), "{neighbours:?} {size}: {used:?}");
        assert!(unused.is_some_and(|slope| slope.contains(0.75)), "{neighbours:?} {size}: {unused:?}");
    }
    // Two records, one of them emptied, in a batch of four that empty records make complete.
    let padded = Training {
        order: Order::Cyclic,
        records: 10,
        incomplete_batch: Some(IncompleteBatch::Pad),
        ..strong(Neighbours::ZeroOut, 4)
    };
    let [used, unused] = slopes(&padded);
    assert!(used.is_some_and(|slope| slope.contains(1.0 - 0.25 / 4.0)), "{used:?}");
    assert!(unused.is_some_and(|slope| slope.contains(1.0 - 0.25 / 2.0)), "{unused:?}");
}

/// What the numbers of records are taken to be, in words.
#[test]
fn a_number_of_records_that_is_counted_on_is_an_assumption() {
    let base = |order| Training {
        neighbours: Neighbours::AddOrRemoveOne,
        algorithm: if order == Order::Full { Algorithm::GradientDescent } else { Algorithm::DpSgd },
        batch: Batch::Size(if order == Order::Full { 10 } else { 4 }),
        ..training(order, 5)
    };
    let strong =
        LossFacts { strong_convexity: Some(NonNegative::new(0.5).expect("valid")), ..base(Order::Full).loss };
    let exactly = "one of the two data sets has exactly 10 records";
    let at_most = "neither data set has more than 11 records";
    let has = |assumptions: &[Assumption], sentence: &str| {
        assumptions.iter().any(|assumption| assumption.to_string().contains(sentence))
    };
    for (training, composed, hidden) in [
        (base(Order::Full), "", at_most),
        (base(Order::Poisson), "", at_most),
        (Training { loss: strong, ..base(Order::Full) }, "", exactly),
        (Training { divide_by: Divisor::Actual, ..base(Order::Full) }, exactly, exactly),
        (base(Order::WithoutReplacement), exactly, exactly),
    ] {
        let run = run(&training);
        let composition = run.composition().expect("it is finite").assumptions;
        let released = run.released().expect("it hides").assumptions;
        for sentence in [exactly, at_most] {
            assert_eq!(has(&composition, sentence), sentence == composed, "{training:?}");
            assert_eq!(has(&released, sentence), sentence == hidden, "{training:?}");
        }
    }
}
