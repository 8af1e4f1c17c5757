//! Which analysis wins, depending on the width of the domain and on how far a record pushes.

use super::curves::{caption, logarithmic, run};
use crate::plot::{Line, Plot, Series};
use crate::problem::Problem;
use dobrushin::Delta;
use dobrushin::account::{Account, Options, Question};
use rayon::prelude::*;

/// D/s and p·d/s as exponents of 10, and the number of each.
const WIDTHS: (f64, f64, u32) = (-0.5, 3.0, 8);
const PUSHES: (f64, f64, u32) = (-5.0, -1.0, 9);
/// p.
const PROBABILITY: f64 = 0.01;
/// An ε from here on is useless.
const USELESS: f64 = 30.0;

const SETTING: &str = "Convex losses on a set of diameter D, batches of 1 % without replacement (p = 0.01), iterate's noise s; \
                       one record moves an update by d. Each mark is for ε at δ = 1e-5 after 100 000 steps.";

/// The winner among all analyses, and by how much it wins.
pub fn draw() -> Result<Plot, Problem> {
    map(
        "Where hidden iterates help, after 100 000 steps",
        &Options::default(),
        |report| {
            let Some(best) = useful(report) else { return "no ε below 30" };
            let published = report.answer("composition").map_or(f64::INFINITY, |answer| answer.value.upper());
            match (report.guarantee().ok().map(|best| best.id), published / best) {
                (Some("recursion"), gain) if gain > 10.0 => "recursion, over 10 times below composition",
                (Some("recursion"), gain) if gain > 2.0 => "recursion, 2 to 10 times below",
                (Some("recursion"), gain) if gain > 1.01 => "recursion, less than 2 times below",
                (Some("recursion" | "composition"), _) => "composition",
                _ => "another analysis",
            }
        },
        "In a narrow domain noise forgets within (D/s)² steps, and recursion, which takes the best of all ideas at every \
         step, wins by orders of magnitude; in a wide one nothing is forgotten in so few steps, and composition is the answer.",
    )
}

/// The winner among the single ideas that recursion is made of.
pub fn single() -> Result<Plot, Problem> {
    let only =
        vec!["composition", "nonconvex-published", "contraction", "shift", "ceiling", "shift-subsampled"];
    map(
        "Which single idea is the best, after 100 000 steps",
        &Options { only, ..Options::default() },
        |report| match (useful(report), report.guarantee().ok()) {
            (Some(_), Some(best)) => best.id,
            _ => "no ε below 30",
        },
        "recursion, which combines them, is left out. contraction and nonconvex-published forget by noise on a bounded set; \
         shift-subsampled composes the last steps and shifts what came before into their noise; ceiling is what the last \
         noise hides of the farthest that two runs can be apart.",
    )
}

/// The guarantee, if it is worth anything.
fn useful(report: &Account) -> Option<f64> {
    report.guarantee().ok().map(|best| best.answer.value.upper()).filter(|upper| *upper < USELESS)
}

/// One mark at every place, by the winner there.
fn map(
    title: &str,
    options: &Options,
    found: impl Fn(&Account) -> &'static str + Sync,
    about: &str,
) -> Result<Plot, Problem> {
    let places: Vec<(f64, f64)> =
        exponents(WIDTHS).flat_map(|width| exponents(PUSHES).map(move |push| (width, push))).collect();
    let found = |place: &(f64, f64)| Ok(found(&report(*place, options)?));
    let labels = places.par_iter().map(found).collect::<Result<Vec<&str>, Problem>>()?;
    let mut series: Vec<Series> = Vec::new();
    for (place, label) in places.into_iter().zip(labels) {
        match series.iter_mut().find(|series| series.label == label) {
            Some(series) => series.points.push(place),
            None => series.push(Series { label: label.to_owned(), points: vec![place], line: Line::Marks }),
        }
    }
    Ok(Plot {
        title: title.to_owned(),
        x: logarithmic("width of the domain, D/s"),
        y: logarithmic("mean push of a record, p·d/s"),
        series,
        caption: caption([SETTING, about]),
    })
}

fn exponents((from, to, count): (f64, f64, u32)) -> impl Iterator<Item = f64> + Clone {
    (0..count).map(move |i| from + (to - from) * f64::from(i) / f64::from(count - 1))
}

fn report((width, push): (f64, f64), options: &Options) -> Result<Account, Problem> {
    let displacement = 10f64.powf(push) / PROBABILITY;
    // d = 2ηL/b with η = 1 and b = 10.
    let lipschitz = 5.0 * displacement;
    let run = run(&format!(
        "[run]\nalgorithm = \"dp-sgd\"\nrecords = 1000\nsteps = 100000\nbatch-size = 10\n\
         order = \"without-replacement\"\nrelease = \"last\"\nneighbours = \"replace-one\"\n[update]\n\
         learning-rate = 1.0\nlipschitz = {lipschitz:?}\niterate-noise = 1.0\n[loss]\nconvex = true\n\
         smoothness = 1.0\n[domain]\ndiameter = {:?}\n",
        10f64.powf(width)
    ))?;
    Ok(run.account_by(Question::EpsilonAt(Delta::new(1e-5)?), options))
}
