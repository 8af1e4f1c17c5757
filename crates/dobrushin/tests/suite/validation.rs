//! What is refused, in which words, and that nothing panics.

use crate::laws::Random;
use dobrushin::divergence::{
    Alpha, ChiSquared, DiscretePair, FiniteLaw, GaussianPair, Hellinger, JensenShannon, KullbackLeibler,
    LaplacePair, Pair, gamma_information,
};
use dobrushin::kernel::{
    Composition, FiniteKernel, GaussianKernel, Kernel, LaplaceKernel, Product, any_divergence_bound,
};
use dobrushin::{Delta, Enclosure, Error, Gamma, Probability, RenyiOrder};
use dobrushin_reference::depth;

/// A number as messages show it.
fn shown(value: f64) -> String {
    if value != 0.0 && value.abs() < 1e-4 { format!("{value:e}") } else { value.to_string() }
}

/// The message, which must contain every part.
fn refuses<T: std::fmt::Debug>(result: Result<T, Error>, parts: &[&str]) {
    let message = result.unwrap_err().to_string();
    for part in parts {
        assert!(message.contains(part), "“{message}” lacks “{part}”");
    }
}

#[test]
fn a_row_that_does_not_sum_to_one_is_named_with_its_sum() {
    let rows = vec![vec![0.5, 0.5], vec![0.5, 0.25], vec![0.5, 0.5]];
    refuses(FiniteKernel::new(rows), &["row 2", "sums to 0.75", "-2.5", "1e-9"]);
    refuses(FiniteKernel::new(vec![vec![0.5, 0.75], vec![0.5, 0.5]]), &["row 1", "1.25", "+2.5"]);
    refuses(FiniteLaw::new("the prior", vec![0.25; 3]), &["the prior", "0.75", "divide it by its sum"]);
    let nearly = vec![vec![1.0 / 3.0; 3], vec![0.1, 0.2, 0.7 + 5e-10]];
    assert!(FiniteKernel::new(nearly).is_ok());
    assert!(FiniteKernel::new(vec![vec![0.5, 0.5], vec![0.5, 0.5 + 2e-9]]).is_err());
}

#[test]
fn an_entry_that_is_no_probability_is_named_with_its_place() {
    for bad in [-0.25, 1.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -5e-324] {
        let value = format!(" is {}", shown(bad));
        refuses(FiniteKernel::new(vec![vec![0.5, 0.5], vec![0.5, bad]]), &["entry 2 of row 2", &value]);
        refuses(FiniteLaw::new("the law", vec![bad, 1.0]), &["entry 1 of the law", &value]);
        refuses(gamma_information(&[vec![1.0, bad]], Gamma::ONE), &["entry 2 of the joint law", &value]);
    }
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        let weights = vec![vec![1.0, 2.0], vec![bad, 1.0]];
        refuses(FiniteKernel::proportional_to(weights), &["weight", &bad.to_string(), "0 or more"]);
    }
}

#[test]
fn shapes_that_do_not_fit_are_refused() {
    refuses(FiniteKernel::new(vec![]), &["the kernel is empty", "row"]);
    refuses(FiniteKernel::new(vec![vec![], vec![]]), &["row 1 is empty", "probability"]);
    refuses(FiniteKernel::new(vec![vec![0.5, 0.5]]), &["only one row", "two inputs"]);
    let ragged = vec![vec![0.5, 0.5], vec![0.5, 0.25, 0.25]];
    refuses(FiniteKernel::new(ragged), &["row 2 has 3 entries", "2 were expected", "row 1"]);
    refuses(FiniteLaw::new("P", vec![]), &["P is empty"]);
    refuses(FiniteLaw::proportional_to("P", vec![]), &["P is empty"]);
    refuses(FiniteLaw::proportional_to("P", vec![0.0, 0.0]), &["P is empty", "positive weight"]);
    let (two, three) = (vec![0.5, 0.5], vec![0.5, 0.25, 0.25]);
    let law = |p: &[f64]| FiniteLaw::new("P", p.to_vec()).unwrap();
    refuses(DiscretePair::new(law(&two), law(&three)), &["Q has 3 entries", "2 were expected", "in P"]);
    refuses(gamma_information(&[], Gamma::ONE), &["the joint law is empty"]);
    refuses(gamma_information(&[two.clone(), vec![]], Gamma::ONE), &["row 2 has 0 entries", "row 1"]);
    let (small, wide) =
        (FiniteKernel::new(vec![two; 2]).unwrap(), FiniteKernel::new(vec![three; 2]).unwrap());
    assert!(small.then(&wide).is_ok());
    refuses(wide.then(&small), &["3 outputs", "2 inputs"]);
    let tiny = FiniteKernel::new(vec![vec![1e-200, 1.0], vec![1.0, 1e-200]]).unwrap();
    refuses(tiny.then(&tiny), &["a product of two probabilities", "1e-290"]);
    refuses(tiny.beside(&tiny), &["a product of two probabilities", "1e-290"]);
}

