//! Runs on a domain of known dimension that publish every iterate: one step, seen with the iterate before it.
//!
//! The domain may be a segment, and the others may pull towards its middle. If the iterate before the record's use is not far from
//! the middle, the next one is push and noise, and the projection hardly ever changes it.
//!
//! # Guarantee
//! Let W be the iterate before the use, which has the same law with D and D′, and p the probability of |W| ≤ a. The two releases
//! differ by at least p·(E_γ of one step from there). Projection does not increase the distance from the middle, so
//! E W² ≤ Σ (product of what later steps keep)²·s² = v, and p ≥ 1 − v/a² (Chebyshev).

use super::Instance;
use super::densities::Normal;
use super::documented::Documented;
use super::effect::Others;
use super::except::{self, Except};
use dobrushin::numeric::normal;
use dobrushin::profile::{Direction, GaussianProfile, PrivacyProfile};
use dobrushin::run::{NoiseKind, Order, Release};
use dobrushin::{Delta, Enclosure, Epsilon, NonNegative};
use std::sync::Arc;

/// Steps are looked at one by one, up to this many.
const MOST_STEPS: u64 = 1 << 20;

/// The instances of a run that uses a record once.
pub(super) fn instances(of: &Documented<'_>) -> Vec<Instance> {
    of.places().into_iter().filter_map(|place| instance(of, place)).collect()
}

fn instance(of: &Documented<'_>, place: u64) -> Option<Instance> {
    let run = of.run;
    let diameter = run.domain.diameter?.get();
    let fits = run.release == Release::All
        && run.noise_kind == NoiseKind::Gaussian
        && run.order == Order::Once
        && run.loss.strong_convexity.is_none()
        && of.private <= MOST_STEPS;
    if !fits {
        return None;
    }
    let (norm, effect) = (of.norm()?, of.effect(Others::Still)?);
    let [amount] = effect.amounts[..] else { return None };
    let time = of.step_of(0, place)?;
    let (noise, rate) = (of.noise(time)?, of.learning_rate(time)?);
    let push = rate * norm * amount.least;
    let near = diameter / 4.0;
    let inside = 1.0 - of.spread_before(time, norm, diameter)? / (near * near) * (1.0 + 1e-9);
    let beyond = 2.0 * normal::tail((diameter / 2.0 - near - push) / noise * (1.0 - 1e-9)).upper();
    let sides = if effect.opposite { 2.0 } else { 1.0 };
    let distance = NonNegative::new(sides * push / noise * (1.0 - 1e-12)).ok()?;
    let step = Except::new(Arc::new(GaussianProfile::new(distance)), beyond);
    if inside <= 0.0 {
        return None;
    }
    let profile = Sometimes { of: step, probability: inside * (1.0 - 1e-9) };
    let words = "every iterate is published: the others pull towards the middle of a segment, and the difference of the two \
                 iterates around the record's use tells it"
        .to_owned();
    let densities = Arc::new(Normal { distance: distance.get() });
    Some(Instance { profile: Arc::new(profile), words, densities: Some(densities) })
}

impl Documented<'_> {
    /// A bound on E W² before a step, if the others before it pull towards the middle as strongly as is allowed.
    fn spread_before(&self, time: u64, norm: f64, diameter: f64) -> Option<f64> {
        let rate = (1..=2).chain([time]).filter_map(|t| self.learning_rate(t)).fold(0.0, f64::max);
        let all = (1.0 - self.run.weight_decay) / rate;
        let steepest = self.run.loss.smoothness.map_or(all, |beta| beta.get().min(all));
        let varies = matches!(self.run.learning_rate, Some(dobrushin::run::LearningRate::List(_)));
        let curvature = if varies { 0.0 } else { steepest.min(2.0 * norm / diameter) * (1.0 - 1e-12) };
        let mut spread = 0.0;
        for time in 1..time {
            let (keep, noise) = (self.keep(time, curvature)?, self.noise(time)?);
            spread = keep * keep * spread + noise * noise;
        }
        Some(spread)
    }
}

/// What is told with some probability, the same for both data sets, and otherwise nothing.
struct Sometimes {
    of: Except,
    probability: f64,
}

impl PrivacyProfile for Sometimes {
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        self.of.delta_of(direction, epsilon) * Enclosure::from(self.probability)
    }

    fn epsilon_of(&self, direction: Direction, delta: Delta) -> Enclosure {
        except::epsilon(delta, |epsilon| self.delta_of(direction, epsilon))
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}
