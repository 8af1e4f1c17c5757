//! What a kernel leaves of an f-divergence of its inputs: exactly for finite kernels, and by every bound.

use super::curve::ContractionCurve;
use super::finite::FiniteKernel;
use super::{Kernel, output_bound, tight_output_bound};
use crate::divergence::{DiscretePair, Generator, NamedDivergence, Pair, sum_of_terms};
use crate::{Enclosure, Error};

/// D_f of two laws before a kernel and after it.
///
/// # Guarantee
/// `after` encloses D_f(PK‖QK). The upper end of every bound is at least D_f(PK‖QK). The tight curve is never above CED
/// Corollary 1, which is never above η_TV·D_f; η_f·D_f is never above η_TV·D_f either, and may be below or above the
/// others.
///
/// ```
/// use dobrushin::divergence::{DiscretePair, FiniteLaw, NamedDivergence};
/// use dobrushin::kernel::{ByBound, FiniteKernel, Passage};
///
/// // CED Example 2.
/// let (mu, nu) = (FiniteLaw::new("mu", vec![0.9, 0.1])?, FiniteLaw::new("nu", vec![0.6, 0.4])?);
/// let channel = FiniteKernel::new(vec![vec![0.9, 0.1], vec![0.4, 0.6]])?;
/// let chi2 = channel.chi_squared_contraction().value;
/// let passage = Passage::through_channel(
///     &DiscretePair::new(mu, nu)?,
///     &channel,
///     (&channel.curve(), chi2),
///     &NamedDivergence::ChiSquared,
/// )?;
/// let bound = |by: ByBound| passage.bound(by).map_or(0.0, |value| value.upper());
/// assert!((bound(ByBound::TotalVariation) - 0.1875).abs() < 1e-12);
/// assert!((bound(ByBound::Corollary1) - 0.175225887).abs() < 1e-6);
/// assert!(passage.after.is_some_and(|after| (after.upper() - 0.3 / 2.8).abs() < 1e-12));
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Passage {
    /// D_f(P‖Q).
    pub before: Enclosure,
    /// D_f(PK‖QK), if P, Q and the kernel are known well enough.
    pub after: Option<Enclosure>,
    /// What each theorem says about it.
    pub bounds: Vec<(ByBound, Enclosure)>,
}

/// Where a bound on D_f(PK‖QK) comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByBound {
    /// [`tight_output_bound`].
    TightCurve,
    /// CED Corollary 1, [`output_bound`].
    Corollary1,
    /// η_f(K)·D_f(P‖Q), where η_f is known: η_TV of total variation, and η_χ² of operator-convex f.
    OwnCoefficient,
    /// η_TV(K)·D_f(P‖Q) (CED eq. 16).
    TotalVariation,
}

impl Passage {
    /// Two laws on the inputs of a channel, with the channel's curve and its η_χ².
    ///
    /// # Errors
    /// Those of [`FiniteKernel::then`].
    pub fn through_channel(
        pair: &DiscretePair,
        channel: &FiniteKernel,
        (curve, chi2): (&ContractionCurve, Enclosure),
        f: &NamedDivergence,
    ) -> Result<Self, Error> {
        let before = pair.f_divergence(f.generator());
        let after = channel.output_divergence(pair, f.generator())?;
        let known = (channel.total_variation(), chi2);
        Ok(Self { after: Some(after), ..Self::by_bounds(pair, before, curve, known, f) })
    }

    /// Any two laws on the inputs of any kernel with this η_χ².
    pub fn through_kernel(
        pair: &(impl Pair + ?Sized),
        kernel: &(impl Kernel + ?Sized),
        chi2: Enclosure,
        f: &NamedDivergence,
    ) -> Self {
        Self::by_bounds(pair, f.between(pair), kernel, (kernel.total_variation(), chi2), f)
    }

    fn by_bounds(
        pair: &(impl Pair + ?Sized),
        before: Enclosure,
        kernel: &(impl Kernel + ?Sized),
        (tv, chi2): (Enclosure, Enclosure),
        f: &NamedDivergence,
    ) -> Self {
        let own = match f {
            NamedDivergence::TotalVariation => Some(tv),
            _ => f.is_operator_convex().then_some(chi2),
        };
        let linear = remaining(tv, before);
        let published = capped(output_bound(pair, kernel, f.generator()), linear);
        let tight = capped(tight_output_bound(pair, kernel, f.generator()), published);
        let mut bounds = vec![(ByBound::TightCurve, tight), (ByBound::Corollary1, published)];
        bounds.extend(own.map(|eta| (ByBound::OwnCoefficient, remaining(eta, before))));
        bounds.push((ByBound::TotalVariation, linear));
        Self { before, after: None, bounds }
    }

    /// What one theorem says.
    pub fn bound(&self, by: ByBound) -> Option<Enclosure> {
        self.bounds.iter().find(|(name, _)| *name == by).map(|(_, value)| *value)
    }

    /// The smallest bound; the first of equal ones.
    pub fn best(&self) -> Option<(ByBound, Enclosure)> {
        let smaller = |best: (ByBound, Enclosure), next: (ByBound, Enclosure)| {
            if next.1.upper() < best.1.upper() { next } else { best }
        };
        self.bounds.iter().copied().reduce(smaller)
    }
}

/// η·D, where 0·∞ is 0: a kernel with η = 0 has the same output at all inputs.
fn remaining(eta: Enclosure, divergence: Enclosure) -> Enclosure {
    if eta == Enclosure::ZERO { eta } else { (eta * divergence).positive_part() }
}

/// A number that is known to be at most another.
fn capped(value: Enclosure, cap: Enclosure) -> Enclosure {
    let upper = value.upper().min(cap.upper());
    Enclosure::between(value.lower().min(upper), upper)
}

impl FiniteKernel {
    /// D_f(PK‖QK) of two laws on the inputs.
    ///
    /// # Errors
    /// Those of [`FiniteKernel::then`].
    ///
    /// ```
    /// use dobrushin::divergence::{ChiSquared, DiscretePair, FiniteLaw};
    /// use dobrushin::kernel::FiniteKernel;
    ///
    /// // Two certain inputs of randomised response: χ² of (3/4, 1/4) from (1/4, 3/4).
    /// let (p, q) = (FiniteLaw::new("P", vec![1.0, 0.0])?, FiniteLaw::new("Q", vec![0.0, 1.0])?);
    /// let response = FiniteKernel::new(vec![vec![0.75, 0.25], vec![0.25, 0.75]])?;
    /// let after = response.output_divergence(&DiscretePair::new(p, q)?, &ChiSquared)?;
    /// assert!((after.upper() - 4.0 / 3.0).abs() < 1e-12);
    /// # Ok::<(), dobrushin::Error>(())
    /// ```
    pub fn output_divergence(
        &self,
        pair: &DiscretePair,
        f: &(impl Generator + ?Sized),
    ) -> Result<Enclosure, Error> {
        // P and Q are a kernel with two inputs, and so are PK and QK.
        let output = Self::of_laws(pair).then(self)?;
        if pair.p() == pair.q() {
            return Ok(Enclosure::ZERO);
        }
        Ok(sum_of_terms(output.row_enclosures(0).zip(output.row_enclosures(1)), f))
    }
}
