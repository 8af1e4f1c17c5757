//! What the papers have wrong about noisy steps and what is left of them later, each with a run
//! whose law is known. The printed formulas live here only.

use crate::errata_support::chain::{Law, Map, Mixture, hockey_stick};
use crate::errata_support::{assert_reads, golden_value, grid, smallest, theta, theta_at_gamma};
use dobrushin::divergence::{DiscretePair, FiniteLaw, LaplacePair, Pair};
use dobrushin::kernel::{Kernel, LaplaceKernel};
use dobrushin::loss::{Composition, DominatingPair, FiniteLoss, Part};
use dobrushin::mechanism::{Mechanism, Neighbours, Sampling, dominating_pair};
use dobrushin::numeric::{chi_square, normal};
use dobrushin::profile::Direction;
use dobrushin::{Delta, Epsilon, Gamma, NonNegative, Positive, Probability};
use std::num::NonZeroU32;
use std::sync::Arc;

/// Far enough for unit noise around the unit interval.
const LINE: (f64, f64) = (-30.0, 30.0);

/// Regularised DP-SGD, noise and clipped step on the scale of the iterate.
struct Regularised {
    epsilon: f64,
    step: f64,
    sigma: f64,
    decay: f64,
    rate: f64,
    steps: u32,
    dimension: u32,
}

impl Regularised {
    /// NCV Theorem 3 at one κ, with the distance as `distance` times the radius r_s − σκ, and in
    /// front of the sum `prefactor`.
    fn bound(&self, kappa: f64, distance: f64, prefactor: f64) -> f64 {
        let dimension = NonZeroU32::new(self.dimension).unwrap();
        let inside = chi_square::ln_cdf(dimension, NonNegative::new(kappa * kappa).unwrap()).midpoint();
        let escape = -(f64::from(self.steps) * inside).exp_m1();
        let keep = 1.0 - self.decay;
        let mut sum = 0.0;
        for s in 1..=i32::try_from(self.steps).unwrap() {
            let radius =
                (self.step + kappa * self.sigma) * (1.0 - keep.powi(s)) / self.decay - self.sigma * kappa;
            let factor = theta(self.epsilon, distance * radius / self.sigma).midpoint();
            sum = factor * (1.0 + (1.0 - self.rate) * sum);
        }
        (1.0 + self.epsilon.exp()) * escape + prefactor * sum
    }

    fn over_kappa(&self, distance: f64, prefactor: f64) -> f64 {
        let at = |kappa: f64| self.bound(kappa, distance, prefactor);
        let rough = grid(0.1, 14.0, 139).min_by(|&x, &y| at(x).total_cmp(&at(y))).unwrap();
        smallest((rough - 0.1).max(0.1), rough + 0.1, at)
    }

    fn printed(&self) -> f64 {
        self.over_kappa(1.0, self.rate / (1.0 - self.rate))
    }

    fn corrected(&self) -> f64 {
        self.over_kappa(2.0, self.rate)
    }
}

/// NCV Theorem 3 takes the radius of a ball for its diameter.
#[test]
fn one_regularised_step_leaks_more_than_the_radius_says() {
    let run = |epsilon, step, rate| Regularised {
        epsilon,
        step,
        sigma: 1.0,
        decay: 0.65,
        rate,
        steps: 1,
        dimension: 1,
    };
    // All other records push down, one up or down: E_γ = p·E_{1+(γ−1)/p} of two Gaussians.
    let exact = |epsilon: f64, step: f64, p: f64| p * theta_at_gamma(1.0 + epsilon.exp_m1() / p, 2.0 * step);
    for (epsilon, step, p, truth, unit, printed, last) in [
        (1.0, 1.0, 0.5, 0.210496, 1e-6, 0.126937, 1e-6),
        (2.0, 1.0, 0.5, 0.117191, 1e-6, 0.020924, 1e-6),
        (0.01, 2.0, 1e-3, 8.677e-4, 1e-7, 6.818e-4, 1e-7),
        (0.0, 0.5, 1.0 / 3.0, 0.1276, 1e-4, 0.0987, 1e-4),
    ] {
        let (run, exact) = (run(epsilon, step, p), exact(epsilon, step, p));
        assert_reads(exact, truth, unit);
        assert_reads(run.printed(), printed, last);
        assert!(exact > 1.2 * run.printed() && exact <= run.corrected() * (1.0 + 1e-12), "{exact}");
    }
}

