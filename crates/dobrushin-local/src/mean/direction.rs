//! Vectors, and the directions that seeds represent.

use dobrushin::numeric::bits::{Coin, RandomBits};
use dobrushin::numeric::elementary;
use dobrushin::numeric::gamma::ln_gamma;
use dobrushin::{Enclosure, Error, Positive};
use std::num::NonZeroU32;

/// Squares of larger coordinates overflow.
const LARGEST: f64 = 1e150;

/// Requires this many coordinates whose squares do not overflow.
///
/// # Errors
/// [`Error::LengthMismatch`] for another dimension, and [`Error::OutOfRange`] for a coordinate that is not finite or so
/// large that the norm overflows.
pub(super) fn check(vector: &[f64], dimension: NonZeroU32) -> Result<(), Error> {
    let expected = dimension.get() as usize;
    if vector.len() != expected {
        return Err(Error::LengthMismatch {
            what: "the vector".to_owned(),
            found: vector.len(),
            expected,
            like: "the mechanism's dimension".to_owned(),
        });
    }
    if let Some(&value) = vector.iter().find(|x| x.is_nan() || x.abs() > LARGEST) {
        let name = "a coordinate of the vector";
        return Err(Error::OutOfRange { name, value, accepted: "finite and at most 1e150 in magnitude" });
    }
    Ok(())
}

/// Requires a radius whose square neither overflows nor loses digits.
pub(super) fn check_radius(radius: Positive) -> Result<(), Error> {
    if !(1e-100..=1e100).contains(&radius.get()) {
        let (name, value) = ("the radius", radius.get());
        return Err(Error::OutOfRange { name, value, accepted: "between 1e-100 and 1e100" });
    }
    Ok(())
}

/// Whether a vector in a ball keeps its direction when it is rounded at random, without bias, to one of the two ends of
/// the diameter through it.
pub(super) fn keeps_direction(vector: &[f64], radius: Positive, bits: &mut dyn RandomBits) -> bool {
    let share = (norm(vector) / radius.get()).min(1.0);
    Coin::at_most(0.5 + 0.5 * share).toss(bits)
}

/// E|⟨z, e⟩| for z uniform on the sphere: Γ(d/2)/(√π·Γ((d + 1)/2)).
pub(super) fn mean_cosine(dimension: NonZeroU32) -> Result<Enclosure, Error> {
    let half = f64::from(dimension.get()) / 2.0;
    let [first, second, pi] = [half, half + 0.5, 0.5].map(|x| Positive::new(x).map(ln_gamma));
    // Γ(1/2) = √π.
    Ok((first? - second? - pi?).exp().min(Enclosure::ONE))
}

/// The direction of a seed: normal coordinates by the polar method, divided by their norm. Only correctly rounded
/// functions are used, so that sender and receiver compute the same result.
pub(super) fn direction(seed: u64, dimension: usize) -> Vec<f64> {
    // Seeds that differ by a multiple of the increment must not share numbers.
    let mut state = mix(seed);
    let mut uniform = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        // Odd multiples of 2⁻⁵³ between −1 and 1.
        let word = mix(state) >> 11;
        (2 * word as i64 + 1 - (1 << 53)) as f64 / (1u64 << 53) as f64
    };
    let mut vector = Vec::with_capacity(dimension + 1);
    while vector.len() < dimension {
        let (x, y) = (uniform(), uniform());
        let square = x * x + y * y;
        if square < 1.0 {
            let factor = (-2.0 * elementary::ln(square) / square).sqrt();
            vector.extend([x * factor, y * factor]);
        }
    }
    vector.truncate(dimension);
    let length = norm(&vector);
    vector.iter_mut().for_each(|x| *x /= length);
    vector
}

/// The mixing function of SplitMix64.
pub(super) fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

pub(super) fn norm(vector: &[f64]) -> f64 {
    dot(vector, vector).sqrt()
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
