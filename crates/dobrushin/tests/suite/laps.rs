//! Passes that are one entry of a chain say what they would one by one, and take no time however many they are.

use dobrushin::account::{Question, analysis_ids};
use dobrushin::analysis::{Bound, HiddenStates, Shift, about_hidden_states};
use dobrushin::chain::{Chain, Count, Domain, Mixture, Participation, Piece, Step, StepNoise};
use dobrushin::numeric::Random;
use dobrushin::run::{Order, Record, Release, Run, Training};
use dobrushin::{Delta, Enclosure, Epsilon, NonNegative, Positive};

fn positive(value: f64) -> Positive {
    Positive::new(value).expect("positive")
}

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).expect("valid")
}

/// A step with some of the lines that there are: contracting, and with a gradient that is only bounded.
fn clean(random: &mut Random, slope: f64) -> Step {
    let push = random.between(0.01, 0.3);
    let piece = |slope, offset| Piece::new(slope, offset).expect("valid");
    let lines = match random.below(3) {
        0 => vec![piece(slope, 0.0)],
        1 => vec![piece(slope, push)],
        _ => vec![piece(slope, 0.0), piece(1.0, push)],
    };
    Step::new(StepNoise::gaussian(random.between(0.5, 2.0)).expect("valid")).with_modulus(lines)
}

struct Laps {
    before: Vec<(Step, Count)>,
    lap: Vec<(Step, Count)>,
    times: u64,
    after: Vec<(Step, Count)>,
    domain: Domain,
}

impl Laps {
    fn random(random: &mut Random, times: u64, diameter: Option<f64>) -> Self {
        let slope = [0.5, 0.9, 0.999, 1.0, 1.0][random.below(5)];
        let step = clean(random, slope);
        let displacement = NonNegative::new(random.between(0.05, 0.5)).expect("valid");
        let used = step.clone().used_by(Participation::Always, displacement);
        let some = |random: &mut Random| Count::Times(random.below(6) as u64);
        let lap = vec![(used.clone(), Count::Times(1)), (step.clone(), some(random))];
        let after = vec![(used, Count::Times(1)), (step.clone(), some(random))];
        let domain = Domain { diameter: diameter.map(positive), dimension: None };
        Self { before: vec![(step, some(random))], lap, times, after, domain }
    }

    fn together(&self) -> Chain {
        let lap = (self.lap.clone(), self.times);
        Chain::in_laps(self.before.clone(), lap, self.after.clone(), self.domain).expect("valid")
    }

    fn one_by_one(&self) -> Chain {
        let laps = (0..self.times).flat_map(|_| self.lap.clone());
        let steps = self.before.iter().cloned().chain(laps).chain(self.after.iter().cloned());
        Chain::new(steps.collect(), self.domain).expect("valid")
    }
}

/// The steps of a chain, one after another.
fn listed(chain: &Chain) -> Vec<&Step> {
    let stretches = chain.stretches().flat_map(|stretch| match stretch.count {
        Count::Times(times) => std::iter::repeat_n(stretch.step, times as usize),
        Count::Any => panic!("there is an end"),
    });
    stretches.collect()
}

#[test]
fn laps_are_the_steps_that_they_stand_for() {
    let mut random = Random::new(1);
    for times in [0, 1, 2, 5] {
        let laps = Laps::random(&mut random, times, Some(3.0));
        let (together, one_by_one) = (laps.together(), laps.one_by_one());
        assert_eq!(listed(&together), listed(&one_by_one));
        assert_eq!(together.steps(), one_by_one.steps());
        let steps = one_by_one.steps().expect("a number");
        for end in 0..=steps + 1 {
            let (cut, expected) = (together.cut_at(end), one_by_one.cut_at(end));
            assert_eq!(listed(&cut), listed(&expected), "{times} laps cut at {end}");
            assert_eq!(cut.is_unused(), expected.is_unused());
            let after: Vec<Count> = cut.after_the_last_use().iter().map(|stretch| stretch.count).collect();
            let number = |count: &Count| if let Count::Times(times) = count { *times } else { 0 };
            let clean = listed(&cut).iter().rev().take_while(|step| step.participation.is_never()).count();
            assert!(cut.is_unused() || after.iter().map(number).sum::<u64>() == clean as u64);
        }
    }
}

