//! Which assumptions of a guarantee the trainer makes hold, and how.

use crate::kept::all_steps;
use crate::{Model, Plan};
use dobrushin::run::Assumption;

/// How the program makes an assumption hold, or that it does not, in words.
///
/// ```
/// use dobrushin::{Order, Positive, Release, Run};
/// use dobrushin_train::loss::Logistic;
/// use dobrushin_train::{Bounds, Description, Model, Plan, Target, enforcement};
///
/// let run = Run::dp_sgd(4).order(Order::Cyclic).batch_size(2).steps(10).release(Release::Last);
/// let run = run.learning_rate(0.1).clip_norm(1.0).noise_multiplier(3.0).build()?;
/// let bounds = Bounds { dimension: 1, norm: Positive::new(1.0)?, target: Target::Classes(2) };
/// let plan = Plan::new(Description {
///     training: run.as_training().ok_or("it is an iteration")?.clone(),
///     model: Model::Linear { loss: Logistic.into(), features: 1 },
///     bounds,
///     projection: None,
///     loss_bound: Positive::new(1.0)?,
/// })?;
/// // Every assumption of the guarantee is answered, in words.
/// let assumptions = plan.run().composition()?.assumptions;
/// assert!(!assumptions.is_empty() && assumptions.iter().all(|assumption| !enforcement(assumption, &plan).is_empty()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn enforcement(assumption: &Assumption, plan: &Plan) -> String {
    match assumption {
        Assumption::NeighboursDiffer(_) => {
            "by the meaning of the guarantee; neither how other records are read, nor their number, nor whether the program \
             stops depends on what a record holds: every line of the file is a row, and a row that cannot be used is an \
             empty record in its place"
        }
        Assumption::AtMostRecords(_) | Assumption::ExactlyRecords(_) => {
            "NOT enforced: to stop at one record more would tell that it is there, so that all rows are used, however many \
             there are; that there are no more is yours to know"
        }
        Assumption::ClippedTo(_) => "every record's gradient is scaled down to that norm before it is added",
        Assumption::GradientNorm(_) => {
            return format!(
                "every row is scaled down to norm {} when it is read, and every target moved into its declared range; the \
                 rest follows from the model",
                plan.bounds().norm.get()
            );
        }
        Assumption::Smooth(..) => {
            return format!(
                "follows from the model for rows of norm {} at most, which every row is scaled down to",
                plan.bounds().norm.get()
            );
        }
        Assumption::ProjectedTo(_) => "the iterate is projected after every step",
        Assumption::WeightDecay(_) => "every step does so",
        Assumption::Noise(_) => {
            "drawn anew in every step from ChaCha20, in 53 binary digits; rounding is not covered"
        }
        Assumption::DividedBy(_)
        | Assumption::DividedByTheNumberDrawn
        | Assumption::DividedByTheBatch => "the program divides so",
        Assumption::OrdinaryBatches { .. } => {
            "follows from how records are drawn: it is computed, not enforced, and the probability that it fails is part of δ"
        }
        Assumption::Allocated { .. } => {
            "every record's batch is drawn from ChaCha20 by comparing whole numbers, with exactly equal probabilities, at the \
             start of each pass; batches are not kept, and their number follows from the number of records in the run file"
        }
        Assumption::DrawnIndependently { .. } | Assumption::DrawnTogether { .. } => {
            "drawn from ChaCha20 by comparing whole numbers, with a probability that is never larger; batches are not kept"
        }
        Assumption::EveryRecordEveryStep
        | Assumption::OneBatch(_)
        | Assumption::OneBatchOfEachPass { .. }
        | Assumption::ExactlySteps(_) => {
            let steps = all_steps(plan.training());
            return format!("the program makes {steps} steps, and counts records by their place in the file");
        }
        Assumption::MayPublish(_) | Assumption::PublishesOnly(_) => {
            "iterates are in memory only; one is written when training has ended, and nothing if it is interrupted"
        }
        Assumption::NoMemory => "the program keeps no average and no momentum",
        Assumption::PublicSteps(_) => {
            "these steps use the file given by --public; that it is public is NOT enforced: it is yours to know"
        }
        Assumption::Centred(_) => {
            "no row is longer than the norm of the schema, the sum is exact, and noise of that size is added; rows are cut \
             to that norm again after the mean is subtracted, so that gradients keep their bound"
        }
        Assumption::Evaluated(_) => {
            "each record's part of the sum is cut to its bound, and noise of that size is added"
        }
        Assumption::Tasks(_) => "each task has its own noise and order, and its cost is counted",
        Assumption::StartsAtZero | Assumption::StartsAtZeroUnlessBounded => match plan.model() {
            Model::Network { .. } => {
                "it starts from random weights, which depend on no record; what is left of them after the decay so far \
                 is the same for all data, and less that it starts at 0 and makes steps within the same bounds"
            }
            Model::Linear { .. } | Model::Softmax { .. } => "it does, and in the domain if there is one",
        },
        Assumption::SmallestNoiseOfMoreThan(_) => {
            "it is how the guarantee is computed; every step has its own noise, which is not smaller"
        }
        Assumption::ParametersWithoutData => {
            "NOT enforced: it is yours to see to. A run file that was tuned on these records, or a schema that was read off \
             them, is not covered"
        }
        Assumption::AsIfNeverUsed(_) => {
            "by the meaning of the guarantee; a deleted row keeps its place as an empty record, and is not read in any step after \
             the request"
        }
        Assumption::Deleted { .. } => {
            let steps = all_steps(plan.training());
            return format!(
                "the program counts steps and deleted rows in its state, which has a checksum; it made {steps} steps in all, and \
                 finds each remaining row in the place that it had in training"
            );
        }
        Assumption::ContinuesTheIterate => {
            "the state holds the iterate with all of its digits, for its owner only, and the steps after a request start from it"
        }
        Assumption::RequestsWithoutReleases => {
            "NOT enforced: it is yours to see to that nobody is deleted because of what a model showed"
        }
        Assumption::EarlierReleasesStay => {
            "NOT enforced: whoever has an earlier model, an old state or the data keeps what they have"
        }
        // A plan is an iteration with bounded gradients, and its model is released to everybody.
        Assumption::GradientNormOfTheMultiplier
        | Assumption::OnlyForRecord(_)
        | Assumption::DifferentTasks(_)
        | Assumption::OnlyForRecordOfAll(_)
        | Assumption::PassBegins(_)
        | Assumption::OfTask(..)
        | Assumption::IndependentMechanisms
        | Assumption::FixedMechanisms
        | Assumption::MayPublishOutputs
        | Assumption::ContinuousMechanisms
        | Assumption::StepsAsGiven
        | Assumption::DisplacementsAsGiven
        | Assumption::IndependentSteps
        | Assumption::OneDimension
        | Assumption::StartsApart { .. }
        | Assumption::PublishesOnlyTheRelease => "NOT enforced by the program",
    }
    .to_owned()
}
