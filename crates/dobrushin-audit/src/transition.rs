//! One step of a chain: from one mixture to the next.
//!
//! The law of W_t has atoms at both ends of the interval and a density p between. The next law
//! before projection is ∫ p(x)·(law of ψ(x) + noise) dx plus what the atoms lead to. Where the
//! maps are constant the integral is a probability. Elsewhere it is replaced by a Gauss–Legendre
//! sum, so that the next law is a finite mixture again.
//!
//! # Guarantee
//! Let p be a mixture of Gaussians of standard deviation r, and s that of the next noise. For
//! every |g| ≤ 1 the expectation of g after the step is ∫ p(x)·G(ψ(x)) dx with
//! G(z) = ∫ g(y)φ_s(y − z) dy, an entire function, and
//!
//! ```text
//! |p(u + iv)| ≤ p(u)·exp(v²/2r²),   |G(ψ(u + iv))| ≤ exp(c²v²/2s²)   for a slope c,
//! ```
//!
//! because |φ_s(u + iv)| = φ_s(u)·exp(v²/2s²) and all weights are positive. The bound of
//! `legendre.rs` with peak(p) then holds for all g at once: it is a bound in L¹. With
//! g = δ_y the same argument bounds the densities, peak(noise) times it. For a mixture of
//! Laplace laws, p is Σ A·e^(±x/r) between centres: nothing for v, and a factor e^(e/r) at a
//! distance e from the panel. Errors of earlier steps are not increased by the kernel, so they
//! add.

use crate::interval::{Tile, tiles};
use crate::legendre::{Smoothness, rule};
use crate::map::Piece;
use crate::mixture::{Mixture, OUT_OF_SIGHT, UNIT, UNSEEN};
use crate::step::{Noise, Step};
use crate::{Error, Interval};

/// The error that the sum of a panel may have, relative to its half-width and the peak.
const TOLERANCE: f64 = 1e-18;

/// The largest curvature·half-width of a panel.
const WIDEST: f64 = 4.0;

/// A law has at most this many nodes.
const MOST_NODES: usize = 20_000;

impl Mixture {
    /// The mixture after projection onto the interval and the next step.
    pub(crate) fn advance(&self, interval: Interval, step: &Step, number: usize) -> Result<Self, Error> {
        let mut push = Push::new(self, interval, step, number);
        push.ends();
        push.between()?;
        Ok(push.finish())
    }
}

/// A step that is being carried out.
struct Push<'a> {
    from: &'a Mixture,
    interval: Interval,
    step: &'a Step,
    number: usize,
    to: Mixture,
    /// The largest rounding error of a centre.
    displacement: f64,
    nodes: usize,
}

impl<'a> Push<'a> {
    fn new(from: &'a Mixture, interval: Interval, step: &'a Step, number: usize) -> Self {
        let to = Mixture::empty(step.noise);
        Self { from, interval, step, number, to, displacement: 0.0, nodes: 0 }
    }

    /// The pieces of the maps at `x`, with their probabilities.
    fn pieces(&self, x: f64) -> Vec<(Piece, [f64; 2])> {
        self.step.active().map(|(map, chances)| (map.piece(x), chances)).collect()
    }

    /// A mass at a point, or at any point of a constant piece.
    fn push(&mut self, pieces: &[(Piece, [f64; 2])], x: f64, masses: [f64; 2]) {
        self.displacement = self.displacement.max(self.to.push(pieces, x, masses));
    }

    /// The atoms.
    fn ends(&mut self) {
        let (lower, upper) = (self.interval.lower(), self.interval.upper());
        for (x, masses) in [(lower, self.from.below(lower)), (upper, self.from.above(upper))] {
            let pieces = self.pieces(x);
            self.push(&pieces, x, masses);
            self.to.cover(&pieces, x, x);
            self.to.error += self.from.tail_error(masses);
        }
    }

