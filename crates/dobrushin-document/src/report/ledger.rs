//! `ledger`: what people have spent over all releases, and what was reserved.

use crate::json::Number;
use serde::Serialize;

/// A budget, as reports show it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BudgetReport {
    /// ε.
    pub epsilon: Number,
    /// δ.
    pub delta: Number,
    /// Whether the releases are fixed before the first of them is seen.
    pub planned: bool,
}

/// A new ledger, or a new budget.
#[derive(Serialize)]
pub struct BudgetsReport {
    /// The version of this report.
    pub schema: u32,
    /// Where the ledger is, without a password.
    pub ledger: String,
    /// Which data sets are neighbours.
    pub neighbours: &'static str,
    /// What people may spend.
    pub budget: BudgetReport,
    /// How many people were given this budget of their own; `None` if it is everybody's who has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub people: Option<u64>,
    /// Whether the ledger was made.
    #[serde(skip)]
    pub is_new: bool,
}

/// What a release costs at some places.
#[derive(Clone, Debug, Serialize)]
pub struct PlaceCostReport {
    /// The first of these places.
    pub from: u64,
    /// The last; `None` if all records are meant.
    pub to: Option<u64>,
    /// ε at the δ of the ledger, at most.
    pub epsilon: Number,
    /// By which analysis.
    pub analysis: &'static str,
}

/// A release that was reserved.
#[derive(Serialize)]
pub struct ReservedReport {
    /// The version of this report.
    pub schema: u32,
    /// Where the ledger is, without a password.
    pub ledger: String,
    /// The number of the release; `None` if it was only tried.
    pub release: Option<u64>,
    /// What it is.
    pub what: String,
    /// How many people are in it.
    pub people: u64,
    /// How many records they have.
    pub records: u64,
    /// How many people were left out, because their budgets would have been exceeded.
    pub left_out: u64,
    /// The file with their names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out_file: Option<String>,
    /// The δ at which costs are shown.
    pub delta: Number,
    /// What it costs, by place.
    pub costs: Vec<PlaceCostReport>,
}

/// A release that was charged to the people in it by the command that made it.
#[derive(Clone, Debug, Serialize)]
pub struct ChargedReport {
    /// Where the ledger is, without a password.
    pub ledger: String,
    /// The number of the release.
    pub release: u64,
    /// How many people are in it.
    pub people: u64,
    /// How many people were left out, because their budgets would have been exceeded.
    pub left_out: u64,
}

/// A release in a ledger.
#[derive(Clone, Debug, Serialize)]
pub struct ReleaseReport {
    /// Its number.
    pub release: u64,
    /// "reserved", "leaving", "committed" or "aborted".
    pub status: &'static str,
    /// What it is.
    pub what: String,
    /// The day on which it was reserved.
    pub made: Option<String>,
    /// How many people are in it.
    pub people: u64,
    /// How many records they have.
    pub records: u64,
    /// What was said about it later.
    pub notes: Vec<String>,
}

/// How many people have spent which share of their budgets.
#[derive(Clone, Debug, Serialize)]
pub struct SharesReport {
    /// Nothing.
    pub nothing: u64,
    /// Up to a tenth, up to two tenths, and so on.
    pub tenths: [u64; 10],
    /// More than their budget, since it was lowered.
    pub over: u64,
    /// The largest share.
    pub most: Option<MostReport>,
}

/// Whoever has spent most.
#[derive(Clone, Debug, Serialize)]
pub struct MostReport {
    /// How they are named.
    pub person: String,
    /// The share of their budget.
    pub share: Number,
}

/// A whole ledger.
#[derive(Serialize)]
pub struct LedgerReport {
    /// The version of this report.
    pub schema: u32,
    /// Where it is, without a password.
    pub ledger: String,
    /// Which data sets are neighbours.
    pub neighbours: &'static str,
    /// The budget of everybody who has none of their own.
    pub budget: BudgetReport,
    /// How many people are in it.
    pub people: u64,
    /// The releases.
    pub releases: Vec<ReleaseReport>,
    /// What people have spent.
    pub shares: SharesReport,
}

/// A release that somebody is in.
#[derive(Clone, Debug, Serialize)]
pub struct SpendReport {
    /// The release.
    #[serde(flatten)]
    pub release: ReleaseReport,
    /// What it costs this person: ε at the δ of their budget, at most.
    pub epsilon: Number,
}

/// What a person has spent.
#[derive(Serialize)]
pub struct PersonReport {
    /// The version of this report.
    pub schema: u32,
    /// Where the ledger is, without a password.
    pub ledger: String,
    /// How they are named.
    pub person: String,
    /// What they may spend.
    pub budget: BudgetReport,
    /// Whether this budget is their own.
    pub own_budget: bool,
    /// The share of the budget that is spent.
    pub share: Number,
    /// ε of a further Gaussian release that would still fit, at the δ of the budget.
    pub left: Number,
    /// ε of all releases together at the δ of the budget, at most, if they were fixed before the first of them was seen.
    pub epsilon: Number,
    /// The sum of the ε of the releases, for comparison.
    pub sum: Number,
    /// The releases.
    pub releases: Vec<SpendReport>,
}

/// A release that was committed, aborted or noted.
#[derive(Serialize)]
pub struct ChangedReport {
    /// The version of this report.
    pub schema: u32,
    /// Where the ledger is, without a password.
    pub ledger: String,
    /// The release as it is now.
    #[serde(flatten)]
    pub release: ReleaseReport,
}

/// What `ledger check` found.
#[derive(Serialize)]
pub struct CheckedReport {
    /// The version of this report.
    pub schema: u32,
    /// Where the ledger is, without a password.
    pub ledger: String,
    /// The number of people.
    pub people: u64,
    /// The number of releases.
    pub releases: u64,
    /// What is wrong.
    pub faults: Vec<String>,
}
