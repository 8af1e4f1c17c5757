//! The integrand for the moments of a Poisson-subsampled Gaussian, with its rounding errors and its bounds; the
//! notation is that of `quadrature.rs`.

use crate::numeric::UNIT_ROUNDOFF;
use crate::numeric::elementary::{exp, exp_m1, ln, ln_1p};
use crate::profile::Direction;

/// Orders up to this minus 1 are exact, and so are the nodes.
const LARGEST_ORDER: f64 = 1e9;
/// Beyond this the step would be too small.
const LARGEST_RATIO: f64 = 100.0;
/// With this many terms, the remainder of the binomial series is below a unit where it is used.
const SERIES: usize = 17;
/// From this ln t on, products with t are computed in the exponent.
const FAR: f64 = 40.0;

/// g, with the numbers that bound it.
pub(super) struct Integrand {
    pub(super) forward: bool,
    pub(super) q: f64,
    pub(super) r: f64,
    pub(super) alpha: f64,
    /// α − 1, exactly.
    pub(super) below: f64,
    /// p.
    pub(super) power: f64,
    /// (p − k)/(k + 1) for k = 2, 3, …
    ratios: [f64; SERIES],
}

/// A number and a bound on its error in units of roundoff, up to a factor 1.25.
#[derive(Clone, Copy)]
pub(super) struct Measured {
    pub(super) value: f64,
    pub(super) units: f64,
}

impl Integrand {
    pub(super) fn new(direction: Direction, q: f64, r: f64, alpha: f64) -> Option<Self> {
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
            w + ln(self.q + (1.0 - self.q) * exp(-w))
        } else if w < 0.0 && self.q > 0.5 {
            ln((1.0 - self.q) + self.q * exp(w))
        } else {
            ln_1p(self.q * exp_m1(w))
        }
    }

    /// The share qt/L.
    fn share(&self, x: f64) -> f64 {
        let odds = ln(self.q / (1.0 - self.q)) + self.exponent(x);
        1.0 / (1.0 + exp(-odds))
    }

    /// Approximately where e^(−x²/2)·L^p has its largest peak away from 0, and its logarithm there: the largest root of
    /// x = p·r·share(x), or the only one.
    pub(super) fn ln_peak(&self) -> f64 {
        let mut x = if self.forward { self.power * self.r } else { 0.0 };
        let (mut start, mut end) = (self.power * self.r, 0.0);
        for _ in 0..60 {
            let goal = self.power * self.r * self.share(x);
            let next = if self.forward {
                goal
            } else {
                // The goal decreases in x.
                *(if goal > x { &mut start } else { &mut end }) = x;
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
    pub(super) fn ln_majorant(&self, start: f64, end: f64) -> f64 {
        // g ≤ L^α + αq forward, and L^(1−α) + (α−1)qt reverse, where φ(x)t = φ(x − r).
        let centre = if self.forward { 0.0 } else { self.r };
        let nearest = centre.clamp(start, end) - centre;
        let rest = ln(self.power.abs() * self.q) - nearest * nearest / 2.0;
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
    pub(super) fn term<const CERTAIN: bool>(&self, x: f64, shift: f64) -> Measured {
        let half = x * x / 2.0;
        let w = self.exponent(x);
        let y = self.q * Elementary::<CERTAIN>::exp_m1(w);
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
            let l = Elementary::<CERTAIN>::ln(ratio);
            (l, ratio_units + l.abs(), ratio, ratio_units)
        } else if w < 600.0 {
            // |y|/(1 + y) ≤ 1.
            let l = Elementary::<CERTAIN>::ln_1p(y);
            (l, y_units + l.abs(), 1.0 + y, y_units + 1.0)
        } else {
            let scaled = Elementary::<CERTAIN>::ln(self.q + (1.0 - self.q) * Elementary::<CERTAIN>::exp(-w));
            (w + scaled, 5.0 * w + 4.0 + 2.0 * scaled.abs(), f64::INFINITY, f64::INFINITY)
        };
        let gain = if self.forward { self.below * l } else { -self.below * l };
        if gain > 40.0 && gain > 40.0 + Elementary::<CERTAIN>::ln(self.alpha) {
            return self.large::<CERTAIN>(l, l_units, half, shift);
        }
        let gained = Measured {
            value: Elementary::<CERTAIN>::exp_m1(gain),
            units: Elementary::<CERTAIN>::exp(gain) * (self.below * l_units + gain.abs()) * 1.01
                + Elementary::<CERTAIN>::exp_m1(gain).abs(),
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

    /// The same for large t, where L or y times the weight must be computed as one exponential, with L^(±(α−1)) − 1 as
    /// `gained`.
    fn far<const CERTAIN: bool>(
        &self,
        (w, half, shift): (f64, f64, f64),
        (l, l_units): (f64, f64),
        gained: Measured,
    ) -> Measured {
        let drop = Elementary::<CERTAIN>::exp_m1(-l);
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

/// Elementary functions accurate within a unit, or, where no guarantee is needed, the faster ones of the platform.
struct Elementary<const CERTAIN: bool>;

impl<const CERTAIN: bool> Elementary<CERTAIN> {
    #[inline]
    fn exp(x: f64) -> f64 {
        if CERTAIN { exp(x) } else { libm::exp(x) }
    }
    #[inline]
    fn exp_m1(x: f64) -> f64 {
        if CERTAIN { exp_m1(x) } else { libm::expm1(x) }
    }
    #[inline]
    fn ln(x: f64) -> f64 {
        if CERTAIN { ln(x) } else { libm::log(x) }
    }
    #[inline]
    fn ln_1p(x: f64) -> f64 {
        if CERTAIN { ln_1p(x) } else { libm::log1p(x) }
    }
}
