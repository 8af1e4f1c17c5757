//! `audit RUN.toml`: how much of a guarantee is real, and where the rest is lost.

use super::{Answered, Finding, FloorReport, Given, GuaranteeReport};
use crate::json::Number;
use dobrushin::account::{Account, Question};
use dobrushin_audit::floor::{Event, Floor};
use serde::Serialize;
use serde_json::Value as Json;

/// The floor of a run beside its guarantee.
#[derive(Serialize)]
pub struct WorstCaseReport {
    schema: u32,
    run: Json,
    /// What was asked.
    pub target: Given,
    /// What no analysis of the same facts can go below, where it is known.
    pub floor: Option<FloorReport>,
    /// No attack was made.
    attacks: [(); 0],
    /// What is guaranteed.
    pub guarantee: Option<GuaranteeReport>,
    /// What would be guaranteed if every iterate were released.
    pub composition: Option<Answered>,
    /// Whether the floor is above the guarantee, which is an error in one of the two.
    pub violation: bool,
    /// What tells the two data sets of the instance apart.
    pub event: Option<EventReport>,
    /// What every analysis says.
    pub analyses: Vec<Finding>,
    /// The same for shorter runs, or for records with more hidden steps after them.
    pub gap: Option<GapReport>,
}

/// A set of outcomes of the instance.
#[derive(Clone, Debug, Serialize)]
pub struct EventReport {
    /// Intervals of the released number; an end is null where the interval has none.
    pub intervals: Vec<[Option<Number>; 2]>,
    /// Whether the record makes the event likelier.
    pub with_the_record: bool,
    /// Roughly its probability with the data set that makes it likelier.
    pub likelier: Number,
    /// Roughly its probability with the other one.
    pub less_likely: Number,
}

impl EventReport {
    /// The event that tells most at what the floor says; `None` if the instance is not one number.
    pub fn of(question: Question, floor: &Floor) -> Option<Self> {
        let densities = floor.densities.as_ref()?;
        let epsilon = match question {
            Question::EpsilonAt(_) => floor.answer.value.lower(),
            Question::DeltaAt(epsilon) => epsilon.get(),
        };
        let (from, to) = densities.range();
        let Event { intervals, with, probabilities } = densities.event(epsilon);
        // The range ends where hardly anything is left.
        let near = (to - from) * 1e-3;
        let end = |x: f64, end: f64| ((x - end).abs() > near).then_some(Number(x));
        let intervals: Vec<_> = intervals.into_iter().map(|(a, b)| [end(a, from), end(b, to)]).collect();
        (!intervals.is_empty()).then_some(Self {
            intervals,
            with_the_record: with,
            likelier: Number(probabilities[0]),
            less_likely: Number(probabilities[1]),
        })
    }
}

/// Where floor and guarantee part.
#[derive(Clone, Debug, Serialize)]
pub struct GapReport {
    /// What is varied: `steps`, or `later_steps`, the number of steps after the record's use.
    pub over: &'static str,
    /// The values of it, from the least.
    pub points: Vec<GapPoint>,
}

/// Floor and guarantee for one value of what is varied.
#[derive(Clone, Debug, Serialize)]
pub struct GapPoint {
    /// The value.
    pub value: u64,
    /// The floor.
    pub floor: Number,
    /// The guarantee.
    pub guarantee: Number,
    /// The analysis by which it holds.
    pub analysis: &'static str,
}

impl GapPoint {
    /// The share of the guarantee that is real.
    pub fn share(&self) -> f64 {
        if self.guarantee.0 > 0.0 { self.floor.0 / self.guarantee.0 } else { 1.0 }
    }
}

impl WorstCaseReport {
    pub(crate) fn new(run: Json, account: &Account, floor: Option<&Floor>, gap: Option<GapReport>) -> Self {
        let question = account.question;
        let guarantee = GuaranteeReport::of(account);
        let least = floor.map(|floor| floor.answer.value.lower());
        let most = account.guarantee().ok().map(|best| best.answer.value.upper());
        Self {
            schema: 1,
            run,
            target: question.into(),
            floor: floor.map(|floor| FloorReport::new(question, floor)),
            attacks: [],
            guarantee,
            composition: account.if_published().map(|answer| Answered::new(question, answer)),
            violation: least.zip(most).is_some_and(|(least, most)| least > most),
            event: floor.and_then(|floor| EventReport::of(question, floor)),
            analyses: Finding::all(account),
            gap,
        }
    }

    /// The floor and the guarantee, if there are both.
    pub fn ends(&self) -> Option<(f64, f64)> {
        let floor = self.floor.as_ref()?.answer.value()?.lower();
        Some((floor, self.guarantee.as_ref()?.answer.value()?.upper()))
    }
}
