//! What users type after `dobrushin local`.

use super::own_problem::OwnProblem;
use crate::cli::{CsvArgs, DelimiterArgs, bounds, delta, epsilon, positive, probability};
use crate::command::ledger::ChargeArgs;
use crate::probabilities;
use crate::problem::Problem;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use dobrushin::{Delta, Epsilon, Positive, Probability};
use dobrushin_document::local::{
    Answers, Categories, EstimateMethod as Method, EstimateWishes, Id, Specification,
};
use dobrushin_local::mean::Bounds;
use dobrushin_local::risk::Ball;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
pub struct LocalArgs {
    #[command(subcommand)]
    pub command: LocalCommand,
}

impl LocalArgs {
    /// The table that is written.
    pub fn csv(&self) -> Option<&CsvArgs> {
        match &self.command {
            LocalCommand::Profile(arguments) => Some(&arguments.csv),
            LocalCommand::Estimate(arguments) => Some(&arguments.csv),
            LocalCommand::Plan(arguments) => Some(&arguments.csv),
            LocalCommand::Bounds(BoundsArgs { problem: Some(problem), .. }) => Some(&problem.privacy().csv),
            LocalCommand::Bounds(arguments) => Some(&arguments.csv),
            LocalCommand::Verify(_) | LocalCommand::Privatize(_) => None,
        }
    }
}

#[derive(Debug, Subcommand)]
pub enum LocalCommand {
    /// How private a mechanism, or a channel of your own, is at every ε, exactly
    Profile(ProfileArgs),
    /// Whether a mechanism or a channel is (ε, δ)-locally private
    Verify(VerifyArgs),
    /// Turn one or more columns of answers into private reports, one for each row (CSV or Parquet)
    Privatize(PrivatizeArgs),
    /// Estimate frequencies, a mean or a mean vector from private reports, with error bars
    Estimate(EstimateArgs),
    /// Which mechanism is best, and how many people you need for the error that you want
    Plan(PlanArgs),
    /// The smallest error that any mechanism with a given promise, and any estimator, can have
    Bounds(BoundsArgs),
}

/// What people may answer. The user declares it; it is never read off the data.
#[derive(Args, Debug)]
pub struct AnswerArgs {
    /// The number of categories; they are named 1 to K
    #[arg(long, value_name = "K", conflicts_with_all = ["values", "categories_file", "bounds", "radius"])]
    pub categories: Option<u32>,
    /// The categories, separated by commas
    #[arg(long, value_name = "A,B,…", value_delimiter = ',',
          conflicts_with_all = ["categories_file", "bounds", "radius"])]
    pub values: Vec<String>,
    /// A file with one category on each line
    #[arg(long, value_name = "FILE", conflicts_with_all = ["bounds", "radius"])]
    pub categories_file: Option<PathBuf>,
    /// The bounds of the numbers; a number outside is moved to the nearer bound, and counted
    #[arg(long, value_name = "LOW,HIGH", value_parser = bounds, allow_hyphen_values = true,
          conflicts_with = "radius")]
    pub bounds: Option<Bounds>,
    /// Put the numbers into this many bins of equal width, as categories, for a histogram and quantiles
    #[arg(long, value_name = "K", requires = "bounds")]
    pub bins: Option<u32>,
    /// The largest norm of the vectors; a longer vector is moved to it along its direction, and counted
    #[arg(long, value_name = "R", value_parser = |s: &str| positive("radius", s), allow_negative_numbers = true)]
    pub radius: Option<Positive>,
    /// The dimension of the vectors; privatize takes it from --columns
    #[arg(long, value_name = "D", requires = "radius")]
    pub dimension: Option<NonZeroU32>,
}

