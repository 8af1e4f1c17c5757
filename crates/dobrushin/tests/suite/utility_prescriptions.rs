//! The papers' choices of noise and learning rate: against formulas worked out by hand, on the private side, and
//! against what was printed where that is wrong.

use dobrushin::numeric::theta::{smallest_noise, theta, theta_range};
use dobrushin::utility::prescribe::{self, Prescription, Privacy, Problem};
use dobrushin::utility::{Descent, GradientStep, Ground, smoothing};
use dobrushin::{Delta, Enclosure, Epsilon, NonNegative, Positive};
use std::num::NonZeroU64;

fn positive(value: f64) -> Positive {
    Positive::new(value).unwrap()
}

fn whole(value: u64) -> NonZeroU64 {
    NonZeroU64::new(value).unwrap()
}

fn problem(n: u64, d: u64, lipschitz: f64, radius: f64) -> Problem {
    Problem {
        records: whole(n),
        dimension: whole(d),
        lipschitz: positive(lipschitz),
        radius: positive(radius),
    }
}

fn privacy(epsilon: f64, delta: f64) -> Privacy {
    Privacy { epsilon: Epsilon::new(epsilon).unwrap(), delta: Delta::new(delta).unwrap() }
}

fn theta_at(epsilon: f64, r: f64) -> Enclosure {
    theta(Epsilon::new(epsilon).unwrap(), NonNegative::new(r).unwrap())
}

/// √(L² + dσ²).
fn size(problem: Problem, plan: &Prescription) -> f64 {
    let d = problem.dimension.get() as f64;
    (problem.lipschitz.get().powi(2) + d * plan.gradient_noise.get().powi(2)).sqrt()
}

fn assert_close(found: f64, expected: f64, relative: f64) {
    assert!((found / expected - 1.0).abs() < relative, "{found} instead of {expected}");
}

const PROBLEMS: [(u64, u64, f64, f64); 6] = [
    (1, 1, 1.0, 1.0),
    (2, 1, 3.0, 0.5),
    (10, 5, 1.0, 2.0),
    (1000, 20, 0.3, 7.0),
    (1_000_000, 784, 1.0, 1.0),
    (1 << 60, 1 << 60, 1e-3, 1e3),
];

const LEVELS: [(f64, f64); 6] =
    [(0.5, 1e-5), (1.0, 1e-5), (10.0, 1e-5), (10.0, 0.1), (0.1, 1e-300), (0.0, 0.01)];

#[test]
fn a_random_stop_is_private_in_every_step_and_half_as_bad_as_published() {
    for (n, d, lipschitz, radius) in PROBLEMS {
        for (epsilon, delta) in LEVELS {
            let problem = problem(n, d, lipschitz, radius);
            let plan = prescribe::stop(problem, privacy(epsilon, delta)).unwrap();
            let sigma = plan.gradient_noise.get();
            let shift = Enclosure::from(2.0 * lipschitz) / Enclosure::from(sigma);
            assert!(theta_range(Enclosure::from(epsilon), shift).upper() <= delta);
            assert!(theta_at(epsilon, 2.0 * lipschitz / sigma * (1.0 + 1e-9)).lower() > delta);
            let per_root = radius * size(problem, &plan) / (n as f64).sqrt();
            assert_close(
                plan.learning_rate.get(),
                2.0 * radius / (size(problem, &plan) * (n as f64).sqrt()),
                1e-12,
            );
            assert_close(plan.published.upper(), 4.0 * per_root, 1e-12);
            // R·G/√n·(1 + ((n−1)·G² + L²)/(n·G²)) ≤ 2R·G/√n.
            let share = (n as f64 - 1.0 + (lipschitz / size(problem, &plan)).powi(2)) / n as f64;
            assert_close(plan.excess.upper(), per_root * (1.0 + share), 1e-12);
            assert!(plan.excess.upper() <= 2.0 * per_root * (1.0 + 1e-12));
            assert!(plan.excess.upper() < plan.published.lower());
            assert_eq!(plan.largest_smoothness, f64::INFINITY);
        }
    }
}

