//! A record that is used once, where the other records contract before it is used, and keep what it did afterwards.
//!
//! Records in turn have losses of their own. Those that come before the record share one of curvature h, which keeps the
//! noise of their steps small; those that come after it have constant losses, or as little curvature as is claimed. So the
//! released number is N(±m, v) with m = push·Π keep and v = Σ (product of what later steps keep)²·s², and what it tells is
//! known exactly.
//!
//! The gradients of the curved losses are as long as is allowed at most while the iterate is within reach of its start. The
//! probability that it ever leaves is counted against the floor.

use super::Instance;
use super::densities::Normal;
use super::documented::{Documented, nearly};
use super::effect::Others;
use super::except::Except;
use super::linear::power;
use dobrushin::numeric::normal;
use dobrushin::profile::GaussianProfile;
use dobrushin::run::{NoiseKind, Order, Release};
use dobrushin::{NonNegative, Probability};
use std::sync::Arc;

/// Steps are looked at one by one, up to this many.
const MOST_STEPS: u64 = 1 << 18;
/// How often the curvature is halved until the gradients are short enough.
const HALVINGS: u32 = 12;
/// What is left of the start of a run that starts at a random time must be less than this.
const FORGOTTEN: f64 = 1e-18;

/// The best instance of this kind for each place of the record; `small` is the probability of exceptions that is not worth
/// noticing.
pub(super) fn instances(of: &Documented<'_>, small: f64) -> Vec<Instance> {
    let found = of.places().into_iter().filter_map(|place| told(of, place, small));
    found.filter_map(|told| told.instance(of)).collect()
}

/// The instance of this kind that tells most about the record at a place, counted from 0.
pub(super) fn told(of: &Documented<'_>, place: u64, small: f64) -> Option<Told> {
    let run = of.run;
    let fits = run.order == Order::Once
        && run.noise_kind == NoiseKind::Gaussian
        && matches!(run.release, Release::Last | Release::RandomSkip | Release::All)
        && (of.has_equal_steps() || of.steps() <= MOST_STEPS);
    if !fits {
        return None;
    }
    let time = of.step_of(0, place)?;
    let halvings = if of.has_equal_steps() { HALVINGS } else { 3 };
    let all = (0..halvings).filter_map(|halved| Curved::new(of, time, halved)?.told(small));
    all.reduce(|best, next| if next.distance > best.distance { next } else { best })
}

/// The curvatures of the losses before and after the record's use.
struct Curved<'a> {
    of: &'a Documented<'a>,
    /// The step that uses the record.
    time: u64,
    before: f64,
    after: f64,
}

/// The variance of the released number, the largest of any iterate, and what is left of that of a start at a random time.
struct Spread {
    variance: f64,
    largest: f64,
    start: f64,
}

/// What an instance tells.
pub(super) struct Told {
    /// The distance of the two means in widths of the noise.
    pub distance: f64,
    pub exception: f64,
    before: f64,
}

impl<'a> Curved<'a> {
    fn new(of: &'a Documented<'a>, time: u64, halved: u32) -> Option<Self> {
        let loss = &of.run.loss;
        let after = loss.strong_convexity.map_or(0.0, |rho| rho.get());
        // The longest step may keep nothing, and no step may overshoot.
        let rate = (1..=2).chain([of.steps()]).filter_map(|t| of.learning_rate(t)).fold(0.0, f64::max);
        let all = (1.0 - of.run.weight_decay) / rate;
        let most = loss.smoothness.map_or(all, |beta| beta.get().min(all)) * (1.0 - 1e-12);
        let before = (after + (most - after).max(0.0) / f64::from(1_u32 << halved)).max(after);
        let varies = matches!(of.run.learning_rate, Some(dobrushin::run::LearningRate::List(_)));
        (before.is_finite() && (!varies || before == after)).then_some(Self { of, time, before, after })
    }

    fn told(&self, small: f64) -> Option<Told> {
        let of = self.of;
        let effect = of.effect(Others::Still)?;
        let norm = of.norm()?;
        let [amount] = effect.amounts[..] else { return None };
        let skipped = if of.run.release == Release::RandomSkip { of.private / 2 } else { 0 };
        let Spread { variance, largest, start } = self.spread(skipped)?;
        if skipped > 0 && (skipped >= self.time || start > FORGOTTEN) {
            return None;
        }
        let left = of.learning_rate(self.time)? * amount.least * self.kept()?;
        let (push, exception) = self.push(norm, largest, small)?;
        let sides = if effect.opposite { 2.0 } else { 1.0 };
        let distance = sides * push * left / variance.sqrt() * (1.0 - 1e-9);
        distance.is_finite().then_some(Told { distance, exception, before: self.before })
    }

