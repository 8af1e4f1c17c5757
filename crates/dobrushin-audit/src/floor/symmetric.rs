//! The privacy loss of a record that is drawn rarely and pushes one way with D, and the opposite way with D′.

use dobrushin::loss::{LossLaw, Masses, Split};
use dobrushin::numeric::{Boundary, normal};
use dobrushin::{Enclosure, Positive, Probability};

/// P = (1 − q)·N(0, 1) + q·N(r, 1) against Q = (1 − q)·N(0, 1) + q·N(−r, 1). The loss ln(dP/dQ) grows with x, and
/// its law under P is that of its opposite under Q.
#[derive(Clone, Copy, Debug)]
pub(super) struct SymmetricLoss {
    ratio: f64,
    rate: f64,
}

impl SymmetricLoss {
    pub fn new(ratio: Positive, rate: Probability) -> Self {
        Self { ratio: ratio.get(), rate: rate.get() }
    }

    /// Encloses the loss at a point.
    fn loss_at(&self, x: f64) -> Enclosure {
        let (q, r) = (Enclosure::from(self.rate), Enclosure::from(self.ratio));
        let half = r.square() / Enclosure::from(2.0);
        // ln(1 − q + q·e^t), without loss of digits where it is tiny.
        let side = |t: Enclosure| {
            if t.upper() > 600.0 {
                q.ln() + t + ((Enclosure::ONE - q) / q * (-t).exp()).ln_1p()
            } else {
                (q * t.exp_m1()).ln_1p()
            }
        };
        let tilt = r * Enclosure::from(x);
        side(tilt - half) - side(-tilt - half)
    }

    /// Points between which the loss is the given one.
    fn point(&self, loss: Enclosure) -> (f64, f64) {
        let far = 1e3 + self.ratio + 2.0 * (loss.abs().upper() + 1.0) / self.ratio;
        let ends = Boundary { holds: -far, fails: far };
        let below = ends.halved(90, |x| self.loss_at(x).upper() <= loss.lower()).holds;
        let above = ends.halved(90, |x| self.loss_at(x).lower() < loss.upper()).fails;
        (below, above.max(below))
    }
}

impl LossLaw for SymmetricLoss {
    fn split(&self, loss: Enclosure) -> Split {
        let (below, above) = self.point(loss);
        let (q, r) = (Enclosure::from(self.rate), self.ratio);
        let mixed =
            |tail: &dyn Fn(f64) -> Enclosure, mean: f64| (Enclosure::ONE - q) * tail(0.0) + q * tail(mean);
        // The tails beyond a point between the two.
        let over = |mean: f64| {
            let at = |x: f64| normal::tail(x - mean);
            Enclosure::between(at(above).lower() * (1.0 - 1e-15), at(below).upper() * (1.0 + 1e-15))
        };
        let under = |mean: f64| {
            let at = |x: f64| normal::tail(mean - x);
            Enclosure::between(at(below).lower() * (1.0 - 1e-15), at(above).upper() * (1.0 + 1e-15))
        };
        Split {
            below: Masses { p: mixed(&under, r), q: mixed(&under, -r) },
            above: Masses { p: mixed(&over, r), q: mixed(&over, -r) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dobrushin::loss::{Composition, DominatingPair, Part};
    use dobrushin::{Epsilon, PrivacyProfile};
    use std::sync::Arc;

    #[test]
    fn the_loss_is_that_of_the_two_mixtures() {
        let law = SymmetricLoss::new(Positive::new(0.8).expect("r"), Probability::new(0.3).expect("q"));
        for epsilon in [0.0, 0.05, 0.3, 0.7] {
            let above = law.split(Enclosure::from(epsilon)).above;
            let stick = above.p - Enclosure::from(epsilon).exp() * above.q;
            // By the densities on a fine grid.
            let density =
                |x: f64, m: f64| (-(x - m).powi(2) / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
            let mix = |x: f64, m: f64| 0.7 * density(x, 0.0) + 0.3 * density(x, m);
            let sum: f64 = (-120_000..120_000)
                .map(|i| f64::from(i) * 1e-4)
                .map(|x| (mix(x, 0.8) - f64::exp(epsilon) * mix(x, -0.8)).max(0.0) * 1e-4)
                .sum();
            assert!((stick.midpoint() - sum).abs() < 1e-8 && stick.width() < 1e-12, "{stick:?} {sum}");
        }
    }

    #[test]
    fn it_composes_to_no_more_than_the_sum_of_its_largest_losses() {
        let law = SymmetricLoss::new(Positive::new(1.0).expect("r"), Probability::new(0.01).expect("q"));
        let pair = DominatingPair::symmetric(Arc::new(law));
        let composed = Composition::new(vec![Part { pair, count: 100 }]);
        let one = Composition::new(vec![Part { pair: DominatingPair::symmetric(Arc::new(law)), count: 1 }]);
        let at = |of: &Composition, epsilon: f64| of.delta(Epsilon::new(epsilon).expect("ε"));
        assert!(at(&composed, 0.5).lower() > at(&one, 0.5).upper());
        assert!(at(&composed, 0.0).upper() <= 100.0 * at(&one, 0.0).upper());
    }
}
