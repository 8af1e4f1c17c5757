//! What every loss of the list must obey, and the values of some.

use super::targets::sign;
use super::*;
use dobrushin::numeric::Random;
use std::convert::Infallible;

fn positive(value: f64) -> Positive {
    Positive::new(value).expect("above 0")
}

/// The same number for all keys that are above 0, and a level.
struct Numbers {
    size: f64,
    level: f64,
}

impl Keys for Numbers {
    type Error = Infallible;

    fn positive(&self, _: &'static str) -> Result<Positive, Infallible> {
        Ok(positive(self.size))
    }

    fn probability(&self, _: &'static str) -> Result<Option<Probability>, Infallible> {
        Ok(Some(Probability::new(self.level).expect("a probability")))
    }
}

/// Every loss of the list, with these numbers.
pub fn every(size: f64, level: f64) -> Vec<Loss> {
    let read = |kind: Kind| {
        let Ok(loss) = Loss::read(kind.name, &Numbers { size, level });
        loss.expect("a kind is the name of a loss")
    };
    Loss::kinds().into_iter().map(read).collect()
}

fn takes(loss: Loss, lower: f64, upper: f64) -> bool {
    loss.as_score_loss().check(Target::Range { lower, upper }).is_ok()
}

/// Losses with wide and narrow parameters, and suitable targets.
fn losses() -> Vec<(Loss, Vec<f64>)> {
    let mut all: Vec<(Loss, Vec<f64>)> = Vec::new();
    for (size, level) in
        [0.01, 0.5, 3.0].into_iter().flat_map(|size| [0.05, 0.5, 0.9].map(|level| (size, level)))
    {
        for loss in every(size, level) {
            let targets = if takes(loss, -3.0, 40.0) {
                vec![-3.0, 0.0, 0.7, 40.0]
            } else if takes(loss, 0.0, 40.0) {
                vec![0.0, 1.0, 40.0]
            } else {
                vec![0.0, 1.0]
            };
            if !all.iter().any(|(other, _)| *other == loss) {
                all.push((loss, targets));
            }
        }
    }
    all
}

#[test]
fn the_derivative_is_the_limit_of_differences() {
    let mut random = Random::new(2);
    for (loss, targets) in losses() {
        for target in targets {
            for turn in 0..600 {
                let size = [1.0, 10.0, if loss == Poisson.into() { 30.0 } else { 3000.0 }][turn % 3];
                let (score, norm) = (random.between(-size, size), random.log_between(0.1, 5.0));
                let (step, of) = (1e-5, |score| loss.value(score, target, norm));
                let difference = (of(score + step) - of(score - step)) / (2.0 * step);
                let derivative = loss.derivative(score, target, norm);
                // Values are rounded, and slopes change within a step where the loss bends.
                let rounding = of(score).abs() * 2.0 * f64::EPSILON / step;
                let bend =
                    loss.derivative(score + step, target, norm) - loss.derivative(score - step, target, norm);
                let slack = rounding + bend + 1e-9;
                assert!(
                    (difference - derivative).abs() <= slack,
                    "{loss:?} at {score}, {target}: {derivative}"
                );
                assert!(slack < 0.02 * derivative.abs().max(1.0));
            }
        }
    }
}

#[test]
fn derivatives_increase_with_the_score() {
    for (loss, targets) in losses() {
        for target in targets {
            for norm in [0.0, 1e-3, 1.0, 30.0] {
                let mut before = f64::NEG_INFINITY;
                for step in -40_000..=40_000 {
                    let derivative = loss.derivative(f64::from(step) / 1000.0, target, norm);
                    assert!(derivative >= before - 1e-15 * before.abs(), "{loss:?} {target} {norm}");
                    before = derivative;
                }
            }
        }
    }
}

#[test]
fn averaging_over_noise_is_what_quadrature_says_also_deep_in_the_tail() {
    for (loss, targets) in losses() {
        let corners: [(f64, f64, f64); 2] = match loss {
            Loss::Hinge(Hinge { smoothing }) => [(0.0, 1.0, smoothing.get()); 2],
            Loss::Quantile(Quantile { level, smoothing }) => {
                [(0.0, level.get(), smoothing.get()), (1.0, 1.0 - level.get(), smoothing.get())]
            }
            _ => continue,
        };
        for (target, norm) in targets.into_iter().flat_map(|target| [(target, 0.3), (target, 4.0)]) {
            let deviation = corners[0].2 * norm;
            for step in -100..=100 {
                let ratio = f64::from(step) / 10.0;
                // The score at which the kink is `ratio` deviations away.
                let (score, exact) = if matches!(loss, Loss::Hinge(_)) {
                    let below = ratio * deviation;
                    ((1.0 - below) * sign(target), average(below, deviation))
                } else {
                    let gap = ratio * deviation;
                    let parts =
                        corners[0].1 * average(-gap, deviation) + corners[1].1 * average(gap, deviation);
                    (target + gap, parts)
                };
                let value = loss.value(score, target, norm);
                // The score is rounded, which the deep tail magnifies.
                let rounded = f64::EPSILON * (score.abs() + target.abs() + 1.0) / deviation;
                let slack = 1e-9 + 4.0 * rounded * (1.0 + ratio.abs());
                assert!((value / exact - 1.0).abs() < slack, "{loss:?} {score} {target}: {value} {exact}");
            }
        }
    }
}

