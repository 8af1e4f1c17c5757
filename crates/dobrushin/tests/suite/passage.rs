//! What a kernel leaves of an f-divergence: the exact value, every bound on it, and η_χ² of noise.

use crate::errata_support::{peak, simpson};
use crate::laws::*;
use dobrushin::divergence::{
    DiscretePair, FiniteLaw, GaussianPair, LaplacePair, LeCam, NamedDivergence, Pair, f_divergence,
};
use dobrushin::kernel::{
    ByBound, FiniteKernel, GaussianKernel, Kernel, LaplaceKernel, Passage, output_bound, tight_output_bound,
};
use dobrushin::{Enclosure, Gamma};
use dobrushin_reference::{Real, depth};

const NAMES: [&str; 12] = [
    "tv",
    "kl",
    "reverse-kl",
    "jeffreys",
    "chi2",
    "reverse-chi2",
    "hellinger2",
    "jensen-shannon",
    "le-cam",
    "alpha:0.5",
    "alpha:1.5",
    "alpha:3",
];

fn named(name: &str) -> NamedDivergence {
    name.parse().unwrap()
}

/// q·f(p/q) written out, in arbitrary precision.
fn term(name: &str, p: &Real, q: &Real) -> Real {
    let square = |x: Real| &x * &x;
    let ln = |x: Real| x.ln();
    match name {
        "tv" => larger(p - q, q - p).scale(-1),
        "kl" => p * &ln(p / q),
        "reverse-kl" => q * &ln(q / p),
        "jeffreys" => (p - q) * ln(p / q),
        "chi2" => square(p - q) / q,
        "reverse-chi2" => square(p - q) / p,
        "hellinger2" => p + q - (ln(p * q).scale(-1)).exp().scale(1),
        "jensen-shannon" => {
            let mean = (p + q).scale(-1);
            (p * &ln(p / &mean) + q * &ln(q / &mean)).scale(-1)
        }
        "le-cam" => square(p - q) / (p + q).scale(1),
        _ => {
            let order: f64 = name.strip_prefix("alpha:").unwrap().parse().unwrap();
            let (order, one) = (Real::from_f64(order, BITS), int(1));
            let power = (&order * &ln(p / q)).exp();
            q * &(power - &one) / (&order * &(&order - &one))
        }
    }
}

struct Case {
    pair: DiscretePair,
    channel: FiniteKernel,
    rows: Vec<Vec<Real>>,
}

/// Laws and a channel without zeros.
fn random_case(random: &mut Random) -> Case {
    let (inputs, outputs) = (2 + random.below(3), 2 + random.below(4));
    let mut law = |n: usize| {
        let weights = (0..n).map(|_| (1 + random.below(40)) as f64).collect();
        FiniteLaw::proportional_to("a law", weights).unwrap()
    };
    let pair = DiscretePair::new(law(inputs), law(inputs)).unwrap();
    let rows: Vec<FiniteLaw> = (0..inputs).map(|_| law(outputs)).collect();
    let channel = FiniteKernel::new(rows.iter().map(|r| r.probabilities().to_vec()).collect()).unwrap();
    Case { pair, channel, rows: rows.iter().map(|row| short(&exact(row))).collect() }
}

fn passage(case: &Case, name: &str) -> Passage {
    let known = (&case.channel.curve(), case.channel.chi_squared_contraction().value);
    Passage::through_channel(&case.pair, &case.channel, known, &named(name)).unwrap()
}

#[test]
fn the_divergence_after_a_channel_is_the_sum_over_its_outputs() {
    let mut random = Random::new(71);
    for _ in 0..depth(8, 40) {
        let case = random_case(&mut random);
        let after = |law: &FiniteLaw| -> Vec<Real> {
            let law = short(&exact(law));
            let cell = |z: usize| {
                law.iter().zip(&case.rows).fold(int(0), |sum, (weight, row)| sum + weight * &row[z])
            };
            (0..case.channel.outputs()).map(cell).collect()
        };
        let (p, q) = (after(case.pair.p()), after(case.pair.q()));
        for name in NAMES {
            let truth = common(&p, &q, |p, q| term(name, p, q));
            let found = case.channel.output_divergence(&case.pair, named(name).generator()).unwrap();
            assert_inside(found, &truth, (name, &case.pair));
            assert!(found.width() < 1e-12 * (1.0 + truth.to_f64()), "{name}: {found}");
        }
    }
}

