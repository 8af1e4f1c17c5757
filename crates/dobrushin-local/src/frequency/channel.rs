//! Any channel with finitely many inputs and outputs.

use super::{FrequencyOracle, Likelihood, MOST_ENTRIES, Support, count_answer, is_answer};
use crate::LocalProfile;
use dobrushin::Error;
use dobrushin::kernel::FiniteKernel;
use dobrushin::numeric::UNIT_ROUNDOFF;
use dobrushin::numeric::bits::{Buffered, RandomBits};

/// A channel given by its rows, as a mechanism: category x is reported as output y with probability K(y|x).
///
/// The probabilities are rounded to multiples of 2⁻⁶⁴, and the largest probability of a row absorbs the difference of
/// its sum from 1: half a unit for each output, plus the error of the row itself. The profile is that of the channel as
/// realised.
///
/// A report is the index of an output. It supports no category in particular: frequencies are estimated by maximum
/// likelihood.
///
/// ```
/// use dobrushin_local::frequency::{Channel, FrequencyOracle};
/// use dobrushin::Delta;
/// let channel = Channel::new(vec![vec![0.75, 0.25], vec![0.25, 0.75]])?;
/// let epsilon = channel.privacy().epsilon(Delta::new(0.0)?);
/// assert!(epsilon.contains(3f64.ln()) && epsilon.width() < 1e-13);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Channel {
    /// The realised channel, rounded.
    kernel: FiniteKernel,
    rows: Vec<Row>,
}

/// The outputs at one input.
#[derive(Clone, Debug)]
struct Row {
    /// The possible outputs, in order, each with the last word that it represents.
    outputs: Vec<(u64, u32)>,
    /// The index at which to start the search, for each value of the highest bits of a word.
    guide: Vec<u32>,
    probabilities: Vec<f64>,
}

impl Channel {
    /// A mechanism from the rows of a channel.
    ///
    /// # Errors
    /// The errors of [`FiniteKernel::new`], and [`Error::OutOfRange`] for a positive probability that would be rounded
    /// to 0 and for a channel with 2²² entries or more.
    pub fn new(rows: Vec<Vec<f64>>) -> Result<Self, Error> {
        let entries = rows.iter().map(Vec::len).sum::<usize>();
        if entries > MOST_ENTRIES {
            let (name, value) = ("the number of entries of the channel", entries as f64);
            return Err(Error::OutOfRange { name, value, accepted: "at most 4194304" });
        }
        FiniteKernel::new(rows.clone())?;
        let weights = rows.iter().map(|row| weights(row)).collect::<Result<Vec<_>, _>>()?;
        let rows: Vec<Row> = weights.iter().map(|weights| Row::new(weights)).collect();
        let kernel = FiniteKernel::new(rows.iter().map(|row| row.probabilities.clone()).collect())?;
        Ok(Self { kernel, rows })
    }

    fn answer(&self, category: u32, bits: &mut impl RandomBits) -> u64 {
        let row = &self.rows[(category as usize).min(self.rows.len() - 1)];
        u64::from(row.output(bits.bits()))
    }
}

/// 2⁶⁴.
const ALL: i128 = 1 << 64;

/// The stored probabilities are within 4 roundings of w/2⁶⁴: of w, of the sum, and of the division by it; so is the law
/// that [`FiniteKernel`] derives from them.
const RELATIVE_ERROR: f64 = 16.0 * UNIT_ROUNDOFF;

/// Whole numbers that sum to 2⁶⁴.
fn weights(row: &[f64]) -> Result<Vec<i128>, Error> {
    let mut weights: Vec<i128> = row.iter().map(|p| (p * ALL as f64).round() as i128).collect();
    let missing = ALL - weights.iter().sum::<i128>();
    if let Some(largest) = weights.iter_mut().max() {
        *largest += missing;
    }
    match row.iter().zip(&weights).find(|(p, weight)| **p > 0.0 && **weight <= 0) {
        Some((&value, _)) => {
            let name = "a probability of the channel";
            Err(Error::OutOfRange { name, value, accepted: "0 or at least 2^-64 (5.5e-20)" })
        }
        None => Ok(weights),
    }
}

impl Row {
    fn new(weights: &[i128]) -> Self {
        let mut before = 0;
        let mut outputs = Vec::with_capacity(weights.len());
        for (output, &weight) in (0..).zip(weights) {
            before += weight;
            if weight > 0 {
                outputs.push(((before - 1) as u64, output));
            }
        }
        let starts = outputs.len().next_power_of_two();
        let first_word = |start: usize| ((start as u128) << 64 >> starts.trailing_zeros()) as u64;
        let guide =
            (0..starts).map(|start| outputs.partition_point(|&(last, _)| last < first_word(start)) as u32);
        let guide = guide.collect();
        let probabilities = weights.iter().map(|&weight| weight as f64 / ALL as f64).collect();
        Self { outputs, guide, probabilities }
    }

    fn output(&self, word: u64) -> u32 {
        let start = (u128::from(word) << self.guide.len().trailing_zeros() >> 64) as usize;
        let from = &self.outputs[self.guide[start] as usize..];
        // The last possible output represents the last word, so there is one.
        from.iter().find(|(last, _)| word <= *last).map_or(0, |&(_, output)| output)
    }
}

impl FrequencyOracle for Channel {
    fn id(&self) -> &'static str {
        "channel"
    }

    fn categories(&self) -> u32 {
        self.rows.len() as u32
    }

    fn privacy(&self) -> LocalProfile {
        LocalProfile::of_rounded_channel(&self.kernel, RELATIVE_ERROR)
    }

    fn channel(&self) -> Option<FiniteKernel> {
        Some(self.kernel.clone())
    }

    fn support(&self) -> Option<Support> {
        None
    }

    fn report_words(&self) -> usize {
        1
    }

    /// One counter for each output.
    fn counters(&self) -> usize {
        self.kernel.outputs()
    }

    fn is_report(&self, report: &[u64]) -> bool {
        is_answer(report, self.counters() as u64)
    }

    fn privatise(&self, category: u32, mut bits: &mut dyn RandomBits, report: &mut [u64]) {
        let answer = self.answer(category, &mut bits);
        if let Some(word) = report.first_mut() {
            *word = answer;
        }
    }

    fn count(&self, report: &[u64], counters: &mut [u64]) {
        count_answer(report, counters);
    }

    fn privatise_all(&self, categories: &[u32], bits: &mut dyn RandomBits, reports: &mut Vec<u64>) {
        let mut bits = Buffered::new(bits);
        reports.extend(categories.iter().map(|&category| self.answer(category, &mut bits)));
    }

    fn likelihood(&self) -> Option<&dyn Likelihood> {
        Some(self)
    }
}

impl Likelihood for Channel {
    fn law(&self, frequencies: &[f64]) -> Vec<f64> {
        let mut law = vec![0.0; self.counters()];
        for (row, frequency) in self.rows.iter().zip(frequencies) {
            for (total, p) in law.iter_mut().zip(&row.probabilities) {
                *total += frequency * p;
            }
        }
        law
    }

    fn expectations(&self, of: &[f64]) -> Vec<f64> {
        let expectation = |row: &Row| row.probabilities.iter().zip(of).map(|(p, value)| p * value).sum();
        self.rows.iter().map(expectation).collect()
    }
}
