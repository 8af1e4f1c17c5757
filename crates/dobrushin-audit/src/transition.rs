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
        let places = Places::new(self, interval, step, number, |tile| self.sees(tile))?;
        Ok(places.carry(self, &places.masses(self)))
    }

    /// Whether some Gaussian is near enough to a panel to be seen.
    fn sees(&self, tile: Tile) -> bool {
        let distance = OUT_OF_SIGHT * self.noise.scale() + tile.half;
        !matches!(self.noise, Noise::Gaussian(_))
            || self.components.iter().any(|component| (component.centre - tile.centre).abs() <= distance)
    }
}

/// What a place takes from the law.
#[derive(Clone, Copy, Debug)]
enum Takes {
    /// The atom at the lower end of the interval.
    Below,
    /// The atom at the upper end.
    Above,
    /// The probability of a piece on which all maps are constant, up to this number.
    UpTo(f64),
    /// The density, times this.
    Density(f64),
}

/// A point from which mass moves on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    x: f64,
    takes: Takes,
    /// Which of the lists of pieces applies here.
    region: usize,
}

impl Place {
    /// The masses that both laws have here.
    fn mass(&self, law: &Mixture) -> [f64; 2] {
        match self.takes {
            Takes::Below => law.below(self.x),
            Takes::Above => law.above(self.x),
            Takes::UpTo(end) => {
                let (left, right) = (law.below(self.x), law.below(end));
                [0, 1].map(|i| (right[i] - left[i]).max(0.0))
            }
            Takes::Density(weight) => law.density(self.x).map(|density| weight * density),
        }
    }

    /// The mass that noise around a centre has here.
    pub(crate) fn mass_of(&self, noise: &Mixture, centre: f64) -> f64 {
        match self.takes {
            Takes::Below => noise.tail(centre - self.x),
            Takes::Above => noise.tail(self.x - centre),
            Takes::UpTo(end) => (noise.tail(centre - end) - noise.tail(centre - self.x)).max(0.0),
            Takes::Density(weight) => weight * noise.peak() * noise.bell(self.x - centre),
        }
    }
}

/// Every point from which mass moves on in a step, and what that costs.
pub(crate) struct Places {
    interval: Interval,
    noise: Noise,
    number: usize,
    pub(crate) all: Vec<Place>,
    /// The maps that apply in each region, with their probabilities for D and for D′.
    regions: Vec<Vec<(Piece, [f64; 2])>>,
    /// Where each region begins and ends.
    extents: Vec<(f64, f64)>,
    /// What the sums over panels may be off by, in L¹.
    error: f64,
    /// The number of probabilities that are taken from distribution functions.
    tails: usize,
    nodes: usize,
}

impl Places {
    /// The places of a step after a law. Panels that nobody sees are left out.
    pub(crate) fn new(
        from: &Mixture,
        interval: Interval,
        step: &Step,
        number: usize,
        is_seen: impl Fn(Tile) -> bool,
    ) -> Result<Self, Error> {
        let mut places = Self {
            interval,
            noise: step.noise,
            number,
            all: Vec::new(),
            regions: Vec::new(),
            extents: Vec::new(),
            error: 0.0,
            tails: 0,
            nodes: 0,
        };
        for (x, takes) in [(interval.lower(), Takes::Below), (interval.upper(), Takes::Above)] {
            places.add_region(step, x, (x, x));
            places.add(x, takes);
            places.tails += 1;
        }
        for ends in cuts(from, interval, step).windows(2) {
            let (left, right) = (ends[0], ends[1]);
            let steepest = places.add_region(step, left.midpoint(right), (left, right));
            if steepest == 0.0 {
                places.add(left, Takes::UpTo(right));
                places.tails += 2;
                places.count(1)?;
            } else if let Noise::Gaussian(sd) = step.noise {
                places.panels(from, (left, right), steepest / sd, &is_seen)?;
            } else {
                return Err(Error::LaplaceNeedsConstantPieces { step: number });
            }
        }
        Ok(places)
    }

    /// The maps at a point, and how steep the steepest is.
    fn add_region(&mut self, step: &Step, at: f64, extent: (f64, f64)) -> f64 {
        let pieces: Vec<_> = step.active().map(|(map, chances)| (map.piece(at), chances)).collect();
        let steepest = pieces.iter().fold(0.0_f64, |most, (piece, _)| most.max(piece.slope.abs()));
        self.regions.push(pieces);
        self.extents.push(extent);
        steepest
    }

    fn add(&mut self, x: f64, takes: Takes) {
        self.all.push(Place { x, takes, region: self.regions.len() - 1 });
    }

