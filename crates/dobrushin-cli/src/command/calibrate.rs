//! `dobrushin calibrate`: how much noise a target needs.

use crate::cli::CalibrateArgs;
use crate::command::account::{warn, worth_meeting};
use crate::guard::Guard;
use crate::output::{Report, Text, bounds, object, table};
use crate::problem::Problem;
use crate::run_file::{self, RunFile};
use dobrushin::account::{Calibration, CalibrationError, Question, Target, calibrate, large_delta};
use dobrushin::numeric::decimal as number;
use dobrushin::run::{Noise, Parameter, Run, Training};
use dobrushin::{Delta, Epsilon};
use serde_json::{Map, Value, json};

/// The value that just meets the target.
pub fn run(arguments: &CalibrateArgs, guard: &Guard) -> Result<Report, Problem> {
    let mut file = RunFile::read(&arguments.run)?;
    run_file::apply(&mut file, &arguments.changes.set)?;
    file.spared_by(guard)?;
    if let Some(what) = match file.algorithm() {
        "composition" => Some("a list of mechanisms"),
        "chain" => Some("a chain given step by step"),
        _ => None,
    } {
        return Err(Problem::new(format!("{what} has no parameter to search"))
            .help("calibrate needs algorithm = \"pnsgd\", \"dp-sgd\", \"gradient-descent\" or \"online\""));
    }
    let target = target(arguments, &file)?;
    let parameter = arguments.parameter;
    // Gradients that are bounded are not clipped: the library says what to do.
    let bounded = parameter == Parameter::ClipNorm && file.says("update.lipschitz");
    if !file.says(parameter.fact().name()) && !bounded {
        run_file::set(&mut file, parameter.fact().name(), placeholder(parameter))?;
    }
    let derived = [Parameter::ClipNorm, Parameter::Diameter, Parameter::BatchSize];
    if file.says("model.kind") && derived.contains(&parameter) {
        let what = format!(
            "{} cannot be searched with [model]: other numbers are derived from it",
            parameter.fact().name()
        );
        return Err(Problem::new(what).help("search the noise, or dobrushin curve --over it"));
    }
    let run = file.run()?;
    let found = search(&run, parameter, target)?;
    let concern = match target {
        Target::Privacy { delta, .. } => large_delta(&run, delta.get()),
        Target::Advantage(_) | Target::TruePositiveRate { .. } => None,
    };
    let (mut text, mut json) = (text(&found, target, side(&run, parameter)), as_json(&found, target));
    warn(&mut text, concern.as_deref());
    json.insert("warnings".to_owned(), concern.into_iter().collect());
    Ok(Report::new(text, Value::Object(json)))
}

/// The value that just meets the target.
pub fn search(run: &Run, parameter: Parameter, target: Target) -> Result<Calibration, Problem> {
    calibrate(run, parameter, target).map_err(|error| problem(error, target))
}

/// A valid value, to be replaced.
fn placeholder(parameter: Parameter) -> toml::Value {
    match parameter {
        parameter if parameter.is_whole() => toml::Value::Integer(1),
        // Small enough for every loss.
        Parameter::LearningRate => toml::Value::Float(1e-12),
        _ => toml::Value::Float(1.0),
    }
}

/// Which of the values that meet a target is found.
fn side(run: &Run, parameter: Parameter) -> &'static str {
    let noise_follows = |training: &Training| !matches!(training.noise, Noise::Iterate(_));
    match parameter {
        Parameter::NoiseMultiplier | Parameter::GradientNoise | Parameter::IterateNoise => "smallest noise",
        Parameter::Steps => "largest number of steps",
        Parameter::Epochs => "largest number of passes",
        Parameter::BatchSize => "largest batch size",
        Parameter::SamplingProbability => "largest sampling probability",
        // Noise that scales with it grows in proportion to the domain.
        Parameter::LearningRate if run.as_training().is_some_and(noise_follows) => "smallest learning rate",
        Parameter::LearningRate => "largest learning rate",
        Parameter::ClipNorm => "largest clip norm",
        Parameter::WeightDecay => "smallest weight decay",
        Parameter::Diameter => "largest diameter",
        Parameter::PublicSteps => "smallest number of public steps",
    }
}

