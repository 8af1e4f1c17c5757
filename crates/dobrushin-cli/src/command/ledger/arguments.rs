//! What users type after `dobrushin ledger`.

use crate::cli::{CsvArgs, DelimiterArgs, SetArgs, delta, epsilon};
use crate::command::plan::{count, neighbours};
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, Subcommand};
use dobrushin::{Delta, Epsilon, Neighbours};
use dobrushin_ledger::Place;
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct LedgerArgs {
    #[command(subcommand)]
    pub command: LedgerCommand,
}

#[derive(Debug, Subcommand)]
pub enum LedgerCommand {
    /// Make a ledger, with everybody's budget
    Init(InitArgs),
    /// Change everybody's budget, or give some people one of their own
    Budget(BudgetArgs),
    /// Charge everybody in a release what it costs them, before it is made; or refuse
    #[command(
        after_long_help = "Examples:\n  dobrushin ledger reserve people.ledger --run run.toml --people data.csv --person customer\n  dobrushin ledger reserve people.ledger --certificate certificate.json --people data.csv --person customer --leave-out without.txt\n  dobrushin ledger reserve people.ledger --epsilon 0.5 --delta 1e-8 --what \"a table by another program\" --people data.csv --person customer"
    )]
    Reserve(Box<ReserveArgs>),
    /// A reserved release was made: its cost stays for good
    Commit(CommitArgs),
    /// A reserved release was never made, and nobody pays for it
    Abort(AbortArgs),
    /// Add to what is said about a release, such as that its model was made to forget somebody; costs stay as they are
    Note(NoteArgs),
    /// What people have spent, and what is left: the whole ledger, or one person
    Show(ShowArgs),
    /// Whether the ledger is whole: everything is read, and every sum is added up again
    Check(CheckArgs),
}

impl LedgerArgs {
    /// The table that is written, if the subcommand has one.
    pub fn csv(&self) -> Option<&CsvArgs> {
        match &self.command {
            LedgerCommand::Show(arguments) => Some(&arguments.csv),
            _ => None,
        }
    }
}

/// Where a ledger is.
#[derive(Args, Clone, Debug)]
pub struct WhereArgs {
    /// The ledger: a file, or the URL of a PostgreSQL database
    #[arg(value_name = "LEDGER", value_parser = OsStringValueParser::new().map(place))]
    pub ledger: Place,
}

/// The file, or the database, that somebody names.
pub fn place(text: OsString) -> Place {
    match text.to_str() {
        // Every text is a place.
        Some(text) => text.parse().unwrap_or_else(|_| Place::File(text.into())),
        None => Place::File(text.into()),
    }
}

/// A release that is charged to the people in it.
#[derive(Args, Clone, Debug)]
pub struct ChargeArgs {
    /// Charge the release to the people in it: reserve it in this ledger (a file, or the URL of a PostgreSQL database) before
    /// it is made, and commit it when its files are written
    #[arg(long, value_name = "LEDGER", requires = "person", value_parser = OsStringValueParser::new().map(place))]
    pub ledger: Option<Place>,
    /// The column that says whose each record is; it need not be used otherwise
    #[arg(long, value_name = "COLUMN", requires = "ledger")]
    pub person: Option<String>,
}

#[derive(Args, Debug)]
pub struct InitArgs {
    #[command(flatten)]
    pub place: WhereArgs,
    /// The ε that everybody may spend in all
    #[arg(long, value_parser = epsilon, allow_negative_numbers = true)]
    pub epsilon: Epsilon,
    /// The δ that everybody may spend in all
    #[arg(long, value_parser = delta, allow_negative_numbers = true)]
    pub delta: Delta,
    /// Which data sets are neighbours: replace-one, zero-out or add-or-remove-one. Releases for others are counted for
    /// replace-one, if that is what the ledger is for, and refused otherwise
    #[arg(long, value_parser = neighbours, default_value = "replace-one")]
    pub neighbours: Neighbours,
    /// All releases are fixed before the first of them is seen: which there are, their settings, and who is in them. Then
    /// their profiles are composed exactly. Without this, each release may be chosen in the light of earlier ones
    #[arg(long)]
    pub planned: bool,
    /// About how many people there will be; any number works
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true, default_value = "100000")]
    pub people: u64,
}

