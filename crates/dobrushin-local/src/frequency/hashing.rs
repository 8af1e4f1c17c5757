//! Local hashing.

use super::{FrequencyOracle, Support, append_each, checked};
use crate::frequency::Response;
use crate::threshold::MOST;
use crate::{LocalPrivacy, LocalProfile};
use dobrushin::kernel::FiniteKernel;
use dobrushin::numeric::bits::{Buffered, RandomBits};
use dobrushin::numeric::rounding::div_down;
use dobrushin::{Delta, Enclosure, Epsilon, Error};

/// Local hashing: each person draws a hash function with g values and reveals it, together with a randomised response
/// about the hash of their category (Wang, Blocki, Li, Jha 2017).
///
/// The hash is ⌊((a·c + b) mod P)·g/P⌋ with the prime P = 2⁶¹ − 1 and independent uniform a, b below P. For two
/// different categories the pair of remainders is uniform on all P² pairs, so the hashes are independent, each with
/// one of g values that have ⌊P/g⌋ or ⌈P/g⌉ remainders. They collide with probability C, the sum of squares, exactly,
/// and with p and q′ of the randomised response
///
/// ```text
/// δ(ε′) = (1 − C)·(p − e^ε′·q′)₊,      q = C·p + (1 − C)·q′.
/// ```
///
/// A report has three words: a, b and the response. It supports the categories whose hash is the response.
#[derive(Clone, Debug)]
pub struct Hashing {
    categories: u32,
    response: Response,
    promise: LocalPrivacy,
}

impl Hashing {
    /// Uses the number of hash values with the smallest variance for rare categories, near e^ε + 1.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 2 ≤ k < 2²⁴, 1e-9 ≤ ε < ∞ and δ < 1.
    pub fn optimised(categories: u32, epsilon: Epsilon, delta: Delta) -> Result<Self, Error> {
        let values = (epsilon.get().exp() + 1.0).round().clamp(2.0, f64::from(MOST)) as u32;
        Self::with_values(categories, values, epsilon, delta)
    }

    /// Uses a given number g of hash values.
    ///
    /// # Errors
    /// The errors of [`Hashing::optimised`], and also [`Error::OutOfRange`] unless 2 ≤ g < 2²⁴.
    pub fn with_values(categories: u32, values: u32, epsilon: Epsilon, delta: Delta) -> Result<Self, Error> {
        let promise = checked(categories, epsilon, delta)?;
        if !(2..=MOST).contains(&values) {
            let (name, value) = ("the number of hash values", f64::from(values));
            return Err(Error::OutOfRange { name, value, accepted: "from 2 to 16777215" });
        }
        // Only differing hashes reveal anything.
        let told = div_down(delta.get(), (Enclosure::ONE - collision(values)).upper());
        let response = Response::new(values, epsilon, Delta::new(told.clamp(0.0, MOST_DELTA))?)?;
        Ok(Self { categories, response, promise })
    }

    /// g.
    pub fn values(&self) -> u32 {
        self.response.categories()
    }

    /// The randomised response about the hash.
    pub fn response(&self) -> &Response {
        &self.response
    }

    /// The hash of a category.
    pub fn hash(&self, a: u64, b: u64, category: u32) -> u32 {
        let remainder = divide(u128::from(a) * u128::from(category) + u128::from(b)).1;
        divide(u128::from(remainder) * u128::from(self.values())).0 as u32
    }

    fn write(&self, category: u32, bits: &mut impl RandomBits, report: &mut [u64]) {
        let category = category.min(self.categories - 1);
        let (a, b) = (remainder(bits), remainder(bits));
        let answer = self.response.answer(self.hash(a, b, category), bits);
        report.copy_from_slice(&[a, b, u64::from(answer)]);
    }

    /// 1 − C.
    fn told_apart(&self) -> Enclosure {
        Enclosure::ONE - collision(self.values())
    }
}

/// 2⁶¹ − 1.
const PRIME: u64 = (1 << 61) - 1;

