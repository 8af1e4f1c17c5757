//! `dobrushin train`: a private model of a table, with its certificate.

mod arguments;
mod data;
mod planned;
mod report;

pub use arguments::TrainArgs;

use super::account_plot;
use crate::day;
use crate::guard::Guard;
use crate::keeping::Keeping;
use crate::ledger::{Charge, Charging, Exhausted};
use crate::model_folder::{self, Folder};
use crate::output::Report;
use crate::problem::Problem;
use crate::run_file::Opened;
use crate::sheet_file;
use crate::watch::{self, Watch};
use data::Data;
use dobrushin::Probability;
use dobrushin::account::Target;
use dobrushin_document::ask::Asked;
use dobrushin_document::text::Style;
use dobrushin_document::trained::{self, Circumstances, Goal, Trained};
use dobrushin_document::{SelfContained, json, text};
use dobrushin_train::{Generators, Seed};
use std::path::Path;
use std::time::Instant;

/// Accounts first, then trains, then writes the model and its certificate, or nothing.
///
/// The plan that is accounted for is the plan that is carried out, and the certificate holds the run that the plan was
/// made from. The schema is read once, because its file may change while the model is trained.
pub fn run(arguments: &TrainArgs, guard: &Guard, style: Style) -> Result<Report, Problem> {
    // It is read before the records are, so that it does not depend on them.
    let made = Some(day::today());
    let generators = Generators::new(arguments.seed.map_or(Seed::OperatingSystem, Seed::Known))?;
    let (prepared, mut charging) = match &arguments.run {
        Some(path) => described(path, arguments, guard, &generators, style)?,
        None => planned::prepare(arguments, guard, &generators, style)?,
    };
    let done = carry_out(arguments, style, made, &generators, prepared, &mut charging);
    charging.settle(done)
}

/// Trains, and writes the model and its certificate, or nothing.
fn carry_out(
    arguments: &TrainArgs,
    style: Style,
    made: Option<String>,
    generators: &Generators,
    prepared: Prepared,
    charging: &mut Charging,
) -> Result<Report, Problem> {
    let Prepared { out, mut data, run, goal } = prepared;
    if let Some(path) = &arguments.keep_state {
        Keeping::check(path, arguments.force, &run)?;
    }
    let start = Instant::now();
    let circumstances = Circumstances {
        seed: arguments.seed,
        test_share: arguments.test_share.map(Probability::get),
        keeps_state: arguments.keep_state.is_some(),
        data_is_public: arguments.data_is_public,
        made,
    };
    let mut watch = None;
    let mut begin = |what| {
        // Only one line is shown at a time.
        watch = None;
        watch.insert(Watch::new(!style.quiet, 0, what)).progress().clone()
    };
    let trained = trained::train(&run, goal.question(), circumstances, &mut begin, |plan, progress| {
        data.prepare(plan);
        data.train(plan, generators, progress)
    })?;
    drop(watch);
    watch::say_how_long(!style.quiet, "Training", start.elapsed());
    let Trained { plan, account, floor, options, certificate, model, .. } = &trained;
    let page = arguments.report.as_deref().map(|path| {
        let picture = account_plot::of_the_guarantee(plan.run(), account, floor.as_ref(), options)?;
        Ok::<_, Problem>((path, sheet_file::bytes(certificate, &picture, path)?))
    });
    let state = data.state(&run, arguments.seed).zip(arguments.keep_state.as_deref());
    let state = state.as_ref().map(|(state, path)| (*path, state));
    charging.leaves()?;
    model_folder::write(Some(&out), model, certificate, page.transpose()?, state)?;
    let noise_was_found = goal.target().is_some();
    let told = report::Told { trained: &trained, data: &data, noise_was_found, charged: charging.report() };
    let report = told.report(arguments, &run, &out);
    Ok(Report::new(text::training(&report, style), json::of(&report)))
}

/// What is known before the account: the records, and the run with its noise.
struct Prepared {
    out: Folder,
    data: Data,
    run: SelfContained,
    goal: Goal,
}

/// The run of a run file.
fn described(
    path: &Path,
    arguments: &TrainArgs,
    guard: &Guard,
    generators: &Generators,
    style: Style,
) -> Result<(Prepared, Charging), Problem> {
    arguments.choice.wishes().refuse_with_run()?;
    let opened = Opened::new(Some(path), &arguments.changes.set, guard)?;
    let out = Folder::new(&arguments.out, arguments.force)?;
    let run = opened.self_contained()?;
    trained::keep_the_number_secret(&run, arguments.test_share.is_some())?;
    let goal = Goal::of(Asked { epsilon: arguments.epsilon, delta: arguments.delta }, &run)?;
    let noisy = |run: SelfContained| match goal.target() {
        Some(target) => with_least_noise(run, target, !style.quiet),
        None => Ok(run),
    };
    let charging =
        charged(arguments, !style.quiet, &|records| noisy(trained::counted(run.clone(), records)?))?;
    let prepared = || {
        let data = Data::read(arguments, &run.schema()?, generators, &charging, !style.quiet)?;
        let run = noisy(data.counted(&arguments.data, run.clone())?)?;
        Ok(Prepared { out, data, run, goal })
    };
    match prepared() {
        Ok(prepared) => Ok((prepared, charging)),
        Err(problem) => charging.settle(Err(problem)),
    }
}

/// Reserves the model in the ledger that the flags name, if they do. `run` is what will be trained on this many records.
fn charged(
    arguments: &TrainArgs,
    show_progress: bool,
    run: &dyn Fn(u64) -> Result<SelfContained, Problem>,
) -> Result<Charging, Problem> {
    let Some((place, person)) = arguments.charge.ledger.as_ref().zip(arguments.charge.person.as_deref())
    else {
        return Ok(Charging::default());
    };
    if arguments.seed.is_some() || arguments.data_is_public || arguments.test_share.is_some() {
        return Err(Problem::new(
            "--ledger counts what private training tells, which --seed, --data-is-public and --test-share exceed",
        )
        .help("leave them out; --test FILE tests on public records"));
    }
    let watch = Watch::new(show_progress, 0, "what it costs");
    let charge = Charge {
        place,
        rows: &arguments.cells.source(&arguments.data),
        person,
        exhausted: if arguments.leave_out { Exhausted::LeaveOut } else { Exhausted::Refuse },
        what: format!("model in {}", arguments.out.display()),
    };
    Charging::of(&charge, watch.progress(), run)
}

/// The run with the least noise that meets a target.
fn with_least_noise(
    run: SelfContained,
    target: Target,
    show_progress: bool,
) -> Result<SelfContained, Problem> {
    let watch = Watch::new(show_progress, 0, "search");
    Ok(trained::with_least_noise(run, target, watch.progress())?)
}
