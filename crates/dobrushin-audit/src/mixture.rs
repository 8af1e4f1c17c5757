//! The law of an iterate as a finite mixture of projected noise laws.

use crate::map::Piece;
use crate::step::{Noise, Step};
use dobrushin::numeric::elementary;
use dobrushin::numeric::normal;

/// The unit roundoff 2⁻⁵³.
pub(crate) const UNIT: f64 = f64::EPSILON / 2.0;

/// 1/√(2π).
const INVERSE_SQRT_2PI: f64 = 0.398_942_280_401_432_677_94;

/// A Gaussian this many standard deviations away is left out: e^(−72) < 1e-31.
pub(crate) const OUT_OF_SIGHT: f64 = 12.0;

/// What leaving it out costs, relative to the peak.
pub(crate) const UNSEEN: f64 = 1e-31;

/// Components with smaller weights are left out.
const NEGLIGIBLE: f64 = 1e-30;

/// Components are summed in chunks of this size, and then the chunks: n terms are rounded
/// CHUNK + n/CHUNK times, not n times.
pub(crate) const CHUNK: usize = 16;

/// The relative error of Φ and Q at the middle of their enclosures.
const TAIL_ERROR: f64 = 2.5e-15;

/// Noise around a centre, and its probability for D and for D′.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Component {
    pub(crate) centre: f64,
    pub(crate) weights: [f64; 2],
}

/// The laws of W_t for D and for D′ *before* the projection, to within an error.
///
/// # Guarantee
/// With M = Σ weight·(law of centre + noise), where the `f64`s are taken as they are, the true
/// laws before the projection differ from M by at most `error` in L¹ (the integral of the
/// absolute difference) and by at most `error`·[`Mixture::peak`] in density. Projection, like
/// every kernel, does not increase the former.
#[derive(Clone, Debug)]
pub(crate) struct Mixture {
    pub(crate) noise: Noise,
    pub(crate) components: Vec<Component>,
    pub(crate) error: f64,
    /// The mass of each law.
    pub(crate) mass: f64,
    /// The true centres lie between these.
    pub(crate) reach: [f64; 2],
    /// About the expected number of projections so far that moved an iterate, for the law that has more.
    pub(crate) clamped: f64,
    /// The number of steps that were made.
    pub(crate) made: u64,
}

impl Mixture {
    /// One step from a point.
    pub(crate) fn from_point(start: f64, step: &Step) -> Self {
        let mut next = Self::empty(step.noise);
        let pieces: Vec<_> = step.active().map(|(map, chances)| (map.piece(start), chances)).collect();
        next.error = next.push(&pieces, start, [1.0, 1.0]) / step.noise.scale() + 4.0 * UNIT;
        next.cover(&pieces, start, start);
        next
    }

    /// No components yet.
    pub(crate) fn empty(noise: Noise) -> Self {
        let reach = [f64::INFINITY, f64::NEG_INFINITY];
        Self { noise, components: Vec::new(), error: 0.0, mass: 1.0, reach, clamped: 0.0, made: 1 }
    }

    /// Adds the components to which a mass at `x` leads. The result bounds the rounding error of
    /// the centres; a displacement δ of a centre changes the law by at most δ/scale in L¹, and its
    /// density by at most δ/scale·peak.
    pub(crate) fn push(&mut self, pieces: &[(Piece, [f64; 2])], x: f64, masses: [f64; 2]) -> f64 {
        let (from, mut displacement) = (self.components.len(), 0.0_f64);
        for &(piece, chances) in pieces {
            let centre = piece.at(x);
            let weights = [chances[0] * masses[0], chances[1] * masses[1]];
            if weights.iter().all(|&weight| weight < NEGLIGIBLE) {
                continue;
            }
            displacement = displacement.max(3.0 * UNIT * ((piece.slope * x).abs() + piece.intercept.abs()));
            match self.components[from..].iter_mut().find(|other| other.centre == centre) {
                Some(same) => (0..2).for_each(|i| same.weights[i] += weights[i]),
                None => self.components.push(Component { centre, weights }),
            }
        }
        displacement
    }

