//! The loss of an exponential mechanism.

use super::split_at_ends;
use crate::loss::{LossLaw, Masses, Split};
use crate::{Enclosure, Positive};

/// A mechanism whose losses on neighbours lie in some range of length ε: the exponential mechanism that draws with
/// weights e^(εu/(2∆)), report-noisy-max with Gumbel noise (Durfee, Rogers 2019; Dong, Durfee, Rogers 2020).
///
/// # Guarantee
/// If L ∈ [t − ε, t], then, (e^L − γ)₊ being convex in e^L, which has mean 1 under Q, E_γ is
/// at most that of the pair on the two ends, and for γ = e^ℓ with ℓ ∈ [t − ε, t] this is
///
/// ```text
/// (1 − e^(t−ε))(1 − e^(ℓ−t))/(1 − e^(−ε)) ≤ (1 − e^((ℓ−ε)/2))²/(1 − e^(−ε)),
/// ```
///
/// the largest over t being at t = (ε + ℓ)/2. Exchanging the laws exchanges t and ε − t, so
/// both directions have this profile, convex in γ as a supremum. From Q(L > ℓ) = −dE_γ/dγ and
/// P(L > ℓ) = E_γ − γ·dE_γ/dγ it is that of the law with density ∝ e^(ℓ/2) under P and
/// ∝ e^(−ℓ/2) under Q on [−ε, ε]:
///
/// ```text
/// P(L ≤ ℓ) = (e^((ℓ+ε)/2) − 1)/(e^ε − 1),   Q(L > ℓ) = (e^((ε−ℓ)/2) − 1)/(e^ε − 1).
/// ```
///
/// ```
/// use dobrushin::loss::{ExponentialLoss, LossLaw};
/// use dobrushin::{Enclosure, Positive};
///
/// // No loss is above ε, and the advantage is (1 − e^(−ε/2))²/(1 − e^(−ε)).
/// let law = ExponentialLoss::new(Positive::new(1.0)?);
/// assert_eq!(law.split(Enclosure::from(1.01)).above.p.upper(), 0.0);
/// let known = (1.0 - (-0.5_f64).exp()).powi(2) / (1.0 - (-1_f64).exp());
/// assert!((law.advantage(Enclosure::ZERO).upper() - known).abs() < 1e-12);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExponentialLoss {
    epsilon: f64,
}

impl ExponentialLoss {
    /// Losses in a range of length `epsilon`.
    pub fn new(epsilon: Positive) -> Self {
        Self { epsilon: epsilon.get() }
    }

    fn split_at(&self, loss: f64) -> Split {
        if loss >= self.epsilon {
            return Split::ALL_BELOW;
        }
        if loss < -self.epsilon {
            return Split::ALL_ABOVE;
        }
        let (loss, epsilon, half) =
            (Enclosure::from(loss), Enclosure::from(self.epsilon), Enclosure::from(0.5));
        // 1 − e^(−x/2) for the distances x to the ends and for the whole range.
        let share = |x: Enclosure| -(-(half * x)).exp_m1();
        let all = -(-epsilon).exp_m1();
        let (below, above) = (share(epsilon + loss) / all, share(epsilon - loss) / all);
        let weight = |x: Enclosure| (-(half * x)).exp();
        let unit =
            |masses: Masses| Masses { p: masses.p.min(Enclosure::ONE), q: masses.q.min(Enclosure::ONE) };
        Split {
            below: unit(Masses { p: below * weight(epsilon - loss), q: below }),
            above: unit(Masses { p: above, q: above * weight(epsilon + loss) }),
        }
    }
}

impl LossLaw for ExponentialLoss {
    fn split(&self, loss: Enclosure) -> Split {
        split_at_ends(loss, |loss| self.split_at(loss))
    }
}
