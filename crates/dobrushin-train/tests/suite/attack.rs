//! Attacks on trained models: whoever sees what is released cannot tell two neighbouring tables apart better than the
//! certificate says, and would if there were half the noise.

use crate::support::{description, plan, positive, pushing, released};
use dobrushin::account::Question;
use dobrushin::mechanism::Neighbours;
use dobrushin::run::{
    Algorithm, Batch, Divisor, Evaluation, LearningRate, Length, Noise, NoiseKind, Order, Release,
};
use dobrushin::{Delta, Probability};
use dobrushin_audit::{Guesses, Risk};
use dobrushin_train::loss::{Logistic, Squared};
use dobrushin_train::{Description, Model, Plan, Projection, Table, Target};

/// Attacks are wrong so rarely.
const RISK: f64 = 1e-9;
/// One that is usual, and two at which an attack has power.
const DELTAS: [f64; 3] = [1e-5, 0.05, 0.2];

/// A run, and two tables that differ in one record.
struct Case {
    name: &'static str,
    description: Description,
    first: Table,
    second: Table,
    public: Option<Table>,
}

impl Case {
    /// The signs are those of [`pushing`].
    fn new(name: &'static str, description: Description, first: &str, second: &str) -> Self {
        let (first, second) = (pushing(&description, first), pushing(&description, second));
        let public = (description.training.public_steps > 0).then(|| pushing(&description, "+-"));
        Self { name, description, first, second, public }
    }

    /// The largest ε that is proved at each δ by runs with the given plan.
    fn attack(&self, plan: &Plan, runs: u64) -> [f64; 3] {
        let train = |table, first| released(plan, table, self.public.as_ref(), first..first + 2 * runs);
        let samples = [train(&self.first, 0), train(&self.second, 1 << 32)];
        let (known, counted): (Vec<_>, Vec<_>) =
            samples.iter().map(|sample| sample.split_at(runs as usize)).unzip();
        let weights = discriminant(known[0], known[1]);
        let score = |sample: &[Vec<f64>]| -> Vec<f64> {
            let mut scores: Vec<f64> = sample
                .iter()
                .map(|numbers| numbers.iter().zip(&weights).map(|(number, weight)| number * weight).sum())
                .collect();
            scores.sort_by(f64::total_cmp);
            scores
        };
        let (known, counted) = ([score(known[0]), score(known[1])], [score(counted[0]), score(counted[1])]);
        let risk = Risk::new(RISK).expect("valid");
        DELTAS.map(|delta| {
            let rates = best_rule(&known, delta).guesses(&counted).rates(risk);
            rates.epsilon(Delta::new(delta).expect("a probability"))
        })
    }
}

/// By how much each number tells the two apart: the difference of its means over its variance.
fn discriminant(first: &[Vec<f64>], second: &[Vec<f64>]) -> Vec<f64> {
    let moments = |sample: &[Vec<f64>], i: usize| {
        let n = sample.len() as f64;
        let mean = sample.iter().map(|numbers| numbers[i]).sum::<f64>() / n;
        (mean, sample.iter().map(|numbers| (numbers[i] - mean).powi(2)).sum::<f64>() / n)
    };
    (0..first[0].len())
        .map(|i| {
            let ((mean, variance), (other_mean, other_variance)) = (moments(first, i), moments(second, i));
            (mean - other_mean) / (variance + other_variance)
        })
        .collect()
}

/// "It is the table of this number if the score is above (or not above) the threshold."
#[derive(Clone, Copy)]
struct Rule {
    table: usize,
    above: bool,
    threshold: f64,
}

impl Rule {
    fn guesses(self, scores: &[Vec<f64>; 2]) -> Guesses {
        let count = |sorted: &[f64]| {
            let below = sorted.partition_point(|&score| score <= self.threshold);
            (if self.above { sorted.len() - below } else { below }) as u64
        };
        let (own, other) = (&scores[self.table], &scores[1 - self.table]);
        let (runs, other_runs) = (own.len() as u64, other.len() as u64);
        Guesses { right: count(own), runs, wrong: count(other), other_runs }
    }
}

