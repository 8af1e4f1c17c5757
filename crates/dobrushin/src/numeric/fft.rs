//! The fast Fourier transform with a proven bound on its rounding error.
//!
//! This is written here rather than taken from a crate because the bound is part of a privacy guarantee: the available
//! crates measure their errors and do not bound them.
//!
//! # Accuracy
//! [`Transform::relative_error`] bounds ‖computed − true‖₂/‖true‖₂. Proof, after Higham, *Accuracy and Stability of
//! Numerical Algorithms* (2002), Theorem 24.2, with u = 2⁻⁵³: a radix-4 stage is twice a unitary map: two layers of
//! additions (a relative error u each, in the 2-norm), then products with computed roots of unity. A root is the
//! product of two correctly rounded ones: (2·√½ + √5)u off; a complex product adds √5·u (Brent, Percival, Zimmermann
//! 2007). Together this is (2 + √2 + 2√5)u < 7.9u per stage, and unitary stages neither amplify nor damp errors. A
//! radix-2 stage has fewer roundings. Products that underflow lose less than 2⁻¹⁰⁷⁴ each, which is far below any error
//! that is added to a result.
//!
//! # Implementation
//! Stockham's autosorting form: the innermost loop runs over contiguous numbers.

use super::UNIT_ROUNDOFF;
use super::elementary::turn;

/// Complex numbers, with real and imaginary parts stored separately.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Signal {
    /// Real parts.
    pub re: Vec<f64>,
    /// The same number of imaginary parts.
    pub im: Vec<f64>,
}

impl Signal {
    /// `length` zeros.
    pub fn zeros(length: usize) -> Self {
        Self { re: vec![0.0; length], im: vec![0.0; length] }
    }
}

/// A transform of a fixed length, a power of two.
pub struct Transform {
    length: usize,
    /// e^(−2πik/length) for k below the length.
    roots: Signal,
}

impl Transform {
    /// The shortest transform of at least the given length.
    pub fn at_least(length: usize) -> Self {
        let length = length.next_power_of_two().max(4);
        Self { length, roots: roots_of_unity(length) }
    }

    /// The number of points.
    pub fn length(&self) -> usize {
        self.length
    }

    /// A bound on the relative error, in the 2-norm, of one transform.
    pub fn relative_error(&self) -> f64 {
        let stages = self.length.ilog2().div_ceil(2);
        8.0 * UNIT_ROUNDOFF * f64::from(stages)
    }

    /// Σ_j x_j e^(−2πijk/length) in place of x_k.
    pub fn forward(&self, signal: &mut Signal, scratch: &mut Signal) {
        let Signal { re, im } = signal;
        self.run((re, im), scratch);
    }

    /// Σ_j x_j e^(+2πijk/length) in place of x_k: length times the inverse of
    /// [`Transform::forward`].
    pub fn backward(&self, signal: &mut Signal, scratch: &mut Signal) {
        // Exchanging real and imaginary parts conjugates, up to a factor i, exactly.
        let Signal { re, im } = signal;
        self.run((im, re), scratch);
    }

    fn run(&self, (re, im): (&mut Vec<f64>, &mut Vec<f64>), scratch: &mut Signal) {
        debug_assert!(re.len() == self.length && im.len() == self.length);
        scratch.re.resize(self.length, 0.0);
        scratch.im.resize(self.length, 0.0);
        let (mut remaining, mut stride) = (self.length, 1);
        while remaining > 1 {
            let from = (re.as_slice(), im.as_slice());
            let to = (scratch.re.as_mut_slice(), scratch.im.as_mut_slice());
            if remaining == 2 {
                halve(from, to);
                remaining = 1;
            } else if stride == 1 {
                self.first_quarter(from, to);
                (remaining, stride) = (remaining / 4, 4);
            } else {
                self.quarter(from, to, stride);
                (remaining, stride) = (remaining / 4, stride * 4);
            }
            std::mem::swap(re, &mut scratch.re);
            std::mem::swap(im, &mut scratch.im);
        }
    }

