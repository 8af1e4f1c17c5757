//! A bound at the last use of a record, continued by contraction.

use super::contraction::Tail;
use super::laplace_shift::is_laplace;
use super::{
    Analysis, Bound, Ceiling, Contraction, Cost, Family, HiddenStates, Notes, Shift, Statement, unbounded,
};
use crate::chain::{Branch, Chain, Count, Mixture, Participation, Section, StepNoise, Stop};
use crate::loss::{Composition, DominatingPair, GaussianLoss, Part};
use crate::mechanism::{Mechanism, Neighbours, Sampling, dominating_pair};
use crate::numeric::ln_sum;
use crate::profile::PrivacyProfile;
use crate::run::{Fact, missing};
use crate::{Enclosure, Epsilon, NotApplicable, Positive};
use std::sync::Arc;

/// Steps without the record after its last use, on a bounded domain.
///
/// # Guarantee
/// If δ(ε) bounds E_{e^ε} after the last use of the record, by whatever analysis, then E_{e^ε} at the end is at most
/// F_γ applied to it, for blocks of the steps that follow (`contraction`). The best of composition, `shift`,
/// `ceiling` and `contraction` is taken at the last use, for each ε, and then the best length of the blocks.
///
/// ```
/// use dobrushin::analysis::{HiddenStates, Hybrid, Shift};
/// use dobrushin::chain::{Chain, Count, Domain, Mixture, Participation, Piece, Step, StepNoise};
/// use dobrushin::{Epsilon, NonNegative, Positive, PrivacyProfile};
///
/// let later = Step::new(StepNoise::gaussian(1.0)?).with_modulus(vec![Piece::new(1.0, 0.0)?]);
/// let used = later.clone().used_by(Participation::Always, NonNegative::new(1.0)?);
/// let domain = Domain { diameter: Some(Positive::new(2.0)?), dimension: None };
/// let chain = Chain::new(vec![(used, Count::Times(2)), (later, Count::Times(4))], domain)?;
/// // The last four steps contract what the first two left.
/// let epsilon = Epsilon::new(0.5)?;
/// let delta = |bound: dobrushin::analysis::Bound| bound.into_profile().delta(epsilon).upper();
/// let after_two = delta(Shift.apply(&Mixture::last(chain.cut_at(2)))?);
/// assert!(delta(Hybrid.apply(&Mixture::last(chain))?) < after_two);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Hybrid;

impl Analysis for Hybrid {
    fn statement(&self) -> &'static Statement {
        &STATEMENT
    }

    fn family(&self) -> Family {
        Family::Contraction
    }

    fn cost(&self) -> Cost {
        Cost::Laborious
    }
}

impl HiddenStates for Hybrid {
    fn apply(&self, released: &Mixture) -> Result<Bound, NotApplicable> {
        let branches = released.branches().iter().map(Continued::new).collect::<Result<Vec<_>, _>>()?;
        Ok(Bound::by_log_delta(move |epsilon| {
            let terms: Vec<Enclosure> = branches.iter().map(|branch| branch.ln_delta(epsilon)).collect();
            ln_sum(&terms)
        }))
    }
}

/// The bounds at the last use, and the steps that follow.
struct Continued {
    ln_weight: Enclosure,
    known: Vec<Arc<dyn PrivacyProfile>>,
    tail: Tail,
}

impl Continued {
    fn new(branch: &Branch) -> Result<Self, NotApplicable> {
        let chain = &branch.chain;
        if chain.domain().diameter.is_none() {
            return Err(unbounded());
        }
        if chain.only_use().is_some() {
            return Err(NotApplicable::because_of(
                &[Fact::Order],
                "the record is used once: contraction says as much",
            ));
        }
        if branch.stop != Stop::End {
            return Err(NotApplicable::because_of(
                &[Fact::Release],
                "the released iterate is that of a random time",
            ));
        }
        let tail = Tail::of(chain)?;
        let steps = chain.steps().ok_or_else(|| {
            missing!("it needs a number of steps after the last use of the record: {}", PublicSteps)
        })?;
        let prefix = chain.cut_at(steps - tail.steps());
        let view = Mixture::last(prefix.clone());
        let analyses: [&dyn HiddenStates; 3] = [&Shift, &Ceiling, &Contraction];
        // With Laplace noise, the losses of the shift would have to be composed at every ε.
        let analyses = analyses.into_iter().skip(usize::from(is_laplace(&view)));
        let mut known: Vec<Arc<dyn PrivacyProfile>> =
            analyses.filter_map(|analysis| Some(analysis.apply(&view).ok()?.into_profile())).collect();
        known.extend(composition(&prefix));
        Ok(Self { ln_weight: branch.weight.ln(), known, tail })
    }

