//! The picture of a curve: lines over one parameter, a map over two.

use super::account_plot::named;
use crate::plot::{Axis, Drawing, FLOOR, HeatMap, Line, Plot, Regions, Scale, Series};
use dobrushin::Enclosure;
use dobrushin::account::{Account, Answer, Entry};
use dobrushin::numeric::decimal as number;
use dobrushin_document::Sweep;
use dobrushin_document::report::{Curve, answer};
use std::f64::consts::LN_10;

/// An analysis whose ε is nowhere within this many times the guarantee is not drawn.
const WIDER: f64 = 8.0;
/// An analysis whose δ is nowhere below this is not drawn.
const VACUOUS: f64 = 0.5;
/// From this many values of both parameters on, the picture is a map.
const MAP: usize = 4;

/// What the user wants to see.
#[derive(Clone, Copy)]
pub struct Wishes {
    /// Logarithmic axes.
    pub log: bool,
    /// Whether the user named the analyses, so that none is left out.
    pub all: bool,
}

/// The picture of a curve.
pub fn draw(curve: &Curve, wishes: Wishes) -> Drawing {
    match &curve.sweeps[..] {
        [outer, inner] if curve.worths.is_none() && outer.count().min(inner.count()) >= MAP => {
            map(curve, outer, inner).into()
        }
        [outer, inner] => by_value(curve, outer, inner, wishes).above(FLOOR).into(),
        _ => by_analysis(curve, wishes).above(FLOOR).into(),
    }
}

/// Whether the answers are δ, which is drawn on a logarithmic axis.
fn is_delta(curve: &Curve) -> bool {
    !curve.given().asks_for_epsilon()
}

fn best(account: &Account) -> Option<(&'static str, Answer)> {
    account.guarantee().ok().map(|best| (best.id, best.answer))
}

/// The guarantee at a point, if it is finite.
fn upper(account: &Account) -> Option<f64> {
    best(account).map(|(_, answer)| answer.value.upper()).filter(|upper| upper.is_finite())
}

/// The answer in words: what holds at every point.
fn title(curve: &Curve) -> String {
    let symbol = curve.given().symbol();
    let uppers: Vec<f64> = curve.accounts.iter().filter_map(upper).collect();
    let varies = |sweep: &Sweep| {
        let (first, last) = (sweep.label(0), sweep.label(sweep.count() - 1));
        match (sweep.is_numeric(), sweep.count()) {
            (_, 1) => format!("{} = {first}", sweep.key),
            (true, _) => format!("{} from {first} to {last}", sweep.key),
            (false, 2..=4) => {
                let words: Vec<String> = (0..sweep.count()).map(|index| sweep.label(index)).collect();
                format!("{} {}", sweep.key, words.join(" or "))
            }
            (false, count) => format!("{count} values of {}", sweep.key),
        }
    };
    let over = curve.sweeps.iter().map(varies).collect::<Vec<_>>().join(" and ");
    let given = match curve.sweeps.iter().any(Sweep::is_of_target) {
        true => String::new(),
        false => format!(" at {}", curve.given().in_words()),
    };
    let Some(most) = uppers.iter().copied().reduce(f64::max) else {
        return format!("There is no guarantee{given}, for {over}");
    };
    let most = number::briefly(Enclosure::from(most));
    match curve.accounts.len() - uppers.len() {
        0 => format!("{symbol} at most {most}{given}, for {over}"),
        none => format!("{symbol} at most {most}{given}, but none at {none} points, for {over}"),
    }
}

/// The axis of a parameter, and the place of each of its values.
pub fn axis(sweep: &Sweep, log: bool) -> (Axis, Vec<f64>) {
    let numbers: Vec<f64> = (0..sweep.count()).map(|index| sweep.number(index)).collect();
    let scale = match sweep.is_numeric() {
        false => Scale::Words((0..sweep.count()).map(|index| sweep.label(index)).collect()),
        true if log || is_logarithmic(&numbers) => Scale::Log10,
        true => Scale::Linear,
    };
    let places = match scale {
        Scale::Words(_) => (1..=numbers.len()).map(|place| place as f64).collect(),
        _ => numbers.iter().map(|&value| scale.place(value)).collect(),
    };
    (Axis { label: sweep.key.clone(), scale }, places)
}

