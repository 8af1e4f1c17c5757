//! The picture of what people have spent.

use crate::plot::{Axis, Line, Plot, Scale, Series};
use dobrushin_document::report::LedgerReport;

/// How many people have spent at least which share of their budgets.
pub fn draw(report: &LedgerReport) -> Plot {
    let shares = &report.shares;
    let mut above = report.people - shares.nothing;
    let mut points = vec![(0.0, above as f64)];
    for (tenth, count) in shares.tenths.iter().enumerate() {
        above -= count;
        points.push((10.0 * (tenth as f64 + 1.0), above as f64));
    }
    let axis = |label: &str| Axis { label: label.to_owned(), scale: Scale::Linear };
    Plot {
        title: "How many people have spent more than this share of their budgets".to_owned(),
        x: axis("share of the budget, in per cent"),
        y: axis("people"),
        series: vec![Series::new("people", points, Line::Guarantee)],
        caption: vec![format!(
            "{} people, {} of whom have spent nothing. What is reserved counts as spent.",
            report.people, shares.nothing
        )],
    }
}