#[test]
fn parameters_out_of_range_are_named() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let value = format!("is {}", shown(bad));
        refuses(GaussianPair::new(1.0, bad), &["sigma", &value, "positive and finite"]);
        refuses(GaussianKernel::new(1.0, bad), &["sigma", &value, "positive and finite"]);
        refuses(LaplacePair::new(1.0, bad), &["scale", &value, "positive and finite"]);
        refuses(LaplaceKernel::new(1.0, bad), &["scale", &value, "positive and finite"]);
        refuses(Gamma::new(bad), &["gamma", &value, "positive and finite"]);
        refuses(Alpha::new(bad), &["alpha", &value, "positive and finite"]);
    }
    for bad in [-1e-300, -1.0, f64::NAN, f64::NEG_INFINITY] {
        let value = format!("is {}", shown(bad));
        refuses(GaussianPair::new(bad, 1.0), &["distance", &value, "0 or more"]);
        refuses(GaussianKernel::new(bad, 1.0), &["distance", &value, "0 or more"]);
        refuses(LaplacePair::new(bad, 1.0), &["distance", &value, "0 or more"]);
        refuses(LaplaceKernel::new(bad, 1.0), &["distance", &value, "0 or more"]);
        refuses(RenyiOrder::new(bad), &["order", &value, "above 0"]);
    }
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        refuses(Gamma::from_epsilon(bad), &["epsilon", "finite"]);
    }
    refuses(RenyiOrder::new(0.0), &["order is 0", "above 0"]);
    refuses(Alpha::new(1.0), &["alpha is 1", "Kullback–Leibler"]);
    refuses(Delta::new(1.5), &["delta is 1.5", "between 0 and 1"]);
}

/// Any bits at all, with a taste for the special ones.
fn garbage(random: &mut Random) -> f64 {
    match random.below(8) {
        0 => f64::from_bits(random.bits()),
        1 => [0.0, -0.0, 1.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX][random.below(8)],
        2 => [5e-324, f64::MIN_POSITIVE, 1e-300, 1e300, 709.9, 0.5, 1.0 + 1e-16, 2.0][random.below(8)],
        3 => f64::from_bits(random.bits() >> 12),
        _ => random.log_between(1e-6, 1e4),
    }
}

/// Every upper end is a number, and no interval is the wrong way round.
fn sane(found: Enclosure) {
    assert!(found.lower() <= found.upper(), "{found}");
}

fn use_pair(pair: &dyn Pair, random: &mut Random) {
    let gammas = [Gamma::new(garbage(random)), Gamma::from_epsilon(garbage(random))];
    for gamma in gammas.into_iter().flatten().chain([Gamma::ONE]) {
        for found in [pair.hockey_stick(gamma), pair.hockey_stick_reversed(gamma)] {
            sane(found);
            assert!(found.upper() >= 0.0 && found.upper() <= 1.0, "{found} {gamma:?}");
        }
        sane(pair.ln_hockey_stick(gamma));
    }
    if let Ok(order) = RenyiOrder::new(garbage(random)) {
        sane(pair.renyi(order));
        assert!(pair.renyi(order).upper() >= 0.0);
    }
    for found in [pair.kl(), pair.chi_squared(), pair.hellinger_squared()] {
        sane(found);
        assert!(found.upper() >= 0.0 && found.lower() >= 0.0, "{found}");
    }
    assert!(pair.tail_moment(garbage(random).abs(), garbage(random).abs()) >= 0.0);
    if let Ok(delta) = Delta::new(garbage(random)) {
        sane(pair.smallest_epsilon(delta));
    }
}

