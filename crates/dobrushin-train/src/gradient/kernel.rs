//! Products of rows with vectors, by the widest SIMD instructions that the machine has.

use pulp::{Arch, Simd, WithSimd};
use std::array::from_fn;

/// The scores ⟨row, vector⟩ of every row with every vector: all those of the first row, then of the second, and so on.
///
/// Each is off by at most (n/lanes + lanes)·2⁻²⁴·Σ|xᵢwᵢ|, where n is the length and `lanes` the width of a register.
pub fn scores(arch: Arch, rows: &[&[f32]], vectors: &[f32], out: &mut [f32]) {
    if !rows.is_empty() {
        arch.dispatch(Scores { rows, vectors, out });
    }
}

/// Σ over the rows of coefficient × row, for each of several coefficients of every row, in the order of [`scores`].
///
/// Every entry is off by at most rows·2⁻²⁴·Σ|cᵢxᵢ|.
pub fn combine(arch: Arch, rows: &[&[f32]], coefficients: &[f32], out: &mut [f32]) {
    if rows.is_empty() {
        out.fill(0.0);
    } else {
        arch.dispatch(Combine { rows, coefficients, out });
    }
}

/// ‖x‖² times a number between 1 + 2⁻²¹ and 1 + 2⁻¹⁸, so that there is room for a rounding of f32 afterwards.
pub fn square_norm(arch: Arch, x: &[f32]) -> f64 {
    let sum = arch.dispatch(SquareNorm { x });
    let exact = || x.iter().map(|&value| f64::from(value).powi(2)).sum();
    // Squares of f32 overflow beyond, and below so many may vanish that it matters.
    let sum = if (1e-20..1e30).contains(&sum) { sum } else { exact() };
    sum * (1.0 + 1.0 / (1 << 19) as f64)
}

/// So many vectors at a time that their products with several rows stay in registers.
const VECTORS: usize = 5;

struct Scores<'a> {
    rows: &'a [&'a [f32]],
    vectors: &'a [f32],
    out: &'a mut [f32],
}

impl WithSimd for Scores<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let count = self.out.len() / self.rows.len();
        for first in (0..count).step_by(VECTORS) {
            match count - first {
                1 => self.tiles::<S, 8, 1>(simd, first),
                2 => self.tiles::<S, 4, 2>(simd, first),
                3 => self.tiles::<S, 2, 3>(simd, first),
                4 => self.tiles::<S, 2, 4>(simd, first),
                _ => self.tiles::<S, 2, VECTORS>(simd, first),
            }
        }
    }
}

impl Scores<'_> {
    /// The scores of all rows, R at a time, with V vectors.
    #[inline(always)]
    fn tiles<S: Simd, const R: usize, const V: usize>(&mut self, simd: S, first_vector: usize) {
        let (rows, count) = (self.rows.len(), self.out.len() / self.rows.len());
        let length = self.rows[0].len();
        let vectors = from_fn(|v| &self.vectors[(first_vector + v) * length..][..length]);
        for first_row in (0..rows).step_by(R) {
            // Where the rows are too few the last one fills up.
            let tile = from_fn(|r| self.rows[(first_row + r).min(rows - 1)]);
            let products = products::<S, R, V>(simd, tile, vectors);
            for (row, products) in (first_row..rows).zip(products) {
                self.out[row * count + first_vector..][..V].copy_from_slice(&products);
            }
        }
    }
}

#[inline(always)]
fn products<S: Simd, const R: usize, const V: usize>(
    simd: S,
    rows: [&[f32]; R],
    vectors: [&[f32]; V],
) -> [[f32; V]; R] {
    let whole = rows[0].len() / S::F32_LANES;
    let mut sums = [[simd.splat_f32s(0.0); V]; R];
    let mut add = |x: [S::f32s; R], w: [S::f32s; V]| {
        for r in 0..R {
            for v in 0..V {
                sums[r][v] = simd.mul_add_f32s(x[r], w[v], sums[r][v]);
            }
        }
    };
    let split = |slice| {
        let (head, tail) = S::as_simd_f32s(slice);
        (&head[..whole], tail)
    };
    let (rows, vectors) = (rows.map(split), vectors.map(split));
    for i in 0..whole {
        add(rows.map(|(head, _)| head[i]), vectors.map(|(head, _)| head[i]));
    }
    if !rows[0].1.is_empty() {
        let load = |(_, tail): (_, &[f32])| simd.partial_load_f32s(tail);
        add(rows.map(load), vectors.map(load));
    }
    sums.map(|sums| sums.map(|sum| simd.reduce_sum_f32s(sum)))
}

