//! `dobrushin plan`: the best run that a budget buys, without a look at the data.

use crate::cli::{delta, epsilon};
use crate::file;
use crate::guard::Guard;
use crate::output::Report;
use crate::problem::Problem;
use crate::run_file::read_schema;
use crate::watch::Watch;
use clap::Args;
use dobrushin::mechanism::Neighbours;
use dobrushin::run::Order;
use dobrushin::{Delta, Epsilon};
use dobrushin_document::ask::{self, PlanWishes, count_of, neighbours_of, order_of, schema_of};
use dobrushin_document::report::ChosenReport;
use dobrushin_document::text::Style;
use dobrushin_document::{json, text};
use dobrushin_train::schema::Schema;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct PlanArgs {
    /// What the columns of the table may hold (TOML); the table itself is not read
    #[arg(long, value_name = "FILE", required_unless_present = "dimension", conflicts_with = "dimension")]
    pub schema: Option<PathBuf>,
    /// The number of records, or a public bound on it; 1e6 is accepted
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub records: u64,
    /// Without a schema: the number of features, each between −1 and 1
    #[arg(long, value_name = "D", value_parser = count, allow_negative_numbers = true)]
    pub dimension: Option<u64>,
    /// Without a schema: the number of classes
    #[arg(long, value_name = "K", value_parser = count, allow_negative_numbers = true, requires = "dimension")]
    pub classes: Option<u64>,
    /// The ε to meet
    #[arg(long, value_parser = epsilon, allow_negative_numbers = true)]
    pub epsilon: Epsilon,
    /// The δ to meet
    #[arg(long, value_parser = delta, allow_negative_numbers = true)]
    pub delta: Delta,
    #[command(flatten)]
    pub choice: ChoiceArgs,
    /// Write the run file of the best plan here; account and train accept it
    #[arg(long, value_name = "RUN.toml")]
    pub write: Option<PathBuf>,
}

/// What a plan may be told.
#[derive(Args, Debug)]
pub struct ChoiceArgs {
    /// The label to predict, if the schema has several
    #[arg(long, value_name = "COLUMN")]
    pub label: Option<String>,
    /// The kind of model: logistic, softmax, linear or poisson; without it, the one that suits the label
    #[arg(long, value_name = "KIND")]
    pub model: Option<String>,
    /// The order of records: full, poisson, shuffled, cyclic or without-replacement; without it, the best one
    #[arg(long, value_parser = order)]
    pub order: Option<Order>,
    /// Which data sets are neighbours: zero-out (a record's part is left out, and their number is public), replace-one,
    /// or add-or-remove-one (their number is a secret, and --records is a public bound); without it, zero-out
    #[arg(long, value_parser = neighbours)]
    pub neighbours: Option<Neighbours>,
}

fn order(text: &str) -> Result<Order, String> {
    order_of(text).map_err(|error| error.to_string())
}

/// Which data sets are neighbours, by its word in run files.
pub fn neighbours(text: &str) -> Result<Neighbours, String> {
    neighbours_of(text).map_err(|error| error.to_string())
}

/// A number of things, also as 1e6.
pub fn count(text: &str) -> Result<u64, String> {
    count_of(text).map_err(|error| error.to_string())
}

/// The plans, the best first; the best is also written as a run file.
pub fn run(arguments: &PlanArgs, guard: &Guard, style: Style) -> Result<Report, Problem> {
    let schema = match (&arguments.schema, arguments.dimension) {
        (Some(path), _) => {
            guard.spares("the schema", path)?;
            read_schema(path)?
        }
        (None, dimension) => schema_of(dimension.unwrap_or(1), arguments.classes.unwrap_or(2))?,
    };
    let mut report = planned(
        schema,
        arguments.records,
        arguments.epsilon,
        arguments.delta,
        &arguments.choice,
        !style.quiet,
    )?;
    if let Some(path) = &arguments.write {
        file::replace(path, report.run_file.as_bytes())
            .map_err(|error| Problem::cannot_write(path, error))?;
        report.written = Some(path.display().to_string());
    }
    Ok(Report::new(text::chosen(&report, style), json::of(&report)))
}

/// The plans for records that nobody looks at. Everything that goes in is public.
pub fn planned(
    schema: Schema,
    records: u64,
    epsilon: Epsilon,
    delta: Delta,
    choice: &ChoiceArgs,
    show_progress: bool,
) -> Result<ChosenReport, Problem> {
    let watch = Watch::new(show_progress, 0, "trials on made-up records");
    Ok(ask::planned(schema, records, epsilon, delta, &choice.wishes(), watch.progress())?)
}

impl ChoiceArgs {
    /// What the flags tell a plan.
    pub fn wishes(&self) -> PlanWishes {
        let Self { label, model, order, neighbours } = self;
        PlanWishes { label: label.clone(), model: model.clone(), order: *order, neighbours: *neighbours }
    }
}
