//! What users type after several commands, and the values of flags.

use crate::file::{Place, STANDARD_OUTPUT};
use crate::stderr;
use crate::table_file::{Delimiter, Source};
use anstream::AutoStream;
use clap::{Args, ColorChoice, ValueEnum};
use dobrushin::numeric::decimal::DIGITS;
use dobrushin::{Delta, Epsilon, Error, Positive, Probability, RenyiOrder};
use dobrushin_document::ask::{Asked, analyses_of};
use dobrushin_document::text::Style;
use dobrushin_local::mean::Bounds;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use terminal_size::{Width, terminal_size_of};

/// Flags that every command takes.
#[derive(Args, Clone, Debug)]
pub struct Common {
    /// Print JSON instead of tables; an error is then a JSON object on standard error
    #[arg(long, global = true)]
    pub json: bool,
    /// Print only the answer: no explanations, no progress
    #[arg(long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Also print what does not apply and what says nothing
    #[arg(long, global = true)]
    pub verbose: bool,
    /// Print numbers with this many significant digits, rounded outward; JSON always has all digits
    #[arg(long, global = true, value_name = "N", default_value_t = DIGITS as u8,
          value_parser = clap::value_parser!(u8).range(1..=17))]
    pub digits: u8,
    /// Write to this file instead of standard output ("-" is standard output)
    #[arg(long, global = true, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// When to print in colours; auto means on a terminal, unless NO_COLOR is set. Files and JSON never have any
    #[arg(long, global = true, value_name = "WHEN", default_value_t = ColorChoice::Auto)]
    pub color: ColorChoice,
}

/// Decides how messages look, before the words are parsed, because they may be wrong.
///
/// The words are the name of the program and its arguments. They are parsed in full afterwards.
pub fn prepare(words: &[OsString]) {
    let words: Vec<&str> = words.iter().skip(1).map_while(|word| word.to_str()).collect();
    let words = words.split(|word| *word == "--").next().unwrap_or_default();
    stderr::complain_as_json(words.contains(&"--json"));
    let given = words.iter().enumerate().rev().find_map(|(index, word)| match word.strip_prefix("--color") {
        Some("") => words.get(index + 1).copied(),
        Some(value) => value.strip_prefix('='),
        None => None,
    });
    let choice = given.and_then(|choice| ColorChoice::from_str(choice, false).ok());
    match choice.unwrap_or(ColorChoice::Auto) {
        ColorChoice::Auto => anstream::ColorChoice::Auto,
        ColorChoice::Always => anstream::ColorChoice::Always,
        ColorChoice::Never => anstream::ColorChoice::Never,
    }
    .write_global();
}

impl Common {
    /// Where the answer goes.
    pub fn destination(&self) -> &Path {
        self.output.as_deref().unwrap_or(Path::new(STANDARD_OUTPUT))
    }

    /// How much of the answer people want to read, and on what. Only a terminal has a width.
    pub fn style(&self) -> Style {
        let is_standard = matches!(Place::of(self.destination()), Ok(Place::Standard));
        let stdout = io::stdout();
        let columns = terminal_size_of(&stdout).filter(|_| is_standard && stdout.is_terminal());
        Style {
            quiet: self.quiet,
            verbose: self.verbose,
            digits: usize::from(self.digits),
            // Some terminals do not know how wide they are.
            columns: columns.map(|(Width(columns), _)| usize::from(columns)).filter(|columns| *columns > 0),
            colours: is_standard && AutoStream::choice(&stdout) != anstream::ColorChoice::Never,
        }
    }
}

/// How CSV files are written.
#[derive(Args, Clone, Copy, Debug)]
pub struct DelimiterArgs {
    /// What stands between the cells of CSV files: a character, or "tab"
    #[arg(long, value_name = "CHARACTER", value_parser = Delimiter::parse, default_value = ",", allow_hyphen_values = true)]
    pub delimiter: Delimiter,
}

impl DelimiterArgs {
    /// A file that is written so.
    pub fn source(self, path: &Path) -> Source<'_> {
        Source { path, delimiter: self.delimiter }
    }
}

/// A table for other programs.
#[derive(Args, Clone, Debug, Default)]
pub struct CsvArgs {
    /// Write the table to a CSV file, every number with all its digits; "-" is standard output, where it takes the place
    /// of the answer
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
}

