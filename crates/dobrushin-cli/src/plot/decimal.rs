//! Exact decimal numbers, so that a tick at three tenths is labelled 0.3.
//!
//! Nothing here uses floating-point powers or logarithms, whose last digit differs between
//! machines.

/// The number `digits · 10^exponent`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Decimal {
    /// The significant digits, with sign.
    pub digits: i64,
    /// The power of ten that multiplies them.
    pub exponent: i32,
}

impl Decimal {
    /// The nearest floating-point number.
    pub fn value(self) -> f64 {
        let text = format!("{}e{}", self.digits, self.exponent);
        // An integer, the letter e and an integer are always a number.
        text.parse().unwrap_or(0.0)
    }

    /// The number without a power of ten, with as many decimals as the exponent asks for.
    pub fn plain(self) -> String {
        let sign = if self.digits < 0 { MINUS } else { "" };
        let mut digits = self.digits.unsigned_abs().to_string();
        if self.exponent >= 0 {
            if self.digits != 0 {
                digits.push_str(&"0".repeat(self.exponent.unsigned_abs() as usize));
            }
            return format!("{sign}{digits}");
        }
        let decimals = self.exponent.unsigned_abs() as usize;
        let padded = format!("{digits:0>width$}", width = decimals + 1);
        let (whole, fraction) = padded.split_at(padded.len() - decimals);
        format!("{sign}{whole}.{fraction}")
    }

    /// A mantissa with one digit before the point, and the power of ten that goes with it.
    pub fn scientific(self) -> (String, i32) {
        let (mut digits, mut exponent) = (self.digits, self.exponent);
        while digits != 0 && digits % 10 == 0 {
            digits /= 10;
            exponent += 1;
        }
        let decimals = digits.unsigned_abs().to_string().len() as i32 - 1;
        let mantissa = Decimal { digits, exponent: -decimals };
        (mantissa.plain(), exponent + decimals)
    }

    /// The position of the leading digit: 2 for 500, -1 for 0.5.
    pub fn magnitude(self) -> i32 {
        self.scientific().1
    }
}

/// An integer with a typographic minus sign.
pub(super) fn integer(value: i64) -> String {
    Decimal { digits: value, exponent: 0 }.plain()
}

/// A tick distance of one, two or five times a power of ten.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Step {
    /// One, two or five.
    pub mantissa: i64,
    /// The power of ten.
    pub exponent: i32,
}

impl Step {
    /// The smallest step that is at least `distance` and at least `10^finest`.
    pub fn at_least(distance: f64, finest: i32) -> Self {
        let exponent = decimal_exponent(distance);
        if exponent < finest {
            return Step::new(1, finest);
        }
        [1, 2, 5]
            .map(|mantissa| Step::new(mantissa, exponent))
            .into_iter()
            .find(|step| step.times(1).value() >= distance)
            .unwrap_or(Step::new(1, exponent + 1))
    }

    /// The step between minor ticks, no finer than `10^finest`, and how many of them make one
    /// step.
    pub fn minor(self, finest: i32) -> (Self, i64) {
        if self.exponent <= finest {
            return (Step::new(1, self.exponent), self.mantissa);
        }
        match self.mantissa {
            1 => (Step::new(2, self.exponent - 1), 5),
            2 => (Step::new(5, self.exponent - 1), 4),
            _ => (Step::new(1, self.exponent), 5),
        }
    }

    /// A multiple of the step, exactly.
    pub fn times(self, count: i64) -> Decimal {
        Decimal { digits: count * self.mantissa, exponent: self.exponent }
    }

    /// The step `mantissa · 10^exponent`.
    fn new(mantissa: i64, exponent: i32) -> Self {
        Step { mantissa, exponent }
    }
}

/// The typographic minus sign.
const MINUS: &str = "\u{2212}";

/// The power of ten of the leading digit of a positive number.
fn decimal_exponent(value: f64) -> i32 {
    let text = format!("{value:e}");
    text.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shorthand for `digits · 10^exponent`.
    fn decimal(digits: i64, exponent: i32) -> Decimal {
        Decimal { digits, exponent }
    }

    #[test]
    fn plain_labels_have_no_rounding_noise() {
        assert_eq!(decimal(3, -1).plain(), "0.3");
        assert_eq!(decimal(-5, -3).plain(), "−0.005");
        assert_eq!(decimal(10, -1).plain(), "1.0");
        assert_eq!(decimal(25, 2).plain(), "2500");
        assert_eq!(decimal(0, 3).plain(), "0");
        assert_eq!(decimal(0, -2).plain(), "0.00");
    }

    #[test]
    fn scientific_labels_have_one_digit_before_the_point() {
        assert_eq!(decimal(-1250, 4).scientific(), ("−1.25".into(), 7));
        assert_eq!(decimal(20, -9).scientific(), ("2".into(), -8));
        assert_eq!(decimal(0, 5).scientific().0, "0");
    }

    #[test]
    fn values_are_the_nearest_floats() {
        assert_eq!(decimal(3, -1).value(), 0.3);
        assert_eq!(decimal(-2, 300).value(), -2e300);
    }

    #[test]
    fn steps_are_one_two_or_five_times_a_power_of_ten() {
        assert_eq!(Step::at_least(0.1, -99), Step::new(1, -1));
        assert_eq!(Step::at_least(0.11, -99), Step::new(2, -1));
        assert_eq!(Step::at_least(3.0, -99), Step::new(5, 0));
        assert_eq!(Step::at_least(5.1, -99), Step::new(1, 1));
        assert_eq!(Step::at_least(0.01, 0), Step::new(1, 0));
    }

    #[test]
    fn minor_steps_divide_the_step() {
        for (mantissa, exponent) in [(1, 0), (2, 0), (5, 0), (1, 3), (2, 3), (5, 3)] {
            let step = Step::new(mantissa, exponent);
            for finest in [-99, 0] {
                let (minor, count) = step.minor(finest);
                assert!(minor.exponent >= finest);
                assert_eq!(minor.times(count).value(), step.times(1).value());
            }
        }
    }
}
