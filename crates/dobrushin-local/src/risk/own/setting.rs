//! How many records there are, and how private their reports are.

use crate::risk::counts::Counts;
use crate::risk::observed::Observed;
use crate::risk::{BayesProblem, Reports};
use crate::{LocalPrivacy, LocalProfile};
use dobrushin::divergence::FiniteLaw;
use dobrushin::kernel::FiniteKernel;
use dobrushin::{Enclosure, Error};
use std::num::NonZeroU32;

/// n records, and what is known about the channel between each and its report.
///
/// ```
/// use dobrushin::divergence::{DiscretePair, FiniteLaw};
/// use dobrushin::{Delta, Epsilon};
/// use dobrushin_local::LocalPrivacy;
/// use dobrushin_local::risk::own::{self, Setting};
///
/// let privacy = LocalPrivacy { epsilon: Epsilon::new(1.0)?, delta: Delta::new(0.0)? };
/// let setting = Setting::promised(privacy, 100.try_into()?);
/// let (p, q) = (FiniteLaw::new("P", vec![0.6, 0.4])?, FiniteLaw::new("Q", vec![0.4, 0.6])?);
/// let found = own::two_laws(&DiscretePair::new(p, q)?, None, &setting)?;
/// // The best test from 100 private reports errs more than 7 times as often as the best one from the records.
/// let (error, best) = (&found.answers[0], found.answers[0].bounds[0].bound);
/// assert_eq!(best.id, "two-point-composed");
/// assert!(best.value.lower() > 0.17 && error.clear.is_some_and(|clear| clear.upper() < 0.0225));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Setting {
    reports: Reports,
    published: Option<Reports>,
    /// The rows of the channel.
    channel: Option<Vec<Vec<Enclosure>>>,
    records: NonZeroU32,
}

/// The joint law of a parameter and all records is not made if it has more entries.
const MOST_ENTRIES: f64 = 400_000.0;

/// Entries of a mechanism's matrix are rounded to `f64` after a few dozen operations.
const ROUNDED: f64 = 3e-14;

impl Setting {
    /// Every channel keeps this promise.
    pub fn promised(privacy: LocalPrivacy, records: NonZeroU32) -> Self {
        let published = Some(Reports::published(privacy));
        Self { reports: Reports::promised(privacy), published, channel: None, records }
    }

    /// Every record goes through this channel; the published coefficients are those of a promise that it keeps.
    pub fn through(channel: &FiniteKernel, promise: Option<LocalPrivacy>, records: NonZeroU32) -> Self {
        let rows = (0..channel.inputs()).map(|x| channel.row_enclosures(x).collect()).collect();
        let published = promise.map(Reports::published);
        Self { reports: Reports::through(channel), published, channel: Some(rows), records }
    }

    /// Every record goes through this mechanism, as it is realised, which keeps its promise; with its matrix, if that is
    /// small enough.
    pub fn of(
        profile: &LocalProfile,
        matrix: Option<&FiniteKernel>,
        promise: LocalPrivacy,
        records: NonZeroU32,
    ) -> Self {
        let rounded = Enclosure::between(1.0 - ROUNDED, 1.0 + ROUNDED);
        let rows = matrix.map(|matrix| {
            let row = |x| matrix.row_enclosures(x).map(|p| (p * rounded).min(Enclosure::ONE)).collect();
            (0..matrix.inputs()).map(row).collect()
        });
        let published = Some(Reports::published(promise));
        Self { reports: Reports::of(profile, matrix), published, channel: rows, records }
    }

    /// The best coefficients.
    pub fn reports(&self) -> &Reports {
        &self.reports
    }

    /// The coefficients of the papers, if a promise is known.
    pub fn published(&self) -> Option<&Reports> {
        self.published.as_ref()
    }

    /// n.
    pub fn records(&self) -> NonZeroU32 {
        self.records
    }

    /// Fails unless the channel, if one is given, takes as many inputs as a record has values.
    pub(super) fn check(&self, outcomes: usize) -> Result<(), Error> {
        match &self.channel {
            Some(rows) if rows.len() != outcomes => {
                let (what, like) =
                    ("a law of a record".to_owned(), "the list of inputs of the channel".to_owned());
                Err(Error::LengthMismatch { what, found: outcomes, expected: rows.len(), like })
            }
            _ => Ok(()),
        }
    }

    /// A prior, a model and losses for all records, which are counted if that is not too much work.
    pub(super) fn problem(
        &self,
        prior: &FiniteLaw,
        laws: &[FiniteLaw],
        losses: &[Vec<f64>],
    ) -> Result<BayesProblem, Error> {
        let outcomes = laws.first().map_or(0, FiniteLaw::len);
        let entries = Counts::number(self.records.get(), outcomes) * laws.len() as f64;
        let counted = (entries <= MOST_ENTRIES).then(|| BayesProblem::new(prior, laws, losses, self.records));
        match counted {
            Some(Ok(problem)) => Ok(problem),
            _ => BayesProblem::uncounted(prior, laws, losses, self.records),
        }
    }

    /// The laws of n records in the clear, if they can be enumerated.
    pub(super) fn clear(&self, laws: &[Vec<Enclosure>]) -> Option<Observed> {
        Observed::of(laws, self.records)
    }

    /// The laws of a report, if the channel is known.
    pub(super) fn pushed(&self, laws: &[Vec<Enclosure>]) -> Option<Vec<Vec<Enclosure>>> {
        let rows = self.channel.as_ref()?;
        let outputs = rows.first().map_or(0, Vec::len);
        let push = |law: &Vec<Enclosure>| {
            let report = |z: usize| law.iter().zip(rows).map(|(&p, row)| p * row[z]).sum::<Enclosure>();
            (0..outputs).map(|z| report(z).min(Enclosure::ONE)).collect()
        };
        Some(laws.iter().map(push).collect())
    }

    /// The laws of n reports, if the channel is known and they can be enumerated.
    pub(super) fn reported(&self, laws: &[Vec<Enclosure>]) -> Option<Observed> {
        Observed::of(&self.pushed(laws)?, self.records)
    }
}

/// The probabilities of laws.
pub(super) fn enclosed<'a>(laws: impl IntoIterator<Item = &'a FiniteLaw>) -> Vec<Vec<Enclosure>> {
    laws.into_iter().map(|law| law.enclosures().collect()).collect()
}

/// The same weight for each of several laws.
pub(super) fn uniform(count: usize) -> Vec<Enclosure> {
    vec![Enclosure::ONE / Enclosure::from(count as f64); count]
}

/// A loss of 1 for every wrong guess.
pub(super) fn wrong_or_right(count: usize) -> Vec<Vec<f64>> {
    (0..count).map(|v| (0..count).map(|guess| f64::from(u8::from(v != guess))).collect()).collect()
}
