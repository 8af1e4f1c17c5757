//! The Bayes risk of a parameter with finitely many values.

use super::counts::Counts;
use super::fano::most_likely;
use super::search::summit;
use super::{Coefficient, Reports, RiskBound, number, sorted};
use dobrushin::divergence::{FiniteLaw, gamma_information_of, mutual_information_of};
use dobrushin::{Enclosure, Error, Gamma};
use std::num::NonZeroU32;

/// A parameter Θ with a finite prior, n records with a finite law given Θ, and any finite table of losses.
///
/// Every bound on the Bayes risk is a lower bound: its *lower* end is proved.
///
/// ```
/// use dobrushin::divergence::FiniteLaw;
/// use dobrushin_local::risk::BayesProblem;
///
/// // A fair bit that every record shows: ln 2 nats, however many records there are.
/// let prior = FiniteLaw::new("prior", vec![0.5, 0.5])?;
/// let laws = [FiniteLaw::new("0", vec![1.0, 0.0])?, FiniteLaw::new("1", vec![0.0, 1.0])?];
/// let problem = BayesProblem::new(&prior, &laws, &[vec![0.0, 1.0], vec![1.0, 0.0]], 5.try_into()?)?;
/// assert!((problem.information().upper() - 2_f64.ln()).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct BayesProblem {
    records: NonZeroU32,
    /// The joint law of Θ and one record, and of Θ and the number of occurrences of each value among all records, if
    /// these are few enough.
    one: Vec<Vec<Enclosure>>,
    all: Option<Vec<Vec<Enclosure>>>,
    /// Every z that is a loss, with the largest prior probability of a loss below it.
    balls: Vec<(f64, Enclosure)>,
    entropy: Enclosure,
}

impl BayesProblem {
    /// `laws[θ]` is the law of a record and `losses[θ]` the loss of every estimate, at every value θ of the parameter.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if the prior, the laws and the losses have inconsistent sizes, [`Error::Empty`]
    /// without estimates, and [`Error::OutOfRange`] for losses that are negative or not finite, or for so many records
    /// and outcomes that their counts have more than 200 000 values.
    pub fn new(
        prior: &FiniteLaw,
        laws: &[FiniteLaw],
        losses: &[Vec<f64>],
        records: NonZeroU32,
    ) -> Result<Self, Error> {
        Self::build(prior, laws, losses, records, true)
    }

    /// Like [`BayesProblem::new`] for any number of records, but all that is known of them together is that they tell
    /// at most as much as each tells alone, times their number, and at most all of Θ.
    ///
    /// # Errors
    /// The errors of [`BayesProblem::new`], except that any number of records is accepted.
    pub fn uncounted(
        prior: &FiniteLaw,
        laws: &[FiniteLaw],
        losses: &[Vec<f64>],
        records: NonZeroU32,
    ) -> Result<Self, Error> {
        Self::build(prior, laws, losses, records, false)
    }

    fn build(
        prior: &FiniteLaw,
        laws: &[FiniteLaw],
        losses: &[Vec<f64>],
        records: NonZeroU32,
        is_counted: bool,
    ) -> Result<Self, Error> {
        let parameters = prior.len();
        let matches = |what: &str, found: usize, expected: usize, like: &str| {
            let (what, like) = (what.to_owned(), like.to_owned());
            if found == expected {
                Ok(())
            } else {
                Err(Error::LengthMismatch { what, found, expected, like })
            }
        };
        matches("the list of laws", laws.len(), parameters, "the prior")?;
        matches("the table of losses", losses.len(), parameters, "the prior")?;
        let (outcomes, estimates) = (laws[0].len(), losses[0].len());
        for (index, (law, row)) in laws.iter().zip(losses).enumerate() {
            matches(&format!("law {}", index + 1), law.len(), outcomes, "law 1")?;
            matches(
                &format!("row {} of the losses", index + 1),
                row.len(),
                estimates,
                "row 1 of the losses",
            )?;
            if let Some(&value) = row.iter().find(|loss| !(**loss >= 0.0 && loss.is_finite())) {
                return Err(Error::OutOfRange { name: "a loss", value, accepted: "finite and 0 or more" });
            }
        }
        if estimates == 0 {
            return Err(Error::Empty { what: "the table of losses".to_owned(), missing: "estimate" });
        }
        let counts = is_counted.then(|| Counts::of(records.get(), outcomes)).transpose()?;
        let weights: Vec<Enclosure> = prior.enclosures().collect();
        let one =
            weights.iter().zip(laws).map(|(&w, law)| law.enclosures().map(|p| w * p).collect()).collect();
        let all = counts.map(|counts| {
            let joint = weights.iter().zip(laws);
            joint.map(|(&w, law)| counts.law(law.enclosures()).into_iter().map(|p| w * p).collect()).collect()
        });
        let entropy = weights.iter().filter(|w| **w != Enclosure::ZERO).map(|&w| -(w * w.ln())).sum();
        Ok(Self { records, one, all, balls: balls(&weights, losses), entropy })
    }

