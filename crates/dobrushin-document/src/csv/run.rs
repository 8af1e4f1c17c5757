//! What `account`, `curve` and `calibrate` find about a run.

use super::{Cell, Table};
use crate::json::{Bounds, Number};
use crate::report::{
    AccountReport, Answered, CalibrationReport, Curve, Finding, Given, Records, RenyiCurve, RenyiReport,
    answer,
};
use crate::run_file::Sweep;
use dobrushin::Enclosure;
use dobrushin::account::{Account, Answer, Target};
use serde_json::Value as Json;
use std::io::{self, Write};

/// A row for each analysis.
pub fn account(report: &AccountReport) -> Table {
    let (asked, given) = (report.target.asked(), report.target);
    let header = ["analysis".to_owned()].into_iter().chain(ends_of(asked, given));
    let last = [given_name(given), "kind", "reason"].map(str::to_owned);
    let mut table = Table::new(header.chain(last));
    let best = report.guarantee.as_ref().map(|guarantee| guarantee.analysis.as_str());
    for finding in &report.analyses {
        let kind = kind(finding, best);
        let value = match given {
            Given::Delta(value) | Given::Epsilon(value) => value.into(),
        };
        let first = [finding.id.as_str().into()].into_iter().chain(of_answer(finding.answer, given));
        let reason = finding.not_applicable.as_deref().into();
        table.push(first.chain([value, kind.into(), reason]).collect());
    }
    table
}

/// Whether a finding is the guarantee, another bound, an approximation, or nothing.
fn kind(finding: &Finding, best: Option<&str>) -> &'static str {
    match finding {
        Finding { not_applicable: Some(_), .. } => "not applicable",
        Finding { approximate: true, .. } => "approximate: no bound",
        Finding { id, .. } if Some(id.as_str()) == best => "guarantee",
        _ => "bound",
    }
}

fn given_name(given: Given) -> &'static str {
    match given {
        Given::Delta(_) => "delta",
        Given::Epsilon(_) => "epsilon",
    }
}

/// The columns of an answer: its ends, and those of ln δ where δ is asked for, because δ may underflow.
fn ends_of(name: &str, given: Given) -> Vec<String> {
    let mut columns = vec![format!("{name}_lower"), format!("{name}_upper")];
    if !given.asks_for_epsilon() {
        let log = if name == "delta" { "log_delta".to_owned() } else { format!("{name}_log_delta") };
        columns.extend([format!("{log}_lower"), format!("{log}_upper")]);
    }
    columns
}

/// The cells of these columns.
fn of_answer(answer: Answered, given: Given) -> Vec<Cell> {
    let mut cells = Cell::ends(answer.epsilon.or(answer.delta)).to_vec();
    if !given.asks_for_epsilon() {
        cells.extend(Cell::ends(answer.log_delta));
    }
    cells
}

/// A row for each point: the values of the parameters, the guarantee and its analysis, and what each analysis says.
pub fn curve(curve: &Curve) -> Table {
    let (given, ids) = (curve.given(), curve.ids());
    let keys = curve.sweeps.iter().map(|sweep| sweep.key.clone());
    let excess = ["excess_lower", "excess_upper", "excess_measure"].map(str::to_owned);
    let excess = curve.worths.iter().flat_map(|_| excess.clone());
    let header = keys
        .chain(ends_of(given.asked(), given))
        .chain(["analysis".to_owned()])
        .chain(excess)
        .chain(ids.iter().flat_map(|id| ends_of(id, given)));
    let mut table = Table::new(header);
    let cells = |answer: Option<Answer>| {
        let answered = answer.map(|answer| Answered::new(curve.question, answer)).unwrap_or_default();
        of_answer(answered, given)
    };
    for (place, (point, account)) in curve.points.iter().zip(&curve.accounts).enumerate() {
        let best = account.guarantee().ok();
        let mut row: Vec<Cell> =
            curve.sweeps.iter().zip(point).map(|(sweep, &index)| value(sweep, index)).collect();
        row.extend(cells(best.as_ref().map(|best| best.answer)));
        row.push(best.as_ref().map(|best| best.id).into());
        if curve.worths.is_some() {
            let best = curve.best(place);
            row.extend(Cell::ends(best.as_ref().map(|best| Bounds(best.value))));
            row.push(best.map(|best| best.measure.name()).into());
        }
        row.extend(ids.iter().flat_map(|id| cells(of(account, id))));
        table.push(row);
    }
    table
}

