//! Ledgers as reports.

use super::neighbours_word;
use crate::problem::Problem;
use dobrushin::{Delta, PrivacyProfile};
use dobrushin_document::json::Number;
use dobrushin_document::report::{
    BudgetReport, BudgetsReport, ChangedReport, CheckedReport, LedgerReport, MostReport, PersonReport,
    PlaceCostReport, ReleaseReport, SharesReport, SpendReport,
};
use dobrushin_ledger::{Budget, Checked, Choice, Histogram, Ledger, Place, Release, Spend, Standing, Terms};

/// Where a ledger is, without a password.
pub fn shown(place: &Place) -> String {
    match place {
        Place::File(path) => path.display().to_string(),
        Place::Postgres(url) => {
            let (scheme, rest) = url.split_once("://").unwrap_or(("postgresql", url));
            let rest = rest.split_once('?').map_or(rest, |(before, _)| before);
            // Only what comes before the last @ can hold a password.
            let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
            format!("{scheme}://{host}")
        }
    }
}

/// A budget.
fn budget_report(budget: Budget) -> BudgetReport {
    let planned = budget.choice == Choice::Planned;
    BudgetReport { epsilon: Number(budget.epsilon), delta: Number(budget.delta), planned }
}

/// A new ledger, if `is_new`; or a new budget for this many people, or for everybody who has none of their own.
pub fn budgets_report(
    place: &Place,
    terms: &Terms,
    budget: Budget,
    people: Option<u64>,
    is_new: bool,
) -> Result<BudgetsReport, Problem> {
    Ok(BudgetsReport {
        schema: 1,
        ledger: shown(place),
        neighbours: neighbours_word(terms)?,
        budget: budget_report(budget),
        people,
        is_new,
    })
}

/// A release that was committed, aborted or noted.
pub fn changed_report(place: &Place, release: &Release) -> ChangedReport {
    ChangedReport { schema: 1, ledger: shown(place), release: release_report(release) }
}

/// What was found when everything was added up again.
pub fn checked_report(place: &Place, found: Checked) -> CheckedReport {
    CheckedReport {
        schema: 1,
        ledger: shown(place),
        people: found.people,
        releases: found.releases,
        faults: found.faults,
    }
}

/// A release.
fn release_report(release: &Release) -> ReleaseReport {
    ReleaseReport {
        release: release.id,
        status: release.status.word(),
        what: release.what.clone(),
        made: release.made.clone(),
        people: release.people,
        records: release.records,
        notes: release.notes.clone(),
    }
}

/// What a release costs at its places.
pub fn place_costs(spend: &Spend, delta: Delta) -> Vec<PlaceCostReport> {
    let cost = |cost: &dobrushin::account::PlaceCost| PlaceCostReport {
        from: cost.from,
        to: (cost.to < u64::MAX).then_some(cost.to),
        epsilon: Number(cost.profile.epsilon(delta).upper()),
        analysis: cost.analysis,
    };
    spend.costs().iter().map(cost).collect()
}

/// What a person has spent.
pub fn person_report(place: &Place, standing: &Standing) -> PersonReport {
    let spend = |(release, epsilon): &(Release, f64)| SpendReport {
        release: release_report(release),
        epsilon: Number(*epsilon),
    };
    PersonReport {
        schema: 1,
        ledger: shown(place),
        person: standing.name.clone(),
        budget: budget_report(standing.budget),
        own_budget: standing.own_budget,
        share: Number(standing.spent.share),
        left: Number(standing.spent.left),
        epsilon: Number(standing.planned_epsilon),
        sum: Number(standing.releases.iter().map(|(_, epsilon)| epsilon).sum()),
        releases: standing.releases.iter().map(spend).collect(),
    }
}

/// A whole ledger.
pub fn whole_report(place: &Place, ledger: &mut Ledger) -> Result<LedgerReport, Problem> {
    let terms = ledger.terms()?;
    let mut releases = Vec::new();
    ledger.releases(&mut |release| releases.push(release_report(&release)))?;
    Ok(LedgerReport {
        schema: 1,
        ledger: shown(place),
        neighbours: neighbours_word(&terms)?,
        budget: budget_report(terms.budget),
        people: terms.people(),
        releases,
        shares: shares(ledger.histogram()?),
    })
}

fn shares(histogram: Histogram) -> SharesReport {
    let most = histogram.most.map(|(share, person)| MostReport { person, share: Number(share) });
    SharesReport { nothing: histogram.nothing, tenths: histogram.tenths, over: histogram.over, most }
}
