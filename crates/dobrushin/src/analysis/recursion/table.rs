//! A bound on a profile, known at some ε.

use super::super::logs::raised;
use super::nodes::{ABOVE, Nodes, SCALE, height, ln_of};
use crate::Enclosure;
use crate::numeric::elementary;
use std::sync::{Arc, OnceLock};

/// Logarithms of upper bounds on a profile h at some ε, the first of which is 0.
///
/// # Guarantee
/// If h(ε) is at most the bound at every given ε, it is at most the bound everywhere: h is convex in γ = e^ε, so
/// between two of them it is below the chord, and it is non-increasing, so beyond the last it is at most the value
/// there. If h bounds both directions, h(1/γ) = 1 − 1/γ + h(γ)/γ extends it to a convex function, so h(1) ≤ (γ − 1 +
/// 2h(γ))/(γ + 1).
#[derive(Clone, Debug)]
pub(super) struct Table {
    nodes: Arc<Nodes>,
    lns: Vec<f64>,
    /// The bounds as plain numbers, when they are first needed.
    heights: OnceLock<Vec<f64>>,
}

impl Table {
    /// The hull of bounds at these ε, which increase from 0.
    pub fn new(nodes: Arc<Nodes>, mut lns: Vec<f64>) -> Self {
        fall(&mut lns);
        let mut heights: Vec<f64> = lns.iter().map(|&ln| height(ln)).collect();
        let across = across(nodes.places(), &heights);
        if across < heights[0] {
            let ln = ln_of(across);
            // The others are at most the first.
            for (known, height) in lns.iter_mut().zip(&mut heights).take_while(|(known, _)| **known > ln) {
                (*known, *height) = (ln, across);
            }
        }
        lower_to_hull(&nodes, &mut lns, &mut heights);
        Self { nodes, lns, heights: OnceLock::from(heights) }
    }

    /// The bounds at these ε, and chords between them.
    pub fn plain(nodes: Arc<Nodes>, mut lns: Vec<f64>) -> Self {
        fall(&mut lns);
        Self { nodes, lns, heights: OnceLock::new() }
    }

    /// The hull.
    pub fn hull(self) -> Self {
        Self::new(self.nodes, self.lns)
    }

    /// The table of equal laws.
    pub fn nothing(nodes: Arc<Nodes>) -> Self {
        let lns = vec![f64::NEG_INFINITY; nodes.len()];
        Self::plain(nodes, lns)
    }

    pub fn epsilons(&self) -> &Arc<Nodes> {
        &self.nodes
    }

    /// The bounds as plain numbers.
    pub fn heights(&self) -> &[f64] {
        self.heights.get_or_init(|| self.lns.iter().map(|&ln| height(ln)).collect())
    }

    pub fn lns(&self) -> &[f64] {
        &self.lns
    }

    pub fn len(&self) -> usize {
        self.lns.len()
    }

    /// ln of the bound at an ε ≥ 0, rounded up.
    pub fn at(&self, epsilon: f64) -> f64 {
        let after = self.nodes.partition_point(|&node| node <= epsilon);
        let Some(before) = after.checked_sub(1) else { return 0.0 };
        if after == self.lns.len() {
            return self.lns[before];
        }
        chord((self.nodes[before], self.lns[before]), (self.nodes[after], self.lns[after]), epsilon)
    }

    /// ln of the bound, as the number stored in the table.
    pub fn enclosed(&self, epsilon: f64) -> Enclosure {
        let after = self.nodes.partition_point(|&node| node <= epsilon);
        let Some(before) = after.checked_sub(1) else { return Enclosure::ZERO };
        let ln = Enclosure::from(self.lns[before]);
        if after == self.lns.len() || ln.upper() == f64::NEG_INFINITY || self.nodes[before] == epsilon {
            return ln;
        }
        let (start, end) = (Enclosure::from(self.nodes[before]), Enclosure::from(self.nodes[after]));
        let weight = ((Enclosure::from(epsilon) - end).exp_m1() / (start - end).exp_m1())
            .positive_part()
            .min(Enclosure::ONE);
        let ratio = (Enclosure::from(self.lns[after]) - ln).exp();
        ln + (weight + (Enclosure::ONE - weight) * ratio).ln()
    }

