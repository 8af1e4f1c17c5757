//! `dobrushin calibrate`: how much noise a target needs.

use crate::cli::{CsvArgs, SetArgs, delta, epsilon, probability};
use crate::guard::Guard;
use crate::output::Report;
use crate::problem::Problem;
use crate::run_file::Opened;
use crate::watch::Watch;
use clap::Args;
use dobrushin::account::{Calibration, Target};
use dobrushin::run::{Parameter, Run};
use dobrushin::{Delta, Epsilon, Probability};
use dobrushin_document::ask::{self, Asked, CalibrationWishes, parameter_of};
use dobrushin_document::report::CalibrationReport;
use dobrushin_document::text::Style;
use dobrushin_document::{csv, json, text};
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct CalibrateArgs {
    /// A run file (TOML), or "-" for standard input; it need not give the parameter that is searched for
    pub run: PathBuf,
    /// What to search for: noise-multiplier, gradient-noise, iterate-noise, steps, epochs, batch-size,
    /// sampling-probability, learning-rate, clip-norm, weight-decay, diameter, public-steps or forget.steps
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
    parameter_of(text).map_err(|error| error.to_string())
}

/// The value that just meets the target.
pub fn run(arguments: &CalibrateArgs, guard: &Guard, style: Style) -> Result<Report, Problem> {
    let mut opened = Opened::new(Some(&arguments.run), &arguments.changes.set, guard)?;
    opened.file = opened.file.searchable(arguments.parameter)?;
    let wishes = CalibrationWishes {
        asked: Asked { epsilon: arguments.epsilon, delta: arguments.delta },
        advantage: arguments.advantage,
        rates: arguments.tpr.zip(arguments.fpr),
    };
    let target = wishes.target(&opened.file)?;
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
    Ok(ask::search(run, parameter, target, watch.progress())?)
}
