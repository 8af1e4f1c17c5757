//! How private a run is, in words.

use super::meaning::{about, in_words};
use super::observers::observers;
use super::{Block, Style, Text, bullets, capitalised, heading, renyi, table, warn, wrap};
use crate::report::{
    AccountReport, AdviceReport, Answered, Asked, Finding, FloorReport, Given, Records, UtilityReport,
    WantedReport,
};
use dobrushin::Enclosure;
use dobrushin::numeric::decimal as number;

/// The answer, where it comes from, what every analysis says, what must hold, and what else was asked for.
pub fn account(report: &AccountReport, style: Style) -> Text {
    let mut text = Text::default();
    if report.extras.is_example {
        text.explanation("No run file was given: this is the built-in example, examples/dp-sgd.toml.");
    }
    let best = report.guarantee.as_ref();
    if let Some(wanted) = &report.extras.wanted {
        text.answer(verdict(report, wanted, style));
    }
    text.answer(match best {
        Some(best) => {
            let value = shown(best.answer, style);
            let about = about(report.meaning.as_ref());
            format!("(ε, δ) = {}{about}, by {}", report.target.pair(&value), best.analysis)
        }
        None => "No guarantee: none of the analyses applies.".to_owned(),
    });
    warn(&mut text, report.concern.as_deref());
    text.explanation(in_words(report.meaning.as_ref()));
    if !report.explanation.is_empty() {
        text.explanation(report.explanation.iter().map(|line| wrap(line, "")).collect::<Block>());
    }
    if let Some(floor) = &report.extras.floor {
        text.explanation(
            how_much_is_real(report, floor, style).iter().map(|line| wrap(line, "")).collect::<Block>(),
        );
    }
    if let Some(by_record) = &report.extras.records {
        text.answer(records(by_record, style));
    }
    if let Some(seen) = &report.extras.observers {
        observers(&mut text, seen, style);
    }
    // It is always worth saying why there is no answer.
    let everything = style.verbose || best.is_none();
    if report.analyses.iter().any(|finding| finding.not_applicable.is_none()) {
        text.explanation(answers(report, style));
    }
    let reasons = reasons(report);
    if everything && !reasons.is_empty() {
        let lines = reasons.iter().map(|(reason, ids)| format!("{}: {reason}", ids.join(", ")));
        text.explanation(bullets("Not applicable", lines));
    }
    if let Some(left_out) = left_out(report).filter(|_| !everything) {
        text.explanation(left_out);
    }
    if let Some(divergences) = &report.extras.renyi {
        text.answer(renyi::orders(divergences, style));
        text.explanation(renyi::meaning(divergences));
    }
    if let Some(best) = best {
        text.explanation(bullets("Assumptions", &best.assumptions));
    }
    if let Some(divergences) = &report.extras.renyi {
        let known = best.map_or(&[][..], |best| &best.assumptions);
        renyi::assumptions(divergences, known).into_iter().for_each(|more| text.explanation(more));
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
        utility(&mut text, worth, style);
    }
    text
}

/// How much of the guarantee is real, and what hiding could gain at most.
fn how_much_is_real(report: &AccountReport, floor: &FloorReport, style: Style) -> Vec<String> {
    let symbol = report.target.symbol();
    let Some(least) = floor.answer.value().map(|value| value.lower()) else {
        return Vec::new();
    };
    if least <= 0.0 {
        return Vec::new();
    }
    let shown = style.lower(Enclosure::from(least));
    let best = report.guarantee.as_ref().and_then(|best| best.answer.value()).map(|value| value.upper());
    let share = best.filter(|best| best.is_finite() && *best > 0.0).map(|best| 100.0 * least / best);
    let share = share.map_or(String::new(), |share| {
        format!(", {} % of the guarantee", number::lower(Enclosure::from(share), 3))
    });
    let mut lines = vec![format!(
        "No analysis of the same facts can prove less than {symbol} = {shown}{share}: that is the floor."
    )];
    let composition = report.analyses.iter().find(|finding| finding.id == "composition");
    let published = composition.and_then(|finding| finding.answer.value()).map(|value| value.upper());
    if let Some(published) = published.filter(|all| all.is_finite() && *all > least) {
        let gain = Enclosure::from(100.0 * (1.0 - least / published));
        lines
            .push(format!("Hiding iterates can gain at most {} % over composition.", number::upper(gain, 3)));
    }
    lines.push(format!("The instance behind it is {}.", floor.instance));
    lines
}

