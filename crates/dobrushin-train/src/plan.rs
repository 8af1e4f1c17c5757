//! The one description of a run: what the accountant sees and what is carried out.

use crate::{Bounds, Model, Projection, extent};
use dobrushin::Positive;
use dobrushin::mechanism::Neighbours;
use dobrushin::run::{
    Batch, Contribution, Divisor, DomainFacts, Fact, IncompleteBatch, Length, LossFacts, Order, Record,
    Release, Run, RunError, Training,
};

/// What a user says about a run.
///
/// ```
/// use dobrushin::{Order, Positive, Release, Run};
/// use dobrushin_train::loss::Logistic;
/// use dobrushin_train::{Bounds, Description, Model, Target};
///
/// let run = Run::dp_sgd(100).order(Order::Cyclic).batch_size(10).steps(10).release(Release::Last);
/// let run = run.learning_rate(0.1).clip_norm(1.0).noise_multiplier(3.0).build()?;
/// let description = Description {
///     training: run.as_training().ok_or("it is an iteration")?.clone(),
///     model: Model::Linear { loss: Logistic.into(), features: 2 },
///     bounds: Bounds { dimension: 2, norm: Positive::new(1.0)?, target: Target::Classes(2) },
///     projection: None,
///     loss_bound: Positive::new(1.0)?,
/// };
/// // The smoothness of the logistic loss is R²/4.
/// let lowered = description.lowered()?;
/// let smoothness = lowered.as_training().and_then(|training| training.loss.smoothness).ok_or("it is smooth")?;
/// assert!((smoothness.get() - 0.25).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// The numbers of the run. What the accountant may assume about the loss and the domain is left out, and so is a
    /// Lipschitz constant, because the plan derives them.
    pub training: Training,
    /// What is trained.
    pub model: Model,
    /// The bounds that the records are made to obey.
    pub bounds: Bounds,
    /// The set that iterates are projected onto; without it, they are not projected.
    pub projection: Option<Projection>,
    /// A private evaluation clips the loss of a record to this.
    pub loss_bound: Positive,
}

/// A run that can be both accounted for and carried out, from the same object.
///
/// # Guarantee
/// [`Plan::run`] is a description of what [`Plan::train`] does: every number that training uses is read from it, and
/// what it says about the loss, about one record's gradient and about the domain is enforced for every record and
/// iterate, by the bounds of the table, by clipping and by projection.
///
/// ```
/// use dobrushin::{Order, Positive, Release, Run};
/// use dobrushin_train::loss::Huber;
/// use dobrushin_train::{Bounds, Description, Generators, Model, Plan, Projection, Seed, Table, Target};
///
/// let run = Run::dp_sgd(4).order(Order::Cyclic).batch_size(2).steps(10).release(Release::Last);
/// let run = run.learning_rate(0.1).clip_norm(1.0).noise_multiplier(3.0).build()?;
/// let target = Target::Range { lower: -1.0, upper: 1.0 };
/// let bounds = Bounds { dimension: 2, norm: Positive::new(1.0)?, target };
/// let plan = Plan::new(Description {
///     training: run.as_training().ok_or("it is an iteration")?.clone(),
///     model: Model::Linear { loss: Huber { width: Positive::new(1.0)? }.into(), features: 2 },
///     bounds,
///     projection: Some(Projection::Ball { radius: 1.0 }),
///     loss_bound: Positive::new(1.0)?,
/// })?;
/// // What the accountant may assume follows from the model and the projection …
/// assert_eq!(plan.training().loss.convex, Some(true));
/// assert!(plan.training().domain.diameter.is_some_and(|diameter| (diameter.get() - 2.0).abs() < 1e-9));
/// // … and training makes it hold. A known seed protects nobody: it is for tests.
/// let mut table = Table::new(bounds, 1);
/// for target in [0.0, 0.5, 0.5, 1.0] {
///     table.push(&[target, 1.0], &[target]);
/// }
/// let released = plan.train(&mut table, None, &Generators::new(Seed::Known(1))?, &mut || {})?;
/// assert!(released.parameters[0].iter().map(|w| w * w).sum::<f64>() <= 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Plan {
    run: Run,
    pub(crate) model: Model,
    pub(crate) bounds: Bounds,
    pub(crate) projection: Option<Projection>,
    pub(crate) loss_bound: Positive,
}

