//! A whole profile, kept at some γ, and pushed through the steps of a chain.
//!
//! Let h(γ) bound E_γ of two neighbours' iterates, in both directions, for every γ ≥ 1. k steps later
//!
//! ```text
//! E_{γ₁γ₂} ≤ g(γ₁) + γ₁·F_{γ₂}(h(γ₂))   and   E_{γ₁γ₂} ≤ F_{γ₁}(h(γ₁)) + γ₁·g(γ₂),
//! F_γ(e) = e·θ_ε̃(R),   e^ε̃ = 1 + (γ − 1)/e,
//! ```
//!
//! by the weak triangle inequality through the law of one neighbour's start and the other's updates. g is the
//! profile of k steps from a start that both share, by composition (`fresh.rs`, `compose.rs`); F is the tight
//! curve of the same k updates from starts in the domain, whose noise hides a distance of R of its standard
//! deviations (`motion.rs`). A single step has further bounds (`part.rs`).
//!
//! # Implementation
//! Bounds are logarithms at some ε with chords in γ between them (`table.rs`), since E_γ is convex. Every
//! operation rounds up (`logs.rs`). Which γ₁ is best is only searched for: each is a bound. ε are added where
//! the bound falls fast (`walk.rs`).

mod block;
mod compose;
mod fresh;
mod motion;
mod part;
mod table;
mod tail;
mod triangle;
mod walk;

use super::nonconvex::NonconvexPublished;
use super::{Analysis, Bound};
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
/// After every step E_γ is at most the least of what the module says for blocks of 1, 2, 4, … steps, of
/// F_γ(p + (1−p)h) on points ω′(D) apart, of (1−p)·F_γ(h) plus p times what holds if the record is used, of
/// θ_ε(ω′(D)/s), and of the θ_ε(μ) of `shift`; then its convex hull. If h holds after *every* number of steps, so
/// does that: it is repeated until it settles, which bounds runs of any length. Runs of given length are also
/// bounded from their start on, where h = 0.
///
/// Without a domain, iterates are in a ball but for a probability τ (`tail.rs`), which adds (1+γ)·τ to F.
///
/// Never above `nonconvex-published`. Composition of all steps is included up to 4096 of them.
pub struct Recursion;

/// The most chains that are followed one by one.
const MOST_CHAINS: usize = 8;

impl Analysis for Recursion {
    fn id(&self) -> &'static str {
        "recursion"
    }

    fn further_assumption(&self) -> Option<Assumption> {
        Some(Assumption::StartsAtZeroUnlessBounded)
    }

    fn apply(&self, released: &Mixture) -> Result<Bound, NotApplicable> {
        let mut members = Vec::new();
        for branch in released.branches() {
            let ends = match branch.ends().filter(|ends| ends.len() <= MOST_CHAINS) {
                Some(ends) => ends,
                // Fewer equal steps are an instance of more.
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

/// The weighted sum of tables, and what holds besides.
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
