//! Laws that are indexed by vectors of signs (Assouad's method).

use super::observed::Observed;
use super::{Coefficient, Indistinguishable, Loss, Reports, RiskBound, TwoPoints, sorted};
use dobrushin::divergence::{DiscretePair, FiniteLaw};
use dobrushin::{Enclosure, Error, NonNegative};
use std::num::NonZeroU32;

/// A law of a record for each vector of d signs.
///
/// Law i, counted from 0, has the sign + at coordinate j, counted from 1, if bit d − j of i is 1: the first law has minus
/// everywhere, the last has plus everywhere, and the last sign changes fastest.
///
/// ```
/// use dobrushin::divergence::FiniteLaw;
/// use dobrushin_local::risk::Hypercube;
///
/// let law = |p: [f64; 2]| FiniteLaw::new("P", p.to_vec());
/// assert_eq!(Hypercube::new(&[law([0.4, 0.6])?, law([0.6, 0.4])?])?.coordinates(), 1);
/// // Three laws are no hypercube.
/// assert!(Hypercube::new(&[law([0.4, 0.6])?, law([0.5, 0.5])?, law([0.6, 0.4])?]).is_err());
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Hypercube {
    laws: Vec<FiniteLaw>,
    coordinates: u32,
}

/// The most signs.
const MOST_COORDINATES: u32 = 10;

impl Hypercube {
    /// # Errors
    /// [`Error::OutOfRange`] unless there are 2, 4, 8, … or 1024 laws; [`Error::LengthMismatch`] if they have different
    /// numbers of outcomes.
    pub fn new(laws: &[FiniteLaw]) -> Result<Self, Error> {
        let coordinates = laws.len().trailing_zeros();
        if !laws.len().is_power_of_two() || !(1..=MOST_COORDINATES).contains(&coordinates) {
            let accepted = "a power of 2 from 2 to 1024: a law for each vector of signs";
            return Err(Error::OutOfRange { name: "the number of laws", value: laws.len() as f64, accepted });
        }
        // The same checks as for every family.
        super::Family::new(laws)?;
        Ok(Self { laws: laws.to_vec(), coordinates })
    }

    /// d.
    pub fn coordinates(&self) -> u32 {
        self.coordinates
    }

    /// A bound on the probability of a wrong guess of each sign from n reports, for uniform signs.
    pub fn errors(&self, reports: &Reports, records: NonZeroU32) -> Vec<RiskBound> {
        (0..self.coordinates)
            .map(|j| self.mean(j, reports, |pair| two_laws_errors(pair, reports, records)))
            .collect()
    }

    /// A bound on the largest risk of every estimator from n reports, if the loss is a sum over coordinates and the
    /// parameters of laws that differ in sign j are at least `separations[j]` apart in coordinate j.
    ///
    /// # Guarantee
    /// The largest risk is at least the mean over uniform signs v, a sum over coordinates. An estimator of coordinate j
    /// that is also told all other signs chooses between two equally likely laws; its risk is at least the two-point
    /// bound between them, and the mean of these over the other signs bounds the risk without that help. Only one
    /// coordinate is needed of the parameters: nothing is assumed of the others. Sequential interaction is allowed,
    /// as for two laws.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] unless there is a separation for each coordinate.
    pub fn risk(
        &self,
        reports: &Reports,
        records: NonZeroU32,
        separations: &[NonNegative],
        loss: Loss,
    ) -> Result<RiskBound, Error> {
        if separations.len() != self.coordinates as usize {
            let (what, like) = ("the list of separations".to_owned(), "the vector of signs".to_owned());
            let expected = self.coordinates as usize;
            return Err(Error::LengthMismatch { what, found: separations.len(), expected, like });
        }
        let bounds = (0..self.coordinates).zip(separations).map(|(j, &separation)| {
            self.mean(j, reports, |pair| two_laws_risks(pair, reports, records, separation, loss))
        });
        Ok(total(bounds.collect(), reports))
    }

    /// The mean of the best bounds between laws that differ in one sign.
    fn mean(&self, j: u32, reports: &Reports, of: impl Fn(&DiscretePair) -> Vec<RiskBound>) -> RiskBound {
        let bit = 1usize << (self.coordinates - 1 - j);
        let minus = (0..self.laws.len()).filter(|law| law & bit == 0);
        let best = minus.filter_map(|law| {
            let pair = DiscretePair::new(self.laws[law].clone(), self.laws[law | bit].clone()).ok()?;
            of(&pair).into_iter().next()
        });
        let mut sum = total(best.collect(), reports);
        sum.value = sum.value * Enclosure::from(2.0) / Enclosure::from(self.laws.len() as f64);
        sum
    }

    /// The error of the best guess of each sign from n records in the clear; `None` if there are too many counts.
    pub(super) fn exact_errors(
        &self,
        laws: &[Vec<Enclosure>],
        records: NonZeroU32,
    ) -> Option<Vec<Enclosure>> {
        let observed = Observed::of(laws, records)?;
        let weight = Enclosure::from(2.0) / Enclosure::from(self.laws.len() as f64);
        let side = |j: u32, sign: usize| -> Vec<Enclosure> {
            let shift = self.coordinates - 1 - j;
            let weights = (0..self.laws.len())
                .map(|law| if law >> shift & 1 == sign { weight } else { Enclosure::ZERO });
            weights.collect()
        };
        Some((0..self.coordinates).map(|j| observed.test_error(&side(j, 0), &side(j, 1))).collect())
    }
}

/// The sum of bounds.
pub(super) fn total(bounds: Vec<RiskBound>, reports: &Reports) -> RiskBound {
    let coefficient =
        bounds.first().map_or(reports.of_one(Coefficient::Information), |first| first.coefficient);
    RiskBound { id: "assouad", value: bounds.iter().map(|bound| bound.value).sum(), coefficient }
}

/// Every bound on the error of a test between two laws, the best first.
pub(super) fn two_laws_errors(pair: &DiscretePair, reports: &Reports, records: NonZeroU32) -> Vec<RiskBound> {
    let mut bounds = better(
        TwoPoints::of(pair).error(reports, records),
        &TwoPoints::of(&pair.reversed()).error(reports, records),
    );
    bounds.extend(Indistinguishable::between(pair, reports).error(records));
    sorted(bounds)
}

/// Every bound on the largest risk under two laws, the best first.
pub(super) fn two_laws_risks(
    pair: &DiscretePair,
    reports: &Reports,
    records: NonZeroU32,
    separation: NonNegative,
    loss: Loss,
) -> Vec<RiskBound> {
    let mut bounds = better(
        TwoPoints::of(pair).risk(reports, records, separation, loss),
        &TwoPoints::of(&pair.reversed()).risk(reports, records, separation, loss),
    );
    let composed = Indistinguishable::between(pair, reports).error(records);
    bounds.extend(composed.map(|bound| RiskBound { value: loss.of_two(separation) * bound.value, ..bound }));
    sorted(bounds)
}

/// The better one of each kind.
fn better(mut bounds: Vec<RiskBound>, others: &[RiskBound]) -> Vec<RiskBound> {
    for bound in &mut bounds {
        let other = others.iter().find(|other| other.id == bound.id);
        *bound = *other.filter(|other| other.value.lower() > bound.value.lower()).unwrap_or(bound);
    }
    bounds
}
