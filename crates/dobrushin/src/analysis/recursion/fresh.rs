//! The privacy cost of a step: two neighbours' iterates that were equal before it.

use super::super::logs::ln_theta;
use super::table::Table;
use crate::Enclosure;
use crate::chain::Step;
use crate::numeric::ln_sum;
use crate::numeric::theta;

/// Bounds on ln δ below this are not distinguished.
pub(super) const FLOOR: f64 = -1000.0;

/// The relative height of chords above a table, where δ is near 1.
pub(super) const TOLERANCE: f64 = 4e-3;

/// The profile of a step, given the iterate before it for both neighbours:
///
/// ```text
/// g(γ) = p·[(1−b)·θ_g̃(d₀/s) + b·θ_g̃(d/s)],   g̃ = 1 + (γ−1)/p,   b = γ/g̃,
/// ```
///
/// where d₀ is the distance between the updates with and without the record (advanced joint convexity: Balle, Barthe,
/// Gaboardi 2018).
pub(super) fn one_step(step: &Step, noise: Enclosure) -> Table {
    let (moved, absent) = ((step.displacement / noise).upper(), step.absence / noise);
    let rate = step.participation.probability();
    if rate == Enclosure::ONE {
        return gaussian(moved);
    }
    Table::of(TOLERANCE, FLOOR, |epsilon| {
        let epsilon = Enclosure::from(epsilon);
        let level = (epsilon.exp_m1() / rate).ln_1p();
        let share = (epsilon - level).exp().min(Enclosure::ONE);
        let terms = [
            (Enclosure::ONE - share).positive_part().ln() + theta::ln_theta_range(level, absent),
            share.ln() + theta::ln_theta_range(level, Enclosure::from(moved)),
        ];
        (rate.ln() + ln_sum(&terms)).upper().min(0.0)
    })
}

/// The profile θ_ε(μ).
pub(super) fn gaussian(mu: f64) -> Table {
    Table::of(TOLERANCE, FLOOR, |epsilon| ln_theta(epsilon, mu))
}
