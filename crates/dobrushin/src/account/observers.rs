//! Records at their owners: the model travels from owner to owner, and each of them sees what is handed to them.
//!
//! # Who sees what
//! The owner of step j gets the iterate after step j − 1, adds a noisy step on their own records, and hands the result
//! on. The public sees the last iterate. What owner j learns about the records of owner i, given everything owner j
//! already knew:
//! - Between two handovers to owner j there is at most one step of owner i. Before that step both neighbours have the
//!   same law, whatever owner j knows of it; after it k steps of others follow, whose noise owner j does not know. So
//!   what is handed over is the last iterate of a chain with one use and k later steps, for every start, and the
//!   analyses of hidden states bound it.
//! - Their own step and its noise come after a handover and before the next step of owner i, so they tell nothing new.
//! - What is handed to owner j in several passes composes, adaptively: each bound holds for every start. If a step of owner
//!   i follows the last handover to owner j, the published iterate is one more release.
//! - Owner j may share all they see with others. The first of them that the model reaches after owner i then counts for all:
//!   what the others see until the next step of owner i is computed from it.

use super::analyses::Options;
use super::bounds::{Care, bounds};
use super::question::{Answer, Question};
use super::records::{Protection, RecordsError, protection_by_record};
use super::rows::{Asked, Row, best, range};
use crate::analysis::{Bound, Effort};
use crate::run::{Fact, LearningRate, Length, Noise, Order, Record, Release, Run, RunError, Training};
use crate::{Enclosure, NotApplicable, Progress};
use rayon::prelude::*;

/// Somebody who sees a model that travels from owner to owner.
///
/// ```
/// use dobrushin::account::Observer;
///
/// assert_ne!(Observer::Owner(17), Observer::Public);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observer {
    /// The owner of this step of a pass, counted from 1, who sees every iterate that is handed to them, and the
    /// published one.
    Owner(u64),
    /// Everybody, who sees the published iterate.
    Public,
}

/// What an observer learns about an owner's records.
///
/// ```
/// use dobrushin::account::{Observer, Observers};
/// use dobrushin::{Delta, Options, Question, Release, Run};
///
/// let run = Run::pnsgd(20).learning_rate(0.1).lipschitz(1.0).gradient_noise(4.0).release(Release::Last);
/// let run = run.convex().smoothness(1.0).build()?;
/// let seen = Observers::of(&run, Question::EpsilonAt(Delta::new(1e-5)?), &Options::default())?;
/// // The next owner gets the model when nothing but the owner's own noise hides the record.
/// let worst = seen.worst.ok_or("there is a pair")?;
/// assert_eq!((worst.owner, worst.observer, worst.hidden), (1, Observer::Owner(2), 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Pair {
    /// The owner whose records are observed, by the step of a pass that uses them.
    pub owner: u64,
    /// The observer.
    pub observer: Observer,
    /// The number of steps of others between the owner's step and what the observer sees next.
    pub hidden: u64,
    /// The guarantee for the owner's records against the observer; `None` if no analysis applies.
    pub answer: Option<Answer>,
    /// The analysis that gives it.
    pub analysis: &'static str,
}

/// The guarantees of every owner against every observer.
///
/// ```
/// use dobrushin::account::Observers;
/// use dobrushin::{Delta, Options, Question, Release, Run};
///
/// // A million owners.
/// let run = Run::pnsgd(1_000_000).learning_rate(0.1).lipschitz(1.0).gradient_noise(20.0).release(Release::Last);
/// let run = run.convex().smoothness(1.0).build()?;
/// let seen = Observers::of(&run, Question::EpsilonAt(Delta::new(1e-6)?), &Options::default())?;
/// // The more owners come between, the less is seen of a record.
/// assert!(seen.later.windows(2).all(|rows| rows[0].to + 1 == rows[1].from));
/// let epsilon = |row: &dobrushin::account::Protection| row.answer.map(|answer| answer.value.upper());
/// assert!(epsilon(&seen.later[seen.later.len() - 1]) < epsilon(&seen.later[0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Observers {
    /// What was asked.
    pub question: Question,
    /// The number of owners, each with the records of one step of a pass.
    pub owners: u64,
    /// The number of passes, in each of which the model visits every owner once.
    pub passes: u64,
    /// The guarantee if every message of every owner were public: that of each owner's own noise (PAI, Lemma 27).
    pub local: Option<Answer>,
    /// The least private pair.
    pub worst: Option<Pair>,
    /// Each owner against the public, in groups: the places are those of the owners.
    pub public: Vec<Protection>,
    /// Any owner against the next one, the second next, …, up to the last of the pass, in groups: the places are
    /// counted from the owner. Empty if steps differ, so that it depends on the owner.
    pub later: Vec<Protection>,
    /// Pairs of the matrix: all of them if there are few owners, or some from all parts of it.
    pub pairs: Vec<Pair>,
}

