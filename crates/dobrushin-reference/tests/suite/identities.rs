//! Functional equations, and values that do not depend on the working precision.

use dobrushin_reference::{
    Real, cdf, chi_square_cdf, chi_square_sf, erfc, erfcx, ln_gamma, ln_tail, ln_theta, mills, mills_taylor,
    one_minus_theta, regularised_beta, regularised_beta_complement, tail, theta,
};

/// Numbers between 0 and 1, the same at every run.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number whose logarithm is uniform.
    fn between(&mut self, low: f64, high: f64) -> f64 {
        (low.ln() + self.uniform() * (high / low).ln()).exp()
    }
}

/// Asserts that two numbers agree to a relative `2^-bits`.
#[track_caller]
fn assert_close(found: &Real, expected: &Real, bits: i64) {
    let error = (found - expected).exponent();
    assert!(found == expected || error <= expected.exponent() - bits, "found {found}, expected {expected}");
}

fn real(x: f64) -> Real {
    Real::from_f64(x, 128)
}

/// Arguments of both signs, near zero, moderate and far out.
fn points() -> Vec<f64> {
    let mut random = Random(7);
    let mut points = vec![0.0];
    for _ in 0..200 {
        points.push(12.0 * random.uniform() - 6.0);
        points.push(80.0 * random.uniform() - 40.0);
        points.push(random.between(1e-12, 1e4));
        points.push(-random.between(1e-12, 1e4));
    }
    points
}

#[test]
fn more_bits_do_not_change_the_normal_functions() {
    let functions: [fn(&Real) -> Real; 6] = [mills, tail, cdf, ln_tail, erfc, erfcx];
    for x in points() {
        for function in functions {
            let low = function(&Real::from_f64(x, 128));
            for bits in [192, 448] {
                assert_close(&low, &function(&Real::from_f64(x, bits)), 125);
            }
        }
    }
}

#[test]
fn more_bits_do_not_change_the_elementary_functions() {
    for x in points() {
        let (low, high) = (real(x), Real::from_f64(x, 448));
        assert_close(&low.exp(), &high.exp(), 125);
        assert_close(&low.exp_m1(), &high.exp_m1(), 125);
        if x > 0.0 {
            assert_close(&low.ln(), &high.ln(), 125);
            assert_close(&low.ln_1p(), &high.ln_1p(), 125);
            assert_close(&low.ln().exp(), &low, 110);
            assert_close(&low.ln_1p().exp_m1(), &low, 110);
        }
    }
}

#[test]
fn the_normal_functions_agree_with_each_other() {
    for x in points() {
        let x = real(x);
        assert_close(&(tail(&x) + cdf(&x)), &real(1.0), 125);
        if x.abs() < real(1e3) {
            assert_close(&ln_tail(&x).exp(), &tail(&x), 100);
        }
        let square = (&x * &x).with_bits(256);
        assert_close(&(square.exp() * erfc(&x)), &erfcx(&x), 95);
    }
}

#[test]
fn the_taylor_coefficients_satisfy_the_differential_equation() {
    for centre in [-3.0, -0.875, 0.0, 0.3, 1.0, 5.5, 16.125, 40.0] {
        let coefficients = mills_taylor(centre, 24);
        let x = Real::from_f64(centre, 192);
        assert_close(&coefficients[0], &mills(&x), 185);
        // R' = xR - 1.
        let slope = Real::from_i64(1, 192) - &x * &coefficients[0];
        assert_close(&coefficients[1], &slope, 170);
        // The series itself, at a point near by.
        let step = Real::from_f64(-1.0 / 1024.0, 192);
        let sum = coefficients.iter().rev().fold(Real::from_i64(0, 192), |sum, c| sum * &step + c);
        assert_close(&sum, &mills(&(x - step)), 185);
    }
}

#[test]
fn theta_agrees_with_its_definition() {
    const BITS: usize = 640;
    let mut random = Random(11);
    for i in 0..300 {
        let r = random.between(1e-12, 60.0);
        let eps = match i % 4 {
            0 => 0.0,
            1 => r * r / 2.0,
            2 => r * random.between(1e-300, 20.0),
            _ => random.between(1e-8, 30.0) * r.min(1.0),
        };
        let (e, s) = (Real::from_f64(eps, BITS), Real::from_f64(r, BITS));
        let middle = &e / &s;
        let half = &s / 2;
        let (a, b) = (&middle - &half, &middle + &half);
        let (left, right) = (tail(&a), e.exp() * tail(&b));
        let expected = &left - &right;
        let complement = cdf(&a) + right;
        let log = if a.is_negative() { (-&complement).ln_1p() } else { expected.ln() };
        assert_close(&theta(eps, r), &expected, 112);
        assert_close(&one_minus_theta(eps, r), &complement, 112);
        assert_close(&ln_theta(eps, r), &log, 112);
    }
}