    /// The density, cut where a map breaks and where the density has a kink.
    fn between(&mut self) -> Result<(), Error> {
        let mut below: Option<(f64, [f64; 2])> = None;
        for ends in self.cuts().windows(2) {
            let (left, right) = (ends[0], ends[1]);
            let pieces = self.pieces(left.midpoint(right));
            self.to.cover(&pieces, left, right);
            let steepest = pieces.iter().fold(0.0_f64, |most, (piece, _)| most.max(piece.slope.abs()));
            if steepest == 0.0 {
                let at_left = match below {
                    Some((x, below)) if x == left => below,
                    _ => self.from.below(left),
                };
                let at_right = self.from.below(right);
                below = Some((right, at_right));
                let masses = [0, 1].map(|i| (at_right[i] - at_left[i]).max(0.0));
                self.push(&pieces, left, masses);
                self.to.error += self.from.tail_error(at_left) + self.from.tail_error(at_right);
                self.count(1)?;
            } else if let Noise::Gaussian(sd) = self.step.noise {
                self.panels(left, right, &pieces, steepest / sd)?;
            } else {
                return Err(Error::LaplaceNeedsConstantPieces { step: self.number });
            }
        }
        Ok(())
    }

    /// The ends of the interval and every cut between, in order.
    fn cuts(&self) -> Vec<f64> {
        let mut cuts = vec![self.interval.lower(), self.interval.upper()];
        cuts.extend(self.step.active().flat_map(|(map, _)| map.breaks()));
        if let Noise::Laplace(_) = self.from.noise {
            cuts.extend(self.from.components.iter().map(|component| component.centre));
        }
        cuts.retain(|&x| self.interval.contains(x));
        cuts.sort_by(f64::total_cmp);
        cuts.dedup();
        cuts
    }

    /// Gauss–Legendre nodes on [left, right], where every map is affine and at most `steepness`
    /// noise deviations steep.
    fn panels(
        &mut self,
        left: f64,
        right: f64,
        pieces: &[(Piece, [f64; 2])],
        steepness: f64,
    ) -> Result<(), Error> {
        let scale = self.from.noise.scale();
        let (curvature, growth) = match self.from.noise {
            Noise::Gaussian(_) => (steepness.hypot(1.0 / scale), 0.0),
            Noise::Laplace(_) => (steepness, 1.0 / scale),
        };
        let count = ((right - left) * curvature.max(growth) / (2.0 * WIDEST)).ceil().max(1.0);
        self.count(count.min(1e9) as usize)?;
        // The lengths of the tiles differ by roundings.
        let half = (right - left) / (2.0 * count) * (1.0 + 1e-9);
        let smoothness = Smoothness { curvature: curvature * half, growth: growth * half };
        let Some((rule, error)) = rule(smoothness, TOLERANCE) else {
            return Err(Error::TooFine { step: self.number, nodes: MOST_NODES + 1, most: MOST_NODES });
        };
        for tile in tiles(left, right, count as usize) {
            if self.is_out_of_sight(tile) {
                continue;
            }
            for (x, weight) in rule.nodes() {
                let x = tile.centre + tile.half * x;
                let masses = self.from.density(x).map(|density| tile.half * weight * density);
                self.push(pieces, x, masses);
            }
            self.count(rule.size())?;
            // The error of the rule, that of the densities, that of the ends of the tile, where the integrand is at
            // most `peak`, and that of the nodes, where its slope counts.
            let slopes = half * (1.0 / scale + steepness);
            let rounding = 8.0 * half + 8.0 * tile.magnitude() * (1.0 + slopes);
            self.to.error += self.from.peak() * (half * error + UNIT * rounding);
        }
        Ok(())
    }

    /// Whether every Gaussian is too far from the panel to be seen.
    fn is_out_of_sight(&self, tile: Tile) -> bool {
        let distance = OUT_OF_SIGHT * self.from.noise.scale() + tile.half;
        matches!(self.from.noise, Noise::Gaussian(_))
            && self.from.components.iter().all(|component| (component.centre - tile.centre).abs() > distance)
    }

    fn count(&mut self, nodes: usize) -> Result<(), Error> {
        self.nodes += nodes;
        if self.nodes > MOST_NODES {
            return Err(Error::TooFine { step: self.number, nodes: self.nodes, most: MOST_NODES });
        }
        Ok(())
    }

    /// Adds what is common to all nodes: earlier errors, the relative rounding errors of the
    /// densities, weights and chances, that of the centres, and what was left out.
    fn finish(self) -> Mixture {
        let (from, mut to) = (self.from, self.to);
        to.error += from.error
            + from.sum_error()
            + 8.0 * UNIT
            + self.interval.length() * from.peak() * UNSEEN
            + self.displacement / to.noise.scale()
            + 1e-25;
        // The sums above are also rounded.
        to.error *= 1.0 + 1e-9;
        to
    }
}
