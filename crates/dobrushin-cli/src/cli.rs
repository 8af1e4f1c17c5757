//! What users type.

use crate::command::local::LocalArgs;
use crate::command::schema::SchemaArgs;
use crate::command::train::TrainArgs;
use crate::figures;
use crate::file::STANDARD_OUTPUT;
use crate::run_file::nearest;
use clap::{Args, Parser, Subcommand};
use dobrushin::account::{DEFAULT_TOLERANCE, analysis_ids};
use dobrushin::analysis::{self, Cost, Theorem};
use dobrushin::run::Parameter;
use dobrushin::{Delta, Epsilon, Error, NonNegative, Positive, Probability, RenyiOrder};
use std::path::{Path, PathBuf};

/// How private is the last iterate of a noisy iterative algorithm?
///
/// Every number is certified: the true value lies between the printed ends, and the upper end is the
/// guarantee. Without a command a built-in demonstration is shown.
#[derive(Debug, Parser)]
#[command(name = "dobrushin", version, after_help = EXIT_CODES)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub common: Common,
}

const EXIT_CODES: &str = "Exit codes: 0 done, 1 the answer is \"no\", 2 bad input.";

/// Flags that every command takes.
#[derive(Args, Debug)]
pub struct Common {
    /// Print JSON instead of tables
    #[arg(long, global = true)]
    pub json: bool,
    /// Print only the answer: no explanations, no progress
    #[arg(long, global = true)]
    pub quiet: bool,
    /// Write to a file instead of standard output, which is "-"
    #[arg(long, global = true, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

impl Common {
    /// Where the answer goes.
    pub fn destination(&self) -> &Path {
        self.output.as_deref().unwrap_or(Path::new(STANDARD_OUTPUT))
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// The (ε, δ) of a run, by every analysis; the best one is the guarantee
    Account(AccountArgs),
    /// The smallest noise, or the most steps, with which a run meets a target
    Calibrate(CalibrateArgs),
    /// ε or δ over one or two parameters
    Curve(CurveArgs),
    /// Whether a certificate holds: all of it is recomputed and compared
    Verify(VerifyArgs),
    /// Hockey-stick, Rényi and f-divergences of two laws
    Divergence(DivergenceArgs),
    /// Contraction coefficients and local-privacy profile of a finite channel
    Kernel(KernelArgs),
    /// Local privacy: mechanisms, private reports of a column, estimates with error bars
    Local(LocalArgs),
    /// What the columns of a table may hold, declared for training: a draft, and a check
    Schema(SchemaArgs),
    /// Train a model on private records, with its certificate
    Train(TrainArgs),
    /// What a model says of new records
    Predict(PredictArgs),
    /// What a certificate says, and whether it holds
    Certificate(CertificateArgs),
    /// Every figure of the papers, recomputed: published, corrected and ours in the same axes
    Figures(FiguresArgs),
    /// The theorem behind a number: statement, assumptions, source, errata
    Explain(ExplainArgs),
}

/// Changes to a run file.
#[derive(Args, Debug)]
pub struct SetArgs {
    /// Put a value in place of the file's, as run.steps=1000 or steps=1000; it replaces keys that it
    /// excludes, such as another noise. May be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// What is asked of a run.
#[derive(Args, Debug)]
pub struct QuestionArgs {
    /// The δ for which to find ε, in place of the file's [target]
    #[arg(long, value_parser = delta, allow_negative_numbers = true, conflicts_with = "epsilon")]
    pub delta: Option<Delta>,
    /// The ε for which to find δ, in place of the file's [target]
    #[arg(long, value_parser = epsilon, allow_negative_numbers = true)]
    pub epsilon: Option<Epsilon>,
}

/// Which analyses are asked.
#[derive(Args, Debug)]
pub struct AnalysesArgs {
    /// Only these analyses, separated by commas, as listed by dobrushin explain; closed-form is all that add up
    /// nothing on a grid or step by step, and take no time
    #[arg(long, value_name = "ID", value_delimiter = ',', value_parser = analyses)]
    pub analyses: Vec<Selection>,
}

/// One analysis, or several by one word.
#[derive(Clone, Debug)]
pub enum Selection {
    /// The one with this name.
    One(&'static str),
    /// All that are formulas.
    ClosedForm,
}

impl AnalysesArgs {
    /// The names of those that are asked; none: all.
    pub fn only(&self) -> Vec<&'static str> {
        let asked = |theorem: &&Theorem| {
            self.analyses.iter().any(|selection| match selection {
                Selection::One(name) => *name == theorem.id(),
                Selection::ClosedForm => theorem.cost() == Cost::ClosedForm,
            })
        };
        analysis::ALL.iter().filter(asked).map(|theorem| theorem.id()).collect()
    }
}

#[derive(Args, Debug)]
pub struct AccountArgs {
    /// A run file (TOML); a built-in example without it
    pub run: Option<PathBuf>,
    #[command(flatten)]
    pub changes: SetArgs,
    #[command(flatten)]
    pub question: QuestionArgs,
    /// How wide the enclosure of ε may be, relatively, from 1e-8 to 0.1
    #[arg(long, value_name = "SHARE", value_parser = tolerance, default_value_t = DEFAULT_TOLERANCE,
          allow_negative_numbers = true)]
    pub tolerance: f64,
    #[command(flatten)]
    pub analyses: AnalysesArgs,
    /// Also what would help most: more noise, a smaller domain, weight decay, convexity, … each tried out
    #[arg(long)]
    pub advice: bool,
    /// Also how good what is released is: a bound on its expected excess risk, or regret
    #[arg(long)]
    pub utility: bool,
    /// Draw δ against ε into a file (.svg, .png or .html)
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Write the guarantee, the run and the theorem into a JSON file that dobrushin verify checks
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// Also who is protected how much, with records used in turn (order once or cyclic)
    #[arg(long)]
    pub per_record: bool,
    /// Write a line for each record into a CSV file
    #[arg(long, value_name = "FILE")]
    pub per_record_csv: Option<PathBuf>,
    /// Draw the protection of each record into a file (.svg, .png or .html)
    #[arg(long, value_name = "FILE")]
    pub per_record_plot: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct VerifyArgs {
    /// What dobrushin account --certificate wrote
    pub certificate: PathBuf,
}

#[derive(Args, Debug)]
pub struct CertificateArgs {
    #[command(subcommand)]
    pub command: CertificateCommand,
}

#[derive(Debug, Subcommand)]
pub enum CertificateCommand {
    /// The certificate for people: guarantee, assumptions, and how each is enforced
    Show {
        /// What dobrushin train or dobrushin account --certificate wrote
        certificate: PathBuf,
    },
    /// Recompute the certificate from its run, as dobrushin verify does; with --model, also whether it is of that model
    Verify(CertifiedArgs),
}

#[derive(Args, Debug)]
pub struct CertifiedArgs {
    /// What dobrushin train or dobrushin account --certificate wrote
    pub certificate: PathBuf,
    /// The model that it should be of
    #[arg(long, value_name = "MODEL.json")]
    pub model: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct PredictArgs {
    /// What dobrushin train wrote
    pub model: PathBuf,
    /// Records with the columns of the model's schema: CSV with a header line, or Parquet
    pub data: PathBuf,
    /// Leave the line of a row that cannot be used empty, instead of stopping
    #[arg(long)]
    pub skip_bad: bool,
}

#[derive(Args, Debug)]
pub struct CalibrateArgs {
    /// A run file (TOML); it need not say the parameter that is searched
    pub run: PathBuf,
    /// What to search: noise-multiplier, gradient-noise, iterate-noise, steps, epochs, batch-size,
    /// sampling-probability, learning-rate, clip-norm, weight-decay, diameter or public-steps
    #[arg(long, value_name = "NAME", value_parser = parameter)]
    pub parameter: Parameter,
    /// The ε to meet, with the δ of --delta or of the file's [target]
    #[arg(long, value_parser = epsilon, allow_negative_numbers = true)]
    pub epsilon: Option<Epsilon>,
    /// The δ to meet, with the ε of --epsilon or of the file's [target]
    #[arg(long, value_parser = delta, allow_negative_numbers = true)]
    pub delta: Option<Delta>,
    /// Instead: the membership advantage (true-positive minus false-positive rate) that no attack exceeds
    #[arg(long, value_parser = probability, allow_negative_numbers = true,
          conflicts_with_all = ["epsilon", "delta", "tpr"])]
    pub advantage: Option<Probability>,
    /// Instead: the true-positive rate that no attack exceeds at the false-positive rate --fpr
    #[arg(long, value_parser = probability, allow_negative_numbers = true, requires = "fpr",
          conflicts_with_all = ["epsilon", "delta"])]
    pub tpr: Option<Probability>,
    /// The false-positive rate that goes with --tpr
    #[arg(long, value_parser = probability, allow_negative_numbers = true, requires = "tpr")]
    pub fpr: Option<Probability>,
    #[command(flatten)]
    pub changes: SetArgs,
}

