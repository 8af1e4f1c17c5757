//! How much of a guarantee is real, in words.

use super::{Block, Style, Text, bullets, capitalised, heading, table, wrap};
use crate::report::{EventReport, GapReport, WorstCaseReport};
use dobrushin::Enclosure;
use dobrushin::numeric::decimal as number;

/// What is certain, the instance with its event, and where the gap opens.
pub fn worst_case(report: &WorstCaseReport, style: Style) -> Text {
    let mut text = Text::default();
    text.answer(answer(report, style));
    text.explanation(levels(report, style));
    if let Some(floor) = &report.floor {
        let mut sentences = vec![format!("{}.", capitalised(&floor.instance))];
        sentences.extend(report.event.as_ref().map(|event| in_words(event, style)));
        text.explanation(bullets("The worst case that is known", sentences));
    }
    if let Some(gap) = &report.gap {
        text.explanation(heading("Where the gap opens"));
        text.explanation(gap_table(gap, style));
        text.explanation(wrap(&verdict(gap), ""));
    }
    text
}

fn answer(report: &WorstCaseReport, style: Style) -> Block {
    let (symbol, at) = (report.target.symbol(), report.target.in_words());
    let Some(guarantee) = &report.guarantee else {
        return format!("The run has no guarantee at {at}, so there is nothing to compare a floor with.")
            .into();
    };
    let by = &guarantee.analysis;
    let most = guarantee.answer.value().map_or(String::new(), |value| style.upper(value));
    let Some((least, upper)) = report.ends() else {
        return format!(
            "{symbol} is at most {most} at {at}, by {by}. No worst case is known for such a run."
        )
        .into();
    };
    let shown = style.lower(Enclosure::from(least));
    if report.violation {
        return format!(
            "The floor {symbol} ≥ {shown} is above the guarantee {symbol} ≤ {most} at {at}, by {by}. One of the two is \
             wrong: please report this run."
        )
        .into();
    }
    let share = if upper > 0.0 { least / upper } else { 1.0 };
    let share = if share >= EXACT {
        "the guarantee is exact".to_owned()
    } else {
        format!("at least {} % of the guarantee is real", number::lower(Enclosure::from(100.0 * share), 3))
    };
    format!("{symbol} is between {shown} and {most} at {at}: {share}.").into()
}

/// A floor that is at least this share of the guarantee is the same number.
const EXACT: f64 = 0.9995;

fn levels(report: &WorstCaseReport, style: Style) -> Block {
    let mut rows = Vec::new();
    let at_most = |value: Enclosure| format!("≤ {}", style.upper(value));
    if let Some(value) = report.floor.as_ref().and_then(|floor| floor.answer.value()) {
        let least = style.lower(Enclosure::from(value.lower()));
        rows.push(["floor".to_owned(), format!("≥ {least}"), "the worst data that we know".to_owned()]);
    }
    for finding in report.analyses.iter().filter(|finding| !finding.approximate) {
        let Some(value) = finding.answer.value() else { continue };
        let is_best = report.guarantee.as_ref().is_some_and(|best| best.analysis == finding.id);
        let times = report.floor.as_ref().and_then(|floor| floor.answer.value()).map(|floor| floor.lower());
        let times = times.filter(|floor| *floor > 0.0 && value.upper().is_finite());
        let times = times.map_or(String::new(), |floor| {
            format!("{} times the floor", number::nearest(value.upper() / floor, 4))
        });
        let name = if is_best { format!("guarantee: {}", finding.id) } else { finding.id.clone() };
        rows.push([name, at_most(value), times]);
    }
    table(["", report.target.symbol(), ""], rows)
}

fn in_words(event: &EventReport, style: Style) -> String {
    let interval = |ends: &[Option<crate::json::Number>; 2]| match ends {
        [Some(from), None] => format!("above {}", style.nearest(from.0)),
        [None, Some(to)] => format!("below {}", style.nearest(to.0)),
        [Some(from), Some(to)] if from == to => format!("at {}", style.nearest(from.0)),
        [Some(from), Some(to)] => format!("between {} and {}", style.nearest(from.0), style.nearest(to.0)),
        [None, None] => "anywhere".to_owned(),
    };
    let places: Vec<String> = event.intervals.iter().map(interval).collect();
    let (likelier, other) = match event.with_the_record {
        true => ("with the record", "without it"),
        false => ("without the record", "with it"),
    };
    format!(
        "The released number is {} with probability {} {likelier}, and {} {other}.",
        places.join(", or "),
        style.nearest(event.likelier.0),
        style.nearest(event.less_likely.0),
    )
}

fn gap_table(gap: &GapReport, style: Style) -> Block {
    let head = if gap.over == "steps" { "steps" } else { "steps after the record" };
    let rows = gap.points.iter().map(|point| {
        [
            point.value.to_string(),
            style.lower(Enclosure::from(point.floor.0)),
            style.upper(Enclosure::from(point.guarantee.0)),
            format!("{} %", number::nearest(100.0 * point.share(), 3)),
            point.analysis.to_owned(),
        ]
    });
    table([head, "floor", "guarantee", "real", "by"], rows)
}

/// "steps", or "step" for one of them.
fn unit_of(unit: &str, count: u64) -> &str {
    if count == 1 { unit.trim_end_matches('s') } else { unit }
}

/// Between which two rows most is lost.
fn verdict(gap: &GapReport) -> String {
    let unit = if gap.over == "steps" { "steps" } else { "later steps" };
    let exact = gap.points.iter().take_while(|point| point.share() >= EXACT).last();
    let mut words =
        exact.map_or(String::new(), |last| match last.value == gap.points[gap.points.len() - 1].value {
            true => "The guarantee is exact throughout.".to_owned(),
            false => format!("The guarantee is exact up to {} {}. ", last.value, unit_of(unit, last.value)),
        });
    let lost = gap.points.windows(2).map(|pair| (pair[0].share() / pair[1].share().max(1e-300), pair));
    let worst = lost.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(factor, _)| *factor > 1.001);
    if let Some((factor, [before, after])) = worst {
        let by = match before.analysis == after.analysis {
            true => format!("by {}", after.analysis),
            false => format!("where {} takes over from {}", after.analysis, before.analysis),
        };
        words += &match factor.is_finite() && factor < 1e6 {
            true => format!(
                "Most is lost between {} and {} {unit}, {by}: a factor of {}.",
                before.value,
                after.value,
                number::nearest(factor, 3)
            ),
            false => format!("Nothing of it is known to be real from {} {unit} on, {by}.", after.value),
        };
    }
    words
}