/// The rule that proves most, roughly, by the scores that are known.
fn best_rule(scores: &[Vec<f64>; 2], delta: f64) -> Rule {
    let mut all = scores.concat();
    all.sort_by(f64::total_cmp);
    let thresholds: Vec<f64> = (1..400).map(|i| all[i * all.len() / 400]).collect();
    let rules = thresholds.into_iter().flat_map(|threshold| {
        [(0, false), (0, true), (1, false), (1, true)].map(|(table, above)| Rule { table, above, threshold })
    });
    let worth = |rule: &Rule| {
        let Guesses { right, runs, wrong, other_runs } = rule.guesses(scores);
        let (p, q) = (right as f64 / runs as f64, wrong as f64 / other_runs as f64);
        // About the confidence that is asked for.
        let spread = |p: f64, runs: u64| 6.0 * (p * (1.0 - p) / runs as f64).sqrt() + 10.0 / runs as f64;
        (p - spread(p, runs) - delta).max(0.0) / (q + spread(q, other_runs))
    };
    rules.max_by(|a, b| worth(a).total_cmp(&worth(b))).expect("many rules")
}

fn certified_epsilon(plan: &Plan, delta: f64) -> f64 {
    let question = Question::EpsilonAt(Delta::new(delta).expect("a probability"));
    let report = plan.run().account(question);
    report.guarantee().expect("some analysis applies").answer.value.upper()
}

/// The same run with half the noise, also in the evaluation.
fn with_half_the_noise(description: &Description) -> Plan {
    let mut half = description.clone();
    let training = &mut half.training;
    training.noise = match &training.noise {
        Noise::Multiplier(noise) => Noise::Multiplier(positive(noise.get() / 2.0)),
        Noise::Gradient(noise) => Noise::Gradient(positive(noise.get() / 2.0)),
        Noise::Iterate(noise) => Noise::Iterate(positive(noise.get() / 2.0)),
        Noise::GradientList(list) => {
            Noise::GradientList(list.iter().map(|noise| positive(noise.get() / 2.0)).collect())
        }
    };
    if let Some(evaluation) = &mut training.evaluation {
        evaluation.noise_multiplier = positive(evaluation.noise_multiplier.get() / 2.0);
    }
    plan(&half)
}

/// The certificates hold against the attack, and those of `caught` would not with half the noise.
fn check(cases: Vec<Case>, runs: u64, caught: &[&str]) {
    for case in cases {
        let plan = plan(&case.description);
        let certified = DELTAS.map(|delta| certified_epsilon(&plan, delta));
        let proved = case.attack(&plan, runs);
        let with_half = case.attack(&with_half_the_noise(&case.description), runs);
        println!(
            "{}: certified {certified:.3?}, proved {proved:.3?}, with half the noise {with_half:.3?}",
            case.name
        );
        for (certified, proved) in certified.iter().zip(proved) {
            assert!(proved <= *certified, "{}: ε ≥ {proved}, but {certified} is certified", case.name);
        }
        let exceeds = certified.iter().zip(with_half).any(|(certified, proved)| proved > *certified);
        assert!(exceeds || !caught.contains(&case.name), "{}: half the noise goes unnoticed", case.name);
    }
}

/// A description with some of its training changed.
fn changed(dimension: usize, change: impl FnOnce(&mut Description)) -> Description {
    let mut description = description(dimension);
    change(&mut description);
    description
}

fn gradient_descent(dimension: usize) -> Description {
    changed(dimension, |description| {
        let training = &mut description.training;
        (training.algorithm, training.order) = (Algorithm::GradientDescent, Order::Full);
        (training.records, training.batch, training.length) = (3, Batch::Size(3), Length::Steps(3));
        training.noise = Noise::Multiplier(positive(3.0));
    })
}

