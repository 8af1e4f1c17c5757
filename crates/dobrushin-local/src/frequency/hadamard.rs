//! Hadamard response.

use super::{
    FrequencyOracle, Likelihood, MOST_ENTRIES, Support, UNIT, checked, count_answer, is_answer, ratio,
};
use crate::{LocalPrivacy, LocalProfile, threshold};
use dobrushin::kernel::FiniteKernel;
use dobrushin::numeric::bits::Coin;
use dobrushin::numeric::bits::{Buffered, RandomBits};
use dobrushin::{Delta, Enclosure, Epsilon, Error};

/// Hadamard response with one block: K is the least power of two above k, and category c corresponds to row c + 1 of
/// the K×K Hadamard matrix. The report is one of the K/2 columns with a 1 in that row with probability p, otherwise one
/// of those with a −1 (Acharya, Sun, Zhang 2019).
///
/// Two rows agree in half of the columns, so that
///
/// ```text
/// δ(ε′) = (p − e^ε′·(1 − p))₊/2,      p = e^ε/(e^ε + 1) for δ = 0.
/// ```
///
/// A report is one word for any k. It is nearly optimal for ε up to about 1, and supports the categories whose row has
/// a 1 in its column, q = 1/2.
#[derive(Clone, Debug)]
pub struct Hadamard {
    categories: u32,
    truth: Coin,
    promise: LocalPrivacy,
}

impl Hadamard {
    /// The most truthful response that is (ε, δ)-private.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 2 ≤ k < 2²⁴, 1e-9 ≤ ε < ∞ and δ < 1.
    pub fn new(categories: u32, epsilon: Epsilon, delta: Delta) -> Result<Self, Error> {
        let promise = checked(categories, epsilon, delta)?;
        Ok(Self { categories, truth: threshold::largest([1, 1, 2], epsilon, delta), promise })
    }

    /// The coin that decides whether the person's own row has a 1 in the reported column.
    pub fn truth(&self) -> Coin {
        self.truth
    }

    /// K.
    pub fn columns(&self) -> u64 {
        (u64::from(self.categories) + 1).next_power_of_two()
    }

    #[inline]
    fn answer(&self, category: u32, bits: &mut impl RandomBits) -> u64 {
        let row = u64::from(category.min(self.categories - 1)) + 1;
        let wanted = self.truth.toss(bits);
        let column = bits.bits() & (self.columns() - 1);
        // Flipping a bit that is set in the row changes the sign, and maps one half onto the other.
        if is_positive(row, column) == wanted { column } else { column ^ (row & row.wrapping_neg()) }
    }

    /// p − 1/2.
    fn gap(&self) -> Enclosure {
        ratio((2 * u128::from(self.truth.threshold())).saturating_sub(UNIT), 2)
    }
}

/// The sign of an entry of Sylvester's matrix.
fn is_positive(row: u64, column: u64) -> bool {
    (row & column).count_ones().is_multiple_of(2)
}

/// The product of Sylvester's matrix and a vector whose length is a power of two.
fn transform<T: Copy + std::ops::Add<Output = T> + std::ops::Sub<Output = T>>(values: &mut [T]) {
    let mut half = 1;
    while half < values.len() {
        for block in values.chunks_exact_mut(2 * half) {
            let (left, right) = block.split_at_mut(half);
            for (a, b) in left.iter_mut().zip(right) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
    }
}

impl FrequencyOracle for Hadamard {
    fn id(&self) -> &'static str {
        "hadamard"
    }

    fn categories(&self) -> u32 {
        self.categories
    }

    fn privacy(&self) -> LocalProfile {
        LocalProfile::hinge(self.gap(), self.truth.complement() / Enclosure::from(2.0), self.promise)
    }

    /// The columns in order.
    fn channel(&self) -> Option<FiniteKernel> {
        let columns = self.columns();
        if (columns * u64::from(self.categories)) as usize > MOST_ENTRIES {
            return None;
        }
        let half = columns as f64 / 2.0;
        let positive = self.truth.probability().midpoint() / half;
        let negative = self.truth.complement().midpoint() / half;
        let row = |row: u64| {
            (0..columns).map(|column| if is_positive(row, column) { positive } else { negative }).collect()
        };
        FiniteKernel::new((1..=u64::from(self.categories)).map(row).collect()).ok()
    }

    fn support(&self) -> Option<Support> {
        let other = Enclosure::from(0.5);
        Some(Support { truth: self.truth.probability(), other, gap: self.gap() })
    }

    fn report_words(&self) -> usize {
        1
    }

    /// One counter for each column.
    fn counters(&self) -> usize {
        self.columns() as usize
    }

    fn is_report(&self, report: &[u64]) -> bool {
        is_answer(report, self.columns())
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

    /// (n + row·counters)/2, all at once by the fast transform.
    fn supported(&self, counters: &[u64]) -> Vec<u64> {
        let mut sums: Vec<i64> = counters.iter().map(|&count| count as i64).collect();
        transform(&mut sums);
        let all = sums.first().copied().unwrap_or(0);
        sums.iter().skip(1).take(self.categories as usize).map(|sum| ((all + sum) / 2) as u64).collect()
    }

    fn likelihood(&self) -> Option<&dyn Likelihood> {
        Some(self)
    }
}

/// K(y|x) = (1 ± (2p − 1))/K.
impl Likelihood for Hadamard {
    fn law(&self, frequencies: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.counters()];
        for (sum, frequency) in sums.iter_mut().skip(1).zip(frequencies) {
            *sum = *frequency;
        }
        let slope = 2.0 * self.gap().midpoint();
        transform(&mut sums);
        let columns = sums.len() as f64;
        sums.iter().map(|sum| (1.0 + slope * sum) / columns).collect()
    }

    fn expectations(&self, of: &[f64]) -> Vec<f64> {
        let mut sums = of.to_vec();
        transform(&mut sums);
        let (slope, columns) = (2.0 * self.gap().midpoint(), sums.len() as f64);
        let all = sums.first().copied().unwrap_or(0.0);
        let rows = sums.iter().skip(1).take(self.categories as usize);
        rows.map(|sum| (all + slope * sum) / columns).collect()
    }
}
