//! Certificates: a guarantee with all that is needed to recompute it.

mod check;
mod comparison;
mod total;
mod training;
mod verification;

pub use check::{Checked, Verdict, check};
pub use total::{Counted, NotAdded, TotalReport, total};
pub use training::{NOT_PRIVATE, TrainingRecord};
pub use verification::{Verification, verify};

use crate::error::DocumentError;
use crate::json::{self, Bounds};
use crate::report::{Finding, FloorReport, Given, MeaningReport, Theorem};
use crate::run_file::SelfContained;
use dobrushin::account::{Account, Options, Question};
use dobrushin::{Enclosure, statement};
use dobrushin_audit::floor::Floor;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// Identifies certificates.
const KIND: &str = "dobrushin-certificate";
/// The version of the format of certificates.
const SCHEMA: u64 = 1;

/// A guarantee, the run that it is for, and the theorem by which it holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    schema: u64,
    kind: String,
    /// The program that wrote the certificate.
    pub program: Program,
    /// The run, which names no file.
    pub run: Json,
    target: Given,
    tolerance: f64,
    /// What is certified.
    pub guarantee: Certified,
    /// What the guarantee means for one person. Older certificates do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meaning: Option<MeaningReport>,
    /// What no analysis of the same facts can go below. Older certificates do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<FloorReport>,
    theorem: Option<Theorem>,
    analyses: Vec<Finding>,
    /// Where the guarantee comes from, in words.
    pub explanation: Vec<String>,
    /// What could not be used, or says nothing, and why, in words.
    pub warnings: Vec<String>,
    /// How the model was trained, for a certificate of a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training: Option<TrainingRecord>,
}

/// A program, by name and version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// dobrushin.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl Program {
    /// This program.
    pub fn this() -> Self {
        Self { name: "dobrushin".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
    }
}

/// (ε, δ), and what must hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Certified {
    /// ε.
    pub epsilon: Bounds,
    /// δ.
    pub delta: Bounds,
    /// ln δ, if δ was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_delta: Option<Bounds>,
    /// The analysis by which it holds.
    pub analysis: String,
    /// What must hold, in words.
    pub assumptions: Vec<String>,
}

impl Certificate {
    /// The certificate of the account of a run, with its floor; `None` if there is no guarantee, or one that says nothing.
    pub fn of(
        run: &SelfContained,
        account: &Account,
        floor: Option<&Floor>,
        options: &Options,
    ) -> Option<Self> {
        let best = account.certifiable()?;
        let (epsilon, delta) = match account.question {
            Question::EpsilonAt(delta) => (best.answer.value, Enclosure::from(delta)),
            Question::DeltaAt(epsilon) => (Enclosure::from(epsilon), best.answer.value),
        };
        Some(Self {
            schema: SCHEMA,
            kind: KIND.to_owned(),
            program: Program::this(),
            run: run.json(),
            target: account.question.into(),
            tolerance: options.tolerance,
            guarantee: Certified {
                epsilon: Bounds(epsilon),
                delta: Bounds(delta),
                log_delta: best.answer.log_delta.map(Bounds),
                analysis: best.id.to_owned(),
                assumptions: best.assumptions.iter().map(ToString::to_string).collect(),
            },
            meaning: account.meaning().map(Into::into),
            floor: floor.map(|floor| FloorReport::new(account.question, floor)),
            theorem: statement::find(best.id).map(Theorem::from),
            analyses: Finding::all(account),
            explanation: account.explanation.clone(),
            warnings: account.warnings.clone(),
            training: None,
        })
    }

    /// The text of the certificate's file.
    pub fn file(&self) -> String {
        format!("{:#}\n", json::of(self))
    }
}

/// What a file that should be a certificate says; `name` stands in errors. Only [`check()`] tells whether it is one.
///
/// # Errors
/// [`DocumentError`] if it is not JSON, or gives a key twice.
pub fn read(bytes: &[u8], name: &str) -> Result<Json, DocumentError> {
    json::read(bytes, name, "certificate", WRITERS)
}

/// Where certificates come from.
pub const WRITERS: &str =
    "dobrushin train, and dobrushin account RUN.toml --certificate FILE.json, write certificates";
