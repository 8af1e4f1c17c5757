//! From a wide significand to the nearest `f64`.

/// The `f64` nearest to a number that is within `error` units of ±`significand` units, of 2^(`exponent` − 126) each, if
/// this determines it; otherwise an `f64` near it. The number is normal; the significand is in [2⁸⁰, 2¹²⁷), and the
/// error below 2⁻⁵⁵ times as large.
///
/// Rounding is monotone: if both ends of the error round to the same `f64`, so does everything between them. No value
/// of a function here is a tie, so the treatment of ties does not matter.
#[inline(always)]
pub(super) fn round(negative: bool, significand: u128, exponent: i64, error: u64) -> Result<f64, f64> {
    // Setting the lowest bit changes nothing, but guarantees that a bit is set.
    let shift = ((significand >> 64) as u64 | 1).leading_zeros() - 1;
    // The error grows with the significand, beyond 64 bits if that was small.
    let (significand, error) = (significand << (shift & 63), u128::from(error) << (shift & 63));
    round_at(negative, significand, exponent - i64::from(shift), error, DROPPED)
}

/// [`round`] for positive numbers that may be below the normal ones.
#[cold]
pub(super) fn round_gradually(significand: u128, exponent: i64, error: u64) -> Result<f64, f64> {
    let shift = significand.leading_zeros() - 1;
    let (significand, error) = (significand << shift, u128::from(error) << shift);
    let exponent = exponent - i64::from(shift);
    match u32::try_from(-1022 - exponent) {
        Ok(below) if below >= 54 => Ok(0.0),
        Ok(below) => round_at(false, significand, -1022, error, DROPPED + below),
        Err(_) => round_at(false, significand, exponent, error, DROPPED),
    }
}

/// The bits of a significand in [2¹²⁶, 2¹²⁷) below the 53 of an `f64`.
const DROPPED: u32 = 74;

/// [`round`] with the significand in [2¹²⁶, 2¹²⁷), whose lowest bits are dropped.
#[inline(always)]
fn round_at(negative: bool, significand: u128, exponent: i64, error: u128, dropped: u32) -> Result<f64, f64> {
    let from = significand + (1 << (dropped - 1)) - error;
    let (low, high) = ((from >> dropped) as u64, ((from + 2 * error) >> dropped) as u64);
    // The leading bit of the significand, if set, adds 1 to the exponent.
    let bits = (u64::from(negative) << 63) + (((exponent + 1022) as u64) << 52) + low;
    if low == high { Ok(f64::from_bits(bits)) } else { Err(f64::from_bits(bits)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_that_reaches_the_middle_leaves_the_result_open_however_small_the_significand_is() {
        // The middle is 2⁻⁵³ above the leading bit; the number is 20 of the 26 units of its error beyond the middle.
        for below in 0..12 {
            let (leading, error) = (126 - below, 26u64 << 55);
            let significand = (1u128 << leading) + (1 << (leading - 53)) + (20 << 55);
            assert!(round(false, significand, 0, error).is_err(), "2^{leading}");
            assert!(round(false, significand, 0, error / 2).is_ok(), "2^{leading}");
        }
    }
}