/// The largest δ below 1.
const MOST_DELTA: f64 = 1.0 - f64::EPSILON;

/// The quotient and the remainder of a number below 2¹²⁰ divided by P: with y = A·2⁶¹ + B, y = A·P + (A + B).
#[inline]
fn divide(y: u128) -> (u64, u64) {
    let (high, rest) = ((y >> 61) as u64, (y as u64 & PRIME) + (y >> 61) as u64);
    if rest >= PRIME { (high + 1, rest - PRIME) } else { (high, rest) }
}

/// A uniformly random number below P.
fn remainder(bits: &mut impl RandomBits) -> u64 {
    loop {
        let word = bits.bits() >> 3;
        if word < PRIME {
            return word;
        }
    }
}

/// C = [r(m + 1)² + (g − r)m²]/P², with P = mg + r.
fn collision(values: u32) -> Enclosure {
    let (m, r) = (PRIME / u64::from(values), PRIME % u64::from(values));
    let prime = Enclosure::from(PRIME);
    let share = |remainders: u64| (Enclosure::from(remainders) / prime).square();
    Enclosure::from(r) * share(m + 1) + Enclosure::from(u64::from(values) - r) * share(m)
}

impl FrequencyOracle for Hashing {
    fn id(&self) -> &'static str {
        "olh"
    }

    fn categories(&self) -> u32 {
        self.categories
    }

    fn privacy(&self) -> LocalProfile {
        let (apart, response) = (self.told_apart(), self.response.probabilities());
        LocalProfile::hinge(apart * response.gap, apart * response.other, self.promise)
    }

    /// There are P²·g reports.
    fn channel(&self) -> Option<FiniteKernel> {
        None
    }

    fn support(&self) -> Option<Support> {
        let (apart, response) = (self.told_apart(), self.response.probabilities());
        let gap = apart * response.gap;
        Some(Support { truth: response.truth, other: response.truth - gap, gap })
    }

    fn report_words(&self) -> usize {
        3
    }

    fn is_report(&self, report: &[u64]) -> bool {
        matches!(*report, [a, b, answer] if a < PRIME && b < PRIME && answer < u64::from(self.values()))
    }

    fn privatise(&self, category: u32, mut bits: &mut dyn RandomBits, report: &mut [u64]) {
        self.write(category, &mut bits, report);
    }

    fn count(&self, report: &[u64], counters: &mut [u64]) {
        let &[a, b, answer] = report else { return };
        let values = u64::from(self.values());
        // The remainders whose hash is the answer: from ⌈answer·P/g⌉ up to, but not including, ⌈(answer + 1)·P/g⌉.
        let (m, r) = (PRIME / values, PRIME % values);
        let start = |value: u64| value * m + (value * r).div_ceil(values);
        let answer = answer.min(values - 1);
        let (from, size) = (start(answer), start(answer + 1) - start(answer));
        let (a, mut remainder) = (a % PRIME, b % PRIME);
        for counter in counters {
            *counter += u64::from(remainder.wrapping_sub(from) < size);
            remainder += a;
            remainder -= if remainder >= PRIME { PRIME } else { 0 };
        }
    }

    fn privatise_all(&self, categories: &[u32], bits: &mut dyn RandomBits, reports: &mut Vec<u64>) {
        append_each(categories, self.report_words(), reports, {
            let mut bits = Buffered::new(bits);
            move |category, report| self.write(category, &mut bits, report)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dobrushin::numeric::Random;

    #[test]
    fn the_division_is_exact() {
        let mut random = Random::new(21);
        let prime = u128::from(PRIME);
        let corners = [0, 1, prime - 1, prime, prime + 1, 2 * prime - 1, 2 * prime, (prime - 1) << 24];
        let others = (0..10_000).map(|_| (u128::from(random.bits()) * u128::from(random.bits())) >> 8);
        for y in corners.into_iter().chain(others) {
            let (quotient, remainder) = divide(y);
            assert_eq!((u128::from(quotient), u128::from(remainder)), (y / prime, y % prime), "{y}");
        }
    }
}
