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
        report.attacks.iter().for_each(|attack| text.explanation(points(attack, style)));
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
            "The attack proves ε ≥ {proved} at {at} with {confidence} confidence; the claim is ε ≤ {claimed}, and it is \
             not contradicted."
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
        let runs = format!("{} runs", attack.runs);
        rows.push([format!("attack: {}", attack.id), at_least(attack.epsilon.lower.0), runs.clone()]);
        rows.push([
            format!("attack: {}, if Gaussian", attack.id),
            at_least(attack.gaussian.epsilon.lower.0),
            runs,
        ]);
    }
    if let Some(least) = report.floor.as_ref().and_then(|floor| floor.answer.value()) {
        rows.push(["floor".to_owned(), at_least(least.lower()), "the worst data that we know".to_owned()]);
    }
    let at_most = |value: Enclosure| format!("≤ {}", style.upper(value));
    let by = report.guarantee.analysis.clone().unwrap_or_else(|| "as you say".to_owned());
    let name = if report.guarantee.analysis.is_some() { "guarantee" } else { "claim" };
    rows.push([name.to_owned(), format!("≤ {}", claimed(report, style)), by]);
    if let Some(value) = report.composition.as_ref().and_then(|composed| composed.answer.value()) {
        rows.push(["composition".to_owned(), at_most(value), "if every iterate were released".to_owned()]);
    }
    let Given::Delta(delta) = report.guarantee.delta else {
        return table(["", "ε", "by"], rows);
    };
    table(["", &format!("ε at δ = {}", shortest(delta.0)), "by"], rows)
}

fn meaning(report: &AuditReport, style: Style) -> Vec<String> {
    let mut sentences = Vec::new();
    for attack in &report.attacks {
        sentences.extend(rates(attack, style));
        let most = attack.provable_at_most.0;
        let mut limit = format!(
            "With this many runs, an attacker who is never wrong proves ε ≥ {}, and nobody proves more",
            style.lower(Enclosure::from(most))
        );
        let claimed = report.guarantee.epsilon.0.upper();
        if most < claimed {
            limit += &match runs_for(claimed, attack.confidence) {
                Some(runs) => format!(
                    ". To reach the claimed ε, even such an attacker needs about {} runs",
                    number::nearest(runs, 2)
                ),
                None => ". No number of runs reaches the claimed ε".to_owned(),
            };
        }
        sentences.push(limit + ".");
    }
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
    sentences.push(
        "\"If Gaussian\" assumes that the worst trade-off curve is that of two normal laws, which is so for one noisy step \
         and for full batches. The verdict does not rest on it."
            .to_owned(),
    );
    sentences
}

/// How often the most telling rule was right and wrong.
fn rates(attack: &AttackReport, style: Style) -> Option<String> {
    let point = attack.points.iter().max_by(|a, b| {
        let gap = |point: &crate::report::PointReport| point.tpr.lower.0 - point.fpr.upper.0;
        gap(a).total_cmp(&gap(b))
    })?;
    let share = |count: u64, of: u64| percent(count as f64 / of.max(1) as f64);
    Some(format!(
        "In runs with the record, the attacker said so in {} of {} ({}, at least {}% by chance); in runs without it, in {} \
         of {} ({}, at most {}%).",
        point.true_positives,
        attack.counted_with,
        share(point.true_positives, attack.counted_with),
        style.lower(Enclosure::from(100.0 * point.tpr.lower.0)),
        point.false_positives,
        attack.counted_without,
        share(point.false_positives, attack.counted_without),
        style.upper(Enclosure::from(100.0 * point.fpr.upper.0)),
    ))
}

/// Roughly the runs, with and without the record, with which a perfect attacker proves an ε.
fn runs_for(epsilon: f64, confidence: f64) -> Option<f64> {
    // The bound on a rate that was never seen is ln(6/risk)/n, and a quarter of the runs is not counted.
    let runs = 2.0 * (6.0 / (1.0 - confidence)).ln() * epsilon.exp() / 0.75;
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
