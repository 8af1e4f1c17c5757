//! `dobrushin audit RUN.toml`: the worst case that is known, beside the guarantee.

use super::arguments::AuditArgs;
use crate::guard::Guard;
use crate::output::Report;
use crate::plot::{Axis, Line, Plot, Scale, Series};
use crate::problem::Problem;
use crate::run_file::Opened;
use crate::watch::Watch;
use dobrushin::account::Question;
use dobrushin_audit::floor::{Densities, Floor};
use dobrushin_document::ask::{self, Asked, WorstCase};
use dobrushin_document::text::Style;
use dobrushin_document::{json, text};
use std::path::PathBuf;

/// What is known from below, for a run that nobody trained.
pub fn run(arguments: &AuditArgs, guard: &Guard, style: Style) -> Result<Report, Problem> {
    let opened = Opened::new(arguments.run().map(PathBuf::as_path), &arguments.changes.set, guard)?;
    let contained = opened.self_contained()?;
    let asked = Asked { epsilon: arguments.epsilon, delta: arguments.delta };
    let mut watch = None;
    let found = ask::worst_case(&opened.file, &contained, asked, &mut |what| {
        // The one before ends first.
        drop(watch.take());
        watch.insert(Watch::new(!style.quiet, 0, what)).progress().clone()
    })?;
    drop(watch);
    if let Some(path) = &arguments.plot {
        draw(&found)?.write(path)?;
    }
    Ok(Report {
        text: text::worst_case(&found.report, style),
        json: json::of(&found.report),
        answer_is_no: found.report.violation,
        table: None,
    })
}

/// The points of a curve.
const POINTS: u32 = 600;
/// Densities below this share of the largest are not drawn, unless the event is there.
const LEAST: f64 = 1e-9;

/// The two laws of the instance, and the event that tells most.
fn draw(found: &WorstCase) -> Result<Plot, Problem> {
    let drawn = found.floor.as_ref().and_then(|floor| Some((floor, floor.densities.as_ref()?)));
    let (floor, densities) = drawn.ok_or_else(|| {
        Problem::new("there is nothing to draw: the worst case of this run is not one number").help(
            "dobrushin account --plot draws δ against ε, with the floor",
        )
    })?;
    let epsilon = match found.account.question {
        Question::EpsilonAt(_) => floor.answer.value.lower(),
        Question::DeltaAt(epsilon) => epsilon.get(),
    };
    Ok(picture(floor, densities.as_ref(), epsilon, found.account.question))
}

fn picture(floor: &Floor, densities: &dyn Densities, epsilon: f64, question: Question) -> Plot {
    let (from, to) = densities.range();
    let places = (0..=POINTS).map(|i| from + (to - from) * f64::from(i) / f64::from(POINTS));
    let points: Vec<(f64, [f64; 2])> = places.map(|x| (x, densities.at(x))).collect();
    let most = points.iter().flat_map(|point| point.1).fold(0.0, f64::max);
    let event = densities.event(epsilon);
    let least = (most * LEAST).min(event.probabilities[1].max(1e-30) / (to - from));
    let curve = |law: usize| {
        let shown = points.iter().map(|(x, p)| (*x, if p[law] >= least { p[law].log10() } else { f64::NEG_INFINITY }));
        shown.collect::<Vec<_>>()
    };
    let mark = least.log10();
    let spans = event.intervals.iter().flat_map(|(a, b)| [(*a, mark), (*b, mark)]).collect();
    let mut series = vec![
        Series::new("with the record", curve(0), Line::Guarantee),
        Series::new("without it", curve(1), Line::Solid),
        Series::new("the event that tells most", spans, Line::Spans),
    ];
    for law in 0..2 {
        let atoms = densities.atoms().into_iter().filter(|(_, p)| p[law] >= least);
        let atoms: Vec<_> = atoms.map(|(x, p)| (x, p[law].log10())).collect();
        if !atoms.is_empty() {
            let name = if law == 0 { "projected, with the record" } else { "projected, without it" };
            series.push(Series::new(name, atoms, Line::Marks));
        }
    }
    let value = dobrushin::numeric::decimal::lower(floor.answer.value, 4);
    let title = match question {
        Question::EpsilonAt(delta) => {
            format!("The worst case that is known: ε ≥ {value} at δ = {}", dobrushin::numeric::decimal::plain(delta.get()))
        }
        Question::DeltaAt(epsilon) => {
            format!("The worst case that is known: δ ≥ {value} at ε = {}", dobrushin::numeric::decimal::plain(epsilon.get()))
        }
    };
    Plot {
        title,
        x: Axis { label: "the released number".to_owned(), scale: Scale::Linear },
        y: Axis { label: "density".to_owned(), scale: Scale::Log10 },
        series,
        caption: vec![format!("{}.", floor.instance)],
    }
}
