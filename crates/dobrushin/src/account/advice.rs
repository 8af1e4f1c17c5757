//! Changes that would make a run more private, each tried out.

use super::analyses::Options;
use super::question::{Account, Answer};
use crate::Positive;
use crate::numeric::decimal;
use crate::run::{Divisor, Fact, LearningRate, Noise, Order, Record, Release, Run, Training};

/// A change to a run, and its effect.
///
/// ```
/// use dobrushin::account::advice;
/// use dobrushin::{Delta, Options, Question, Run};
///
/// let run = Run::gradient_descent(100).steps(10).learning_rate(0.1).clip_norm(1.0).noise_multiplier(5.0).build()?;
/// let options = Options { only: vec!["composition"], ..Options::default() };
/// let now = run.account_by(Question::EpsilonAt(Delta::new(1e-5)?), &options);
/// // Composition counts every iterate as published, so that only more noise helps.
/// let tried = advice(&run, &now, &options);
/// assert_eq!(tried.iter().map(|advice| advice.change.as_str()).collect::<Vec<_>>(), ["twice the noise"]);
/// assert!(tried[0].answer.value.upper() < now.guarantee()?.epsilon());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Advice {
    /// The change, in words.
    pub change: String,
    /// The answer after the change.
    pub answer: Answer,
    /// The analysis that gives this answer.
    pub analysis: &'static str,
}

/// How much an answer must fall, at least, for a change to be worth reporting.
const WORTH: f64 = 0.95;

/// The changes that help, the best first. Each change was made, and the changed run was analysed with the same options.
///
/// ```
/// use dobrushin::account::advice;
/// use dobrushin::{Delta, Options, Question, Release, Run};
///
/// let run = Run::gradient_descent(100).steps(100).learning_rate(0.1).clip_norm(1.0).noise_multiplier(5.0);
/// let run = run.release(Release::Last).weight_decay(0.1).build()?;
/// let options = Options { only: vec!["composition", "shift"], ..Options::default() };
/// let now = run.account_by(Question::EpsilonAt(Delta::new(1e-5)?), &options);
/// let tried = advice(&run, &now, &options);
/// assert!(!tried.is_empty());
/// assert!(tried.is_sorted_by_key(|advice| advice.answer.value.upper()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn advice(run: &Run, now: &Account, options: &Options) -> Vec<Advice> {
    let (Some(training), question) = (run.as_training(), now.question) else {
        return Vec::new();
    };
    let Ok(now) = now.guarantee().map(|best| best.answer.value.upper()) else {
        return Vec::new();
    };
    let changes = changes(training);
    options.progress.add_parts(changes.len() as u64);
    let tried = changes.into_iter().filter_map(|(change, training)| {
        let account = Run::training(training).map(|run| run.account_by(question, &options.unwatched()));
        options.progress.advance(1);
        let account = account.ok()?;
        let best = account.guarantee().ok()?;
        (best.answer.value.upper() < WORTH * now).then_some(Advice {
            change,
            answer: best.answer,
            analysis: best.id,
        })
    });
    let mut tried: Vec<Advice> = tried.collect();
    tried.sort_by(|a, b| a.answer.value.upper().total_cmp(&b.answer.value.upper()));
    tried
}

fn changes(training: &Training) -> Vec<(String, Training)> {
    let mut changes = Vec::new();
    let mut change = |words: String, change: &dyn Fn(&mut Training)| {
        let mut changed = training.clone();
        change(&mut changed);
        if changed != *training {
            changes.push((words, changed));
        }
    };
    let scaled = |value: Positive, by: f64| Positive::new(value.get() * by).unwrap_or(value);
    change("twice the noise".to_owned(), &|run| {
        run.noise = match &run.noise {
            Noise::Multiplier(m) => Noise::Multiplier(scaled(*m, 2.0)),
            Noise::Gradient(sigma) => Noise::Gradient(scaled(*sigma, 2.0)),
            Noise::GradientList(list) => Noise::GradientList(list.iter().map(|&s| scaled(s, 2.0)).collect()),
            Noise::Iterate(noise) => Noise::Iterate(scaled(*noise, 2.0)),
        };
    });
    if matches!(training.order, Order::Shuffled | Order::Cyclic) && training.record == Record::Worst {
        change(
            format!("a random batch for each record in each pass ({} = \"allocation\")", Fact::Order),
            &|run| {
                (run.order, run.incomplete_batch, run.divide_by) =
                    (Order::Allocation, None, Divisor::BatchSize);
            },
        );
    }
    if training.release == Release::All {
        change(format!("publishing only the last iterate ({} = \"last\")", Fact::Release), &|run| {
            run.release = Release::Last;
        });
        return changes;
    }
    match training.domain.diameter {
        Some(diameter) => {
            let half = scaled(diameter, 0.5);
            change(
                format!("half the domain ({} = {})", Fact::Diameter, decimal::plain(half.get())),
                &|run| {
                    run.domain.diameter = Some(half);
                },
            );
        }
        None => {
            let noise = training.first_noise();
            if let Some(noise) = noise.and_then(|noise| Positive::new(3.0 * noise.midpoint()).ok()) {
                let words = decimal::nearest(noise.get(), 10);
                change(
                    format!("projecting to three noise deviations ({} = {words})", Fact::Diameter),
                    &|run| {
                        run.domain.diameter = Some(noise);
                    },
                );
            }
        }
    }
    if training.weight_decay < 0.01 {
        change(format!("weight decay of 0.01 a step ({})", Fact::WeightDecay), &|run| {
            run.weight_decay = 0.01
        });
    }
    if let (false, Some(LearningRate::Constant(rate))) = (training.uses_convexity(), &training.learning_rate)
    {
        let smooth = scaled(*rate, 1.0);
        let limit = Positive::new(1.0 / smooth.get()).ok();
        change(
            "a convex generalised linear loss with smoothness at most 1/learning-rate ([loss])".to_owned(),
            &|run| {
                run.loss.convex = Some(true);
                run.loss.generalised_linear = Some(true);
                run.loss.smoothness = run.loss.smoothness.or(limit);
            },
        );
    }
    if training.forgetting.is_empty() {
        change(format!("100 more steps on public data ({})", Fact::PublicSteps), &|run| {
            run.public_steps = run.public_steps.saturating_add(100);
        });
    } else {
        change(format!("100 more clean steps ({})", Fact::ForgetSteps), &|run| {
            if let Some(request) = run.forgetting.last_mut() {
                request.steps = request.steps.saturating_add(100);
            }
        });
    }
    changes
}