/// E(u + tZ)₊ by Simpson's rule, from the point where the integrand starts.
fn average(u: f64, t: f64) -> f64 {
    let start = (-u / t).max(-12.0);
    // Deep in the tail, the density falls like e^(−start·z).
    let far = start.max(0.0);
    let (end, steps) = (far + 12.0 / (1.0 + far / 4.0), 6000);
    let width = (end - start) / f64::from(steps);
    let density = |z: f64| (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let integrand = |step: i32| {
        let z = start + width * f64::from(step);
        (u + t * z) * density(z)
    };
    let inner: f64 = (1..steps).map(|i| integrand(i) * if i % 2 == 1 { 4.0 } else { 2.0 }).sum();
    (integrand(0) + inner + integrand(steps)) * width / 3.0
}

#[test]
fn losses_without_smoothing_have_the_values_of_their_formulas() {
    let huber = Loss::from(Huber { width: positive(2.0) });
    let hinge = Loss::from(SmoothedHinge { width: positive(0.5) });
    for (loss, score, target, value) in [
        (Squared.into(), 3.0, 1.0, 2.0),
        (huber, 3.0, 1.0, 2.0),
        (huber, 1.0, 4.0, 4.0),
        (Logistic.into(), 0.0, 1.0, 2.0_f64.ln()),
        (Logistic.into(), 3.0_f64.ln(), 0.0, 4.0_f64.ln()),
        (hinge, 1.5, 1.0, 0.0),
        (hinge, 0.75, 1.0, 0.0625),
        (hinge, -2.0, 1.0, 2.75),
        (hinge, -0.75, 0.0, 0.0625),
        (Poisson.into(), 0.0, 7.0, 1.0),
        (Poisson.into(), 1.0, 2.0, std::f64::consts::E - 2.0),
    ] {
        let computed = loss.value(score, target, 1.0);
        assert!((computed - value).abs() < 1e-15, "{loss:?} {score} {target}: {computed}");
    }
}

#[test]
fn without_features_nothing_is_smoothed() {
    let hinge = Loss::from(Hinge { smoothing: positive(0.5) });
    let level = Probability::new(0.2).expect("a probability");
    let quantile = Loss::from(Quantile { level, smoothing: positive(0.5) });
    assert_eq!(hinge.value(0.25, 1.0, 0.0), 0.75);
    assert_eq!(hinge.value(0.25, 0.0, 0.0), 1.25);
    assert_eq!(hinge.value(1.5, 1.0, 0.0), 0.0);
    assert_eq!(hinge.derivative(1.0, 1.0, 0.0), -0.5);
    assert_eq!(quantile.value(3.0, 1.0, 0.0), 1.6);
    assert_eq!(quantile.value(1.0, 3.0, 0.0), 0.4);
    assert_eq!(quantile.derivative(3.0, 1.0, 0.0), 0.8);
    assert_eq!(quantile.derivative(1.0, 3.0, 0.0), -0.2);
}

#[test]
fn every_finite_score_has_a_finite_value_and_derivative() {
    let sizes = [0.0, 5e-324, 1e-300, 1.0, 709.0, 710.0, 1e10, 1e154, 1e300, f64::MAX];
    let signed = || sizes.iter().flat_map(|&size| [size, -size]);
    let extreme = [0.0, 1.0].map(|level| {
        let level = Probability::new(level).expect("a probability");
        (Quantile { level, smoothing: positive(3.0) }.into(), vec![0.0])
    });
    for (loss, targets) in losses().into_iter().chain(extreme) {
        let wild = [1e38, -1e38, f64::MAX, -f64::MAX];
        let numbers = matches!(loss, Loss::Quantile(_)) || takes(loss, 0.0, 1.0);
        let all: Vec<f64> = if numbers { targets.into_iter().chain(wild).collect() } else { targets };
        for (score, target) in signed().flat_map(|score| all.iter().map(move |&target| (score, target))) {
            for norm in [0.0, 5e-324, 1.0, 1e300, f64::MAX] {
                assert!(loss.value(score, target, norm).is_finite(), "{loss:?} {score} {target} {norm}");
                assert!(loss.derivative(score, target, norm).is_finite(), "{loss:?} {score} {target} {norm}");
            }
        }
    }
    let far = 1e300;
    let (logistic, poisson) = (Loss::from(Logistic), Loss::from(Poisson));
    assert_eq!(logistic.value(-far, 1.0, 1.0), far);
    assert_eq!(logistic.derivative(-far, 1.0, 1.0), -1.0);
    assert_eq!(logistic.derivative(-far, 0.0, 1.0), 0.0);
    assert_eq!(logistic.value(800.0, 1.0, 1.0), 0.0);
    // ln(1 + e^(−z)) = e^(−z) up to a relative e^(−z)/2.
    assert!((logistic.value(700.0, 1.0, 1.0) / (-700.0_f64).exp() - 1.0).abs() < 1e-12);
    assert_eq!(Loss::from(Hinge { smoothing: positive(0.1) }).derivative(far, 0.0, 1.0), 1.0);
    assert_eq!(poisson.value(f64::MAX, 1e38, 1.0), f64::MAX);
    assert_eq!(poisson.derivative(f64::MAX, 1e38, 1.0), f64::MAX);
    assert_eq!(poisson.derivative(-far, 3.0, 1.0), -3.0);
}
