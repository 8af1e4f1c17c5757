//! It is impossible to train one thing and certify another: whatever is changed in a description changes what the
//! accountant assumes and what training does, seen from outside, in the same way.
//!
//! Two runs with the same seed have the same noise and the same batches. The difference of what they release is what the
//! records did; what they release of empty records is noise alone.

use crate::support::{description, direction, plan, positive, pushing, released};
use dobrushin::Probability;
use dobrushin::chain::{Count, Step, StepNoise, Stop};
use dobrushin::mechanism::Neighbours;
use dobrushin::run::{
    Batch, Contribution, Divisor, Evaluation, LearningRate, Length, Noise, NoiseKind, Order, Release, Run,
    Training,
};
use dobrushin_train::loss::{Huber, Poisson, Squared};
use dobrushin_train::{
    Bounds, Description, Generators, Loss, Model, Plan, Projection, Records, Seed, Table, Target, TrainError,
};
use std::borrow::Cow;

const RUNS: u64 = 4000;
/// Steps are shorter than accounted for by 2⁻¹⁰, so that rounding makes them no longer.
const ROOM: f64 = 1.0 - 1.0 / 1024.0;

/// What is compared, each with how far apart, relatively, what is seen and what is said may be.
const FIELDS: [(&str, f64); 9] = [
    ("noise", 0.08),
    ("displacement of the first record", 1e-5),
    ("displacement of the last record", 1e-5),
    ("participation of the first record", 0.1),
    ("participation of the last record", 0.1),
    ("displacement by public records", 1e-5),
    ("steps", 0.0),
    ("numbers released", 0.0),
    ("noise of the evaluation", 0.08),
];

/// What training does, from outside.
fn seen(description: &Description) -> [f64; 9] {
    let plan = plan(description);
    let training = plan.training();
    let count = training.records as usize;
    let other = if training.neighbours == Neighbours::ReplaceOne { "-" } else { " " };
    let empty = pushing(description, &" ".repeat(count));
    let has_public = training.public_steps > 0;
    let public = |sign| has_public.then(|| pushing(description, sign));
    let run = |table: &Table, public: Option<&Table>| released(&plan, table, public, 0..RUNS);
    let (up, down, nobody) = (public("+"), public("-"), public(" "));
    let noise = run(&empty, nobody.as_ref());
    let apart = |a: &[Vec<f64>], b: &[Vec<f64>]| -> Vec<f64> {
        a.iter().zip(b).map(|(a, b)| (a[0] - b[0]).abs()).collect()
    };
    let most = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    let moved = [0, count - 1].map(|record| {
        let with = |sign| {
            let signs = format!("{}{sign}{}", " ".repeat(record), " ".repeat(count - 1 - record));
            run(&pushing(description, &signs), nobody.as_ref())
        };
        apart(&with("+"), &with(other))
    });
    let share = |values: &[f64]| values.iter().filter(|&&value| value > 1e-9).count() as f64 / RUNS as f64;
    let mut steps = 0;
    let generators = Generators::new(Seed::Known(0)).expect("a known seed is enough");
    let outcome = plan.train(&mut empty.clone(), nobody.as_ref(), &generators, &mut || steps += 1);
    assert!(outcome.is_ok());
    [
        deviation(&noise, 0),
        most(&moved[0]),
        most(&moved[1]),
        share(&moved[0]),
        share(&moved[1]),
        if has_public { most(&apart(&run(&empty, up.as_ref()), &run(&empty, down.as_ref()))) } else { 0.0 },
        f64::from(steps),
        noise[0].len() as f64,
        if training.evaluation.is_some() { deviation(&noise, noise[0].len() - 1) } else { 0.0 },
    ]
}

