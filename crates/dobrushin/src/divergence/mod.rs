//! Divergences between two probability laws, as enclosures.
//!
//! The hockey-stick divergence of order γ = e^ε > 0 is
//!
//! ```text
//! E_γ(P‖Q) = sup_A [P(A) − γQ(A)] − (1 − γ)₊ = ∫(dP − γdQ)₊ − (1 − γ)₊
//! ```
//!
//! so it is 0 for P = Q at every γ, it is total variation at γ = 1, and E_γ(P‖Q) = γ·E_{1/γ}(Q‖P). A mechanism is (ε,
//! δ)-DP iff E_{e^ε} ≤ δ for all neighbouring inputs.

mod curve;
mod discrete;
mod f_divergence;
mod gamma;
mod gaussian;
mod generator;
mod information;
mod laplace;
mod law;
mod named;
mod symmetric;

pub use curve::{HockeyStickCurve, Vertex};
pub(crate) use curve::{level_sets, merged_hull};
pub use discrete::DiscretePair;
pub(crate) use discrete::sum_of_terms;
pub use f_divergence::f_divergence;
pub(crate) use f_divergence::{Left, integral};
pub use gamma::Gamma;
pub use gaussian::GaussianPair;
pub use generator::{
    Alpha, ChiSquared, Conjugate, Generator, Growth, Hellinger, JensenShannon, KullbackLeibler,
};
pub use information::{gamma_information, mutual_information};
pub use information::{gamma_information_of, mutual_information_of};
pub use laplace::LaplacePair;
pub(crate) use law::enclose;
pub use law::{FiniteLaw, SUM_TOLERANCE};
pub use named::NamedDivergence;
pub use symmetric::{Jeffreys, LeCam, TotalVariation};

use crate::{Delta, Enclosure, RenyiOrder};

/// Two laws P and Q whose divergences can be enclosed.
///
/// Methods measure P against Q; [`Pair::hockey_stick_reversed`] measures Q against P.
///
/// ```
/// use dobrushin::Gamma;
/// use dobrushin::divergence::{LaplacePair, Pair};
///
/// // Two Laplace laws a scale apart: TV = 1 − e^(−1/2), and nothing is left at e^ε = e.
/// let pair = LaplacePair::new(1.0, 1.0)?;
/// assert!((pair.total_variation().upper() + (-0.5_f64).exp_m1()).abs() < 1e-12);
/// assert_eq!(pair.hockey_stick(Gamma::from_epsilon(1.0)?).upper(), 0.0);
/// assert!((pair.kl().upper() - (-1_f64).exp()).abs() < 1e-12);
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub trait Pair {
    /// E_γ(P‖Q) for any γ > 0.
    fn hockey_stick(&self, gamma: Gamma) -> Enclosure;

    /// ln E_γ(P‖Q), which may be finite where E_γ underflows.
    fn ln_hockey_stick(&self, gamma: Gamma) -> Enclosure {
        self.hockey_stick(gamma).ln()
    }

    /// E_γ(Q‖P) = γ·E_{1/γ}(P‖Q).
    fn hockey_stick_reversed(&self, gamma: Gamma) -> Enclosure;

    /// The smallest ε ≥ 0 with E_{e^ε}(P‖Q) ≤ δ; ∞ if there is none.
    fn smallest_epsilon(&self, delta: Delta) -> Enclosure;

    /// The Rényi divergence D_α(P‖Q); α = 1 is Kullback–Leibler, α = ∞ the
    /// largest log-ratio.
    fn renyi(&self, order: RenyiOrder) -> Enclosure;

    /// Total variation, E_1.
    fn total_variation(&self) -> Enclosure {
        self.hockey_stick(Gamma::ONE)
    }

    /// Kullback–Leibler divergence, in nats.
    fn kl(&self) -> Enclosure;

    /// χ²(P‖Q) = ∫(dP − dQ)²/dQ.
    fn chi_squared(&self) -> Enclosure;

    /// The squared Hellinger distance ∫(√dP − √dQ)², between 0 and 2.
    fn hellinger_squared(&self) -> Enclosure;

    /// The end of the support of E_γ: an ε beyond which E_{e^ε} of both directions is constant, if any.
    fn last_epsilon(&self) -> Option<f64>;

    /// The γ > 1 at which E_γ of either direction bends, if any.
    fn knots(&self) -> Vec<f64> {
        Vec::new()
    }

    /// An upper bound on E_Q[L^power; L > e^ε] with L = dP/dQ, and on the same with P and Q exchanged. It is called
    /// only with ε ≥ 0 and power ≥ 0.
    fn tail_moment(&self, epsilon: f64, power: f64) -> f64;
}
