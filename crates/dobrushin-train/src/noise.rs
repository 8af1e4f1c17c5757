//! Noise that is added before a release: standard normal, and Laplace of scale 1.
//!
//! Samplers of other crates are not used, because what protects people must not depend on somebody else's shortcuts.
//!
//! # Accuracy
//! Both laws are those of real numbers, up to the rounding of the computation to 53 binary digits. The layers below
//! have equal areas up to a relative error of 1e-13 (tested in arbitrary precision). Tails are drawn from their own
//! laws and have no end. Exponentials and logarithms are correctly rounded, so a seed gives the same numbers on every
//! machine.
//!
//! # What it does not do
//! Values are `f64`s, spaced by about 2⁻⁵², but privacy is analysed for continuous noise. `digits.rs` makes sure that
//! the last digits of the release tell nothing (Mironov 2012). Time is out of scope: how long a draw takes depends on
//! what is drawn.

use dobrushin::numeric::bits::RandomBits;
use dobrushin::numeric::elementary::{exp, ln};
use dobrushin::numeric::normal;
use std::sync::LazyLock;

/// Fills `out` with independent standard normal numbers: a ziggurat of 256 layers (Marsaglia and Tsang 2000).
///
/// The area under f(x) = e^(−x²/2), x ≥ 0, is covered by 256 layers of equal area. A uniform point of a uniform layer
/// that lies under f has an abscissa with density proportional to f; other points are drawn again. Layer i ≥ 1 is a rectangle
/// from 0 to xᵢ, all of it under f up to xᵢ₊₁; layer 0 is a rectangle from 0 to x₁ and the tail beyond. Layer, sign
/// and abscissa are separate bits of one word, which is enough in 98.5 % of all draws.
pub(crate) fn gaussian(bits: &mut impl RandomBits, out: &mut [f64]) {
    let layers = &*LAYERS;
    let mut words = [0; 512];
    for chunk in out.chunks_mut(words.len()) {
        let words = &mut words[..chunk.len()];
        bits.fill(words);
        for (value, &word) in chunk.iter_mut().zip(&*words) {
            let layer = layer_of(layers, word);
            let x = abscissa(word) * layer.width;
            let x = if x < layer.inner { x } else { outside(layers, word, bits) };
            *value = with_sign(x, word >> 8);
        }
    }
}

/// Fills `out` with independent Laplace numbers of scale 1: density e^(−|x|)/2.
pub(crate) fn laplace(bits: &mut impl RandomBits, out: &mut [f64]) {
    for value in out {
        *value = with_sign(exponential(bits), bits.bits());
    }
}

/// One layer: f is above it up to `inner`, and crosses it from there to `width`.
#[derive(Clone, Copy, Debug, Default)]
struct Layer {
    /// xᵢ; for layer 0, its area over its height.
    width: f64,
    /// xᵢ₊₁.
    inner: f64,
    /// f(xᵢ); not used for layer 0.
    bottom: f64,
    /// f(xᵢ₊₁).
    top: f64,
}

/// Where the tail begins, such that 256 equal areas end at f(0) = 1.
const TAIL: f64 = 3.654_152_885_361_008_8;

static LAYERS: LazyLock<[Layer; 256]> = LazyLock::new(|| {
    let height = density(TAIL);
    let width = TAIL + normal::mills_ratio(TAIL).midpoint();
    let area = width * height;
    let mut layers = [Layer { width, inner: TAIL, bottom: 0.0, top: height }; 256];
    for i in 1..256 {
        let Layer { inner: width, top: bottom, .. } = layers[i - 1];
        let top = bottom + area / width;
        layers[i] = match i {
            255 => Layer { width, inner: 0.0, bottom, top: 1.0 },
            _ => Layer { width, inner: (-2.0 * ln(top)).sqrt(), bottom, top },
        };
    }
    layers
});

fn density(x: f64) -> f64 {
    exp(-0.5 * x * x)
}

