//! The law of a sum of losses: convolution on a grid by the Fourier transform. Everything that is lost or misplaced on
//! the way is bounded and recorded.

use super::grid::{Discretised, Grid, Nodes, Placement};
use super::window::{Allowance, CHERNOFF_ROOM, Window};
use crate::Enclosure;
use crate::numeric::UNIT_ROUNDOFF;
use crate::numeric::fft::{Signal, Transform, times};

/// A bound on the law of the sum of some losses.
///
/// # Guarantee
/// For every function of X = e^(−L) that is convex, decreasing and ≥ 0 (see `grid.rs`), the law gives at most the sum
/// of what mass `infinite` at ∞, `nodes.upper` and some measure ≥ 0 of tilted mass `error.upper` give; together these
/// weigh at most `total` before the tilt. The law gives at least what mass `infinite_lower` at ∞ and `nodes.lower`
/// give, minus what some measure ≥ 0 of tilted mass `error.lower` gives. Both properties carry over to sums and to
/// coarser grids.
#[derive(Clone, Debug)]
pub(super) struct Summed {
    pub grid: Grid,
    pub nodes: Nodes,
    /// κ of the tilt, for the sum.
    pub log_scale: Enclosure,
    /// The position of the point 0: the points are at origin + jh.
    pub origin: Enclosure,
    /// The distance by which the pessimistic points lie above, and the optimistic ones below.
    pub offset: f64,
    pub error: Errors,
    pub infinite: f64,
    pub infinite_lower: f64,
    pub total: f64,
}

/// Tilted masses that are not on the nodes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Errors {
    pub upper: f64,
    pub lower: f64,
}

impl Summed {
    /// One loss.
    pub fn one(grid: Grid, placement: Placement, discretised: Discretised, infinite_lower: f64) -> Self {
        Self {
            grid,
            nodes: discretised.nodes,
            log_scale: placement.log_scale.into(),
            origin: placement.origin.into(),
            offset: placement.offset,
            error: Errors::default(),
            infinite: discretised.infinite,
            infinite_lower,
            total: discretised.total,
        }
        .normalised()
    }

    /// The same, scaled by a power of two to a tilted mass of about 1.
    fn normalised(mut self) -> Self {
        let norm = norm_1(&self.nodes.upper);
        if !(1e-300..1e300).contains(&norm) || (0.25..4.0).contains(&norm) {
            return self;
        }
        let power = -libm::log2(norm).round();
        let factor = libm::exp2(power);
        for mass in self.nodes.upper.iter_mut().chain(&mut self.nodes.lower) {
            *mass *= factor;
        }
        self.error = Errors { upper: self.error.upper * factor, lower: self.error.lower * factor };
        self.log_scale = self.log_scale - Enclosure::from(2.0).ln() * Enclosure::from(power);
        self
    }

    /// The law if nothing is known: all mass may be at ∞.
    pub fn unknown() -> Self {
        let nodes = Nodes { first: 0, upper: vec![0.0], lower: vec![0.0] };
        Self { nodes, infinite: 1.0, ..Self::nothing() }
    }

    /// The law of no loss: all mass at 0.
    pub fn nothing() -> Self {
        Self {
            grid: Grid { step: 1.0, tilt: 0.0 },
            nodes: Nodes { first: 0, upper: vec![1.0], lower: vec![1.0] },
            log_scale: Enclosure::ZERO,
            origin: Enclosure::ZERO,
            offset: 0.0,
            error: Errors::default(),
            infinite: 0.0,
            infinite_lower: 0.0,
            total: 1.0,
        }
    }

    /// An upper bound on the tilted mass of either measure, including mass that is not on the nodes. (Their points are
    /// twice the offset apart.)
    fn tilted_mass(&self) -> f64 {
        let apart = libm::exp(2.0 * self.grid.lambda().upper() * self.offset);
        (norm_1(&self.nodes.upper) + self.error.upper.max(self.error.lower)) * apart * ROOM
    }

