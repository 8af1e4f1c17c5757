//! Runs that remember nothing but their last step.
//!
//! A guarantee for a domain of diameter D, and no word about the dimension, holds for balls of every dimension. In a
//! ball of radius R in d dimensions, noise s in every coordinate has length s·√d, and so an iterate is projected to about
//! R/(s·√d) times itself: every coordinate shrinks to nothing as d grows, but each can be read off the release, because it
//! is known by what factor it shrank. So the next step starts, in the coordinate along which the record pushes, from
//! almost 0, whatever happened before, and the release tells what the last step did: push and noise.
//!
//! # Guarantee
//! Let S be the coordinate of the release in the direction of the push, times s·√d/R. As d → ∞, S converges in law to
//! push + N(0, s²), with D and with D′: the norm of the noise is s·√d up to a factor that converges to 1, and the
//! coordinate from which the last step starts converges to 0. E_γ is lower semicontinuous under convergence in law, so that
//! for every number below E_γ of the limits there is a dimension in which E_γ of the releases is above it.

use super::Instance;
use super::bells::Bells;
use super::documented::{Documented, nearly};
use super::effect::Others;
use super::uses::{Atom, Use, sum_law};
use dobrushin::run::{NoiseKind, Order, Record, Release};

/// The instances of a run whose domain may be a ball of any dimension.
pub(super) fn instances(of: &Documented<'_>) -> Vec<Instance> {
    let run = of.run;
    let any_dimension = run.domain.diameter.is_some() && run.domain.dimension.is_none();
    if !any_dimension || run.noise_kind != NoiseKind::Gaussian || run.public_steps > 0 || run.tasks > 1 {
        return Vec::new();
    }
    [Others::Still, Others::Opposed].into_iter().filter_map(|others| instance(of, others)).collect()
}

fn instance(of: &Documented<'_>, others: Others) -> Option<Instance> {
    let time = of.private;
    let effect = of.effect(others)?;
    let factor = of.learning_rate(time)? * of.norm()?;
    let width = nearly(of.noise(time)?);
    let bells = |probability: f64| {
        let scaled = |atom: &Atom| Atom {
            least: factor * atom.least,
            most: factor * atom.most,
            probability: probability * atom.probability,
        };
        let atoms = effect.amounts.iter().map(scaled).collect();
        Some(Bells::new(&sum_law(&[Use { atoms, count: 1 }])?, width, effect.opposite))
    };
    let bells = match of.run.release {
        Release::Last | Release::RandomSkip | Release::All => bells(chance_of_the_last_step(of)?)?,
        // The step after which the run stops is the last one; if it is a use with certainty 1/T, the release is that of
        // the use with that probability.
        Release::RandomStop if of.has_equal_steps() => match of.run.order {
            Order::Poisson | Order::WithoutReplacement | Order::Full => bells(chance_of_the_last_step(of)?)?,
            Order::Once | Order::Cyclic => bells(of.most_uses() as f64 / time as f64)?,
            // Another step than the last of a pass may be the one after which the run stops.
            Order::Shuffled | Order::Allocation => {
                bells(chance_in_a_batch(of) * (1.0 - 1.0 / of.steps_in_a_pass()).max(0.0))?
            }
        },
        Release::RandomStop => return None,
    };
    let words = "only the last step counts: iterates are projected to a ball of so many dimensions that the noise hides \
                 where a step starts"
        .to_owned();
    Some(bells.except(effect.exception).instance(words))
}

/// The probability with which a complete batch holds the record.
fn chance_in_a_batch(of: &Documented<'_>) -> f64 {
    match of.run.order {
        Order::Allocation => 1.0 / of.steps_in_a_pass(),
        _ => (of.batch() / of.run.records as f64).min(1.0),
    }
}

impl Documented<'_> {
    /// How often the record is used, or the one that is used most often.
    fn most_uses(&self) -> usize {
        let uses = |&place: &u64| {
            (0..self.passes().min(MOST_PASSES)).filter(|pass| self.step_of(*pass, place).is_some()).count()
        };
        self.places().iter().map(uses).max().unwrap_or(0)
    }
}

/// More passes than these are not counted.
const MOST_PASSES: u64 = 1 << 16;

/// The probability with which the last step uses the record.
fn chance_of_the_last_step(of: &Documented<'_>) -> Option<f64> {
    match of.run.order {
        Order::Full => Some(1.0),
        Order::Poisson | Order::WithoutReplacement => Some(of.rate_of_use().min(1.0)),
        // The last batch of a pass may hold fewer records than the others.
        Order::Shuffled if of.run.records as f64 % of.batch() != 0.0 => None,
        Order::Shuffled | Order::Allocation => Some(chance_in_a_batch(of)),
        Order::Once | Order::Cyclic => {
            let used = |place: u64| {
                of.passes().checked_sub(1).and_then(|pass| of.step_of(pass, place)) == Some(of.private)
            };
            let some = match of.run.record {
                Record::Index(index) => used(index - 1),
                Record::Worst => of.places().into_iter().any(used),
            };
            some.then_some(1.0)
        }
    }
}
