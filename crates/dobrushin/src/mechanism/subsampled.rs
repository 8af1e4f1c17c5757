//! The profile of a subsampled Gaussian mechanism for which no dominating pair is known in
//! closed form.

use crate::loss::amplified;
use crate::numeric::theta::theta_range;
use crate::profile::{Direction, PrivacyProfile};
use crate::{Enclosure, Epsilon, Error, NonNegative, Probability};

/// The largest distance, in noise standard deviations, between the means of coupled batches, if the first of the two
/// compared laws is P (or Q, in the other direction).
///
/// ```
/// use dobrushin::NonNegative;
/// use dobrushin::mechanism::Distances;
///
/// // Noise multiplier 2 and one record replaced: without it a sum moves by 1/2 of the noise, with another by 1.
/// let distances = Distances { without: NonNegative::new(0.5)?, other: NonNegative::new(1.0)? };
/// assert!(distances.without < distances.other);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distances {
    /// From a batch with the record to one without it.
    pub without: NonNegative,
    /// From a batch with the record to one with the neighbour's record instead.
    pub other: NonNegative,
}

/// A Gaussian mechanism on a random batch that contains the record in question with probability p.
///
/// # Guarantee
/// On two neighbours the laws are (1−p)μ₀ + pμ₁ and (1−p)μ₀ + pμ₁′: without the record, with
/// it, and with the neighbour's record instead. With γ = 1 + p(g − 1) and b = γ/g ∈ [p, 1],
/// advanced joint convexity (Balle, Barthe, Gaboardi 2018, Theorem 2) says
///
/// ```text
/// E_γ = p·E_g(μ₁ ‖ (1−b)μ₀ + bμ₁′) ≤ p·[(1−b)·E_g(μ₁‖μ₀) + b·E_g(μ₁‖μ₁′)].
/// ```
///
/// Each μ is a mixture of Gaussians over the rest of the batch, and by joint convexity two mixtures are no farther
/// apart than their components under any coupling:
///
/// - **Poisson sampling, a fixed divisor, one record replaced.** The rest of the batch is the
///   same for all three; with contributions u, u′ of norm at most c, the means differ by u (from
///   μ₀) and by u − u′ (from μ₁′): c and 2c.
/// - **Sampling without replacement, one record zeroed out.** A batch without the record is a batch with it in which
///   the record, of contribution u, is exchanged for a uniformly chosen one outside the batch, of contribution v: u − v
///   from μ₀ and u − 0 from μ₁′, so 2c and c. With the laws exchanged, the zeroed record is first: 0 − v and 0 − u, so
///   c and c.
///
/// ```
/// use dobrushin::mechanism::{Distances, SubsampledGaussian};
/// use dobrushin::numeric::theta::theta;
/// use dobrushin::{Epsilon, NonNegative, PrivacyProfile, Probability};
///
/// // Always drawn, only the distance to the neighbour's record matters.
/// let distances = Distances { without: NonNegative::new(0.5)?, other: NonNegative::new(1.0)? };
/// let always = SubsampledGaussian::new(Probability::new(1.0)?, distances, distances)?;
/// let epsilon = Epsilon::new(1.0)?;
/// assert!((always.delta(epsilon) / theta(epsilon, distances.other)).contains(1.0));
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SubsampledGaussian {
    p: f64,
    forward: Distances,
    reverse: Distances,
}

impl SubsampledGaussian {
    /// The distances if the law with the record comes first, and if it comes second.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for p = 0, where the mechanism does not depend on the record.
    pub fn new(p: Probability, forward: Distances, reverse: Distances) -> Result<Self, Error> {
        if p.get() == 0.0 {
            let accepted = "above 0 and at most 1";
            return Err(Error::OutOfRange { name: "sampling probability", value: 0.0, accepted });
        }
        Ok(Self { p: p.get(), forward, reverse })
    }
}

impl PrivacyProfile for SubsampledGaussian {
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        let Distances { without, other } = match direction {
            Direction::Forward => self.forward,
            Direction::Reverse => self.reverse,
        };
        if epsilon.get() == f64::INFINITY {
            return Enclosure::ZERO;
        }
        let (one, p, loss) = (Enclosure::ONE, Enclosure::from(self.p), Enclosure::from(epsilon));
        let amplified = amplified(epsilon.get(), self.p);
        // b = p/(1 − (1−p)/γ) = p/(p + x) and 1 − b = x/(p + x), with x = (1−p)(1 − 1/γ).
        let x = (one - p) * -(-loss).exp_m1();
        let theta = |r: NonNegative| theta_range(amplified, r.into());
        let (absent, replaced) = (x * theta(without), p * theta(other));
        (p * (absent + replaced) / (p + x)).min(one)
    }

    fn is_symmetric(&self) -> bool {
        self.forward == self.reverse
    }
}