impl AnswerArgs {
    /// The answers that the flags declare; `None` if no flag is given. Vectors have as many coordinates as there are
    /// columns, if these are known.
    pub fn declared(&self, columns: Option<usize>) -> Result<Option<Answers>, Problem> {
        if let Some(radius) = self.radius {
            let known = columns.and_then(|count| u32::try_from(count).ok()).and_then(NonZeroU32::new);
            let dimension = known.or(self.dimension).ok_or_else(|| {
                Problem::new("--radius declares vectors, and --dimension is missing")
                    .help("--dimension D says how many coordinates they have")
            })?;
            if self.dimension.is_some_and(|given| given != dimension) {
                return Err(Problem::new(format!("--dimension is not the number of columns, {dimension}"))
                    .help("leave it out: the columns are the coordinates"));
            }
            return Ok(Some(Answers::Vector(Ball { radius, dimension })));
        }
        if let (Some(bounds), Some(bins)) = (self.bounds, self.bins) {
            return Ok(Some(Answers::Category(Categories::binned(bounds, bins)?)));
        }
        let categories = match (self.categories, &self.categories_file) {
            (Some(count), _) => Some(Categories::numbered(count)?),
            (_, Some(path)) => Some(categories_in(path)?),
            _ if !self.values.is_empty() => {
                let names = self.values.iter().map(|name| name.trim().to_owned()).collect();
                Some(Categories::named(names, "--values")?)
            }
            _ => None,
        };
        Ok(categories.map(Answers::Category).or(self.bounds.map(Answers::Number)))
    }
}

/// A mechanism.
#[derive(Args, Debug)]
pub struct MechanismArgs {
    /// The mechanism
    #[arg(long, value_parser = mechanism_id(), value_name = "NAME")]
    pub mechanism: Option<Id>,
    /// A channel of your own: a CSV file with a row of report probabilities for each category
    #[arg(long, value_name = "FILE")]
    pub channel: Option<PathBuf>,
    /// The δ of the promise
    #[arg(long, value_parser = delta, default_value = "0", allow_negative_numbers = true)]
    pub delta: Delta,
    /// The probability that aue keeps the true bit
    #[arg(long, value_name = "P", value_parser = probability, allow_negative_numbers = true)]
    pub truth: Option<Probability>,
    #[command(flatten)]
    pub answers: AnswerArgs,
}

impl MechanismArgs {
    /// The mechanism that promises ε, for vectors of as many coordinates as there are columns, if these are known.
    pub fn specification(&self, epsilon: Epsilon, columns: Option<usize>) -> Result<Specification, Problem> {
        let channel = self.channel.as_ref().map(|path| probabilities::read(path)).transpose()?;
        let id = match (self.mechanism, &channel) {
            (None | Some(Id::Channel), Some(_)) => Id::Channel,
            (Some(id), Some(_)) => {
                let message = format!("--channel goes with --mechanism channel, not with {}", id.name());
                return Err(Problem::new(message).help("leave out one of the two"));
            }
            (None, None) => {
                return Err(Problem::new("--mechanism NAME is missing").help(
                    "dobrushin local plan says which is best; or --channel FILE gives one of your own",
                ));
            }
            (Some(Id::Channel), None) => {
                return Err(Problem::new("--mechanism channel needs --channel FILE")
                    .help("a CSV file with a row of report probabilities for each category"));
            }
            (Some(id), None) => id,
        };
        let answers = match (self.answers.declared(columns)?, &channel) {
            (Some(answers), _) => answers,
            (None, Some(rows)) => Answers::Category(Categories::numbered(rows.len() as u32)?),
            (None, None) => return Err(undeclared(id)),
        };
        if let (Some(_), true) = (self.truth, id != Id::Aue) {
            return Err(
                Problem::new(format!("--truth is for aue, not for {}", id.name())).help("leave it out")
            );
        }
        Ok(Specification { id, epsilon, delta: self.delta, answers, truth: self.truth, channel })
    }
}

