//! What users type after `dobrushin train`.

use crate::cli::{DelimiterArgs, SetArgs, delta, epsilon, probability};
use crate::command::ledger::ChargeArgs;
use crate::command::plan::{ChoiceArgs, count};
use clap::Args;
use dobrushin::{Delta, Epsilon, Probability};
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct TrainArgs {
    /// The private records: CSV with a header line, also compressed (.gz), or Parquet; each row is a record
    pub data: PathBuf,
    /// A run file (TOML) with [model], which names the schema; without it, a plan is chosen as dobrushin plan does
    #[arg(long, value_name = "RUN.toml")]
    pub run: Option<PathBuf>,
    /// Choose the run by a plan for --epsilon and --delta; this is also done if there is no --run
    #[arg(long, conflicts_with = "run")]
    pub plan: bool,
    /// For a plan: what the columns may hold (TOML); without it, schema.toml beside the data
    #[arg(long, value_name = "FILE", conflicts_with = "run")]
    pub schema: Option<PathBuf>,
    /// For a plan: the number of records. They are counted, unless their number is a secret: then a public bound on it
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true, conflicts_with = "run")]
    pub records: Option<u64>,
    #[command(flatten)]
    pub choice: ChoiceArgs,
    /// The folder for model.json, certificate.json and certificate.txt; it is created if it does not exist
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    #[command(flatten)]
    pub cells: DelimiterArgs,
    #[command(flatten)]
    pub changes: SetArgs,
    /// The ε to meet, with --delta or [target] delta; the least noise that meets it is found and used
    #[arg(long, value_parser = epsilon, allow_negative_numbers = true)]
    pub epsilon: Option<Epsilon>,
    /// The δ of the guarantee, instead of the one in the file's [target]
    #[arg(long, value_parser = delta, allow_negative_numbers = true)]
    pub delta: Option<Delta>,
    /// Public test records: accuracy and loss on them are reported
    #[arg(long, value_name = "FILE", conflicts_with = "test_share")]
    pub test: Option<PathBuf>,
    /// Keep this share of the records, drawn at random, out of training, and test on them; the guarantee does not cover
    /// what is reported about them
    #[arg(long, value_name = "SHARE", value_parser = probability, allow_negative_numbers = true)]
    pub test_share: Option<Probability>,
    /// Public records for the steps of run.public-steps
    #[arg(long, value_name = "FILE")]
    pub public: Option<PathBuf>,
    /// Read the records again for each pass instead of keeping them in memory; for records in turn (order once, cyclic
    /// or full)
    #[arg(long, conflicts_with_all = ["test_share", "data_is_public"])]
    pub stream: bool,
    /// Count rows of public files (--test, --public, --data-is-public) that cannot be used as empty records, which
    /// contribute nothing, instead of stopping. Private rows are always treated so, because stopping would tell
    #[arg(long)]
    pub skip_bad: bool,
    /// The records are not secret, as in an experiment: report how they fit the schema, the loss on them, and for
    /// online learning the regret
    #[arg(long)]
    pub data_is_public: bool,
    /// Draw all randomness from this seed, so that you can repeat the run; needs --not-private
    #[arg(long, requires = "not_private")]
    pub seed: Option<u64>,
    /// Accept that a run with a known seed protects nobody: its certificate says so
    #[arg(long, requires = "seed")]
    pub not_private: bool,
    /// Also write the certificate for people, with a picture, to a file (.html or .pdf)
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Also keep what dobrushin forget needs to delete records later: a secret file that only you can read
    #[arg(long, value_name = "FILE", conflicts_with_all = ["stream", "test_share", "public", "data_is_public"])]
    pub keep_state: Option<PathBuf>,
    #[command(flatten)]
    pub charge: ChargeArgs,
    /// With --ledger, leave out the records of everybody whose budget would be exceeded. Without this, one such person is
    /// enough to refuse the release
    #[arg(long, requires = "ledger", conflicts_with_all = ["stream", "keep_state"])]
    pub leave_out: bool,
    /// Replace a model that already exists in the folder, and a state
    #[arg(long)]
    pub force: bool,
}
