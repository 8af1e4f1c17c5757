//! What users read about ledgers.

use super::meaning::shortest;
use super::{Style, Text, bullets, table, wrap};
use crate::json::Number;
use crate::report::{
    BudgetReport, BudgetsReport, ChangedReport, ChargedReport, CheckedReport, LedgerReport, PersonReport,
    ReleaseReport, ReservedReport, SharesReport,
};
use dobrushin::Enclosure;

/// The analysis of a release of which only (ε, δ) is known.
pub const PROMISED: &str = "as promised";

/// A new ledger, or a new budget.
pub fn budgets(report: &BudgetsReport) -> Text {
    let mut text = Text::default();
    let budget = pair(&report.budget);
    text.answer(match (report.is_new, report.people) {
        (true, _) => format!("The ledger {} was made: everybody may spend {budget}", report.ledger),
        (false, None) => format!("Everybody without a budget of their own may now spend {budget}"),
        (false, Some(people)) => format!("{} may now spend {budget}", people_in_words(people)),
    });
    text.explanation(wrap(
        match report.budget.planned {
            true => {
                "The budget is for releases that are fixed before the first of them is seen: which there are, their settings, and \
                 who is in them. Then their profiles are composed exactly."
            }
            false => {
                "The budget holds for releases that are chosen one after another, each in the light of all earlier ones. What counts \
                 is the share of the budget that each release uses up."
            }
        },
        "",
    ));
    if report.is_new {
        text.explanation(wrap(
            &format!(
                "The neighbours are {}. Reserve each release before you make it: dobrushin ledger reserve, or --ledger of train \
                 and local privatize.",
                report.neighbours
            ),
            "",
        ));
        text.explanation(wrap(
            "A budget is a promise that is made in advance. Whoever raises it after a look at releases makes a new promise.",
            "",
        ));
    }
    text
}

/// A release that was reserved, or only tried.
pub fn reserved(report: &ReservedReport, style: Style) -> Text {
    let mut text = Text::default();
    let people = people_in_words(report.people);
    let records = match report.records == report.people {
        true => String::new(),
        false => format!(" who have {} records", report.records),
    };
    text.answer(match report.release {
        Some(release) => format!("Release {release} is reserved: {}, about {people}{records}", report.what),
        None => format!("It fits: {}, about {people}{records}; nothing was reserved", report.what),
    });
    if report.left_out > 0 {
        let listed = report
            .left_out_file
            .as_ref()
            .map_or(String::new(), |file| format!("; they are listed in {file}"));
        text.answer(format!(
            "{} left out, because their budgets would be exceeded{listed}",
            were(report.left_out)
        ));
    }
    let upper = |value: Number| style.upper(Enclosure::from(value.0));
    let dearest = report.costs.iter().map(|cost| cost.epsilon.0).fold(0.0, f64::max);
    let delta = shortest(report.delta.0);
    match &report.costs[..] {
        [one] => text.explanation(format!(
            "Each record costs (ε, δ) = ({}, {delta}) by itself, {}.",
            upper(one.epsilon),
            if one.analysis == PROMISED { PROMISED.to_owned() } else { format!("by {}", one.analysis) }
        )),
        costs => {
            let rows = costs.iter().map(|cost| {
                let to = cost.to.map_or("…".to_owned(), |to| to.to_string());
                let places = if cost.to == Some(cost.from) { to } else { format!("{}–{to}", cost.from) };
                [places, upper(cost.epsilon), cost.analysis.to_owned()]
            });
            text.explanation(
                wrap(
                    &format!(
                        "What it costs depends on the place of a record: ε is at most {} at δ = {delta}, and less for those whose \
                         records are used early.",
                        upper(Number(dearest))
                    ),
                    "",
                )
                .then_apart(table(["places", "ε at most", "analysis"], rows)),
            );
        }
    }
    if report.records > report.people {
        text.explanation("Several records of a person cost more than one: they count as a group.");
    }
    if let Some(release) = report.release {
        text.explanation(wrap(
            &format!(
                "It counts as spent from now on. After the release: dobrushin ledger commit {ledger} {release}. If nothing at all was \
                 released: dobrushin ledger abort {ledger} {release} --nothing-was-released.",
                ledger = report.ledger
            ),
            "",
        ));
    }
    text
}

/// Who was charged by the command that made a release, in a sentence.
pub fn charged(report: &ChargedReport) -> String {
    let ChargedReport { ledger, release, people, left_out } = report;
    let left_out = match left_out {
        0 => String::new(),
        count => format!(" {} left out, because their budgets would be exceeded.", were(*count)),
    };
    format!(
        "It is release {release} in the ledger {ledger}, which charges {}.{left_out}",
        people_in_words(*people)
    )
}

/// A whole ledger.
pub fn ledger(report: &LedgerReport) -> Text {
    let mut text = Text::default();
    let count = report.releases.iter().filter(|release| release.status != "aborted").count();
    let releases = if count == 1 { "release".to_owned() } else { format!("{count} releases") };
    text.answer(match &report.shares.most {
        None => format!("Nobody is in the ledger {} yet", report.ledger),
        Some(most) => format!(
            "{} in {}: the most that anybody has spent is {} of their budget",
            people_in_words(report.people),
            if count == 1 { format!("one {releases}") } else { releases },
            percent(most.share.0)
        ),
    });
    if report.shares.over > 0 {
        text.warning(wrap(
            &format!("{} spent more than their budget, which was lowered since.", have(report.shares.over)),
            "",
        ));
    }
    if report.people > 0 {
        text.answer(shares(&report.shares));
    }
    if !report.releases.is_empty() {
        let rows = report.releases.iter().map(|release| {
            let ReleaseReport { release: id, status, what, made, people, records, .. } = release;
            let made = made.clone().unwrap_or_default();
            [
                what.clone(),
                id.to_string(),
                (*status).to_owned(),
                people.to_string(),
                records.to_string(),
                made,
            ]
        });
        text.answer(table(["release", "number", "status", "people", "records", "reserved on"], rows));
    }
    notes(&mut text, report.releases.iter());
    text.explanation(wrap(
        &format!(
            "Everybody may spend {}, unless they have a budget of their own. The neighbours are {}.",
            pair(&report.budget),
            report.neighbours
        ),
        "",
    ));
    for (status, words) in [
        (
            "reserved",
            "What is reserved counts as spent until it is aborted, because it may have been released.",
        ),
        (
            "leaving",
            "What is leaving was about to get its files when its program last said something. If that program has ended, commit it.",
        ),
    ] {
        if report.releases.iter().any(|release| release.status == status) {
            text.explanation(wrap(words, ""));
        }
    }
    text
}