fn deviation(sample: &[Vec<f64>], i: usize) -> f64 {
    let n = sample.len() as f64;
    let mean = sample.iter().map(|numbers| numbers[i]).sum::<f64>() / n;
    (sample.iter().map(|numbers| (numbers[i] - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt()
}

/// What the accountant assumes: the chains of its records, not the description.
fn said(description: &Description) -> [f64; 9] {
    let plan = plan(description);
    let training = plan.training();
    let (first, last) = (Chain::of(training, 1), Chain::of(training, training.records));
    let private = training.steps().expect("a number of steps");
    let size = match training.batch {
        Batch::Size(size) => size as f64,
        Batch::Probability(p) => (p.get() * training.records as f64).ceil(),
    };
    // Public records push as far as private ones; a batch of them as far as all of it.
    let of_public = last.steps.len() as u64 - private;
    let apart = if training.neighbours == Neighbours::ReplaceOne { 1.0 } else { 2.0 };
    let by_public = (0..of_public)
        .map(|later| apart * size * last.push(last.steps.len() - 1) * last.keep.powi(later as i32));
    let evaluation = training.evaluation.map_or(0.0, |evaluation| {
        evaluation.noise_multiplier.get() * 0.5 * description.loss_bound.get() / training.records as f64
    });
    let per_task = plan.model().parameters() as u64 + u64::from(training.evaluation.is_some());
    [
        last.noise(training),
        ROOM * first.displacement(),
        ROOM * last.displacement(),
        first.participation(),
        last.participation(),
        ROOM * by_public.sum::<f64>(),
        (training.tasks * last.steps.len() as u64) as f64,
        (training.tasks * per_task) as f64,
        evaluation,
    ]
}

/// One record's chain, step by step.
struct Chain {
    steps: Vec<Step>,
    keep: f64,
    weight: f64,
    /// The numbers of steps after which it may stop.
    stops: std::ops::RangeInclusive<usize>,
}

impl Chain {
    fn of(training: &Training, record: u64) -> Self {
        let run = Run::training(Training { tasks: 1, ..training.clone() }).expect("as in the plan");
        let run = match training.order {
            Order::Once | Order::Cyclic => run.of_record(record).expect("there is such a record"),
            _ => run,
        };
        let released = run.released().expect("chains of all records");
        let [branch] = released.views[0].branches() else { panic!("one chain for a record") };
        let mut steps = Vec::new();
        for stretch in branch.chain.stretches() {
            let Count::Times(times) = stretch.count else { panic!("a number of steps") };
            steps.extend((0..times).map(|_| stretch.step.clone()));
        }
        let stops = match branch.stop {
            Stop::End => steps.len()..=steps.len(),
            Stop::Uniform(times) => steps.len() - times as usize + 1..=steps.len(),
        };
        let keep = steps[0].growth.expect("it is known how iterates grow").slope().upper();
        Self { steps, keep, weight: branch.weight.upper(), stops }
    }

    fn push(&self, step: usize) -> f64 {
        self.steps[step].displacement.upper()
    }

    /// The standard deviation of the noise in what is released.
    fn noise(&self, training: &Training) -> f64 {
        let variance = |step: &Step| match step.noise {
            StepNoise::Gaussian(size) => size.upper().powi(2),
            StepNoise::Laplace(size) => 2.0 * size.upper().powi(2),
        };
        // A step that is skipped adds none: as likely as its record, the only one of the step, takes no part.
        let present = |step: usize| match training.release {
            Release::RandomSkip if (step as u64) < training.records => {
                Self::of(training, step as u64 + 1).weight
            }
            _ => 1.0,
        };
        let at = |end: usize| -> f64 {
            (0..end)
                .map(|t| present(t) * variance(&self.steps[t]) * self.keep.powi(2 * (end - 1 - t) as i32))
                .sum()
        };
        // One pass in random order is accounted for as if the record came first and the end were random.
        let stops = match training.release {
            Release::RandomStop => self.stops.clone(),
            _ => self.steps.len()..=self.steps.len(),
        };
        let count = stops.clone().count() as f64;
        (stops.map(at).sum::<f64>() / count).sqrt()
    }

    /// The largest, over the random choices.
    fn displacement(&self) -> f64 {
        let at = |end: usize| -> f64 {
            let used = (0..end).filter(|&t| !self.steps[t].participation.is_never());
            used.map(|t| self.push(t) * self.keep.powi((end - 1 - t) as i32)).sum()
        };
        self.stops.clone().map(at).fold(0.0, f64::max)
    }

    /// The probability that the record matters.
    fn participation(&self) -> f64 {
        let absent = |end: usize| -> f64 {
            self.steps[..end].iter().map(|step| 1.0 - step.participation.probability().upper()).product()
        };
        let stops = self.stops.clone();
        self.weight * stops.clone().map(|end| 1.0 - absent(end)).sum::<f64>() / stops.count() as f64
    }
}

/// Which fields are different.
fn differing(one: &[f64; 9], other: &[f64; 9]) -> Vec<&'static str> {
    let differs = |i: usize| (one[i] - other[i]).abs() > 2.0 * FIELDS[i].1 * one[i].abs().max(other[i].abs());
    (0..9).filter(|&i| differs(i)).map(|i| FIELDS[i].0).collect()
}

/// What is released is rounded to multiples of at most so much of its noise: differences may be off by one.
const UNIT: f64 = 1.0 / (1 << 20) as f64;

/// Panics unless what is seen is what is said, and no displacement is larger.
fn agree(name: &str, seen: &[f64; 9], said: &[f64; 9]) {
    let noise = said[0];
    for (i, (field, tolerance)) in FIELDS.iter().enumerate() {
        let (seen, said) = (seen[i], said[i]);
        assert!((seen - said).abs() <= tolerance * said, "{name}, {field}: {seen} is seen, but {said} said");
        let most = said + UNIT * noise;
        assert!(!field.starts_with("displacement") || seen <= most, "{name}, {field}: {seen} > {most}");
    }
}

type Mutation = (&'static str, fn(&mut Description));

/// Every mutation changes what is said and what is seen, in the same fields, and both stay the same thing.
fn check(base: &Description, mutations: &[Mutation]) {
    let before = (seen(base), said(base));
    agree("before", &before.0, &before.1);
    for (name, mutate) in mutations {
        let mut description = base.clone();
        mutate(&mut description);
        let after = (seen(&description), said(&description));
        agree(name, &after.0, &after.1);
        let changed = differing(&before.1, &after.1);
        println!("{name}: {changed:?}");
        assert!(!changed.is_empty(), "{name}: the accountant does not notice");
        assert_eq!(changed, differing(&before.0, &after.0), "{name}");
    }
}

/// Four records in two batches, two passes, with all that a description can have.
fn base() -> Description {
    let mut description = description(1);
    let training = &mut description.training;
    (training.records, training.batch, training.length) = (4, Batch::Size(2), Length::Steps(4));
    (training.weight_decay, training.public_steps) = (0.1, 1);
    training.learning_rate = Some(LearningRate::Constant(positive(0.5)));
    training.evaluation = Some(Evaluation { noise_multiplier: positive(10.0) });
    description
}

#[test]
fn numbers_of_a_step_are_those_of_the_account() {
    let mutations: [Mutation; 9] = [
        ("noise", |d| d.training.noise = Noise::Multiplier(positive(4.0))),
        ("noise of the gradient", |d| d.training.noise = Noise::Gradient(positive(3.0))),
        ("noise of the iterate", |d| d.training.noise = Noise::Iterate(positive(3.0))),
        ("law of the noise", |d| d.training.noise_kind = NoiseKind::Laplace),
        ("learning rate", |d| d.training.learning_rate = Some(LearningRate::Constant(positive(1.0)))),
        ("falling learning rate", |d| {
            d.training.learning_rate = Some(LearningRate::InverseSqrt(positive(0.5)));
        }),
        ("clip norm", |d| d.training.contribution = Some(Contribution::Clipped(positive(2.0)))),
        ("weight decay", |d| d.training.weight_decay = 0.4),
        ("evaluation", |d| {
            d.training.evaluation = Some(Evaluation { noise_multiplier: positive(20.0) });
        }),
    ];
    check(&base(), &mutations);
}

#[test]
fn lengths_orders_and_releases_are_those_of_the_account() {
    let mutations: [Mutation; 9] = [
        ("steps", |d| d.training.length = Length::Steps(7)),
        ("batch", |d| d.training.batch = Batch::Size(1)),
        ("records", |d| d.training.records = 8),
        ("public steps", |d| d.training.public_steps = 3),
        ("tasks", |d| d.training.tasks = 2),
        ("no evaluation", |d| d.training.evaluation = None),
        ("neighbours", |d| d.training.neighbours = Neighbours::ZeroOut),
        ("release", |d| d.training.release = Release::RandomStop),
        ("order", |d| {
            (d.training.order, d.training.length) = (Order::Once, Length::Steps(2));
        }),
    ];
    check(&base(), &mutations);
}

#[test]
fn random_batches_are_those_of_the_account() {
    // Iterates do not decay here: a record counts the same, whenever it is used.
    let mut base = base();
    (base.training.order, base.training.weight_decay) = (Order::Poisson, 0.0);
    base.training.length = Length::Steps(2);
    let mutations: [Mutation; 6] = [
        ("batch", |d| d.training.batch = Batch::Size(1)),
        ("probability", |d| {
            d.training.batch = Batch::Probability(Probability::new(0.2).expect("a probability"));
        }),
        ("divisor", |d| {
            d.training.divide_by = Divisor::Actual;
            // Public batches are divided by their size, as before.
            d.training.public_steps = 0;
        }),
        ("all records", |d| (d.training.order, d.training.batch) = (Order::Full, Batch::Size(4))),
        ("without replacement", |d| {
            (d.training.order, d.training.batch) = (Order::WithoutReplacement, Batch::Size(1));
        }),
        ("shuffled", |d| {
            (d.training.order, d.training.batch) = (Order::Shuffled, Batch::Size(1));
            d.training.length = Length::Steps(4);
        }),
    ];
    check(&base, &mutations);
}

#[test]
fn bounds_and_losses_are_those_of_the_account() {
    // Nothing is clipped: what one record can do follows from its features and from the loss.
    let mut base = base();
    base.training.contribution = None;
    base.training.noise = Noise::Iterate(positive(1.0));
    base.model = Model::Linear { loss: Huber { width: positive(0.5) }.into(), features: 1 };
    let mutations: [Mutation; 4] = [
        ("row norm", |d| d.bounds.norm = positive(1.5)),
        ("steepness", |d| {
            d.model = Model::Linear { loss: Huber { width: positive(1.0) }.into(), features: 1 };
        }),
        ("clip norm", |d| d.training.contribution = Some(Contribution::Clipped(positive(0.25)))),
        ("padding", |d| d.training.records = 5),
    ];
    check(&base, &mutations);
}

#[test]
fn skipped_steps_are_those_of_the_account() {
    let mut base = base();
    (base.training.order, base.training.batch) = (Order::Once, Batch::Size(1));
    check(&base, &[("release", |d| d.training.release = Release::RandomSkip)]);
}

#[test]
fn iterates_are_projected_to_the_set_of_the_account() {
    let spread = |projection| {
        let mut description = base();
        (description.projection, description.training.noise) = (projection, Noise::Iterate(positive(20.0)));
        let plan = plan(&description);
        let released_views = plan.run().released().expect("chains of all records").views;
        let said = released_views[0].branches()[0].chain.domain().diameter;
        let (table, public) = (pushing(&description, "    "), pushing(&description, "+"));
        let seen = released(&plan, &table, Some(&public), 0..RUNS);
        let least = seen.iter().map(|numbers| numbers[0]).fold(f64::INFINITY, f64::min);
        let most = seen.iter().map(|numbers| numbers[0]).fold(f64::NEG_INFINITY, f64::max);
        (said.map(|diameter| diameter.get()), most - least)
    };
    for (set, width) in [
        (Projection::Box { lower: -0.25, upper: 0.25 }, 0.5),
        (Projection::Box { lower: 1.0, upper: 2.0 }, 1.0),
        (Projection::Ball { radius: 1.5 }, 3.0),
    ] {
        let (said, seen) = spread(Some(set));
        let said = said.expect("a bounded set");
        assert!((said - width).abs() < 1e-12 && seen <= said && seen > said - 1e-9, "{said} {seen}");
    }
    let (said, seen) = spread(None);
    assert!(said.is_none() && seen > 50.0);
}

/// The key that is to blame.
fn refused(change: impl FnOnce(&mut Description)) -> &'static str {
    let mut description = base();
    change(&mut description);
    Plan::new(description).err().expect("refused").fact.name()
}

#[test]
fn what_is_derived_cannot_be_claimed() {
    assert_eq!(refused(|d| d.training.loss.convex = Some(true)), "loss");
    assert_eq!(refused(|d| d.training.loss.smoothness = Some(positive(1e-9))), "loss");
    assert_eq!(refused(|d| d.training.loss.generalised_linear = Some(true)), "loss");
    assert_eq!(refused(|d| d.training.domain.diameter = Some(positive(1e-9))), "domain.diameter");
    assert_eq!(refused(|d| d.training.domain.dimension = Some(1)), "domain.diameter");
    let tiny = Some(Contribution::Lipschitz(positive(1e-9)));
    assert_eq!(refused(|d| d.training.contribution = tiny), "update.lipschitz");
    assert_eq!(refused(|d| d.training.contribution = None), "update.clip-norm");
    assert_eq!(refused(|d| d.training.record = dobrushin::run::Record::Index(1)), "run.record");
    assert_eq!(refused(|d| d.training.release = Release::All), "run.release");
    assert_eq!(refused(|d| d.training.release = Release::RandomSkip), "run.release");
    assert_eq!(refused(|d| d.training.length = Length::Any), "run.steps");
    assert_eq!(refused(|d| d.training.neighbours = Neighbours::AddOrRemoveOne), "run.neighbours");
    assert_eq!(refused(|d| d.bounds.dimension = 2), "model.kind");
    // Whoever only accounts for it is told, too: a loader that drops records uses the others more often.
    let mut dropping = base();
    dropping.training.incomplete_batch = Some(dobrushin::run::IncompleteBatch::Drop);
    assert_eq!(dropping.lowered().err().map(|error| error.fact.name()), Some("run.incomplete-batch"));
}

#[test]
fn other_records_than_planned_are_refused() {
    let description = base();
    let plan = plan(&description);
    let generators = Generators::new(Seed::Known(0)).expect("a known seed is enough");
    let train = |table: &Table, public: Option<&Table>| {
        plan.train(&mut table.clone(), public, &generators, &mut || ()).err()
    };
    let (table, public) = (pushing(&description, "++--"), pushing(&description, "+"));
    assert_eq!(train(&table, Some(&public)), None);
    let with = |change: fn(&mut Description)| {
        let mut other = description.clone();
        change(&mut other);
        other
    };
    let others = [
        with(|d| d.bounds.norm = positive(2.0)),
        with(|d| d.bounds.target = Target::Range { lower: -1000.0, upper: 1001.0 }),
        with(|d| d.bounds.dimension = 2),
        with(|d| d.training.tasks = 2),
    ];
    for other in &others {
        let stranger = |signs| pushing(other, signs);
        let refused = |outcome| matches!(outcome, Some(TrainError::OtherRecords { .. }));
        assert!(refused(train(&stranger("++--"), Some(&public))));
        assert!(refused(train(&table, Some(&stranger("+")))));
    }
    for signs in ["", "+", "+++", "+++++"] {
        let outcome = train(&pushing(&description, signs), Some(&public));
        assert!(matches!(outcome, Some(TrainError::OtherRecords { .. })), "{signs}");
    }
    assert_eq!(train(&table, None), Some(TrainError::NoPublicRecords));
    assert_eq!(train(&table, Some(&pushing(&description, ""))), Some(TrainError::NoPublicRecords));
}

#[test]
fn no_record_however_strange_pushes_further_than_the_account_says() {
    let strange =
        [0.0, 1e-45, 1e-38, 1e-3, 1.0, 1.0 + f32::EPSILON, 7.0, 1e20, f32::MAX, f32::INFINITY, f32::NAN];
    for loss in [Loss::from(Squared), Huber { width: positive(0.3) }.into(), Poisson.into()] {
        for clip in [None, Some(Contribution::Clipped(positive(0.7)))] {
            let mut description = description(1);
            description.training.contribution = clip;
            description.training.noise = Noise::Iterate(positive(1.0));
            description.training.learning_rate = Some(LearningRate::Constant(positive(0.1)));
            description.model = Model::Linear { loss, features: direction(1).len() };
            description.bounds.target = Target::Range { lower: 0.0, upper: 3.0 };
            description.projection = Some(Projection::Ball { radius: 1.0 });
            let plan = plan(&description);
            let said = Chain::of(plan.training(), 2).displacement();
            let with = |x: f32, y: f32| {
                let mut table = pushing(&description, "+");
                table.push(&[x], &[y]);
                released(&plan, &table, None, 0..20)
            };
            let values = strange.into_iter().flat_map(|value| [value, -value]);
            let outcomes: Vec<Vec<Vec<f64>>> = values.flat_map(|x| strange.map(|y| with(x, y))).collect();
            for seed in 0..20 {
                let ends = outcomes.iter().map(|outcome| outcome[seed][0]);
                let (least, most) = (ends.clone().fold(f64::INFINITY, f64::min), ends.fold(-1e300, f64::max));
                assert!(most - least <= said, "{loss:?}, {clip:?}: {} > {said}", most - least);
            }
        }
    }
}

/// One record, and any number of others that are all alike.
struct Crowd {
    table: Table,
    count: u64,
    /// What is brought instead.
    instead: Option<Table>,
}

impl Records for Crowd {
    fn bounds(&self) -> &Bounds {
        self.table.bounds()
    }

    fn tasks(&self) -> usize {
        self.table.tasks()
    }

    fn count(&self) -> u64 {
        self.count
    }

    fn any_order(&self) -> bool {
        true
    }

    fn bring<'a>(&'a mut self, wanted: &'a [u32]) -> Result<(&'a Table, Cow<'a, [u32]>), String> {
        let table = self.instead.as_ref().unwrap_or(&self.table);
        Ok((table, wanted.iter().map(|&record| record.min(1)).collect()))
    }
}

#[test]
fn among_millions_one_record_still_moves_a_step_no_further_than_the_account_says() {
    for count in 5_000_000..5_000_004 {
        let mut description = description(1);
        let training = &mut description.training;
        (training.records, training.batch, training.order) = (count, Batch::Size(count), Order::Full);
        // 2·0.9 is no multiple of 1/2, the distance of f32 numbers near 0.9·count.
        training.contribution = Some(Contribution::Clipped(positive(0.9)));
        training.length = Length::Steps(1);
        let plan = plan(&description);
        let generators = Generators::new(Seed::Known(0)).expect("a known seed is enough");
        let train = |signs| {
            let mut crowd = Crowd { table: pushing(&description, signs), count, instead: None };
            let released = plan.train(&mut crowd, None, &generators, &mut || ());
            released.expect("the records fit").parameters[0][0]
        };
        let (seen, chain) = ((train("++") - train("-+")).abs(), Chain::of(plan.training(), 1));
        let (said, unit) = (chain.displacement(), UNIT * chain.noise(plan.training()));
        let fits = seen <= said && seen > ROOM * said * (1.0 - 1e-5) - unit;
        assert!(fits, "{count} records: {} times", seen / said);
    }
}

#[test]
fn records_that_are_brought_must_obey_the_bounds_too() {
    let mut description = base();
    description.training.public_steps = 0;
    let (plan, table) = (plan(&description), pushing(&description, "+-"));
    let generators = Generators::new(Seed::Known(0)).expect("a known seed is enough");
    let train = |instead: Option<&Description>| {
        let instead = instead.map(|other| pushing(other, "+-"));
        let mut crowd = Crowd { table: table.clone(), count: 4, instead };
        plan.train(&mut crowd, None, &generators, &mut || ()).err()
    };
    assert_eq!(train(None), None);
    let mut longer = description.clone();
    longer.bounds.norm = positive(100.0);
    assert!(matches!(train(Some(&longer)), Some(TrainError::OtherRecords { .. })));
}