#[test]
fn exact_then_tight_then_published_then_total_variation() {
    let mut random = Random::new(72);
    let (mut strict, mut own_is_best, mut tight_is_best) = (0, 0, 0);
    for _ in 0..depth(2, 40) {
        let case = random_case(&mut random);
        for name in ["tv", "kl", "chi2", "reverse-chi2", "hellinger2", "jensen-shannon", "alpha:3"] {
            let passage = passage(&case, name);
            let bound = |by: ByBound| passage.bound(by).unwrap();
            let (after, tight) = (passage.after.unwrap(), bound(ByBound::TightCurve));
            let (published, linear) = (bound(ByBound::Corollary1), bound(ByBound::TotalVariation));
            assert!(after.lower() <= tight.upper(), "{name}: {after} {tight}");
            assert!(tight.upper() <= published.upper(), "{name}: {tight} {published}");
            assert!(published.upper() <= linear.upper(), "{name}: {published} {linear}");
            match passage.bound(ByBound::OwnCoefficient) {
                Some(own) => {
                    assert!(after.lower() <= own.upper() && own.upper() <= linear.upper(), "{name}: {own}");
                    own_is_best += u32::from(own.upper() < tight.upper());
                    tight_is_best += u32::from(tight.upper() < own.lower());
                }
                None => assert_eq!(name, "alpha:3"),
            }
            strict += u32::from(tight.upper() < published.lower() * (1.0 - 1e-3));
        }
    }
    assert!(strict > 3 && own_is_best > 0 && tight_is_best > 0, "{strict} {own_is_best} {tight_is_best}");
}

/// ∫₁^∞ of f″(γ)·G(γ) + γ⁻³f″(1/γ)·G̃(γ) by Simpson's rule, for χ² or KL.
fn by_simpson(case: &Case, chi2: bool, left: impl Fn(f64, f64) -> f64) -> f64 {
    let (p, q) = (case.pair.p().probabilities(), case.pair.q().probabilities());
    let stick = |p: &[f64], q: &[f64], gamma: f64| -> f64 {
        p.iter().zip(q).map(|(p, q)| (p - gamma * q).max(0.0)).sum()
    };
    let weights = |gamma: f64| if chi2 { (2.0, 2.0 / gamma.powi(3)) } else { (1.0 / gamma, gamma.powi(-2)) };
    simpson(1.0, 45.0, 400_000, |gamma| {
        let (there, back) = weights(gamma);
        there * left(gamma, stick(p, q, gamma)) + back * left(gamma, stick(q, p, gamma))
    })
}

#[test]
fn both_integrals_are_what_simpson_finds() {
    let mut random = Random::new(73);
    for _ in 0..depth(1, 5) {
        let case = random_case(&mut random);
        let rows: Vec<Vec<f64>> =
            case.rows.iter().map(|row| row.iter().map(Real::to_f64).collect()).collect();
        let eta = |gamma: f64| -> f64 {
            let pairs = rows.iter().flat_map(|p| rows.iter().map(move |q| (p, q)));
            pairs
                .map(|(p, q)| p.iter().zip(q).map(|(p, q)| (p - gamma * q).max(0.0)).sum())
                .fold(0.0, f64::max)
        };
        for (name, chi2) in [("chi2", true), ("kl", false)] {
            let passage = passage(&case, name);
            let published = by_simpson(&case, chi2, |gamma, e| eta(gamma) * e);
            let tight = by_simpson(
                &case,
                chi2,
                |gamma, e| if e > 0.0 { e * eta(1.0 + (gamma - 1.0) / e) } else { 0.0 },
            );
            for (by, truth) in [(ByBound::Corollary1, published), (ByBound::TightCurve, tight)] {
                let found = passage.bound(by).unwrap();
                let slack = 1e-6 * truth;
                assert!(
                    found.upper() >= truth - slack && found.lower() <= truth + slack,
                    "{name} {by:?}: {found} {truth}"
                );
                assert!(found.upper() <= truth * (1.0 + 1e-5), "{name} {by:?}: {found} {truth}");
            }
        }
    }
}

