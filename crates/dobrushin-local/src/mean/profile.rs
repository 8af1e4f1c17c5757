//! Profiles of realised channels.

use dobrushin::loss::LossLaw;
use dobrushin::profile::{Direction, PrivacyProfile};
use dobrushin::{Enclosure, Epsilon};

/// δ(ε) = Σ w·(p − e^ε·q)₊: with probability w an outcome has the probabilities p and q.
pub(super) struct Outcomes(pub Vec<Outcome>);

/// An outcome that one input can produce with probability p, and another only with q.
pub(super) struct Outcome {
    pub weight: Enclosure,
    pub p: Enclosure,
    pub q: Enclosure,
}

impl PrivacyProfile for Outcomes {
    fn delta_of(&self, _: Direction, epsilon: Epsilon) -> Enclosure {
        let gamma = Enclosure::from(epsilon).exp();
        let parts = self.0.iter().map(|part| part.weight * (part.p - gamma * part.q).positive_part());
        parts.sum::<Enclosure>().min(Enclosure::ONE)
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}

/// The profile P(L > ε) − e^ε·Q(L > ε) of a symmetric loss L.
pub(super) struct OfLoss<Law>(pub Law);

impl<Law: LossLaw> PrivacyProfile for OfLoss<Law> {
    fn delta_of(&self, _: Direction, epsilon: Epsilon) -> Enclosure {
        let loss = Enclosure::from(epsilon.get().min(f64::MAX));
        let above = self.0.split(loss).above;
        if above.q == Enclosure::ZERO {
            return above.p;
        }
        (above.p - loss.exp() * above.q).positive_part().min(above.p)
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}
