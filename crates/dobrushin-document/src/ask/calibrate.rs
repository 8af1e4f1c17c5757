//! How much noise a target needs.

use super::{Asked, worth_meeting};
use crate::error::DocumentError;
use crate::run_file::RunFile;
use dobrushin::account::{Calibration, CalibrationError, Target, calibrate_watched};
use dobrushin::numeric::decimal as number;
use dobrushin::run::{Parameter, Run};
use dobrushin::{Probability, Progress};

/// What a calibration is to meet.
#[derive(Clone, Copy, Debug, Default)]
pub struct CalibrationWishes {
    /// The ε and the δ to meet; what is missing is taken from the file.
    pub asked: Asked,
    /// The membership advantage to meet instead.
    pub advantage: Option<Probability>,
    /// The true-positive rate and the false-positive rate at which to meet it, instead.
    pub rates: Option<(Probability, Probability)>,
}

impl CalibrationWishes {
    /// The target of the wishes, or else that of the file.
    pub fn target(self, file: &RunFile) -> Result<Target, DocumentError> {
        if let Some(advantage) = self.advantage {
            if advantage.get() == 0.0 {
                return Err(
                    DocumentError::new("--advantage is 0, but it must be above 0").help("--advantage 0.1")
                );
            }
            return Ok(Target::Advantage(advantage));
        }
        if let Some((rate, at)) = self.rates {
            if rate.get() <= at.get() || at.get() == 0.0 {
                let what =
                    format!("--tpr is {} and --fpr is {}, but tpr > fpr > 0 is needed", rate.get(), at.get());
                return Err(DocumentError::new(what)
                    .help("guessing at random has tpr = fpr; try --tpr 0.05 --fpr 0.01"));
            }
            return Ok(Target::TruePositiveRate { rate, at });
        }
        let (epsilon, delta) = file.target()?;
        match (self.asked.epsilon.or(epsilon), self.asked.delta.or(delta)) {
            (Some(epsilon), Some(_)) if epsilon.get() == 0.0 => {
                Err(DocumentError::new("--epsilon is 0, but it must be above 0")
                    .help("(0, δ)-privacy is a membership advantage of δ: --advantage δ"))
            }
            (Some(epsilon), Some(delta)) => Ok(Target::Privacy { epsilon, delta: worth_meeting(delta)? }),
            _ => Err(DocumentError::new("there is no target: ε and δ are both needed")
                .help("--epsilon 2 --delta 1e-5, or --advantage 0.1, or --tpr 0.05 --fpr 0.01")),
        }
    }
}

/// The parameter of this name.
pub fn parameter_of(text: &str) -> Result<Parameter, DocumentError> {
    Parameter::ALL.into_iter().find(|p| p.key() == text || p.fact().name() == text).ok_or_else(|| {
        let names: Vec<&str> = Parameter::ALL.iter().map(|p| p.key()).collect();
        DocumentError::new(format!("{text:?} is not one of {}", names.join(", ")))
    })
}

/// The value that just meets the target.
pub fn search(
    run: &Run,
    parameter: Parameter,
    target: Target,
    progress: &Progress,
) -> Result<Calibration, DocumentError> {
    calibrate_watched(run, parameter, target, progress).map_err(|error| problem(error, target))
}

fn problem(error: CalibrationError, target: Target) -> DocumentError {
    match error {
        CalibrationError::Run(error) => error.into(),
        CalibrationError::NotApplicable(reason) => {
            DocumentError::new(format!("nothing can be searched: {reason}"))
        }
        CalibrationError::Unreachable { parameter, value, achieved } => DocumentError::answer_is_no(format!(
            "the target cannot be reached by {}: even {} gives {} = {}, above {}",
            parameter.key(),
            number::plain(value),
            quantity(target),
            number::briefly(achieved),
            number::plain(target.limit())
        ))
        .help(if parameter.is_noise() {
            "take fewer steps or smaller batches, or a larger target"
        } else {
            "add noise, or choose a larger target"
        }),
        other => DocumentError::new(other.to_string()),
    }
}

/// What the target limits.
fn quantity(target: Target) -> &'static str {
    match target {
        Target::Privacy { .. } => "ε",
        Target::Advantage(_) => "the advantage",
        Target::TruePositiveRate { .. } => "the true-positive rate",
    }
}
