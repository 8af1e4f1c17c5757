//! The worst of several records.

use crate::profile::{Direction, PrivacyProfile};
use crate::{Enclosure, Epsilon};
use std::sync::Arc;

/// The largest δ of the members at every ε.
pub(super) struct WorstProfile {
    members: Vec<Arc<dyn PrivacyProfile>>,
}

impl WorstProfile {
    pub fn new(members: Vec<Arc<dyn PrivacyProfile>>) -> Self {
        Self { members }
    }

    fn largest(&self, of: impl Fn(&dyn PrivacyProfile) -> Enclosure, least: Enclosure) -> Enclosure {
        self.members.iter().fold(least, |most, member| most.max(of(member.as_ref())))
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
}