    /// What the steps after the use keep of it.
    fn kept(&self) -> Option<f64> {
        let of = self.of;
        if of.has_equal_steps() {
            return Some(power(of.keep(1, self.after)?, of.steps() - self.time));
        }
        (self.time + 1..=of.steps()).map(|time| of.keep(time, self.after)).product()
    }

    /// How far the noise spreads the iterate.
    fn spread(&self, skipped: u64) -> Option<Spread> {
        let of = self.of;
        let (before, after) = (self.time - 1, of.steps() + 1 - self.time);
        if of.has_equal_steps() {
            let (first, second, noise) = (of.keep(1, self.before)?, of.keep(1, self.after)?, of.noise(1)?);
            if first < 0.0 || second < 0.0 {
                return None;
            }
            let sum = |keep: f64, count: u64| match keep < 1.0 {
                true => (1.0 - power(keep, 2 * count)) / (1.0 - keep * keep),
                false => count as f64,
            };
            let early = sum(first, before);
            let variance = noise * noise * (power(second, 2 * after) * early + sum(second, after));
            let start = power(first, 2 * before.saturating_sub(skipped));
            return Some(Spread { variance, largest: noise * noise * (early + sum(second, after)), start });
        }
        let mut all = Spread { variance: 0.0, largest: 0.0, start: 1.0 };
        for time in 1..=of.steps() {
            let curvature = if time < self.time { self.before } else { self.after };
            let (keep, noise) = (of.keep(time, curvature)?, of.noise(time)?);
            if keep < 0.0 {
                return None;
            }
            all.variance = keep * keep * all.variance + noise * noise;
            all.largest = all.largest.max(all.variance);
            if time > skipped && time < self.time {
                all.start *= keep * keep;
            }
        }
        Some(all)
    }

    /// The gradient that is left to the record, and the probability that the description fails.
    fn push(&self, norm: f64, variance: f64, small: f64) -> Option<(f64, f64)> {
        let of = self.of;
        let domain = of.run.domain.diameter;
        // Without a domain, the bound of a strongly convex loss is that of what the record adds to the gradient ρ·w.
        let free = if domain.is_none() && !of.is_clipped() { self.after } else { 0.0 };
        if self.before <= free && domain.is_none() {
            return Some((norm, 0.0));
        }
        let times = Probability::new(small / (2.0 * of.steps() as f64)).ok()?;
        let largest_rate = (1..=1).chain([self.time]).filter_map(|t| of.learning_rate(t)).fold(0.0, f64::max);
        let amount = of.effect(Others::Still)?.amounts.first()?.most;
        let reach = (normal::tail_inverse(times).upper() * variance.sqrt() + largest_rate * norm * amount)
            * (1.0 + 1e-9);
        if domain.is_some_and(|diameter| 2.0 * reach > diameter.get()) || (self.before - free) * reach > norm
        {
            return None;
        }
        let left = norm - (self.after - free) * reach;
        (left > 0.0).then_some((left, small))
    }
}

impl Told {
    fn instance(self, of: &Documented<'_>) -> Option<Instance> {
        let distance = nearly(self.distance).lower().max(0.0);
        let profile = Arc::new(GaussianProfile::new(NonNegative::new(distance).ok()?));
        let before = match self.before > 0.0 {
            true => format!(
                "have quadratic losses of curvature {} if they come before the record, and otherwise",
                dobrushin::numeric::decimal::nearest(self.before, 4)
            ),
            false => "have".to_owned(),
        };
        let after = match of.run.loss.strong_convexity {
            Some(rho) => {
                format!("quadratic ones of curvature {}", dobrushin::numeric::decimal::nearest(rho.get(), 4))
            }
            None => "constant losses".to_owned(),
        };
        let words = format!("linear: the record pushes one coordinate; the others {before} {after}");
        let densities = Arc::new(Normal { distance });
        Some(Instance {
            profile: Arc::new(Except::new(profile, self.exception)),
            words,
            densities: Some(densities),
        })
    }
}
