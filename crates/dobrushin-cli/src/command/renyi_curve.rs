//! `dobrushin curve --order`: Rényi divergences over orders, or over a parameter of the run.

use super::account_plot::named;
use super::curve::{CurveArgs, sweeps};
use super::curve_plot::axis;
use crate::cli::order_above_one;
use crate::guard::Guard;
use crate::output::Report;
use crate::plot::{Axis, FLOOR, Line, Plot, Scale, Series};
use crate::problem::Problem;
use crate::run_file::Opened;
use crate::watch::Watch;
use dobrushin::account::Options;
use dobrushin::numeric::decimal as number;
use dobrushin::{Enclosure, RenyiOrder};
use dobrushin_document::json::Bounds;
use dobrushin_document::report::{RenyiCurve, RenyiReport};
use dobrushin_document::text::Style;
use dobrushin_document::{Sweep, csv, json, text};
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
    Ok(Report { text, json: json::of(&curve), answer_is_no, table: Some(csv::renyi_curve(&curve)) })
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
    let values =
        || curve.rows.iter().flatten().filter_map(|report| report.value).map(|value| value.0.upper());
    let largest = values().filter(|value| value.is_finite()).fold(0.0, f64::max);
    let y = Axis {
        label: "D_α".to_owned(),
        scale: if log { Scale::Log10 } else { Scale::suiting(values().collect::<Vec<f64>>().into_iter()) },
    };
    let largest = number::briefly(Enclosure::from(largest));
    let caption = vec!["Upper ends of certified enclosures.".to_owned()];
    let line = |label: String, line: Line, values: Vec<(f64, Option<Bounds>)>| {
        let exact = values.iter().map(|(_, value)| value.map_or(f64::NAN, |value| value.0.upper())).collect();
        let points = values.iter().zip(&exact).map(|((x, _), value): (_, &f64)| (*x, y.scale.place(*value)));
        Series { exact: Vec::clone(&exact), ..Series::new(label, points.collect(), line) }
    };
    match &curve.over {
        None => {
            let reports = || curve.rows.iter().flatten();
            let scale = if log { Scale::Log10 } else { Scale::Linear };
            let of = |value: &dyn Fn(&RenyiReport) -> Option<Bounds>| -> Vec<(f64, Option<Bounds>)> {
                reports().map(|report| (scale.place(report.order.0), value(report))).collect()
            };
            let ids = RenyiReport::ids(reports()).into_iter();
            let mut series: Vec<Series> = ids
                .map(|(id, rigorous)| {
                    let kind = if rigorous { Line::Solid } else { Line::Dashed };
                    line(named(id, rigorous, false), kind, of(&|report| report.of(id)))
                })
                .collect();
            series.push(line("guarantee".to_owned(), Line::Guarantee, of(&|report| report.value)));
            let title = format!("Rényi divergence D_α at most {largest} for the orders α shown");
            Plot { title, x: Axis { label: "order α".to_owned(), scale }, y, series, caption }
        }
        Some(over) => {
            let (x, places) = axis(over, log);
            let of = |(column, first): (usize, &RenyiReport)| {
                let values = places.iter().zip(&curve.rows).map(|(x, reports)| (*x, reports[column].value));
                line(format!("α = {}", number::plain(first.order.0)), Line::Solid, values.collect())
            };
            let first = curve.rows.first().map_or(&[][..], |row| row);
            let series = first.iter().enumerate().map(of).collect();
            let title = format!("Rényi divergence D_α at most {largest}, over {}", over.key);
            Plot { title, x, y, series, caption }
        }
    }
}