    /// I(Θ; X) of one record, in nats.
    pub fn information_of_one(&self) -> Enclosure {
        mutual_information_of(&self.one)
    }

    /// I(Θ; X^n) in nats; at most the upper end if the records are not counted.
    pub fn information(&self) -> Enclosure {
        match &self.all {
            Some(all) => mutual_information_of(all).min(self.entropy),
            None => {
                let most = (number(self.records) * self.information_of_one()).min(self.entropy);
                Enclosure::between(self.information_of_one().min(most).lower(), most.upper())
            }
        }
    }

    /// I_γ(Θ; X^n); between 0 and 1 if the records are not counted.
    pub fn hockey_stick_information(&self, gamma: Gamma) -> Enclosure {
        self.all.as_ref().map_or(Enclosure::UNIT, |all| gamma_information_of(all, gamma))
    }

    /// CED Theorem 4 over all γ > 0 and, with coefficient 1, equation 27, at one γ: the best z of
    /// z·[1 − c·I_γ − γ·L(z) − (1 − γ)₊], L(z) = max_a P(ℓ(Θ, a) < z).
    ///
    /// # Guarantee
    /// No estimator from reports that contract E_γ by c has a smaller Bayes risk than the lower end: the risk is at
    /// least z·P(ℓ ≥ z), and P(ℓ < z) exceeds γ times its probability under independence by at most E_γ (E21: any γ). A
    /// ball without its boundary suffices.
    pub fn risk_by_hockey_stick(&self, coefficient: Enclosure, gamma: Gamma) -> Enclosure {
        let missing = (Enclosure::ONE - gamma.value()).positive_part();
        let left = Enclosure::ONE - coefficient * self.hockey_stick_information(gamma) - missing;
        self.best_ball(|ball| left - gamma.value() * ball)
    }

    /// CED Corollary 3 and, with all of I(Θ; X^n), equation 25: the best z of z·(1 − p), p ≥ L(z) the largest
    /// probability with d(p‖L(z)) ≤ I.
    ///
    /// # Guarantee
    /// No estimator from reports with at most this information about Θ has a smaller Bayes risk than the lower end. It
    /// is never below z·[1 − (I + ln 2)/ln(1/L(z))] (Xu and Raginsky 2015).
    pub fn risk_by_information(&self, information: Enclosure) -> Enclosure {
        self.best_ball(|ball| Enclosure::ONE - most_likely(ball, information))
    }

    /// Both bounds, with the best coefficients and the best γ, the better first.
    ///
    /// # Guarantee
    /// They also hold for sequentially interactive reports, see [`Reports`].
    pub fn risk(&self, reports: &Reports) -> Vec<RiskBound> {
        let of_one = self.information_of_one();
        let all = self.information().min(number(self.records) * of_one);
        let (information, coefficient) = reports.least_information(self.records, of_one, all);
        let at = |ln_gamma: f64| {
            Gamma::from_epsilon(ln_gamma).map_or(Enclosure::ZERO, |gamma| {
                self.risk_by_hockey_stick(reports.hockey_stick_of(gamma, self.records), gamma)
            })
        };
        let best = summit((-2.0, 5.0), 56, |ln_gamma| at(ln_gamma).lower());
        sorted(vec![
            RiskBound { id: "bayes-information", value: self.risk_by_information(information), coefficient },
            RiskBound {
                id: "bayes-hockey-stick",
                value: at(best).max(at(0.0)),
                coefficient: reports.of_all(Coefficient::HockeyStickOfAll),
            },
        ])
    }

    /// The best z times a bound on P(ℓ ≥ z) that depends on L(z).
    fn best_ball(&self, far: impl Fn(Enclosure) -> Enclosure) -> Enclosure {
        let risks = self.balls.iter().map(|&(z, ball)| Enclosure::from(z) * far(ball).positive_part());
        risks.fold(Enclosure::ZERO, Enclosure::max)
    }
}

/// Every positive loss z with max_a P(ℓ(Θ, a) < z).
fn balls(prior: &[Enclosure], losses: &[Vec<f64>]) -> Vec<(f64, Enclosure)> {
    let mut radii: Vec<f64> = losses.iter().flatten().copied().filter(|z| *z > 0.0).collect();
    radii.sort_by(f64::total_cmp);
    radii.dedup();
    let ball = |z: f64| {
        let of = |estimate: usize| -> Enclosure {
            let inside = prior.iter().zip(losses).filter(|(_, row)| row[estimate] < z);
            inside.map(|(&weight, _)| weight).sum()
        };
        (0..losses[0].len()).map(of).fold(Enclosure::ZERO, Enclosure::max).min(Enclosure::ONE)
    };
    radii.into_iter().map(|z| (z, ball(z))).collect()
}
