//! Update maps: piecewise affine, continuous or not.

use crate::Error;
use crate::error::moderate;

/// One affine piece, x ↦ slope·x + intercept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Piece {
    pub(crate) slope: f64,
    pub(crate) intercept: f64,
}

impl Piece {
    pub(crate) fn at(self, x: f64) -> f64 {
        self.slope * x + self.intercept
    }
}

/// A piecewise affine map of the line. At a break the piece to its right applies.
///
/// The map *is* the one with these `f64` slopes, intercepts and breaks: a constructor that has to
/// round gives a map that may jump by a rounding at a break.
///
/// ```
/// use dobrushin_audit::Map;
///
/// // Everything below 0 goes to 0, everything else is halved.
/// let map = Map::new(vec![0.0], vec![(0.0, 0.0), (0.5, 0.0)])?;
/// assert_eq!((map.at(-3.0), map.at(3.0)), (0.0, 1.5));
/// assert_eq!(Map::identity().shifted(1.0)?.at(2.0), 3.0);
/// # Ok::<(), dobrushin_audit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    breaks: Vec<f64>,
    pieces: Vec<Piece>,
}

impl Map {
    /// The map with slope and intercept `pieces[i]` between `breaks[i − 1]` and `breaks[i]`.
    ///
    /// # Errors
    /// Unless there is one piece more than breaks, the breaks increase, and every number is
    /// between −1e100 and 1e100.
    pub fn new(breaks: Vec<f64>, pieces: Vec<(f64, f64)>) -> Result<Self, Error> {
        if pieces.len() != breaks.len() + 1 {
            return Err(Error::PieceCount { breaks: breaks.len(), pieces: pieces.len() });
        }
        for &x in &breaks {
            moderate("break", x)?;
        }
        if let Some(pair) = breaks.windows(2).find(|pair| pair[0] >= pair[1]) {
            let (first, second) = (pair[0], pair[1]);
            return Err(Error::NotIncreasing { what: "the breaks of a map", first, second });
        }
        let piece = |&(slope, intercept): &(f64, f64)| {
            Ok(Piece { slope: moderate("slope", slope)?, intercept: moderate("intercept", intercept)? })
        };
        let pieces = pieces.iter().map(piece).collect::<Result<_, Error>>()?;
        Ok(Self { breaks, pieces })
    }

    /// w ↦ w.
    pub fn identity() -> Self {
        Self { breaks: vec![], pieces: vec![Piece { slope: 1.0, intercept: 0.0 }] }
    }

    /// w ↦ slope·w + intercept.
    ///
    /// # Errors
    /// If a number is NaN or beyond ±1e100.
    pub fn affine(slope: f64, intercept: f64) -> Result<Self, Error> {
        Self::new(vec![], vec![(slope, intercept)])
    }

    /// w ↦ value.
    ///
    /// # Errors
    /// If the value is NaN or beyond ±1e100.
    pub fn constant(value: f64) -> Result<Self, Error> {
        Self::affine(0.0, value)
    }

    /// w ↦ w + size·sign(w − centre), with sign(0) = 1: the worst field of bounded size.
    ///
    /// # Errors
    /// If a number is NaN or beyond ±1e100.
    pub fn sign_push(size: f64, centre: f64) -> Result<Self, Error> {
        Self::new(vec![centre], vec![(1.0, -size), (1.0, size)])
    }

    /// w ↦ w − rate·clip(steepness·(w − centre), ±bound): a gradient step on a Huber loss, which
    /// expands distances if rate·steepness > 2.
    ///
    /// # Errors
    /// If steepness or bound is not positive, or a number that results is beyond ±1e100.
    pub fn steep_huber(centre: f64, steepness: f64, bound: f64, rate: f64) -> Result<Self, Error> {
        for (name, value) in [("steepness", steepness), ("bound", bound)] {
            if value.is_nan() || value <= 0.0 {
                return Err(Error::OutOfRange { name, value, accepted: "positive" });
            }
        }
        let (reach, push) = (bound / steepness, rate * bound);
        let middle = (1.0 - rate * steepness, rate * steepness * centre);
        Self::new(vec![centre - reach, centre + reach], vec![(1.0, push), middle, (1.0, -push)])
    }

    /// w ↦ ψ(w) + by.
    ///
    /// # Errors
    /// If an intercept becomes NaN or exceeds ±1e100.
    pub fn shifted(mut self, by: f64) -> Result<Self, Error> {
        for piece in &mut self.pieces {
            piece.intercept = moderate("intercept", piece.intercept + by)?;
        }
        Ok(self)
    }

    /// w ↦ ψ(w) − by below the centre, and ψ(w) + by from there on.
    ///
    /// # Errors
    /// If a number becomes NaN or exceeds ±1e100.
    pub fn pushed_apart(self, by: f64, centre: f64) -> Result<Self, Error> {
        let place = self.breaks.partition_point(|&b| b < centre);
        let (mut breaks, mut pieces) = (self.breaks, self.pieces);
        if breaks.get(place) != Some(&centre) {
            breaks.insert(place, moderate("break", centre)?);
            pieces.insert(place, pieces[place]);
        }
        for (index, piece) in pieces.iter_mut().enumerate() {
            let by = if index <= place { -by } else { by };
            piece.intercept = moderate("intercept", piece.intercept + by)?;
        }
        Ok(Self { breaks, pieces })
    }

    /// ψ(x), rounded.
    pub fn at(&self, x: f64) -> f64 {
        self.piece(x).at(x)
    }

    /// The piece at `x`.
    pub(crate) fn piece(&self, x: f64) -> Piece {
        self.pieces[self.breaks.partition_point(|&b| b <= x)]
    }

    /// The piece to the left of `x`.
    pub(crate) fn piece_before(&self, x: f64) -> Piece {
        self.pieces[self.breaks.partition_point(|&b| b < x)]
    }

    /// The largest slope, and the sum of all jumps.
    pub(crate) fn steepness(&self) -> (f64, f64) {
        let slope = self.pieces.iter().fold(0.0_f64, |most, piece| most.max(piece.slope.abs()));
        let jump = |(pair, &at): (&[Piece], &f64)| (pair[1].at(at) - pair[0].at(at)).abs() + 1e-15 * at.abs();
        (slope, self.pieces.windows(2).zip(&self.breaks).map(jump).sum())
    }

    /// Where the pieces meet.
    pub(crate) fn breaks(&self) -> &[f64] {
        &self.breaks
    }
}
