//! A curve as a table.

use super::{Block, Style, Text, aligned, warn, wrap};
use crate::report::{Curve, answer};
use dobrushin::account::Answer;

/// A row for each point.
pub fn curve(curve: &Curve, style: Style) -> Text {
    let mut text = Text::default();
    let given = curve.given();
    let (symbol, ids) = (given.symbol(), curve.ids());
    let names = curve.sweeps.iter().map(|sweep| sweep.key.clone());
    let columns = ids.iter().map(|id| (*id).to_owned());
    let excess = curve.worths.iter().map(|_| "excess at most".to_owned());
    let header = names.chain([format!("{symbol} at most")]).chain(excess).chain(columns).collect();
    let cell = |answer: Option<Answer>| answer.map_or("–".to_owned(), |answer| style.upper(answer.value));
    let rows = curve.points.iter().zip(&curve.accounts).enumerate().map(|(place, (point, account))| {
        let values = curve.sweeps.iter().zip(point).map(|(sweep, &index)| sweep.label(index));
        let guarantee = cell(account.guarantee().ok().map(|best| best.answer));
        let best = || curve.best(place).map_or("–".to_owned(), |best| style.upper(best.value));
        let worth = curve.worths.iter().map(|_| best());
        let analyses = ids.iter().map(|id| cell(answer(account, id)));
        values.chain([guarantee]).chain(worth).chain(analyses).collect()
    });
    text.answer(aligned(header, rows));
    warn(&mut text, curve.concern().as_deref());
    let meaning = format!(
        "{symbol} at {}. The second part of the table is what each analysis says; composition-gdp is an approximation and \
         never the guarantee. Printed bounds are rounded up. The assumptions are those of dobrushin account.",
        given.in_words()
    );
    text.explanation(wrap(&meaning, ""));
    if let Some(words) = worth(curve) {
        text.explanation(words);
    }
    text
}

/// What the excess is, and why it is missing at some points.
fn worth(curve: &Curve) -> Option<Block> {
    let worths = curve.worths.as_ref()?;
    let mut lines = Vec::new();
    if worths.iter().any(Result::is_ok) {
        lines.push(format!("The excess is the {}; see dobrushin account --utility.", curve.measure()));
    }
    if let Some(reason) = worths.iter().find_map(|worth| worth.as_ref().err()) {
        lines.push(format!("Where there is no excess: {reason}."));
    }
    Some(lines.iter().map(|line| wrap(line, "")).collect())
}
