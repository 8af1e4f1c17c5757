//! What users type after `dobrushin local bounds` about a problem of their own.

use super::arguments::mechanism_id;
use crate::cli::{CsvArgs, bounds, checked, delta, epsilon, finite, positive, probability};
use clap::{Args, Subcommand, ValueEnum};
use dobrushin::{Delta, Epsilon, NonNegative, Positive, Probability};
use dobrushin_document::local::Id;
use dobrushin_local::mean::Bounds;
use dobrushin_local::risk::Loss;
use std::num::NonZeroU32;
use std::path::PathBuf;

/// A problem of one's own.
#[derive(Debug, Subcommand)]
pub enum OwnProblem {
    /// Which of two laws do the records have? (Le Cam)
    TwoLaws {
        /// CSV with P and Q as two columns (one outcome per line) or as two rows; "-" is standard input
        laws: PathBuf,
        #[command(flatten)]
        loss: LossArgs,
        #[command(flatten)]
        privacy: PrivacyArgs,
    },
    /// Which of several laws do the records have? (Fano)
    Family {
        /// CSV with a law on each line; "-" is standard input
        laws: PathBuf,
        #[command(flatten)]
        loss: LossArgs,
        #[command(flatten)]
        privacy: PrivacyArgs,
    },
    /// Laws indexed by signs: which signs do the records have? (Assouad)
    Hypercube {
        /// CSV with a law for each vector of signs on each line, from minus everywhere to plus everywhere; the last sign
        /// changes fastest. "-" is standard input
        laws: PathBuf,
        #[command(flatten)]
        loss: LossArgs,
        #[command(flatten)]
        privacy: PrivacyArgs,
    },
    /// The Bayes risk of a parameter with a prior, from tables
    Bayes {
        /// CSV with the law of a record on a line for each value of the parameter; "-" is standard input
        model: PathBuf,
        /// CSV with the prior, as one row or column; uniform if you leave it out
        #[arg(long, value_name = "FILE")]
        prior: Option<PathBuf>,
        /// CSV with the loss of every estimate (columns) at every value of the parameter (rows); 1 for every wrong guess
        /// of the value if you leave it out
        #[arg(long, value_name = "FILE")]
        losses: Option<PathBuf>,
        /// Also show the E_γ-information of the records at these γ > 0
        #[arg(long, value_delimiter = ',', value_parser = |s: &str| positive("gamma", s),
              allow_negative_numbers = true)]
        gamma: Vec<Positive>,
        #[command(flatten)]
        privacy: PrivacyArgs,
    },
    /// A test of one law against another: its error of the second kind, exponent, and the records that it needs
    Testing {
        /// CSV with the hypothesis P and the alternative Q, as two columns or as two rows; "-" is standard input
        laws: PathBuf,
        /// The largest probability of rejecting P under P
        #[arg(long, value_parser = probability, default_value = "0.05", allow_negative_numbers = true)]
        alpha: Probability,
        /// Also show how many records a test needs that accepts P under Q with at most this probability
        #[arg(long, value_parser = probability, allow_negative_numbers = true)]
        beta: Option<Probability>,
        #[command(flatten)]
        privacy: PrivacyArgs,
    },
    /// How many bits reports tell about the records, and about what the records depend on
    Information {
        /// CSV with the law of a record on a line for each value of the variable; a single law is enough
        laws: PathBuf,
        /// CSV with the law of the variable, as one row or column; uniform if you leave it out
        #[arg(long, value_name = "FILE")]
        prior: Option<PathBuf>,
        #[command(flatten)]
        privacy: PrivacyArgs,
    },
    /// The bias of a coin that is uniform between 0 and 1, by absolute error
    Coin {
        #[command(flatten)]
        privacy: PrivacyArgs,
    },
}

