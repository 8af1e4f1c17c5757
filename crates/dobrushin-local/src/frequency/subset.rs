//! Subset selection.

use super::lanes::{count_bits, is_bits};
use super::{FrequencyOracle, MOST_ENTRIES, Support, UNIT, append_each, checked, ratio};
use crate::{LocalPrivacy, LocalProfile, threshold};
use dobrushin::kernel::FiniteKernel;
use dobrushin::numeric::bits::Coin;
use dobrushin::numeric::bits::{Buffered, RandomBits, below};
use dobrushin::{Delta, Enclosure, Epsilon, Error};

/// Subset selection: a set of d categories that contains the person's own with probability p; given this, all such sets
/// are equally likely (Ye, Barg 2018).
///
/// Two inputs are distinguished by the sets that contain one of them and not the other:
///
/// ```text
/// δ(ε′) = (p(k − d) − e^ε′·(1 − p)d)₊/(k − 1),      p = d·e^ε/(d·e^ε + k − d) for δ = 0.
/// ```
///
/// With d = 1 it is randomised response. A report is the set, one bit for each category as in unary encoding, and
/// supports the categories inside.
#[derive(Clone, Debug)]
pub struct Subset {
    categories: u32,
    size: u32,
    truth: Coin,
    promise: LocalPrivacy,
}

impl Subset {
    /// Uses the size with the smallest variance for rare categories, near k/(e^ε + 1).
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 2 ≤ k < 2²⁴, 1e-9 ≤ ε < ∞ and δ < 1.
    pub fn new(categories: u32, epsilon: Epsilon, delta: Delta) -> Result<Self, Error> {
        checked(categories, epsilon, delta)?;
        let near = (f64::from(categories) / (epsilon.get().exp() + 1.0)) as u32;
        let sizes = [near, near + 1].map(|size| size.clamp(1, categories - 1));
        let [smaller, larger] = sizes.map(|size| Self::with_size(categories, size, epsilon, delta));
        let (smaller, larger) = (smaller?, larger?);
        Ok(if smaller.variance() <= larger.variance() { smaller } else { larger })
    }

    /// Uses a given size d.
    ///
    /// # Errors
    /// The errors of [`Subset::new`], and also [`Error::OutOfRange`] unless 1 ≤ d < k.
    pub fn with_size(categories: u32, size: u32, epsilon: Epsilon, delta: Delta) -> Result<Self, Error> {
        let promise = checked(categories, epsilon, delta)?;
        if !(1..categories).contains(&size) {
            let (name, value) = ("the size of the subset", f64::from(size));
            return Err(Error::OutOfRange {
                name,
                value,
                accepted: "at least 1 and below the number of categories",
            });
        }
        let truth = threshold::largest([size, categories - size, categories - 1], epsilon, delta);
        Ok(Self { categories, size, truth, promise })
    }

    /// d.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// The coin that decides whether the person's own category is inside.
    pub fn truth(&self) -> Coin {
        self.truth
    }

    fn write(&self, category: u32, bits: &mut impl RandomBits, report: &mut [u64]) {
        report.fill(0);
        let category = category.min(self.categories - 1);
        let own = self.truth.toss(bits);
        if own {
            insert(report, category);
        }
        // Floyd's algorithm, among the k − 1 others.
        let (others, wanted) = (self.categories - 1, self.size - u32::from(own));
        let place = |other: u32| other + u32::from(other >= category);
        for last in others - wanted..others {
            let drawn = place(below(u64::from(last) + 1, bits) as u32);
            insert(report, if contains(report, drawn) { place(last) } else { drawn });
        }
    }

    /// p − q = (pk − d)/(k − 1).
    fn gap(&self) -> Enclosure {
        let own = u128::from(self.truth.threshold()) * u128::from(self.categories);
        ratio(own.saturating_sub(u128::from(self.size) * UNIT), self.categories - 1)
    }

    /// q = (d − p)/(k − 1), as d categories are inside.
    fn other(&self) -> Enclosure {
        ratio(u128::from(self.size) * UNIT - u128::from(self.truth.threshold()), self.categories - 1)
    }

    /// q(1 − q)/(p − q)², n times the variance of the estimate of a rare category.
    fn variance(&self) -> f64 {
        let (q, gap) = (self.other().midpoint(), self.gap().midpoint());
        q * (1.0 - q) / (gap * gap)
    }
}

fn contains(report: &[u64], category: u32) -> bool {
    report[category as usize / 64] >> (category % 64) & 1 == 1
}

fn insert(report: &mut [u64], category: u32) {
    report[category as usize / 64] |= 1 << (category % 64);
}

impl FrequencyOracle for Subset {
    fn id(&self) -> &'static str {
        "subset"
    }

    fn categories(&self) -> u32 {
        self.categories
    }

    fn privacy(&self) -> LocalProfile {
        let scale = Enclosure::from(f64::from(self.size)) / Enclosure::from(f64::from(self.categories - 1));
        LocalProfile::hinge(self.gap(), self.truth.complement() * scale, self.promise)
    }

    /// The sets of d categories in increasing order as numbers of one word.
    fn channel(&self) -> Option<FiniteKernel> {
        if self.categories > 20 {
            return None;
        }
        let sets: Vec<u32> =
            (0..1u32 << self.categories).filter(|set| set.count_ones() == self.size).collect();
        if sets.len() * self.categories as usize > MOST_ENTRIES {
            return None;
        }
        let (k, d, all) = (f64::from(self.categories), f64::from(self.size), sets.len() as f64);
        // C(k − 1, d − 1) = C(k, d)·d/k sets contain a category.
        let inside = self.truth.probability().midpoint() / (all * d / k);
        let outside = self.truth.complement().midpoint() / (all * (k - d) / k);
        let row = |x: u32| sets.iter().map(|set| if set >> x & 1 == 1 { inside } else { outside }).collect();
        FiniteKernel::new((0..self.categories).map(row).collect()).ok()
    }

    fn support(&self) -> Option<Support> {
        Some(Support { truth: self.truth.probability(), other: self.other(), gap: self.gap() })
    }

    fn report_words(&self) -> usize {
        self.categories.div_ceil(64) as usize
    }

    fn is_report(&self, report: &[u64]) -> bool {
        let size: u32 = report.iter().map(|word| word.count_ones()).sum();
        is_bits(report, self.categories) && size == self.size
    }

    fn most_supported(&self) -> u32 {
        self.size
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
