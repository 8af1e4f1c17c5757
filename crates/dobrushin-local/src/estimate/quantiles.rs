//! The distribution of numbers, and its quantiles, from private reports of their bins.

use super::{Method, error_probability, normal_quantile};
use crate::frequency::FrequencyOracle;
use crate::mean::Bounds;
use dobrushin::numeric::partition_point;
use dobrushin::{Enclosure, Error, Probability};

/// Equally wide bins between two bounds, numbered from 0.
///
/// ```
/// use dobrushin_local::estimate::Bins;
/// use dobrushin_local::mean::Bounds;
///
/// // Ages in six bins of twenty years.
/// let bins = Bins::new(Bounds::new(0.0, 120.0)?, 6)?;
/// assert_eq!((bins.edge(1), bins.bin(20.0), bins.bin(20.5), bins.bin(1e9)), (20.0, 0, 1, 5));
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bins {
    bounds: Bounds,
    count: u32,
}

impl Bins {
    /// k bins.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless there are 2 to 2²⁰ bins.
    pub fn new(bounds: Bounds, count: u32) -> Result<Self, Error> {
        if !(2..=1 << 20).contains(&count) {
            let (name, value) = ("the number of bins", f64::from(count));
            return Err(Error::OutOfRange { name, value, accepted: "from 2 to 1048576" });
        }
        Ok(Self { bounds, count })
    }

    /// k.
    pub fn count(self) -> u32 {
        self.count
    }

    /// The number a + j·(b − a)/k at which bin j starts, and bin j − 1 ends.
    pub fn edge(self, bin: u32) -> f64 {
        if bin >= self.count {
            return self.bounds.upper();
        }
        let share = f64::from(bin) / f64::from(self.count);
        self.bounds.lower() + (self.bounds.upper() - self.bounds.lower()) * share
    }

    /// The bin with edge(j) < value ≤ edge(j + 1). Values outside the bounds are in the first or the last bin, and NaN
    /// is in the first: the caller should clip, and count, with [`Bounds::clip`].
    pub fn bin(self, value: f64) -> u32 {
        let bins = 0..self.count as usize - 1;
        partition_point(bins, |bin| value > self.edge(bin as u32 + 1)) as u32
    }
}

/// Adds up reports on bins.
///
/// If S_j of the categories 0 … j − 1 are supported by a report, (S_j − j·q)/(p − q) has the expectation F(edge j),
/// where F is the distribution function of the values. Its mean and its spread are tracked for every inner edge: a
/// report takes O(k) operations.
///
/// ```
/// use dobrushin::{Delta, Epsilon, Probability};
/// use dobrushin_local::estimate::{Bins, CdfEstimator, Method};
/// use dobrushin_local::frequency::Response;
/// use dobrushin_local::mean::Bounds;
///
/// let bins = Bins::new(Bounds::new(0.0, 1.0)?, 4)?;
/// let oracle = Response::new(4, Epsilon::new(2.0)?, Delta::new(0.0)?)?;
/// let mut estimator = CdfEstimator::new(bins, &oracle)?;
/// // As many reports name each bin: F is 1/4, 1/2, 3/4 at the inner edges.
/// for report in 0..400 {
///     estimator.add(&[report % 4]);
/// }
/// let estimate = estimator.estimate(Probability::new(0.95)?, Method::Certain)?;
/// assert!(estimate.unbiased().iter().zip([0.25, 0.5, 0.75]).all(|(f, known)| (f - known).abs() < 1e-9));
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub struct CdfEstimator<'a> {
    bins: Bins,
    oracle: &'a dyn FrequencyOracle,
    counters: Vec<u64>,
    records: u64,
    /// The sums of S_j and S_j² for j = 1 … k − 1.
    sums: Vec<u128>,
    squares: Vec<u128>,
}

impl<'a> CdfEstimator<'a> {
    /// An estimator for reports of a mechanism whose categories are the bins.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] for another number of categories, [`Error::Unsupported`] for a mechanism whose reports
    /// do not support every category alike.
    pub fn new(bins: Bins, oracle: &'a dyn FrequencyOracle) -> Result<Self, Error> {
        if oracle.categories() != bins.count {
            return Err(Error::LengthMismatch {
                what: "the mechanism".to_owned(),
                found: oracle.categories() as usize,
                expected: bins.count as usize,
                like: "the bins".to_owned(),
            });
        }
        if oracle.support().is_none() {
            return Err(Error::Unsupported {
                combination: format!("a distribution from reports of {}", oracle.id()),
                reason: "its reports do not support every category with the same two probabilities",
                nearest: "k-ary randomised response or unary encoding",
            });
        }
        let edges = bins.count as usize - 1;
        let counters = vec![0; oracle.counters()];
        Ok(Self { bins, oracle, counters, records: 0, sums: vec![0; edges], squares: vec![0; edges] })
    }

