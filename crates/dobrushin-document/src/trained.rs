//! Training by a run: first the account, then the model, then its certificate, or nothing at all.

use crate::ask::{self, Asked, why_no_certificate, worth_meeting};
use crate::certificate::{Certificate, TrainingRecord};
use crate::error::DocumentError;
use crate::model::ModelFile;
use crate::report::{MetricsReport, OneOrMany, ScheduleReport, TrainingReport};
use crate::run_file::SelfContained;
use dobrushin::account::{Account, Options, Question, Target};
use dobrushin::mechanism::Neighbours;
use dobrushin::run::Parameter;
use dobrushin::{Delta, Epsilon, Progress};
use dobrushin_audit::floor::{Floor, floor};
use dobrushin_train::schema::Schema;
use dobrushin_train::{Plan, Released, Table, TrainError, evaluate, quality};

/// A model with its certificate, and all that both were made from.
pub struct Trained {
    /// The plan that was accounted for and carried out.
    pub plan: Plan,
    /// How the records were read.
    pub schema: Schema,
    /// The account of the plan.
    pub account: Account,
    /// What no analysis can go below.
    pub floor: Option<Floor>,
    /// How it was asked; nobody watches.
    pub options: Options,
    /// What training released.
    pub released: Released,
    /// The bytes of the model's file.
    pub model: Vec<u8>,
    /// The certificate of that file.
    pub certificate: Certificate,
}

impl Trained {
    /// What may be said after training by this run has ended, but not yet how good the model is; the noise may have been
    /// found for a target.
    pub fn report(&self, run: &SelfContained, seed: Option<u64>, noise_was_found: bool) -> TrainingReport {
        let schedule = ScheduleReport::new(self.plan.training(), noise_was_found);
        TrainingReport {
            private_evaluation: self.released.evaluations.iter().map(Into::into).collect(),
            ..TrainingReport::new(&self.account, run, &self.schema, schedule, seed)
        }
    }

    /// How good the model is on records, one entry for each task, with all that may be said if the records are public.
    pub fn metrics(&self, table: &Table, are_public: bool) -> OneOrMany<MetricsReport> {
        let (model, schema) = (self.plan.model(), &self.schema);
        let metrics = self.released.parameters.iter().enumerate().map(|(task, parameters)| {
            let metrics = evaluate(model, parameters, table, task);
            let found = are_public.then(|| quality(model, parameters, table, task)).flatten();
            MetricsReport::new(&metrics, schema, task).with_quality(found.as_ref(), schema, task)
        });
        metrics.collect()
    }
}

/// The guarantee that is wanted.
#[derive(Clone, Copy, Debug)]
pub enum Goal {
    /// The one that the noise of the run gives.
    Ask(Question),
    /// One for which the noise must be found.
    Meet(Epsilon, Delta),
}

impl Goal {
    /// What the wishes and the run ask for.
    pub fn of(asked: Asked, run: &SelfContained) -> Result<Self, DocumentError> {
        let (of_file, delta) = run.target()?;
        let delta = asked.delta.or(delta).map(worth_meeting).transpose()?;
        match (asked.epsilon.or(of_file), delta) {
            (Some(epsilon), Some(delta)) => Ok(Self::Meet(epsilon, delta)),
            (Some(_), None) if asked.epsilon.is_some() => {
                Err(DocumentError::new("--epsilon is given, but no δ: neither --delta nor target.delta")
                    .help("--delta 1e-6, well below 1 over the number of records"))
            }
            (Some(epsilon), None) => Ok(Self::Ask(Question::DeltaAt(epsilon))),
            (None, Some(delta)) => Ok(Self::Ask(Question::EpsilonAt(delta))),
            (None, None) => {
                Err(DocumentError::new("there is no δ: neither --delta nor [target] delta is given")
                    .help("--delta 1e-6, well below 1 over the number of records"))
            }
        }
    }

    /// The question that the certificate answers.
    pub fn question(self) -> Question {
        match self {
            Self::Ask(question) => question,
            Self::Meet(_, delta) => Question::EpsilonAt(delta),
        }
    }

    /// The target that the noise must meet.
    pub fn target(self) -> Option<Target> {
        match self {
            Self::Ask(_) => None,
            Self::Meet(epsilon, delta) => Some(Target::Privacy { epsilon, delta }),
        }
    }
}

/// What a certificate states and no run tells.
#[derive(Clone, Debug, Default)]
pub struct Circumstances {
    /// The seed, if all randomness is drawn from one. Then the model protects nobody.
    pub seed: Option<u64>,
    /// The share of the records that was kept out of training for a test.
    pub test_share: Option<f64>,
    /// Whether a secret state is kept, so that records can be deleted later.
    pub keeps_state: bool,
    /// Whether the records were said to be public, so that more was shown of them than the model.
    pub data_is_public: bool,
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
    Accounted::new(run, question, begin)?.train(circumstances, begin, carry_out)
}

