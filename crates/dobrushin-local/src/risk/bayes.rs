//! The Bayes risk of a parameter with finitely many values.

use super::fano::most_likely;
use super::search::summit;
use super::{Coefficient, Reports, RiskBound, number, sorted};
use dobrushin::divergence::{FiniteLaw, gamma_information_of, mutual_information_of};
use dobrushin::numeric::gamma;
use dobrushin::{Enclosure, Error, Gamma, Positive};
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
    /// The joint law of Θ and one record, and of Θ and the number of occurrences of each value among all records.
    one: Vec<Vec<Enclosure>>,
    all: Vec<Vec<Enclosure>>,
    /// Every z that is a loss, with the largest prior probability of a loss below it.
    balls: Vec<(f64, Enclosure)>,
    entropy: Enclosure,
}

/// The largest number of counts that are enumerated.
const MOST_COUNTS: f64 = 200_000.0;

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
        let counts = counts_of(records.get(), outcomes)?;
        let weights: Vec<Enclosure> = prior.enclosures().collect();
        let one =
            weights.iter().zip(laws).map(|(&w, law)| law.enclosures().map(|p| w * p).collect()).collect();
        let all = weights.iter().zip(laws).map(|(&w, law)| {
            let ln: Vec<Enclosure> = law.enclosures().map(Enclosure::ln).collect();
            counts.iter().map(|(choices, counts)| w * probability(*choices, counts, &ln)).collect()
        });
        let entropy = weights.iter().filter(|w| **w != Enclosure::ZERO).map(|&w| -(w * w.ln())).sum();
        Ok(Self { records, one, all: all.collect(), balls: balls(&weights, losses), entropy })
    }

    /// I(Θ; X^n) in nats.
    pub fn information(&self) -> Enclosure {
        mutual_information_of(&self.all).min(self.entropy)
    }

    /// I_γ(Θ; X^n).
    pub fn hockey_stick_information(&self, gamma: Gamma) -> Enclosure {
        gamma_information_of(&self.all, gamma)
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
        let of_one = mutual_information_of(&self.one);
        let all = self.information().min(number(self.records) * of_one);
        let (information, coefficient) = reports.reported_information(self.records, of_one, all);
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

/// Every vector of counts of the values of n records, with the logarithm of the number of orders.
fn counts_of(records: u32, outcomes: usize) -> Result<Vec<(Enclosure, Vec<u32>)>, Error> {
    let places = outcomes.saturating_sub(1);
    let number = (1..=places).fold(1.0, |ways, i| ways * (f64::from(records) + i as f64) / i as f64);
    if number > MOST_COUNTS {
        let accepted = "at most 200000: give fewer records, or outcomes";
        return Err(Error::OutOfRange {
            name: "the number of different counts",
            value: number.round(),
            accepted,
        });
    }
    let mut counts = vec![(records, Vec::new())];
    for _ in 0..places {
        let longer = counts.into_iter().flat_map(|(left, counts): (u32, Vec<u32>)| {
            (0..=left).map(move |next| (left - next, [counts.as_slice(), &[next]].concat()))
        });
        counts = longer.collect();
    }
    let complete = counts.into_iter().map(|(left, mut counts)| {
        counts.push(left);
        let repeated: Enclosure = counts.iter().map(|&count| ln_factorial(count)).sum();
        (ln_factorial(records) - repeated, counts)
    });
    Ok(complete.collect())
}

/// The multinomial probability of counts.
fn probability(ln_orders: Enclosure, counts: &[u32], ln: &[Enclosure]) -> Enclosure {
    let present = counts.iter().zip(ln).filter(|(count, _)| **count > 0);
    if present.clone().any(|(_, ln)| ln.upper() == f64::NEG_INFINITY) {
        return Enclosure::ZERO;
    }
    let exponent: Enclosure = present.map(|(&count, &ln)| Enclosure::from(f64::from(count)) * ln).sum();
    (ln_orders + exponent).exp().min(Enclosure::ONE)
}

fn ln_factorial(n: u32) -> Enclosure {
    Positive::new(f64::from(n) + 1.0).map_or(Enclosure::ENTIRE, gamma::ln_gamma)
}
