//! What users type after `dobrushin audit`.

use crate::cli::{SetArgs, checked, delta, epsilon};
use crate::command::plan::count;
use clap::{ArgGroup, Args};
use dobrushin::{Delta, Epsilon, Error};
use std::num::NonZeroUsize;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(group = ArgGroup::new("attack").required(true).args(["scores", "command"]))]
pub struct AuditArgs {
    /// The run that is claimed to have been made (TOML), or "-" for standard input: its whole profile is the claim
    #[arg(required_unless_present = "epsilon")]
    pub run: Option<PathBuf>,
    #[command(flatten)]
    pub changes: SetArgs,
    /// An attacker's scores of independent runs, one number on each line: of runs with the record, and of runs without
    /// it. Several numbers on a line are the parameters of a released model
    #[arg(long, num_args = 2, value_names = ["WITH.csv", "WITHOUT.csv"])]
    pub scores: Option<Vec<PathBuf>>,
    #[command(flatten)]
    pub program: ProgramArgs,
    /// The ε that is claimed, instead of a run
    #[arg(long, value_parser = epsilon, allow_negative_numbers = true, conflicts_with_all = ["run", "set"],
          requires = "delta")]
    pub epsilon: Option<Epsilon>,
    /// The δ at which ε is compared; that of the file's [target], if it has one
    #[arg(long, value_parser = delta, allow_negative_numbers = true)]
    pub delta: Option<Delta>,
    /// The probability with which everything that is said is true
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, value_parser = confidence, allow_negative_numbers = true)]
    pub confidence: f64,
    /// Draw how often the attacker was right against how often it was wrong to a file (.svg, .png, .pdf or .html)
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
}

/// Somebody's program, which is run many times.
#[derive(Args, Debug)]
pub struct ProgramArgs {
    /// A shell command that trains on {data} and writes to {out} one line for each model: a score, or its parameters. With
    /// {runs}, one call trains this many models; {seed} is another number in every call. Paths are quoted for you
    #[arg(long, value_name = "COMMAND", requires_all = ["data", "neighbour"])]
    pub command: Option<String>,
    /// The data set with the record
    #[arg(long, value_name = "WITH.csv", requires = "command")]
    pub data: Option<PathBuf>,
    /// The data set without the record, or with another one in its place
    #[arg(long, value_name = "WITHOUT.csv", requires = "command")]
    pub neighbour: Option<PathBuf>,
    /// The models that are trained on each of the two; 1e4 is accepted
    #[arg(long, value_name = "N", value_parser = count, default_value = "1000", allow_negative_numbers = true,
          requires = "command")]
    pub runs: u64,
    /// The calls at a time; without it, one for each core
    #[arg(long, value_name = "N", requires = "command")]
    pub jobs: Option<NonZeroUsize>,
    /// Keep every finished call in this file, and go on from there when the same command is given again
    #[arg(long, value_name = "FILE", requires = "command")]
    pub state: Option<PathBuf>,
}

fn confidence(text: &str) -> Result<f64, String> {
    checked(text, |value| match value {
        value if 0.0 < value && value < 1.0 => Ok(value),
        _ => Err(Error::OutOfRange { name: "confidence", value, accepted: "above 0 and below 1" }),
    })
}
