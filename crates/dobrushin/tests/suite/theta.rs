//! θ_ε(r), its logarithm, complement, derivatives and inverses against
//! arbitrary precision: the true value is inside, and the enclosure is narrow.

use crate::support::{Generator, assert_inside};
use dobrushin::numeric::theta::{
    derivative_in_epsilon, derivative_in_r, largest_r, ln_theta, ln_theta_range, one_minus_theta,
    smallest_epsilon, smallest_noise, theta, theta_range,
};
use dobrushin::{Delta, Enclosure, Epsilon, NonNegative, Positive};
use dobrushin_reference as reference;
use dobrushin_reference::{Real, depth};

/// The precision of what is computed here; a cancels no more than 100 bits.
const BITS: usize = 320;

fn epsilon(x: f64) -> Epsilon {
    Epsilon::new(x).unwrap()
}

fn distance(x: f64) -> NonNegative {
    NonNegative::new(x).unwrap()
}

fn delta(x: f64) -> Delta {
    Delta::new(x).unwrap()
}

/// The ε for which ε/r − r/2 is about `a`, inside the range that is promised.
fn epsilon_at(a: f64, r: f64) -> f64 {
    (r * (a + r / 2.0)).clamp(0.0, 700.0)
}

/// A point of [0, 700] × [1e-8, 60], chosen in one of several ways.
fn point(g: &mut Generator) -> (f64, f64) {
    let wide = g.log_between(1e-8, 60.0);
    let (eps, r) = match g.below(10) {
        0 => (g.between(0.0, 700.0), g.between(1e-8, 60.0)),
        1 => (g.log_between(1e-12, 700.0), wide),
        2 => {
            // Where the computation changes course.
            let a = g.pick(&[0.0, -1.0, 16.0, -16.0, 35.77, -35.77]);
            let a = if g.below(2) == 0 { g.nudged(a) } else { a + g.between(-1e-3, 1e-3) };
            (epsilon_at(a, wide), wide)
        }
        3 => (epsilon_at(g.below(150) as f64 / 8.0 - 1.0, wide), wide),
        4 => {
            let r = g.nudged(0.125);
            (epsilon_at(g.between(-1.0, 40.0), r), r)
        }
        5 => (0.0, wide),
        6 => (g.log_between(1e-300, 1e-3), wide),
        7 => {
            // θ close to 1.
            let r = g.between(10.0, 60.0);
            (epsilon_at(g.between(-30.0, -5.0), r), r)
        }
        8 => (epsilon_at(g.between(-1.0, 40.0), wide), wide),
        _ => (g.between(1.0, 700.0), g.log_between(1e-8, 1.0)),
    };
    (eps.clamp(0.0, 700.0), g.nudged(r).clamp(1e-8, 60.0))
}

/// The largest relative width seen.
#[derive(Default)]
struct Widest(f64, (f64, f64));

impl Widest {
    fn see(&mut self, enclosure: Enclosure, at: (f64, f64)) {
        let width = enclosure.relative_width();
        if width > self.0 {
            *self = Self(width, at);
        }
    }

    fn assert_below(&self, bound: f64, name: &str) {
        println!("{name}: relative width at most {:.2e}, at {:?}", self.0, self.1);
        assert!(self.0 <= bound, "{name} is {:e} wide at {:?}", self.0, self.1);
    }
}

/// 50,000 points in the deep tests, in each of two tests that run side by side.
fn check_ln_theta(seed: u64) {
    let mut g = Generator::new(seed);
    let mut widest = Widest::default();
    for _ in 0..depth(10_000, 50_000) {
        let (eps, r) = point(&mut g);
        let enclosure = ln_theta(epsilon(eps), distance(r));
        assert_inside(enclosure, &reference::ln_theta(eps, r), (eps, r));
        widest.see(enclosure, (eps, r));
    }
    widest.assert_below(3e-14, "ln θ");
}

#[test]
fn ln_theta_is_enclosed_at_the_first_50_000_points() {
    check_ln_theta(1);
}

#[test]
fn ln_theta_is_enclosed_at_the_next_50_000_points() {
    check_ln_theta(2);
}

