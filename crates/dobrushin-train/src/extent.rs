//! Sizes that arithmetic can handle: rows, gradients and the parameters that meet them have 24 binary digits, iterates
//! and noise have 53.

use crate::{Bounds, Model, Projection};
use dobrushin::run::{Fact, LearningRate, Noise, RunError, Training};
use std::ops::RangeInclusive;

/// The norms of rows.
const ROWS: RangeInclusive<f64> = 1e-10..=1e10;
/// The norms of gradients. With rows of those norms, no product comes near the smallest number of 24 digits, 1e-38,
/// below which roundings are not relative and a clipped gradient may be longer than it should be.
const GRADIENTS: RangeInclusive<f64> = 1e-20..=1e20;
/// Parameters, and how far one step moves them: beyond 3e38, they are infinite to the gradients.
const LARGEST: f64 = 1e20;
/// The noise over the parameters that it is added to: below this, it is lost in their last digits.
const FAINTEST: f64 = 1.0 / (1_u64 << 40) as f64;

/// Refuses a run whose numbers are so small or so large that it would not do what it says.
///
/// # Errors
/// [`RunError`] with the fact that is to blame.
pub(crate) fn check(
    training: &Training,
    model: &Model,
    bounds: &Bounds,
    projection: Option<Projection>,
) -> Result<(), RunError> {
    let outside = |value: f64, range: &RangeInclusive<f64>| {
        let (least, most) = (range.start(), range.end());
        (!range.contains(&value))
            .then(|| format!("{value:e}, but training follows numbers from {least:e} to {most:e}"))
    };
    if let Some(why) = outside(bounds.norm.get(), &ROWS) {
        return Err(RunError::new(Fact::Schema, format!("bounds the norm of rows by {why}"), "norm = 2.0"));
    }
    if let Some(norm) = training.contribution
        && let Some(why) = outside(norm.norm().get(), &GRADIENTS)
    {
        return Err(RunError::new(
            Fact::ClipNorm,
            format!("or what is derived in its place is {why}"),
            "clip-norm = 1.0",
        ));
    }
    if let Some(reach) = projection.map(|set| set.reach(model.parameters()))
        && reach > LARGEST
    {
        let message =
            format!("reaches as far as {reach:e}, but training follows parameters up to {LARGEST:e}");
        return Err(RunError::new(Fact::Domain, message, "ball = 5.0"));
    }
    let start = size_of_start(model, projection);
    for time in times(training) {
        let (Some(update), Some(norm)) = (training.update_at(time), training.contribution) else {
            continue;
        };
        let step = update.rate * norm.norm().get();
        if step.max(update.noise) > LARGEST {
            let message = format!(
                "moves parameters by {:e} in one step, but training follows parameters up to {LARGEST:e}",
                step.max(update.noise)
            );
            return Err(RunError::new(Fact::LearningRate, message, "learning-rate = 0.1"));
        }
        if update.noise < start * FAINTEST {
            let message = format!(
                "makes the noise {:e}, which is lost in the last digits of parameters that begin as large as {start}",
                update.noise
            );
            return Err(RunError::new(Fact::LearningRate, message, "learning-rate = 0.1"));
        }
    }
    Ok(())
}

/// The steps with the largest and the smallest rate and noise.
fn times(training: &Training) -> Vec<u64> {
    let last = training.steps().unwrap_or(1).saturating_add(training.public_steps);
    let lists = matches!(training.learning_rate, Some(LearningRate::List(_)))
        || matches!(training.noise, Noise::GradientList(_));
    if lists { (1..=last).collect() } else { vec![1, last] }
}

/// The largest parameter with which training starts, or slightly more.
fn size_of_start(model: &Model, projection: Option<Projection>) -> f64 {
    let size = if matches!(model, Model::Network { .. }) { 1.0 } else { 0.0 };
    match projection {
        None => size,
        Some(Projection::Ball { radius }) => radius.min(size),
        Some(Projection::Box { lower, upper }) => {
            size.max(lower).max(-upper).min(lower.abs().max(upper.abs()))
        }
        Some(Projection::Simplex { scale }) => scale,
    }
}
