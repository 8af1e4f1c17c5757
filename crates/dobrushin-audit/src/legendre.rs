//! Gauss–Legendre rules, and a proved bound on their error for the integrands of a chain.

use dobrushin_reference::Real;
use std::sync::OnceLock;

/// The numbers of nodes for which there is a rule.
const SIZES: [usize; 13] = [4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 28, 32];

/// The bits with which nodes and weights are computed before they are rounded.
const BITS: usize = 192;

/// Nodes in [−1, 1] and weights, each rounded once.
pub(crate) struct Rule {
    pub(crate) nodes: Vec<f64>,
    pub(crate) weights: Vec<f64>,
}

/// How fast an integrand f can grow off the real panel [x − h, x + h]: at x + h(u + iv) it is at
/// most a peak times exp(½(curvature·v)² + growth·e), where e is how far u leaves [−1, 1].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Smoothness {
    pub(crate) curvature: f64,
    pub(crate) growth: f64,
}

/// The smallest rule whose error is at most `tolerance`·h·peak for such an f, and a bound of its
/// error over h·peak; `None` if there is no such rule here.
pub(crate) fn rule(smoothness: Smoothness, tolerance: f64) -> Option<(&'static Rule, f64)> {
    static RULES: [OnceLock<Rule>; SIZES.len()] = [const { OnceLock::new() }; SIZES.len()];
    let sized = SIZES.iter().zip(&RULES).map(|(&size, rule)| (size, rule, error(smoothness, size)));
    let (size, rule, error) = sized.into_iter().find(|&(_, _, error)| error <= tolerance)?;
    Some((rule.get_or_init(|| Rule::new(size)), error))
}

/// A bound of the error of the rule with m nodes, over h·peak.
///
/// # Guarantee
/// Let |f| ≤ M in the ellipse with foci ±1 and semi-axes (ρ ± 1/ρ)/2, ρ > 1. Then the Chebyshev
/// coefficients of f are at most 2Mρ^(−k). The rule is exact for T_k with k < 2m, and by symmetry
/// for odd k; for even k ≥ 2m the integral of T_k is −2/(k² − 1) and the rule gives at most 2 in
/// magnitude, since its weights are positive and sum to 2. So the error is at most
/// 2M(2 + 2/(4m² − 1))·ρ^(−2m)/(1 − ρ⁻²), for every ρ. In the ellipse |v| ≤ (ρ − 1/ρ)/2 and
/// e ≤ (ρ + 1/ρ)/2 − 1.
fn error(smoothness: Smoothness, m: usize) -> f64 {
    let Smoothness { curvature, growth } = smoothness;
    let m = m as f64;
    let rho = ((8.0 * m).sqrt() / curvature).min(4.0 * m / growth).clamp(1.1, 1e3);
    let (v, e) = ((rho - 1.0 / rho) / 2.0, (rho + 1.0 / rho) / 2.0 - 1.0);
    let exponent = 0.5 * (curvature * v).powi(2) + growth * e - 2.0 * m * rho.ln();
    // 2·(2 + 2/63) for m ≥ 4, and a little for roundings.
    4.07 * exponent.exp() / (1.0 - 1.0 / (rho * rho))
}

impl Rule {
    /// By Newton's method on the Legendre polynomial, in many digits.
    fn new(size: usize) -> Self {
        let m = size as i64;
        let one = Real::from_i64(1, BITS);
        let (mut nodes, mut weights) = (vec![0.0; size], vec![0.0; size]);
        for i in 0..size / 2 {
            let guess = (std::f64::consts::PI * (i as f64 + 0.75) / (size as f64 + 0.5)).cos();
            let mut x = Real::from_f64(guess, BITS);
            // The guess has 3 digits at least, and each step doubles them.
            for _ in 0..7 {
                let (value, slope) = legendre(m, &x);
                x = x - value / slope;
            }
            let (_, slope) = legendre(m, &x);
            let weight = Real::from_i64(2, BITS) / ((&one - &x * &x) * &slope * &slope);
            (nodes[i], nodes[size - 1 - i]) = (-x.to_f64(), x.to_f64());
            (weights[i], weights[size - 1 - i]) = (weight.to_f64(), weight.to_f64());
        }
        Self { nodes, weights }
    }
}

/// P_m(x) and P_m′(x), by the three-term recurrence.
fn legendre(m: i64, x: &Real) -> (Real, Real) {
    let (mut before, mut last) = (Real::from_i64(1, BITS), x.clone());
    for k in 2..=m {
        let next = (x * &last * (2 * k - 1) - before * (k - 1)) / k;
        (before, last) = (last, next);
    }
    let slope = (x * &last - before) * m / (x * x - 1);
    (last, slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_of_m_nodes_integrates_every_power_below_2m() {
        for size in SIZES {
            let rule = Rule::new(size);
            for power in (0..2 * size as i32).step_by(2) {
                let sum: f64 = rule.nodes.iter().zip(&rule.weights).map(|(x, w)| w * x.powi(power)).sum();
                let exact = 2.0 / f64::from(power + 1);
                assert!((sum - exact).abs() < 4e-15 * exact.max(0.1), "{size} nodes, x^{power}: {sum}");
            }
        }
    }

    #[test]
    fn the_bound_holds_for_the_integrands_that_attain_their_growth() {
        // f = e^(−c²x²/2)·cosh(gx) has peak at most e^g, curvature c and growth g.
        for (curvature, growth) in [(1.0, 1e-9), (2.0, 0.5), (4.0, 1e-9), (4.0, 2.0), (0.1, 2.0)] {
            let f = |x: f64| (-0.5 * (curvature * x).powi(2)).exp() * (growth * x).cosh();
            let by =
                |rule: &Rule| -> f64 { rule.nodes.iter().zip(&rule.weights).map(|(&x, w)| w * f(x)).sum() };
            let exact = by(&Rule::new(32));
            for size in [4, 6, 8, 10, 12, 16, 20] {
                let bound = error(Smoothness { curvature, growth }, size) * growth.exp();
                let seen = (by(&Rule::new(size)) - exact).abs();
                assert!(seen <= bound + 1e-14, "{curvature} {growth} {size}: {seen:e} > {bound:e}");
            }
        }
    }
}
