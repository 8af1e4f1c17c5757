//! From a noisy iteration to the mechanisms that an observer of all its iterates sees.
//!
//! Given the iterates so far, step t publishes w − η·(average gradient) + noise, that is, noise on a sum to which one
//! record contributes at most η_t·C/b. In units of that contribution the noise is the multiplier m_t = s_t·b/(η_t·C),
//! and the step is a Gaussian (or Laplace) mechanism with that multiplier; weight decay and projection come after the
//! noise or depend on published iterates only, so they cost nothing.
//!
//! # Sampling
//! With u, u′ and u₀ the means with the record, with its replacement, and without either:
//! - Poisson, fixed divisor: ‖u − u₀‖ ≤ 1/m. The pairs are those of [`crate::mechanism`].
//! - Poisson, divided by the number drawn: the replacement changes u₀'s divisor too, so all three are different. E_γ ≤
//!   p·[(1−β)·θ_g(‖u − u₀‖) + β·θ_g(‖u − u′‖)] ≤ p·θ_g(r) with g = 1 + (γ−1)/p (advanced joint convexity: Balle,
//!   Barthe, Gaboardi 2018) and r the largest of the three distances: 2/m for replace-one; 1/m for zero-out, whose
//!   empty record still counts as drawn. This is the pair of sampling without replacement. Adding or removing a record
//!   is a mixture against its own component u₀, at most 1/m away.
//! - Without replacement: a batch without the record contains another in its place, so ‖u − u₀‖ is 2/m for every
//!   neighbour relation, and p·θ_g(2/m) covers all of them; zero-out with Gaussian noise has a tighter pair of its own.
//!   For add-or-remove-one the batch size must not depend on the data: the batches without the record are then those of
//!   the smaller data set.
//! - Laplace noise: E_γ ≤ p·E_g(2/m) in the same way, also for Poisson sampling with replace-one.

use crate::NotApplicable;
use crate::mechanism::{Mechanism, Neighbours, Sampling};
use crate::run::{Assumption, Divisor, MechanismUse, Mechanisms, NoiseKind, Order, Training};
use crate::{Enclosure, Positive, Probability};

/// What an observer of every intermediate result sees.
///
/// ```
/// use dobrushin::{Order, Run};
///
/// let run = Run::dp_sgd(1000).order(Order::Cyclic).batch_size(10).epochs(3.0).clip_norm(1.0).noise_multiplier(2.0);
/// let composed = run.build()?.composition()?;
/// // Of the 300 steps only the three that use the record tell anything of it.
/// assert_eq!(composed.parts.iter().map(|part| part.count).sum::<u64>(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Composed {
    /// The mechanisms, each with the number of times it is used.
    pub parts: Vec<ComposedPart>,
    /// What must hold for it.
    pub assumptions: Vec<Assumption>,
}

/// One mechanism, used several times.
///
/// ```
/// use dobrushin::mechanism::{Mechanism, Sampling};
/// use dobrushin::{Order, Run};
///
/// let run = Run::dp_sgd(1000).order(Order::Poisson).batch_size(10).steps(300).clip_norm(1.0).noise_multiplier(2.0);
/// let composed = run.build()?.composition()?;
/// let [part] = composed.parts.as_slice() else { panic!("all steps are equal") };
/// assert_eq!(part.count, 300);
/// assert!(matches!(part.sampling, Sampling::Poisson(rate) if rate.get() == 0.01));
/// assert!(matches!(part.mechanism, Mechanism::Gaussian { noise_multiplier } if noise_multiplier.get() == 2.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ComposedPart {
    /// The mechanism.
    pub mechanism: Mechanism,
    /// The part of the data on which it is used.
    pub sampling: Sampling,
    /// The neighbouring relation on which it is compared.
    pub neighbours: Neighbours,
    /// The number of times it is used.
    pub count: u64,
}

