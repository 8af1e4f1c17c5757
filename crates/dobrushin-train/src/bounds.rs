//! What is declared about the records, before anybody looks at any of them.

use dobrushin::Positive;

/// Bounds that every record is made to obey; see [`crate::Table::push`].
///
/// They are public: somebody who knows what the columns mean declares them, and they are never read off private data.
///
/// ```
/// use dobrushin::Positive;
/// use dobrushin_train::{Bounds, Target};
///
/// let bounds = Bounds { dimension: 2, norm: Positive::new(1.0)?, target: Target::Classes(2) };
/// let (mut short, mut long) = ([0.3, 0.4], [3.0, 4.0]);
/// assert!(!bounds.scale_down(&mut short) && bounds.scale_down(&mut long));
/// // The direction is kept.
/// assert!(short == [0.3, 0.4] && (long[0] - 0.6).abs() < 1e-6 && (long[1] - 0.8).abs() < 1e-6);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The number of features of a record, including the intercept.
    pub dimension: usize,
    /// R: the largest Euclidean norm of a record's features.
    pub norm: Positive,
    /// What a record's target may be.
    pub target: Target,
}

/// A row that was scaled down stays below the bound when its coordinates are rounded to 24 binary digits.
const MARGIN: f64 = 1.0 - 1.0 / (1 << 21) as f64;

impl Bounds {
    /// Scales features down to the norm if they are longer, and says whether they were.
    ///
    /// # Guarantee
    /// Their Euclidean norm is at most [`Bounds::norm`], if they are finite; shorter features are not changed.
    pub fn scale_down(&self, features: &mut [f32]) -> bool {
        let limit = self.norm.get();
        let norm = features.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt();
        // The sum of squares is rounded.
        if norm > limit * (1.0 - 1e-12) {
            let factor = limit / norm * MARGIN;
            features.iter_mut().for_each(|value| *value = (f64::from(*value) * factor) as f32);
        }
        norm > limit
    }
}

/// What a target may be.
///
/// ```
/// use dobrushin_train::Target;
///
/// assert_eq!(Target::Range { lower: -3.0, upper: 2.0 }.largest(), 3.0);
/// assert_eq!(Target::Classes(10).largest(), 0.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// A number between the two.
    Range {
        /// The smallest.
        lower: f64,
        /// The largest.
        upper: f64,
    },
    /// One of this many classes, counted from 0.
    Classes(usize),
}

impl Target {
    /// The smallest and the largest number of 24 binary digits in the range; `None` for classes.
    pub(crate) fn ends(self) -> Option<(f32, f32)> {
        let Self::Range { lower, upper } = self else {
            return None;
        };
        let (least, most) = (lower as f32, upper as f32);
        let least = if f64::from(least) < lower { least.next_up() } else { least };
        Some((least, if f64::from(most) > upper { most.next_down() } else { most }))
    }

    /// The largest absolute value of a number; 0 for classes.
    pub fn largest(self) -> f64 {
        match self {
            Self::Range { lower, upper } => lower.abs().max(upper.abs()),
            Self::Classes(_) => 0.0,
        }
    }
}
