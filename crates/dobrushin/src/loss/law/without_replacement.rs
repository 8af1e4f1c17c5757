//! The loss under sampling without replacement.

use super::poisson::PoissonLoss;
use crate::loss::{LossLaw, Split};
use crate::{Enclosure, Error, Probability};

/// A batch drawn without replacement that contains a given record with probability p, for a mechanism whose losses when
/// one record of the batch is replaced are dominated by a symmetric law.
///
/// # Guarantee
/// If a mechanism on batches has E_γ ≤ f(γ) for batches that differ in one record, then on
/// data that differ in one record its subsampled version has, for γ ≥ 1 and in both
/// directions (Balle, Barthe, Gaboardi 2018),
///
/// ```text
/// E_γ ≤ p·f(1 + (γ − 1)/p).
/// ```
///
/// This law has exactly these E_γ. Its masses Q(L > ln γ) = −dE_γ/dγ and P(L > ln γ) = E_γ − γ·dE_γ/dγ are, for γ ≥ 1,
/// those of [`PoissonLoss`], and for γ < 1 by symmetry those of its exchange. The gap between the two is an atom at 0
/// of mass (1 − p)·f(1) ≥ 0, so they form a law.
///
/// ```
/// use dobrushin::loss::{LaplaceLoss, LossLaw, WithoutReplacementLoss};
/// use dobrushin::{Enclosure, Positive, Probability};
///
/// // Pure ε-privacy becomes ln(1 + p(e^ε − 1)): with ε = ln 3 and p = 1/2 no loss is above ln 2.
/// let law = WithoutReplacementLoss::new(LaplaceLoss::new(Positive::new(3_f64.ln())?), Probability::new(0.5)?)?;
/// let above = |loss: f64| law.split(Enclosure::from(loss)).above.p;
/// assert!(above(0.69).lower() > 0.0);
/// assert_eq!(above(0.70).upper(), 0.0);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WithoutReplacementLoss<Law> {
    positive: PoissonLoss<Law>,
}

impl<Law: LossLaw> WithoutReplacementLoss<Law> {
    /// A given record is in the batch with probability p, the size of the batch over the number of records. The law
    /// must be symmetric: −L under Q has the law of L under P.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for p = 0, where the law is trivial.
    pub fn new(law: Law, p: Probability) -> Result<Self, Error> {
        Ok(Self { positive: PoissonLoss::new(law, p)? })
    }
}

impl<Law: LossLaw> LossLaw for WithoutReplacementLoss<Law> {
    fn split(&self, loss: Enclosure) -> Split {
        let negative = |loss: Enclosure| self.positive.split(-loss).exchanged();
        if loss.lower() >= 0.0 {
            return self.positive.split(loss);
        }
        if loss.upper() < 0.0 {
            return negative(loss);
        }
        negative(Enclosure::between(loss.lower(), 0.0)).hull(self.positive.split(loss.positive_part()))
    }

    fn advantage(&self, loss: Enclosure) -> Enclosure {
        // The atom at 0 has the same weight under P and Q, so the two sides meet there.
        let (below, above) = (loss.lower().min(0.0), loss.upper().max(0.0));
        match (loss.lower() >= 0.0, loss.upper() < 0.0) {
            (true, _) => self.positive.advantage(loss),
            (_, true) => self.positive.advantage(-loss),
            _ => [below, above]
                .map(|end| self.positive.advantage(end.abs().into()))
                .into_iter()
                .fold(self.positive.advantage(Enclosure::ZERO), Enclosure::hull),
        }
    }

    fn gaussian_ratio(&self) -> Option<f64> {
        self.positive.gaussian_ratio()
    }
}
