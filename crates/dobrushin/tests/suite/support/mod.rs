//! What the numeric tests share: a deterministic generator of ordinary and of
//! adversarial numbers, and the check that an enclosure contains the truth.

use dobrushin::Enclosure;
use dobrushin::numeric::Random;
use dobrushin_reference::{Real, is_inside};
use std::fmt::Debug;
use std::ops::{Deref, DerefMut};

/// Where floating-point code tends to be wrong.
const CORNERS: [f64; 24] = [
    0.0,
    5e-324,
    1e-323,
    2.2250738585072009e-308,
    f64::MIN_POSITIVE,
    1e-300,
    1e-200,
    1.5e-154,
    f64::EPSILON,
    f64::EPSILON / 2.0,
    1e-8,
    0.125,
    0.25,
    0.5,
    1.0,
    2.0,
    3.0,
    16.0,
    1e8,
    9007199254740993.0,
    1e154,
    1e200,
    8.98846567431158e307,
    f64::MAX,
];

/// A generator of ordinary and adversarial numbers.
pub struct Generator(Random);

impl Deref for Generator {
    type Target = Random;
    fn deref(&self) -> &Random {
        &self.0
    }
}

impl DerefMut for Generator {
    fn deref_mut(&mut self) -> &mut Random {
        &mut self.0
    }
}

impl Generator {
    /// The generator whose numbers `seed` determines.
    pub fn new(seed: u64) -> Self {
        Self(Random::new(seed))
    }

    /// One of these.
    pub fn pick(&mut self, values: &[f64]) -> f64 {
        values[self.below(values.len())]
    }

    /// A number at most three units in the last place from `x`.
    pub fn nudged(&mut self, x: f64) -> f64 {
        let steps = self.below(4);
        let up = self.below(2) == 0;
        (0..steps).fold(x, |x, _| if up { x.next_up() } else { x.next_down() })
    }

    /// A finite number of any size: a corner case and its neighbours, any
    /// exponent, a subnormal number, or something ordinary, of either sign.
    pub fn finite(&mut self) -> f64 {
        let magnitude = match self.below(6) {
            0 => {
                let corner = self.pick(&CORNERS);
                self.nudged(corner).clamp(f64::MIN, f64::MAX)
            }
            1 => f64::from_bits(self.bits() % f64::INFINITY.to_bits()),
            2 => f64::from_bits(self.bits() % (1 << 52)),
            3 => self.below(1000) as f64 / 8.0,
            _ => self.log_between(1e-6, 1e6),
        };
        if self.below(2) == 0 { magnitude } else { -magnitude }
    }
}

/// Fails unless `truth` lies in the enclosure.
pub fn assert_inside(enclosure: Enclosure, truth: &Real, input: impl Debug) {
    assert!(
        is_inside(enclosure.lower(), enclosure.upper(), truth),
        "{truth} is not in {enclosure} (near {:e}) at {input:?}",
        truth.to_f64(),
    );
}
