//! The weak triangle inequality E_{γ₁γ₂}(P‖Q) ≤ E_{γ₁}(P‖S) + γ₁·E_{γ₂}(S‖Q), at the best γ₁.

use super::nodes::{ABOVE, ln_of, place_below};
use super::table::Table;
use crate::numeric::UNIT_ROUNDOFF;

/// Where the search for the best γ₁ starts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hint {
    node: usize,
    cell: usize,
}

/// ln of the least of a(γ₁) + γ₁·b(γ₂) and b(γ₂) + γ₂·a(γ₁) over γ₁γ₂ = e^ε with a node γ₁ of `a`, or γ₂ = 1, as found
/// by a search that starts at the hint, which is that of a smaller ε. Every choice gives a bound.
///
/// All terms are positive, and each is off by a few units of itself. γ₂ is rounded down, so that γ₁γ₂ is at most e^ε.
pub(super) fn least(a: &Table, b: &Table, epsilon: f64, hint: &mut Hint) -> f64 {
    const BELOW: f64 = 1.0 - 4.0 * UNIT_ROUNDOFF;
    let count = a.epsilons().partition_point(|&node| node <= epsilon).max(1);
    let (places, heights, others) = (a.epsilons().places(), a.heights(), b.heights());
    let x = place_below(epsilon);
    let mut cell = hint.cell;
    let mut sum = |j: usize| {
        let (first, height) = (places[j], heights[j]);
        // At 0, γ₁ is at most e^ε, as the node is.
        let second = ((x - first) / (1.0 + first) * BELOW).max(0.0);
        let other = b.epsilons().height_at(others, second, &mut cell);
        (height + (1.0 + first) * other).min(other + (1.0 + second) * height)
    };
    let mut best = hint.node.min(count - 1);
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
    *hint = Hint { node: best, cell };
    // Giving all of ε to `a` is not one of its nodes.
    let all = a.epsilons().height_at(heights, x, &mut (count - 1)) + others[0];
    ln_of(value.min(all) * ABOVE)
}
