//! What declared bounds say of a loss.

/// What holds for every record within the bounds, and every parameter within reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constants {
    /// L: the largest norm of a record's gradient, rounded up; none if it may be any.
    pub lipschitz: Option<f64>,
    /// β: the Lipschitz constant of the gradient that is used, rounded up; none if nothing is known.
    pub smoothness: Option<f64>,
    /// Whether the loss is convex.
    pub convex: bool,
    /// Whether it depends on one score ⟨w, x⟩, so that clipped gradients are those of a convex function.
    pub generalised_linear: bool,
}
