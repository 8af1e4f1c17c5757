//! The moments of the likelihood ratio of a Poisson-subsampled Gaussian, at every real order.
//!
//! With x ~ N(0, 1), t = e^(rx − r²/2), L = 1 − q + qt and y = L − 1, so that E t = 1 and
//! E y = 0, the moments of order α > 1 are E L^p with p = α (forward) or p = 1 − α (reverse).
//! They may be within 1e-20 of 1, so what is integrated is
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

use super::Direction;
use crate::Enclosure;
use crate::numeric::UNIT_ROUNDOFF;
use core_math::{exp, expm1, log, log1p};

/// The error of the sum, the nodes left out, and what they are relative to, as −ln.
const DIGITS: f64 = 36.0;
/// The same where only a hint is wanted.
const FEWER_DIGITS: f64 = 20.0;
/// Orders up to this minus 1 are exact, and so are the nodes.
const LARGEST_ORDER: f64 = 1e9;
/// Beyond this the step would be too small.
const LARGEST_RATIO: f64 = 100.0;
/// Beyond this the rounding of the exponents is no longer small.
const LARGEST_LOGARITHM: f64 = 1e10;
/// A smaller step is not worth its nodes.
const SMALLEST_STEP: f64 = 1e-3;
/// So many terms of the binomial series leave less than a unit where it is used.
const SERIES: usize = 17;
/// With more nodes the upper end is ∞, which has never been seen.
const MOST_NODES: i64 = 1 << 22;
/// Ranges of so few nodes are not split.
const LEAF: i64 = 24;
/// From this ln t on, products with t are taken in the exponent.
const FAR: f64 = 40.0;
/// Multiples of the step by up to this are exact.
const LAST_NODE: f64 = (1u64 << 44) as f64;
/// 1/√(2π).
const INVERSE_SQRT_2PI: f64 = 0.398_942_280_401_432_677_94;

/// ln E L^p, for 0 < q < 1 and r > 0; `None` if the quadrature would need too many nodes.
pub(super) fn log_moment(direction: Direction, q: f64, r: f64, alpha: f64) -> Option<Enclosure> {
    let integrand = Integrand::new(direction, q, r, alpha)?;
    let rule = Rule::new(&integrand, DIGITS)?;
    Some(rule.enclose::<true>(&integrand))
}

/// The same, to about seven digits and with nothing certain.
pub(super) fn log_moment_roughly(direction: Direction, q: f64, r: f64, alpha: f64) -> Option<f64> {
    let integrand = Integrand::new(direction, q, r, alpha)?;
    let rule = Rule::new(&integrand, FEWER_DIGITS)?;
    Some(rule.enclose::<false>(&integrand).midpoint())
}

/// g, and what bounds it.
struct Integrand {
    forward: bool,
    q: f64,
    r: f64,
    alpha: f64,
    /// α − 1, exactly.
    below: f64,
    /// p.
    power: f64,
    /// (p − k)/(k + 1) for k = 2, 3, …
    ratios: [f64; SERIES],
}

/// A number and a bound on its error in units of roundoff, up to a factor 1.25.
#[derive(Clone, Copy)]
struct Measured {
    value: f64,
    units: f64,
}

impl Integrand {
    fn new(direction: Direction, q: f64, r: f64, alpha: f64) -> Option<Self> {
        if !(alpha > 1.0 && alpha <= LARGEST_ORDER && r > 0.0 && r <= LARGEST_RATIO && q > 0.0 && q < 1.0) {
            return None;
        }
        let forward = direction == Direction::Forward;
        let below = alpha - 1.0;
        let power = if forward { alpha } else { -below };
        let ratios = std::array::from_fn(|i| (power - (i + 2) as f64) / (i + 3) as f64);
        Some(Self { forward, q, r, alpha, below, power, ratios })
    }

    /// ln t.
    fn exponent(&self, x: f64) -> f64 {
        self.r * (x - self.r / 2.0)
    }

    /// ln L, to about 1e-14·(1 + |ln t|).
    fn ln_ratio(&self, x: f64) -> f64 {
        let w = self.exponent(x);
        if w > 600.0 {
            w + log(self.q + (1.0 - self.q) * exp(-w))
        } else if w < 0.0 && self.q > 0.5 {
            log((1.0 - self.q) + self.q * exp(w))
        } else {
            log1p(self.q * expm1(w))
        }
    }