#[derive(Args, Debug)]
pub struct CurveArgs {
    /// A run file (TOML)
    pub run: PathBuf,
    /// What to vary: steps=1..1e5, or noise-multiplier=0.5,1,2. Once or twice
    #[arg(long, value_name = "KEY=VALUES", required = true)]
    pub over: Vec<String>,
    /// How many points a range has
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u32).range(2..=100_000))]
    pub points: u32,
    /// Points at equal ratios instead of equal distances, and logarithmic axes
    #[arg(long)]
    pub log: bool,
    #[command(flatten)]
    pub question: QuestionArgs,
    #[command(flatten)]
    pub changes: SetArgs,
    #[command(flatten)]
    pub analyses: AnalysesArgs,
    /// Also a bound on the expected excess risk, or regret; with --plot, ε (or δ) is drawn against it
    #[arg(long)]
    pub utility: bool,
    /// Draw the curve into a file (.svg, .png or .html)
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct DivergenceArgs {
    #[command(subcommand)]
    pub pair: PairArgs,
}

/// Two laws P and Q.
#[derive(Debug, Subcommand)]
pub enum PairArgs {
    /// Two Gaussian laws with covariance σ²I, in any dimension
    Gaussian {
        /// Distance of the means, ‖m₁ − m₂‖
        #[arg(long, value_parser = distance, allow_negative_numbers = true)]
        distance: NonNegative,
        /// Standard deviation σ of the noise
        #[arg(long, value_parser = |s: &str| positive("sigma", s), allow_negative_numbers = true)]
        sigma: Positive,
        #[command(flatten)]
        at: LevelArgs,
        #[command(flatten)]
        orders: OrderArgs,
    },
    /// Two Laplace laws of the same scale
    Laplace {
        /// Distance of the centres, |m₁ − m₂|
        #[arg(long, value_parser = distance, allow_negative_numbers = true)]
        distance: NonNegative,
        /// Scale v of the noise
        #[arg(long, value_parser = |s: &str| positive("scale", s), allow_negative_numbers = true)]
        scale: Positive,
        #[command(flatten)]
        at: LevelArgs,
        #[command(flatten)]
        orders: OrderArgs,
    },
    /// Two laws on finitely many outcomes, from a CSV file
    Discrete {
        /// CSV with P and Q as two columns (an outcome a line) or as two rows; a header line is allowed,
        /// "-" is standard input
        file: PathBuf,
        /// Divide P and Q by their sums
        #[arg(long)]
        normalise: bool,
        #[command(flatten)]
        at: LevelArgs,
        #[command(flatten)]
        orders: OrderArgs,
    },
}

