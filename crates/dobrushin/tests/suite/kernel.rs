//! Contraction coefficients η_γ of finite kernels against exact arithmetic.

use crate::laws::*;
use dobrushin::divergence::FiniteLaw;
use dobrushin::kernel::{Composition, FiniteKernel, GaussianKernel, Kernel, LaplaceKernel, Product};
use dobrushin::{Delta, Enclosure, Gamma};
use dobrushin_reference::Real;

/// A kernel and its rows in exact arithmetic.
fn random_kernel(random: &mut Random) -> (FiniteKernel, Vec<Vec<Real>>) {
    let (inputs, outputs) = (2 + random.below(5), 1 + random.below(12));
    let laws: Vec<FiniteLaw> = (0..inputs).map(|_| random.law(outputs)).collect();
    let rows = laws.iter().map(|law| law.probabilities().to_vec()).collect();
    (FiniteKernel::new(rows).unwrap(), laws.iter().map(exact).collect())
}

/// The largest E_γ between two rows, γ ≥ 1, and the pair.
fn brute_force(rows: &[Vec<Real>], gamma: &Real) -> Real {
    let pairs = rows.iter().flat_map(|p| rows.iter().map(move |q| (p, q)));
    pairs.fold(real(0.0), |most, (p, q)| larger(most, hockey_stick(p, q, gamma)))
}

#[test]
fn eta_is_the_largest_divergence_of_two_rows() {
    let mut random = Random::new(31);
    for case in 0..4_000 {
        let (kernel, rows) = random_kernel(&mut random);
        let law = FiniteLaw::new("row", vec![1.0]).unwrap();
        let (gamma, value) = some_gamma(&mut random, &law, &law);
        let below = gamma.is_below_one();
        // η_γ = η_{1/γ} for γ < 1.
        let at = if below { real(1.0) / &value } else { value };
        let truth = brute_force(&rows, &at);
        let found = kernel.contraction_with_pair(gamma);
        assert_inside(found.value, &truth, (case, &kernel, gamma));
        let moderate = gamma.epsilon().abs().upper() < 500.0;
        assert!(found.value.width() < 1e-14 || !moderate, "{} {kernel:?} {gamma:?}", found.value);
        let (x, y) = found.pair;
        let own = hockey_stick(&rows[x], &rows[y], &at);
        let doubt = Real::from_f64(1e-14, BITS);
        assert!(&own + &doubt >= truth || !moderate, "{:?} does not attain {:e}", found.pair, truth.to_f64());
        assert!(x != y);
    }
}

/// Rows of 2²⁰ths.
fn integer_kernel(random: &mut Random, inputs: usize, outputs: usize) -> (FiniteKernel, Vec<Vec<u64>>) {
    let rows: Vec<Vec<u64>> = (0..inputs).map(|_| random.parts(outputs, 1 << 20)).collect();
    let entries = rows.iter().map(|row| dyadic(row).probabilities().to_vec()).collect();
    (FiniteKernel::new(entries).unwrap(), rows)
}

/// 2²⁴·η at γ = sixteenths/16.
fn integer_eta(rows: &[Vec<u64>], sixteenths: u64) -> i64 {
    let term = |a: u64, b: u64| (16 * a as i64 - (sixteenths * b) as i64).max(0);
    let sum = |p: &[u64], q: &[u64]| p.iter().zip(q).map(|(&a, &b)| term(a, b)).sum::<i64>();
    rows.iter().flat_map(|p| rows.iter().map(move |q| sum(p, q))).max().unwrap()
}

#[test]
fn large_kernels_are_exact_in_integers() {
    let mut random = Random::new(32);
    for (inputs, outputs) in [(2, 1000), (40, 17), (33, 8), (17, 100), (16, 7), (90, 3)] {
        let (kernel, rows) = integer_kernel(&mut random, inputs, outputs);
        let curve = kernel.curve();
        for sixteenths in [16, 17, 24, 32, 100, 4000, 1 << 20] {
            let truth = Real::from_i64(integer_eta(&rows, sixteenths), BITS) / int(1 << 24);
            let gamma = Gamma::new(sixteenths as f64 / 16.0).unwrap();
            assert_inside(kernel.contraction(gamma), &truth, (inputs, outputs, sixteenths));
            assert_inside(kernel.contraction(gamma.reciprocal()), &truth, (inputs, outputs, sixteenths));
            assert_inside(curve.contraction(gamma), &truth, (inputs, outputs, sixteenths));
            assert!(curve.contraction(gamma).width() < 1e-12 && kernel.contraction(gamma).width() < 4e-14);
        }
    }
}

