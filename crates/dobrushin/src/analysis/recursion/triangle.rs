//! The weak triangle inequality E_{γ₁γ₂}(P‖Q) ≤ E_{γ₁}(P‖S) + γ₁·E_{γ₂}(S‖Q), at the best γ₁.

use super::super::logs::{ln_sum, raised};
use super::table::Table;
use crate::numeric::UNIT_ROUNDOFF;

/// ln of the least of a(γ₁) + γ₁·b(γ₂) and b(γ₂) + γ₂·a(γ₁) over γ₁γ₂ = e^ε with a node γ₁ of `a`, or γ₂ = 1, as found
/// by a search that starts at `hint`, the node for a smaller ε. Every choice gives a bound.
pub(super) fn least(a: &Table, b: &Table, epsilon: f64, hint: &mut usize) -> f64 {
    let count = a.epsilons().partition_point(|&node| node <= epsilon).max(1);
    let sum = |j: usize| {
        let (first, ln_a) = (a.epsilons()[j], a.lns()[j]);
        // Rounded down, so that γ₁γ₂ is at most γ.
        let second = ((epsilon - first) * (1.0 - 2.0 * UNIT_ROUNDOFF)).max(0.0);
        let ln_b = b.at(second);
        ln_sum(ln_a, first + ln_b).min(ln_sum(ln_b, second + ln_a))
    };
    let mut best = (*hint).min(count - 1);
    let mut value = sum(best);
    let mut stride = 2;
    while stride > 0 {
        let beside = [best.checked_sub(stride), Some(best + stride).filter(|&j| j < count)];
        let sums = beside.into_iter().flatten().map(|j| (sum(j), j));
        match sums.min_by(|x, y| x.0.total_cmp(&y.0)) {
            Some((there, j)) if there < value => {
                (value, best) = (there, j);
                stride *= 2;
            }
            _ => stride /= 2,
        }
    }
    *hint = best;
    // ε₁ + ln b was rounded once more. Giving all of ε to `a` is not one of its nodes.
    raised(value, value).min(ln_sum(a.at(epsilon), b.at(0.0)))
}
