//! Strong data processing: η_χ² = η_KL, the tight curve F_γ, and what a kernel
//! leaves of the divergence of its inputs.

use crate::laws::*;
use dobrushin::divergence::{DiscretePair, FiniteLaw, Pair};
use dobrushin::kernel::{
    Composition, FiniteKernel, GaussianKernel, Kernel, LaplaceKernel, any_divergence_bound,
};
use dobrushin::{Enclosure, Gamma, Probability};
use dobrushin_reference::Real;

fn kernel(rows: &[&[f64]]) -> FiniteKernel {
    FiniteKernel::new(rows.iter().map(|row| row.to_vec()).collect()).unwrap()
}

fn random_kernel(random: &mut Random, inputs: usize, outputs: usize) -> (FiniteKernel, Vec<Vec<Real>>) {
    let laws: Vec<FiniteLaw> = (0..inputs).map(|_| random.law(outputs)).collect();
    let rows = laws.iter().map(|law| law.probabilities().to_vec()).collect();
    (FiniteKernel::new(rows).unwrap(), laws.iter().map(exact).collect())
}

/// The law of the output.
fn output(input: &[Real], rows: &[Vec<Real>]) -> Vec<Real> {
    let cell = |z: usize| input.iter().zip(rows).fold(real(0.0), |sum, (p, row)| sum + p * &row[z]);
    (0..rows[0].len()).map(cell).collect()
}

fn chi_squared(p: &[Real], q: &[Real]) -> Real {
    let (p, q) = (short(p), short(q));
    let terms = p.iter().zip(&q).filter(|(_, q)| !q.is_zero());
    terms.fold(int(0), |sum, (p, q)| sum + (p - q).powi(2) / q)
}

fn kl(p: &[Real], q: &[Real]) -> Real {
    let (p, q) = (short(p), short(q));
    common(&p, &q, |p, q| p * (p / q).ln())
}

/// 1 − Σ pq/(λp + (1 − λ)q).
fn binary_coefficient(p: &[Real], q: &[Real], weight: &Real) -> Real {
    let rest = int(1) - weight;
    int(1) - common(p, q, |p, q| p * q / (weight * p + &rest * q))
}

#[test]
fn chi_squared_contraction_is_the_best_binary_input() {
    let mut random = Random::new(41);
    for case in 0..250 {
        let (inputs, outputs) = (2 + random.below(3), 2 + random.below(9));
        let (kernel, rows) = random_kernel(&mut random, inputs, outputs);
        let rows: Vec<Vec<Real>> = rows.iter().map(|row| short(row)).collect();
        let found = kernel.chi_squared_contraction();
        let mut truth = int(0);
        for (p, q) in (0..inputs).flat_map(|y| (0..y).map(move |x| (x, y))).map(|(x, y)| (&rows[x], &rows[y]))
        {
            // The coefficient is concave in λ: thirds of [0, 1].
            let (mut from, mut to) = (int(0), int(1));
            for _ in 0..110 {
                let (left, right) = ((&from * 2 + &to) / 3, (&from + &to * 2) / 3);
                if binary_coefficient(p, q, &left) < binary_coefficient(p, q, &right) {
                    from = left;
                } else {
                    to = right;
                }
            }
            truth = larger(truth, binary_coefficient(p, q, &((from + to) / 2)));
        }
        let slack = Real::from_f64(1e-18, BITS);
        assert!(Real::from_f64(found.value.upper(), BITS) >= truth, "{case} {} {kernel:?}", found.value);
        assert!(Real::from_f64(found.value.lower(), BITS) <= &truth + &slack, "{case} {kernel:?}");
        assert!(found.value.width() < 1e-13, "{} {kernel:?}", found.value);
        let (x, y) = found.pair;
        let attained = binary_coefficient(&rows[x], &rows[y], &Real::from_f64(found.weight, BITS));
        assert!(attained >= Real::from_f64(found.value.lower(), BITS) - &slack, "{case} {kernel:?}");
    }
}

#[test]
fn no_input_beats_the_chi_squared_contraction() {
    let mut random = Random::new(42);
    let mut best = 0.0f64;
    for case in 0..400 {
        let (inputs, outputs) = (2 + random.below(4), 2 + random.below(6));
        let (kernel, rows) = random_kernel(&mut random, inputs, outputs);
        let eta = Real::from_f64(kernel.chi_squared_contraction().value.upper(), BITS);
        for _ in 0..8 {
            let mu = exact(&dyadic(&random.parts(inputs, 1 << 20)));
            let nu = exact(&dyadic(&random.parts(inputs, 1 << 20)));
            if escapes(&mu, &nu) {
                continue;
            }
            let (out_mu, out_nu) = (output(&mu, &rows), output(&nu, &rows));
            for (after, before) in
                [(chi_squared(&out_mu, &out_nu), chi_squared(&mu, &nu)), (kl(&out_mu, &out_nu), kl(&mu, &nu))]
            {
                let slack = Real::from_f64(1e-40, BITS);
                assert!(after <= &eta * &before + slack, "{case} {kernel:?}");
                if !before.is_zero() {
                    best = best.max((after / before / &eta).to_f64());
                }
            }
        }
    }
    assert!(best > 0.9, "the inputs tried come nowhere near the bound: {best}");
}