/// How private the reports are, and how many there are.
#[derive(Args, Debug)]
pub struct PrivacyArgs {
    /// The ε of the promise, or of the mechanism
    #[arg(long, value_parser = epsilon, required_unless_present = "channel", conflicts_with = "channel",
          allow_negative_numbers = true)]
    pub epsilon: Option<Epsilon>,
    /// The δ of the promise, or of the mechanism; for a channel, the δ at which the papers' φ is computed
    #[arg(long, value_parser = delta, default_value = "0", allow_negative_numbers = true)]
    pub delta: Delta,
    /// Use this mechanism for every record, instead of the best that keeps the promise
    #[arg(long, value_parser = mechanism_id(), value_name = "NAME", conflicts_with = "channel")]
    pub mechanism: Option<Id>,
    /// Use this channel for every record: a CSV file with a row of report probabilities for each value of a record
    #[arg(long, value_name = "FILE")]
    pub channel: Option<PathBuf>,
    /// The probability that aue keeps the true bit
    #[arg(long, value_name = "P", value_parser = probability, requires = "mechanism",
          allow_negative_numbers = true)]
    pub truth: Option<Probability>,
    /// The bounds of the numbers that a mechanism for numbers takes
    #[arg(long, value_name = "LOW,HIGH", value_parser = bounds, requires = "mechanism",
          allow_hyphen_values = true)]
    pub bounds: Option<Bounds>,
    /// The number of people who report
    #[arg(long, value_name = "N")]
    pub records: NonZeroU32,
    /// Divide every law, and every row of the channel, by its sum
    #[arg(long)]
    pub normalise: bool,
    #[command(flatten)]
    pub csv: CsvArgs,
}

/// What a wrong answer costs.
#[derive(Args, Debug)]
pub struct LossArgs {
    /// Also bound the risk of estimating a parameter: its least distance between two laws; for a hypercube, in each
    /// coordinate, separated by commas, or one for all
    #[arg(long, value_name = "D", value_delimiter = ',', value_parser = distance, allow_negative_numbers = true)]
    pub separation: Vec<NonNegative>,
    /// The loss of an estimate; for a hypercube, of each coordinate
    #[arg(long, value_enum, default_value = "metric", requires = "separation")]
    pub loss: LossName,
    /// The loss is this power of a metric
    #[arg(long, value_name = "P", value_parser = power, conflicts_with = "loss", requires = "separation",
          allow_negative_numbers = true)]
    pub power: Option<Loss>,
}

/// The loss of an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LossName {
    /// Its distance from the parameter, in any metric
    Metric,
    /// Its squared distance, in the norm of a Hilbert space
    SquaredNorm,
}

impl LossArgs {
    /// The loss that is named.
    pub fn loss(&self) -> Loss {
        self.power.unwrap_or(match self.loss {
            LossName::Metric => Loss::METRIC,
            LossName::SquaredNorm => Loss::SQUARED_NORM,
        })
    }
}

impl OwnProblem {
    /// How private the reports are.
    pub fn privacy(&self) -> &PrivacyArgs {
        match self {
            Self::TwoLaws { privacy, .. }
            | Self::Family { privacy, .. }
            | Self::Hypercube { privacy, .. }
            | Self::Bayes { privacy, .. }
            | Self::Testing { privacy, .. }
            | Self::Information { privacy, .. }
            | Self::Coin { privacy } => privacy,
        }
    }

    /// The files that are read.
    pub fn files(&self) -> Vec<(&'static str, &PathBuf)> {
        let (laws, prior, losses) = match self {
            Self::TwoLaws { laws, .. }
            | Self::Family { laws, .. }
            | Self::Hypercube { laws, .. }
            | Self::Testing { laws, .. } => (Some(laws), None, None),
            Self::Bayes { model, prior, losses, .. } => (Some(model), prior.as_ref(), losses.as_ref()),
            Self::Information { laws, prior, .. } => (Some(laws), prior.as_ref(), None),
            Self::Coin { .. } => (None, None, None),
        };
        let channel = self.privacy().channel.as_ref();
        let named =
            [("the laws", laws), ("the prior", prior), ("the losses", losses), ("the channel", channel)];
        named.into_iter().filter_map(|(what, path)| Some((what, path?))).collect()
    }
}

fn distance(text: &str) -> Result<NonNegative, String> {
    finite("separation", text, NonNegative::new)
}

fn power(text: &str) -> Result<Loss, String> {
    checked(text, Loss::power)
}
