//! The range of an axis and its ticks.

use super::Scale;
use super::decimal::{Decimal, Step, integer};
use super::text;

/// The range of an axis, with the places of its ticks.
#[derive(Clone, Debug)]
pub(super) struct Ruler {
    /// The coordinate at the start of the axis.
    pub low: f64,
    /// The coordinate at the end of the axis, above `low`.
    pub high: f64,
    /// The labelled ticks, in increasing order.
    pub ticks: Vec<Tick>,
    /// The coordinates of the ticks without label.
    pub minor: Vec<f64>,
}

/// A labelled tick.
#[derive(Clone, Debug)]
pub(super) struct Tick {
    /// The coordinate.
    pub at: f64,
    /// What is written beside it.
    pub label: Label,
}

/// A number as it is written beside a tick.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Label {
    /// What stands on the line.
    pub body: String,
    /// What is raised and smaller behind it, often nothing.
    pub superscript: String,
}

/// The coordinate of a point as it is drawn: none when it is NaN or infinite, otherwise the
/// number with magnitudes beyond `1e300` and below `1e-300` made `1e300` and zero, so that no
/// difference or step overflows.
pub(super) fn drawable(coordinate: f64) -> Option<f64> {
    match coordinate {
        c if !c.is_finite() => None,
        c if c.abs() < 1e-300 => Some(0.0),
        c => Some(c.clamp(-1e300, 1e300)),
    }
}

impl Ruler {
    /// A ruler for [`drawable`] coordinates, with about `most` tick intervals or fewer.
    ///
    /// The range covers all coordinates; coordinates that are all alike are shown in the middle
    /// of a range around them.
    pub fn new(scale: &Scale, coordinates: impl Iterator<Item = f64>, most: usize) -> Self {
        if let Scale::Words(words) = scale {
            return Self::words(words.len());
        }
        let extent = coordinates.fold(None, |extent: Option<(f64, f64)>, c| match extent {
            None => Some((c, c)),
            Some((low, high)) => Some((low.min(c), high.max(c))),
        });
        match (scale, extent) {
            (Scale::Log10, None) => Self::logarithmic(-5.0, 0.0, most),
            (_, None) => Self::linear(0.0, 1.0, most),
            (Scale::Linear | Scale::Words(_), Some(extent)) => {
                let (low, high) = widened(extent, |size| if size > 0.0 { size / 10.0 } else { 1.0 });
                Self::linear(low, high, most)
            }
            (Scale::Log10, Some(extent)) => {
                let (low, high) = widened(extent, |size| f64::max(1.0, size * 1e-6));
                Self::logarithmic(low, high, most)
            }
        }
    }

    /// A tick in the middle of the room of each word; what is written there is not the ruler's business.
    fn words(count: usize) -> Self {
        let label = Label { body: String::new(), superscript: String::new() };
        let tick = |place: usize| Tick { at: place as f64, label: label.clone() };
        Ruler {
            low: 0.5,
            high: count.max(1) as f64 + 0.5,
            ticks: (1..=count).map(tick).collect(),
            minor: Vec::new(),
        }
    }