#[test]
fn known_channels_have_their_known_coefficients() {
    let near = |found: Enclosure, truth: f64| {
        assert!(found.lower() <= truth + 1e-15 && found.upper() >= truth - 1e-15, "{found} {truth}");
        assert!(found.width() < 1e-13, "{found} {truth}");
    };
    for w in [0.0, 1e-9, 0.11, 0.25, 0.5 - 1e-6] {
        // η_KL of a binary symmetric channel is (1 − 2w)²; the printed 1 − 2w² is too large.
        let channel = kernel(&[&[1.0 - w, w], &[w, 1.0 - w]]).chi_squared_contraction();
        near(channel.value, (1.0 - 2.0 * w).powi(2));
        assert!((channel.weight - 0.5).abs() < 1e-3 || w == 0.0);
        // What is kept of an erasure; the limit λ → 1 of a Z-channel.
        near(kernel(&[&[1.0 - w, 0.0, w], &[0.0, 1.0 - w, w]]).chi_squared_contraction().value, 1.0 - w);
        near(kernel(&[&[1.0, 0.0], &[w, 1.0 - w]]).chi_squared_contraction().value, 1.0 - w);
    }
    for w in [1e-6, 1e-12, 1e-15, 1e-100, 1e-300] {
        // In the limit λ → 0.
        let z = kernel(&[&[1.0, 0.0], &[1.0 - w, w]]).chi_squared_contraction();
        near(z.value, w);
    }
}

#[test]
fn a_z_channel_with_a_rare_crossover_needs_an_extreme_weight() {
    // p = (a, 1 − a), q = (a², 1 − a²): the maximum is near λ ~ a.
    for a in [1e-3, 1e-5, 1e-7] {
        let found = kernel(&[&[a, 1.0 - a], &[a * a, 1.0 - a * a]]).chi_squared_contraction();
        let at = |l: f64| l * (1.0 - l) * (a - a * a).powi(2) / (l * a + (1.0 - l) * a * a);
        let scan = (1..4000).map(|i| at(10f64.powf(-8.0 * f64::from(i) / 4000.0))).fold(0.0, f64::max);
        assert!(found.value.upper() >= scan && found.value.width() < 1e-13, "{} {scan}", found.value);
        assert!(found.weight < 0.1 || found.value.lower() <= 1e-14, "{found:?}");
    }
}

#[test]
fn the_tight_curve_bounds_every_output_and_stays_below_the_line() {
    let mut random = Random::new(43);
    for case in 0..1_500 {
        let (inputs, outputs) = (2 + random.below(4), 1 + random.below(6));
        let (kernel, rows) = random_kernel(&mut random, inputs, outputs);
        let (mu, nu) = (random.law(inputs), random.law(inputs));
        let (gamma, value) = some_gamma(&mut random, &mu, &nu);
        let pair = DiscretePair::new(mu.clone(), nu.clone()).unwrap();
        let (mu, nu) = (exact(&mu), exact(&nu));
        let after = hockey_stick(&output(&mu, &rows), &output(&nu, &rows), &value);
        let before = pair.hockey_stick(gamma);
        let input = Probability::new(before.upper()).unwrap();
        let tight = kernel.tight(gamma, input);
        let slack = int(2).powi(-1500);
        assert!(
            real(tight.upper()) + slack >= after,
            "{case} {kernel:?} {gamma:?} {tight} {:e}",
            after.to_f64()
        );
        let linear = kernel.contraction(gamma) * Enclosure::from(input);
        assert!(tight.upper() <= linear.upper() * (1.0 + 1e-13) + 1e-14 * input.get(), "{tight} {linear}");
        // The published bound on any divergence.
        let tv = any_divergence_bound(gamma, kernel.contraction(gamma)).upper();
        assert!(kernel.total_variation().lower() <= tv, "{case} {gamma:?} {kernel:?}");
    }
}