#[test]
fn the_printed_noise_of_theorem_29_is_not_private_where_ours_is() {
    for (epsilon, delta, truth) in [(10.0, 1e-5, 2.265e-5), (10.0, 0.1, 0.4056)] {
        let plan = prescribe::stop(problem(100, 3, 1.0, 1.0), privacy(epsilon, delta)).unwrap();
        let printed = 2.0 * (2.0 * f64::ln(1.25 / delta)).sqrt() / epsilon;
        assert!(printed < plan.gradient_noise.get());
        assert_close(theta_at(epsilon, 2.0 / printed).midpoint(), truth, 1e-3);
    }
    // Where the classical formula holds it is wasteful.
    let plan = prescribe::stop(problem(100, 3, 1.0, 1.0), privacy(1.0, 1e-5)).unwrap();
    assert!(plan.gradient_noise.get() < 0.8 * 2.0 * (2.0 * f64::ln(1.25e5)).sqrt());
}

#[test]
fn a_random_skip_has_half_the_published_excess_and_protects_early_records_more() {
    for (n, d, lipschitz, radius) in PROBLEMS {
        let problem = problem(n, d, lipschitz, radius);
        let plan = prescribe::skip(problem, privacy(1.0, 1e-5)).unwrap();
        let root = (n as f64).sqrt();
        assert_close(plan.learning_rate.get(), 8f64.sqrt() * radius / (size(problem, &plan) * root), 1e-12);
        assert_close(plan.published.upper(), 32f64.sqrt() * radius * size(problem, &plan) / root, 1e-12);
        assert!(plan.excess.upper() <= 8f64.sqrt() * radius * size(problem, &plan) / root * (1.0 + 1e-12));
        assert!(plan.excess.upper() > 0.45 * plan.published.upper() || n < 100);
        assert!(plan.largest_smoothness <= 2.0 / plan.learning_rate.get());
        assert_close(plan.largest_smoothness, 2.0 / plan.learning_rate.get(), 1e-12);
        let of = |record, epsilon| {
            let at = Epsilon::new(epsilon).unwrap();
            problem.delta_of_record(plan.gradient_noise, record, at).map(|delta| delta.upper())
        };
        assert!(of(n, 1.0).unwrap() <= 1e-5);
        assert!(of(1, 1.0).unwrap() <= of(n, 1.0).unwrap());
        assert!(of(0, 1.0).is_err() && of(n + 1, 1.0).is_err());
        let exact = theta_at(0.25, 2.0 * lipschitz / (plan.gradient_noise.get() * (n as f64).sqrt()));
        assert!((of(1, 0.25).unwrap() - exact.midpoint()).abs() <= 1e-9 * exact.upper() + 1e-300);
    }
    // E11: ε/√(n−t+1) with the same δ holds where the classical formula does, not at ε = 20 with m = 4.
    let sigma = positive(2.0 * (2.0 * f64::ln(1.25e5)).sqrt() / 20.0);
    let at = Epsilon::new(10.0).unwrap();
    assert!(problem(10, 1, 1.0, 1.0).delta_of_record(sigma, 7, at).unwrap().lower() > 1e-5);
}

#[test]
fn public_records_divide_the_noise_by_the_root_of_their_number_and_one() {
    for (epsilon, delta) in LEVELS {
        for m in [0, 1, 50, 99] {
            let (data, level) = (problem(100, 400, 2.0, 1.0), privacy(epsilon, delta));
            let plan = prescribe::public(data, level, m).unwrap();
            let alone = smallest_noise(positive(4.0), level.epsilon, level.delta).upper();
            assert_close(plan.gradient_noise.get(), alone / (m as f64 + 1.0).sqrt(), 1e-12);
            // The last private record is the 100 − m-th.
            let worst = data.delta_of_record(plan.gradient_noise, 100 - m, level.epsilon).unwrap();
            assert!(worst.lower() <= delta && worst.upper() <= delta * (1.0 + 1e-9));
        }
    }
    let plain = prescribe::skip(problem(100, 400, 2.0, 1.0), privacy(1.0, 1e-5)).unwrap();
    assert_eq!(prescribe::public(problem(100, 400, 2.0, 1.0), privacy(1.0, 1e-5), 0).unwrap(), plain);
    assert!(prescribe::public(problem(100, 1, 1.0, 1.0), privacy(1.0, 1e-5), 100).is_err());
    // E12: the printed noise, 2L·√(ln(1.25/δ)/m)/ε, is too small.
    let data = problem(102, 400, 1.0, 1.0);
    let printed = 2.0 * (f64::ln(1.25e5) / 50.0).sqrt();
    let delta = data.delta_of_record(positive(printed), 52, Epsilon::new(1.0).unwrap()).unwrap();
    assert!(delta.lower() > 2.713e-5);
}

