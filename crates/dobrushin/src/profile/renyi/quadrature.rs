//! The moments of the likelihood ratio of a Poisson-subsampled Gaussian, at every real order.
//!
//! With x ~ N(0, 1), t = e^(rx − r²/2), L = 1 − q + qt and y = L − 1, so that E t = 1 and E y = 0, the moments of order
//! α > 1 are E L^p with p = α (forward) or p = 1 − α (reverse). They may be within 1e-20 of 1, so the integrand is
//!
//! ```text
//! E L^p − 1 = ∫ φ(x)·g(x) dx,   g = L^p − 1 − p·y ≥ 0   (L^p is convex in L).
//! ```
//!
//! # Guarantee
//! For f analytic in |Im x| < a, tending to 0 there as |Re x| → ∞, with
//! ∫|f(x + ib)|dx ≤ M for |b| < a, the trapezoidal sum with step h is within
//! 2M/(e^(2πa/h) − 1) of ∫f (Trefethen, Weideman, The exponentially convergent trapezoidal
//! rule, 2014, Theorem 5.1). Here L does not vanish for |Im x| < π/r, so its powers are
//! analytic; |φ(x + ib)| = φ(x)e^(b²/2); t is multiplied by e^(iθ), θ = rb; and
//!
//! ```text
//! |1 − q + q t e^(iθ)|  ≤ L,   ≥ L·cos(θ/2) for |θ| < π,   ≥ 1 − q for |θ| ≤ π/2,
//! ```
//!
//! the second because (u + v)² − 4uv·sin²(θ/2) ≥ (u + v)²cos²(θ/2). With
//! |g| ≤ |L^p| + 1 + |p|q(t + 1) the error is at most B·(I + 2 + 2|p|q), I the integral and
//!
//! ```text
//! B = 2G·e^(a²/2)/(e^(2πa/h) − 1),   G = 1 forward,   min(cos(ra/2)^(1−α), (1−q)^(1−α)) reverse.
//! ```
//!
//! The terms of the sum are positive, and each is bounded together with its rounding error. A
//! range of nodes is left out if a bound on its terms is negligible: there p·ln L lies below a
//! chord (it is convex for p > 0) or a tangent (it is concave for p < 0), and −x²/2 plus a line
//! has its maximum in closed form. Beyond the first and the last node the terms decrease
//! geometrically.

use super::integrand::Integrand;
use crate::Enclosure;
use crate::numeric::UNIT_ROUNDOFF;
use crate::numeric::elementary::{exp, exp_m1, ln, ln_1p};
use crate::profile::Direction;

/// The error of the sum, the nodes left out, and the reference that they are relative to, as −ln.
const DIGITS: f64 = 36.0;
/// The same where only a hint is needed.
const FEWER_DIGITS: f64 = 20.0;
/// Beyond this the rounding of the exponents is no longer small.
const LARGEST_LOGARITHM: f64 = 1e10;
/// A smaller step is not worth its nodes.
const SMALLEST_STEP: f64 = 1e-3;
/// With more nodes than this, the sum is abandoned.
const MOST_NODES: i64 = 1 << 22;
/// Ranges with at most this many nodes are not split.
const LEAF: i64 = 24;
/// Multiples of the step by up to this number are exact.
const LAST_NODE: f64 = (1u64 << 44) as f64;
/// 1/√(2π).
const INVERSE_SQRT_2PI: f64 = 0.398_942_280_401_432_677_94;

/// ln E L^p, for 0 < q < 1 and r > 0; `None` if the quadrature would need too many nodes.
pub(super) fn log_moment(direction: Direction, q: f64, r: f64, alpha: f64) -> Option<Enclosure> {
    let integrand = Integrand::new(direction, q, r, alpha)?;
    let rule = Rule::new(&integrand, DIGITS)?;
    Some(rule.enclose::<true>(&integrand)).filter(|moment| moment.upper() < f64::INFINITY)
}

/// The same, to about seven digits and without a guarantee.
pub(super) fn log_moment_roughly(direction: Direction, q: f64, r: f64, alpha: f64) -> Option<f64> {
    let integrand = Integrand::new(direction, q, r, alpha)?;
    let rule = Rule::new(&integrand, FEWER_DIGITS)?;
    Some(rule.enclose::<false>(&integrand).midpoint())
}

/// The nodes that are summed, and the distance of the sum from the integral.
struct Rule {
    /// The step: a number with few digits, so that its multiples are exact.
    step: f64,
    /// ln B.
    ln_error: f64,
    /// All terms are multiplied by e^(−shift).
    shift: f64,
    /// The first and the last node.
    ends: (i64, i64),
    /// The decay of terms beyond the ends: at least as fast as e^(−decay·|x − end|).
    decay: f64,
    /// Ranges whose terms sum to less than e to this power are left out.
    ln_negligible: f64,
}

/// The sum so far.
#[derive(Default)]
struct Total {
    sum: f64,
    units: f64,
    nodes: i64,
    /// A bound on what was left out.
    rest: f64,
}

