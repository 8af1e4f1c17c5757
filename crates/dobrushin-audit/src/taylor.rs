//! The final densities as polynomials on short cells.

use crate::Interval;
use crate::interval::{Tile, tiles};
use crate::mixture::{CHUNK, Mixture, OUT_OF_SIGHT, UNIT, UNSEEN};
use crate::step::Noise;
use dobrushin::numeric::elementary;

/// The number of coefficients of a polynomial.
pub(crate) const TERMS: usize = 22;

/// A polynomial in t ∈ [−1, 1], the constant term first.
pub(crate) type Polynomial = [f64; TERMS];

/// A cell is at most this many noise scales wide on either side of its centre.
const HALF_WIDTH: f64 = 0.5;

/// The Taylor remainder, relative to the peak.
///
/// By Cauchy's estimate on |t| = R the k-th coefficient of φ_s(y₀ + ht − c) is at most
/// peak·e^(r²R²/2)·R^(−k), r = h/s. With R² = TERMS/r² all from TERMS on sum to at most
/// (e·r²/TERMS)^(TERMS/2)/(1 − r/√TERMS) < 2.8e-17 for r ≤ ½; for a Laplace law they are
/// r^k/k!, which is less.
const REMAINDER: f64 = 2.8e-17;

/// The densities of D and of D′ on a part of the interval.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) tile: Tile,
    pub(crate) densities: [Polynomial; 2],
    /// How far the polynomials are from the densities of the mixtures, at most.
    pub(crate) error: f64,
}

/// Cuts the interval so that every density of the parts is analytic on each cell, and expands the densities.
pub(crate) fn cells(interval: Interval, parts: &[Mixture]) -> Vec<Cell> {
    let widest = parts.iter().fold(f64::INFINITY, |least, part| least.min(part.noise.scale())) * HALF_WIDTH;
    let kinks = parts.iter().filter(|part| matches!(part.noise, Noise::Laplace(_)));
    let mut cuts = vec![interval.lower(), interval.upper()];
    cuts.extend(kinks.flat_map(|part| part.components.iter().map(|component| component.centre)));
    cuts.retain(|&x| interval.contains(x));
    cuts.sort_by(f64::total_cmp);
    cuts.dedup();
    let mut cells = Vec::new();
    for ends in cuts.windows(2) {
        // The excess keeps the ratio ≤ ½ when rounded.
        let count = ((ends[1] - ends[0]) / (2.0 * widest) * (1.0 + 1e-9)).ceil().max(1.0);
        cells.extend(tiles(ends[0], ends[1], count as usize).map(|tile| expand(tile, parts)));
    }
    cells
}

/// # Guarantee
/// With r = h/s ≤ ½ and z = (y₀ − c)/s, the coefficients of exp(−z·rt − r²t²/2) satisfy
/// (k + 1)b_{k+1} = −rz·b_k − r²·b_{k−1}, in which each step adds at most 9 units relative to
/// the same recurrence with absolute values, whose generating function is e^(r|z|t + r²t²/2).
/// So, times e^(−z²/2), which is off by 7·z²/2 + 3 units, the sum over k of the rounding errors
/// is at most 9·0.9 + 7·0.91 + 3·1.29 < 24 units of the peak; and summing n components adds
/// 1.29·(CHUNK + n/CHUNK + 4) units. For a component farther away all that is multiplied by at
/// most its [`presence`]. The cell itself is displaced by at most 4 units of its magnitude, which
/// counts times the slope of the density.
fn expand(tile: Tile, parts: &[Mixture]) -> Cell {
    let mut cell = Cell { tile, densities: [[0.0; TERMS]; 2], error: 0.0 };
    for part in parts {
        let (scale, peak) = (part.noise.scale(), part.peak());
        let mut present = 0.0;
        for chunk in part.components.chunks(CHUNK) {
            let mut sums = [[0.0; TERMS]; 2];
            for component in chunk {
                let z = (tile.centre - component.centre) / scale;
                let shape = match part.noise {
                    Noise::Gaussian(_) if z.abs() > OUT_OF_SIGHT + HALF_WIDTH => continue,
                    Noise::Gaussian(_) => gaussian(z, tile.half / scale),
                    Noise::Laplace(_) => laplace(z, tile.half / scale),
                };
                present += component.weights[0].max(component.weights[1]) * presence(part.noise, z);
                for (sum, weight) in sums.iter_mut().zip(component.weights) {
                    if weight > 0.0 {
                        accumulate(sum, weight * peak, &shape);
                    }
                }
            }
            cell.densities.iter_mut().zip(&sums).for_each(|(density, sum)| accumulate(density, 1.0, sum));
        }
        let roundings = 24.0
            + 1.3 * (CHUNK as f64 + part.components.len() as f64 / CHUNK as f64 + 8.0)
            + 4.0 * tile.magnitude() / scale;
        cell.error += peak * (present * UNIT * roundings * (1.0 + 1e-9) + part.mass * (REMAINDER + UNSEEN));
    }
    cell
}

