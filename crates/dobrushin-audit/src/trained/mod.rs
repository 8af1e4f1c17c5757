//! Attacks on models that are trained here.
//!
//! An auditor trains many models on a table with a record and many on its neighbour without it, looks at nothing but
//! what is released, and tries to tell the two apart. A guarantee is for the worst record and the worst losses, so
//! the attacks are about those: an [`Attack`] crafts the gradient of one record, and perhaps those of the others. All
//! else is what [`dobrushin_train::Plan::train`] does.
//!
//! ```
//! use dobrushin::{Order, Positive, Progress, Release, Run};
//! use dobrushin_audit::trained::{Attack, Kind, collect};
//! use dobrushin_train::loss::Logistic;
//! use dobrushin_train::{Bounds, Description, Model, Plan, Table, Target};
//!
//! let run = Run::gradient_descent(10).steps(5).release(Release::Last);
//! let run = run.learning_rate(0.5).clip_norm(1.0).noise_multiplier(1.0).build()?;
//! let bounds = Bounds { dimension: 3, norm: Positive::new(1.0)?, target: Target::Classes(2) };
//! let plan = Plan::new(Description {
//!     training: run.as_training().ok_or("it is an iteration")?.clone(),
//!     model: Model::Linear { loss: Logistic.into(), features: 3 },
//!     bounds,
//!     projection: None,
//!     loss_bound: Positive::new(1.0)?,
//! })?;
//! let mut table = Table::new(bounds, 1);
//! for record in 0..10_u8 {
//!     table.push(&[0.5, f32::from(record) / 20.0, 0.0], &[f32::from(record % 2)]);
//! }
//! let attack = Attack::new(Kind::EveryStep, &plan, &table, None);
//! let score = |world, seed| Ok(attack.score(&plan, &attack.train(&plan, world, seed)?));
//! let scores = collect(Kind::EveryStep.id(), 100, 1, None, &Progress::default(), score)?;
//! // The record pushes by 1/20 in one direction in each of five steps, or in the other; the noise is as large.
//! let mean = |scores: &[f64]| scores.iter().sum::<f64>() / scores.len() as f64;
//! assert!(mean(&scores.with) > 0.15 && mean(&scores.without) < -0.15);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod attack;
mod canaries;
mod collect;
mod forget;
mod keep;
mod quiet;
mod ratio;
mod state;
mod uses;

pub use attack::{Attack, Kind};
pub use canaries::CanaryAttack;
pub use collect::{AuditError, collect};
pub use state::{State, digest};

/// Which of the two neighbouring tables a model is trained on.
///
/// ```
/// use dobrushin_audit::trained::World;
///
/// assert_eq!(World::BOTH.map(World::word), ["with", "without"]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum World {
    /// The one with the record.
    With,
    /// Its neighbour: the record is absent or empty, or its opposite is in its place, as the run's neighbours are.
    Without,
}

impl World {
    /// Both of them.
    pub const BOTH: [Self; 2] = [Self::With, Self::Without];

    /// Its word in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::With => "with",
            Self::Without => "without",
        }
    }
}
