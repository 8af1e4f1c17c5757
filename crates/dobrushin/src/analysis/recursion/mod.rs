//! A whole profile, kept at some γ, and propagated through the steps of a chain.
//!
//! Let h(γ) bound E_γ of two neighbours' iterates, in both directions, for every γ ≥ 1. After k more steps,
//!
//! ```text
//! E_{γ₁γ₂} ≤ g(γ₁) + γ₁·F_{γ₂}(h(γ₂))   and   E_{γ₁γ₂} ≤ F_{γ₁}(h(γ₁)) + γ₁·g(γ₂),
//! F_γ(e) = e·θ_ε̃(R),   e^ε̃ = 1 + (γ − 1)/e,
//! ```
//!
//! by the weak triangle inequality through the law with one neighbour's start and the other's updates. Here g is the
//! profile of k steps from a start that both share, by composition (`fresh.rs`, `compose.rs`); F is the tight curve of
//! the same k updates from starts in the domain, whose noise hides a distance of R of its standard deviations
//! (`motion.rs`). A single step has further bounds (`part.rs`).
//!
//! # Implementation
//! Bounds are stored as logarithms at some ε, with chords in γ between them (`table.rs`), since E_γ is convex. Sums and
//! chords are computed with the bounds themselves (`nodes.rs`). Every operation rounds up (`logs.rs`). The best γ₁ only has to be searched for, since each γ₁ gives a bound. More ε are
//! added where the bound falls fast (`walk.rs`).

mod block;
mod compose;
mod fresh;
mod motion;
mod nodes;
mod part;
mod table;
mod tail;
mod triangle;
mod walk;

use super::nonconvex::NonconvexPublished;
use super::{Analysis, Bound, Cost, Family, HiddenStates, Notes, Statement};
use crate::chain::Mixture;
use crate::numeric::ln_sum;
use crate::profile::{Direction, PrivacyProfile};
use crate::run::Assumption;
use crate::{Enclosure, Epsilon, NotApplicable};
use std::sync::Arc;
use table::Table;

/// Hidden uses of a record, always, with probability p, or in turn, on a bounded domain or with weight decay.
///
/// # Guarantee
/// After every step E_γ is at most the least of the bound above for blocks of 1, 2, 4, … steps, of F_γ(p + (1−p)h) on
/// points ω′(D) apart, of (1−p)·F_γ(h) plus p times the bound if the record is used, of θ_ε(ω′(D)/s), and of the θ_ε(μ)
/// of `shift`; then its convex hull is taken. If h holds after *every* number of steps, so does this bound: repeating
/// this until it settles bounds runs of any length. Runs of given length are also bounded step by step from their
/// start, where h = 0.
///
/// Without a domain, iterates are in a ball except with probability τ (`tail.rs`), which adds (1+γ)·τ to F.
///
/// Never above `nonconvex-published`. Composition of all steps is included up to 4096 of them.
///
/// ```
/// use dobrushin::analysis::{HiddenStates, NonconvexPublished, Recursion};
/// use dobrushin::chain::{Chain, Count, Domain, Mixture, Participation, Piece, Step, StepNoise};
/// use dobrushin::{Epsilon, NonNegative, Positive, PrivacyProfile, Probability};
///
/// let step = Step::new(StepNoise::gaussian(1.0)?).with_modulus(vec![Piece::new(1.0, 0.0)?]);
/// let used = step.used_by(Participation::Sometimes(Probability::new(0.1)?), NonNegative::new(1.0)?);
/// let domain = Domain { diameter: Some(Positive::new(1.0)?), dimension: None };
/// let released = Mixture::last(Chain::new(vec![(used, Count::Times(2))], domain)?);
/// // It keeps the whole profile, and so says no more than the bound that keeps one γ at a time.
/// let epsilon = Epsilon::new(1.0)?;
/// let recursed = Recursion.apply(&released)?.into_profile().delta(epsilon);
/// assert!(recursed.upper() <= NonconvexPublished.apply(&released)?.into_profile().delta(epsilon).upper());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Recursion;