fn target(arguments: &CalibrateArgs, file: &RunFile) -> Result<Target, Problem> {
    if let Some(advantage) = arguments.advantage {
        if advantage.get() == 0.0 {
            return Err(Problem::new("--advantage is 0, but it must be above 0").help("--advantage 0.1"));
        }
        return Ok(Target::Advantage(advantage));
    }
    if let (Some(rate), Some(at)) = (arguments.tpr, arguments.fpr) {
        if rate.get() <= at.get() || at.get() == 0.0 {
            let what =
                format!("--tpr is {} and --fpr is {}, but tpr > fpr > 0 is needed", rate.get(), at.get());
            return Err(
                Problem::new(what).help("guessing at random has tpr = fpr; try --tpr 0.05 --fpr 0.01")
            );
        }
        return Ok(Target::TruePositiveRate { rate, at });
    }
    let (mut epsilon, mut delta): (Option<Epsilon>, Option<Delta>) = (arguments.epsilon, arguments.delta);
    match file.question()? {
        Some(Question::Epsilon(of_file)) => delta = delta.or(Some(of_file)),
        Some(Question::Delta(of_file)) => epsilon = epsilon.or(Some(of_file)),
        None => (),
    }
    match (epsilon, delta) {
        (Some(epsilon), Some(_)) if epsilon.get() == 0.0 => {
            Err(Problem::new("--epsilon is 0, but it must be above 0")
                .help("(0, δ)-privacy is a membership advantage of δ: --advantage δ"))
        }
        (Some(epsilon), Some(delta)) => Ok(Target::Privacy { epsilon, delta: worth_meeting(delta)? }),
        _ => Err(Problem::new("there is no target: ε and δ are both needed")
            .help("--epsilon 2 --delta 1e-5, or --advantage 0.1, or --tpr 0.05 --fpr 0.01")),
    }
}

fn problem(error: CalibrationError, target: Target) -> Problem {
    match error {
        CalibrationError::Run(error) => error.into(),
        CalibrationError::NotApplicable(reason) => Problem::new(format!("nothing can be searched: {reason}")),
        CalibrationError::Unreachable { parameter, value, achieved } => Problem::answer_is_no(format!(
            "the target cannot be reached by {}: even {} gives {} = {}, above {}",
            parameter.fact().key(),
            number::plain(value),
            quantity(target),
            number::upper(achieved),
            number::plain(target.limit())
        ))
        .help(if parameter.is_noise() {
            "take fewer steps or smaller batches, or a larger target"
        } else {
            "add noise, or choose a larger target"
        }),
    }
}

/// What the target limits.
fn quantity(target: Target) -> &'static str {
    match target {
        Target::Privacy { .. } => "ε",
        Target::Advantage(_) => "the advantage",
        Target::TruePositiveRate { .. } => "the true-positive rate",
    }
}

fn text(found: &Calibration, target: Target, side: &str) -> Text {
    let mut text = Text::default();
    let value = number::plain(found.value);
    text.answer(format!("{} = {value}", found.parameter.fact().key()));
    let what = match target {
        Target::Privacy { delta, .. } => format!("ε at δ = {}", number::plain(delta.get())),
        Target::Advantage(_) => "membership advantage".to_owned(),
        Target::TruePositiveRate { at, .. } => {
            format!("true-positive rate at false-positive rate {}", number::plain(at.get()))
        }
    };
    let row =
        [what, number::lower(found.achieved), number::upper(found.achieved), number::plain(target.limit())];
    let by = format!("with it, by {}", found.analysis);
    text.answer(table([by.as_str(), "at least", "at most", "target"], [row]));
    let next = match found.parameter {
        Parameter::PublicSteps => "one step less fails",
        parameter if parameter.is_whole() => "the next whole number fails",
        Parameter::Epochs => "one step more fails",
        _ => "a value 1e-5 less private, relatively, fails",
    };
    text.explanation(if found.at_the_end {
        "The target is met at the end of the range that is searched.".to_owned()
    } else {
        format!("The {side} with which the run meets the target, seen to meet it: {next}.")
    });
    text
}

fn as_json(found: &Calibration, target: Target) -> Map<String, Value> {
    let whole = found.parameter.is_whole();
    let value = if whole { json!(found.value as u64) } else { json!(found.value) };
    let mut fields = object([("parameter", json!(found.parameter.fact().key())), ("value", value)]);
    let more = match target {
        Target::Privacy { delta, .. } => {
            object([("epsilon", bounds(found.achieved)), ("delta", json!(delta.get()))])
        }
        Target::Advantage(_) => object([("advantage", bounds(found.achieved))]),
        Target::TruePositiveRate { at, .. } => {
            object([("tpr", bounds(found.achieved)), ("fpr", json!(at.get()))])
        }
    };
    fields.extend(more);
    fields.insert("analysis".to_owned(), json!(found.analysis));
    fields.insert("target".to_owned(), json!(target.limit()));
    fields.insert("at_the_end_of_the_range".to_owned(), json!(found.at_the_end));
    fields.insert("evaluations".to_owned(), json!(found.evaluations));
    fields
}
