//! The loss under Poisson subsampling.

use super::threshold::{SAFELY, Threshold, sum_of_products};
use crate::loss::{LossLaw, Masses, Split};
use crate::numeric::UNIT_ROUNDOFF;
use crate::numeric::elementary;
use crate::numeric::rounding::{add_down, add_up};
use crate::{Enclosure, Error, Probability};

/// (1 − q)·Q + q·P against Q, for the law of the loss of P (with the record) against Q
/// (without it): the record takes part with probability q.
///
/// L′ = ln(1 − q + qe^L) increases with L, so {L′ > ℓ} = {L > g} with
///
/// ```text
/// g = ln(1 + (e^ℓ − 1)/q) = ℓ + ln(1 − (1 − q)e^(−ℓ)) − ln q,
/// ```
///
/// and nothing lies below ℓ = ln(1 − q). The other direction is
/// [`Exchanged`](crate::loss::Exchanged) of this law.
///
/// ```
/// use dobrushin::loss::{GaussianLoss, LossLaw, PoissonLoss};
/// use dobrushin::{Enclosure, Positive, Probability};
///
/// // (1 − q)Q + qP against Q: the advantage is q times as large.
/// let law = GaussianLoss::new(Positive::new(1.0)?);
/// let all = law.advantage(Enclosure::ZERO);
/// let some = PoissonLoss::new(law, Probability::new(0.25)?)?.advantage(Enclosure::ZERO);
/// assert!((some.upper() / all.upper() - 0.25).abs() < 1e-12);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoissonLoss<Law> {
    law: Law,
    q: f64,
    /// 1 − q.
    rest: Enclosure,
    /// ln q, within a unit.
    ln_q: f64,
}

impl<Law: LossLaw> PoissonLoss<Law> {
    /// Each record takes part with probability `q`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for q = 0, where the law is trivial.
    pub fn new(law: Law, q: Probability) -> Result<Self, Error> {
        let q = q.get();
        if q == 0.0 {
            return Err(Error::OutOfRange {
                name: "sampling probability",
                value: q,
                accepted: "above 0 and at most 1",
            });
        }
        let rest = Enclosure::between(add_down(1.0, -q), add_up(1.0, -q));
        Ok(Self { law, q, rest, ln_q: elementary::ln(q) })
    }

    /// An enclosure of g(ℓ) for all ℓ within the threshold; `None` if it is not certain to exist for all.
    fn base_threshold(&self, threshold: Threshold) -> Option<Threshold> {
        let Threshold { value: loss, error } = threshold;
        if loss >= 1.0 {
            // g′ ≤ 1/(1 − e^(−ℓ)) < 1.6 from ℓ = 0.99 on; the logarithms and 1 − q are off
            // by a unit each, and so are the three sums.
            if error > 1e-2 {
                return None;
            }
            let gain = elementary::ln_1p(-self.rest.upper() * elementary::exp(-loss));
            let value = loss + (gain - self.ln_q);
            let rounding = UNIT_ROUNDOFF * (8.0 * gain.abs() + 2.0 * self.ln_q.abs() + 2.0 * value.abs());
            return Some(Threshold { value, error: (1.6 * error + rounding) * SAFELY });
        }
        // t = (e^ℓ − 1)/q, off by a unit for each of the two steps and by e^ℓ(e^error − 1)/q;
        // ln(1 + t) then moves by at most ∆/(1 + t − ∆).
        let gained = elementary::exp_m1(loss);
        let t = gained / self.q;
        let inherited = error * (1.0 + error) * (1.0 + gained + UNIT_ROUNDOFF) / self.q;
        let moved = (inherited + 2.0 * UNIT_ROUNDOFF * t.abs() + f64::MIN_POSITIVE) * SAFELY;
        let left = (1.0 + t - moved) * (1.0 - 4.0 * UNIT_ROUNDOFF) - 2.0 * UNIT_ROUNDOFF;
        if error > 1e-2 || left <= 0.0 || left.is_nan() {
            return None;
        }
        let value = elementary::ln_1p(t);
        Some(Threshold { value, error: (moved / left + UNIT_ROUNDOFF * value.abs()) * SAFELY })
    }

    fn thinned(&self, masses: Masses) -> Masses {
        let Masses { p, q } = masses;
        if masses == Masses::NONE {
            return masses;
        }
        let p = sum_of_products(
            self.rest.lower() * q.lower() + self.q * p.lower(),
            self.rest.upper() * q.upper() + self.q * p.upper(),
        );
        Masses { p: p.min(Enclosure::ONE), q }
    }
}

impl<Law: LossLaw> LossLaw for PoissonLoss<Law> {
    fn split(&self, loss: Enclosure) -> Split {
        if self.q == 1.0 {
            return self.law.split(loss);
        }
        let Split { below, above } = match self.base_threshold(loss.into()) {
            Some(threshold) => self.law.split(threshold.into()),
            None => {
                split_over_range(&self.law, amplified(loss.lower(), self.q), amplified(loss.upper(), self.q))
            }
        };
        Split { below: self.thinned(below), above: self.thinned(above) }
    }

    /// (1 − q)Q + qP − Q = q(P − Q).
    fn advantage(&self, loss: Enclosure) -> Enclosure {
        match self.base_threshold(loss.into()) {
            Some(threshold) => Enclosure::from(self.q) * self.law.advantage(threshold.into()),
            None => {
                let above = self.split(loss).above;
                above.p - above.q
            }
        }
    }

    /// Subsampling leaves no atoms at ±ℓ that share a spacing.
    fn lattice(&self) -> Option<f64> {
        None
    }

    fn gaussian_ratio(&self) -> Option<f64> {
        if self.q == 1.0 { self.law.gaussian_ratio() } else { None }
    }
}

/// g = ln(1 + (e^ℓ − 1)/q); −∞, or [`Enclosure::ENTIRE`], where e^ℓ ≤ 1 − q.
pub(crate) fn amplified(loss: f64, q: f64) -> Enclosure {
    let (loss, q) = (Enclosure::from(loss), Enclosure::from(q));
    if loss.lower() < 1.0 {
        return (loss.exp_m1() / q).ln_1p();
    }
    loss + (-((Enclosure::ONE - q) * (-loss).exp())).ln_1p() - q.ln()
}

/// The split at every threshold from the lower end of `first` to the upper end of `last`, either of which may be the
/// result of [`amplified`] where nothing lies below. An upper end of ∞ lies above every loss.
fn split_over_range(law: &impl LossLaw, first: Enclosure, last: Enclosure) -> Split {
    let at = |range: Enclosure, end: f64| match end {
        _ if range == Enclosure::ENTIRE => Split::ALL_ABOVE,
        f64::NEG_INFINITY => Split::ALL_ABOVE,
        f64::INFINITY => Split::ALL_BELOW,
        _ => law.split(Enclosure::from(end)),
    };
    let (first, last) = (at(first, first.lower()), at(last, last.upper()));
    first.hull(last)
}
