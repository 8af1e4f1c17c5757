//! Which combinations have a dominating pair, and which pair that is.

use super::channel::{Symmetrised, channel_loss};
use super::{Distances, Mechanism, Neighbours, Sampling, SubsampledGaussian};
use crate::loss::{
    AllocatedLoss, DiscreteGaussianLoss, DiscreteLaplaceLoss, DominatingPair, Exchanged, ExponentialLoss,
    FiniteLoss, GaussianLoss, LaplaceLoss, LossLaw, PoissonLoss, WithoutReplacementLoss,
};
use crate::numeric::rounding::div_up;
use crate::profile::{BestProfile, Direction, GroupProfile, PrivacyProfile};
use crate::{Enclosure, Epsilon, Error, NonNegative, Positive, Probability};
use std::num::NonZeroU32;
use std::sync::Arc;

/// Two laws that dominate the mechanism on neighbours. In the forward direction the law with
/// the record comes first.
///
/// # Guarantee
/// - **Every record.** Additive noise is dominated by the largest change of the sum, as its law states.
/// - **Poisson sampling, a record added, removed or zeroed out.** Given which of the other
///   records take part, B, the laws are (1−q)M(B) + qM(B + record) and M(B). If (P, Q) dominates
///   (M(B + record), M(B)) at every γ > 0, some channel maps P to the one and Q to the other
///   (Blackwell), hence (1−q)Q + qP to the mixture; so ((1−q)Q + qP, Q) dominates for every B,
///   and by joint convexity for random B (Zhu, Dong, Wang 2022, Theorem 11). Every pair here
///   dominates in this sense, P being the law with the record.
/// - **Sampling without replacement, one record replaced.** [`WithoutReplacementLoss`].
/// - **Random allocation.** [`AllocatedLoss`] for a record added, removed or zeroed out. A
///   replaced record is one removed and another added, by the triangle inequality of the hockey stick; and given the place of
///   both, which may be taken to be the same, it is replaced in one step: the better of the two counts.
/// - **A Gaussian with Poisson sampling and one record replaced, or without replacement and
///   one zeroed out.** [`SubsampledGaussian`].
///
/// A sampling probability of 1 uses every record, and a probability of 0 reveals nothing.
///
/// # Errors
/// [`Error::Unsupported`], naming the nearest supported combination, or
/// [`Error::OutOfRange`] for parameters that are too small or too large.
///
/// ```
/// use dobrushin::mechanism::{Mechanism, Neighbours, Sampling, dominating_pair};
/// use dobrushin::{Positive, Probability};
///
/// let gaussian = Mechanism::Gaussian { noise_multiplier: Positive::new(1.0)? };
/// // Without sampling, both directions are alike; a record that is drawn at random and may be missing breaks that.
/// assert!(dominating_pair(&gaussian, Sampling::Every, Neighbours::AddOrRemoveOne)?.is_symmetric());
/// let sometimes = Sampling::Poisson(Probability::new(0.5)?);
/// assert!(!dominating_pair(&gaussian, sometimes, Neighbours::AddOrRemoveOne)?.is_symmetric());
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn dominating_pair(
    mechanism: &Mechanism,
    sampling: Sampling,
    neighbours: Neighbours,
) -> Result<DominatingPair, Error> {
    let sampling = match sampling {
        Sampling::Poisson(p) | Sampling::WithoutReplacement(p) if p.get() == 1.0 => Sampling::Every,
        other => other,
    };
    let combination = Combination { mechanism, sampling, neighbours };
    combination.check()?;
    if let Sampling::Poisson(p) | Sampling::WithoutReplacement(p) = sampling
        && p.get() == 0.0
    {
        return Ok(DominatingPair::symmetric(Arc::new(FiniteLoss::identical())));
    }
    combination.pair()
}

#[derive(Clone, Copy)]
struct Combination<'a> {
    mechanism: &'a Mechanism,
    sampling: Sampling,
    neighbours: Neighbours,
}