#[test]
fn theta_and_its_complement_are_enclosed() {
    let mut g = Generator::new(3);
    let mut widest = [Widest::default(), Widest::default(), Widest::default()];
    for _ in 0..depth(8_000, 40_000) {
        let (eps, r) = point(&mut g);
        let enclosure = theta(epsilon(eps), distance(r));
        assert_inside(enclosure, &reference::theta(eps, r), (eps, r));
        assert!(0.0 <= enclosure.lower() && enclosure.upper() <= 1.0);
        match enclosure.lower() {
            1e-276.. => widest[0].see(enclosure, (eps, r)),
            1e-306.. => widest[1].see(enclosure, (eps, r)),
            _ => assert!(enclosure.upper() < 2e-306),
        }
        let complement = one_minus_theta(epsilon(eps), distance(r));
        assert_inside(complement, &reference::one_minus_theta(eps, r), (eps, r));
        widest[2].see(complement, (eps, r));
    }
    widest[0].assert_below(4e-13, "θ");
    widest[1].assert_below(4e-13, "θ near underflow");
    widest[2].assert_below(3e-14, "1 − θ");
}

/// φ(a) and R(b).
fn density_and_ratio(eps: f64, r: f64) -> (Real, Real) {
    let (eps, r) = (Real::from_f64(eps, BITS), Real::from_f64(r, BITS));
    let (quotient, half) = (&eps / &r, &r / 2);
    let a = &quotient - &half;
    let two_pi = Real::parse("6.283185307179586476925286766559005768394338798750211641949889", BITS).unwrap();
    ((-(&a * &a) / 2).exp() / two_pi.sqrt(), reference::mills(&(quotient + half)))
}

#[test]
fn the_derivatives_are_enclosed() {
    let mut g = Generator::new(4);
    let mut widest = Widest::default();
    for _ in 0..depth(8_000, 40_000) {
        let (eps, r) = point(&mut g);
        let (density, ratio) = density_and_ratio(eps, r);
        let in_r = derivative_in_r(epsilon(eps), distance(r));
        assert_inside(in_r, &density, (eps, r));
        let in_epsilon = derivative_in_epsilon(epsilon(eps), distance(r));
        assert_inside(in_epsilon, &-(density * ratio), (eps, r));
        if in_r.lower() > 1e-276 {
            widest.see(in_r, (eps, r));
            widest.see(in_epsilon, (eps, r));
        }
    }
    widest.assert_below(6e-15, "the derivatives of θ");
}

#[test]
fn the_derivatives_are_enclosed_where_r_is_vast() {
    let mut g = Generator::new(5);
    for _ in 0..2_000 {
        let r = g.log_between(1e11, 1e18);
        let eps = (r * (r / 2.0 + g.between(-3.0, 3.0))).max(0.0);
        let (density, ratio) = density_and_ratio(eps, r);
        assert_inside(derivative_in_r(epsilon(eps), distance(r)), &density, (eps, r));
        let in_epsilon = derivative_in_epsilon(epsilon(eps), distance(r));
        assert_inside(in_epsilon, &-(density * ratio), (eps, r));
    }
}

#[test]
fn extreme_points_are_enclosed() {
    let mut g = Generator::new(6);
    for _ in 0..depth(1_000, 3_000) {
        let r = match g.below(5) {
            0 => f64::from_bits(1 + g.bits() % (1 << 52)),
            1 => f64::from_bits(1 + g.bits() % 20),
            2 => g.log_between(1e11, 1e15),
            3 => g.log_between(1e-320, 1e300),
            _ => g.finite().abs().max(5e-324),
        };
        let eps = match g.below(3) {
            0 => g.finite().abs(),
            1 => (r * (g.between(-1.0, 60.0) + r / 2.0)).clamp(0.0, f64::MAX),
            _ => g.log_between(1e-320, 1e308),
        };
        let ln = ln_theta(epsilon(eps), distance(r));
        assert_inside(ln, &reference::ln_theta(eps, r), (eps, r));
        assert_inside(theta(epsilon(eps), distance(r)), &reference::theta(eps, r), (eps, r));
        let complement = one_minus_theta(epsilon(eps), distance(r));
        assert_inside(complement, &reference::one_minus_theta(eps, r), (eps, r));
        assert!(ln.upper() <= 0.0 && complement.lower() >= 0.0 && complement.upper() <= 1.0);
    }
}

