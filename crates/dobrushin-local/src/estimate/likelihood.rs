//! Frequencies by maximum likelihood.

use super::frequencies::check;
use crate::frequency::{FrequencyOracle, Likelihood};
use dobrushin::Error;

/// The most likely frequencies, up to the accuracy of the search.
///
/// ```
/// use dobrushin::{Delta, Epsilon};
/// use dobrushin_local::estimate::{Stop, maximum_likelihood};
/// use dobrushin_local::frequency::Response;
///
/// // Where the unbiased estimate is a law, it is the most likely one: as many of either are one half each.
/// let oracle = Response::new(2, Epsilon::new(1.0)?, Delta::new(0.0)?)?;
/// let found = maximum_likelihood(&oracle, &[500, 500], 1000, Stop::default())?;
/// assert!((found.frequencies[0] - 0.5).abs() < 1e-6 && found.gap <= 1e-9);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MaximumLikelihood {
    /// The frequencies, ≥ 0 with sum 1. They are *not* unbiased: rare categories are overestimated on average.
    pub frequencies: Vec<f64>,
    /// The mean of ln P(report) over the reports.
    pub log_likelihood: f64,
    /// No frequencies have a mean larger by more than this.
    pub gap: f64,
    /// The number of steps taken.
    pub steps: u32,
}

/// When to stop.
///
/// ```
/// use dobrushin::{Delta, Epsilon};
/// use dobrushin_local::estimate::{Stop, maximum_likelihood};
/// use dobrushin_local::frequency::Response;
///
/// let oracle = Response::new(3, Epsilon::new(1.0)?, Delta::new(0.0)?)?;
/// let stop = Stop { steps: 1, ..Stop::default() };
/// assert!(maximum_likelihood(&oracle, &[500, 300, 200], 1000, stop)?.steps <= 1);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// Stop once the gap is at most this, per report.
    pub gap: f64,
    /// Stop after this many steps.
    pub steps: u32,
}

impl Default for Stop {
    /// A gap of 1e-9, and 100 000 steps.
    fn default() -> Self {
        Self { gap: 1e-9, steps: 100_000 }
    }
}

/// Maximum likelihood by expectation maximisation, from the counters of a mechanism after this many reports.
///
/// With the shares c(y)/n of the reports and their law P = Σ_x f(x)·K(·|x), a step multiplies f(x) by
///
/// ```text
/// g(x) = Σ_y (c(y)/n)·K(y|x)/P(y),
/// ```
///
/// which keeps the sum of f and never lowers the likelihood (Dempster, Laird, Rubin 1977).
///
/// # Guarantee
/// The mean log-likelihood is concave in f and has the gradient g, and Σf·g = 1, so the maximum exceeds the value at f
/// by at most max g − 1: this is the gap, up to rounding.
///
/// # Errors
/// [`Error::Unsupported`] if the counters do not determine the likelihood, as for mechanisms whose reports support
/// several categories; [`Error::Empty`], [`Error::LengthMismatch`] and [`Error::OutOfRange`] if the counters do not fit
/// this many reports.
pub fn maximum_likelihood(
    oracle: &dyn FrequencyOracle,
    counters: &[u64],
    records: u64,
    stop: Stop,
) -> Result<MaximumLikelihood, Error> {
    let channel = oracle.likelihood().ok_or_else(|| Error::Unsupported {
        combination: format!("maximum likelihood from the counters of \"{}\"", oracle.id()),
        reason: "its counters do not determine the likelihood",
        nearest: "the unbiased estimate and its projection",
    })?;
    check(oracle, counters, records)?;
    if counters.iter().sum::<u64>() != records {
        return Err(Error::OutOfRange {
            name: "the number of reports",
            value: records as f64,
            accepted: "the sum of the counters",
        });
    }
    let shares: Vec<f64> = counters.iter().map(|&count| count as f64 / records as f64).collect();
    let categories = oracle.categories() as usize;
    let mut frequencies = vec![1.0 / categories as f64; categories];
    let law = channel.law(&frequencies);
    if let Some(output) = law.iter().zip(&shares).position(|(p, share)| *p <= 0.0 && *share > 0.0) {
        let accepted = "an output that some category can give";
        return Err(Error::OutOfRange { name: "a report", value: output as f64, accepted });
    }
    let mut steps = 0;
    loop {
        let Step { log_likelihood, factors } = step(channel, &shares, &frequencies);
        let gap = factors.iter().fold(0.0, |most: f64, factor| most.max(factor - 1.0));
        if gap <= stop.gap || steps >= stop.steps {
            return Ok(MaximumLikelihood { frequencies, log_likelihood, gap, steps });
        }
        for (frequency, factor) in frequencies.iter_mut().zip(&factors) {
            *frequency *= factor;
        }
        // The sum differs from 1 only by rounding.
        let sum: f64 = frequencies.iter().sum();
        frequencies.iter_mut().for_each(|frequency| *frequency /= sum);
        steps += 1;
    }
}

struct Step {
    log_likelihood: f64,
    factors: Vec<f64>,
}

fn step(channel: &dyn Likelihood, shares: &[f64], frequencies: &[f64]) -> Step {
    let law = channel.law(frequencies);
    let seen = || shares.iter().zip(&law);
    let log_likelihood = seen().filter(|(share, _)| **share > 0.0).map(|(share, p)| share * p.ln()).sum();
    let ratios: Vec<f64> = seen().map(|(share, p)| if *share > 0.0 { share / p } else { 0.0 }).collect();
    Step { log_likelihood, factors: channel.expectations(&ratios) }
}
