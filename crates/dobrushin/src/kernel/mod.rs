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

mod average;
mod chi_squared;
mod combined;
mod contraction;
mod curve;
mod finite;
mod gaussian;
mod laplace;
mod leaders;
mod passage;
mod pure_privacy;
mod rows;

pub use average::average_contraction;
pub use chi_squared::ChiSquaredContraction;
pub use combined::{Composition, Product, side_by_side};
pub use contraction::Contraction;
pub use curve::ContractionCurve;
pub use finite::FiniteKernel;
pub use gaussian::GaussianKernel;
pub use laplace::LaplaceKernel;
pub use passage::{ByBound, Passage};

use crate::divergence::{Generator, Left, Pair, integral};
use crate::{Enclosure, Gamma, Probability};

/// A Markov kernel whose contraction is known, exactly or from above.
///
/// ```
/// use dobrushin::kernel::{GaussianKernel, Kernel};
/// use dobrushin::{Gamma, Probability};
///
/// let kernel = GaussianKernel::new(1.0, 1.0)?;
/// // Laws that are little apart to begin with are brought together more: F_γ(e) is far below η_γ·e.
/// let (gamma, divergence) = (Gamma::from_epsilon(1.0)?, Probability::new(0.01)?);
/// let linear = 0.01 * kernel.contraction(gamma).upper();
/// assert!(kernel.tight(gamma, divergence).upper() < 1e-3 * linear);
/// # Ok::<(), dobrushin::Error>(())
/// ```
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

    /// An ε ≥ 0 beyond which η is constant, if one is known.
    fn last_epsilon(&self) -> Option<f64> {
        None
    }
}

/// F_γ(e) for an e that is known only by an enclosure.
fn tight_of(kernel: &(impl Kernel + ?Sized), gamma: Gamma, e: Enclosure) -> Enclosure {
    e.map_monotone(|e| Probability::new(e).map_or(Enclosure::UNIT, |e| kernel.tight(gamma, e)))
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
///
/// ```
/// use dobrushin::kernel::{FiniteKernel, Kernel, any_divergence_bound};
/// use dobrushin::Gamma;
///
/// // ln 3-privacy, η_3 = 0, bounds the contraction of every f-divergence by 1 − 1/3. Total variation itself is at 1/2.
/// let response = FiniteKernel::new(vec![vec![0.75, 0.25], vec![0.25, 0.75]])?;
/// let three = Gamma::new(3.0)?;
/// let bound = any_divergence_bound(three, response.contraction(three));
/// assert!(bound.contains(2.0 / 3.0) && bound.upper() > response.total_variation().upper());
/// # Ok::<(), dobrushin::Error>(())
/// ```
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
///
/// ```
/// use dobrushin::Gamma;
/// use dobrushin::divergence::{ChiSquared, DiscretePair, FiniteLaw, Pair};
/// use dobrushin::kernel::{FiniteKernel, output_bound};
///
/// // Two laws that are sent through randomised response: from χ² = 4/3, what comes out has χ² = (1/4)²·4 = 1/4.
/// let (p, q) = (FiniteLaw::new("P", vec![0.75, 0.25])?, FiniteLaw::new("Q", vec![0.25, 0.75])?);
/// let pair = DiscretePair::new(p, q)?;
/// let response = FiniteKernel::new(vec![vec![0.75, 0.25], vec![0.25, 0.75]])?;
/// let bound = output_bound(&pair, &response.curve(), &ChiSquared);
/// let (p, q) = (FiniteLaw::new("PK", vec![0.625, 0.375])?, FiniteLaw::new("QK", vec![0.375, 0.625])?);
/// let out = DiscretePair::new(p, q)?.chi_squared();
/// assert!(out.upper() <= bound.upper() && bound.upper() < pair.chi_squared().upper());
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn output_bound(
    pair: &(impl Pair + ?Sized),
    kernel: &(impl Kernel + ?Sized),
    f: &(impl Generator + ?Sized),
) -> Enclosure {
    let of = |gamma: Gamma, e: Enclosure| kernel.contraction(gamma) * e;
    integral(pair, f, Some(&Left { of: &of, last_epsilon: kernel.last_epsilon() }))
}

/// [`output_bound`] with the tight curve F_γ in place of the lines η_γ·e:
///
/// ```text
/// D_f(PK‖QK) ≤ ∫₁^∞ [ f″(γ)·F_γ(E_γ(P‖Q)) + f̃″(γ)·F_γ(E_γ(Q‖P)) ] dγ
/// ```
///
/// # Guarantee
/// The upper end is at least D_f(PK‖QK) for every kernel with the contraction coefficients of `kernel` and every P, Q
/// with the hockey-stick divergences of `pair`: F_γ bounds E_γ of the outputs (see [`Kernel::tight`]), and D_f of the
/// outputs is the integral of their E_γ (CED eq. 17). It is never above [`output_bound`], since F_γ(e) ≤ η_γ·e.
///
/// The integrand is convex and decreasing in γ, as the integration needs. With the convex decreasing h(x) = η_{1+x},
/// F_γ(e) = e·h((γ − 1)/e) is the perspective of h. So it is jointly convex in (γ, e) and decreasing in γ, and it
/// increases with e, as its derivative there is h(x) − x·h′(x) ≥ 0 at x = (γ − 1)/e. E_γ is convex and decreasing in γ.
///
/// ```
/// use dobrushin::divergence::{ChiSquared, DiscretePair, FiniteLaw};
/// use dobrushin::kernel::{FiniteKernel, output_bound, tight_output_bound};
///
/// // CED Example 2: χ² of the outputs is 0.107143.
/// let (p, q) = (FiniteLaw::new("P", vec![0.9, 0.1])?, FiniteLaw::new("Q", vec![0.6, 0.4])?);
/// let pair = DiscretePair::new(p, q)?;
/// let kernel = FiniteKernel::new(vec![vec![0.9, 0.1], vec![0.4, 0.6]])?.curve();
/// let (published, tight) =
///     (output_bound(&pair, &kernel, &ChiSquared), tight_output_bound(&pair, &kernel, &ChiSquared));
/// assert!(0.107142 < tight.upper() && tight.upper() < published.lower());
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn tight_output_bound(
    pair: &(impl Pair + ?Sized),
    kernel: &(impl Kernel + ?Sized),
    f: &(impl Generator + ?Sized),
) -> Enclosure {
    let of = |gamma: Gamma, e: Enclosure| tight_of(kernel, gamma, e);
    integral(pair, f, Some(&Left { of: &of, last_epsilon: kernel.last_epsilon() }))
}
