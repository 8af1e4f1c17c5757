//! What can be wrong with a caller's numbers.

/// Why a quantity, a law or a kernel was refused. Each message names the quantity, its value, and what is accepted.
///
/// ```
/// use dobrushin::{Epsilon, Error};
///
/// let refused = Epsilon::new(-1.0);
/// assert!(matches!(refused, Err(Error::OutOfRange { name: "epsilon", .. })));
/// let message = refused.err().map(|error| error.to_string());
/// assert_eq!(message.as_deref(), Some("epsilon is -1, but it must be 0 or more"));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number outside its range.
    #[error("{name} is {}, but it must be {accepted}", readable(*value))]
    OutOfRange {
        /// The name of the quantity.
        name: &'static str,
        /// The value that was given.
        value: f64,
        /// The values that are accepted.
        accepted: &'static str,
    },
    /// A law or a kernel with no outcomes, or a kernel with no rows.
    #[error("{what} is empty: it needs at least one {missing}")]
    Empty {
        /// The name of the object.
        what: String,
        /// What it lacks.
        missing: &'static str,
    },
    /// A probability that is negative, above 1, NaN or infinite.
    #[error("{place} is {}: a probability must be between 0 and 1", readable(*value))]
    NotAProbability {
        /// Its position.
        place: String,
        /// Its value.
        value: f64,
    },
    /// Probabilities that do not sum to 1.
    #[error(
        "{what} sums to {sum}, {excess:+.2e} away from 1, and at most ±{tolerance:e} is allowed: \
         correct it, or divide it by its sum"
    )]
    SumNotOne {
        /// The name of the law.
        what: String,
        /// The sum of its probabilities.
        sum: f64,
        /// `sum − 1`.
        excess: f64,
        /// The largest |sum − 1| that is treated as rounding.
        tolerance: f64,
    },
    /// Rows or laws of different lengths.
    #[error("{what} has {found} entries, but {expected} were expected, as in {like}")]
    LengthMismatch {
        /// The name of the row or law.
        what: String,
        /// How many entries it has.
        found: usize,
        /// How many it should have.
        expected: usize,
        /// What it is compared with.
        like: String,
    },
    /// A kernel with a single input.
    #[error(
        "the kernel has only one row: contraction compares the outputs at two inputs, \
         so add a row for every other input"
    )]
    OneInput,
    /// Kernels that cannot be composed.
    #[error(
        "the kernels do not fit together: the first has {outputs} outputs and the second {inputs} inputs"
    )]
    CannotCompose {
        /// The number of outputs of the first kernel.
        outputs: usize,
        /// The number of inputs of the second.
        inputs: usize,
    },
    /// A name that stands for nothing.
    #[error("there is no {what} {name:?}; one of: {known}")]
    UnknownName {
        /// What was to be named.
        what: &'static str,
        /// The name that was given.
        name: String,
        /// The names that are known.
        known: &'static str,
    },
    /// A mechanism, a way of sampling and a neighbouring relation for which this crate knows no dominating pair.
    #[error("{combination} is not supported: {reason}; the nearest supported is {nearest}")]
    Unsupported {
        /// What was asked for.
        combination: String,
        /// Why it is not available.
        reason: &'static str,
        /// What to ask for instead.
        nearest: &'static str,
    },
}

/// Writes a number without hundreds of zeros.
fn readable(value: f64) -> String {
    if value == 0.0 || !value.is_finite() || (1e-4..1e9).contains(&value.abs()) {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}
