//! Lowers a run to one record's view of it: chains if states are hidden, mechanisms for an observer who sees every
//! step.
//!
//! There is one file for each way of using records (`in_turn`, `at_random` and `shuffled`), one for chains given step
//! by step (`custom`), and one for an observer of all steps (`observed`).

mod assumptions;
mod at_random;
mod custom;
mod in_turn;
mod multiplier;
mod observed;
mod shuffled;
mod steps;
mod tasks;
mod update;

pub use observed::{Composed, ComposedPart};

use crate::chain::Mixture;
use crate::run::{Assumption, Fact, Kind, Length, Order, Release, Run, Training, in_the_way};
use crate::{Enclosure, NotApplicable};
use steps::Steps;

/// The release of a run, for each record that may be the least private.
///
/// ```
/// use dobrushin::{Release, Run};
///
/// let run = Run::pnsgd(100).learning_rate(0.1).clip_norm(1.0).noise_multiplier(1.0).release(Release::Last);
/// let released = run.build()?.released()?;
/// // With equal steps the record that is used last is the least private: no other need be looked at.
/// assert_eq!(released.views.len(), 1);
/// assert!(!released.assumptions.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Released {
    /// One mixture for each of these records; the run is as private as the least private one.
    pub views: Vec<Mixture>,
    /// What must hold.
    pub assumptions: Vec<Assumption>,
    /// What was said about the run but could not be used, in words.
    pub notes: Vec<String>,
}

impl Run {
    /// The release, as chains of each record that may be the least private.
    ///
    /// # Guarantee
    /// On any two neighbouring data sets, the releases of one task are at most as far apart as some view allows.
    ///
    /// # Errors
    /// [`NotApplicable`] if nothing is hidden, or a parameter that chains need is missing.
    pub fn released(&self) -> Result<Released, NotApplicable> {
        match &self.kind {
            Kind::Training(training) => training.released(),
            Kind::Chain(chain) => chain.released(),
            Kind::Mechanisms(_) => Err(NotApplicable::because_of(
                &[Fact::Algorithm],
                "a list of mechanisms has no hidden states: every result counts as released",
            )),
            Kind::Tasks(_) => Err(NotApplicable::because_of(
                &[Fact::TaskList],
                "several tasks have several releases: each has its own chains",
            )),
        }
    }

    /// What an observer of every intermediate result sees.
    ///
    /// # Guarantee
    /// On any two neighbouring data sets, everything the run computes is a post-processing of the adaptive composition
    /// of the parts, each on the neighbours that the part names. Any release of it is therefore at least as private as
    /// the composition.
    ///
    /// # Errors
    /// [`NotApplicable`] if there is no finite composition, or if a parameter that it needs is missing.
    pub fn composition(&self) -> Result<Composed, NotApplicable> {
        match &self.kind {
            Kind::Training(training) => observed::of_training(training),
            Kind::Mechanisms(mechanisms) => Ok(mechanisms.composition()),
            Kind::Chain(chain) => chain.composition(),
            Kind::Tasks(tasks) => tasks.composition(),
        }
    }

    /// The μ for which the evaluations of the released model together are μ-Gaussian private; 0 if there are none.
    ///
    /// Given the model, an evaluation is a sum to which each record adds a vector of norm at most c, with noise m·c.
    /// Neighbours move it by 2c if a record is replaced, and by c if one is added, removed or emptied.
    pub(crate) fn evaluations(&self) -> Enclosure {
        let Some((training, evaluation)) = self.as_training().and_then(|t| Some((t, t.evaluation?))) else {
            return Enclosure::ZERO;
        };
        let apart = Enclosure::from(training.neighbours.contributions_apart());
        apart / Enclosure::from(evaluation.noise_multiplier) * Enclosure::from(training.tasks).sqrt()
    }
}

impl Training {
    /// The release, for the record or records in question.
    fn released(&self) -> Result<Released, NotApplicable> {
        if self.release == Release::All {
            return Err(nothing_is_hidden());
        }
        let mut views = Vec::new();
        for steps in self.lengths()? {
            let steps = Steps::new(self, steps)?;
            match self.order {
                Order::Poisson | Order::WithoutReplacement | Order::Full => views.push(steps.at_random()?),
                Order::Shuffled => views.push(steps.shuffled()?),
                Order::Once | Order::Cyclic => {
                    for place in steps.places()? {
                        views.push(steps.in_turn(place)?);
                    }
                }
            }
        }
        Ok(Released { views, assumptions: self.hidden_assumptions(), notes: self.unused_facts() })
    }

    /// The possible numbers of steps; `None` stands for any number.
    fn lengths(&self) -> Result<Vec<Option<u64>>, NotApplicable> {
        if self.length == Length::Any {
            return Ok(vec![None]);
        }
        let possible = self.possible_steps().ok_or_else(|| {
            NotApplicable::missing(
                &[Fact::Steps],
                format!(
                    "{} is so long that its number of steps is not certain, and one step more or less changes what is \
                     hidden: give {}",
                    Fact::Epochs,
                    Fact::Steps
                ),
            )
        })?;
        Ok(possible.into_iter().map(Some).collect())
    }
}

fn nothing_is_hidden() -> NotApplicable {
    in_the_way!("every iterate is released, so nothing is hidden: {} is \"all\"", Release)
}