#[test]
fn kernels_of_decimals_are_exact_and_private_whatever_their_size() {
    let mut random = Random::new(40);
    for case in 0..200 {
        let (inputs, outputs) =
            if case % 4 == 0 { (9 + random.below(3), 20) } else { (3, 2 + random.below(5)) };
        let mut law = || {
            let weights = (0..outputs).map(|_| (1 + random.below(99)) as f64 / 100.0).collect();
            FiniteLaw::proportional_to("a row", weights).unwrap()
        };
        let laws: Vec<FiniteLaw> = (0..inputs).map(|_| law()).collect();
        let kernel =
            FiniteKernel::new(laws.iter().map(|law| law.probabilities().to_vec()).collect()).unwrap();
        let rows: Vec<Vec<Real>> = laws.iter().map(|law| short(&exact(law))).collect();
        for gamma in [1.0, random.between(1.0, 4.0)] {
            let found = kernel.contraction(Gamma::new(gamma).unwrap());
            assert_inside(found, &brute_force(&rows, &Real::from_f64(gamma, BITS)), (case, gamma));
        }
        let delta = random.log_between(1e-9, 0.5);
        let at = Delta::new(delta).unwrap();
        for found in [kernel.epsilon_at(at), kernel.curve().epsilon_at(at)] {
            let eta = |epsilon: f64| brute_force(&rows, &Real::from_f64(epsilon, BITS).exp());
            let target = Real::from_f64(delta, BITS);
            assert!(eta(found.upper()) <= target, "{case} {found} {delta}");
            assert!(found.lower() == 0.0 || eta(found.lower()) >= target, "{case} {found} {delta}");
            assert!(found.width() < 1e-10, "{found}");
        }
    }
}

#[test]
fn a_curve_that_is_flat_at_delta_has_a_finite_epsilon() {
    // Half of every output tells the input; the rest leans to one side or the other.
    for inputs in [2, 10] {
        let row = |x: usize| {
            let mut row: Vec<f64> = (0..inputs).map(|z| if z == x { 0.5 } else { 0.0 }).collect();
            row.extend(if x.is_multiple_of(2) { [0.375, 0.125] } else { [0.125, 0.375] });
            row
        };
        let kernel = FiniteKernel::new((0..inputs).map(row).collect()).unwrap();
        let found = kernel.epsilon_at(Delta::new(0.5).unwrap());
        assert_inside(found, &int(3).ln(), inputs);
        assert!(found.width() < 1e-8, "{found}");
        assert_eq!(kernel.epsilon_at(Delta::new(0.4999).unwrap()), Enclosure::INFINITE);
    }
}

#[test]
fn the_curve_is_eta_at_every_gamma() {
    let mut random = Random::new(33);
    for case in 0..1_000 {
        let (kernel, rows) = random_kernel(&mut random);
        let curve = kernel.curve();
        for (gamma, (x, y)) in curve.bends().filter(|(gamma, _)| *gamma < f64::MAX).take(4) {
            let truth = brute_force(&rows, &real(gamma));
            assert_inside(curve.contraction(Gamma::new(gamma).unwrap()), &truth, (case, &kernel, gamma));
            let own = hockey_stick(&rows[x], &rows[y], &real(gamma));
            assert!(own + Real::from_f64(1e-13, BITS) >= truth, "{kernel:?} {gamma}");
        }
        for gamma in (0..3).map(|_| random.log_between(0.01, 100.0)) {
            let truth = brute_force(&rows, &if gamma < 1.0 { int(1) / real(gamma) } else { real(gamma) });
            assert_inside(curve.contraction(Gamma::new(gamma).unwrap()), &truth, (case, &kernel, gamma));
        }
    }
}

