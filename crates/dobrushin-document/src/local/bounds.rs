//! The smallest error that any mechanism with a given promise, and any estimator, can have.

use crate::DocumentError;
use crate::report::BoundsReport;
use dobrushin::numeric::decimal as number;
use dobrushin_local::LocalPrivacy;
use dobrushin_local::risk::{Ball, Frequencies, FrequencyLoss, MomentClass, Reports, Task};
use std::num::NonZeroU32;

/// What is estimated: everything that is given, or the mean of a law with a second moment if nothing is.
#[derive(Clone, Copy, Debug, Default)]
pub struct BoundsWishes {
    /// The mean of numbers with E|X|^k ≤ 1.
    pub moments: Option<f64>,
    /// The mean of vectors in a ball.
    pub ball: Option<Ball>,
    /// The frequencies of this many categories.
    pub categories: Option<u32>,
}

/// Lower bounds for every task, from this many reports.
pub fn bounds(
    promise: LocalPrivacy,
    records: NonZeroU32,
    wishes: &BoundsWishes,
) -> Result<BoundsReport, DocumentError> {
    let reports = Reports::promised(promise);
    let mut answers = tasks(wishes)?.into_iter().map(|(what, task)| (what, task.bounds(&reports, records)));
    let Some(first) = answers.next() else { return Err(DocumentError::new("there is no task")) };
    Ok(BoundsReport::new(records.get(), first, answers.collect()))
}

fn tasks(wishes: &BoundsWishes) -> Result<Vec<(String, Task)>, DocumentError> {
    let mut tasks = Vec::new();
    let nothing_else = wishes.ball.is_none() && wishes.categories.is_none();
    if let Some(moments) = wishes.moments.or(nothing_else.then_some(2.0)) {
        let what = format!("The mean of a law with E|X|^{} ≤ 1: mean square error", number::plain(moments));
        tasks.push((what, Task::Mean(MomentClass::new(moments)?)));
    }
    if let Some(ball @ Ball { radius, dimension }) = wishes.ball {
        let what = format!(
            "The mean of a law on a ball of radius {} in {dimension} dimensions: mean square error",
            number::plain(radius.get())
        );
        tasks.push((what, Task::BallMean(ball)));
    }
    if let Some(categories) = wishes.categories {
        let what = format!("The frequencies of {categories} categories: mean of the sum of squared errors");
        tasks.push((what, Task::Frequencies(Frequencies::new(categories, FrequencyLoss::Squared)?)));
    }
    Ok(tasks)
}
