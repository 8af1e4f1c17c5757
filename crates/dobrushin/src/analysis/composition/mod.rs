//! Everything a run computes, by adding up the privacy cost of each step.

mod central_limit;
mod renyi;
mod tabulated;

pub use central_limit::CentralLimit;
pub use renyi::RenyiComposition;

use super::{Analysis, Bound, Cost, EveryStep, Family, Notes, Statement};
use crate::loss::{Composition, Part};
use crate::lower::ComposedPart;
use crate::mechanism::{Mechanism, Sampling, dominating_pair};
use crate::profile::GaussianProfile;
use crate::{Enclosure, NotApplicable, Positive};
use std::sync::Arc;
use tabulated::Tabulated;

/// How precisely losses are composed.
///
/// ```
/// use dobrushin::analysis::{Effort, EveryStep, ExactComposition};
/// use dobrushin::mechanism::{Mechanism, Sampling};
/// use dobrushin::{Epsilon, Neighbours, Positive, PrivacyProfile, lower::ComposedPart};
///
/// // Twenty sums with Laplace noise; the profile for many places encloses the same δ, less tightly.
/// let mechanism = Mechanism::Laplace { noise_multiplier: Positive::new(10.0)? };
/// let (sampling, neighbours) = (Sampling::Every, Neighbours::AddOrRemoveOne);
/// let parts = [ComposedPart { mechanism, sampling, neighbours, count: 20 }];
/// let delta = |effort| -> Result<dobrushin::Enclosure, Box<dyn std::error::Error>> {
///     Ok(ExactComposition.apply(&parts, effort)?.into_profile().delta(Epsilon::new(1.0)?))
/// };
/// let (once, many) = (delta(Effort::Once(1e-4))?, delta(Effort::ManyPlaces)?);
/// assert!(once.intersect(many).is_some() && once.width() < many.width());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effort {
    /// For one question, with an enclosure of ε of about this relative width.
    Once(f64),
    /// For hundreds of questions: enclosures of ε have a relative width of about 1e-3.
    ManyPlaces,
}

/// Privacy losses, composed on a grid.
///
/// # Guarantee
/// E_γ of the outputs of all steps together is at most E_γ of the product of pairs that dominate the steps, for every
/// γ > 0 (Zhu, Dong, Wang 2022). The bound is the upper end of the value on the grid.
///
/// ```
/// use dobrushin::analysis::{Bound, Effort, EveryStep, ExactComposition};
/// use dobrushin::mechanism::{Mechanism, Sampling};
/// use dobrushin::{Neighbours, Positive, lower::ComposedPart};
///
/// // Four sums with noise multiplier 2 are one with noise multiplier 1.
/// let mechanism = Mechanism::Gaussian { noise_multiplier: Positive::new(2.0)? };
/// let (sampling, neighbours) = (Sampling::Every, Neighbours::AddOrRemoveOne);
/// let parts = [ComposedPart { mechanism, sampling, neighbours, count: 4 }];
/// let bound = ExactComposition.apply(&parts, Effort::Once(1e-4))?;
/// assert!(matches!(bound, Bound::Gaussian(profile) if profile.mu().contains(1.0)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ExactComposition;

impl Analysis for ExactComposition {
    fn statement(&self) -> &'static Statement {
        &STATEMENT
    }

    fn family(&self) -> Family {
        Family::Composition
    }

    fn cost(&self) -> Cost {
        Cost::Sums
    }

    fn suits_each_record(&self) -> bool {
        true
    }
}

impl EveryStep for ExactComposition {
    fn apply(&self, steps: &[ComposedPart], effort: Effort) -> Result<Bound, NotApplicable> {
        if let Some(profile) = gaussian(steps) {
            return profile.map(Bound::Gaussian);
        }
        let losses = losses(steps)?;
        Ok(Bound::Profile(match effort {
            Effort::Once(tolerance) => Arc::new(losses.with_tolerance(tolerance)),
            Effort::ManyPlaces => Arc::new(Tabulated::new(&losses.with_tolerance(1e-3))),
        }))
    }
}