struct Combine<'a> {
    rows: &'a [&'a [f32]],
    coefficients: &'a [f32],
    out: &'a mut [f32],
}

impl WithSimd for Combine<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let count = self.coefficients.len() / self.rows.len();
        for first in (0..count).step_by(VECTORS) {
            match count - first {
                1 => self.columns::<S, 4, 1>(simd, first),
                2 => self.columns::<S, 4, 2>(simd, first),
                3 => self.columns::<S, 2, 3>(simd, first),
                4 => self.columns::<S, 2, 4>(simd, first),
                _ => self.columns::<S, 2, VECTORS>(simd, first),
            }
        }
    }
}

impl Combine<'_> {
    /// V combinations, W registers at a time.
    #[inline(always)]
    fn columns<S: Simd, const W: usize, const V: usize>(&mut self, simd: S, first: usize) {
        let whole = self.rows[0].len() / S::F32_LANES;
        let wide = whole / W * W;
        for i in (0..wide).step_by(W) {
            let load = |row: &[f32]| from_fn(|w| S::as_simd_f32s(row).0[i + w]);
            let sums = self.sums::<S, W, V>(simd, first, load);
            self.store(simd, first, i, sums);
        }
        for i in wide..whole {
            let sums = self.sums::<S, 1, V>(simd, first, |row: &[f32]| [S::as_simd_f32s(row).0[i]]);
            self.store(simd, first, i, sums);
        }
        if self.rows[0].len() > whole * S::F32_LANES {
            let load = |row: &[f32]| [simd.partial_load_f32s(S::as_simd_f32s(row).1)];
            let sums = self.sums::<S, 1, V>(simd, first, load);
            self.store(simd, first, whole, sums);
        }
    }

    #[inline(always)]
    fn sums<S: Simd, const W: usize, const V: usize>(
        &self,
        simd: S,
        first: usize,
        load: impl Fn(&[f32]) -> [S::f32s; W],
    ) -> [[S::f32s; W]; V] {
        let count = self.coefficients.len() / self.rows.len();
        let mut sums = [[simd.splat_f32s(0.0); W]; V];
        for (row, coefficients) in self.rows.iter().zip(self.coefficients.chunks_exact(count)) {
            let x = load(row);
            let coefficients: [f32; V] = from_fn(|v| coefficients[first + v]);
            for v in 0..V {
                let coefficient = simd.splat_f32s(coefficients[v]);
                for w in 0..W {
                    sums[v][w] = simd.mul_add_f32s(coefficient, x[w], sums[v][w]);
                }
            }
        }
        sums
    }

    /// From the i-th register of each combination on.
    #[inline(always)]
    fn store<S: Simd, const W: usize, const V: usize>(
        &mut self,
        simd: S,
        first: usize,
        i: usize,
        sums: [[S::f32s; W]; V],
    ) {
        let length = self.rows[0].len();
        for (v, sums) in sums.iter().enumerate() {
            let combination = &mut self.out[(first + v) * length..][..length];
            let places = combination[i * S::F32_LANES..].chunks_mut(S::F32_LANES);
            for (place, &sum) in places.zip(sums) {
                simd.partial_store_f32s(place, sum);
            }
        }
    }
}

struct SquareNorm<'a> {
    x: &'a [f32],
}

impl WithSimd for SquareNorm<'_> {
    type Output = f64;

    /// Sums of f32 see at most 24 roundings: 16 squares and one more, four sums, the lanes. All else is f64.
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let (head, tail) = S::as_simd_f32s(self.x);
        let zero = simd.splat_f32s(0.0);
        let last = simd.partial_load_f32s(tail);
        let mut sums = [simd.mul_f32s(last, last), zero, zero, zero];
        let mut square_norm = 0.0;
        for chunk in head.chunks(4 * 16) {
            for group in chunk.chunks(4) {
                for (sum, &x) in sums.iter_mut().zip(group) {
                    *sum = simd.mul_add_f32s(x, x, *sum);
                }
            }
            square_norm += f64::from(total(simd, std::mem::replace(&mut sums, [zero; 4])));
        }
        square_norm + f64::from(total(simd, sums))
    }
}

#[inline(always)]
fn total<S: Simd>(simd: S, sums: [S::f32s; 4]) -> f32 {
    simd.reduce_sum_f32s(simd.add_f32s(simd.add_f32s(sums[0], sums[1]), simd.add_f32s(sums[2], sums[3])))
}
