//! `dobrushin local`: people's answers, each made private before anybody collects them.

mod arguments;
mod bounds;
mod estimate;
mod own_bounds;
mod own_problem;
mod plan;
mod privatize;
mod profile;
mod verify;

pub use arguments::{LocalArgs, LocalCommand};
pub use own_problem::OwnProblem;

use crate::cli::Common;
use crate::problem::Problem;
use crate::watch::Watch;
use std::process::ExitCode;

/// Does what is asked, and prints it.
pub fn run(arguments: &LocalArgs, common: &Common) -> Result<ExitCode, Problem> {
    let style = common.style();
    let reads_records = matches!(arguments.command, LocalCommand::Privatize(_) | LocalCommand::Estimate(_));
    let watch = Watch::new(!common.quiet && !reads_records, 0, "computing");
    let report = match &arguments.command {
        LocalCommand::Profile(arguments) => profile::run(arguments, style),
        LocalCommand::Verify(arguments) => verify::run(arguments, style),
        LocalCommand::Privatize(arguments) => return privatize::run(arguments, common),
        LocalCommand::Estimate(arguments) => estimate::run(arguments, style),
        LocalCommand::Plan(arguments) => plan::run(arguments),
        LocalCommand::Bounds(arguments) => bounds::run(arguments, style),
    };
    drop(watch);
    let report = report?;
    report.deliver(common, arguments.csv())?;
    Ok(report.exit_code())
}
