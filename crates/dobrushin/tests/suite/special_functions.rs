//! The normal law, the gamma and beta families against arbitrary precision:
//! the true value is inside, and the enclosures are as narrow as promised.

use crate::support::{Generator, assert_inside};
use dobrushin::numeric::{beta, chi_square, gamma, normal};
use dobrushin::{Enclosure, NonNegative, Positive, Probability};
use dobrushin_reference as reference;
use dobrushin_reference::{Real, depth};
use std::num::NonZeroU32;

/// The precision at which the reference is asked.
const BITS: usize = 128;

/// The largest relative width seen, by name.
struct Widest(&'static str, f64, String);

impl Widest {
    fn of(name: &'static str) -> Self {
        Self(name, 0.0, String::new())
    }

    fn see(&mut self, enclosure: Enclosure, at: impl std::fmt::Debug) {
        if enclosure.relative_width() > self.1 {
            self.1 = enclosure.relative_width();
            self.2 = format!("{at:?}");
        }
    }

    fn assert_below(&self, bound: f64) {
        println!("{}: relative width at most {:.2e}, at {}", self.0, self.1, self.2);
        assert!(self.1 <= bound, "{} is {:e} wide at {}", self.0, self.1, self.2);
    }
}

/// A finite argument of a function of the normal law.
fn abscissa(g: &mut Generator) -> f64 {
    match g.below(8) {
        0 => g.finite(),
        1 => g.between(-1.5, 1.5),
        2 => {
            // The centres of the table and the ends of its rows.
            let centre = g.below(280) as f64 / 8.0 - 9.0;
            g.nudged(centre)
        }
        3 => {
            let turn = g.pick(&[0.0, -1.0, 16.0, 35.777087639996634, -35.777087639996634]);
            g.nudged(turn)
        }
        4 => g.log_between(1e-300, 1.0),
        5 => g.between(30.0, 40.0),
        _ => g.between(-40.0, 40.0),
    }
}

fn real(x: f64) -> Real {
    Real::from_f64(x, BITS)
}

#[test]
fn the_tail_is_enclosed() {
    let mut g = Generator::new(1);
    let (mut ordinary, mut small) = (Widest::of("Q and Φ"), Widest::of("Q near underflow"));
    for _ in 0..depth(20_000, 100_000) {
        let x = abscissa(&mut g);
        let enclosure = normal::tail(x);
        assert_inside(enclosure, &reference::tail(&real(x)), x);
        assert_eq!(normal::cdf(-x), enclosure);
        assert!(enclosure.lower() >= 0.0 && enclosure.upper() <= 1.0);
        match x {
            ..35.77 => ordinary.see(enclosure, x),
            ..37.5 => small.see(enclosure, x),
            _ => {}
        }
    }
    ordinary.assert_below(4e-15);
    small.assert_below(6e-13);
}

#[test]
fn the_logarithm_of_the_tail_is_enclosed() {
    let mut g = Generator::new(2);
    let (mut widest, mut close) = (Widest::of("ln Q"), Widest::of("ln Q where Q is 1 − 1e-280"));
    for _ in 0..depth(20_000, 100_000) {
        let x = abscissa(&mut g);
        let enclosure = normal::ln_tail(x);
        assert_inside(enclosure, &reference::ln_tail(&real(x)), x);
        match x {
            -35.77..1e150 => widest.see(enclosure, x),
            -37.5..0.0 => close.see(enclosure, x),
            _ => {}
        }
    }
    widest.assert_below(2e-14);
    close.assert_below(6e-13);
}

#[test]
fn the_mills_ratio_is_enclosed() {
    let mut g = Generator::new(3);
    let (mut right, mut left) = (Widest::of("R, x ≥ −1"), Widest::of("R, x < −1"));
    for _ in 0..depth(20_000, 100_000) {
        let x = abscissa(&mut g);
        let enclosure = normal::mills_ratio(x);
        assert_inside(enclosure, &reference::mills(&real(x)), x);
        if (-1.0..1e300).contains(&x) {
            right.see(enclosure, x);
        } else if (-37.6..0.0).contains(&x) {
            left.see(enclosure, x);
        }
    }
    right.assert_below(2.5e-15);
    left.assert_below(6e-13);
}

#[test]
fn erfc_and_its_scaled_form_are_enclosed() {
    let mut g = Generator::new(4);
    let mut widest = [Widest::of("erfc"), Widest::of("erfcx, x ≥ −0.7"), Widest::of("erfcx, x < −0.7")];
    for _ in 0..depth(6_000, 30_000) {
        let x = abscissa(&mut g);
        let enclosure = normal::erfc(x);
        assert_inside(enclosure, &reference::erfc(&real(x)), x);
        if x < 26.5 {
            widest[0].see(enclosure, x);
        }
        let scaled = normal::erfcx(x);
        assert_inside(scaled, &reference::erfcx(&real(x)), x);
        if (-0.7..1e300).contains(&x) {
            widest[1].see(scaled, x);
        } else if (-26.6..0.0).contains(&x) {
            widest[2].see(scaled, x);
        }
    }
    widest[0].assert_below(5e-16);
    widest[1].assert_below(4e-15);
    widest[2].assert_below(6e-13);
}

#[test]
fn the_scaled_form_is_enclosed_where_its_argument_overflows() {
    let mut g = Generator::new(5);
    for _ in 0..1_000 {
        let x = g.log_between(1e149, f64::MAX);
        assert_inside(normal::erfcx(x), &reference::erfcx(&real(x)), x);
    }
}

#[test]
fn the_normal_quantile_is_enclosed() {
    let mut g = Generator::new(6);
    let mut widest = Widest::of("Φ⁻¹, |x| > 1");
    for _ in 0..depth(4_000, 20_000) {
        let p = match g.below(5) {
            0 => g.between(0.0, 1.0),
            1 => f64::from_bits(1 + g.bits() % 0.5f64.to_bits()),
            2 => 1.0 - g.log_between(1.2e-16, 0.5),
            3 => g.nudged(0.5),
            _ => g.log_between(1e-300, 1.0),
        };
        let x = normal::cdf_inverse(Probability::new(p).unwrap());
        let side = |x: f64| reference::cdf(&real(x));
        assert!(side(x.lower()) <= real(p) && real(p) <= side(x.upper()), "{x} at {p:e}");
        let upper = normal::tail_inverse(Probability::new(p).unwrap());
        assert_eq!(upper, -x);
        if x.contains(0.0) || x.abs().lower() <= 1.0 {
            assert!(x.width() <= 5e-15, "{x} at {p:e}");
        } else {
            widest.see(x, p);
        }
    }
    widest.assert_below(3e-15);
}

#[test]
fn limits_of_the_normal_law_are_known() {
    let (infinite, unknown) = (f64::INFINITY, f64::NAN);
    assert_eq!(normal::tail(infinite), Enclosure::ZERO);
    assert_eq!(normal::tail(-infinite), Enclosure::ONE);
    assert_eq!(normal::ln_tail(infinite), -Enclosure::INFINITE);
    assert_eq!(normal::ln_tail(-infinite), Enclosure::ZERO);
    assert_eq!(normal::mills_ratio(infinite), Enclosure::ZERO);
    assert!(normal::mills_ratio(-infinite).contains(infinite));
    assert_eq!(normal::erfc(infinite), Enclosure::ZERO);
    assert_eq!(normal::erfc(-infinite), Enclosure::from(2.0));
    assert_eq!(normal::erfcx(infinite), Enclosure::ZERO);
    assert!(normal::erfcx(-infinite).contains(infinite));
    for of_nothing in [normal::tail, normal::ln_tail, normal::mills_ratio, normal::erfc, normal::erfcx] {
        assert_eq!(of_nothing(unknown), Enclosure::ENTIRE);
    }
    let quantile = |p: f64| normal::cdf_inverse(Probability::new(p).unwrap());
    assert_eq!(quantile(0.0), -Enclosure::INFINITE);
    assert_eq!(quantile(0.5), Enclosure::ZERO);
    assert_eq!(quantile(1.0), Enclosure::INFINITE);
}

#[test]
fn ln_gamma_is_enclosed_by_neighbours() {
    let mut g = Generator::new(7);
    for _ in 0..depth(4_000, 20_000) {
        let x = match g.below(5) {
            0 => g.finite().abs().max(5e-324),
            1 => g.between(0.5, 3.0),
            2 => 1.0 + g.log_between(1e-16, 1.0),
            3 => 2.0 - g.log_between(1e-15, 1.0),
            _ => g.log_between(1e-10, 1e10),
        };
        let enclosure = gamma::ln_gamma(Positive::new(x).unwrap());
        assert_inside(enclosure, &reference::ln_gamma(x), x);
        assert!(enclosure.upper() <= enclosure.lower().next_up().next_up(), "{enclosure} at {x}");
    }
    assert_eq!(gamma::ln_gamma(Positive::new(1.0).unwrap()), Enclosure::ZERO);
    assert_eq!(gamma::ln_gamma(Positive::new(2.0).unwrap()), Enclosure::ZERO);
}

/// Checks both tails of the chi-square law and their logarithms.
fn check_chi_square(degrees: u32, x: f64, widest: &mut Widest) {
    let (count, at) = (NonZeroU32::new(degrees).unwrap(), NonNegative::new(x).unwrap());
    let (lower, upper) =
        (reference::chi_square_cdf(degrees.into(), x), reference::chi_square_sf(degrees.into(), x));
    let cases = [
        (chi_square::cdf(count, at), chi_square::ln_cdf(count, at), &lower, &upper),
        (chi_square::sf(count, at), chi_square::ln_sf(count, at), &upper, &lower),
    ];
    for (value, logarithm, truth, rest) in cases {
        assert_inside(value, truth, (degrees, x));
        let ln = if truth.to_f64() > 0.5 { (-rest).ln_1p() } else { truth.ln() };
        assert_inside(logarithm, &ln, (degrees, x));
        assert!(value.lower() >= 0.0 && value.upper() <= 1.0);
        if value.lower() > 1e-300 {
            widest.see(value, (degrees, x));
        }
    }
}

#[test]
fn both_tails_of_the_chi_square_law_are_enclosed() {
    let mut g = Generator::new(8);
    let mut widest = Widest::of("χ², up to 100 degrees");
    for _ in 0..depth(4_000, 20_000) {
        let most = g.pick(&[4.0, 100.0]);
        let degrees = 1 + g.below(most as usize) as u32;
        let x = match g.below(4) {
            0 => f64::from(degrees) * g.between(0.0, 3.0),
            1 => g.log_between(1e-300, 1e4),
            2 => g.nudged(f64::from(degrees)),
            _ => g.between(0.0, 1600.0),
        };
        check_chi_square(degrees, x, &mut widest);
    }
    widest.assert_below(2e-12);
}

#[test]
fn the_chi_square_law_of_many_degrees_is_enclosed() {
    let mut g = Generator::new(9);
    let mut widest = Widest::of("χ², up to 10⁴ degrees");
    for _ in 0..depth(80, 400) {
        let degrees = g.log_between(1e2, 1e4) as u32;
        let spread = g.between(-10.0, 10.0) * (2.0 * f64::from(degrees)).sqrt();
        check_chi_square(degrees, (f64::from(degrees) + spread).max(0.0), &mut widest);
    }
    widest.assert_below(2e-12);
}

#[test]
fn the_chi_square_law_is_sound_at_the_edges() {
    let mut ignored = Widest::of("χ², extremes");
    for degrees in [1, 2, 3, 4, 7, 1000] {
        for x in [0.0, 5e-324, 1e-310, f64::MIN_POSITIVE, 5e-308, 1e-200, 1e5, 1e8] {
            check_chi_square(degrees, x, &mut ignored);
        }
        let count = NonZeroU32::new(degrees).unwrap();
        assert!(chi_square::sf(count, NonNegative::new(1e300).unwrap()).upper() < 1e-300);
        assert_eq!(chi_square::cdf(count, NonNegative::new(f64::INFINITY).unwrap()), Enclosure::ONE);
        assert_eq!(chi_square::sf(count, NonNegative::new(f64::INFINITY).unwrap()), Enclosure::ZERO);
    }
    for x in [0.0, 1e-300, 1.0, 4e9, 4.2949672e9, 4.3e9, 1e12, f64::MAX] {
        let most = NonZeroU32::MAX;
        assert!(chi_square::cdf(most, NonNegative::new(x).unwrap()).upper() <= 1.0);
    }
}

/// Checks both tails of the beta law.
fn check_beta(a: f64, b: f64, x: f64, widest: &mut Widest) {
    let (first, second) = (Positive::new(a).unwrap(), Positive::new(b).unwrap());
    let at = Probability::new(x).unwrap();
    let lower = beta::regularised(first, second, at);
    assert_inside(lower, &reference::regularised_beta(a, b, x), (a, b, x));
    let upper = beta::complement(first, second, at);
    assert_inside(upper, &reference::regularised_beta_complement(a, b, x), (a, b, x));
    for value in [lower, upper] {
        assert!(value.lower() >= 0.0 && value.upper() <= 1.0);
        if value.lower() > 1e-300 {
            widest.see(value, (a, b, x));
        }
    }
}

#[test]
fn both_tails_of_the_beta_law_are_enclosed() {
    let mut g = Generator::new(10);
    let mut widest = Widest::of("I_x(a, b), parameters from 0.1 to 100");
    for _ in 0..depth(4_000, 20_000) {
        let (a, b) = (g.log_between(0.1, 100.0), g.log_between(0.1, 100.0));
        let x = match g.below(4) {
            0 => g.between(0.0, 1.0),
            1 => g.log_between(1e-300, 1.0),
            2 => 1.0 - g.log_between(1e-15, 1.0),
            _ => g.nudged(a / (a + b)).min(1.0),
        };
        check_beta(a, b, x, &mut widest);
    }
    widest.assert_below(3e-12);
}

#[test]
fn the_beta_law_of_large_parameters_is_enclosed() {
    let mut g = Generator::new(11);
    let mut widest = Widest::of("I_x(a, b), parameters from 0.1 to 10⁴");
    for n in 0..depth(120, 600) {
        let (a, b) = (g.log_between(0.1, 1e4), g.log_between(0.1, 1e4));
        let (a, b) = if n % 4 == 0 { (a.min(1.0), 1e4) } else { (a, b) };
        let (mean, both) = (a / (a + b), a + b);
        let spread = g.between(-10.0, 10.0) * (mean * (1.0 - mean) / both).sqrt();
        check_beta(a, b, (mean + spread).clamp(0.0, 1.0), &mut widest);
    }
    widest.assert_below(3e-11);
}

/// Where no sum of terms comes to an end.
#[test]
fn the_beta_law_of_huge_parameters_is_known_to_a_hundredth() {
    let law = |a: f64, b: f64, x: f64| {
        beta::regularised(Positive::new(a).unwrap(), Positive::new(b).unwrap(), Probability::new(x).unwrap())
    };
    let (a, x) = (1e17, 1.0 - f64::EPSILON / 2.0);
    // I_x(a, 2) = x^a·(1 + a(1 − x)).
    let truth = (real(x).ln() * real(a)).exp() * (real(1.0) + real(a) * real(f64::EPSILON / 2.0));
    let found = law(a, 2.0, x);
    assert_inside(found, &truth, "huge and small");
    assert!(found.relative_width() < 0.01, "{found}");
    // The law is symmetric.
    for a in [1e13, 1e15] {
        let half = law(a, a, 0.5);
        assert!(half.contains(0.5) && half.width() < 0.1, "{half} at {a:e}");
    }
}

#[test]
fn the_beta_law_is_sound_at_the_edges() {
    let parameters = [5e-324, 1e-5, 0.5, 2.0, 1e17, f64::MAX];
    let points = [0.0, 5e-324, 0.3, 1.0 - f64::EPSILON / 2.0, 1.0];
    for (a, b) in parameters.iter().flat_map(|&a| parameters.iter().map(move |&b| (a, b))) {
        let (first, second) = (Positive::new(a).unwrap(), Positive::new(b).unwrap());
        for x in points {
            let at = Probability::new(x).unwrap();
            let (lower, upper) = (beta::regularised(first, second, at), beta::complement(first, second, at));
            assert!((lower + upper).contains(1.0), "{a:e}, {b:e}, {x:e}: {lower} and {upper}");
        }
    }
    // I_x(1, 1) = x and I_x(2, 1) = x².
    for x in [1e-300, 0.1, 0.5, 0.9] {
        let at = Probability::new(x).unwrap();
        let one = Positive::new(1.0).unwrap();
        assert_inside(beta::regularised(one, one, at), &real(x), x);
        let two = Positive::new(2.0).unwrap();
        assert_inside(beta::regularised(two, one, at), &(real(x) * real(x)), x);
    }
}
