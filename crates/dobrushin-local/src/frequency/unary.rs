//! Unary encoding.

use super::lanes::{count_bits, is_bits, last_mask};
use super::{FrequencyOracle, MOST_ENTRIES, Support, append_each, checked, ratio};
use crate::{LocalPrivacy, LocalProfile, threshold};
use dobrushin::kernel::FiniteKernel;
use dobrushin::numeric::bits::Coin;
use dobrushin::numeric::bits::{Buffered, RandomBits};
use dobrushin::{Delta, Enclosure, Epsilon, Error, Probability};

/// Unary encoding: one bit for each category, which is 1 with probability p for the person's own category and with
/// probability q for each other, independently (Erlingsson, Pihur, Korolova 2014; Wang, Blocki, Li, Jha 2017).
///
/// Two inputs differ only in two bits, and there only the outcomes (1, 0) and (0, 1) distinguish them:
///
/// ```text
/// δ(ε′) = (p(1 − q) − e^ε′·q(1 − p))₊.
/// ```
///
/// For a given p, q is the smallest number that keeps the promise. A report supports the categories whose bit is 1;
/// category c is bit c mod 64 of word ⌊c/64⌋.
#[derive(Clone, Debug)]
pub struct Unary {
    id: &'static str,
    categories: u32,
    truth: Coin,
    other: Coin,
    promise: LocalPrivacy,
}

impl Unary {
    /// The encoding with the smallest variance for rare categories: p = 1/2, q = 1/(e^ε + 1) for δ = 0.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 2 ≤ k < 2²⁴, 1e-9 ≤ ε < ∞ and δ < 1.
    pub fn optimised(categories: u32, epsilon: Epsilon, delta: Delta) -> Result<Self, Error> {
        let promise = checked(categories, epsilon, delta)?;
        Ok(Self::with_truth("oue", categories, Coin::from_threshold(1 << 63), promise))
    }

    /// The encoding with q = 1 − p, up to 2⁻⁵⁰: p = 1/(1 + e^(−ε/2)) for δ = 0.
    ///
    /// # Errors
    /// The errors of [`Unary::optimised`].
    pub fn symmetric(categories: u32, epsilon: Epsilon, delta: Delta) -> Result<Self, Error> {
        let promise = checked(categories, epsilon, delta)?;
        // The root of p² − e^ε(1 − p)² = δ. Any p is private with its q, so this need not be exact.
        let (x, delta) = ((-epsilon.get()).exp(), delta.get());
        let truth = (1.0 + delta * x) / (1.0 + (x - delta * x * (1.0 - x)).sqrt());
        Ok(Self::with_truth("sue", categories, Coin::at_most(truth.min(MOST_TRUTH)), promise))
    }

    /// The encoding with a given p, rounded down to a multiple of 2⁻⁶⁴.
    ///
    /// # Errors
    /// The errors of [`Unary::optimised`], and also [`Error::OutOfRange`] unless 1e-6 ≤ p ≤ 1 − 1e-6.
    pub fn asymmetric(
        categories: u32,
        epsilon: Epsilon,
        delta: Delta,
        truth: Probability,
    ) -> Result<Self, Error> {
        let promise = checked(categories, epsilon, delta)?;
        if !(1e-6..=MOST_TRUTH).contains(&truth.get()) {
            let (name, value) = ("the probability of the own bit", truth.get());
            return Err(Error::OutOfRange { name, value, accepted: "from 1e-6 to 1 − 1e-6" });
        }
        Ok(Self::with_truth("aue", categories, Coin::at_most(truth.get()), promise))
    }

    fn with_truth(id: &'static str, categories: u32, truth: Coin, promise: LocalPrivacy) -> Self {
        let other = threshold::smallest_other(truth, promise.epsilon, promise.delta);
        Self { id, categories, truth, other, promise }
    }

    /// The coin of the person's own bit.
    pub fn truth(&self) -> Coin {
        self.truth
    }

    /// The coin of every other bit.
    pub fn other(&self) -> Coin {
        self.other
    }

    fn write(&self, category: u32, bits: &mut impl RandomBits, report: &mut [u64]) {
        if let Some((last, before)) = report.split_last_mut() {
            before.iter_mut().for_each(|word| *word = self.other.toss_many(u64::MAX, bits));
            *last = self.other.toss_many(last_mask(self.categories), bits);
        }
        let category = category.min(self.categories - 1);
        if let Some(word) = report.get_mut(category as usize / 64) {
            let own = u64::from(self.truth.toss(bits)) << (category % 64);
            *word = *word & !(1 << (category % 64)) | own;
        }
    }

    /// p − q.
    fn gap(&self) -> Enclosure {
        ratio(u128::from(self.truth.threshold().saturating_sub(self.other.threshold())), 1)
    }
}

/// Beyond this, q is close to p.
const MOST_TRUTH: f64 = 1.0 - 1e-6;

impl FrequencyOracle for Unary {
    fn id(&self) -> &'static str {
        self.id
    }

    fn categories(&self) -> u32 {
        self.categories
    }

    fn privacy(&self) -> LocalProfile {
        LocalProfile::hinge(self.gap(), self.other.probability() * self.truth.complement(), self.promise)
    }

    /// The reports of one word in increasing order.
    fn channel(&self) -> Option<FiniteKernel> {
        let reports = 1usize.checked_shl(self.categories)?;
        if reports.checked_mul(self.categories as usize)? > MOST_ENTRIES {
            return None;
        }
        let factor = |x: u32, y: usize, bit: u32| {
            let coin = if bit == x { self.truth } else { self.other };
            if y >> bit & 1 == 1 { coin.probability() } else { coin.complement() }.midpoint()
        };
        let row = |x: u32| {
            (0..reports).map(|y| (0..self.categories).map(|bit| factor(x, y, bit)).product()).collect()
        };
        FiniteKernel::new((0..self.categories).map(row).collect()).ok()
    }

    fn support(&self) -> Option<Support> {
        Some(Support { truth: self.truth.probability(), other: self.other.probability(), gap: self.gap() })
    }

    fn report_words(&self) -> usize {
        self.categories.div_ceil(64) as usize
    }

    fn is_report(&self, report: &[u64]) -> bool {
        is_bits(report, self.categories)
    }

    fn privatise(&self, category: u32, mut bits: &mut dyn RandomBits, report: &mut [u64]) {
        self.write(category, &mut bits, report);
    }

    fn count(&self, report: &[u64], counters: &mut [u64]) {
        count_bits(report, self.report_words(), counters);
    }

    fn privatise_all(&self, categories: &[u32], bits: &mut dyn RandomBits, reports: &mut Vec<u64>) {
        append_each(categories, self.report_words(), reports, {
            let mut bits = Buffered::new(bits);
            move |category, report| self.write(category, &mut bits, report)
        });
    }

    fn count_all(&self, reports: &[u64], counters: &mut [u64]) {
        count_bits(reports, self.report_words(), counters);
    }
}
