//! What a release costs each of the people in it, as profiles that can be added to what other releases cost them.

use super::Options;
use super::exception::share_of;
use super::monotone::monotone_ranges;
use super::question::Question;
use super::total::{TotalError, bound_of};
use super::worst::WorstProfile;
use crate::analysis::{Effort, EveryStep, ExactComposition};
use crate::lower::ComposedPart;
use crate::mechanism::{Mechanism, Neighbours, Sampling};
use crate::profile::{Direction, GroupProfile, Knot, PiecewiseProfile, PrivacyProfile};
use crate::run::{Order, Run, Training};
use crate::{Delta, NotApplicable, Progress};
use rayon::prelude::*;
use std::num::NonZeroU32;
use std::sync::Arc;

/// What a release costs whoever has one record at one of some consecutive places.
///
/// # Guarantee
/// The profile bounds E_γ of the release, in both directions, for each of these records.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PlaceCost {
    /// The first of these records, counted from 1.
    pub from: u64,
    /// The last of them.
    pub to: u64,
    /// The analysis by which it holds for the least private of them.
    pub analysis: &'static str,
    /// The profile.
    pub profile: PiecewiseProfile,
}

impl PlaceCost {
    /// The same cost for every record.
    pub fn everywhere(analysis: &'static str, profile: &dyn PrivacyProfile) -> Self {
        Self { from: 1, to: u64::MAX, analysis, profile: stored(profile) }
    }
}

/// Places share a cost if ε of the best and of the worst of them differ by at most this factor …
const ALIKE: f64 = 1.15;
/// … or are below this share of the largest.
const SMALL: f64 = 0.01;
/// The share of δ of which a part is set aside for batches of unusual size, so that a thousand releases do not use up δ.
const SET_ASIDE: f64 = 1.0 / 1024.0;
/// How much larger a stored profile may be than the one that it stands for, relatively in δ.
const TOLERANCE: f64 = 1e-3;
/// A stored profile does not fall below this δ, unless it ends there: it is far below every δ that anybody asks for.
const DEEPEST: f64 = 1e-30;
/// The relative width of enclosures of ε when costs are added up.
const COMPOSED: f64 = 1e-4;