    /// A radix-4 stage on blocks of `stride` numbers.
    fn quarter(&self, (re, im): (&[f64], &[f64]), to: (&mut [f64], &mut [f64]), stride: usize) {
        let quarter = self.length / 4;
        let blocks = to.0.chunks_exact_mut(4 * stride).zip(to.1.chunks_exact_mut(4 * stride));
        for (block, (out_re, out_im)) in blocks.enumerate() {
            let part = |i: usize| i * quarter + block * stride..i * quarter + (block + 1) * stride;
            let (a_re, a_im) = (&re[part(0)], &im[part(0)]);
            let (b_re, b_im) = (&re[part(1)], &im[part(1)]);
            let (c_re, c_im) = (&re[part(2)], &im[part(2)]);
            let (d_re, d_im) = (&re[part(3)], &im[part(3)]);
            let (w1, w2, w3) = self.three_roots(block * stride);
            let (first_re, rest) = out_re.split_at_mut(stride);
            let (second_re, rest) = rest.split_at_mut(stride);
            let (third_re, fourth_re) = rest.split_at_mut(stride);
            let (first_im, rest) = out_im.split_at_mut(stride);
            let (second_im, rest) = rest.split_at_mut(stride);
            let (third_im, fourth_im) = rest.split_at_mut(stride);
            for i in 0..stride {
                let [p, q, r, s] =
                    butterfly((a_re[i], a_im[i]), (b_re[i], b_im[i]), (c_re[i], c_im[i]), (d_re[i], d_im[i]));
                (first_re[i], first_im[i]) = p;
                (second_re[i], second_im[i]) = times(q, w1);
                (third_re[i], third_im[i]) = times(r, w2);
                (fourth_re[i], fourth_im[i]) = times(s, w3);
            }
        }
    }

    /// The same for blocks of one number.
    fn first_quarter(&self, (re, im): (&[f64], &[f64]), to: (&mut [f64], &mut [f64])) {
        let quarter = self.length / 4;
        let ((a_re, re), (a_im, im)) = (re.split_at(quarter), im.split_at(quarter));
        let ((b_re, re), (b_im, im)) = (re.split_at(quarter), im.split_at(quarter));
        let ((c_re, d_re), (c_im, d_im)) = (re.split_at(quarter), im.split_at(quarter));
        let outputs = to.0.as_chunks_mut::<4>().0.iter_mut().zip(to.1.as_chunks_mut::<4>().0);
        for (i, (out_re, out_im)) in outputs.enumerate() {
            let (w1, w2, w3) = self.three_roots(i);
            let [p, q, r, s] =
                butterfly((a_re[i], a_im[i]), (b_re[i], b_im[i]), (c_re[i], c_im[i]), (d_re[i], d_im[i]));
            (out_re[0], out_im[0]) = p;
            (out_re[1], out_im[1]) = times(q, w1);
            (out_re[2], out_im[2]) = times(r, w2);
            (out_re[3], out_im[3]) = times(s, w3);
        }
    }

    /// The first three powers of the root with index k < length/4.
    #[inline]
    fn three_roots(&self, k: usize) -> (Complex, Complex, Complex) {
        let root = |k: usize| (self.roots.re[k], self.roots.im[k]);
        (root(k), root(2 * k), root(3 * k))
    }
}

/// Real and imaginary part.
pub type Complex = (f64, f64);

/// A complex product, within √5·u of the exact value, relatively.
#[inline(always)]
pub fn times(x: Complex, y: Complex) -> Complex {
    (x.0 * y.0 - x.1 * y.1, x.0 * y.1 + x.1 * y.0)
}

/// The transform of four numbers.
#[inline(always)]
fn butterfly(a: Complex, b: Complex, c: Complex, d: Complex) -> [Complex; 4] {
    let (sum, difference) = ((a.0 + c.0, a.1 + c.1), (a.0 - c.0, a.1 - c.1));
    let (other, turned) = ((b.0 + d.0, b.1 + d.1), (d.1 - b.1, b.0 - d.0));
    [
        (sum.0 + other.0, sum.1 + other.1),
        (difference.0 - turned.0, difference.1 - turned.1),
        (sum.0 - other.0, sum.1 - other.1),
        (difference.0 + turned.0, difference.1 + turned.1),
    ]
}