/// Yes or no, with the ε at the given δ and the δ at the given ε.
fn verdict(report: &AccountReport, wanted: &WantedReport, style: Style) -> String {
    let epsilon = Given::Epsilon(wanted.at_epsilon.epsilon);
    let pair = report.target.pair(&number::plain(wanted.at_epsilon.epsilon.0));
    let asked = report.meaning.as_ref().map(|meaning| meaning.question);
    let deleted = asked == Some(Asked::WereEverUsed);
    let says = match wanted.meets {
        true if deleted => format!("Yes: the deleted records are forgotten, up to {pair}."),
        false if deleted => {
            format!("No: nothing proves that the deleted records are forgotten, up to {pair}.")
        }
        true => format!("Yes: the run is {pair}-private."),
        false => format!("No: nothing proves that the run is {pair}-private."),
    };
    let found = [
        (report.target, report.guarantee.as_ref().map(|best| best.answer)),
        (epsilon, wanted.at_epsilon.analysis.map(|_| wanted.at_epsilon.answer)),
    ];
    let found = found.into_iter().filter_map(|(given, answer)| {
        Some(format!("At {}, {} is {}.", given.in_words(), given.symbol(), shown(answer?, style)))
    });
    [says].into_iter().chain(found).collect::<Vec<_>>().join(" ")
}

fn advice(target: Given, advice: &[AdviceReport]) -> Block {
    if advice.is_empty() {
        return heading("What would help").then("  none of the changes that were tried");
    }
    let line = |advice: &AdviceReport| {
        let value = advice.answer.value().map_or(String::new(), number::briefly);
        format!("{}: {} = {value}", advice.change, target.symbol())
    };
    bullets("What would help, each by itself, tried out", advice.iter().map(line))
}

/// Why analyses do not apply; those with the same reason are listed together.
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

/// A bound with an ε beyond this is vacuous: whoever sees the result may be certain.
const VACUOUS: f64 = 50.0;

/// Whether an analysis applies, but says nothing.
fn is_vacuous(report: &AccountReport, finding: &Finding) -> bool {
    let is_best = report.guarantee.as_ref().is_some_and(|best| best.analysis == finding.id);
    let limit = if report.target.asks_for_epsilon() { VACUOUS } else { 1.0 };
    !is_best && finding.answer.value().is_some_and(|value| value.upper() >= limit)
}

