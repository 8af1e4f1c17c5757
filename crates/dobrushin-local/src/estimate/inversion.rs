//! Frequencies of categories from the reports of any channel, by inverting it.

use super::frequencies::{Family, Interval, check};
use super::{chernoff, error_probability, nearest_on_simplex, normal_quantile};
use crate::frequency::FrequencyOracle;
use dobrushin::numeric::UNIT_ROUNDOFF;
use dobrushin::{Enclosure, Error, Positive, Probability};

/// Unbiased frequencies from the reports of a channel K that has a left inverse.
///
/// A report y counts A(y, x) towards category x, where Σ_y K(y|x′)·A(y, x) is 1 for x′ = x and 0 for others, so the mean
/// of A over the reports has the frequency of x as its expectation. Of all such A, it is the one with the least variance
/// if all categories are equally frequent: A = D⁻¹Kᵀ(KD⁻¹Kᵀ)⁻¹, with D the mean of the rows of K.
///
/// ```
/// use dobrushin::Probability;
/// use dobrushin_local::estimate::{Family, Inversion};
/// use dobrushin_local::frequency::Channel;
///
/// // Of 1000 reports, 600 are the first: the frequency f of the first category solves 0.75·f + 0.25·(1 − f) = 0.6.
/// let channel = Channel::new(vec![vec![0.75, 0.25], vec![0.25, 0.75]])?;
/// let inversion = Inversion::new(&channel, &[600, 400], 1000)?;
/// assert!((inversion.unbiased()[0] - 0.7).abs() < 1e-12);
/// let covered = inversion.certain_intervals(Probability::new(0.95)?, Family::Single)?[0];
/// assert!(0.5 < covered.lower && covered.lower < 0.7 && 0.7 < covered.upper && covered.upper < 0.9);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Inversion {
    /// The rows of K, rounded.
    rows: Vec<Vec<f64>>,
    records: u64,
    categories: Vec<Category>,
    unbiased: Vec<f64>,
}

/// What a report counts towards a category.
#[derive(Clone, Debug)]
struct Category {
    /// A(·, x).
    weights: Vec<f64>,
    /// The largest distance of Σ_y K(y|x′)·A(y, x) from 1 or 0.
    bias: f64,
    /// The largest variance of A(Y, x), whatever the frequencies are.
    variance: Enclosure,
    /// The smallest and the largest A(y, x).
    range: (f64, f64),
}

/// Inverting a matrix with more rows takes too long.
const MOST_CATEGORIES: usize = 512;
/// A larger bias is the sign of a channel that has no inverse, up to rounding.
const MOST_BIAS: f64 = 1e-6;
/// The entries of a channel are within this of those that are realised.
const RELATIVE_ERROR: f64 = 16.0 * UNIT_ROUNDOFF;

impl Inversion {
    /// From the counters of a mechanism that is a matrix, with one counter for each report.
    ///
    /// # Errors
    /// [`Error::Empty`] without reports, [`Error::LengthMismatch`] if the number of counters is not that of the
    /// mechanism, [`Error::OutOfRange`] for more than 2⁵³ reports, and [`Error::Unsupported`] if the mechanism is not a
    /// matrix of at most 512 rows that has a left inverse.
    pub fn new(oracle: &dyn FrequencyOracle, counters: &[u64], records: u64) -> Result<Self, Error> {
        check(oracle, counters, records)?;
        let unsupported = |reason| Error::Unsupported {
            combination: format!("an unbiased estimate from reports of \"{}\"", oracle.id()),
            reason,
            nearest: "maximum likelihood",
        };
        let categories = oracle.categories() as usize;
        let likelihood = oracle
            .likelihood()
            .filter(|_| categories <= MOST_CATEGORIES)
            .ok_or_else(|| unsupported("it is not a matrix with at most 512 categories"))?;
        let only =
            |x: usize| (0..categories).map(|other| f64::from(u8::from(other == x))).collect::<Vec<_>>();
        let rows: Vec<Vec<f64>> = (0..categories).map(|x| likelihood.law(&only(x))).collect();
        let columns = left_inverse(&rows)
            .ok_or_else(|| unsupported("some frequencies have the same reports as others"))?;
        let categories: Vec<Category> =
            columns.into_iter().enumerate().map(|(x, weights)| Category::new(x, weights, &rows)).collect();
        if categories.iter().any(|category| category.bias > MOST_BIAS) {
            return Err(unsupported("some frequencies have nearly the same reports as others"));
        }
        let n = records as f64;
        let mean = |category: &Category| {
            category.weights.iter().zip(counters).map(|(weight, &count)| weight * (count as f64 / n)).sum()
        };
        let unbiased = categories.iter().map(mean).collect();
        Ok(Self { rows, records, categories, unbiased })
    }

