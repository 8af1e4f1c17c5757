//! Kernels in sequence and in parallel, from their coefficients alone.
//!
//! For finite kernels [`super::FiniteKernel::then`] and
//! [`super::FiniteKernel::beside`] give the kernel itself, whose coefficients are
//! exact; these are the bounds for kernels of any kind.

use super::{Kernel, tight_of};
use crate::{Enclosure, Gamma, Probability};

/// Kernels applied in sequence, the first to the input.
///
/// ```
/// use dobrushin::Gamma;
/// use dobrushin::kernel::{Composition, Kernel, LaplaceKernel};
///
/// // Two rounds of noise, each on the interval [0, 1]: total variation contracts by the product.
/// let round = || LaplaceKernel::new(1.0, 1.0).map(|kernel| Box::new(kernel) as Box<dyn Kernel>);
/// let (one, two) = (round()?.total_variation(), Composition(vec![round()?, round()?]));
/// assert!((two.total_variation() / one.square()).contains(1.0));
/// // At γ > 1 the tight curves leave less.
/// let gamma = Gamma::from_epsilon(0.5)?;
/// assert!(two.contraction(gamma).upper() < two.published_contraction(gamma).lower());
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub struct Composition(pub Vec<Box<dyn Kernel>>);

impl Kernel for Composition {
    /// An upper bound: the tight curves applied in turn to 1, which is never
    /// above the product Π η_γ(K_t) of the papers.
    fn contraction(&self, gamma: Gamma) -> Enclosure {
        let gamma = if gamma.is_below_one() { gamma.reciprocal() } else { gamma };
        self.0.iter().fold(Enclosure::ONE, |e, kernel| tight_of(kernel.as_ref(), gamma, e))
    }

    /// An upper bound: the tight curves applied in turn.
    fn tight(&self, gamma: Gamma, divergence: Probability) -> Enclosure {
        self.0.iter().fold(divergence.into(), |e, kernel| tight_of(kernel.as_ref(), gamma, e))
    }
}

impl Composition {
    /// The bound of the papers, Π η_γ(K_t).
    pub fn published_contraction(&self, gamma: Gamma) -> Enclosure {
        self.0.iter().fold(Enclosure::ONE, |product, kernel| product * kernel.contraction(gamma))
    }
}

/// Kernels applied independently, each to its own coordinate of the input.
///
/// ```
/// use dobrushin::kernel::{FiniteKernel, Kernel, Product};
///
/// // Two bits, each told by a coin that is right 3 times in 4: 1 − (1 − 1/2)² = 3/4.
/// let bit = || FiniteKernel::new(vec![vec![0.75, 0.25], vec![0.25, 0.75]]);
/// let bound = Product(vec![Box::new(bit()?), Box::new(bit()?)]).total_variation();
/// assert!(bound.contains(0.75));
/// // The kernel itself is known here, and a little better.
/// assert!(bit()?.beside(&bit()?)?.total_variation().upper() < bound.upper());
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub struct Product(pub Vec<Box<dyn Kernel>>);

impl Product {
    /// The bound of the papers on η_TV of the product, from η at a single γ ≥ 1: max_i 1 − ((1 − η_γ(K_i))/γ)^n (CED
    /// Lemma 2); for γ < 1, where η_γ = η_{1/γ}, with 1/γ in place of γ. At γ = 1 it is max_i 1 − (1 − η_TV(K_i))^n.
    ///
    /// ```
    /// use dobrushin::Gamma;
    /// use dobrushin::kernel::{FiniteKernel, Product};
    ///
    /// // ln 3-private reports of two bits, from η_3 = 0: 1 − (1/3)².
    /// let bit = || FiniteKernel::new(vec![vec![0.75, 0.25], vec![0.25, 0.75]]);
    /// let both = Product(vec![Box::new(bit()?), Box::new(bit()?)]);
    /// assert!((both.published_total_variation(Gamma::new(3.0)?).upper() - 8.0 / 9.0).abs() < 1e-12);
    /// # Ok::<(), dobrushin::Error>(())
    /// ```
    pub fn published_total_variation(&self, gamma: Gamma) -> Enclosure {
        let gamma = if gamma.is_below_one() { gamma.reciprocal() } else { gamma };
        let count = Enclosure::from(self.0.len() as u64);
        let of_one = |kernel: &dyn Kernel| {
            let ln_kept = (-kernel.contraction(gamma)).ln_1p() - gamma.epsilon();
            (-(count * ln_kept).exp_m1()).positive_part()
        };
        self.0.iter().map(|kernel| of_one(kernel.as_ref())).fold(Enclosure::ZERO, Enclosure::max)
    }
}

