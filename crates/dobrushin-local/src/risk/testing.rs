//! Testing one law against another from private reports.

use super::fano::coins_divergence;
use super::search::summit;
use super::{Coefficient, Reports, RiskBound, kept, number, sorted};
use dobrushin::divergence::{DiscretePair, Pair};
use dobrushin::numeric::{Boundary, boundary};
use dobrushin::{Enclosure, Error, Probability, RenyiOrder};
use std::num::NonZeroU32;

/// The hypothesis P against the alternative Q, each a law of a record.
///
/// ```
/// use dobrushin::divergence::{DiscretePair, FiniteLaw};
/// use dobrushin::{Delta, Epsilon, Probability};
/// use dobrushin_local::LocalPrivacy;
/// use dobrushin_local::risk::{Reports, Testing};
///
/// // Heads with probability 0.6 or 0.4?
/// let (p, q) = (FiniteLaw::new("P", vec![0.6, 0.4])?, FiniteLaw::new("Q", vec![0.4, 0.6])?);
/// let testing = Testing::new(DiscretePair::new(p, q)?);
/// let needed = |epsilon| -> Result<f64, dobrushin::Error> {
///     let reports = Reports::promised(LocalPrivacy { epsilon: Epsilon::new(epsilon)?, delta: Delta::new(0.0)? });
///     Ok(testing.records_needed(&reports, Probability::new(0.05)?, Probability::new(0.05)?)?.lower())
/// };
/// // The more private the reports, the more of them.
/// assert!(needed(0.5)? > needed(1.0)? && needed(1.0)? > 1.0);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Testing {
    pair: DiscretePair,
}

impl Testing {
    /// P and Q of the pair are the hypothesis and the alternative.
    pub fn new(pair: DiscretePair) -> Self {
        Self { pair }
    }

    /// Bounds on the error of the second kind, β = Q(accept P), of every test from n reports that rejects P with
    /// probability at most α under P; the best first.
    ///
    /// # Guarantee
    /// The outcome of a test is a post-processing of the reports. With s > 1, Hellinger divergences of order s contract
    /// by η_KL for s ≤ 2 (t^s is operator convex) and by η_TV for every s, and conditionally on earlier reports, so
    /// (1−α)^s·β^(1−s) ≤ [1 + η(e^((s−1)D_s(P‖Q)) − 1)]^n (CED Corollary 4 for every n, E21; the best s is taken);
    /// d(1−α‖β) ≤ n·η_KL·KL(P‖Q) and d(β‖1−α) ≤ n·η_KL·KL(Q‖P); and √(α(1−β)) + √((1−α)β) ≥ BC of the reports.
    pub fn missed(&self, reports: &Reports, records: NonZeroU32, level: Probability) -> Vec<RiskBound> {
        let information = reports.of_one(Coefficient::Information);
        let (renyi, by) = self.by_renyi(reports, records, level);
        let (affinity, affinity_by) = self.affinity(reports, records);
        sorted(vec![
            RiskBound { id: "testing-renyi", value: renyi, coefficient: by },
            RiskBound {
                id: "testing-kl",
                value: self.by_kl(reports, records, level),
                coefficient: information,
            },
            RiskBound {
                id: "testing-affinity",
                value: by_affinity(affinity, level),
                coefficient: affinity_by,
            },
        ])
    }

    /// η_KL·KL(P‖Q): for every fixed α < 1, −(1/n)·ln β is at most this in the limit (CED Corollary 4).
    pub fn exponent(&self, reports: &Reports) -> Enclosure {
        // Reports that contract everything to 0 do not depend on the record.
        if reports.information() == Enclosure::ZERO {
            return Enclosure::ZERO;
        }
        reports.information() * self.pair.kl()
    }

    /// No test with fewer reports than this has errors of at most α and β of the two kinds.
    ///
    /// # Guarantee
    /// [`Testing::missed`] solved for n, in each of its three forms.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless α and β are positive and α + β < 1 (else no report is needed).
    pub fn records_needed(
        &self,
        reports: &Reports,
        level: Probability,
        missed: Probability,
    ) -> Result<Enclosure, Error> {
        let known = self.records_needed_by(reports, level, missed)?.into_iter().map(|bound| bound.value);
        Ok(known.fold(Enclosure::ZERO, Enclosure::max))
    }

    /// The bounds whose largest is [`Testing::records_needed`], the best first.
    ///
    /// # Errors
    /// The same.
    pub fn records_needed_by(
        &self,
        reports: &Reports,
        level: Probability,
        missed: Probability,
    ) -> Result<Vec<RiskBound>, Error> {
        for (name, value) in [("alpha", level.get()), ("beta", missed.get())] {
            if value <= 0.0 {
                return Err(Error::OutOfRange { name, value, accepted: "above 0" });
            }
        }
        if level.get() + missed.get() >= 1.0 {
            let value = level.get() + missed.get();
            return Err(Error::OutOfRange { name: "alpha + beta", value, accepted: "below 1" });
        }
        let (alpha, beta) = (Enclosure::from(level), Enclosure::from(missed));
        let accepted = Enclosure::ONE - alpha;
        let per_record = |kl: Enclosure| reports.information() * kl;
        let forward = coins_divergence(accepted, beta) / per_record(self.pair.kl());
        let backward = coins_divergence(beta, accepted) / per_record(self.pair.reversed().kl());
        let both = (alpha * (Enclosure::ONE - beta)).sqrt() + (accepted * beta).sqrt();
        let (affinity_loss, affinity_by) = self.affinity_loss(reports);
        let by_affinity = both.ln() / (-affinity_loss).ln_1p();
        let at = |s: f64| {
            let needed = Enclosure::from(s - 1.0) * -beta.ln() + Enclosure::from(s) * accepted.ln();
            needed / self.contracted(reports, s).0
        };
        let s = 1.0 + summit(ORDERS, PLACES, |ln_s| finite(at(1.0 + ln_s.exp()))).exp();
        let information = reports.of_one(Coefficient::Information);
        let known = [
            ("testing-kl", forward.max(backward), information),
            ("testing-affinity", by_affinity, affinity_by),
            ("testing-renyi", at(s), self.contracted(reports, s).1),
        ];
        let known = known.into_iter().filter(|(_, n, _)| n.lower() > 0.0);
        Ok(sorted(known.map(|(id, value, coefficient)| RiskBound { id, value, coefficient }).collect()))
    }

