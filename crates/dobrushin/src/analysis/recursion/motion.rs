//! The distance of iterates after some steps, in standard deviations of the noise.

use crate::Enclosure;
use crate::chain::{Count, Piece};

/// Lines above the distance of two iterates after each of several equal steps with Gaussian noise.
#[derive(Clone, PartialEq)]
pub(super) struct Motion {
    lines: Vec<Piece>,
    noise: Enclosure,
}

impl Motion {
    pub fn new(lines: Vec<Piece>, noise: Enclosure) -> Self {
        Self { lines, noise }
    }

    /// A number R such that E_γ ≤ θ_ε(R) after k ≥ 1 steps from points at most this distance apart; ∞ if none is known.
    ///
    /// # Guarantee
    /// For a line cz + o the shifts a_j ∝ c^(k−j) leave nothing of the distance after k steps and cost R = (c^k·z +
    /// o·Σc^j)/(s·√Σc^(2j)), j < k. The remaining distance in between is never negative: in the coordinates of the taut
    /// string (see `allocation.rs`) the shifts are the chord from 0 to the last of the points (u_j, S_j), which are
    /// concave if c ≤ 1 and constant if o = 0, and start above 0.
    pub fn radius(&self, steps: u64, distance: Enclosure) -> f64 {
        self.lines.iter().fold(f64::INFINITY, |least, line| least.min(self.along(*line, steps, distance)))
    }

    fn along(&self, line: Piece, steps: u64, distance: Enclosure) -> f64 {
        let (slope, offset, count) = (line.slope(), line.offset(), Count::Times(steps));
        let ratio = if slope == Enclosure::ZERO {
            offset / self.noise
        } else if steps == 1 {
            line.at(distance) / self.noise
        } else if offset == Enclosure::ZERO {
            let square = Enclosure::ONE / slope.square();
            distance / (self.noise * (square * count.geometric_sum(square)).sqrt())
        } else if slope.upper() > 1.0 {
            return f64::INFINITY;
        } else {
            let left = count.power(slope) * distance + offset * count.geometric_sum(slope);
            left / (self.noise * count.geometric_sum(slope.square()).sqrt())
        };
        if ratio.upper().is_nan() { f64::INFINITY } else { ratio.upper().max(0.0) }
    }

    /// The same after a step that leaves points this distance apart before its noise, and k more steps.
    ///
    /// The first of the points (u_j, S_j) is then the displacement: they are concave if, in addition, o is at most the
    /// displacement.
    pub fn radius_after(&self, displacement: Enclosure, steps: u64) -> f64 {
        let all = Count::Times(steps.saturating_add(1));
        let along = |line: &Piece| {
            let (slope, offset, count) = (line.slope(), line.offset(), Count::Times(steps));
            let ratio = if slope == Enclosure::ZERO {
                displacement / self.noise
            } else if offset == Enclosure::ZERO {
                displacement / (self.noise * all.geometric_sum(Enclosure::ONE / slope.square()).sqrt())
            } else if slope.upper() <= 1.0 && offset.upper() <= displacement.lower() {
                let left = count.power(slope) * displacement + offset * count.geometric_sum(slope);
                left / (self.noise * all.geometric_sum(slope.square()).sqrt())
            } else {
                return f64::INFINITY;
            };
            if ratio.upper().is_nan() { f64::INFINITY } else { ratio.upper() }
        };
        self.lines.iter().map(along).fold((displacement / self.noise).upper(), f64::min)
    }
}
