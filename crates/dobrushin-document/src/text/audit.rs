//! What attacks prove, in words.

use super::meaning::shortest;
use super::{Block, Style, Text, bullets, table, wrap};
use crate::report::{AttackReport, AuditReport, Given};
use dobrushin::Enclosure;
use dobrushin::numeric::decimal as number;

/// The answer, what it means, what this many runs could have proved, and what to suspect.
pub fn audit(report: &AuditReport, style: Style) -> Text {
    let mut text = Text::default();
    text.answer(answer(report, style));
    for warning in &report.warnings {
        text.warning(wrap(&format!("Warning: {warning}."), ""));
    }
    if report.violation {
        text.explanation(bullets("What to suspect", &report.suspects));
    }
    text.explanation(levels(report, style));
    text.explanation(bullets("What it means", meaning(report, style)));
    if style.verbose {
        let counted = report.attacks.iter().filter(|attack| !attack.points.is_empty());
        counted.for_each(|attack| text.explanation(points(attack, style)));
    }
    text
}

fn answer(report: &AuditReport, style: Style) -> Block {
    let claimed = claimed(report, style);
    let at = report.guarantee.delta.in_words();
    let Some(best) = report.best() else {
        return format!("The claim is ε ≤ {claimed} at {at}. No attack was made.").into();
    };
    let confidence = percent(best.confidence);
    let proved = style.lower(Enclosure::from(best.epsilon.lower.0));
    match report.worst_contradiction() {
        None => format!(
            "{} ε ≥ {proved} at {at} with {confidence} confidence; the claim is ε ≤ {claimed}, and it is not contradicted.",
            match report.attacks.len() {
                1 => "The attack proves".to_owned(),
                several => format!("The best of {several} attacks proves"),
            },
        )
        .into(),
        Some((_, found)) => format!(
            "The claim ε ≤ {claimed} at {at} is false, with {confidence} confidence. At ε = {} it allows δ ≤ {}, and the \
             runs prove δ ≥ {}.",
            number::nearest(found.epsilon.0, 3),
            style.nearest(found.claimed_delta.0),
            style.lower(Enclosure::from(found.proved_delta.0)),
        )
        .into(),
    }
}

/// The claimed ε: what is computed is rounded up, and what you say is repeated.
fn claimed(report: &AuditReport, style: Style) -> String {
    let epsilon = report.guarantee.epsilon.0;
    if report.guarantee.analysis.is_some() { style.upper(epsilon) } else { shortest(epsilon.upper()) }
}

/// The levels, the lowest first.
fn levels(report: &AuditReport, style: Style) -> Block {
    let mut rows = Vec::new();
    let at_least = |value: f64| format!("≥ {}", style.lower(Enclosure::from(value)));
    for attack in &report.attacks {
        let gaussian = attack.gaussian.as_ref();
        rows.push([
            format!("attack: {}", attack.id),
            at_least(attack.epsilon.lower.0),
            gaussian.map_or(String::new(), |gaussian| at_least(gaussian.epsilon.lower.0)),
            style.lower(Enclosure::from(attack.provable_at_most.0)),
            match &attack.canaries {
                Some(canaries) => format!("1 run, {} canaries", canaries.canaries),
                None => format!("{} runs", attack.runs),
            },
        ]);
    }
    let row = |name: &str, value: String, by: &str| {
        [name.to_owned(), value, String::new(), String::new(), by.to_owned()]
    };
    if let Some(least) = report.floor.as_ref().and_then(|floor| floor.answer.value()) {
        rows.push(row("floor", at_least(least.lower()), "the worst data that we know"));
    }
    let at_most = |value: String| format!("≤ {value}");
    let by = report.guarantee.analysis.as_deref();
    let name = if by.is_some() { "guarantee" } else { "claim" };
    rows.push(row(name, at_most(claimed(report, style)), by.unwrap_or("as you say")));
    if let Some(value) = report.composition.as_ref().and_then(|composed| composed.answer.value()) {
        rows.push(row("composition", at_most(style.upper(value)), "if every iterate were released"));
    }
    let at = match report.guarantee.delta {
        Given::Delta(delta) => format!("ε at δ = {}", shortest(delta.0)),
        _ => "ε".to_owned(),
    };
    table(["", &at, "if Gaussian", "provable", "by"], rows)
}

