//! `dobrushin train`: a private model of a table, with its certificate.

mod arguments;
mod data;
mod enforcement;
mod files;
mod report;

pub use arguments::TrainArgs;
pub use enforcement::recomputed;
pub use files::{Saved, digest, written};

use crate::certificate;
use crate::command::account::why_no_certificate;
use crate::command::calibrate;
use crate::guard::Guard;
use crate::output::Report;
use crate::problem::Problem;
use crate::progress;
use crate::run_file::{self, RunFile};
use data::Data;
use dobrushin::Probability;
use dobrushin::account::{Options, Report as Account, Target};
use dobrushin::run::Parameter;
use dobrushin_train::{Generators, Plan, Released, Seed, TrainError};

/// What a certificate says of a run whose randomness can be repeated.
pub const NOT_PRIVATE: &str = "reproducible, NOT private";

/// Accounts first, then trains, then writes the model and its certificate, or nothing.
///
/// The plan that is accounted for is the plan that is carried out, and the run file that the certificate holds is the
/// one that the plan was made from.
pub fn run(arguments: &TrainArgs, guard: &Guard, show_progress: bool) -> Result<Report, Problem> {
    let mut file = RunFile::read(&arguments.run)?;
    run_file::apply(&mut file, &arguments.changes.set)?;
    file.spared_by(guard)?;
    let out = files::Folder::new(&arguments.out, arguments.force)?;
    // The schema is read once: its file may change while the model is trained.
    let mut file = file.embedded()?;
    data::keep_the_number_secret(arguments, &file)?;
    let goal = arguments::Goal::of(arguments, &file)?;
    let generators = Generators::new(arguments.seed.map_or(Seed::OperatingSystem, Seed::Known))?;
    let mut data = Data::read(arguments, &file.schema()?, &generators, show_progress)?;
    data.say_how_many(&arguments.data, &mut file)?;
    if let Some(target) = goal.target() {
        find_noise(&mut file, target)?;
    }
    let (plan, schema) = file.plan()?;
    let options = Options::default();
    let account = Account::new(plan.run(), goal.question(), &options);
    let Some(mut certificate) = certificate::of(&file, &account, &options)? else {
        return Err(Problem::answer_is_no("there is no guarantee, so nothing is trained")
            .help(why_no_certificate(&account)));
    };
    data.prepare(&plan)?;
    let released = train(&plan, &mut data, &generators, show_progress)?;
    let model = files::model_bytes(&file, &released, arguments.seed.is_none())?;
    let share = arguments.test_share.map(Probability::get);
    certificate["training"] =
        enforcement::training_json(&plan, &schema, &account, &model, arguments.seed, share);
    if !released.evaluations.is_empty() {
        certificate["training"]["evaluation"] = report::evaluations_json(&released);
    }
    out.write(&model, &certificate)?;
    Ok(report::of(&report::Outcome {
        arguments,
        plan: &plan,
        schema: &schema,
        account: &account,
        out: &out,
        released: &released,
        data: &data,
        file: &file,
    }))
}

/// Puts the least noise that meets a target in place.
fn find_noise(file: &mut RunFile, target: Target) -> Result<(), Problem> {
    let parameter = Parameter::NoiseMultiplier;
    run_file::set(file, parameter.fact().name(), toml::Value::Float(1.0))?;
    let found = calibrate::search(&file.run()?, parameter, target)?;
    run_file::set(file, parameter.fact().name(), toml::Value::Float(found.value))
}

fn train(
    plan: &Plan,
    data: &mut Data,
    generators: &Generators,
    show_progress: bool,
) -> Result<Released, Problem> {
    let training = plan.training();
    let steps = training.steps().unwrap_or(0).saturating_add(training.public_steps);
    let bar = progress::bar(show_progress, steps.saturating_mul(training.tasks), "steps");
    let released = data.train(plan, generators, &mut || bar.inc(1));
    bar.finish_and_clear();
    released.map_err(problem)
}

fn problem(error: TrainError) -> Problem {
    let help = match error {
        TrainError::NoPublicRecords => "--public FILE, or run.public-steps = 0",
        TrainError::AnyOrder => "leave --stream out, or choose order = \"once\", \"cyclic\" or \"full\"",
        TrainError::Diverged => "a smaller learning rate, weight-decay, or a domain to project to",
        TrainError::OtherRecords { .. } | TrainError::Reading(_) => "nothing was written",
    };
    Problem::new(format!("nothing is released: {error}")).help(help)
}