#[test]
fn eta_falls_and_is_convex_in_gamma() {
    let mut random = Random::new(34);
    for _ in 0..200 {
        let (kernel, _) = random_kernel(&mut random);
        let at = |gamma: f64| kernel.contraction(Gamma::new(gamma).unwrap());
        let values: Vec<Enclosure> = (0..40).map(|i| at(1.0 + f64::from(i) / 8.0)).collect();
        assert!(values.windows(2).all(|w| w[1].lower() <= w[0].upper()));
        assert!(values.windows(3).all(|w| 2.0 * w[1].lower() <= w[0].upper() + w[2].upper() + 1e-15));
        let bends: Vec<f64> = kernel.curve().bends().map(|(gamma, _)| gamma).collect();
        assert!(bends.windows(2).all(|w| w[0] <= w[1] * (1.0 + 1e-15)), "{bends:?}");
    }
}

/// The largest (P(A) − δ)/Q(A) in integers as a fraction, δ in 2²⁰ths; `None` for ∞.
fn integer_root(rows: &[Vec<u64>], delta: u64) -> Option<(u64, u64)> {
    let mut most = (1, 1);
    for (p, q) in rows.iter().flat_map(|p| rows.iter().map(move |q| (p, q))) {
        let mut cells: Vec<(u64, u64)> =
            p.iter().zip(q).map(|(&a, &b)| (a, b)).filter(|&(a, _)| a > 0).collect();
        cells.sort_by(|&(a, b), &(c, d)| (c * b).cmp(&(a * d)));
        let (mut mass, mut other) = (0, 0);
        for (a, b) in cells {
            (mass, other) = (mass + a, other + b);
            if mass > delta {
                if other == 0 {
                    return None;
                }
                let root = (mass - delta, other);
                most = if root.0 * most.1 > most.0 * root.1 { root } else { most };
            }
        }
    }
    Some(most)
}

#[test]
fn the_smallest_epsilon_is_right_and_private() {
    let mut random = Random::new(35);
    let mut seen = [0; 3];
    for case in 0..3_000 {
        let (inputs, outputs) = (2 + random.below(5), 2 + random.below(10));
        let (kernel, rows) = integer_kernel(&mut random, inputs, outputs);
        let total_variation = integer_eta(&rows, 16) as u64 / 16;
        let delta = match random.below(6) {
            0 => 0,
            1 => 1,
            2 => total_variation,
            // η at a knot of integer γ, if it is a multiple of 2⁻²⁰.
            3 => integer_eta(&rows, 16 * (2 + random.bits() % 5)) as u64 / 16,
            4 => rows[0][0].min(1 << 20),
            _ => random.bits() % (1 << 20),
        };
        let at = Delta::new(delta as f64 / (1 << 20) as f64).unwrap();
        let (found, by_curve) = (kernel.epsilon_at(at), kernel.curve().epsilon_at(at));
        let Some((numerator, denominator)) = integer_root(&rows, delta) else {
            seen[0] += 1;
            assert_eq!(
                (found, by_curve),
                (Enclosure::INFINITE, Enclosure::INFINITE),
                "{case} {rows:?} {delta}"
            );
            continue;
        };
        let truth = (int(numerator as i64) / int(denominator as i64)).ln();
        assert_inside(found, &truth, (case, &rows, delta));
        assert_inside(by_curve, &truth, (case, &rows, delta));
        assert!(found.width() < 1e-7, "{found} {rows:?} {delta}");
        seen[1] += 1;
        if numerator == denominator {
            assert!(found == Enclosure::ZERO, "{found} {rows:?} {delta}");
            seen[2] += 1;
        }
        // At the upper end it is private: checked exactly, with γ below e^ε.
        let gamma = Real::from_f64(found.upper(), BITS).exp();
        let laws: Vec<Vec<Real>> = rows.iter().map(|row| exact(&dyadic(row))).collect();
        assert!(brute_force(&laws, &gamma) <= Real::from_f64(at.get() + 1e-300, BITS), "{rows:?} {delta}");
    }
    assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
}

