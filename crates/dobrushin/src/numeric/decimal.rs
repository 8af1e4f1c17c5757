//! Decimal numbers, rounded in the safe direction.

use crate::Enclosure;

/// The number of significant digits in text for people, by default.
pub const DIGITS: usize = 4;

/// The upper end, rounded up to this many significant digits: still an upper bound.
///
/// ```
/// use dobrushin::Enclosure;
/// use dobrushin::numeric::decimal;
/// assert_eq!(decimal::upper(Enclosure::from(0.58130544), 4), "0.5814");
/// assert_eq!(decimal::lower(Enclosure::from(0.58130544), 4), "0.5813");
/// ```
pub fn upper(value: Enclosure, digits: usize) -> String {
    directed(value.upper(), true, digits)
}

/// The upper end in text: rounded up to [`DIGITS`] significant digits.
///
/// ```
/// use dobrushin::{Enclosure, numeric::decimal};
///
/// assert_eq!(decimal::briefly(Enclosure::from(1.0) / Enclosure::from(3.0)), "0.3334");
/// ```
pub fn briefly(value: Enclosure) -> String {
    upper(value, DIGITS)
}

/// The lower end, rounded down to this many significant digits: still a lower bound.
///
/// ```
/// use dobrushin::{Enclosure, numeric::decimal};
///
/// // 2/3, rounded down.
/// assert_eq!(decimal::lower(Enclosure::from(2.0) / Enclosure::from(3.0), 4), "0.6666");
/// ```
pub fn lower(value: Enclosure, digits: usize) -> String {
    directed(value.lower(), false, digits)
}

/// A number as the user gave it, or an exact one.
///
/// ```
/// use dobrushin::numeric::decimal;
///
/// assert_eq!((decimal::plain(0.25), decimal::plain(1e-6)), ("0.25".to_owned(), "1e-6".to_owned()));
/// ```
pub fn plain(value: f64) -> String {
    if value == 0.0 {
        "0".to_owned()
    } else if value.is_finite() && !(1e-4..1e6).contains(&value.abs()) {
        format!("{value:e}")
    } else {
        format!("{value}")
    }
}

/// A number that is not a bound, to this many significant digits.
///
/// ```
/// use dobrushin::numeric::decimal;
///
/// assert_eq!(decimal::nearest(2.0 / 3.0, 4), "0.6667");
/// ```
pub fn nearest(value: f64, digits: usize) -> String {
    let rounded = format!("{:.*e}", digits.saturating_sub(1), value).parse();
    plain(rounded.unwrap_or(value))
}

/// `value` with this many significant digits, rounded up or down.
fn directed(value: f64, up: bool, significant: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return plain(value).replace("inf", "∞");
    }
    // The decimal expansion of an f64 is finite: this is the whole expansion.
    let exact = format!("{:.1100e}", value.abs());
    let (mantissa, exponent) = exact.split_once('e').unwrap_or((&exact, "0"));
    let digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).map(|b| b - b'0').collect();
    let mut exponent: i32 = exponent.parse().unwrap_or(0);
    let (kept, dropped) = digits.split_at(significant);
    let mut kept = kept.to_vec();
    let away_from_zero = up == (value > 0.0);
    if away_from_zero && dropped.iter().any(|&d| d != 0) {
        let carried = kept.iter_mut().rev().all(|digit| {
            *digit = (*digit + 1) % 10;
            *digit == 0
        });
        if carried {
            kept[0] = 1;
            exponent += 1;
        }
    }
    while kept.len() > 1 && kept.last() == Some(&0) {
        kept.pop();
    }
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}", place_point(&kept, exponent))
}

/// Digits and the exponent of the first of them, as a decimal of readable length.
fn place_point(digits: &[u8], exponent: i32) -> String {
    let text: String = digits.iter().map(|&d| char::from(b'0' + d)).collect();
    match exponent {
        -4..=-1 => format!("0.{}{text}", "0".repeat((-exponent - 1) as usize)),
        0..=9 => {
            let whole = exponent as usize + 1;
            if text.len() <= whole {
                format!("{text}{}", "0".repeat(whole - text.len()))
            } else {
                format!("{}.{}", &text[..whole], &text[whole..])
            }
        }
        _ if text.len() == 1 => format!("{text}e{exponent}"),
        _ => format!("{}.{}e{exponent}", &text[..1], &text[1..]),
    }
}

/// The largest relative difference between the value and the upper end; 0 if the value is exact.
///
/// ```
/// use dobrushin::{Enclosure, numeric::decimal};
///
/// // An exact value has no width to speak of.
/// assert_ne!(decimal::width(Enclosure::between(1.0, 1.1)), decimal::width(Enclosure::ONE));
/// ```
pub fn width(value: Enclosure) -> String {
    match value.relative_width() {
        0.0 => "exact".to_owned(),
        width if width.is_finite() => format!("{width:.0e}"),
        _ => format!("≥ {}", lower(value, DIGITS)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(x: f64) -> (String, String) {
        (lower(Enclosure::from(x), 10), upper(Enclosure::from(x), 10))
    }

    #[test]
    fn ends_are_rounded_outward_in_decimal() {
        // 0.1 is a little above one tenth, 0.3 a little below three tenths.
        assert_eq!(both(0.1), ("0.1".into(), "0.1000000001".into()));
        assert_eq!(both(0.3), ("0.2999999999".into(), "0.3".into()));
        assert_eq!(both(-0.1), ("-0.1000000001".into(), "-0.1".into()));
        assert_eq!(both(4.415443470299526e-24), ("4.41544347e-24".into(), "4.415443471e-24".into()));
    }

    #[test]
    fn exact_decimals_stay() {
        for (x, text) in [(0.5, "0.5"), (2.0, "2"), (0.0, "0"), (1e5, "100000"), (-0.25, "-0.25")] {
            assert_eq!(both(x), (text.into(), text.into()));
        }
        assert_eq!(upper(Enclosure::INFINITE, 10), "∞");
        assert_eq!(briefly(Enclosure::from(1.23401)), "1.235");
    }

    #[test]
    fn a_carry_runs_through_all_digits() {
        assert_eq!(upper(Enclosure::from(0.999_999_999_999), 10), "1");
        assert_eq!(upper(Enclosure::from(9.999_999_999_99), 10), "10");
        assert_eq!(upper(Enclosure::from(9.999_999_999_99e-30), 10), "1e-29");
    }

    #[test]
    fn the_smallest_number_is_not_lost() {
        assert_eq!(upper(Enclosure::from(5e-324), 10), "4.940656459e-324");
        assert_eq!(lower(Enclosure::from(5e-324), 10), "4.940656458e-324");
    }
}