#[test]
fn many_tasks_have_the_noise_of_the_corrected_theorem() {
    for (n, k) in [(1, 1), (1, 10_000), (2, 3), (1000, 1), (1000, 100_000), (1_000_000, 7)] {
        for (epsilon, delta) in [(0.5, 1e-5), (0.999, 0.4), (1e-3, 1e-12)] {
            let data = problem(n, 3, 2.0, 1.5);
            let plan = prescribe::tasks(data, privacy(epsilon, delta), whole(k)).unwrap();
            let harmonic: f64 = (1..=n).rev().map(|t| 1.0 / t as f64).sum();
            let log = f64::ln(1.0 / delta);
            let q = (2.0 * k as f64 * harmonic / n as f64).max(2.0 * log);
            assert_close(plan.gradient_noise.get(), 8.0 * (q * log).sqrt() / epsilon, 1e-9);
            let per_root = 1.5 * size(data, &plan) / (n as f64).sqrt();
            assert_close(plan.published.upper(), 4.0 * per_root, 1e-12);
            assert!(plan.excess.upper() <= 2.5 * per_root * (1.0 + 1e-12));
            assert_close(plan.learning_rate.get(), 6.0 / (size(data, &plan) * (n as f64).sqrt()), 1e-12);
        }
    }
    // E9: with ln n, many tasks on one record would need no more noise than one.
    let noise = |k| {
        let plan = prescribe::tasks(problem(1, 1, 1.0, 1.0), privacy(0.5, 1e-5), whole(k)).unwrap();
        plan.gradient_noise.get()
    };
    assert!(noise(10_000) > 25.0 * noise(1));
    // Every one of k Gaussian steps at this noise: θ_ε(2√k/σ) ≤ δ.
    assert!(theta_at(0.5, 200.0 / noise(10_000)).upper() <= 1e-5);
    assert!(theta_at(0.5, 200.0 / noise(1)).lower() > 0.4);
    for (epsilon, delta) in [(0.0, 0.1), (1.0, 0.1), (0.5, 0.0), (0.5, 0.5), (f64::INFINITY, 0.1)] {
        assert!(prescribe::tasks(problem(5, 1, 1.0, 1.0), privacy(epsilon, delta), whole(1)).is_err());
    }
}

#[test]
fn smoothing_is_as_smooth_as_the_step_needs_and_costs_what_it_says() {
    for (n, d, lipschitz, radius) in PROBLEMS {
        for (epsilon, delta) in LEVELS {
            let data = problem(n, d, lipschitz, radius);
            let plain = prescribe::skip(data, privacy(epsilon, delta)).unwrap();
            let (plan, smooth) = prescribe::smoothed(data, privacy(epsilon, delta)).unwrap();
            assert!(smooth.smoothness.upper() <= plan.largest_smoothness);
            assert_close(smooth.deviation.get(), lipschitz * plan.learning_rate.get() / 2.0, 1e-12);
            let most = lipschitz * smooth.deviation.get() * (d as f64).sqrt();
            assert!(smooth.error.upper() <= most * (1.0 + 1e-12) && smooth.error.upper() >= 0.79 * most);
            assert_close(plan.excess.upper(), plain.excess.upper() + smooth.error.upper(), 1e-12);
            let paper = radius * epsilon / (2.0 * (n as f64 * f64::ln(1.0 / delta)).sqrt());
            let term = lipschitz * paper.max(smooth.deviation.get()) * (d as f64).sqrt();
            assert_close(plan.published.upper(), plain.published.upper() + term, 1e-9);
            assert!(plan.excess.upper() < plan.published.lower());
        }
    }
    // E21: for a δ below 1e-14 the printed term, 4√2·R·L·ε√d/(2√n·ln(1.25/δ)), is too small; not before.
    let printed = |delta: f64| 4.0 * 2f64.sqrt() / (2.0 * f64::ln(1.25 / delta));
    let corrected = |delta: f64| 1.0 / (2.0 * f64::ln(1.0 / delta).sqrt());
    assert!(printed(1e-16) < corrected(1e-16) && printed(1e-12) > corrected(1e-12));
}