    /// The same on a coarser grid. Mass that is not on the nodes may be anywhere, and need not move.
    pub fn coarsen(self, factor: usize) -> Self {
        let (grid, nodes) = self.nodes.coarsen(self.grid, factor);
        // A cell's shares sum to its mass up to a few roundings.
        let total = self.total * (1.0 + (4.0 * factor as f64 + 32.0) * UNIT_ROUNDOFF);
        Self { grid, nodes, total, ..self }
    }
}

/// Several copies of a sum.
#[derive(Clone, Copy)]
pub(super) struct Copies<'a> {
    pub summed: &'a Summed,
    pub count: u64,
}

/// The transform would be too long, or the factors are on different grids.
#[derive(Debug)]
pub(super) struct TooLong;

/// Longer transforms would take more than 100 MB.
pub(super) const LONGEST: usize = 1 << 19;

/// Room for the roundings of the error bounds themselves.
const ROOM: f64 = 1.0 + 1e-9;

/// The law of the sum of all copies of all factors, which are on one grid.
pub(super) fn sum(
    workshop: &mut Workshop,
    factors: &[Copies],
    allowance: Allowance,
) -> Result<Summed, TooLong> {
    let factors: Vec<Copies> = factors.iter().copied().filter(|f| f.count > 0).collect();
    let Some(first) = factors.first() else { return Err(TooLong) };
    if let [Copies { summed, count: 1 }] = factors.as_slice() {
        return Ok((*summed).clone());
    }
    let grid = first.summed.grid;
    if factors.iter().any(|f| f.summed.grid != grid) {
        return Err(TooLong);
    }
    let log_scale: Enclosure = factors.iter().map(|f| f.summed.log_scale * Enclosure::from(f.count)).sum();
    let window = Window::around(&factors, grid, log_scale.upper(), allowance);
    let longest = factors.iter().map(|f| f.summed.nodes.upper.len()).max().unwrap_or(0);
    let length = (window.last - window.first + 1) as usize;
    if length.max(longest) > LONGEST {
        return Err(TooLong);
    }
    let (nodes, rounding) = workshop.convolve(&factors, length.max(longest), window);

    // The errors of the factors, each multiplied by everything else. The tilted mass is an increasing function of the
    // loss, convex in X, so the pessimistic one also bounds the optimistic one.
    let whole: f64 = factors.iter().map(|f| f.count as f64 * libm::log(f.summed.tilted_mass())).sum();
    let propagated = |error: fn(Errors) -> f64| -> f64 {
        let each = factors.iter().map(|f| match error(f.summed.error) {
            0.0 => 0.0,
            error => f.count as f64 * error / f.summed.tilted_mass(),
        });
        libm::exp(whole) * each.sum::<f64>()
    };
    let (upper, lower) = (propagated(|e| e.upper), propagated(|e| e.lower));
    let error = Errors {
        upper: (upper + rounding + window.moved_up) * ROOM,
        lower: (lower + rounding + window.outside) * ROOM,
    };

    // Mass at ∞: the mass that was there, and the mass above the window.
    let total_ln: f64 = factors.iter().map(|f| f.count as f64 * libm::log(f.summed.total)).sum();
    let finite_ln: f64 =
        factors.iter().map(|f| f.count as f64 * libm::log1p(-f.summed.infinite / f.summed.total)).sum();
    let total = libm::exp(total_ln) * ROOM;
    let above = if window.above > 0.0 { libm::exp(allowance.log_infinite) * CHERNOFF_ROOM } else { 0.0 };
    let infinite = (total * -libm::expm1(finite_ln) + above) * ROOM;
    let surely_finite: Enclosure = factors
        .iter()
        .map(|f| (-Enclosure::from(f.summed.infinite_lower)).ln_1p() * Enclosure::from(f.count))
        .sum();
    let origin = factors.iter().map(|f| f.summed.origin * Enclosure::from(f.count)).sum();
    let offset = factors.iter().map(|f| f.count as f64 * f.summed.offset).sum::<f64>() * ROOM;
    Ok(Summed {
        grid,
        nodes,
        log_scale,
        origin,
        offset,
        error,
        infinite,
        infinite_lower: (-surely_finite.exp_m1()).lower().max(0.0),
        total,
    }
    .normalised())
}

