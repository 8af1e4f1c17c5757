//! Private training: models whose last iterate is released, each with the run that the accountant sees.
//!
//! Everything starts from a [`Plan`]. It is built from the numbers of a run, a [`Model`], the [`Bounds`] of the data
//! and a [`Projection`]. It derives what the accountant may assume (Lipschitz constant, smoothness, diameter), and the
//! same plan then trains. You cannot train without it, and you cannot hand the accountant anything else.

mod bounds;
mod centre;
pub mod choose;
mod crafted;
mod descent;
mod digits;
mod enforcement;
mod evaluate;
mod extent;
mod gradient;
mod kept;
mod keyed;
pub mod loss;
mod model;
mod noise;
mod paid;
mod plan;
mod projection;
mod quality;
mod random;
mod records;
mod regret;
mod schedule;
pub mod schema;
mod table;

pub use bounds::{Bounds, Target};
pub use crafted::{Canary, Crafted, CraftedGradient};
pub use descent::Released;
pub use enforcement::enforcement;
pub use evaluate::{Metrics, evaluate};
pub use kept::Kept;
pub use keyed::{RowBits, RowSecret};
pub use loss::{Loss, Prediction};
pub use model::{Constants, Model};
pub use paid::PrivateMetrics;
pub use plan::{Description, Plan};
pub use projection::Projection;
pub use quality::{ClassQuality, NumberQuality, Quality, quality};
pub use random::{Bits, Generators, NoRandomness, Seed};
pub use records::{Records, TrainError};
pub use regret::Regret;
pub use table::{Enforced, Table};