/// What this run costs each of its records, by the analysis that is best at this δ, for neighbours of this kind.
///
/// Where records are used in turn in equal steps, those that are used early cost less, so they have costs of their own.
/// Otherwise all records cost the same.
///
/// # Guarantee
/// Each record is in one entry, whose profile bounds what the release tells about it. With equal steps the protection is
/// monotone in the place, within ranges, so that the ends of a range bound all between them. If the run is for records that
/// are added, removed or zeroed out, and the costs are for replaced ones, the profile is that of one and another change.
///
/// ```
/// use dobrushin::account::costs_by_place;
/// use dobrushin::{Delta, Epsilon, Neighbours, PrivacyProfile, Progress, Release, Run};
///
/// let run = Run::pnsgd(200).learning_rate(0.1).lipschitz(1.0).gradient_noise(2.0).release(Release::Last);
/// let run = run.convex().smoothness(1.0).build()?;
/// let costs = costs_by_place(&run, Neighbours::ReplaceOne, Delta::new(1e-5)?, &Progress::default())?;
/// // The record that is used first is hidden by all later steps.
/// let delta = |index: usize| costs[index].profile.delta(Epsilon::new(0.1).unwrap()).upper();
/// assert!(delta(0) < 0.5 * delta(costs.len() - 1));
/// assert!(costs.windows(2).all(|pair| pair[0].to + 1 == pair[1].from));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`TotalError`] if nothing is known, if the bound is about deleted records only, or if the run is for other neighbours,
/// which say nothing about these.
pub fn costs_by_place(
    run: &Run,
    neighbours: Neighbours,
    delta: Delta,
    progress: &Progress,
) -> Result<Vec<PlaceCost>, TotalError> {
    if run.is_about_deleted_records() {
        return Err(TotalError::OnlyDeleted);
    }
    // Whoever described the run may have asked about one record, but everybody pays.
    let run = &run.of_every_record().map_err(|_| TotalError::NoGuarantee)?;
    let question = Question::EpsilonAt(delta);
    let convert = match run.neighbours() {
        Some(of_run) if of_run == neighbours => false,
        Some(_) if neighbours == Neighbours::ReplaceOne => true,
        Some(of_run) => return Err(TotalError::OtherNeighbours { run: of_run, wanted: neighbours }),
        None => return Err(TotalError::UnknownNeighbours),
    };
    let asked = |run: &Run| -> Result<Place, TotalError> {
        let options = Options { progress: progress.clone(), ..Options::default() };
        let account = run.account_by(question, &options);
        let best = account.certifiable().ok_or(TotalError::NoGuarantee)?;
        let bound = bound_of(run, best.id, share_of(delta.get() * SET_ASIDE))?.into_profile();
        let profile: Arc<dyn PrivacyProfile> = match convert {
            true => Arc::new(GroupProfile::of_a_replacement(bound.as_ref())),
            false => bound,
        };
        Ok(Place { epsilon: best.epsilon(), analysis: best.id, profile })
    };
    let in_turn = run.as_training().filter(|training| has_places(training));
    let Some(training) = in_turn else {
        let to = run.as_training().map_or(u64::MAX, |training| training.records);
        return Ok(vec![asked(run)?.cost(1, to)]);
    };
    let at = |place: u64| {
        asked(&run.of_record(training.first_record_of(place)).map_err(|_| TotalError::NoGuarantee)?)
    };
    let ranges: Vec<(u64, u64)> = monotone_ranges(training);
    let ends: Vec<(Place, Place)> =
        ranges.par_iter().map(|&(from, to)| Ok((at(from)?, at(to)?))).collect::<Result<_, TotalError>>()?;
    let largest = ends.iter().map(|(a, b)| a.epsilon.max(b.epsilon)).fold(0.0, f64::max);
    let mut costs = Vec::new();
    for (range, (first, last)) in ranges.into_iter().zip(ends) {
        costs.extend(divided(&at, range, &first, &last, SMALL * largest)?);
    }
    let records = |cost: PlaceCost| PlaceCost {
        from: training.first_record_of(cost.from),
        to: (training.first_record_of(cost.to + 1) - 1).min(training.records),
        ..cost
    };
    let mut costs: Vec<PlaceCost> =
        costs.into_iter().map(records).filter(|cost| cost.from <= cost.to).collect();
    // Records that fill no batch may be dropped; they count as if they were in the last one.
    if let Some(last) = costs.last_mut() {
        last.to = training.records;
    }
    Ok(costs)
}

/// Whether records have places, and protection is monotone between some of them.
fn has_places(training: &Training) -> bool {
    matches!(training.order, Order::Once | Order::Cyclic) && training.has_equal_steps()
}

/// What is known of one place.
#[derive(Clone)]
struct Place {
    epsilon: f64,
    analysis: &'static str,
    profile: Arc<dyn PrivacyProfile>,
}

impl Place {
    fn cost(self, from: u64, to: u64) -> PlaceCost {
        PlaceCost { from, to, analysis: self.analysis, profile: stored(self.profile.as_ref()) }
    }

    /// What holds at both, and between them.
    fn or(&self, other: &Self) -> Self {
        let worse = if self.epsilon >= other.epsilon { self } else { other };
        let both = vec![self.profile.clone(), other.profile.clone()];
        Self { profile: Arc::new(WorstProfile::new(both)), ..worse.clone() }
    }
}

/// Divides a range on which protection is monotone until its ends are alike.
fn divided(
    at: &(dyn Fn(u64) -> Result<Place, TotalError> + Sync),
    (from, to): (u64, u64),
    first: &Place,
    last: &Place,
    small: f64,
) -> Result<Vec<PlaceCost>, TotalError> {
    let (less, more) = (first.epsilon.min(last.epsilon), first.epsilon.max(last.epsilon));
    if from == to {
        return Ok(vec![last.clone().cost(from, to)]);
    }
    if more <= ALIKE * less || more <= small || to == from + 1 {
        return match to == from + 1 && more > ALIKE * less && more > small {
            true => Ok(vec![first.clone().cost(from, from), last.clone().cost(to, to)]),
            false => Ok(vec![first.or(last).cost(from, to)]),
        };
    }
    let middle = from.midpoint(to);
    let (before, after) = rayon::join(|| at(middle), || at(middle + 1));
    let (before, after) = (before?, after?);
    let (left, right) = rayon::join(
        || divided(at, (from, middle), first, &before, small),
        || divided(at, (middle + 1, to), &after, last, small),
    );
    let mut costs = left?;
    costs.extend(right?);
    Ok(costs)
}

