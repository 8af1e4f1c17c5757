//! How private a run is, in words.

use super::utility::utility;
use super::{Text, bullets, table, warn, wrap};
use crate::report::{AccountReport, AdviceReport, Answered, Given, Records};
use dobrushin::numeric::decimal as number;

/// The answer, where it comes from, what every analysis says, what must hold, and what was asked for besides.
pub fn account(report: &AccountReport) -> Text {
    let mut text = Text::default();
    if report.extras.is_example {
        text.explanation("No run file was given: this is the built-in example, examples/dp-sgd.toml.");
    }
    let best = report.guarantee.as_ref();
    text.answer(match best {
        Some(best) => {
            let value = shown(best.answer, number::upper);
            format!("(ε, δ) = {}, by {}", report.target.pair(&value), best.analysis)
        }
        None => "No guarantee: none of the analyses applies.".to_owned(),
    });
    warn(&mut text, report.concern.as_deref());
    if !report.explanation.is_empty() {
        let lines: Vec<String> = report.explanation.iter().map(|line| wrap(line, "")).collect();
        text.explanation(lines.join("\n"));
    }
    if let Some(by_record) = &report.extras.records {
        text.answer(records(by_record));
    }
    if report.analyses.iter().any(|finding| finding.not_applicable.is_none()) {
        text.answer(answers(report));
    }
    let reasons = reasons(report);
    if !reasons.is_empty() {
        let lines = reasons.iter().map(|(reason, ids)| format!("{}: {reason}", ids.join(", ")));
        text.explanation(bullets("Not applicable", lines));
    }
    if let Some(best) = best {
        text.explanation(bullets("Assumptions", &best.assumptions));
    }
    let notes = || report.warnings.iter().filter(|note| Some(*note) != report.concern.as_ref());
    if notes().next().is_some() {
        text.explanation(bullets("Notes", notes()));
    }
    text.explanation(format!(
        "The guarantee is the smallest upper end of a rigorous analysis; printed bounds are rounded outward.\n\
         The theorem: dobrushin explain {}",
        best.map_or("composition", |best| &best.analysis)
    ));
    if let Some(advised) = &report.extras.advice {
        text.answer(advice(report.target, advised));
    }
    if let Some(worth) = &report.extras.utility {
        utility(&mut text, worth);
    }
    text
}

fn advice(target: Given, advice: &[AdviceReport]) -> String {
    if advice.is_empty() {
        return "What would help\n  none of the changes that were tried".to_owned();
    }
    let line = |advice: &AdviceReport| {
        let value = advice.answer.value().map_or(String::new(), number::briefly);
        format!("{}: {} = {value}", advice.change, target.symbol())
    };
    bullets("What would help, each by itself, tried out", advice.iter().map(line))
}

/// Why analyses do not apply, those with the same reason together.
fn reasons(report: &AccountReport) -> Vec<(&str, Vec<&str>)> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for finding in &report.analyses {
        let Some(reason) = &finding.not_applicable else {
            continue;
        };
        match reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, ids)) => ids.push(&finding.id),
            None => reasons.push((reason, vec![&finding.id])),
        }
    }
    reasons
}

/// A table of the analyses that apply.
fn answers(report: &AccountReport) -> String {
    let symbol = report.target.symbol();
    let rows = report.analyses.iter().filter_map(|finding| {
        let value = finding.answer.value()?;
        let note = if finding.approximate { "approximate: no guarantee" } else { "" };
        let (lower, upper) = (number::lower(value), shown(finding.answer, number::upper));
        Some([finding.id.clone(), lower, upper, note.to_owned()])
    });
    table(["analysis", &format!("{symbol} at least"), &format!("{symbol} at most"), ""], rows)
}

/// A value; where δ underflows, its logarithm too.
fn shown(answer: Answered, written: fn(dobrushin::Enclosure) -> String) -> String {
    let Some(answer) = answer.answer() else {
        return String::new();
    };
    let value = written(answer.value);
    match answer.log_delta {
        Some(log_delta) if answer.value.upper() < 1e-300 && log_delta.upper().is_finite() => {
            format!("{value} (ln δ ≤ {})", number::upper(log_delta))
        }
        _ => value,
    }
}

/// Places, as shares of all records, that a summary shows.
const SHOWN: [f64; 10] = [0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999];

/// A dozen places, and how many records have which protection.
fn records(records: &Records) -> String {
    let last = records.rows.last().map_or(0, |row| row.to);
    let inner = SHOWN.iter().map(|share| (share * last as f64).ceil() as u64);
    let shown: Vec<u64> = [1].into_iter().chain(inner).chain([last]).collect();
    let rows = records.rows.iter().filter(|row| shown.iter().any(|&at| (row.from..=row.to).contains(&at)));
    let cells = rows.map(|row| {
        let records =
            if row.from == row.to { row.from.to_string() } else { format!("{}–{}", row.from, row.to) };
        let value = row.answer.map_or("–".to_owned(), |answer| number::upper(answer.value));
        [records, value, row.analysis.to_owned()]
    });
    let symbol = records.given().symbol();
    let header = ["record", &format!("{symbol} at most"), "analysis"];
    let [half, most, all] = [0.5, 0.9, 1.0].map(|share| {
        let answer = records.reached_by(share).and_then(|row| row.answer);
        answer.map_or("∞".to_owned(), |answer| number::briefly(answer.value))
    });
    format!(
        "{}\n\nHalf of the records have {symbol} ≤ {half}, nine in ten {symbol} ≤ {most}, all {symbol} ≤ {all}.",
        table(header, cells)
    )
}