    /// How far along the axis a coordinate lies, from 0 at the start to 1 at the end.
    pub fn fraction(&self, coordinate: f64) -> f64 {
        ((coordinate - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// Ticks at multiples of a 1-2-5 step, labelled with the quantity, and no others.
    fn linear(low: f64, high: f64, most: usize) -> Self {
        Ruler { minor: Vec::new(), ..Self::even(low, high, most, i32::MIN, linear_labels) }
    }

    /// Ticks at powers of ten. Where fewer than three of them are in sight, ticks at small
    /// multiples of them; where even those are too few, ticks at powers with a fractional
    /// exponent.
    fn logarithmic(low: f64, high: f64, most: usize) -> Self {
        let powers = |exponents: &[Decimal]| exponents.iter().map(|&e| power(e)).collect();
        if high - low >= 3.0 {
            return Self::even(low, high, most, 0, powers);
        }
        let enough = if high - low < 2.0 { 3 } else { 2 };
        [&[1][..], &[1, 2, 5], &[1, 2, 3, 4, 5, 6, 7, 8, 9]]
            .into_iter()
            .map(|labelled| Self::multiples(low, high, labelled))
            .find(|ruler| (enough..=most + 1).contains(&ruler.ticks.len()))
            .unwrap_or_else(|| Self::even(low, high, most, i32::MIN, powers))
    }

    /// Ticks at multiples of a 1-2-5 step no finer than `10^finest`; the range is rounded
    /// outward to minor ticks.
    fn even(
        low: f64,
        high: f64,
        most: usize,
        finest: i32,
        labels: impl Fn(&[Decimal]) -> Vec<Label>,
    ) -> Self {
        let step = Step::at_least((high - low) / most.max(1) as f64, finest);
        let (minor_step, minor_count) = step.minor(finest);
        let unit = minor_step.times(1).value();
        let first = (low / unit + ROUNDING).floor() as i64;
        let last = (high / unit - ROUNDING).ceil() as i64;
        let (major, minor): (Vec<i64>, Vec<i64>) =
            (first..=last).partition(|index| index.rem_euclid(minor_count) == 0);
        let places: Vec<Decimal> = major.into_iter().map(|index| step.times(index / minor_count)).collect();
        let ticks = places.iter().zip(labels(&places));
        Ruler {
            low: minor_step.times(first).value(),
            high: minor_step.times(last).value(),
            ticks: ticks.map(|(place, label)| Tick { at: place.value(), label }).collect(),
            minor: minor.into_iter().map(|index| minor_step.times(index).value()).collect(),
        }
    }

    /// Ticks at one to nine times every power of ten, with a label where the factor is among
    /// `labelled`; the range is rounded outward to ticks.
    fn multiples(low: f64, high: f64, labelled: &[i64]) -> Self {
        // The ticks are numbered, nine to a decade.
        let place = |n: i64| n.div_euclid(9) as f64 + LOG10[n.rem_euclid(9) as usize];
        let decade_start = |exponent: f64| 9 * exponent.floor() as i64;
        let first = (decade_start(low)..).find(|&n| place(n + 1) > low + ROUNDING).unwrap_or_default();
        let last = (first + 1..).find(|&n| place(n) >= high - ROUNDING).unwrap_or_default();
        let (major, minor): (Vec<i64>, Vec<i64>) =
            (first..=last).partition(|n| labelled.contains(&(n.rem_euclid(9) + 1)));
        let label = |n: i64| Label {
            body: match n.rem_euclid(9) + 1 {
                1 => "10".into(),
                factor => format!("{factor}×10"),
            },
            superscript: integer(n.div_euclid(9)),
        };
        Ruler {
            low: place(first),
            high: place(last),
            ticks: major.into_iter().map(|n| Tick { at: place(n), label: label(n) }).collect(),
            minor: minor.into_iter().map(place).collect(),
        }
    }
}

impl Label {
    /// How wide the label is when its body is `size` high.
    pub fn width(&self, size: f64) -> f64 {
        text::width(&self.body, size) + text::width(&self.superscript, size * Self::RAISED)
    }

    /// The size of the superscript in relation to the body.
    pub const RAISED: f64 = 0.75;
}

/// The part of a tick distance by which data may lie outside the range unseen, so that a limit
/// of 0.3 is not taken to be beyond three tenths.
const ROUNDING: f64 = 1e-6;

/// The base-ten logarithms of one to nine.
const LOG10: [f64; 9] = [
    0.0,
    std::f64::consts::LOG10_2,
    0.477_121_254_719_662_44,
    0.602_059_991_327_962_4,
    0.698_970_004_336_018_8,
    0.778_151_250_383_643_6,
    0.845_098_040_014_256_8,
    0.903_089_986_991_943_5,
    0.954_242_509_439_324_9,
];

/// The extent itself, or an extent around it when its ends differ by less than labels can tell.
/// `margin` is called with the largest magnitude.
fn widened((low, high): (f64, f64), margin: impl Fn(f64) -> f64) -> (f64, f64) {
    let size = low.abs().max(high.abs());
    if high - low > 1e-9 * size {
        return (low, high);
    }
    (low - margin(size), high + margin(size))
}

/// Labels for a linear axis, all with the same number of decimals, or all with a power of ten
/// when they are very large or very small.
fn linear_labels(places: &[Decimal]) -> Vec<Label> {
    let nonzero = places.iter().filter(|place| place.digits != 0);
    let largest = nonzero.map(|place| place.magnitude()).max().unwrap_or(0);
    let written_out = (-3..=5).contains(&largest);
    let label = |&place: &Decimal| {
        if written_out || place.digits == 0 {
            let place = if written_out { place } else { ZERO };
            return Label { body: place.plain(), superscript: String::new() };
        }
        let (mantissa, exponent) = place.scientific();
        Label { body: format!("{mantissa}×10"), superscript: integer(exponent.into()) }
    };
    places.iter().map(label).collect()
}

/// The label of a power of ten.
fn power(exponent: Decimal) -> Label {
    let superscript = match exponent.scientific() {
        (mantissa, magnitude) if magnitude > 6 => format!("{mantissa}e{magnitude}"),
        _ => exponent.plain(),
    };
    Label { body: "10".into(), superscript }
}

/// Zero with no decimals.
const ZERO: Decimal = Decimal { digits: 0, exponent: 0 };

#[cfg(test)]
mod tests {
    use super::*;

    /// The labels on an axis with the given extent, superscripts after a caret.
    fn labels(scale: Scale, low: f64, high: f64) -> Vec<String> {
        let ruler = Ruler::new(&scale, [low, high].into_iter(), 7);
        let text = |tick: Tick| match tick.label {
            Label { body, superscript } if superscript.is_empty() => body,
            Label { body, superscript } => format!("{body}^{superscript}"),
        };
        ruler.ticks.into_iter().map(text).collect()
    }

    #[test]
    fn a_linear_axis_has_clean_labels() {
        let tenths = ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"];
        assert_eq!(labels(Scale::Linear, 0.0, 1.0), tenths);
        assert_eq!(labels(Scale::Linear, 0.3, 9.9).first().unwrap(), "0");
        assert_eq!(
            labels(Scale::Linear, -3e7, 3e7),
            ["−3×10^7", "−2×10^7", "−1×10^7", "0", "1×10^7", "2×10^7", "3×10^7"]
        );
    }

    #[test]
    fn a_log_axis_labels_decades() {
        assert_eq!(
            labels(Scale::Log10, -5.2, 0.0),
            ["10^−6", "10^−5", "10^−4", "10^−3", "10^−2", "10^−1", "10^0"]
        );
    }

    #[test]
    fn a_long_log_axis_steps_over_decades() {
        assert_eq!(
            labels(Scale::Log10, -1e6, 0.0),
            ["10^−1000000", "10^−800000", "10^−600000", "10^−400000", "10^−200000", "10^0"]
        );
        assert_eq!(labels(Scale::Log10, -2e9, 0.0)[0], "10^−2e9");
    }

    #[test]
    fn a_short_log_axis_has_minor_ticks_at_multiples() {
        let ruler = Ruler::new(&Scale::Log10, [-2.0, 0.0].into_iter(), 7);
        assert_eq!(ruler.ticks.len(), 3);
        assert_eq!(ruler.minor.len(), 16);
        assert!((ruler.minor[0] - 0.02f64.log10()).abs() < 1e-12);
        let long = Ruler::new(&Scale::Log10, [-5.0, 0.0].into_iter(), 7);
        assert!(long.minor.is_empty());
    }

    #[test]
    fn a_log_axis_within_a_decade_labels_multiples_then_fractional_powers() {
        let multiples = ["2×10^−5", "3×10^−5", "4×10^−5"];
        assert_eq!(labels(Scale::Log10, -4.69, -4.41), multiples);
        let fractions = labels(Scale::Log10, -4.5, -4.494);
        assert_eq!(fractions[0], "10^−4.500");
        assert!(fractions.len() >= 3);
    }

    #[test]
    fn the_logarithms_are_those_of_one_to_nine() {
        for (index, value) in LOG10.iter().enumerate() {
            assert!((value - ((index + 1) as f64).log10()).abs() < 1e-15);
        }
    }

    #[test]
    fn every_axis_covers_its_data_with_two_labels_or_more() {
        let ends = [-1e300, -1e6, -7.3, -1.0, -1e-9, 0.0, 1e-290, 0.3, 1.0, 1.0001, 12.5, 1e18];
        for scale in &[Scale::Linear, Scale::Log10] {
            for (low, high) in ends.iter().flat_map(|a| ends.iter().map(move |b| (*a, *b))) {
                let ruler = Ruler::new(scale, [low, high].into_iter(), 7);
                let slack = 1e-6 * (ruler.high - ruler.low);
                assert!(ruler.low <= low.min(high) + slack, "{scale:?} {low} {high}");
                assert!(ruler.high >= low.max(high) - slack, "{scale:?} {low} {high}");
                assert!((2..=10).contains(&ruler.ticks.len()), "{scale:?} {ruler:?}");
            }
        }
    }

    #[test]
    fn constant_data_is_in_the_middle() {
        for (scale, value) in [(Scale::Linear, 5.0), (Scale::Linear, 0.0), (Scale::Log10, -5.0)] {
            let ruler = Ruler::new(&scale, [value].into_iter(), 7);
            assert!((ruler.fraction(value) - 0.5).abs() < 1e-9);
        }
    }

    #[test]
    fn a_difference_that_labels_cannot_tell_is_drawn_as_none() {
        assert_eq!(labels(Scale::Linear, 5.0, 5.0 + 1e-14), labels(Scale::Linear, 5.0, 5.0));
        assert_eq!(labels(Scale::Linear, 5.0, 5.0 + 1e-7)[0], "5.00000000");
    }

    #[test]
    fn only_finite_coordinates_are_drawable() {
        assert_eq!(drawable(f64::NAN), None);
        assert_eq!(drawable(f64::NEG_INFINITY), None);
        assert_eq!(drawable(f64::MAX), Some(1e300));
        assert_eq!(drawable(5e-324), Some(0.0));
        assert_eq!(drawable(0.25), Some(0.25));
    }
}
