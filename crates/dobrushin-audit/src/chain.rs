//! Chains: what two neighbouring runs of a noisy iteration do.

use crate::error::{LARGEST, moderate};
use crate::mixture::Mixture;
use crate::{Error, Interval, Laws, Map};

/// The most noise scales that the interval may be long.
const MOST_CELLS: usize = 20_000;

/// The noise that a step adds.
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
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What is added.
    pub noise: Noise,
    /// The map without the record.
    pub common: Map,
    /// The map of D with the record.
    pub first: Map,
    /// The map of D′ with the record.
    pub second: Map,
    /// How likely the record takes part.
    pub probability: f64,
}

impl Step {
    /// The record takes no part.
    pub fn never(noise: Noise, common: Map) -> Self {
        let (first, second) = (common.clone(), common.clone());
        Self { noise, common, first, second, probability: 0.0 }
    }

    /// The record takes part for certain.
    pub fn always(noise: Noise, first: Map, second: Map) -> Self {
        Self { noise, common: first.clone(), first, second, probability: 1.0 }
    }

    /// The chances of `common`, and of `first` or `second`.
    pub(crate) fn chances(&self) -> [f64; 2] {
        [1.0 - self.probability, self.probability]
    }

    /// The maps that are used at all, each with its chance for D and for D′.
    pub(crate) fn active(&self) -> impl Iterator<Item = (&Map, [f64; 2])> {
        let [absent, present] = self.chances();
        let maps =
            [(&self.common, [absent, absent]), (&self.first, [present, 0.0]), (&self.second, [0.0, present])];
        maps.into_iter().filter(|(_, chances)| chances.iter().any(|&chance| chance > 0.0))
    }

    fn check(&self, interval: Interval, number: usize) -> Result<(), Error> {
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

/// W₀ = start and W_t = Π(ψ_t(W_{t−1}) + noise_t), where Π projects onto the interval, for two
/// neighbours. Noise and participation of different steps are independent and hidden.
#[derive(Clone, Debug, PartialEq)]
pub struct OneDimensionalChain {
    /// Where the iterates live.
    pub interval: Interval,
    /// The common start.
    pub start: f64,
    /// What happens, in order.
    pub steps: Vec<Step>,
}

impl OneDimensionalChain {
    /// The laws of the last iterate.
    ///
    /// # Errors
    /// If the chain has no steps, a number is out of range, Laplace noise follows a map that is
    /// not piecewise constant (after the first step), or the noise is too small for the interval.
    pub fn laws(&self) -> Result<Laws, Error> {
        self.run(|_| ()).map(|last| Laws::new(self.interval, vec![last]))
    }

    /// The laws of W_1, …, W_T.
    ///
    /// # Errors
    /// As [`OneDimensionalChain::laws`].
    pub fn laws_at_all_times(&self) -> Result<Vec<Laws>, Error> {
        let mut all = Vec::with_capacity(self.steps.len());
        self.run(|mixture| all.push(Laws::new(self.interval, vec![mixture.clone()])))?;
        Ok(all)
    }

    /// Shows the laws after each step, and returns the last.
    fn run(&self, mut see: impl FnMut(&Mixture)) -> Result<Mixture, Error> {
        let start = moderate("start", self.start)?;
        if !self.interval.contains(start) {
            let accepted = "in the interval";
            return Err(Error::OutOfRange { name: "start", value: start, accepted });
        }
        let first = self.steps.first().ok_or(Error::Empty("step"))?;
        self.steps.iter().zip(1..).try_for_each(|(step, number)| step.check(self.interval, number))?;
        let mut mixture = Mixture::from_point(start, first);
        see(&mixture);
        for (step, number) in self.steps.iter().skip(1).zip(2..) {
            mixture = mixture.advance(self.interval, step, number)?;
            see(&mixture);
        }
        Ok(mixture)
    }
}
