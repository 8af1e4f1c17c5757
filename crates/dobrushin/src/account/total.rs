//! What several releases about the same people say together.

use super::bounds::{Care, bounds};
use super::exception::share_of;
use super::meaning::Meaning;
use super::question::Account;
use super::tasks::bounds_of_tasks;
use crate::analysis::{self, Analysis, Bound, Effort, EveryStep, ExactComposition};
use crate::lower::ComposedPart;
use crate::mechanism::{Mechanism, Neighbours, Sampling};
use crate::profile::{Direction, GroupProfile, PrivacyProfile};
use crate::run::Run;
use crate::{Delta, Enclosure, Epsilon, NotApplicable, Positive, Probability};
use std::num::NonZeroU32;
use std::sync::Arc;

/// The guarantee of several releases about the same people, each with its own run.
///
/// # Guarantee
/// If each account's guarantee holds for its release, whatever the earlier releases were, and each person has one record
/// in each run, then the upper ends hold for all releases together. A run by `composition` counts step by step; a
/// release with hidden states counts as one mechanism with its profile, since nobody sees inside. The pairs that
/// dominate them compose, adaptively or not (Zhu, Dong, Wang 2022, Theorem 10). At the sum of the δ, the sum of the ε
/// also holds.
///
/// If the neighbour relations differ, the total is for replace-one neighbours. A replaced record is one that is removed
/// (or zeroed out) and another that is added, so such a release counts by its profile for two changes, each in
/// either direction (see [`GroupProfile`]).
///
/// ```
/// use dobrushin::account::Total;
/// use dobrushin::{Delta, Neighbours, NonNegative, Question, Run, numeric::theta};
///
/// // Two Gaussian releases at distances 0.6 and 0.8 are one at distance 1.
/// let delta = Delta::new(1e-6)?;
/// let release = |multiplier: f64| {
///     let run = Run::gradient_descent(100).steps(1).clip_norm(1.0).noise_multiplier(multiplier);
///     let run = run.neighbours(Neighbours::ZeroOut).build()?;
///     let account = run.account(Question::EpsilonAt(delta));
///     Ok::<_, dobrushin::RunError>((run, account))
/// };
/// let releases = [release(1.0 / 0.6)?, release(1.0 / 0.8)?];
/// let total = Total::of(releases.iter().map(|(run, account)| (run, account)), delta)?;
/// let known = theta::smallest_epsilon(NonNegative::new(1.0)?, delta);
/// assert!((total.epsilon.upper() / known.upper() - 1.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Total {
    /// δ, as it was given.
    pub delta: Delta,
    /// The smallest ε that is known to hold with it.
    pub epsilon: Enclosure,
    /// What (ε, δ) means for one person; `None` if ε is infinite or δ is 1.
    pub meaning: Option<Meaning>,
    /// Which data sets are neighbours, if the runs say so.
    pub neighbours: Option<Neighbours>,
    /// Whether some releases are for other neighbours than the total.
    pub changed: bool,
}

/// Why releases cannot be added up.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TotalError {
    /// There are none.
    #[error("there is no release")]
    Nothing,
    /// One of them has no guarantee, or a vacuous one.
    #[error("one of the releases has no guarantee")]
    NoGuarantee,
    /// A chain does not say which data sets are neighbours, so nothing else is known to be about the same.
    #[error("a chain that is given step by step does not say which data sets are neighbours")]
    UnknownNeighbours,
    /// A run is for other neighbours, and what it says about them says nothing about these.
    #[error("the run is for {run} neighbours, but what is counted is {wanted}")]
    OtherNeighbours {
        /// The neighbours of the run.
        run: Neighbours,
        /// The neighbours that are counted.
        wanted: Neighbours,
    },
    /// A bound is about deleted records only, and says nothing about those that remain.
    #[error(
        "one of the releases is of a run with deleted records ([forget]), whose bound is about these records only: what the \
         model tells about the others is that of the same run without [forget]"
    )]
    OnlyDeleted,
    /// A bound is about one record, and says nothing about the others.
    #[error("one of the releases is about record {0} only (run.record), and says nothing about the others")]
    OneRecord(u64),
    /// A bound does not compose.
    #[error(transparent)]
    NotApplicable(#[from] NotApplicable),
}

/// The relative width of enclosures of ε.
const TOLERANCE: f64 = 1e-4;