impl Rule {
    fn new(integrand: &Integrand, digits: f64) -> Option<Self> {
        let Integrand { forward, q, r, below, alpha, power, .. } = *integrand;
        let most = if forward { 0.5 * alpha * below * r * r } else { -below * ln_1p(-q) };
        if most > LARGEST_LOGARITHM {
            return None;
        }
        let shift = if most > 3.0 { integrand.ln_peak().max(0.0) } else { 0.0 };
        // The approximate ln of the integral, over e^shift.
        let ln_size =
            if shift > 0.0 { 0.0 } else { ln(0.5 * alpha * below * q * q * (r * r).min(1.0)).min(0.0) };
        let target = digits + (ln(2.0 + 2.0 * power.abs() * q) - shift).max(0.0) - ln_size;
        let (width, growth) = strip(integrand, target);
        let angle = 2.0 * std::f64::consts::PI * width;
        let step = short(angle / (target + width * width / 2.0 + growth));
        if step.is_nan() || step < SMALLEST_STEP {
            return None;
        }
        // The rounding is of order 1e-13, and e^(2πa/h) is above e^20.
        let ln_error = (width * width / 2.0 + growth - angle / step) * (1.0 - 1e-9) + 0.6932;
        let decay = (2.0 * (target + 6.0)).sqrt();
        let (from, to) = if forward { (-decay, alpha * r + decay) } else { (-below * r - decay, r + decay) };
        if (to - from) / step > LAST_NODE {
            return None;
        }
        let ends = ((from / step).floor() as i64 - 1, (to / step).ceil() as i64 + 1);
        let ln_negligible = ln_size - digits - 2.0 - ln(step);
        Some(Self { step, ln_error, shift, ends, decay, ln_negligible })
    }

    fn at(&self, node: i64) -> f64 {
        node as f64 * self.step
    }

    /// ln(1 + I).
    fn enclose<const CERTAIN: bool>(&self, integrand: &Integrand) -> Enclosure {
        let mut total = Total::default();
        self.add::<CERTAIN>(integrand, &mut total, self.ends.0, self.ends.1);
        for end in [self.ends.0, self.ends.1] {
            let last = self.at(end);
            let ln_term = integrand.ln_majorant(last, last.next_up()) - self.shift;
            total.rest += exp(ln_term) / exp_m1(self.decay * self.step) * (1.0 + 1e-9);
        }
        // A sum of n terms has n units; terms that underflowed are below 1e-250.
        let nodes = total.nodes as f64;
        let lost = 1.25 * UNIT_ROUNDOFF * (total.units + nodes * total.sum) + nodes * 1e-250;
        let sum = Enclosure::between(
            (total.sum - lost).next_down().max(0.0),
            (total.sum + lost + total.rest * (1.0 + 1e-9)).next_up(),
        );
        let constant = Enclosure::between(INVERSE_SQRT_2PI.next_down(), INVERSE_SQRT_2PI.next_up());
        let shrinkage = Enclosure::from(-self.shift).exp();
        let relative = Enclosure::from(self.ln_error).exp().upper();
        let slack = Enclosure::from(2.0 + 2.0 * integrand.power.abs() * integrand.q) * shrinkage;
        let error = Enclosure::between(-relative, relative);
        // |S − I| ≤ B(I + slack): I is between (S ∓ B·slack)/(1 ± B).
        let integral =
            (sum * Enclosure::from(self.step) * constant + error * slack) / (Enclosure::ONE + error);
        let integral = integral.positive_part();
        if self.shift == 0.0 {
            return integral.ln_1p();
        }
        Enclosure::from(self.shift) + (integral + shrinkage).ln()
    }

    /// Adds the terms of the nodes from `first` to `last`.
    fn add<const CERTAIN: bool>(&self, integrand: &Integrand, total: &mut Total, first: i64, last: i64) {
        let count = last - first + 1;
        if total.nodes > MOST_NODES {
            total.rest = f64::INFINITY;
            return;
        }
        if count > 1 {
            let ln_sum = ln(count as f64) + integrand.ln_majorant(self.at(first), self.at(last)) - self.shift;
            if ln_sum < self.ln_negligible {
                total.rest += exp(ln_sum) * (1.0 + 1e-9);
                return;
            }
        }
        if count > LEAF {
            let middle = i64::midpoint(first, last);
            self.add::<CERTAIN>(integrand, total, first, middle);
            self.add::<CERTAIN>(integrand, total, middle + 1, last);
            return;
        }
        for node in first..=last {
            let term = integrand.term::<CERTAIN>(self.at(node), self.shift);
            total.sum += term.value;
            total.units += term.units;
        }
        total.nodes += count;
    }
}

/// Half the width of a strip, and ln G: the choice that allows the larger step.
fn strip(integrand: &Integrand, target: f64) -> (f64, f64) {
    let Integrand { forward, q, r, below, .. } = *integrand;
    let entire = (2.0 * target).sqrt();
    // Less than π.
    let pole = 3.125 / r;
    if forward {
        return (entire.min(pole), 0.0);
    }
    let step = |(width, growth): (f64, f64)| width / (target + width * width / 2.0 + growth);
    // cos(x) ≥ 1 − x²/2, for x = ra/2 ≤ 1.2.
    let narrow = (entire / (1.0 + below * r * r / 4.0).sqrt()).min(2.4 / r);
    let angle = r * narrow / 2.0;
    let by_angle = (narrow, -below * ln_1p(-angle * angle / 2.0));
    let by_rate = (entire.min(pole / 2.0), -below * ln_1p(-q));
    if step(by_angle) > step(by_rate) { by_angle } else { by_rate }
}

/// A number with 8 significant bits, at most x and more than 0.99x.
fn short(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & !((1 << 45) - 1))
}
