//! What each observer of a travelling model learns, in words.

use super::{Style, Text, table, wrap};
use crate::report::{Modest, ObserversReport, reached_by};
use dobrushin::account::{Answer, Observer, Pair, Protection};
use dobrushin::numeric::decimal as number;

/// The local guarantee and the worst pair; what later owners and the public see; and who sees little.
pub(super) fn observers(text: &mut Text, report: &ObserversReport, style: Style) {
    let seen = &report.seen;
    let symbol = report.given().symbol();
    let shown = |answer: Option<Answer>| answer.map_or("∞".to_owned(), |answer| style.upper(answer.value));
    let passes = if seen.passes == 1 { "once".to_owned() } else { format!("{} times", seen.passes) };
    text.answer(wrap(
        &format!(
            "Records at their owners: the model visits {} owners in turn, each {passes}. An owner sees every model that is \
             handed to them, the public sees the last one.",
            seen.owners
        ),
        "",
    ));
    let mut lines = vec![format!(
        "The local guarantee, of an owner's own noise alone, is {symbol} ≤ {}.",
        shown(seen.local)
    )];
    if let Some(worst) = &seen.worst {
        let who = match worst.observer {
            Observer::Owner(place) => format!("owner {place}"),
            Observer::Public => "the public".to_owned(),
        };
        lines.push(format!(
            "The worst pair is owner {} against {who}, with {} hidden steps between: {symbol} ≤ {}.",
            worst.owner,
            worst.hidden,
            shown(worst.answer)
        ));
    }
    text.answer(lines.join("\n"));
    let header = ["observer", "hidden steps", &format!("{symbol} at most"), "analysis"];
    text.answer(if seen.later.is_empty() {
        let header = ["owner", header[0], header[1], header[2], header[3]];
        table(header, some(&seen.pairs).map(|pair| of_pair(pair, shown(pair.answer))))
    } else {
        table(header, seen.later.iter().filter_map(|row| of_later(row, shown(row.answer))))
    });
    let [half, most, all] =
        [0.5, 0.9, 1.0].map(|share| shown(reached_by(&seen.public, share).and_then(|row| row.answer)));
    let mut sentences = vec![format!(
        "Against the public, half of the owners have {symbol} ≤ {half}, nine in ten {symbol} ≤ {most}, all {symbol} ≤ {all}."
    )];
    sentences.extend(report.modest().map(|modest| of_observers(&modest)));
    text.answer(sentences.join("\n"));
    let before = if seen.passes == 1 {
        "Owners before a person see nothing of them but the published model."
    } else {
        "Owners before a person see the later passes and the published model."
    };
    text.explanation(wrap(
        &format!(
            "{before} Owners who share what they see count together as the first of them that the model reaches after the \
             person. All this holds if every other owner adds their noise and keeps it secret."
        ),
        "",
    ));
}

/// Against how many observers ε is small.
fn of_observers(modest: &Modest) -> String {
    let limit = number::plain(modest.epsilon);
    let next = match modest.exposed_to_next {
        0 => format!("Against every later owner ε ≤ {limit}"),
        1 => format!("Against every later owner but the next one ε ≤ {limit}"),
        many => format!("Against every later owner but the next {many} ε ≤ {limit}"),
    };
    let percent = |share: f64| format!("{} %", number::nearest((share * 1e6).floor() / 1e4, 6));
    match modest.share {
        Some(share) => format!("{next}: that is {} of all pairs of owners.", percent(share)),
        None => {
            format!("{next}: that is {} of the pairs with a later owner.", percent(modest.share_of_later))
        }
    }
}

/// Whether a table shows the owner at this distance: 1, 2, 5, 10, 20, 50, ….
fn is_shown(distance: u64) -> bool {
    let leading = distance / 10_u64.pow(distance.max(1).ilog10());
    [1, 2, 5].contains(&leading) && distance.is_multiple_of(10_u64.pow(distance.max(1).ilog10()))
}

/// The first distance of a group of owners that a table shows, or its end if nobody comes later.
fn of_later(row: &Protection, value: String) -> Option<[String; 4]> {
    let distance = (row.from..=row.to).find(|distance| is_shown(*distance))?;
    let who = match distance {
        1 => "the next owner".to_owned(),
        _ => format!("the {} next", ordinal(distance)),
    };
    Some([who, (distance - 1).to_string(), value, row.analysis.to_owned()])
}

fn ordinal(number: u64) -> String {
    let ending = match (number % 10, number % 100) {
        (1, n) if n != 11 => "st",
        (2, n) if n != 12 => "nd",
        (3, n) if n != 13 => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// The pairs of the first owner, of one in the middle, and of the last.
fn some(pairs: &[Pair]) -> impl Iterator<Item = &Pair> {
    let mut owners: Vec<u64> = pairs.iter().map(|pair| pair.owner).collect();
    owners.dedup();
    let middle = owners.get(owners.len() / 2).copied();
    let shown = [owners.first().copied(), middle, owners.last().copied()];
    pairs.iter().filter(move |pair| shown.contains(&Some(pair.owner)))
}

fn of_pair(pair: &Pair, value: String) -> [String; 5] {
    let observer = match pair.observer {
        Observer::Owner(place) => format!("owner {place}"),
        Observer::Public => "the public".to_owned(),
    };
    [pair.owner.to_string(), observer, pair.hidden.to_string(), value, pair.analysis.to_owned()]
}