impl Total {
    /// Adds up the guarantees of these accounts, each with the run that it is of, at this δ.
    ///
    /// # Errors
    /// [`TotalError`] if there are no releases, if one has no guarantee, or if their neighbours cannot be compared.
    pub fn of<'a>(
        releases: impl IntoIterator<Item = (&'a Run, &'a Account)>,
        delta: Delta,
    ) -> Result<Self, TotalError> {
        let releases: Vec<(&Run, &Account)> = releases.into_iter().collect();
        if releases.iter().any(|(run, _)| run.is_about_deleted_records()) {
            return Err(TotalError::OnlyDeleted);
        }
        if let Some(record) = releases.iter().find_map(|(run, _)| run.one_record()) {
            return Err(TotalError::OneRecord(record));
        }
        let relation = |(run, _): &(&Run, &Account)| run.neighbours();
        let first = relation(releases.first().ok_or(TotalError::Nothing)?);
        let changed = releases.iter().any(|release| relation(release) != first);
        if changed && releases.iter().any(|release| relation(release).is_none()) {
            return Err(TotalError::UnknownNeighbours);
        }
        // Where batches of unusual size are set aside, each release gets its part of the share of δ.
        let exception = share_of(delta.get() / releases.len() as f64);
        let mut parts = Vec::new();
        let (mut epsilons, mut deltas) = (Enclosure::ZERO, Enclosure::ZERO);
        for (run, account) in releases {
            let best = account.certifiable().ok_or(TotalError::NoGuarantee)?;
            epsilons = epsilons + Enclosure::from(best.epsilon());
            deltas = deltas + Enclosure::from(best.delta());
            match changed && run.neighbours() != Some(Neighbours::ReplaceOne) {
                true => parts.extend(part(as_replaced(run, best.id, exception)?, Neighbours::ReplaceOne)?),
                false => parts.extend(parts_of(run, best.id, exception)?),
            }
        }
        let profile = ExactComposition.apply(&parts, Effort::Once(TOLERANCE))?.into_profile();
        let composed = profile.epsilon(delta);
        let epsilon = match deltas.upper() <= delta.get() && !changed {
            true => composed.min(epsilons),
            false => composed,
        };
        let neighbours = if changed { Some(Neighbours::ReplaceOne) } else { first };
        let says_something = epsilon.upper().is_finite() && delta.get() < 1.0;
        let meaning = says_something.then(|| Epsilon::new(epsilon.upper()).ok()).flatten();
        let meaning =
            meaning.map(|epsilon| Meaning { neighbours, ..Meaning::of(profile.as_ref(), epsilon, delta) });
        Ok(Self { delta, epsilon, meaning, neighbours, changed })
    }
}

/// What an analysis says about a run, with this probability set aside.
pub(super) fn bound_of(run: &Run, id: &str, exception: Probability) -> Result<Bound, TotalError> {
    let theorem = analysis::ALL.iter().copied().find(|theorem| theorem.id() == id);
    let theorem = theorem.ok_or(TotalError::NoGuarantee)?;
    let care = Care { tolerance: TOLERANCE, exception, effort: Effort::ManyPlaces };
    let said = match run.as_tasks() {
        Some(tasks) => bounds_of_tasks(run, tasks, std::iter::once(theorem), care),
        None => bounds(run, std::iter::once(theorem), care),
    };
    said.into_iter().next().ok_or(TotalError::NoGuarantee)?.bound.map_err(TotalError::from)
}

/// The mechanisms that a release counts as.
fn parts_of(run: &Run, id: &str, exception: Probability) -> Result<Vec<ComposedPart>, TotalError> {
    if id == ExactComposition.id() {
        return Ok(run.composition()?.parts);
    }
    let bound = bound_of(run, id, exception)?;
    Ok(part(bound, run.neighbours().unwrap_or(Neighbours::AddOrRemoveOne))?.into_iter().collect())
}

/// A release with this bound, as one mechanism; `None` if nothing is released.
fn part(bound: Bound, neighbours: Neighbours) -> Result<Option<ComposedPart>, TotalError> {
    let mechanism = match bound {
        Bound::Gaussian(profile) if profile.mu() == Enclosure::ZERO => return Ok(None),
        Bound::Gaussian(profile) => {
            let multiplier = Enclosure::from(neighbours.contributions_apart()) / profile.mu();
            let noise_multiplier = Positive::new(multiplier.lower()).map_err(NotApplicable::from)?;
            Mechanism::Gaussian { noise_multiplier }
        }
        other => Mechanism::Profile(other.into_profile()),
    };
    Ok(Some(ComposedPart { mechanism, sampling: Sampling::Every, neighbours, count: 1 }))
}

