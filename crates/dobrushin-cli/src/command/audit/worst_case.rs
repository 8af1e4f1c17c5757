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
const LEAST: f64 = 1e-7;
/// The axis is logarithmic if the event is less likely than this.
const RARE: f64 = 0.01;

/// The two laws of the instance, and the event that tells most.
fn draw(found: &WorstCase) -> Result<Plot, Problem> {
    let drawn = found.floor.as_ref().and_then(|floor| Some((floor, floor.densities.as_ref()?)));
    let (floor, densities) = drawn.ok_or_else(|| {
        Problem::new("there is nothing to draw: the worst case of this run is not one number")
            .help("dobrushin account --plot draws δ against ε, with the floor")
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
    // A rare event is where densities are small.
    let scale = if event.probabilities[0] < RARE { Scale::Log10 } else { Scale::Linear };
    let least = (most * LEAST).min(event.probabilities[1].max(1e-30) / (to - from));
    let height = |density: f64| match scale {
        Scale::Log10 if density < least => f64::NEG_INFINITY,
        _ => scale.place(density),
    };
    let curve = |law: usize| points.iter().map(|(x, p)| (*x, height(p[law]))).collect::<Vec<_>>();
    // The event is drawn along the bottom.
    let mark = if scale == Scale::Log10 { least.log10() + 0.2 } else { most / 40.0 };
    let spans = event.intervals.iter().flat_map(|(a, b)| [(*a, mark), (*b, mark)]).collect();
    let mut series = vec![
        Series::new("with the record", curve(0), Line::Guarantee),
        Series::new("without it", curve(1), Line::Solid),
        Series::new("the event that tells most", spans, Line::Spans),
    ];
    for (law, name) in ["probability of an end, with the record", "probability of an end, without it"]
        .into_iter()
        .enumerate()
    {
        let atoms = densities.atoms().into_iter().filter(|(_, p)| p[law] >= least);
        let atoms: Vec<_> = atoms.map(|(x, p)| (x, height(p[law]))).collect();
        if !atoms.is_empty() {
            series.push(Series::new(name, atoms, Line::Marks));
        }
    }
    let value = dobrushin::numeric::decimal::lower(floor.answer.value, 4);
    let title = match question {
        Question::EpsilonAt(delta) => {
            format!(
                "The worst case that is known: ε ≥ {value} at δ = {}",
                dobrushin::numeric::decimal::plain(delta.get())
            )
        }
        Question::DeltaAt(epsilon) => {
            format!(
                "The worst case that is known: δ ≥ {value} at ε = {}",
                dobrushin::numeric::decimal::plain(epsilon.get())
            )
        }
    };
    let words =
        floor.instance.chars().next().map_or(String::new(), |first| {
            first.to_uppercase().chain(floor.instance.chars().skip(1)).collect()
        });
    Plot {
        title,
        x: Axis { label: "the released number".to_owned(), scale: Scale::Linear },
        y: Axis { label: "density".to_owned(), scale },
        series,
        caption: vec![format!("{words}.")],
    }
}
