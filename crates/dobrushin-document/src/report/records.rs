//! How well each record is protected, if records are used in turn.

use super::answer::{Answered, Given};
use crate::error::DocumentError;
use dobrushin::account::{Options, Protection, Question, protection_by_record};
use dobrushin::run::{Order, Run, Tasks};
use serde::{Serialize, Serializer};

/// The protection of every record.
#[derive(Clone)]
pub struct Records {
    question: Question,
    /// Consecutive records that share a bound, in their order.
    pub rows: Vec<Protection>,
}

impl Records {
    /// Computes the bound of every record.
    pub fn new(run: &Run, question: Question, options: &Options) -> Result<Self, DocumentError> {
        let fixed = |order: Order| matches!(order, Order::Once | Order::Cyclic);
        let one = run.as_training().is_some_and(|training| fixed(training.order));
        let one_of_many = |tasks: &Tasks| tasks.tasks.iter().any(|task| fixed(task.training.order));
        if !one && !run.as_tasks().is_some_and(one_of_many) {
            return Err(DocumentError::new(
                "--per-record asks for single records, but they have no fixed place here",
            )
            .help(
                "it needs run.order = \"once\" or \"cyclic\", where each record has its place in the pass",
            ));
        }
        let rows = protection_by_record(run, question, options)
            .map_err(|error| DocumentError::new(format!("--per-record has no answer: {error}")))?;
        Ok(Self { question, rows: joined(rows) })
    }

    /// What was given.
    pub fn given(&self) -> Given {
        self.question.into()
    }

    /// The bound that holds for this share of the records; `None` if no bound does.
    pub fn reached_by(&self, share: f64) -> Option<&Protection> {
        reached_by(&self.rows, share)
    }
}

/// The bound that holds for this share of the places of some rows; `None` if no bound does.
pub fn reached_by(rows: &[Protection], share: f64) -> Option<&Protection> {
    let mut rows: Vec<&Protection> = rows.iter().collect();
    rows.sort_by(|a, b| upper(a).total_cmp(&upper(b)));
    let all: u64 = rows.iter().map(|row| row.to - row.from + 1).sum();
    let mut counted = 0;
    rows.into_iter().find(|row| {
        counted += row.to - row.from + 1;
        counted as f64 >= share * all as f64
    })
}

/// The bound of a row; infinite if it has none.
pub fn upper(row: &Protection) -> f64 {
    row.answer.map_or(f64::INFINITY, |answer| answer.value.upper())
}

/// The fields of a row.
#[derive(Serialize)]
pub(super) struct Row {
    from: u64,
    to: u64,
    #[serde(flatten)]
    answer: Answered,
    #[serde(skip_serializing_if = "Option::is_none")]
    analysis: Option<&'static str>,
}

impl Row {
    /// A row that answers a question.
    pub fn new(question: Question, row: &Protection) -> Self {
        Self {
            from: row.from,
            to: row.to,
            answer: row.answer.map_or(Answered::default(), |answer| Answered::new(question, answer)),
            analysis: row.answer.map(|_| row.analysis),
        }
    }
}

impl Serialize for Records {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.rows.iter().map(|row| Row::new(self.question, row)))
    }
}

/// Joins neighbours that have the same answer.
pub(super) fn joined(rows: Vec<Protection>) -> Vec<Protection> {
    let mut joined: Vec<Protection> = Vec::with_capacity(rows.len());
    for row in rows {
        match joined.last_mut() {
            Some(last) if last.answer == row.answer && last.analysis == row.analysis => last.to = row.to,
            _ => joined.push(row),
        }
    }
    joined
}
