//! The theorems: from the known facts about a run to a bound on its privacy.
//!
//! Each file contains one theorem. It describes the theorem and says when it applies, or else which assumption fails
//! and which key of a run file would supply it. Theorems know nothing of algorithms: those about hidden states read the
//! release of a chain, and compositions read the steps that an observer of all of them sees. [`ALL`] is the only list
//! of them.

mod allocation;
mod bound;
mod ceiling;
mod composition;
mod contraction;
mod contraction_published;
mod hidden_participation;
mod hybrid;
mod laplace_shift;
mod laps;
mod lines;
mod logs;
mod nonconvex;
mod once;
mod recursion;
mod regularized;
mod shift;
mod shift_renyi;
mod shift_subsampled;
mod statement;
mod strongly_convex;
mod walk;

pub use allocation::{ShiftStep, squared_shift_anywhere, squared_shift_from};
pub use bound::Bound;
pub use ceiling::Ceiling;
pub use composition::{CentralLimit, Effort, ExactComposition, RenyiComposition};
pub(crate) use composition::{gaussian, losses};
pub use contraction::Contraction;
pub use contraction_published::{ContractionPublished, RandomStopPublished, random_stop_closed_form};
pub use hidden_participation::HiddenParticipation;
pub use hybrid::Hybrid;
pub use nonconvex::{NonconvexPublished, nonconvex_epsilon_closed_form};
pub use recursion::Recursion;
pub use regularized::{RegularizedPublished, regularized_delta_at};
pub use shift::Shift;
pub use shift_renyi::ShiftRenyi;
pub use shift_subsampled::ShiftSubsampled;
pub use statement::{Notes, Statement};
pub(crate) use statement::{ced, ncv, pac};
pub use strongly_convex::StronglyConvexRenyi;

use crate::NotApplicable;
use crate::chain::Mixture;
use crate::lower::ComposedPart;
use crate::run::{Assumption, Fact, NoiseKind, missing};
use std::ops::Deref;

/// The description of a theorem. Nothing depends on its name.
///
/// ```
/// use dobrushin::analysis::{Analysis, CentralLimit, Family, Shift};
///
/// assert_eq!((Shift.id(), Shift.family(), Shift.is_rigorous()), ("shift", Family::Shift, true));
/// // An approximation says so.
/// assert!(!CentralLimit.is_rigorous());
/// ```
pub trait Analysis: Send + Sync {
    /// What it says, assumes and corrects.
    fn statement(&self) -> &'static Statement;

    /// The idea behind it.
    fn family(&self) -> Family;

    /// How long it takes to compute.
    fn cost(&self) -> Cost;

    /// The name of its statement.
    fn id(&self) -> &'static str {
        self.statement().id
    }

    /// Whether it is a bound; an approximation is never a guarantee.
    fn is_rigorous(&self) -> bool {
        true
    }

    /// Whether, by default, it is asked about each of thousands of records that are used in turn: no other analysis
    /// dominates it there, and it is not laborious.
    fn suits_each_record(&self) -> bool {
        false
    }

    /// The same, for a run with this noise.
    fn suits_each_record_with(&self, _noise: NoiseKind) -> bool {
        self.suits_each_record()
    }
}

/// The idea behind a theorem.
///
/// ```
/// use dobrushin::analysis::Family;
/// use dobrushin::{Delta, Question, Run};
///
/// let run = Run::gradient_descent(100).steps(10).clip_norm(1.0).noise_multiplier(5.0).build()?;
/// let account = run.account(Question::EpsilonAt(Delta::new(1e-5)?));
/// assert_eq!(account.guarantee()?.family, Family::Composition);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Family {
    /// Everything that is computed counts as published.
    Composition,
    /// The remaining influence of the record is shifted into the noise of later steps.
    Shift,
    /// Noise hides iterates that cannot be far apart, or that later steps bring together.
    Contraction,
}

/// How long a theorem takes to compute, in increasing order.
///
/// ```
/// use dobrushin::analysis::{self, Analysis, Cost};
///
/// // The analyses to ask first where time is short.
/// let quick: Vec<_> = analysis::ALL.iter().filter(|theorem| theorem.cost() < Cost::Laborious).collect();
/// assert!(!quick.is_empty() && quick.len() < analysis::ALL.len());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cost {
    /// No time: it needs no sums on a grid or step by step.
    ClosedForm,
    /// Sums on a grid or step by step, in milliseconds.
    Sums,
    /// A tenth of a second or more.
    Laborious,
}

/// A theorem about the release of a chain: hidden states.
///
/// ```
/// use dobrushin::analysis::about_hidden_states;
/// use dobrushin::{Epsilon, PrivacyProfile, Release, Run};
///
/// let run = Run::pnsgd(10).learning_rate(0.1).lipschitz(1.0).gradient_noise(2.0).release(Release::Last).build()?;
/// let released = run.released()?;
/// let ceiling = about_hidden_states().find(|theorem| theorem.id() == "ceiling").ok_or("it is one of them")?;
/// let profile = ceiling.apply(&released.views[0])?.into_profile();
/// assert!(profile.delta(Epsilon::new(1.0)?).upper() < 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait HiddenStates: Analysis {
    /// Its bound on the released iterate, over all neighbours and in both directions.
    ///
    /// # Errors
    /// [`NotApplicable`] with the assumption that fails.
    fn apply(&self, released: &Mixture) -> Result<Bound, NotApplicable>;

    /// What must hold for a run besides what its chains say.
    fn further_assumption(&self) -> Option<Assumption> {
        None
    }
}