/// Up to this many owners, every pair is listed.
const FEW: u64 = 24;
/// The number of owners whose pairs are listed, if there are more.
const LISTED: u64 = 12;

impl Observers {
    /// What every observer learns.
    ///
    /// # Guarantee
    /// The upper end of each answer holds for the records of each owner it is for, against one observer, or against
    /// several who share what they see if it is that of the first of them after the owner in the order of the pass.
    /// It holds if all other owners follow the run: see the module for the proof. In a group of rows it is the answer
    /// of the least private place. Every pair is at most as exposed as `local` says, because whatever
    /// anybody sees is computed from the messages of all owners, and `worst` attains the largest ratio of
    /// displacement to noise with no hidden step.
    ///
    /// # Errors
    /// [`RecordsError`] if the records do not travel in turn, if something else than the last iterate is released, if
    /// the last pass is incomplete, or if steps differ in several passes or are too many.
    pub fn of(run: &Run, question: Question, options: &Options) -> Result<Self, RecordsError> {
        let view = View::new(run, question, options)?;
        let public = view.public()?;
        let later = if view.equal && view.owners > 1 {
            let ask = |next: u64| view.ask(&[(next - 1, view.passes)]);
            range(&ask, 1, view.owners - 1, &Progress::default())?.into_iter().map(protection).collect()
        } else {
            Vec::new()
        };
        Ok(Self {
            question,
            owners: view.owners,
            passes: view.passes,
            local: view.local(),
            worst: view.worst()?,
            public,
            later,
            pairs: view.listed()?,
        })
    }

    /// The guarantee of one owner's records against one observer.
    ///
    /// # Errors
    /// The errors of [`Observers::of`], and [`RunError`] if there is no such owner or observer.
    ///
    /// ```
    /// use dobrushin::account::{Observer, Observers};
    /// use dobrushin::{Delta, Options, Question, Release, Run};
    ///
    /// let run = Run::pnsgd(1000).learning_rate(0.1).lipschitz(1.0).gradient_noise(4.0).release(Release::Last);
    /// let run = run.convex().smoothness(1.0).build()?;
    /// let (question, options) = (Question::EpsilonAt(Delta::new(1e-5)?), Options::default());
    /// let epsilon = |observer| -> Result<f64, Box<dyn std::error::Error>> {
    ///     let pair = Observers::pair(&run, (3, observer), question, &options)?;
    ///     Ok(pair.answer.ok_or("it has an answer")?.value.upper())
    /// };
    /// // A hundred hidden steps later the model tells a tenth as much.
    /// assert!(epsilon(Observer::Owner(103))? < 0.11 * epsilon(Observer::Owner(4))?);
    /// // Owners before the third see no more of their record than everybody does.
    /// assert_eq!(epsilon(Observer::Owner(2))?, epsilon(Observer::Public)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn pair(
        run: &Run,
        (owner, observer): (u64, Observer),
        question: Question,
        options: &Options,
    ) -> Result<Pair, RecordsError> {
        let view = View::new(run, question, options)?;
        let outside = |place: u64| !(1..=view.owners).contains(&place);
        let refused = match observer {
            _ if outside(owner) => Some(owner),
            Observer::Owner(place) if outside(place) || place == owner => Some(place),
            _ => None,
        };
        if let Some(place) = refused {
            let message = format!("has {} owners, so that {place} is no other one of them", view.owners);
            return Err(RunError::new(Fact::Records, message, "a number from 1 on").into());
        }
        view.pair(owner, observer)
    }

    /// The share of pairs of two different owners for which the upper end is at most this: first of all pairs in which
    /// the observer comes later in the pass, then of all pairs, which is known for a single pass. `None` if steps
    /// differ.
    pub fn share_within(&self, limit: f64) -> Option<(f64, Option<f64>)> {
        let met = |row: &&Protection| row.answer.is_some_and(|answer| answer.value.upper() <= limit);
        if self.later.is_empty() {
            return None;
        }
        // Of n owners, n − d have a d-th next one; the i-th has i − 1 before them, who see what the public sees.
        let sum = |from: u64, to: u64| u128::from(from + to) * u128::from(to - from + 1) / 2;
        let later =
            self.later.iter().filter(met).map(|row| sum(self.owners - row.to, self.owners - row.from));
        let later: u128 = later.sum();
        let earlier: u128 = self.public.iter().filter(met).map(|row| sum(row.from - 1, row.to - 1)).sum();
        let half = sum(1, self.owners - 1) as f64;
        let all = (later + earlier) as f64 / (2.0 * half);
        Some((later as f64 / half, (self.passes == 1).then_some(all)))
    }

    /// The number of next owners against whom the upper end exceeds this; `None` if steps differ.
    pub fn reach(&self, limit: f64) -> Option<u64> {
        let exceeds = |row: &&Protection| row.answer.is_none_or(|answer| answer.value.upper() > limit);
        let last = self.later.iter().rev().find(exceeds);
        (!self.later.is_empty()).then(|| last.map_or(0, |row| row.to))
    }
}