    /// The smaller of this bound and another at the same ε.
    pub fn least(&self, others: &[f64]) -> Self {
        let lns = self.lns.iter().zip(others).map(|(a, b)| a.min(*b)).collect();
        Self::plain(Arc::clone(&self.nodes), lns)
    }

    /// The same bound at other ε.
    pub fn moved_to(&self, nodes: Arc<Nodes>) -> Self {
        let lns = nodes.iter().map(|&epsilon| self.at(epsilon)).collect();
        Self::new(nodes, lns)
    }

    /// The table of a bound ln h(ε), rounded up, down to ln h = `floor`, with enough ε for chords to be about
    /// `tolerance`·h^(−1/10) above it, relatively.
    pub fn of(tolerance: f64, floor: f64, ln_bound: impl Fn(f64) -> f64) -> Self {
        let start = ln_bound(0.0);
        if start == f64::NEG_INFINITY {
            return Self::nothing(Arc::new([0.0].into_iter().collect()));
        }
        let mut end: f64 = 1.0;
        while ln_bound(end) > floor && end < 1e6 {
            end *= 2.0;
        }
        while end > 1e-15 && ln_bound(end / 2.0) <= floor {
            end /= 2.0;
        }
        // Starts where the bound has hardly fallen, and proceeds by factors of two.
        let mut edges = vec![(end, ln_bound(end))];
        let mut edge = end / 2.0;
        while edge > 1e-18 {
            let ln = ln_bound(edge);
            edges.push((edge, ln));
            if ln > start - 0.01 {
                break;
            }
            edge /= 2.0;
        }
        edges.push((0.0, start));
        edges.reverse();
        let mut nodes = vec![edges[0]];
        for pair in edges.windows(2) {
            refine(&mut nodes, pair[0], pair[1], tolerance, &ln_bound, 14);
            nodes.push(pair[1]);
        }
        let (epsilons, lns): (Vec<f64>, Vec<f64>) = nodes.into_iter().unzip();
        Self::new(Arc::new(epsilons.into_iter().collect()), lns)
    }
}

/// Makes bounds on a non-increasing function non-increasing.
fn fall(lns: &mut [f64]) {
    let mut least = 0.0_f64;
    for ln in lns {
        least = least.min(*ln);
        *ln = least;
    }
}

/// Inserts an ε between two others as long as the chord is too far above.
fn refine(
    nodes: &mut Vec<(f64, f64)>,
    a: (f64, f64),
    b: (f64, f64),
    tolerance: f64,
    ln_bound: &impl Fn(f64) -> f64,
    depth: u32,
) {
    let middle = a.0.midpoint(b.0);
    let ln = ln_bound(middle);
    let excess = chord(a, b, middle) - ln;
    let allowed = (tolerance * libm::exp((0.1 * ln.abs()).min(50.0))).min(0.5);
    let split = depth > 0 && excess > allowed;
    if split {
        refine(nodes, a, (middle, ln), tolerance, ln_bound, depth - 1);
    }
    nodes.push((middle, ln));
    if split {
        refine(nodes, (middle, ln), b, tolerance, ln_bound, depth - 1);
    }
}

/// ln of the chord between two points of a bound at an ε between theirs, rounded up.
///
/// The weight w of the left end and 1 − w are off by a few units of themselves and of 1, and one of them is at least
/// 1/2, so w + (1 − w)·ratio is off by a few units of itself.
fn chord(a: (f64, f64), b: (f64, f64), epsilon: f64) -> f64 {
    if a.1 == f64::NEG_INFINITY {
        return a.1;
    }
    let weight = (elementary::exp_m1(epsilon - b.0) / elementary::exp_m1(a.0 - b.0)).min(1.0);
    let ratio = elementary::exp((b.1 - a.1).min(0.0));
    let value = a.1 + elementary::ln(weight + (1.0 - weight) * ratio);
    raised(value, value)
}