#[test]
fn limits_are_known() {
    let [infinite, zero] = [f64::INFINITY, 0.0];
    assert_eq!(theta(epsilon(zero), distance(zero)), Enclosure::ZERO);
    assert_eq!(theta(epsilon(3.0), distance(zero)), Enclosure::ZERO);
    assert_eq!(theta(epsilon(infinite), distance(2.0)), Enclosure::ZERO);
    assert_eq!(theta(epsilon(3.0), distance(infinite)), Enclosure::ONE);
    assert_eq!(theta(epsilon(infinite), distance(infinite)), Enclosure::UNIT);
    assert_eq!(ln_theta(epsilon(3.0), distance(zero)), -Enclosure::INFINITE);
    assert_eq!(derivative_in_epsilon(epsilon(zero), distance(zero)), Enclosure::ZERO);
    assert_eq!(derivative_in_r(epsilon(1.0), distance(zero)), Enclosure::ZERO);
    assert!(derivative_in_r(epsilon(zero), distance(zero)).contains(0.3989422804014327));
    assert!(derivative_in_r(epsilon(infinite), distance(infinite)).contains(0.3));
}

#[test]
fn the_textbook_form_loses_what_is_found_here() {
    for (eps, r, from, to) in [(5.0, 0.5, 4.4e-24, 4.5e-24), (7.0, 0.9, 1.15e-14, 1.25e-14)] {
        let found = theta(epsilon(eps), distance(r));
        assert!(from < found.lower() && found.upper() < to, "{found}");
    }
}

/// The values under `prefix`, with the parameters as the nearest `f64`s.
fn golden(prefix: &str) -> Vec<(f64, f64, Real)> {
    let points = dobrushin_reference::golden();
    let named = points.iter().filter(|point| point["id"].as_str().unwrap().starts_with(prefix));
    named
        .map(|point| {
            let number = |name: &str| point["params"][name].as_str().unwrap().parse().unwrap();
            (number("eps"), number("r"), Real::parse(point["value"].as_str().unwrap(), BITS).unwrap())
        })
        .collect()
}

/// Whether the enclosure, widened by the last of the golden value's thirty
/// digits, contains it.
fn assert_agrees(enclosure: Enclosure, truth: &Real, at: (f64, f64)) {
    let slack = truth.abs() * Real::parse("1e-29", BITS).unwrap();
    let (lower, upper) = (Real::from_f64(enclosure.lower(), BITS), Real::from_f64(enclosure.upper(), BITS));
    assert!(lower - &slack <= *truth && *truth <= upper + &slack, "{truth} is not in {enclosure} at {at:?}");
}

/// The decimal lies between the neighbours of the `f64` it was read as.
fn decimal(x: f64) -> Enclosure {
    if x == x.trunc() { Enclosure::from(x) } else { Enclosure::new(x.next_down(), x.next_up()).unwrap() }
}

#[test]
fn the_golden_values_are_enclosed() {
    let mut widest = Widest::default();
    let logarithms = golden("log_theta/");
    for (eps, r, truth) in &logarithms {
        assert_agrees(ln_theta_range(decimal(*eps), decimal(*r)), truth, (*eps, *r));
        widest.see(ln_theta(epsilon(*eps), distance(*r)), (*eps, *r));
    }
    widest.assert_below(1e-13, "ln θ, golden points");
    let values = golden("theta/");
    for (eps, r, truth) in &values {
        let range = theta_range(decimal(*eps), decimal(*r));
        assert_agrees(range, truth, (*eps, *r));
        let here = theta(epsilon(*eps), distance(*r));
        let is_normal = truth.to_f64() >= f64::MIN_POSITIVE;
        assert!(!is_normal || here.relative_width() < 1e-12, "{here} at {eps}, {r}");
    }
    let complements = golden("one_minus_theta/");
    for (eps, r, truth) in &complements {
        let (eps, r) = (decimal(*eps), decimal(*r));
        let larger = one_minus_theta(epsilon(eps.upper()), distance(r.lower()));
        let smaller = one_minus_theta(epsilon(eps.lower()), distance(r.upper()));
        assert_agrees(larger.hull(smaller), truth, (eps.lower(), r.lower()));
    }
    assert!(logarithms.len() >= 127 && values.len() >= 95 && complements.len() >= 48);
}

/// Fails unless `theta` at the two ends is on the two sides of δ.
fn assert_straddles(private: (f64, f64), other: (f64, f64), delta: f64) {
    let target = Real::from_f64(delta, BITS);
    assert!(reference::theta(private.0, private.1) <= target, "{private:?} is not private at {delta:e}");
    assert!(reference::theta(other.0, other.1) >= target, "{other:?} is private at {delta:e}");
}

