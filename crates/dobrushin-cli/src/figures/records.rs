//! Protection by position: all later steps hide early records.

use super::curves::{caption, logarithmic, run};
use crate::plot::{Line, Plot, Series};
use crate::problem::Problem;
use dobrushin::Delta;
use dobrushin::account::{Account, Question};
use rayon::prelude::*;

/// The number of records.
const RECORDS: u64 = 10_000;

const RUN: &str = "[run]\nalgorithm = \"pnsgd\"\nrecords = 10000\norder = \"once\"\nrelease = \"last\"\n\
                   neighbours = \"replace-one\"\n[update]\nlearning-rate = 0.1\nlipschitz = 1.0\ngradient-noise = 4.0\n\
                   [loss]\nconvex = true\nsmoothness = 0.25\n[domain]\ndiameter = 2.0\n";

/// The analyses that are drawn, with their names in the legend.
const DRAWN: [(&str, &str); 4] = [
    ("composition", "if every iterate were published"),
    ("shift-renyi", "Feldman et al. (Rényi)"),
    ("contraction-published", "Asoodeh, Diaz, Calmon"),
    ("shift", "shift"),
];

pub fn draw() -> Result<Plot, Problem> {
    let run = run(RUN)?;
    let question = Question::EpsilonAt(Delta::new(1e-5)?);
    let later: Vec<u64> = (0..=28).map(|i| 10f64.powf(f64::from(i) / 7.0).round() as u64 - 1).collect();
    let report = |&later: &u64| {
        let record = run.of_record((RECORDS - later).max(1))?;
        Ok(record.account(question))
    };
    let reports = later.par_iter().map(report).collect::<Result<Vec<Account>, Problem>>()?;
    let place = |later: u64| ((later + 1) as f64).log10();
    let curve = |label: &str, line: Line, value: &dyn Fn(&Account) -> Option<f64>| {
        let points = later.iter().zip(&reports).filter_map(|(&later, report)| {
            let value = value(report).filter(|value| *value > 1e-12)?;
            Some((place(later), value.log10()))
        });
        Series::new(label, points.collect(), line)
    };
    let best = |report: &Account| report.guarantee().ok().map(|best| best.answer.value.upper());
    let others = DRAWN.iter().map(|(id, label)| {
        curve(label, Line::Dashed, &|report: &Account| report.answer(id).map(|answer| answer.value.upper()))
    });
    let series =
        std::iter::once(curve("here, the best of all", Line::Guarantee, &best)).chain(others).collect();
    Ok(Plot {
        title: "One pass: how well each record is protected".to_owned(),
        x: logarithmic("record, counted from the end (1 is the last)"),
        y: logarithmic("ε at δ = 10⁻⁵"),
        series,
        caption: caption([
            "examples/pnsgd.toml: 10 000 records, one a step; η = 0.1, L = 1, σ = 4 on the gradient, β = 0.25, convex, D = 2 \
             (5 deviations of the iterate's noise).",
            "The last record has nothing to hide behind: its ε is that of a published step, and the guarantee of the run. \
             Whoever comes earlier fades; a curve ends where ε is 0.",
        ]),
    })
}
