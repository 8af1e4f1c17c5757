//! The same chains by Simpson's rule on thousands of nodes and by differences of distribution
//! functions on thousands of cells.

use dobrushin::numeric::normal;
use dobrushin_audit::{Map, Noise, OneDimensionalChain, Step};

/// Nodes on each side of a break of a map.
const NODES: usize = 160;

/// Weighted centres, for each neighbour, before the noise of the last step.
pub struct Brute {
    noise: Noise,
    centres: [Vec<(f64, f64)>; 2],
}

impl Brute {
    /// After each step.
    pub fn run(chain: &OneDimensionalChain) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for step in &chain.steps {
            let centres = [0, 1].map(|i| {
                let points = match all.last() {
                    None => vec![(chain.start, 1.0)],
                    Some(last) => last.points(i, chain),
                };
                points.iter().flat_map(|&point| Self::moved(step, i, point)).collect()
            });
            all.push(Self { noise: step.noise, centres });
        }
        all
    }

    /// Where a weighted point goes.
    fn moved(step: &Step, neighbour: usize, (x, weight): (f64, f64)) -> [(f64, f64); 2] {
        let own: &Map = if neighbour == 0 { &step.first } else { &step.second };
        let p = step.probability;
        [(step.common.at(x), weight * (1.0 - p)), (own.at(x), weight * p)]
    }

    /// The law after projection as weighted points: Simpson between any two breaks of any map.
    fn points(&self, neighbour: usize, chain: &OneDimensionalChain) -> Vec<(f64, f64)> {
        let (a, b) = (chain.interval.lower(), chain.interval.upper());
        let ends = self.ends(neighbour, chain);
        let mut points = vec![(a, ends[0]), (b, ends[1])];
        let breaks = breaks(chain);
        for ends in breaks.windows(2) {
            // A map jumps at a break, so the nodes stay a hair away from it.
            let hair = 1e-12 * (ends[1] - ends[0]);
            let (left, right) = (ends[0] + hair, ends[1] - hair);
            let h = (right - left) / NODES as f64;
            for k in 0..=NODES {
                let x = if k == NODES { right } else { left + k as f64 * h };
                let factor = if k == 0 || k == NODES { 1.0 } else { (2 + 2 * (k % 2)) as f64 };
                points.push((x, factor * h / 3.0 * self.density(neighbour, x)));
            }
        }
        points
    }

    fn density(&self, neighbour: usize, x: f64) -> f64 {
        let noise = |y: f64| match self.noise {
            Noise::Gaussian(s) => (-0.5 * (y / s).powi(2)).exp() / (s * std::f64::consts::TAU.sqrt()),
            Noise::Laplace(v) => (-y.abs() / v).exp() / (2.0 * v),
        };
        self.centres[neighbour].iter().filter(|c| c.1 > 0.0).map(|&(c, w)| w * noise(x - c)).sum()
    }

    /// The probabilities of the ends of the interval.
    fn ends(&self, neighbour: usize, chain: &OneDimensionalChain) -> [f64; 2] {
        let exceeds = |y: f64| match self.noise {
            Noise::Gaussian(s) => normal::tail(y / s).midpoint(),
            Noise::Laplace(v) if y > 0.0 => 0.5 * (-y / v).exp(),
            Noise::Laplace(v) => 1.0 - 0.5 * (y / v).exp(),
        };
        let centres = self.centres[neighbour].iter().filter(|c| c.1 > 0.0);
        let (a, b) = (chain.interval.lower(), chain.interval.upper());
        centres.fold([0.0, 0.0], |[lower, upper], &(c, w)| {
            [lower + w * exceeds(c - a), upper + w * exceeds(b - c)]
        })
    }

    /// The probabilities of the ends and of small cells, by Simpson's rule on each cell.
    pub fn cells(&self, chain: &OneDimensionalChain, count: usize) -> [Vec<f64>; 2] {
        let (a, b) = (chain.interval.lower(), chain.interval.upper());
        let edge = |i: usize| a + (b - a) * (i as f64 / count as f64);
        [0, 1].map(|neighbour| {
            let at = |x: f64| self.density(neighbour, x);
            let mut cells = self.ends(neighbour, chain).to_vec();
            let mut left = at(a);
            for i in 0..count {
                let (x, y) = (edge(i), edge(i + 1));
                let right = at(y);
                cells.push((y - x) / 6.0 * (left + 4.0 * at(x.midpoint(y)) + right));
                left = right;
            }
            cells
        })
    }
}

/// The ends, the breaks of all maps and, since Laplace densities have kinks there, their values.
fn breaks(chain: &OneDimensionalChain) -> Vec<f64> {
    let (a, b) = (chain.interval.lower(), chain.interval.upper());
    let mut breaks = vec![a, b];
    // A break is found as the place where a fine scan sees the map leave its tangent.
    let scan = 20_000;
    let h = (b - a) / scan as f64;
    for map in chain.steps.iter().flat_map(|step| [&step.common, &step.first, &step.second]) {
        let slope = |i: usize| map.at(a + (i as f64 + 0.75) * h) - map.at(a + (i as f64 + 0.25) * h);
        let across = |i: usize| map.at(a + (i as f64 + 1.25) * h) - map.at(a + (i as f64 + 0.75) * h);
        for i in 0..scan - 1 {
            let steps = [slope(i), across(i), slope(i + 1)];
            if steps.iter().any(|step| (step - steps[0]).abs() > 1e-9 * h.max(steps[0].abs())) {
                breaks.push(exact_break(map, a + (i as f64 + 0.25) * h, a + (i as f64 + 1.75) * h));
            }
        }
    }
    breaks.sort_by(f64::total_cmp);
    breaks.dedup_by(|x, y| *x - *y < 1e-9);
    breaks
}

/// Halves the place of a break, as long as one half is not affine with the slope of the left end.
fn exact_break(map: &Map, mut left: f64, mut right: f64) -> f64 {
    let step = 1e-7;
    let slope = (map.at(left + step) - map.at(left)) / step;
    let start = (left, map.at(left));
    for _ in 0..60 {
        let middle = left.midpoint(right);
        let expected = start.1 + slope * (middle - start.0);
        if (map.at(middle) - expected).abs() < 1e-8 { left = middle } else { right = middle }
    }
    right
}

/// E_γ of two laws on cells.
pub fn cells_apart(p: &[f64], q: &[f64], gamma: f64) -> f64 {
    p.iter().zip(q).map(|(p, q)| (p - gamma * q).max(0.0)).sum()
}
