//! A channel that was pasted, and what it does.

use dobrushin::kernel::{Contraction, FiniteKernel};
use dobrushin::{Delta, Epsilon, Gamma};
use dobrushin_document::DocumentError;
use dobrushin_document::report::{BendReport, Coefficients, EtaReport, KernelReport, Level};

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
    let eta = |&epsilon: &f64| {
        let level = Level::at_epsilon(Epsilon::new(epsilon)?)?;
        let Contraction { value, pair } = kernel.contraction_with_pair(level.gamma);
        Ok(EtaReport::new(level, value, Some(pair), []))
    };
    let deltas = std::iter::once(0.0).chain(deltas.iter().copied().filter(|delta| *delta != 0.0));
    let at = |delta: f64| {
        let delta = Delta::new(delta)?;
        Ok((delta, kernel.epsilon_at(delta)))
    };
    let tv = kernel.contraction_with_pair(Gamma::ONE);
    let chi2 = kernel.chi_squared_contraction();
    let found = Coefficients {
        eta: levels.iter().map(eta).collect::<Result<_, dobrushin::Error>>()?,
        tv: (tv.value, Some(tv.pair)),
        chi2: (chi2.value, Some((chi2.pair, chi2.weight))),
        epsilon_at_delta: deltas.map(at).collect::<Result<_, dobrushin::Error>>()?,
    };
    let title = format!("A channel with {} inputs and {} outputs", kernel.inputs(), kernel.outputs());
    let mut report = KernelReport::new(title, found);
    (report.inputs, report.outputs) = (Some(kernel.inputs() as u64), Some(kernel.outputs() as u64));
    report.curve = curve.then(|| BendReport::all(&kernel.curve()));
    Ok(report)
}