#[test]
fn an_averaged_absolute_value_is_between_itself_and_its_error() {
    // E|w + λZ| = |w| + 2λ·(φ(a) − a·Q(a)), a = |w|/λ, is largest over |w| at 0: λ·√(2/π), the whole error.
    let smooth = smoothing(positive(1.0), whole(1), positive(0.3));
    assert_close(smooth.error.midpoint(), 0.3 * (2.0 / std::f64::consts::PI).sqrt(), 1e-14);
    assert_close(smooth.smoothness.midpoint(), 1.0 / 0.3, 1e-14);
    // Its second derivative at 0 is 2φ(0)/λ, below 1/λ.
    assert!(2.0 / (std::f64::consts::TAU.sqrt() * 0.3) < smooth.smoothness.lower());
}

#[test]
fn online_play_has_the_regret_of_a_descent_with_falling_rates() {
    for (n, d, sigma_level) in [(1, 1, 1e-5), (2, 3, 1e-5), (1000, 20, 1e-8), (40_000, 1, 0.1)] {
        let data = problem(n, d, 2.0, 1.5);
        let plan = prescribe::online(data, privacy(2.0, sigma_level)).unwrap();
        assert_close(plan.learning_rate.get(), 1.5, 1e-15);
        let moment = size(data, &plan).powi(2);
        let steps = (1..=n).map(|t| GradientStep {
            rate: Enclosure::from(1.5) / Enclosure::from(t).sqrt(),
            second_moment: moment.into(),
        });
        let ground = Ground { diameter: positive(3.0), lipschitz: positive(2.0) };
        let descent = Descent::varying(ground, steps.collect()).unwrap();
        assert_close(plan.excess.upper(), descent.average(0..=n - 1).upper(), 1e-10);
        let roots: f64 = (1..=n).rev().map(|t| 1.0 / (t as f64).sqrt()).sum();
        let noise = d as f64 * plan.gradient_noise.get().powi(2) * 1.5 * roots / (2.0 * n as f64);
        assert_close(plan.published.upper(), 9.0 / (n as f64).sqrt() + noise, 1e-10);
        assert!(plan.excess.upper() <= plan.published.upper());
    }
    // D²/(2η_n·n) = 1/√n, and Σ η_t/(2n) → 2/√n.
    let data = problem(1 << 60, 10, 1.0, 1.0);
    let huge = prescribe::online(data, privacy(1.0, 1e-5)).unwrap();
    assert_close(huge.excess.upper(), (1.0 + 2.0 * size(data, &huge).powi(2)) / f64::from(1 << 30), 1e-6);
    assert!(huge.excess.relative_width() < 1e-9);
}

#[test]
fn a_privacy_that_no_noise_gives_or_that_needs_none_is_refused_with_its_name() {
    let data = problem(10, 1, 1.0, 1.0);
    for (epsilon, delta, word) in
        [(1.0, 0.0, "delta"), (1.0, 1.0, "epsilon"), (f64::INFINITY, 0.1, "epsilon")]
    {
        for outcome in [
            prescribe::stop(data, privacy(epsilon, delta)),
            prescribe::skip(data, privacy(epsilon, delta)),
            prescribe::public(data, privacy(epsilon, delta), 3),
            prescribe::online(data, privacy(epsilon, delta)),
            prescribe::smoothed(data, privacy(epsilon, delta)).map(|(plan, _)| plan),
        ] {
            assert!(outcome.unwrap_err().to_string().contains(word));
        }
    }
    assert!(prescribe::stop(problem(1, 1, 1.0, 1e308), privacy(1.0, 1e-5)).is_err());
}
