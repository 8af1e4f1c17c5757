//! A valid profile, kept at some γ and pushed through the chain.
mod block;
mod compose;
mod fresh;
mod logs;
mod motion;
mod part;
mod table;
mod tail;
mod triangle;
mod walk;

use super::nonconvex::NonconvexPublished;
use super::walk::ln_sum;
use super::{Analysis, Bound};
use crate::chain::{Mixture, Stop};
use crate::profile::{Direction, PrivacyProfile};
use crate::{Enclosure, Epsilon, NotApplicable};
use std::sync::Arc;
use table::Table;

/// Hidden uses of a record on a bounded domain, or with weight decay.
pub struct Recursion;

/// The most ends of random stops that are followed one by one.
const MOST_ENDS: usize = 8;

impl Analysis for Recursion {
    fn id(&self) -> &'static str {
        "recursion"
    }

    fn further_assumption(&self) -> Option<&'static str> {
        Some("unless the domain is bounded, the iteration starts at 0")
    }

    fn apply(&self, released: &Mixture) -> Result<Bound, NotApplicable> {
        let mut members = Vec::new();
        for branch in released.branches() {
            let ends = match (branch.stop, branch.ends()) {
                (_, Some(ends)) if ends.len() <= MOST_ENDS => ends,
                // The bound on all steps is one on fewer.
                (Stop::Uniform(_), _) if branch.chain.stretches().count() == 1 => {
                    vec![(branch.weight, branch.chain.clone())]
                }
                _ => return Err(NotApplicable::new("there are too many different times at which the run may stop")),
            };
            for (weight, chain) in ends {
                members.push((weight.ln(), walk::bound(&chain)?));
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
        self.log_delta_of(direction, epsilon).exp()
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
