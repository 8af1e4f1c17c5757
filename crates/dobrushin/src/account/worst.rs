//! The worst of several records.

use crate::profile::{Direction, PrivacyProfile, RenyiCurve};
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

    /// The largest ε of the members. A member is asked for its ε only if it does not meet δ at the largest ε so far,
    /// starting with the one furthest from it: a few of hundreds are asked.
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

/// The largest D_α of the members at every order.
pub(super) struct WorstCurve {
    members: Vec<Arc<dyn RenyiCurve>>,
}

impl WorstCurve {
    pub fn new(members: Vec<Arc<dyn RenyiCurve>>) -> Self {
        Self { members }
    }

    fn largest(&self, of: impl Fn(&dyn RenyiCurve) -> Enclosure) -> Enclosure {
        self.members.iter().map(|member| of(member.as_ref())).fold(Enclosure::ZERO, Enclosure::max)
    }
}

impl RenyiCurve for WorstCurve {
    fn log_moment(&self, direction: Direction, order: f64) -> Enclosure {
        if !(order > 1.0 && order < f64::INFINITY) {
            return Enclosure::ENTIRE;
        }
        self.largest(|member| member.log_moment(direction, order))
    }

    fn largest_loss(&self, direction: Direction) -> Enclosure {
        self.largest(|member| member.largest_loss(direction))
    }

    fn is_symmetric(&self) -> bool {
        self.members.iter().all(|member| member.is_symmetric())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::GaussianProfile;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A profile that counts how often it is queried.
    struct Counting(GaussianProfile, Arc<[AtomicUsize; 2]>);

    impl PrivacyProfile for Counting {
        fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
            self.1[0].fetch_add(1, Ordering::Relaxed);
            self.0.delta_of(direction, epsilon)
        }

        fn epsilon_of(&self, direction: Direction, delta: Delta) -> Enclosure {
            self.1[1].fetch_add(1, Ordering::Relaxed);
            self.0.epsilon_of(direction, delta)
        }

        fn is_symmetric(&self) -> bool {
            true
        }
    }

    #[test]
    fn the_worst_of_many_is_found_by_asking_few() {
        let asked: Arc<[AtomicUsize; 2]> = Arc::default();
        let mu = |index: u32| Enclosure::from(1.0 + f64::from(index * 37 % 200) / 100.0);
        let member = |index: u32| Counting(GaussianProfile::enclosed(mu(index)), Arc::clone(&asked));
        let members = (0..200).map(|index| Arc::new(member(index)) as Arc<dyn PrivacyProfile>).collect();
        let delta = Delta::new(1e-5).expect("valid");
        let found = WorstProfile::new(members).epsilon(delta);
        let worst = GaussianProfile::enclosed(Enclosure::from(1.0 + 1.99)).epsilon(delta);
        assert_eq!(found, worst);
        let [deltas, epsilons] = [0, 1].map(|index| asked[index].load(Ordering::Relaxed));
        assert!(deltas <= 400 && epsilons == 1, "{deltas} and {epsilons}");
    }

    #[test]
    fn what_is_not_private_at_all_is_not_in_the_worst_either() {
        let members = [1.0, f64::INFINITY, 2.0]
            .map(|mu| Arc::new(GaussianProfile::enclosed(Enclosure::from(mu))) as Arc<dyn PrivacyProfile>);
        let worst = WorstProfile::new(members.to_vec());
        assert_eq!(worst.epsilon(Delta::new(1e-5).expect("valid")).upper(), f64::INFINITY);
        assert_eq!(worst.epsilon(Delta::new(1.0).expect("valid")), Enclosure::ZERO);
    }
}
