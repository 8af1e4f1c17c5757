//! What private reports can tell at best about a problem of one's own, in words.

use super::{Block, Style, Text, aligned, capitalised, table};
use crate::json::Bounds;
use crate::plain_text::shown_safely;
use crate::report::{AnswerReport, OwnBoundReport, ProblemReport, QuantityReport};
use dobrushin::Enclosure;
use dobrushin::numeric::decimal as number;

/// Every question with its answer, the best bound first.
pub fn problem(report: &ProblemReport, style: Style) -> Text {
    let mut text = Text::default();
    text.answer(format!("{}: {}", report.title, shown_safely(&report.privacy.words)));
    for answer in &report.answers {
        text.answer(answered(answer, style));
    }
    let row = |quantity: &QuantityReport| {
        let Bounds(value) = quantity.value;
        [quantity.what.clone(), style.lower(value), style.upper(value)]
    };
    text.explanation(table(["of the problem", "at least", "at most"], report.quantities.iter().map(row)));
    let row = |name: &str, Bounds(value): Bounds| [name.to_owned(), style.upper(value)];
    let contraction = &report.contraction;
    let rows = [row("total variation (η_TV)", contraction.tv), row("χ², KL (η_KL)", contraction.kl)];
    let published = contraction.published.map(|phi| row("every f-divergence, as published (φ)", phi));
    text.explanation(table(["contraction of one report", "at most"], rows.into_iter().chain(published)));
    let papers = report.published_effective_records.map_or(String::new(), |Bounds(worth)| {
        format!(" With the papers' φ it would be {}.", number::briefly(worth))
    });
    let reports = match report.records {
        1 => "1 report tells".to_owned(),
        records => format!("{records} reports tell"),
    };
    let worth = number::briefly(report.effective_records.0);
    text.explanation(format!("{reports} at most as much as {worth} answers in the clear.{papers}"));
    text.explanation(
        "Every bound in the tables also holds if later mechanisms depend on earlier reports (sequential interaction), as \
         long as each is as private and contracts as much, and no record is used twice; values through a channel are for \
         independent reports. \"As published\" is the same bound with the papers' φ and φ_n, \"without privacy\" the same for \
         records in the clear. Bounds from below are rounded down, those from above up.\n\
         See: dobrushin explain, with the name under \"by\".",
    );
    text
}

/// The best bound in a sentence, the exact values, and every bound in a table.
fn answered(answer: &AnswerReport, style: Style) -> Block {
    let from_below = answer.is_from_below();
    let (side, shown): (_, fn(Style, Enclosure) -> String) =
        if from_below { ("at least", Style::lower) } else { ("at most", Style::upper) };
    let best = answer.bounds.first().map_or(String::new(), |best| {
        let value = best.value.0;
        if from_below && value.lower() <= 0.0 {
            return format!("{}: nothing is proved, every bound is 0.", capitalised(&answer.what));
        }
        format!("{} is {side} {}, by {}.", capitalised(&answer.what), shown(style, value), best.id)
    });
    let exact = |Bounds(value): Bounds| style.nearest(value.midpoint());
    let clear = answer.without_privacy.map(|value| format!("Without privacy it is {}.", exact(value)));
    let through = answer.through_channel.map(|value| format!("Through this channel it is {}.", exact(value)));
    let sentences: Vec<String> = [clear, through].into_iter().flatten().collect();
    let cell = |value: Option<Bounds>| value.map_or("–".to_owned(), |Bounds(value)| shown(style, value));
    let row = |one: &OwnBoundReport| {
        let bounds = [cell(Some(one.value)), cell(one.published), cell(one.without_privacy)];
        [one.id.to_owned()].into_iter().chain(bounds).chain([one.coefficient.clone()]).collect()
    };
    let header = ["by", side, "as published", "without privacy", "coefficient"];
    let table = aligned(header.map(str::to_owned).to_vec(), answer.bounds.iter().map(row));
    let lines = [best].into_iter().chain((!sentences.is_empty()).then(|| sentences.join(" ")));
    lines.map(Block::from).collect::<Block>().then_apart(table)
}