impl CsvArgs {
    /// Whether the table is printed instead of the answer.
    pub fn replaces_the_answer(&self, common: &Common) -> bool {
        self.csv.as_deref() == Some(Path::new(STANDARD_OUTPUT)) && common.output.is_none() && !common.json
    }
}

/// Changes to a run file.
#[derive(Args, Debug)]
pub struct SetArgs {
    /// Replace a value of the file, as in run.steps=1000 or steps=1000. It also replaces keys that exclude it, such as
    /// another noise. You can give this flag several times
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// What is asked about a run.
#[derive(Args, Debug)]
pub struct QuestionArgs {
    /// The δ for which to find ε, instead of what the file's [target] says
    #[arg(long, value_parser = delta, allow_negative_numbers = true)]
    pub delta: Option<Delta>,
    /// The ε for which to find δ, instead of what the file's [target] says; account answers yes or no if you give both
    #[arg(long, value_parser = epsilon, allow_negative_numbers = true)]
    pub epsilon: Option<Epsilon>,
}

impl QuestionArgs {
    /// What the flags ask.
    pub fn asked(&self) -> Asked {
        Asked { epsilon: self.epsilon, delta: self.delta }
    }
}

/// Which analyses are wanted.
#[derive(Args, Debug)]
pub struct AnalysesArgs {
    /// Use only these analyses, separated by commas; dobrushin explain lists them. closed-form means all that are
    /// formulas: they sum nothing on a grid or step by step, and take no time
    #[arg(long, value_name = "ID", value_delimiter = ',', value_parser = analyses)]
    pub analyses: Vec<Selection>,
}

/// The analyses that a word names.
#[derive(Clone, Debug)]
pub struct Selection(Vec<&'static str>);

impl AnalysesArgs {
    /// The names of the analyses that are wanted; an empty list means all.
    pub fn only(&self) -> Vec<&'static str> {
        self.analyses.iter().flat_map(|Selection(ids)| ids.iter().copied()).collect()
    }
}

/// Where a profile is evaluated.
#[derive(Args, Debug)]
pub struct LevelArgs {
    /// Privacy levels ε ≥ 0, separated by commas
    #[arg(long, value_delimiter = ',', value_parser = epsilon, default_values = ["0", "0.5", "1", "2", "5"],
          allow_negative_numbers = true)]
    pub epsilon: Vec<Epsilon>,
    /// Further levels, given as γ = e^ε > 0 (also below 1)
    #[arg(long, value_delimiter = ',', value_parser = |s: &str| positive("gamma", s),
          allow_negative_numbers = true)]
    pub gamma: Vec<Positive>,
    /// Find the smallest ε for these δ
    #[arg(long, value_delimiter = ',', value_parser = delta, allow_negative_numbers = true)]
    pub delta: Vec<Delta>,
    /// Draw the curve into a file (.svg, .png, .pdf or .html)
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    #[command(flatten)]
    pub csv: CsvArgs,
}

fn number(text: &str) -> Result<f64, String> {
    text.trim().parse().map_err(|_| format!("{text:?} is not a number"))
}

/// Two bounds of numbers, the lower one first.
pub fn bounds(text: &str) -> Result<Bounds, String> {
    let (low, high) = text.split_once(',').ok_or("two numbers are needed, as in --bounds 0,100")?;
    Bounds::new(number(low)?, number(high)?).map_err(|error| error.to_string())
}

/// A number that the check accepts.
pub fn checked<T>(text: &str, check: impl Fn(f64) -> Result<T, Error>) -> Result<T, String> {
    check(number(text)?).map_err(|error| error.to_string())
}

/// Like `checked`, but it also refuses infinity.
pub fn finite<T>(
    name: &'static str,
    text: &str,
    check: impl Fn(f64) -> Result<T, Error>,
) -> Result<T, String> {
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
pub fn order_above_one(text: &str) -> Result<RenyiOrder, String> {
    checked(text, |value| match RenyiOrder::new(value) {
        Ok(order) if value > 1.0 => Ok(order),
        _ => Err(Error::OutOfRange { name: "order", value, accepted: "above 1; \"inf\" is allowed" }),
    })
}

/// A value of a flag.
pub fn probability(text: &str) -> Result<Probability, String> {
    checked(text, Probability::new)
}

/// A value of a flag.
pub fn positive(name: &'static str, text: &str) -> Result<Positive, String> {
    checked(text, |value| Positive::named(name, value))
}

fn analyses(text: &str) -> Result<Selection, String> {
    analyses_of(text).map(Selection).map_err(|error| error.to_string())
}
