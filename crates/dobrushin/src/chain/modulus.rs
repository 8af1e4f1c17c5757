//! How far apart two iterates can be after the same update.

use crate::{Enclosure, Error, NonNegative};

/// A line z ↦ slope·z + offset above a modulus.
///
/// ```
/// use dobrushin::Enclosure;
/// use dobrushin::chain::Piece;
///
/// let line = Piece::new(0.5, 1.0)?;
/// assert_eq!(line.at(Enclosure::from(4.0)), Enclosure::from(3.0));
/// assert_eq!(line.raised(Enclosure::ONE), Piece::new(0.5, 2.0)?);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    slope: Enclosure,
    offset: Enclosure,
}

impl Piece {
    /// # Errors
    /// [`Error::OutOfRange`] unless both are finite and 0 or more.
    pub fn new(slope: f64, offset: f64) -> Result<Self, Error> {
        let finite = |name, value: f64| match NonNegative::new(value) {
            Ok(number) if value < f64::INFINITY => Ok(Enclosure::from(number)),
            _ => Err(Error::OutOfRange { name, value, accepted: "finite and 0 or more" }),
        };
        Ok(Self { slope: finite("slope", slope)?, offset: finite("offset", offset)? })
    }

    /// A line whose slope and offset are enclosed; negative parts are cut off.
    pub fn enclosed(slope: Enclosure, offset: Enclosure) -> Self {
        Self { slope: slope.positive_part(), offset: offset.positive_part() }
    }

    /// The factor of the distance.
    pub fn slope(self) -> Enclosure {
        self.slope
    }

    /// The number added to it.
    pub fn offset(self) -> Enclosure {
        self.offset
    }

    /// The line at a distance.
    pub fn at(self, distance: Enclosure) -> Enclosure {
        if self.slope == Enclosure::ZERO { self.offset } else { self.slope * distance + self.offset }
    }

    /// The line, raised.
    #[must_use]
    pub fn raised(self, by: Enclosure) -> Self {
        Self { slope: self.slope, offset: self.offset + by }
    }
}

/// ω with ‖ψ(x) − ψ(y)‖ ≤ ω(‖x − y‖): the least of several lines; ∞ if none is known.
///
/// ```
/// use dobrushin::Enclosure;
/// use dobrushin::chain::{Modulus, Piece};
///
/// // An update that at most doubles distances, and moves no two iterates more than 3 farther apart.
/// let modulus = Modulus::new(vec![Piece::new(2.0, 0.0)?, Piece::new(1.0, 3.0)?]);
/// assert_eq!(modulus.at(Enclosure::from(1.0)), Enclosure::from(2.0));
/// assert_eq!(modulus.at(Enclosure::from(10.0)), Enclosure::from(13.0));
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Modulus {
    pieces: Vec<Piece>,
}

impl Modulus {
    /// The least of the lines.
    pub fn new(pieces: Vec<Piece>) -> Self {
        Self { pieces }
    }

    /// The lines.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// ω at a distance.
    pub fn at(&self, distance: Enclosure) -> Enclosure {
        self.pieces.iter().fold(Enclosure::INFINITE, |least, piece| least.min(piece.at(distance)))
    }
}
