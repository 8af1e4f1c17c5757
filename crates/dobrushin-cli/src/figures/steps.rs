//! ε against the number of steps: composition, the papers, and what holds for hidden iterates.

use super::curves::{caption, decades, logarithmic, run};
use crate::plot::{Line, Plot, Series};
use crate::problem::Problem;
use dobrushin::Delta;
use dobrushin::account::{Account, Question};
use rayon::prelude::*;

/// A run whose number of steps is varied.
pub struct Setting {
    title: &'static str,
    /// The run file, without the number of steps.
    run: &'static str,
    /// Analyses beside composition and the best, with their names in the legend.
    others: &'static [(&'static str, &'static str)],
    about: &'static str,
}

/// The run of NCV Figure 1.
pub const NONCONVEX: Setting = Setting {
    title: "Not convex, projected: D = 3, 2ηC = 0.04, p = 0.001",
    run: "algorithm = \"dp-sgd\"\nrecords = 1000\nbatch-size = 1\norder = \"poisson\"\n[update]\nlearning-rate = 0.01\n\
          clip-norm = 2.0\niterate-noise = 1.0\ndivide-by = \"actual\"\n[domain]\ndiameter = 3.0\n",
    others: &[("nonconvex-published", "Asoodeh and Diaz, Theorem 1"), ("shift", "shift")],
    about: "Clipped gradients of any losses. Lengths are in units of the iterate's noise.",
};

/// Convex losses, small batches.
pub const CONVEX: Setting = Setting {
    title: "Convex, projected, batches of 1 %: D = 3.33, d = 0.167",
    run: "algorithm = \"dp-sgd\"\nrecords = 1000\nbatch-size = 10\norder = \"without-replacement\"\n[update]\n\
          learning-rate = 0.5\nlipschitz = 1.6666666666666667\niterate-noise = 1.0\n[loss]\nconvex = true\n\
          smoothness = 1.0\n[domain]\ndiameter = 3.3333333333333335\n",
    others: &[
        ("nonconvex-published", "Asoodeh and Diaz, Theorem 2"),
        ("shift-renyi", "Feldman et al., Rényi"),
        ("shift-subsampled", "shift of sampled steps"),
    ],
    about: "10 of 1000 records a step, without replacement; η = 0.5, L = 1.67, β = 1. d is how far one record moves an update.",
};

/// Convex losses, all records in each step.
pub const FULL_BATCH: Setting = Setting {
    title: "Convex, projected, full batches: D = 3.33, d = 0.05",
    run: "algorithm = \"gradient-descent\"\nrecords = 100\n[update]\nlearning-rate = 0.5\nlipschitz = 5.0\n\
          iterate-noise = 1.0\n[loss]\nconvex = true\nsmoothness = 1.0\n[domain]\ndiameter = 3.3333333333333335\n",
    others: &[("shift-renyi", "shift, Rényi"), ("shift", "shift")],
    about: "All of 100 records in every step; η = 0.5, L = 5, β = 1. d is how far one record moves an update.",
};

/// Strongly convex losses, no projection.
pub const STRONGLY_CONVEX: Setting = Setting {
    title: "Strongly convex, batches of 1 %: c = 0.99, d = 0.1",
    run: "algorithm = \"dp-sgd\"\nrecords = 1000\nbatch-size = 10\norder = \"without-replacement\"\n[update]\n\
          learning-rate = 0.1\nlipschitz = 5.0\niterate-noise = 1.0\n[loss]\nconvex = true\nsmoothness = 1.0\n\
          strong-convexity = 0.1\n",
    others: &[("shift", "shift"), ("shift-subsampled", "shift of sampled steps")],
    about: "10 of 1000 records a step, without replacement; η = 0.1, L = 5, β = 1, ρ = 0.1, no projection. An update brings \
            iterates together by c = 1 − ηρ.",
};

/// The largest number of steps.
const MOST: u64 = 1_000_000;
/// Every other one of the steps 1, 2, 5, 10, … is enough.
const STRIDE: usize = 2;

pub fn draw(setting: &Setting) -> Result<Plot, Problem> {
    let steps: Vec<u64> = decades(MOST).into_iter().step_by(STRIDE).collect();
    let question = Question::EpsilonAt(Delta::new(1e-5)?);
    let report = |&steps: &u64| {
        let header = format!("[run]\nsteps = {steps}\nrelease = \"last\"\nneighbours = \"replace-one\"\n");
        Ok(run(&(header + setting.run))?.account(question))
    };
    let reports = steps.par_iter().map(report).collect::<Result<Vec<Account>, Problem>>()?;
    let curve = |label: &str, line: Line, value: &dyn Fn(&Account) -> Option<f64>| {
        let points = steps.iter().zip(&reports).filter_map(|(&steps, report)| {
            let value = value(report)?;
            (value > 0.0).then(|| ((steps as f64).log10(), value.log10()))
        });
        Series::new(label, points.collect(), line)
    };
    let of = |id: &'static str| move |report: &Account| report.answer(id).map(|answer| answer.value.upper());
    let best = |report: &Account| report.guarantee().ok().map(|best| best.answer.value.upper());
    let mut series = vec![
        curve("here, the best of all", Line::Guarantee, &best),
        curve("composition", Line::Dashed, &of("composition")),
    ];
    for (id, label) in setting.others {
        series.push(curve(label, Line::Dashed, &of(id)));
    }
    Ok(Plot {
        title: setting.title.to_owned(),
        x: logarithmic("steps"),
        y: logarithmic("ε at δ = 10⁻⁵"),
        series,
        caption: caption([
            setting.about,
            "Composition counts every iterate as published and grows for ever. If only the last one is, the guarantee comes \
             to rest.",
        ]),
    })
}
