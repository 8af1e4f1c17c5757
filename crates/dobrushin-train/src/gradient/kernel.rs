//! Products of rows with vectors, by the widest SIMD instructions of the machine.

use pulp::{Arch, Simd, WithSimd};

/// Brings rows of one length into the cache. They lie anywhere in memory. Reading one cache line of each, and then the
/// next of each, is up to twice as fast as reading one row after the other.
pub fn bring(rows: &[&[f32]]) {
    const LINE: usize = 64 / size_of::<f32>();
    let mut read = 0;
    for rows in rows.chunks(16) {
        for place in (0..rows[0].len()).step_by(LINE) {
            for row in rows {
                read ^= row[place].to_bits();
            }
        }
    }
    std::hint::black_box(read);
}

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
    // Beyond this, squares of f32 overflow; below this, so many may vanish that it matters.
    let sum = if (1e-20..1e30).contains(&sum) { sum } else { exact() };
    sum * (1.0 + 1.0 / (1 << 19) as f64)
}

/// The number of vectors whose products with several rows stay in registers.
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
        let mut vectors = [&[][..]; V];
        for (v, vector) in vectors.iter_mut().enumerate() {
            *vector = &self.vectors[(first_vector + v) * length..][..length];
        }
        for first_row in (0..rows).step_by(R) {
            let mut tile = [self.rows[first_row]; R];
            let filled = R.min(rows - first_row);
            tile[..filled].copy_from_slice(&self.rows[first_row..][..filled]);
            let products = products::<S, R, V>(simd, tile, vectors);
            for (row, products) in (first_row..rows).zip(products) {
                self.out[row * count + first_vector..][..V].copy_from_slice(&products);
            }
        }
    }
}

/// These are loops, not closures: closures are compiled for any machine, and then not inlined.
#[inline(always)]
fn products<S: Simd, const R: usize, const V: usize>(
    simd: S,
    rows: [&[f32]; R],
    vectors: [&[f32]; V],
) -> [[f32; V]; R] {
    let zero = simd.splat_f32s(0.0);
    let (mut w, mut sums) = ([zero; V], [[zero; V]; R]);
    let whole = rows[0].len() / S::F32_LANES;
    let (mut row_heads, mut vector_heads) = ([&[][..]; R], [&[][..]; V]);
    for r in 0..R {
        row_heads[r] = &S::as_simd_f32s(rows[r]).0[..whole];
    }
    for v in 0..V {
        vector_heads[v] = &S::as_simd_f32s(vectors[v]).0[..whole];
    }
    for i in 0..whole {
        for v in 0..V {
            w[v] = vector_heads[v][i];
        }
        for r in 0..R {
            let x = row_heads[r][i];
            for v in 0..V {
                sums[r][v] = simd.mul_add_f32s(x, w[v], sums[r][v]);
            }
        }
    }
    for v in 0..V {
        w[v] = simd.partial_load_f32s(S::as_simd_f32s(vectors[v]).1);
    }
    let mut totals = [[0.0; V]; R];
    for r in 0..R {
        let x = simd.partial_load_f32s(S::as_simd_f32s(rows[r]).1);
        for v in 0..V {
            totals[r][v] = simd.reduce_sum_f32s(simd.mul_add_f32s(x, w[v], sums[r][v]));
        }
    }
    totals
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
        let length = self.rows[0].len();
        let whole = length / S::F32_LANES;
        let wide = whole / W * W;
        for i in (0..wide).step_by(W) {
            self.sum::<S, W, V>(simd, first, i);
        }
        for i in wide..whole {
            self.sum::<S, 1, V>(simd, first, i);
        }
        if length > whole * S::F32_LANES {
            self.sum::<S, 0, V>(simd, first, whole);
        }
    }

    /// V combinations from the i-th register on: W registers or, for W = 0, the rest, which is less than one.
    #[inline(always)]
    fn sum<S: Simd, const W: usize, const V: usize>(&mut self, simd: S, first: usize, i: usize) {
        let count = self.coefficients.len() / self.rows.len();
        let zero = simd.splat_f32s(0.0);
        let (mut sums, mut rest) = ([[zero; W]; V], [zero; V]);
        for (row, coefficients) in self.rows.iter().zip(self.coefficients.chunks_exact(count)) {
            let (head, tail) = S::as_simd_f32s(row);
            let coefficients = &coefficients[first..][..V];
            if W == 0 {
                let x = simd.partial_load_f32s(tail);
                for v in 0..V {
                    rest[v] = simd.mul_add_f32s(simd.splat_f32s(coefficients[v]), x, rest[v]);
                }
            } else {
                let x = &head[i..][..W];
                for v in 0..V {
                    let coefficient = simd.splat_f32s(coefficients[v]);
                    for w in 0..W {
                        sums[v][w] = simd.mul_add_f32s(coefficient, x[w], sums[v][w]);
                    }
                }
            }
        }
        let length = self.rows[0].len();
        for v in 0..V {
            let (head, tail) = S::as_mut_simd_f32s(&mut self.out[(first + v) * length..][..length]);
            if W == 0 {
                simd.partial_store_f32s(tail, rest[v]);
            } else {
                head[i..][..W].copy_from_slice(&sums[v]);
            }
        }
    }
}