#[test]
fn a_hundred_regularised_steps_leak_more_than_the_radius_says() {
    let run =
        Regularised { epsilon: 2.0, step: 1.0, sigma: 1.0, decay: 0.99, rate: 0.5, steps: 100, dimension: 1 };
    let (up, down) = (|w: f64| 0.01 * w + 1.0, |w: f64| 0.01 * w - 1.0);
    let last = |maps: &[(f64, Map)]| {
        let mut law = Law::at(0.0);
        for _ in 1..run.steps {
            law = law.step(maps, 1.0).onto(&[-12.0, 12.0], 0.5);
        }
        law.step(maps, 1.0)
    };
    let exact =
        hockey_stick(&last(&[(0.5, &up), (0.5, &down)]), &last(&[(1.0, &down)]), run.epsilon.exp(), LINE);
    assert_reads(exact, 0.119241, 1e-6);
    assert_reads(run.printed(), 0.030567, 1e-6);
    assert!(exact > 3.9 * run.printed() && exact < run.corrected());
}

/// The left half of Figure 2 of NCV (λ = 0.65) is under-reported 8 to 31 times.
#[test]
fn the_figure_of_regularised_descent_is_corrected_upwards() {
    let run = |steps, dimension| Regularised {
        epsilon: 5.0,
        step: 0.1,
        sigma: 5.0,
        decay: 0.65,
        rate: 1e-3,
        steps,
        dimension,
    };
    for (steps, printed, corrected) in [(5, 4.08e-4, 3.27e-3), (20, 5.71e-4, 1.27e-2), (50, 6.50e-4, 2.00e-2)]
    {
        assert_reads(run(steps, 1).printed(), printed, 1e-6);
        assert_reads(run(steps, 1).corrected(), corrected, 10f64.powf(corrected.log10().floor() - 2.0));
    }
    for (steps, dimension, kappa) in [(5, 1, 8), (5, 10, 8), (20, 1, 8), (20, 10, 6)] {
        let at = |word: &str| {
            golden_value(&format!("004_fig2/thm3/{word}/lambda=0.65/T={steps}/d={dimension}/kappa={kappa}"))
        };
        let (run, kappa) = (run(steps, dimension), f64::from(kappa));
        let (printed, corrected) = (run.bound(kappa, 1.0, 1e-3 / 0.999), run.bound(kappa, 2.0, 1e-3));
        assert!(
            (printed / at("printed") - 1.0).abs() < 1e-9 && (corrected / at("corrected") - 1.0).abs() < 1e-9
        );
    }
}

/// NCV Theorem 3 has b/(n − b) in front where its own Lemma 1 gives b/n.
#[test]
fn the_sum_over_regularised_steps_has_the_sampling_rate_in_front() {
    let run =
        |rate| Regularised { epsilon: 1.0, step: 1.0, sigma: 1.0, decay: 0.65, rate, steps: 3, dimension: 1 };
    for rate in [0.01, 0.5, 0.99] {
        let looser = run(rate).over_kappa(2.0, rate / (1.0 - rate));
        assert!(run(rate).corrected() < looser);
    }
    // With b = n the printed form says nothing; b/n is an ordinary full batch.
    assert!(run(1.0).printed().is_infinite() && run(1.0).corrected() < 1.0);
    // One step, all records drawn: E = θ(2), which b/n attains.
    let full = Regularised { steps: 1, ..run(1.0) };
    assert!((full.corrected() - theta(1.0, 2.0).midpoint()).abs() < 1e-12);
}

/// What is left of a step ±1 from `start` after one more step with the map, projected.
fn after_one_more(start: f64, map: Map, breaks: &[f64]) -> (Mixture, Mixture) {
    let (up, down) = (|y: f64| y + 1.0, |y: f64| y - 1.0);
    let run =
        |first: Map| Law::at(start).step(&[(1.0, first)], 1.0).onto(breaks, 0.05).step(&[(1.0, map)], 1.0);
    (run(&up), run(&down))
}

