//! A million records that are used once each, in steps that all differ: what is said of ranges of them, against single
//! records, sums over all stops, and products.

use dobrushin::account::{Options, Question, analyses, protection_by_record};
use dobrushin::analysis::{Ceiling, Contraction, HiddenStates, RandomStopPublished, Shift, ShiftRenyi};
use dobrushin::chain::Mixture;
use dobrushin::lower::RecordRanges;
use dobrushin::numeric::Random;
use dobrushin::numeric::theta::theta;
use dobrushin::run::{LearningRate, Length, Order, Record, Release, Run, RunBuilder, Training};
use dobrushin::{Delta, Epsilon, NonNegative, Positive};

fn positive(value: f64) -> Positive {
    Positive::new(value).expect("positive")
}

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).expect("valid")
}

/// Online gradient descent with learning rates 0.5/√t, stopped at random.
fn online(records: u64) -> RunBuilder {
    Run::online(records)
        .learning_rates(LearningRate::InverseSqrt(positive(0.5)))
        .lipschitz(1.0)
        .release(Release::RandomStop)
}

fn smooth(records: u64) -> RunBuilder {
    online(records).gradient_noise(5.0).convex().smoothness(1.0)
}

fn ranges(training: &Training) -> RecordRanges {
    let released = Run::training(training.clone()).expect("valid").released().expect("it hides");
    assert!(released.has_ranges(), "{training:?}");
    released.ranges[0].clone()
}

fn exact(training: &Training, record: u64) -> Mixture {
    let run = Training { record: Record::Index(record), ..training.clone() };
    let released = Run::training(run).expect("valid").released().expect("it hides");
    assert!(released.ranges.is_empty() && released.views.len() == 1);
    released.views[0].clone()
}

fn delta(analysis: &dyn HiddenStates, view: &Mixture, at: f64) -> f64 {
    analysis.apply(view).expect("it applies").into_profile().delta(epsilon(at)).upper()
}

const ANALYSES: [&dyn HiddenStates; 5] = [&Contraction, &Shift, &Ceiling, &RandomStopPublished, &ShiftRenyi];

/// Runs of just more records than are looked at one by one, of every kind.
fn kinds() -> Vec<(&'static str, Training)> {
    let rates = (1..=520).map(|t| positive(0.4 / f64::from(t).powf(0.3))).collect();
    let noises = (1..=520).map(|t| positive(4.0 + 0.01 * f64::from(t % 97))).collect();
    let build = |name, builder: RunBuilder| (name, builder.training().expect("all is said"));
    vec![
        build("convex", smooth(520).diameter(1.0)),
        build("convex, a large set", smooth(520).diameter(20.0)),
        build("convex, no set", smooth(520)),
        build("strongly convex", smooth(520).strong_convexity(0.4).diameter(1.0)),
        build("bounded gradients", online(520).gradient_noise(5.0).diameter(0.3)),
        build("Laplace", smooth(520).laplace().diameter(0.5)),
        build("noise of the iterate", online(520).iterate_noise(0.2).convex().smoothness(1.0).diameter(1.0)),
        build("batches, public steps", smooth(1040).batch_size(2).diameter(1.0).public_steps(40)),
        build(
            "lists",
            online(520)
                .learning_rates(LearningRate::List(rates))
                .gradient_noises(noises)
                .convex()
                .smoothness(1.0)
                .diameter(1.0),
        ),
    ]
}