    /// The mean of A(y, x) over the reports y, whose expectation is the frequency of x. It may be below 0 or above 1.
    pub fn unbiased(&self) -> &[f64] {
        &self.unbiased
    }

    /// The nearest frequencies ≥ 0 with sum 1; like [`Frequencies::projected`](super::Frequencies::projected), they are
    /// *not* unbiased.
    pub fn projected(&self) -> Vec<f64> {
        nearest_on_simplex(&self.unbiased)
    }

    /// The standard errors of [`Inversion::unbiased`] for people who are drawn from a population: the root of
    /// [Σ_y P(y)·A(y, x)² − f(x)²]/n, with the nearest possible frequencies as f, and P the law of their reports.
    pub fn standard_errors(&self) -> Vec<f64> {
        let frequencies = self.projected();
        let mut law = vec![0.0; self.rows.first().map_or(0, Vec::len)];
        for (row, frequency) in self.rows.iter().zip(&frequencies) {
            law.iter_mut().zip(row).for_each(|(sum, p)| *sum += frequency * p);
        }
        let error = |category: &Category| {
            let square: f64 = category.weights.iter().zip(&law).map(|(weight, p)| p * weight * weight).sum();
            let mean: f64 = category.weights.iter().zip(&law).map(|(weight, p)| p * weight).sum();
            ((square - mean * mean).max(0.0) / self.records as f64).sqrt()
        };
        self.categories.iter().map(error).collect()
    }

    /// Intervals f̂ ± z·(standard error), whose coverage approaches the confidence for many reports.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a confidence of 0 or 1.
    pub fn normal_intervals(&self, confidence: Probability, family: Family) -> Result<Vec<Interval>, Error> {
        let z = normal_quantile(self.error_of_each(confidence, family)?);
        let both = self.unbiased.iter().zip(self.standard_errors());
        Ok(both.map(|(f, error)| Interval { lower: f - z * error, upper: f + z * error }).collect())
    }

    /// Intervals with at least this confidence, for any frequencies and any number of reports.
    ///
    /// # Guarantee
    /// Reports are independent, and A(Y, x) is in a range of length s around f, at most D from it, with a variance of at
    /// most v for all frequencies. Its logarithmic moments are at most t²s²/8 (Hoeffding) and (v/D²)(e^(tD) − 1 − tD)
    /// (Bennett), and the interval follows. The expectation of A(Y, x) is within a bound of f that is computed with
    /// directed rounding for the realised channel, and the interval is longer by it.
    ///
    /// # Errors
    /// The errors of [`Inversion::normal_intervals`].
    pub fn certain_intervals(&self, confidence: Probability, family: Family) -> Result<Vec<Interval>, Error> {
        let error = self.error_of_each(confidence, family)?;
        let interval = |(category, &f): (&Category, &f64)| {
            let half = category.half_width(self.records, error);
            let [estimate, half] = [f, half].map(Enclosure::from);
            // The sum of the weights is rounded for each report.
            let rounding = Enclosure::from(
                4.0 * UNIT_ROUNDOFF
                    * category.weights.len() as f64
                    * category.range.0.abs().max(category.range.1.abs()),
            );
            Interval {
                lower: (estimate - half - rounding).lower().clamp(0.0, 1.0),
                upper: (estimate + half + rounding).upper().clamp(0.0, 1.0),
            }
        };
        Ok(self.categories.iter().zip(&self.unbiased).map(interval).collect())
    }

    fn error_of_each(&self, confidence: Probability, family: Family) -> Result<Enclosure, Error> {
        let error = error_probability(confidence)?;
        Ok(match family {
            Family::Single => error,
            Family::Simultaneous => error / Enclosure::from(self.categories.len() as u64),
        })
    }
}

