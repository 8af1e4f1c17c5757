//! Guessing which of several laws the records have (Fano's method).

use super::{Loss, Reports, RiskBound};
use dobrushin::divergence::{FiniteLaw, mutual_information_of};
use dobrushin::numeric::{Boundary, boundary};
use dobrushin::{Enclosure, Error, NonNegative};
use std::num::NonZeroU32;

/// Finitely many laws of a record, one of which is drawn at random.
///
/// ```
/// use dobrushin::divergence::FiniteLaw;
/// use dobrushin_local::risk::Family;
///
/// // Two laws that share no outcome: one record tells which, ln 2 nats.
/// let laws = [FiniteLaw::new("P", vec![1.0, 0.0])?, FiniteLaw::new("Q", vec![0.0, 1.0])?];
/// assert!((Family::new(&laws)?.information().upper() - 2_f64.ln()).abs() < 1e-9);
/// assert!(Family::new(&laws[..1]).is_err());
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    size: f64,
    /// I(X; V), the mean divergence of the laws from their mean.
    information: Enclosure,
}

impl Family {
    /// # Errors
    /// [`Error::Empty`] for fewer than two laws, [`Error::LengthMismatch`] if they have different numbers of outcomes.
    pub fn new(laws: &[FiniteLaw]) -> Result<Self, Error> {
        if laws.len() < 2 {
            return Err(Error::Empty { what: "the family".to_owned(), missing: "second law" });
        }
        let outcomes = laws[0].len();
        for (index, law) in laws.iter().enumerate() {
            if law.len() != outcomes {
                let (what, like) = (format!("law {}", index + 1), "law 1".to_owned());
                return Err(Error::LengthMismatch { what, found: law.len(), expected: outcomes, like });
            }
        }
        let size = laws.len() as f64;
        let joint: Vec<Vec<Enclosure>> =
            laws.iter().map(|law| law.enclosures().map(|p| p / Enclosure::from(size)).collect()).collect();
        Ok(Self { size, information: mutual_information_of(&joint) })
    }

    /// I(X; V) of one record, at most the mean and the largest divergence between two of the laws.
    pub fn information(&self) -> Enclosure {
        self.information
    }

    /// A bound on the probability of a wrong guess from n reports.
    ///
    /// # Guarantee
    /// Under independence a guess is right with probability 1/|V|, so its probability p under the joint law has
    /// d(p‖1/|V|) ≤ I(V; Z^n) ≤ min{n·η_KL·I(V; X), (1 − (1−η_KL)^n)·I(V; X^n)} (LDC Lemma 4, sharpened in E17). This
    /// is Fano's inequality, whose usual form 1 − (I + ln 2)/ln|V| is weaker. Sequential interaction is allowed, see
    /// [`Reports::reported_information`]. For δ = 0 the capacity of a report is a third bound, see
    /// [`Reports::capacity`].
    pub fn error(&self, reports: &Reports, records: NonZeroU32) -> RiskBound {
        let all = (super::number(records) * self.information).min(Enclosure::from(self.size).ln());
        let (information, coefficient) = reports.least_information(records, self.information, all);
        let right = most_likely(Enclosure::ONE / Enclosure::from(self.size), information);
        RiskBound { id: "fano", value: (Enclosure::ONE - right).positive_part(), coefficient }
    }

    /// A bound on the largest risk of every estimator from n reports, where the parameters of any two laws are at least
    /// the given distance apart.
    pub fn risk(
        &self,
        reports: &Reports,
        records: NonZeroU32,
        separation: NonNegative,
        loss: Loss,
    ) -> RiskBound {
        let error = self.error(reports, records);
        RiskBound { value: loss.of_many(separation) * error.value, ..error }
    }
}

/// The largest p ≥ l with d(p‖l) ≤ I, where d is the divergence of two coins: an event with probability l under
/// independence has at most this probability under a joint law with information I.
pub(super) fn most_likely(independent: Enclosure, information: Enclosure) -> Enclosure {
    let upper = crossing(independent.upper(), information.upper());
    // The lower end does not matter to any bound; d(p‖l) falls in l.
    let lower = crossing(independent.lower().max(0.0), information.lower().max(0.0)).0;
    Enclosure::between(lower.min(upper.1), upper.1)
}

/// Where d(p‖l) crosses I: a p at which it is at most I, and one at which it is certainly at least I, or 1.
fn crossing(l: f64, information: f64) -> (f64, f64) {
    if l >= 1.0 || information.is_nan() {
        return (l.min(1.0), 1.0);
    }
    if l <= 0.0 {
        return if information < f64::INFINITY { (0.0, 0.0) } else { (0.0, 1.0) };
    }
    let above = |p: f64| coins_divergence(Enclosure::from(p), Enclosure::from(l)).lower() >= information;
    let below = |p: f64| coins_divergence(Enclosure::from(p), Enclosure::from(l)).upper() <= information;
    if !above(1.0) {
        return (if below(1.0) { 1.0 } else { l }, 1.0);
    }
    let guess = Boundary { holds: l, fails: 1.0 }.halved(HALVINGS, |p| {
        let rest = if p < 1.0 { (1.0 - p) * ((1.0 - p) / (1.0 - l)).ln() } else { 0.0 };
        p * (p / l).ln() + rest < information
    });
    let outside = boundary(Boundary { holds: 1.0, fails: l }, guess.fails, above).holds;
    (boundary(Boundary { holds: l, fails: outside }, guess.holds, below).holds, outside)
}

/// The number of times an interval is halved to guess where the divergence crosses a level.
const HALVINGS: u32 = 46;

/// d(p‖q) = p·ln(p/q) + (1−p)·ln((1−p)/(1−q)).
pub(super) fn coins_divergence(p: Enclosure, q: Enclosure) -> Enclosure {
    let part = |p: Enclosure, q: Enclosure| {
        if p == Enclosure::ZERO { Enclosure::ZERO } else { p * (p / q).ln() }
    };
    (part(p, q) + part(Enclosure::ONE - p, Enclosure::ONE - q)).positive_part()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_likely_event_is_where_the_divergence_is_the_information() {
        for (l, information) in [(0.5, 0.1), (0.01, 0.7), (1e-30, 3.0), (0.3, 1e-9), (0.25, 0.0)] {
            let p = most_likely(Enclosure::from(l), Enclosure::from(information));
            assert!(p.upper() >= l && p.width() < 1e-9, "{p}");
            let above = coins_divergence(Enclosure::from((p.upper() + 1e-7).min(1.0)), Enclosure::from(l));
            assert!(above.lower() > information);
        }
        // More information than ln(1/l) allows every p.
        assert_eq!(most_likely(Enclosure::from(0.5), Enclosure::from(0.7)).upper(), 1.0);
        assert_eq!(most_likely(Enclosure::ZERO, Enclosure::from(5.0)).upper(), 0.0);
    }
}
