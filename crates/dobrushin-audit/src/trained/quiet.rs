//! Directions in which the other records move the iterate least, so that what one record does there can be seen.
//!
//! - *One score* ⟨w, x⟩: a record moves the iterate along its x only. If no record has some feature, that feature is
//!   the direction. Otherwise it is the direction u with the smallest Σ ⟨x, u⟩². It is often 0: every row has one of the
//!   categories of a column, so the indicators of two columns have the same sum.
//! - *Several classes*: the scores of all classes rise together. That changes no prediction, so the gradients of
//!   cross-entropy are orthogonal to it: the derivatives of a record's scores have the sum 0.

use dobrushin::numeric::Random;
use dobrushin::numeric::elementary::powi;
use dobrushin_train::{Model, Table};

/// With more features than this, the least used one is taken, because the matrix would be too large.
const MOST_FEATURES: usize = 1024;
/// Each round divides what is left of other directions by the ratio of their eigenvalues.
const ROUNDS: usize = 40;

/// The quietest direction of the parameters, of length 1; empty if there are no parameters.
///
/// Where rows are centred first, the intercept is left out: it makes up for the mean in the end.
pub(super) fn direction(model: &Model, table: &Table, centred: bool) -> Vec<f64> {
    let parameters = model.parameters();
    match model {
        Model::Linear { features, .. } => of_features(table, *features, centred),
        Model::Softmax { classes, features } => {
            let used = if centred { features.saturating_sub(1) } else { *features };
            // The intercept, where there is one, is the last feature.
            let places = (0..*classes).filter_map(|k| Some(k * features + used.checked_sub(1)?));
            together(parameters, places)
        }
        Model::Network { classes, .. } => together(parameters, parameters - classes..parameters),
    }
}

/// The direction in which these parameters grow together.
fn together(parameters: usize, places: impl Iterator<Item = usize>) -> Vec<f64> {
    let mut direction = vec![0.0; parameters];
    places.for_each(|place| direction[place] = 1.0);
    let norm = direction.iter().sum::<f64>().sqrt().max(1.0);
    direction.iter_mut().for_each(|value| *value /= norm);
    direction
}

/// The quietest direction of features.
fn of_features(table: &Table, features: usize, centred: bool) -> Vec<f64> {
    let used = if centred { features.saturating_sub(1) } else { features };
    let rows = (0..table.len()).map(|record| table.features(record)).filter(|row| row.len() == features);
    let squares = rows.clone().fold(vec![0.0; used], |mut squares, row| {
        squares.iter_mut().zip(row).for_each(|(square, &x)| *square += powi(f64::from(x), 2));
        squares
    });
    let least_used = (0..used).min_by(|&a, &b| squares[a].total_cmp(&squares[b]));
    if used > MOST_FEATURES || least_used.is_none_or(|place| squares[place] == 0.0) {
        return together(features, least_used.into_iter());
    }
    let mean: Vec<f64> = if centred {
        let count = table.len().max(1) as f64;
        let sums = rows.clone().fold(vec![0.0; used], |mut sums, row| {
            sums.iter_mut().zip(row).for_each(|(sum, &x)| *sum += f64::from(x));
            sums
        });
        sums.iter().map(|sum| sum / count).collect()
    } else {
        vec![0.0; used]
    };
    let mut moments = vec![0.0; used * used];
    let mut around = vec![0.0; used];
    for row in rows {
        for ((value, &x), mean) in around.iter_mut().zip(row).zip(&mean) {
            *value = f64::from(x) - mean;
        }
        for (i, &x) in around.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            let moments = &mut moments[i * used..][..=i];
            moments.iter_mut().zip(&around).for_each(|(moment, y)| *moment += x * y);
        }
    }
    let mut quiet = least(moments, used);
    quiet.resize(features, 0.0);
    quiet
}

/// An eigenvector of the smallest eigenvalue of a symmetric matrix without negative ones, given by its lower half, by inverse
/// iteration.
fn least(mut matrix: Vec<f64>, size: usize) -> Vec<f64> {
    let trace: f64 = (0..size).map(|i| matrix[i * size + i]).sum();
    let shift = (trace * 1e-9).max(f64::MIN_POSITIVE);
    (0..size).for_each(|i| matrix[i * size + i] += shift);
    factorise(&mut matrix, size, shift);
    let mut random = Random::new(1);
    let mut vector: Vec<f64> = (0..size).map(|_| random.between(-1.0, 1.0)).collect();
    for _ in 0..ROUNDS {
        solve(&matrix, size, &mut vector);
        let norm = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
        vector.iter_mut().for_each(|x| *x /= norm);
    }
    vector
}