/// PAC Theorems 3 to 5 leave out that η ≤ 2/(β + ρ).
#[test]
fn a_gradient_step_that_is_too_long_does_not_contract() {
    // Convex, 1-Lipschitz, 1000-smooth; η = 1.
    let huber = |y: f64| y - (1000.0 * (y - 0.05)).clamp(-1.0, 1.0);
    let (p, q) = after_one_more(0.05, &huber, &[0.0, 0.049, 0.051, 0.1]);
    for (epsilon, truth, printed, unit, without) in
        [(0.0, 0.449138, 0.027224, 1e-6, 0.482), (0.5, 0.278152, 4.1e-9, 1e-10, 0.377)]
    {
        let exact = hockey_stick(&p, &q, f64::exp(epsilon), (0.0, 0.1));
        assert_reads(exact, truth, 1e-6);
        let factor = |diameter: f64| (theta(epsilon, 2.0) * theta(epsilon, diameter)).midpoint();
        assert_reads(factor(0.1), printed, unit);
        // The diameter of the image is at most D + 2ηL whatever η is.
        assert_reads(factor(0.1 + 2.0), without, 1e-3);
        assert!(exact > 10.0 * factor(0.1) && exact < factor(2.1));
    }
    // With η = 2/β the same loss does contract, and c = max(|1 − ηρ|, |1 − ηβ|) = 1 is right.
    let short = |y: f64| y - (2.0 * (y - 0.05)).clamp(-1.0, 1.0);
    let (p, q) = after_one_more(0.05, &short, &[0.0, 0.1]);
    let exact = hockey_stick(&p, &q, 1.0, (0.0, 0.1));
    assert!(exact < (theta(0.0, 2.0) * theta(0.0, 0.1)).midpoint() && exact > 0.02, "{exact}");
    // c ≤ M exactly as long as η ≤ 2/(β + ρ).
    for (beta, rho) in [(1.0, 0.1), (0.5, 0.2), (3.0, 2.9), (1.0, 0.0)] {
        for eta in grid(0.05, 4.0, 79) {
            let c = f64::max((1.0 - eta * rho).abs(), (1.0 - eta * beta).abs());
            let published = 1.0 - 2.0 * eta * beta * rho / (beta + rho);
            let allowed = eta * (beta + rho) <= 2.0;
            if (eta * (beta + rho) - 2.0).abs() > 1e-9 {
                assert_eq!(c * c <= published + 1e-12, allowed, "{beta} {rho} {eta}");
            }
        }
    }
}

/// PAC Theorem 3: a record used in the last step is not protected by the steps after it.
#[test]
fn nothing_contracts_what_the_last_step_adds() {
    let (epsilon, start, interval) = (0.5_f64, 0.25, (0.0, 0.5));
    let consequence = if epsilon >= 0.5 { 0.0 } else { 1.0 };
    // Steps ±1 with unit Laplace noise, projected: the atom at the upper end alone shows it.
    let above = |centre: f64| {
        let distance = interval.1 - centre;
        if distance < 0.0 { 1.0 - 0.5 * distance.exp() } else { 0.5 * (-distance).exp() }
    };
    let exact = above(start + 1.0) - epsilon.exp() * above(start - 1.0);
    assert_reads(exact, 0.527633, 1e-6);
    assert!(exact > consequence);
    let bound = LaplacePair::new(2.0, 1.0).unwrap().hockey_stick(Gamma::from_epsilon(epsilon).unwrap());
    assert!((bound.midpoint() - exact).abs() < 1e-14 && bound.upper() >= exact - 1e-15);
    // One more step, and it is 0: the kernel on an interval of length ½ is ½-private.
    let next = LaplaceKernel::new(interval.1 - interval.0, 1.0).unwrap();
    assert!(next.contraction(Gamma::from_epsilon(epsilon).unwrap()).upper() < 1e-15);
}

/// CED Theorems 5 and 6 have the diameter of the image under the data at hand.
#[test]
fn a_delta_that_depends_on_the_data_is_no_delta() {
    let (nowhere, collapse) = (|y: f64| y, |_: f64| 0.5);
    let exact = |map: Map| {
        let (p, q) = after_one_more(0.5, map, &[0.0, 1.0]);
        hockey_stick(&p, &q, 1.0, (0.0, 1.0))
    };
    let (collapsed, still) = (theta(0.0, 2.0) * theta(0.0, 0.0), theta(0.0, 2.0) * theta(0.0, 1.0));
    assert_eq!(collapsed.upper(), 0.0);
    assert!(exact(&collapse) < 1e-12);
    assert_reads(exact(&nowhere), 0.254132, 1e-6);
    assert!(exact(&nowhere) < still.lower());
}