    /// The share qt/L.
    fn share(&self, x: f64) -> f64 {
        let odds = log(self.q / (1.0 - self.q)) + self.exponent(x);
        1.0 / (1.0 + exp(-odds))
    }

    /// About where e^(−x²/2)·L^p has its largest peak away from 0, and its logarithm there:
    /// the largest root of x = p·r·share(x), or the only one.
    fn ln_peak(&self) -> f64 {
        let mut x = if self.forward { self.power * self.r } else { 0.0 };
        let (mut start, mut end) = (self.power * self.r, 0.0);
        for _ in 0..60 {
            let goal = self.power * self.r * self.share(x);
            let next = if self.forward {
                goal
            } else {
                // The goal decreases in x.
                if goal > x {
                    start = x
                } else {
                    end = x
                };
                f64::midpoint(start, end)
            };
            let settled = (next - x).abs() < 0.01;
            x = next;
            if settled {
                break;
            }
        }
        self.power * self.ln_ratio(x) - x * x / 2.0
    }

    /// ln of a bound on e^(−x²/2)·g(x) for x between `start` and `end`.
    fn ln_majorant(&self, start: f64, end: f64) -> f64 {
        // g ≤ L^α + αq forward, and L^(1−α) + (α−1)qt reverse, where φ(x)t = φ(x − r).
        let centre = if self.forward { 0.0 } else { self.r };
        let nearest = centre.clamp(start, end) - centre;
        let rest = log(self.power.abs() * self.q) - nearest * nearest / 2.0;
        // ln L is off by 2|ln t| + 5 + ln L units, and its slope by 2|ln t| + 800, relatively.
        let doubt = 2.0 * self.exponent(start).abs().max(self.exponent(end).abs());
        let (at, value, slope, units) = if self.forward {
            let (first, last) = (self.ln_ratio(start), self.ln_ratio(end));
            let slope = self.alpha * (last - first) / (end - start);
            (start, self.alpha * first, slope, self.alpha * (doubt + 5.0 + first.abs() + last.abs()))
        } else {
            let middle = f64::midpoint(start, end);
            let l = self.ln_ratio(middle);
            let slope = -self.below * self.r * self.share(middle);
            let units = self.below * (doubt + 5.0 + l.abs()) + slope.abs() * (end - start) * (doubt + 800.0);
            (middle, -self.below * l, slope, units)
        };
        let top = slope.clamp(start, end);
        let rounding = 8.0 * UNIT_ROUNDOFF * (units + top * top) + 1e-12;
        let main = value + slope * (top - at) - top * top / 2.0 + rounding;
        // Twice the larger bounds the sum of the two.
        main.max(rest + 1e-13 * nearest * nearest) + 0.694
    }