fn protection(row: Row) -> Protection {
    let Row { from, to, asked } = row;
    Protection { from, to, answer: asked.answer, analysis: asked.analysis }
}

/// A run as a journey of the model.
struct View<'a> {
    run: &'a Run,
    training: &'a Training,
    question: Question,
    options: Options,
    owners: u64,
    passes: u64,
    /// Whether all steps are equal.
    equal: bool,
    /// Whether the analyses were named.
    named: bool,
    /// Counts the pairs that are done.
    progress: Progress,
}

impl<'a> View<'a> {
    fn new(run: &'a Run, question: Question, options: &Options) -> Result<Self, RecordsError> {
        let refuse = |fact, message: &str, help: &str| Err(RunError::new(fact, message, help).into());
        // This says what a run without records lacks.
        run.of_record(1)?;
        let Some(training) = run.as_training() else {
            return Err(NotApplicable::beyond("only noisy iterations have owners").into());
        };
        if training.release != Release::Last {
            return refuse(
                Fact::Release,
                "is not \"last\", but owners hand on every iterate, and only the last one is published",
                "release = \"last\"",
            );
        }
        if training.record != Record::Worst {
            return refuse(
                Fact::Record,
                "is an index, but every owner is asked about",
                "leave it out; account --set record=… --set steps=… asks about one pair of a single pass",
            );
        }
        if training.centre.is_some() {
            return refuse(
                Fact::CentreNoise,
                "is given, but a mean needs all records in one place",
                "leave [centre] out",
            );
        }
        if training.evaluation.is_some() {
            return refuse(
                Fact::EvaluationNoise,
                "is given, but an evaluation needs all records in one place",
                "leave [evaluation] out",
            );
        }
        let (pass, equal) = (training.batches_in_a_pass(), training.has_equal_steps());
        let steps = match training.possible_steps().as_deref() {
            Some([steps]) => *steps,
            _ => return refuse(Fact::Steps, "is not one certain number", "steps = 1000"),
        };
        let passes = steps.div_ceil(pass);
        if !training.has_equal_passes() {
            return refuse(
                Fact::IncompleteBatch,
                "is not said, so that it is not certain who has which step",
                "incomplete-batch = \"drop\", \"short\" or \"pad\", or a batch-size that divides records",
            );
        }
        if passes > 1 && !steps.is_multiple_of(pass) {
            return refuse(
                Fact::Steps,
                "end within a pass, so that some owners are visited once more than others",
                "a whole number of passes, such as epochs = 3",
            );
        }
        if passes > 1 && !equal {
            return refuse(
                Fact::LearningRate,
                "or the noise changes, which is analysed for a single pass from owner to owner only",
                "one learning rate and one noise for all steps, or epochs = 1",
            );
        }
        let (named, progress) = (!options.only.is_empty(), options.progress.clone());
        let options = options.for_each_record(training.noise_kind);
        Ok(Self { run, training, question, options, owners: pass.min(steps), passes, equal, named, progress })
    }