/// A run whose guarantee is known, and which can now be carried out.
pub struct Accounted<'a> {
    run: &'a SelfContained,
    /// What will be carried out.
    pub plan: Plan,
    schema: Schema,
    /// The account of the plan.
    pub account: Account,
    floor: Option<Floor>,
    options: Options,
    certificate: Certificate,
}

impl<'a> Accounted<'a> {
    /// Accounts for the run.
    ///
    /// # Errors
    /// [`DocumentError`] if there is no guarantee.
    pub fn new(
        run: &'a SelfContained,
        question: Question,
        begin: &mut dyn FnMut(&'static str) -> Progress,
    ) -> Result<Self, DocumentError> {
        let (plan, schema) = run.plan()?;
        let options = Options::default();
        let account =
            plan.run().account_by(question, &Options { progress: begin("analyses"), ..options.clone() });
        let floor = floor(plan.run(), question);
        let Some(certificate) = Certificate::of(run, &account, floor.as_ref(), &options) else {
            return Err(DocumentError::answer_is_no("there is no guarantee, so nothing is trained")
                .help(why_no_certificate(&account)));
        };
        Ok(Self { run, plan, schema, account, floor, options, certificate })
    }

    /// Carries it out; see [`train`].
    ///
    /// # Errors
    /// [`DocumentError`] if training fails, and then nothing is released.
    pub fn train(
        self,
        circumstances: Circumstances,
        begin: &mut dyn FnMut(&'static str) -> Progress,
        carry_out: impl FnOnce(&Plan, &mut (dyn FnMut() + Send)) -> Result<Released, TrainError>,
    ) -> Result<Trained, DocumentError> {
        let Self { run, plan, schema, account, floor, options, mut certificate } = self;
        let progress = begin("steps");
        let training = plan.training();
        let steps = match training.forgetting.last() {
            Some(request) => request.steps,
            None => training.steps().unwrap_or(0).saturating_add(training.public_steps),
        };
        progress.add_parts(steps.saturating_mul(training.tasks));
        let released = carry_out(&plan, &mut || progress.advance(1)).map_err(problem)?;
        let model = ModelFile::new(run, &released, circumstances.seed.is_none()).bytes();
        certificate.meaning = certificate.meaning.filter(|_| circumstances.seed.is_none());
        let record = TrainingRecord::new(&plan, &schema, &account, &model, &released, circumstances);
        certificate.training = Some(record);
        Ok(Trained { plan, schema, account, floor, options, released, model, certificate })
    }
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

/// Refuses, before anything is read, whatever would tell the number of records where that is a secret.
pub fn keep_the_number_secret(run: &SelfContained, tests_on_a_share: bool) -> Result<(), DocumentError> {
    if count_is_secret(run)? { refuse_counting(run.records()?, tests_on_a_share) } else { Ok(()) }
}

/// Refuses whatever would tell the number of records, which is a secret; a bound on it is public.
pub fn refuse_counting(bound: Option<u64>, tests_on_a_share: bool) -> Result<(), DocumentError> {
    if bound.is_none() {
        return Err(DocumentError::new(
            "run.records is missing, and with neighbours = \"add-or-remove-one\" it must not be read off the data",
        )
        .help("add to [run] a public upper bound on the number of records: records = 50000; for a plan: --records 50000"));
    }
    if tests_on_a_share {
        return Err(DocumentError::new(
            "--test-share is given, but with neighbours = \"add-or-remove-one\" what is reported of a share of the \
             records would show how many there are",
        )
        .help("--test FILE with records that are public, [evaluation], or neighbours = \"replace-one\""));
    }
    Ok(())
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
    DocumentError::new(format!("nothing is released: {error}")).help(help_for(&error))
}

/// What to do if a model cannot be trained.
pub(crate) fn help_for(error: &TrainError) -> &'static str {
    match error {
        TrainError::NoPublicRecords => "--public FILE, or run.public-steps = 0",
        TrainError::NotInMemory => "leave --stream or [centre] out",
        TrainError::AnyOrder => "leave --stream out, or choose order = \"once\", \"cyclic\" or \"full\"",
        TrainError::Deletes => "leave [forget] out; dobrushin forget deletes records after training",
        TrainError::OtherState(_) => "give the state that dobrushin train --keep-state wrote for this run",
        TrainError::Diverged => "a smaller learning rate, weight-decay, or a domain to project to",
        TrainError::OtherRecords { .. } | TrainError::Reading(_) => "nothing was written",
    }
}
