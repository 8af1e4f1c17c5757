//! A channel that was pasted, and what it does.

use crate::question::unwatched;
use dobrushin::kernel::FiniteKernel;
use dobrushin::{Delta, Epsilon};
use dobrushin_document::DocumentError;
use dobrushin_document::ask::{self, ChannelWishes};
use dobrushin_document::report::{BendReport, KernelReport, Level};

/// The rows of a text: numbers separated by commas, semicolons or blanks, a line each. A first line without numbers is a
/// header.
pub fn rows(text: &str) -> Result<Vec<Vec<f64>>, DocumentError> {
    const HELP: &str = "a row of output probabilities for each input, such as 0.75, 0.25";
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let line = line.split('#').next().unwrap_or("");
        let cells: Vec<&str> =
            line.split([',', ';', '\t', ' ']).map(str::trim).filter(|cell| !cell.is_empty()).collect();
        if cells.is_empty() || (rows.is_empty() && cells.iter().all(|cell| cell.parse::<f64>().is_err())) {
            continue;
        }
        let of_cell = |(cell, column): (&&str, i32)| {
            cell.parse::<f64>().map_err(|_| {
                DocumentError::new(format!("line {number}, number {column} is {cell:?}, not a number"))
                    .help(HELP)
            })
        };
        let row = cells.iter().zip(1..).map(of_cell).collect::<Result<Vec<_>, _>>()?;
        if let Some(first) = rows.first().filter(|first| first.len() != row.len()) {
            return Err(DocumentError::new(format!(
                "line {number} has {} numbers, but the lines before have {}",
                row.len(),
                first.len()
            ))
            .help(HELP));
        }
        rows.push(row);
    }
    if rows.is_empty() {
        return Err(DocumentError::new("the channel is empty").help(HELP));
    }
    Ok(rows)
}

/// What the channel does at these levels, as `dobrushin kernel` says it.
pub fn report(
    text: &str,
    normalise: bool,
    levels: &[f64],
    deltas: &[f64],
    curve: bool,
) -> Result<KernelReport, DocumentError> {
    let rows = rows(text)?;
    let kernel = if normalise { FiniteKernel::proportional_to(rows) } else { FiniteKernel::new(rows) };
    let kernel = kernel.map_err(|error| {
        let problem = DocumentError::from(error.clone());
        match error {
            dobrushin::Error::SumNotOne { .. } => problem.help("tick “divide each row by its sum”"),
            _ => problem,
        }
    })?;
    let levels = levels.iter().map(|&epsilon| Level::at_epsilon(Epsilon::new(epsilon)?));
    let levels = levels.collect::<Result<Vec<_>, dobrushin::Error>>()?;
    let deltas = deltas.iter().map(|&delta| Delta::new(delta)).collect::<Result<Vec<_>, _>>()?;
    let wishes = ChannelWishes { levels: &levels, deltas: &ask::and_zero(&deltas), tight: &[] };
    let found = ask::channel(&kernel, &wishes, &mut unwatched);
    let title = format!("A channel with {} inputs and {} outputs", kernel.inputs(), kernel.outputs());
    let mut report = KernelReport::new(title, found);
    (report.inputs, report.outputs) = (Some(kernel.inputs() as u64), Some(kernel.outputs() as u64));
    report.curve = curve.then(|| BendReport::all(&kernel.curve()));
    Ok(report)
}