    /// Extends the reach to the images of [from, to].
    pub(crate) fn cover(&mut self, pieces: &[(Piece, [f64; 2])], from: f64, to: f64) {
        for (piece, _) in pieces {
            for x in [from, to] {
                let slack = 4.0 * UNIT * ((piece.slope * x).abs() + piece.intercept.abs());
                self.reach[0] = self.reach[0].min(piece.at(x) - slack);
                self.reach[1] = self.reach[1].max(piece.at(x) + slack);
            }
        }
    }

    /// Multiplies both laws by the same number.
    pub(crate) fn scaled(mut self, by: f64) -> Self {
        self.components.iter_mut().for_each(|c| c.weights = c.weights.map(|weight| weight * by));
        self.error = (self.error + 2.0 * UNIT) * by;
        self.mass *= by;
        self
    }

    /// The largest density of the noise.
    pub(crate) fn peak(&self) -> f64 {
        match self.noise {
            Noise::Gaussian(sd) => INVERSE_SQRT_2PI / sd,
            Noise::Laplace(scale) => 0.5 / scale,
        }
    }

    /// The densities at `x`. They are off by [`Mixture::sum_error`] relatively, and by another 4
    /// units of the peak: a Gaussian is e^(−t) with t off by 7 units relatively, and
    /// 7t·e^(−t) < 3.
    pub(crate) fn density(&self, x: f64) -> [f64; 2] {
        self.sum(|centre| self.bell(x - centre)).map(|sum| sum * self.peak())
    }

    /// The density of the noise at a distance from its centre, over the peak.
    pub(crate) fn bell(&self, distance: f64) -> f64 {
        let z = distance * (1.0 / self.noise.scale());
        match self.noise {
            Noise::Gaussian(_) if z.abs() > OUT_OF_SIGHT => 0.0,
            Noise::Gaussian(_) => elementary::exp(-0.5 * z * z),
            Noise::Laplace(_) => elementary::exp(-z.abs()),
        }
    }

    /// A bound on the relative rounding error of a sum over the components, each summand of which is right to within 4
    /// units.
    pub(crate) fn sum_error(&self) -> f64 {
        (CHUNK as f64 + self.components.len() as f64 / CHUNK as f64 + 8.0) * UNIT
    }

    /// The probabilities of (−∞, x), each to within [`Mixture::tail_error`].
    pub(crate) fn below(&self, x: f64) -> [f64; 2] {
        self.sum(|centre| self.tail(centre - x))
    }

    /// The probabilities of (x, ∞), each to within [`Mixture::tail_error`].
    pub(crate) fn above(&self, x: f64) -> [f64; 2] {
        self.sum(|centre| self.tail(x - centre))
    }

    /// A bound on the error of such probabilities. The argument of Q is off by 3 units relatively, and |z|φ(z) < 1/4.
    pub(crate) fn tail_error(&self, probabilities: [f64; 2]) -> f64 {
        probabilities[0].max(probabilities[1]) * (TAIL_ERROR + self.sum_error()) + UNIT * self.mass
    }

    /// The probability that the noise exceeds `distance`.
    pub(crate) fn tail(&self, distance: f64) -> f64 {
        let z = distance / self.noise.scale();
        match self.noise {
            Noise::Gaussian(_) => normal::tail(z).midpoint(),
            Noise::Laplace(_) if z > 0.0 => 0.5 * elementary::exp(-z),
            Noise::Laplace(_) => 1.0 - 0.5 * elementary::exp(z),
        }
    }

    /// Σ weight·f(centre) for both laws.
    fn sum(&self, f: impl Fn(f64) -> f64) -> [f64; 2] {
        let mut totals = [0.0; 2];
        for chunk in self.components.chunks(CHUNK) {
            let mut sums = [0.0; 2];
            for component in chunk {
                let value = f(component.centre);
                sums[0] += component.weights[0] * value;
                sums[1] += component.weights[1] * value;
            }
            totals[0] += sums[0];
            totals[1] += sums[1];
        }
        totals
    }
}
