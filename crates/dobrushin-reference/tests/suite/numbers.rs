//! The number type: exactness of conversions and comparisons, and the correct rounding beneath.

use dobrushin_reference::{Real, is_inside};

/// Bit patterns, the same at every run.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Any finite number, from the subnormal ones to the largest.
    fn finite(&mut self) -> f64 {
        loop {
            let x = f64::from_bits(self.bits());
            if x.is_finite() {
                return x;
            }
        }
    }
}

#[test]
fn every_f64_survives_the_round_trip() {
    let mut random = Random(3);
    let check = |x: f64| {
        for bits in [64, 128, 320] {
            assert_eq!(Real::from_f64(x, bits).to_f64(), x);
        }
    };
    for x in [0.0, -0.0, 5e-324, f64::MIN_POSITIVE, f64::MAX, f64::MIN] {
        check(x);
    }
    check(f64::INFINITY);
    check(f64::NEG_INFINITY);
    for _ in 0..20_000 {
        check(random.finite());
        // Subnormal.
        check(f64::from_bits(random.bits() >> 12));
    }
}

#[test]
fn conversion_to_f64_agrees_with_f64_arithmetic() {
    let mut random = Random(5);
    for _ in 0..20_000 {
        let (x, y) = (random.finite(), random.finite());
        let (rx, ry) = (Real::from_f64(x, 4224), Real::from_f64(y, 4224));
        assert_eq!((&rx + &ry).to_f64(), x + y, "{x:e} {y:e}");
        assert_eq!((&rx * &ry).to_f64(), x * y, "{x:e} {y:e}");
        // Products that are subnormal or nearly so.
        let tiny = f64::from_bits(random.bits() >> 12 | 0x3c << 52);
        let small = f64::from_bits(random.bits() >> 12 | 0x3c0 << 52);
        let product = Real::from_f64(tiny, 128) * Real::from_f64(small, 128);
        assert_eq!(product.to_f64(), tiny * small);
    }
    // Ties go to even at the end of the range.
    let least = Real::from_f64(5e-324, 128);
    assert_eq!((&least / 2).to_f64(), 0.0);
    assert_eq!((&least * 3 / 2).to_f64(), 1e-323);
    assert_eq!((&least * 5 / 8).to_f64(), 5e-324);
    assert_eq!((Real::from_f64(f64::MAX, 128) * 2).to_f64(), f64::INFINITY);
}

#[test]
fn short_operands_give_full_precision() {
    let mut random = Random(9);
    for _ in 0..5_000 {
        let n = (random.bits() >> 40) as i64 + 1;
        let third = Real::from_i64(1, 256) / 3;
        let quotient = &third / n;
        let error = (&quotient * n - &third).abs();
        assert!(error.exponent() <= third.exponent() - 254);
        let sum = &third + n;
        assert!((sum - n - &third).abs().exponent() <= 28 - 256);
    }
}

#[test]
fn enclosures_are_decided_exactly() {
    let third = Real::from_i64(1, 256) / 3;
    let below = third.to_f64();
    let above = below.next_up();
    assert!(is_inside(below, above, &third));
    assert!(!is_inside(above, 1.0, &third));
    assert!(!is_inside(0.0, below, &third));
    assert!(is_inside(f64::NEG_INFINITY, f64::INFINITY, &third));
    assert!(is_inside(0.25, 0.25, &Real::from_f64(0.25, 512)));
    assert!(is_inside(-0.0, 0.0, &Real::from_i64(0, 128)));
    assert!(is_inside(0.0, 0.0, &-Real::from_i64(0, 128)));
    assert!(!is_inside(f64::NAN, 1.0, &third));
    // One part in 2^400 above one.
    let tiny = Real::from_i64(-300, 512).exp();
    let value = Real::from_i64(1, 512) + tiny;
    assert!(is_inside(1.0, 1.0_f64.next_up(), &value));
    assert!(!is_inside(0.0, 1.0, &value));
}

#[test]
fn decimals_are_parsed() {
    let parsed = Real::parse("-1.25e2", 64).expect("a decimal");
    assert_eq!(parsed.to_f64(), -125.0);
    assert!(Real::parse("one", 64).is_none());
    assert!(Real::parse("inf", 64).is_none());
    let tiny = Real::parse("1.34391104720273827335264106581e-2184", 192).expect("a decimal");
    let power = Real::from_i64(10, 192).powi(-2184);
    assert_eq!((tiny / power).to_f64(), 1.343911047202738273);
}

#[test]
fn the_exponential_saturates() {
    assert!(Real::from_f64(-1e300, 128).exp().is_zero());
    assert_eq!(Real::from_f64(1e300, 128).exp().to_f64(), f64::INFINITY);
    assert!(!Real::from_f64(-1.4e9, 128).exp().is_zero());
    assert_eq!(Real::from_i64(0, 128).exp().to_f64(), 1.0);
    assert!(Real::from_i64(0, 128).exp_m1().is_zero());
    assert!(Real::from_i64(0, 128).ln_1p().is_zero());
    assert!(Real::from_i64(1, 128).ln().is_zero());
}
