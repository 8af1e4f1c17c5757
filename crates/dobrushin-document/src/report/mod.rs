//! Reports: what a command found, as data. [`json::of`](crate::json::of) writes one for programs, and the functions of
//! [`text`](crate::text) for people.

mod account;
mod answer;
mod audit;
mod calibration;
mod choice;
mod curve;
mod floor;
mod forgetting;
mod kernel;
mod ledger;
mod level;
mod local;
mod meaning;
mod observers;
mod prescription;
mod problem;
mod quality;
mod records;
mod renyi;
mod schedule;
mod theorem;
mod training;
mod utility;
mod worst_case;

pub use account::{AccountReport, AdviceReport, AtEpsilon, Extras, WantedReport};
pub(crate) use answer::in_words;
pub use answer::{Answered, Finding, Given, GuaranteeReport};
pub use audit::{
    AttackReport, AuditReport, CanariesReport, ClaimReport, ComposedReport, ContradictionReport,
    GaussianReport, Lower, PointReport, Upper,
};
pub use calibration::CalibrationReport;
pub use choice::{ChoiceReport, ChosenReport, PublishedReport};
pub use curve::{Curve, Worth, answer};
pub use floor::FloorReport;
pub use forgetting::ForgettingReport;
pub use kernel::{
    BendReport, Coefficients, ComposedEta, CompositionReport, EtaReport, InformationReport, JointReport,
    KernelReport, MutualInformation, NoiseReport, PassageReport, ProductEta, ProductReport,
};
pub use ledger::{
    BudgetReport, BudgetsReport, ChangedReport, ChargedReport, CheckedReport, LedgerReport, MostReport,
    PersonReport, PlaceCostReport, ReleaseReport, ReservedReport, SharesReport, SpendReport,
};
pub use level::Level;
pub use local::{
    BoundsReport, Estimate, EstimateReport, FrequenciesReport, FrequencyReport, MeanReport, PlanReport,
    PlansReport, PrivatizedReport, ProfileReport, PromiseReport, QuantileReport, QuestionReport, Span,
    SurveyReport, Together, VectorReport,
};
pub(crate) use local::{CoordinateReport, RiskReport};
pub use meaning::{Asked, MeaningReport, RateReport};
pub use observers::{Modest, ObserversReport};
pub use prescription::PrescriptionReport;
pub(crate) use prescription::{source as prescription_source, title as prescription_title};
pub(crate) use problem::{AnswerReport, OwnBoundReport, QuantityReport};
pub use problem::{PrivacyReport, ProblemReport};
pub use quality::QualityReport;
pub(crate) use quality::{ClassReport, ClassesReport, NumbersReport};
pub use records::{Records, reached_by, upper};
pub use renyi::{RenyiCurve, RenyiFinding, RenyiReport};
pub use schedule::ScheduleReport;
pub use theorem::Theorem;
pub use training::{
    EnforcedReport, EvaluationReport, MetricsReport, OneOrMany, PublicReport, RegretReport, TrainedFiles,
    TrainingReport,
};
pub use utility::UtilityReport;
pub use worst_case::{EventReport, GapPoint, GapReport, WorstCaseReport};
