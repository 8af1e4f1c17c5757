//! How informative reports are: η_χ² = η_KL of a local mechanism, from its profile.

use super::{LocalPrivacy, LocalProfile};
use dobrushin::kernel::average_contraction;
use dobrushin::{Delta, Enclosure, Epsilon};

impl LocalProfile {
    /// η_χ² = η_KL of the mechanism: exactly ∫₁^∞ 8/(1 + γ)³·δ(ln γ) dγ if two inputs are the worst at every ε, and
    /// otherwise at most that.
    ///
    /// # Guarantee
    /// See [`average_contraction`].
    ///
    /// For noise on an interval the two ends are the worst inputs at every ε, because E_γ of log-concave noise grows
    /// with the shift. The weight has mass 1, so η_χ² is an average of δ, and never above η_TV = δ(0). From below, η_χ²
    /// ≥ η_TV² for every mechanism, by the Cauchy–Schwarz inequality at λ = 1/2.
    pub fn chi_squared_contraction(&self) -> Enclosure {
        let total_variation = Epsilon::new(0.0).map_or(Enclosure::UNIT, |zero| self.delta(zero));
        let pure = Delta::new(0.0).map_or(f64::INFINITY, |zero| self.epsilon(zero).upper());
        let promised = match (Epsilon::new(pure), Delta::new(0.0)) {
            (Ok(epsilon), Ok(delta)) if pure < f64::INFINITY => LocalPrivacy { epsilon, delta }.information(),
            _ => Enclosure::ONE,
        };
        let average = average_contraction(|epsilon| self.delta(epsilon), self.bends());
        let upper = average.upper().min(total_variation.upper()).min(promised.upper());
        let square = (total_variation * total_variation).lower();
        let lower = if self.is_of_two_inputs() { average.lower().max(square) } else { square };
        Enclosure::between(lower.clamp(0.0, upper), upper)
    }
}
