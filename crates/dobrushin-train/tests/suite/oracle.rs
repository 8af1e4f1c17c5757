//! Trained models of one parameter against the exact oracle: their law is the one that is computed, and how far apart the
//! laws of two neighbouring tables are is never more than the certificate says.

use crate::support::{description, direction, plan, positive, pushing, released};
use dobrushin::account::Question;
use dobrushin::profile::Direction;
use dobrushin::run::{Batch, Contribution, LearningRate, Length, Noise, NoiseKind, Order, Release};
use dobrushin::{Epsilon, Gamma, Probability};
use dobrushin_audit::{Interval, Laws, Map, OneDimensionalChain, Step};
use dobrushin_train::loss::{Huber, Logistic, Squared};
use dobrushin_train::{Description, Loss, Model, Plan, Projection, Table, Target};

const EPSILONS: [f64; 4] = [0.0, 0.3, 1.0, 2.0];

/// Losses are replaced by ones with derivatives that are affine between so many points: as convex, as smooth and as steep.
const PIECES: usize = 40;

/// A run of one parameter on an interval, and two tables that differ in one record.
struct Case {
    name: &'static str,
    description: Description,
    first: Table,
    second: Table,
    public: Option<Table>,
}

impl Case {
    fn new(name: &'static str, description: Description, first: &str, second: &str) -> Self {
        let (first, second) = (pushing(&description, first), pushing(&description, second));
        let public = (description.training.public_steps > 0).then(|| pushing(&description, "-"));
        Self { name, description, first, second, public }
    }

    /// The laws of what is released by the plan, which may have another noise than the description.
    fn laws(&self, plan: &Plan) -> Laws {
        let training = plan.training();
        let Some(Projection::Box { lower, upper }) = self.description.projection else {
            panic!("the oracle needs an interval");
        };
        let interval = Interval::new(lower, upper).expect("an interval");
        let count = training.records as usize;
        let private = training.steps().expect("a number of steps");
        let steps = (1..=private + training.public_steps).map(|time| {
            let size = training.update_at(time).expect("the plan has all steps").noise;
            let noise = match training.noise_kind {
                NoiseKind::Gaussian => dobrushin_audit::Noise::Gaussian(size),
                NoiseKind::Laplace => dobrushin_audit::Noise::Laplace(size),
            };
            let map = |table, records: &[usize]| self.map(plan, interval, time, table, records);
            if time > private {
                return Step::never(noise, map(self.public.as_ref().expect("public records"), &[0]));
            }
            let (both, probability): (Vec<usize>, f64) = match (training.order, training.batch) {
                (Order::Full, _) => ((0..count).collect(), 1.0),
                // Only one record, which takes part or does not.
                (Order::Poisson, Batch::Probability(p)) if count == 1 => (vec![0], p.get()),
                (_, Batch::Size(size)) => {
                    let size = size as usize;
                    let start = (time as usize - 1) * size % count;
                    ((start..start + size).collect(), 1.0)
                }
                _ => panic!("the oracle has no such order"),
            };
            let (first, second) = (map(&self.first, &both), map(&self.second, &both));
            Step { noise, common: map(&self.first, &[]), first, second, probability }
        });
        let start = 0.0_f64.clamp(lower, upper);
        let chain = OneDimensionalChain { interval, start, steps: steps.collect() };
        if training.release == Release::RandomStop {
            let laws = chain.laws_at_all_times().expect("the oracle computes such chains");
            let weights = vec![1.0 / laws.len() as f64; laws.len()];
            return Laws::mixture(&weights, &laws).expect("laws on one interval");
        }
        chain.laws().expect("the oracle computes such chains")
    }

