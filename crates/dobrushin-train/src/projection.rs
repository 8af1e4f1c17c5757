//! Sets that iterates are projected to.

/// A closed convex set of parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Projection {
    /// Norm at most the radius.
    Ball {
        /// The radius.
        radius: f64,
    },
    /// Every parameter between the two.
    Box {
        /// The smallest.
        lower: f64,
        /// The largest.
        upper: f64,
    },
    /// No parameter negative, their sum the scale.
    Simplex {
        /// The sum.
        scale: f64,
    },
}
