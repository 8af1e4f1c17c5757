//! The picture of what each observer of a travelling model learns.

use crate::plot::{Drawing, HeatMap};
use dobrushin::account::{Observer, Pair};
use dobrushin_document::report::ObserversReport;

/// The matrix of owners and observers; with many owners, observers are counted from each owner.
pub fn draw(report: &ObserversReport) -> Drawing {
    let pairs = &report.seen.pairs;
    let mut owners: Vec<u64> = pairs.iter().map(|pair| pair.owner).collect();
    owners.dedup();
    let whole = owners.len() as u64 == report.seen.owners;
    let row_of = |pair: &Pair| match pair.observer {
        Observer::Owner(place) => Some(if whole { place } else { place - pair.owner }),
        Observer::Public => None,
    };
    let mut rows: Vec<Option<u64>> = pairs.iter().map(row_of).collect();
    // The public comes last.
    rows.sort_by_key(|row| row.unwrap_or(u64::MAX));
    rows.dedup();
    let value = |pair: &Pair| pair.answer.map_or(f64::INFINITY, |answer| answer.value.upper());
    let cell = |row: Option<u64>, owner: u64| {
        pairs.iter().find(|pair| pair.owner == owner && row_of(pair) == row).map(value)
    };
    let cells = rows.iter().map(|row| owners.iter().map(|owner| cell(*row, *owner)).collect()).collect();
    let symbol = report.given().symbol();
    let observer = if whole { "observer" } else { "observer: this many owners later" };
    let mut caption = vec![
        "Upper ends of certified enclosures: how well each owner's records are protected against what each observer sees."
            .to_owned(),
    ];
    if !whole {
        caption.push(
            "Some owners and some observers, out of all of them; blank where no owner is left.".to_owned(),
        );
    }
    let map = HeatMap {
        title: format!("Owners and observers: {symbol} at {}", report.given().in_words()),
        x: "owner of the records".to_owned(),
        y: observer.to_owned(),
        columns: owners.iter().map(u64::to_string).collect(),
        rows: rows.iter().map(|row| row.map_or("public".to_owned(), |row| row.to_string())).collect(),
        value: format!("{symbol} at most"),
        cells,
        caption,
        ..HeatMap::default()
    };
    map.into()
}