/// Gaussian mechanisms without sampling compose to a single one: no losses need to be added up.
pub(crate) fn gaussian(steps: &[ComposedPart]) -> Option<Result<GaussianProfile, NotApplicable>> {
    let one = |part: &ComposedPart| {
        matches!((&part.mechanism, part.sampling), (Mechanism::Gaussian { .. }, Sampling::Every))
    };
    steps.iter().all(one).then(|| Ok(GaussianProfile::enclosed(central_limit::mu(steps)?)))
}

/// With less noise, losses are in the millions, and no grid can represent them.
const LEAST_MULTIPLIER: f64 = 1e-3;
/// With more noise, losses are negligible.
const MOST_MULTIPLIER: f64 = 1e100;

/// The privacy losses of all parts, to be composed.
pub(crate) fn losses(steps: &[ComposedPart]) -> Result<Composition, NotApplicable> {
    let part = |part: &ComposedPart| {
        let pair = dominating_pair(&on_a_grid(&part.mechanism)?, part.sampling, part.neighbours)?;
        Ok(Part { pair, count: part.count })
    };
    Ok(Composition::new(steps.iter().map(part).collect::<Result<_, NotApplicable>>()?))
}

/// The mechanism with noise that a grid can represent, and no more: less noise is less private.
fn on_a_grid(mechanism: &Mechanism) -> Result<Mechanism, NotApplicable> {
    Ok(match mechanism {
        Mechanism::Gaussian { noise_multiplier } => {
            Mechanism::Gaussian { noise_multiplier: in_range(*noise_multiplier)? }
        }
        Mechanism::Laplace { noise_multiplier } => {
            Mechanism::Laplace { noise_multiplier: in_range(*noise_multiplier)? }
        }
        Mechanism::Allocated { steps, batches } => {
            let steps = steps.iter().map(|(step, count)| Ok((on_a_grid(step)?, *count)));
            Mechanism::Allocated { steps: steps.collect::<Result<_, NotApplicable>>()?, batches: *batches }
        }
        other => other.clone(),
    })
}

fn in_range(multiplier: Positive) -> Result<Positive, NotApplicable> {
    let value = multiplier.get();
    if value < LEAST_MULTIPLIER {
        return Err(NotApplicable::beyond(format!(
            "noise of {value:e} times one record's contribution hides nothing: at least {LEAST_MULTIPLIER:e} is needed"
        )));
    }
    Ok(Positive::new(value.min(MOST_MULTIPLIER))?)
}

/// r: the distance of neighbours over the noise.
fn ratio(part: &ComposedPart, noise_multiplier: Positive) -> Enclosure {
    Enclosure::from(part.neighbours.contributions_apart()) / Enclosure::from(noise_multiplier)
}

