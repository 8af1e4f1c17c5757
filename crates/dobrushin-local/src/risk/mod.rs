//! The smallest error that is possible under local privacy.
//!
//! Every bound is a *lower* bound with an explicit constant: the lower end of its [`Enclosure`] is proved, for every
//! estimator and every choice of channels that keep the promise, even if a channel is chosen after earlier reports have
//! been seen (sequential interaction). [`Reports`] contains the contraction of each report, from a promise or from a
//! channel; [`TwoPoints`], [`MomentClass`], [`Ball`], [`Frequencies`], [`Testing`], [`Family`] and [`BayesProblem`]
//! turn it into bounds, and [`Task::bounds`] gives all that apply. [`own`] answers questions about laws of one's own.

mod ball;
mod bayes;
mod coins;
mod counts;
mod fano;
mod frequency;
mod hypercube;
mod indistinguishable;
mod moments;
mod observed;
pub mod own;
mod pairs;
mod reports;
mod search;
mod summary;
mod testing;
mod two_point;

pub use ball::Ball;
pub use bayes::BayesProblem;
pub use coins::Coins;
pub use fano::Family;
pub use frequency::{Frequencies, FrequencyLoss};
pub use hypercube::Hypercube;
pub use indistinguishable::Indistinguishable;
pub use moments::MomentClass;
pub use reports::{Coefficient, Reports};
pub use summary::{Summary, Task};
pub use testing::Testing;
pub use two_point::{Loss, TwoPoints};

use dobrushin::Enclosure;
use std::num::NonZeroU32;

/// A lower bound on a risk or on a probability of error.
///
/// ```
/// use dobrushin::{Delta, Epsilon, statement};
/// use dobrushin_local::LocalPrivacy;
/// use dobrushin_local::risk::{MomentClass, Reports};
///
/// let reports = Reports::promised(LocalPrivacy { epsilon: Epsilon::new(1.0)?, delta: Delta::new(0.0)? });
/// let bound = MomentClass::new(2.0)?.risk(&reports, 1000.try_into()?);
/// // The theorem can be looked up, and the lower end is what it proves.
/// assert!(statement::find(bound.id).is_some() && bound.value.lower() > 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RiskBound {
    /// The statement that proves it.
    pub id: &'static str,
    /// Its value; the lower end is proved.
    pub value: Enclosure,
    /// The contraction coefficient that gave the best value.
    pub coefficient: Coefficient,
}

/// Sorts bounds, the best first.
fn sorted(mut bounds: Vec<RiskBound>) -> Vec<RiskBound> {
    bounds.sort_by(|a, b| b.value.lower().total_cmp(&a.value.lower()));
    bounds
}

fn number(n: NonZeroU32) -> Enclosure {
    Enclosure::from(f64::from(n.get()))
}

/// (1 − x)^n.
fn kept(x: Enclosure, n: NonZeroU32) -> Enclosure {
    (number(n) * (-x).ln_1p()).exp()
}