fn meaning(report: &AuditReport, style: Style) -> Vec<String> {
    let mut sentences = Vec::new();
    let many = || report.attacks.iter().filter(|attack| attack.canaries.is_none());
    // Of equals, the first.
    let telling = many().reduce(|best, next| if proved(next) > proved(best) { next } else { best });
    sentences.extend(telling.and_then(|attack| rates(attack, report.attacks.len() > 1, style)));
    // All attacks on many runs have as many.
    sentences.extend(many().next().map(|attack| limit(report, attack, style)));
    sentences.extend(report.attacks.iter().filter_map(one_run));
    sentences.push(match report.violation {
        true => format!(
            "If the claim were true, runs like these would occur with probability {} at most. The test assumes only that \
             the runs are independent.",
            report.best().map_or(String::new(), |best| percent(1.0 - best.confidence))
        ),
        false => "An attack proves from below: the true ε is at least this, and a better attack may prove more. That a \
                  claim is not contradicted does not prove it."
            .to_owned(),
    });
    if many().next().is_some() {
        sentences.push(
            "\"If Gaussian\" assumes that the worst trade-off curve is that of two normal laws, which is so for one noisy \
             step and for full batches. The verdict does not rest on it."
                .to_owned(),
        );
    }
    sentences
}

/// What an attack proves, and what it proves if the laws are normal.
fn proved(attack: &AttackReport) -> (f64, f64) {
    (attack.epsilon.lower.0, attack.gaussian.as_ref().map_or(0.0, |gaussian| gaussian.epsilon.lower.0))
}

/// What this many runs could prove.
fn limit(report: &AuditReport, attack: &AttackReport, style: Style) -> String {
    let most = attack.provable_at_most.0;
    let limit = format!(
        "With this many runs, an attacker who is never wrong proves ε ≥ {}, and nobody proves more",
        style.lower(Enclosure::from(most))
    );
    let claimed = report.guarantee.epsilon.0.upper();
    if most >= claimed {
        return limit + ".";
    }
    let needed = match runs_for(claimed, attack.confidence, report.attacks.len()) {
        Some(runs) => format!(
            "To reach the claimed ε, even such an attacker needs about {} runs{}",
            number::nearest(runs, 2),
            if report.attacks.len() > 1 { " for each attack" } else { "" },
        ),
        None => "No number of runs reaches the claimed ε".to_owned(),
    };
    format!("{limit}. {needed}.")
}

/// What was guessed about the canaries of one run.
fn one_run(attack: &AttackReport) -> Option<String> {
    let canaries = attack.canaries.as_ref()?;
    Some(format!(
        "In one run with {} canaries, each of which a coin included or not, {} of {} guesses about them were right. More \
         canaries prove more; there are as many as parameters of the model, 1000 at most.",
        canaries.canaries, canaries.right, canaries.guesses,
    ))
}

/// How often the most telling rule was right and wrong.
fn rates(attack: &AttackReport, is_named: bool, style: Style) -> Option<String> {
    let point = attack.points.iter().max_by(|a, b| {
        let gap = |point: &crate::report::PointReport| point.tpr.lower.0 - point.fpr.upper.0;
        gap(a).total_cmp(&gap(b))
    })?;
    let share = |count: u64, of: u64| percent(count as f64 / of.max(1) as f64);
    let (with, without) = (attack.counted_with?, attack.counted_without?);
    let attacker = if is_named { format!("{} said", attack.id) } else { "the attacker said".to_owned() };
    Some(format!(
        "In runs with the record, {attacker} so in {} of {with} ({}, at least {}% by chance); in runs without it, in {} of \
         {without} ({}, at most {}%).",
        point.true_positives,
        share(point.true_positives, with),
        style.lower(Enclosure::from(100.0 * point.tpr.lower.0)),
        point.false_positives,
        share(point.false_positives, without),
        style.upper(Enclosure::from(100.0 * point.fpr.upper.0)),
    ))
}

/// Roughly the runs, with and without the record, with which a perfect attacker proves an ε, if attacks share the risk.
fn runs_for(epsilon: f64, confidence: f64, attacks: usize) -> Option<f64> {
    // The bound on a rate that was never seen is ln(6/risk)/n, and a quarter of the runs is not counted.
    let runs = 2.0 * libm::log(6.0 * attacks as f64 / (1.0 - confidence)) * libm::exp(epsilon) / 0.75;
    (runs < 1e15).then_some(runs)
}

fn points(attack: &AttackReport, style: Style) -> Block {
    let rows = attack.points.iter().map(|point| {
        [
            format!("{}: scores {} {}", point.purpose, point.side, style.nearest(point.threshold.0)),
            point.true_positives.to_string(),
            style.lower(Enclosure::from(point.tpr.lower.0)),
            point.false_positives.to_string(),
            style.upper(Enclosure::from(point.fpr.upper.0)),
        ]
    });
    table([attack.id.as_str(), "right", "rate ≥", "wrong", "rate ≤"], rows)
}

/// A share in per cent, rounded to the nearest.
fn percent(share: f64) -> String {
    format!("{}%", number::nearest(100.0 * share, 4))
}