/// How much smaller the rounding errors of a component z scales away are than in the worst case: twice the largest of
/// the expressions above, over their bounds, for |z| beyond each integer.
fn presence(noise: Noise, z: f64) -> f64 {
    const BEYOND: [f64; 8] = [1.0, 1.0, 1.0, 0.25, 2e-2, 5e-4, 5e-6, 2e-8];
    match noise {
        Noise::Gaussian(_) => *BEYOND.get(z.abs() as usize).unwrap_or(&2e-11),
        Noise::Laplace(_) => 1.0,
    }
}

/// sum + factor·shape.
fn accumulate(sum: &mut Polynomial, factor: f64, shape: &Polynomial) {
    sum.iter_mut().zip(shape).for_each(|(sum, term)| *sum += factor * term);
}

/// 1/(k + 1) at k.
const INVERSES: Polynomial = {
    let mut inverses = [1.0; TERMS];
    let mut k = 0;
    while k < TERMS {
        inverses[k] = 1.0 / (k + 1) as f64;
        k += 1;
    }
    inverses
};

/// A Gaussian z away, over its peak.
fn gaussian(z: f64, ratio: f64) -> Polynomial {
    let mut shape = [0.0; TERMS];
    let (linear, square) = (-ratio * z, -ratio * ratio);
    shape[0] = elementary::exp(-0.5 * z * z);
    shape[1] = linear * shape[0];
    for k in 1..TERMS - 1 {
        shape[k + 1] = (linear * shape[k] + square * shape[k - 1]) * INVERSES[k];
    }
    shape
}

/// A Laplace law z away, whose centre is not inside the cell, over its peak.
fn laplace(z: f64, ratio: f64) -> Polynomial {
    let mut shape = [elementary::exp(-z.abs()); TERMS];
    for k in 0..TERMS - 1 {
        shape[k + 1] = -ratio.copysign(z) * shape[k] * INVERSES[k];
    }
    shape
}

/// The polynomial t ↦ p(middle + half·t), for |middle| + half ≤ 1. The rounding errors sum to at
/// most 4·TERMS units of Σ|p_k|.
pub(crate) fn zoomed(p: &Polynomial, middle: f64, half: f64) -> Polynomial {
    let mut q = *p;
    if middle != 0.0 {
        for low in 0..TERMS - 1 {
            for k in (low..TERMS - 1).rev() {
                q[k] += middle * q[k + 1];
            }
        }
    }
    let mut power = 1.0;
    for term in &mut q {
        *term *= power;
        power *= half;
    }
    q
}

/// p(t).
pub(crate) fn value(p: &Polynomial, t: f64) -> f64 {
    p.iter().rev().fold(0.0, |sum, term| sum * t + term)
}

/// ∫ p from −1 to t.
pub(crate) fn integral_to(p: &Polynomial, t: f64) -> f64 {
    let antiderivative = |t: f64| t * p.iter().zip(INVERSES).rev().fold(0.0, |sum, (c, i)| sum * t + c * i);
    antiderivative(t) - antiderivative(-1.0)
}

/// Σ|p_k|, which bounds |p| and every sum of its terms.
pub(crate) fn size(p: &Polynomial) -> f64 {
    p.iter().map(|term| term.abs()).sum()
}