/// CED Theorem 6 and Corollary 5, PAC Theorem 5: the closed geometric series exceeds 1.
#[test]
fn a_geometric_series_of_contractions_is_summed_as_far_as_it_goes() {
    let (n, eta, lipschitz, diameter, sigma) = (100, 0.05, 1.0, 1.0, 3.0);
    let first = theta(0.0, 2.0 * lipschitz / sigma).midpoint();
    let later = theta(0.0, (diameter + 2.0 * eta * lipschitz) / (eta * sigma)).midpoint();
    let printed = first / (1.0 - later) / f64::from(n);
    assert!((printed / golden_value("000_fig3/eq35/eta=0.05/sigma=3/eps=0") - 1.0).abs() < 1e-9);
    assert!(printed > 10.0);
    let finite = first / f64::from(n) * (0..n).map(|j| later.powi(j)).sum::<f64>();
    assert!(finite <= first && finite < 1.0 && finite < printed);
    let clean = theta(0.0, diameter / (eta * sigma)).midpoint();
    let finite = first / f64::from(n) * (0..n).map(|j| clean.powi(j)).sum::<f64>();
    assert!((finite / golden_value("000_fig3/eq36_finite/eta=0.05/sigma=3/eps=0") - 1.0).abs() < 1e-9);
}

/// NCV Theorem 1 divides by the size of the batch; divided by its mean it is another algorithm.
#[test]
fn dividing_by_the_expected_batch_is_not_covered() {
    let (p, diameter, step, sigma) = (0.01, 0.1, 1.0, 5.0);
    let theorem = |distance: f64| p * theta(0.0, distance / sigma).midpoint();
    let (stay, far_up, far_down) = (|w: f64| w, |w: f64| w + step / p, |w: f64| w - step / p);
    let run = |moved: Map| Law::at(0.05).step(&[(1.0 - p, &stay), (p, moved)], sigma);
    let exact = hockey_stick(&run(&far_up), &run(&far_down), 1.0, (0.0, diameter));
    assert_reads(exact, 0.0100, 1e-4);
    assert_reads(theorem(diameter + 2.0 * step), 0.00166, 1e-5);
    assert!(exact > 6.0 * theorem(diameter + 2.0 * step));
    assert!(exact <= theorem(diameter + 2.0 * step / p) * (1.0 + 1e-12));
    // Divided by |B| = 1, the theorem holds.
    let (up, down) = (|w: f64| w + step, |w: f64| w - step);
    let exact = hockey_stick(&run(&up), &run(&down), 1.0, (0.0, diameter));
    assert!(exact < theorem(diameter + 2.0 * step));
}

/// NCV Theorem 1 for a record that is there or not; the empty batch moves nothing.
#[test]
fn projected_descent_with_a_record_added_obeys_the_same_recursion() {
    let (p, diameter, sigma) = (0.3, 1.0, 1.0);
    let (stay, up) = (|w: f64| w, |w: f64| w + 0.5);
    for epsilon in [0.0, 0.3] {
        let gamma = f64::exp(epsilon);
        let contraction = theta(epsilon, diameter + 1.0).midpoint();
        let (mut with, mut without, mut bound) = (Law::at(0.5), Law::at(0.5), 0.0);
        for _ in 0..6 {
            let (x, y) =
                (with.step(&[(1.0 - p, &stay), (p, &up)], sigma), without.step(&[(1.0, &stay)], sigma));
            bound = contraction * ((1.0 - p) * bound + p);
            let interval = (0.0, diameter);
            let exact = hockey_stick(&x, &y, gamma, interval).max(hockey_stick(&y, &x, gamma, interval));
            assert!(exact <= bound, "{exact} {bound}");
            (with, without) = (x.onto(&[0.0, diameter], 0.1), y.onto(&[0.0, diameter], 0.1));
        }
    }
}

/// NCV eq. (22) has no solution for a large δ, and eq. (23) is then negative.
#[test]
fn the_limit_of_epsilon_is_zero_where_its_equation_has_no_solution() {
    let (p, r) = (1e-3, 3.04);
    let at_zero = theta(0.0, r).midpoint();
    let most = p * at_zero / (1.0 - (1.0 - p) * at_zero);
    for (delta, solvable) in [(0.9 * most, true), (1.1 * most, false), (0.5, false)] {
        let target = delta / (p + (1.0 - p) * delta);
        assert_eq!(target <= at_zero, solvable);
    }
    let closed = |delta: f64| {
        let quantile = Probability::new(p * (1.0 - delta) / (p + (1.0 - p) * delta)).unwrap();
        r * (r / 2.0 + normal::cdf_inverse(quantile).midpoint())
    };
    assert!(closed(0.5) < 0.0 && closed(1e-3) > 0.0);
    assert!((closed(1e-3) / golden_value("004_fig3/eq23/delta=1e-3") - 1.0).abs() < 1e-9);
}