/// The mechanisms of a noisy iteration.
pub(super) fn of_training(training: &Training) -> Result<Composed, NotApplicable> {
    if training.order == Order::Allocation {
        return training.allocated();
    }
    let group = training.group_observed()?;
    let (multipliers, rate) = match &group {
        Some(group) => (group.until.multipliers()?, group.rate),
        None => (training.multipliers()?, training.rate()?),
    };
    let (sampling, neighbours, scale) = observed(training, rate);
    // A group moves a step by at most this many contributions of one record.
    let (together, times) = group.as_ref().map_or((Enclosure::ONE, 1), |group| (group.together, group.times));
    let part = |&(multiplier, count): &(Positive, u64)| {
        let multiplier = Enclosure::from(multiplier) * Enclosure::from(scale) / together;
        let noise_multiplier = Positive::new(multiplier.lower())?;
        let mechanism = match training.noise_kind {
            NoiseKind::Gaussian => Mechanism::Gaussian { noise_multiplier },
            NoiseKind::Laplace => Mechanism::Laplace { noise_multiplier },
        };
        let count = count.saturating_mul(training.tasks).saturating_mul(times);
        Ok(ComposedPart { mechanism, sampling, neighbours, count })
    };
    let used = multipliers.groups.iter().filter(|(_, count)| *count > 0);
    let mut parts = used.map(part).collect::<Result<Vec<_>, crate::Error>>()?;
    parts.extend(sums_beside(training));
    Ok(Composed { parts, assumptions: training.assumptions(multipliers.merged) })
}

/// The sums over all records that are taken beside the descents.
pub(super) fn sums_beside(training: &Training) -> impl Iterator<Item = ComposedPart> {
    let neighbours = training.neighbours;
    let sum = move |noise_multiplier: Positive, count: u64| ComposedPart {
        mechanism: Mechanism::Gaussian { noise_multiplier },
        sampling: Sampling::Every,
        neighbours,
        count,
    };
    let centre = training.centre.map(|centre| sum(centre.noise_multiplier, 1));
    let tasks = training.tasks;
    let evaluation = training.evaluation.map(|evaluation| sum(evaluation.noise_multiplier, tasks));
    centre.into_iter().chain(evaluation)
}

/// The sampling of a step, the neighbours whose pair covers it, and the factor by which the multiplier is larger in
/// their units.
fn observed(training: &Training, rate: Probability) -> (Sampling, Neighbours, f64) {
    let neighbours = training.neighbours;
    let gaussian = training.noise_kind == NoiseKind::Gaussian;
    let amplified = Sampling::WithoutReplacement(rate);
    match (training.order, training.divide_by, neighbours) {
        // Allocation is observed pass by pass: see `allocated.rs`.
        (Order::Full | Order::Once | Order::Cyclic | Order::Shuffled | Order::Allocation, _, _) => {
            (Sampling::Every, neighbours, 1.0)
        }
        (Order::WithoutReplacement, _, Neighbours::ZeroOut) if gaussian => (amplified, neighbours, 1.0),
        (Order::Poisson, Divisor::Actual, Neighbours::ZeroOut) => (amplified, Neighbours::ReplaceOne, 2.0),
        (Order::WithoutReplacement, _, _) | (Order::Poisson, Divisor::Actual, Neighbours::ReplaceOne) => {
            (amplified, Neighbours::ReplaceOne, 1.0)
        }
        (Order::Poisson, Divisor::BatchSize, Neighbours::ReplaceOne) if !gaussian => {
            (amplified, neighbours, 1.0)
        }
        (Order::Poisson, _, _) => (Sampling::Poisson(rate), neighbours, 1.0),
    }
}

impl Mechanisms {
    /// Every result is published.
    pub(super) fn composition(&self) -> Composed {
        let part = |used: &MechanismUse| ComposedPart {
            mechanism: used.mechanism.clone(),
            sampling: used.sampling,
            neighbours: self.neighbours,
            count: used.count,
        };
        let assumptions = vec![
            Assumption::NeighboursDiffer(self.neighbours),
            Assumption::IndependentMechanisms,
            Assumption::FixedMechanisms,
            Assumption::MayPublishOutputs,
            Assumption::ContinuousMechanisms,
        ];
        Composed { parts: self.uses.iter().map(part).collect(), assumptions }
    }
}
