//! How far bounds are from the truth: real chains in one dimension, whose divergence is computed exactly.

use super::curves::{caption, linear, logarithmic};
use crate::plot::{Line, Plot, Series};
use crate::problem::Problem;
use dobrushin::analysis;
use dobrushin::numeric::Random;
use dobrushin::profile::Direction;
use dobrushin::{Epsilon, Gamma};
use dobrushin_audit::instances::{self, Instance};
use rayon::prelude::*;

/// The number of chains.
const CHAINS: u64 = 400;
/// The levels ε at which they are compared.
const EPSILONS: [f64; 4] = [0.0, 0.1, 0.5, 1.0];
/// Bounds above `VACUOUS` say nothing, and exact values below `RESOLVED` are not resolved.
const VACUOUS: f64 = 0.9;
const RESOLVED: f64 = 1e-9;
/// Ratios beyond this are drawn at the end.
const MOST: f64 = 100.0;

/// The analyses that are drawn: the papers' first.
const DRAWN: [(&str, Line); 7] = [
    ("contraction-published", Line::Dashed),
    ("nonconvex-published", Line::Dashed),
    ("shift-renyi", Line::Dashed),
    ("contraction", Line::Solid),
    ("shift", Line::Solid),
    ("ceiling", Line::Solid),
    ("recursion", Line::Solid),
];

pub fn draw() -> Result<Plot, Problem> {
    let ratios: Vec<Vec<(usize, f64)>> = (0..CHAINS)
        .into_par_iter()
        .map(|index| ratios(&instances::random(&mut Random::new(9000 + index))))
        .collect();
    let series = DRAWN.iter().enumerate().map(|(index, (id, line))| {
        let mine = ratios.iter().flatten().filter(|(which, _)| *which == index).map(|(_, ratio)| *ratio);
        let mut mine: Vec<f64> = mine.collect();
        mine.sort_by(f64::total_cmp);
        let count = mine.len() as f64;
        let share =
            |(place, ratio): (usize, &f64)| (ratio.min(MOST).log10(), (place + 1) as f64 / count * 100.0);
        Series::new(*id, mine.iter().enumerate().map(share).collect(), *line)
    });
    Ok(Plot {
        title: "How tight the analyses are: bound over exact divergence".to_owned(),
        x: logarithmic("δ of the bound / exact δ, at most"),
        y: linear("share of the cases, %"),
        series: series.collect(),
        caption: caption([
            "400 random chains in one dimension (all kinds of updates that the claims allow, every pattern of uses, Gaussian \
             and Laplace noise), both laws computed exactly, at ε = 0, 0.1, 0.5 and 1. A curve that rises early is tight; each is \
             over the cases to which the analysis applies and says something (bound below 0.9, exact value above 1e-9). Ratios \
             above 100 are drawn at 100.",
            "No curve begins left of 1: a bound below the exact divergence would be wrong.",
        ]),
    })
}

/// bound/exact of each drawn analysis, wherever it says something.
fn ratios(instance: &Instance) -> Vec<(usize, f64)> {
    let laws = instance.laws();
    let exact: Vec<f64> = EPSILONS
        .iter()
        .map(|&epsilon| {
            let gamma = Gamma::from_epsilon(epsilon).unwrap_or(Gamma::ONE);
            laws.hockey_stick(Direction::Forward, gamma).lower()
        })
        .collect();
    let mut ratios = Vec::new();
    for (index, (id, _)) in DRAWN.iter().enumerate() {
        let mut theorems = analysis::about_hidden_states();
        let bound =
            theorems.find(|theorem| theorem.id() == *id).map(|theorem| theorem.apply(&instance.claimed));
        let Some(Ok(bound)) = bound else { continue };
        let profile = bound.into_profile();
        for (&epsilon, &exact) in EPSILONS.iter().zip(&exact) {
            let bound =
                Epsilon::new(epsilon).map_or(1.0, |e| profile.delta_of(Direction::Forward, e).upper());
            if exact > RESOLVED && bound < VACUOUS {
                ratios.push((index, bound / exact));
            }
        }
    }
    ratios
}