#[derive(Args, Debug)]
pub struct BudgetArgs {
    #[command(flatten)]
    pub place: WhereArgs,
    /// The ε that may be spent in all
    #[arg(long, value_parser = epsilon, allow_negative_numbers = true)]
    pub epsilon: Epsilon,
    /// The δ that may be spent in all
    #[arg(long, value_parser = delta, allow_negative_numbers = true)]
    pub delta: Delta,
    /// All releases are fixed before the first of them is seen
    #[arg(long)]
    pub planned: bool,
    /// For whoever is in this table, with --person; without it, for everybody who has no budget of their own
    #[arg(long, value_name = "FILE", requires = "person")]
    pub people: Option<PathBuf>,
    /// The column of --people with the names
    #[arg(long, value_name = "COLUMN", requires = "people")]
    pub person: Option<String>,
    #[command(flatten)]
    pub cells: DelimiterArgs,
}

#[derive(Args, Debug)]
#[group(id = "release", required = true, multiple = false, args = ["run", "certificate", "epsilon"])]
pub struct ReserveArgs {
    #[command(flatten)]
    pub place: WhereArgs,
    /// The run that will be made (TOML)
    #[arg(long, value_name = "RUN.toml")]
    pub run: Option<PathBuf>,
    #[command(flatten)]
    pub changes: SetArgs,
    /// The certificate of the run; it is recomputed first
    #[arg(long, value_name = "CERTIFICATE.json")]
    pub certificate: Option<PathBuf>,
    /// A release of another program that promises this ε …
    #[arg(long, value_parser = epsilon, allow_negative_numbers = true)]
    pub epsilon: Option<Epsilon>,
    /// … and this δ; 0 if it is not given
    #[arg(long, value_parser = delta, allow_negative_numbers = true, requires = "epsilon")]
    pub delta: Option<Delta>,
    /// The table of the release: a row for each record, in the order in which they are used
    #[arg(long, value_name = "FILE")]
    pub people: PathBuf,
    /// The column that says whose each record is. Several records of a person count as a group
    #[arg(long, value_name = "COLUMN")]
    pub person: String,
    #[command(flatten)]
    pub cells: DelimiterArgs,
    /// Leave out everybody whose budget would be exceeded, and write their names to a file (CSV, in a
    /// column called person). Without this, one such person is enough to refuse the release
    #[arg(long, value_name = "FILE")]
    pub leave_out: Option<PathBuf>,
    /// What the release is, in a few words, for whoever reads the ledger
    #[arg(long, value_name = "TEXT")]
    pub what: Option<String>,
    /// Say what it costs and whether it fits, and reserve nothing
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Args, Debug)]
pub struct CommitArgs {
    #[command(flatten)]
    pub place: WhereArgs,
    /// The number of the release
    #[arg(value_parser = count, allow_negative_numbers = true)]
    pub release: u64,
    /// A note for whoever reads the ledger
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
}

#[derive(Args, Debug)]
pub struct AbortArgs {
    #[command(flatten)]
    pub place: WhereArgs,
    /// The number of the release
    #[arg(value_parser = count, allow_negative_numbers = true)]
    pub release: u64,
    /// You are sure that nothing of it was released: no model, no number, no message
    #[arg(long, required = true)]
    pub nothing_was_released: bool,
    /// A note for whoever reads the ledger
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
}

#[derive(Args, Debug)]
pub struct NoteArgs {
    #[command(flatten)]
    pub place: WhereArgs,
    /// The number of the release
    #[arg(value_parser = count, allow_negative_numbers = true)]
    pub release: u64,
    /// What to add
    pub note: String,
}

#[derive(Args, Debug)]
pub struct ShowArgs {
    #[command(flatten)]
    pub place: WhereArgs,
    /// Show this person
    #[arg(long, value_name = "NAME")]
    pub person: Option<String>,
    /// Draw how many people have spent at least which share of their budgets (.svg, .png, .html or .pdf)
    #[arg(long, value_name = "FILE", conflicts_with = "person")]
    pub plot: Option<PathBuf>,
    #[command(flatten)]
    pub csv: CsvArgs,
}

#[derive(Args, Debug)]
pub struct CheckArgs {
    #[command(flatten)]
    pub place: WhereArgs,
}
