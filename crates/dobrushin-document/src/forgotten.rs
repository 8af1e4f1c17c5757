//! Deleting records from a model: what is asked for, whether it can be done, and by how many clean steps.

use crate::ask::{self, worth_meeting};
use crate::error::DocumentError;
use crate::report::GuaranteeReport;
use crate::run_file::SelfContained;
use crate::state::State;
use crate::trained::count_is_secret;
use dobrushin::account::{Account, Options, Question, Target};
use dobrushin::numeric::decimal as number;
use dobrushin::run::{Forgotten, Parameter};
use dobrushin::{Delta, Epsilon, Progress};

/// What a request is to meet.
#[derive(Clone, Copy, Debug)]
pub enum Wish {
    /// The fewest clean steps that meet this (ε, δ).
    Meet(Epsilon, Delta),
    /// This many clean steps, and what they give at this δ; it must be at most ε, if that is given.
    Make(u64, Option<Epsilon>, Delta),
}

impl Wish {
    /// The wish that flags express.
    ///
    /// # Errors
    /// [`DocumentError`] if something is missing, or nobody could meet it.
    pub fn of(epsilon: Option<Epsilon>, delta: Delta, steps: Option<u64>) -> Result<Self, DocumentError> {
        let delta = worth_meeting(delta)?;
        match (epsilon, steps) {
            (epsilon, Some(steps)) => Ok(Self::Make(steps, epsilon, delta)),
            (Some(epsilon), None) if epsilon.get() == 0.0 => {
                Err(DocumentError::new("--epsilon is 0, but it must be above 0, or --steps must be given")
                    .help("--epsilon 0.1"))
            }
            (Some(_), None) if delta.get() == 0.0 => {
                Err(DocumentError::new("--delta is 0, but no number of steps is known to suffice for that")
                    .help("--delta 1e-6, well below 1 over the number of records"))
            }
            (Some(epsilon), None) => Ok(Self::Meet(epsilon, delta)),
            (None, None) => Err(DocumentError::new("there is neither --epsilon nor --steps")
                .help("--epsilon 0.1 finds the fewest steps that give it; --steps 100 makes this many")),
        }
    }

    /// The question that the certificate answers.
    pub fn question(self) -> Question {
        match self {
            Self::Meet(_, delta) | Self::Make(_, _, delta) => Question::EpsilonAt(delta),
        }
    }

    /// Refuses a guarantee that is larger than wished for.
    ///
    /// # Errors
    /// [`DocumentError`]: the answer is no.
    pub fn refuse_more(self, account: &Account) -> Result<(), DocumentError> {
        let (Self::Meet(epsilon, _) | Self::Make(_, Some(epsilon), _)) = self else {
            return Ok(());
        };
        match GuaranteeReport::of(account).and_then(|guarantee| guarantee.answer.value()) {
            Some(found) if found.upper() > epsilon.get() => Err(DocumentError::answer_is_no(format!(
                "these clean steps give ε = {}, above {}",
                number::briefly(found),
                number::plain(epsilon.get())
            ))
            .help("leave --steps out: the fewest steps that suffice are then found")),
            _ => Ok(()),
        }
    }
}

/// Refuses a run from which no record could ever be deleted, before it is trained.
///
/// # Errors
/// [`DocumentError`] with what is in the way.
pub fn refuse_unforgettable(run: &SelfContained) -> Result<(), DocumentError> {
    let never = "no record could be deleted from a model of this run later";
    if count_is_secret(run)? {
        return Err(DocumentError::new(format!(
            "{never}: run.neighbours is \"add-or-remove-one\", and a deleted record leaves an empty slot, which would be \
             counted"
        ))
        .help("neighbours = \"zero-out\", or leave --keep-state out"));
    }
    let deleted = run.clone().forgetting(&[Forgotten { records: 1, steps: 1 }])?;
    deleted.plan().map(drop).map_err(|error| error.within(never))
}

/// The run after a request for this many records, with the clean steps that meet the wish. `progress` counts the search.
///
/// # Errors
/// [`DocumentError`] if no number of steps does.
pub fn planned(
    state: &State,
    records: u64,
    wish: Wish,
    progress: &Progress,
) -> Result<(SelfContained, u64), DocumentError> {
    let after = |steps| state.after(Forgotten { records, steps });
    let steps = match wish {
        Wish::Make(steps, ..) => steps,
        Wish::Meet(epsilon, delta) => {
            let (plan, _) = after(1)?.plan()?;
            let target = Target::Privacy { epsilon, delta };
            // Whole numbers are found, and far fewer than a double can count.
            let found = ask::search(plan.run(), Parameter::ForgetSteps, target, progress);
            let help = "a larger --epsilon, or train again without the records; runs with update.weight-decay, which shrinks the \
                        model in every step, forget in few steps";
            found.map_err(|error| if error.answer_is_no { error.help(help) } else { error })?.value as u64
        }
    };
    Ok((after(steps)?, steps))
}

/// What the new model guarantees everyone whose records remain: it took part in all steps, as in a run of that length.
///
/// # Guarantee
/// An empty record is a record like any other: it contributes the gradient 0, which keeps every bound that the account of a
/// run rests on. So the account of the run of T + K steps holds although some records are empty after step T.
pub fn everyone_else(
    state: &State,
    request: Forgotten,
    question: Question,
    progress: Progress,
) -> Option<GuaranteeReport> {
    let steps = state.kept.steps.saturating_add(request.steps);
    let (plan, _) = state.run.clone().with_steps(steps).and_then(|run| run.plan()).ok()?;
    GuaranteeReport::of(&plan.run().account_by(question, &Options { progress, ..Options::default() }))
}
