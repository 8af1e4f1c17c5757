//! Which analysis wins, depending on the width of the domain and on how far a record pushes.

use super::curves::{caption, run};
use crate::plot::{HeatMap, Regions};
use crate::problem::Problem;
use dobrushin::Delta;
use dobrushin::account::{Account, Options, Question};
use dobrushin::numeric::decimal;
use rayon::prelude::*;

/// D/s and p·d/s as exponents of 10, and the number of each.
const WIDTHS: (f64, f64, u32) = (-0.5, 3.0, 8);
const PUSHES: (f64, f64, u32) = (-5.0, -1.0, 9);
/// p.
const PROBABILITY: f64 = 0.01;
/// An ε from here on is useless.
const USELESS: f64 = 30.0;

const SETTING: &str = "Convex losses on a set of diameter D, batches of 1 % without replacement (p = 0.01), iterate's noise s; \
                       one record moves an update by d.";

/// The winner among all analyses, and by how much it wins.
pub fn draw() -> Result<HeatMap, Problem> {
    map(
        (
            "Where hidden iterates help: ε at δ = 1e-5 after 100 000 steps",
            "Which analysis gives it, and its gain",
        ),
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
pub fn single() -> Result<HeatMap, Problem> {
    let only =
        vec!["composition", "nonconvex-published", "contraction", "shift", "ceiling", "shift-subsampled"];
    map(
        ("ε of the best single idea, at δ = 1e-5 after 100 000 steps", "Which idea gives it"),
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

/// ε at every place, and the winner there.
fn map(
    (title, winners): (&str, &str),
    options: &Options,
    found: impl Fn(&Account) -> &'static str + Sync,
    about: &str,
) -> Result<HeatMap, Problem> {
    // Pushes grow upwards.
    let pushes: Vec<f64> = exponents(PUSHES).collect::<Vec<f64>>().into_iter().rev().collect();
    let places: Vec<(f64, f64)> =
        pushes.iter().flat_map(|&push| exponents(WIDTHS).map(move |width| (width, push))).collect();
    let found = |place: &(f64, f64)| {
        let report = report(*place, options)?;
        Ok((report.guarantee().ok().map(|best| best.answer.value.upper()), found(&report).to_owned()))
    };
    let cells = places.par_iter().map(found).collect::<Result<Vec<(Option<f64>, String)>, Problem>>()?;
    let columns = WIDTHS.2 as usize;
    let label = |exponent: f64| decimal::nearest(10f64.powf(exponent), 2);
    Ok(HeatMap {
        title: title.to_owned(),
        x: "width of the domain, D/s".to_owned(),
        y: "mean push of a record, p·d/s".to_owned(),
        value: "ε at most".to_owned(),
        columns: exponents(WIDTHS).map(label).collect(),
        rows: pushes.into_iter().map(label).collect(),
        cells: cells.chunks(columns).map(|row| row.iter().map(|cell| cell.0).collect()).collect(),
        contours: true,
        regions: Some(Regions {
            title: winners.to_owned(),
            names: cells
                .chunks(columns)
                .map(|row| row.iter().map(|cell| Some(cell.1.clone())).collect())
                .collect(),
        }),
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
