//! Losses of one score.

use dobrushin::numeric::normal;
use dobrushin::{Positive, Probability};

/// ℓ(z, y) of a score z = ⟨w, x⟩. Where y is a class it is 0 or 1, and s = 2y − 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// (z − y)²/2.
    Squared,
    /// (z − y)²/2 up to |z − y| = width, and a straight line beyond.
    Huber {
        /// Where it becomes straight.
        width: Positive,
    },
    /// ln(1 + e^(−sz)).
    Logistic,
    /// max(0, 1 − sz), the corner replaced by a parabola from 1 − width to 1.
    SmoothedHinge {
        /// The width of the parabola.
        width: Positive,
    },
    /// max(0, 1 − sz), averaged over Gaussian noise on the parameters (PAI Theorem 33).
    Hinge {
        /// λ: the standard deviation of the noise in each parameter.
        smoothing: Positive,
    },
    /// The pinball loss, whose minimum is a quantile of y, averaged over Gaussian noise on the parameters.
    Quantile {
        /// Which quantile.
        level: Probability,
        /// λ: the standard deviation of the noise in each parameter.
        smoothing: Positive,
    },
    /// e^z − yz, for counts y.
    Poisson,
}

impl Loss {
    /// ℓ(z, y) of a record whose features have the given norm, which only Gaussian smoothing asks for.
    ///
    /// It is finite for a finite score and target: what is too large is the largest `f64`.
    ///
    /// # Smoothing
    /// ⟨w + λZ, x⟩ has the law N(⟨w, x⟩, t²) with t = λ‖x‖, so that averaging over Z is a convolution with that law.
    /// For (u + tZ)₊ it gives uΦ(u/t) + tφ(u/t); the hinge has u = 1 − sz, and the pinball loss is
    /// τ(y − z)₊ + (1 − τ)(z − y)₊. Without features t = 0, and nothing is smoothed.
    pub fn value(&self, score: f64, target: f64, norm: f64) -> f64 {
        let value = match *self {
            Self::Squared => (score - target).powi(2) / 2.0,
            Self::Huber { width } => {
                let (gap, width) = ((score - target).abs(), width.get());
                if gap <= width { gap * gap / 2.0 } else { width * (gap - width / 2.0) }
            }
            Self::Logistic => {
                let margin = sign(target) * score;
                (-margin).max(0.0) + (-margin.abs()).exp().ln_1p()
            }
            Self::SmoothedHinge { width } => {
                let (below, width) = (1.0 - sign(target) * score, width.get());
                let share = (below / width).clamp(0.0, 1.0);
                share * (below - share * width / 2.0)
            }
            Self::Hinge { smoothing } => {
                mean_positive_part(1.0 - sign(target) * score, smoothing.get() * norm)
            }
            Self::Quantile { level, smoothing } => {
                let (gap, deviation) = (score - target, smoothing.get() * norm);
                let level = level.get();
                level * mean_positive_part(-gap, deviation)
                    + (1.0 - level) * mean_positive_part(gap, deviation)
            }
            Self::Poisson => {
                let mean = score.exp();
                if mean < f64::MAX { mean - target * score } else { mean }
            }
        };
        saturated(value)
    }

    /// ∂ℓ(z, y)/∂z, increasing in z; where ℓ has a corner, the middle of its slopes.
    ///
    /// It is finite for a finite score and target: what is too large is the largest `f64`.
    pub fn derivative(&self, score: f64, target: f64, norm: f64) -> f64 {
        let derivative = match *self {
            Self::Squared => score - target,
            Self::Huber { width } => (score - target).clamp(-width.get(), width.get()),
            Self::Logistic => {
                let sign = sign(target);
                -sign / (1.0 + (sign * score).exp())
            }
            Self::SmoothedHinge { width } => {
                let sign = sign(target);
                -sign * ((1.0 - sign * score) / width.get()).clamp(0.0, 1.0)
            }
            Self::Hinge { smoothing } => {
                let sign = sign(target);
                -sign * chance_above(1.0 - sign * score, smoothing.get() * norm)
            }
            Self::Quantile { level, smoothing } => {
                chance_above(score - target, smoothing.get() * norm) - level.get()
            }
            Self::Poisson => score.exp() - target,
        };
        saturated(derivative)
    }
}

