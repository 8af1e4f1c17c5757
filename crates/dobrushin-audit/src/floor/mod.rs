//! Floors: how much of a guarantee is real.
//!
//! A guarantee is a supremum over everything that the facts of a run allow. Any instance that obeys these facts, and whose
//! E_γ is known, bounds this supremum from below: no analysis that uses only these facts can prove less. Nothing here
//! is shared with the way from a run to its chains, or with the analyses of chains: a floor above a guarantee is an error
//! in one of the two.

mod before_and_after;
mod bells;
mod chained;
mod densities;
mod documented;
mod effect;
mod except;
mod forgotten;
mod landscape;
mod last_step;
mod linear;
mod of_tasks;
mod one_increment;
mod published;
mod segment;
mod symmetric;
mod uses;

pub use densities::{Densities, Event};

use dobrushin::account::{Answer, Question};
use dobrushin::profile::PrivacyProfile;
use dobrushin::run::Run;
use std::sync::Arc;

/// An instance that obeys all facts of a run.
pub(crate) struct Instance {
    /// A lower bound on what it releases.
    profile: Arc<dyn PrivacyProfile>,
    /// The instance, in words.
    words: String,
    /// Its two laws, where one number is released.
    densities: Option<Arc<dyn Densities>>,
}

/// What no analysis of the same facts can go below.
///
/// # Guarantee
/// There are two neighbouring data sets that obey everything the run claims, or a sequence of such pairs, for which E_γ
/// of the releases is at least the lower end of `profile` at every ε = ln γ. So no bound that holds for all data with these
/// facts is below the lower end of `answer`. The upper end is what the same event tells at most; another event may tell more.
pub struct Floor {
    /// The answer for the instance; its lower end is the floor.
    pub answer: Answer,
    /// The instance, in words.
    pub instance: String,
    /// What the instance releases, at every ε.
    pub profile: Arc<dyn PrivacyProfile>,
    /// The two laws of the instance, where one number is released.
    pub densities: Option<Arc<dyn Densities>>,
}

/// The highest floor of a run that is known; `None` if no instance is.
///
/// ```
/// use dobrushin::{Delta, Neighbours, Order, Question, Run};
/// use dobrushin_audit::floor::floor;
///
/// // Full batches with weight decay: the bound is attained.
/// let run = Run::gradient_descent(1000).steps(100).learning_rate(0.5).clip_norm(1.0).noise_multiplier(20.0);
/// let run = run.weight_decay(0.05).convex().generalised_linear().smoothness(1.0);
/// let run = run.release(dobrushin::Release::Last).build()?;
/// let question = Question::EpsilonAt(Delta::new(1e-5)?);
/// let guarantee = run.account(question).guarantee()?.epsilon();
/// let floor = floor(&run, question).ok_or("there is an instance")?.answer.value.lower();
/// assert!(floor <= guarantee && floor > 0.9999 * guarantee);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn floor(run: &Run, question: Question) -> Option<Floor> {
    let small = match question {
        Question::EpsilonAt(delta) => (delta.get() * 1e-3).clamp(1e-15, 1e-4),
        Question::DeltaAt(_) => 1e-13,
    };
    let mut instances = Vec::new();
    let deleted = run.as_training().filter(|training| !training.forgetting.is_empty());
    if let Some(training) = deleted {
        instances.extend(forgotten::instances(training, small));
    } else if let Some(training) = run.as_training() {
        for of in documented::runs(training) {
            let published = published::instances(&of);
            // What is published one by one tells all that its last part tells.
            if published.is_empty() {
                instances.extend(last_step::instances(&of));
                instances.extend(linear::instances(&of, small));
                instances.extend(before_and_after::instances(&of, small));
                instances.extend(segment::instances(&of, question));
            }
            instances.extend(published);
            instances.extend(one_increment::instances(&of));
        }
    }
    if let Some(tasks) = run.as_tasks() {
        instances.extend(of_tasks::instance(tasks, small));
    }
    if let Some(chain) = run.as_chain() {
        instances.extend(chained::instances(chain));
    }
    if let Some(list) = run.as_mechanisms() {
        instances.extend(published::mechanisms(list));
    }
    let mut best: Option<Floor> = None;
    for Instance { profile, words, densities } in instances {
        let answer = question.ask(profile.as_ref());
        if best.as_ref().is_none_or(|best| answer.value.lower() > best.answer.value.lower()) {
            best = Some(Floor { answer, instance: words, profile, densities });
        }
    }
    best
}
