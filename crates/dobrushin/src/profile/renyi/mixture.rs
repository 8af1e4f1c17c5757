//! A hidden random choice among mechanisms that have Rényi curves.

use super::RenyiCurve;
use crate::Enclosure;
use crate::profile::Direction;
use std::sync::Arc;

/// D_α ≤ ln[w₀ + Σ w_j·e^((α−1)·D_α,j)]/(α−1), where w₀ is 1 minus the sum of the weights.
///
/// # Guarantee
/// Revealing the chosen mechanism can only increase D_α, and e^((α−1)D_α) of the pairs (choice, output) is the average
/// of that of the mechanisms; with probability w₀ the output does not depend on the record.
///
/// ```
/// use dobrushin::divergence::LaplacePair;
/// use dobrushin::profile::{Direction, MixtureCurve, PairCurve, RenyiCurve};
/// use dobrushin::Enclosure;
/// use std::sync::Arc;
///
/// // A record that is used half of the time: no more than ln 2 below the curve of certain use, and no more than it.
/// let used = Arc::new(PairCurve::symmetric(LaplacePair::new(1.0, 1.0)?));
/// let mixture = MixtureCurve::new(vec![(Enclosure::from(0.5), used.clone())]);
/// let [half, all] = [mixture.log_moment(Direction::Forward, 8.0), used.log_moment(Direction::Forward, 8.0)];
/// assert!(half.upper() < all.lower() && half.lower() > all.upper() - 2_f64.ln());
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub struct MixtureCurve {
    members: Vec<(Enclosure, Arc<dyn RenyiCurve>)>,
    rest: Enclosure,
}

impl MixtureCurve {
    /// The weights, with a sum of at most 1, each with its curve.
    pub fn new<Curve: RenyiCurve + 'static>(members: Vec<(Enclosure, Arc<Curve>)>) -> Self {
        let weights: Enclosure = members.iter().map(|(weight, _)| *weight).sum();
        let members = members.into_iter().map(|(weight, curve)| (weight, curve as _)).collect();
        Self { members, rest: (Enclosure::ONE - weights).positive_part() }
    }
}

impl RenyiCurve for MixtureCurve {
    fn log_moment(&self, direction: Direction, order: f64) -> Enclosure {
        if !(order > 1.0 && order < f64::INFINITY) {
            return Enclosure::ENTIRE;
        }
        if let [(weight, curve)] = &self.members[..]
            && *weight == Enclosure::ONE
        {
            return curve.log_moment(direction, order);
        }
        let moments: Vec<(Enclosure, Enclosure)> = self
            .members
            .iter()
            .map(|(weight, curve)| (*weight, curve.log_moment(direction, order)))
            .collect();
        let most = moments.iter().fold(0.0_f64, |most, (_, moment)| most.max(moment.upper()));
        if most == f64::INFINITY {
            return Enclosure::ZERO.hull(Enclosure::INFINITE);
        }
        // ln(1 + Σw(e^x − 1)), for e^x that do not overflow: small divergences stay accurate.
        if most < 500.0 {
            let excess: Enclosure = moments.iter().map(|&(weight, x)| weight * x.exp_m1()).sum();
            return excess.positive_part().ln_1p();
        }
        let most = Enclosure::from(most);
        let scaled: Enclosure = moments.iter().map(|&(weight, x)| weight * (x - most).exp()).sum();
        most + (scaled + self.rest * (-most).exp()).ln()
    }

    fn log_moment_roughly(&self, direction: Direction, order: f64) -> f64 {
        let moments =
            || self.members.iter().map(|(w, curve)| (w.upper(), curve.log_moment_roughly(direction, order)));
        let most = moments().fold(0.0_f64, |most, (_, moment)| most.max(moment));
        if most < 500.0 {
            return libm::log1p(moments().map(|(weight, x)| weight * libm::expm1(x)).sum::<f64>());
        }
        most + libm::log(moments().map(|(weight, x)| weight * libm::exp(x - most)).sum::<f64>())
    }

    fn largest_loss(&self, direction: Direction) -> Enclosure {
        let losses = self.members.iter().map(|(_, curve)| curve.largest_loss(direction));
        losses.fold(Enclosure::ZERO, Enclosure::max)
    }

    fn is_symmetric(&self) -> bool {
        self.members.iter().all(|(_, curve)| curve.is_symmetric())
    }
}