    /// w ↦ (1 − λ)w − (η/b)·Σ ℓ′(wx, y)·x, cut to the clip, exact at PIECES + 1 points and affine between them.
    fn map(&self, plan: &Plan, interval: Interval, time: u64, table: &Table, records: &[usize]) -> Map {
        let Model::Linear { loss, .. } = plan.model() else { panic!("the oracle needs one score") };
        let training = plan.training();
        let update = training.update_at(time).expect("the plan has all steps");
        let clip = match training.contribution {
            Some(Contribution::Clipped(norm)) => norm.get(),
            _ => f64::INFINITY,
        };
        let gradient = |w: f64, record: usize| {
            let (x, target) = (f64::from(table.features(record)[0]), f64::from(table.target(record, 0)));
            if target.is_nan() {
                0.0
            } else {
                (loss.derivative(w * x, target, x.abs()) * x).clamp(-clip, clip)
            }
        };
        let at = |w: f64| {
            let sum: f64 = records.iter().map(|&record| gradient(w, record)).sum();
            (1.0 - training.weight_decay) * w - update.rate / update.divisor * sum
        };
        let node = |i: usize| interval.lower() + interval.length() * i as f64 / PIECES as f64;
        let piece = |i: usize| {
            let slope = (at(node(i + 1)) - at(node(i))) / (node(i + 1) - node(i));
            (slope, at(node(i)) - slope * node(i))
        };
        Map::new((1..PIECES).map(node).collect(), (0..PIECES).map(piece).collect()).expect("moderate numbers")
    }

    /// The certificate is above the exact divergence, but not above that of the run with half the noise.
    fn check(&self) {
        let plan = plan(&self.description);
        let (laws, with_half) = (self.laws(&plan), self.laws(&scaled_noise(&self.description, 0.5)));
        let certified = EPSILONS.map(|epsilon| certified_delta(&plan, epsilon));
        let (truth, half) =
            (EPSILONS.map(|e| exact_delta(&laws, e)), EPSILONS.map(|e| exact_delta(&with_half, e)));
        println!("{}: certified {certified:.5?}, exact {truth:.5?}, half {half:.5?}", self.name);
        for i in 0..EPSILONS.len() {
            assert!(
                truth[i] <= certified[i],
                "{}: δ({}) is {}, but {} is certified",
                self.name,
                EPSILONS[i],
                truth[i],
                certified[i]
            );
        }
        let exceeds = half.iter().zip(certified).any(|(half, certified)| *half > certified);
        assert!(exceeds, "{}: half the noise goes unnoticed", self.name);
    }

    /// What is trained has the law that is computed (Dvoretzky, Kiefer, Wolfowitz, at 1e-9).
    fn check_law(&self, runs: u64) {
        let plan = plan(&self.description);
        let laws = self.laws(&plan);
        for (number, table) in [&self.first, &self.second].into_iter().enumerate() {
            let seeds = number as u64 * runs..(number as u64 + 1) * runs;
            let mut seen = released(&plan, table, self.public.as_ref(), seeds).concat();
            seen.sort_by(f64::total_cmp);
            let (least, most) = (seen[0], seen[seen.len() - 1]);
            // Between the ends, whose probabilities may be rounded to numbers nearby.
            let farthest = (0..400).map(|i| {
                let x = least + (most - least) * (f64::from(i) + 0.5) / 400.0;
                let share = seen.partition_point(|&value| value <= x) as f64 / runs as f64;
                (share - laws.at_most(x)[number].midpoint()).abs()
            });
            let farthest = farthest.fold(0.0, f64::max);
            let limit = ((2.0_f64 / 1e-9).ln() / 2.0 / runs as f64).sqrt();
            assert!(farthest <= limit, "{}, table {number}: {farthest} > {limit}", self.name);
        }
    }
}

fn certified_delta(plan: &Plan, epsilon: f64) -> f64 {
    let question = Question::DeltaAt(Epsilon::new(epsilon).expect("0 or more"));
    let report = plan.run().account(question);
    report.guarantee().expect("some analysis applies").answer.value.upper()
}

/// The larger of both directions, rounded down.
fn exact_delta(laws: &Laws, epsilon: f64) -> f64 {
    let gamma = Gamma::from_epsilon(epsilon).expect("finite");
    let of = |direction| laws.hockey_stick(direction, gamma).lower();
    of(Direction::Forward).max(of(Direction::Reverse))
}

/// The same run with another noise.
fn scaled_noise(description: &Description, factor: f64) -> Plan {
    let mut scaled = description.clone();
    let Noise::Multiplier(multiplier) = scaled.training.noise else { panic!("the noise is a multiplier") };
    scaled.training.noise = Noise::Multiplier(positive(multiplier.get() * factor));
    plan(&scaled)
}