fn ordered(dimension: usize, order: Order, records: u64, batch: u64, steps: u64) -> Description {
    changed(dimension, |description| {
        let training = &mut description.training;
        (training.order, training.records) = (order, records);
        (training.batch, training.length) = (Batch::Size(batch), Length::Steps(steps));
    })
}

#[test]
fn gradient_descent_keeps_its_certificate_and_half_the_noise_is_noticed() {
    let cases = vec![
        Case::new("gradient descent, 1-D", gradient_descent(1), "+ -", "- -"),
        Case::new("gradient descent, 5-D", gradient_descent(5), "+  ", "-  "),
    ];
    check(cases, 20_000, &["gradient descent, 1-D", "gradient descent, 5-D"]);
}

#[test]
fn records_in_turn_keep_their_certificate_and_half_the_noise_is_noticed() {
    let decaying = |dimension| {
        changed(dimension, |description| {
            let training = &mut description.training;
            (training.order, training.records, training.length) = (Order::Once, 4, Length::Steps(4));
            training.weight_decay = 0.7;
        })
    };
    let cases = vec![
        Case::new("once, 1-D", decaying(1), "+-++", "+-+-"),
        Case::new("once, 5-D", decaying(5), "   +", "   -"),
        Case::new("cyclic, 1-D", ordered(1, Order::Cyclic, 2, 1, 4), "++", "+-"),
        Case::new("cyclic, 5-D", ordered(5, Order::Cyclic, 4, 2, 4), "   +", "   -"),
        Case::new("one record", ordered(1, Order::Cyclic, 1, 1, 3), "+", "-"),
        Case::new("shuffled, one pass", ordered(1, Order::Shuffled, 2, 1, 2), "+ ", "- "),
        Case::new("shuffled, two passes", ordered(1, Order::Shuffled, 4, 2, 4), "+   ", "-   "),
        Case::new("padded", ordered(1, Order::Cyclic, 3, 2, 4), "-++ ", "-+- "),
    ];
    let all: Vec<&str> = cases.iter().map(|case| case.name).collect();
    check(cases, 5_000, &all);
}

#[test]
fn random_batches_keep_their_certificate_and_half_the_noise_is_noticed() {
    let poisson = |dimension, divide_by| {
        changed(dimension, |description| {
            let training = &mut description.training;
            training.batch = Batch::Probability(Probability::new(0.5).expect("a probability"));
            (training.order, training.divide_by) = (Order::Poisson, divide_by);
            // Without a fixed divisor the record may be alone in its batch.
            let multiplier = if divide_by == Divisor::Actual { 2.0 } else { 1.5 };
            training.noise = Noise::Multiplier(positive(multiplier));
        })
    };
    let twenty = ordered(1, Order::Poisson, 20, 16, 3);
    let cases = vec![
        Case::new("poisson, 1-D", poisson(1, Divisor::BatchSize), "+ ", "- "),
        Case::new("poisson, 5-D", poisson(5, Divisor::BatchSize), "+ ", "- "),
        Case::new("poisson, realised divisor", poisson(1, Divisor::Actual), "+ ", "- "),
        Case::new("poisson, realised divisor, others push", poisson(1, Divisor::Actual), "++", "-+"),
        Case::new("poisson, 20 records", twenty, "+ - - + - + - + - + ", "- - - + - + - + - + "),
        Case::new("without replacement", ordered(1, Order::WithoutReplacement, 3, 2, 2), "+--", "---"),
        Case::new("without replacement, 5-D", ordered(5, Order::WithoutReplacement, 3, 2, 2), "+  ", "-  "),
        Case::new("allocation, one pass", ordered(1, Order::Allocation, 3, 1, 3), "+  ", "-  "),
        Case::new("allocation, two passes, 5-D", ordered(5, Order::Allocation, 4, 2, 4), "+   ", "-   "),
        Case::new("batch of all", ordered(1, Order::WithoutReplacement, 3, 3, 2), "+  ", "-  "),
    ];
    let caught =
        ["poisson, 1-D", "poisson, 5-D", "without replacement", "without replacement, 5-D", "batch of all"];
    check(cases, 5_000, &caught);
}