struct SquareNorm<'a> {
    x: &'a [f32],
}

impl WithSimd for SquareNorm<'_> {
    type Output = f64;

    /// Sums of f32 have at most 24 roundings: 16 squares and one more, four sums, and the lanes. Everything else is
    /// f64.
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let (head, tail) = S::as_simd_f32s(self.x);
        let zero = simd.splat_f32s(0.0);
        let mut square_norm = 0.0;
        for chunk in head.chunks(4 * 16) {
            let mut sums = [zero; 4];
            let (groups, rest) = chunk.as_chunks::<4>();
            for x in groups {
                for k in 0..4 {
                    sums[k] = simd.mul_add_f32s(x[k], x[k], sums[k]);
                }
            }
            for &x in rest {
                sums[0] = simd.mul_add_f32s(x, x, sums[0]);
            }
            let (left, right) = (simd.add_f32s(sums[0], sums[1]), simd.add_f32s(sums[2], sums[3]));
            square_norm += f64::from(simd.reduce_sum_f32s(simd.add_f32s(left, right)));
        }
        let last = simd.partial_load_f32s(tail);
        square_norm + f64::from(simd.reduce_sum_f32s(simd.mul_f32s(last, last)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dobrushin::numeric::Random;

    /// Runs it with everything this machine has, and without any of it.
    const ARCHS: [fn() -> Arch; 2] = [Arch::new, || Arch::Scalar];

    fn numbers(random: &mut Random, count: usize) -> Vec<f32> {
        (0..count).map(|_| random.between(-1.0, 1.0) as f32).collect()
    }

    #[test]
    fn scores_and_combinations_are_those_of_the_definition_with_and_without_simd() {
        let mut random = Random::new(1);
        for (count, length, vectors) in
            [(1, 1, 1), (3, 5, 2), (9, 16, 3), (8, 31, 4), (64, 100, 1), (7, 67, 5), (11, 40, 12)]
        {
            let (x, w) = (numbers(&mut random, count * length), numbers(&mut random, vectors * length));
            let rows: Vec<&[f32]> = x.chunks(length).collect();
            let c = numbers(&mut random, count * vectors);
            for arch in ARCHS {
                let mut computed = vec![0.0; count * vectors];
                scores(arch(), &rows, &w, &mut computed);
                for (i, &score) in computed.iter().enumerate() {
                    let w = &w[i % vectors * length..][..length];
                    let terms = rows[i / vectors].iter().zip(w).map(|(&x, &w)| f64::from(x) * f64::from(w));
                    let bound =
                        (length + 16) as f64 / (1 << 24) as f64 * terms.clone().map(f64::abs).sum::<f64>();
                    assert!((f64::from(score) - terms.sum::<f64>()).abs() <= bound);
                }
                let mut computed = vec![0.0; vectors * length];
                combine(arch(), &rows, &c, &mut computed);
                for (i, &sum) in computed.iter().enumerate() {
                    let c = c.iter().skip(i / length).step_by(vectors);
                    let terms = rows.iter().zip(c).map(|(row, &c)| f64::from(row[i % length]) * f64::from(c));
                    let bound = count as f64 / (1 << 24) as f64 * terms.clone().map(f64::abs).sum::<f64>();
                    assert!((f64::from(sum) - terms.sum::<f64>()).abs() <= bound);
                }
            }
        }
    }

    #[test]
    fn norms_are_rounded_up_and_hardly_more_than_needed() {
        let mut random = Random::new(2);
        for length in [1, 2, 15, 16, 17, 100, 784, 5000] {
            for scale in [1e-38, 1e-25, 1e-12, 1.0, 1e14, 1e16, 1e38] {
                let x: Vec<f32> = numbers(&mut random, length).iter().map(|x| x * scale).collect();
                let exact: f64 = x.iter().map(|&x| f64::from(x).powi(2)).sum();
                for arch in ARCHS {
                    let ratio = square_norm(arch(), &x) / exact;
                    assert!(
                        ratio >= 1.0 + (-21_f64).exp2() && ratio <= 1.0 + (-18_f64).exp2(),
                        "{length} {scale}"
                    );
                }
            }
        }
        assert_eq!(square_norm(Arch::new(), &[0.0; 20]), 0.0);
        assert_eq!(square_norm(Arch::new(), &[]), 0.0);
    }
}