impl Description {
    /// What the accountant sees: the run with what follows from the model, the bounds and the projection.
    ///
    /// With records in turn and batches that do not divide them, empty records are added at the end. They contribute
    /// nothing, for every data set alike, and all batches are equal. Where a record may be present or absent, its
    /// absence is also an empty record: `run.records` is then a public bound on their number.
    ///
    /// # Errors
    /// [`RunError`] with the fact that is to blame.
    pub fn lowered(&self) -> Result<Run, RunError> {
        let Self { training, model, bounds, projection, .. } = self;
        refuse_claims(training)?;
        refuse_neighbours(training)?;
        model.check(bounds).map_err(|why| {
            RunError::new(
                Fact::Model,
                why,
                "a kind, and its keys, that fit the labels and columns of the schema",
            )
        })?;
        if training.centre.is_some() && matches!(model, Model::Network { .. }) {
            return Err(RunError::new(
                Fact::CentreNoise,
                "is given, but rows are centred for models of scores only, not for a network",
                "leave [centre] out, or kind = \"logistic\" or \"softmax\"",
            )
            .against(Fact::Model));
        }
        let parameters = model.parameters();
        if let Some(set) = projection {
            set.check(parameters).map_err(|why| RunError::new(Fact::Domain, why, "ball = 5.0"))?;
        }
        let mut training = training.clone();
        let clip = training.contribution.map(Contribution::norm);
        let reach = projection.map(|set| set.reach(parameters));
        let constants = model.constants(bounds, reach, clip);
        training.contribution = Some(match (clip, constants.lipschitz) {
            (Some(norm), _) => Contribution::Clipped(norm),
            (None, Some(norm)) => Contribution::Lipschitz(bound(Fact::Lipschitz, norm)?),
            (None, None) => {
                return Err(RunError::new(
                    Fact::ClipNorm,
                    "is missing, and without it one record's gradient may have any norm",
                    "clip-norm = 1.0; or, for a model of one score, [domain] ball = 5.0",
                ));
            }
        });
        training.loss = LossFacts {
            convex: Some(constants.convex),
            smoothness: constants.smoothness.map(|beta| bound(Fact::Smoothness, beta)).transpose()?,
            strong_convexity: None,
            generalised_linear: Some(constants.generalised_linear),
        };
        training.domain = DomainFacts {
            diameter: match projection {
                Some(set) => Some(bound(Fact::Diameter, set.diameter(parameters))?),
                None => None,
            },
            dimension: Some(parameters as u64),
        };
        // Padding must not hide that there are too few records.
        if let Batch::Size(size) = training.batch
            && size > training.records
        {
            let message = format!("is {size}, but there are only {} records", training.records);
            let help = format!("at most {}", Fact::Records);
            return Err(RunError::new(Fact::BatchSize, message, help).against(Fact::Records));
        }
        training.records = padded(&training);
        if training.records > u64::from(u32::MAX) {
            let message = format!("is {}, but it must be at most {}", training.records, u32::MAX);
            return Err(RunError::new(Fact::Records, message, "a part of the records"));
        }
        let run = Run::training(training.clone())?;
        match run.as_training().and_then(Training::steps) {
            // A fraction of a step is carried out as a whole step.
            Some(steps) => Run::training(Training { length: Length::Steps(steps), ..training }),
            None => Ok(run),
        }
    }
}

impl Plan {
    /// Derives what the accountant may assume, and checks that everything fits together and can be carried out.
    ///
    /// # Errors
    /// [`RunError`] with the fact that is to blame.
    pub fn new(description: Description) -> Result<Self, RunError> {
        refuse_unfinished(&description.training)?;
        let run = description.lowered()?;
        let Description { model, bounds, projection, loss_bound, .. } = description;
        if let Some(training) = run.as_training() {
            extent::check(training, &model, &bounds, projection)?;
        }
        Ok(Self { run, model, bounds, projection, loss_bound })
    }

    /// What the accountant sees.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// The numbers of the run.
    pub fn training(&self) -> &Training {
        // A plan is only built from training.
        self.run.as_training().expect("a plan is a noisy iteration")
    }

