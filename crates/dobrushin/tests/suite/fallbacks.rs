//! Facts that cannot be used cost what they would have gained, and nothing else: no run is refused for them.

use dobrushin::account::Account;
use dobrushin::run::{LearningRate, LossFacts, RunBuilder, Training};
use dobrushin::{Delta, Enclosure, Order, Positive, Question, Release, Run};

fn positive(value: f64) -> Positive {
    Positive::new(value).expect("above 0")
}

/// Records in turn, in batches of ten, on a bounded domain.
fn base(rate: f64) -> RunBuilder {
    let run = Run::dp_sgd(200).order(Order::Cyclic).batch_size(10).steps(100).release(Release::Last);
    run.learning_rate(rate).noise_multiplier(4.0).weight_decay(0.01).diameter(1.0)
}

fn account(run: &Run) -> Account {
    run.account(Question::EpsilonAt(Delta::new(1e-5).expect("a probability")))
}

/// What every analysis answers, without the reasons of those that do not apply.
fn answers(run: &Run) -> Vec<(&'static str, Option<Enclosure>)> {
    let entries = account(run).entries;
    entries.iter().map(|entry| (entry.id, entry.outcome.as_ref().ok().map(|answer| answer.value))).collect()
}

fn epsilon(run: &Run) -> f64 {
    account(run).guarantee().expect("composition applies").epsilon()
}

/// The slope of the first piece of the modulus of the first step.
fn slope(run: &Run) -> f64 {
    let released = run.released().expect("it hides");
    let step = released.views[0].branches()[0].chain.stretches().next().expect("it has steps").step.clone();
    step.modulus.pieces()[0].slope().upper()
}

#[test]
fn a_claim_that_clipping_loses_changes_no_answer() {
    for claims in [
        // A clipped softmax: convex, smooth, and not generalised linear.
        LossFacts { convex: Some(true), generalised_linear: Some(false), ..LossFacts::default() },
        LossFacts { strong_convexity: dobrushin::NonNegative::new(0.1).ok(), ..LossFacts::default() },
    ] {
        let smooth = base(3.0).clip_norm(1.0).smoothness(0.5).build().expect("valid");
        let training = smooth.as_training().expect("an iteration").clone();
        let loss = LossFacts { smoothness: training.loss.smoothness, ..claims };
        let claimed = Run::training(Training { loss, ..training }).expect("nothing is refused");
        assert_eq!(answers(&claimed), answers(&smooth));
        let notes = account(&claimed).warnings.join("\n");
        assert!(notes.contains("convexity is not used") && notes.contains("generalised-linear"), "{notes}");
    }
}

#[test]
fn convexity_without_smoothness_changes_no_answer() {
    let unknown = base(3.0).lipschitz(1.0).build().expect("valid");
    let convex = base(3.0).lipschitz(1.0).convex().build().expect("nothing is refused");
    assert_eq!(answers(&convex), answers(&unknown));
    assert!(account(&convex).warnings.iter().any(|note| note.contains("loss.smoothness is missing")));
}

/// For a quadratic loss of curvature β, two iterates are exactly |1 − λ − ηβ| times as far apart after a step.
#[test]
fn steps_beyond_two_over_beta_count_as_far_as_they_drive_iterates_apart() {
    for (rate, strong) in [(4.1, 0.0), (6.0, 0.0), (40.0, 0.0), (1e6, 0.0), (6.0, 0.3), (40.0, 0.5)] {
        let run = base(rate).lipschitz(1.0).convex().smoothness(0.5).strong_convexity(strong);
        let run = run.build().expect("nothing is refused");
        let exact = (1.0_f64 - 0.01 - rate * 0.5).abs().max((1.0_f64 - 0.01 - rate * strong).abs());
        let counted = slope(&run);
        assert!(
            counted >= exact * (1.0 - 1e-15) && counted < exact * (1.0 + 1e-9),
            "{rate}: {counted} {exact}"
        );
        // What is known of gradients of any shape is 1 − λ + ηβ.
        let any = base(rate).lipschitz(1.0).smoothness(0.5).build().expect("valid");
        assert!(counted < slope(&any) && epsilon(&run) <= epsilon(&any) * (1.0 + 1e-9));
        let notes = account(&run).warnings.join("\n");
        assert!(notes.contains("2/loss.smoothness = 4") && notes.contains("at most 4"), "{notes}");
    }
}

#[test]
fn steps_of_exactly_two_over_beta_keep_iterates_together_and_need_no_note() {
    let run = base(4.0).weight_decay(0.0).lipschitz(1.0).convex().smoothness(0.5).build().expect("valid");
    assert!(slope(&run) <= 1.0 + 1e-12);
    assert!(account(&run).warnings.iter().all(|note| !note.contains("2/loss.smoothness")));
}

/// Only the steps that are too long lose their credit.
#[test]
fn one_step_that_is_too_long_does_not_spoil_the_others() {
    let listed = |first: f64, convex: bool| {
        let rates = (0..100).map(|step| positive(if step == 0 { first } else { 1.0 })).collect();
        let run = base(1.0).learning_rates(LearningRate::List(rates)).lipschitz(1.0).smoothness(0.5);
        if convex { run.convex().build() } else { run.build() }.expect("nothing is refused")
    };
    let (kept, lost, never) = (listed(1.0, true), listed(9.0, true), listed(9.0, false));
    assert!(epsilon(&lost) < 0.9 * epsilon(&never), "{} {}", epsilon(&lost), epsilon(&never));
    assert!(epsilon(&lost) < 1.01 * epsilon(&kept), "{} {}", epsilon(&lost), epsilon(&kept));
}

#[test]
fn any_number_of_steps_that_drive_iterates_apart_is_answered_without_a_panic() {
    for rate in [4.0, 4.5, 1e3, 1e300] {
        let run = base(rate).lipschitz(1.0).convex().smoothness(0.5).any_number_of_steps();
        let run = run.build().expect("nothing is refused");
        for entry in account(&run).entries {
            assert!(
                entry.outcome.is_err() || entry.outcome.is_ok_and(|answer| !answer.value.upper().is_nan())
            );
        }
    }
}
