//! Mechanisms from which the frequencies of categories are estimated.
//!
//! Each of n people has one of k categories and sends a report about it. A report *supports* some categories, its own
//! with probability p and every other one with the same smaller probability q, so the number c of reports that support
//! a category determines its frequency: (c/n − q)/(p − q) has the right mean (Wang, Blocki, Li, Jha 2017).
//!
//! | mechanism | report | p | q |
//! |---|---|---|---|
//! | [`Response`] | a category | e^ε/(e^ε + k − 1) | 1/(e^ε + k − 1) |
//! | [`Unary::symmetric`] | k bits | 1/(1 + e^(−ε/2)) | 1 − p |
//! | [`Unary::optimised`] | k bits | 1/2 | 1/(e^ε + 1) |
//! | [`Subset`] | d categories | de^ε/(de^ε + k − d) | (d − p)/(k − 1) |
//! | [`Hadamard`] | a column | e^ε/(e^ε + 1) | 1/2 |
//! | [`Hashing`] | a hash function and a value | e^ε/(e^ε + g − 1) | 1/g, nearly |
//!
//! and [`Channel`], any matrix.

mod channel;
mod hadamard;
mod hashing;
mod lanes;
mod response;
mod subset;
mod unary;

pub use channel::Channel;
pub use hadamard::Hadamard;
pub use hashing::Hashing;
pub use response::Response;
pub use subset::Subset;
pub use unary::Unary;

use super::threshold::MOST;
use super::{LocalPrivacy, LocalProfile};
use dobrushin::kernel::FiniteKernel;
use dobrushin::numeric::bits::RandomBits;
use dobrushin::{Delta, Enclosure, Epsilon, Error};

/// A local mechanism for a category, whose reports are counted to estimate frequencies.
///
/// Probabilities are whole numbers over 2⁶⁴, rounded so that the mechanism as realised keeps its promise. The estimates
/// use the realised probabilities, so rounding does not bias them.
///
/// ```
/// use dobrushin::numeric::bits::RandomBits;
/// use dobrushin::{Delta, Epsilon};
/// use dobrushin_local::frequency::{FrequencyOracle, Response};
///
/// /// Not random at all: for this example only.
/// struct Zeros;
///
/// impl RandomBits for Zeros {
///     fn bits(&mut self) -> u64 {
///         0
///     }
/// }
///
/// // One person's report is written, checked and counted.
/// let oracle = Response::new(10, Epsilon::new(1.0)?, Delta::new(0.0)?)?;
/// let mut report = vec![0; oracle.report_words()];
/// oracle.privatise(7, &mut Zeros, &mut report);
/// assert!(oracle.is_report(&report));
/// let mut counters = vec![0; oracle.counters()];
/// oracle.count(&report, &mut counters);
/// assert_eq!(counters.iter().sum::<u64>(), 1);
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub trait FrequencyOracle: Send + Sync {
    /// A short name.
    fn id(&self) -> &'static str;

    /// The number of categories, which are numbered from 0.
    fn categories(&self) -> u32;

    /// How private one report is.
    fn privacy(&self) -> LocalProfile;

    /// The mechanism as a matrix, reports in the order of the mechanism's documentation, rounded to `f64`; `None` if
    /// there are too many reports.
    fn channel(&self) -> Option<FiniteKernel>;

    /// The probabilities that a report supports a category; `None` if they depend on the category.
    fn support(&self) -> Option<Support>;

    /// The number of words in a report.
    fn report_words(&self) -> usize;

    /// The number of counters of [`FrequencyOracle::count`].
    fn counters(&self) -> usize {
        self.categories() as usize
    }

    /// Whether some category can give this report.
    fn is_report(&self, report: &[u64]) -> bool;

    /// The largest number of categories that one report supports.
    fn most_supported(&self) -> u32 {
        self.categories()
    }

    /// Writes a report about a category into this many words. A category that does not exist counts as the last one.
    fn privatise(&self, category: u32, bits: &mut dyn RandomBits, report: &mut [u64]);

    /// Adds a report to the counters. An invalid report may add anything, but at most 1 to each counter.
    fn count(&self, report: &[u64], counters: &mut [u64]);

    /// Appends one report for each category.
    fn privatise_all(&self, categories: &[u32], bits: &mut dyn RandomBits, reports: &mut Vec<u64>) {
        append_each(categories, self.report_words(), reports, |category, report| {
            self.privatise(category, bits, report);
        });
    }

    /// Adds many reports to the counters.
    fn count_all(&self, reports: &[u64], counters: &mut [u64]) {
        for report in reports.chunks_exact(self.report_words()) {
            self.count(report, counters);
        }
    }

    /// How many reports support each category, from the counters.
    fn supported(&self, counters: &[u64]) -> Vec<u64> {
        counters.to_vec()
    }

    /// The law of the report, if there is one counter for each possible report.
    fn likelihood(&self) -> Option<&dyn Likelihood> {
        None
    }
}

