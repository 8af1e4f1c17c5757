//! Sizes that cannot be followed are refused.

use dobrushin::Positive;
use dobrushin::run::{Fact, Order, Release, Run};
use dobrushin_train::loss::Huber;
use dobrushin_train::{Bounds, Description, Model, Plan, Projection, Target};

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
    let run = Run::dp_sgd(100).steps(10).batch_size(10).order(Order::Cyclic).release(Release::Last);
    let run = run
        .learning_rate(odd.rate)
        .clip_norm(odd.clip)
        .noise_multiplier(3.0)
        .build()
        .expect("it fits together");
    let training = run.as_training().expect("it is an iteration").clone();
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
