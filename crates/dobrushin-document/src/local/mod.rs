//! Local privacy: what people may answer, the mechanisms that make reports of it, and what reports tell.

mod answers;
mod bounds;
mod estimate;
mod keyed;
mod mechanism;
mod plan;
mod profile;
mod reports;

pub use answers::{Categories, Found, NUMBER, number, refusal, whole};
pub use bounds::{BoundsWishes, bounds};
pub use estimate::{EstimateMethod, EstimateWishes, Part, Tally, estimate};
pub use keyed::{Keys, on_keyed_categories, on_keyed_numbers, on_keyed_vectors};
pub use mechanism::{Answers, Id, Mechanism, Specification};
pub use plan::{PlanWishes, plans};
pub use profile::{ProfileWishes, profile};
pub use reports::{Batch, on_categories, on_numbers, on_vectors};