/// One parameter between −2 and 2, no clipping: what is certified is derived from the loss.
fn smooth(loss: Loss, target: Target) -> Description {
    let mut description = description(1);
    description.model = Model::Linear { loss, features: direction(1).len() };
    description.bounds.target = target;
    description.projection = Some(Projection::Box { lower: -2.0, upper: 2.0 });
    description.training.contribution = None;
    description.training.learning_rate = Some(LearningRate::Constant(positive(0.5)));
    description.training.noise = Noise::Multiplier(positive(2.0));
    description
}

fn ordered(
    mut description: Description,
    order: Order,
    records: u64,
    batch: Batch,
    steps: u64,
) -> Description {
    let training = &mut description.training;
    (training.order, training.records) = (order, records);
    (training.batch, training.length) = (batch, Length::Steps(steps));
    description
}

fn full(description: Description, records: u64, steps: u64) -> Description {
    ordered(description, Order::Full, records, Batch::Size(records), steps)
}

const NUMBERS: Target = Target::Range { lower: -4.0, upper: 4.0 };
const COUNTS: Target = Target::Range { lower: 0.0, upper: 6.0 };
const CLASSES: Target = Target::Classes(2);

/// Every loss, with targets that it accepts.
fn every_loss() -> Vec<(&'static str, Loss, Target)> {
    let with_targets = |(name, loss)| {
        let target =
            [NUMBERS, COUNTS, CLASSES].into_iter().find(|&target| crate::losses::accepts(loss, target));
        (name, loss, target.expect("the loss accepts numbers, counts or classes"))
    };
    crate::losses::every_loss(1.0, 0.5).into_iter().map(with_targets).collect()
}

#[test]
fn descent_on_every_loss_is_as_private_as_certified() {
    for (name, loss, target) in every_loss() {
        let mut description = full(smooth(loss, target), 2, 3);
        if matches!(loss, Loss::Poisson(_)) {
            description.projection = Some(Projection::Box { lower: -1.0, upper: 1.0 });
        }
        Case::new(name, description, "+ ", "- ").check();
    }
}

#[test]
fn clipped_descent_on_every_loss_is_as_private_as_certified_and_half_the_noise_is_noticed() {
    for (name, loss, target) in every_loss() {
        let mut description = full(smooth(loss, target), 2, 2);
        description.training.contribution = Some(Contribution::Clipped(positive(0.25)));
        description.training.learning_rate = Some(LearningRate::Constant(positive(0.2)));
        Case::new(name, description, "+ ", "- ").check();
    }
}

#[test]
fn records_in_turn_and_random_batches_are_as_private_as_certified() {
    let clipped = |loss, target| {
        let mut description = smooth(loss, target);
        description.training.contribution = Some(Contribution::Clipped(positive(0.5)));
        description
    };
    let one = Batch::Size(1);
    let half = Batch::Probability(Probability::new(0.5).expect("a probability"));
    let cyclic = ordered(clipped(Squared.into(), NUMBERS), Order::Cyclic, 2, one, 4);
    let huber = ordered(smooth(Huber { width: positive(1.0) }.into(), NUMBERS), Order::Cyclic, 2, one, 4);
    let mut stopped = huber.clone();
    stopped.training.release = Release::RandomStop;
    let once = ordered(clipped(Logistic.into(), CLASSES), Order::Once, 3, one, 3);
    let mut decaying = once.clone();
    decaying.training.weight_decay = 0.6;
    let mut tail = once.clone();
    tail.training.public_steps = 2;
    let poisson = ordered(clipped(Squared.into(), NUMBERS), Order::Poisson, 1, half, 2);
    let mut laplace = full(clipped(Squared.into(), NUMBERS), 1, 1);
    laplace.training.noise_kind = NoiseKind::Laplace;
    let mut narrow = cyclic.clone();
    narrow.projection = Some(Projection::Box { lower: 0.0, upper: 0.7 });
    let cases = [
        Case::new("cyclic", cyclic, " +", " -"),
        Case::new("cyclic, others push", huber, "-+", "--"),
        Case::new("random stop", stopped, "+ ", "- "),
        Case::new("once", once, "  +", "  -"),
        Case::new("once, decaying", decaying, "-++", "-+-"),
        Case::new("once, public tail", tail, "  +", "  -"),
        Case::new("poisson sampling", poisson, "+", "-"),
        Case::new("laplace", laplace, "+", "-"),
        Case::new("narrow interval", narrow, "-+", "--"),
    ];
    for case in cases {
        case.check();
        case.check_law(20_000);
    }
}

