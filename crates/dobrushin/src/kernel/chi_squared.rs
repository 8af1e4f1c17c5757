//! η_χ² = η_KL of a finite kernel, certified.
//!
//! Two inputs suffice (Choi, Ruskai, Seneta 1994; Ordentlich, Polyanskiy 2021):
//! with rows p, q and m_λ = λp + (1 − λ)q,
//!
//! ```text
//! η_χ² = η_KL = max_{p, q} max_{0<λ<1} λ(1−λ)·Σ (p − q)²/m_λ = 1 − min_{p, q} min_λ Σ pq/m_λ.
//! ```
//!
//! The last sum S is convex in λ, being a sum of reciprocals of affine functions. Any λ gives a lower bound on η, and
//! the tangent of S at λ gives an upper one.
//!
//! # Implementation
//! All of this is computed for the S of the stored entries, with the rounding errors of the sums; since pq/m is
//! homogeneous of degree 1, the true S differs from it by at most three times the relative error of the entries at
//! every λ, and so does the minimum.

use super::finite::FiniteKernel;
use crate::Enclosure;
use crate::numeric::UNIT_ROUNDOFF;
use rayon::prelude::*;

/// η_χ² = η_KL (and that of every operator-convex f) with the inputs and weight that attain it.
///
/// ```
/// use dobrushin::kernel::FiniteKernel;
///
/// // A binary symmetric channel that errs one time in four: η_χ² = (1 − 2/4)².
/// let channel = FiniteKernel::new(vec![vec![0.75, 0.25], vec![0.25, 0.75]])?;
/// let contraction = channel.chi_squared_contraction();
/// assert!((contraction.value.upper() - 0.25).abs() < 1e-9);
/// // Two equally likely inputs attain it.
/// assert!((contraction.weight - 0.5).abs() < 1e-6);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChiSquaredContraction {
    /// The coefficient.
    pub value: Enclosure,
    /// The two inputs, counted from 0.
    pub pair: (usize, usize),
    /// The probability of the first of them in the input law that attains it.
    pub weight: f64,
}

impl FiniteKernel {
    /// η_χ² = η_KL with its maximiser, in O(m²k).
    pub fn chi_squared_contraction(&self) -> ChiSquaredContraction {
        self.chi_squared_contraction_with_progress(|| {})
    }

    /// [`FiniteKernel::chi_squared_contraction`], calling `row_done` after each of
    /// the inputs.
    pub fn chi_squared_contraction_with_progress(&self, row_done: impl Fn() + Sync) -> ChiSquaredContraction {
        let rows = if self.outputs() == 2 { self.outer_rows() } else { self.different_rows() };
        let of_row = |place: usize| {
            let mut best: Option<ChiSquaredContraction> = None;
            let x = rows[place];
            for &y in &rows[place + 1..] {
                let floor = best.map_or(0.0, |b| b.value.lower());
                best = better(best, self.at_least(floor, (x, y)));
            }
            row_done();
            best
        };
        let best = (0..rows.len()).into_par_iter().map(of_row).reduce(|| None, better);
        // None: all rows are the same law.
        best.unwrap_or(ChiSquaredContraction { value: Enclosure::ZERO, pair: (0, 1), weight: 0.5 })
    }

