//! The worst of several records.

use crate::profile::{Direction, PrivacyProfile};
use crate::{Delta, Enclosure, Epsilon};
use rayon::prelude::*;
use std::sync::Arc;

/// The largest δ of the members at every ε.
pub(super) struct WorstProfile {
    members: Vec<Arc<dyn PrivacyProfile>>,
}

impl WorstProfile {
    pub fn new(members: Vec<Arc<dyn PrivacyProfile>>) -> Self {
        Self { members }
    }

    fn largest(&self, of: impl Fn(&dyn PrivacyProfile) -> Enclosure + Sync, least: Enclosure) -> Enclosure {
        self.members.par_iter().map(|member| of(member.as_ref())).reduce(|| least, Enclosure::max)
    }
}

impl PrivacyProfile for WorstProfile {
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        self.largest(|member| member.delta_of(direction, epsilon), Enclosure::ZERO)
    }

    fn log_delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        self.largest(|member| member.log_delta_of(direction, epsilon), Enclosure::from(f64::NEG_INFINITY))
    }

    fn is_symmetric(&self) -> bool {
        self.members.iter().all(|member| member.is_symmetric())
    }

    /// The largest ε of the members. Only those are asked for theirs that do not meet δ at the largest so far, the
    /// farthest from it first: a few of hundreds.
    fn epsilon_of(&self, direction: Direction, delta: Delta) -> Enclosure {
        let mut largest = Enclosure::ZERO;
        let mut open: Vec<&dyn PrivacyProfile> = self.members.iter().map(AsRef::as_ref).collect();
        while let Ok(epsilon) = Epsilon::new(largest.upper()) {
            let found = open.par_iter().map(|&member| (member.delta_of(direction, epsilon).upper(), member));
            let mut missing: Vec<_> = found.filter(|(found, _)| *found > delta.get()).collect();
            missing.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            let Some((_, farthest)) = missing.pop() else {
                break;
            };
            largest = largest.max(farthest.epsilon_of(direction, delta));
            open = missing.into_iter().map(|(_, member)| member).collect();
        }
        largest
    }
}
