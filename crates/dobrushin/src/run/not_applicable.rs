//! Why nothing can be said about a run, as data and as a sentence.

use super::Fact;
use crate::Error;
use crate::chain::ChainError;

/// Why an analysis says nothing about a run, and which facts would help.
///
/// ```
/// # use dobrushin::run::{Fact, Obstacle};
/// # fn explain(refused: &dobrushin::NotApplicable) -> String {
/// match refused.obstacle() {
///     Obstacle::Missing(facts) if facts.contains(&Fact::ClipNorm) => "Do you clip gradients?".to_owned(),
///     _ => refused.to_string(),
/// }
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct NotApplicable {
    obstacle: Obstacle,
    reason: String,
}

/// What keeps an analysis from applying to a run.
///
/// ```
/// use dobrushin::run::Obstacle;
/// use dobrushin::{Fact, Release, Run};
///
/// let run = Run::gradient_descent(100).steps(10).noise_multiplier(1.0).release(Release::Last).build()?;
/// let Err(refused) = run.released() else { panic!("the learning rate is unknown") };
/// assert_eq!(refused.obstacle(), Obstacle::Missing(&[Fact::LearningRate]));
/// # Ok::<(), dobrushin::RunError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Obstacle {
    /// These facts are not known, or known to be absent; the sentence says whether one of them would suffice.
    Missing(&'static [Fact]),
    /// These facts have values that exclude the analysis; other values would work.
    InTheWay(&'static [Fact]),
    /// A limit of the analysis itself: no single fact causes it.
    Beyond,
}

impl NotApplicable {
    /// The analysis lacks these facts.
    pub(crate) fn missing(facts: &'static [Fact], reason: impl Into<String>) -> Self {
        Self { obstacle: Obstacle::Missing(facts), reason: reason.into() }
    }

    /// The values of these facts exclude the analysis.
    pub(crate) fn because_of(facts: &'static [Fact], reason: impl Into<String>) -> Self {
        Self { obstacle: Obstacle::InTheWay(facts), reason: reason.into() }
    }

    /// The run is beyond the limits of the analysis.
    pub(crate) fn beyond(reason: impl Into<String>) -> Self {
        Self { obstacle: Obstacle::Beyond, reason: reason.into() }
    }

    /// The obstacle.
    pub fn obstacle(&self) -> Obstacle {
        self.obstacle
    }
}

/// A sentence that names the missing facts, in this order.
macro_rules! missing {
    ($words:literal, $($fact:ident),+) => {
        $crate::NotApplicable::missing(&[$($crate::run::Fact::$fact),+], format!($words, $($crate::run::Fact::$fact),+))
    };
}

/// A sentence that names the excluding facts, in this order.
macro_rules! in_the_way {
    ($words:literal, $($fact:ident),+) => {
        $crate::NotApplicable::because_of(&[$($crate::run::Fact::$fact),+], format!($words, $($crate::run::Fact::$fact),+))
    };
}

pub(crate) use {in_the_way, missing};

impl From<Error> for NotApplicable {
    fn from(error: Error) -> Self {
        Self::beyond(error.to_string())
    }
}

impl From<ChainError> for NotApplicable {
    fn from(error: ChainError) -> Self {
        Self::beyond(error.to_string())
    }
}
