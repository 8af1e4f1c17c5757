//! What users type after `dobrushin forget`.

use crate::cli::{DelimiterArgs, delta, epsilon};
use crate::command::plan::count;
use clap::Args;
use dobrushin::{Delta, Epsilon};
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct ForgetArgs {
    /// The state that dobrushin train --keep-state wrote; the new state replaces it
    #[arg(long, value_name = "FILE")]
    pub state: PathBuf,
    /// The data of training: the same rows in the same order, with or without those that are deleted
    #[arg(long, value_name = "FILE")]
    pub data: PathBuf,
    /// The rows to delete, in a file with the columns of the schema; a row that occurs several times is deleted as often as
    /// it is given
    #[arg(
        long,
        value_name = "FILE",
        required_unless_present = "remove_where",
        conflicts_with = "remove_where"
    )]
    pub remove: Option<PathBuf>,
    /// Delete all rows of the data that have this value in this column, which need not be in the schema; if it is given
    /// several times, rows that fit any of them
    #[arg(long, value_name = "COLUMN=VALUE")]
    pub remove_where: Vec<String>,
    /// Also delete all rows that have the same value in this column, such as all rows of a person. The file of --remove
    /// then needs only this column
    #[arg(long, value_name = "COLUMN")]
    pub group: Option<String>,
    /// The ε to meet, with --delta: the fewest clean steps that meet it are found and made
    #[arg(long, value_parser = epsilon, allow_negative_numbers = true)]
    pub epsilon: Option<Epsilon>,
    /// The δ of the guarantee
    #[arg(long, value_parser = delta, allow_negative_numbers = true)]
    pub delta: Delta,
    /// Make this many clean steps instead of the fewest
    #[arg(long, value_name = "K", value_parser = count, allow_negative_numbers = true)]
    pub steps: Option<u64>,
    /// Say how many clean steps it would take, and write nothing
    #[arg(long, conflicts_with_all = ["out", "report", "force", "test"])]
    pub dry_run: bool,
    /// The folder for the new model.json, certificate.json and certificate.txt; it is created if it does not exist
    #[arg(long, value_name = "DIR", required_unless_present = "dry_run")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub cells: DelimiterArgs,
    /// Public test records: accuracy and loss of the new model on them are reported
    #[arg(long, value_name = "FILE")]
    pub test: Option<PathBuf>,
    /// Count test rows that cannot be used as empty records instead of stopping
    #[arg(long)]
    pub skip_bad: bool,
    /// Draw all randomness from this seed, so that you can repeat the request; needs --not-private
    #[arg(long, requires = "not_private")]
    pub seed: Option<u64>,
    /// Accept that a model with a known seed protects nobody: its certificate says so
    #[arg(long, requires = "seed")]
    pub not_private: bool,
    /// Also write the certificate for people, with a picture, to a file (.html or .pdf)
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Replace a model that already exists in the folder
    #[arg(long)]
    pub force: bool,
}