impl Category {
    fn new(x: usize, weights: Vec<f64>, rows: &[Vec<f64>]) -> Self {
        let realised = |p: f64| if p == 0.0 { Enclosure::ZERO } else { Enclosure::around(p, RELATIVE_ERROR) };
        // Σ_y K(y|x′)·A(y, x)^k.
        let moment = |row: &[f64], power: fn(Enclosure) -> Enclosure| -> Enclosure {
            row.iter().zip(&weights).map(|(&p, &weight)| realised(p) * power(Enclosure::from(weight))).sum()
        };
        let wanted = |other: usize| if other == x { Enclosure::ONE } else { Enclosure::ZERO };
        let off = |(other, row): (usize, &Vec<f64>)| (moment(row, |a| a) - wanted(other)).abs().upper();
        let bias = rows.iter().enumerate().map(off).fold(0.0, f64::max);
        let seconds: Vec<Enclosure> = rows.iter().map(|row| moment(row, Enclosure::square)).collect();
        let others = seconds.iter().enumerate().filter(|(other, _)| *other != x).map(|(_, &second)| second);
        let most = others.fold(Enclosure::ZERO, Enclosure::max);
        // A share f of x and the rest of the worst other: most + f·(mine − most) − f², up to the bias, is at most the
        // following for every f, and the third for f up to 1 only.
        let gap = (seconds[x] - most).positive_part();
        let quadratic = most + gap.square() / Enclosure::from(4.0);
        let at_the_end = if gap.lower() >= 2.0 { seconds[x] - Enclosure::ONE } else { quadratic };
        let slack = Enclosure::from(bias) * Enclosure::from(4.0);
        let variance = quadratic.min(at_the_end) + slack;
        let possible = |y: &usize| rows.iter().any(|row| row[*y] > 0.0);
        let seen = (0..weights.len()).filter(possible).map(|y| weights[y]);
        let range = seen.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), a| (low.min(a), high.max(a)));
        Self { weights, bias, variance, range }
    }

    /// Half the length of a certain interval.
    fn half_width(&self, records: u64, error: Enclosure) -> f64 {
        let [low, high] = [self.range.0, self.range.1].map(Enclosure::from);
        let bias = Enclosure::from(self.bias);
        // The mean is a frequency, up to the bias.
        let deviation = high.max(Enclosure::ONE - low) + bias;
        let log_moment = |t: Positive| {
            let t = Enclosure::from(t);
            let x = t * deviation;
            let by_variance = self.variance / deviation.square() * (x.exp_m1() - x).positive_part();
            ((t * (high - low)).square() / Enclosure::from(8.0)).min(by_variance)
        };
        let half = chernoff::half_width(records, error, self.variance, log_moment);
        (Enclosure::from(half) + bias).upper()
    }
}

/// The columns of A, rounded, all finite; `None` if the matrix is singular.
fn left_inverse(rows: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let (inputs, outputs) = (rows.len(), rows.first()?.len());
    if outputs < inputs {
        return None;
    }
    let mean = |y: usize| rows.iter().map(|row| row[y]).sum::<f64>() / inputs as f64;
    let scaled: Vec<Vec<f64>> = {
        let scale: Vec<f64> = (0..outputs).map(mean).map(|d| if d > 0.0 { 1.0 / d } else { 0.0 }).collect();
        rows.iter().map(|row| row.iter().zip(&scale).map(|(p, s)| p * s).collect()).collect()
    };
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let gram: Vec<Vec<f64>> =
        rows.iter().map(|row| scaled.iter().map(|other| product(row, other)).collect()).collect();
    let inverse = inverted(gram)?;
    let column = |x: usize| {
        let mut weights = vec![0.0; outputs];
        for (row, factor) in scaled.iter().zip(&inverse).map(|(row, line)| (row, line[x])) {
            weights.iter_mut().zip(row).for_each(|(sum, p)| *sum += p * factor);
        }
        weights
    };
    let columns: Vec<Vec<f64>> = (0..inputs).map(column).collect();
    columns.iter().flatten().all(|weight| weight.is_finite()).then_some(columns)
}

/// The inverse of a square matrix, by elimination with the largest pivots; `None` if one of them is 0 or not finite.
fn inverted(mut matrix: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let size = matrix.len();
    for (index, row) in matrix.iter_mut().enumerate() {
        row.extend((0..size).map(|column| f64::from(u8::from(column == index))));
    }
    for pivot in 0..size {
        let best =
            (pivot..size).max_by(|&a, &b| matrix[a][pivot].abs().total_cmp(&matrix[b][pivot].abs()))?;
        matrix.swap(pivot, best);
        let divisor = matrix[pivot][pivot];
        if divisor == 0.0 || !divisor.is_finite() {
            return None;
        }
        matrix[pivot].iter_mut().for_each(|entry| *entry /= divisor);
        let source = matrix[pivot].clone();
        for (_, row) in matrix.iter_mut().enumerate().filter(|(index, _)| *index != pivot) {
            let factor = row[pivot];
            if factor != 0.0 {
                row.iter_mut().zip(&source).for_each(|(entry, from)| *entry -= factor * from);
            }
        }
    }
    Some(matrix.into_iter().map(|row| row[size..].to_vec()).collect())
}