/// The least of (γ − 1 + 2h(γ))/(γ + 1), a bound on h(1), rounded up. It grows with γ.
fn across(places: &[f64], heights: &[f64]) -> f64 {
    let bound = |(&x, &height): (&f64, &f64)| (x * SCALE + 2.0 * height) / (x + 2.0) * ABOVE;
    // For a γ that overflows it is not a number, which is no minimum.
    places.iter().zip(heights).skip(1).map(bound).fold(f64::INFINITY, f64::min)
}

/// Lowers bounds above the lower convex hull in γ to a bound on the hull.
fn lower_to_hull(nodes: &Nodes, lns: &mut [f64], heights: &mut [f64]) {
    let places = nodes.places();
    // Minus the slope between two points, approximately: which points are on the hull need not be certain.
    let steepness = |a: usize, b: usize| (heights[a] - heights[b]) / (places[b] - places[a]);
    let mut hull: Vec<(usize, f64)> = vec![(0, f64::INFINITY)];
    for next in 1..lns.len() {
        if lns[next - 1] == f64::NEG_INFINITY {
            break;
        }
        let mut steep = steepness(hull[hull.len() - 1].0, next);
        while hull.len() > 1 && hull[hull.len() - 1].1 < steep {
            hull.pop();
            steep = steepness(hull[hull.len() - 1].0, next);
        }
        hull.push((next, steep));
    }
    for edge in hull.windows(2) {
        let ((a, _), (b, _)) = (edge[0], edge[1]);
        for between in a + 1..b {
            let line = nodes.chord(heights, (a, b), between);
            if line < heights[between] {
                heights[between] = line;
                lns[between] = lns[between].min(ln_of(line));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::logs::ln_theta;
    use super::*;
    use crate::numeric::Random;
    use dobrushin_reference::Real;

    fn nodes<const N: usize>(epsilons: [f64; N]) -> Arc<Nodes> {
        Arc::new(epsilons.into_iter().collect())
    }

    #[test]
    fn chords_are_just_above_the_line_between_two_bounds() {
        let real = |x: f64| Real::from_f64(x, 256);
        let mut random = Random::new(3);
        for _ in 0..1000 {
            let (start, gap) = (random.log_between(1e-9, 5.0), random.log_between(1e-6, 3.0));
            let (above, fall) = (-random.log_between(1e-6, 600.0), random.log_between(1e-6, 300.0));
            let table = Table::plain(nodes([0.0, start, start + gap]), vec![0.0, above, above - fall]);
            let epsilon = start + gap * random.between(0.0, 1.0);
            let (e, a, b) = (real(epsilon).exp(), real(start).exp(), real(start + gap).exp());
            let weight = (&b - &e) / (&b - &a);
            let line = &weight * real(above).exp() + (real(1.0) - &weight) * real(above - fall).exp();
            let excess = (real(table.at(epsilon)) - line.ln()).to_f64();
            assert!(
                excess >= 0.0 && excess < 1e-12 * (1.0 + above.abs() + fall),
                "{start} {gap} {above} {fall}"
            );
        }
    }

    #[test]
    fn a_table_is_above_its_bound_by_the_tolerance() {
        for mu in [1e-3, 0.3, 2.0, 10.0] {
            let table = Table::of(4e-3, -500.0, |epsilon| ln_theta(epsilon, mu));
            let mut random = Random::new(4);
            for _ in 0..500 {
                let epsilon = mu * random.between(0.0, 15.0);
                let (bound, ln) = (ln_theta(epsilon, mu), table.at(epsilon));
                assert!(ln >= bound && ln <= bound + 5e-3 * (0.1 * bound.abs()).exp(), "{mu} {epsilon}");
            }
        }
    }

    #[test]
    fn a_bound_beyond_one_says_something_about_total_variation() {
        // δ(1) = 0: by symmetry TV ≤ (e − 1)/(e + 1).
        let table = Table::new(nodes([0.0, 1.0]), vec![0.0, f64::NEG_INFINITY]);
        assert!((table.at(0.0).exp() - 0.5f64.tanh()).abs() < 1e-12);
    }
}
