//! Models that are trained for the audit, and attacked.

use super::arguments::AuditArgs;
use crate::file;
use crate::guard::Guard;
use crate::problem::Problem;
use crate::run_file::Opened;
use crate::train_data::{load, pad, refuse_none};
use crate::watch::{self, Watch};
use dobrushin_document::SelfContained;
use dobrushin_document::ask::{self, Asked, Audited, Claim, TrainedWishes};
use dobrushin_document::text::Style;
use dobrushin_document::trained::{self, Goal};
use dobrushin_train::{Plan, Table};
use std::path::Path;
use std::time::Instant;

/// The models of each world for each attack, if nothing else is said: about a minute on two cores for
/// examples/loans/logistic.toml, which has 400 steps with 300 records each.
const RUNS: u64 = 5000;

/// Reads the records as `train` does, and attacks models of them. What is claimed is the guarantee of the run, or the ε
/// that is given.
pub fn audit(
    data: &Path,
    arguments: &AuditArgs,
    guard: &Guard,
    style: Style,
) -> Result<(Claim, Audited), Problem> {
    let Prepared { run, plan, table, public } = prepare(data, arguments, guard, style)?;
    let claim = {
        let watch = Watch::new(!style.quiet, 0, "analyses");
        let claim = Claim::of_run(&run.file(), &run, arguments.delta, watch.progress().clone())?;
        match arguments.epsilon {
            Some(epsilon) => claim.instead(epsilon),
            None => claim,
        }
    };
    let wishes = TrainedWishes {
        attacks: arguments.trained.attacks.clone(),
        runs: arguments.runs.unwrap_or(RUNS),
        seed: arguments.trained.seed,
        state: arguments.state.as_deref(),
    };
    if let Some(path) = &arguments.state {
        // An interruption says that it is there: every line of it is complete, or dropped when it is read.
        file::append(path, || Ok(())).map_err(|error| Problem::cannot_write(path, error))?;
    }
    let start = Instant::now();
    let attacks = {
        let watch = Watch::new(!style.quiet, 0, "models");
        ask::attack_models(&plan, &table, public.as_ref(), &wishes, watch.progress())?
    };
    watch::say_how_long(!style.quiet, "Training", start.elapsed());
    let audited = ask::audit(&claim, &attacks, arguments.confidence)?;
    Ok((claim, audited.of_trained_models(arguments.trained.data_is_public)))
}

/// What is trained, and on which records.
struct Prepared {
    run: SelfContained,
    plan: Plan,
    table: Table,
    public: Option<Table>,
}

fn prepare(data: &Path, arguments: &AuditArgs, guard: &Guard, style: Style) -> Result<Prepared, Problem> {
    let Some(path) = arguments.run() else {
        return Err(Problem::new("--train needs a run file with [model]").help("--run RUN.toml"));
    };
    let opened = Opened::new(Some(path), &arguments.changes.set, guard)?;
    let run = opened.self_contained()?;
    trained::keep_the_number_secret(&run, false)?;
    let schema = run.schema()?;
    let read = |path: &Path, are_public: bool| -> Result<Table, Problem> {
        let source = arguments.trained.cells.source(path);
        let table = load(source, &schema, !are_public, !style.quiet)?.table;
        refuse_none(path, table.len() as u64)?;
        Ok(table)
    };
    let public = arguments.trained.public.as_deref().map(|path| read(path, true)).transpose()?;
    let mut table = read(data, arguments.trained.data_is_public)?;
    let run = trained::counted(run, table.len() as u64)?;
    // The file may leave the noise to be found; --epsilon is a claim here, and does not change the run.
    let run = match Goal::of(Asked { epsilon: None, delta: arguments.delta }, &run)?.target() {
        Some(target) => {
            let watch = Watch::new(!style.quiet, 0, "search");
            trained::with_least_noise(run, target, watch.progress())?
        }
        None => run,
    };
    let (plan, _) = run.plan()?;
    pad(&mut table, plan.training().records);
    Ok(Prepared { run, plan, table, public })
}