#[test]
fn random_releases_and_public_steps_keep_their_certificate() {
    let released = |order, release, public_steps| {
        let mut description = ordered(1, order, 3, 1, 3);
        description.training.release = release;
        description.training.public_steps = public_steps;
        description
    };
    let mut descent = gradient_descent(1);
    descent.training.release = Release::RandomStop;
    let cases = vec![
        Case::new("random stop, once", released(Order::Once, Release::RandomStop, 0), "+  ", "-  "),
        Case::new("random stop, cyclic", released(Order::Cyclic, Release::RandomStop, 0), "+  ", "-  "),
        Case::new("random stop, shuffled", released(Order::Shuffled, Release::RandomStop, 0), "+  ", "-  "),
        Case::new("random stop, descent", descent, "+  ", "-  "),
        Case::new("random stop, public", released(Order::Once, Release::RandomStop, 2), "+  ", "-  "),
        Case::new("random skip", released(Order::Once, Release::RandomSkip, 0), "  +", "  -"),
        Case::new("random skip, first record", released(Order::Once, Release::RandomSkip, 0), "+  ", "-  "),
        Case::new("random skip, public", released(Order::Once, Release::RandomSkip, 2), "  +", "  -"),
        Case::new("public, once", released(Order::Once, Release::Last, 2), "  +", "  -"),
        Case::new("public, poisson", released(Order::Poisson, Release::Last, 2), "  +", "  -"),
    ];
    let caught = ["random stop, once", "random stop, cyclic", "random stop, descent", "random stop, public"];
    check(cases, 3_000, &caught);
}

#[test]
fn other_laws_neighbours_and_step_sizes_keep_their_certificate() {
    let laplace = |order, records, batch, steps| {
        let mut description = ordered(1, order, records, batch, steps);
        description.training.noise_kind = NoiseKind::Laplace;
        description
    };
    let close = |neighbours, order| {
        let mut description = ordered(1, order, 3, if order == Order::Full { 3 } else { 2 }, 3);
        description.training.neighbours = neighbours;
        description
    };
    let rated = |rate, noise| {
        let mut description = ordered(1, Order::Cyclic, 2, 1, 4);
        (description.training.learning_rate, description.training.noise) = (Some(rate), noise);
        description
    };
    let list = |values: [f64; 4]| values.map(positive).to_vec();
    let cases = vec![
        Case::new("laplace, descent", laplace(Order::Full, 3, 3, 2), "+  ", "-  "),
        Case::new("laplace, once", laplace(Order::Once, 2, 1, 2), " +", " -"),
        Case::new("laplace, poisson", laplace(Order::Poisson, 2, 1, 2), "+ ", "- "),
        Case::new("zero-out, descent", close(Neighbours::ZeroOut, Order::Full), "+--", " --"),
        Case::new("zero-out, poisson", close(Neighbours::ZeroOut, Order::Poisson), "+  ", "   "),
        Case::new(
            "zero-out, without replacement",
            close(Neighbours::ZeroOut, Order::WithoutReplacement),
            "+--",
            " --",
        ),
        Case::new("add or remove, descent", close(Neighbours::AddOrRemoveOne, Order::Full), "+--", " --"),
        Case::new("add or remove, poisson", close(Neighbours::AddOrRemoveOne, Order::Poisson), "+++", " ++"),
        Case::new("zero-out, allocation", close(Neighbours::ZeroOut, Order::Allocation), "+  ", "   "),
        Case::new(
            "add or remove, allocation",
            close(Neighbours::AddOrRemoveOne, Order::Allocation),
            "+++",
            " ++",
        ),
        Case::new(
            "falling steps",
            rated(LearningRate::InverseSqrt(positive(1.0)), Noise::Gradient(positive(2.0))),
            " +",
            " -",
        ),
        Case::new(
            "listed steps",
            rated(LearningRate::List(list([0.5, 1.0, 0.25, 1.0])), Noise::Iterate(positive(2.0))),
            " +",
            " -",
        ),
        Case::new(
            "listed noise",
            rated(LearningRate::Constant(positive(0.5)), Noise::GradientList(list([3.0, 2.0, 3.0, 2.0]))),
            " +",
            " -",
        ),
    ];
    let caught = [
        "laplace, descent",
        "zero-out, descent",
        "zero-out, poisson",
        "zero-out, without replacement",
        "add or remove, descent",
        "listed steps",
    ];
    check(cases, 3_000, &caught);
}

