//! Vectors for tests of gradients.

use dobrushin::numeric::Random;

pub const FEATURES: usize = 3;

pub fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub fn length(a: &[f64]) -> f64 {
    product(a, a).sqrt()
}

pub fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

/// a + share·(b − a).
pub fn between(a: &[f64], b: &[f64], share: f64) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + share * (b - a)).collect()
}

pub fn clipped(gradient: Vec<f64>, clip: Option<f64>) -> Vec<f64> {
    let factor = clip.map_or(1.0, |clip| (clip / length(&gradient)).min(1.0));
    gradient.into_iter().map(|value| value * factor).collect()
}

/// A vector of at most that length, half of the time exactly.
pub fn vector(random: &mut Random, most: f64) -> Vec<f64> {
    let direction: Vec<f64> = (0..FEATURES).map(|_| random.between(-1.0, 1.0)).collect();
    let size = if random.below(2) == 0 { most } else { random.between(0.0, most) };
    let factor = size * (1.0 - 1e-15) / length(&direction);
    direction.iter().map(|value| value * factor).collect()
}
