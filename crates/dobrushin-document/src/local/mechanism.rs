//! Mechanisms by the names that users type.

use super::answers::Categories;
use crate::DocumentError;
use crate::report::PromiseReport;
use dobrushin::kernel::FiniteKernel;
use dobrushin::{Delta, Enclosure, Epsilon, Error, Probability};
use dobrushin_local::frequency::{self, FrequencyOracle};
use dobrushin_local::mean::{self, Bounds, MeanMechanism, Target, VectorMechanism};
use dobrushin_local::risk::Ball;
use dobrushin_local::{LocalPrivacy, LocalProfile};
use serde_json::{Value, json};

/// The name of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Id {
    /// Categories: the true one, or another at random (k-ary randomised response)
    KRr,
    /// Categories: a bit each, with the least variance (optimised unary encoding)
    Oue,
    /// Categories: a bit each, ones and zeros treated alike (symmetric unary encoding)
    Sue,
    /// Categories: a bit each, the true one kept with probability --truth (asymmetric unary encoding)
    Aue,
    /// Categories: a random set of them (subset selection)
    Subset,
    /// Categories: an index of a Hadamard matrix (Hadamard response)
    Hadamard,
    /// Categories: a random hash (optimised local hashing)
    Olh,
    /// Categories: the channel in a CSV file, see --channel
    Channel,
    /// Numbers: one of two, also called duchi (Duchi, Jordan and Wainwright)
    OneBit,
    /// Numbers: with discrete Laplace noise
    Laplace,
    /// Numbers: with discrete Gaussian noise; needs --delta
    Gaussian,
    /// Numbers: near the value more often than not (piecewise mechanism)
    Piecewise,
    /// Numbers: piecewise or one of two, by a coin (hybrid mechanism)
    Hybrid,
    /// Vectors: a random direction, and on which side of it the vector is (Duchi, Jordan and Wainwright)
    HalfSphere,
    /// Vectors: a random direction that is near the vector more often than not (PrivUnit)
    PrivUnit,
}

/// Every mechanism with its names, the usual one first, and what it does.
const MECHANISMS: [(Id, &[&str], &str); 15] = [
    (Id::KRr, &["k-rr"], "Categories: the true one, or another at random (k-ary randomised response)"),
    (Id::Oue, &["oue"], "Categories: a bit each, with the least variance (optimised unary encoding)"),
    (Id::Sue, &["sue"], "Categories: a bit each, ones and zeros treated alike (symmetric unary encoding)"),
    (
        Id::Aue,
        &["aue"],
        "Categories: a bit each, the true one kept with probability --truth (asymmetric unary encoding)",
    ),
    (Id::Subset, &["subset"], "Categories: a random set of them (subset selection)"),
    (Id::Hadamard, &["hadamard"], "Categories: an index of a Hadamard matrix (Hadamard response)"),
    (Id::Olh, &["olh"], "Categories: a random hash (optimised local hashing)"),
    (Id::Channel, &["channel"], "Categories: the channel in a CSV file, see --channel"),
    (
        Id::OneBit,
        &["one-bit", "duchi"],
        "Numbers: one of two, also called duchi (Duchi, Jordan and Wainwright)",
    ),
    (Id::Laplace, &["laplace"], "Numbers: with discrete Laplace noise"),
    (Id::Gaussian, &["gaussian"], "Numbers: with discrete Gaussian noise; needs --delta"),
    (Id::Piecewise, &["piecewise"], "Numbers: near the value more often than not (piecewise mechanism)"),
    (Id::Hybrid, &["hybrid"], "Numbers: piecewise or one of two, by a coin (hybrid mechanism)"),
    (
        Id::HalfSphere,
        &["half-sphere"],
        "Vectors: a random direction, and on which side of it the vector is (Duchi, Jordan and Wainwright)",
    ),
    (
        Id::PrivUnit,
        &["priv-unit", "privunit"],
        "Vectors: a random direction that is near the vector more often than not (PrivUnit)",
    ),
];

