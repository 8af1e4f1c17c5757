//! `dobrushin kernel joint`: how much one coordinate of a joint table tells about the other.

use crate::cli::{CsvArgs, epsilon, positive};
use crate::level::levels;
use crate::output::Report;
use crate::probabilities;
use crate::problem::Problem;
use clap::Args;
use dobrushin::divergence::{FiniteLaw, gamma_information_of, mutual_information_of};
use dobrushin::{Enclosure, Epsilon, Positive};
use dobrushin_document::csv;
use dobrushin_document::json::{self, Bounds};
use dobrushin_document::report::{InformationReport, JointReport, MutualInformation};
use dobrushin_document::text::{self, Style};
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct JointArgs {
    /// CSV with the probability of each pair: a row for each value of X, a column for each value of Y; a header line is
    /// allowed, and "-" is standard input
    pub table: PathBuf,
    /// Divide the table by its sum, as for counts
    #[arg(long)]
    pub normalise: bool,
    /// Levels ε ≥ 0, separated by commas
    #[arg(long, value_delimiter = ',', value_parser = epsilon, default_values = ["0", "0.5", "1", "2", "5"],
          allow_negative_numbers = true)]
    pub epsilon: Vec<Epsilon>,
    /// Further levels, given as γ = e^ε > 0 (also below 1)
    #[arg(long, value_delimiter = ',', value_parser = |s: &str| positive("gamma", s),
          allow_negative_numbers = true)]
    pub gamma: Vec<Positive>,
    #[command(flatten)]
    pub csv: CsvArgs,
}

/// What the table tells.
pub fn run(arguments: &JointArgs, style: Style) -> Result<Report, Problem> {
    let rows = probabilities::read(&arguments.table)?;
    let columns = rows.first().map_or(1, Vec::len);
    let law = if arguments.normalise { FiniteLaw::proportional_to } else { FiniteLaw::new };
    let law = law("the joint table", rows.concat()).map_err(|error| {
        let problem = Problem::new(format!("{} is not a joint law: {error}", arguments.table.display()));
        match error {
            dobrushin::Error::SumNotOne { .. } => problem.help("--normalise divides the table by its sum"),
            _ => problem.help("all probabilities of the table sum to 1; entries are counted row by row"),
        }
    })?;
    let cells: Vec<Enclosure> = law.enclosures().collect();
    let joint: Vec<Vec<Enclosure>> = cells.chunks(columns).map(<[Enclosure]>::to_vec).collect();
    let information = levels(&arguments.epsilon, &arguments.gamma)?
        .into_iter()
        .map(|level| InformationReport { level, value: Bounds(gamma_information_of(&joint, level.gamma)) });
    let nats = mutual_information_of(&joint);
    let report = JointReport {
        rows: rows.len(),
        columns,
        information: information.collect(),
        mutual_information: MutualInformation {
            nats: Bounds(nats),
            bits: Bounds(nats / Enclosure::from(2.0).ln()),
        },
    };
    Ok(Report::new(text::joint(&report, style), json::of(&report)).with_table(csv::joint(&report)))
}