#[test]
fn steps_that_are_long_or_of_many_records_are_as_private_as_certified() {
    let steep = |rate, decay, clip: Option<f64>, (lower, upper)| {
        let mut description = smooth(Squared.into(), NUMBERS);
        description.training.learning_rate = Some(LearningRate::Constant(positive(rate)));
        description.training.weight_decay = decay;
        description.training.contribution = clip.map(|clip| Contribution::Clipped(positive(clip)));
        description.projection = Some(Projection::Box { lower, upper });
        description
    };
    let (one, wide, narrow) = (Batch::Size(1), (-6.0, 6.0), (-1.0, 1.0));
    let likely = Batch::Probability(Probability::new(0.5).expect("a probability"));
    let clipped = |rate, decay, interval| steep(rate, decay, Some(0.8), interval);
    let cases = [
        // 2/β: iterates are mirrored at the target.
        Case::new("mirrored", ordered(steep(2.0, 0.0, None, narrow), Order::Cyclic, 2, one, 4), " +", " -"),
        Case::new(
            "mirrored, clipped",
            ordered(clipped(2.0, 0.0, wide), Order::Cyclic, 2, one, 4),
            " +",
            " -",
        ),
        // 1 − λ − ηβ < −1: iterates are driven apart where nothing is clipped.
        Case::new("driven apart", ordered(clipped(2.0, 0.6, narrow), Order::Cyclic, 2, one, 4), "-+", "--"),
        // With one record of which half is expected in a batch, steps are twice as long.
        Case::new("twice as long", ordered(clipped(2.0, 0.0, wide), Order::Poisson, 1, likely, 3), "+", "-"),
        Case::new("two in a batch", full(clipped(1.9, 0.0, narrow), 2, 4), "+-", "--"),
    ];
    for case in cases {
        case.check();
        case.check_law(20_000);
    }
}

#[test]
fn a_twentieth_of_the_noise_is_noticed_where_the_certificate_is_exact() {
    // Far from the target the record, and public ones after it, push with a constant force: all noise adds up.
    let mut description =
        smooth(Huber { width: positive(0.5) }.into(), Target::Range { lower: -50.0, upper: 50.0 });
    description.projection = Some(Projection::Box { lower: -20.0, upper: 20.0 });
    let mut tail = ordered(description.clone(), Order::Once, 1, Batch::Size(1), 1);
    tail.training.public_steps = 4;
    let descent = full(description.clone(), 3, 4);
    for case in [Case::new("public tail", tail, "+", "-"), Case::new("descent", descent, "+  ", "-  ")] {
        let certified = EPSILONS.map(|epsilon| certified_delta(&plan(&case.description), epsilon));
        let exact =
            |factor| EPSILONS.map(|e| exact_delta(&case.laws(&scaled_noise(&case.description, factor)), e));
        println!("{}: certified {certified:.5?}, exact {:.5?}", case.name, exact(1.0));
        assert!(exact(1.0).iter().zip(certified).all(|(exact, certified)| *exact <= certified));
        assert!(exact(0.95).iter().zip(certified).all(|(exact, certified)| *exact > certified));
    }
}

#[test]
fn what_is_trained_has_the_law_that_is_analysed() {
    for (name, loss, target) in every_loss() {
        let mut description = ordered(smooth(loss, target), Order::Cyclic, 2, Batch::Size(2), 2);
        description.projection = Some(Projection::Box { lower: -1.0, upper: 1.0 });
        description.training.weight_decay = 0.1;
        Case::new(name, description, "++", "+-").check_law(20_000);
    }
}
