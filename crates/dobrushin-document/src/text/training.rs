//! What users read after training has ended.

use super::evaluation::{quality, schedule};
use super::meaning::in_words;
use super::{Block, Style, Text, bullets, table, warn, wrap};
use crate::certificate::NOT_PRIVATE;
use crate::report::{GuaranteeReport, MetricsReport, PublicReport, TrainedFiles, TrainingReport};

/// The guarantee first, then what may be said about how good the model is.
pub fn training(report: &TrainingReport, style: Style) -> Text {
    let mut text = Text::default();
    if let Some(guarantee) = &report.guarantee {
        describe(&mut text, report, guarantee, style);
    }
    if let Some(test) = &report.test {
        text.answer(metrics(&report.labels, test.as_slice()));
        let of_labels = report.labels.iter().zip(test.as_slice());
        let found = of_labels.filter_map(|(label, metrics)| quality(label, metrics, style));
        found.for_each(|found| text.explanation(found));
        if report.test_is_a_share {
            text.explanation(
                "The test records are part of the same file. The guarantee does not cover these numbers for them.",
            );
        }
    }
    if !report.private_evaluation.is_empty() {
        text.answer(evaluation(report));
        text.explanation("The guarantee covers these numbers. ± is the standard deviation of their noise.");
    }
    text.explanation(schedule(&report.schedule, style));
    match &report.public {
        Some(records) => text.answer(public(records)),
        None => text.explanation(wrap(UNUSABLE, "")),
    }
    if let Some(TrainedFiles { model, certificate, certificate_text }) = &report.files {
        text.explanation(format!(
            "The model is {model}, its certificate {certificate} (for people: {certificate_text}).\n\
             It can be checked by: dobrushin certificate verify {certificate} --model {model}",
        ));
    }
    if let Some(charged) = &report.charged {
        text.explanation(wrap(&super::ledger::charged(charged), ""));
    }
    if let Some(state) = &report.state {
        text.explanation(wrap(
            &format!(
                "The state is {state}. It is secret: whoever reads it learns more than the model tells. dobrushin forget \
                 --state {state} deletes records from the model."
            ),
            "",
        ));
    }
    text
}

/// The same for all data.
const UNUSABLE: &str = "Rows that cannot be used, if there are any, were trained on as empty records. Only you may know which: \
                        dobrushin schema check with --rows finds them.";

fn describe(text: &mut Text, report: &TrainingReport, guarantee: &GuaranteeReport, style: Style) {
    let value = guarantee.answer.value().map_or(String::new(), |value| style.upper(value));
    let promise = format!("(ε, δ) = {}, by {}", guarantee.given.pair(&value), guarantee.analysis);
    text.answer(match report.seed {
        None => promise,
        Some(seed) => format!("{NOT_PRIVATE}: the randomness came from seed {seed}. Otherwise {promise}"),
    });
    warn(text, report.concern.as_deref());
    text.explanation(in_words(report.meaning.as_ref()));
    if let Some(published) = report.if_published {
        let (symbol, value) = (guarantee.given.symbol(), style.upper(published));
        text.explanation(format!(
            "If every iterate were published it would be {symbol} = {value}, by composition."
        ));
    }
    let notes = || report.warnings.iter().filter(|note| Some(*note) != report.concern.as_ref());
    if notes().next().is_some() {
        text.explanation(bullets("Notes", notes()));
    }
}

fn evaluation(report: &TrainingReport) -> Block {
    let rows = report.labels.iter().zip(&report.private_evaluation).map(|(label, evaluation)| {
        [
            label.clone(),
            four(evaluation.accuracy),
            four(Some(evaluation.loss)),
            four(evaluation.accuracy_deviation),
            four(Some(evaluation.loss_deviation)),
        ]
    });
    table(["on the private records, with noise", "accuracy", "loss", "± accuracy", "± loss"], rows)
}

pub(super) fn metrics(labels: &[String], metrics: &[MetricsReport]) -> Block {
    let rows = labels.iter().zip(metrics).map(|(label, metrics)| {
        [
            label.clone(),
            metrics.records.to_string(),
            four(metrics.accuracy),
            // These are errors of scaled numbers, in the units of the column.
            four(metrics.root_mean_square.map(|error| error * metrics.unit)),
            four(Some(metrics.loss)),
        ]
    });
    table(["on the test records", "records", "accuracy", "root mean square", "loss"], rows)
}

fn four(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| format!("{value:.4}"))
}

fn public(records: &PublicReport) -> Block {
    let enforced = records.enforced.as_ref().map(|enforced| {
        format!(
            "{} values were outside their bounds and moved to them, {} rows were scaled down, {} rows could not be used",
            enforced.clipped, enforced.scaled, enforced.skipped
        )
    });
    let metrics = records.training_records.iter().flat_map(|metrics| metrics.as_slice());
    let losses = metrics.map(|metrics| format!("loss on the training records {:.4}", metrics.loss));
    let regret = records.regret.as_ref().map(|regret| {
        let rounds = regret.rounds as f64;
        format!(
            "regret {:.4} over {} rounds: mean loss {:.4} as they came, {:.4} of the best fixed parameters that were found",
            regret.regret,
            regret.rounds,
            regret.loss / rounds,
            regret.best / rounds
        )
    });
    let lines = enforced.into_iter().chain(losses).chain(regret);
    bullets("Of the training records, which are said to be public", lines)
}