#[inline]
fn layer_of(layers: &[Layer; 256], word: u64) -> &Layer {
    &layers[(word & 0xff) as usize]
}

/// The middle of one of 2⁵² equal parts of (0, 1): it is an exact `f64`, and never 0.
#[inline]
fn abscissa(word: u64) -> f64 {
    const CELL: f64 = 1.0 / (1u64 << 53) as f64;
    (word >> 11 | 1) as i64 as f64 * CELL
}

#[inline]
fn with_sign(x: f64, sign: u64) -> f64 {
    f64::from_bits(x.to_bits() | sign << 63)
}

/// |x| for a first word whose point is not certainly under f.
#[cold]
fn outside(layers: &[Layer; 256], first: u64, bits: &mut impl RandomBits) -> f64 {
    let mut word = first;
    loop {
        let layer = layer_of(layers, word);
        let x = abscissa(word) * layer.width;
        if x < layer.inner {
            return x;
        }
        if word & 0xff == 0 {
            return tail(bits);
        }
        if layer.bottom + (layer.top - layer.bottom) * abscissa(bits.bits()) < density(x) {
            return x;
        }
        word = bits.bits();
    }
}

/// A normal number beyond [`TAIL`] (Marsaglia 1964): e^(−(r+x)²/2) is e^(−rx) times e^(−x²/2), up to a constant.
fn tail(bits: &mut impl RandomBits) -> f64 {
    loop {
        let x = exponential(bits) / TAIL;
        if 2.0 * exponential(bits) > x * x {
            return TAIL + x;
        }
    }
}