/// 1 − Π(1 − η_i): a bound on a coefficient of kernels side by side, from those of the kernels.
///
/// # Guarantee
/// It holds for η_TV (see [`Product`]) and for η_χ² = η_KL. Of the latter: η_KL is the largest I(U; Y)/I(U; X) over U →
/// X → Y. For two kernels, I(U; Y₁Y₂) = I(U; Y₂) + I(U; Y₁|Y₂), and as Y₁ depends on the rest only through X₁, the
/// second is at most η₁·I(U; X₁|Y₂) = η₁·[I(U; X₁Y₂) − I(U; Y₂)]. Likewise I(U; X₁Y₂) ≤ (1 − η₂)·I(U; X₁) + η₂·I(U;
/// X₁X₂), and I(U; Y₂) ≤ η₂·I(U; X₂). So I(U; Y₁Y₂) is at most (1 − η₁)η₂ + η₁(1 − η₂) + η₁η₂ times I(U; X₁X₂), and the
/// rest is induction.
///
/// ```
/// use dobrushin::Enclosure;
/// use dobrushin::kernel::side_by_side;
///
/// assert!(side_by_side([0.5, 0.25].map(Enclosure::from)).contains(0.625));
/// ```
pub fn side_by_side(coefficients: impl IntoIterator<Item = Enclosure>) -> Enclosure {
    let ln_kept: Enclosure = coefficients.into_iter().map(|eta| (-eta).ln_1p()).sum();
    (-ln_kept.exp_m1()).positive_part().min(Enclosure::ONE)
}

/// The number of ways of dividing ε between two kernels that are tried.
const SHARES: u32 = 64;

impl Kernel for Product {
    /// An upper bound: 1 − Π(1 − η_{γ_i}(K_i)) for a good choice of Π γ_i = γ.
    ///
    /// # Guarantee
    /// For any γ_i ≥ 1 with product γ: each law can be written K_i(x_i) = (1 − e_i)·ω_i + e_i·ρ_i with e_i = η_{γ_i}
    /// and (1 − e_i)·ω_i ≤ γ_i·K_i(y_i); so all but 1 − Π(1 − e_i) of the product law at x is below γ times that at y.
    /// At γ = 1 it is CED's η_TV(⊗K_i) ≤ 1 − Π(1 − η_TV(K_i)).
    fn contraction(&self, gamma: Gamma) -> Enclosure {
        let gamma = if gamma.is_below_one() { gamma.reciprocal() } else { gamma };
        bound(&self.0, gamma.epsilon())
    }
}

/// The bound at e^ε: every kernel gets an equal share of ε, except that the first two divide theirs in the best of
/// several ways.
fn bound(kernels: &[Box<dyn Kernel>], epsilon: Enclosure) -> Enclosure {
    let (mut rest, mut epsilon, mut kept) = (kernels, epsilon, Enclosure::ONE);
    while let [others @ .., last] = rest
        && others.len() >= 2
    {
        let own = epsilon * Enclosure::from(1.0 / rest.len() as f64);
        kept = kept * (Enclosure::ONE - at(last.as_ref(), own));
        (rest, epsilon) = (others, epsilon - own);
    }
    let of_rest = match rest {
        [] => Enclosure::ZERO,
        [one] => at(one.as_ref(), epsilon),
        [first, second, ..] => {
            let shares = (0..=SHARES).map(|i| f64::from(i) / f64::from(SHARES));
            let of_share = |share: f64| {
                let own = epsilon * Enclosure::from(share);
                let (e, f) = (at(first.as_ref(), own), at(second.as_ref(), epsilon - own));
                Enclosure::ONE - (Enclosure::ONE - e) * (Enclosure::ONE - f)
            };
            shares.map(of_share).fold(Enclosure::ONE, Enclosure::min)
        }
    };
    (Enclosure::ONE - kept * (Enclosure::ONE - of_rest)).positive_part().min(Enclosure::ONE)
}

/// η of the kernel at e^ε.
fn at(kernel: &dyn Kernel, epsilon: Enclosure) -> Enclosure {
    kernel.contraction(Gamma::one_plus(epsilon.exp_m1().positive_part()))
}