#[test]
fn all_models_and_sets_and_what_is_released_together_keep_their_certificate() {
    let classes = |model: fn(usize) -> Model, dimension, projection, clip: bool| {
        let mut description = gradient_descent(dimension);
        description.bounds.target = Target::Classes(2);
        (description.model, description.projection) = (model(dimension), projection);
        if !clip {
            description.training.contribution = None;
        }
        description
    };
    let logistic = |features| Model::Linear { loss: Logistic.into(), features };
    let squared = Model::Linear { loss: Squared.into(), features: 1 };
    let softmax = |features| Model::Softmax { classes: 2, features };
    let network = |features| Model::Network { hidden: vec![2], classes: 2, features };
    let projected = |dimension, set| {
        let mut description = ordered(dimension, Order::Cyclic, 3, 1, 6);
        description.projection = Some(set);
        description
    };
    let ball = Some(Projection::Ball { radius: 0.5 });
    let mut tasks = gradient_descent(1);
    tasks.training.tasks = 2;
    // Iterates stay where the loss, cut to [0, 1], is almost 0 for one record and almost 1 for the other.
    let evaluated = |target, set, model: Model, tasks| {
        let mut description = gradient_descent(1);
        (description.bounds.target, description.projection, description.model) = (target, Some(set), model);
        description.training.noise = Noise::Multiplier(positive(20.0));
        description.training.evaluation = Some(Evaluation { noise_multiplier: positive(2.0) });
        description.training.tasks = tasks;
        description
    };
    let far = Projection::Box { lower: 4.0, upper: 5.0 };
    let near = Projection::Box { lower: -0.1, upper: 0.1 };
    let (classified, numbers) = (Target::Classes(2), Target::Range { lower: 0.0, upper: 1000.0 });
    let cases = vec![
        Case::new("logistic, no clip", classes(logistic, 1, None, false), "+  ", "-  "),
        Case::new("logistic, ball", classes(logistic, 5, ball, false), "+  ", "-  "),
        Case::new("softmax", classes(softmax, 5, ball, true), "+  ", "-  "),
        Case::new("network", classes(network, 2, None, true), "+  ", "-  "),
        Case::new("interval", projected(1, Projection::Box { lower: -2.0, upper: 2.0 }), "--+", "---"),
        Case::new("box", projected(5, Projection::Box { lower: -0.5, upper: 2.0 }), "  +", "  -"),
        Case::new("ball", projected(5, Projection::Ball { radius: 2.0 }), "--+", "---"),
        Case::new("simplex", projected(5, Projection::Simplex { scale: 10.0 }), "--+", "---"),
        Case::new("two tasks", tasks, "+  ", "-  "),
        Case::new("evaluation", evaluated(classified, far, logistic(1), 1), "+++", "-++"),
        Case::new("two evaluations", evaluated(classified, far, logistic(1), 2), "+++", "-++"),
        Case::new("evaluation of numbers", evaluated(numbers, near, squared, 1), "+  ", "-  "),
    ];
    let caught = [
        "logistic, ball",
        "interval",
        "box",
        "ball",
        "simplex",
        "two tasks",
        "evaluation",
        "two evaluations",
        "evaluation of numbers",
    ];
    check(cases, 3_000, &caught);
}
