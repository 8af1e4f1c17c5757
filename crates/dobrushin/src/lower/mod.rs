//! Lowers a run to one record's view of it: chains if states are hidden, mechanisms for an observer who sees every
//! step.
//!
//! There is one file for each way of using records (`in_turn`, `at_random` and `by_places`), one for the batches that
//! are drawn (`batch`), one for records that were deleted (`forgotten`), one for
//! many records that are used once each in different steps (`ranges`), one for chains given
//! step by step (`custom`), and one for an observer of all steps (`observed`).

mod allocated;
mod assumptions;
mod at_random;
mod batch;
mod by_places;
mod custom;
mod forgotten;
mod in_turn;
mod multiplier;
mod observed;
mod ranges;
mod recent;
mod steps;
mod tasks;
mod update;

pub use observed::{Composed, ComposedPart};
pub use ranges::RecordRanges;

use crate::chain::Mixture;
use crate::run::{Assumption, Fact, Kind, Length, Order, Record, Release, Run, Training, in_the_way};
use crate::{Enclosure, NotApplicable, Positive, Probability};
use batch::Ordinary;
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
    /// Where steps differ and there are too many records for a view of each, the view holds for all of them, and any
    /// range of them has a view of its own, which says more.
    pub ranges: Vec<RecordRanges>,
    /// What must hold.
    pub assumptions: Vec<Assumption>,
    /// What was said about the run but could not be used, in words.
    pub notes: Vec<String>,
    /// The probability that the run is not as the views say, the same for both neighbours: it is a part of every δ.
    pub exception: Enclosure,
    /// The same release by its last steps only, if there may be any number of them and only the last are known to have
    /// ordinary batches: the two runs start them apart.
    pub recent: Option<Box<Released>>,
}

impl Released {
    /// Whether each view holds for all records, whose ranges have views of their own.
    pub fn has_ranges(&self) -> bool {
        !self.views.is_empty() && self.ranges.len() == self.views.len()
    }
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
        self.released_except(Probability::ZERO)
    }

    /// The same, for runs all of whose Poisson batches are of ordinary size. What is ordinary is chosen so that the
    /// probability of an exception is at most this.
    ///
    /// # Guarantee
    /// On any two neighbouring data sets, E_γ of the releases of one task is at most `exception` plus what some view
    /// allows: the sizes of the other records' batches have the same law for both neighbours, so that both are
    /// mixtures over them with the same weights.
    ///
    /// ```
    /// use dobrushin::{Order, Probability, Release, Run};
    ///
    /// let run = Run::dp_sgd(10_000).batch_size(500).order(Order::Poisson).steps(1000).release(Release::Last);
    /// let run = run.learning_rate(1.0).clip_norm(1.0).noise_multiplier(4.0).convex().smoothness(0.5);
    /// let run = run.generalised_linear().build()?;
    /// let slope = |allowed: f64| -> Result<f64, Box<dyn std::error::Error>> {
    ///     let released = run.released_except(Probability::new(allowed)?)?;
    ///     let step = released.views[0].branches()[0].chain.stretches().next().ok_or("a step")?.step;
    ///     assert!(released.exception.upper() <= allowed);
    ///     Ok(step.modulus.pieces()[0].slope().upper())
    /// };
    /// // A batch of all 10,000 records makes an update 20 times as steep; ordinary ones never expand anything.
    /// assert!(slope(0.0)? > 8.0 && slope(1e-9)? == 1.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Run::released`].
    pub fn released_except(&self, allowed: Probability) -> Result<Released, NotApplicable> {
        match &self.kind {
            Kind::Training(training) => training.released(allowed),
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

    /// The μ for which the sums beside the descents are together μ-Gaussian private; 0 if there are none: the mean that
    /// is taken before, and the evaluations of the released models.
    ///
    /// Given what came before, each of them is a sum to which each record adds a vector of norm at most c, with noise m·c.
    /// Neighbours move it by 2c if a record is replaced, and by c if one is added, removed or emptied. A descent keeps
    /// its guarantee whatever the mean is, so that all of them compose, one after the other.
    pub(crate) fn sums_beside(&self) -> Enclosure {
        let Some(training) = self.as_training() else {
            return Enclosure::ZERO;
        };
        let apart = Enclosure::from(training.neighbours.contributions_apart());
        let square = |multiplier: Positive| (apart / Enclosure::from(multiplier)).square();
        let centre = training.centre.map(|centre| square(centre.noise_multiplier));
        let evaluations = training
            .evaluation
            .map(|evaluation| square(evaluation.noise_multiplier) * Enclosure::from(training.tasks));
        centre.into_iter().chain(evaluations).reduce(|a, b| a + b).map_or(Enclosure::ZERO, Enclosure::sqrt)
    }
}

impl Training {
    /// The release, for the record or records in question.
    fn released(&self, allowed: Probability) -> Result<Released, NotApplicable> {
        if self.release == Release::All {
            return Err(nothing_is_hidden());
        }
        if !self.forgetting.is_empty() {
            return self.released_after_forgetting(allowed);
        }
        let lengths = self.lengths()?;
        let longest = lengths.iter().copied().reduce(Option::max).flatten();
        let ordinary = longest.and_then(|steps| self.ordinary_batches(allowed, steps));
        let (views, ranges) = self.views(&lengths, ordinary.as_ref())?;
        Ok(Released {
            recent: self.recent(allowed)?.map(Box::new),
            ..self.of_views(views, ranges, ordinary.as_ref())
        })
    }

    /// The views of a run with one of these numbers of steps, and the ranges of records that have views of their own.
    fn views(
        &self,
        lengths: &[Option<u64>],
        ordinary: Option<&Ordinary>,
    ) -> Result<(Vec<Mixture>, Vec<RecordRanges>), NotApplicable> {
        let (mut views, mut ranges) = (Vec::new(), Vec::new());
        for &steps in lengths {
            if let Some(range) = RecordRanges::of(self, steps)? {
                match self.record {
                    Record::Index(record) => views.push(range.of_record(record)?),
                    Record::Worst => {
                        views.push(range.view(1, range.places())?);
                        ranges.push(range);
                    }
                }
                continue;
            }
            let steps = Steps::new(self, steps, ordinary)?;
            match self.order {
                Order::Poisson | Order::WithoutReplacement | Order::Full => views.push(steps.at_random()?),
                Order::Shuffled | Order::Allocation => views.push(self.by_places(&steps, ordinary)?),
                Order::Once | Order::Cyclic => {
                    for place in steps.places()? {
                        views.push(steps.in_turn(place)?);
                    }
                }
            }
        }
        Ok((views, ranges))
    }

    /// These views, with what must hold for them.
    fn of_views(
        &self,
        views: Vec<Mixture>,
        ranges: Vec<RecordRanges>,
        ordinary: Option<&Ordinary>,
    ) -> Released {
        Released {
            views,
            ranges,
            assumptions: self.hidden_assumptions(ordinary),
            notes: self.unused_facts(ordinary),
            exception: ordinary.map_or(Enclosure::ZERO, |ordinary| ordinary.exception),
            recent: None,
        }
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