    /// e^(−x²/2 − shift)·g(x) at an exact x.
    ///
    /// Every rounding is counted in units: ln t has a relative error of 2, t − 1 one of
    /// 2(1 + ln₊ t) + 1, and so on through the formulas, each rounded up.
    #[inline]
    fn term<const CERTAIN: bool>(&self, x: f64, shift: f64) -> Measured {
        let half = x * x / 2.0;
        let w = self.exponent(x);
        let y = self.q * Elementary::<CERTAIN>::expm1(w);
        let y_units = 2.0 * w.max(0.0) + 4.2;
        let weight = Elementary::<CERTAIN>::exp(-half - shift);
        let weight_units = 2.0 * half + shift + 3.0;
        if y.abs() <= 0.0625 && self.below * y.abs() <= 0.25 {
            // α(α−1)y²/2·[1 + (p−2)/3·y·(1 + (p−3)/4·y·(1 + …))]: the ratios of
            // neighbouring terms are at most 0.15, and 0.0625 + 0.32/k later.
            let series = self.ratios.iter().rev().fold(1.0, |series, ratio| 1.0 + ratio * y * series);
            let value = 0.5 * self.alpha * self.below * y * y * series * weight;
            return Measured { value, units: value * (2.5 * y_units + 16.0 + weight_units) };
        }
        let (l, l_units, ratio, ratio_units) = if y < -0.5 {
            // q > 1/2, so 1 − q is exact.
            let part = self.q * Elementary::<CERTAIN>::exp(w);
            let ratio = (1.0 - self.q) + part;
            let ratio_units = 3.0 + 2.0 * w.abs() * (part / ratio);
            let l = Elementary::<CERTAIN>::log(ratio);
            (l, ratio_units + l.abs(), ratio, ratio_units)
        } else if w < 600.0 {
            // |y|/(1 + y) ≤ 1.
            let l = Elementary::<CERTAIN>::log1p(y);
            (l, y_units + l.abs(), 1.0 + y, y_units + 1.0)
        } else {
            let scaled = Elementary::<CERTAIN>::log(self.q + (1.0 - self.q) * Elementary::<CERTAIN>::exp(-w));
            (w + scaled, 5.0 * w + 4.0 + 2.0 * scaled.abs(), f64::INFINITY, f64::INFINITY)
        };
        let gain = if self.forward { self.below * l } else { -self.below * l };
        if gain > 40.0 && gain > 40.0 + Elementary::<CERTAIN>::log(self.alpha) {
            return self.large::<CERTAIN>(l, l_units, half, shift);
        }
        let gained = Measured {
            value: Elementary::<CERTAIN>::expm1(gain),
            units: Elementary::<CERTAIN>::exp(gain) * (self.below * l_units + gain.abs()) * 1.01
                + Elementary::<CERTAIN>::expm1(gain).abs(),
        };
        if w > FAR {
            return self.far::<CERTAIN>((w, half, shift), (l, l_units), gained);
        }
        // L·(L^(α−1) − 1) − (α−1)y, or L^(1−α) − 1 + (α−1)y: no cancellation near α = 1.
        let linear = self.below * y;
        let linear_units = linear.abs() * (y_units + 2.0);
        let (value, units) = if self.forward {
            let main = ratio * gained.value;
            (main - linear, main.abs() * (ratio_units + 2.0) + ratio * gained.units + linear_units)
        } else {
            (gained.value + linear, gained.units + linear_units)
        };
        let value = value.max(0.0);
        Measured { value: value * weight, units: weight * (units + value * (2.0 + weight_units)) }
    }

    /// The same for large t, where L or y times the weight must be one exponential, with
    /// L^(±(α−1)) − 1 as `gained`.
    fn far<const CERTAIN: bool>(
        &self,
        (w, half, shift): (f64, f64, f64),
        (l, l_units): (f64, f64),
        gained: Measured,
    ) -> Measured {
        let drop = Elementary::<CERTAIN>::expm1(-l);
        if self.forward {
            // L·[L^(α−1) − 1 − (α−1)(1 − 1/L)].
            let scale = Elementary::<CERTAIN>::exp((l - half) - shift);
            let value = (gained.value + self.below * drop).max(0.0);
            let units = gained.units + self.below * (l_units + 2.0);
            let scale_units = l_units + 2.0 * l.abs() + 3.0 * half + shift + 3.0;
            return Measured { value: scale * value, units: scale * (units + value * (scale_units + 2.0)) };
        }
        // (α−1)q·t + [L^(1−α) − 1 − (α−1)q].
        let linear = self.below * self.q;
        let main = linear * Elementary::<CERTAIN>::exp((w - half) - shift);
        let weight = Elementary::<CERTAIN>::exp(-half - shift);
        let rest = gained.value - linear;
        let rest_units =
            gained.units + 2.0 * linear + (gained.value.abs() + linear) * (2.0 * half + shift + 5.0);
        let value = (main + weight * rest).max(0.0);
        Measured { value, units: main * (4.0 * w + 3.0 * half + shift + 6.0) + weight * rest_units + value }
    }

    /// e^(p·l − x²/2 − shift), where the rest of g is less than a unit of it.
    #[inline]
    fn large<const CERTAIN: bool>(&self, l: f64, l_units: f64, half: f64, shift: f64) -> Measured {
        let gain = self.power * l;
        let value = Elementary::<CERTAIN>::exp((gain - half) - shift);
        let units = self.power.abs() * l_units + 3.0 * gain.abs() + 3.0 * half + shift + 4.0;
        Measured { value, units: value * units }
    }
}