/// A theorem about everything that a run computes.
///
/// ```
/// use dobrushin::analysis::{Effort, EveryStep, ExactComposition, RenyiComposition};
/// use dobrushin::{Delta, PrivacyProfile, Run};
///
/// let run = Run::gradient_descent(100).steps(10).clip_norm(1.0).noise_multiplier(5.0).build()?;
/// let parts = run.composition()?.parts;
/// let epsilon = |theorem: &dyn EveryStep| -> Result<f64, Box<dyn std::error::Error>> {
///     Ok(theorem.apply(&parts, Effort::Once(1e-3))?.into_profile().epsilon(Delta::new(1e-5)?).upper())
/// };
/// assert!(epsilon(&ExactComposition)? < epsilon(&RenyiComposition)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait EveryStep: Analysis {
    /// Its bound on the outputs of all steps together, over all neighbours and in both directions.
    ///
    /// # Errors
    /// [`NotApplicable`] with the assumption that fails.
    fn apply(&self, steps: &[ComposedPart], effort: Effort) -> Result<Bound, NotApplicable>;
}

/// A theorem, by what it reads. It can be used as an [`Analysis`].
///
/// ```
/// use dobrushin::analysis::{self, Analysis, Family, Theorem};
///
/// // Those about every step are the compositions.
/// for theorem in analysis::ALL {
///     assert_eq!(matches!(theorem, Theorem::EveryStep(_)), theorem.family() == Family::Composition);
/// }
/// ```
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Theorem {
    /// It reads what an observer of every step sees.
    EveryStep(&'static dyn EveryStep),
    /// It reads the release.
    HiddenStates(&'static dyn HiddenStates),
}

impl Deref for Theorem {
    type Target = dyn Analysis;

    fn deref(&self) -> &Self::Target {
        match *self {
            Self::EveryStep(theorem) => theorem,
            Self::HiddenStates(theorem) => theorem,
        }
    }
}

/// Every theorem, in the order of reports.
pub const ALL: &[Theorem] = &[
    Theorem::EveryStep(&ExactComposition),
    Theorem::EveryStep(&RenyiComposition),
    Theorem::EveryStep(&CentralLimit),
    Theorem::HiddenStates(&ContractionPublished),
    Theorem::HiddenStates(&RandomStopPublished),
    Theorem::HiddenStates(&ShiftRenyi),
    Theorem::HiddenStates(&StronglyConvexRenyi),
    Theorem::HiddenStates(&NonconvexPublished),
    Theorem::HiddenStates(&RegularizedPublished),
    Theorem::HiddenStates(&Contraction),
    Theorem::HiddenStates(&Shift),
    Theorem::HiddenStates(&Ceiling),
    Theorem::HiddenStates(&Hybrid),
    Theorem::HiddenStates(&ShiftSubsampled),
    Theorem::HiddenStates(&Recursion),
    Theorem::HiddenStates(&HiddenParticipation),
];

/// Every theorem about hidden states, in the order of reports.
///
/// ```
/// use dobrushin::analysis::{Analysis, Family, about_hidden_states};
///
/// assert!(about_hidden_states().all(|theorem| theorem.family() != Family::Composition));
/// assert!(about_hidden_states().any(|theorem| theorem.id() == "shift"));
/// ```
pub fn about_hidden_states() -> impl Iterator<Item = &'static dyn HiddenStates> {
    ALL.iter().filter_map(|theorem| match *theorem {
        Theorem::HiddenStates(theorem) => Some(theorem),
        Theorem::EveryStep(_) => None,
    })
}

/// The reason that most theorems about contraction give.
fn unbounded() -> NotApplicable {
    missing!("the domain is unbounded: {:#} is missing", Diameter)
}

/// Refuses runs that do not start together.
///
/// # Errors
/// [`NotApplicable`] if the two runs of a chain start apart.
fn starts_together(released: &Mixture) -> Result<(), NotApplicable> {
    match released.branches().iter().all(|branch| branch.chain.start().is_none()) {
        true => Ok(()),
        false => Err(NotApplicable::beyond(
            "the two runs start apart (run.start-distance, run.start-divergence), and this is about runs that start together",
        )),
    }
}

/// The reason that theorems about shifts give.
fn unrelated() -> NotApplicable {
    NotApplicable::missing(
        &[Fact::Convex, Fact::Smoothness, Fact::WeightDecay, Fact::ClipNorm],
        format!(
            "nothing bounds how far iterates move apart: {:#} with {}, {}, or {} is missing",
            Fact::Convex,
            Fact::Smoothness.key(),
            Fact::WeightDecay,
            Fact::ClipNorm
        ),
    )
}
