//! `dobrushin curve --order`: Rényi divergences over orders, or over a parameter of the run.

use super::curve::{CurveArgs, sweeps};
use crate::cli::order_above_one;
use crate::guard::Guard;
use crate::output::Report;
use crate::plot::{Axis, FLOOR, Line, Plot, Scale, Series};
use crate::problem::Problem;
use crate::run_file::Opened;
use crate::watch::Watch;
use dobrushin::RenyiOrder;
use dobrushin::account::Options;
use dobrushin::numeric::decimal as number;
use dobrushin_document::report::{RenyiCurve, RenyiReport};
use dobrushin_document::text::Style;
use dobrushin_document::{Sweep, json, text};
use rayon::prelude::*;

/// Asks for every order at every point.
pub fn run(arguments: &CurveArgs, orders: &str, guard: &Guard, style: Style) -> Result<Report, Problem> {
    let opened = Opened::new(Some(&arguments.run), &arguments.changes.set, guard)?;
    let orders = orders_of(orders, arguments.points, arguments.log)?;
    let mut sweeps = sweeps(arguments)?;
    if sweeps.len() > 1 {
        return Err(Problem::new("--order goes with one --over, but it is given twice")
            .help("give several orders and one --over, or one --over for each call"));
    }
    if let Some(sweep) = sweeps.iter().find(|sweep| sweep.is_of_target()) {
        return Err(Problem::new(format!(
            "--over varies {}, which a Rényi divergence does not depend on",
            sweep.key
        ))
        .help("leave --over out to vary the order, as in --order 1.5..64"));
    }
    for word in sweeps.iter().flat_map(Sweep::words) {
        opened.with([word])?.spared_by(guard)?;
    }
    let over = sweeps.pop();
    let options = Options { only: arguments.analyses.only(), ..Options::default() };
    let count = over.as_ref().map_or(1, Sweep::count);
    let watch = Watch::new(!style.quiet, count as u64, "points");
    let rows = (0..count)
        .into_par_iter()
        .map(|index| {
            let opened = opened.with(over.iter().map(|sweep| sweep.setting(index)))?;
            let found = opened.run()?.renyi(&orders, &options)?;
            watch.progress().advance(1);
            Ok(found.iter().map(RenyiReport::new).collect())
        })
        .collect::<Result<Vec<Vec<RenyiReport>>, Problem>>()?;
    drop(watch);
    let curve = RenyiCurve { over, rows };
    if let Some(path) = &arguments.plot {
        draw(&curve, arguments.log).above(FLOOR).write(path)?;
    }
    let text = text::renyi_curve(&curve, style);
    let answer_is_no = curve.rows.iter().flatten().all(|report| report.value.is_none());
    Ok(Report { text, json: json::of(&curve), answer_is_no })
}

/// Reads `a..b`, with this many orders at equal distances or ratios, or `2,8,32`.
fn orders_of(text: &str, points: u32, log: bool) -> Result<Vec<RenyiOrder>, Problem> {
    let read = |text: &str| {
        order_above_one(text).map_err(|reason| {
            Problem::new(format!("--order {text:?}: {reason}")).help("--order 2,8,32 or --order 1.5..64")
        })
    };
    let Some((start, end)) = text.split_once("..") else {
        return text.split(',').map(read).collect();
    };
    let (start, end) = (read(start)?.get(), read(end)?.get());
    if start >= end || end == f64::INFINITY {
        return Err(Problem::new(format!("--order {text}: the range is empty or endless"))
            .help("write the smaller end first, and a finite one last, as in --order 1.5..64"));
    }
    let order = |i: u32| {
        let t = f64::from(i) / f64::from(points - 1);
        let inside = if log { start * (end / start).powf(t) } else { start + t * (end - start) };
        RenyiOrder::new(inside.clamp(start, end)).map_err(Problem::from)
    };
    (0..points).map(order).collect()
}

/// D_α against α by every analysis, or against the parameter at every order.
fn draw(curve: &RenyiCurve, log: bool) -> Plot {
    let scale = if log { Scale::Log10 } else { Scale::Linear };
    let place = |value: f64| if log { value.log10() } else { value };
    let height = |value: Option<dobrushin_document::json::Bounds>| {
        value.map_or(f64::NAN, |value| place(value.0.upper()))
    };
    let (label, title, series) = match &curve.over {
        None => {
            let reports = || curve.rows.iter().flatten();
            let of = |(id, rigorous): (&'static str, bool)| Series {
                label: id.to_owned(),
                points: reports().map(|report| (place(report.order.0), height(report.of(id)))).collect(),
                line: if rigorous { Line::Solid } else { Line::Dashed },
            };
            let series = RenyiReport::ids(reports()).into_iter().map(of).collect();
            ("order α".to_owned(), "Rényi divergence of the run".to_owned(), series)
        }
        Some(over) => {
            let of = |(column, first): (usize, &RenyiReport)| Series {
                label: format!("α = {}", number::plain(first.order.0)),
                points: (curve.rows.iter().enumerate())
                    .map(|(row, reports)| (place(over.number(row)), height(reports[column].value)))
                    .collect(),
                line: Line::Solid,
            };
            let first = curve.rows.first().map_or(&[][..], |row| row);
            let series = first.iter().enumerate().map(of).collect();
            (over.key.clone(), format!("Rényi divergence over {}", over.key), series)
        }
    };
    Plot {
        title,
        x: Axis { label, scale },
        y: Axis { label: "D_α".to_owned(), scale },
        series,
        caption: vec!["Upper ends of certified enclosures.".to_owned()],
    }
}
