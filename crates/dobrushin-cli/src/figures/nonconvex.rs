//! NCV Figures 1 and 3: projected DP-SGD without convexity.

use super::curves::{analysis, caption, decades, linear, log10, logarithmic, run};
use crate::plot::{Line, Plot, Series};
use crate::problem::Problem;
use dobrushin::account::Question;
use dobrushin::analysis::nonconvex_epsilon_closed_form;
use dobrushin::run::Run;
use dobrushin::{Delta, Epsilon, Positive, Probability};
use rayon::prelude::*;

/// D, C, η, σ and p of both figures.
pub const DIAMETER: f64 = 3.0;
const CLIP: f64 = 2.0;
const RATE: f64 = 0.01;
const NOISE: f64 = 1.0;
pub const PROBABILITY: f64 = 0.001;

const PARAMETERS: &str = "D = 3, C = 2, η = 0.01, σ = 1 on the iterate, p = 0.001: nothing is known of the losses but \
                          that gradients are clipped.";

/// The run of the figures; `steps` may be "any".
pub fn as_run_file(steps: &str) -> String {
    format!(
        "[run]\nalgorithm = \"dp-sgd\"\nrecords = 1000\nsteps = {steps}\nbatch-size = 1\norder = \"poisson\"\n\
         release = \"last\"\nneighbours = \"replace-one\"\n[update]\nlearning-rate = {RATE}\nclip-norm = {CLIP:?}\n\
         iterate-noise = {NOISE:?}\ndivide-by = \"actual\"\n[domain]\ndiameter = {DIAMETER:?}\n"
    )
}

/// The run for this many steps.
pub fn at(steps: u64) -> Result<Run, Problem> {
    run(&as_run_file(&steps.to_string()))
}

/// The run for every number of steps.
pub fn for_ever() -> Result<Run, Problem> {
    run(&as_run_file("\"any\""))
}

/// r = (D + 2ηC)/σ.
pub fn ratio() -> Result<Positive, Problem> {
    Ok(Positive::new((DIAMETER + 2.0 * RATE * CLIP) / NOISE)?)
}

/// Figure 1, left: δ at ε = 3.
pub fn delta() -> Result<Plot, Problem> {
    let epsilon = Epsilon::new(3.0)?;
    let steps = decades(100_000);
    let curve = |id: &'static str, label: &str, line: Line| -> Result<Series, Problem> {
        let point = |&steps: &u64| {
            let profile = analysis(&at(steps)?, id)?;
            Ok(((steps as f64).log10(), log10(profile.log_delta(epsilon))))
        };
        let points = steps.par_iter().map(point).collect::<Result<Vec<_>, Problem>>()?;
        Ok(Series::new(label, points, line))
    };
    let recursion = analysis(&for_ever()?, "recursion")?.log_delta(epsilon);
    let published = at(100_000)?.account(Question::DeltaAt(epsilon));
    let composition = published.answer("composition").and_then(|answer| answer.log_delta);
    Ok(Plot {
        title: "Projected DP-SGD, δ at ε = 3 (NCV Figure 1, left)".to_owned(),
        x: logarithmic("steps"),
        y: logarithmic("δ"),
        series: vec![
            curve("shift", "here: shift", Line::Guarantee)?,
            curve("contraction", "here: Theorem 1 by the tight curve (contraction)", Line::Solid)?,
            curve("nonconvex-published", "Theorem 1, published", Line::Dashed)?,
        ],
        caption: vec![
            PARAMETERS.to_owned(),
            format!(
                "Theorem 1 is right for batches divided by their actual number (E15). It does not use that one record moves \
                 an update by 2ηC = 0.04 only, and so even composition, which grows for ever, is far below it: δ ≤ 1e{:.0} \
                 after 100 000 steps. recursion, the guarantee here, is at most 1e{:.0} for every number of steps; neither \
                 is drawn.",
                composition.map_or(0.0, log10).ceil(),
                log10(recursion).ceil()
            ),
        ],
    })
}

/// Figure 1, right: ε at δ = 10⁻³.
pub fn epsilon() -> Result<Plot, Problem> {
    Ok(Plot {
        title: "Projected DP-SGD, ε at δ = 0.001 (NCV Figure 1, right)".to_owned(),
        x: logarithmic("steps"),
        y: linear("ε"),
        series: vec![
            ours()?,
            epsilons("contraction", "Theorem 1 by the tight curve (contraction)", Line::Solid)?,
            epsilons("nonconvex-published", "Theorem 1, published", Line::Dashed)?,
            epsilons("composition", "composition", Line::Dashed)?,
        ],
        caption: caption([
            PARAMETERS,
            "δ is as large as the probability that a record is drawn in a step, so that one step is (0, δ)-private. \
             Composition is at ε = 0 up to 3000 steps, at 1.06 after 10⁸, and passes Theorem 1 before 10⁹; the best of all \
             analyses here stays at 0.",
        ]),
    })
}

/// Figure 3: the same, with the limits of equations 22 and 23.
pub fn limits() -> Result<Plot, Problem> {
    let delta = delta_of_the_figures()?;
    let level = |label: &str, height: f64| {
        let points = [1, MOST].map(|steps| ((steps as f64).log10(), height));
        Series::new(label, points.to_vec(), Line::Dashed)
    };
    let limit = analysis(&for_ever()?, "nonconvex-published")?.epsilon(delta).upper();
    let closed = nonconvex_epsilon_closed_form(ratio()?, Probability::new(PROBABILITY)?, delta).upper();
    Ok(Plot {
        title: "Projected DP-SGD and its limits, ε at δ = 0.001 (NCV Figure 3)".to_owned(),
        x: logarithmic("steps"),
        y: linear("ε"),
        series: vec![
            ours()?,
            epsilons("nonconvex-published", "Theorem 2, published", Line::Dashed)?,
            level("its limit, equation 22", limit),
            level("its closed bound, equation 23", closed),
        ],
        caption: caption([
            PARAMETERS,
            "Theorem 2 is for batches of a fixed size; with one record in each it is the same formula as Theorem 1. Equation 22 \
             has a solution only if δ is below the limit at ε = 0, and ε is 0 otherwise; equation 23 is to be cut off at 0 \
             (E15).",
        ]),
    })
}

const MOST: u64 = 1_000_000;

fn delta_of_the_figures() -> Result<Delta, Problem> {
    Ok(Delta::new(1e-3)?)
}

fn epsilons(id: &'static str, label: &str, line: Line) -> Result<Series, Problem> {
    let delta = delta_of_the_figures()?;
    let point =
        |&steps: &u64| Ok(((steps as f64).log10(), analysis(&at(steps)?, id)?.epsilon(delta).upper()));
    let points = decades(MOST).par_iter().map(point).collect::<Result<Vec<_>, Problem>>()?;
    Ok(Series::new(label, points, line))
}

/// The guarantee.
fn ours() -> Result<Series, Problem> {
    let question = Question::EpsilonAt(delta_of_the_figures()?);
    let point = |&steps: &u64| {
        let report = at(steps)?.account(question);
        let best = report.guarantee().map_or(f64::INFINITY, |best| best.answer.value.upper());
        Ok(((steps as f64).log10(), best))
    };
    let points = decades(MOST).par_iter().map(point).collect::<Result<Vec<_>, Problem>>()?;
    Ok(Series::new("here", points, Line::Guarantee))
}