/// Replaces the lower half of a matrix by its Cholesky factor.
fn factorise(matrix: &mut [f64], size: usize, least: f64) {
    for i in 0..size {
        for j in 0..=i {
            let (above, row) = matrix.split_at_mut(i * size);
            let other = if j == i { None } else { Some(&above[j * size..][..=j]) };
            let sum: f64 = match other {
                Some(other) => row[..j].iter().zip(other).map(|(x, y)| x * y).sum(),
                None => row[..j].iter().map(|x| x * x).sum(),
            };
            row[j] = match other {
                Some(other) => (row[j] - sum) / other[j],
                None => (row[j] - sum).max(least).sqrt(),
            };
        }
    }
}

/// Solves L·Lᵀ·y = x in place.
fn solve(factor: &[f64], size: usize, x: &mut [f64]) {
    for i in 0..size {
        let row = &factor[i * size..][..=i];
        let sum: f64 = row[..i].iter().zip(&*x).map(|(l, y)| l * y).sum();
        x[i] = (x[i] - sum) / row[i];
    }
    for i in (0..size).rev() {
        let row = &factor[i * size..][..=i];
        x[i] /= row[i];
        let value = x[i];
        x[..i].iter_mut().zip(row).for_each(|(y, l)| *y -= value * l);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dobrushin::Positive;
    use dobrushin_train::loss::Logistic;
    use dobrushin_train::{Bounds, Target};

    fn table(rows: &[Vec<f32>]) -> (Model, Table) {
        let dimension = rows[0].len();
        let norm = Positive::new(10.0).expect("above 0");
        let mut table = Table::new(Bounds { dimension, norm, target: Target::Classes(2) }, 1);
        for row in rows {
            table.push(row, &[1.0]);
        }
        (Model::Linear { loss: Logistic.into(), features: dimension }, table)
    }

    fn along(direction: &[f64], rows: &[Vec<f32>]) -> f64 {
        let products = rows.iter().map(|row| row.iter().zip(direction).map(|(&x, u)| f64::from(x) * u).sum());
        products.map(|product: f64| product * product).sum()
    }

    #[test]
    fn a_feature_that_no_record_has_is_the_quietest() {
        let (model, table) = table(&[vec![1.0, 0.0, 2.0], vec![0.5, 0.0, 1.0]]);
        assert_eq!(direction(&model, &table, false), [0.0, 1.0, 0.0]);
    }

    #[test]
    fn categories_of_two_columns_leave_a_direction_that_no_record_moves() {
        // Indicators of two columns with two and three categories, and a number.
        let mut random = Random::new(3);
        let rows: Vec<Vec<f32>> = (0..200)
            .map(|_| {
                let mut row = vec![0.0; 6];
                row[random.below(2)] = 1.0;
                row[2 + random.below(3)] = 1.0;
                row[5] = random.between(-1.0, 1.0) as f32;
                row
            })
            .collect();
        let (model, table) = table(&rows);
        let found = direction(&model, &table, false);
        assert!(along(&found, &rows) < 1e-9);
        assert!((found.iter().map(|u| u * u).sum::<f64>() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn without_a_silent_direction_the_quietest_is_found() {
        // Independent numbers of different sizes; the smallest are those of the second feature.
        let mut random = Random::new(7);
        let mut row = || [1.0, 0.1, 0.5].map(|size| (size * random.between(-1.0, 1.0)) as f32).to_vec();
        let rows: Vec<Vec<f32>> = (0..500).map(|_| row()).collect();
        let (model, table) = table(&rows);
        let found = direction(&model, &table, false);
        assert!(found[1].abs() > 0.99, "{found:?}");
        assert!(along(&found, &rows) <= along(&[0.0, 1.0, 0.0], &rows) * (1.0 + 1e-9));
    }

    #[test]
    fn scores_that_rise_together_change_no_prediction() {
        let model = Model::Network { hidden: vec![4, 3], classes: 2, features: 5 };
        let (_, table) = table(&[vec![1.0; 5]]);
        let found = direction(&model, &table, false);
        let mut random = Random::new(9);
        let parameters: Vec<f64> = (0..model.parameters()).map(|_| random.between(-1.0, 1.0)).collect();
        let row = [0.3, 0.1, -0.2, 0.5, 0.9];
        let before = model.scores(&parameters, &row);
        let moved: Vec<f64> = parameters.iter().zip(&found).map(|(w, u)| w + 3.0 * u).collect();
        let after = model.scores(&moved, &row);
        assert!((after[0] - before[0] - (after[1] - before[1])).abs() < 1e-9);
        assert!((after[0] - before[0]).abs() > 1.0);
    }
}