#[test]
fn a_private_channel_leaves_a_bounded_divergence_of_disjoint_laws() {
    let law = |p: [f64; 2]| FiniteLaw::new("a law", p.to_vec()).unwrap();
    let pair = DiscretePair::new(law([1.0, 0.0]), law([0.0, 1.0])).unwrap();
    let channel = FiniteKernel::new(vec![vec![0.75, 0.25], vec![0.25, 0.75]]).unwrap();
    let known = (&channel.curve(), channel.chi_squared_contraction().value);
    let passage = Passage::through_channel(&pair, &channel, known, &named("chi2")).unwrap();
    // χ² of (3/4, 1/4) from (1/4, 3/4), which every bound that knows the whole curve attains.
    let truth = 4.0 / 3.0;
    assert_eq!(passage.before, Enclosure::INFINITE);
    assert!((passage.after.unwrap().upper() - truth).abs() < 1e-12);
    for by in [ByBound::TightCurve, ByBound::Corollary1] {
        let found = passage.bound(by).unwrap();
        assert!(found.upper() >= truth && found.upper() < truth * (1.0 + 1e-6), "{found}");
    }
    assert_eq!(passage.bound(ByBound::TotalVariation).unwrap().upper(), f64::INFINITY);
    // What is left of one that only one law can produce is constant from the last bend on.
    let half = FiniteKernel::new(vec![vec![0.5, 0.25, 0.25], vec![0.0, 0.25, 0.75]]).unwrap();
    let known = (&half.curve(), half.chi_squared_contraction().value);
    let passage = Passage::through_channel(&pair, &half, known, &named("hellinger2")).unwrap();
    let found = passage.bound(ByBound::Corollary1).unwrap();
    assert!(found.relative_width() < 1e-6 && found.upper() >= passage.after.unwrap().lower(), "{found}");
    // A channel that is private at no ε leaves an infinite divergence.
    let open = FiniteKernel::new(vec![vec![1.0, 0.0], vec![0.5, 0.5]]).unwrap();
    let known = (&open.curve(), open.chi_squared_contraction().value);
    let reversed = pair.reversed();
    let passage = Passage::through_channel(&reversed, &open, known, &named("chi2")).unwrap();
    assert_eq!(passage.after.unwrap(), Enclosure::INFINITE);
    assert_eq!(passage.best().unwrap().1.upper(), f64::INFINITY);
}

#[test]
fn equal_laws_stay_equal_and_one_output_hides_everything() {
    let law = |p: [f64; 2]| FiniteLaw::new("a law", p.to_vec()).unwrap();
    let channel = FiniteKernel::new(vec![vec![0.9, 0.1], vec![0.4, 0.6]]).unwrap();
    let constant = FiniteKernel::new(vec![vec![0.1, 0.2, 0.7]; 2]).unwrap();
    let equal = DiscretePair::new(law([0.3, 0.7]), law([0.3, 0.7])).unwrap();
    let disjoint = DiscretePair::new(law([1.0, 0.0]), law([0.0, 1.0])).unwrap();
    for (pair, channel) in [(&equal, &channel), (&disjoint, &constant)] {
        let known = (&channel.curve(), channel.chi_squared_contraction().value);
        for name in ["tv", "kl", "chi2", "alpha:3"] {
            let passage = Passage::through_channel(pair, channel, known, &named(name)).unwrap();
            assert!(passage.after.unwrap().upper() < 1e-12, "{name}: {passage:?}");
            assert!(passage.best().unwrap().1.upper() < 1e-9, "{name}: {passage:?}");
        }
    }
}

