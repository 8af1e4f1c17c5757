//! The picture of how well each record is protected.

use crate::plot::{Axis, FLOOR, Line, Plot, Scale, Series};
use dobrushin::account::Protection;
use dobrushin_document::report::{Records, upper};

/// The bound of each record against its place, beside that of composition.
pub fn draw(records: &Records, published: Option<f64>) -> Plot {
    let symbol = records.given().symbol();
    let uppers = || records.rows.iter().map(upper).filter(|upper| upper.is_finite());
    let (least, most) = (uppers().fold(f64::INFINITY, f64::min), uppers().fold(0.0, f64::max));
    let log = records.given().asked() == "delta" || (least > 0.0 && most > 20.0 * least);
    let scale = if log { Scale::Log10 } else { Scale::Linear };
    let height = |value: f64| if log { value.log10() } else { value };
    let of = |row: &Protection| {
        let ln = row.answer.and_then(|answer| answer.log_delta);
        ln.map_or(height(upper(row)), |ln| ln.upper() / std::f64::consts::LN_10)
    };
    let (x, place) = places(records);
    // Each record extends half a place to either side.
    let last = records.rows.last().map_or(1.0, |row| row.to as f64);
    let ends = |row: &Protection| [row.from as f64 - 0.5, row.to as f64 + 0.5].map(|at| at.clamp(1.0, last));
    let steps = records.rows.iter().flat_map(|row| ends(row).map(|at| (place(at), of(row))));
    let steps: Vec<(f64, f64)> = steps.collect();
    let first_and_last = steps.first().zip(steps.last());
    let level = first_and_last.zip(published).map(|((first, last), published)| {
        let points = vec![(first.0, height(published)), (last.0, height(published))];
        Series::new("if every iterate were published", points, Line::Solid)
    });
    let guarantee = Series::new("guarantee", steps, Line::Guarantee);
    let plot = Plot {
        title: format!("Protection of each record: {symbol} at {}", records.given().in_words()),
        x,
        y: Axis { label: symbol.to_owned(), scale },
        series: [guarantee].into_iter().chain(level).collect(),
        caption: vec![
            "For each record, by its place in the order: upper ends of certified enclosures.".to_owned(),
        ],
    };
    plot.above(FLOOR)
}

/// From this many records on, a logarithmic axis shows more.
const MANY: u64 = 100;

/// The axis of the records, and each record's place on it. Records differ most near the least private one, so many
/// records are counted from there, on a logarithmic axis.
fn places(records: &Records) -> (Axis, Box<dyn Fn(f64) -> f64>) {
    let axis = |label: &str, scale| Axis { label: label.to_owned(), scale };
    let ends = records.rows.first().zip(records.rows.last());
    match ends.filter(|(_, last)| last.to > MANY) {
        None => (axis("record", Scale::Linear), Box::new(|record| record)),
        Some((first, last)) if upper(first) > upper(last) => {
            (axis("record", Scale::Log10), Box::new(f64::log10))
        }
        Some((_, last)) => {
            let end = last.to as f64 + 1.0;
            let label = "record, counted from the end (1 is the last)";
            (axis(label, Scale::Log10), Box::new(move |record| (end - record).log10()))
        }
    }
}
