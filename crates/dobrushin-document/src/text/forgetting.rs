//! What users read after records were deleted from a model.

use super::meaning::in_words;
use super::training::metrics;
use super::{Style, Text, bullets, warn, wrap};
use crate::certificate::NOT_PRIVATE;
use crate::report::{ForgettingReport, GuaranteeReport, TrainedFiles};

/// The guarantee first, then how it was reached, then what it does not say.
pub fn forgetting(report: &ForgettingReport, style: Style) -> Text {
    let mut text = Text::default();
    if let Some(guarantee) = &report.guarantee {
        describe(&mut text, report, guarantee, style);
    }
    if let Some(test) = &report.test {
        text.answer(metrics(&report.labels, test.as_slice()));
    }
    alternative(report).into_iter().for_each(|words| text.warning(wrap(&words, "")));
    text.explanation(wrap(&everyone_else(report, style), ""));
    text.explanation(bullets("It does not hold against", NOT_COVERED));
    if let Some(TrainedFiles { model, certificate, certificate_text }) = &report.files {
        text.explanation(format!(
            "The model is {model}, its certificate {certificate} (for people: {certificate_text}).\n\
             It can be checked by: dobrushin certificate verify {certificate} --model {model}",
        ));
    }
    if let Some(state) = &report.state {
        text.explanation(wrap(
            &format!(
                "The state {state} was replaced. Now delete the rows from the data, and all copies of the old state, the old \
                 model and the rows: each of them remembers what is deleted here."
            ),
            "",
        ));
    }
    text
}

const NOT_COVERED: [&str; 3] = [
    "somebody who has a model that you released before: what was released stays released",
    "somebody who has the data or an old state",
    "requests that depend on released models: who is deleted must not be decided by what a model shows",
];

fn describe(text: &mut Text, report: &ForgettingReport, guarantee: &GuaranteeReport, style: Style) {
    let value = guarantee.answer.value().map_or(String::new(), |value| style.upper(value));
    let promise = format!(
        "The model {} {}: (ε, δ) = {}, by {}",
        if report.state.is_some() { "is" } else { "would be" },
        as_if(report.deleted),
        guarantee.given.pair(&value),
        guarantee.analysis
    );
    text.answer(match report.seed {
        None => promise,
        Some(seed) => format!("{NOT_PRIVATE}: randomness came from seed {seed}. Otherwise: {promise}"),
    });
    let steps = format!("{} clean {}", report.steps, if report.steps == 1 { "step" } else { "steps" });
    text.answer(match report.state {
        Some(_) => format!("{steps} made on the remaining records"),
        None => format!("{steps} needed; nothing was written"),
    });
    warn(text, report.concern.as_deref());
    if let Some(meaning) = &report.meaning {
        text.explanation(in_words(Some(meaning)));
    }
    let notes = || report.warnings.iter().filter(|note| Some(*note) != report.concern.as_ref());
    if notes().next().is_some() {
        text.explanation(bullets("Notes", notes()));
    }
}

fn everyone_else(report: &ForgettingReport, style: Style) -> String {
    let Some(guarantee) = &report.everyone_else else {
        return "It says nothing about the records that remain, and no guarantee is known for them."
            .to_owned();
    };
    let value = guarantee.answer.value().map_or(String::new(), |value| style.upper(value));
    format!(
        "It says nothing about the records that remain. What this model by itself guarantees them is (ε, δ) = {}, by {}: \
         they take part in all steps. Models that you released before cost them as well.",
        guarantee.given.pair(&value),
        guarantee.analysis
    )
}

/// What is claimed of the deleted records, in words.
pub fn as_if(records: u64) -> String {
    match records {
        1 => "as if the record that was deleted had never been used".to_owned(),
        _ => format!("as if the {records} records that were deleted had never been used"),
    }
}

/// What else could be done. Training again forgets entirely.
fn alternative(report: &ForgettingReport) -> Option<String> {
    let steps = report.training_steps.filter(|&steps| steps <= report.steps)?;
    Some(format!(
        "Training again without these records takes {steps} steps, no more than this, and forgets them entirely. Where every step \
         shrinks the model a little, by update.weight-decay, forgetting takes far fewer steps."
    ))
}
