//! CED Figure 3: one pass of projected noisy SGD that publishes the iterate of a random time.

use super::curves::{Best, analysis, levels, linear, log10, logarithmic, over, run};
use super::published::OnePass;
use crate::plot::{Line, Plot};
use crate::problem::Problem;
use dobrushin::Epsilon;

/// The parameters of the figure; the paper does not give the width of the domain.
pub fn setting(rate: f64, noise: f64) -> OnePass {
    OnePass {
        records: 100,
        rate,
        lipschitz: 1.0,
        smoothness: 1.0,
        strong_convexity: 0.0,
        noise,
        diameter: 1.0,
    }
}

/// The same parameters as a run.
pub fn as_run_file(setting: &OnePass) -> String {
    let OnePass { records, rate, lipschitz, smoothness, noise, diameter, .. } = setting;
    format!(
        "[run]\nalgorithm = \"pnsgd\"\nrecords = {records}\norder = \"once\"\nrelease = \"random-stop\"\n\
         neighbours = \"replace-one\"\n[update]\nlearning-rate = {rate}\nlipschitz = {lipschitz:?}\n\
         gradient-noise = {noise:?}\n[loss]\nconvex = true\nsmoothness = {smoothness:?}\n[domain]\n\
         diameter = {diameter:?}\n"
    )
}

pub fn draw(rate: f64, noise: f64) -> Result<Plot, Problem> {
    let setting = setting(rate, noise);
    let run = run(&as_run_file(&setting))?;
    let (sum, best) = (analysis(&run, "random-stop-published")?, Best::of(&run));
    let levels = levels(5.0, 100);
    let looser = |e: &Epsilon| setting.stopped(false, *e) > setting.stopped_by_asoodeh(*e);
    let since = levels.iter().rposition(looser).and_then(|last| levels.get(last + 1));
    let since = since.map_or("at every ε".to_owned(), |epsilon| format!("from ε = {:.2} on", epsilon.get()));
    Ok(Plot {
        title: format!("Randomly stopped PNSGD, η = {rate}, σ = {noise} (CED Figure 3)"),
        x: linear("ε"),
        y: logarithmic("δ"),
        series: vec![
            over(&levels, "here", Line::Guarantee, |e| best.log10_delta(e)),
            over(&levels, "Corollary 5, equation 35, published", Line::Dashed, |e| {
                setting.stopped(false, e).min(1.0).log10()
            }),
            over(&levels, "equation 36, published", Line::Dashed, |e| {
                setting.stopped(true, e).min(1.0).log10()
            }),
            over(&levels, "Feldman et al. by equation 38, published", Line::Dashed, |e| {
                setting.stopped_by_mironov(e).log10()
            }),
            over(&levels, "Feldman et al. by equation 39, published", Line::Dashed, |e| {
                setting.stopped_by_asoodeh(e).log10()
            }),
            over(&levels, "equation 36 as the sum that it bounds (E14)", Line::Solid, |e| {
                log10(sum.log_delta(e))
            }),
        ],
        caption: vec![
            "n = 100 records, one a step, convex losses with L = β = 1, δ of the worst record. The paper does not say how \
             wide the domain is; here dia(W) = 1."
                .to_owned(),
            "Equations 35 and 36 exceed 1 for small ε (drawn as 1) and are bounds on a sum of n terms, which is smaller \
             (E14). Equation 38 needs ε > ρ (E13), and both conversions are of a theorem with ln n, which must be the \
             harmonic number for n ≤ 2 (E8). \"here\" is the best of all analyses: the tight contraction curve, averaged \
             over the times, and the shift in hockey-stick form."
                .to_owned(),
            format!(
                "The paper says that Corollary 5 is below both conversions for all ε ≥ 2 if η is in (0.05, 0.1) and σ ≥ 3; that \
                 depends on dia(W). With 1 it is so {since}."
            ),
        ],
    })
}
