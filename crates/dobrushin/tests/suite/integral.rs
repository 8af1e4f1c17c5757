//! f-divergences by the integral representation, and what a kernel leaves of them.

use crate::laws::*;
use dobrushin::divergence::{
    Alpha, ChiSquared, Conjugate, DiscretePair, FiniteLaw, GaussianPair, Generator, Hellinger, JensenShannon,
    KullbackLeibler, LaplacePair, Pair, f_divergence, gamma_information,
};
use dobrushin::kernel::{FiniteKernel, Kernel, output_bound};
use dobrushin::{Enclosure, Gamma};
use dobrushin_reference::{depth, golden};

fn pair(p: &[f64], q: &[f64]) -> DiscretePair {
    let law = |name: &str, p: &[f64]| FiniteLaw::new(name, p.to_vec()).unwrap();
    DiscretePair::new(law("P", p), law("Q", q)).unwrap()
}

fn overlap(a: Enclosure, b: Enclosure) -> bool {
    a.lower() <= b.upper() && b.lower() <= a.upper()
}

#[test]
fn the_integral_contains_the_closed_forms() {
    for r in [0.01, 1.0, 3.0] {
        for pair in [&GaussianPair::new(r, 1.0).unwrap() as &dyn Pair, &LaplacePair::new(r, 1.0).unwrap()] {
            let alpha = Alpha::new(2.0).unwrap();
            let half_chi = pair.chi_squared() / Enclosure::from(2.0);
            // The pairs are symmetric, so a generator and its conjugate agree.
            let cases: [(&dyn Generator, Enclosure); 5] = [
                (&KullbackLeibler, pair.kl()),
                (&Conjugate(&KullbackLeibler), pair.kl()),
                (&ChiSquared, pair.chi_squared()),
                (&Hellinger, pair.hellinger_squared()),
                (&alpha, half_chi),
            ];
            for (f, truth) in cases {
                let found = f_divergence(pair, f);
                assert!(found.lower() <= truth.lower() && truth.upper() <= found.upper(), "{found} {truth}");
                assert!(found.width() < 1e-6 * truth.upper() + 1e-10, "{found} {truth} at {r}");
            }
        }
    }
}

#[test]
fn tiny_divergences_are_bounded_to_a_small_absolute_error() {
    for r in [1e-10, 1e-4] {
        for pair in [&GaussianPair::new(r, 1.0).unwrap() as &dyn Pair, &LaplacePair::new(r, 1.0).unwrap()] {
            let found = f_divergence(pair, &KullbackLeibler);
            assert!(overlap(found, pair.kl()) && found.width() < 1e-10, "{found}");
        }
    }
}

/// Both directions of every generator against the direct sum.
fn check_discrete(pair: &DiscretePair, relative_width: f64) {
    let alpha = Alpha::new(0.3).unwrap();
    let generators: [&dyn Generator; 5] = [&KullbackLeibler, &ChiSquared, &Hellinger, &JensenShannon, &alpha];
    for f in generators {
        for pair in [pair, &pair.reversed()] {
            let (found, direct) = (f_divergence(pair, f), pair.f_divergence(f));
            assert!(overlap(found, direct), "{found} {direct} {pair:?}");
            assert!(found.width() <= relative_width * direct.upper(), "{found} {direct} {pair:?}");
        }
    }
}

#[test]
fn the_integral_is_the_sum_for_finite_pairs() {
    check_discrete(&pair(&[0.5, 0.3, 0.2], &[0.2, 0.3, 0.5]), 1e-9);
    check_discrete(&pair(&[0.7, 0.2, 0.1], &[0.05, 0.25, 0.7]), 1e-9);
    check_discrete(&pair(&[0.5, 0.25, 0.25, 0.0], &[0.0, 0.25, 0.5, 0.25]), 1e-9);
    let mut random = Random::new(51);
    for _ in 0..6 {
        let outcomes = 2 + random.below(5);
        let mut weights = || (0..outcomes).map(|_| (1 + random.below(99)) as f64).collect();
        let p = FiniteLaw::proportional_to("P", weights()).unwrap();
        let q = FiniteLaw::proportional_to("Q", weights()).unwrap();
        check_discrete(&DiscretePair::new(p, q).unwrap(), 1e-7);
    }
}

#[test]
fn directions_differ_where_the_divergence_does() {
    let pair = pair(&[0.9, 0.1], &[0.5, 0.5]);
    for (f, forward, backward) in [
        (&KullbackLeibler as &dyn Generator, pair.kl(), pair.reversed().kl()),
        (&ChiSquared, pair.chi_squared(), pair.reversed().chi_squared()),
    ] {
        assert!(!overlap(forward, backward));
        assert!(overlap(f_divergence(&pair, f), forward));
        assert!(overlap(f_divergence(&pair.reversed(), f), backward));
        assert!(overlap(f_divergence(&pair, &Conjugate(f)), backward));
    }
}

#[test]
fn what_one_law_alone_can_produce_counts_in_full() {
    let one_sided = pair(&[0.25, 0.75], &[0.0, 1.0]);
    assert_eq!(f_divergence(&one_sided, &KullbackLeibler), Enclosure::INFINITE);
    assert_eq!(f_divergence(&one_sided, &ChiSquared), Enclosure::INFINITE);
    assert!(overlap(f_divergence(&one_sided.reversed(), &ChiSquared), one_sided.reversed().chi_squared()));
    let disjoint = pair(&[1.0, 0.0], &[0.0, 1.0]);
    assert!((f_divergence(&disjoint, &Hellinger).upper() - 2.0).abs() < 1e-9);
    assert!((f_divergence(&disjoint, &JensenShannon).upper() - 2f64.ln()).abs() < 1e-9);
}

