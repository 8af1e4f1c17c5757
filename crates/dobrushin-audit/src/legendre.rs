//! Gauss–Legendre rules, and a proved bound on their error for the integrands of a chain.

use crate::legendre_table::RULES;
use dobrushin::numeric::elementary::powi;

/// A rule: its positive nodes in [−1, 1] with their weights, each rounded once.
#[derive(Clone, Copy)]
pub(crate) struct Rule(&'static [(f64, f64)]);

impl Rule {
    /// All nodes with their weights, from the smallest node on.
    pub(crate) fn nodes(self) -> impl Iterator<Item = (f64, f64)> {
        let mirrored = self.0.iter().map(|&(node, weight)| (-node, weight));
        mirrored.chain(self.0.iter().rev().copied())
    }

    /// The number of nodes.
    pub(crate) fn size(self) -> usize {
        2 * self.0.len()
    }
}

/// How fast an integrand f can grow off the real panel [x − h, x + h]: at x + h(u + iv) it is at
/// most a peak times exp(½(curvature·v)² + growth·e), where e is how far u leaves [−1, 1].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Smoothness {
    pub(crate) curvature: f64,
    pub(crate) growth: f64,
}

/// The smallest rule whose error is at most `tolerance`·h·peak for such an f, and a bound on its error over h·peak;
/// `None` if there is no such rule here.
pub(crate) fn rule(smoothness: Smoothness, tolerance: f64) -> Option<(Rule, f64)> {
    let rules = RULES.into_iter().map(Rule).map(|rule| (rule, error(smoothness, rule.size())));
    rules.into_iter().find(|&(_, error)| error <= tolerance)
}

/// A bound on the error of the rule with m nodes, over h·peak.
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
    let exponent = 0.5 * powi(curvature * v, 2) + growth * e - 2.0 * m * libm::log(rho);
    // This is 2·(2 + 2/63) for m ≥ 4, and a little more for roundings.
    4.07 * libm::exp(exponent) / (1.0 - 1.0 / (rho * rho))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_of_m_nodes_integrates_every_power_below_2m() {
        for rule in RULES.map(Rule) {
            let size = rule.size();
            for power in (0..2 * size as i32).step_by(2) {
                let sum: f64 = rule.nodes().map(|(x, w)| w * x.powi(power)).sum();
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
            let by = |rule: Rule| -> f64 { rule.nodes().map(|(x, w)| w * f(x)).sum() };
            let [.., finest] = RULES.map(Rule);
            for rule in RULES.map(Rule) {
                let bound = error(Smoothness { curvature, growth }, rule.size()) * growth.exp();
                let seen = (by(rule) - by(finest)).abs();
                assert!(seen <= bound + 1e-14, "{curvature} {growth} {}: {seen:e} > {bound:e}", rule.size());
            }
        }
    }
}