    /// The coefficient of two rows, unless it is certainly below `floor`.
    fn at_least(&self, floor: f64, (x, y): (usize, usize)) -> Option<ChiSquaredContraction> {
        if self.same_law(x, y) {
            return None;
        }
        // The rounding error of a sum of k terms, each with an error of up to 6 units, or 13 for the slope; the
        // entries' own error enters three times.
        let rounding = (self.outputs() as f64 + 16.0) * UNIT_ROUNDOFF + 4.0 * self.relative_error();
        let mut found = ChiSquaredContraction { value: Enclosure::UNIT, pair: (x, y), weight: 0.5 };
        // The bracket of the minimiser, and Newton's step inside it.
        let (mut from, mut to, mut weight) = (0.0, 1.0, 0.5);
        for _ in 0..60 {
            let at = affinity(self.row(x), self.row(y), weight);
            let (slack, slope_slack) = (rounding * at.sum + 2.0 * UNIT_ROUNDOFF, rounding * at.slope_scale);
            // S(λ′) ≥ S(λ) + S′(λ)(λ′ − λ) for every λ′ in the bracket.
            let fall = |distance: f64, slope: f64| (slope + slope_slack).max(0.0) * distance;
            let fall = fall(weight - from, at.slope).max(fall(to - weight, -at.slope));
            let lower = (1.0 - at.sum - slack).max(0.0);
            let upper = (1.0 - at.sum + slack + fall * (1.0 + 1e-10)).clamp(lower, 1.0);
            if lower > found.value.lower() {
                found.weight = weight;
            }
            let lower = lower.max(found.value.lower());
            found.value = Enclosure::between(lower, upper.min(found.value.upper()).max(lower));
            if found.value.upper() < floor {
                return None;
            }
            if at.slope > slope_slack {
                to = weight;
            } else if at.slope < -slope_slack {
                from = weight;
            }
            let newton = weight - at.slope / at.curvature;
            let next = if newton > from && newton < to { newton } else { 0.5 * (from + to) };
            // A weight as small as the smallest entries would hide them from m.
            let next = next.max(LEAST_WEIGHT);
            if found.value.width() <= 4.0 * slack || next == weight {
                break;
            }
            weight = next;
        }
        Some(found)
    }
}

/// The search for the best weight stops here; a mixture with it is below the smallest normal number only if the entries
/// are.
const LEAST_WEIGHT: f64 = 1e-60;

/// The pair with the larger coefficient, or the first of equal ones; the value encloses the larger of both.
fn better(
    a: Option<ChiSquaredContraction>,
    b: Option<ChiSquaredContraction>,
) -> Option<ChiSquaredContraction> {
    let (Some(first), Some(second)) = (a, b) else {
        return a.or(b);
    };
    let (lead, other) = (first.value.lower(), second.value.lower());
    let winner = if other > lead || (other == lead && second.pair < first.pair) { second } else { first };
    Some(ChiSquaredContraction { value: first.value.max(second.value), ..winner })
}

/// S(λ) and its derivatives.
struct Affinity {
    /// S = Σ pq/m.
    sum: f64,
    /// S′ = −Σ pq(p − q)/m².
    slope: f64,
    /// Σ |pq(p − q)/m²|, the reference for the rounding error of the slope.
    slope_scale: f64,
    /// S″ = 2Σ pq(p − q)²/m³.
    curvature: f64,
}

fn affinity(p: &[f64], q: &[f64], weight: f64) -> Affinity {
    const LANES: usize = 8;
    let mut sums = [[0.0; LANES]; 4];
    let mut add = |lane: usize, p: f64, q: f64| {
        let mixture = weight * p + (1.0 - weight) * q;
        // Where both are 0, or nearly, the term is 0, not 0/0.
        let inverse = if mixture >= f64::MIN_POSITIVE { 1.0 / mixture } else { 0.0 };
        let term = p * q * inverse;
        let lean = (p - q) * inverse;
        sums[0][lane] += term;
        sums[1][lane] -= term * lean;
        sums[2][lane] += term * lean.abs();
        sums[3][lane] += 2.0 * term * lean * lean;
    };
    let (p_chunks, q_chunks) = (p.chunks_exact(LANES), q.chunks_exact(LANES));
    let rest = p_chunks.remainder().iter().zip(q_chunks.remainder());
    for (lane, (&p, &q)) in rest.enumerate() {
        add(lane, p, q);
    }
    for (p, q) in p_chunks.zip(q_chunks) {
        for lane in 0..LANES {
            add(lane, p[lane], q[lane]);
        }
    }
    let [sum, slope, slope_scale, curvature] = sums.map(|lanes| lanes.iter().sum());
    Affinity { sum, slope, slope_scale, curvature }
}
