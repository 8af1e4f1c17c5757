//! The set onto which the iterates are projected.

use crate::Error;
use crate::error::moderate;

/// A closed interval [lower, upper] of positive length.
///
/// ```
/// use dobrushin_audit::Interval;
///
/// let interval = Interval::new(-1.0, 2.0)?;
/// assert!(interval.length() == 3.0 && interval.contains(0.0) && !interval.contains(3.0));
/// assert!(Interval::new(2.0, -1.0).is_err());
/// # Ok::<(), dobrushin_audit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    lower: f64,
    upper: f64,
}

impl Interval {
    /// The interval with these ends.
    ///
    /// # Errors
    /// If an end is NaN or beyond ±1e100, or the ends do not increase.
    pub fn new(lower: f64, upper: f64) -> Result<Self, Error> {
        let (lower, upper) = (moderate("interval end", lower)?, moderate("interval end", upper)?);
        if lower < upper {
            Ok(Self { lower, upper })
        } else {
            Err(Error::NotIncreasing { what: "the ends of an interval", first: lower, second: upper })
        }
    }

    /// The left end.
    pub fn lower(&self) -> f64 {
        self.lower
    }

    /// The right end.
    pub fn upper(&self) -> f64 {
        self.upper
    }

    /// The length.
    pub fn length(&self) -> f64 {
        self.upper - self.lower
    }

    /// Whether `x` lies in it.
    pub fn contains(&self, x: f64) -> bool {
        self.lower <= x && x <= self.upper
    }
}

/// A tile [centre − half, centre + half].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tile {
    pub(crate) centre: f64,
    pub(crate) half: f64,
}

impl Tile {
    /// The largest magnitude in it. The numbers of a tile are off by at most 2 units of this.
    pub(crate) fn magnitude(self) -> f64 {
        self.centre.abs() + self.half
    }
}

/// Cuts [left, right] into `count` tiles of nearly the same length. They are the tiles of *some* numbers left = e₀ < e₁
/// < … = right, so what one loses by rounding, the next one gains.
pub(crate) fn tiles(left: f64, right: f64, count: usize) -> impl Iterator<Item = Tile> {
    let edge = move |i: usize| {
        if i == count { right } else { left + (right - left) * (i as f64 / count as f64) }
    };
    (0..count).map(move |i| {
        let (from, to) = (edge(i), edge(i + 1));
        Tile { centre: from.midpoint(to), half: (to - from) / 2.0 }
    })
}
