//! A picture of frequencies from private reports.

use crate::plot::{Axis, Line, Plot, Scale, Series};
use dobrushin::Probability;
use dobrushin::numeric::decimal as number;
use dobrushin_document::plain_text::shown_safely;
use dobrushin_document::report::FrequencyReport;

/// A picture has room for this many categories at its ticks, and names this many below.
const AT_TICKS: usize = 10;
const NAMED: usize = 40;

/// The frequencies with their intervals.
pub fn draw(rows: &[FrequencyReport], reports: u64, confidence: Probability) -> Plot {
    let places = || (1..).map(f64::from);
    let bars = places().zip(rows).filter_map(|(place, row)| {
        let span = row.certain_interval?;
        Some([(place, span.from.0), (place, span.to.0)])
    });
    let confidence = number::plain(confidence.get());
    let bars = Series::new(format!("interval, {confidence}"), bars.flatten().collect(), Line::Spans);
    let points = places().zip(rows.iter().map(|row| row.frequency.0)).collect();
    let marks = Series::new("estimate", points, Line::Marks);
    let names = rows.iter().map(|row| shown_safely(&row.category)).collect::<Vec<String>>();
    let (scale, caption) = match names.len() > AT_TICKS {
        false => (Scale::Words(names), Vec::new()),
        true => {
            let first =
                names.iter().take(NAMED).enumerate().map(|(place, name)| format!("{} {name}", place + 1));
            let more = if names.len() > NAMED { ", …" } else { "" };
            (Scale::Linear, vec![format!("{}{more}", first.collect::<Vec<_>>().join(", "))])
        }
    };
    Plot {
        title: format!("Frequencies from {reports} private reports"),
        x: Axis { label: "category".to_owned(), scale },
        y: Axis { label: "frequency".to_owned(), scale: Scale::Linear },
        series: if bars.points.is_empty() { vec![marks] } else { vec![bars, marks] },
        caption,
    }
}