    /// Gauss–Legendre nodes on [left, right], where every map is affine and at most `steepness` noise deviations steep.
    fn panels(
        &mut self,
        from: &Mixture,
        (left, right): (f64, f64),
        steepness: f64,
        is_seen: impl Fn(Tile) -> bool,
    ) -> Result<(), Error> {
        let scale = from.noise.scale();
        let (curvature, growth) = match from.noise {
            Noise::Gaussian(_) => (libm::hypot(steepness, 1.0 / scale), 0.0),
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
            if !is_seen(tile) {
                continue;
            }
            for (x, weight) in rule.nodes() {
                self.add(tile.centre + tile.half * x, Takes::Density(tile.half * weight));
            }
            self.count(rule.size())?;
            // The error of the rule, that of the densities, that of the ends of the tile, where the integrand is at
            // most `peak`, and that of the nodes, where its slope counts.
            let slopes = half * (1.0 / scale + steepness);
            let rounding = 8.0 * half + 8.0 * tile.magnitude() * (1.0 + slopes);
            self.error += from.peak() * (half * error + UNIT * rounding);
        }
        Ok(())
    }

    fn count(&mut self, nodes: usize) -> Result<(), Error> {
        self.nodes += nodes;
        if self.nodes > MOST_NODES {
            return Err(Error::TooFine { step: self.number, nodes: self.nodes, most: MOST_NODES });
        }
        Ok(())
    }

    /// The masses of a law at the places.
    pub(crate) fn masses(&self, law: &Mixture) -> Vec<[f64; 2]> {
        self.all.iter().map(|place| place.mass(law)).collect()
    }

    /// Where mass at a place goes, with the probabilities for D and for D′.
    pub(crate) fn targets(&self, place: &Place) -> impl Iterator<Item = (f64, [f64; 2])> {
        self.regions[place.region].iter().map(|&(piece, chances)| (piece.at(place.x), chances))
    }

    /// The law after the step, if these are the masses at the places after `from`, whose errors it inherits.
    pub(crate) fn carry(&self, from: &Mixture, masses: &[[f64; 2]]) -> Mixture {
        let mut to = Mixture::empty(self.noise);
        let mut displacement = 0.0_f64;
        for (place, masses) in self.all.iter().zip(masses) {
            displacement = displacement.max(to.push(&self.regions[place.region], place.x, *masses));
        }
        for (pieces, (left, right)) in self.regions.iter().zip(&self.extents) {
            to.cover(pieces, *left, *right);
        }
        to.error = (from.error + self.error_of(from, displacement)) * (1.0 + 1e-9);
        to.clamped = from.clamped + at_the_ends(masses);
        to.made = from.made + 1;
        to
    }

    /// A bound on the rounding error of all centres.
    pub(crate) fn displacement(&self) -> f64 {
        let at = |piece: &Piece, x: f64| 3.0 * UNIT * ((piece.slope * x).abs() + piece.intercept.abs());
        let regions = self.regions.iter().zip(&self.extents);
        regions
            .flat_map(|(pieces, (left, right))| {
                pieces.iter().flat_map(move |(piece, _)| [at(piece, *left), at(piece, *right)])
            })
            .fold(0.0, f64::max)
    }

    /// What one step adds to the error: that of the sums, the relative rounding errors of the densities, weights and
    /// chances, that of the centres, and what was left out.
    pub(crate) fn error_of(&self, from: &Mixture, displacement: f64) -> f64 {
        self.error
            + self.tails as f64 * from.tail_error([from.mass; 2])
            + from.sum_error()
            + 8.0 * UNIT
            + self.interval.length() * from.peak() * UNSEEN
            + displacement / self.noise.scale()
            + 1e-25
    }
}

/// The larger probability, of both laws, of the ends of the interval, which are the first two places.
fn at_the_ends(masses: &[[f64; 2]]) -> f64 {
    (0..2).map(|law| masses[0][law] + masses[1][law]).fold(0.0, f64::max)
}

/// The ends of the interval and every cut between, in order: where a map breaks and where the density has a kink.
fn cuts(from: &Mixture, interval: Interval, step: &Step) -> Vec<f64> {
    let mut cuts = vec![interval.lower(), interval.upper()];
    cuts.extend(step.active().flat_map(|(map, _)| map.breaks()));
    if let Noise::Laplace(_) = from.noise {
        cuts.extend(from.components.iter().map(|component| component.centre));
    }
    cuts.retain(|&x| interval.contains(x));
    cuts.sort_by(f64::total_cmp);
    cuts.dedup();
    cuts
}
