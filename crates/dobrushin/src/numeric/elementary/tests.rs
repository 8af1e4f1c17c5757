//! Tests of the functions against arbitrary precision, each phase by itself.

use super::*;
use crate::numeric::Random;
use dobrushin_reference::Real;

/// The precision of the reference: far more than any argument here needs.
const BITS: usize = 256;

/// A function of one argument.
type Function = fn(f64) -> f64;

/// A function, its accurate phase, the reference, and the magnitudes that are not answered without computing.
struct Subject {
    name: &'static str,
    function: Function,
    accurate: Function,
    truth: fn(&Real) -> Real,
    computed: fn(f64) -> bool,
}

const SUBJECTS: [Subject; 4] = [
    Subject {
        name: "exp",
        function: exp,
        accurate: accurate::exp,
        truth: Real::exp,
        computed: |x| x.abs() >= 2f64.powi(-54) && x.abs() < 746.0 && x < 709.7,
    },
    Subject {
        name: "exp_m1",
        function: exp_m1,
        accurate: accurate::exp_m1,
        truth: Real::exp_m1,
        computed: |x| x.abs() >= 2f64.powi(-54) && x.abs() < 709.7,
    },
    Subject {
        name: "ln",
        function: ln,
        accurate: |x| accurate::ln(x, x.ln()),
        truth: Real::ln,
        computed: |x| x > 0.0 && x < f64::INFINITY && x != 1.0,
    },
    Subject {
        name: "ln_1p",
        function: ln_1p,
        accurate: |x| accurate::ln_1p(x, x.ln_1p()),
        truth: Real::ln_1p,
        computed: |x| x > -1.0 && x.abs() >= 2f64.powi(-54) && x < f64::INFINITY,
    },
];

/// Arguments of every size, and many where a formula changes or a result is near a power of two.
fn argument(random: &mut Random) -> f64 {
    let size = match random.below(8) {
        0 => f64::from_bits(random.bits() >> 1),
        1 => random.between(0.0, 750.0),
        2 => random.log_between(1e-17, 1.0),
        3 => 1.0 + random.between(-1.0, 1.0) * random.log_between(1e-16, 0.01),
        4 => random.between(0.0, 2.0),
        // Arguments with few digits: results near the middle between two numbers.
        5 => (1.0 + random.below(16) as f64 / 16.0) * 2f64.powi(random.below(64) as i32 - 56),
        6 => random.below(1100) as f64 * std::f64::consts::LN_2 / 256.0,
        _ => 1.0 + random.below(512) as f64 / 256.0,
    };
    let near = (0..random.below(3))
        .fold(size, |x, _| if random.below(2) == 0 { x.next_up() } else { x.next_down() });
    if random.below(2) == 0 { near } else { -near }
}

#[test]
fn every_function_gives_the_nearest_number_and_so_does_its_accurate_phase() {
    for (seed, subject) in (0..).zip(SUBJECTS) {
        let mut random = Random::new(seed);
        let mut accurate = 0;
        for i in 0..30_000 {
            let x = argument(&mut random);
            let truth = (subject.truth)(&Real::from_f64(x, BITS)).to_f64();
            let value = (subject.function)(x);
            assert!(
                value == truth || value.is_nan() && truth.is_nan(),
                "{}({x:e}) = {value:e}, not {truth:e}",
                subject.name
            );
            if i % 8 == 0 && (subject.computed)(x) {
                let value = (subject.accurate)(x);
                assert!(value == truth, "accurate {}({x:e}) = {value:e}, not {truth:e}", subject.name);
                accurate += 1;
            }
        }
        assert!(accurate > 1000, "{}: {accurate} arguments are not many", subject.name);
    }
}

#[test]
fn arguments_that_need_all_the_digits_are_decided() {
    // This is 2⁻¹⁵³ from the middle between two numbers, relatively, because x is a multiple of 3.
    assert_eq!(ln_1p(f64::from_bits(0x3cd8000000000003)), 1.3322676295501877e-15);
    // This is less than 2⁻¹⁰⁶ from such a middle.
    for (x, expected) in [(2f64.powi(-53), 1.0 + f64::EPSILON), (-2f64.powi(-54), 1.0)] {
        assert_eq!(exp(x), expected, "{x:e}");
    }
}