#[test]
fn what_is_said_of_ranges_holds_for_each_record_and_says_hardly_less() {
    for (name, training) in kinds() {
        let records = ranges(&training);
        let size = training.records / records.places();
        for place in [1, 2, 77, 300, records.places()] {
            let exact = exact(&training, (place - 1) * size + 1);
            let [single, near] = [(0, 0), (3, 9)].map(|(below, above)| {
                records.view(place.saturating_sub(below).max(1), place + above).expect("valid")
            });
            for analysis in ANALYSES {
                let Ok(truth) = analysis.apply(&exact) else {
                    continue;
                };
                // Shifts into Laplace noise have no sum along a chain.
                if analysis.apply(&single).is_err() {
                    assert!(
                        name == "Laplace" && analysis.id().starts_with("shift"),
                        "{name}, {}",
                        analysis.id()
                    );
                    continue;
                }
                let truth = truth.into_profile();
                for at in [0.0, 0.05, 0.3] {
                    let truth = truth.delta(epsilon(at)).upper();
                    let [single, near] = [&single, &near].map(|view| delta(analysis, view, at));
                    let what = format!(
                        "{name}, {} at {place}, ε = {at}: {truth:e} {single:e} {near:e}",
                        analysis.id()
                    );
                    // Where steps are taken together, contraction finds blocks of several of them, and says less.
                    assert!(single >= truth * (1.0 - 1e-9) || analysis.id() == "contraction", "{what}");
                    assert!(near >= single * (1.0 - 1e-9), "{what}");
                    assert!(single <= truth * 1.03 + 1e-12, "{what}");
                }
            }
        }
    }
}

#[test]
fn the_last_iterate_of_many_different_steps_is_bounded_for_every_record() {
    // The noise of the iterate stays the same, so that later steps move less, and the worst record is not the last.
    let run = Run::online(600).learning_rates(LearningRate::InverseSqrt(positive(0.5))).lipschitz(1.0);
    let run = run.iterate_noise(0.4).convex().smoothness(1.0).diameter(2.0).release(Release::Last);
    let training = run.training().expect("all is said");
    let records = ranges(&training);
    let analysis: &dyn HiddenStates = &Shift;
    let each = (1..=600).map(|record| delta(analysis, &exact(&training, record), 0.5));
    let worst = each.fold(0.0, f64::max);
    let whole = Run::training(training.clone()).expect("valid");
    let options = Options { only: vec!["shift"], ..Options::default() };
    let found = analyses(&whole, &options).remove(0).profile.expect("it applies").delta(epsilon(0.5)).upper();
    assert!(found >= worst * (1.0 - 1e-9) && found <= 1.02 * worst, "{found} against {worst}");
    assert!(delta(analysis, &records.view(1, 600).expect("valid"), 0.5) >= worst * (1.0 - 1e-9));
}

#[test]
fn the_worst_of_a_million_records_is_no_better_than_any() {
    let training = smooth(1_000_000).diameter(1.0).training().expect("all is said");
    let records = ranges(&training);
    let run = Run::training(training).expect("valid");
    let mut random = Random::new(3);
    let options = Options { only: vec!["contraction", "shift"], ..Options::default() };
    for (analysed, analysis) in
        analyses(&run, &options).into_iter().zip([&Contraction as &dyn HiddenStates, &Shift])
    {
        let profile = analysed.profile.expect("it applies");
        let limit = Delta::new(1e-7).expect("valid");
        let (worst, at) = (profile.epsilon(limit), profile.delta(epsilon(0.2)));
        let mut most = [0.0_f64; 2];
        for number in 0..12 {
            let place = if number == 0 { 1 } else { random.log_between(1.0, 1e6) as u64 };
            let view = records.view(place, place).expect("valid");
            let single = analysis.apply(&view).expect("it applies").into_profile();
            let found = [single.epsilon(limit).upper(), single.delta(epsilon(0.2)).upper()];
            assert!(found[0] <= worst.upper() && found[1] <= at.upper(), "{} at {place}", analysis.id());
            most = [most[0].max(found[0]), most[1].max(found[1])];
            // What holds for a range holds for each of its records.
            let (from, to) = (place - place / 20, (place + place / 50).min(1_000_000));
            let wide = records.view(from.max(1), to).expect("valid");
            assert!(delta(analysis, &wide, 0.2) >= found[1], "{} from {from} to {to}", analysis.id());
        }
        assert!(worst.upper() <= 1.2 * most[0], "{}: {worst} against {most:?}", analysis.id());
    }
}

/// The average over the stops, stop by stop.
fn shift_stop_by_stop(records: u64, first: u64, ratio: f64, at: f64) -> f64 {
    let mut noise = 0.0;
    let total: f64 = (first..=records)
        .map(|time| {
            // Noise σ·c/√t and displacement 2c/√i, in units of the first.
            noise += first as f64 / time as f64;
            theta(epsilon(at), NonNegative::new(ratio / noise.sqrt()).expect("valid")).upper()
        })
        .sum();
    total / records as f64
}

