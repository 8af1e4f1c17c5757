//! A hidden random choice among mechanisms with D_α ≤ ρα.

use super::{Direction, RenyiCurve};
use crate::Enclosure;

/// D_α ≤ ln[w₀ + Σ w_j·e^((α−1)αρ_j)]/(α−1), where w₀ is 1 minus the sum of the weights.
///
/// # Guarantee
/// Revealing the chosen mechanism can only increase D_α, and e^((α−1)D_α) of the pairs (choice, output) is the average
/// of that of the mechanisms; with probability w₀ the output does not depend on the record.
///
/// ```
/// use dobrushin::Enclosure;
/// use dobrushin::profile::{ConcentratedMixture, Direction, RenyiCurve};
///
/// // Half of the time D_α ≤ α/2, otherwise nothing is told: e^(D_2) is at most (1 + e)/2.
/// let mixture = ConcentratedMixture::new(vec![(Enclosure::from(0.5), Enclosure::from(0.5))]);
/// let moment = mixture.log_moment(Direction::Forward, 2.0).exp();
/// assert!((moment.upper() - (1.0 + 1_f64.exp()) / 2.0).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ConcentratedMixture {
    /// (w_j, ρ_j).
    members: Vec<(Enclosure, Enclosure)>,
    rest: Enclosure,
}

impl ConcentratedMixture {
    /// The weights, with a sum of at most 1, each with its ρ.
    pub fn new(members: Vec<(Enclosure, Enclosure)>) -> Self {
        let weights: Enclosure = members.iter().map(|(weight, _)| *weight).sum();
        Self { members, rest: (Enclosure::ONE - weights).positive_part() }
    }

    /// The chosen mechanisms, as (weight, ρ).
    pub fn members(&self) -> &[(Enclosure, Enclosure)] {
        &self.members
    }
}

impl RenyiCurve for ConcentratedMixture {
    fn log_moment(&self, _direction: Direction, order: f64) -> Enclosure {
        if !(order > 1.0 && order < f64::INFINITY) {
            return Enclosure::ENTIRE;
        }
        let alpha = Enclosure::from(order);
        let factor = alpha * (alpha - Enclosure::ONE);
        if let [(weight, rho)] = self.members[..]
            && weight == Enclosure::ONE
        {
            return rho * factor;
        }
        let largest = self.members.iter().fold(0.0_f64, |most, (_, rho)| most.max(rho.upper()));
        if largest == 0.0 {
            return Enclosure::ZERO;
        }
        // ln(1 + Σw(e^x − 1)), for e^x that do not overflow: small divergences stay accurate.
        let exponents = || self.members.iter().map(|(weight, rho)| (*weight, *rho * factor));
        let most = Enclosure::from(largest) * factor;
        if most.upper() < 500.0 {
            let excess: Enclosure = exponents().map(|(weight, x)| weight * x.exp_m1()).sum();
            return excess.ln_1p();
        }
        let scaled: Enclosure = exponents().map(|(weight, x)| weight * (x - most).exp()).sum();
        most + (scaled + self.rest * (-most).exp()).ln()
    }

    fn largest_loss(&self, _direction: Direction) -> Enclosure {
        let nothing = self.members.iter().all(|(_, rho)| *rho == Enclosure::ZERO);
        if nothing { Enclosure::ZERO } else { Enclosure::INFINITE }
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}
