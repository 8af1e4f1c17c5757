//! The picture of an audit: how often an attacker is right against how often it is wrong.

use crate::plot::{Axis, Line, Plot, Scale, Series};
use dobrushin::numeric::decimal as number;
use dobrushin::profile::{PrivacyProfile, TradeOff};
use dobrushin::{Enclosure, Probability};
use dobrushin_audit::{Evidence, Point};
use dobrushin_document::ask::{Audited, Claim};

/// The places at which the curves are computed, between 0 and 1.
const PLACES: u32 = 50;

/// The claim's trade-off curve, that of composition, guessing, and the counted rules of each attack.
pub fn draw(claim: &Claim, audited: &Audited) -> Plot {
    let report = &audited.report;
    let bound = number::briefly(report.guarantee.epsilon.0);
    let mut series = vec![Series::new("guessing", vec![(0.0, 0.0), (1.0, 1.0)], Line::Dashed)];
    if let Some(composition) = &claim.composition {
        series.push(Series::new("composition", curve(composition.as_ref()), Line::Solid));
    }
    let name = if report.guarantee.analysis.is_some() { "guarantee" } else { "claim" };
    series.push(Series::new(name, curve(claim.profile.as_ref()), Line::Guarantee));
    for (attack, evidence) in report.attacks.iter().zip(&audited.evidence) {
        let spans = evidence.points.iter().flat_map(|point| [counted(point), proved(point)]).collect();
        series.push(Series::new("", spans, Line::Spans));
        series.push(Series::new(
            format!("{}: counted", attack.id),
            evidence.points.iter().map(counted).collect(),
            Line::Marks,
        ));
        series.push(Series::new(
            format!("{}: proved", attack.id),
            evidence.points.iter().map(proved).collect(),
            Line::Marks,
        ));
    }
    let verdict =
        if report.violation { "The claim is contradicted" } else { "The claim is not contradicted" };
    let axis = |label: &str| Axis { label: label.to_owned(), scale: Scale::Linear };
    Plot {
        title: format!("{verdict}: ε at most {bound} at {}", report.guarantee.delta.in_words()),
        x: axis("false-positive rate"),
        y: axis("true-positive rate"),
        series,
        caption: vec![caption(&audited.evidence)],
    }
}

fn caption(evidence: &[Evidence]) -> String {
    let confidence = evidence.first().map_or(0.0, |found| 1.0 - found.risk.get() * evidence.len() as f64);
    format!(
        "With probability {}, the true rates are above and to the left of what is proved. If the claim is true, no attack is \
         above its curve.",
        number::nearest(confidence, 4)
    )
}

/// The largest power at each rate of false positives, by a profile.
fn curve(profile: &dyn PrivacyProfile) -> Vec<(f64, f64)> {
    let places = (0..=PLACES).map(|place| f64::from(place) / f64::from(PLACES));
    // Curves are steep near 0.
    let places = places.map(|place| place * place);
    let trade_off = TradeOff::new(profile);
    let power = |place: f64| Probability::new(place).map_or(Enclosure::ONE, |at| trade_off.power(at)).upper();
    places.map(|place| (place, power(place))).collect()
}

fn counted(point: &Point) -> (f64, f64) {
    let share = |count: u64, of: u64| count as f64 / of.max(1) as f64;
    let guesses = point.guesses;
    (share(guesses.wrong, guesses.other_runs), share(guesses.right, guesses.runs))
}

fn proved(point: &Point) -> (f64, f64) {
    (point.rates.most_false_positives, point.rates.least_true_positives)
}
