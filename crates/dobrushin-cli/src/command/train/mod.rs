//! `dobrushin train`: a private model of a table, with its certificate.

mod arguments;
mod data;
mod files;
mod planned;
mod report;

pub use arguments::TrainArgs;
pub use files::written;

use super::account::why_no_certificate;
use super::{account_plot, calibrate};
use crate::day;
use crate::guard::Guard;
use crate::output::Report;
use crate::problem::Problem;
use crate::run_file::Opened;
use crate::sheet_file;
use crate::watch::{self, Watch};
use arguments::Goal;
use data::Data;
use dobrushin::Probability;
use dobrushin::account::{Options, Target};
use dobrushin::run::Parameter;
use dobrushin_document::certificate::{Certificate, TrainingRecord};
use dobrushin_document::model::ModelFile;
use dobrushin_document::text::Style;
use dobrushin_document::{SelfContained, json, sheet, text};
use dobrushin_train::{Generators, Plan, Released, Seed, TrainError};
use files::Folder;
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
    let Prepared { out, mut data, run, goal } = match &arguments.run {
        Some(path) => described(path, arguments, guard, &generators, style)?,
        None => planned::prepare(arguments, guard, &generators, style)?,
    };
    let (plan, schema) = run.plan()?;
    let watch = Watch::new(!style.quiet, 0, "analyses");
    let options = Options { progress: watch.progress().clone(), ..Options::default() };
    let account = plan.run().account_by(goal.question(), &options);
    drop(watch);
    let Some(mut certificate) = Certificate::of(&run, &account, &options) else {
        return Err(Problem::answer_is_no("there is no guarantee, so nothing is trained")
            .help(why_no_certificate(&account)));
    };
    data.prepare(&plan);
    let start = Instant::now();
    let released = train(&plan, &mut data, &generators, !style.quiet)?;
    watch::say_how_long(!style.quiet, "Training", start.elapsed());
    let (seed, share) = (arguments.seed, arguments.test_share.map(Probability::get));
    let model = ModelFile::new(&run, &released, seed.is_none()).bytes();
    let training = TrainingRecord::new(&plan, &schema, &account, &model, &released, seed, share);
    certificate.training = Some(TrainingRecord { made, ..training });
    certificate.meaning = certificate.meaning.filter(|_| seed.is_none());
    let page = arguments.report.as_deref().map(|path| {
        let picture = account_plot::of_the_guarantee(plan.run(), &account, &options)?;
        Ok::<_, Problem>((path, sheet_file::bytes(&sheet::of_certificate(&certificate), &picture, path)?))
    });
    out.write(&model, &certificate, page.transpose()?)?;
    let trained = report::Trained {
        plan: &plan,
        schema: &schema,
        released: &released,
        data: &data,
        noise_was_found: goal.target().is_some(),
    };
    let report = trained.report(arguments, &account, &run, &out);
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
) -> Result<Prepared, Problem> {
    planned::refuse_with_run(arguments)?;
    let opened = Opened::new(Some(path), &arguments.changes.set, guard)?;
    let out = Folder::new(&arguments.out, arguments.force)?;
    let run = opened.self_contained()?;
    data::keep_the_number_secret(arguments, &run)?;
    let goal = Goal::of(arguments, &run)?;
    let data = Data::read(arguments, &run.schema()?, generators, !style.quiet)?;
    let run = data.counted(&arguments.data, run)?;
    let run = match goal.target() {
        Some(target) => with_least_noise(run, target, !style.quiet)?,
        None => run,
    };
    Ok(Prepared { out, data, run, goal })
}

/// The run with the least noise that meets a target.
fn with_least_noise(
    run: SelfContained,
    target: Target,
    show_progress: bool,
) -> Result<SelfContained, Problem> {
    let run = run.with_noise_multiplier(1.0)?;
    let found = calibrate::search(&run.run()?, Parameter::NoiseMultiplier, target, show_progress)?;
    Ok(run.with_noise_multiplier(found.value)?)
}

fn train(
    plan: &Plan,
    data: &mut Data,
    generators: &Generators,
    show_progress: bool,
) -> Result<Released, Problem> {
    let training = plan.training();
    let steps = training.steps().unwrap_or(0).saturating_add(training.public_steps);
    let watch = Watch::new(show_progress, steps.saturating_mul(training.tasks), "steps");
    let released = data.train(plan, generators, &mut || watch.progress().advance(1));
    drop(watch);
    released.map_err(problem)
}

fn problem(error: TrainError) -> Problem {
    let help = match error {
        TrainError::NoPublicRecords => "--public FILE, or run.public-steps = 0",
        TrainError::NotInMemory => "leave --stream or [centre] out",
        TrainError::AnyOrder => "leave --stream out, or choose order = \"once\", \"cyclic\" or \"full\"",
        TrainError::Diverged => "a smaller learning rate, weight-decay, or a domain to project to",
        TrainError::OtherRecords { .. } | TrainError::Reading(_) => "nothing was written",
    };
    Problem::new(format!("nothing is released: {error}")).help(help)
}
