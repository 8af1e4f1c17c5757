//! What can be wrong with a chain, or with the scores of runs.

/// Why a chain, a map, a mixture or the scores of runs were refused.
///
/// ```
/// use dobrushin_audit::{Error, Interval};
///
/// assert!(matches!(Interval::new(1.0, 0.0), Err(Error::NotIncreasing { .. })));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number outside its range.
    #[error("{name} is {value}, but it must be {accepted}")]
    OutOfRange {
        /// Which quantity.
        name: &'static str,
        /// The number that was given.
        value: f64,
        /// What is accepted.
        accepted: &'static str,
    },
    /// Interval ends or breaks that do not increase.
    #[error("{what} must increase, but {second} follows {first}")]
    NotIncreasing {
        /// Ends or breaks.
        what: &'static str,
        /// A number.
        first: f64,
        /// The one after it.
        second: f64,
    },
    /// There must be one piece more than breaks.
    #[error("{breaks} breaks separate {} pieces, but there are {pieces}", breaks + 1)]
    PieceCount {
        /// The number of breaks.
        breaks: usize,
        /// The number of pieces.
        pieces: usize,
    },
    /// A chain without steps, or a mixture without laws.
    #[error("there is no {0}")]
    Empty(&'static str),
    /// A mixture needs one weight for each law.
    #[error("{weights} weights for {laws} laws")]
    WeightCount {
        /// The number of weights.
        weights: usize,
        /// The number of laws.
        laws: usize,
    },
    /// Laws on different intervals cannot be mixed.
    #[error("the laws live on different intervals")]
    DifferentIntervals,
    /// After the first step, Laplace noise is exact only for piecewise constant maps.
    #[error("step {step} has Laplace noise and a map that is not piecewise constant")]
    LaplaceNeedsConstantPieces {
        /// Which step, counted from 1.
        step: usize,
    },
    /// The noise is so small compared with the interval, or a map is so steep or has so many pieces, that too many
    /// nodes are needed.
    #[error("the law of step {step} needs {nodes} nodes, and at most {most} are used")]
    TooFine {
        /// Which step, counted from 1.
        step: usize,
        /// The number of nodes.
        nodes: usize,
        /// The limit.
        most: usize,
    },
    /// A step is repeated too often, and what happened long ago is not forgotten.
    #[error("step {step} is repeated {steps} times, and at most {most} are computed")]
    TooLong {
        /// Which step, counted from 1.
        step: usize,
        /// How often.
        steps: u64,
        /// The limit.
        most: u64,
    },
    /// A score that is NaN, or a parameter of a model that is NaN or infinite.
    #[error("{what} {run} {} is not a number", runs_of(*.with_the_record))]
    NotANumber {
        /// A score, or a parameter of a model.
        what: &'static str,
        /// Whether it is of a run with the record.
        with_the_record: bool,
        /// Which run, counted from 1.
        run: usize,
    },
    /// Too few runs to choose a rule by some and to count others.
    #[error("there are {runs} runs {}, and at least {fewest} are needed", runs_of(*.with_the_record))]
    TooFewRuns {
        /// Whether they are with the record.
        with_the_record: bool,
        /// Their number.
        runs: usize,
        /// The fewest that are accepted.
        fewest: usize,
    },
    /// Models of different numbers of parameters, or of none.
    #[error("model {run} {} has {parameters} parameters, and the first one {expected}", runs_of(*.with_the_record))]
    Parameters {
        /// Whether it is of a run with the record.
        with_the_record: bool,
        /// Which run, counted from 1.
        run: usize,
        /// Its number of parameters.
        parameters: usize,
        /// The number of parameters of the first model.
        expected: usize,
    },
    /// Lists of canaries that do not fit together.
    #[error("{scores} canaries have a score and {included} a coin, and {guesses} guesses were asked for")]
    Canaries {
        /// The number of scores.
        scores: usize,
        /// The number of coins.
        included: usize,
        /// The number of guesses.
        guesses: usize,
    },
}

fn runs_of(with_the_record: bool) -> &'static str {
    if with_the_record { "with the record" } else { "without the record" }
}

/// Magnitudes beyond this are refused, so that no square over- or underflows.
pub(crate) const LARGEST: f64 = 1e100;

/// Checks that a number is finite and not absurdly large.
pub(crate) fn moderate(name: &'static str, value: f64) -> Result<f64, Error> {
    if value.abs() <= LARGEST {
        Ok(value + 0.0)
    } else {
        Err(Error::OutOfRange { name, value, accepted: "between -1e100 and 1e100" })
    }
}