#[test]
fn the_gamma_function_satisfies_its_recurrence() {
    let mut random = Random(13);
    for i in 0..300 {
        // Few bits, so that x + 1 is an f64.
        let x = (random.between(1e-3, 1e5) * 1024.0).ceil() / 1024.0;
        let x = if i % 3 == 0 { 1.0 + x / 1048576.0 } else { x };
        let expected = ln_gamma(x) + real(x).ln();
        let error = (ln_gamma(x + 1.0) - &expected).abs();
        assert!(error.exponent() < ln_gamma(x).abs().exponent().max(1) - 110);
    }
    // ln Γ(1/2) = ln √π; the minimum lies between the two zeros.
    let half = ln_gamma(0.5) * 2;
    let pi = Real::parse("3.14159265358979323846264338327950288419716939937510", 192);
    assert_close(&half, &pi.expect("a decimal").ln(), 112);
    assert!(ln_gamma(1.0).is_zero() && ln_gamma(2.0).is_zero() && ln_gamma(1.5).is_negative());
    // Near one, ln Γ(1+h) = -γh + π²h²/12 + O(h³).
    let h = Real::from_f64(2.0_f64.powi(-52), 192);
    let gamma = Real::parse("0.57721566490153286060651209008240243104215933593992", 192);
    let pi = Real::parse("3.14159265358979323846264338327950288419716939937510", 192);
    let second = pi.expect("a decimal").powi(2) * &h / 12;
    let expected = &h * (second - gamma.expect("a decimal"));
    assert_close(&ln_gamma(1.0 + f64::EPSILON), &expected, 100);
}

#[test]
fn the_chi_square_tails_add_up_and_satisfy_the_recurrence() {
    let mut random = Random(17);
    for i in 0..300 {
        let degrees = random.between(1.0, 1e4) as u64;
        let x =
            if i % 2 == 0 { degrees as f64 * (0.5 + random.uniform()) } else { random.between(1e-3, 1e5) };
        let (lower, upper) = (chi_square_cdf(degrees, x), chi_square_sf(degrees, x));
        assert_close(&(&lower + &upper), &real(1.0), 120);
        // Two more degrees move (x/2)^(d/2) e^(-x/2)/Γ(d/2 + 1) from one tail to the other.
        let half = Real::from_f64(x, 256) / 2;
        let power = Real::from_i64(degrees as i64, 256) / 2;
        let log = power * half.ln() - half - ln_gamma(degrees as f64 / 2.0 + 1.0);
        let moved = log.exp();
        assert_close(&(&moved + chi_square_cdf(degrees + 2, x)), &lower, 90);
        assert_close(&(&moved + upper), &chi_square_sf(degrees + 2, x), 90);
    }
}

#[test]
fn the_chi_square_laws_of_one_and_two_degrees_are_known() {
    for x in [1e-10, 0.25, 1.0, 2.0, 3.0, 50.0, 1e4] {
        let root = Real::from_f64(x, 192).sqrt();
        assert_close(&chi_square_sf(1, x), &(tail(&root) * 2), 115);
        let half = -Real::from_f64(x, 192) / 2;
        assert_close(&chi_square_sf(2, x), &half.exp(), 115);
        assert_close(&chi_square_cdf(2, x), &-half.exp_m1(), 115);
    }
    assert!(chi_square_cdf(5, 0.0).is_zero());
}

#[test]
fn the_beta_function_is_symmetric_and_satisfies_the_recurrence() {
    let mut random = Random(19);
    for i in 0..300 {
        let a = (random.between(1e-2, 1e4) * 256.0).ceil() / 256.0;
        let b = (random.between(1e-2, 1e4) * 256.0).ceil() / 256.0;
        // Few bits, so that 1 - x is an f64.
        let x = match i % 3 {
            0 => random.uniform(),
            1 => (a / (a + b) * (0.9 + 0.2 * random.uniform())).min(0.999),
            _ => 1.0 - random.between(1e-6, 1.0),
        };
        let x = (x * 2.0_f64.powi(40)).ceil() / 2.0_f64.powi(40);
        if x == 1.0 {
            continue;
        }
        let lower = regularised_beta(a, b, x);
        let upper = regularised_beta_complement(a, b, x);
        assert_close(&(&lower + &upper), &real(1.0), 120);
        assert_close(&lower, &regularised_beta_complement(b, a, 1.0 - x), 112);
        // I_x(a,b) - I_x(a+1,b) = x^a (1-x)^b/(a B(a,b)).
        let (ra, rb, rx) = (real(a), real(b), Real::from_f64(x, 256));
        let log = &ra * rx.ln() + rb * (-&rx).ln_1p() + ln_gamma(a + b) - ln_gamma(a + 1.0) - ln_gamma(b);
        let moved = log.exp();
        let next = regularised_beta(a + 1.0, b, x);
        assert_close(&(&moved + next), &lower, 90);
        let next = regularised_beta_complement(a + 1.0, b, x);
        assert_close(&(&moved + upper), &next, 90);
    }
}

#[test]
fn beta_with_a_unit_parameter_is_a_power() {
    for (b, x) in [(0.01, 1e-20), (3.5, 0.25), (1e4, 1e-5), (0.5, 0.999), (7.0, 1e-300)] {
        let log = Real::from_f64(b, 192) * (-Real::from_f64(x, 192)).ln_1p();
        assert_close(&regularised_beta(1.0, b, x), &-log.exp_m1(), 112);
        assert_close(&regularised_beta_complement(1.0, b, x), &log.exp(), 112);
    }
    assert!(regularised_beta(2.0, 3.0, 0.0).is_zero());
    assert_close(&regularised_beta(2.0, 3.0, 1.0), &real(1.0), 128);
}

#[test]
fn exact_values_are_exact() {
    let zero = real(0.0);
    assert_eq!(cdf(&zero), real(0.5));
    assert_eq!(erfc(&zero), real(1.0));
    assert_eq!(erfcx(&zero), real(1.0));
    for x in [1e-300, 0.1, 0.5, 0.75, 1.0 - f64::EPSILON] {
        assert_eq!(regularised_beta(1.0, 1.0, x), real(x));
        assert_eq!(regularised_beta(2.0, 1.0, x), &real(x) * &real(x));
    }
    assert_eq!(regularised_beta(7.5, 7.5, 0.5), real(0.5));
}
