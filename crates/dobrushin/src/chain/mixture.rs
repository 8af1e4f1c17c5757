//! The release of a chain, and hidden random choices among chains.

use super::{Chain, Count};
use crate::Enclosure;

/// When a chain stops.
///
/// ```
/// use dobrushin::Enclosure;
/// use dobrushin::chain::{Branch, Chain, Count, Domain, Mixture, Step, StepNoise, Stop};
/// use dobrushin::{NonNegative, chain::Participation};
///
/// let step = Step::new(StepNoise::gaussian(1.0)?).used_by(Participation::Always, NonNegative::new(1.0)?);
/// let chain = Chain::new(vec![(step, Count::Times(10))], Domain::default())?;
/// assert!(!Mixture::last(chain.clone()).stops_at_random());
/// let at_random = Branch { weight: Enclosure::ONE, chain, stop: Stop::Uniform(10) };
/// assert!(Mixture::new(vec![at_random]).stops_at_random());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// After its last step.
    End,
    /// After one of its last steps, this many, all equally likely; which one stays secret.
    Uniform(u64),
}

/// One chain of a mixture.
///
/// ```
/// use dobrushin::chain::{Branch, Chain, Count, Domain, Participation, Step, StepNoise, Stop};
/// use dobrushin::{Enclosure, NonNegative};
///
/// let used = Step::new(StepNoise::gaussian(1.0)?).used_by(Participation::Always, NonNegative::new(1.0)?);
/// let steps = vec![(used.clone(), Count::Times(1)), (used.without_the_record(), Count::Times(3))];
/// let chain = Chain::new(steps, Domain::default())?;
/// let branch = Branch { weight: Enclosure::ONE, chain, stop: Stop::Uniform(4) };
/// // It ends after one, two, three or four steps, each with probability 1/4.
/// let ends = branch.ends().ok_or("too many")?;
/// assert_eq!(ends.iter().map(|(_, chain)| chain.steps()).max(), Some(Some(4)));
/// assert!(ends.iter().fold(Enclosure::ZERO, |sum, (weight, _)| sum + *weight).contains(1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// Its probability.
    pub weight: Enclosure,
    /// The chain.
    pub chain: Chain,
    /// When it stops.
    pub stop: Stop,
}

/// A hidden random choice among chains. If the weights sum to less than 1, the rest is the probability that the record
/// is not used at all.
///
/// ```
/// use dobrushin::chain::{Branch, Chain, Count, Domain, Mixture, Participation, Step, StepNoise, Stop};
/// use dobrushin::{Enclosure, NonNegative};
///
/// // Heads: the record is used. Tails: it is not, and there is nothing to say of it.
/// let used = Step::new(StepNoise::gaussian(1.0)?).used_by(Participation::Always, NonNegative::new(1.0)?);
/// let chain = Chain::new(vec![(used, Count::Times(1))], Domain::default())?;
/// let heads = Branch { weight: Enclosure::from(0.5), chain, stop: Stop::End };
/// assert_eq!(Mixture::new(vec![heads.clone()]).branches(), &[heads]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Mixture {
    branches: Vec<Branch>,
}

/// The most stopping times of a chain that are considered one by one.
const MOST_STOPS: u64 = 4096;
/// The number of single times, before they are grouped …
const SINGLE: u64 = 512;
/// … into groups that grow by this share.
const GROUP: u64 = 128;

impl Mixture {
    /// The last iterate of one chain.
    pub fn last(chain: Chain) -> Self {
        Self::new(vec![Branch { weight: Enclosure::ONE, chain, stop: Stop::End }])
    }

    /// The chains with their weights; chains in which the record takes no part may be left out. A random stop among
    /// none of the last steps, or among more than exist, becomes one among all steps; a start is not among them.
    pub fn new(mut branches: Vec<Branch>) -> Self {
        branches.retain(|branch| !branch.chain.is_unused());
        for branch in &mut branches {
            branch.weight = branch.weight.positive_part().min(Enclosure::ONE);
            let starts = u64::from(branch.chain.start().is_some());
            if let (Stop::Uniform(times), Some(steps)) = (branch.stop, branch.chain.steps())
                && !(1..=steps - starts).contains(&times)
            {
                branch.stop = if steps > starts { Stop::Uniform(steps - starts) } else { Stop::End };
            }
        }
        Self { branches }
    }

    /// The chains in which the record may take part.
    pub fn branches(&self) -> &[Branch] {
        &self.branches
    }

    /// Whether some chain stops at a random time.
    pub fn stops_at_random(&self) -> bool {
        self.branches.iter().any(|branch| branch.stop != Stop::End)
    }
}

impl Branch {
    /// Chains that stop at their ends, with weights, which together are at most as private as this mixture; `None` if
    /// there would be too many.
    ///
    /// # Guarantee
    /// E_γ of the released iterates is at most the weighted sum of bounds on the chains, and likewise for e^((α−1)D_α),
    /// by joint convexity and by appending the time to the output. A time is replaced by another in two cases: steps
    /// that follow the only use of the record are post-processing, so an earlier end is less private; and with equal
    /// steps from the start, a shorter chain is an instance of a longer one whose first steps do nothing. There are
    /// always too many if the chain [stops by stretches](Chain::in_coarse_stretches).
    pub fn ends(&self) -> Option<Vec<(Enclosure, Chain)>> {
        let Stop::Uniform(times) = self.stop else {
            return Some(vec![(self.weight, self.chain.clone())]);
        };
        if self.stops_by_stretch() {
            return None;
        }
        let steps = self.chain.steps()?;
        let share = |count: u64| self.weight * Enclosure::from(count) / Enclosure::from(times);
        let used = |chain: &Chain| !chain.is_unused();
        if times <= MOST_STOPS {
            let ends = (steps - times.min(steps) + 1..=steps).map(|end| (share(1), self.chain.cut_at(end)));
            return Some(ends.filter(|(_, chain)| used(chain)).collect());
        }
        let first = steps - times.min(steps) + 1;
        let mut stretches = self.chain.stretches();
        let equal = stretches.clone().take(2).count() == 1;
        if equal {
            return Some(
                groups(1, steps - first + 1)
                    .map(|(from, to)| {
                        // Times are counted from the end: the longest of a group represents it.
                        (share(to - from + 1), self.chain.cut_at(first - 1 + to))
                    })
                    .collect(),
            );
        }
        self.chain.only_use()?;
        let before: u64 = stretches
            .by_ref()
            .take_while(|stretch| stretch.step.participation.is_never())
            .map(|stretch| match stretch.count {
                Count::Times(times) => times,
                Count::Any => 0,
            })
            .sum();
        let earliest = first.max(before + 1);
        Some(
            groups(earliest - before, steps - before)
                .map(|(from, to)| (share(to - from + 1), self.chain.cut_at(before + from)))
                .collect(),
        )
    }
}

impl Branch {
    /// Whether the first stop of each stretch represents all stops of it: see [`Chain::in_coarse_stretches`].
    pub fn stops_by_stretch(&self) -> bool {
        self.chain.has_coarse_stretches() && self.stop != Stop::End && self.chain.only_use().is_some()
    }
}

/// from..=to in groups: single numbers first, then longer and longer groups.
fn groups(from: u64, to: u64) -> impl Iterator<Item = (u64, u64)> {
    let mut next = from;
    std::iter::from_fn(move || {
        if next > to || next == u64::MAX {
            return None;
        }
        let start = next;
        let end = if start < SINGLE { start } else { (start + start / GROUP).min(to) };
        next = end.saturating_add(1);
        Some((start, end))
    })
}