    /// What is trained.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The set that iterates are projected onto, if there is one.
    pub fn projection(&self) -> Option<Projection> {
        self.projection
    }

    /// The bounds that the records are made to obey.
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }
}

/// The number of records, with empty ones at the end, for which batches of records in turn are equal.
fn padded(training: &Training) -> u64 {
    match training.batch {
        Batch::Size(size) if training.order.is_by_passes() && size > 0 => {
            training.records.div_ceil(size).saturating_mul(size)
        }
        _ => training.records,
    }
}

/// Refuses claims about what the plan derives or decides.
fn refuse_claims(training: &Training) -> Result<(), RunError> {
    if training.incomplete_batch.is_some_and(|ending| ending != IncompleteBatch::Pad) {
        let message = "says otherwise, but training makes an incomplete batch complete by empty records";
        return Err(RunError::new(
            Fact::IncompleteBatch,
            message,
            "incomplete-batch = \"pad\", or leave it out",
        ));
    }
    let derived = "is derived from the model and the schema, so that it cannot be wrong";
    if training.loss != LossFacts::default() {
        return Err(RunError::new(Fact::Loss, derived, "leave [loss] out"));
    }
    if training.domain != DomainFacts::default() {
        return Err(RunError::new(Fact::Diameter, derived, "say where to project: [domain] ball = 5.0"));
    }
    if matches!(training.contribution, Some(Contribution::Lipschitz(_))) {
        let help = "leave it out, or clip gradients to a norm: clip-norm = 1.0";
        return Err(RunError::new(Fact::Lipschitz, derived, help));
    }
    Ok(())
}

/// Refuses what cannot be carried out.
fn refuse_unfinished(training: &Training) -> Result<(), RunError> {
    if training.release == Release::All {
        let message = "is \"all\", but training releases one iterate and hides all others";
        return Err(RunError::new(Fact::Release, message, "release = \"last\""));
    }
    if training.release == Release::RandomSkip && training.order != Order::Once {
        let message = format!("is \"random-skip\", which is for {} = \"once\"", Fact::Order);
        let help = "release = \"last\" or order = \"once\"";
        return Err(RunError::new(Fact::Release, message, help).against(Fact::Order));
    }
    if !training.forgetting.is_empty() && training.order == Order::Once {
        let message = "is \"once\", but clean steps after a request would use the remaining records again";
        let help = "order = \"cyclic\" or another that goes on";
        return Err(RunError::new(Fact::Order, message, help).against(Fact::ForgetSteps));
    }
    if training.length == Length::Any {
        return Err(RunError::new(Fact::Steps, "is \"any\", but training must end", "steps = 1000"));
    }
    if training.record != Record::Worst {
        let message = "is an index, but a model is released for everybody";
        return Err(RunError::new(Fact::Record, message, "leave it out"));
    }
    if training.learning_rate.is_none() {
        return Err(RunError::new(Fact::LearningRate, "is missing", "learning-rate = 0.1"));
    }
    Ok(())
}

/// A record that may be absent changes the number of records; what depends on that number must not change.
fn refuse_neighbours(training: &Training) -> Result<(), RunError> {
    if training.neighbours != Neighbours::AddOrRemoveOne {
        return Ok(());
    }
    let fits = matches!(training.order, Order::Poisson | Order::Allocation | Order::Full)
        && training.divide_by == Divisor::BatchSize
        && training.evaluation.is_none();
    if fits {
        return Ok(());
    }
    Err(RunError::new(
        Fact::Neighbours,
        "is \"add-or-remove-one\", which training supports for order = \"poisson\", \"allocation\" or \"full\" with divide-by = \
         \"batch-size\" and without [evaluation]: otherwise the number of records would show",
        "neighbours = \"replace-one\"",
    ))
}

/// A derived number, which must be positive and finite.
fn bound(fact: Fact, value: f64) -> Result<Positive, RunError> {
    Positive::new(value).map_err(|_| {
        let message = format!("would be {value:e}: the bounds are too small or too large for numbers");
        RunError::new(fact, message, "bounds, and a domain, of moderate size")
    })
}