impl Combination<'_> {
    /// Refuses combinations for which this crate knows no dominating pair.
    fn check(self) -> Result<(), Error> {
        use Mechanism::{Channel, Gaussian, KaryRandomisedResponse, RandomisedResponse};
        let gaussian = matches!(self.mechanism, Gaussian { .. });
        let local =
            matches!(self.mechanism, RandomisedResponse { .. } | KaryRandomisedResponse { .. } | Channel(_));
        match (self.sampling, self.neighbours) {
            (_, Neighbours::AddOrRemoveOne | Neighbours::ZeroOut) if local => Err(self.unsupported(
                "a local randomiser has an input, which can only be another one",
                "the same mechanism on every record, or sampled without replacement, with replace-one neighbours",
            )),
            (Sampling::Poisson(_) | Sampling::WithoutReplacement(_), _)
                if matches!(self.mechanism, Mechanism::Allocated { .. }) =>
            {
                Err(self.unsupported(
                    "records are drawn for each pass already",
                    "the same mechanism on every record",
                ))
            }
            (Sampling::WithoutReplacement(_), Neighbours::AddOrRemoveOne) => Err(self.unsupported(
                "the size of a batch that is a fixed share would tell the number of records",
                "sampling without replacement with replace-one neighbours, or Poisson sampling with \
                 add-or-remove-one neighbours",
            )),
            (Sampling::WithoutReplacement(_), Neighbours::ZeroOut) if !gaussian => Err(self.unsupported(
                "a batch with the record and one without it differ in a replaced record",
                "sampling without replacement with replace-one neighbours, of which zeroing out is a special case",
            )),
            (Sampling::Poisson(_), Neighbours::ReplaceOne) if local => Err(self.unsupported(
                "the batch without the record would have to be compared with those with it",
                "sampling without replacement with replace-one neighbours",
            )),
            (Sampling::Poisson(_), Neighbours::ReplaceOne) if !gaussian => Err(self.unsupported(
                "the batch without the record would have to be compared with those with it",
                "Poisson sampling with add-or-remove-one neighbours, or sampling without replacement with \
                 replace-one neighbours",
            )),
            _ => Ok(()),
        }
    }

    fn unsupported(self, reason: &'static str, nearest: &'static str) -> Error {
        let combination = format!("{} with {} and {}", self.mechanism, self.sampling, self.neighbours);
        Error::Unsupported { combination, reason, nearest }
    }

    fn pair(self) -> Result<DominatingPair, Error> {
        let changes = self.changes();
        match self.mechanism {
            Mechanism::Gaussian { noise_multiplier } => {
                let ratio = ratio("noise multiplier of the Gaussian", changes, *noise_multiplier)?;
                match (self.sampling, self.neighbours) {
                    (Sampling::Poisson(p), Neighbours::ReplaceOne) => {
                        // The distance from the batch without the record: one contribution.
                        let distances = distances(ratio.get() / 2.0, ratio.get())?;
                        dominating_profile(SubsampledGaussian::new(p, distances, distances)?)
                    }
                    (Sampling::WithoutReplacement(p), Neighbours::ZeroOut) => {
                        let forward = distances(2.0 * ratio.get(), ratio.get())?;
                        let reverse = distances(ratio.get(), ratio.get())?;
                        dominating_profile(SubsampledGaussian::new(p, forward, reverse)?)
                    }
                    _ => self.sampled(GaussianLoss::new(ratio)),
                }
            }
            Mechanism::Laplace { noise_multiplier } => self.sampled(LaplaceLoss::new(ratio(
                "noise multiplier of Laplace",
                changes,
                *noise_multiplier,
            )?)),
            Mechanism::DiscreteGaussian { sigma, sensitivity } => match shift(*sensitivity, changes)? {
                Some(shift) => self.sampled(Arc::new(DiscreteGaussianLoss::new(*sigma, shift)?)),
                None => self.sampled(Arc::new(FiniteLoss::identical())),
            },
            Mechanism::DiscreteLaplace { scale, sensitivity } => match shift(*sensitivity, changes)? {
                Some(shift) => self.sampled(Arc::new(DiscreteLaplaceLoss::new(*scale, shift))),
                None => self.sampled(Arc::new(FiniteLoss::identical())),
            },
            Mechanism::RandomisedResponse { epsilon } => {
                self.sampled(Arc::new(FiniteLoss::randomised_response(*epsilon)))
            }
            Mechanism::KaryRandomisedResponse { epsilon, categories } => {
                let others = categories.checked_sub(2).ok_or(Error::OutOfRange {
                    name: "the number of categories",
                    value: f64::from(*categories),
                    accepted: "2 or more",
                })?;
                self.sampled(Arc::new(FiniteLoss::response(*epsilon, others)))
            }
            Mechanism::Exponential { epsilon } => match Positive::new(epsilon.get()) {
                Ok(epsilon) => self.sampled(ExponentialLoss::new(epsilon)),
                // 0 or ∞: equal laws, or any two laws.
                Err(_) => self.sampled(Arc::new(FiniteLoss::randomised_response(*epsilon))),
            },
            Mechanism::Allocated { steps, batches } => allocated(steps, *batches, self.neighbours),
            Mechanism::Channel(kernel) => self.sampled(Arc::new(channel_loss(kernel))),
            Mechanism::Approximate { epsilon, delta } => {
                self.sampled(Arc::new(FiniteLoss::approximate(*epsilon, *delta)))
            }
            Mechanism::Profile(profile) => {
                let replaced = self.neighbours == Neighbours::ReplaceOne;
                if profile.is_symmetric() || replaced {
                    return self.sampled(Arc::new(FiniteLoss::dominating(&Symmetrised(profile.as_ref()))));
                }
                let law = Arc::new(FiniteLoss::dominating(profile.as_ref()));
                match self.sampling {
                    Sampling::Poisson(p) => poisson(law, p),
                    _ => Ok(DominatingPair::new(law.clone(), Arc::new(Exchanged(law)))),
                }
            }
        }
    }

    /// The largest distance of neighbours, in contributions of one record.
    fn changes(self) -> u32 {
        match self.neighbours {
            Neighbours::ReplaceOne => 2,
            Neighbours::AddOrRemoveOne | Neighbours::ZeroOut => 1,
        }
    }

    /// The pair of a sampled mechanism whose loss without sampling has a symmetric law.
    fn sampled(self, law: impl LossLaw + Clone + 'static) -> Result<DominatingPair, Error> {
        match self.sampling {
            Sampling::Every => Ok(DominatingPair::symmetric(Arc::new(law))),
            Sampling::Poisson(p) => poisson(law, p),
            Sampling::WithoutReplacement(p) => {
                Ok(DominatingPair::symmetric(Arc::new(WithoutReplacementLoss::new(law, p)?)))
            }
        }
    }
}

