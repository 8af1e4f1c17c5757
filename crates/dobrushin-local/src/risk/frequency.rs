//! How often each of several values occurs.

use super::moments::biased;
use super::search::summit;
use super::{Coefficient, Reports, RiskBound, kept};
use dobrushin::{Enclosure, Error, Probability};
use std::num::NonZeroU32;

/// All laws on k values, whose probabilities are estimated.
///
/// ```
/// use dobrushin::{Delta, Epsilon};
/// use dobrushin_local::LocalPrivacy;
/// use dobrushin_local::risk::{Frequencies, FrequencyLoss, Reports};
///
/// let reports = Reports::promised(LocalPrivacy { epsilon: Epsilon::new(1.0)?, delta: Delta::new(0.0)? });
/// let frequencies = Frequencies::new(10, FrequencyLoss::Squared)?;
/// // More reports leave less error.
/// let few = frequencies.assouad(&reports, 100.try_into()?);
/// let many = frequencies.assouad(&reports, 10_000.try_into()?);
/// assert!(many.value.lower() < few.value.lower());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frequencies {
    categories: u32,
    loss: FrequencyLoss,
}

/// The loss of an estimate of the probabilities.
///
/// ```
/// use dobrushin_local::risk::{Frequencies, FrequencyLoss};
///
/// assert!(Frequencies::new(2, FrequencyLoss::Absolute).is_ok());
/// // With one value there is nothing to estimate.
/// assert!(Frequencies::new(1, FrequencyLoss::Squared).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrequencyLoss {
    /// Σ|p̂ − p|.
    Absolute,
    /// Σ(p̂ − p)².
    Squared,
}

impl Frequencies {
    /// # Errors
    /// [`Error::OutOfRange`] for fewer than 2 categories.
    pub fn new(categories: u32, loss: FrequencyLoss) -> Result<Self, Error> {
        if categories < 2 {
            let value = f64::from(categories);
            return Err(Error::OutOfRange { name: "categories", value, accepted: "2 or more" });
        }
        Ok(Self { categories, loss })
    }

    /// The best over m ≤ k/2 pairs of values and h of
    /// (h²/2m)·[1 − c]^(2n) for squared, and h·(1 − √(1 − [1 − c]^(2n))) for absolute errors.
    ///
    /// # Guarantee
    /// For a vector v of m signs, let the two values of pair i have probabilities (1 ± h·v_i)/(2m). Under uniform v the
    /// risk is a sum over pairs, each with two points, at distance h√2/m (Euclidean) or 2h/m (absolute); between the
    /// mixtures over the other signs BC, being jointly concave, is at least [1 − c]^n with c the contracted (1 −
    /// √(1−h²))/m, at total variation h/m. m = 1 is the case of two points.
    pub fn assouad(&self, reports: &Reports, records: NonZeroU32) -> RiskBound {
        let at = |m: f64, ln_h: f64| {
            let h = Probability::new(ln_h.exp()).map_or(Enclosure::ONE, Enclosure::from);
            let m = Enclosure::from(m);
            let (loss, by) = reports.affinity_loss(biased(h) / m, h / m);
            let affinity = kept(loss, records).square();
            let value = match self.loss {
                FrequencyLoss::Squared => h.square() * affinity / (Enclosure::from(2.0) * m),
                // 1 − √(1 − x) = x/(1 + √(1 − x)).
                FrequencyLoss::Absolute => {
                    h * affinity / (Enclosure::ONE + (Enclosure::ONE - affinity).positive_part().sqrt())
                }
            };
            (value, by)
        };
        let least = -(f64::from(records.get()) + 4.0).ln() - 4.0;
        let best_h = |m: f64| at(m, summit((least, 0.0), 48, |ln_h| at(m, ln_h).0.lower()));
        let most = f64::from(self.categories / 2);
        let around = summit((0.0, most.ln()), 24, |ln_m| best_h(ln_m.exp().round()).0.lower()).exp();
        let candidates = [1.0, around.floor(), around.ceil(), most].map(|m| m.clamp(1.0, most));
        let values: [(Enclosure, Coefficient); 4] = candidates.map(best_h);
        let best = values
            .into_iter()
            .fold(values[0], |best, one| if one.0.lower() > best.0.lower() { one } else { best });
        RiskBound { id: "frequency-assouad", value: best.0, coefficient: best.1 }
    }
}
