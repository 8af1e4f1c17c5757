//! The piecewise mechanism or one bit, chosen at random.

use super::profile::Outcomes;
use super::{Bounds, Grid, MeanMechanism, OneBit, Piecewise, Target, bounded};
use crate::profile::LocalProfile;
use dobrushin::kernel::FiniteKernel;
use dobrushin::numeric::bits::{Coin, RandomBits};
use dobrushin::{Enclosure, Epsilon, Error, Positive};
use std::sync::Arc;

/// [`Piecewise`] with probability w, else [`OneBit`] (Wang et al. 2019): w = 1 − e^(−ε/2) above ε = 0.61, and w = 0 up
/// to there, minimise the largest variance.
///
/// # Guarantee
/// The report may reveal which of the two was used. Each mechanism distinguishes the two bounds best, so the profile is
/// the mean of the two profiles. (If the two have a report in common, it is a bound.)
///
/// ```
/// use dobrushin::Epsilon;
/// use dobrushin_local::mean::{Bounds, Hybrid, MeanMechanism, OneBit, Piecewise, Target};
///
/// // Its largest variance is below that of either of its parts.
/// let (bounds, epsilon) = (Bounds::new(-1.0, 1.0)?, Epsilon::new(2.0)?);
/// let worst = |mechanism: &dyn MeanMechanism| mechanism.worst_variance(Target::Records).upper();
/// let hybrid = worst(&Hybrid::new(bounds, epsilon)?);
/// assert!(hybrid < worst(&OneBit::new(bounds, epsilon)?) && hybrid < worst(&Piecewise::new(bounds, epsilon)?));
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Hybrid {
    piecewise: Piecewise,
    one_bit: OneBit,
    choice: Coin,
}

/// Below this ε, one bit alone is better.
const LEAST_EPSILON: f64 = 0.61;

impl Hybrid {
    /// Calibrated to ε.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless ε is between 1e-6 and 1000.
    pub fn new(bounds: Bounds, epsilon: Epsilon) -> Result<Self, Error> {
        Self::on(Grid::new(bounds, 30)?, epsilon)
    }

    /// The same with the piecewise mechanism on any grid.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless ε is between 1e-6 and 1000.
    pub fn on(grid: Grid, epsilon: Epsilon) -> Result<Self, Error> {
        let (piecewise, one_bit) = (Piecewise::on(grid, epsilon)?, OneBit::new(grid.bounds(), epsilon)?);
        let share = if epsilon.get() > LEAST_EPSILON { -(-epsilon.get() / 2.0).exp_m1() } else { 0.0 };
        let choice = Coin::from_threshold((share * 2f64.powi(64)) as u64);
        Ok(Self { piecewise, one_bit, choice })
    }

    /// w·piecewise + (1 − w)·one bit.
    fn mixed(&self, piecewise: Enclosure, one_bit: Enclosure) -> Enclosure {
        let share = self.choice.probability();
        share * piecewise + (Enclosure::ONE - share) * one_bit
    }
}

impl MeanMechanism for Hybrid {
    fn id(&self) -> &'static str {
        "hybrid"
    }

    fn bounds(&self) -> Bounds {
        self.one_bit.bounds()
    }

    fn privacy(&self) -> LocalProfile {
        let share = self.choice.probability();
        let parts = vec![self.piecewise.outcome(share), self.one_bit.outcome(Enclosure::ONE - share)];
        LocalProfile::new(Arc::new(Outcomes(parts)))
    }

    fn channel(&self) -> Option<FiniteKernel> {
        let share = self.choice.probability().midpoint();
        let steps = self.piecewise.grid().steps() as f64;
        let rows = self.piecewise.rows()?.enumerate().map(|(point, row)| {
            let bit = self.one_bit.row(point as f64 / steps);
            let either = row.iter().map(|p| share * p).chain(bit.iter().map(|p| (1.0 - share) * p));
            either.collect()
        });
        FiniteKernel::new(rows.collect()).ok()
    }

    fn privatise(&self, value: f64, bits: &mut dyn RandomBits) -> f64 {
        if self.choice.toss(bits) {
            self.piecewise.privatise(value, bits)
        } else {
            self.one_bit.privatise(value, bits)
        }
    }

    /// Both are unbiased, so variances are mixed as well.
    fn variance(&self, value: f64) -> Enclosure {
        self.mixed(self.piecewise.variance(value), self.one_bit.variance(value))
    }

    /// For a law: the largest second moment about the middle. For a single value, the two are largest at different
    /// places, and their sum is c²(w(1/κ − 1) − (1 − w)) plus a constant, up to rounding: it is largest at the bounds
    /// or in the middle.
    fn worst_variance(&self, of: Target) -> Enclosure {
        let mixed =
            self.mixed(self.piecewise.worst_variance(Target::Population), self.one_bit.worst_variance(of));
        match of {
            Target::Population => mixed,
            Target::Records => {
                let bounds = self.bounds();
                let middle = bounds.lower().midpoint(bounds.upper());
                let seen = self.variance(bounds.lower()).max(self.variance(middle));
                seen + self.choice.probability() * self.piecewise.rounding()
            }
        }
    }

    fn range(&self) -> Option<(f64, f64)> {
        let wider = |(a, b): (f64, f64), (c, d): (f64, f64)| (a.min(c), b.max(d));
        Some(wider(self.piecewise.range()?, self.one_bit.range()?))
    }

    fn log_moment(&self, t: Positive, of: Target) -> Enclosure {
        bounded::log_moment(self, t.into(), of)
    }
}