/// A copy that is small enough to be kept for each release: not below the profile anywhere.
fn stored(profile: &dyn PrivacyProfile) -> PiecewiseProfile {
    let fine = PiecewiseProfile::interpolating(profile, TOLERANCE);
    let kept = |direction| {
        let kept = |knot: &&Knot| knot.delta() >= DEEPEST || knot.delta() == 0.0;
        let knots: Vec<Knot> = fine.knots(direction).iter().filter(kept).copied().collect();
        // What is below everywhere keeps one point, so that it is not nothing.
        if knots.is_empty() { fine.knots(direction).first().copied().into_iter().collect() } else { knots }
    };
    match fine.is_symmetric() {
        true => PiecewiseProfile::symmetric(&kept(Direction::Forward)),
        false => PiecewiseProfile::new(&kept(Direction::Forward), &kept(Direction::Reverse)),
    }
}

/// The cost for somebody with this many records at any of these places.
///
/// # Guarantee
/// Records that are changed one after another pass through neighbours, each of which is bounded by the largest of these
/// profiles (see [`GroupProfile`]).
pub fn cost_of_group(costs: &[PlaceCost], records: NonZeroU32) -> PiecewiseProfile {
    let all = costs.iter().map(|cost| Arc::new(cost.profile.clone()) as Arc<dyn PrivacyProfile>).collect();
    let worst = WorstProfile::new(all);
    if records.get() == 1 { stored(&worst) } else { stored(&GroupProfile::new(&worst, records)) }
}

