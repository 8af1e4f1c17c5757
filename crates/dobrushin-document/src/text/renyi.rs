//! Rényi divergences as a table.

use super::{Block, Style, Text, aligned, bullets, wrap};
use crate::json::Bounds;
use crate::report::{RenyiCurve, RenyiReport};
use dobrushin::numeric::decimal as number;

/// A row for each order.
pub(super) fn orders(reports: &[RenyiReport], style: Style) -> Block {
    let ids = RenyiReport::ids(reports.iter());
    let header = ["order", "D_α at most", "by"].map(str::to_owned).into_iter();
    let header = header.chain(ids.iter().map(|(id, _)| (*id).to_owned())).collect();
    let row = |report: &RenyiReport| {
        let best = [cell(report.value, style), report.analysis.unwrap_or("–").to_owned()];
        let each = ids.iter().map(|(id, _)| cell(report.of(id), style));
        [number::plain(report.order.0)].into_iter().chain(best).chain(each).collect::<Vec<String>>()
    };
    aligned(header, reports.iter().map(row))
}

/// What the table means.
pub(super) fn meaning(reports: &[RenyiReport]) -> Block {
    let approximate: Vec<&str> = RenyiReport::ids(reports.iter())
        .into_iter()
        .filter_map(|(id, rigorous)| (!rigorous).then_some(id))
        .collect();
    let mut words = "D_α is the Rényi divergence of order α of what is released for two neighbours, the larger of the two \
                     directions; D_∞ is ε at δ = 0. Only analyses that bound it in its own terms are shown: the others \
                     bound δ at each ε."
        .to_owned();
    if !approximate.is_empty() {
        words.push_str(&format!(" {} is an approximation and never the guarantee.", approximate.join(", ")));
    }
    wrap(&words, "")
}

/// Over orders, a row for each; over a parameter, a row for each of its values and a column for each order.
pub fn renyi_curve(curve: &RenyiCurve, style: Style) -> Text {
    let mut text = Text::default();
    let all: Vec<RenyiReport> = curve.rows.iter().flatten().cloned().collect();
    match &curve.over {
        None => text.answer(orders(&all, style)),
        Some(over) => {
            let first = curve.rows.first().map_or(&[][..], |row| row);
            let ids = if first.len() == 1 { RenyiReport::ids(all.iter()) } else { Vec::new() };
            let at = first.iter().map(|report| format!("D_{} at most", number::plain(report.order.0)));
            let names = ids.iter().map(|(id, _)| (*id).to_owned());
            let header = [over.key.clone()].into_iter().chain(at).chain(names).collect();
            let rows = curve.rows.iter().enumerate().map(|(index, row)| {
                let best = row.iter().map(|report| cell(report.value, style));
                let each =
                    ids.iter().map(|(id, _)| cell(row.first().and_then(|report| report.of(id)), style));
                [over.label(index)].into_iter().chain(best).chain(each).collect()
            });
            text.answer(aligned(header, rows));
        }
    }
    text.explanation(meaning(&all));
    text.explanation(
        "Printed bounds are rounded up. The assumptions are those of dobrushin account --order.",
    );
    text
}

/// The assumptions of the bounds, where they are not those of the guarantee.
pub(super) fn assumptions(reports: &[RenyiReport], known: &[String]) -> Option<Block> {
    let mut more: Vec<&String> = Vec::new();
    for assumption in reports.iter().flat_map(|report| &report.assumptions) {
        if !known.contains(assumption) && !more.contains(&assumption) {
            more.push(assumption);
        }
    }
    (!more.is_empty()).then(|| bullets("Further assumptions of the Rényi divergences", more))
}

fn cell(value: Option<Bounds>, style: Style) -> String {
    value.map_or("–".to_owned(), |value| style.upper(value.0))
}