#[test]
fn the_tight_curve_is_attained() {
    // μ = e·δ_x + (1 − e)·ω and γν = (1 − e)·ω + (γ − 1 + e)·δ_y, for any ω, here δ_x.
    let mut random = Random::new(44);
    for case in 0..500 {
        let outputs = 2 + random.below(5);
        let (kernel, rows) = random_kernel(&mut random, 2, outputs);
        let e = (1 + random.below(1 << 10)) as f64 / f64::from(1 << 10);
        let gamma = 1.0 + random.below(64) as f64 / 16.0;
        let at = Gamma::new(gamma).unwrap();
        let tight = kernel.tight(at, Probability::new(e).unwrap());
        let (x, y) = kernel.contraction_with_pair(Gamma::new(1.0 + (gamma - 1.0) / e).unwrap()).pair;
        let point = |i: usize, weight: Real| rows[i].iter().map(|p| p * &weight).collect::<Vec<_>>();
        let sum = |a: Vec<Real>, b: Vec<Real>| a.iter().zip(&b).map(|(a, b)| a + b).collect::<Vec<_>>();
        let (e, g) = (real(e), real(gamma));
        let omega = real(1.0) - &e;
        let mu = sum(point(x, e.clone()), point(x, omega.clone()));
        let nu = sum(point(x, &omega / &g), point(y, (&g - 1 + &e) / &g));
        let attained = hockey_stick(&mu, &nu, &g);
        let gap = real(tight.upper()) - &attained;
        assert!(gap.to_f64() > -1e-300 && gap.to_f64() < 2e-14, "{case} {} {tight}", attained.to_f64());
    }
}

#[test]
fn at_gamma_one_two_points_lose_exactly_the_total_variation() {
    let kernel = kernel(&[&[0.75, 0.25, 0.0], &[0.25, 0.25, 0.5]]);
    for e in [0.0, 0.125, 0.5, 1.0] {
        let found = kernel.tight(Gamma::ONE, Probability::new(e).unwrap());
        assert!(found.contains(0.5 * e) && found.width() < 1e-14);
    }
}

#[test]
fn the_tight_curve_rises_and_is_convex() {
    let kernels: [Box<dyn Kernel>; 4] = [
        Box::new(GaussianKernel::new(1.0, 1.0).unwrap()),
        Box::new(LaplaceKernel::new(3.0, 1.0).unwrap()),
        Box::new(kernel(&[&[0.6, 0.3, 0.1], &[0.1, 0.3, 0.6]])),
        Box::new(Composition(vec![
            Box::new(GaussianKernel::new(2.0, 1.0).unwrap()),
            Box::new(LaplaceKernel::new(4.0, 1.0).unwrap()),
        ])),
    ];
    for kernel in &kernels {
        for epsilon in [-1.0, -0.1, 0.0, 0.01, 0.5, 2.0] {
            let gamma = Gamma::from_epsilon(epsilon).unwrap();
            let most = gamma.value().lower().min(1.0);
            let at = |i: u32| kernel.tight(gamma, Probability::new(most * f64::from(i) / 64.0).unwrap());
            let values: Vec<Enclosure> = (0..=64).map(at).collect();
            assert_eq!(values[0], Enclosure::ZERO);
            assert!(values.windows(2).all(|w| w[0].lower() <= w[1].upper()));
            assert!(values.windows(3).all(|w| 2.0 * w[1].lower() <= w[0].upper() + w[2].upper() + 1e-14));
            let whole = kernel.contraction(gamma) * Enclosure::from(most);
            assert!((values[64].upper() - whole.upper()).abs() < 1e-13, "{} {whole}", values[64]);
        }
    }
}

#[test]
fn noise_kernels_are_the_divergence_of_the_farthest_inputs() {
    let mut random = Random::new(45);
    for _ in 0..500 {
        let (length, scale) = (random.log_between(0.01, 20.0), random.log_between(0.1, 10.0));
        let epsilon = random.between(-5.0, 5.0);
        let gamma = Gamma::from_epsilon(epsilon).unwrap();
        let laplace = LaplaceKernel::new(length, scale).unwrap().contraction(gamma);
        let ratio = Real::from_f64(length, BITS) / Real::from_f64(scale, BITS);
        let size = Real::from_f64(epsilon.abs(), BITS);
        assert_inside(laplace, &positive_part(-((&size - &ratio) / 2).exp_m1()), (length, scale, epsilon));
        let gaussian = GaussianKernel::new(length, scale).unwrap().contraction(gamma);
        assert_inside(gaussian, &dobrushin_reference::theta_at(&size, &ratio), (length, scale, epsilon));
    }
    let unconstrained = GaussianKernel::new(f64::INFINITY, 1.0).unwrap();
    assert_eq!(unconstrained.contraction(Gamma::new(5.0).unwrap()), Enclosure::ONE);
}

#[test]
fn the_bound_on_any_divergence_does_not_depend_on_the_side_of_one() {
    let eta = Enclosure::from(0.5);
    let (below, above) = (Gamma::new(0.5).unwrap(), Gamma::new(2.0).unwrap());
    assert_eq!(any_divergence_bound(below, eta), any_divergence_bound(above, eta));
    assert_eq!(any_divergence_bound(above, eta), Enclosure::from(0.75));
}
