//! What the tests of the papers' errata share: θ and golden values by name, quadrature, and exact
//! one-dimensional noisy iterations.

pub mod chain;

use dobrushin::numeric::theta::theta_range;
use dobrushin::{Enclosure, Epsilon, NonNegative};

/// θ_ε(r).
pub fn theta(epsilon: f64, r: f64) -> Enclosure {
    dobrushin::numeric::theta::theta(Epsilon::new(epsilon).unwrap(), NonNegative::new(r).unwrap())
}

/// θ at γ = e^ε, for a γ ≥ 1.
pub fn theta_at_gamma(gamma: f64, r: f64) -> f64 {
    theta_range(Enclosure::from(gamma).ln(), Enclosure::from(r)).midpoint()
}

/// The value of one entry of the golden file.
pub fn golden_value(id: &str) -> f64 {
    let entry = dobrushin_reference::golden().into_iter().find(|e| e["id"] == id);
    entry.unwrap_or_else(|| panic!("no {id}"))["value"].as_str().unwrap().parse().unwrap()
}

/// Fails unless `found` agrees with a number printed to so many digits: within half a unit of the
/// last, given as `unit`.
pub fn assert_reads(found: f64, printed: f64, unit: f64) {
    assert!((found - printed).abs() <= 0.5001 * unit, "{found:e} does not read {printed:e}");
}

/// 1 + 1/2 + … + 1/n.
pub fn harmonic(n: u32) -> f64 {
    (1..=n).map(|j| 1.0 / f64::from(j)).sum()
}

/// ∫ f over an interval by Simpson's rule with an even number of steps.
pub fn simpson(from: f64, to: f64, steps: u32, f: impl Fn(f64) -> f64) -> f64 {
    let h = (to - from) / f64::from(steps);
    let weight = |i: u32| if i == 0 || i == steps { 1.0 } else { 2.0 + 2.0 * f64::from(i % 2) };
    (0..=steps).map(|i| weight(i) * f(from + h * f64::from(i))).sum::<f64>() * h / 3.0
}

/// The point where a function that rises and then falls is largest, by golden section.
pub fn peak(mut from: f64, mut to: f64, f: impl Fn(f64) -> f64) -> f64 {
    let ratio = 0.5 * (5f64.sqrt() - 1.0);
    for _ in 0..100 {
        let (left, right) = (to - ratio * (to - from), from + ratio * (to - from));
        if f(left) < f(right) { from = left } else { to = right }
    }
    0.5 * (from + to)
}

/// The largest value of such a function.
pub fn largest(from: f64, to: f64, f: impl Fn(f64) -> f64) -> f64 {
    f(peak(from, to, &f))
}

/// The smallest value of a function that falls and then rises.
pub fn smallest(from: f64, to: f64, f: impl Fn(f64) -> f64) -> f64 {
    -largest(from, to, |x| -f(x))
}

/// Evenly spaced points, both ends among them.
pub fn grid(from: f64, to: f64, count: u32) -> impl Iterator<Item = f64> {
    (0..=count).map(move |i| from + (to - from) * f64::from(i) / f64::from(count))
}