/// Whether a logarithmic axis spreads these values more evenly.
fn is_logarithmic(numbers: &[f64]) -> bool {
    let widest = |of: fn(f64) -> f64| {
        let mut places: Vec<f64> = numbers.iter().map(|&value| of(value)).collect();
        places.sort_by(f64::total_cmp);
        let all = places[places.len() - 1] - places[0];
        places.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max) / all
    };
    Scale::suiting(numbers.iter().copied()) == Scale::Log10 && widest(f64::ln) < widest(|value| value)
}

/// Lines of answers over the points of an axis.
struct Lines {
    scale: Scale,
}

impl Lines {
    fn of(&self, label: String, line: Line, answers: impl Iterator<Item = (f64, Option<Answer>)>) -> Series {
        let height = |answer: Option<Answer>| match answer {
            Some(Answer { log_delta: Some(ln), .. }) => ln.upper() / LN_10,
            Some(answer) => self.scale.place(answer.value.upper()),
            None => f64::NAN,
        };
        let (points, exact) = answers
            .map(|(x, answer)| ((x, height(answer)), answer.map_or(f64::NAN, |answer| answer.value.upper())))
            .unzip();
        Series { exact, ..Series::new(label, points, line) }
    }
}

fn height_axis(curve: &Curve, log: bool, drawn: impl Iterator<Item = f64> + Clone) -> Axis {
    let given = curve.given();
    let scale = if log || is_delta(curve) { Scale::Log10 } else { Scale::suiting(drawn) };
    let varied = curve.sweeps.iter().any(Sweep::is_of_target);
    let label = match varied {
        true => given.symbol().to_owned(),
        false => format!("{} at {}", given.symbol(), given.in_words()),
    };
    Axis { label, scale }
}

/// Every analysis over one parameter, with the guarantee in front.
fn by_analysis(curve: &Curve, wishes: Wishes) -> Plot {
    let (mut x, mut places) = axis(&curve.sweeps[0], wishes.log);
    if curve.worths.is_some() {
        let excess = |at: usize| curve.best(at).map_or(f64::NAN, |best| best.value.upper());
        let all = (0..curve.points.len()).map(excess);
        let scale = if wishes.log { Scale::Log10 } else { Scale::suiting(all.clone()) };
        places = all.map(|value| scale.place(value)).collect();
        x = Axis { label: format!("{} at most", curve.measure()), scale };
    }
    let winners: Vec<Option<&str>> =
        curve.accounts.iter().map(|account| best(account).map(|(id, _)| id)).collect();
    let only =
        winners.first().copied().flatten().filter(|first| winners.iter().all(|id| *id == Some(*first)));
    let tells = |entry: &&Entry| wishes.all || tells(curve, entry);
    let (hidden, others): (Vec<&Entry>, Vec<&Entry>) = curve
        .entries()
        .filter(|entry| Some(entry.id) != only)
        .partition(|entry| !wishes.all && entry.rigorous && is_hidden(curve, entry.id));
    let (drawn, left_out): (Vec<&Entry>, Vec<&Entry>) = others.into_iter().partition(tells);
    let (drawn, lonely): (Vec<&Entry>, Vec<&Entry>) = drawn
        .into_iter()
        .partition(|entry| wishes.all || curve.points.len() < 3 || applies(curve, entry.id) > 1);
    let shown = drawn.iter().map(|entry| Some(entry.id)).chain([None]);
    let heights = shown.flat_map(|id| {
        curve.accounts.iter().filter_map(move |account| match id {
            Some(id) => answer(account, id).map(|answer| answer.value.upper()),
            None => upper(account),
        })
    });
    let y = height_axis(curve, wishes.log, heights);
    let lines = Lines { scale: y.scale.clone() };
    let over = |of: &dyn Fn(&Account) -> Option<Answer>| -> Vec<(f64, Option<Answer>)> {
        places.iter().copied().zip(curve.accounts.iter().map(of)).collect()
    };
    let mut series: Vec<Series> = drawn
        .iter()
        .map(|entry| {
            let line = if entry.rigorous { Line::Solid } else { Line::Dashed };
            let answers = over(&|account| answer(account, entry.id));
            lines.of(named(entry.id, entry.rigorous, false), line, answers.into_iter())
        })
        .collect();
    let label = only.map_or("guarantee".to_owned(), |id| named(id, true, true));
    let guarantee = over(&|account| best(account).map(|(_, answer)| answer));
    series.push(lines.of(label, Line::Guarantee, guarantee.into_iter()));
    let mut caption = vec!["Upper ends of certified enclosures.".to_owned()];
    if only.is_none() {
        caption.extend(turns(&curve.sweeps[0], &winners));
    }
    if !hidden.is_empty() {
        let ids: Vec<&str> = hidden.iter().map(|entry| entry.id).collect();
        caption.push(format!("Behind the line of the guarantee: {}.", ids.join(", ")));
    }
    if !left_out.is_empty() {
        let ids: Vec<&str> = left_out.iter().map(|entry| entry.id).collect();
        let why = match is_delta(curve) {
            true => format!("nowhere below {VACUOUS}"),
            false => format!("nowhere within {WIDER} times the guarantee"),
        };
        caption.push(format!("Left out, because {why}: {}.", ids.join(", ")));
    }
    if !lonely.is_empty() {
        let ids: Vec<&str> = lonely.iter().map(|entry| entry.id).collect();
        caption.push(format!("Left out, because finite at one point only: {}.", ids.join(", ")));
    }
    if curve.worths.is_some() {
        caption.push(format!("One point for each value of {}.", curve.sweeps[0].key));
    }
    Plot { title: title(curve), x, y, series, caption: vec![caption.join(" ")] }
}