/// The last stage of a length that is not a power of four.
fn halve((re, im): (&[f64], &[f64]), (to_re, to_im): (&mut [f64], &mut [f64])) {
    for (from, to) in [(re, to_re), (im, to_im)] {
        let ((a, b), (sum, difference)) = (from.split_at(from.len() / 2), to.split_at_mut(from.len() / 2));
        for i in 0..a.len() {
            (sum[i], difference[i]) = (a[i] + b[i], a[i] - b[i]);
        }
    }
}

/// e^(−2πik/length), each the product of two correctly rounded roots.
fn roots_of_unity(length: usize) -> Signal {
    let exact = |k: usize| {
        let (cosine, sine) = turn(k as u64, length.ilog2());
        (cosine, -sine)
    };
    let fine = 1 << (length.ilog2() / 2);
    let fines: Vec<Complex> = (0..fine).map(exact).collect();
    let mut roots = Signal::zeros(length);
    let chunks = roots.re.chunks_exact_mut(fine).zip(roots.im.chunks_exact_mut(fine));
    for (chunk, (re, im)) in chunks.enumerate() {
        let coarse = exact(chunk * fine);
        for (i, root) in fines.iter().enumerate() {
            (re[i], im[i]) = times(coarse, *root);
        }
    }
    roots
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Unstructured numbers, from a linear congruence.
    fn noise(length: usize) -> Signal {
        let mut state = 88172645463325252u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        let mut signal = Signal::zeros(length);
        for i in 0..length {
            (signal.re[i], signal.im[i]) = (next(), next());
        }
        signal
    }

    fn norm(signal: &Signal) -> f64 {
        signal.re.iter().chain(&signal.im).map(|x| x * x).sum::<f64>().sqrt()
    }

    fn apart(a: &Signal, b: &Signal) -> f64 {
        let squares = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        (squares(&a.re, &b.re) + squares(&a.im, &b.im)).sqrt()
    }

    #[test]
    fn the_transform_is_that_of_the_definition() {
        for length in [4, 8, 16, 32, 64, 128, 256] {
            let signal = noise(length);
            let mut expected = Signal::zeros(length);
            for k in 0..length {
                for j in 0..length {
                    let (cosine, sine) = turn(((j * k) % length) as u64, length.ilog2());
                    let term = times((signal.re[j], signal.im[j]), (cosine, -sine));
                    expected.re[k] += term.0;
                    expected.im[k] += term.1;
                }
            }
            let (mut computed, transform) = (signal, Transform::at_least(length));
            transform.forward(&mut computed, &mut Signal::default());
            // The reference sums `length` terms, each with a few roundings.
            let reference_error = 4.0 * UNIT_ROUNDOFF * length as f64;
            let bound = transform.relative_error() + reference_error;
            assert!(apart(&computed, &expected) <= bound * norm(&expected), "{length}");
        }
    }

    #[test]
    fn there_and_back_errs_by_no_more_than_two_transforms_may() {
        for length in [4, 8, 1 << 10, 1 << 15, 1 << 18] {
            let signal = noise(length);
            let (mut result, mut scratch) = (signal.clone(), Signal::default());
            let transform = Transform::at_least(length);
            transform.forward(&mut result, &mut scratch);
            transform.backward(&mut result, &mut scratch);
            for x in result.re.iter_mut().chain(&mut result.im) {
                *x /= length as f64;
            }
            let error = apart(&result, &signal) / norm(&signal);
            assert!(error <= 2.0 * transform.relative_error(), "{length}: {error:e}");
            // A bound a thousand times too large would be useless.
            assert!(error >= 0.002 * transform.relative_error(), "{length}: {error:e}");
        }
    }
}
