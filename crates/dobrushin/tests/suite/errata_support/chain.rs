//! Noisy iterations on the line, as exact as `f64` allows.
//!
//! A step moves each point of a law by a map and adds Gaussian noise, so that what comes out is a
//! mixture of Gaussians, whose masses and densities are known. Projected onto an interval it has an
//! atom at either end and a smooth density between them, which Gauss points carry to the next
//! step. E_γ is P(A) − γQ(A) on the set A where the density of P − γQ is positive, whose ends are
//! found by bisection; an error there counts twice over, and any A at all gives a lower bound.

use dobrushin::numeric::normal;

/// Nodes and weights of the five-point rule on [−1, 1].
const GAUSS: [(f64, f64); 5] = [
    (-0.906179845938664, 0.23692688505618908),
    (-0.5384693101056831, 0.47862867049936647),
    (0.0, 0.5688888888888889),
    (0.5384693101056831, 0.47862867049936647),
    (0.906179845938664, 0.23692688505618908),
];

/// How many cells are searched for changes of sign.
const CELLS: u32 = 2000;

/// Σ weight·N(centre, sigma²).
pub struct Mixture(Vec<Gaussian>);

#[derive(Clone, Copy)]
pub struct Gaussian {
    pub weight: f64,
    pub centre: f64,
    pub sigma: f64,
}

/// A law on finitely many points, as (point, mass).
#[derive(Clone)]
pub struct Law(pub Vec<(f64, f64)>);

/// A map of the line.
pub type Map<'a> = &'a dyn Fn(f64) -> f64;

impl Law {
    pub fn at(point: f64) -> Self {
        Self(vec![(point, 1.0)])
    }

    /// The average of several laws.
    pub fn average(laws: &[Self]) -> Self {
        let share = 1.0 / laws.len() as f64;
        Self(laws.iter().flat_map(|law| law.0.iter().map(|&(x, mass)| (x, share * mass))).collect())
    }

    /// After one of the maps, each with its probability, and noise.
    pub fn step(&self, maps: &[(f64, Map)], sigma: f64) -> Mixture {
        let moved = |&(probability, map): &(f64, Map<'_>)| {
            let each =
                |&(x, mass): &(f64, f64)| Gaussian { weight: probability * mass, centre: map(x), sigma };
            self.0.iter().map(each).collect::<Vec<_>>()
        };
        Mixture(maps.iter().flat_map(moved).filter(|g| g.weight > 0.0).collect())
    }
}

impl Mixture {
    pub fn new(parts: Vec<Gaussian>) -> Self {
        Self(parts)
    }

    pub fn density(&self, y: f64) -> f64 {
        let scale = 1.0 / (2.0 * std::f64::consts::PI).sqrt();
        let part = |g: &Gaussian| g.weight / g.sigma * (-0.5 * ((y - g.centre) / g.sigma).powi(2)).exp();
        scale * self.0.iter().map(part).sum::<f64>()
    }

    /// The mass of (−∞, y].
    fn below(&self, y: f64) -> f64 {
        self.0.iter().map(|g| g.weight * normal::tail((g.centre - y) / g.sigma).midpoint()).sum()
    }

    /// The mass of [y, ∞).
    fn above(&self, y: f64) -> f64 {
        self.0.iter().map(|g| g.weight * normal::tail((y - g.centre) / g.sigma).midpoint()).sum()
    }

    /// The mass of [from, to].
    fn between(&self, from: f64, to: f64) -> f64 {
        let part = |g: &Gaussian| {
            let (from, to) = ((from - g.centre) / g.sigma, (to - g.centre) / g.sigma);
            let tail = |x: f64| normal::tail(x).midpoint();
            g.weight * if from > 0.0 { tail(from) - tail(to) } else { tail(-to) - tail(-from) }
        };
        self.0.iter().map(part).sum()
    }

    /// Projected onto the interval from the first to the last break, with Gauss points in cells no
    /// wider than `width` that do not reach over a break.
    pub fn onto(&self, breaks: &[f64], width: f64) -> Law {
        let (a, b) = ends(breaks);
        let mut atoms = vec![(a, self.below(a)), (b, self.above(b))];
        for piece in breaks.windows(2) {
            let cells = ((piece[1] - piece[0]) / width).ceil().max(1.0);
            let half = 0.5 * (piece[1] - piece[0]) / cells;
            for cell in 0..cells as u32 {
                let middle = piece[0] + half * (2.0 * f64::from(cell) + 1.0);
                let at = |&(node, weight): &(f64, f64)| {
                    let y = middle + half * node;
                    (y, half * weight * self.density(y))
                };
                atoms.extend(GAUSS.iter().map(at));
            }
        }
        Law(atoms)
    }
}

fn ends(breaks: &[f64]) -> (f64, f64) {
    (breaks[0], breaks[breaks.len() - 1])
}

/// E_γ(P‖Q) after projection onto [a, b].
pub fn hockey_stick(p: &Mixture, q: &Mixture, gamma: f64, (a, b): (f64, f64)) -> f64 {
    let excess = |y: f64| p.density(y) - gamma * q.density(y);
    let root = |mut from: f64, mut to: f64| {
        let positive = excess(from) > 0.0;
        for _ in 0..60 {
            let middle = 0.5 * (from + to);
            if (excess(middle) > 0.0) == positive { from = middle } else { to = middle }
        }
        0.5 * (from + to)
    };
    let atoms = (p.below(a) - gamma * q.below(a)).max(0.0) + (p.above(b) - gamma * q.above(b)).max(0.0);
    let points: Vec<f64> = super::grid(a, b, CELLS).collect();
    let (mut inside, mut start) = (0.0, (excess(a) > 0.0).then_some(a));
    let mut take = |from: f64, to: f64| inside += p.between(from, to) - gamma * q.between(from, to);
    for cell in points.windows(2) {
        let (now, next) = (start.is_some(), excess(cell[1]) > 0.0);
        if now == next {
            continue;
        }
        let boundary = root(cell[0], cell[1]);
        match start.take() {
            Some(from) => take(from, boundary),
            None => start = Some(boundary),
        }
    }
    if let Some(from) = start {
        take(from, b);
    }
    atoms + inside
}

/// D_α(P‖Q) on the whole line, by the trapezoidal rule, which converges faster than any power for
/// functions as smooth as these.
pub fn renyi(p: &Mixture, q: &Mixture, alpha: f64, (a, b): (f64, f64), points: u32) -> f64 {
    let h = (b - a) / f64::from(points);
    let integrand = |y: f64| p.density(y).powf(alpha) * q.density(y).powf(1.0 - alpha);
    (super::grid(a, b, points).map(integrand).sum::<f64>() * h).ln() / (alpha - 1.0)
}
