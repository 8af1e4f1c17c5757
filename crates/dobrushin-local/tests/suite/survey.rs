//! Several questions under one promise: the channel of all answers of a person, written down.

use crate::frequency_support::{Seeded, delta, epsilon};
use dobrushin::Gamma;
use dobrushin::kernel::{FiniteKernel, Kernel};
use dobrushin_local::frequency::{FrequencyOracle, Response};
use dobrushin_local::{Asked, LocalPrivacy, Survey};

fn promise(level: f64, d: f64) -> LocalPrivacy {
    LocalPrivacy { epsilon: epsilon(level), delta: delta(d) }
}

/// The questions of a survey about 2 and 3 categories, and the row of each at each category.
fn questions(survey: &Survey) -> Vec<(Response, Vec<Vec<f64>>)> {
    let question = |(index, categories): (usize, u32)| {
        let LocalPrivacy { epsilon, delta } = survey.part(index).unwrap();
        let response = Response::new(categories, epsilon, delta).unwrap();
        let only = |x: u32| (0..categories).map(|y| f64::from(u8::from(x == y))).collect::<Vec<_>>();
        let rows = (0..categories).map(|x| response.likelihood().unwrap().law(&only(x))).collect();
        (response, rows)
    };
    [2, 3].into_iter().enumerate().map(question).collect()
}

/// The channel from both answers of a person to everything that is reported.
fn both(questions: &[(Response, Vec<Vec<f64>>)], row: impl Fn(&[f64], &[f64]) -> Vec<f64>) -> FiniteKernel {
    let (first, second) = (&questions[0].1, &questions[1].1);
    let rows = first.iter().flat_map(|x| second.iter().map(|y| row(x, y)).collect::<Vec<_>>());
    FiniteKernel::proportional_to(rows.collect()).unwrap()
}

#[test]
fn all_answers_together_keep_the_promise_and_without_delta_use_it_up() {
    for (level, d, shares) in [(2.0, 0.0, vec![1, 1]), (0.3, 0.0, vec![5, 2]), (1.0, 0.01, vec![1, 3])] {
        let survey = Survey::new(promise(level, d), Asked::All, shares).unwrap();
        let questions = questions(&survey);
        let channel = both(&questions, |x, y| x.iter().flat_map(|p| y.iter().map(move |q| p * q)).collect());
        let profiles: Vec<_> = questions.iter().map(|(response, _)| response.privacy()).collect();
        let said = survey.privacy(&profiles).delta(epsilon(level));
        let seen = channel.contraction(Gamma::from_epsilon(level).unwrap()).midpoint();
        assert!(seen <= said.upper() + 1e-15 && said.upper() <= d * (1.0 + 1e-12), "{seen} {said}");
        // Without δ slightly less is not kept, and below its ε nothing is claimed.
        assert!(d > 0.0 || channel.contraction(Gamma::from_epsilon(0.99 * level).unwrap()).lower() > 0.0);
        assert_eq!(survey.privacy(&profiles).delta(epsilon(0.99 * level)).upper(), 1.0);
    }
}

#[test]
fn one_answer_of_several_has_the_mean_of_their_profiles() {
    let survey = Survey::new(promise(1.5, 0.0), Asked::One, vec![1, 4]).unwrap();
    let questions = questions(&survey);
    let channel =
        both(&questions, |x, y| x.iter().map(|p| 0.2 * p).chain(y.iter().map(|q| 0.8 * q)).collect());
    let profiles: Vec<_> = questions.iter().map(|(response, _)| response.privacy()).collect();
    for level in [0.0, 0.5, 1.0, 1.4, 1.5, 2.0] {
        let said = survey.privacy(&profiles).delta(epsilon(level));
        let seen = channel.contraction(Gamma::from_epsilon(level).unwrap()).midpoint();
        assert!((seen - said.midpoint()).abs() < 1e-15, "{level}: {seen} {said}");
    }
    assert_eq!(survey.privacy(&profiles).delta(epsilon(1.5)).upper(), 0.0);
}

#[test]
fn questions_are_drawn_in_proportion_to_their_shares() {
    let survey = Survey::new(promise(1.0, 0.0), Asked::One, vec![1, 4, 2, 3]).unwrap();
    let (mut counts, mut bits) = ([0u32; 4], Seeded::new(3));
    for _ in 0..100_000 {
        counts[survey.draw(&mut bits)] += 1;
    }
    for (count, share) in counts.into_iter().zip([1.0, 4.0, 2.0, 3.0]) {
        let expected = 1e4 * share;
        // Six standard deviations at least.
        assert!((f64::from(count) - expected).abs() < 6.0 * f64::sqrt(expected), "{counts:?}");
    }
}

#[test]
fn surveys_without_questions_or_shares_are_refused() {
    let survey = |shares: &[u32]| Survey::new(promise(1.0, 0.0), Asked::All, shares.to_vec());
    for (shares, word) in
        [(&[][..], "question"), (&[1, 0], "the share of a question is 0"), (&[u32::MAX, 1], "below 2^32")]
    {
        let message = survey(shares).unwrap_err().to_string();
        assert!(message.contains(word), "{message}");
    }
    assert!(survey(&[1, 2]).unwrap().part(2).is_err());
}