impl Id {
    /// Every mechanism.
    pub fn all() -> impl Iterator<Item = Self> {
        MECHANISMS.iter().map(|(id, ..)| *id)
    }

    /// The mechanism with this name.
    pub fn named(name: &str) -> Option<Self> {
        MECHANISMS.iter().find(|(_, names, _)| names.contains(&name)).map(|(id, ..)| *id)
    }

    fn entry(self) -> (&'static [&'static str], &'static str) {
        let found = MECHANISMS.iter().find(|(id, ..)| *id == self);
        found.map_or((&[], ""), |(_, names, summary)| (names, summary))
    }

    /// The name, as users type it, and other names.
    pub fn names(self) -> &'static [&'static str] {
        self.entry().0
    }

    /// What the mechanism takes and does, in words.
    pub fn summary(self) -> &'static str {
        self.entry().1
    }

    /// The name, as users type it.
    pub fn name(self) -> String {
        self.names().first().map_or_else(String::new, |name| (*name).to_owned())
    }

    /// Whether the mechanism takes numbers.
    pub fn is_for_numbers(self) -> bool {
        matches!(self, Self::OneBit | Self::Laplace | Self::Gaussian | Self::Piecewise | Self::Hybrid)
    }

    /// Whether the mechanism takes vectors; those that take neither numbers nor vectors take categories.
    pub fn is_for_vectors(self) -> bool {
        matches!(self, Self::HalfSphere | Self::PrivUnit)
    }
}

/// What people answer.
#[derive(Clone, Debug)]
pub enum Answers {
    /// One of some categories.
    Category(Categories),
    /// A number between bounds.
    Number(Bounds),
    /// A vector in a ball around 0.
    Vector(Ball),
}

/// What a mechanism is made from.
#[derive(Clone, Debug)]
pub struct Specification {
    /// Which mechanism it is.
    pub id: Id,
    /// The ε of its promise. The δ is 0 unless the user gives another.
    pub epsilon: Epsilon,
    /// The δ of its promise.
    pub delta: Delta,
    /// The answers that it takes.
    pub answers: Answers,
    /// The probability that the true bit is kept, for [`Id::Aue`].
    pub truth: Option<Probability>,
    /// The rows of the channel, for [`Id::Channel`].
    pub channel: Option<Vec<Vec<f64>>>,
}

/// A mechanism.
pub enum Mechanism {
    /// A mechanism whose reports give frequencies.
    Frequency(Box<dyn FrequencyOracle>, Categories),
    /// A mechanism whose reports give a mean.
    Mean(Box<dyn MeanMechanism>),
    /// A mechanism whose reports give a mean vector.
    Vector(Box<dyn VectorMechanism>),
}

impl Specification {
    /// Makes the mechanism.
    pub fn build(&self) -> Result<Mechanism, DocumentError> {
        match &self.answers {
            Answers::Category(categories) => {
                Ok(Mechanism::Frequency(self.frequency(categories.count())?, categories.clone()))
            }
            Answers::Number(bounds) => Ok(Mechanism::Mean(self.mean(*bounds)?)),
            Answers::Vector(ball) => Ok(Mechanism::Vector(self.vector(*ball)?)),
        }
    }

    /// Whether the mechanism that was made keeps its promise.
    pub fn promise(&self, mechanism: &Mechanism) -> PromiseReport {
        let promised = LocalPrivacy { epsilon: self.epsilon, delta: self.delta };
        PromiseReport::new(self.id.name(), promised, &mechanism.privacy())
    }

