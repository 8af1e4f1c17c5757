//! The closest frequencies that are ≥ 0 and sum to 1.

/// The point of the simplex closest to a given point: (v − θ)₊ with the θ for which this sums to 1.
///
/// θ is that of the j largest values, (their sum − 1)/j, for the largest j whose smallest value stays above it.
/// With one sort it takes O(k·log k) operations (Held, Wolfe, Crowder 1974).
///
/// ```
/// use dobrushin_local::estimate::nearest_on_simplex;
///
/// // What is too much is taken from both alike, and nothing is made negative.
/// assert_eq!(nearest_on_simplex(&[1.0, 0.5]), [0.75, 0.25]);
/// assert_eq!(nearest_on_simplex(&[1.0, -0.5]), [1.0, 0.0]);
/// ```
pub fn nearest_on_simplex(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let (mut sum, mut level) = (-1.0, 0.0);
    for (place, value) in (1..).zip(sorted) {
        sum += value;
        let candidate = sum / f64::from(place);
        if value <= candidate {
            break;
        }
        level = candidate;
    }
    values.iter().map(|value| (value - level).max(0.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dobrushin::numeric::Random;

    #[test]
    fn the_projection_is_optimal_by_its_own_conditions() {
        let mut random = Random::new(5);
        for _ in 0..2000 {
            let spread = random.log_between(1e-3, 1e3);
            let values: Vec<f64> =
                (0..1 + random.below(20)).map(|_| random.between(-spread, spread)).collect();
            let nearest = nearest_on_simplex(&values);
            let tolerance = 1e-13 * (1.0 + spread);
            assert!((nearest.iter().sum::<f64>() - 1.0).abs() < values.len() as f64 * tolerance);
            // v − x is constant where x > 0 and nowhere larger: then no direction leads closer.
            let level = values.iter().zip(&nearest).filter(|(_, x)| **x > 0.0).map(|(v, x)| v - x);
            let level = level.fold(f64::NEG_INFINITY, f64::max);
            for (v, x) in values.iter().zip(&nearest) {
                assert!(*x >= 0.0 && v - x <= level + tolerance);
                assert!(*x == 0.0 || v - x >= level - tolerance);
            }
        }
    }
}