/// Whether an analysis says anything next to the guarantee. Composition always does: it is what hiding is measured by.
fn tells(curve: &Curve, entry: &Entry) -> bool {
    let near = |account: &Account| {
        let Some(answer) = answer(account, entry.id) else { return false };
        let value = answer.value.upper();
        match is_delta(curve) {
            true => value < VACUOUS,
            false => value.is_finite() && upper(account).is_none_or(|best| value <= WIDER * best),
        }
    };
    match entry.id {
        "composition" => applies(curve, entry.id) > 0,
        _ => curve.accounts.iter().any(near),
    }
}

/// At how many points an analysis has a finite answer.
fn applies(curve: &Curve, id: &str) -> usize {
    let finite =
        |account: &&Account| answer(account, id).is_some_and(|found| found.value.upper().is_finite());
    curve.accounts.iter().filter(finite).count()
}

/// Whether an analysis is everywhere so near to the guarantee that its line would be behind it.
fn is_hidden(curve: &Curve, id: &str) -> bool {
    let near = |account: &Account| {
        let found = answer(account, id).map(|answer| answer.value.upper());
        found.zip(upper(account)).is_some_and(|(found, best)| found <= 1.005 * best)
    };
    curve.accounts.iter().all(near)
}

/// Who gives the guarantee where, in words, unless it changes often.
fn turns(sweep: &Sweep, winners: &[Option<&str>]) -> Option<String> {
    let mut turns: Vec<(&str, usize, usize)> = Vec::new();
    for (index, winner) in winners.iter().enumerate() {
        match (turns.last_mut(), winner.unwrap_or("no analysis")) {
            (Some((last, _, to)), winner) if *last == winner => *to = index,
            (_, winner) => turns.push((winner, index, index)),
        }
    }
    let part = |&(winner, from, to): &(&str, usize, usize)| match from == to {
        true => format!("{winner} at {}", sweep.label(from)),
        false => format!("{winner} from {} to {}", sweep.label(from), sweep.label(to)),
    };
    let parts: Vec<String> = turns.iter().map(part).collect();
    (parts.len() <= 6).then(|| format!("The guarantee is by {}.", parts.join(", ")))
}