#[test]
fn likelihood_ratios_beyond_the_grid_are_not_forgotten() {
    // p/q is e^667, and the grid ends at e^600.
    for (p, q) in [([1e-10, 1.0], [1e-300, 1.0]), ([0.5, 0.5], [1e-290, 1.0])] {
        let pair = pair(&p, &q);
        for f in [&Hellinger as &dyn Generator, &JensenShannon, &KullbackLeibler, &ChiSquared] {
            for pair in [&pair, &pair.reversed()] {
                let (found, direct) = (f_divergence(pair, f), pair.f_divergence(f));
                assert!(
                    found.upper() >= direct.lower() && found.lower() <= direct.upper(),
                    "{found} {direct}"
                );
            }
        }
        let found = f_divergence(&pair, &Hellinger);
        assert!(found.relative_width() < 1e-6, "{found}");
    }
}

#[test]
fn output_bounds_hold_and_beat_the_product() {
    let mut random = Random::new(52);
    for case in 0..depth(5, 15) {
        let (inputs, outputs) = (2 + random.below(3), 2 + random.below(4));
        let mut law = |n: usize| {
            let weights = (0..n).map(|_| (1 + random.below(30)) as f64).collect();
            FiniteLaw::proportional_to("a law", weights).unwrap()
        };
        let (mu, nu) = (law(inputs), law(inputs));
        let rows: Vec<FiniteLaw> = (0..inputs).map(|_| law(outputs)).collect();
        let kernel = FiniteKernel::new(rows.iter().map(|r| r.probabilities().to_vec()).collect()).unwrap();
        let after = |input: &FiniteLaw| {
            let cell = |z: usize| {
                input.probabilities().iter().zip(&rows).map(|(p, row)| p * row.probabilities()[z]).sum()
            };
            FiniteLaw::proportional_to("an output", (0..outputs).map(cell).collect()).unwrap()
        };
        let output = DiscretePair::new(after(&mu), after(&nu)).unwrap();
        let input = DiscretePair::new(mu, nu).unwrap();
        for f in [&KullbackLeibler as &dyn Generator, &ChiSquared, &Hellinger] {
            let bound = output_bound(&input, &kernel, f);
            let exact = output.f_divergence(f);
            let linear = kernel.total_variation() * input.f_divergence(f);
            // The output laws here are rounded, by less than 1e-12.
            assert!(bound.upper() >= exact.lower() - 1e-12, "{case} {bound} {exact}");
            assert!(bound.upper() <= linear.upper() * (1.0 + 1e-6), "{case} {bound} {linear}");
        }
    }
}

/// A kernel known only to contract by somewhere from a quarter to a half.
struct Vague;

impl Kernel for Vague {
    fn contraction(&self, _gamma: Gamma) -> Enclosure {
        Enclosure::from(0.25).hull(Enclosure::from(0.5))
    }
}

#[test]
fn a_vague_kernel_counts_with_its_upper_end() {
    let gaussian = GaussianPair::new(1.0, 1.0).unwrap();
    let discrete = pair(&[0.5, 0.3, 0.2], &[0.2, 0.3, 0.5]);
    for input in [&gaussian as &dyn Pair, &discrete] {
        let bound = output_bound(input, &Vague, &ChiSquared);
        let (quarter, half) = (0.25 * input.chi_squared().upper(), 0.5 * input.chi_squared().lower());
        assert!(bound.lower() <= quarter && bound.upper() >= half, "{bound}");
        assert!(bound.upper() < half * (1.0 + 1e-3), "{bound}");
    }
}

#[test]
fn information_of_a_fine_grid_tends_to_the_closed_form() {
    // Θ uniform on [0, 1], X ~ Bernoulli(Θ), on 2000 cells: data processing puts the
    // grid below the truth, by at most the variation of Θ inside a cell.
    let cells = 2000;
    let joint: Vec<Vec<f64>> = (0..cells)
        .map(|i| {
            let middle = (f64::from(i) + 0.5) / f64::from(cells);
            vec![middle / f64::from(cells), (1.0 - middle) / f64::from(cells)]
        })
        .collect();
    let mut count = 0;
    for entry in golden().iter().filter(|e| e["id"].as_str().unwrap().starts_with("000_rem2/I_gamma")) {
        let gamma: f64 = entry["params"]["gamma"].as_str().unwrap().parse().unwrap();
        let truth: f64 = entry["value"].as_str().unwrap().parse().unwrap();
        let found = gamma_information(&joint, Gamma::new(gamma).unwrap()).unwrap();
        assert!(found.lower() <= truth && truth <= found.upper() + 1e-3, "{found} {truth}");
        count += 1;
    }
    assert!(count >= 3);
}

#[test]
fn a_kernel_and_its_curve_leave_the_same() {
    let pair = pair(&[0.1, 0.2, 0.7], &[0.5, 0.25, 0.25]);
    let rows = vec![vec![0.5, 0.25, 0.25], vec![0.125, 0.75, 0.125], vec![0.25, 0.125, 0.625]];
    let kernel = FiniteKernel::new(rows).unwrap();
    let (direct, by_curve) = (
        output_bound(&pair, &kernel, &KullbackLeibler),
        output_bound(&pair, &kernel.curve(), &KullbackLeibler),
    );
    assert!(overlap(direct, by_curve) && by_curve.relative_width() < 1e-6, "{direct} {by_curve}");
    for gamma in [0.3, 1.0, 2.5] {
        let gamma = Gamma::new(gamma).unwrap();
        assert!(overlap(kernel.contraction(gamma), kernel.curve().contraction(gamma)));
    }
}
