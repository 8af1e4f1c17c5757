//! `dobrushin calibrate`: how much noise a target needs.

use crate::cli::{CsvArgs, SetArgs, delta, epsilon, probability, worth_meeting};
use crate::guard::Guard;
use crate::output::Report;
use crate::problem::Problem;
use crate::run_file::Opened;
use crate::watch::Watch;
use clap::Args;
use dobrushin::account::{Calibration, CalibrationError, Target, calibrate_watched};
use dobrushin::numeric::decimal as number;
use dobrushin::run::{Parameter, Run};
use dobrushin::{Delta, Epsilon, Probability};
use dobrushin_document::report::CalibrationReport;
use dobrushin_document::text::Style;
use dobrushin_document::{RunFile, csv, json, text};
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct CalibrateArgs {
    /// A run file (TOML), or "-" for standard input; it need not give the parameter that is searched for
    pub run: PathBuf,
    /// What to search for: noise-multiplier, gradient-noise, iterate-noise, steps, epochs, batch-size,
    /// sampling-probability, learning-rate, clip-norm, weight-decay, diameter or public-steps
    #[arg(long, value_name = "NAME", value_parser = parameter)]
    pub parameter: Parameter,
    /// The ε to meet, with the δ of --delta or of the file's [target]
    #[arg(long, value_parser = epsilon, allow_negative_numbers = true)]
    pub epsilon: Option<Epsilon>,
    /// The δ to meet, with the ε of --epsilon or of the file's [target]
    #[arg(long, value_parser = delta, allow_negative_numbers = true)]
    pub delta: Option<Delta>,
    /// Meet this membership advantage instead: no attack's true-positive rate minus false-positive rate exceeds it
    #[arg(long, value_parser = probability, allow_negative_numbers = true,
          conflicts_with_all = ["epsilon", "delta", "tpr"])]
    pub advantage: Option<Probability>,
    /// Meet this true-positive rate instead: no attack exceeds it at the false-positive rate --fpr
    #[arg(long, value_parser = probability, allow_negative_numbers = true, requires = "fpr",
          conflicts_with_all = ["epsilon", "delta"])]
    pub tpr: Option<Probability>,
    /// The false-positive rate that goes with --tpr
    #[arg(long, value_parser = probability, allow_negative_numbers = true, requires = "tpr")]
    pub fpr: Option<Probability>,
    #[command(flatten)]
    pub changes: SetArgs,
    #[command(flatten)]
    pub csv: CsvArgs,
}

fn parameter(text: &str) -> Result<Parameter, String> {
    Parameter::ALL.into_iter().find(|p| p.fact().key() == text || p.fact().name() == text).ok_or_else(|| {
        let names: Vec<&str> = Parameter::ALL.iter().map(|p| p.fact().key()).collect();
        format!("{text:?} is not one of {}", names.join(", "))
    })
}

/// The value that just meets the target.
pub fn run(arguments: &CalibrateArgs, guard: &Guard, style: Style) -> Result<Report, Problem> {
    let mut opened = Opened::new(Some(&arguments.run), &arguments.changes.set, guard)?;
    opened.file = opened.file.searchable(arguments.parameter)?;
    let target = target(arguments, &opened.file)?;
    let run = opened.run()?;
    let report =
        CalibrationReport::new(&run, search(&run, arguments.parameter, target, !style.quiet)?, target);
    let table = csv::calibration(&report);
    Ok(Report::new(text::calibration(&report, style), json::of(&report)).with_table(table))
}

/// The value that just meets the target.
pub fn search(
    run: &Run,
    parameter: Parameter,
    target: Target,
    show_progress: bool,
) -> Result<Calibration, Problem> {
    let watch = Watch::new(show_progress, 0, "search");
    let found = calibrate_watched(run, parameter, target, watch.progress());
    found.map_err(|error| problem(error, target))
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
    let (epsilon, delta) = file.target()?;
    match (arguments.epsilon.or(epsilon), arguments.delta.or(delta)) {
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
            number::briefly(achieved),
            number::plain(target.limit())
        ))
        .help(if parameter.is_noise() {
            "take fewer steps or smaller batches, or a larger target"
        } else {
            "add noise, or choose a larger target"
        }),
        other => Problem::new(other.to_string()),
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
