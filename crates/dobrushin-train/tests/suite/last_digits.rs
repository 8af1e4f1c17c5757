//! An attack on the last digits of what is released (Mironov 2012): the numbers that a sampler can give are not equally
//! dense everywhere, and after one step from a known start an attacker can subtract what each of two tables would add.

use crate::support::{description, direction, plan, positive, pushing, released};
use dobrushin::Delta;
use dobrushin::account::Question;
use dobrushin::numeric::elementary::{exp, ln};
use dobrushin::numeric::normal;
use dobrushin::run::{Batch, Contribution, Length, Noise, Order};
use dobrushin_audit::{Guesses, Risk};
use dobrushin_train::Description;

/// The layers of the sampler: width, inner end, and the densities at both.
fn layers() -> Vec<[f64; 4]> {
    const TAIL: f64 = 3.654_152_885_361_008_8;
    let height = exp(-0.5 * TAIL * TAIL);
    let width = TAIL + normal::mills_ratio(TAIL).midpoint();
    let area = width * height;
    let mut layers = vec![[width, TAIL, 0.0, height]];
    for i in 1..256 {
        let [_, width, _, bottom] = layers[i - 1];
        let top = bottom + area / width;
        layers.push(match i {
            255 => [width, 0.0, bottom, 1.0],
            _ => [width, (-2.0 * ln(top)).sqrt(), bottom, top],
        });
    }
    layers
}

/// In how many ways the sampler gives this number.
fn ways(layers: &[[f64; 4]], z: f64) -> f64 {
    let z = z.abs();
    let unit = 1.0 / (1_u64 << 53) as f64;
    let of = |&[width, inner, bottom, top]: &[f64; 4]| {
        let nearest = (z / width / unit) as i64 | 1;
        let hits = [nearest - 2, nearest, nearest + 2].into_iter().filter(|&m| m as f64 * unit * width == z);
        let kept =
            if z < inner { 1.0 } else { ((exp(-0.5 * z * z) - bottom) / (top - bottom)).clamp(0.0, 1.0) };
        hits.count() as f64 * kept
    };
    layers.iter().map(of).sum()
}

/// One step from 0 of many parameters, with noise 1.
fn one_step(dimension: usize) -> Description {
    let mut description = description(dimension);
    let training = &mut description.training;
    (training.order, training.records, training.batch) = (Order::Full, 1, Batch::Size(1));
    (training.length, training.noise) = (Length::Steps(1), Noise::Iterate(positive(1.0)));
    training.contribution = Some(Contribution::Clipped(positive(0.25)));
    description
}

#[test]
fn the_last_digits_of_what_is_released_say_nothing() {
    const RUNS: u64 = 300;
    let description = one_step(400);
    let (plan, layers) = (plan(&description), layers());
    let tables = ["+", "-"].map(|sign| pushing(&description, sign));
    // What the first table adds: the difference of two runs with the same noise. The gradient has 24 digits, and a step
    // is 1 − 2⁻¹⁰ times as long.
    const ROOM: f64 = 1.0 - 1.0 / 1024.0;
    let [one, other] = [&tables[0], &tables[1]].map(|table| released(&plan, table, None, 0..1));
    let gradient = |(one, other): (&f64, &f64)| f64::from(((one - other) / 2.0 / ROOM) as f32);
    let push: Vec<f64> = one[0].iter().zip(&other[0]).map(|pair| ROOM * gradient(pair)).collect();
    assert!(push.iter().zip(direction(400)).all(|(push, way)| (push - ROOM * 0.25 * way).abs() < 1e-6));
    let score = |numbers: &Vec<f64>| -> f64 {
        let terms = numbers.iter().zip(&push).map(|(&number, &push)| {
            let (plus, minus) = (number - push, number + push);
            let exponent = |x: f64| x.to_bits() >> 52;
            // Only where sums are exact.
            let exact = exponent(plus) == exponent(number) && exponent(minus) == exponent(number);
            if exact { (ways(&layers, plus).max(0.1) / ways(&layers, minus).max(0.1)).ln() } else { 0.0 }
        });
        terms.sum()
    };
    let guessed = |table, first| {
        let sample = released(&plan, table, None, first..first + RUNS);
        sample.iter().filter(|numbers| score(numbers) > 0.0).count() as u64
    };
    let guesses = Guesses {
        right: guessed(&tables[0], 1000),
        runs: RUNS,
        wrong: guessed(&tables[1], 5000),
        other_runs: RUNS,
    };
    let delta = Delta::new(0.1).expect("a probability");
    let question = Question::EpsilonAt(delta);
    let report = plan.run().account(question);
    let certified = report.guarantee().expect("some analysis applies").answer.value.upper();
    let proved = guesses.rates(Risk::new(1e-9).expect("a probability")).epsilon(delta);
    println!("{guesses:?}: certified {certified:.3}, proved {proved:.3}");
    assert!(proved <= certified, "ε ≥ {proved}, but {certified} is certified");
}
