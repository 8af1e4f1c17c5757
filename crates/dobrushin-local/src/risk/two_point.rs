//! Two laws that are hard to tell apart but have different parameters (Le Cam's method).

use super::{Coefficient, Reports, RiskBound, kept, number, sorted};
use dobrushin::divergence::Pair;
use dobrushin::{Enclosure, Error, Gamma, NonNegative};
use std::num::NonZeroU32;

/// What is known about two laws P and Q of one record.
///
/// ```
/// use dobrushin::{Delta, Epsilon, divergence::GaussianPair};
/// use dobrushin_local::LocalPrivacy;
/// use dobrushin_local::risk::{Reports, TwoPoints};
///
/// let reports = Reports::promised(LocalPrivacy { epsilon: Epsilon::new(1.0)?, delta: Delta::new(0.0)? });
/// // Laws that are nearly the same can only be guessed: half of the guesses are wrong.
/// let bounds = TwoPoints::of(&GaussianPair::new(1e-3, 1.0)?).error(&reports, 100.try_into()?);
/// assert!(bounds.first().is_some_and(|best| best.value.lower() > 0.49));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoPoints {
    total_variation: Enclosure,
    kl: Enclosure,
    /// 1 − BC, BC = ∫√(dP·dQ).
    affinity_loss: Enclosure,
}

/// The loss of an estimate, in terms of its distance from the parameter.
///
/// ```
/// use dobrushin::{Delta, Epsilon, NonNegative, divergence::GaussianPair};
/// use dobrushin_local::LocalPrivacy;
/// use dobrushin_local::risk::{Loss, Reports, TwoPoints};
///
/// let reports = Reports::promised(LocalPrivacy { epsilon: Epsilon::new(1.0)?, delta: Delta::new(0.0)? });
/// let points = TwoPoints::of(&GaussianPair::new(0.1, 1.0)?);
/// // A squared distance of 0.1 costs less than the distance itself.
/// let risk = |loss| -> Result<f64, Box<dyn std::error::Error>> {
///     let bounds = points.risk(&reports, 10.try_into()?, NonNegative::new(0.1)?, loss);
///     Ok(bounds.first().ok_or("a bound")?.value.lower())
/// };
/// assert!(risk(Loss::SQUARED_NORM)? < risk(Loss::METRIC)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss(Kind);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Power(f64),
    SquaredNorm,
}

impl Loss {
    /// A metric.
    pub const METRIC: Self = Self(Kind::Power(1.0));

    /// The squared norm of a Hilbert space.
    pub const SQUARED_NORM: Self = Self(Kind::SquaredNorm);

    /// A power p of a metric.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless p is finite and at least 1.
    pub fn power(p: f64) -> Result<Self, Error> {
        if !(p >= 1.0 && p.is_finite()) {
            return Err(Error::OutOfRange {
                name: "the power of a metric",
                value: p,
                accepted: "finite and at least 1",
            });
        }
        Ok(Self(Kind::Power(p)))
    }

    /// The factor of the probability of error of the best test between two equally likely parameters at this distance.
    ///
    /// # Guarantee
    /// ½(ρ₀^p + ρ₁^p) ≥ ((ρ₀ + ρ₁)/2)^p ≥ (Δ/2)^p for the distances ρ of any estimate from both, so the Bayes risk is
    /// at least 2·(Δ/2)^p·∫min(dM₀, dM₁)/2: twice the bound of E18 for any number of parameters. The same holds with p
    /// = 2 for a squared norm.
    pub(super) fn of_two(self, separation: NonNegative) -> Enclosure {
        let half = Enclosure::from(separation) / Enclosure::from(2.0);
        match self.0 {
            Kind::Power(p) => Enclosure::from(2.0) * half.powf(Enclosure::from(p)),
            Kind::SquaredNorm => Enclosure::from(2.0) * half.square(),
        }
    }

    /// The factor of the probability of error of the best guess among parameters at least this far apart.
    ///
    /// # Guarantee
    /// (Δ/2)^p, since an estimate is closer than Δ/2 to at most one parameter; for a squared norm Δ²/2, since the risk
    /// given the reports is ½Σπ_vπ_w‖θ_v − θ_w‖² ≥ (Δ²/2)·(1 − max π_v) (E18).
    pub(super) fn of_many(self, separation: NonNegative) -> Enclosure {
        let half = Enclosure::from(separation) / Enclosure::from(2.0);
        match self.0 {
            Kind::Power(p) => half.powf(Enclosure::from(p)),
            Kind::SquaredNorm => Enclosure::from(2.0) * half.square(),
        }
    }
}

