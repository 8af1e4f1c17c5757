//! How a model was trained, and how each assumption of its guarantee is made to hold.

use crate::error::DocumentError;
use crate::json::digest;
use crate::report::EvaluationReport;
use crate::run_file::SelfContained;
use crate::schema;
use dobrushin::account::Report as Account;
use dobrushin::run::{Contribution, Training};
use dobrushin_train::schema::Schema;
use dobrushin_train::{Model, Plan, Released};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// What is said of a run whose randomness can be repeated.
pub const NOT_PRIVATE: &str = "reproducible, NOT private";

/// What a certificate says of training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainingRecord {
    /// The hash of the canonical schema.
    pub schema_sha256: String,
    /// How many records there were, or could be.
    pub records: u64,
    /// What follows from the model and the schema.
    pub constants: Constants,
    /// How each assumption is made to hold.
    pub enforcement: Vec<Enforcement>,
    /// What the guarantee does not cover, in words.
    pub not_covered: Vec<String>,
    /// The share of the records that was kept apart for a test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_share: Option<f64>,
    /// Where the randomness came from, in words.
    pub randomness: String,
    /// Whether nobody knows the randomness.
    pub private: bool,
    /// The seed, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The hash of the file of the model.
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
    /// How many there are.
    pub parameters: Option<u64>,
}

/// An assumption, and how it is made to hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Enforcement {
    /// What must hold, in words.
    pub assumption: String,
    /// How it is made to, in words.
    pub enforced: String,
}

/// What follows from no run.
struct Stated {
    test_share: Option<f64>,
    seed: Option<u64>,
    private: bool,
    model_sha256: String,
    evaluation: Option<Vec<EvaluationReport>>,
}

impl TrainingRecord {
    /// Of a model that was just trained, by the bytes of its file.
    pub fn new(
        plan: &Plan,
        schema: &Schema,
        account: &Account,
        model: &[u8],
        released: &Released,
        seed: Option<u64>,
        test_share: Option<f64>,
    ) -> Self {
        let evaluation: Vec<EvaluationReport> = released.evaluations.iter().map(Into::into).collect();
        let evaluation = Some(evaluation).filter(|tasks| !tasks.is_empty());
        let (private, model_sha256) = (seed.is_none(), digest(model));
        Self::of(plan, schema, account, Stated { test_share, seed, private, model_sha256, evaluation })
    }

    /// What a certificate must say of training: all that follows from the run, and the rest as it is claimed if it can be
    /// so. Where it cannot be so, it is something that can: it then differs from what is claimed.
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
            test_share: claimed["test_share"].as_f64().filter(|share| (0.0..=1.0).contains(share)),
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
            enforced: how(assumption, plan),
        });
        let training = plan.training();
        let Stated { test_share, seed, private, model_sha256, evaluation } = stated;
        let not_covered = [OTHER_RELEASES, ROUNDING].into_iter().chain(test_share.map(|_| TESTED));
        Self {
            schema_sha256: schema::hash(schema),
            records: training.records,
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

/// The SHA-256 of something, if it is written as [`digest`] writes it.
fn stated_digest(value: &Json) -> Option<String> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let text = value.as_str()?;
    (text.len() == 64 && text.bytes().all(is_digit)).then(|| text.to_owned())
}

const OTHER_RELEASES: &str = "what else is published of the same records, such as other models, trials, or tests on a part of them: costs add \
                              up";
const TESTED: &str = "what was reported of the records that were kept apart for a test, for these records: they took no part in training";
const ROUNDING: &str = "the rounding of scores and gradients (to 24 binary digits), of iterates and noise (to 53; what is released \
                        has no digits below 2⁻²⁰ of its noise), and how long steps take";

/// Where it is enforced, in words; the words of assumptions are those of the library.
pub fn how(assumption: &str, plan: &Plan) -> String {
    let has = |words: &str| assumption.contains(words);
    let training = plan.training();
    // Before the words that are in it too.
    if has("is then evaluated") {
        "each record's part of the sum is cut to its bound, and noise of that size is added".to_owned()
    } else if has("neighbouring data sets differ") {
        "by the meaning of the guarantee; neither how other records are read, nor their number, nor whether the program \
         stops depends on what a record holds: every line of the file is a row, and a row that cannot be used is an \
         empty record in its place"
            .to_owned()
    } else if has("neither data set has more than") || has("one of the two data sets has exactly") {
        "NOT enforced: to stop at one record more would tell that it is there, so that all rows are used, however many \
         there are; that there are no more is yours to know"
            .to_owned()
    } else if has("gradient is clipped") {
        "every record's gradient is scaled down to that norm before it is added".to_owned()
    } else if has("gradient has norm at most") {
        format!(
            "every row is scaled down to norm {} when it is read, and every target moved into its declared range; the rest \
             follows from the model",
            plan.bounds().norm.get()
        )
    } else if has("gradient with Lipschitz constant") {
        format!(
            "follows from the model for rows of norm {} at most, which every row is scaled down to",
            plan.bounds().norm.get()
        )
    } else if has("is projected") {
        "the iterate is projected after every step".to_owned()
    } else if has("multiplies the iterate by") {
        "every step does so".to_owned()
    } else if has("noise of every step") {
        "drawn anew in every step from ChaCha20, in 53 binary digits; rounding is not covered".to_owned()
    } else if has("divided by") || has("average is over") {
        "the program divides so".to_owned()
    } else if has("Poisson sampling") || has("uniformly random batch") {
        "drawn from ChaCha20 by comparing whole numbers, with a probability that is never larger; batches are not kept"
            .to_owned()
    } else if has("is in one batch") || has("uses all records") || has("steps were made") {
        format!("the program makes {} steps, and counts records by their place in the file", steps(training))
    } else if has("is published") || has("is released") || has("may be published") {
        "iterates are in memory only; one is written when training has ended, and nothing if it is interrupted"
            .to_owned()
    } else if has("computed from the one before") {
        "the program keeps no average and no momentum".to_owned()
    } else if has("use public data only") {
        "these steps use the file given by --public; that it is public is NOT enforced: it is yours to know"
            .to_owned()
    } else if has("such runs on the same records") {
        "each task has its own noise and order, and its cost is counted".to_owned()
    } else if has("starts at 0") {
        match plan.model() {
            Model::Network { .. } => {
                "it starts from random weights, which depend on no record; what is left of them after the decay so far \
                 is the same for all data, and less that it starts at 0 and makes steps within the same bounds"
            }
            Model::Linear { .. } | Model::Softmax { .. } => "it does, and in the domain if there is one",
        }
        .to_owned()
    } else if has("counted with the smallest noise") {
        "it is how the guarantee is computed; every step has its own noise, which is not smaller".to_owned()
    } else if has("no parameter was chosen") {
        "NOT enforced: it is yours to see to. A run file that was tuned on these records, or a schema that was read off \
         them, is not covered"
            .to_owned()
    } else {
        NOT_ENFORCED.to_owned()
    }
}

/// What is said of an assumption that this file does not know.
const NOT_ENFORCED: &str = "NOT enforced by the program";

fn steps(training: &Training) -> u64 {
    training.steps().unwrap_or(0).saturating_add(training.public_steps)
}