/// CED Example 1 with the tight curve: between the exact 0.308649 and Corollary 1.
#[test]
fn the_tight_curve_improves_the_first_example_of_the_contraction_paper() {
    let (input, kernel) = (GaussianPair::new(2.0, 1.0).unwrap(), GaussianKernel::new(1.0, 1.0).unwrap());
    let chi2 = named("chi2");
    let passage = Passage::through_kernel(&input, &kernel, kernel.chi_squared_contraction(), &chi2);
    let bound = |by: ByBound| passage.bound(by).unwrap();
    assert!((bound(ByBound::TotalVariation).midpoint() - 20.5240674501592).abs() < 1e-10);
    assert!((bound(ByBound::Corollary1).midpoint() - 0.887410148167786).abs() < 1e-5);
    let theta =
        |gamma: f64, r: f64| GaussianKernel::new(r, 1.0).unwrap().contraction(Gamma::new(gamma).unwrap());
    let truth = simpson(0.0, 14.0, 4000, |epsilon| {
        let gamma = epsilon.exp();
        let e = theta(gamma, 2.0).midpoint();
        let left = if e > 0.0 { e * theta(1.0 + (gamma - 1.0) / e, 1.0).midpoint() } else { 0.0 };
        2.0 * (gamma + gamma.powi(-2)) * left
    });
    let tight = bound(ByBound::TightCurve);
    assert!((tight.midpoint() - truth).abs() < 1e-5 && tight.relative_width() < 1e-5, "{tight} {truth}");
    assert!(tight.lower() > 0.308649 && tight.upper() < 0.6, "{tight}");
}

#[test]
fn names_are_read_back_and_others_are_refused() {
    for name in NAMES {
        assert_eq!(named(name).to_string(), name);
    }
    for (name, word) in [
        ("", "one of: tv, kl"),
        ("KL", "there is no divergence \"KL\""),
        ("alpha:", "alpha:A"),
        ("alpha:x", "alpha:A"),
        ("alpha:1", "Kullback–Leibler"),
        ("alpha:0", "alpha is 0"),
        ("alpha:-1", "alpha is -1"),
        ("alpha:inf", "alpha is inf"),
        ("alpha:NaN", "alpha is NaN"),
    ] {
        let message = name.parse::<NamedDivergence>().unwrap_err().to_string();
        assert!(message.contains(word), "{name}: {message}");
    }
}

#[test]
fn named_divergences_are_their_integrals() {
    for r in [1.0] {
        for pair in [&GaussianPair::new(r, 1.0).unwrap() as &dyn Pair, &LaplacePair::new(r, 1.0).unwrap()] {
            for name in NAMES {
                let (found, integral) =
                    (named(name).between(pair), f_divergence(pair, named(name).generator()));
                assert!(found.intersect(integral).is_some(), "{name} at {r}: {found} {integral}");
                assert!(integral.width() < 1e-6 * integral.upper() + 1e-10, "{name} at {r}: {integral}");
            }
        }
    }
}

/// 1 − ∫pq/(λp + (1−λ)q) of the best λ, for noise of a density at two inputs.
fn two_point(density: impl Fn(f64) -> f64, distance: f64, reach: f64) -> f64 {
    let kept = |weight: f64| {
        // The densities have their corners at 0 and at the distance.
        let part = |from: f64, to: f64| {
            simpson(from, to, 4000, |y| {
                let (p, q) = (density(y), density(y - distance));
                if p * q > 0.0 { p * q / (weight * p + (1.0 - weight) * q) } else { 0.0 }
            })
        };
        1.0 - part(-reach, 0.0) - part(0.0, distance) - part(distance, distance + reach)
    };
    kept(peak(0.01, 0.99, kept))
}

#[test]
fn noise_contracts_kl_as_its_two_ends_do() {
    let normal = |y: f64| (-0.5 * y * y).exp() / (2.0 * std::f64::consts::PI).sqrt();
    for r in [0.1, 0.5, 1.0, 3.0] {
        let truth = two_point(normal, r, 12.0);
        let found = GaussianKernel::new(r, 1.0).unwrap().chi_squared_contraction();
        assert!((found.midpoint() - truth).abs() < 1e-9 + 1e-6 * truth, "{r}: {found} {truth}");
        let laplace = |y: f64| 0.5 * (-y.abs()).exp();
        let truth = two_point(laplace, r, 40.0);
        let found = LaplaceKernel::new(r, 1.0).unwrap().chi_squared_contraction();
        assert!((found.midpoint() - truth).abs() < 1e-9 + 1e-6 * truth, "{r}: {found} {truth}");
    }
}