#[test]
fn the_smallest_epsilon_of_tiny_probabilities_is_right() {
    let mut random = Random::new(36);
    for case in 0..1_000 {
        let (kernel, rows) = random_kernel(&mut random);
        let pure = kernel.largest_log_ratio();
        assert_eq!(kernel.epsilon_at(Delta::new(0.0).unwrap()), pure);
        let columns: Vec<Vec<&Real>> =
            (0..rows[0].len()).map(|z| rows.iter().map(|row| &row[z]).collect()).collect();
        let mut truth = Some(int(0));
        for column in columns {
            let most = column.iter().fold(int(0), |most, p| larger(most, (*p).clone()));
            let least =
                column.iter().fold(real(1.0), |least, p| if **p < least { (*p).clone() } else { least });
            truth = match truth {
                Some(truth) if !least.is_zero() => Some(larger(truth, (most / least).with_bits(BITS).ln())),
                Some(truth) if most.is_zero() => Some(truth),
                _ => None,
            };
        }
        match truth {
            Some(truth) => assert_inside(pure, &truth, (case, &kernel)),
            None => assert_eq!(pure, Enclosure::INFINITE, "{kernel:?}"),
        }
        assert!(pure.width() < 1e-12, "{pure}");
    }
}

#[test]
fn identical_rows_contract_everything() {
    let mut random = Random::new(37);
    for _ in 0..200 {
        let outputs = 1 + random.below(20);
        let row = random.law(outputs).probabilities().to_vec();
        let kernel = FiniteKernel::new(vec![row; 3]).unwrap();
        let gamma = Gamma::new(random.log_between(0.2, 5.0)).unwrap();
        assert_eq!(kernel.contraction(gamma), Enclosure::ZERO);
        assert_eq!(kernel.largest_log_ratio(), Enclosure::ZERO);
        assert_eq!(kernel.epsilon_at(Delta::new(0.0).unwrap()), Enclosure::ZERO);
        assert_eq!(kernel.chi_squared_contraction().value, Enclosure::ZERO);
    }
}

#[test]
fn randomised_response_has_its_closed_forms() {
    for (k, epsilon) in [(2, 1.0f64), (3, 0.5), (10, 2.0), (40, 5.0), (17, 0.01)] {
        let e = epsilon.exp();
        let row = |x: usize| (0..k).map(|z| if z == x { e } else { 1.0 }).collect::<Vec<_>>();
        let kernel = FiniteKernel::proportional_to((0..k).map(row).collect()).unwrap();
        let (a, b) = (e / (e + k as f64 - 1.0), 1.0 / (e + k as f64 - 1.0));
        let near = |found: Enclosure, truth: f64| {
            assert!((found.midpoint() - truth).abs() < 1e-13 && found.width() < 1e-13, "{found} {truth} {k}");
        };
        near(kernel.total_variation(), a - b);
        for t in [0.0, 0.3 * epsilon, 0.9 * epsilon] {
            near(kernel.contraction(Gamma::from_epsilon(t).unwrap()), a - t.exp() * b);
        }
        near(kernel.largest_log_ratio(), epsilon);
        near(kernel.chi_squared_contraction().value, (a - b).powi(2) / (a + b));
        let delta = 0.5 * (a - b);
        near(kernel.epsilon_at(Delta::new(delta).unwrap()), ((a - delta) / b).ln());
    }
}

#[test]
fn small_kernels_have_no_more_error_than_their_sums() {
    // All ordered pairs tie, and all sums are exact.
    let kernel = FiniteKernel::new(vec![vec![0.75, 0.25], vec![0.25, 0.75]]).unwrap();
    assert_eq!(kernel.total_variation(), Enclosure::from(0.5));
    assert_eq!(kernel.contraction(Gamma::new(2.0).unwrap()), Enclosure::from(0.25));
    assert_eq!(kernel.contraction(Gamma::new(0.5).unwrap()), Enclosure::from(0.25));
    assert_eq!(kernel.contraction(Gamma::new(3.0).unwrap()), Enclosure::ZERO);
    let rare = FiniteKernel::new(vec![vec![1e-30, 1.0], vec![1e-40, 1.0]]).unwrap();
    let eta = rare.contraction(Gamma::new(1e9).unwrap());
    assert!(eta.lower() > 0.89e-30 && eta.upper() < 0.91e-30, "{eta}");
}

#[test]
fn an_erasure_is_private_at_delta_equal_to_what_it_keeps() {
    let kernel = FiniteKernel::new(vec![vec![0.5, 0.0, 0.5], vec![0.0, 0.5, 0.5]]).unwrap();
    assert_eq!(kernel.epsilon_at(Delta::new(0.5).unwrap()), Enclosure::ZERO);
    assert_eq!(kernel.epsilon_at(Delta::new(0.5f64.next_down()).unwrap()), Enclosure::INFINITE);
    assert!(kernel.contraction(Gamma::from_epsilon(710.0).unwrap()).contains(0.5));
}

