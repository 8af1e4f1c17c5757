//! What is declared of the records, before any of them is looked at.

use dobrushin::Positive;

/// Bounds that every record is made to obey; see [`crate::Table::push`].
///
/// They are public: declared by whoever knows what the columns mean, never read off private data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// How many features a record has, the intercept included.
    pub dimension: usize,
    /// R: the largest Euclidean norm of a record's features.
    pub norm: Positive,
    /// What a record's target may be.
    pub target: Target,
}

/// What a target may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// A number between the two.
    Range {
        /// The smallest.
        lower: f64,
        /// The largest.
        upper: f64,
    },
    /// One of so many classes, counted from 0.
    Classes(usize),
}

impl Target {
    /// The largest absolute value of a number; 0 for classes.
    pub fn largest(self) -> f64 {
        match self {
            Self::Range { lower, upper } => lower.abs().max(upper.abs()),
            Self::Classes(_) => 0.0,
        }
    }
}
