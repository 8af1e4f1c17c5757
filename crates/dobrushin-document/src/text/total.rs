//! What several certificates say together, in words.

use super::meaning::{in_words, shortest};
use super::{Style, Text, bullets, table, wrap};
use crate::certificate::TotalReport;
use crate::json::Number;
use dobrushin::Enclosure;
use dobrushin::numeric::decimal as number;

/// The total first, then what it means, then what was added up.
pub fn total(report: &TotalReport, style: Style) -> Text {
    let mut text = Text::default();
    let all = match report.certificates.len() {
        1 => "by the one certificate".to_owned(),
        several => format!("for all {several} certificates together"),
    };
    let delta = shortest(report.delta.0);
    text.answer(if report.epsilon.0.upper().is_finite() {
        format!("(ε, δ) = ({}, {delta}), {all}", style.upper(report.epsilon.0))
    } else {
        format!("No guarantee {all}: ε is infinite at δ = {delta}. A larger --delta may give one.")
    });
    text.explanation(in_words(report.meaning.as_ref()));
    let upper = |Number(value): Number| style.upper(Enclosure::from(value));
    let rows = report.certificates.iter().map(|one| {
        let neighbours = one.neighbours.unwrap_or("as the chain says").to_owned();
        [
            one.certificate.clone(),
            upper(one.epsilon),
            shortest(one.delta.0),
            one.analysis.to_owned(),
            neighbours,
        ]
    });
    let sum = |of: fn(&crate::certificate::Counted) -> Number| {
        let values = report.certificates.iter().map(|one| Enclosure::from(of(one).0));
        number::upper(values.sum::<Enclosure>(), style.digits)
    };
    let sums =
        ["their sum".to_owned(), sum(|one| one.epsilon), sum(|one| one.delta), String::new(), String::new()];
    text.answer(table(
        ["certificate", "ε at most", "δ at most", "analysis", "neighbours"],
        rows.chain([sums]),
    ));
    if report.changed_neighbours {
        text.answer(wrap(
            "The certificates are for different neighbours, so the total is for replace-one: a replaced record counts \
             as one that is removed and another that is added.",
            "",
        ));
    }
    text.explanation(bullets("It also assumes that", &report.assumptions));
    text
}
