//! Scores of whole models: the projection to a direction that was learnt on other runs.

use super::{Scores, first_part, mixed};
use crate::Error;

/// The parameters of models that were trained in independent runs with the record, and of others without it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Models {
    /// The parameters of each run with the record.
    pub with: Vec<Vec<f64>>,
    /// The parameters of each run without it.
    pub without: Vec<Vec<f64>>,
}

/// Scores of models, for [`evidence()`](super::evidence()).
///
/// A quarter of the models teaches a direction: the difference of the means, divided by the covariance that both kinds
/// have in common (Fisher's discriminant), or by its diagonal if there are few runs or many parameters. The score of
/// each other model is its projection; the models that taught have no score. So the scores are those of independent
/// runs, by a rule that does not depend on them.
///
/// # Errors
/// Fewer than eight models of a kind, models of different lengths, or a parameter that is not finite.
///
/// ```
/// use dobrushin_audit::{Models, score_models};
///
/// // The second parameter is larger with the record.
/// let models = |shift: f64| (0..40).map(|i| vec![f64::from(i % 5), f64::from(i % 7) + shift]).collect();
/// let scores = score_models(&Models { with: models(10.0), without: models(0.0) })?;
/// assert_eq!(scores.with.len(), 30);
/// assert!(scores.with.iter().all(|with| scores.without.iter().all(|without| with > without)));
/// # Ok::<(), dobrushin_audit::Error>(())
/// ```
pub fn score_models(models: &Models) -> Result<Scores, Error> {
    let parameters = models.with.first().map_or(0, Vec::len);
    check(&models.with, true, parameters)?;
    check(&models.without, false, parameters)?;
    let (known, scored) = split(&models.with);
    let (other_known, other_scored) = split(&models.without);
    let scales = scales(&known, &other_known, parameters);
    let direction = direction(&scaled(&known, &scales), &scaled(&other_known, &scales));
    let project = |models: &[&[f64]]| {
        scaled(models, &scales).iter().map(|model| dot(model, &direction)).collect::<Vec<f64>>()
    };
    Ok(Scores { with: project(&scored), without: project(&other_scored) })
}

/// With fewer models, nothing is left to choose a rule after the direction was learnt.
const FEWEST: usize = 8;

fn check(models: &[Vec<f64>], with_the_record: bool, parameters: usize) -> Result<(), Error> {
    if models.len() < FEWEST {
        return Err(Error::TooFewRuns { with_the_record, runs: models.len(), fewest: FEWEST });
    }
    for (place, model) in models.iter().enumerate() {
        let run = place + 1;
        if model.len() != parameters || parameters == 0 {
            return Err(Error::Parameters {
                with_the_record,
                run,
                parameters: model.len(),
                expected: parameters,
            });
        }
        if model.iter().any(|parameter| !parameter.is_finite()) {
            return Err(Error::NotANumber { what: "a parameter of model", with_the_record, run });
        }
    }
    Ok(())
}

/// The models that teach, and the others.
fn split(models: &[Vec<f64>]) -> (Vec<&[f64]>, Vec<&[f64]>) {
    let mut known: Vec<&[f64]> =
        mixed(models.len()).into_iter().map(|place| models[place].as_slice()).collect();
    let scored = known.split_off(first_part(known.len()));
    (known, scored)
}

/// The largest magnitude of each parameter, so that no square over- or underflows.
fn scales(known: &[&[f64]], other: &[&[f64]], parameters: usize) -> Vec<f64> {
    let mut scales = vec![0.0_f64; parameters];
    for model in known.iter().chain(other) {
        for (scale, parameter) in scales.iter_mut().zip(*model) {
            *scale = scale.max(parameter.abs());
        }
    }
    scales.into_iter().map(|scale| scale.max(f64::MIN_POSITIVE)).collect()
}

/// Models in units of the scales; one that was not looked at may be far outside, but not infinite.
fn scaled(models: &[&[f64]], scales: &[f64]) -> Vec<Vec<f64>> {
    let unit = |(parameter, scale): (&f64, &f64)| (parameter / scale).clamp(-FARTHEST, FARTHEST);
    models.iter().map(|model| model.iter().zip(scales).map(unit).collect()).collect()
}

const FARTHEST: f64 = 1e100;

/// Parameters that vary by less than this share of their size are treated as if they varied by it.
const SMALLEST_DEVIATION: f64 = 1e-10;

/// The covariance of more parameters than this is not inverted.
const MOST_PARAMETERS: usize = 512;

/// The direction in which the two kinds differ most, in units of how they vary.
fn direction(with: &[Vec<f64>], without: &[Vec<f64>]) -> Vec<f64> {
    let (mean, other_mean) = (mean(with), mean(without));
    let difference: Vec<f64> = mean.iter().zip(&other_mean).map(|(a, b)| a - b).collect();
    let mut centred = centred(with, &mean);
    centred.extend(self::centred(without, &other_mean));
    let count = centred.len() as f64;
    let deviations: Vec<f64> = (0..difference.len())
        .map(|i| centred.iter().map(|model| model[i] * model[i]).sum::<f64>() / count)
        .map(|variance| variance.sqrt().max(SMALLEST_DEVIATION))
        .collect();
    let standard =
        |vector: &[f64]| -> Vec<f64> { vector.iter().zip(&deviations).map(|(x, s)| x / s).collect() };
    let difference = standard(&difference);
    let solution = if centred.len() > 2 * difference.len() && difference.len() <= MOST_PARAMETERS {
        let centred: Vec<Vec<f64>> = centred.iter().map(|model| standard(model)).collect();
        solve(correlation(&centred), &difference).unwrap_or(difference)
    } else {
        difference
    };
    standard(&solution)
}

