//! How much of a guarantee is real, and where the rest is lost.

use super::Asked;
use crate::error::DocumentError;
use crate::json::Number;
use crate::report::{GapPoint, GapReport, WorstCaseReport};
use crate::run_file::{RunFile, SelfContained};
use dobrushin::Progress;
use dobrushin::account::{Account, Options, Question};
use dobrushin::run::{Length, Order, Parameter, Run};
use dobrushin_audit::floor::{Floor, floor};

/// What was computed: the report, and what it was computed from.
pub struct WorstCase {
    /// The report.
    pub report: WorstCaseReport,
    /// The run.
    pub run: Run,
    /// The account.
    pub account: Account,
    /// The floor.
    pub floor: Option<Floor>,
}

/// The floor of a run beside its guarantee, and the same for shorter runs. `begin` is told what is being worked on.
pub fn worst_case(
    file: &RunFile,
    contained: &SelfContained,
    asked: Asked,
    begin: &mut dyn FnMut(&'static str) -> Progress,
) -> Result<WorstCase, DocumentError> {
    let question = asked.of(file)?;
    let run = contained.run()?;
    let account = run.account_by(question, &Options { progress: begin("analyses"), ..Options::default() });
    let found = floor(&run, question);
    let gap = found.is_some().then(|| gap(&run, question, &begin("shorter runs"))).flatten();
    let report = WorstCaseReport::new(file.json(), &account, found.as_ref(), gap);
    Ok(WorstCase { report, run, account, floor: found })
}

/// Each value is this many times the one before.
const RATIO: u64 = 4;
/// Longer runs are not looked at where any number of steps is allowed.
const LONGEST: u64 = 4096;

/// Floor and guarantee of shorter runs; or, where each record is used once, of records that more and more steps follow.
fn gap(run: &Run, question: Question, progress: &Progress) -> Option<GapReport> {
    let training = run.as_training()?;
    let once = training.order == Order::Once;
    let most = match training.length {
        _ if once => training.records.saturating_sub(1),
        Length::Steps(steps) => steps,
        Length::Any => LONGEST,
        Length::Epochs(_) => return None,
    };
    let first = u64::from(!once);
    let mut values = vec![first];
    let mut next = 1;
    while next < most {
        values.push(next);
        next *= RATIO;
    }
    values.push(most);
    values.dedup();
    progress.add_parts(values.len() as u64);
    let points = values.into_iter().filter_map(|value| {
        let shorter = match once {
            true => run.of_record(training.records - value).ok()?,
            false => run.with(Parameter::Steps, value as f64).ok()?,
        };
        let account = shorter.account_by(question, &Options::default());
        let (best, least) = (account.guarantee().ok()?, floor(&shorter, question)?);
        progress.advance(1);
        Some(GapPoint {
            value,
            floor: Number(least.answer.value.lower()),
            guarantee: Number(best.answer.value.upper()),
            analysis: best.id,
        })
    });
    let over = if once { "later_steps" } else { "steps" };
    Some(GapReport { over, points: points.collect() }).filter(|gap| gap.points.len() > 1)
}