/// The guarantee over the parameter with more values, a line for each value of the other.
fn by_value(curve: &Curve, outer: &Sweep, inner: &Sweep, wishes: Wishes) -> Plot {
    // Which of the two is along the axis.
    let along = usize::from(curve.worths.is_none() && inner.count() > outer.count());
    let (across, other) = if along == 1 { (inner, outer) } else { (outer, inner) };
    let (mut x, places) = axis(across, wishes.log);
    let uppers = curve.accounts.iter().filter_map(upper);
    let y = height_axis(curve, wishes.log, uppers);
    if curve.worths.is_some() {
        x = Axis {
            label: format!("{} at most", curve.measure()),
            scale: if wishes.log { Scale::Log10 } else { Scale::Linear },
        };
    }
    let lines = Lines { scale: y.scale.clone() };
    let series = (0..other.count()).map(|value| {
        let here = curve.points.iter().enumerate().filter(|(_, point)| point[1 - along] == value);
        let answers = here.map(|(at, point)| {
            let place = match curve.worths {
                Some(_) => curve.best(at).map_or(f64::NAN, |best| x.scale.place(best.value.upper())),
                None => places[point[along]],
            };
            (place, best(&curve.accounts[at]).map(|(_, answer)| answer))
        });
        lines.of(format!("{} = {}", other.key, other.label(value)), Line::Solid, answers)
    });
    let series = series.collect();
    let caption = vec!["The guarantee: upper ends of certified enclosures.".to_owned()];
    Plot { title: title(curve), x, y, series, caption }
}

/// The guarantee over two parameters, the first to the right and the second upwards.
fn map(curve: &Curve, outer: &Sweep, inner: &Sweep) -> HeatMap {
    let label = |sweep: &Sweep, index: usize| match sweep.is_numeric() {
        true => number::nearest(sweep.number(index), 3),
        false => sweep.label(index),
    };
    let labels = |sweep: &Sweep| (0..sweep.count()).map(|index| label(sweep, index)).collect::<Vec<String>>();
    let account = |column: usize, row: usize| &curve.accounts[column * inner.count() + row];
    // Numbers grow upwards; words are read downwards.
    let order: Vec<usize> = match inner.is_numeric() {
        true => (0..inner.count()).rev().collect(),
        false => (0..inner.count()).collect(),
    };
    let grid =
        |row: &usize| (0..outer.count()).map(|column| account(column, *row)).collect::<Vec<&Account>>();
    let grid: Vec<Vec<&Account>> = order.iter().map(grid).collect();
    let value = |account: &&Account| best(account).map(|(_, answer)| answer.value.upper());
    let winner = |account: &&Account| best(account).map(|(id, _)| id.to_owned());
    let rows = labels(inner);
    let given = curve.given();
    HeatMap {
        title: title(curve),
        x: outer.key.clone(),
        y: inner.key.clone(),
        value: format!("{} at most", given.symbol()),
        columns: labels(outer),
        rows: order.iter().map(|&row| rows[row].clone()).collect(),
        cells: grid.iter().map(|row| row.iter().map(value).collect()).collect(),
        contours: outer.is_numeric() && inner.is_numeric(),
        regions: Some(Regions {
            title: "Which analysis gives the guarantee".to_owned(),
            names: grid.iter().map(|row| row.iter().map(winner).collect()).collect(),
        }),
        caption: vec![
            "Upper ends of certified enclosures. Dashed borders are where another analysis becomes the best."
                .to_owned(),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_is_logarithmic_where_that_spreads_its_values() {
        assert!(is_logarithmic(&[1.0, 10.0, 100.0]));
        assert!(is_logarithmic(&[0.5, 1.0, 2.0, 4.0, 8.0, 16.0]));
        assert!(!is_logarithmic(&[1.0, 2.0, 3.0]));
        assert!(!is_logarithmic(&[0.0, 10.0, 100.0]));
        assert!(!is_logarithmic(&(1..=100).map(f64::from).collect::<Vec<f64>>()));
    }
}