/// Elementary functions within a unit, or, where nothing is certain, the faster ones of the
/// platform.
struct Elementary<const CERTAIN: bool>;

impl<const CERTAIN: bool> Elementary<CERTAIN> {
    #[inline]
    fn exp(x: f64) -> f64 {
        if CERTAIN { exp(x) } else { x.exp() }
    }
    #[inline]
    fn expm1(x: f64) -> f64 {
        if CERTAIN { expm1(x) } else { x.exp_m1() }
    }
    #[inline]
    fn log(x: f64) -> f64 {
        if CERTAIN { log(x) } else { x.ln() }
    }
    #[inline]
    fn log1p(x: f64) -> f64 {
        if CERTAIN { log1p(x) } else { x.ln_1p() }
    }
}

/// Which nodes are summed, and how far the sum is from the integral.
struct Rule {
    /// The step: a number with few digits, so that its multiples are exact.
    step: f64,
    /// ln B.
    ln_error: f64,
    /// All terms are multiplied with e^(−shift).
    shift: f64,
    /// The first and the last node.
    ends: (i64, i64),
    /// How fast terms decrease beyond the ends: at least as e^(−decay·|x − end|).
    decay: f64,
    /// Ranges whose terms sum to less than e^this are left out.
    ln_negligible: f64,
}

/// What has been added so far.
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
        let most = if forward { 0.5 * alpha * below * r * r } else { -below * log1p(-q) };
        if most > LARGEST_LOGARITHM {
            return None;
        }
        let shift = if most > 3.0 { integrand.ln_peak().max(0.0) } else { 0.0 };
        // ln of the integral, roughly, over e^shift.
        let ln_size =
            if shift > 0.0 { 0.0 } else { log(0.5 * alpha * below * q * q * (r * r).min(1.0)).min(0.0) };
        let target = digits + (log(2.0 + 2.0 * power.abs() * q) - shift).max(0.0) - ln_size;
        let (width, growth) = strip(integrand, target);
        let angle = 2.0 * std::f64::consts::PI * width;
        let step = short(angle / (target + width * width / 2.0 + growth));
        if step < SMALLEST_STEP {
            return None;
        }
        // Rounding is a matter of 1e-13, and e^(2πa/h) is above e^20.
        let ln_error = (width * width / 2.0 + growth - angle / step) * (1.0 - 1e-9) + 0.6932;
        let decay = (2.0 * (target + 6.0)).sqrt();
        let (from, to) = if forward { (-decay, alpha * r + decay) } else { (-below * r - decay, r + decay) };
        if (to - from) / step > LAST_NODE {
            return None;
        }
        let ends = ((from / step).floor() as i64 - 1, (to / step).ceil() as i64 + 1);
        let ln_negligible = ln_size - digits - 2.0 - log(step);
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
            total.rest += exp(ln_term) / expm1(self.decay * self.step) * (1.0 + 1e-9);
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
            let ln_sum =
                log(count as f64) + integrand.ln_majorant(self.at(first), self.at(last)) - self.shift;
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

/// Half the width of a strip, and ln G: those that allow the larger step.
fn strip(integrand: &Integrand, target: f64) -> (f64, f64) {
    let Integrand { forward, q, r, below, .. } = *integrand;
    let entire = (2.0 * target).sqrt();
    let pole = 3.14 / r;
    if forward {
        return (entire.min(pole), 0.0);
    }
    let step = |(width, growth): (f64, f64)| width / (target + width * width / 2.0 + growth);
    // cos(x) ≥ 1 − x²/2, for x = ra/2 ≤ 1.2.
    let narrow = (entire / (1.0 + below * r * r / 4.0).sqrt()).min(2.4 / r);
    let angle = r * narrow / 2.0;
    let by_angle = (narrow, -below * log1p(-angle * angle / 2.0));
    let by_rate = (entire.min(pole / 2.0), -below * log1p(-q));
    if step(by_angle) > step(by_rate) { by_angle } else { by_rate }
}

/// A number with 8 significant bits, at most x and more than 0.99x.
fn short(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & !((1 << 45) - 1))
}
