//! Training without a run file: a plan chooses the run.

use super::arguments::TrainArgs;
use super::data::Data;
use super::{Prepared, Problem, charged};
use crate::command::plan::planned;
use crate::guard::Guard;
use crate::ledger::Charging;
use crate::model_folder::Folder;
use crate::run_file::read_schema;
use crate::stderr::say;
use dobrushin::account::Question;
use dobrushin::mechanism::Neighbours;
use dobrushin_document::ask::as_planned;
use dobrushin_document::text::{Style, plan_in_words};
use dobrushin_document::trained::{self, Goal, refuse_counting};
use dobrushin_train::Generators;
use std::path::{Path, PathBuf};

/// Reads the schema and the records, and chooses a plan. Of the records, the plan knows their number, where that is
/// public, and nothing else.
pub fn prepare(
    arguments: &TrainArgs,
    guard: &Guard,
    generators: &Generators,
    style: Style,
) -> Result<(Prepared, Charging), Problem> {
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
        refuse_counting(arguments.records, arguments.test_share.is_some())?;
    }
    let out = Folder::new(&arguments.out, arguments.force)?;
    // The plan is chosen before any record is read, where their number is known.
    let choose =
        |records: u64| planned(schema.clone(), records, epsilon, delta, &arguments.choice, !style.quiet);
    let early = arguments.records.map(choose).transpose()?;
    let read_by = as_planned(schema.clone(), &arguments.choice.wishes())?;
    let best = |records: u64| match &early {
        Some(report) => Ok(report.best.clone()),
        None => Ok::<_, Problem>(choose(records)?.best),
    };
    let charging =
        charged(arguments, !style.quiet, &|records| Ok(trained::counted(best(records)?, records)?))?;
    let prepared = || {
        let data = Data::read(arguments, &read_by, generators, &charging, !style.quiet)?;
        let chosen = match early.is_some() {
            true => None,
            false => Some(choose(data.some(&arguments.data)?)?),
        };
        let report = chosen.as_ref().or(early.as_ref()).ok_or_else(|| Problem::new("there is no plan"))?;
        let run = data.counted(&arguments.data, report.best.clone())?;
        if let (false, Some(best)) = (style.quiet, report.plans.first()) {
            say(&format!("planned: {}\n", plan_in_words(&best.training)));
        }
        Ok(Prepared { out, data, run, goal: Goal::Ask(Question::EpsilonAt(delta)) })
    };
    match prepared() {
        Ok(prepared) => Ok((prepared, charging)),
        Err(problem) => charging.settle(Err(problem)),
    }
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