/// Reads a file with a category on each line.
fn categories_in(path: &Path) -> Result<Categories, Problem> {
    let message = || format!("cannot read the categories of {}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| Problem::new(message()).because(error))?;
    Ok(Categories::lines(&text, &format!("--categories-file {}", path.display()))?)
}

/// Reads the name of a mechanism.
pub fn mechanism_id() -> impl TypedValueParser<Value = Id> {
    let names = Id::all().map(|id| {
        let value = PossibleValue::new(id.names().first().copied().unwrap_or_default()).help(id.summary());
        value.aliases(id.names().iter().skip(1).copied())
    });
    PossibleValuesParser::new(names)
        .try_map(|name| Id::named(&name).ok_or_else(|| format!("there is no mechanism {name:?}")))
}

fn undeclared(id: Id) -> Problem {
    let name = id.name();
    match (id.is_for_numbers(), id.is_for_vectors()) {
        (true, _) => Problem::new(format!("--mechanism {name} takes numbers, and --bounds is missing"))
            .help("--bounds LOW,HIGH says what numbers are possible; they must not be read off the data"),
        (_, true) => Problem::new(format!("--mechanism {name} takes vectors, and --radius is missing"))
            .help("--radius R says how long a vector can be; it must not be read off the data"),
        _ => Problem::new(format!("--mechanism {name} takes categories, and none are declared")).help(
            "--values A,B,…, --categories K (the numbers from 1 to K) or --categories-file FILE says which are \
             possible; they must not be read off the data",
        ),
    }
}

#[derive(Args, Debug)]
pub struct ProfileArgs {
    #[command(flatten)]
    pub mechanism: MechanismArgs,
    /// The ε of the mechanism; for a channel, the levels ε at which you want δ
    #[arg(long, value_delimiter = ',', value_parser = epsilon, required_unless_present = "channel",
          allow_negative_numbers = true)]
    pub epsilon: Vec<Epsilon>,
    /// The levels ε at which you want δ
    #[arg(long, value_delimiter = ',', value_parser = epsilon, default_values = ["0", "0.5", "1", "2", "5"],
          allow_negative_numbers = true)]
    pub at: Vec<Epsilon>,
    /// Draw δ against ε to a file (.svg, .png, .pdf or .html)
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    #[command(flatten)]
    pub csv: CsvArgs,
    /// Also show what a person gives away who answers this many such questions
    #[arg(long, value_name = "N")]
    pub questions: Option<NonZeroU32>,
    /// Also show how private each of this many people is towards those who see the reports only after they are shuffled
    #[arg(long, value_name = "PEOPLE")]
    pub shuffled: Option<NonZeroU32>,
    /// The δ for --questions and --shuffled
    #[arg(long, value_parser = delta, default_value = "1e-6", allow_negative_numbers = true)]
    pub together_delta: Delta,
}

#[derive(Args, Debug)]
pub struct VerifyArgs {
    #[command(flatten)]
    pub mechanism: MechanismArgs,
    /// The ε of the promise
    #[arg(long, value_parser = epsilon, allow_negative_numbers = true)]
    pub epsilon: Epsilon,
}

#[derive(Args, Debug)]
pub struct PrivatizeArgs {
    /// The answers: a CSV file with a header line, also compressed (.gz), or Parquet (.parquet); "-" is standard input
    pub data: PathBuf,
    #[command(flatten)]
    pub cells: DelimiterArgs,
    /// The column: its name, or its number counted from 1
    #[arg(long, value_name = "NAME", required_unless_present_any = ["columns", "survey"])]
    pub column: Option<String>,
    /// Several columns: the coordinates of a vector, or a question each, which share ε equally
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', conflicts_with = "column")]
    pub columns: Vec<String>,
    /// A survey: a TOML file with several questions about columns, and the promise that they share
    #[arg(long, value_name = "FILE",
          conflicts_with_all = ["column", "columns", "answer", "epsilon", "mechanism", "channel", "delta", "truth",
                                "categories", "values", "categories_file", "bounds", "bins", "radius", "dimension"])]
    pub survey: Option<PathBuf>,
    /// Which of the questions about --columns everybody answers [default: all]
    #[arg(long, value_enum)]
    pub answer: Option<AnswerWhich>,
    #[command(flatten)]
    pub mechanism: MechanismArgs,
    /// The ε of the promise to everybody in the columns
    #[arg(long, value_parser = epsilon, allow_negative_numbers = true, required_unless_present = "survey")]
    pub epsilon: Option<Epsilon>,
    /// The CSV file has no header line: its first line is an answer too
    #[arg(long)]
    pub no_header: bool,
    /// Let each row that cannot be used report a random category, the middle of the bounds or the zero vector, and say
    /// how many there were; a missing report would tell that its answer was bad
    #[arg(long)]
    pub skip_bad: bool,
    #[command(flatten)]
    pub charge: ChargeArgs,
    /// Use a known seed, for tests; anybody who knows it can undo the reports
    #[arg(long, value_name = "N", requires = "not_private")]
    pub seed: Option<u64>,
    /// Accept that reports drawn with --seed protect nobody
    #[arg(long, requires = "seed")]
    pub not_private: bool,
}