/// s = 2y − 1.
fn sign(target: f64) -> f64 {
    2.0 * target - 1.0
}

fn saturated(value: f64) -> f64 {
    value.clamp(-f64::MAX, f64::MAX)
}

/// Pr[u + tZ > 0] = Φ(u/t), and one half for u = t = 0.
fn chance_above(u: f64, t: f64) -> f64 {
    if u == 0.0 { 0.5 } else { normal::cdf(u / t).midpoint() }
}

/// E(u + tZ)₊ = u₊ + t·g(|u|/t) with g(b) = E(Z − b)₊ = φ(b)(1 − b·R(b)), where R is the Mills ratio: nothing cancels
/// that was not small already.
fn mean_positive_part(u: f64, t: f64) -> f64 {
    let b = u.abs() / t;
    // Beyond, φ is 0; and so it is for t = 0.
    if b.is_nan() || b > 40.0 {
        return saturated(u.max(0.0));
    }
    let density = (-b * b / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let excess = density * (1.0 - b * normal::mills_ratio(b).midpoint());
    saturated(u.max(0.0) + t * excess.max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dobrushin_reference::Random;

    fn positive(value: f64) -> Positive {
        Positive::new(value).expect("above 0")
    }

    /// Losses with wide and narrow parameters, and targets of theirs.
    fn losses() -> Vec<(Loss, Vec<f64>)> {
        let numbers = vec![-3.0, 0.0, 0.7, 40.0];
        let classes = vec![0.0, 1.0];
        let mut all = vec![
            (Loss::Squared, numbers.clone()),
            (Loss::Logistic, classes.clone()),
            (Loss::Poisson, vec![0.0, 1.0, 40.0]),
        ];
        for size in [0.01, 0.5, 3.0] {
            let size = positive(size);
            all.push((Loss::Huber { width: size }, numbers.clone()));
            all.push((Loss::SmoothedHinge { width: size }, classes.clone()));
            all.push((Loss::Hinge { smoothing: size }, classes.clone()));
            for level in [0.05, 0.5, 0.9] {
                let level = Probability::new(level).expect("a probability");
                all.push((Loss::Quantile { level, smoothing: size }, numbers.clone()));
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
                    let size = [1.0, 10.0, if loss == Loss::Poisson { 30.0 } else { 3000.0 }][turn % 3];
                    let (score, norm) = (random.between(-size, size), random.log_between(0.1, 5.0));
                    let (step, of) = (1e-5, |score| loss.value(score, target, norm));
                    let difference = (of(score + step) - of(score - step)) / (2.0 * step);
                    let derivative = loss.derivative(score, target, norm);
                    // Values are rounded, and slopes change within a step where the loss bends.
                    let rounding = of(score).abs() * 2.0 * f64::EPSILON / step;
                    let bend = loss.derivative(score + step, target, norm)
                        - loss.derivative(score - step, target, norm);
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
                Loss::Hinge { smoothing } => [(0.0, 1.0, smoothing.get()); 2],
                Loss::Quantile { level, smoothing } => {
                    [(0.0, level.get(), smoothing.get()), (1.0, 1.0 - level.get(), smoothing.get())]
                }
                _ => continue,
            };
            for (target, norm) in targets.into_iter().flat_map(|target| [(target, 0.3), (target, 4.0)]) {
                let deviation = corners[0].2 * norm;
                for step in -100..=100 {
                    let ratio = f64::from(step) / 10.0;
                    // The score at which the kink is `ratio` deviations away.
                    let (score, exact) = if matches!(loss, Loss::Hinge { .. }) {
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
                    assert!(
                        (value / exact - 1.0).abs() < slack,
                        "{loss:?} {score} {target}: {value} {exact}"
                    );
                }
            }
        }
    }

    /// E(u + tZ)₊ by Simpson's rule, from where the integrand starts.
    fn average(u: f64, t: f64) -> f64 {
        let start = (-u / t).max(-12.0);
        // Deep in the tail the density falls as e^(−start·z).
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
        let huber = Loss::Huber { width: positive(2.0) };
        let hinge = Loss::SmoothedHinge { width: positive(0.5) };
        for (loss, score, target, value) in [
            (Loss::Squared, 3.0, 1.0, 2.0),
            (huber, 3.0, 1.0, 2.0),
            (huber, 1.0, 4.0, 4.0),
            (Loss::Logistic, 0.0, 1.0, 2.0_f64.ln()),
            (Loss::Logistic, 3.0_f64.ln(), 0.0, 4.0_f64.ln()),
            (hinge, 1.5, 1.0, 0.0),
            (hinge, 0.75, 1.0, 0.0625),
            (hinge, -2.0, 1.0, 2.75),
            (hinge, -0.75, 0.0, 0.0625),
            (Loss::Poisson, 0.0, 7.0, 1.0),
            (Loss::Poisson, 1.0, 2.0, std::f64::consts::E - 2.0),
        ] {
            let computed = loss.value(score, target, 1.0);
            assert!((computed - value).abs() < 1e-15, "{loss:?} {score} {target}: {computed}");
        }
    }

    #[test]
    fn without_features_nothing_is_smoothed() {
        let hinge = Loss::Hinge { smoothing: positive(0.5) };
        let level = Probability::new(0.2).expect("a probability");
        let quantile = Loss::Quantile { level, smoothing: positive(0.5) };
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
            (Loss::Quantile { level, smoothing: positive(3.0) }, vec![0.0])
        });
        for (loss, targets) in losses().into_iter().chain(extreme) {
            let wild = [1e38, -1e38, f64::MAX, -f64::MAX];
            let all: Vec<f64> = match loss {
                Loss::Squared | Loss::Huber { .. } | Loss::Quantile { .. } | Loss::Poisson => {
                    targets.into_iter().chain(wild).collect()
                }
                _ => targets,
            };
            for (score, target) in signed().flat_map(|score| all.iter().map(move |&target| (score, target))) {
                for norm in [0.0, 5e-324, 1.0, 1e300, f64::MAX] {
                    assert!(loss.value(score, target, norm).is_finite(), "{loss:?} {score} {target} {norm}");
                    assert!(
                        loss.derivative(score, target, norm).is_finite(),
                        "{loss:?} {score} {target} {norm}"
                    );
                }
            }
        }
        let far = 1e300;
        assert_eq!(Loss::Logistic.value(-far, 1.0, 1.0), far);
        assert_eq!(Loss::Logistic.derivative(-far, 1.0, 1.0), -1.0);
        assert_eq!(Loss::Logistic.derivative(-far, 0.0, 1.0), 0.0);
        assert_eq!(Loss::Logistic.value(800.0, 1.0, 1.0), 0.0);
        // ln(1 + e^(−z)) = e^(−z) up to a relative e^(−z)/2.
        assert!((Loss::Logistic.value(700.0, 1.0, 1.0) / (-700.0_f64).exp() - 1.0).abs() < 1e-12);
        assert_eq!(Loss::Hinge { smoothing: positive(0.1) }.derivative(far, 0.0, 1.0), 1.0);
        assert_eq!(Loss::Poisson.value(f64::MAX, 1e38, 1.0), f64::MAX);
        assert_eq!(Loss::Poisson.derivative(f64::MAX, 1e38, 1.0), f64::MAX);
        assert_eq!(Loss::Poisson.derivative(-far, 3.0, 1.0), -3.0);
    }
}