/// The number of analyses that are not shown, and why.
fn left_out(report: &AccountReport) -> Option<Block> {
    let count = |of: &dyn Fn(&&Finding) -> bool| report.analyses.iter().filter(of).count();
    let inapplicable = count(&|finding| finding.not_applicable.is_some());
    let vacuous = count(&|finding| is_vacuous(report, finding));
    let beyond = if report.target.asks_for_epsilon() { "ε of 50 or more" } else { "δ of 1" };
    let many = |n: usize| if n == 1 { "1 analysis".to_owned() } else { format!("{n} analyses") };
    let [do_not, say] = [(inapplicable, ["does not", "do not"]), (vacuous, ["says", "say"])]
        .map(|(n, words)| words[usize::from(n != 1)]);
    let parts = [
        (inapplicable > 0).then(|| format!("{} {do_not} apply to this run", many(inapplicable))),
        (vacuous > 0).then(|| format!("{} {say} nothing about it ({beyond})", many(vacuous))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| wrap(&format!("{}: --verbose shows why.", parts.join(", and ")), ""))
}

/// A table of the analyses that apply, without the vacuous ones unless everything is shown.
fn answers(report: &AccountReport, style: Style) -> Block {
    let symbol = report.target.symbol();
    let shown_at_all = |finding: &&Finding| style.verbose || !is_vacuous(report, finding);
    let rows = report.analyses.iter().filter(shown_at_all).filter_map(|finding| {
        let value = finding.answer.value()?;
        let note = if finding.approximate { "approximate: no guarantee" } else { "" };
        let (lower, upper) = (style.lower(value), shown(finding.answer, style));
        Some([finding.id.clone(), lower, upper, note.to_owned()])
    });
    table(["analysis", &format!("{symbol} at least"), &format!("{symbol} at most"), ""], rows)
}

/// A value and, where δ underflows, also its logarithm.
fn shown(answer: Answered, style: Style) -> String {
    let Some(answer) = answer.answer() else {
        return String::new();
    };
    let value = style.upper(answer.value);
    match answer.log_delta {
        Some(log_delta) if answer.value.upper() < 1e-300 && log_delta.upper().is_finite() => {
            format!("{value} (ln δ ≤ {})", style.upper(log_delta))
        }
        _ => value,
    }
}

/// The places that a summary shows, as shares of all records.
const SHOWN: [f64; 10] = [0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999];

/// A dozen places, and how many records have which protection.
fn records(records: &Records, style: Style) -> Block {
    let last = records.rows.last().map_or(0, |row| row.to);
    let inner = SHOWN.iter().map(|share| (share * last as f64).ceil() as u64);
    let shown: Vec<u64> = [1].into_iter().chain(inner).chain([last]).collect();
    let rows = records.rows.iter().filter(|row| shown.iter().any(|&at| (row.from..=row.to).contains(&at)));
    let cells = rows.map(|row| {
        let records =
            if row.from == row.to { row.from.to_string() } else { format!("{}–{}", row.from, row.to) };
        let value = row.answer.map_or("–".to_owned(), |answer| style.upper(answer.value));
        [records, value, row.analysis.to_owned()]
    });
    let symbol = records.given().symbol();
    let header = ["record", &format!("{symbol} at most"), "analysis"];
    let [half, most, all] = [0.5, 0.9, 1.0].map(|share| {
        let answer = records.reached_by(share).and_then(|row| row.answer);
        answer.map_or("∞".to_owned(), |answer| number::briefly(answer.value))
    });
    table(header, cells).then_apart(format!(
        "Half of the records have {symbol} ≤ {half}, nine in ten {symbol} ≤ {most}, all {symbol} ≤ {all}."
    ))
}

/// The bounds on excess risk or regret, what must hold, and the learning rate that would be best.
fn utility(text: &mut Text, report: &UtilityReport, style: Style) {
    let (by_measure, best_rate) = match report {
        UtilityReport::None { not_applicable } => {
            return text.answer(wrap(not_applicable, "No bound on the utility: "));
        }
        UtilityReport::Bounded { by_measure, best_rate, .. } => (by_measure, best_rate),
    };
    for best in by_measure {
        let (measure, value) = (capitalised(best.measure_in_words), style.upper(best.value.0));
        text.answer(format!("{measure} ≤ {value}, by {}", best.id));
        if best.is_of_any_point {
            text.explanation("That is what every point of the domain has: nothing is said about the run.");
        } else if best.vacuous {
            text.explanation(format!(
                "The centre of the domain, chosen without looking at the data, has at most {}: nothing is said about the run.",
                style.upper(best.without_data.0)
            ));
        }
        text.explanation(bullets("Assumptions of this bound", &best.assumptions));
    }
    if let Some(best) = best_rate {
        let words = format!(
            "A constant learning rate of {} would make it {}, by {}, with the same noise on the gradients. What that does to \
             privacy: --set learning-rate={0}",
            number::nearest(best.learning_rate, 10),
            number::briefly(best.value.0),
            best.id
        );
        text.explanation(wrap(&words, ""));
    }
}
