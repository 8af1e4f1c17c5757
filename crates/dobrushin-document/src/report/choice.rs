//! `plan`: the plans that a budget buys, the best first.

use super::GuaranteeReport;
use crate::error::DocumentError;
use crate::run_file::{RunFile, SelfContained};
use dobrushin::account::{Options, Question};
use dobrushin::run::Training;
use dobrushin_train::choose::{Choice, Chosen, Wanted};
use serde::Serialize;
use serde_json::Value as Json;

/// The plans that a budget buys, the best first.
#[derive(Serialize)]
pub struct ChosenReport {
    /// Plans with the order that is wanted, or with any.
    pub plans: Vec<ChoiceReport>,
    /// If an order is wanted: the best plan of each other order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<ChoiceReport>,
    /// The ε to meet.
    pub epsilon: f64,
    /// The δ to meet.
    pub delta: f64,
    /// The number of models that were trained on made-up records.
    pub trials: u64,
    /// Whether labels are classes, so that excess is a share of records in the wrong class.
    #[serde(skip)]
    pub classes: bool,
    /// Where the run file was written, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
    /// The run file of the best plan.
    #[serde(skip)]
    pub run_file: String,
    /// The best plan, with everything in it.
    #[serde(skip)]
    pub best: SelfContained,
}

/// One plan.
#[derive(Serialize)]
pub struct ChoiceReport {
    /// What its run file says.
    pub run: Json,
    /// How much worse it is than the law of the made-up records.
    pub excess: f64,
    /// The standard error of that.
    pub excess_error: f64,
    /// Its guarantee.
    pub guarantee: Option<GuaranteeReport>,
    /// What it would be if every iterate were published.
    pub composition_only: PublishedReport,
    /// Its numbers.
    #[serde(skip)]
    pub training: Training,
}

/// A plan whose every iterate is published.
#[derive(Clone, Copy, Serialize)]
pub struct PublishedReport {
    /// The noise that it needs for the same target.
    pub noise_multiplier: f64,
    /// Its excess with that noise.
    pub excess: f64,
    /// The standard error of that.
    pub excess_error: f64,
}

impl ChosenReport {
    /// Every plan as a run file, accounted for again from what the file says.
    ///
    /// # Errors
    /// [`DocumentError`] if a plan cannot be written as a run file.
    pub fn new(wanted: &Wanted, kind: &str, found: &Chosen) -> Result<Self, DocumentError> {
        let (epsilon, delta) = (wanted.epsilon.get(), wanted.delta.get());
        let about = format!(
            "Written by dobrushin plan for (ε, δ) = ({epsilon:?}, {delta:?}). No record was read.\n\n  dobrushin account THIS.toml\n  \
             dobrushin train DATA.csv --run THIS.toml --out DIR"
        );
        let written =
            |choice: &Choice| RunFile::of_plan(&choice.description, kind, &wanted.schema, delta, &about);
        let report = |choice: &Choice| {
            let file = written(choice)?.0;
            let account = file.run()?.account_by(Question::EpsilonAt(wanted.delta), &Options::default());
            Ok::<_, DocumentError>(ChoiceReport {
                run: file.json(),
                excess: choice.excess.mean,
                excess_error: choice.excess.error,
                guarantee: GuaranteeReport::of(&account),
                composition_only: PublishedReport {
                    noise_multiplier: choice.published_noise,
                    excess: choice.published_excess.mean,
                    excess_error: choice.published_excess.error,
                },
                training: choice.description.training.clone(),
            })
        };
        let Some(first) = found.plans.first() else {
            return Err(DocumentError::new("no plan has this order").help("leave --order out"));
        };
        let (best, run_file) = written(first)?;
        Ok(Self {
            plans: found.plans.iter().map(report).collect::<Result<_, _>>()?,
            others: found.others.iter().map(report).collect::<Result<_, _>>()?,
            epsilon,
            delta,
            trials: found.trials,
            classes: wanted.schema.classes(0).is_some(),
            written: None,
            run_file,
            best: best.alone()?,
        })
    }
}
