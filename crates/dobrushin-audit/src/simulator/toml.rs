//! A run as its file.

use dobrushin::Positive;
use dobrushin::algorithm::{
    Algorithm, Batch, Contribution, Divisor, IncompleteBatch, LearningRate, Length, Noise, NoiseKind, Order,
    Record, Release, Training,
};
use dobrushin::mechanism::Neighbours;
use std::fmt::Write;

/// The run file that says what the run says, and nothing else.
pub fn run_file(run: &Training) -> String {
    let mut file = String::from("[run]\n");
    let mut say = |key: &str, value: String| {
        let _ = writeln!(file, "{key} = {value}");
    };
    let word = |word: &str| format!("{word:?}");
    let list =
        |values: &[Positive]| format!("{:?}", values.iter().map(|value| value.get()).collect::<Vec<_>>());
    let number = |value: f64| format!("{value:?}");
    say(
        "algorithm",
        word(match run.algorithm {
            Algorithm::Pnsgd => "pnsgd",
            Algorithm::DpSgd => "dp-sgd",
            Algorithm::GradientDescent => "gradient-descent",
            Algorithm::Online => "online",
        }),
    );
    say("records", run.records.to_string());
    match run.length {
        Length::Steps(steps) => say("steps", steps.to_string()),
        Length::Epochs(epochs) => say("epochs", number(epochs.get())),
        Length::Any => say("steps", word("any")),
    }
    match run.batch {
        Batch::Size(size) => say("batch-size", size.to_string()),
        Batch::Probability(rate) => say("sampling-probability", number(rate.get())),
    }
    say(
        "order",
        word(match run.order {
            Order::Once => "once",
            Order::Cyclic => "cyclic",
            Order::Shuffled => "shuffled",
            Order::Poisson => "poisson",
            Order::WithoutReplacement => "without-replacement",
            Order::Full => "full",
        }),
    );
    if let Some(ending) = run.incomplete_batch {
        say(
            "incomplete-batch",
            word(match ending {
                IncompleteBatch::Drop => "drop",
                IncompleteBatch::Short => "short",
                IncompleteBatch::Pad => "pad",
                IncompleteBatch::Fill => "fill",
            }),
        );
    }
    say(
        "release",
        word(match run.release {
            Release::Last => "last",
            Release::RandomStop => "random-stop",
            Release::RandomSkip => "random-skip",
            Release::All => "all",
        }),
    );
    say(
        "neighbours",
        word(match run.neighbours {
            Neighbours::ReplaceOne => "replace-one",
            Neighbours::AddOrRemoveOne => "add-or-remove-one",
            Neighbours::ZeroOut => "zero-out",
        }),
    );
    if let Record::Index(index) = run.record {
        say("record", index.to_string());
    }
    say("public-steps", run.public_steps.to_string());
    say("tasks", run.tasks.to_string());
    say("\n[update]\nnoise", word(if run.noise_kind == NoiseKind::Laplace { "laplace" } else { "gaussian" }));
    match &run.learning_rate {
        Some(LearningRate::Constant(rate)) => say("learning-rate", number(rate.get())),
        Some(LearningRate::List(rates)) => say("learning-rate", list(rates)),
        Some(LearningRate::InverseSqrt(rate)) => {
            say("learning-rate", format!("{{ inverse-sqrt = {:?} }}", rate.get()));
        }
        None => (),
    }
    match run.contribution {
        Some(Contribution::Clipped(norm)) => say("clip-norm", number(norm.get())),
        Some(Contribution::Lipschitz(norm)) => say("lipschitz", number(norm.get())),
        None => (),
    }
    match &run.noise {
        Noise::Multiplier(multiplier) => say("noise-multiplier", number(multiplier.get())),
        Noise::Gradient(sigma) => say("gradient-noise", number(sigma.get())),
        Noise::GradientList(sigmas) => say("gradient-noise", list(sigmas)),
        Noise::Iterate(noise) => say("iterate-noise", number(noise.get())),
    }
    say("weight-decay", number(run.weight_decay));
    say("divide-by", word(if run.divide_by == Divisor::Actual { "actual" } else { "batch-size" }));
    let facts = [
        ("\n[loss]\nconvex", run.loss.convex.map(|flag| flag.to_string())),
        ("generalised-linear", run.loss.generalised_linear.map(|flag| flag.to_string())),
        ("smoothness", run.loss.smoothness.map(|beta| number(beta.get()))),
        ("strong-convexity", run.loss.strong_convexity.map(|rho| number(rho.get()))),
        ("\n[domain]\ndiameter", run.domain.diameter.map(|diameter| number(diameter.get()))),
        ("dimension", run.domain.dimension.map(|dimension| dimension.to_string())),
        ("\n[evaluation]\nnoise-multiplier", run.evaluation.map(|e| number(e.noise_multiplier.get()))),
    ];
    for (key, value) in facts {
        let (heading, name) = key.rsplit_once('\n').unwrap_or(("", key));
        if !heading.is_empty() {
            let _ = writeln!(file, "{heading}");
        }
        if let Some(value) = value {
            let _ = writeln!(file, "{name} = {value}");
        }
    }
    file
}
