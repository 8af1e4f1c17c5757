//! NCV Figure 2: DP-SGD with weight decay, without projection.

use super::curves::{analysis, decades, log10, logarithmic, run};
use super::published::Regularised;
use crate::plot::{Line, Plot, Series};
use crate::problem::Problem;
use dobrushin::Epsilon;
use dobrushin::run::Run;
use rayon::prelude::*;
use std::num::NonZeroU32;

/// The parameters of the figure; the paper does not give the dimension.
pub fn setting(decay: f64, dimension: NonZeroU32) -> Regularised {
    Regularised { push: 0.1, noise: 5.0, rate: 0.001, decay, dimension }
}

/// The same parameters as a run.
pub fn at(setting: &Regularised, steps: u64) -> Result<Run, Problem> {
    let Regularised { push, noise, decay, dimension, .. } = setting;
    run(&format!(
        "[run]\nalgorithm = \"dp-sgd\"\nrecords = 1000\nsteps = {steps}\nbatch-size = 1\norder = \"without-replacement\"\n\
         release = \"last\"\nneighbours = \"replace-one\"\n[update]\nlearning-rate = {push}\nclip-norm = 1.0\n\
         iterate-noise = {noise:?}\nweight-decay = {decay}\n[domain]\ndimension = {dimension}\n"
    ))
}

pub fn draw(decay: f64) -> Result<Plot, Problem> {
    let epsilon = Epsilon::new(5.0)?;
    let setting = setting(decay, NonZeroU32::MIN);
    let steps = decades(1000);
    let place = |steps: u64| (steps as f64).log10();
    let printed = |&steps: &u64| {
        let count = u32::try_from(steps).unwrap_or(u32::MAX);
        (place(steps), setting.delta(count, epsilon).min(1.0).log10())
    };
    let curve = |id: &'static str, label: &str| -> Result<Series, Problem> {
        let point = |&steps: &u64| {
            let profile = analysis(&at(&setting, steps)?, id)?;
            Ok((place(steps), log10(profile.log_delta(epsilon))))
        };
        let points = steps.par_iter().map(point).collect::<Result<Vec<_>, Problem>>()?;
        Ok(Series::new(label, points, Line::Solid))
    };
    let points = steps.par_iter().map(printed).collect();
    let published = Series::new("Theorem 3, published (wrong, E1)", points, Line::Dashed);
    let shift = curve("shift", "here (shift)")?;
    let highest = shift.points.iter().fold(f64::NEG_INFINITY, |most, point| most.max(point.1));
    let corrected = curve("regularized-published", "Theorem 3, corrected")?;
    Ok(Plot {
        title: format!("Regularised DP-SGD, λ = {decay}, δ at ε = 5 (NCV Figure 2)"),
        x: logarithmic("steps"),
        y: logarithmic("δ"),
        series: [shift].into_iter().filter(|_| highest >= FLOOR).chain([published, corrected]).collect(),
        caption: vec![
            "C = 1, η = 0.1, σ = 5 on the iterate, p = 0.001 (one of 1000 records a step, without replacement), κ at its best. \
             The paper does not say the dimension; here d = 1."
                .to_owned(),
            format!(
                "The proof has iterates in a ball and needs its diameter, the theorem has its radius (E1); and b/(n − b) where \
                 b/n suffices (E2). Whether the bound converges was left open: the shift does, whatever the dimension, and is \
                 at most 1e{:.0} for every number of steps here{}.",
                highest.ceil(),
                if highest < FLOOR { ", too small to be drawn" } else { "" }
            ),
        ],
    })
}

/// The smallest exponent that is drawn.
pub const FLOOR: f64 = -30.0;
