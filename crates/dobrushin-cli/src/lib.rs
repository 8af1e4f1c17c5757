//! The `dobrushin` program, as a library so that its readers of files can be fuzzed.

mod certificate;
mod cli;
mod command;
mod figures;
mod file;
#[doc(hidden)]
pub mod fuzz;
mod guard;
mod json_file;
mod level;
mod local_data;
mod output;
mod plain_text;
mod plot;
mod probabilities;
mod problem;
mod profile_plot;
mod progress;
mod records;
mod run_file;
mod sweep;
mod table_file;
mod train_data;

use clap::Parser;
use cli::{Cli, Command};
use guard::Guard;
use problem::Problem;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// Does what the arguments of the process ask for.
pub fn main() -> ExitCode {
    file::remove_when_interrupted();
    let done = match Cli::try_parse() {
        Ok(cli) => run(&cli),
        Err(said) => tell(&said),
    };
    done.unwrap_or_else(|problem| {
        problem.print();
        problem.exit_code()
    })
}

/// Prints what was asked about the program itself, or what is wrong with its arguments.
fn tell(said: &clap::Error) -> Result<ExitCode, Problem> {
    match said.print() {
        Err(error) if !said.use_stderr() && error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Problem::cannot_write(Path::new(file::STANDARD_OUTPUT), error))
        }
        _ => Ok(ExitCode::from(if said.use_stderr() { 2 } else { 0 })),
    }
}

fn run(cli: &Cli) -> Result<ExitCode, Problem> {
    let guard = Guard::new(&command::touched::of(cli)?)?;
    let report = match &cli.command {
        None => command::demonstration::run(),
        Some(Command::Account(arguments)) => command::account::run(arguments, &guard),
        Some(Command::Verify(arguments)) => command::verify::run(arguments),
        Some(Command::Calibrate(arguments)) => command::calibrate::run(arguments, &guard),
        Some(Command::Curve(arguments)) => command::curve::run(arguments, &guard, !cli.common.quiet),
        Some(Command::Divergence(arguments)) => command::divergence::run(arguments),
        Some(Command::Kernel(arguments)) => command::kernel::run(arguments, !cli.common.quiet),
        Some(Command::Local(arguments)) => return command::local::run(arguments, &cli.common),
        Some(Command::Schema(arguments)) => command::schema::run(arguments, cli.common.quiet),
        Some(Command::Train(arguments)) => command::train::run(arguments, &guard, !cli.common.quiet),
        Some(Command::Predict(arguments)) => return command::predict::run(arguments, &cli.common),
        Some(Command::Certificate(arguments)) => command::certificate::run(arguments),
        Some(Command::Figures(arguments)) => command::figures::run(arguments, !cli.common.quiet),
        Some(Command::Explain(arguments)) => command::explain::run(arguments),
    }?;
    report.print(&cli.common)?;
    Ok(report.exit_code())
}
