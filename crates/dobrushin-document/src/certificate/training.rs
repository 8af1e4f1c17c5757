//! How a model was trained, and how each assumption of its guarantee is made to hold.

use crate::error::DocumentError;
use crate::json::digest;
use crate::report::EvaluationReport;
use crate::run_file::SelfContained;
use crate::schema;
use crate::trained::Circumstances;
use dobrushin::account::Account;
use dobrushin::run::Contribution;
use dobrushin_train::schema::Schema;
use dobrushin_train::{Plan, Released, enforcement};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// What is said about a run whose randomness can be repeated.
pub const NOT_PRIVATE: &str = "reproducible, NOT private";

/// What a certificate says about training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainingRecord {
    /// The hash of the canonical schema.
    pub schema_sha256: String,
    /// The number of records, or a bound on it.
    pub records: u64,
    /// The day on which training began, in UTC, such as 2026-11-18. Older certificates do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<String>,
    /// What follows from the model and the schema.
    pub constants: Constants,
    /// How each assumption is made to hold.
    pub enforcement: Vec<Enforcement>,
    /// What the guarantee does not cover, in words.
    pub not_covered: Vec<String>,
    /// The share of the records that was kept out of training for a test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_share: Option<f64>,
    /// Whether a secret state was kept, so that records can be deleted later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keeps_state: Option<bool>,
    /// Whether the records were said to be public, so that more was shown of them than the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_is_public: Option<bool>,
    /// Where the randomness came from, in words.
    pub randomness: String,
    /// Whether nobody knows the randomness.
    pub private: bool,
    /// The seed, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The hash of the model's file.
    pub model_sha256: String,
    /// The private evaluation of each task, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluation: Option<Vec<EvaluationReport>>,
}

/// What the accountant may assume.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Constants {
    gradient_norm: Option<f64>,
    clipped: bool,
    smoothness: Option<f64>,
    convex: Option<bool>,
    row_norm: f64,
    diameter: Option<f64>,
    /// The number of parameters.
    pub parameters: Option<u64>,
}

/// An assumption, and how it is made to hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Enforcement {
    /// What must hold, in words.
    pub assumption: String,
    /// How it is made to hold, in words.
    pub enforced: String,
}

/// What does not follow from any run.
struct Stated {
    made: Option<String>,
    test_share: Option<f64>,
    keeps_state: bool,
    data_is_public: bool,
    seed: Option<u64>,
    private: bool,
    model_sha256: String,
    evaluation: Option<Vec<EvaluationReport>>,
}

impl TrainingRecord {
    /// The record of a model that was just trained, with the bytes of its file.
    pub fn new(
        plan: &Plan,
        schema: &Schema,
        account: &Account,
        model: &[u8],
        released: &Released,
        circumstances: Circumstances,
    ) -> Self {
        let evaluation: Vec<EvaluationReport> = released.evaluations.iter().map(Into::into).collect();
        let evaluation = Some(evaluation).filter(|tasks| !tasks.is_empty());
        let Circumstances { seed, test_share, keeps_state, data_is_public, made } = circumstances;
        let (private, model_sha256) = (seed.is_none(), digest(model));
        let stated =
            Stated { made, test_share, keeps_state, data_is_public, seed, private, model_sha256, evaluation };
        Self::of(plan, schema, account, stated)
    }

    /// What a certificate must say about training: all that follows from the run, and the rest as claimed if it can be
    /// true. Where it cannot be true, this has something that can, and so differs from the claim.
    ///
    /// # Errors
    /// [`DocumentError`] if the run cannot be trained.
    pub fn recomputed(claimed: &Json, run: &SelfContained, account: &Account) -> Result<Self, DocumentError> {
        let (plan, schema) = run.plan()?;
        let private = claimed["private"] == true;
        let task = |task: usize, (accuracy_deviation, loss_deviation): (Option<f64>, f64)| {
            let claimed = &claimed["evaluation"][task];
            let measured = |key: &str| claimed[key].as_f64().unwrap_or(0.0);
            EvaluationReport {
                accuracy: accuracy_deviation.map(|_| measured("accuracy")),
                accuracy_deviation,
                loss: measured("loss"),
                loss_deviation,
            }
        };
        let tasks = |deviations| (0..schema.tasks()).map(|at| task(at, deviations)).collect();
        let stated = Stated {
            made: claimed
                .get("made")
                .map(|day| day.as_str().filter(|day| is_day(day)).unwrap_or(EPOCH).to_owned()),
            test_share: Some(&claimed["test_share"])
                .filter(|share| !share.is_null())
                .map(|share| share.as_f64().filter(|share| (0.0..=1.0).contains(share)).unwrap_or(0.0)),
            keeps_state: claimed["keeps_state"] == true,
            data_is_public: claimed["data_is_public"] == true,
            seed: (!private).then(|| claimed["seed"].as_u64().unwrap_or(0)),
            private,
            model_sha256: stated_digest(&claimed["model_sha256"]).unwrap_or_else(|| digest(b"")),
            evaluation: plan.evaluation_deviations().map(tasks),
        };
        Ok(Self::of(&plan, &schema, account, stated))
    }

