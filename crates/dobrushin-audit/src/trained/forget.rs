//! A landscape that forgets the noise of early steps, where the loss is convex or smooth.
//!
//! All other records share the loss (h/2)·⟨u, w⟩², where u is the direction in which the record pushes. It is convex, smooth
//! and generalised linear, and clipping keeps all three. A step then multiplies the coordinate along u by
//! g = 1 − λ − η·h·(others in the batch)/(divisor). Noise of early steps, which hides what the last uses of the record
//! did, is forgotten; so is what early uses did. The h is chosen for which the release tells most.

use super::uses::Uses;
use dobrushin::run::{Release, Training};
use dobrushin_train::Table;

/// The curvatures that are tried.
const TRIED: u32 = 64;
/// Runs with more steps than this are attacked without curvature.
const MOST_STEPS: u64 = 1 << 20;

/// The numbers of a step.
struct Step {
    /// By how much the record pushes.
    push: f64,
    /// The probability that it does.
    used: f64,
    /// The variance of the noise.
    noise: f64,
    /// By how much all others together move the iterate, if their gradients are 1.
    strength: f64,
}

/// The curvature h of the others' losses; 0 if a linear landscape tells most, or if that is not known.
pub(super) fn curvature(training: &Training, table: &Table, uses: &Uses) -> f64 {
    let last = uses.steps;
    if training.release != Release::Last || training.public_steps > 0 || last > MOST_STEPS {
        return 0.0;
    }
    let others = uses.others(table);
    let step = |time: u64| {
        let update = training.update_at(time)?;
        let pace = update.rate / update.divisor;
        Some(Step {
            push: pace * training.contribution?.norm().get(),
            used: uses.probability(time),
            noise: update.noise * update.noise,
            strength: pace * others,
        })
    };
    let steps: Option<Vec<Step>> = (1..=last).map(step).collect();
    let steps = steps.unwrap_or_default();
    let decay = 1.0 - training.weight_decay;
    let strongest = steps.iter().map(|step| step.strength).fold(0.0, f64::max);
    // No coordinate changes its sign, and the loss is no smoother than is claimed.
    let most = training.loss.smoothness.map_or(f64::INFINITY, |beta| beta.get()).min(decay / strongest);
    if !most.is_finite() {
        return 0.0;
    }
    // The square of the distance of the two laws, over their variance.
    let worth = |curvature: f64| {
        let (mean, variance) = steps.iter().fold((0.0, 0.0), |(mean, variance), step| {
            let kept = decay - curvature * step.strength;
            let by_chance = step.used * (1.0 - step.used) * step.push * step.push;
            (kept * mean + step.used * step.push, kept * kept * variance + step.noise + by_chance)
        });
        mean * mean / variance
    };
    let tried = (0..=TRIED).map(|place| most * f64::from(place) / f64::from(TRIED));
    let best = tried.map(|curvature| (worth(curvature), curvature));
    best.reduce(|best, next| if next.0 > best.0 { next } else { best })
        .map_or(0.0, |(_, curvature)| curvature)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dobrushin::Positive;
    use dobrushin::run::{Order, Run};
    use dobrushin_train::{Bounds, Target};

    fn found(run: Run, smoothness: Option<f64>) -> f64 {
        let mut training = run.as_training().expect("it is an iteration").clone();
        training.loss.smoothness = smoothness.map(|beta| Positive::new(beta).expect("above 0"));
        let bounds =
            Bounds { dimension: 1, norm: Positive::new(1.0).expect("above 0"), target: Target::Classes(2) };
        let mut table = Table::new(bounds, 1);
        (0..40).for_each(|_| table.push_empty());
        curvature(&training, &table, &Uses::new(&training, &table))
    }

    #[test]
    fn what_is_used_in_every_step_is_not_forgotten_and_what_is_used_once_is_kept_alone() {
        let full = Run::gradient_descent(40).steps(20).release(Release::Last).learning_rate(0.5);
        let full = full.clip_norm(1.0).noise_multiplier(1.0).build().expect("valid");
        assert_eq!(found(full, Some(1.0)), 0.0);
        let once = Run::dp_sgd(40).order(Order::Cyclic).batch_size(10).steps(4).release(Release::Last);
        let once = once.learning_rate(0.5).clip_norm(1.0).noise_multiplier(1.0).build().expect("valid");
        // One use, in the last step: all that was before is noise. Nine others move the iterate by 0.5·9/10.
        assert!((found(once.clone(), None) - 1.0 / 0.45).abs() < 1e-9);
        assert_eq!(found(once, Some(0.5)), 0.5);
    }
}
