//! What every front end can ask about a run: the account, a calibration, a curve, a plan, and whether
//! attacks contradict it; and what a channel does.
//!
//! A front end reads what its user wants, in its own language, into the wishes of a question. Here the wishes are
//! checked, the question is answered, and the answer is a [report](crate::report). Messages call a wish by its flag.

mod account;
mod audit;
mod audit_trained;
mod calibrate;
mod channel;
mod curve;
mod plan;
mod worst_case;

pub use account::{AccountWishes, Accounted, account, why_no_certificate};
pub use audit::{Attack, Audited, Claim, Saw, audit};
pub use audit_trained::{Means, TrainedWishes, attack_models, state_problem};
pub use calibrate::{CalibrationWishes, parameter_of, search};
pub use channel::{ChannelWishes, and_zero, channel};
pub use curve::{MOST_POINTS, curve, refuse_sweeps};
pub use plan::{PlanWishes, as_planned, count_of, neighbours_of, order_of, planned, schema_of, with_label};
pub use worst_case::{WorstCase, worst_case};

use crate::error::DocumentError;
use crate::run_file::RunFile;
use dobrushin::account::{Question, analysis_ids};
use dobrushin::analysis::{self, Cost};
use dobrushin::{Delta, Epsilon};

/// The ε and the δ that are given, if any.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked {
    /// The ε for which to find δ.
    pub epsilon: Option<Epsilon>,
    /// The δ for which to find ε.
    pub delta: Option<Delta>,
}

impl Asked {
    /// The ε and δ of which the wishes, or else the file, ask whether they are met.
    pub fn both(self, file: &RunFile) -> Result<Option<(Epsilon, Delta)>, DocumentError> {
        let (epsilon, delta) = match (self.epsilon, self.delta) {
            (None, None) => file.target()?,
            given => given,
        };
        epsilon.zip(delta).map(|(epsilon, delta)| Ok((epsilon, worth_meeting(delta)?))).transpose()
    }

    /// The question that the wishes ask, or else the one that the file asks.
    pub fn of(self, file: &RunFile) -> Result<Question, DocumentError> {
        match (self.delta, self.epsilon) {
            (Some(_), Some(_)) => Err(DocumentError::new(
                "--delta and --epsilon are both given, but there is one question",
            )
            .help("keep one of them; dobrushin account answers whether both are met")),
            (Some(delta), None) => Ok(Question::EpsilonAt(delta)),
            (None, Some(epsilon)) => Ok(Question::DeltaAt(epsilon)),
            (None, None) => file.question()?.ok_or_else(|| {
                DocumentError::new("nothing is asked: target.delta and target.epsilon are missing").help(
                    "--delta 1e-5 finds ε, --epsilon 1 finds δ; or add [target] with delta = 1e-5 to the file",
                )
            }),
        }
    }
}

/// A δ that something is to be certified or searched for. A question may have any δ, but everything is (ε, 1)-private.
pub fn worth_meeting(delta: Delta) -> Result<Delta, DocumentError> {
    if delta.get() < 1.0 {
        return Ok(delta);
    }
    Err(DocumentError::new(
        "δ is 1, but it must be below 1: everything is (ε, 1)-private, even publishing all records",
    )
    .help("--delta 1e-6, well below 1 over the number of records"))
}

/// The analyses that a word names: one of them, or "closed-form" for all that are formulas.
pub fn analyses_of(word: &str) -> Result<Vec<&'static str>, DocumentError> {
    const CLOSED_FORM: &str = "closed-form";
    let word = word.trim();
    if word == CLOSED_FORM {
        let formulas = analysis::ALL.iter().filter(|theorem| theorem.cost() == Cost::ClosedForm);
        return Ok(formulas.map(|theorem| theorem.id()).collect());
    }
    analysis_ids().find(|id| *id == word).map(|id| vec![id]).ok_or_else(|| {
        let known: Vec<&str> = analysis_ids().chain([CLOSED_FORM]).collect();
        let help = match crate::nearest(word, known.iter().copied()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("one of: {}", known.join(", ")),
        };
        DocumentError::new(format!("there is no analysis {word:?}; {help}"))
    })
}
