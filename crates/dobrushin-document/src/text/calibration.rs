//! How much noise a target needs, in words.

use super::{Style, Text, table, warn};
use crate::report::CalibrationReport;
use dobrushin::account::Target;
use dobrushin::numeric::decimal as number;
use dobrushin::run::Parameter;

/// The value, what it gives, and why it is this one.
pub fn calibration(report: &CalibrationReport, style: Style) -> Text {
    let CalibrationReport { found, target, side, achieves, concern } = report;
    let mut text = Text::default();
    let value = number::plain(found.value);
    text.answer(format!("{} = {value}", found.parameter.key()));
    if let Some(achieves) = achieves {
        text.explanation(achieves.as_str());
    }
    let what = match target {
        Target::Privacy { delta, .. } => format!("ε at δ = {}", number::plain(delta.get())),
        Target::Advantage(_) => "membership advantage".to_owned(),
        Target::TruePositiveRate { at, .. } => {
            format!("true-positive rate at false-positive rate {}", number::plain(at.get()))
        }
    };
    let row = [what, style.lower(found.achieved), style.upper(found.achieved), number::plain(target.limit())];
    let by = format!("with it, by {}", found.analysis);
    text.explanation(table([by.as_str(), "at least", "at most", "target"], [row]));
    let next = match found.parameter {
        Parameter::PublicSteps | Parameter::ForgetSteps => "one step less fails",
        parameter if parameter.is_whole() => "the next whole number fails",
        Parameter::Epochs => "one step more fails",
        _ => "a value 1e-5 less private, relatively, fails",
    };
    text.explanation(if found.at_the_end {
        "The target is met at the end of the range that is searched.".to_owned()
    } else {
        format!("The {side} with which the run meets the target, seen to meet it: {next}.")
    });
    warn(&mut text, concern.as_deref());
    text
}