static STATEMENT: Statement = Statement {
    id: "composition",
    title: "Everything a run computes, by adding up privacy losses",
    statement: "If the pair (P_t, Q_t) dominates step t, E_γ of its outputs being at most E_γ(P_t‖Q_t) for every \
                γ > 0 and every earlier output, then E_γ of all outputs together is at most \
                E_γ(⊗P_t‖⊗Q_t) = E[(1 − e^(ε−ΣL_t))₊], L_t = ln(dP_t/dQ_t). The law of the sum is computed by \
                convolution on a grid, rounded so that the upper end is a bound; nothing is published that is \
                not a post-processing of it.",
    assumptions: &[
        "each step's noise and sample are drawn anew, independently, and stay secret",
        "a noisy iteration with noise s_t, rate η_t, clip norm C and divisor b is a mechanism with multiplier \
         m_t = s_t·b/(η_t·C): neighbours are 1/m_t apart (add-or-remove-one, zero-out) or 2/m_t (replace-one)",
        "records in turn (once, cyclic, shuffled): only the steps that use the record count; shuffling itself \
         is not credited",
        "random allocation (allocation): a pass of m steps is one mechanism, dominated by (1/m)·Σ_j Q ⊗ … ⊗ P_j ⊗ … ⊗ Q \
         against Q ⊗ … ⊗ Q; a replaced record is one removed and another added, or one replaced in a known step",
    ],
    source: "Zhu, Dong, Wang, Optimal accounting of differential privacy via characteristic function (2022), \
             Theorem 10; Doroshenko, Ghazi, Kamath, Kumar, Manurangsi, Connect the dots (2022); for allocation Chua et al., \
             Balls-and-bins sampling for DP-SGD (2024), and Feldman, Shenfeld, Privacy amplification by random allocation (2025)",
    errata: &[],
    notes: Some(Notes {
        applies_to: "any run with a number of steps; any list of mechanisms",
        formula: "\
δ(ε) = E(1 − e^(ε − L₁ − … − L_T))₊

L_t      the privacy loss ln(dP_t/dQ_t) of step t, drawn under P_t
P_t, Q_t the laws of step t's output for two neighbours, or a pair that is easier to tell apart
T        the number of steps that may use the record",
        proof: &[
            "E_γ(P‖Q) = ∫(dP − γdQ)₊ = E(1 − γ·e^(−L))₊ with L = ln(dP/dQ) under P: δ(ε) is read off the law of the loss.",
            "Two steps, the second of which may depend on the output y of the first: E_γ of both is the integral over y of \
             p(y)·E_{γ′}(second step given y), γ′ = γ·q(y)/p(y). As γ′ may be any positive number, the pair (P₂, Q₂) \
             must dominate at every γ > 0; it may then replace the second step.",
            "In what results the second loss no longer depends on y. Integrating over y first, the same argument \
             replaces the first step by (P₁, Q₁). By induction E_γ of all steps is at most E_γ(⊗P_t‖⊗Q_t).",
            "The losses of a product are independent and add: their law is a convolution. Gaussian steps on all \
             records need none: L is N(r²/2, r²) at distance r, so T of them are one Gaussian step at distance r·√T.",
            "On the grid, the profile is replaced by its chords between the grid's γ. As E_γ is convex in γ they lie above \
             it, and they are E_γ of a pair with losses on the grid: an upper bound that may be composed. A hull below \
             gives the lower end. What the Fourier transform rounds and what lies outside its window are bounded \
             and added.",
            "A pass of m steps in which a record is allocated to one of them at random: some channel, which may depend on earlier \
             outputs and on the other records' places, maps P_t and Q_t to step t with the record and without it. Whoever \
             has a sample of the pair applies these channels one after the other, and has what the pass would publish.",
            "Under Q its likelihood ratio is L = (1/m)·ΣY_j with independent Y_j = dP_j/dQ_j, and E_γ is E(L − γ)₊ or, in the other \
             order, E(1 − γL)₊: a convex function of a sum. Replacing a Y_j by a law with the same mean that is more spread out \
             only raises it, gathering the mass of a cell at its mean only lowers it. So the law of the sum is enclosed \
             on a grid that is chosen anew after each addition.",
            "The pair of a step that samples its records is that of `subsampling`, in both orders of the neighbours. \
             What is published is a function of all outputs, so the bound holds for it.",
        ],
        wins: &[
            "The guarantee wherever hiding does not help: everything is published, a list of mechanisms, or iterates so \
             far apart that no noise hides them. In the example D is 25600 noise standard deviations, and ε = 2.345 of \
             composition is the best; `shift-subsampled` says 3.031, every other analysis of hidden states more than 700.",
            "It is the only analysis that is tight for published iterates, and the lower end says how tight: 2e-5 of ε.",
            "It grows like √T at first and like T in the end, and says nothing for any number of steps. For a record \
             used once it is the ε of that one step, whatever follows.",
        ],
        example: "account examples/dp-sgd.toml",
    }),
};