    fn of(plan: &Plan, schema: &Schema, account: &Account, stated: Stated) -> Self {
        let assumptions = account.guarantee().map_or(&[][..], |guarantee| guarantee.assumptions);
        let enforcement = assumptions.iter().map(|assumption| Enforcement {
            assumption: assumption.to_string(),
            enforced: enforcement(assumption, plan),
        });
        let training = plan.training();
        let Stated { made, test_share, keeps_state, data_is_public, seed, private, model_sha256, evaluation } =
            stated;
        let deleted = (!training.forgetting.is_empty()).then_some(REMAINING);
        let not_covered = deleted.into_iter().chain([OTHER_RELEASES, ROUNDING]);
        let not_covered = not_covered.chain(test_share.map(|_| TESTED)).chain(keeps_state.then_some(STATE));
        let not_covered = not_covered.chain(data_is_public.then_some(PUBLIC));
        Self {
            schema_sha256: schema::hash(schema),
            records: training.records,
            made,
            constants: Constants {
                gradient_norm: training.contribution.map(|contribution| contribution.norm().get()),
                clipped: matches!(training.contribution, Some(Contribution::Clipped(_))),
                smoothness: training.loss.smoothness.map(|beta| beta.get()),
                convex: training.loss.convex,
                row_norm: plan.bounds().norm.get(),
                diameter: training.domain.diameter.map(|diameter| diameter.get()),
                parameters: training.domain.dimension,
            },
            enforcement: enforcement.collect(),
            not_covered: not_covered.map(str::to_owned).collect(),
            test_share,
            keeps_state: keeps_state.then_some(true),
            data_is_public: data_is_public.then_some(true),
            randomness: randomness(private).to_owned(),
            private,
            seed,
            model_sha256,
            evaluation,
        }
    }
}

fn randomness(private: bool) -> &'static str {
    if private { "ChaCha20, keyed by the operating system" } else { NOT_PRIVATE }
}

/// What stands where something claims to be a day and is none.
const EPOCH: &str = "1970-01-01";

/// Whether a text is a day, as in 2026-11-18; it can say nothing else.
fn is_day(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let number = |part: &str, digits: usize| {
        (part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| part.parse::<u32>().ok())?
    };
    match parts[..] {
        [year, month, day] => {
            number(year, 4).is_some()
                && number(month, 2).is_some_and(|month| (1..=12).contains(&month))
                && number(day, 2).is_some_and(|day| (1..=31).contains(&day))
        }
        _ => false,
    }
}

/// The SHA-256 of something, if it is written as [`digest`] writes it.
fn stated_digest(value: &Json) -> Option<String> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let text = value.as_str()?;
    (text.len() == 64 && text.bytes().all(is_digit)).then(|| text.to_owned())
}

const OTHER_RELEASES: &str = "what else is published of the same records, such as other models, trials, or tests on a part of them: costs add \
                              up";
const REMAINING: &str =
    "the records that remain: this certificate is about the deleted ones alone, all of them together";
const STATE: &str = "the state that was kept to delete records later: it holds the last iterate with all of its digits, and is secret";
const PUBLIC: &str = "what else was shown of the records, which were said to be public";
const TESTED: &str = "what was reported of the records that were kept apart for a test, for these records: they took no part in training";
const ROUNDING: &str = "the rounding of scores and gradients (to 24 binary digits), of iterates and noise (to 53; what is released \
                        has no digits below 2⁻²⁰ of its noise), and how long steps take";