/// The bound for replace-one neighbours that follows from one for records that are added, removed or zeroed out.
fn as_replaced(run: &Run, id: &str, exception: Probability) -> Result<Bound, TotalError> {
    let bound = bound_of(run, id, exception)?;
    let one = EitherWay(bound.into_profile());
    Ok(Bound::Profile(Arc::new(GroupProfile::new(&one, const { NonZeroU32::new(2).unwrap() }))))
}

/// The larger of the two directions.
struct EitherWay(Arc<dyn PrivacyProfile>);

impl PrivacyProfile for EitherWay {
    fn delta_of(&self, _: Direction, epsilon: Epsilon) -> Enclosure {
        self.0.delta(epsilon)
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Question;
    use crate::numeric::theta;
    use crate::run::{Order, Release};
    use crate::{NonNegative, RunBuilder};

    const DELTA: f64 = 1e-6;

    fn release(run: RunBuilder) -> (Run, Account) {
        let run = run.build().expect("a run");
        let account = run.account(Question::EpsilonAt(Delta::new(DELTA).expect("δ")));
        (run, account)
    }

    fn total(releases: &[(Run, Account)], delta: f64) -> Total {
        let releases = releases.iter().map(|(run, account)| (run, account));
        Total::of(releases, Delta::new(delta).expect("δ")).expect("a total")
    }

    fn full(multiplier: f64, neighbours: Neighbours) -> RunBuilder {
        let run = Run::gradient_descent(100).steps(1).clip_norm(1.0).noise_multiplier(multiplier);
        run.neighbours(neighbours).release(Release::Last)
    }

    fn gaussian(mu: f64, delta: f64) -> f64 {
        let (mu, delta) = (NonNegative::new(mu).expect("μ"), Delta::new(delta).expect("δ"));
        theta::smallest_epsilon(mu, delta).upper()
    }

    #[test]
    fn one_release_costs_what_it_costs_alone() {
        let sampled = Run::dp_sgd(10_000).batch_size(100).order(Order::Poisson).steps(50).clip_norm(1.0);
        let one = [release(sampled.noise_multiplier(1.0).neighbours(Neighbours::AddOrRemoveOne))];
        let alone = one[0].1.guarantee().expect("a guarantee").epsilon();
        let found = total(&one, DELTA).epsilon.upper();
        assert!(found <= alone && found > 0.999 * alone, "{found} {alone}");
    }

    #[test]
    fn a_removed_and_an_added_record_are_a_replaced_one() {
        // Zero-out at distance 1/4 is replace-one at distance 1/2; replace-one with multiplier 4 is at distance 1/2.
        let releases = [release(full(4.0, Neighbours::ZeroOut)), release(full(4.0, Neighbours::ReplaceOne))];
        let total = total(&releases, DELTA);
        assert!(total.changed && total.neighbours == Some(Neighbours::ReplaceOne));
        let found = total.epsilon.upper();
        let exact = gaussian(0.5_f64.sqrt(), DELTA);
        assert!(found >= exact && found < 1.01 * exact, "{found} {exact}");
    }

    #[test]
    fn the_total_is_never_more_than_the_sums() {
        let releases = [2.0, 3.0, 5.0].map(|multiplier| release(full(multiplier, Neighbours::ReplaceOne)));
        let sum: f64 = releases.iter().map(|(_, account)| account.guarantee().expect("one").epsilon()).sum();
        let found = total(&releases, 3.0 * DELTA).epsilon.upper();
        let square: f64 = [2.0_f64, 3.0, 5.0].iter().map(|multiplier| (2.0 / multiplier).powi(2)).sum();
        let exact = gaussian(square.sqrt(), 3.0 * DELTA);
        assert!(found <= sum && (found / exact - 1.0).abs() < 1e-9, "{found} {exact} {sum}");
    }

    #[test]
    fn a_release_without_a_guarantee_is_not_added() {
        let (run, _) = release(full(2.0, Neighbours::ReplaceOne));
        let vacuous = run.account(Question::EpsilonAt(Delta::new(1.0).expect("δ")));
        let delta = Delta::new(DELTA).expect("δ");
        assert!(matches!(Total::of([(&run, &vacuous)], delta), Err(TotalError::NoGuarantee)));
        assert!(matches!(Total::of([], delta), Err(TotalError::Nothing)));
    }
}