/// −ln of a uniform number in (0, 1) that has 52 random digits wherever it lies: the number of leading zeros is drawn
/// too.
fn exponential(bits: &mut impl RandomBits) -> f64 {
    let mut zeros = 0;
    loop {
        let word = bits.bits();
        zeros += u64::from(word.leading_zeros());
        // After 960 zeros, which never happens in practice, the next number would be subnormal.
        if word != 0 || zeros >= 960 {
            break;
        }
    }
    let uniform = f64::from_bits((1022 - zeros) << 52 | bits.bits() >> 12 | 1);
    -ln(uniform)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bits, Generators, Seed};
    use dobrushin::NonNegative;
    use dobrushin::numeric::chi_square;
    use dobrushin_reference::{PRECISION, Real, mills};
    use std::num::NonZeroU32;

    /// A test fails if a right sampler would give such a result with less than this probability.
    const SIGNIFICANCE: f64 = 1e-6;

    fn source(seed: u64) -> Bits {
        Generators::new(Seed::Known(seed)).expect("no randomness needed").stream(1)
    }

    fn normals(seed: u64, count: usize) -> Vec<f64> {
        let mut values = vec![0.0; count];
        gaussian(&mut source(seed), &mut values);
        values
    }

    /// Panics if such values are too unlikely under a law with this distribution function (Kolmogorov and Smirnov;
    /// Massart's constant: P(D·√n > x) ≤ 2·e^(−2x²) for every n).
    fn assert_law(mut values: Vec<f64>, cdf: impl Fn(f64) -> f64) {
        values.sort_unstable_by(f64::total_cmp);
        let n = values.len() as f64;
        let largest = values.iter().enumerate().fold(0.0, |most: f64, (i, &value)| {
            let p = cdf(value);
            most.max(p - i as f64 / n).max((i + 1) as f64 / n - p)
        });
        let limit = ((2.0 / SIGNIFICANCE).ln() / 2.0).sqrt() / n.sqrt();
        assert!(largest <= limit, "{largest:e} > {limit:e} for {n} values");
    }

    /// Panics if counts are too unlikely for these probabilities (chi-square).
    fn assert_counts(counts: &[u64], probabilities: &[f64]) {
        let n = counts.iter().sum::<u64>() as f64;
        let term = |(&count, &p): (&u64, &f64)| (count as f64 - n * p).powi(2) / (n * p);
        let statistic = counts.iter().zip(probabilities).map(term).sum();
        let degrees = NonZeroU32::new(counts.len() as u32 - 1).expect("two cells or more");
        let p = chi_square::sf(degrees, NonNegative::new(statistic).expect("a sum of squares")).upper();
        assert!(p > SIGNIFICANCE, "{statistic} with {degrees} degrees of freedom: {p:e}");
        assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    /// Panics if the average of n values with this mean and standard deviation is five standard errors away.
    fn assert_average(sum: f64, n: f64, mean: f64, deviation: f64) {
        let z = (sum / n - mean) * n.sqrt() / deviation;
        assert!(z.abs() < 5.0, "{z} standard errors from {mean}");
    }

    #[test]
    fn the_values_of_a_seed_never_change() {
        let frozen = [
            -0.6352499138403868,
            -0.2750771495172048,
            -1.9744882719899113,
            0.42151525942201157,
            0.6376321952749507,
            -0.41815734670627025,
            0.8741120749249911,
            -0.7049012313051191,
            -1.2954227532194247,
            -1.9092146498358304,
        ];
        assert_eq!(normals(0, 10), frozen);
        let frozen = [
            -0.2870736845509099,
            1.8660439029128806,
            -1.0361204715135457,
            -0.635226911395497,
            0.0867739831493632,
            0.7673750887102009,
            -0.820527956885515,
            0.4541829653365395,
            0.9115832964661345,
            0.1734273550576046,
        ];
        let mut values = [0.0; 10];
        laplace(&mut source(0), &mut values);
        assert_eq!(values, frozen);
    }

    #[test]
    fn layers_have_equal_areas() {
        // With 128 binary digits: xᵢ·(f(xᵢ₊₁) − f(xᵢ)), in units of layer 0, which is a rectangle and the tail.
        let real = |x: f64| Real::from_f64(x, PRECISION);
        let f = |x: f64| (real(x) * real(x) * real(-0.5)).exp();
        let first = f(TAIL) * (real(TAIL) + mills(&real(TAIL)));
        let others = LAYERS[1..].iter().map(|layer| real(layer.width) * (f(layer.inner) - f(layer.width)));
        for (i, area) in others.enumerate() {
            let error = (area / &first - 1).to_f64();
            assert!(error.abs() < 1e-13, "layer {}: {error:e}", i + 1);
        }
        // The stored numbers also belong together.
        for (layer, next) in LAYERS.iter().zip(&LAYERS[1..]) {
            assert_eq!((layer.inner, layer.top), (next.width, next.bottom));
            assert!((layer.top - density(layer.inner)).abs() < 1e-15);
        }
        let certain = LAYERS.iter().map(|layer| layer.inner / layer.width).sum::<f64>() / 256.0;
        assert!((0.985..0.986).contains(&certain), "{certain}");
    }

    #[test]
    fn values_are_standard_normal() {
        assert_law(normals(1, 4_000_000), |x| normal::cdf(x).midpoint());
    }

    #[test]
    fn every_part_of_every_layer_is_hit_as_often_as_it_should() {
        // The cells are both signs, the tails, and four parts between xᵢ₊₁ and xᵢ.
        let ends: Vec<f64> = LAYERS.iter().rev().map(|layer| layer.inner).collect();
        let part = |pair: &[f64], k: u8| pair[0] + (pair[1] - pair[0]) * f64::from(k) / 4.0;
        let mut edges: Vec<f64> =
            ends.windows(2).flat_map(|pair| (0..4).map(move |k| part(pair, k))).collect();
        edges.push(TAIL);
        let cells = edges.len();
        let upper = |i: usize| edges.get(i + 1).map_or(0.0, |&edge| normal::tail(edge).midpoint());
        let positive: Vec<f64> = (0..cells).map(|i| normal::tail(edges[i]).midpoint() - upper(i)).collect();
        let probabilities: Vec<f64> = positive.iter().chain(&positive).copied().collect();
        let mut counts = vec![0; 2 * cells];
        let (mut bits, mut values) = (source(2), vec![0.0; 100_000]);
        for _ in 0..400 {
            gaussian(&mut bits, &mut values);
            for &value in &values {
                let cell = edges.partition_point(|&edge| edge <= value.abs()) - 1;
                counts[cell + if value < 0.0 { cells } else { 0 }] += 1;
            }
        }
        assert_counts(&counts, &probabilities);
    }

    #[test]
    fn tails_are_as_heavy_as_they_should_be() {
        let (mut bits, mut values) = (source(3), vec![0.0; 100_000]);
        let (rounds, mut beyond) = (1000, Vec::new());
        for _ in 0..rounds {
            gaussian(&mut bits, &mut values);
            beyond.extend(values.iter().map(|value| value.abs()).filter(|&value| value > 3.65));
        }
        let n = rounds as f64 * values.len() as f64;
        for edge in [3.65, TAIL, 4.0, 4.5, 5.0] {
            let p = 2.0 * normal::tail(edge).midpoint();
            let count = beyond.iter().filter(|&&value| value > edge).count() as f64;
            assert_average(count, n, p, (p * (1.0 - p)).sqrt());
        }
        beyond.retain(|&value| value > TAIL);
        let all = normal::tail(TAIL).midpoint();
        assert!(beyond.len() > 25_000);
        assert_law(beyond, |x| 1.0 - normal::tail(x).midpoint() / all);
    }

    #[test]
    fn the_first_moments_and_the_signs_are_right() {
        let values = normals(4, 8_000_000);
        let n = values.len() as f64;
        let moment = |k: i32| values.iter().map(|value| value.powi(k)).sum::<f64>();
        // The variance of the k-th power is that of 1, 3, 15, 105, … (2k − 1)!! minus the square of the mean.
        assert_average(moment(1), n, 0.0, 1.0);
        assert_average(moment(2), n, 1.0, 2f64.sqrt());
        assert_average(moment(3), n, 0.0, 15f64.sqrt());
        assert_average(moment(4), n, 3.0, 96f64.sqrt());
        assert_average(values.iter().filter(|&&value| value > 0.0).count() as f64, n, 0.5, 0.5);
        // Neighbours are independent of each other, in sign and in size.
        assert_average(values.windows(2).map(|pair| pair[0] * pair[1]).sum(), n - 1.0, 0.0, 1.0);
        let squares = values.windows(2).map(|pair| (pair[0] * pair[1]).powi(2)).sum();
        assert_average(squares, n - 1.0, 1.0, 8f64.sqrt());
    }

    #[test]
    fn laplace_values_have_their_law_and_no_end() {
        let mut values = vec![0.0; 4_000_000];
        laplace(&mut source(5), &mut values);
        let cdf = |x: f64| if x < 0.0 { 0.5 * x.exp() } else { 1.0 - 0.5 * (-x).exp() };
        assert_law(values.clone(), cdf);
        let n = values.len() as f64;
        for edge in [5.0, 8.0, 10.0f64] {
            let p = (-edge).exp();
            let count = values.iter().filter(|value| value.abs() > edge).count() as f64;
            assert_average(count, n, p, (p * (1.0 - p)).sqrt());
        }
        assert_average(values.iter().sum(), n, 0.0, 2f64.sqrt());
        assert_average(values.iter().map(|value| value * value).sum(), n, 2.0, 20f64.sqrt());
        // However many zeros a source gives, a number comes out, ln 2 larger for each.
        struct Zeros(u64);
        impl RandomBits for Zeros {
            fn bits(&mut self) -> u64 {
                self.0 += 1;
                if self.0 == 3 { 1 } else { 0 }
            }
        }
        assert!((exponential(&mut Zeros(0)) - 192.0 * std::f64::consts::LN_2).abs() < 1e-12);
        assert!(exponential(&mut Zeros(10)).is_finite());
    }
}