/// The most chains that are followed one by one.
const MOST_CHAINS: usize = 8;

impl Analysis for Recursion {
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

impl HiddenStates for Recursion {
    fn further_assumption(&self) -> Option<Assumption> {
        Some(Assumption::StartsAtZeroUnlessBounded)
    }

    fn apply(&self, released: &Mixture) -> Result<Bound, NotApplicable> {
        super::starts_together(released)?;
        let mut members = Vec::new();
        for branch in released.branches() {
            let ends = match branch.ends().filter(|ends| ends.len() <= MOST_CHAINS) {
                Some(ends) => ends,
                // A run of fewer equal steps is an instance of a run of more.
                None if branch.chain.stretches().take(2).count() == 1 => {
                    vec![(branch.weight, branch.chain.clone())]
                }
                None => Vec::new(),
            };
            if ends.is_empty() || members.len() + ends.len() > MOST_CHAINS {
                return Err(NotApplicable::beyond(
                    "there are too many different times at which the run may stop, or places of the record",
                ));
            }
            for (weight, chain) in ends {
                members.push((weight.ln(), walk::bound(&chain, walk::FINENESS)?));
            }
        }
        let published = NonconvexPublished.apply(released).ok().map(Bound::into_profile);
        Ok(Bound::Profile(Arc::new(Recursed { members, published })))
    }
}

/// The weighted sum of tables, and the other bounds that hold.
struct Recursed {
    members: Vec<(Enclosure, Table)>,
    published: Option<Arc<dyn PrivacyProfile>>,
}

impl PrivacyProfile for Recursed {
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        self.log_delta_of(direction, epsilon).exp().min(Enclosure::ONE)
    }

    fn log_delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        let terms: Vec<Enclosure> =
            self.members.iter().map(|(weight, table)| *weight + table.enclosed(epsilon.get())).collect();
        let published = self.published.iter().map(|profile| profile.log_delta_of(direction, epsilon));
        published.fold(ln_sum(&terms).min(Enclosure::ZERO), Enclosure::min)
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}

