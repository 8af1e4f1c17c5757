//! Thresholds that make a mechanism private: the last whole number over 2⁶⁴ that keeps a promise.
//!
//! A mechanism whose probabilities are rounded carelessly can exceed its ε, so the thresholds are rounded to the
//! private side. This takes more digits of e^(−ε) than an `f64` has, so e^(−ε) is enclosed between multiples of 2⁻¹²⁷.

use dobrushin::numeric::bits::Coin;
use dobrushin::{Delta, Epsilon};

/// The range in which thresholds are exact: numbers of categories and the like are below 2²⁴.
pub(super) const MOST: u32 = (1 << 24) - 1;

/// The largest coin with p ≤ (a + c·δ·e^(−ε))/(a + b·e^(−ε)), for a, b and c of at most [`MOST`].
///
/// # Guarantee
/// The coin never exceeds the ratio. It is less than 1.001·2⁻⁶⁴ below it, or 1 − 2⁻⁶⁴ if the ratio is 1 or more.
pub(super) fn largest([a, b, c]: [u32; 3], epsilon: Epsilon, delta: Delta) -> Coin {
    debug_assert!(a.max(b).max(c) <= MOST);
    // From here on, numbers are in units of 2⁻¹⁰².
    let [a, b, c] = [a, b, c].map(u128::from);
    let (one, told) = (ONE >> SPARE, c * (fixed(delta.get()).down >> SPARE));
    if told >= b * one {
        return Coin::from_threshold(u64::MAX);
    }
    // As c·δ < b, the ratio decreases with e^(−ε).
    let x = exp_minus(epsilon).up;
    let told = c * (product(fixed(delta.get()).down, x).down >> SPARE);
    Coin::from_threshold(quotient(a * one + told, a * one + b * ((x >> SPARE) + 1)).down)
}

/// The smallest coin with q ≥ (p − δ)·e^(−ε)/(1 − p + p·e^(−ε)), that is, with p(1 − q) − e^ε·q(1 − p) ≤ δ.
///
/// # Guarantee
/// The coin is never below this ratio, and less than 1.001·2⁻⁶⁴ above it.
pub(super) fn smallest_other(truth: Coin, epsilon: Epsilon, delta: Delta) -> Coin {
    let p = u128::from(truth.threshold()) << 63;
    // The ratio increases with e^(−ε).
    let x = exp_minus(epsilon).up;
    let kept = product(p.saturating_sub(fixed(delta.get()).down), x).up;
    Coin::from_threshold(quotient(kept, (ONE - p) + product(p, x).down).up)
}

/// A number between two others.
#[derive(Clone, Copy, Debug)]
struct Between<T> {
    down: T,
    up: T,
}

/// 1 in units of 2⁻¹²⁷.
const ONE: u128 = 1 << 127;
/// The number of bits given up to make room for 24-bit multiples of 1.
const SPARE: u32 = 25;
/// From here on, e^(−ε) is less than one unit.
const NEGLIGIBLE: f64 = 88.5;
/// Up to here, the series is summed.
const SMALL: f64 = 1.0 / 128.0;

/// e^(−ε).
fn exp_minus(epsilon: Epsilon) -> Between<u128> {
    let mut x = epsilon.get();
    if x >= NEGLIGIBLE {
        return Between { down: 0, up: 1 };
    }
    // e^(−ε) = (e^(−x))^(2^m) with x = ε/2^m.
    let mut halvings = 0;
    while x > SMALL {
        x /= 2.0;
        halvings += 1;
    }
    let mut power = small_exp_minus(fixed(x));
    for _ in 0..halvings {
        power = Between { down: product(power.down, power.down).down, up: product(power.up, power.up).up };
    }
    power
}

/// 1 − x + x²/2 − … for a small x ≥ 0: the terms decrease, so the rest is at most the first omitted term.
fn small_exp_minus(x: Between<u128>) -> Between<u128> {
    let mut term = Between { down: ONE, up: ONE };
    let mut sum = term;
    for n in 1.. {
        term =
            Between { down: product(term.down, x.down).down / n, up: product(term.up, x.up).up.div_ceil(n) };
        if term.up <= 1 {
            break;
        }
        sum = match n % 2 {
            0 => Between { down: sum.down + term.down, up: sum.up + term.up },
            _ => Between { down: sum.down - term.up, up: sum.up - term.down },
        };
    }
    Between { down: sum.down - 1, up: (sum.up + 1).min(ONE) }
}

/// A number from 0 to 1.
fn fixed(x: f64) -> Between<u128> {
    let scaled = x * 2f64.powi(127);
    Between { down: scaled.floor() as u128, up: scaled.ceil() as u128 }
}

/// The product of two numbers from 0 to 1.
fn product(x: u128, y: u128) -> Between<u128> {
    let halves = |z: u128| (z >> 64, z & u128::from(u64::MAX));
    let ((x1, x0), (y1, y0)) = (halves(x), halves(y));
    // Both are at most 2¹²⁷, so the sum fits into 128 bits.
    let cross = x1 * y0 + x0 * y1;
    let (low, carry) = (x0 * y0).overflowing_add(cross << 64);
    let high = x1 * y1 + (cross >> 64) + u128::from(carry);
    let down = high << 1 | low >> 127;
    Between { down, up: down + u128::from(low << 1 != 0) }
}

/// 2⁶⁴·x/y for x < y ≤ 2¹²⁷, but at most 2⁶⁴ − 1.
fn quotient(x: u128, y: u128) -> Between<u64> {
    let (mut rest, mut down) = (x, 0u64);
    for _ in 0..64 {
        rest <<= 1;
        down <<= 1;
        if rest >= y {
            rest -= y;
            down |= 1;
        }
    }
    Between { down, up: down.saturating_add(u64::from(rest > 0)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dobrushin::numeric::Random;
    use dobrushin_reference::Real;

    const DIGITS: usize = 320;

    #[test]
    fn the_exponential_is_enclosed_to_more_than_a_hundred_bits() {
        let mut random = Random::new(1);
        let mut epsilons =
            vec![0.0, 1e-300, 1e-18, 1e-6, 1.0 / 128.0, 0.5, 1.0, 20.0, 44.0, 88.0, 89.0, 1e300];
        epsilons.extend((0..200).map(|_| random.log_between(1e-9, 100.0)));
        let unit = Real::from_f64(2f64.powi(-127), DIGITS);
        let scaled = |units: u128| real(units) * unit.clone();
        for epsilon in epsilons {
            let Between { down, up } = exp_minus(Epsilon::new(epsilon).unwrap());
            let exact = (-Real::from_f64(epsilon.min(1e4), DIGITS)).exp();
            assert!(scaled(down) <= exact && exact <= scaled(up), "e^−{epsilon}");
            assert!(up - down <= 1 << 20, "e^−{epsilon}: {}", up - down);
        }
    }

    fn real(units: u128) -> Real {
        let parts = [96, 64, 32, 0].map(|shift| {
            Real::from_f64((units >> shift) as u32 as f64, DIGITS) * Real::from_f64(2f64.powi(shift), DIGITS)
        });
        parts.into_iter().fold(Real::from_f64(0.0, DIGITS), |sum, part| sum + part)
    }
}
