//! Training without a run file: a plan chooses the run.

use super::arguments::{Goal, TrainArgs};
use super::data::{self, Data};
use super::files::Folder;
use super::{Prepared, Problem};
use crate::command::plan::planned;
use crate::guard::Guard;
use crate::run_file::read_schema;
use crate::stderr::say;
use dobrushin::account::Question;
use dobrushin::mechanism::Neighbours;
use dobrushin_document::ask::with_label;
use dobrushin_document::text::{Style, plan_in_words};
use dobrushin_train::Generators;
use dobrushin_train::choose;
use dobrushin_train::schema::Schema;
use std::path::{Path, PathBuf};

/// Reads the schema and the records, and chooses a plan. Of the records, the plan knows their number, where that is
/// public, and nothing else.
pub fn prepare(
    arguments: &TrainArgs,
    guard: &Guard,
    generators: &Generators,
    style: Style,
) -> Result<Prepared, Problem> {
    let (Some(epsilon), Some(delta)) = (arguments.epsilon, arguments.delta) else {
        return Err(Problem::new("there is no --run, and a plan needs --epsilon and --delta")
            .help("--epsilon 1 --delta 1e-6, or --run RUN.toml"));
    };
    if !arguments.changes.set.is_empty() {
        return Err(Problem::new("--set changes a run file, but there is no --run")
            .help("dobrushin plan --write run.toml writes one, which you can change"));
    }
    if arguments.public.is_some() {
        return Err(Problem::new("--public is given, but plans have no public steps")
            .help("dobrushin plan --write run.toml, and add run.public-steps"));
    }
    let path = schema_path(arguments)?;
    guard.spares("the schema", &path)?;
    let schema = read_schema(&path)?;
    let secret = arguments.choice.neighbours == Some(Neighbours::AddOrRemoveOne);
    if secret {
        data::refuse_counting(arguments, arguments.records)?;
    }
    let out = Folder::new(&arguments.out, arguments.force)?;
    // The plan is chosen before any record is read, where their number is known.
    let choose =
        |records: u64| planned(schema.clone(), records, epsilon, delta, &arguments.choice, !style.quiet);
    let early = arguments.records.map(choose).transpose()?;
    let data = Data::read(arguments, &as_planned(&schema, arguments)?, generators, !style.quiet)?;
    let report = match early {
        Some(report) => report,
        None => choose(data.some(&arguments.data)?)?,
    };
    let run = data.counted(&arguments.data, report.best.clone())?;
    if let (false, Some(best)) = (style.quiet, report.plans.first()) {
        say(&format!("planned: {}\n", plan_in_words(&best.training)));
    }
    Ok(Prepared { out, data, run, goal: Goal::Ask(Question::EpsilonAt(delta)) })
}

/// The schema that plans use, which the records are read by.
fn as_planned(schema: &Schema, arguments: &TrainArgs) -> Result<Schema, Problem> {
    Ok(choose::prepared(&with_label(schema.clone(), arguments.choice.label.as_deref())?))
}

/// The schema that is named, or the one beside the data.
fn schema_path(arguments: &TrainArgs) -> Result<PathBuf, Problem> {
    if let Some(path) = &arguments.schema {
        return Ok(path.clone());
    }
    let beside = arguments.data.parent().unwrap_or(Path::new("")).join("schema.toml");
    if beside.is_file() {
        return Ok(beside);
    }
    Err(Problem::new(format!("there is neither --run nor --schema, and no {}", beside.display())).help(format!(
        "declare what the columns may hold: dobrushin schema init {} --label COLUMN --output schema.toml drafts it",
        arguments.data.display()
    )))
}

/// Refuses what only a plan can use.
pub fn refuse_with_run(arguments: &TrainArgs) -> Result<(), Problem> {
    let choice = &arguments.choice;
    let given = [
        ("--label", choice.label.is_some()),
        ("--model", choice.model.is_some()),
        ("--order", choice.order.is_some()),
        ("--neighbours", choice.neighbours.is_some()),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((flag, _)) => Err(Problem::new(format!("{flag} is for a plan, but --run is given"))
            .help("change the run file, by --set too, or leave --run out")),
    }
}