#[test]
fn a_negative_zero_is_not_a_positive_probability() {
    let kernel = FiniteKernel::new(vec![vec![0.5, 0.5], vec![-0.0, 1.0]]).unwrap();
    assert_eq!(kernel.largest_log_ratio(), Enclosure::INFINITE);
    assert!(kernel.contraction(Gamma::new(1e9).unwrap()).contains(0.5));
    assert!(kernel.curve().contraction(Gamma::new(1e9).unwrap()).contains(0.5));
}

#[test]
fn kernels_in_sequence_and_side_by_side_contain_the_exact_coefficients() {
    let mut random = Random::new(38);
    for case in 0..300 {
        let sizes: Vec<usize> = (0..4).map(|_| 2 + random.below(2)).collect();
        let kernels: Vec<(FiniteKernel, Vec<Vec<u64>>)> =
            sizes.windows(2).map(|w| integer_kernel(&mut random, w[0], w[1])).collect();
        let rows: Vec<Vec<Vec<Real>>> =
            kernels.iter().map(|(_, rows)| rows.iter().map(|row| exact(&dyadic(row))).collect()).collect();
        let count = 2 + random.below(2);
        let gamma = if case % 3 == 0 { 1.0 } else { random.log_between(1.0, 20.0) };
        let at = Gamma::new(gamma).unwrap();
        let boxed = || kernels[..count].iter().map(|(k, _)| Box::new(k.clone()) as Box<dyn Kernel>).collect();

        let sequence = kernels[1..count].iter().try_fold(kernels[0].0.clone(), |k, (next, _)| k.then(next));
        let exact_sequence = rows[1..count].iter().fold(rows[0].clone(), |rows, next| multiply(&rows, next));
        let truth = brute_force(&exact_sequence, &real(gamma));
        if let Ok(sequence) = sequence {
            assert_inside(sequence.contraction(at), &truth, case);
            assert_inside(sequence.curve().contraction(at), &truth, case);
            assert!(sequence.contraction(at).width() < 1e-13);
        }
        let bound = Composition(boxed());
        let (tight, published) = (bound.contraction(at), bound.published_contraction(at));
        assert!(real(tight.upper()) >= truth && tight.upper() <= published.upper() + 1e-15, "{case}");
        assert_eq!(
            bound.contraction(at.reciprocal()).upper(),
            bound.contraction(at.reciprocal().reciprocal()).upper()
        );

        let side = kernels[1..count].iter().try_fold(kernels[0].0.clone(), |k, (next, _)| k.beside(next));
        let exact_side = rows[1..count].iter().fold(rows[0].clone(), |rows, next| tensor(&rows, next));
        let truth = brute_force(&exact_side, &real(gamma));
        if let Ok(side) = side {
            assert_inside(side.contraction(at), &truth, case);
            assert!(side.contraction(at).width() < 1e-13);
        }
        assert!(real(Product(boxed()).contraction(at).upper()) >= truth, "{case}");
    }
}

fn multiply(first: &[Vec<Real>], next: &[Vec<Real>]) -> Vec<Vec<Real>> {
    let cell = |row: &[Real], z: usize| {
        row.iter().zip(next).fold(real(0.0), |sum, (weight, law)| sum + weight * &law[z])
    };
    first.iter().map(|row| (0..next[0].len()).map(|z| cell(row, z)).collect()).collect()
}

fn tensor(first: &[Vec<Real>], other: &[Vec<Real>]) -> Vec<Vec<Real>> {
    let row = |a: &[Real], b: &[Real]| a.iter().flat_map(|x| b.iter().map(move |y| x * y)).collect();
    first.iter().flat_map(|a| other.iter().map(move |b| row(a, b))).collect()
}

