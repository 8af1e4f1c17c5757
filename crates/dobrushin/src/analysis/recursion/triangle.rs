//! The weak triangle inequality E_{γ₁γ₂}(P‖Q) ≤ E_{γ₁}(P‖S) + γ₁·E_{γ₂}(S‖Q), at the best γ₁.

use super::logs::{ln_sum, raised};
use super::table::Table;
use crate::numeric::UNIT_ROUNDOFF;

/// ln of the least of a(γ₁) + γ₁·b(γ₂) and b(γ₂) + γ₂·a(γ₁) over γ₁γ₂ = e^ε with a node γ₁ of `a`, as far as the
/// search finds it: every choice is a bound.
pub(super) fn least(a: &Table, b: &Table, epsilon: f64) -> f64 {
    let count = a.epsilons().partition_point(|&node| node <= epsilon).max(1);
    let at = |j: usize| {
        let first = a.epsilons()[j];
        // Rounded down, so that γ₁γ₂ is at most γ.
        let second = ((epsilon - first) * (1.0 - 2.0 * UNIT_ROUNDOFF)).max(0.0);
        (a.lns()[j], b.at(second), first, second)
    };
    let sum = |j: usize| {
        let (ln_a, ln_b, first, second) = at(j);
        ln_sum(ln_a, first + ln_b).min(ln_sum(ln_b, second + ln_a))
    };
    // a falls in γ₁ and b rises: near where they cross.
    let (mut low, mut high) = (0, count - 1);
    while low < high {
        let middle = usize::midpoint(low, high);
        let (ln_a, ln_b, _, _) = at(middle);
        if ln_a > ln_b {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    let (mut best, mut value) = (low, sum(low));
    let mut stride = (count / 8).clamp(1, 16);
    while stride > 0 {
        let better = [best.checked_sub(stride), Some(best + stride).filter(|&j| j < count)]
            .into_iter()
            .flatten()
            .map(|j| (sum(j), j))
            .filter(|(there, _)| *there < value)
            .min_by(|x, y| x.0.total_cmp(&y.0));
        match better {
            Some((there, j)) => (value, best) = (there, j),
            None => stride /= 2,
        }
    }
    // ε₁ + ln b was rounded once more.
    raised(value, value)
}