/// Where a profile is evaluated.
#[derive(Args, Debug)]
pub struct LevelArgs {
    /// Privacy levels ε ≥ 0, separated by commas
    #[arg(long, value_delimiter = ',', value_parser = epsilon, default_values = ["0", "0.5", "1", "2", "5"],
          allow_negative_numbers = true)]
    pub epsilon: Vec<Epsilon>,
    /// Further levels given as γ = e^ε > 0 (below 1 too)
    #[arg(long, value_delimiter = ',', value_parser = |s: &str| positive("gamma", s),
          allow_negative_numbers = true)]
    pub gamma: Vec<Positive>,
    /// Find the smallest ε for these δ
    #[arg(long, value_delimiter = ',', value_parser = delta, allow_negative_numbers = true)]
    pub delta: Vec<Delta>,
    /// Draw the curve into a file (.svg, .png or .html)
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct OrderArgs {
    /// Rényi orders α > 0 ("inf" is allowed), separated by commas
    #[arg(long, value_delimiter = ',', value_parser = order, default_values = ["2"],
          allow_negative_numbers = true)]
    pub order: Vec<RenyiOrder>,
}

#[derive(Args, Debug)]
pub struct KernelArgs {
    /// CSV, a row of output probabilities for each input; a header line is allowed, "-" is standard input
    pub channel: PathBuf,
    /// Divide every row by its sum
    #[arg(long)]
    pub normalise: bool,
    #[command(flatten)]
    pub at: LevelArgs,
    /// Also the tight curve F_γ(e): what E_γ = e before the channel can be after it
    #[arg(long, value_name = "E", value_delimiter = ',', value_parser = probability,
          allow_negative_numbers = true)]
    pub tight: Vec<Probability>,
    /// Also every bend of the curve γ ↦ η_γ
    #[arg(long)]
    pub curve: bool,
}