#[test]
fn products_of_noise_kernels_bound_the_exact_product() {
    let gaussian = |r: f64| GaussianKernel::new(r, 1.0).unwrap();
    let mut random = Random::new(39);
    for _ in 0..300 {
        let ratios: Vec<f64> = (0..2 + random.below(2)).map(|_| random.log_between(0.05, 4.0)).collect();
        let gamma = Gamma::from_epsilon(random.between(0.0, 6.0)).unwrap();
        let kernels: Vec<GaussianKernel> = ratios.iter().map(|&r| gaussian(r)).collect();
        let exact = GaussianKernel::product(&kernels).contraction(gamma);
        let by_hand = gaussian(ratios.iter().map(|r| r * r).sum::<f64>().sqrt()).contraction(gamma);
        assert!((exact.midpoint() - by_hand.midpoint()).abs() < 1e-13);
        let bound = Product(kernels.iter().map(|&k| Box::new(k) as Box<dyn Kernel>).collect());
        assert!(bound.contraction(gamma).upper() >= exact.lower());
        let alone = Product(vec![Box::new(LaplaceKernel::new(ratios[0], 1.0).unwrap())]);
        let laplace = LaplaceKernel::new(ratios[0], 1.0).unwrap().contraction(gamma);
        assert!((alone.contraction(gamma).upper() - laplace.upper()).abs() < 1e-14);
    }
}

/// A channel with random rows, some of them equal and some with entries of 0.
fn random_channel(random: &mut Random, inputs: usize, outputs: usize) -> Vec<Vec<f64>> {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for x in 0..inputs {
        if x % 5 == 4 {
            rows.push(rows[x / 2].clone());
            continue;
        }
        let mut row: Vec<f64> = (0..outputs).map(|_| random.log_between(1e-6, 1.0)).collect();
        if x % 7 == 3 {
            row[x % outputs] = 0.0;
        }
        rows.push(row);
    }
    rows
}

#[test]
fn rows_that_are_left_out_do_not_matter() {
    let mut random = Random::new(15);
    for outputs in 2..=5 {
        for inputs in [3, 40, 130] {
            let rows = random_channel(&mut random, inputs, outputs);
            let kernel = FiniteKernel::proportional_to(rows.clone()).expect("valid");
            let pairs = (0..inputs).flat_map(|y| (0..y).map(move |x| (x, y)));
            let two = |(x, y): (usize, usize)| vec![rows[x].clone(), rows[y].clone()];
            let two: Vec<FiniteKernel> =
                pairs.map(|pair| FiniteKernel::proportional_to(two(pair)).expect("valid")).collect();
            let largest = |of: &dyn Fn(&FiniteKernel) -> Enclosure| {
                two.iter().map(of).fold(Enclosure::ZERO, Enclosure::max)
            };
            let curve = kernel.curve();
            for epsilon in [0.0, 0.1, 1.0, 3.0] {
                let gamma = Gamma::from_epsilon(epsilon).expect("valid");
                let of_pairs = largest(&|two| two.contraction(gamma));
                for eta in [kernel.contraction(gamma), curve.contraction(gamma)] {
                    let context = format!("{inputs} × {outputs} at {epsilon}: {eta} against {of_pairs}");
                    assert!(eta.upper() >= of_pairs.lower(), "{context}");
                    assert!(eta.intersect(of_pairs).is_some() && eta.width() < 1e-13, "{context}");
                }
            }
            let chi2 = kernel.chi_squared_contraction().value;
            let of_pairs = largest(&|two| two.chi_squared_contraction().value);
            assert!(chi2.intersect(of_pairs).is_some(), "{inputs} × {outputs}: {chi2} against {of_pairs}");
        }
    }
}

#[test]
fn thousands_of_rows_contract_as_the_two_that_are_farthest_apart() {
    let mut random = Random::new(16);
    let row = |random: &mut Random| {
        let p = random.between(1e-6, 1.0 - 1e-6);
        vec![p, 1.0 - p]
    };
    let rows: Vec<Vec<f64>> = (0..20_000).map(|_| row(&mut random)).collect();
    let smallest = rows.iter().map(|row| row[0]).fold(1.0, f64::min);
    let largest = rows.iter().map(|row| row[0]).fold(0.0, f64::max);
    let kernel = FiniteKernel::proportional_to(rows).expect("valid");
    let (curve, chi2) = (kernel.curve(), kernel.chi_squared_contraction());
    assert!((curve.contraction(Gamma::ONE).upper() - (largest - smallest)).abs() < 1e-12);
    let two =
        FiniteKernel::proportional_to(vec![vec![smallest, 1.0 - smallest], vec![largest, 1.0 - largest]]);
    let of_two = two.expect("valid").chi_squared_contraction().value;
    assert!(chi2.value.intersect(of_two).is_some(), "{} against {of_two}", chi2.value);
}
