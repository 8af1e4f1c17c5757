//! One step of two neighbouring runs.

use crate::error::LARGEST;
use crate::{Error, Interval, Map};

/// The interval may be at most this many noise scales long.
const MOST_CELLS: usize = 20_000;

/// The noise that a step adds.
///
/// ```
/// use dobrushin::{Gamma, profile::Direction};
/// use dobrushin_audit::{Interval, Map, Noise, OneDimensionalChain, Step};
///
/// // Laplace noise of scale 1 and maps 1 apart: nothing is left at ε = 1.
/// let step = Step::always(Noise::Laplace(1.0), Map::affine(1.0, 0.5)?, Map::affine(1.0, -0.5)?);
/// let chain = OneDimensionalChain { interval: Interval::new(-20.0, 20.0)?, start: 0.0, steps: vec![step] };
/// let exact = chain.laws()?.hockey_stick(Direction::Forward, Gamma::from_epsilon(1.0)?);
/// assert!(exact.upper() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// Normal, with this standard deviation.
    Gaussian(f64),
    /// Laplace, with density e^(−|y|/v)/(2v) for this v.
    Laplace(f64),
}

impl Noise {
    /// The standard deviation, or v.
    pub(crate) fn scale(self) -> f64 {
        match self {
            Self::Gaussian(scale) | Self::Laplace(scale) => scale,
        }
    }
}

/// One step: W becomes Π(ψ(W) + noise).
///
/// With the given probability the record takes part: ψ is `first` for neighbour D and `second`
/// for neighbour D′. Otherwise ψ is `common` for both.
///
/// ```
/// use dobrushin_audit::{Map, Noise, Step};
///
/// let never = Step::never(Noise::Gaussian(1.0), Map::identity());
/// let always = Step::always(Noise::Gaussian(1.0), Map::constant(1.0)?, Map::constant(-1.0)?);
/// assert_eq!((never.probability, always.probability), (0.0, 1.0));
/// # Ok::<(), dobrushin_audit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The noise that is added.
    pub noise: Noise,
    /// The map without the record.
    pub common: Map,
    /// The map of D with the record.
    pub first: Map,
    /// The map of D′ with the record.
    pub second: Map,
    /// The probability that the record takes part.
    pub probability: f64,
}

impl Step {
    /// A step in which the record takes no part.
    pub fn never(noise: Noise, common: Map) -> Self {
        let (first, second) = (common.clone(), common.clone());
        Self { noise, common, first, second, probability: 0.0 }
    }

    /// A step in which the record certainly takes part.
    pub fn always(noise: Noise, first: Map, second: Map) -> Self {
        Self { noise, common: first.clone(), first, second, probability: 1.0 }
    }

    /// The scale of the noise.
    pub(crate) fn noise_scale(&self) -> f64 {
        self.noise.scale()
    }

    /// The probabilities of `common`, and of `first` or `second`.
    pub(crate) fn chances(&self) -> [f64; 2] {
        [1.0 - self.probability, self.probability]
    }

    /// The maps that are used at all, each with its probability for D and for D′.
    pub(crate) fn active(&self) -> impl Iterator<Item = (&Map, [f64; 2])> {
        let [absent, present] = self.chances();
        let maps =
            [(&self.common, [absent, absent]), (&self.first, [present, 0.0]), (&self.second, [0.0, present])];
        maps.into_iter().filter(|(_, chances)| chances.iter().any(|&chance| chance > 0.0))
    }

    pub(crate) fn check(&self, interval: Interval, number: usize) -> Result<(), Error> {
        let scale = self.noise.scale();
        if !(1.0 / LARGEST..=LARGEST).contains(&scale) {
            let accepted = "between 1e-100 and 1e100";
            return Err(Error::OutOfRange { name: "noise", value: scale, accepted });
        }
        if !(0.0..=1.0).contains(&self.probability) {
            let (value, accepted) = (self.probability, "between 0 and 1");
            return Err(Error::OutOfRange { name: "probability", value, accepted });
        }
        let cells = interval.length() / scale;
        if cells > MOST_CELLS as f64 {
            let nodes = cells.min(1e18) as usize;
            return Err(Error::TooFine { step: number, nodes, most: MOST_CELLS });
        }
        Ok(())
    }
}