/// The likelihood of a channel K, in plain `f64`.
///
/// ```
/// use dobrushin::{Delta, Epsilon};
/// use dobrushin_local::frequency::{FrequencyOracle, Response};
///
/// // The truth 3 times in 4: if everybody has the first category, 3/4 of the reports name it.
/// let oracle = Response::new(2, Epsilon::new(3_f64.ln())?, Delta::new(0.0)?)?;
/// let law = oracle.likelihood().ok_or("it is a channel")?.law(&[1.0, 0.0]);
/// assert!((law[0] - 0.75).abs() < 1e-12 && (law[1] - 0.25).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Likelihood {
    /// The law of the report, Σ_x f(x)·K(y|x), for frequencies f that sum to 1.
    fn law(&self, frequencies: &[f64]) -> Vec<f64>;

    /// Σ_y K(y|x)·v(y), the expectation of a function of the report for each category.
    fn expectations(&self, of: &[f64]) -> Vec<f64>;
}

/// The names of all mechanisms that [`by_id`] knows.
pub const IDS: [&str; 6] = ["k-rr", "sue", "oue", "subset", "hadamard", "olh"];

/// The mechanism with this name, calibrated to (ε, δ); `None` for an unknown name.
///
/// # Errors
/// [`Error::OutOfRange`] unless 2 ≤ k < 2²⁴, 1e-9 ≤ ε < ∞ and δ < 1.
///
/// ```
/// use dobrushin::{Delta, Epsilon};
/// use dobrushin_local::frequency::{FrequencyOracle, IDS, by_id};
///
/// let (epsilon, delta) = (Epsilon::new(1.0)?, Delta::new(0.0)?);
/// for id in IDS {
///     assert!(by_id(id, 10, epsilon, delta).is_some_and(|oracle| oracle.is_ok_and(|oracle| oracle.id() == id)));
/// }
/// assert!(by_id("no-such-mechanism", 10, epsilon, delta).is_none());
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn by_id(
    id: &str,
    categories: u32,
    epsilon: Epsilon,
    delta: Delta,
) -> Option<Result<Box<dyn FrequencyOracle>, Error>> {
    fn boxed<T: FrequencyOracle + 'static>(
        oracle: Result<T, Error>,
    ) -> Result<Box<dyn FrequencyOracle>, Error> {
        oracle.map(|oracle| Box::new(oracle) as _)
    }
    Some(match id {
        "k-rr" => boxed(Response::new(categories, epsilon, delta)),
        "sue" => boxed(Unary::symmetric(categories, epsilon, delta)),
        "oue" => boxed(Unary::optimised(categories, epsilon, delta)),
        "subset" => boxed(Subset::new(categories, epsilon, delta)),
        "hadamard" => boxed(Hadamard::new(categories, epsilon, delta)),
        "olh" => boxed(Hashing::optimised(categories, epsilon, delta)),
        _ => return None,
    })
}

/// The probabilities that a report supports a category.
///
/// ```
/// use dobrushin::{Delta, Epsilon};
/// use dobrushin_local::frequency::{FrequencyOracle, Response};
///
/// // p = e^ε/(e^ε + 1) = 3/4 and q = 1/4.
/// let support = Response::new(2, Epsilon::new(3_f64.ln())?, Delta::new(0.0)?)?.support().ok_or("it has one")?;
/// assert!((support.truth.upper() - 0.75).abs() < 1e-12 && (support.gap.upper() - 0.5).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Support {
    /// p, for the category of the person who reports.
    pub truth: Enclosure,
    /// q, for every other one.
    pub other: Enclosure,
    /// p − q, accurate even where they are close.
    pub gap: Enclosure,
}

/// Checks the parameters of every mechanism.
fn checked(categories: u32, epsilon: Epsilon, delta: Delta) -> Result<LocalPrivacy, Error> {
    if !(2..=MOST).contains(&categories) {
        let (name, value) = ("the number of categories", f64::from(categories));
        return Err(Error::OutOfRange { name, value, accepted: "from 2 to 16777215" });
    }
    // Below this, p could be rounded below q.
    if !(1e-9..f64::INFINITY).contains(&epsilon.get()) {
        return Err(Error::OutOfRange {
            name: "epsilon",
            value: epsilon.get(),
            accepted: "finite and at least 1e-9",
        });
    }
    if delta.get() == 1.0 {
        return Err(Error::OutOfRange { name: "delta", value: 1.0, accepted: "below 1" });
    }
    Ok(LocalPrivacy { epsilon, delta })
}

/// Appends a report of this many words for each category.
fn append_each(
    categories: &[u32],
    words: usize,
    reports: &mut Vec<u64>,
    mut write: impl FnMut(u32, &mut [u64]),
) {
    let start = reports.len();
    reports.resize(start + categories.len() * words, 0);
    for (&category, report) in categories.iter().zip(reports[start..].chunks_exact_mut(words)) {
        write(category, report);
    }
}

/// Counts a report that is the index of its counter.
fn count_answer(report: &[u64], counters: &mut [u64]) {
    if let Some(&answer) = report.first()
        && let Some(counter) = counters.get_mut(answer as usize)
    {
        *counter += 1;
    }
}

/// Whether a report is a number below a count.
fn is_answer(report: &[u64], count: u64) -> bool {
    matches!(report, [answer] if *answer < count)
}

/// numerator/(denominator·2⁶⁴).
fn ratio(numerator: u128, denominator: u32) -> Enclosure {
    let [high, low] = [(numerator >> 64) as u64, numerator as u64].map(Enclosure::from);
    (high + low * Enclosure::from(2f64.powi(-64))) / Enclosure::from(f64::from(denominator))
}

/// 2⁶⁴.
const UNIT: u128 = 1 << 64;

/// Channels with more entries than this are not written out.
const MOST_ENTRIES: usize = 1 << 22;