/// Which of several questions everybody answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AnswerWhich {
    /// All of them, each with its share of ε
    All,
    /// One, drawn at random, with all of ε
    One,
}

#[derive(Args, Clone, Debug)]
pub struct EstimateArgs {
    /// The files that dobrushin local privatize wrote; files of the same mechanism are counted together
    #[arg(required = true)]
    pub reports: Vec<PathBuf>,
    /// The probability that an interval covers the true value
    #[arg(long, value_parser = probability, default_value = "0.95", allow_negative_numbers = true)]
    pub confidence: Probability,
    /// Make the intervals of all frequencies, coordinates and questions cover at once, instead of each alone
    #[arg(long)]
    pub simultaneous: bool,
    /// How to estimate frequencies
    #[arg(long, value_enum, default_value = "unbiased")]
    pub method: EstimateMethod,
    /// Quantiles of numbers in bins: levels from 0 to 1, separated by commas
    #[arg(long, value_name = "LEVEL", value_delimiter = ',', value_parser = probability,
          default_values = ["0.25", "0.5", "0.75"], allow_negative_numbers = true)]
    pub quantiles: Vec<Probability>,
    /// Skip rows that are not reports, and say how many there were
    #[arg(long)]
    pub skip_bad: bool,
    /// Draw the estimates with their intervals to a file (.svg, .png, .pdf or .html)
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    #[command(flatten)]
    pub csv: CsvArgs,
}

impl EstimateArgs {
    /// What is wanted.
    pub fn wishes(&self) -> EstimateWishes {
        EstimateWishes {
            confidence: self.confidence,
            simultaneous: self.simultaneous,
            method: match self.method {
                EstimateMethod::Unbiased => Method::Unbiased,
                EstimateMethod::Projected => Method::Projected,
                EstimateMethod::MaximumLikelihood => Method::MaximumLikelihood,
            },
            quantiles: self.quantiles.clone(),
        }
    }
}

/// How to estimate frequencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EstimateMethod {
    /// Right on average; may be negative
    Unbiased,
    /// The nearest frequencies that are not negative and add up to 1
    Projected,
    /// The frequencies that make the reports most likely
    MaximumLikelihood,
}

#[derive(Args, Debug)]
pub struct PlanArgs {
    /// The ε of the promise
    #[arg(long, value_parser = epsilon, allow_negative_numbers = true)]
    pub epsilon: Epsilon,
    /// The δ of the promise
    #[arg(long, value_parser = delta, default_value = "0", allow_negative_numbers = true)]
    pub delta: Delta,
    #[command(flatten)]
    pub answers: AnswerArgs,
    /// The number of people who report; the answer is the error to expect
    #[arg(long, value_name = "N", required_unless_present = "error")]
    pub records: Option<u64>,
    /// The standard error that you want; the answer is the number of people you need
    #[arg(long, value_name = "E", value_parser = |s: &str| positive("error", s), conflicts_with = "records",
          allow_negative_numbers = true)]
    pub error: Option<Positive>,
    #[command(flatten)]
    pub csv: CsvArgs,
}

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct BoundsArgs {
    /// A problem of your own
    #[command(subcommand)]
    pub problem: Option<OwnProblem>,
    /// The ε of the promise
    #[arg(long, value_parser = epsilon, required = true, allow_negative_numbers = true)]
    pub epsilon: Option<Epsilon>,
    /// The δ of the promise
    #[arg(long, value_parser = delta, default_value = "0", allow_negative_numbers = true)]
    pub delta: Delta,
    /// The number of people who report
    #[arg(long, value_name = "N", required = true)]
    pub records: Option<NonZeroU32>,
    /// The mean of numbers with E|X|^K ≤ 1; if you ask for nothing, this is asked with K = 2
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    pub moments: Option<f64>,
    /// The mean of vectors in a ball of this radius
    #[arg(long, value_name = "R", value_parser = |s: &str| positive("radius", s), requires = "dimension",
          allow_negative_numbers = true)]
    pub radius: Option<Positive>,
    /// The dimension that goes with --radius
    #[arg(long, value_name = "D", requires = "radius")]
    pub dimension: Option<NonZeroU32>,
    /// The frequencies of this many categories
    #[arg(long, value_name = "K")]
    pub categories: Option<u32>,
    #[command(flatten)]
    pub csv: CsvArgs,
}
