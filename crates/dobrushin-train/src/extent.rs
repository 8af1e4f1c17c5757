//! Sizes that can be followed: rows, gradients and the parameters that meet them are numbers of 24 binary digits, iterates
//! and noise of 53.

use crate::{Bounds, Model, Projection};
use dobrushin::run::{Fact, LearningRate, Noise, RunError, Training};
use std::ops::RangeInclusive;

/// The norms of rows.
const ROWS: RangeInclusive<f64> = 1e-10..=1e10;
/// The norms of gradients: with rows of those norms no product comes near the least number of 24 digits, 1e-38, below
/// which roundings are not relative and a clipped gradient may be longer than it should.
const GRADIENTS: RangeInclusive<f64> = 1e-20..=1e20;
/// Parameters, and by how much one step moves them: beyond 3e38 they are no numbers to the gradients.
const LARGEST: f64 = 1e20;
/// The noise over the parameters that it is added to: below, it is lost in their last digits.
const FAINTEST: f64 = 1.0 / (1_u64 << 40) as f64;

/// Refuses a run whose numbers are so small or so large that what it does is not what it says.
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

/// Steps with the largest and the smallest rate and noise.
fn times(training: &Training) -> Vec<u64> {
    let last = training.steps().unwrap_or(1).saturating_add(training.public_steps);
    let lists = matches!(training.learning_rate, Some(LearningRate::List(_)))
        || matches!(training.noise, Noise::GradientList(_));
    if lists { (1..=last).collect() } else { vec![1, last] }
}

/// The largest parameter that training begins with, or a little more.
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

#[cfg(test)]
mod tests {
    use crate::loss::Huber;
    use crate::{Bounds, Description, Model, Plan, Projection, Target};
    use dobrushin::Positive;
    use dobrushin::mechanism::Neighbours;
    use dobrushin::run::{
        Algorithm, Batch, Contribution, Divisor, DomainFacts, Fact, LearningRate, Length, LossFacts, Noise,
        NoiseKind, Order, Record, Release, Training,
    };

    fn positive(value: f64) -> Positive {
        Positive::new(value).expect("above 0")
    }

    /// A run whose numbers are moderate, but for the given ones.
    struct Odd {
        norm: f64,
        clip: f64,
        rate: f64,
        projection: Option<Projection>,
    }

    const MODERATE: Odd = Odd { norm: 1.0, clip: 1.0, rate: 0.1, projection: None };

    /// The fact that is blamed; nothing if all is well.
    fn blamed(odd: Odd) -> Option<Fact> {
        let training = Training {
            algorithm: Algorithm::DpSgd,
            records: 100,
            length: Length::Steps(10),
            batch: Batch::Size(10),
            order: Order::Cyclic,
            incomplete_batch: None,
            release: Release::Last,
            neighbours: Neighbours::ReplaceOne,
            record: Record::Worst,
            public_steps: 0,
            tasks: 1,
            evaluation: None,
            learning_rate: Some(LearningRate::Constant(positive(odd.rate))),
            contribution: Some(Contribution::Clipped(positive(odd.clip))),
            noise_kind: NoiseKind::Gaussian,
            noise: Noise::Multiplier(positive(3.0)),
            weight_decay: 0.0,
            divide_by: Divisor::BatchSize,
            loss: LossFacts::default(),
            domain: DomainFacts::default(),
        };
        let norm = positive(odd.norm);
        let description = Description {
            training,
            model: Model::Linear { loss: Huber { width: positive(1.0) }.into(), features: 3 },
            bounds: Bounds { dimension: 3, norm, target: Target::Range { lower: -1.0, upper: 1.0 } },
            projection: odd.projection,
            loss_bound: positive(1.0),
        };
        Plan::new(description).err().map(|error| error.fact)
    }

    #[test]
    fn what_24_digits_cannot_follow_is_refused() {
        assert_eq!(blamed(MODERATE), None);
        for norm in [1e-300, 1e-45, 1e-11, 1e11, 1e150] {
            let rate: f64 = 1e-3 / (norm * norm);
            let rate = if rate.is_finite() && rate > 0.0 { rate } else { 1e-100 };
            assert_eq!(blamed(Odd { norm, rate, ..MODERATE }), Some(Fact::Schema), "{norm}");
        }
        for clip in [1e-300, 2e-45, 1e-21, 1e21, 1e300] {
            assert_eq!(blamed(Odd { clip, ..MODERATE }), Some(Fact::ClipNorm), "{clip}");
        }
        let ball = |radius| Some(Projection::Ball { radius });
        assert_eq!(blamed(Odd { projection: ball(1e21), ..MODERATE }), Some(Fact::Domain));
        assert_eq!(blamed(Odd { projection: ball(1e-90), ..MODERATE }), None);
    }

    #[test]
    fn a_step_beyond_all_numbers_and_noise_that_changes_no_digit_are_refused() {
        let long = Odd { norm: 1e-9, rate: 1e17, clip: 1e5, ..MODERATE };
        assert_eq!(blamed(long), Some(Fact::LearningRate));
        // Noise of 3e-19 on parameters from 0.25 on, which have a digit of 3e-17.
        let away = || Some(Projection::Box { lower: 0.25, upper: 3.0 });
        assert_eq!(blamed(Odd { rate: 1e-18, projection: away(), ..MODERATE }), Some(Fact::LearningRate));
        assert_eq!(blamed(Odd { rate: 1e-18, ..MODERATE }), None);
        assert_eq!(blamed(Odd { projection: away(), ..MODERATE }), None);
    }
}