#[test]
fn noise_on_an_interval_contracts_kl_no_less_than_any_of_its_tables() {
    // Points of the interval in, cells of the line out: data processing loses a little, and inner points gain nothing.
    for r in [0.3, 1.0, 2.0] {
        let gaussian = GaussianKernel::new(r, 1.0).unwrap().chi_squared_contraction();
        let cell = 0.02;
        let row = |x: f64| -> Vec<f64> {
            let cells = -400..=(((r / cell) as i32) + 400);
            cells.map(|k| (-0.5 * (f64::from(k) * cell - x).powi(2)).exp()).collect()
        };
        let rows = (0..5).map(|i| row(r * f64::from(i) / 4.0)).collect();
        let table = FiniteKernel::proportional_to(rows).unwrap().chi_squared_contraction();
        assert_eq!(table.pair, (0, 4));
        assert!(table.value.lower() <= gaussian.upper() * (1.0 + 1e-6), "{r}: {gaussian} {}", table.value);
        assert!(table.value.upper() >= gaussian.lower() * (1.0 - 1e-3), "{r}: {gaussian} {}", table.value);
    }
}

#[test]
fn the_contraction_of_noise_is_the_le_cam_divergence_of_its_ends() {
    for r in [0.01, 0.268, 1.0, 5.0, 40.0] {
        let gaussian = GaussianKernel::new(r, 1.0).unwrap();
        let by_integral = f_divergence(&GaussianPair::new(r, 1.0).unwrap(), &LeCam);
        let found = gaussian.chi_squared_contraction();
        assert!(found.intersect(by_integral).is_some(), "{r}: {found} {by_integral}");
        let laplace = LaplaceKernel::new(r, 1.0).unwrap();
        let by_integral = f_divergence(&LaplacePair::new(r, 1.0).unwrap(), &LeCam);
        let also = laplace.chi_squared_contraction();
        assert!(also.intersect(by_integral).is_some(), "{r}: {also} {by_integral}");
        for (eta, tv) in [(found, gaussian.total_variation()), (also, laplace.total_variation())] {
            assert!(eta.upper() <= tv.upper() && eta.upper() >= tv.lower().powi(2), "{r}: {eta} {tv}");
        }
    }
}

#[test]
fn extreme_noise_is_no_trap() {
    for (length, scale) in [(0.0, 1.0), (1e-300, 1.0), (1e-8, 1.0), (1e300, 1.0), (1.0, 1e-300), (1.0, 1e300)]
    {
        for eta in [
            GaussianKernel::new(length, scale).unwrap().chi_squared_contraction(),
            LaplaceKernel::new(length, scale).unwrap().chi_squared_contraction(),
        ] {
            assert!((0.0..=1.0).contains(&eta.lower()) && eta.upper() <= 1.0, "{length} {scale}: {eta}");
        }
    }
    assert_eq!(GaussianKernel::new(0.0, 1.0).unwrap().chi_squared_contraction(), Enclosure::ZERO);
    let near = GaussianKernel::new(1e-4, 1.0).unwrap().chi_squared_contraction();
    // ½∫(p − q)²/(p + q) = r²/4 + O(r⁴).
    assert!((near.midpoint() / 0.25e-8 - 1.0).abs() < 1e-5, "{near}");
}

#[test]
fn laws_and_channels_that_do_not_fit_are_refused() {
    let law = FiniteLaw::new("a law", vec![0.5, 0.25, 0.25]).unwrap();
    let other = FiniteLaw::new("a law", vec![0.25, 0.25, 0.5]).unwrap();
    let pair = DiscretePair::new(law, other).unwrap();
    let channel = FiniteKernel::new(vec![vec![0.9, 0.1], vec![0.4, 0.6]]).unwrap();
    let known = (&channel.curve(), channel.chi_squared_contraction().value);
    assert!(Passage::through_channel(&pair, &channel, known, &named("kl")).is_err());
    // Both bounds are also offered for any kernel.
    let kernel = LaplaceKernel::new(1.0, 1.0).unwrap();
    let kl = named("kl");
    let published = output_bound(&pair, &kernel, kl.generator());
    let tight = tight_output_bound(&pair, &kernel, kl.generator());
    assert!(tight.upper() < published.lower(), "{tight} {published}");
}