    /// Counts a report.
    pub fn add(&mut self, report: &[u64]) {
        self.counters.fill(0);
        self.oracle.count(report, &mut self.counters);
        let supported = self.oracle.supported(&self.counters);
        self.records += 1;
        let mut sum = 0;
        for (place, &supports) in supported.iter().take(self.sums.len()).enumerate() {
            sum += u128::from(supports);
            self.sums[place] += sum;
            self.squares[place] += sum * sum;
        }
    }

    /// Counts the reports of another estimator for the same bins and mechanism.
    pub fn merge(&mut self, other: &Self) {
        self.records += other.records;
        for (mine, theirs) in [(&mut self.sums, &other.sums), (&mut self.squares, &other.squares)] {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
        }
    }

    /// The distribution so far.
    ///
    /// # Guarantee
    /// With [`Method::Certain`] the band contains F at all edges simultaneously with at least this confidence, for the
    /// values of those who reported and for the law from which they are drawn. By the empirical Bernstein inequality
    /// (Maurer, Pontil 2009, Theorem 11), for independent reports in a range of length R with sample variance V, each
    /// of the k − 1 inner edges is missed to either side with probability at most α/(2(k − 1)) by more than √(2V·ln(4(k
    /// − 1)/α)/n) + 7R·ln(4(k − 1)/α)/(3(n − 1)), where R·(p − q) at edge j is the smaller of j and the largest number
    /// of categories that a report can support.
    ///
    /// # Errors
    /// [`Error::Empty`] for fewer than two reports, [`Error::OutOfRange`] for a confidence of 0 or 1.
    pub fn estimate(&self, confidence: Probability, method: Method) -> Result<CdfEstimate, Error> {
        let error = error_probability(confidence)?;
        let support = self.oracle.support().filter(|_| self.records >= 2);
        let Some(support) = support else {
            return Err(Error::Empty { what: "the distribution".to_owned(), missing: "second report" });
        };
        let (n, edges) = (self.records as f64, self.sums.len() as f64);
        let (other, gap) = (support.other.midpoint(), support.gap.midpoint());
        let each = error / Enclosure::from(edges);
        let quantile = normal_quantile(each);
        let ln = (Enclosure::from(4.0) / each).ln().upper();
        let most = f64::from(self.oracle.most_supported());
        let points = self.sums.iter().zip(&self.squares).enumerate().map(|(place, (&sum, &square))| {
            let categories = place as f64 + 1.0;
            let mean = sum as f64 / n;
            let spread = ((square as f64 - sum as f64 * mean) / (n - 1.0)).max(0.0) / (gap * gap);
            let estimate = (mean - categories * other) / gap;
            let half_width = match method {
                Method::Normal => quantile * (spread / n).sqrt(),
                Method::Certain => {
                    let range = categories.min(most) / gap;
                    (2.0 * spread * ln / n).sqrt() + 7.0 * range * ln / (3.0 * (n - 1.0))
                }
            };
            (estimate, half_width)
        });
        let points: Vec<(f64, f64)> = points.collect();
        Ok(CdfEstimate::new(self.bins, &points))
    }
}

/// An estimate of the distribution function at the edges, and a band around it.
///
/// ```
/// use dobrushin::{Delta, Epsilon, Probability};
/// use dobrushin_local::estimate::{Bins, CdfEstimator, Method};
/// use dobrushin_local::frequency::Response;
/// use dobrushin_local::mean::Bounds;
///
/// let bins = Bins::new(Bounds::new(0.0, 1.0)?, 4)?;
/// let oracle = Response::new(4, Epsilon::new(2.0)?, Delta::new(0.0)?)?;
/// let mut estimator = CdfEstimator::new(bins, &oracle)?;
/// for report in 0..400 {
///     estimator.add(&[report % 4]);
/// }
/// let estimate = estimator.estimate(Probability::new(0.95)?, Method::Certain)?;
/// // The shares of the bins add up to 1, and the band is around the estimate.
/// assert!((estimate.histogram().iter().sum::<f64>() - 1.0).abs() < 1e-9);
/// assert!(estimate.band().zip(estimate.monotone()).all(|((lower, upper), f)| lower <= *f && *f <= upper));
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CdfEstimate {
    bins: Bins,
    unbiased: Vec<f64>,
    monotone: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

/// A quantile and its bounds.
///
/// ```
/// use dobrushin::{Delta, Epsilon, Probability};
/// use dobrushin_local::estimate::{Bins, CdfEstimator, Method};
/// use dobrushin_local::frequency::Response;
/// use dobrushin_local::mean::Bounds;
///
/// let bins = Bins::new(Bounds::new(0.0, 1.0)?, 4)?;
/// let oracle = Response::new(4, Epsilon::new(2.0)?, Delta::new(0.0)?)?;
/// let mut estimator = CdfEstimator::new(bins, &oracle)?;
/// for report in 0..400 {
///     estimator.add(&[report % 4]);
/// }
/// let estimate = estimator.estimate(Probability::new(0.95)?, Method::Certain)?;
/// // As many reports name each bin: the median is in the middle.
/// let median = estimate.quantile(Probability::new(0.5)?);
/// assert!((median.value - 0.5).abs() < 1e-9 && median.lower <= 0.5 && 0.5 <= median.upper);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuantileEstimate {
    /// Where the monotone estimate, interpolated linearly between the edges, reaches the level.
    pub value: f64,
    /// The quantile is not below this …
    pub lower: f64,
    /// … nor above this, if the band contains the distribution function.
    pub upper: f64,
}

