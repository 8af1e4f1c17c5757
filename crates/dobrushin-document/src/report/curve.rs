//! `curve`: a run with one or two of its parameters varied.

use super::answer::{Answered, Given};
use crate::json::Bounds;
use crate::run_file::Sweep;
use dobrushin::NotApplicable;
use dobrushin::account::{Account, Answer, Entry, Question};
use dobrushin::utility::{Best, Utility};
use serde::{Serialize, Serializer};
use serde_json::Value as Json;

/// How good a run is.
pub type Worth = Result<Utility, NotApplicable>;

/// The answers to a question that is asked at every point.
pub struct Curve {
    /// What is varied, once or twice.
    pub sweeps: Vec<Sweep>,
    /// Indices into the values of each parameter; the first parameter varies slowest.
    pub points: Vec<Vec<usize>>,
    /// One account for each point.
    pub accounts: Vec<Account>,
    /// One utility for each point, if it is asked for.
    pub worths: Option<Vec<Worth>>,
    /// What is asked.
    pub question: Question,
}

impl Curve {
    /// The points of sweeps.
    pub fn points(sweeps: &[Sweep]) -> Vec<Vec<usize>> {
        sweeps.iter().fold(vec![Vec::new()], |points, sweep| {
            let extend =
                |point: Vec<usize>| (0..sweep.count()).map(move |index| [&point[..], &[index]].concat());
            points.into_iter().flat_map(extend).collect()
        })
    }

    /// What was given.
    pub fn given(&self) -> Given {
        self.question.into()
    }

    /// The analyses that apply somewhere.
    pub fn ids(&self) -> Vec<&'static str> {
        self.entries().map(|entry| entry.id).collect()
    }

    /// What the analyses that apply somewhere answered at the first point.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        let entries = self.accounts.first().map_or(&[][..], |account| &account.entries);
        let applies = |id: &str| self.accounts.iter().any(|account| answer(account, id).is_some());
        entries.iter().filter(move |entry| applies(entry.id))
    }

    /// The best bound on the utility at a point.
    pub fn best(&self, point: usize) -> Option<Best<'_>> {
        self.worths.as_ref()?.get(point)?.as_ref().ok()?.best()
    }

    /// Where δ is too large to protect anybody, in words.
    pub fn concern(&self) -> Option<String> {
        let concerns = || self.accounts.iter().filter_map(|account| account.concern.as_ref());
        let first = concerns().next()?;
        Some(match (concerns().count(), self.accounts.len()) {
            (1, 1) => first.clone(),
            (some, all) => format!("at {some} of {all} points δ is too large, at the first because {first}"),
        })
    }

    /// What is bounded at all points, in words.
    pub fn measure(&self) -> String {
        let mut words: Vec<&str> = Vec::new();
        for best in (0..self.points.len()).filter_map(|point| self.best(point)) {
            if !words.contains(&best.measure.words()) {
                words.push(best.measure.words());
            }
        }
        words.join(", or ")
    }

    /// The answers, each field as a list over the points.
    fn lists(&self, of: impl Fn(&Account) -> Option<Answer>) -> Lists {
        let answers: Vec<Answered> = (self.accounts.iter())
            .map(|account| of(account).map(|answer| Answered::new(self.question, answer)).unwrap_or_default())
            .collect();
        let list = |field: fn(&Answered) -> Option<Bounds>| {
            let values: Vec<Option<Bounds>> = answers.iter().map(field).collect();
            values.iter().any(Option::is_some).then(|| self.grid(values))
        };
        Lists {
            epsilon: list(|answer| answer.epsilon),
            delta: list(|answer| answer.delta),
            log_delta: list(|answer| answer.log_delta),
        }
    }

    /// A value for each point; for two parameters, a list of rows.
    fn grid<T>(&self, flat: Vec<T>) -> Grid<T> {
        let [_, inner] = &self.sweeps[..] else {
            return Grid::List(flat);
        };
        let mut flat = flat.into_iter();
        let row = |flat: &mut std::vec::IntoIter<T>| flat.by_ref().take(inner.count()).collect();
        Grid::Rows((0..self.sweeps[0].count()).map(|_| row(&mut flat)).collect())
    }
}

/// What an analysis answered, if it applies.
pub fn answer(account: &Account, id: &str) -> Option<Answer> {
    account.entries.iter().find(|entry| entry.id == id)?.outcome.as_ref().ok().copied()
}

/// A value for each point.
#[derive(Serialize)]
#[serde(untagged)]
enum Grid<T> {
    List(Vec<T>),
    Rows(Vec<Vec<T>>),
}

#[derive(Serialize)]
struct Lists {
    #[serde(skip_serializing_if = "Option::is_none")]
    epsilon: Option<Grid<Option<Bounds>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delta: Option<Grid<Option<Bounds>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    log_delta: Option<Grid<Option<Bounds>>>,
}

/// The report, as it is written.
#[derive(Serialize)]
struct Fields<'a> {
    over: Vec<Over<'a>>,
    target: Given,
    analyses: Vec<Column>,
    guarantee: Option<Grid<Option<Bounds>>>,
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    utility: Option<Grid<Option<Excess>>>,
}

#[derive(Serialize)]
struct Over<'a> {
    key: &'a str,
    values: Vec<Json>,
}

#[derive(Serialize)]
struct Column {
    id: &'static str,
    #[serde(flatten)]
    answers: Lists,
}

#[derive(Serialize)]
struct Excess {
    #[serde(flatten)]
    value: Bounds,
    measure: &'static str,
}

impl Serialize for Curve {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let column = |id| Column { id, answers: self.lists(|account| answer(account, id)) };
        let guarantee = self.lists(|account| account.guarantee().ok().map(|best| best.answer));
        let excess = |best: Best| Excess { value: Bounds(best.value), measure: best.measure.name() };
        let utility = || (0..self.points.len()).map(|point| self.best(point).map(excess)).collect();
        let fields = Fields {
            over: self.sweeps.iter().map(|sweep| Over { key: &sweep.key, values: sweep.json() }).collect(),
            target: self.given(),
            analyses: self.ids().into_iter().map(column).collect(),
            guarantee: guarantee.epsilon.or(guarantee.delta),
            warnings: self.concern().into_iter().collect(),
            utility: self.worths.as_ref().map(|_| self.grid(utility())),
        };
        fields.serialize(serializer)
    }
}