fn mean(models: &[Vec<f64>]) -> Vec<f64> {
    let mut sum = vec![0.0; models.first().map_or(0, Vec::len)];
    for model in models {
        sum.iter_mut().zip(model).for_each(|(sum, x)| *sum += x);
    }
    sum.into_iter().map(|sum| sum / models.len() as f64).collect()
}

fn centred(models: &[Vec<f64>], mean: &[f64]) -> Vec<Vec<f64>> {
    models.iter().map(|model| model.iter().zip(mean).map(|(x, mean)| x - mean).collect()).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The lower triangle of the correlations, with a ridge that makes it invertible.
fn correlation(standard: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let (count, size) = (standard.len() as f64, standard.first().map_or(0, Vec::len));
    let mut matrix: Vec<Vec<f64>> = (0..size).map(|row| vec![0.0; row + 1]).collect();
    for model in standard {
        for (row, &x) in matrix.iter_mut().zip(model) {
            row.iter_mut().zip(model).for_each(|(entry, y)| *entry += x * y / count);
        }
    }
    // The correlations of this many models are off by about √(size/count).
    let ridge = 1e-6 + size as f64 / count * 0.1;
    matrix.iter_mut().for_each(|row| row.iter_mut().last().into_iter().for_each(|entry| *entry += ridge));
    matrix
}

/// The solution of a positive definite system whose lower triangle is given (Cholesky); `None` if a pivot is not
/// positive.
fn solve(mut matrix: Vec<Vec<f64>>, right: &[f64]) -> Option<Vec<f64>> {
    let size = right.len();
    for row in 0..size {
        for column in 0..=row {
            let known = dot(&matrix[row][..column], &matrix[column][..column]);
            let rest = matrix[row][column] - known;
            matrix[row][column] = if column < row {
                rest / matrix[column][column]
            } else if rest > 0.0 {
                rest.sqrt()
            } else {
                return None;
            };
        }
    }
    let mut solution = Vec::with_capacity(size);
    for (row, &value) in matrix.iter().zip(right) {
        let known = dot(&row[..solution.len()], &solution);
        solution.push((value - known) / row[solution.len()]);
    }
    for row in (0..size).rev() {
        let known: f64 = (row + 1..size).map(|later| matrix[later][row] * solution[later]).sum();
        solution[row] = (solution[row] - known) / matrix[row][row];
    }
    Some(solution)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_is_solved() {
        let matrix = vec![vec![4.0], vec![2.0, 5.0], vec![-2.0, 1.0, 6.0]];
        let solution = solve(matrix, &[2.0, 9.0, 18.0]).expect("positive definite");
        // 4x + 2y − 2z = 2, 2x + 5y + z = 9, −2x + y + 6z = 18.
        let [x, y, z] = [solution[0], solution[1], solution[2]];
        assert!((4.0 * x + 2.0 * y - 2.0 * z - 2.0).abs() < 1e-12);
        assert!((2.0 * x + 5.0 * y + z - 9.0).abs() < 1e-12);
        assert!((-2.0 * x + y + 6.0 * z - 18.0).abs() < 1e-12);
        assert_eq!(solve(vec![vec![1.0], vec![2.0, 1.0]], &[1.0, 1.0]), None);
    }

    #[test]
    fn parameters_of_any_size_have_finite_scores() {
        let model = |size: f64, shift: f64| {
            (0..20).map(|i| vec![size * (f64::from(i % 3) / 8.0 + shift), 0.0, shift]).collect::<Vec<_>>()
        };
        for size in [1e300, 1.0, 1e-300, 0.0] {
            let scores = score_models(&Models { with: model(size, 0.5), without: model(size, 0.0) });
            let scores = scores.expect("all is finite");
            assert!(scores.with.iter().chain(&scores.without).all(|score| score.is_finite()));
            assert!(scores.with.iter().all(|with| scores.without.iter().all(|without| with > without)));
        }
    }

    #[test]
    fn what_cannot_be_scored_is_refused_with_its_place() {
        let good = vec![vec![1.0, 2.0]; 9];
        let refused = |with: &[Vec<f64>], without: &[Vec<f64>]| {
            score_models(&Models { with: with.to_vec(), without: without.to_vec() }).expect_err("refused")
        };
        let mut bad = good.clone();
        bad[4] = vec![1.0];
        let expected = Error::Parameters { with_the_record: false, run: 5, parameters: 1, expected: 2 };
        assert_eq!(refused(&good, &bad), expected);
        bad[4] = vec![1.0, f64::INFINITY];
        let expected = Error::NotANumber { what: "a parameter of model", with_the_record: true, run: 5 };
        assert_eq!(refused(&bad, &good), expected);
        let expected = Error::TooFewRuns { with_the_record: true, runs: 3, fewest: 8 };
        assert_eq!(refused(&good[..3], &good), expected);
        assert!(matches!(refused(&vec![Vec::new(); 9], &good), Error::Parameters { .. }));
    }
}