/// An upper bound on the sum of masses.
fn norm_1(masses: &[f64]) -> f64 {
    masses.iter().sum::<f64>() * (1.0 + masses.len() as f64 * UNIT_ROUNDOFF)
}

/// Planned transforms and used memory, kept for reuse: fresh memory costs as much as the arithmetic on it.
#[derive(Default)]
pub(super) struct Workshop {
    transforms: Vec<Transform>,
    scratch: Signal,
    spectra: Vec<Signal>,
}

impl Workshop {
    /// The convolution of all copies in a window, and a bound on its rounding, in the 1-norm.
    ///
    /// The pessimistic masses are the real part and the optimistic ones the imaginary part of
    /// one signal. With ẑ = z + e, ‖e‖₂ ≤ η‖z‖₂, and |z_k| ≤ R (the 1-norm of the masses),
    /// |ẑ^m − z^m| ≤ m(R + ‖e‖₂)^(m−1)|e|; and each of the products rounds by √5·u.
    fn convolve(&mut self, factors: &[Copies], at_least: usize, window: Window) -> (Nodes, f64) {
        let transform = planned(&mut self.transforms, at_least);
        let length = transform.length();
        let root = (length as f64).sqrt();
        self.spectra.resize_with(factors.len().max(self.spectra.len()), Signal::default);
        let spectra = &mut self.spectra[..factors.len()];
        let (mut log_bound, mut relative) = (0.0, 0.0);
        for (factor, signal) in factors.iter().zip(spectra.iter_mut()) {
            let nodes = &factor.summed.nodes;
            for (part, masses) in [(&mut signal.re, &nodes.upper), (&mut signal.im, &nodes.lower)] {
                part.clear();
                part.extend_from_slice(masses);
                part.resize(length, 0.0);
            }
            let norm_2 = root * (squares(&signal.re) + squares(&signal.im)).sqrt();
            transform.forward(signal, &mut self.scratch);
            let count = factor.count as f64;
            let error = transform.relative_error() * norm_2 * ROOM;
            let largest = norm_1(&nodes.upper).max(norm_1(&nodes.lower)) + error;
            log_bound += count * libm::log(largest);
            // Separating real and imaginary spectra rounds once; multiplying rounds less than three times.
            relative += count * (error + 5.0 * UNIT_ROUNDOFF * norm_2) / largest;
        }
        let counts: Vec<u64> = factors.iter().map(|f| f.count).collect();
        let signal = product_of_powers(spectra, &counts);
        transform.backward(signal, &mut self.scratch);
        let scale = 1.0 / length as f64;
        let first: i64 = factors.iter().map(|f| f.count as i64 * f.summed.nodes.first).sum();
        let turn = (window.first - first).rem_euclid(length as i64) as usize;
        let kept = (window.last - window.first + 1) as usize;
        let take = |from: &[f64], least: f64| -> Vec<f64> {
            let before_end = kept.min(length - turn);
            let mut masses = from[turn..turn + before_end].to_vec();
            masses.extend_from_slice(&from[..kept - before_end]);
            masses.iter_mut().for_each(|x| *x = if *x * scale > least { *x * scale } else { 0.0 });
            masses
        };
        let norm_2 = scale * (squares(&signal.re) + squares(&signal.im)).sqrt();
        // Values that are nothing but rounding would only disturb the optimistic measure.
        let noise = LEAST.max(4.0 * UNIT_ROUNDOFF * norm_2);
        let before = libm::exp(log_bound) * relative / root;
        // Values that are cut off as too small also count as rounding.
        let error = root * (before + transform.relative_error() * norm_2) + length as f64 * LEAST;
        let (upper, lower) = (take(&signal.re, LEAST), take(&signal.im, noise));
        (Nodes { first: window.first, upper, lower }, error * ROOM)
    }
}

/// The transform of at least this length, planned now or earlier.
fn planned(transforms: &mut Vec<Transform>, at_least: usize) -> &Transform {
    let fits = |t: &Transform| t.length() >= at_least && t.length() / 2 < at_least.max(4);
    let index = transforms.iter().position(fits).unwrap_or(transforms.len());
    if index == transforms.len() {
        transforms.push(Transform::at_least(at_least));
    }
    &transforms[index]
}

