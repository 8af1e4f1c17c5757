//! Chains: what two neighbouring runs of a noisy iteration do.

use crate::error::moderate;
use crate::mixture::Mixture;
use crate::{Error, Interval, Laws, Step};

/// W₀ = start and W_t = Π(ψ_t(W_{t−1}) + noise_t), where Π projects onto the interval, for two
/// neighbours. Noise and participation of different steps are independent and hidden.
///
/// ```
/// use dobrushin::numeric::theta::theta;
/// use dobrushin::{Epsilon, Gamma, NonNegative, profile::Direction};
/// use dobrushin_audit::{Interval, Map, Noise, OneDimensionalChain, Step};
///
/// // One step with noise 1 and maps 1 apart, on an interval that is too long to matter: θ_ε(1).
/// let step = Step::always(Noise::Gaussian(1.0), Map::affine(1.0, 0.5)?, Map::affine(1.0, -0.5)?);
/// let chain = OneDimensionalChain { interval: Interval::new(-20.0, 20.0)?, start: 0.0, steps: vec![step] };
/// let exact = chain.laws()?.hockey_stick(Direction::Forward, Gamma::from_epsilon(1.0)?);
/// assert!((exact.upper() - theta(Epsilon::new(1.0)?, NonNegative::new(1.0)?).upper()).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
    /// The same as for [`OneDimensionalChain::laws`].
    pub fn laws_at_all_times(&self) -> Result<Vec<Laws>, Error> {
        let mut all = Vec::with_capacity(self.steps.len());
        self.run(|mixture| all.push(Laws::new(self.interval, vec![mixture.clone()])))?;
        Ok(all)
    }

    /// The laws of the last iterate of a chain in which each of these steps is made many times.
    ///
    /// # Errors
    /// The same as for [`OneDimensionalChain::laws`].
    ///
    /// ```
    /// use dobrushin::{Gamma, profile::Direction};
    /// use dobrushin_audit::{Interval, Map, Noise, OneDimensionalChain, Step};
    ///
    /// // One step that differs, and a thousand that do not: nothing is left of it.
    /// let noise = Noise::Gaussian(1.0);
    /// let differs = Step::always(noise, Map::affine(1.0, 1.0)?, Map::affine(1.0, -1.0)?);
    /// let steps = [(differs, 1), (Step::never(noise, Map::identity()), 1000)];
    /// let laws = OneDimensionalChain::laws_of_runs(Interval::new(0.0, 3.0)?, 1.5, &steps)?;
    /// assert!(laws.hockey_stick(Direction::Forward, Gamma::ONE).upper() < 1e-9);
    /// # Ok::<(), dobrushin_audit::Error>(())
    /// ```
    pub fn laws_of_runs(interval: Interval, start: f64, steps: &[(Step, u64)]) -> Result<Laws, Error> {
        Self::laws_by(interval, start, steps, Mixture::advance_by_enough)
    }

    /// The same, and no step is left out.
    pub(crate) fn laws_of_all_steps(
        interval: Interval,
        start: f64,
        steps: &[(Step, u64)],
    ) -> Result<Laws, Error> {
        Self::laws_by(interval, start, steps, Mixture::advance_by)
    }

    fn laws_by(
        interval: Interval,
        start: f64,
        steps: &[(Step, u64)],
        advance: impl Fn(Mixture, Interval, &Step, usize, u64) -> Result<Mixture, Error>,
    ) -> Result<Laws, Error> {
        let made: Vec<&(Step, u64)> = steps.iter().filter(|(_, count)| *count > 0).collect();
        let (first, count) = made.first().ok_or(Error::Empty("step"))?;
        let beginning = Self { interval, start, steps: vec![first.clone()] };
        let mut mixture = advance(beginning.run(|_| ())?, interval, first, 2, count - 1)?;
        for ((step, count), number) in made.into_iter().skip(1).zip(2..) {
            step.check(interval, number)?;
            mixture = advance(mixture, interval, step, number, *count)?;
        }
        Ok(Laws::new(interval, vec![mixture]))
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