/// What a person has spent.
pub fn person(report: &PersonReport, style: Style) -> Text {
    let mut text = Text::default();
    let upper = |value: Number| style.upper(Enclosure::from(value.0));
    text.answer(format!(
        "{} has spent {} of {}",
        report.person,
        percent(report.share.0),
        pair(&report.budget)
    ));
    text.answer(match report.left.0 {
        0.0 if report.budget.planned => {
            "dobrushin ledger reserve --dry-run says whether a further release would fit".to_owned()
        }
        0.0 => "No further Gaussian release would fit".to_owned(),
        left => format!(
            "A further Gaussian release of ε = {} would still fit",
            style.lower(Enclosure::from(left))
        ),
    });
    if !report.releases.is_empty() {
        let rows = report.releases.iter().map(|spend| {
            let release = &spend.release;
            let made = release.made.clone().unwrap_or_default();
            [
                release.what.clone(),
                release.release.to_string(),
                release.status.to_owned(),
                upper(spend.epsilon),
                made,
            ]
        });
        text.answer(table(["release", "number", "status", "ε at most", "reserved on"], rows));
        notes(&mut text, report.releases.iter().map(|spend| &spend.release));
        text.explanation(wrap(
            &format!(
                "At δ = {}, all of them together are ε = {} if they were fixed before the first of them was seen. The sum of their ε \
                 is {}.",
                shortest(report.budget.delta.0),
                upper(report.epsilon),
                upper(report.sum)
            ),
            "",
        ));
    }
    text.explanation(wrap(
        match report.own_budget {
            true => "The budget is this person's own.",
            false => "The budget is everybody's who has none of their own.",
        },
        "",
    ));
    text
}

/// A release that was committed, aborted or noted.
pub fn changed(report: &ChangedReport) -> Text {
    let mut text = Text::default();
    let ReleaseReport { release, status, what, people, .. } = &report.release;
    text.answer(format!("Release {release} is {status}: {what}, about {}", people_in_words(*people)));
    text.explanation(wrap(
        match *status {
            "aborted" => "It costs nobody anything. That is right only if nothing of it was ever released.",
            "committed" => "Its cost stays with everybody in it for good: what was released stays released.",
            _ => "It counts as spent.",
        },
        "",
    ));
    if !report.release.notes.is_empty() {
        text.answer(bullets("Notes", &report.release.notes));
    }
    text
}

/// What `ledger check` found.
pub fn checked(report: &CheckedReport) -> Text {
    let mut text = Text::default();
    let CheckedReport { people, releases, faults, .. } = report;
    match faults.is_empty() {
        true => text.answer(format!(
            "The ledger is whole: {} and {}, and every sum is that of its releases",
            people_in_words(*people),
            if *releases == 1 { "1 release".to_owned() } else { format!("{releases} releases") }
        )),
        false => {
            text.answer(format!("The ledger is DAMAGED: {} faults", faults.len()));
            text.answer(bullets("What is wrong", faults));
        }
    }
    text
}

/// What was said about releases later.
fn notes<'a>(text: &mut Text, releases: impl Iterator<Item = &'a ReleaseReport>) {
    let of_release = |release: &'a ReleaseReport| {
        release.notes.iter().map(move |note| format!("release {}: {note}", release.release))
    };
    let notes: Vec<String> = releases.flat_map(of_release).collect();
    if !notes.is_empty() {
        text.answer(bullets("Notes", &notes));
    }
}

fn shares(shares: &SharesReport) -> super::Block {
    let tenths = shares.tenths.iter().enumerate().rev();
    let rows = [("more than their budget".to_owned(), shares.over)]
        .into_iter()
        .chain(tenths.map(|(tenth, count)| (format!("up to {} %", 10 * (tenth + 1)), *count)))
        .chain([("nothing".to_owned(), shares.nothing)])
        .filter(|(_, count)| *count > 0)
        .map(|(share, count)| [share, count.to_string()]);
    table(["have spent", "people"], rows)
}

fn pair(budget: &BudgetReport) -> String {
    format!("(ε, δ) = ({}, {})", shortest(budget.epsilon.0), shortest(budget.delta.0))
}

/// Rounded up, so that nothing that was spent is 0 %.
fn percent(share: f64) -> String {
    match share {
        0.0 => "nothing".to_owned(),
        share if share > 1.0 => "more than all".to_owned(),
        share => format!("{} %", (share * 1000.0).ceil() / 10.0),
    }
}

fn people_in_words(count: u64) -> String {
    if count == 1 { "1 person".to_owned() } else { format!("{count} people") }
}

fn were(count: u64) -> String {
    if count == 1 { "1 person was".to_owned() } else { format!("{count} people were") }
}

fn have(count: u64) -> String {
    if count == 1 { "1 person has".to_owned() } else { format!("{count} people have") }
}