    /// The two laws.
    pub fn pair(&self) -> &DiscretePair {
        &self.pair
    }

    /// ln[1 + η(e^((s−1)D_s) − 1)], the contribution of one report to (s − 1)·D_s.
    fn contracted(&self, reports: &Reports, s: f64) -> (Enclosure, Coefficient) {
        let Ok(order) = RenyiOrder::new(s) else {
            return (Enclosure::INFINITE, Coefficient::TotalVariation);
        };
        let moment = (Enclosure::from(s - 1.0) * self.pair.renyi(order)).exp_m1();
        let (eta, by) = if s <= 2.0 {
            (reports.information(), Coefficient::Information)
        } else {
            (reports.total_variation(), Coefficient::TotalVariation)
        };
        ((eta * moment).ln_1p(), reports.of_one(by))
    }

    fn by_renyi(
        &self,
        reports: &Reports,
        records: NonZeroU32,
        level: Probability,
    ) -> (Enclosure, Coefficient) {
        let accepted = Enclosure::ONE - Enclosure::from(level);
        let ln_at = |s: f64| {
            let (one, by) = self.contracted(reports, s);
            let ln = (Enclosure::from(s) * accepted.ln() - number(records) * one) / Enclosure::from(s - 1.0);
            (ln, by)
        };
        let place = summit(ORDERS, PLACES, |ln_s| finite(ln_at(1.0 + ln_s.exp()).0));
        let (ln, by) = ln_at(1.0 + place.exp());
        (ln.exp().min(Enclosure::ONE), by)
    }

    /// The smallest β with d(1−α‖β) ≤ n·η·KL(P‖Q) and d(β‖1−α) ≤ n·η·KL(Q‖P).
    fn by_kl(&self, reports: &Reports, records: NonZeroU32, level: Probability) -> Enclosure {
        let accepted = Enclosure::ONE - Enclosure::from(level);
        let most = |kl: Enclosure| number(records) * reports.information() * kl;
        let (forward, backward) = (most(self.pair.kl()), most(self.pair.reversed().kl()));
        smallest_accepted(accepted, |beta| {
            (coins_divergence(accepted, beta) - forward).max(coins_divergence(beta, accepted) - backward)
        })
    }

    fn affinity(&self, reports: &Reports, records: NonZeroU32) -> (Enclosure, Coefficient) {
        let (loss, by) = self.affinity_loss(reports);
        (kept(loss, records), by)
    }

    /// A bound on 1 − BC of one report.
    fn affinity_loss(&self, reports: &Reports) -> (Enclosure, Coefficient) {
        let loss = self.pair.hellinger_squared() / Enclosure::from(2.0);
        reports.affinity_loss(loss.min(Enclosure::ONE), self.pair.total_variation())
    }
}

/// ln(s − 1) of the orders s that are tried.
const ORDERS: (f64, f64) = (-9.0, 4.0);
const PLACES: u32 = 52;

/// The smallest β with √(α(1−β)) + √((1−α)β) ≥ BC.
fn by_affinity(affinity: Enclosure, level: Probability) -> Enclosure {
    let alpha = Enclosure::from(level);
    let accepted = Enclosure::ONE - alpha;
    smallest_accepted(accepted, |beta| {
        affinity - (alpha * (Enclosure::ONE - beta)).sqrt() - (accepted * beta).sqrt()
    })
}

/// The β ≤ 1 − α at which a function that falls up to there reaches 0; smaller β are refuted.
fn smallest_accepted(accepted: Enclosure, violation: impl Fn(Enclosure) -> Enclosure) -> Enclosure {
    let end = accepted.lower().max(0.0);
    let refuted = |beta: f64| violation(Enclosure::from(beta)).lower() > 0.0;
    let allowed = |beta: f64| violation(Enclosure::from(beta)).upper() <= 0.0;
    if !refuted(f64::MIN_POSITIVE) || end <= f64::MIN_POSITIVE {
        return Enclosure::between(0.0, if allowed(f64::MIN_POSITIVE) { f64::MIN_POSITIVE } else { 1.0 });
    }
    let lower = boundary(Boundary { holds: f64::MIN_POSITIVE, fails: end }, 0.5 * end, refuted).holds;
    let upper = boundary(Boundary { holds: end, fails: lower }, lower, allowed).holds;
    Enclosure::between(lower, upper.max(lower))
}

/// The lower end, or −∞ where nothing is known.
fn finite(value: Enclosure) -> f64 {
    if value.lower().is_nan() { f64::NEG_INFINITY } else { value.lower() }
}