#[test]
fn the_ends_of_the_range_are_exact() {
    for x in [0.0, -0.0, 5e-324, -5e-324, 1e-310, 1e-200] {
        assert_eq!(exp(x), 1.0);
        assert_eq!(exp_m1(x).to_bits(), x.to_bits());
        assert_eq!(ln_1p(x).to_bits(), x.to_bits());
    }
    let largest = 709.782712893384;
    assert!(exp(largest) < f64::INFINITY && exp_m1(largest) < f64::INFINITY);
    for x in [f64::INFINITY, f64::MAX, 710.0, f64::next_up(largest)] {
        assert_eq!((exp(x), exp_m1(x)), (f64::INFINITY, f64::INFINITY));
    }
    for x in [f64::NEG_INFINITY, f64::MIN, -746.0, -745.1332191019411] {
        assert_eq!((exp(x), exp_m1(x)), (if x > -745.14 { 5e-324 } else { 0.0 }, -1.0));
    }
    assert_eq!(exp((-745.1332191019411f64).next_down()), 0.0);
    assert_eq!((ln(0.0), ln(-0.0), ln_1p(-1.0)), (f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY));
    assert_eq!((ln(f64::INFINITY), ln_1p(f64::INFINITY)), (f64::INFINITY, f64::INFINITY));
    assert_eq!(ln(1.0).to_bits(), 0);
    for function in [exp, exp_m1, ln, ln_1p] {
        assert!(function(f64::NAN).is_nan());
    }
    for below in [-5e-324, -1.0, f64::NEG_INFINITY] {
        assert!(ln(below).is_nan() && ln_1p(below - 1.0f64.next_up()).is_nan());
    }
}

#[test]
fn the_logarithm_of_the_gamma_function_is_the_nearest_number() {
    let mut random = Random::new(4);
    for i in 0..3000 {
        let x = match i % 6 {
            0 => f64::from_bits(random.bits() >> 1),
            1 => 1.0 + random.between(-1.0, 1.0) * random.log_between(1e-16, 0.5),
            2 => 2.0 + random.between(-1.0, 1.0) * random.log_between(1e-16, 0.5),
            3 => f64::from(i) / 2.0,
            4 => random.between(16.0, 1000.0),
            _ => random.log_between(1e-300, 1e300),
        };
        if x > 0.0 && x < 2.5e305 {
            assert_eq!(ln_gamma(x), dobrushin_reference::ln_gamma(x).to_f64(), "{x:e}");
        }
    }
    assert_eq!(ln_gamma(2.6e305), f64::INFINITY);
}

#[test]
fn erfc_is_the_nearest_number() {
    let mut random = Random::new(5);
    for _ in 0..2000 {
        let x = random.between(-7.0, 28.0);
        assert_eq!(erfc(x), dobrushin_reference::erfc(&Real::from_f64(x, BITS)).to_f64(), "{x:e}");
    }
}

#[test]
fn points_of_the_circle_are_the_nearest_ones() {
    assert_eq!([0, 1, 2, 3].map(|k| turn(k, 2)), [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)]);
    for octaves in [3, 10, 24] {
        let mut random = Random::new(octaves.into());
        for _ in 0..200 {
            let k = random.bits() >> (64 - octaves);
            if (4 * k).trailing_zeros() >= octaves {
                // The reference does not know that π is half a turn.
                continue;
            }
            let (cosine, sine) = turn(k, octaves);
            let truth = Real::turn(k, octaves, BITS);
            assert_eq!((cosine, sine), (truth.0.to_f64(), truth.1.to_f64()), "{k}/2^{octaves}");
        }
    }
}

/// Grids are refined by powers of two, and points of the coarser one must be points of the finer.
#[test]
fn powers_of_two_of_libm_are_exact() {
    for k in -1022..=1023 {
        let power = f64::from_bits(((k + 1023) as u64) << 52);
        assert_eq!((libm::exp2(f64::from(k)), libm::log2(power)), (power, f64::from(k)), "{k}");
    }
}