/// The pair of Poisson mixtures (1−p)N(0) + pN(±½) that stands for replacing a record is no bound
/// when batches have a fixed size: then the record takes the place of another.
#[test]
fn the_symmetric_poisson_pair_does_not_bound_batches_of_fixed_size() {
    let (p, steps) = (0.2, 10);
    let gaussian = |centre: f64| move |y: f64| (-0.5 * (y - centre) * (y - centre)).exp();
    let mixture = |centre: f64| {
        let cells = grid(-9.0, 9.0, 1800).map(|y| (1.0 - p) * gaussian(0.0)(y) + p * gaussian(centre)(y));
        FiniteLaw::proportional_to("a Poisson mixture", cells.collect()).unwrap()
    };
    let pair = DiscretePair::new(mixture(0.5), mixture(-0.5)).unwrap();
    let total = |pair: DominatingPair| {
        let run = Composition::new(vec![Part { pair, count: steps }]);
        let losses = run.distribution(Direction::Forward, Delta::new(0.2).unwrap());
        losses.delta(Epsilon::new(0.0).unwrap())
    };
    let symmetric = total(DominatingPair::symmetric(Arc::new(FiniteLoss::from_pair(&pair))));
    assert_reads(symmetric.midpoint(), 0.2433, 1e-4);

    // Five records, one per step; the other four push away from the middle of [−1.5, 1.5].
    let away = |w: f64| if w == 0.0 { w } else { w + 0.5 * w.signum() };
    let last = |own: Map| {
        let maps: [(f64, Map); 2] = [(p, own), (1.0 - p, &away)];
        let mut law = Law::at(0.0);
        for _ in 1..steps {
            law = law.step(&maps, 1.0).onto(&[-1.5, 0.0, 1.5], 0.25);
        }
        law.step(&maps, 1.0)
    };
    let (up, down) = (|w: f64| w + 0.5, |w: f64| w - 0.5);
    let exact = hockey_stick(&last(&up), &last(&down), 1.0, (-1.5, 1.5));
    assert_reads(exact, 0.2677, 1e-4);
    assert!(exact > symmetric.upper() + 0.02);

    let sampling = Sampling::WithoutReplacement(Probability::new(p).unwrap());
    let mechanism = Mechanism::Gaussian { noise_multiplier: Positive::new(2.0).unwrap() };
    let sound = total(dominating_pair(&mechanism, sampling, Neighbours::ReplaceOne).unwrap());
    assert!(sound.upper() >= exact && sound.upper() < 0.4, "{sound}");
}

/// The last iterate of convex descent is as private as one Gaussian step, with
/// μ = (2L/σ)·c^(n−i)/√Σc^(2j): attained by linear losses, never exceeded.
#[test]
fn later_steps_act_like_more_noise() {
    let interval = (-1.5, 1.5);
    for (later, c) in [(1, 1.0), (3, 1.0), (3, 0.8)] {
        let scale: f64 = (0..=later).map(|j| f64::powi(c, 2 * j)).sum();
        let mu = 2.0 * f64::powi(c, later) / scale.sqrt();
        let shrink = |w: f64| c * w;
        for epsilon in [0.0, 0.5, 1.0] {
            // Nothing is projected: the law is Gaussian with the mean c^later and the variance Σc^(2j).
            let free = |sign: f64| {
                let (mut mean, mut variance) = (sign, 1.0);
                for _ in 0..later {
                    (mean, variance) = (c * mean, c * c * variance + 1.0);
                }
                Law::at(mean).step(&[(1.0, &|w: f64| w)], f64::sqrt(variance))
            };
            let exact = hockey_stick(&free(1.0), &free(-1.0), f64::exp(epsilon), LINE);
            assert!((exact - theta(epsilon, mu).midpoint()).abs() < 1e-12);
            let (up, down) = (|w: f64| w + 1.0, |w: f64| w - 1.0);
            let projected = |first: Map| {
                let mut law = Law::at(0.0).step(&[(1.0, first)], 1.0);
                for _ in 0..later {
                    law = law.onto(&[interval.0, interval.1], 0.25).step(&[(1.0, &shrink)], 1.0);
                }
                law
            };
            let exact = hockey_stick(&projected(&up), &projected(&down), f64::exp(epsilon), interval);
            assert!(exact < theta(epsilon, mu).midpoint());
        }
    }
}
