//! The `dobrushin` program, as a library: for the program itself, for Python, and so that its readers of files can be
//! fuzzed.

mod cli;
mod command;
mod day;
mod figures;
mod file;
mod forgetting;
#[doc(hidden)]
pub mod fuzz;
mod guard;
mod input;
mod keeping;
mod laws;
pub mod ledger;
mod level;
mod local_data;
mod model_folder;
mod output;
mod page_files;
mod plot;
mod probabilities;
mod problem;
mod profile_plot;
mod run_file;
mod sheet_file;
mod state_file;
mod stderr;
mod table_file;
mod train_data;
mod watch;

pub use day::today;
pub use forgetting::{Found, How, Made, Outcome, Request, Resumed, Which};
pub use guard::{Guard, Touched};
pub use keeping::Keeping;
pub use model_folder::{Folder, write, written};
pub use problem::Problem;
pub use run_file::{Opened, read_schema};
pub use table_file::{BadRows, Cells, Columns, Pass, Rows, Source, columns};
pub use train_data::{Loaded, load_columns, pad, refuse_none};

use clap::Parser;
use command::Cli;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// Does what the arguments of the process ask for.
pub fn main() -> ExitCode {
    answer(std::env::args_os().collect())
}

/// Does what the words ask for; the first is the name of the program.
pub fn answer(words: Vec<OsString>) -> ExitCode {
    file::remove_when_interrupted();
    cli::prepare(&words);
    let done = match Cli::try_parse_from(&words) {
        Ok(cli) => command::run(&cli),
        Err(said) => tell(&said),
    };
    done.unwrap_or_else(|problem| {
        problem.print();
        problem.exit_code()
    })
}

/// A theorem or an idea in plain words; without a topic, the list of all.
pub fn explanation(topic: Option<&str>) -> Result<String, Problem> {
    let explained = command::explain(topic)?;
    Ok(explained.text.render(dobrushin_document::text::Style::default()))
}

/// What is wrong with these words (the name of the program first), or with what they ask for.
fn complaint<'a>(words: impl Iterator<Item = &'a OsStr>) -> Option<String> {
    match Cli::try_parse_from(words) {
        Ok(cli) => command::run(&cli).err().map(|problem| problem.to_string()),
        Err(error) => Some(error.to_string()),
    }
}

/// Prints what was asked about the program itself, or what is wrong with its arguments.
fn tell(said: &clap::Error) -> Result<ExitCode, Problem> {
    if said.use_stderr() && stderr::Complaint::is_json() {
        return Err(Problem::of_arguments(&said.render().to_string()));
    }
    match said.print() {
        Err(error) if !said.use_stderr() && error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Problem::cannot_write(Path::new(file::STANDARD_OUTPUT), error))
        }
        _ => Ok(ExitCode::from(if said.use_stderr() { 2 } else { 0 })),
    }
}