fn of(account: &Account, id: &str) -> Option<Answer> {
    answer(account, id)
}

/// The value of a parameter, with all its digits.
fn value(sweep: &Sweep, index: usize) -> Cell {
    let value = sweep.json().swap_remove(index);
    match (&value, value.as_u64(), Number::read(&value)) {
        (_, Some(count), _) => count.into(),
        (_, _, Some(number)) => number.into(),
        (Json::String(word), ..) => word.as_str().into(),
        _ => value.to_string().into(),
    }
}

/// A row for each order at each value of the parameter.
pub fn renyi_curve(curve: &RenyiCurve) -> Table {
    let ids = RenyiReport::ids(curve.rows.iter().flatten());
    let ends = |name: &str| [format!("{name}_lower"), format!("{name}_upper")];
    let header = curve.over.iter().map(|sweep| sweep.key.clone());
    let header = header.chain(["order".to_owned()]).chain(ends("divergence")).chain(["analysis".to_owned()]);
    let mut table = Table::new(header.chain(ids.iter().flat_map(|(id, _)| ends(id))));
    for (index, reports) in curve.rows.iter().enumerate() {
        for report in reports {
            let mut row: Vec<Cell> = curve.over.iter().map(|sweep| value(sweep, index)).collect();
            row.push(report.order.into());
            row.extend(Cell::ends(report.value));
            row.push(report.analysis.into());
            row.extend(ids.iter().flat_map(|(id, _)| Cell::ends(report.of(id))));
            table.push(row);
        }
    }
    table
}

/// A row for each record. There may be more of them than fit into memory, so they are written at once.
pub fn write_records(records: &Records, mut file: impl Write) -> io::Result<()> {
    let given = records.given();
    let asked = given.asked();
    let of_delta = !given.asks_for_epsilon();
    let logarithm = if of_delta { ",log_delta_lower,log_delta_upper" } else { "" };
    writeln!(file, "record,{asked}_lower,{asked}_upper,analysis{logarithm}")?;
    let ends = |value: Option<Enclosure>| {
        let value = value.unwrap_or(Enclosure::INFINITE);
        Cell::ends(Some(Bounds(value))).map(|cell| cell.text()).join(",")
    };
    for row in &records.rows {
        let mut rest = format!("{},{}", ends(row.answer.map(|answer| answer.value)), row.analysis);
        if of_delta {
            rest += &format!(",{}", ends(row.answer.and_then(|answer| answer.log_delta)));
        }
        for record in row.from..=row.to {
            writeln!(file, "{record},{rest}")?;
        }
    }
    Ok(())
}

/// One row: the value that was found, and what it gives.
pub fn calibration(report: &CalibrationReport) -> Table {
    let found = &report.found;
    let (name, given) = match report.target {
        Target::Privacy { delta, .. } => ("epsilon", Some(("delta", delta.get()))),
        Target::Advantage(_) => ("advantage", None),
        Target::TruePositiveRate { at, .. } => ("tpr", Some(("fpr", at.get()))),
    };
    let ends = [format!("{name}_lower"), format!("{name}_upper")];
    let header = ["parameter", "value"].map(str::to_owned).into_iter().chain(ends);
    let header = header.chain(given.map(|(name, _)| name.to_owned()));
    let mut table = Table::new(header.chain(["target", "analysis"].map(str::to_owned)));
    let mut row: Vec<Cell> = vec![found.parameter.key().into(), found.value.into()];
    row.extend(Cell::ends(Some(Bounds(found.achieved))));
    row.extend(given.map(|(_, value)| value.into()));
    row.extend([report.target.limit().into(), found.analysis.into()]);
    table.push(row);
    table
}
