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
    let count = u64::from(oracle.categories());
    let categories: Vec<u32> =
        answers.map(|answer| answer.unwrap_or_else(|| below(count, bits) as u32)).collect();
    let mut reports = Vec::new();
    oracle.privatise_all(&categories, bits, &mut reports);
    Batch::Words(reports, oracle.report_words())
}

/// Reports on numbers between the bounds; `None` is an answer that cannot be used.
pub fn on_numbers(
    mechanism: &dyn MeanMechanism,
    answers: impl Iterator<Item = Option<f64>>,
    bits: &mut impl RandomBits,
) -> Batch {
    let bounds = mechanism.bounds();
    let middle = bounds.lower() / 2.0 + bounds.upper() / 2.0;
    Batch::Numbers(answers.map(|answer| mechanism.privatise(answer.unwrap_or(middle), bits)).collect())
}

/// Reports on vectors in the ball; `None` is an answer that cannot be used.
pub fn on_vectors(
    mechanism: &dyn VectorMechanism,
    answers: impl Iterator<Item = Option<Vec<f64>>>,
    bits: &mut impl RandomBits,
) -> Batch {
    let zero = vec![0.0; mechanism.dimension().get() as usize];
    let mut words = Vec::with_capacity(2 * answers.size_hint().0);
    for vector in answers {
        // A vector in the ball has a report, and so has the zero vector.
        let report = vector.and_then(|vector| mechanism.report(&vector, bits).ok());
        words.extend(report.or_else(|| mechanism.report(&zero, bits).ok()).unwrap_or_default());
    }
    Batch::Words(words, 2)
}
