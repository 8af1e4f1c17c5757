//! Rényi divergences from a privacy profile.
//!
//! With the generator t^α − 1 the integral representation of f-divergences (CED eq. 17) is,
//! in ε = ln γ,
//!
//! ```text
//! e^((α−1)D_α(P‖Q)) = 1 + α(α−1)·∫₀^∞ [ e^((α−1)ε)·δ_PQ(ε) + e^(−αε)·δ_QP(ε) ] dε.
//! ```
//!
//! δ is convex in γ = e^ε and decreases, so between two nodes it lies below its chord, and above the extended chord of
//! the next two nodes. Multiplied by e^(kε), both are integrated in closed form.

use crate::numeric::Boundary;
use crate::profile::{Direction, PrivacyProfile};
use crate::{Enclosure, Epsilon};

/// The number of cells of equal width …
const CELLS: usize = 1 << 12;
/// … up to where the integrand has fallen to e to this power, or at most to …
const LN_NEGLIGIBLE: f64 = -36.0;
/// … this ε.
const LAST: f64 = 1e6;
/// Losses above this are not considered.
const LARGEST_LOSS: f64 = 1e100;

/// D_α of two laws, in one direction, from their profile in both.
///
/// # Guarantee
/// The upper end holds for every pair of laws with the given profile, or a smaller one, whose privacy losses above
/// 1e100, if any, have probability 0; it is ∞ where δ(ε) is not found to fall faster than e^(−(α−1)ε) up to there. The
/// lower end is that of the integral of the profile's lower ends, if the profile is convex in e^ε. Where the divergence
/// is moderate they agree to about 1e-5. For orders outside 1 < α < ∞ the result carries no information.
///
/// ```
/// use dobrushin::profile::{ConcentratedCurve, Direction, RenyiProfile, renyi_of_profile};
/// use dobrushin::Enclosure;
/// // From an order-wise bound to a profile and back costs a little: D_2 of two Gaussians is 1.
/// let profile = RenyiProfile::new(ConcentratedCurve::gaussian(Enclosure::ONE));
/// let back = renyi_of_profile(&profile, Direction::Forward, 2.0);
/// assert!(back.upper() > 1.0 && back.upper() < 2.0);
/// ```
pub fn renyi_of_profile(profile: &dyn PrivacyProfile, direction: Direction, order: f64) -> Enclosure {
    if !(order > 1.0 && order < f64::INFINITY) {
        return Enclosure::ENTIRE;
    }
    let alpha = Enclosure::from(order);
    let below = alpha - Enclosure::ONE;
    let growing = Part { profile, direction, rate: below };
    let falling = Part { profile, direction: direction.reversed(), rate: -alpha };
    let end = growing.end().max(falling.end());
    let step = short(end / CELLS as f64);
    let (growing_nodes, falling_nodes) = (growing.nodes(step), falling.nodes(step));
    // The largest value of the integrand, used so that nothing overflows.
    let largest =
        growing_nodes.iter().chain(&falling_nodes).fold(0.0_f64, |most, node| most.max(node.upper()));
    if largest == f64::INFINITY {
        return Enclosure::ZERO.hull(Enclosure::INFINITE);
    }
    let shift = Enclosure::from(largest);
    let inside =
        growing.integral(step, shift, &growing_nodes) + falling.integral(step, shift, &falling_nodes);
    let rest = growing.rest(step * CELLS as f64, shift) + falling.rest(step * CELLS as f64, shift);
    let integral = Enclosure::between(inside.lower(), (inside + rest).upper());
    let moment = shift + ((-shift).exp() + alpha * below * integral).ln();
    (moment / below).positive_part()
}

/// One of the two terms of the integral, e^(kε)·δ(ε).
struct Part<'a> {
    profile: &'a dyn PrivacyProfile,
    direction: Direction,
    /// k.
    rate: Enclosure,
}

impl Part<'_> {
    /// ln of the integrand.
    fn ln_at(&self, epsilon: f64) -> Enclosure {
        let ln_delta = |at: Epsilon| self.profile.log_delta_of(self.direction, at).min(Enclosure::ZERO);
        let ln_delta = Epsilon::new(epsilon).map_or(Enclosure::ENTIRE, ln_delta);
        if ln_delta == -Enclosure::INFINITE {
            ln_delta
        } else {
            ln_delta + self.rate * Enclosure::from(epsilon)
        }
    }

    /// An ε beyond which little remains.
    fn end(&self) -> f64 {
        let negligible = |epsilon: f64| self.ln_at(epsilon).upper() <= LN_NEGLIGIBLE;
        let mut end = 1.0 / 1024.0;
        while !negligible(end) && end < LAST {
            end *= 2.0;
        }
        Boundary { holds: end, fails: end / 2.0 }.halved(6, negligible).holds
    }

    fn nodes(&self, step: f64) -> Vec<Enclosure> {
        (0..=CELLS).map(|node| self.ln_at(node as f64 * step)).collect()
    }

    /// ∫ over all cells, times e^(−shift), from ln of the integrand at the nodes.
    fn integral(&self, step: f64, shift: Enclosure, nodes: &[Enclosure]) -> Enclosure {
        let (k, h, one) = (self.rate, Enclosure::from(step), Enclosure::ONE);
        let weights: Vec<Enclosure> = nodes.iter().map(|&node| (node - shift).exp()).collect();
        // ∫₀^h e^(ku) du, and the same with the share (e^u − 1)/(e^h − 1) of the right node.
        let whole = (k * h).exp_m1() / k;
        let right = ((((k + one) * h).exp_m1() / (k + one) - whole) / h.exp_m1()).positive_part();
        let left = (whole - right).positive_part();
        // Weights at the next node and the one after, without their own e^(kh).
        let (back, twice) = ((-(k * h)).exp(), (Enclosure::from(-2.0) * k * h).exp());
        let upper: Enclosure = weights.windows(2).map(|w| w[0] * left + w[1] * back * right).sum();
        let lower: Enclosure = weights
            .windows(3)
            .map(|w| {
                let fall = (w[1] * back - w[2] * twice).positive_part();
                w[1] * back * whole + fall * (-h).exp() * left
            })
            .sum();
        Enclosure::between(lower.lower().min(upper.upper()), upper.upper())
    }

    /// A bound on ∫ beyond `start`, times e^(−shift): δ decreases, so beyond a it is at most δ(a).
    fn rest(&self, start: f64, shift: Enclosure) -> Enclosure {
        if self.rate.upper() < 0.0 {
            return (self.ln_at(start) - shift).exp() / -self.rate;
        }
        let (mut from, mut total) = (start, Enclosure::ZERO);
        while from < LARGEST_LOSS {
            let to = from * 1.125;
            let ln_first = self.ln_at(from);
            if ln_first == -Enclosure::INFINITE {
                break;
            }
            let ln_cell = ln_first + self.rate * (Enclosure::from(to) - Enclosure::from(from)) - shift;
            total = total + ln_cell.exp() / self.rate;
            from = to;
        }
        total
    }
}

/// A number with 30 significant bits, at least x: its multiples by up to 2²³ are exact.
fn short(x: f64) -> f64 {
    f64::from_bits((x.to_bits() | ((1 << 23) - 1)) + 1)
}
