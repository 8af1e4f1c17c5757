//! A rough picture of a loss, sufficient to choose a tilt, a grid and a window. Nothing here is rigorous, and nothing
//! needs to be: every choice gives valid bounds, and good ones give tight bounds.

use super::LossLaw;
use super::grid::masses_between;
use crate::numeric::Boundary;

/// Finitely many losses with their masses under P.
pub(super) struct Sketch {
    atoms: Vec<(f64, f64)>,
    /// The median under P.
    pub middle: f64,
    /// P's mass at infinite losses.
    pub infinite: f64,
}

/// ln E e^(λL) and its first two derivatives: the mean and the variance after the tilt.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cumulants {
    pub log_moment: f64,
    pub mean: f64,
    pub variance: f64,
}

/// The number of cells on either side of the middle.
const CELLS: usize = 160;

impl Sketch {
    /// The sketch of a law, without the tails that weigh less than `floor`: after a tilt, those of a heavy-tailed law
    /// would dominate.
    pub fn new(law: &dyn LossLaw, floor: f64) -> Self {
        let infinite = law.split(1e300.into()).above.p.midpoint();
        let above = |loss: f64| law.split(loss.into()).above.p.midpoint() - infinite;
        let below = |loss: f64| law.split(loss.into()).below.p.midpoint();
        let high = reach(|loss| above(loss) <= floor.max(1e-14 * infinite));
        let low = -reach(|loss| below(-loss) <= floor);
        let quantile = |mass: f64| crossing(low, high, |loss| above(loss) > mass * (1.0 - infinite));
        let middle = quantile(0.5);
        let spread = (quantile(0.1) - quantile(0.9)).max(1e-13 * (high - low));
        let mut points: Vec<f64> = Vec::with_capacity(2 * CELLS + 1);
        for (end, sign) in [(low, -1.0), (high, 1.0)] {
            let reach = libm::asinh((end - middle).abs() / spread);
            let offsets = (1..=CELLS).map(|i| libm::sinh(reach * i as f64 / CELLS as f64));
            points.extend(offsets.map(|offset| middle + sign * spread * offset));
        }
        points.push(middle);
        points.sort_by(f64::total_cmp);
        points.dedup();
        let splits: Vec<_> = points.iter().map(|&point| law.split(point.into())).collect();
        let mut atoms = Vec::with_capacity(points.len());
        for (ends, splits) in points.windows(2).zip(splits.windows(2)) {
            let (p, q) = masses_between(&splits[0], &splits[1]);
            let (p, q) = (p.midpoint(), q.midpoint());
            if p > 0.0 {
                atoms.push((loss_within(ends[0], ends[1], p, q), p));
            }
        }
        Self { atoms, middle, infinite }
    }

    /// The loss of the part within `distance` of the median.
    pub fn centre(&self, law: &dyn LossLaw, distance: f64) -> f64 {
        let ends = [self.middle - distance, self.middle + distance];
        let [start, end] = ends.map(|end| law.split(end.into()));
        let (p, q) = masses_between(&start, &end);
        loss_within(ends[0], ends[1], p.midpoint(), q.midpoint())
    }

    /// The moments after the tilt e^(λL).
    pub fn cumulants(&self, lambda: f64) -> Cumulants {
        let largest = self.atoms.iter().map(|(loss, _)| lambda * loss).fold(f64::NEG_INFINITY, f64::max);
        let (mut total, mut first, mut second) = (0.0, 0.0, 0.0);
        for (loss, mass) in &self.atoms {
            let weight = mass * libm::exp(lambda * loss - largest);
            total += weight;
            first += weight * loss;
            second += weight * loss * loss;
        }
        if total.is_nan() || total <= 0.0 {
            return Cumulants::default();
        }
        let mean = first / total;
        Cumulants {
            log_moment: libm::log(total) + largest,
            mean,
            variance: (second / total - mean * mean).max(0.0),
        }
    }
}

/// ln(p/q), clipped to the range where it must lie.
fn loss_within(start: f64, end: f64, p: f64, q: f64) -> f64 {
    let loss = libm::log(p / q);
    if loss.is_finite() { loss.clamp(start, end) } else { 0.5 * (start + end) }
}

/// A loss ≥ 0 beyond which the predicate holds, within a factor of 2.
fn reach(holds: impl Fn(f64) -> bool) -> f64 {
    let mut loss = 1e-14;
    while loss < 1e12 && !holds(loss) {
        loss *= 2.0;
    }
    loss
}

/// The approximate point where a predicate that holds at `low` and fails at `high` changes.
pub(super) fn crossing(low: f64, high: f64, predicate: impl Fn(f64) -> bool) -> f64 {
    Boundary { holds: low, fails: high }.halved(60, predicate).middle()
}
