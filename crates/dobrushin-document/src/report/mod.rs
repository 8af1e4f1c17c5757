//! Reports: what a command found, as data. [`json::of`](crate::json::of) writes one for programs, and the functions of
//! [`text`](crate::text) for people.

mod account;
mod answer;
mod calibration;
mod curve;
mod local;
mod records;
mod renyi;
mod theorem;
mod training;
mod utility;

pub use account::{AccountReport, AdviceReport, Extras};
pub(crate) use answer::in_words;
pub use answer::{Answered, Finding, Given, GuaranteeReport};
pub use calibration::CalibrationReport;
pub use curve::{Curve, Worth, answer};
pub(crate) use local::RiskReport;
pub use local::{
    BoundsReport, Estimate, EstimateReport, FrequenciesReport, FrequencyReport, MeanReport, PlanReport,
    PlansReport, PrivatizedReport, ProfileReport, PromiseReport, QuantileReport, Span, Together,
};
pub use records::{Records, upper};
pub use renyi::{RenyiCurve, RenyiFinding, RenyiReport};
pub use theorem::Theorem;
pub use training::{
    EnforcedReport, EvaluationReport, MetricsReport, OneOrMany, PublicReport, RegretReport, TrainingReport,
};
pub use utility::UtilityReport;