#[test]
fn every_analysis_says_of_laps_what_it_says_one_by_one() {
    let mut random = Random::new(2);
    for case in 0..36 {
        let times = [3, 40, 300, 700][case % 4];
        let diameter = (case % 3 == 0).then_some(2.0);
        let laps = Laps::random(&mut random, times, diameter);
        let [together, one_by_one] = [laps.together(), laps.one_by_one()].map(Mixture::last);
        for analysis in about_hidden_states() {
            // Many steps one by one: what is tested is laps.
            if analysis.id() == "recursion" && case % 4 != 1 {
                continue;
            }
            let (Ok(found), Ok(expected)) = (analysis.apply(&together), analysis.apply(&one_by_one)) else {
                continue;
            };
            let (found, expected) = (found.into_profile(), expected.into_profile());
            for level in [0.01, 0.5, 3.0] {
                let [found, expected] = [&found, &expected].map(|p| p.log_delta(epsilon(level)));
                let context = format!("{} {case} at {level}: {found} {expected}", analysis.id());
                let slack = 1e-9 * (1.0 + expected.upper().abs());
                assert!(found.upper() >= expected.lower() - slack, "too small: {context}");
                // On a domain the argument may begin anywhere, but among the first laps only between two.
                let loss = if diameter.is_some() { 0.05 * (1.0 + expected.upper().abs()) } else { slack };
                assert!(found.upper() <= expected.upper() + loss, "too large: {context}");
            }
        }
        // It is not left out.
        assert!(Shift.apply(&together).is_ok() == Shift.apply(&one_by_one).is_ok(), "{case}");
    }
}

#[test]
fn thousands_of_laps_are_what_they_are_one_by_one() {
    let mut random = Random::new(3);
    for case in 0..5 {
        let laps = Laps::random(&mut random, 4500, (case % 3 == 0).then_some(2000.0));
        let [together, one_by_one] = [laps.together(), laps.one_by_one()].map(Mixture::last);
        for analysis in about_hidden_states()
            .filter(|one| ["ceiling", "shift", "nonconvex-published"].contains(&one.id()))
        {
            let (Ok(found), Ok(expected)) = (analysis.apply(&together), analysis.apply(&one_by_one)) else {
                continue;
            };
            let (found, expected) = (found.into_profile(), expected.into_profile());
            for level in [0.01, 3.0, 100.0] {
                let [found, expected] = [&found, &expected].map(|p| p.log_delta(epsilon(level)));
                let context = format!("{} {case} at {level}: {found} {expected}", analysis.id());
                assert!(
                    found.upper() >= expected.lower() - 1e-9 * (1.0 + expected.upper().abs()),
                    "{context}"
                );
                assert!(
                    found.upper() <= expected.upper() + 0.05 * (1.0 + expected.upper().abs()),
                    "{context}"
                );
            }
        }
    }
}

/// A pass over 1000 records in batches of 10, again and again, without a domain.
fn training(passes: u64, decay: f64) -> Training {
    Run::pnsgd(1000)
        .order(Order::Cyclic)
        .batch_size(10)
        .steps(100 * passes)
        .release(Release::Last)
        .record(Record::Index(1000))
        .learning_rate(0.5)
        .lipschitz(1.0)
        .noise_multiplier(4.0)
        .weight_decay(decay)
        .convex()
        .smoothness(0.25)
        .training()
        .expect("all is said")
}

/// μ of the shift, of the record of the last step.
fn mu(passes: u64, decay: f64) -> Enclosure {
    let run = Run::training(training(passes, decay)).expect("valid");
    let released = run.released().expect("it is hidden");
    match Shift.apply(&released.views[0]).expect("it applies") {
        Bound::Gaussian(profile) => profile.mu(),
        _ => panic!("the shift is Gaussian"),
    }
}

#[test]
fn any_number_of_passes_has_the_closed_form() {
    // d/s = 2/4, and the last step of each pass of 100 uses the record.
    for passes in [2000, 3000, 500_000, 1_000_000_000_000] {
        let expected = 0.5 * ((passes - 1) as f64 / 100.0 + 1.0).sqrt();
        let found = mu(passes, 0.0);
        assert!((found.upper() / expected - 1.0).abs() < 1e-9, "{passes}: {found} {expected}");
        // The iterate of linear losses is Gaussian, and E uses move it by E·d in 100·E steps.
        assert!(found.upper() >= 0.5 * (passes as f64 / 100.0).sqrt());
        let c: f64 = 1.0 - 1e-4;
        let (whole, power) = (1.0 - c.powi(100), c.powf(100.0 * (passes - 1) as f64));
        let carried = c.powi(198) * (1.0 - c * c) / whole.powi(2) * (1.0 - power) / (1.0 + power);
        let (found, expected) = (mu(passes, 1e-4), 0.5 * (1.0 + carried).sqrt());
        assert!((found.upper() / expected - 1.0).abs() < 1e-8, "{passes}: {found} {expected}");
    }
}

#[test]
fn a_trillion_passes_are_accounted_for_at_once() {
    for (diameter, decay) in [(None, 0.0), (None, 1e-3), (Some(2.0), 0.0)] {
        let mut training = training(1_000_000_000_000, decay);
        training.domain.diameter = diameter.map(positive);
        let run = Run::training(training).expect("valid");
        let question = Question::EpsilonAt(Delta::new(1e-5).expect("valid"));
        let report = run.account(question);
        assert_eq!(report.entries.len(), analysis_ids().count());
        // A random walk of unbounded length says nothing; all else is hidden.
        let shift = report.answer("shift").expect("it applies").value;
        let composition = report.answer("composition").expect("it applies").value;
        assert!(shift.upper() < composition.lower(), "{diameter:?} {decay}: {shift} {composition}");
    }
}