fn use_kernel(kernel: &dyn Kernel, random: &mut Random) {
    let gammas = [Gamma::new(garbage(random)), Gamma::from_epsilon(garbage(random))];
    for gamma in gammas.into_iter().flatten() {
        let found = kernel.contraction(gamma);
        sane(found);
        assert!(found.upper() >= 0.0 && found.upper() <= 1.0, "{found}");
        sane(any_divergence_bound(gamma, found));
        if let Ok(e) = Probability::new(garbage(random)) {
            sane(kernel.tight(gamma, e));
        }
    }
}

#[test]
fn noise_of_any_kind_never_panics() {
    let mut random = Random::new(61);
    for _ in 0..depth(5_000, 20_000) {
        let (a, b) = (garbage(&mut random), garbage(&mut random));
        let _ = Alpha::new(a);
        if let Ok(pair) = GaussianPair::new(a, b) {
            use_pair(&pair, &mut random);
        }
        if let Ok(pair) = LaplacePair::new(a, b) {
            use_pair(&pair, &mut random);
        }
        let kernels = [GaussianKernel::new(a, b), GaussianKernel::new(b, a)];
        let mut boxed: Vec<Box<dyn Kernel>> = Vec::new();
        for kernel in kernels.into_iter().flatten() {
            use_kernel(&kernel, &mut random);
            boxed.push(Box::new(GaussianKernel::product(&[kernel, kernel])));
        }
        if let Ok(kernel) = LaplaceKernel::new(a, b) {
            boxed.push(Box::new(kernel));
        }
        if random.below(8) == 0 {
            use_kernel(&Product(boxed), &mut random);
        } else {
            use_kernel(&Composition(boxed), &mut random);
        }
    }
}

#[test]
fn finite_laws_and_kernels_of_garbage_never_panic() {
    let mut random = Random::new(62);
    let mut kept = 0;
    for _ in 0..depth(2_500, 10_000) {
        let (rows, columns) = (random.below(4), random.below(5));
        let matrix: Vec<Vec<f64>> =
            (0..rows).map(|_| (0..columns).map(|_| garbage(&mut random)).collect()).collect();
        let positive: Vec<Vec<f64>> =
            matrix.iter().map(|row| row.iter().map(|x| x.abs().min(1e305)).collect()).collect();
        let _ = FiniteKernel::new(matrix.clone());
        let _ = gamma_information(&matrix, Gamma::ONE);
        let kernel =
            FiniteKernel::proportional_to(matrix).or(FiniteKernel::proportional_to(positive.clone()));
        let Ok(kernel) = kernel else { continue };
        kept += 1;
        use_kernel(&kernel, &mut random);
        sane(kernel.chi_squared_contraction().value);
        let (both, side) = (kernel.then(&kernel), kernel.beside(&kernel));
        for kernel in [Ok(kernel), both, side].into_iter().flatten() {
            use_kernel(&kernel, &mut random);
            sane(kernel.chi_squared_contraction().value);
            let curve = kernel.curve();
            for delta in [0.0, 1e-300, 0.1, 1.0].into_iter().chain([garbage(&mut random)]) {
                if let Ok(delta) = Delta::new(delta) {
                    sane(kernel.epsilon_at(delta));
                    sane(curve.epsilon_at(delta));
                }
            }
            if let Ok(gamma) = Gamma::new(garbage(&mut random)) {
                sane(curve.contraction(gamma));
            }
        }
        let laws: Vec<FiniteLaw> =
            positive.into_iter().filter_map(|row| FiniteLaw::proportional_to("a row", row).ok()).collect();
        for pair in laws.windows(2) {
            let pair = DiscretePair::new(pair[0].clone(), pair[1].clone()).unwrap();
            use_pair(&pair, &mut random);
            sane(pair.f_divergence(&KullbackLeibler));
            sane(pair.f_divergence(&ChiSquared));
            sane(pair.f_divergence(&Hellinger));
            sane(pair.f_divergence(&JensenShannon));
        }
    }
    assert!(kept > 500, "{kept}");
}
