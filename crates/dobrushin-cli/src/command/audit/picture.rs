//! The picture of an audit: how often an attacker is right against how often it is wrong.

use crate::plot::{Axis, Line, Plot, Scale, Series};
use dobrushin::numeric::decimal as number;
use dobrushin::profile::{PrivacyProfile, TradeOff};
use dobrushin::{Enclosure, Probability};
use dobrushin_audit::Point;
use dobrushin_document::ask::{Audited, Claim};
use dobrushin_document::report::AuditReport;

/// The places at which the curves are computed, between 0 and 1.
const PLACES: u32 = 50;

/// The claim's trade-off curve, those of composition and of the floor, guessing, and the counted rules of each attack.
pub fn draw(claim: &Claim, audited: &Audited) -> Plot {
    let report = &audited.report;
    let bound = number::briefly(report.guarantee.epsilon.0);
    let mut series = vec![Series::new("guessing", vec![(0.0, 0.0), (1.0, 1.0)], Line::Dashed)];
    if let Some(composition) = &claim.composition {
        series.push(Series::new("composition", curve(composition.as_ref(), Enclosure::upper), Line::Solid));
    }
    let name = if report.guarantee.analysis.is_some() { "guarantee" } else { "claim" };
    series.push(Series::new(name, curve(claim.profile.as_ref(), Enclosure::upper), Line::Guarantee));
    if let Some(floor) = &claim.floor {
        series.push(Series::new("floor", curve(floor.profile.as_ref(), Enclosure::lower), Line::Solid));
    }
    let rules = || audited.evidence.iter().flat_map(|(_, evidence)| &evidence.points);
    let spans = rules().flat_map(|point| [counted(point), proved(point)]).collect();
    series.push(Series::new("from counted to proved", spans, Line::Spans));
    for (id, evidence) in &audited.evidence {
        series.push(Series::new(*id, evidence.points.iter().map(proved).collect(), Line::Marks));
    }
    let verdict =
        if report.violation { "The claim is contradicted" } else { "The claim is not contradicted" };
    let axis = |label: &str| Axis { label: label.to_owned(), scale: Scale::Linear };
    Plot {
        title: format!("{verdict}: ε at most {bound} at {}", report.guarantee.delta.in_words()),
        x: axis("false-positive rate"),
        y: axis("true-positive rate"),
        series,
        caption: vec![caption(report)],
    }
}

fn caption(report: &AuditReport) -> String {
    let confidence = report.best().map_or(0.0, |attack| attack.confidence);
    format!(
        "Marks are what attacks prove: with probability {}, the true rates of all of them are above and to the left. If the \
         claim is true, no mark is above its curve.",
        number::nearest(confidence, 4)
    )
}

/// The largest power at each rate of false positives, by one end of a profile.
fn curve(profile: &dyn PrivacyProfile, end: fn(Enclosure) -> f64) -> Vec<(f64, f64)> {
    let places = (0..=PLACES).map(|place| f64::from(place) / f64::from(PLACES));
    // Curves are steep near 0.
    let places = places.map(|place| place * place);
    let trade_off = TradeOff::new(profile);
    let power = |place: f64| Probability::new(place).map_or(Enclosure::ONE, |at| trade_off.power(at));
    places.map(|place| (place, end(power(place)))).collect()
}

fn counted(point: &Point) -> (f64, f64) {
    let share = |count: u64, of: u64| count as f64 / of.max(1) as f64;
    let guesses = point.guesses;
    (share(guesses.wrong, guesses.other_runs), share(guesses.right, guesses.runs))
}

fn proved(point: &Point) -> (f64, f64) {
    (point.rates.most_false_positives, point.rates.least_true_positives)
}
