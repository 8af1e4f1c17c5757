//! Training by a run: first the account, then the model, then its certificate, or nothing at all.

use crate::ask::{self, why_no_certificate};
use crate::certificate::{Certificate, TrainingRecord};
use crate::error::DocumentError;
use crate::model::ModelFile;
use crate::run_file::SelfContained;
use dobrushin::Progress;
use dobrushin::account::{Account, Options, Question, Target};
use dobrushin::mechanism::Neighbours;
use dobrushin::run::Parameter;
use dobrushin_train::schema::Schema;
use dobrushin_train::{Plan, Released, TrainError};

/// A model with its certificate, and all that both were made from.
pub struct Trained {
    /// The plan that was accounted for and carried out.
    pub plan: Plan,
    /// How the records were read.
    pub schema: Schema,
    /// The account of the plan.
    pub account: Account,
    /// How it was asked; nobody watches.
    pub options: Options,
    /// What training released.
    pub released: Released,
    /// The bytes of the model's file.
    pub model: Vec<u8>,
    /// The certificate of that file.
    pub certificate: Certificate,
}

/// What a certificate states and no run tells.
#[derive(Clone, Debug, Default)]
pub struct Circumstances {
    /// The seed, if all randomness is drawn from one. Then the model protects nobody.
    pub seed: Option<u64>,
    /// The share of the records that was kept out of training for a test.
    pub test_share: Option<f64>,
    /// The day on which training began, such as 2026-11-18. It is read before the records are, so that it does not
    /// depend on them.
    pub made: Option<String>,
}

/// Accounts first, and then trains. `carry_out` is given the plan that was accounted for, and something to call after
/// each step; `begin` is told what is being worked on, and gives what counts it.
///
/// # Errors
/// [`DocumentError`] if there is no guarantee, and then nothing is trained; or if training fails, and then nothing is
/// released.
pub fn train(
    run: &SelfContained,
    question: Question,
    circumstances: Circumstances,
    begin: &mut dyn FnMut(&'static str) -> Progress,
    carry_out: impl FnOnce(&Plan, &mut (dyn FnMut() + Send)) -> Result<Released, TrainError>,
) -> Result<Trained, DocumentError> {
    let (plan, schema) = run.plan()?;
    let options = Options::default();
    let account =
        plan.run().account_by(question, &Options { progress: begin("analyses"), ..options.clone() });
    let Some(mut certificate) = Certificate::of(run, &account, &options) else {
        return Err(DocumentError::answer_is_no("there is no guarantee, so nothing is trained")
            .help(why_no_certificate(&account)));
    };
    let progress = begin("steps");
    let training = plan.training();
    let steps = training.steps().unwrap_or(0).saturating_add(training.public_steps);
    progress.add_parts(steps.saturating_mul(training.tasks));
    let released = carry_out(&plan, &mut || progress.advance(1)).map_err(problem)?;
    let Circumstances { seed, test_share, made } = circumstances;
    let model = ModelFile::new(run, &released, seed.is_none()).bytes();
    let record = TrainingRecord::new(&plan, &schema, &account, &model, &released, seed, test_share);
    certificate.training = Some(TrainingRecord { made, ..record });
    certificate.meaning = certificate.meaning.filter(|_| seed.is_none());
    Ok(Trained { plan, schema, account, options, released, model, certificate })
}

/// The run with the least noise that meets a target.
pub fn with_least_noise(
    run: SelfContained,
    target: Target,
    progress: &Progress,
) -> Result<SelfContained, DocumentError> {
    let run = run.with_noise_multiplier(1.0)?;
    let found = ask::search(&run.run()?, Parameter::NoiseMultiplier, target, progress)?;
    run.with_noise_multiplier(found.value)
}

/// Whether the number of records is a secret. The run answers this, not a plan, because the noise may still have to be
/// found.
pub fn count_is_secret(run: &SelfContained) -> Result<bool, DocumentError> {
    Ok(run.neighbours()? == Some(Neighbours::AddOrRemoveOne))
}

/// The run with this many records, unless their number is a secret; a run that gives another number is refused.
pub fn counted(run: SelfContained, count: u64) -> Result<SelfContained, DocumentError> {
    if count_is_secret(&run)? {
        return Ok(run);
    }
    match run.records()? {
        None => run.with_records(count),
        Some(declared) if declared == count => Ok(run),
        Some(declared) => Err(DocumentError::new(format!(
            "run.records is {declared}, but there are {count} records to train on"
        ))
        .help("leave out run.records: the records are then counted")),
    }
}

fn problem(error: TrainError) -> DocumentError {
    let help = match error {
        TrainError::NoPublicRecords => "--public FILE, or run.public-steps = 0",
        TrainError::NotInMemory => "leave --stream or [centre] out",
        TrainError::AnyOrder => "leave --stream out, or choose order = \"once\", \"cyclic\" or \"full\"",
        TrainError::Diverged => "a smaller learning rate, weight-decay, or a domain to project to",
        TrainError::OtherRecords { .. } | TrainError::Reading(_) => "nothing was written",
    };
    DocumentError::new(format!("nothing is released: {error}")).help(help)
}
