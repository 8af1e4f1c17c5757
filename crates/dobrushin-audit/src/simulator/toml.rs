//! A run as a run file.

use dobrushin::Positive;
use dobrushin::mechanism::Neighbours;
use dobrushin::run::{
    Algorithm, Batch, Contribution, Divisor, IncompleteBatch, LearningRate, Length, Noise, NoiseKind, Order,
    Record, Release, Training,
};

/// The run file that says what the run says, and nothing else.
pub fn run_file(run: &Training) -> String {
    let length = match run.length {
        Length::Steps(steps) => ("run.steps", steps.to_string()),
        Length::Epochs(epochs) => ("run.epochs", number(epochs.get())),
        Length::Any => ("run.steps", word("any")),
    };
    let batch = match run.batch {
        Batch::Size(size) => ("run.batch-size", size.to_string()),
        Batch::Probability(rate) => ("run.sampling-probability", number(rate.get())),
    };
    let noise = match &run.noise {
        Noise::Multiplier(multiplier) => ("update.noise-multiplier", number(multiplier.get())),
        Noise::Gradient(sigma) => ("update.gradient-noise", number(sigma.get())),
        Noise::GradientList(sigmas) => ("update.gradient-noise", list(sigmas)),
        Noise::Iterate(noise) => ("update.iterate-noise", number(noise.get())),
    };
    let said = [
        ("run.algorithm", word(algorithm(run.algorithm))),
        ("run.records", run.records.to_string()),
        length,
        batch,
        ("run.order", word(order(run.order))),
        ("run.release", word(release(run.release))),
        ("run.neighbours", word(neighbours(run.neighbours))),
        ("run.public-steps", run.public_steps.to_string()),
        ("run.tasks", run.tasks.to_string()),
        ("update.noise", word(if run.noise_kind == NoiseKind::Laplace { "laplace" } else { "gaussian" })),
        noise,
        ("update.weight-decay", number(run.weight_decay)),
        ("update.divide-by", word(if run.divide_by == Divisor::Actual { "actual" } else { "batch-size" })),
    ];
    let known = [
        ("run.incomplete-batch", run.incomplete_batch.map(|ending| word(incomplete_batch(ending)))),
        ("run.record", index(run.record).map(|index| index.to_string())),
        ("update.learning-rate", run.learning_rate.as_ref().map(learning_rate)),
        ("update.clip-norm", norm(run, true)),
        ("update.lipschitz", norm(run, false)),
        ("loss.convex", run.loss.convex.map(|flag| flag.to_string())),
        ("loss.generalised-linear", run.loss.generalised_linear.map(|flag| flag.to_string())),
        ("loss.smoothness", run.loss.smoothness.map(|beta| number(beta.get()))),
        ("loss.strong-convexity", run.loss.strong_convexity.map(|rho| number(rho.get()))),
        ("domain.diameter", run.domain.diameter.map(|diameter| number(diameter.get()))),
        ("domain.dimension", run.domain.dimension.map(|dimension| dimension.to_string())),
        ("centre.noise-multiplier", run.centre.map(|c| number(c.noise_multiplier.get()))),
        ("evaluation.noise-multiplier", run.evaluation.map(|e| number(e.noise_multiplier.get()))),
    ];
    let forget = |of: fn(&dobrushin::run::Forgotten) -> u64| {
        let numbers: Vec<u64> = run.forgetting.iter().map(of).collect();
        (!numbers.is_empty()).then(|| format!("{numbers:?}"))
    };
    let deleted = [("forget.records", forget(|of| of.records)), ("forget.steps", forget(|of| of.steps))];
    let known = known.into_iter().chain(deleted).filter_map(|(key, value)| Some((key, value?)));
    said.into_iter().chain(known).map(|(key, value)| format!("{key} = {value}\n")).collect()
}

fn word(word: &str) -> String {
    format!("{word:?}")
}

fn number(value: f64) -> String {
    format!("{value:?}")
}

fn list(values: &[Positive]) -> String {
    format!("{:?}", values.iter().map(|value| value.get()).collect::<Vec<_>>())
}

fn algorithm(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::Pnsgd => "pnsgd",
        Algorithm::DpSgd => "dp-sgd",
        Algorithm::GradientDescent => "gradient-descent",
        Algorithm::Online => "online",
    }
}

fn order(order: Order) -> &'static str {
    match order {
        Order::Once => "once",
        Order::Cyclic => "cyclic",
        Order::Shuffled => "shuffled",
        Order::Allocation => "allocation",
        Order::Poisson => "poisson",
        Order::WithoutReplacement => "without-replacement",
        Order::Full => "full",
    }
}

fn incomplete_batch(ending: IncompleteBatch) -> &'static str {
    match ending {
        IncompleteBatch::Drop => "drop",
        IncompleteBatch::Short => "short",
        IncompleteBatch::Pad => "pad",
        IncompleteBatch::Fill => "fill",
    }
}

fn release(release: Release) -> &'static str {
    match release {
        Release::Last => "last",
        Release::RandomStop => "random-stop",
        Release::RandomSkip => "random-skip",
        Release::All => "all",
    }
}

fn neighbours(neighbours: Neighbours) -> &'static str {
    match neighbours {
        Neighbours::ReplaceOne => "replace-one",
        Neighbours::AddOrRemoveOne => "add-or-remove-one",
        Neighbours::ZeroOut => "zero-out",
    }
}

fn index(record: Record) -> Option<u64> {
    match record {
        Record::Worst => None,
        Record::Index(index) => Some(index),
    }
}

fn learning_rate(rate: &LearningRate) -> String {
    match rate {
        LearningRate::Constant(rate) => number(rate.get()),
        LearningRate::List(rates) => list(rates),
        LearningRate::InverseSqrt(first) => format!("{{ inverse-sqrt = {:?} }}", first.get()),
    }
}

/// The bound on gradients that are clipped to it, or on those that are not.
fn norm(run: &Training, clipped: bool) -> Option<String> {
    match run.contribution? {
        Contribution::Clipped(norm) => clipped.then(|| number(norm.get())),
        Contribution::Lipschitz(norm) => (!clipped).then(|| number(norm.get())),
    }
}
