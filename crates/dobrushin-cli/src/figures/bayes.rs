//! CED Figure 1: how well a coin's bias can be estimated from private reports.

use super::curves::{caption, levels, linear, over};
use crate::plot::{Line, Plot};
use crate::problem::Problem;
use dobrushin::{Delta, Epsilon, Gamma};
use dobrushin_local::{Coins, LocalPrivacy};
use std::num::NonZeroU32;

/// n and δ of the figure.
const TOSSES: u32 = 20;
const DELTA: f64 = 1e-4;

pub fn draw() -> Result<Plot, Problem> {
    let coins = Coins::new(NonZeroU32::new(TOSSES).unwrap_or(NonZeroU32::MIN));
    let levels = levels(4.0, 40);
    let delta = Delta::new(DELTA)?;
    let privacy = |epsilon| LocalPrivacy { epsilon, delta };
    let theorem = |epsilon: Epsilon| {
        let gamma = Gamma::from_epsilon(epsilon.get()).unwrap_or(Gamma::ONE);
        coins.risk_by_hockey_stick(privacy(epsilon).published(TOSSES), gamma).lower()
    };
    let information = coins.information();
    let corollary =
        |epsilon| coins.risk_by_information(privacy(epsilon).published(TOSSES) * information).lower();
    let corrected = |epsilon| coins.risk_by_best_hockey_stick(privacy(epsilon).published(TOSSES)).lower();
    let ours = |epsilon| coins.risk(privacy(epsilon)).lower();
    Ok(Plot {
        title: "No private estimate of a coin's bias has a smaller error (CED Figure 1)".to_owned(),
        x: linear("ε of each report"),
        y: linear("lower bound on E|Θ − estimate|"),
        series: vec![
            over(&levels, "here: with the least contraction coefficients", Line::Guarantee, ours),
            over(&levels, "Theorem 4, published", Line::Dashed, theorem),
            over(&levels, "Corollary 3, published", Line::Dashed, corollary),
            over(&levels, "Theorem 4 at the best γ (E21)", Line::Solid, corrected),
        ],
        caption: caption([
            "Θ uniform on [0, 1], n = 20 tosses of a coin that shows heads with probability Θ, each reported by a channel \
             that is (ε, δ)-locally private with δ = 1e-4. Larger is better: these are lower bounds on what any estimator \
             can reach.",
            "The paper calls Theorem 4 tighter than Corollary 3; it is not for ε above about 2.4 (E21). γ need not be e^ε, \
             and the best γ is never worse than either. Here φ_n is replaced by 1 − (1 − η)^n with \
             η = δ + (1 − δ)·tanh(ε/2), and by η_KL = δ + (1 − δ)·tanh²(ε/2) for the information.",
        ]),
    })
}