    fn ln_delta(&self, epsilon: Epsilon) -> Enclosure {
        let known = self.known.iter().map(|profile| profile.log_delta(epsilon));
        let best = known.fold(Enclosure::ZERO, |a, b| if b.upper() < a.upper() { b } else { a });
        self.ln_weight + self.tail.ln_after(epsilon, best)
    }
}

/// Different steps with random participation are composed up to this many: their losses are composed anew for every ε.
const MOST_SAMPLED: usize = 8;

/// Everything that a chain computes: in each step two laws at most d/s apart, used with a given probability.
fn composition(chain: &Chain) -> Option<Arc<dyn PrivacyProfile>> {
    let (mut parts, mut sampled) = (Vec::new(), 0);
    let sections: Vec<Section<'_>> = chain.sections_since_the_record().collect();
    let repeated = sections.iter().flat_map(|section| {
        let times = if let Section::Laps(_, times) = section { *times } else { 1 };
        section.stretches().iter().map(move |stretch| (stretch, times))
    });
    for (stretch, times) in repeated {
        let (step, StepNoise::Gaussian(noise)) = (stretch.step, stretch.step.noise) else {
            return None;
        };
        let Count::Times(count) = stretch.count else {
            return None;
        };
        let count = count.saturating_mul(times);
        sampled += usize::from(matches!(step.participation, Participation::Sometimes(_)));
        if sampled > MOST_SAMPLED {
            return None;
        }
        let pair = match step.participation {
            Participation::Never => continue,
            Participation::Always => {
                let ratio = Positive::new((step.displacement / noise).upper()).ok()?;
                DominatingPair::symmetric(Arc::new(GaussianLoss::new(ratio)))
            }
            Participation::Sometimes(rate) => {
                let apart = step.displacement.max(step.absence);
                let multiplier = Enclosure::from(2.0) * noise / apart;
                let noise_multiplier = Positive::new(multiplier.lower()).ok().filter(|m| m.get() > 0.01)?;
                let mechanism = Mechanism::Gaussian { noise_multiplier };
                dominating_pair(&mechanism, Sampling::WithoutReplacement(rate), Neighbours::ReplaceOne)
                    .ok()?
            }
        };
        parts.push(Part { pair, count });
    }
    Some(Arc::new(Composition::new(parts).with_tolerance(1e-3)))
}

static STATEMENT: Statement = Statement {
    id: "hybrid",
    title: "Any bound at the last use of a record, continued by contraction",
    statement: "If δ(ε) bounds the iterate after the last use of the record, then F_γ of it bounds the iterate after \
                further steps without the record on a bounded domain, in blocks of the best length. At the last use \
                the best of composition, shift, ceiling and contraction is taken.",
    assumptions: &[
        "as `contraction`, but only the last iterate is published, not that of a random time",
        "equal steps without the record follow its last use, such as public ones",
        "the record is used more than once, or at random: otherwise `contraction` says as much",
    ],
    source: "data processing, and the tight contraction curve",
    errata: &[],
    notes: Some(Notes {
        applies_to: "bounded domain, steps without the record at the end",
        formula: "\
δ(ε) = F(F(… F(e))),   F(e) = e·θ_ε̃(R_k),   e^ε̃ = 1 + (e^ε − 1)/e

e        the least δ(ε) after the last use by composition, shift, ceiling, contraction
θ_ε(r)   E_{e^ε} of two unit Gaussians at distance r
R_k      as in contraction: how well k steps without the record hide a distance D
F        as often as blocks of k steps fit into those that follow; the best k",
        proof: &[
            "Cut the chain after the last use. Up to there every analysis is a bound on E_γ at each γ by itself, and so is the \
             least of them: `shift`, `ceiling`, `contraction`, and the composition of the steps so far, p·θ_ε̃(d/s) with \
             e^ε̃ = 1 + (γ−1)/p for a step that uses the record with probability p.",
            "What follows is the same kernel on both sides, so that E_γ ≤ F_γ(e) after a block of k steps: \
             `tight-curve`, with the block radius of `contraction`. F_γ increases, so a bound may be put in.",
            "Blocks of 1, 2, 4, … steps and of all of them are tried; steps that are left over are post-processing.",
        ],
        wins: &[
            "The guarantee in the example, 50 uses and then 10 steps without the record on D = 4s: ε = 1.232 against 1.380 of \
             `recursion`, 1.622 of `contraction`, 2.264 of `shift`.",
            "With a single step at the end `recursion` is the better one (6.32 against 7.13): it keeps the whole profile, not \
             one γ at a time.",
            "Nothing without a bounded domain or without steps that follow the last use: run.public-steps.",
        ],
        example: "account examples/chain.toml",
    }),
};
