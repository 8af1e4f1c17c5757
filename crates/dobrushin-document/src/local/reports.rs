//! Private reports.
//!
//! # Guarantee
//! Whatever people answer, there is one report for each, whose law is that of a report on some answer, or a mixture of
//! such laws: an answer that cannot be used is reported as a category drawn uniformly, the middle of the bounds, or the
//! zero vector, by the same mechanism. E_γ is jointly convex, so the laws of the reports on any two answers, good or bad,
//! have an E_γ of at most the mechanism's δ. A missing report would tell with certainty that its answer was bad.

use super::Mechanism;
use dobrushin::numeric::bits::{RandomBits, below};
use dobrushin_local::frequency::FrequencyOracle;
use dobrushin_local::mean::{MeanMechanism, VectorMechanism};

/// The reports of one batch.
#[derive(Clone, Debug, PartialEq)]
pub enum Batch {
    /// This many words for each report.
    Words(Vec<u64>, usize),
    /// One number for each report.
    Numbers(Vec<f64>),
}

impl Batch {
    /// No reports of a mechanism yet.
    pub fn empty(mechanism: &Mechanism) -> Self {
        match mechanism {
            Mechanism::Frequency(oracle, _) => Self::Words(Vec::new(), oracle.report_words()),
            Mechanism::Vector(_) => Self::Words(Vec::new(), 2),
            Mechanism::Mean(_) => Self::Numbers(Vec::new()),
        }
    }

    /// The number of words or numbers.
    pub fn len(&self) -> usize {
        match self {
            Self::Words(words, _) => words.len(),
            Self::Numbers(numbers) => numbers.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of cells of a report.
    pub fn width(&self) -> usize {
        match self {
            Self::Words(_, width) => *width,
            Self::Numbers(_) => 1,
        }
    }

    /// The number of reports.
    pub fn reports(&self) -> usize {
        self.len() / self.width()
    }

    /// Drops all words or numbers beyond this many.
    pub fn truncate(&mut self, length: usize) {
        match self {
            Self::Words(words, _) => words.truncate(length),
            Self::Numbers(numbers) => numbers.truncate(length),
        }
    }
}

/// Reports on categories, counted from 0; `None` is an answer that cannot be used.
pub fn on_categories(
    oracle: &dyn FrequencyOracle,
    answers: impl Iterator<Item = Option<u32>>,
    bits: &mut impl RandomBits,
) -> Batch {
    let categories: Vec<u32> = answers.map(|answer| usable_category(oracle, answer, bits)).collect();
    let mut reports = Vec::new();
    oracle.privatise_all(&categories, bits, &mut reports);
    Batch::Words(reports, oracle.report_words())
}

/// Writes a report on one category.
pub fn on_category(
    oracle: &dyn FrequencyOracle,
    answer: Option<u32>,
    bits: &mut impl RandomBits,
    report: &mut [u64],
) {
    oracle.privatise(usable_category(oracle, answer, bits), bits, report);
}

/// The category, or one that is drawn uniformly.
fn usable_category(oracle: &dyn FrequencyOracle, answer: Option<u32>, bits: &mut impl RandomBits) -> u32 {
    answer.unwrap_or_else(|| below(u64::from(oracle.categories()), bits) as u32)
}

/// Reports on numbers between the bounds; `None` is an answer that cannot be used.
pub fn on_numbers(
    mechanism: &dyn MeanMechanism,
    answers: impl Iterator<Item = Option<f64>>,
    bits: &mut impl RandomBits,
) -> Batch {
    Batch::Numbers(answers.map(|answer| on_number(mechanism, answer, bits)).collect())
}

/// A report on one number.
pub fn on_number(mechanism: &dyn MeanMechanism, answer: Option<f64>, bits: &mut impl RandomBits) -> f64 {
    let middle = || mechanism.bounds().lower() / 2.0 + mechanism.bounds().upper() / 2.0;
    mechanism.privatise(answer.unwrap_or_else(middle), bits)
}

/// Reports on vectors in the ball; `None` is an answer that cannot be used.
pub fn on_vectors(
    mechanism: &dyn VectorMechanism,
    answers: impl Iterator<Item = Option<Vec<f64>>>,
    bits: &mut impl RandomBits,
) -> Batch {
    Batch::Words(answers.flat_map(|answer| on_vector(mechanism, answer.as_deref(), bits)).collect(), 2)
}

/// A report on one vector.
pub fn on_vector(
    mechanism: &dyn VectorMechanism,
    answer: Option<&[f64]>,
    bits: &mut impl RandomBits,
) -> [u64; 2] {
    // A vector in the ball has a report, and so has the zero vector.
    let report = answer.and_then(|vector| mechanism.report(vector, bits).ok());
    let zero = || vec![0.0; mechanism.dimension().get() as usize];
    report.or_else(|| mechanism.report(&zero(), bits).ok()).unwrap_or_default()
}
