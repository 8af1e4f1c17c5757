//! Randomised response.

use super::{
    FrequencyOracle, Likelihood, MOST_ENTRIES, Support, UNIT, checked, count_answer, is_answer, ratio,
};
use crate::{LocalPrivacy, LocalProfile, threshold};
use dobrushin::kernel::FiniteKernel;
use dobrushin::numeric::bits::Coin;
use dobrushin::numeric::bits::{Buffered, RandomBits, below};
use dobrushin::{Delta, Enclosure, Epsilon, Error};

/// k-ary randomised response: the truth with probability p, otherwise one of the other categories, all equally likely
/// (Warner 1965; Kairouz, Bonawitz, Ramage 2016).
///
/// It is (ε, δ)-private for p ≤ (e^ε + (k − 1)δ)/(e^ε + k − 1), which amounts to revealing the truth with probability δ
/// and using e^ε/(e^ε + k − 1) otherwise, without saying which. With q = (1 − p)/(k − 1),
///
/// ```text
/// δ(ε′) = (p − e^ε′·q)₊.
/// ```
///
/// A report is the index of a category, and supports it.
///
/// ```
/// use dobrushin_local::frequency::{FrequencyOracle, Response};
/// use dobrushin::{Delta, Epsilon};
/// let response = Response::new(100, Epsilon::new(1.0)?, Delta::new(0.0)?)?;
/// assert_eq!(response.privacy().epsilon(Delta::new(0.0)?).upper(), 1.0);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Response {
    categories: u32,
    truth: Coin,
    promise: LocalPrivacy,
    /// The number of words, of those that do not give the truth, for each other category: ⌊(2⁶⁴ − t)/(k − 1)⌋.
    width: u64,
    /// (k − 1)·width.
    shared: u64,
    /// ⌊(2⁶⁴ − 1)/width⌋.
    reciprocal: u64,
}

impl Response {
    /// The most truthful response that is (ε, δ)-private.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 2 ≤ k < 2²⁴, 1e-9 ≤ ε < ∞ and δ < 1.
    pub fn new(categories: u32, epsilon: Epsilon, delta: Delta) -> Result<Self, Error> {
        let promise = checked(categories, epsilon, delta)?;
        let others = categories - 1;
        let truth = threshold::largest([1, others, others], epsilon, delta);
        let width = truth.threshold().wrapping_neg() / u64::from(others);
        let (shared, reciprocal) = (width * u64::from(others), u64::MAX / width.max(1));
        Ok(Self { categories, truth, promise, width, shared, reciprocal })
    }

    /// The coin that decides whether to tell the truth.
    pub fn truth(&self) -> Coin {
        self.truth
    }

    /// p, q and p − q.
    pub(super) fn probabilities(&self) -> Support {
        Support { truth: self.truth.probability(), other: self.other(), gap: self.gap() }
    }

    /// The truth or another category.
    #[inline]
    pub(super) fn answer(&self, category: u32, bits: &mut impl RandomBits) -> u32 {
        let word = bits.bits();
        // The words from t on are in groups of `width`, one for each other category. The estimate of the quotient is at
        // most one too small.
        let (past, is_true) = word.overflowing_sub(self.truth.threshold());
        let mut other = ((u128::from(past) * u128::from(self.reciprocal)) >> 64) as u64;
        other += u64::from(past.wrapping_sub(other.wrapping_mul(self.width)) >= self.width);
        if !is_true && past >= self.shared {
            other = self.leftover(bits);
        }
        let other = other as u32;
        if is_true { category } else { other + u32::from(other >= category) }
    }

    /// Handles the words that cannot be divided evenly: fewer than k, or all if there are not even k.
    #[cold]
    fn leftover(&self, bits: &mut impl RandomBits) -> u64 {
        below(u64::from(self.categories - 1), bits)
    }

    /// p − q.
    fn gap(&self) -> Enclosure {
        // (t·k − 2⁶⁴)/(2⁶⁴(k − 1)).
        let above = u128::from(self.truth.threshold()) * u128::from(self.categories);
        ratio(above.saturating_sub(UNIT), self.categories - 1)
    }

    /// q.
    fn other(&self) -> Enclosure {
        self.truth.complement() / Enclosure::from(f64::from(self.categories - 1))
    }
}

impl FrequencyOracle for Response {
    fn id(&self) -> &'static str {
        "k-rr"
    }

    fn categories(&self) -> u32 {
        self.categories
    }

    fn privacy(&self) -> LocalProfile {
        LocalProfile::hinge(self.gap(), self.other(), self.promise)
    }

    fn channel(&self) -> Option<FiniteKernel> {
        let k = self.categories as usize;
        if k * k > MOST_ENTRIES {
            return None;
        }
        let (truth, other) = (self.truth.probability().midpoint(), self.other().midpoint());
        let row = |x: usize| (0..k).map(|y| if x == y { truth } else { other }).collect();
        FiniteKernel::new((0..k).map(row).collect()).ok()
    }

    fn support(&self) -> Option<Support> {
        Some(self.probabilities())
    }

    fn report_words(&self) -> usize {
        1
    }

    fn is_report(&self, report: &[u64]) -> bool {
        is_answer(report, u64::from(self.categories))
    }

    fn most_supported(&self) -> u32 {
        1
    }

    fn privatise(&self, category: u32, mut bits: &mut dyn RandomBits, report: &mut [u64]) {
        let category = category.min(self.categories - 1);
        let answer = self.answer(category, &mut bits);
        if let Some(word) = report.first_mut() {
            *word = u64::from(answer);
        }
    }

    fn count(&self, report: &[u64], counters: &mut [u64]) {
        count_answer(report, counters);
    }

    fn privatise_all(&self, categories: &[u32], bits: &mut dyn RandomBits, reports: &mut Vec<u64>) {
        let mut bits = Buffered::new(bits);
        let last = self.categories - 1;
        reports
            .extend(categories.iter().map(|&category| u64::from(self.answer(category.min(last), &mut bits))));
    }

    fn likelihood(&self) -> Option<&dyn Likelihood> {
        Some(self)
    }
}

impl Likelihood for Response {
    fn law(&self, frequencies: &[f64]) -> Vec<f64> {
        let (other, gap) = (self.other().midpoint(), self.gap().midpoint());
        frequencies.iter().map(|frequency| other + gap * frequency).collect()
    }

    fn expectations(&self, of: &[f64]) -> Vec<f64> {
        let (other, gap) = (self.other().midpoint(), self.gap().midpoint());
        let everywhere = other * of.iter().sum::<f64>();
        of.iter().map(|value| everywhere + gap * value).collect()
    }
}