fn random_delta(g: &mut Generator) -> f64 {
    match g.below(4) {
        0 => g.between(0.0, 1.0),
        1 => g.log_between(1e-300, 1.0),
        2 => 1.0 - g.log_between(1e-15, 0.5),
        _ => g.log_between(1e-12, 1e-2),
    }
}

#[test]
fn the_smallest_epsilon_is_private_and_sharp() {
    let mut g = Generator::new(7);
    let mut widest = Widest::default();
    for _ in 0..depth(1_000, 4_000) {
        let (d, r) = (random_delta(&mut g), g.log_between(1e-8, 60.0));
        let found = smallest_epsilon(distance(r), delta(d));
        if found == Enclosure::ZERO {
            assert!(reference::theta(0.0, r) <= Real::from_f64(d, BITS));
            continue;
        }
        assert_straddles((found.upper(), r), (found.lower(), r), d);
        // ε itself vanishes where θ_0(r) = δ, and so does its relative accuracy.
        if found.lower() > 1e-2 * r {
            widest.see(found, (d, r));
        } else {
            assert!(found.width() < 1e-12 * r, "{found} at {r:e}, {d:e}");
        }
    }
    widest.assert_below(1e-12, "the smallest ε");
}

#[test]
fn the_largest_distance_and_the_smallest_noise_are_private_and_sharp() {
    let mut g = Generator::new(8);
    let mut widest = Widest::default();
    for _ in 0..depth(1_000, 4_000) {
        let (d, eps) = (random_delta(&mut g), g.log_between(1e-8, 700.0));
        let eps = if g.below(8) == 0 { 0.0 } else { eps };
        let r = largest_r(epsilon(eps), delta(d));
        assert_straddles((eps, r.lower()), (eps, r.upper()), d);
        widest.see(r, (d, eps));
        let sensitivity = g.log_between(1e-3, 1e3);
        let noise = smallest_noise(Positive::new(sensitivity).unwrap(), epsilon(eps), delta(d));
        let reach = |sigma: f64| Real::from_f64(sensitivity, BITS) / Real::from_f64(sigma, BITS);
        let (eps_real, target) = (Real::from_f64(eps, BITS), Real::from_f64(d, BITS));
        assert!(reference::theta_at(&eps_real, &reach(noise.upper())) <= target);
        assert!(reference::theta_at(&eps_real, &reach(noise.lower())) >= target);
    }
    widest.assert_below(1e-13, "the largest r");
}

#[test]
fn inverses_are_sound_at_the_edges() {
    let sides = [0.0, 5e-324, 1e-310, 1e-5, 0.5, 1.0 - f64::EPSILON / 2.0, 1.0];
    let sizes = [0.0, 5e-324, 1e-300, 1e-20, 1.0, 1e5, 1e12, 1e14, 1e200, f64::MAX, f64::INFINITY];
    for d in sides {
        for x in sizes {
            let eps = smallest_epsilon(distance(x), delta(d));
            assert!(theta_range(eps.upper().into(), x.into()).upper() <= d || x == f64::INFINITY);
            let r = largest_r(epsilon(x), delta(d));
            assert!(theta_range(x.into(), r.lower().into()).upper() <= d || d == 1.0 || x == f64::INFINITY);
            let noise = smallest_noise(Positive::new(2.0).unwrap(), epsilon(x), delta(d));
            assert!(noise.lower() <= noise.upper());
        }
    }
    assert_eq!(smallest_epsilon(distance(0.0), delta(0.0)), Enclosure::ZERO);
    assert_eq!(smallest_epsilon(distance(1.0), delta(0.0)), Enclosure::INFINITE);
    assert_eq!(smallest_epsilon(distance(1.0), delta(1.0)), Enclosure::ZERO);
    assert_eq!(largest_r(epsilon(1.0), delta(0.0)), Enclosure::ZERO);
    assert_eq!(largest_r(epsilon(1.0), delta(1.0)), Enclosure::INFINITE);
    assert_eq!(smallest_noise(Positive::new(1.0).unwrap(), epsilon(1.0), delta(0.0)), Enclosure::INFINITE);
    assert_eq!(smallest_noise(Positive::new(1.0).unwrap(), epsilon(1.0), delta(1.0)), Enclosure::ZERO);
}
