//! How each assumption of a guarantee is made to hold.

use super::NOT_PRIVATE;
use super::files::digest;
use crate::problem::Problem;
use crate::run_file::SelfContained;
use dobrushin::account::Report as Account;
use dobrushin::run::{Assumption, Contribution, Training};
use dobrushin_train::schema::Schema;
use dobrushin_train::{Model, Plan};
use serde_json::{Value, json};

/// What a certificate says of training.
pub fn training_json(
    plan: &Plan,
    schema: &Schema,
    account: &Account,
    model: &[u8],
    seed: Option<u64>,
    test_share: Option<f64>,
) -> Value {
    let mut json = derived(plan, schema, account, test_share);
    json["randomness"] = json!(randomness(seed.is_none()));
    json["private"] = json!(seed.is_none());
    json["model_sha256"] = json!(digest(model));
    if let Some(seed) = seed {
        json["seed"] = json!(seed);
    }
    json
}

fn randomness(private: bool) -> &'static str {
    if private { "ChaCha20, keyed by the operating system" } else { NOT_PRIVATE }
}

/// What a certificate must say of training: all that follows from the run, and the rest as it is claimed if it can be so,
/// an empty list if not.
pub fn recomputed(claimed: &Value, run: &SelfContained, account: &Account) -> Result<Value, Problem> {
    let (plan, schema) = run.plan()?;
    let private = claimed["private"] == true;
    let test_share = claimed["test_share"].as_f64().filter(|share| (0.0..=1.0).contains(share));
    let mut json = derived(&plan, &schema, account, test_share);
    // An empty list is none of the values that it is compared with.
    let as_claimed = |value: &Value, can_be: bool| if can_be { value.clone() } else { json!([]) };
    json["randomness"] = json!(randomness(private));
    json["private"] = json!(private);
    json["model_sha256"] = as_claimed(&claimed["model_sha256"], is_digest(&claimed["model_sha256"]));
    if !private {
        json["seed"] = as_claimed(&claimed["seed"], claimed["seed"].is_u64());
    }
    if let Some((accuracy_deviation, loss_deviation)) = plan.evaluation_deviations() {
        let measured = |value: &Value| as_claimed(value, value.is_number());
        let task = |task: usize| {
            let claimed = &claimed["evaluation"][task];
            json!({
                "accuracy": accuracy_deviation.map(|_| measured(&claimed["accuracy"])),
                "accuracy_deviation": accuracy_deviation,
                "loss": measured(&claimed["loss"]),
                "loss_deviation": loss_deviation,
            })
        };
        json["evaluation"] = (0..schema.tasks()).map(task).collect();
    }
    Ok(json)
}

/// Whether it is the SHA-256 of something, as [`digest`] writes it.
fn is_digest(value: &Value) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    value.as_str().is_some_and(|text| text.len() == 64 && text.bytes().all(is_digit))
}

/// All of it that follows from the run, and from the share of the records that was kept apart for a test.
fn derived(plan: &Plan, schema: &Schema, account: &Account, test_share: Option<f64>) -> Value {
    let assumptions = account.guarantee().map_or(&[][..], |guarantee| guarantee.assumptions);
    let enforced: Vec<Value> = assumptions
        .iter()
        .map(|assumption| json!({ "assumption": assumption.to_string(), "enforced": how(assumption, plan) }))
        .collect();
    let training = plan.training();
    let mut not_covered = vec![OTHER_RELEASES, ROUNDING];
    not_covered.extend(test_share.map(|_| TESTED));
    let mut json = json!({
        "schema_sha256": schema.hash(),
        "records": training.records,
        "constants": {
            "gradient_norm": training.contribution.map(|contribution| contribution.norm().get()),
            "clipped": matches!(training.contribution, Some(Contribution::Clipped(_))),
            "smoothness": training.loss.smoothness.map(|beta| beta.get()),
            "convex": training.loss.convex,
            "row_norm": plan.bounds().norm.get(),
            "diameter": training.domain.diameter.map(|diameter| diameter.get()),
            "parameters": training.domain.dimension,
        },
        "enforcement": enforced,
        "not_covered": not_covered,
    });
    if let Some(share) = test_share {
        json["test_share"] = json!(share);
    }
    json
}

const OTHER_RELEASES: &str = "what else is published of the same records, such as other models, trials, or tests on a part of them: costs add \
                              up";
const TESTED: &str = "what was reported of the records that were kept apart for a test, for these records: they took no part in training";
const ROUNDING: &str = "the rounding of scores and gradients (to 24 binary digits), of iterates and noise (to 53; what is released \
                        has no digits below 2⁻²⁰ of its noise), and how long steps take";

/// How the program makes an assumption hold, or that it does not, in words.
pub fn how(assumption: &Assumption, plan: &Plan) -> String {
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
        Assumption::DrawnIndependently { .. } | Assumption::DrawnTogether { .. } => {
            "drawn from ChaCha20 by comparing whole numbers, with a probability that is never larger; batches are not kept"
        }
        Assumption::EveryRecordEveryStep
        | Assumption::OneBatch(_)
        | Assumption::OneBatchOfEachPass { .. }
        | Assumption::ExactlySteps(_) => {
            let steps = steps(plan.training());
            return format!("the program makes {steps} steps, and counts records by their place in the file");
        }
        Assumption::MayPublish(_) | Assumption::PublishesOnly(_) => {
            "iterates are in memory only; one is written when training has ended, and nothing if it is interrupted"
        }
        Assumption::NoMemory => "the program keeps no average and no momentum",
        Assumption::PublicSteps(_) => {
            "these steps use the file given by --public; that it is public is NOT enforced: it is yours to know"
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
        // A plan is an iteration whose gradients are bounded, and its model is released for everybody.
        Assumption::GradientNormOfTheMultiplier
        | Assumption::OnlyForRecord(_)
        | Assumption::IndependentMechanisms
        | Assumption::FixedMechanisms
        | Assumption::MayPublishOutputs
        | Assumption::ContinuousMechanisms
        | Assumption::StepsAsGiven
        | Assumption::DisplacementsAsGiven
        | Assumption::IndependentSteps
        | Assumption::OneDimension
        | Assumption::PublishesOnlyTheRelease => "NOT enforced by the program",
    }
    .to_owned()
}

fn steps(training: &Training) -> u64 {
    training.steps().unwrap_or(0).saturating_add(training.public_steps)
}