/// The sum of squares, in an order that the processor can vectorise.
fn squares(values: &[f64]) -> f64 {
    let (chunks, rest) = values.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for chunk in chunks {
        for (sum, x) in sums.iter_mut().zip(chunk) {
            *sum += x * x;
        }
    }
    sums.iter().sum::<f64>() + rest.iter().map(|x| x * x).sum::<f64>()
}

/// Masses below this are dropped: arithmetic on numbers below the normal ones is slow.
const LEAST: f64 = 1e-200;

/// The product of the powers of all spectra, the pessimistic and the optimistic separately, in place of the first.
fn product_of_powers<'a>(spectra: &'a mut [Signal], counts: &[u64]) -> &'a mut Signal {
    let length = spectra[0].re.len();
    for start in (0..=length / 2).step_by(Block::SIZE) {
        let size = Block::SIZE.min(length / 2 + 1 - start);
        let powers = spectra
            .iter()
            .zip(counts)
            .map(|(spectrum, count)| Block::parted(spectrum, start, size).power(*count));
        let product = powers.reduce(|product, power| product.times(&power)).unwrap_or_default();
        product.join(&mut spectra[0], start, size);
    }
    &mut spectra[0]
}

/// Consecutive frequencies of the real and of the imaginary signal.
#[derive(Clone, Copy)]
struct Block {
    /// (re, im) of the pessimistic, then of the optimistic spectrum.
    parts: [([f64; Self::SIZE], [f64; Self::SIZE]); 2],
}

impl Default for Block {
    fn default() -> Self {
        Self { parts: [([0.0; Self::SIZE], [0.0; Self::SIZE]); 2] }
    }
}

impl Block {
    const SIZE: usize = 64;

    /// With z the spectrum of x + iy: x̂_k = (z_k + z̄_{n−k})/2, ŷ_k = (z_k − z̄_{n−k})/2i.
    fn parted(spectrum: &Signal, start: usize, size: usize) -> Self {
        let mut block = Self::default();
        let length = spectrum.re.len();
        let [(x_re, x_im), (y_re, y_im)] = &mut block.parts;
        for i in 0..size {
            let (k, mirrored) = (start + i, (length - start - i) % length);
            let (re, im) = (spectrum.re[k], spectrum.im[k]);
            let (other_re, other_im) = (spectrum.re[mirrored], spectrum.im[mirrored]);
            (x_re[i], x_im[i]) = (0.5 * (re + other_re), 0.5 * (im - other_im));
            (y_re[i], y_im[i]) = (0.5 * (im + other_im), 0.5 * (other_re - re));
        }
        block
    }

    /// The inverse of `parted`.
    fn join(&self, spectrum: &mut Signal, start: usize, size: usize) {
        let length = spectrum.re.len();
        let [(x_re, x_im), (y_re, y_im)] = &self.parts;
        for i in 0..size {
            let (k, mirrored) = (start + i, (length - start - i) % length);
            (spectrum.re[mirrored], spectrum.im[mirrored]) = (x_re[i] + y_im[i], y_re[i] - x_im[i]);
            (spectrum.re[k], spectrum.im[k]) = (x_re[i] - y_im[i], x_im[i] + y_re[i]);
        }
    }

    fn times(mut self, other: &Self) -> Self {
        for ((re, im), (by_re, by_im)) in self.parts.iter_mut().zip(&other.parts) {
            for i in 0..Self::SIZE {
                (re[i], im[i]) = times((re[i], im[i]), (by_re[i], by_im[i]));
            }
        }
        self
    }

    /// Computed by repeated squaring: each of the `count` − 1 products counted with multiplicity rounds by √5·u
    /// relatively.
    fn power(mut self, count: u64) -> Self {
        let mut result: Option<Self> = None;
        let mut remaining = count;
        loop {
            if remaining % 2 == 1 {
                result = Some(result.map_or(self, |result| result.times(&self)));
            }
            remaining /= 2;
            if remaining == 0 {
                return result.unwrap_or(self);
            }
            let square = self;
            self = self.times(&square);
        }
    }
}
