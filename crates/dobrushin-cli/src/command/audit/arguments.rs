//! What users type after `dobrushin audit`.

use crate::cli::{DelimiterArgs, SetArgs, checked, delta, epsilon};
use crate::command::plan::count;
use clap::{ArgGroup, Args};
use dobrushin::{Delta, Epsilon, Error};
use dobrushin_document::ask::Means;
use std::num::NonZeroUsize;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(group = ArgGroup::new("attack").args(["scores", "command", "train"]))]
#[command(group = ArgGroup::new("models").args(["command", "train"]))]
pub struct AuditArgs {
    /// The run that is claimed to have been made (TOML), or "-" for standard input: its whole profile is the claim. Without an
    /// attack, the worst case that is known is held against it
    #[arg(value_name = "RUN.toml", required_unless_present_any = ["epsilon", "named"])]
    run: Option<PathBuf>,
    /// The same as RUN.toml, by a flag as dobrushin train has it
    #[arg(id = "named", long = "run", value_name = "RUN.toml", conflicts_with = "run")]
    named: Option<PathBuf>,
    #[command(flatten)]
    pub changes: SetArgs,
    /// An attacker's scores of independent runs, one number on each line: of runs with the record, and of runs without
    /// it. Several numbers on a line are the parameters of a released model
    #[arg(long, num_args = 2, value_names = ["WITH.csv", "WITHOUT.csv"])]
    pub scores: Option<Vec<PathBuf>>,
    #[command(flatten)]
    pub program: ProgramArgs,
    #[command(flatten)]
    pub trained: TrainedArgs,
    /// With --command or --train: the models that are trained on each of the two data sets; 1e4 is accepted. Without it, 1000
    /// by --command, and 5000 for each attack of --train
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true, requires = "models")]
    pub runs: Option<u64>,
    /// With --command or --train: keep everything that is finished in this file, and go on from there when the same command is
    /// given again
    #[arg(long, value_name = "FILE", requires = "models")]
    pub state: Option<PathBuf>,
    /// The ε that is claimed, with --delta: instead of a run, or, with --train, instead of what the run guarantees. Without an
    /// attack, the ε at which δ is asked for
    #[arg(long, value_parser = epsilon, allow_negative_numbers = true)]
    pub epsilon: Option<Epsilon>,
    /// The δ at which ε is compared; that of the file's [target], if it has one
    #[arg(long, value_parser = delta, allow_negative_numbers = true)]
    pub delta: Option<Delta>,
    /// The probability with which everything that is said is true
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, value_parser = confidence, allow_negative_numbers = true)]
    pub confidence: f64,
    /// Draw how often the attacker was right against how often it was wrong to a file (.svg, .png, .pdf or .html); without an
    /// attack, the two laws of the worst case
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
    /// The calls at a time; without it, one for each core
    #[arg(long, value_name = "N", requires = "command")]
    pub jobs: Option<NonZeroUsize>,
}

/// Models that are trained here.
#[derive(Args, Debug)]
pub struct TrainedArgs {
    /// The records, as for dobrushin train: train models on them and on their neighbours by --run, which has [model], and
    /// attack what would be released
    #[arg(long, value_name = "DATA")]
    pub train: Option<PathBuf>,
    /// The attacks: crafted-gradient, crafted-last-pass, crafted-landscape, crafted-opposition, extreme-record, one-run.
    /// Without it, those that suit the run
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = means, requires = "train")]
    pub attacks: Vec<Means>,
    /// Draw everything from this seed: the same seed makes the same report
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, requires = "train")]
    pub seed: u64,
    /// Public records for the steps of run.public-steps
    #[arg(long, value_name = "FILE", requires = "train")]
    pub public: Option<PathBuf>,
    #[command(flatten)]
    pub cells: DelimiterArgs,
    /// The records are not secret, so nothing warns you that the report is about them
    #[arg(long, requires = "train")]
    pub data_is_public: bool,
}

impl AuditArgs {
    /// The run file, however it is given.
    pub fn run(&self) -> Option<&PathBuf> {
        self.named.as_ref().or(self.run.as_ref())
    }
}

fn means(text: &str) -> Result<Means, String> {
    Means::named(text.trim()).map_err(|error| match &error.help {
        Some(help) => format!("{error}; {help}"),
        None => error.to_string(),
    })
}

fn confidence(text: &str) -> Result<f64, String> {
    checked(text, |value| match value {
        value if 0.0 < value && value < 1.0 => Ok(value),
        _ => Err(Error::OutOfRange { name: "confidence", value, accepted: "above 0 and below 1" }),
    })
}