    /// The best answer for several sights of one owner's records, each after this many hidden steps and this often, if
    /// all steps are equal. Unless analyses are named, those are asked whose bounds compose in no time, or all if there is
    /// none.
    fn ask(&self, sights: &[(u64, u64)]) -> Result<Asked, RecordsError> {
        let mut said = Vec::with_capacity(sights.len());
        for &(hidden, count) in sights.iter().filter(|(_, count)| *count > 0) {
            let run = Run::training(Training {
                order: Order::Once,
                length: Length::Steps(1),
                record: Record::Index(1),
                public_steps: hidden,
                ..self.training.clone()
            })?;
            said.push((self.bounds(&run), count));
        }
        let parts = |index: usize| -> Option<(&'static str, Vec<(Bound, u64)>)> {
            let id = said.first()?.0.get(index)?.0;
            let parts = said.iter().map(|(bounds, count)| Some((bounds[index].1.clone()?, *count)));
            Some((id, parts.collect::<Option<Vec<_>>>()?))
        };
        let theorems = said.first().map_or(0, |(bounds, _)| bounds.len());
        let mut all: Vec<(&'static str, Vec<(Bound, u64)>)> = (0..theorems).filter_map(parts).collect();
        let alone = matches!(said[..], [(_, 1)]);
        let is_quick = |parts: &[(Bound, u64)]| parts.iter().all(|(bound, _)| bound.composes_quickly());
        if !alone && !self.named && all.iter().any(|(_, parts)| is_quick(parts)) {
            all.retain(|(_, parts)| is_quick(parts));
        }
        let profiles = all.into_iter().filter_map(|(id, mut parts)| {
            let bound = if alone {
                parts.remove(0).0
            } else {
                Bound::together(parts, self.options.tolerance).ok()?
            };
            Some((id, bound.into_profile()))
        });
        Ok(best(profiles, self.question))
    }

    /// The bound of every rigorous theorem, if it has one.
    fn bounds(&self, run: &Run) -> Vec<(&'static str, Option<Bound>)> {
        let theorems = self.options.theorems().filter(|theorem| theorem.is_rigorous());
        let Options { tolerance, exception, .. } = self.options;
        let care = Care { tolerance, exception, effort: Effort::Once(tolerance) };
        let said = bounds(run, theorems, care).into_iter();
        said.map(|said| (said.theorem.id(), said.bound.ok())).collect()
    }

    /// The best answer of a run.
    fn of_run(&self, run: &Run) -> Asked {
        let bounds = self.bounds(run).into_iter();
        best(bounds.filter_map(|(id, bound)| Some((id, bound?.into_profile()))), self.question)
    }

    fn pair(&self, owner: u64, observer: Observer) -> Result<Pair, RecordsError> {
        let until_the_end = self.owners - owner + self.training.public_steps;
        let (hidden, asked) = match observer {
            Observer::Public => (until_the_end, self.against_the_public(owner)?),
            Observer::Owner(place) if place > owner => {
                let hidden = place - 1 - owner;
                let asked = if self.equal {
                    self.ask(&[(hidden, self.passes)])?
                } else {
                    self.of_run(&self.until(owner, place - 1)?)
                };
                (hidden, asked)
            }
            // In a single pass they see only what is published.
            Observer::Owner(_) if self.passes == 1 => (until_the_end, self.against_the_public(owner)?),
            Observer::Owner(place) => {
                let hidden = self.owners + place - 1 - owner;
                (hidden, self.ask(&[(hidden, self.passes - 1), (until_the_end, 1)])?)
            }
        };
        let Asked { answer, analysis } = asked;
        Ok(Pair { owner, observer, hidden, answer, analysis })
    }

    fn against_the_public(&self, owner: u64) -> Result<Asked, RecordsError> {
        if self.equal && self.passes == 1 {
            return self.ask(&[(self.owners - owner + self.training.public_steps, 1)]);
        }
        Ok(self.of_run(&self.run.of_record(self.training.first_record_of(owner))?))
    }

    /// The run of a single pass, stopped after this many steps.
    fn until(&self, owner: u64, steps: u64) -> Result<Run, RunError> {
        let mut training = Training {
            length: Length::Steps(steps),
            order: Order::Once,
            record: Record::Index(self.training.first_record_of(owner)),
            public_steps: 0,
            ..self.training.clone()
        };
        let count = usize::try_from(steps).unwrap_or(usize::MAX);
        if let Some(LearningRate::List(rates)) = &mut training.learning_rate {
            rates.truncate(count);
        }
        if let Noise::GradientList(noises) = &mut training.noise {
            noises.truncate(count);
        }
        Run::training(training)
    }

    /// The guarantee if every message were public, for all owners.
    fn local(&self) -> Option<Answer> {
        let only = Options { only: vec!["composition"], ..self.options.clone() };
        self.run.account_by(self.question, &only).answer("composition")
    }

    /// Each owner against the public.
    fn public(&self) -> Result<Vec<Protection>, RecordsError> {
        let rows = protection_by_record(self.run, self.question, &self.options)?;
        let place = |record: u64| self.training.place_of(record);
        let rows = rows.into_iter().map(|row| Protection { from: place(row.from), to: place(row.to), ..row });
        // Records that no step uses have no part in the journey.
        let rows = rows.filter(|row| row.from <= self.owners);
        Ok(rows.map(|row| Protection { to: row.to.min(self.owners), ..row }).collect())
    }

    /// The pair with the largest ratio of displacement to noise among those with no step between them; or the last owner
    /// and the public, if that is less private.
    fn worst(&self) -> Result<Option<Pair>, RecordsError> {
        let last = self.pair(self.owners, Observer::Public)?;
        let mut pairs = vec![last];
        if self.owners > 1 {
            let next = if self.training.has_equal_ratios() { 1 } else { self.most_exposed()? };
            pairs.insert(0, self.pair(next, Observer::Owner(next + 1))?);
        }
        let upper = |pair: &Pair| pair.answer.map_or(f64::INFINITY, |answer| answer.value.upper());
        // The first of equals.
        Ok(pairs.into_iter().reduce(|a, b| if upper(&b) > upper(&a) { b } else { a }))
    }

    /// The owner, but for the last, whose step moves most in units of its noise.
    fn most_exposed(&self) -> Result<u64, RecordsError> {
        let mut most = (1, Enclosure::ZERO);
        for owner in 1..self.owners {
            let ratio = self.training.exposure_at(owner)?;
            if ratio.upper() > most.1.upper() {
                most = (owner, ratio);
            }
        }
        Ok(most.0)
    }

    fn listed(&self) -> Result<Vec<Pair>, RecordsError> {
        let mut wanted = Vec::new();
        if self.owners <= FEW {
            for owner in 1..=self.owners {
                let others = (1..=self.owners).filter(|place| *place != owner).map(Observer::Owner);
                wanted.extend(others.chain([Observer::Public]).map(|observer| (owner, observer)));
            }
        } else {
            // Equally spaced, the first and the last among them.
            let spaced = |index: u64| {
                1 + (u128::from(self.owners - 1) * u128::from(index) / u128::from(LISTED - 1)) as u64
            };
            for owner in (0..LISTED).map(spaced) {
                let next =
                    distances(self.owners - owner).into_iter().map(|next| Observer::Owner(owner + next));
                wanted.extend(next.chain([Observer::Public]).map(|observer| (owner, observer)));
            }
        }
        self.progress.add_parts(wanted.len() as u64);
        let pairs = wanted.into_par_iter().map(|(owner, observer)| {
            let pair = self.pair(owner, observer);
            self.progress.advance(1);
            pair
        });
        pairs.collect()
    }
}

/// 1, 2, 5, 10, 20, 50, … up to a number.
fn distances(most: u64) -> Vec<u64> {
    let decades = std::iter::successors(Some(1_u64), |decade| decade.checked_mul(10));
    let all = decades.flat_map(|decade| [1, 2, 5].map(|digit| decade.saturating_mul(digit)));
    all.take_while(|distance| *distance <= most).collect()
}