#[test]
fn a_million_stops_agree_with_their_sum() {
    let records = 1_000_000;
    let view = ranges(&smooth(records).training().expect("all is said"));
    for (first, at) in [(1, 0.0), (1, 0.1), (400, 0.02), (500_000, 0.05), (999_990, 0.1)] {
        let sum = shift_stop_by_stop(records, first, 0.4, at);
        let found = delta(&Shift, &view.view(first, first).expect("valid"), at);
        assert!(
            found >= sum * (1.0 - 1e-9) && found <= sum * 1.025,
            "{first} at {at}: {found:e} against {sum:e}"
        );
    }
}

#[test]
fn a_million_products_agree_with_the_backward_recursion() {
    // A_i = 1 + q_{i+1}·A_{i+1}, and δ_i = p·A_i/n: CED Theorem 6 with η_t = 0.5/√t and σ = 5.
    let records = 1_000_000_u64;
    let view = ranges(&smooth(records).diameter(1.0).training().expect("all is said"));
    for at in [0.0, 0.2] {
        let overlap = |ratio: f64| theta(epsilon(at), NonNegative::new(ratio).expect("valid")).upper();
        let mut sum = 1.0;
        let wanted = [1_u64, 30, 5000, 999_900];
        for place in (1..=records).rev() {
            if wanted.contains(&place) {
                let exact = overlap(0.4) * sum / records as f64;
                let found = delta(&RandomStopPublished, &view.view(place, place).expect("valid"), at);
                let what = format!("{place} at {at}: {found:e} against {exact:e}");
                assert!(found >= exact * (1.0 - 1e-9) && found <= exact * 1.03, "{what}");
            }
            sum = 1.0 + overlap(1.0 / (2.5 / (place as f64).sqrt())) * sum;
        }
    }
}

#[test]
fn every_one_of_a_million_records_is_in_a_row_that_holds_for_it() {
    let training = smooth(1_000_000).diameter(1.0).training().expect("all is said");
    let records = ranges(&training);
    let run = Run::training(training).expect("valid");
    for question in [Question::EpsilonAt(Delta::new(1e-7).expect("valid")), Question::DeltaAt(epsilon(0.2))] {
        let options = Options { only: vec!["shift", "contraction"], ..Options::default() };
        let rows = protection_by_record(&run, question, &options).expect("it applies");
        let mut next = 1;
        for (number, row) in rows.iter().enumerate() {
            assert_eq!(row.from, next);
            next = row.to + 1;
            if number % 64 != 0 {
                continue;
            }
            let said = row.answer.expect("it applies").value.upper();
            for place in [row.from, row.to] {
                let view = records.view(place, place).expect("valid");
                let own = [&Contraction as &dyn HiddenStates, &Shift].map(|analysis| {
                    question
                        .ask(analysis.apply(&view).expect("it applies").into_profile().as_ref())
                        .value
                        .upper()
                });
                let own = own[0].min(own[1]);
                assert!(said >= own * (1.0 - 1e-9) && said <= own * 1.03, "{place}: {said} against {own}");
            }
        }
        assert_eq!(next, 1_000_001);
    }
}

#[test]
fn runs_that_are_not_one_pass_are_told_what_would_help() {
    let cyclic = Run::pnsgd(600)
        .order(Order::Cyclic)
        .epochs(2.0)
        .learning_rates(LearningRate::InverseSqrt(positive(0.5)))
        .lipschitz(1.0)
        .gradient_noise(5.0)
        .release(Release::Last);
    let Err(reason) = cyclic.build().expect("valid").released() else { panic!("600 batches differ") };
    assert!(
        reason.to_string().contains("run.record") && reason.to_string().contains("learning-rate"),
        "{reason}"
    );
    // Half a pass: the later half of the records is not used.
    let half = Training {
        length: Length::Steps(700),
        ..smooth(1400).diameter(1.0).training().expect("all is said")
    };
    assert_eq!(ranges(&half).places(), 700);
    let late = Training { record: Record::Index(900), ..half };
    assert!(Run::training(late).expect("valid").released().expect("it hides").views[0].branches().is_empty());
}