impl CdfEstimate {
    fn new(bins: Bins, points: &[(f64, f64)]) -> Self {
        let unbiased: Vec<f64> = points.iter().map(|point| point.0).collect();
        // F increases, so a lower bound at one edge holds at all later ones.
        let mut lower: Vec<f64> = points.iter().map(|(at, half)| (at - half).clamp(0.0, 1.0)).collect();
        let mut upper: Vec<f64> = points.iter().map(|(at, half)| (at + half).clamp(0.0, 1.0)).collect();
        for j in 1..points.len() {
            lower[j] = lower[j].max(lower[j - 1]);
        }
        for j in (1..points.len()).rev() {
            upper[j - 1] = upper[j - 1].min(upper[j]);
        }
        Self { bins, monotone: isotonic(&unbiased), unbiased, lower, upper }
    }

    /// The unbiased estimate of F at the inner edges 1 … k − 1; it may decrease and be outside [0, 1].
    pub fn unbiased(&self) -> &[f64] {
        &self.unbiased
    }

    /// The closest values in least squares that increase from 0 to 1.
    pub fn monotone(&self) -> &[f64] {
        &self.monotone
    }

    /// The bounds on F at the inner edges.
    pub fn band(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.lower.iter().copied().zip(self.upper.iter().copied())
    }

    /// The share of each bin, by the monotone estimate: not negative, with sum 1.
    pub fn histogram(&self) -> Vec<f64> {
        let ends = self.monotone.iter().copied().chain([1.0]);
        let starts = [0.0].into_iter().chain(self.monotone.iter().copied());
        ends.zip(starts).map(|(end, start)| end - start).collect()
    }

    /// The smallest number with F ≥ the level, where clipped values count as the bounds.
    pub fn quantile(&self, level: Probability) -> QuantileEstimate {
        let (edge, level) = (|place: usize| self.bins.edge(place as u32 + 1), level.get());
        let before = self.upper.partition_point(|&upper| upper < level);
        let after = self.lower.partition_point(|&lower| lower < level);
        let bounds = self.bins.bounds;
        let lower = if before == 0 { bounds.lower() } else { edge(before - 1) };
        let upper = if after == self.lower.len() { bounds.upper() } else { edge(after) };
        QuantileEstimate { value: self.crossing(level), lower, upper }
    }

    fn crossing(&self, level: f64) -> f64 {
        let place = self.monotone.partition_point(|&at| at < level);
        let (start, end) = (self.bins.edge(place as u32), self.bins.edge(place as u32 + 1));
        let from = if place == 0 { 0.0 } else { self.monotone[place - 1] };
        let to = self.monotone.get(place).copied().unwrap_or(1.0);
        if to > from { start + (end - start) * ((level - from) / (to - from)) } else { start }
    }
}

/// The closest increasing values in least squares, clipped to [0, 1]: decreasing neighbours are replaced by their mean
/// until there are none.
fn isotonic(values: &[f64]) -> Vec<f64> {
    let mut blocks: Vec<(f64, f64)> = Vec::with_capacity(values.len());
    for &value in values {
        let mut block = (value, 1.0);
        while let Some(&(mean, weight)) = blocks.last() {
            if mean <= block.0 {
                break;
            }
            let both = weight + block.1;
            block = (mean + (block.0 - mean) * (block.1 / both), both);
            blocks.pop();
        }
        blocks.push(block);
    }
    let spread = blocks.iter().flat_map(|&(mean, weight)| (0..weight as usize).map(move |_| mean));
    spread.map(|value| value.clamp(0.0, 1.0)).collect()
}
