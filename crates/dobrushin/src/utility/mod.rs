//! How good the released model of a run is, in expectation: bounds on its excess risk or regret.
//!
//! [`of`] bounds the utility of a [`crate::run::Run`]; [`Descent`] is the theorem behind it, for any noisy projected
//! descent; [`prescribe`] contains the papers' theorems that choose the noise and the learning rate for a given privacy
//! level, [`Request`] turns one of them into a run that is confirmed, and [`least_excess`] says what no private algorithm
//! can do better. A bound is an [`crate::Enclosure`] whose upper end is guaranteed (for [`least_excess`]: the lower one).
//!
//! ```
//! use dobrushin::Positive;
//! use dobrushin::utility::{Descent, GradientStep, Ground};
//!
//! // 10000 steps of rate 0.01 with gradients of second moment 26 on a set of diameter 2.
//! let ground = Ground { diameter: Positive::new(2.0)?, lipschitz: Positive::new(1.0)? };
//! let step = GradientStep { rate: 0.01.into(), second_moment: 26.0.into() };
//! let excess = Descent::equal(ground, 10_000, step).average(1..=10_000);
//! assert!((excess.upper() - 0.15).abs() < 1e-4);
//! # Ok::<(), dobrushin::Error>(())
//! ```

mod descent;
mod lower_bound;
pub mod prescribe;
mod prescribed;
mod report;
mod setting;
mod smoothing;
mod sums;

pub use descent::{Descent, GradientStep, Ground};
pub use lower_bound::{Learner, LowerBound, least_excess};
pub use prescribed::{Prescribed, Published, Request, Scheme};
pub use report::{Best, BestRate, Entry, Utility, of};
pub use setting::Measure;
pub use smoothing::{Smoothing, smoothing};
