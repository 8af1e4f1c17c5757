//! `dobrushin plan`: the best run that a budget buys, without a look at the data.

use crate::cli::{delta, epsilon, worth_meeting};
use crate::file;
use crate::guard::Guard;
use crate::output::Report;
use crate::problem::Problem;
use crate::run_file::read_schema;
use crate::stderr;
use clap::Args;
use dobrushin::account::CalibrationError;
use dobrushin::mechanism::Neighbours;
use dobrushin::run::Order;
use dobrushin::{Delta, Epsilon};
use dobrushin_document::report::ChosenReport;
use dobrushin_document::text::Style;
use dobrushin_document::{NEIGHBOURS, ORDERS, json, kind_for, model_for, text};
use dobrushin_train::choose::{self, Wanted};
use dobrushin_train::schema::{
    Declaration, Feature, FeatureKind, Label, LabelKind, MOST_FEATURES, Range, Schema,
};
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

/// Orders that plans have.
const PLANNED: [Order; 5] =
    [Order::Full, Order::Poisson, Order::Shuffled, Order::Cyclic, Order::WithoutReplacement];

fn order(text: &str) -> Result<Order, String> {
    let planned: Vec<_> = ORDERS.iter().filter(|(_, order)| PLANNED.contains(order)).collect();
    planned.iter().find(|(word, _)| *word == text).map(|(_, order)| *order).ok_or_else(|| {
        let words: Vec<&str> = planned.iter().map(|(word, _)| *word).collect();
        format!("{text:?} is not one of {}", words.join(", "))
    })
}

fn neighbours(text: &str) -> Result<Neighbours, String> {
    NEIGHBOURS.iter().find(|(word, _)| *word == text).map(|(_, neighbours)| *neighbours).ok_or_else(|| {
        let words: Vec<&str> = NEIGHBOURS.iter().map(|(word, _)| *word).collect();
        format!("{text:?} is not one of {}", words.join(", "))
    })
}

/// The most records of a plan: the trainer counts them in 32 bits.
const MOST_RECORDS: u64 = u32::MAX as u64;

/// A number of things, also as 1e6.
pub fn count(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let exact = |value: f64| {
        (value.fract() == 0.0 && (1.0..=MOST_RECORDS as f64).contains(&value)).then_some(value as u64)
    };
    let value = text.parse().ok().or_else(|| text.parse().ok().and_then(exact));
    value
        .filter(|value| (1..=MOST_RECORDS).contains(value))
        .ok_or_else(|| format!("{text:?} is not a whole number from 1 to {MOST_RECORDS}"))
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
    if epsilon.get() == 0.0 {
        return Err(Problem::new("--epsilon is 0, but it must be above 0").help("--epsilon 1"));
    }
    if delta.get() == 0.0 {
        return Err(Problem::new(
            "--delta is 0, but it must be above 0: Gaussian noise is never (ε, 0)-private",
        )
        .help("--delta 1e-6, well below 1 over the number of records"));
    }
    let neighbours = choice.neighbours.unwrap_or(Neighbours::ZeroOut);
    if let (Neighbours::AddOrRemoveOne, Some(order)) = (neighbours, choice.order)
        && !matches!(order, Order::Full | Order::Poisson)
    {
        return Err(Problem::new("--order is neither full nor poisson, but with add-or-remove-one others would show how many records there are")
            .help("--order poisson, or --neighbours zero-out"));
    }
    let schema = choose::prepared(&with_label(schema, choice.label.as_deref())?);
    let kind = kind_for(&schema, choice.model.as_deref());
    let model = model_for(&schema, kind)?;
    let wanted = Wanted {
        schema,
        model,
        records,
        epsilon,
        delta: worth_meeting(delta)?,
        neighbours,
        order: choice.order,
    };
    let bar = stderr::bar(show_progress, 100, "% of the trials on made-up records");
    let progress = |done: u64, expected: u64| bar.set_position(100 * done / expected.max(1));
    let found = choose::choose(&wanted, &progress);
    bar.finish_and_clear();
    Ok(ChosenReport::new(&wanted, kind, &found.map_err(problem)?)?)
}

/// The schema with one of its labels.
pub fn with_label(schema: Schema, label: Option<&str>) -> Result<Schema, Problem> {
    let Some(label) = label else {
        return Ok(schema);
    };
    let mut declared = schema.declaration().clone();
    declared.labels.retain(|known| known.name == label);
    if declared.labels.is_empty() {
        let known = schema.label_columns().join(", ");
        return Err(Problem::new(format!("--label is {label:?}, but the label of the schema is {known}"))
            .help(format!("write label = {label:?} into the schema, or leave --label out")));
    }
    Schema::new(declared).map_err(|error| Problem::new(error.to_string()))
}

/// A table of numbers between −1 and 1, and a label.
fn schema_of(dimension: u64, classes: u64) -> Result<Schema, Problem> {
    if dimension >= MOST_FEATURES as u64 || classes > MOST_FEATURES as u64 {
        return Err(Problem::new(format!(
            "--dimension is {dimension} and --classes {classes}, but both must be below {MOST_FEATURES}"
        ))
        .help("--dimension 100 --classes 10"));
    }
    if classes < 2 {
        return Err(Problem::new("--classes is 1, but there must be 2 or more").help("--classes 2"));
    }
    let range = Range::new(-1.0, 1.0).and_then(|range| range.around(0.0));
    let Some(range) = range else { unreachable!("−1 is below 1") };
    let feature = |number| Feature {
        name: format!("x{number}"),
        kind: FeatureKind::Number { range, if_missing: None },
    };
    let classes = (0..classes).map(|class| class.to_string()).collect();
    let declared = Declaration {
        labels: vec![Label { name: "y".to_owned(), kind: LabelKind::Category(classes) }],
        features: (1..=dimension).map(feature).collect(),
        missing: Vec::new(),
        norm: None,
        intercept: true,
    };
    Schema::new(declared).map_err(|error| Problem::new(error.to_string()))
}

fn problem(error: CalibrationError) -> Problem {
    match error {
        CalibrationError::Run(error) => error.into(),
        CalibrationError::Unreachable { .. } => {
            Problem::answer_is_no(format!("no plan meets the target: {error}")).help("a larger ε or δ")
        }
        other => Problem::new(other.to_string()),
    }
}