#[derive(Args, Debug)]
pub struct FiguresArgs {
    /// The folder for the pictures (SVG, PNG), their points (CSV) and a page that shows them; it is made if there is
    /// none
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Only these figures, separated by commas
    #[arg(long, value_name = "ID", value_delimiter = ',', value_parser = figure)]
    pub only: Vec<&'static str>,
}

#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// Which statement; all are listed without it
    pub id: Option<String>,
}

fn number(text: &str) -> Result<f64, String> {
    text.trim().parse().map_err(|_| format!("{text:?} is not a number"))
}

fn checked<T>(text: &str, check: impl Fn(f64) -> Result<T, Error>) -> Result<T, String> {
    check(number(text)?).map_err(|error| error.to_string())
}

/// As `checked`, and not infinite.
fn finite<T>(name: &'static str, text: &str, check: impl Fn(f64) -> Result<T, Error>) -> Result<T, String> {
    checked(text, |value| match value {
        f64::INFINITY => Err(Error::OutOfRange { name, value, accepted: "finite" }),
        _ => check(value),
    })
}

/// A value of a flag.
pub fn epsilon(text: &str) -> Result<Epsilon, String> {
    finite("epsilon", text, Epsilon::new)
}

/// A value of a flag.
pub fn delta(text: &str) -> Result<Delta, String> {
    checked(text, Delta::new)
}

/// A value of a flag.
pub fn probability(text: &str) -> Result<Probability, String> {
    checked(text, Probability::new)
}

fn distance(text: &str) -> Result<NonNegative, String> {
    finite("distance", text, NonNegative::new)
}

fn order(text: &str) -> Result<RenyiOrder, String> {
    checked(text, RenyiOrder::new)
}

/// A value of a flag.
pub fn positive(name: &'static str, text: &str) -> Result<Positive, String> {
    checked(text, |value| Positive::named(name, value))
}

fn tolerance(text: &str) -> Result<f64, String> {
    let accepted = "between 1e-8 and 0.1";
    checked(text, |value| match value {
        1e-8..=0.1 => Ok(value),
        _ => Err(Error::OutOfRange { name: "tolerance", value, accepted }),
    })
}

fn parameter(text: &str) -> Result<Parameter, String> {
    Parameter::ALL.into_iter().find(|p| p.fact().key() == text || p.fact().name() == text).ok_or_else(|| {
        let names: Vec<&str> = Parameter::ALL.iter().map(|p| p.fact().key()).collect();
        format!("{text:?} is none of {}", names.join(", "))
    })
}

fn figure(text: &str) -> Result<&'static str, String> {
    let text = text.trim();
    let known = || figures::ALL.iter().map(|recipe| recipe.id);
    known().find(|id| *id == text).ok_or_else(|| {
        let all: Vec<&str> = known().collect();
        format!("there is no figure {text:?}; one of: {}", all.join(", "))
    })
}

fn analyses(text: &str) -> Result<Selection, String> {
    const CLOSED_FORM: &str = "closed-form";
    let text = text.trim();
    if text == CLOSED_FORM {
        return Ok(Selection::ClosedForm);
    }
    analysis_ids().find(|id| *id == text).map(Selection::One).ok_or_else(|| {
        let known: Vec<&str> = analysis_ids().chain([CLOSED_FORM]).collect();
        let help = match nearest(text, known.iter().copied()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("one of: {}", known.join(", ")),
        };
        format!("there is no analysis {text:?}; {help}")
    })
}