static STATEMENT: Statement = Statement {
    id: "recursion",
    title: "A whole profile pushed through hidden steps: for any number of them",
    statement: "Let h bound E_γ before k steps at every γ ≥ 1. After them, for every γ₁γ₂ = γ, E_γ is at most \
                g(γ₁) + γ₁·F(γ₂) and F(γ₁) + γ₁·g(γ₂), where g is the profile of the k steps from a start that both \
                neighbours share (by composition), F(γ) = h·θ_ε̃(R), e^ε̃ = 1 + (γ−1)/h, and \
                R = (c^k·D + o·Σc^j)/(s·√Σc^(2j)) if the same update takes iterates z apart to cz + o apart. After one step \
                it is also at most F(γ) of p + (1−p)h on points as far apart as any two of the updates with one record, \
                another, or neither, and (1−p)·F(γ) plus p times what holds \
                if the record is used. A bound h for every number of steps stays one; the least of all, its convex \
                hull, and so on. Without a domain: D = 2ρ, and (1+γ)·τ is added to F, where an iterate is outside a \
                ball of radius ρ with probability τ at most: P(χ_d > (ρ − o/(1−c))·√(1−c²)/s).",
    assumptions: &[
        "only the last iterate (or that of a random time) is published, and who was drawn stays secret",
        "Gaussian noise",
        "iterates are projected to a closed convex set of diameter D; or the iteration starts at 0, to which weight \
         decay pulls back, and the dimension is known",
        "the record is used in equal steps, always or with probability p, or once in each period of steps",
    ],
    source: "Proved here, from Balle, Barthe, Gaboardi, Geumlek, Privacy amplification by mixing and diffusion \
             mechanisms (2019), and the shift of Feldman et al. (2018) in the form of Bok, Su, Altschuler (2024)",
    errata: &[],
    notes: Some(Notes {
        applies_to: "bounded domain or weight decay, Gaussian noise, any number of steps",
        formula: "\
E_{γ₁γ₂} after k steps ≤ g(γ₁) + γ₁·F(γ₂),   and with g and F exchanged,   F(γ) = h(γ)·θ_ε̃(R_k)
e^ε̃ = 1 + (γ − 1)/h(γ),   R_k = (c^k·D + o·(1 + … + c^(k−1))) / (s·√(1 + … + c^(2k−2)))

E_γ      the hockey-stick divergence of two neighbours' iterates: δ(ε) at γ = e^ε
h(γ)     a bound on E_γ before the k steps, at every γ ≥ 1
g(γ)     E_γ of k steps from a start that both neighbours share, by composition
F(γ)     what k equal updates make of h
θ_ε(r)   E_{e^ε} of two unit Gaussians at distance r
cz + o   how far apart points z apart can be after the same update
D, s     the diameter of the domain (or of a ball that iterates hardly ever leave) and the noise",
        proof: &[
            "Let P and Q be the laws after k steps of two neighbours, and S that of the one's start and the other's updates. The weak \
             triangle inequality E_{γ₁γ₂}(P‖Q) ≤ E_{γ₁}(P‖S) + γ₁·E_{γ₂}(S‖Q) joins two simpler pairs.",
            "P and S share their start: k adaptive steps, at most g by `composition`, the pair of a step being that of \
             `subsampling`. S and Q share their updates: given the batches, one kernel, so F by `tight-curve` and the block radius of \
             `contraction`. The other order of the terms takes the other S.",
            "A single step has more: F of p + (1−p)·h over all images of the domain, or (1−p)·F(h) + p·min{θ_ε(ω′(D)/s), the triangle \
             with θ(d/s) for g}, by joint convexity over the batches. `shift`, `ceiling` and `nonconvex-published` bound \
             every time as well.",
            "E_γ is convex in γ, so the chords between the values at some γ are a bound, and so is the convex hull of the least of all. \
             Every operation rounds up; which γ₁ is best is only searched for, as each is a bound.",
            "Any number of steps: if H bounds E_γ after every number, so does min(H, what a block makes of H). After fewer than k steps \
             E_γ ≤ g, as the first steps of a block may do nothing. From the ceiling H is pushed down until it settles; \
             it may be stopped at any time. A given number of steps is also followed from h = 0 on.",
            "Weight decay in place of a domain: ‖ψ(w)‖ ≤ c‖w‖ + o with c < 1 and W₀ = 0 make W_t the sum of a vector no longer than \
             o/(1−c) and a Gaussian one of variance at most s²/(1−c²), in the stochastic order of lengths. Moving both laws into \
             a ball of radius ρ costs (1 + γ)·τ for each block, not for each step.",
        ],
        wins: &[
            "The guarantee for records drawn at random on a domain that noise crosses before the record does, p·d·D/s² < 1: in the \
             example ε = 2.28e-4 for any number of steps, where `composition` has 9.9e-3 after 1e4 steps, \
             `nonconvex-published` 10.97 and `shift` 2.88. At ε = 0 it is 7.5e-5; in one dimension 4.3e-5 is exact.",
            "Also for full batches on a domain of a few noise standard deviations: 1.22 in examples/noisy-gd.toml with D = 2.5s, \
             where `shift` has 2.56; and with weight decay, 8.8e-4 in examples/regularised-dp-sgd.toml.",
            "The triangle inequality costs up to two or three times the total variation. If the record pushes harder than the noise spreads, `shift` or \
             `shift-subsampled` say less (7.96 against 5.43 in the example of the latter); for one use, `contraction`.",
            "Nothing for Laplace noise, with neither domain nor decay, or for more than 64 different kinds of steps.",
        ],
        example: "account examples/projected-dp-sgd.toml",
    }),
};