impl TwoPoints {
    /// P and Q; the divergence is KL(P‖Q), and the reversed pair also gives bounds.
    pub fn of(pair: &impl Pair) -> Self {
        let affinity_loss = pair.hellinger_squared() / Enclosure::from(2.0);
        Self {
            total_variation: pair.total_variation(),
            kl: pair.kl(),
            affinity_loss: affinity_loss.min(Enclosure::ONE),
        }
    }

    /// Bounds on the error ½(P(accept Q) + Q(accept P)) of every test from n reports, the best first.
    ///
    /// # Guarantee
    /// Each is ½(1 − TV) of the reports with one of
    /// - Pinsker: TV² ≤ ½·n·η_KL·KL(P‖Q) (CED Lemma 4, with the best coefficient);
    /// - Bretagnolle–Huber: TV² ≤ 1 − e^(−n·η_KL·KL);
    /// - affinity: TV² ≤ 1 − BC², BC ≥ (1 − η_KL·(1 − BC of one record))^n, see [`Reports`];
    /// - side by side: TV ≤ η_TV(n reports)·TV(P^n, Q^n) (CED Lemma 5, with any bound on the latter).
    ///
    /// The chain rules of KL and BC, and a record-by-record coupling, allow sequential interaction in all of them.
    pub fn error(&self, reports: &Reports, records: NonZeroU32) -> Vec<RiskBound> {
        let bounds = self.distances(reports, records).map(|(id, distance, coefficient)| RiskBound {
            id,
            value: (Enclosure::ONE - distance).positive_part() / Enclosure::from(2.0),
            coefficient,
        });
        sorted(bounds.to_vec())
    }

    /// Bounds on the largest risk under P and Q of every estimator from n reports, the best first, where their
    /// parameters are at the given distance.
    ///
    /// # Guarantee
    /// For a squared norm the affinity gives Δ²/4·BC² of the reports directly: the risk given the reports is Δ²π(1−π),
    /// and ½∫pq/(p + q) ≥ ¼(∫√(pq))² (E16). Everything else follows from [`TwoPoints::error`].
    pub fn risk(
        &self,
        reports: &Reports,
        records: NonZeroU32,
        separation: NonNegative,
        loss: Loss,
    ) -> Vec<RiskBound> {
        let factor = loss.of_two(separation);
        let mut bounds = self.error(reports, records);
        for bound in &mut bounds {
            bound.value = factor * bound.value;
            if bound.id == AFFINITY && loss == Loss::SQUARED_NORM {
                let (affinity, _) = self.affinity(reports, records);
                let half = Enclosure::from(separation) / Enclosure::from(2.0);
                bound.value = bound.value.max((half * affinity).square());
            }
        }
        sorted(bounds)
    }

    /// Upper bounds on the total variation of the reports.
    fn distances(&self, reports: &Reports, n: NonZeroU32) -> [(&'static str, Enclosure, Coefficient); 4] {
        let two = Enclosure::from(2.0);
        let divergence = number(n) * reports.information() * self.kl;
        let (affinity, affinity_by) = self.affinity(reports, n);
        let information = reports.of_one(Coefficient::Information);
        // The total variation of the records themselves.
        let records = (number(n) * self.total_variation)
            .min(separated(kept(self.affinity_loss, n)))
            .min((number(n) * self.kl / two).sqrt())
            .min((-(-number(n) * self.kl).exp_m1()).sqrt())
            .min(Enclosure::ONE);
        let together = reports.hockey_stick_of(Gamma::ONE, n) * records;
        let one_by_one = number(n) * reports.total_variation() * self.total_variation;
        let (side_by_side, by) = if together.upper() <= one_by_one.upper() {
            (together, reports.of_all(Coefficient::TotalVariationOfAll))
        } else {
            (one_by_one, reports.of_one(Coefficient::TotalVariation))
        };
        [
            ("two-point-pinsker", (divergence / two).sqrt().min(Enclosure::ONE), information),
            ("two-point-bretagnolle-huber", (-(-divergence).exp_m1()).sqrt(), information),
            (AFFINITY, separated(affinity), affinity_by),
            ("two-point-side-by-side", side_by_side, by),
        ]
    }

    /// A lower bound on BC of the reports.
    fn affinity(&self, reports: &Reports, records: NonZeroU32) -> (Enclosure, Coefficient) {
        let (loss, by) = reports.affinity_loss(self.affinity_loss, self.total_variation);
        (kept(loss, records), by)
    }
}

const AFFINITY: &str = "two-point-affinity";

/// √(1 − BC²).
fn separated(affinity: Enclosure) -> Enclosure {
    (Enclosure::ONE - affinity.square()).positive_part().sqrt()
}
