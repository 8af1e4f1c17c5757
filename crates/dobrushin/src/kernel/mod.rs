//! Markov kernels and how much they contract divergences.
//!
//! The contraction coefficient of K under E_γ is the largest ratio
//! E_γ(μK‖νK)/E_γ(μ‖ν). For γ ≥ 1 two deterministic inputs attain it,
//!
//! ```text
//! η_γ(K) = sup_{x, y} E_γ(K(x)‖K(y)),      η_γ = η_{1/γ} for γ < 1       (CED Theorem 2)
//! ```
//!
//! and K is (ε, δ)-locally private iff η_{e^ε}(K) ≤ δ (CED Theorem 3). γ = 1 is Dobrushin's coefficient. The linear
//! bound η_γ·E_γ is not tight; the tight curve is [`Kernel::tight`].

mod chi_squared;
mod combined;
mod contraction;
mod curve;
mod finite;
mod gaussian;
mod laplace;
mod leaders;
mod pure_privacy;
mod rows;

pub use chi_squared::ChiSquaredContraction;
pub use combined::{Composition, Product};
pub use contraction::Contraction;
pub use curve::ContractionCurve;
pub use finite::FiniteKernel;
pub use gaussian::GaussianKernel;
pub use laplace::LaplaceKernel;

use crate::divergence::{Generator, Pair, weighted};
use crate::{Enclosure, Gamma, Probability};

/// A Markov kernel whose contraction is known, exactly or from above.
pub trait Kernel {
    /// η_γ(K) for any γ > 0, or a bound on it where the kernel's documentation
    /// says so.
    fn contraction(&self, gamma: Gamma) -> Enclosure;

    /// η_TV(K) = η_1(K), which also bounds the contraction coefficient of every
    /// f-divergence (CED eq. 13).
    fn total_variation(&self) -> Enclosure {
        self.contraction(Gamma::ONE)
    }

    /// F_γ(e): the largest possible E_γ(μK‖νK) if E_γ(μ‖ν) = e.
    ///
    /// # Guarantee
    /// For γ ≥ 1, F_γ(e) = e·η_γ̃(K) with γ̃ = 1 + (γ − 1)/e, and F_γ(0) = 0 (Balle, Barthe, Gaboardi, Geumlek 2019).
    /// Write e·μ′ = (μ − γν)₊ and (γ − 1 + e)·ν′ = (γν − μ)₊ with probability laws μ′, ν′: then μK − γνK = e·(μ′K −
    /// γ̃·ν′K), and two points suffice for the bracket. F_γ is convex and increasing in e and at most e·η_γ(K), with
    /// equality only at γ = 1. For γ < 1, F_γ(e) = γ·F_{1/γ}(e/γ).
    fn tight(&self, gamma: Gamma, divergence: Probability) -> Enclosure {
        if gamma.is_below_one() {
            let scaled = (Enclosure::from(divergence) / gamma.value()).min(Enclosure::ONE);
            return gamma.value() * tight_above_one(self, gamma.reciprocal(), scaled);
        }
        tight_above_one(self, gamma, divergence.into())
    }
}

fn tight_above_one<K: Kernel + ?Sized>(kernel: &K, gamma: Gamma, divergence: Enclosure) -> Enclosure {
    divergence.map_monotone(|e| {
        if e <= 0.0 {
            return Enclosure::ZERO;
        }
        let e = Enclosure::from(e);
        // γ − 1 without cancellation near 1.
        let excess = gamma.epsilon().exp_m1().positive_part();
        e * kernel.contraction(Gamma::one_plus(excess / e))
    })
}

/// The bound η_f(K) ≤ η_TV(K) ≤ 1 − (1 − η_γ(K))/γ on the contraction coefficient of every f-divergence, from η at a
/// single γ (CED Lemma 1 and eq. 14); for γ < 1, where η_γ = η_{1/γ}, with 1/γ in place of γ.
pub fn any_divergence_bound(gamma: Gamma, contraction: Enclosure) -> Enclosure {
    let gamma = if gamma.is_below_one() { gamma.reciprocal() } else { gamma };
    Enclosure::ONE - (Enclosure::ONE - contraction) / gamma.value()
}

/// An upper bound on D_f(PK‖QK) from η_γ(K) and E_γ of P and Q alone:
///
/// ```text
/// D_f(PK‖QK) ≤ ∫₁^∞ η_γ(K)·[ f″(γ)·E_γ(P‖Q) + f̃″(γ)·E_γ(Q‖P) ] dγ      (CED Corollary 1)
/// ```
///
/// # Guarantee
/// The upper end is at least D_f(PK‖QK) for every kernel with the contraction
/// coefficients of `kernel` and every P, Q with the hockey-stick divergences of
/// `pair` (CED Corollary 1; the values of its examples are corrected, errata E20).
/// It is never above η_TV(K)·D_f(P‖Q).
///
/// η_γ is evaluated at thousands of γ: for a large finite kernel, pass the curve.
pub fn output_bound(
    pair: &(impl Pair + ?Sized),
    kernel: &(impl Kernel + ?Sized),
    f: &(impl Generator + ?Sized),
) -> Enclosure {
    weighted(pair, f, Some(&|gamma| kernel.contraction(gamma)))
}
