//! Records at their owners: what each observer of a travelling model learns.

use super::answer::{Answered, Given};
use super::records::{Row, joined};
use crate::error::DocumentError;
use dobrushin::account::{Observer, Observers, Options, Pair, Question};
use dobrushin::run::{Order, Run};
use serde::{Serialize, Serializer};

/// The guarantees of every owner against every observer.
#[derive(Clone)]
pub struct ObserversReport {
    /// What the library says, in which neighbours with the same answer are joined.
    pub seen: Observers,
}

/// An ε up to this counts as protection, where the share of observers is said.
pub const MODEST: f64 = 1.0;

impl ObserversReport {
    /// Computes the guarantees.
    pub fn new(run: &Run, question: Question, options: &Options) -> Result<Self, DocumentError> {
        let fixed = |order: Order| matches!(order, Order::Once | Order::Cyclic);
        if !run.as_training().is_some_and(|training| fixed(training.order)) {
            return Err(DocumentError::new(
                "--observers asks what owners see of each other, but here no model travels from one to the next",
            )
            .help("it needs run.order = \"once\" or \"cyclic\", where each owner has a place in the pass"));
        }
        let mut seen = Observers::of(run, question, options)
            .map_err(|error| DocumentError::new(format!("--observers has no answer: {error}")))?;
        seen.public = joined(seen.public);
        seen.later = joined(seen.later);
        Ok(Self { seen })
    }

    /// What was given.
    pub fn given(&self) -> Given {
        self.seen.question.into()
    }

    /// The shares of pairs of owners with an ε of at most 1, if ε is asked for and steps are equal.
    pub fn modest(&self) -> Option<Modest> {
        if !self.given().asks_for_epsilon() {
            return None;
        }
        let (later, all) = self.seen.share_within(MODEST)?;
        Some(Modest {
            epsilon: MODEST,
            exposed_to_next: self.seen.reach(MODEST)?,
            share_of_later: later,
            share: all,
        })
    }
}

/// How many observers see little.
#[derive(Serialize)]
pub struct Modest {
    /// The limit.
    pub epsilon: f64,
    /// The number of next owners against whom ε exceeds it.
    pub exposed_to_next: u64,
    /// The share of pairs within the limit, of those whose observer comes later in the pass.
    pub share_of_later: f64,
    /// The share of all pairs within the limit, which is known for a single pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
}

#[derive(Serialize)]
struct Fields {
    owners: u64,
    passes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    local: Option<Answered>,
    #[serde(skip_serializing_if = "Option::is_none")]
    worst: Option<PairFields>,
    #[serde(skip_serializing_if = "Option::is_none")]
    within: Option<Modest>,
    public: Vec<Row>,
    later: Vec<Row>,
    pairs: Vec<PairFields>,
}

#[derive(Serialize)]
struct PairFields {
    owner: u64,
    observer: Who,
    hidden_steps: u64,
    #[serde(flatten)]
    answer: Answered,
    #[serde(skip_serializing_if = "Option::is_none")]
    analysis: Option<&'static str>,
}

/// The number of an owner, or "public".
#[derive(Serialize)]
#[serde(untagged)]
enum Who {
    Owner(u64),
    Word(&'static str),
}

impl PairFields {
    fn new(question: Question, pair: &Pair) -> Self {
        Self {
            owner: pair.owner,
            observer: match pair.observer {
                Observer::Owner(place) => Who::Owner(place),
                Observer::Public => Who::Word("public"),
            },
            hidden_steps: pair.hidden,
            answer: pair.answer.map_or(Answered::default(), |answer| Answered::new(question, answer)),
            analysis: pair.answer.map(|_| pair.analysis),
        }
    }
}

impl Serialize for ObserversReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Observers { question, owners, passes, local, worst, public, later, pairs, .. } = &self.seen;
        let fields = Fields {
            owners: *owners,
            passes: *passes,
            local: local.map(|answer| Answered::new(*question, answer)),
            worst: worst.as_ref().map(|pair| PairFields::new(*question, pair)),
            within: self.modest(),
            public: public.iter().map(|row| Row::new(*question, row)).collect(),
            later: later.iter().map(|row| Row::new(*question, row)).collect(),
            pairs: pairs.iter().map(|pair| PairFields::new(*question, pair)).collect(),
        };
        fields.serialize(serializer)
    }
}