    fn frequency(&self, categories: u32) -> Result<Box<dyn FrequencyOracle>, DocumentError> {
        let (epsilon, delta) = (self.epsilon, self.delta);
        let made: Result<Box<dyn FrequencyOracle>, Error> = match self.id {
            Id::Aue => {
                let truth = self.truth.ok_or_else(|| {
                    DocumentError::new("--mechanism aue needs --truth P")
                        .help("the probability of the true bit, such as 0.6")
                })?;
                frequency::Unary::asymmetric(categories, epsilon, delta, truth)
                    .map(|oracle| Box::new(oracle) as _)
            }
            Id::Channel => {
                let rows = self.channel.clone().unwrap_or_default();
                if rows.len() != categories as usize {
                    let message =
                        format!("the channel has {} rows, but there are {categories} categories", rows.len());
                    return Err(
                        DocumentError::new(message).help("a row of report probabilities for each category")
                    );
                }
                frequency::Channel::new(rows).map(|oracle| Box::new(oracle) as _)
            }
            id => match frequency::by_id(&id.name(), categories, epsilon, delta) {
                Some(made) => made,
                None => return Err(self.mismatch()),
            },
        };
        made.map_err(|error| self.refused(&error))
    }

    fn mean(&self, bounds: Bounds) -> Result<Box<dyn MeanMechanism>, DocumentError> {
        if !self.id.is_for_numbers() {
            return Err(self.mismatch());
        }
        mean::by_id(&self.id.name(), bounds, self.epsilon, self.delta).map_err(|error| self.refused(&error))
    }

    fn vector(&self, ball: Ball) -> Result<Box<dyn VectorMechanism>, DocumentError> {
        if !self.id.is_for_vectors() {
            return Err(self.mismatch());
        }
        mean::vector_by_id(&self.id.name(), ball.dimension, ball.radius, self.epsilon)
            .map_err(|error| self.refused(&error))
    }

    fn mismatch(&self) -> DocumentError {
        let needed = match (self.id.is_for_numbers(), self.id.is_for_vectors()) {
            (true, _) => "--bounds, for numbers",
            (_, true) => "--radius, for vectors",
            _ => "--values, --categories or --categories-file, for categories",
        };
        DocumentError::new(format!("--mechanism {} does not take such answers", self.id.name()))
            .help(format!("it takes {needed}"))
    }

    fn refused(&self, error: &Error) -> DocumentError {
        DocumentError::new(format!("--mechanism {} cannot be made: {error}", self.id.name()))
    }
}

impl Mechanism {
    /// The exact profile of the mechanism as it is realised.
    pub fn privacy(&self) -> LocalProfile {
        match self {
            Self::Frequency(oracle, _) => oracle.privacy(),
            Self::Mean(mechanism) => mechanism.privacy(),
            Self::Vector(mechanism) => mechanism.privacy(),
        }
    }

    /// The number of columns that an answer takes.
    pub fn answer_columns(&self) -> usize {
        match self {
            Self::Frequency(..) | Self::Mean(_) => 1,
            Self::Vector(mechanism) => mechanism.dimension().get() as usize,
        }
    }

    /// The mechanism as a matrix, if it is small enough.
    pub fn channel(&self) -> Option<FiniteKernel> {
        match self {
            Self::Frequency(oracle, _) => oracle.channel(),
            Self::Mean(_) | Self::Vector(_) => None,
        }
    }

    /// The names of the columns of its reports.
    pub fn report_columns(&self) -> Vec<String> {
        let words = match self {
            Self::Frequency(oracle, _) => oracle.report_words(),
            Self::Mean(_) => 1,
            Self::Vector(_) => return ["seed", "direction"].map(str::to_owned).to_vec(),
        };
        match words {
            1 => vec!["report".to_owned()],
            _ => (1..=words).map(|word| format!("report_{word}")).collect(),
        }
    }

    /// Numbers that would reveal another version of a mechanism: the ends of its probabilities.
    pub fn fingerprint(&self) -> Value {
        let ends = |value: Enclosure| [value.lower(), value.upper()];
        match self {
            Self::Frequency(oracle, _) => match oracle.support() {
                Some(support) => json!([ends(support.truth), ends(support.other)]),
                None => Value::Null,
            },
            Self::Mean(mechanism) => json!([ends(mechanism.worst_variance(Target::Records))]),
            Self::Vector(mechanism) => json!([ends(mechanism.length())]),
        }
    }
}