/// A pass in which each record takes part in one step, drawn at random.
fn allocated(
    steps: &[(Mechanism, u64)],
    batches: u64,
    neighbours: Neighbours,
) -> Result<DominatingPair, Error> {
    let one = |neighbours| {
        let pairs = steps
            .iter()
            .map(move |(step, count)| Ok((dominating_pair(step, Sampling::Every, neighbours)?, *count)));
        pairs.collect::<Result<Vec<_>, Error>>()
    };
    let present_or_not = match neighbours {
        Neighbours::ReplaceOne => Neighbours::AddOrRemoveOne,
        other => other,
    };
    let laws: Vec<_> = one(present_or_not)?.iter().map(|(pair, count)| (pair.forward(), *count)).collect();
    let pair = AllocatedLoss::new(&laws, batches)?.pair();
    if neighbours != Neighbours::ReplaceOne {
        return Ok(pair);
    }
    let replaced: Arc<dyn PrivacyProfile> = Arc::new(GroupProfile::of_a_replacement(&PairProfile(pair)));
    let in_one_step: Arc<dyn PrivacyProfile> = Arc::new(InOneStep { steps: one(neighbours)?, batches });
    let best = BestProfile::new(vec![replaced, in_one_step])?;
    Ok(DominatingPair::symmetric(Arc::new(FiniteLoss::dominating(&best))))
}

/// The profile of a pair, as far as its law tells: its upper ends are bounds.
struct PairProfile(DominatingPair);

impl PrivacyProfile for PairProfile {
    /// P(L > ε) − e^ε·Q(L > ε).
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        let above = self.0.law(direction).split(epsilon.into()).above;
        let gamma = Enclosure::from(epsilon).exp();
        // Far out e^ε overflows, and Q has no mass.
        if !gamma.upper().is_finite() || above.q.upper() == 0.0 {
            return Enclosure::ZERO.hull(above.p).min(Enclosure::ONE);
        }
        (above.p - gamma * above.q).positive_part().min(Enclosure::ONE)
    }

    fn is_symmetric(&self) -> bool {
        self.0.is_symmetric()
    }
}

/// A record is replaced in one of several steps: the average of their profiles, by joint convexity.
struct InOneStep {
    steps: Vec<(DominatingPair, u64)>,
    batches: u64,
}

impl PrivacyProfile for InOneStep {
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        let each = self.steps.iter().map(|(pair, count)| {
            PairProfile(pair.clone()).delta_of(direction, epsilon) * Enclosure::from(*count)
        });
        each.sum::<Enclosure>() / Enclosure::from(self.batches)
    }

    fn is_symmetric(&self) -> bool {
        self.steps.iter().all(|(pair, _)| pair.is_symmetric())
    }
}

/// (1 − p)Q + pP against Q, and Q against it.
fn poisson(law: impl LossLaw + Clone + 'static, p: Probability) -> Result<DominatingPair, Error> {
    let (forward, reverse) = (PoissonLoss::new(law.clone(), p)?, PoissonLoss::new(law, p)?);
    Ok(DominatingPair::new(Arc::new(forward), Arc::new(Exchanged(reverse))))
}

fn dominating_profile(profile: SubsampledGaussian) -> Result<DominatingPair, Error> {
    let law = Arc::new(FiniteLoss::dominating(&profile));
    if profile.is_symmetric() {
        return Ok(DominatingPair::symmetric(law));
    }
    Ok(DominatingPair::new(law.clone(), Arc::new(Exchanged(law))))
}

fn distances(without: f64, other: f64) -> Result<Distances, Error> {
    Ok(Distances { without: NonNegative::new(without)?, other: NonNegative::new(other)? })
}

/// The largest distance of neighbours in noise units, rounded up.
fn ratio(name: &'static str, changes: u32, noise: Positive) -> Result<Positive, Error> {
    let too_small = Error::OutOfRange { name, value: noise.get(), accepted: "at least 1e-300" };
    Positive::new(div_up(f64::from(changes), noise.get())).map_err(|_| too_small)
}

/// The largest distance of neighbours' integers; `None` if they are equal.
fn shift(sensitivity: u32, changes: u32) -> Result<Option<NonZeroU32>, Error> {
    let too_large = Error::OutOfRange {
        name: "sensitivity",
        value: f64::from(sensitivity),
        accepted: "at most 2147483647",
    };
    Ok(NonZeroU32::new(sensitivity.checked_mul(changes).ok_or(too_large)?))
}