/// The profile of several releases together, each with the number of times it happened.
///
/// # Guarantee
/// That of [`Total`](super::Total): pairs that dominate the releases compose, adaptively or not.
///
/// ```
/// use dobrushin::account::composed_cost;
/// use dobrushin::numeric::theta;
/// use dobrushin::profile::{GaussianProfile, PiecewiseProfile};
/// use dobrushin::{Delta, NonNegative, PrivacyProfile};
///
/// let gaussian = |mu: f64| Ok::<_, dobrushin::Error>(PiecewiseProfile::interpolating(&GaussianProfile::new(NonNegative::new(mu)?), 1e-4));
/// let (three, four) = (gaussian(0.3)?, gaussian(0.4)?);
/// let delta = Delta::new(1e-6)?;
/// let together = composed_cost([(&three, 1), (&four, 1)])?.epsilon(delta).upper();
/// let exact = theta::smallest_epsilon(NonNegative::new(0.5)?, delta).upper();
/// assert!(together >= exact && together < 1.001 * exact);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`NotApplicable`] if they do not compose.
pub fn composed_cost<'a>(
    profiles: impl IntoIterator<Item = (&'a PiecewiseProfile, u64)>,
) -> Result<Arc<dyn PrivacyProfile>, NotApplicable> {
    let part = |(profile, count): (&PiecewiseProfile, u64)| ComposedPart {
        mechanism: Mechanism::Profile(Arc::new(profile.clone())),
        sampling: Sampling::Every,
        neighbours: Neighbours::ReplaceOne,
        count,
    };
    let parts: Vec<ComposedPart> = profiles.into_iter().map(part).collect();
    Ok(ExactComposition.apply(&parts, Effort::Once(COMPOSED))?.into_profile())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Epsilon, Release};

    #[test]
    fn every_record_costs_at_least_what_its_account_says() {
        let delta = Delta::new(1e-5).expect("δ");
        for release in [Release::Last, Release::RandomStop, Release::RandomSkip] {
            let run = Run::pnsgd(60).learning_rate(0.1).lipschitz(1.0).gradient_noise(2.0).release(release);
            let run = run.convex().smoothness(1.0).build().expect("a run");
            let costs =
                costs_by_place(&run, Neighbours::ReplaceOne, delta, &Progress::default()).expect("costs");
            let mut next = 1;
            for cost in &costs {
                assert_eq!(cost.from, next);
                next = cost.to + 1;
                for record in cost.from..=cost.to {
                    let one = run.of_record(record).expect("a record");
                    let account = one.account(Question::EpsilonAt(delta));
                    let alone = account.guarantee().expect("a guarantee").epsilon();
                    let counted = cost.profile.epsilon(delta).upper();
                    assert!(counted >= alone * (1.0 - 1e-4), "{release:?} {record}: {counted} < {alone}");
                    assert!(
                        counted <= 1.3 * alone || counted < 0.02,
                        "{release:?} {record}: {counted} {alone}"
                    );
                }
            }
            assert_eq!(next, 61);
        }
    }

    #[test]
    fn everybody_pays_whichever_record_was_asked_about() {
        let delta = Delta::new(1e-5).expect("δ");
        let falling = crate::LearningRate::InverseSqrt(crate::Positive::new(0.5).expect("η"));
        let run = Run::online(50).learning_rates(falling).lipschitz(1.0).gradient_noise(2.0).convex();
        let run = run.smoothness(1.0).release(Release::Last).build().expect("a run");
        let costs = |run: &Run| {
            costs_by_place(run, Neighbours::ReplaceOne, delta, &Progress::default()).expect("costs")
        };
        assert_eq!(costs(&run.of_record(1).expect("a record")), costs(&run));
        assert!(costs(&run)[0].profile.epsilon(delta).upper() > 0.1);
        // Nor are accounts of one record added up for everybody.
        let total =
            |run: &Run| super::super::Total::of([(run, &run.account(Question::EpsilonAt(delta)))], delta);
        assert!(total(&run).is_ok());
        let first = total(&run.of_record(1).expect("a record"));
        assert!(matches!(first, Err(TotalError::OneRecord(1))));
    }

    #[test]
    fn what_is_known_of_deleted_records_is_no_cost_of_the_others() {
        let delta = Delta::new(1e-5).expect("δ");
        let run = Run::gradient_descent(100).steps(20).clip_norm(1.0).noise_multiplier(4.0).weight_decay(0.1);
        let run = run.neighbours(Neighbours::ZeroOut).release(Release::Last);
        let costs = |run: &Run| costs_by_place(run, Neighbours::ZeroOut, delta, &Progress::default());
        assert!(costs(&run.clone().build().expect("a run")).is_ok());
        let run = run.forget(1, 30).build().expect("a run");
        assert!(matches!(costs(&run), Err(TotalError::OnlyDeleted)));
    }

    #[test]
    fn random_batches_cost_everybody_the_same() {
        let run = Run::dp_sgd(1000).batch_size(10).order(Order::Poisson).steps(100).clip_norm(1.0);
        let run = run.noise_multiplier(1.0).neighbours(Neighbours::AddOrRemoveOne).build().expect("a run");
        let delta = Delta::new(1e-5).expect("δ");
        let cost = |neighbours| costs_by_place(&run, neighbours, delta, &Progress::default());
        let costs = cost(Neighbours::AddOrRemoveOne).expect("costs");
        let [one] = &costs[..] else { panic!("{costs:?}") };
        let alone = run.account(Question::EpsilonAt(delta)).guarantee().expect("one").epsilon();
        let counted = one.profile.epsilon(delta).upper();
        assert!(counted >= alone * (1.0 - 1e-4) && counted < 1.003 * alone, "{counted} {alone}");
        // Somebody who is replaced is removed, and another is added.
        let replaced = cost(Neighbours::ReplaceOne).expect("costs");
        assert!(replaced[0].profile.epsilon(delta).upper() > 1.5 * alone);
        assert!(matches!(cost(Neighbours::ZeroOut), Err(TotalError::OtherNeighbours { .. })));
    }

    #[test]
    fn several_records_of_one_person_cost_more() {
        let run = Run::gradient_descent(100).steps(1).clip_norm(1.0).noise_multiplier(4.0);
        let run = run.neighbours(Neighbours::ZeroOut).build().expect("a run");
        let delta = Delta::new(1e-6).expect("δ");
        let costs = costs_by_place(&run, Neighbours::ZeroOut, delta, &Progress::default()).expect("costs");
        let three = cost_of_group(&costs, const { NonZeroU32::new(3).unwrap() });
        let exact = crate::numeric::theta::smallest_epsilon(crate::NonNegative::new(0.75).expect("μ"), delta);
        let found = three.epsilon(delta).upper();
        assert!(found >= exact.lower() && found < 1.02 * exact.upper(), "{found} {exact:?}");
        assert!(three.delta(Epsilon::new(0.0).expect("ε")).upper() < 1.0);
    }
}
