//! Reading laws on finitely many outcomes from CSV.

use crate::probabilities;
use crate::problem::Problem;
use dobrushin::divergence::{DiscretePair, FiniteLaw};
use std::path::Path;

/// P and Q from two rows or two columns.
pub fn pair(file: &Path, normalise: bool) -> Result<DiscretePair, Problem> {
    let rows = probabilities::read(file)?;
    let width = rows.first().map_or(0, Vec::len);
    let column = |c: usize| rows.iter().map(|row| row[c]).collect::<Vec<f64>>();
    // A two-by-two table may be meant either way. If both readings are laws, they give the same pair.
    let sums_to_one = |law: &[f64]| (law.iter().sum::<f64>() - 1.0).abs() < 1e-6;
    let as_rows = match (rows.len(), width) {
        (2, 2) => !(sums_to_one(&column(0)) && sums_to_one(&column(1))),
        (2, _) => true,
        (_, 2) => false,
        (lines, columns) => {
            let shape = format!("{} has {lines} lines of {columns} numbers", file.display());
            return Err(Problem::new(format!("{shape}, but two laws are two lines or two columns")));
        }
    };
    let (kind, p, q) =
        if as_rows { ("line", rows[0].clone(), rows[1].clone()) } else { ("column", column(0), column(1)) };
    let law = |name: &str, number: usize, values: Vec<f64>| {
        let name = format!("{name} ({kind} {number} of numbers)");
        law(&name, values, normalise, "--normalise divides P and Q by their sums")
    };
    Ok(DiscretePair::new(law("P", 1, p)?, law("Q", 2, q)?)?)
}

/// Several laws, each a row.
pub fn family(file: &Path, normalise: bool) -> Result<Vec<FiniteLaw>, Problem> {
    let rows = probabilities::read(file)?.into_iter().enumerate();
    let help = "each line is a law; --normalise divides it by its sum";
    rows.map(|(index, row)| law(&format!("law {} of {}", index + 1, file.display()), row, normalise, help))
        .collect()
}

/// One law, a row or a column.
pub fn one(file: &Path, normalise: bool) -> Result<FiniteLaw, Problem> {
    let rows = probabilities::read(file)?;
    let (lines, columns) = (rows.len(), rows.first().map_or(0, Vec::len));
    if lines > 1 && columns > 1 {
        let shape = format!("{} has {lines} lines of {columns} numbers", file.display());
        return Err(Problem::new(format!("{shape}, but one law is one line or one column")));
    }
    let help = "--normalise divides it by its sum";
    law(&format!("the law in {}", file.display()), rows.concat(), normalise, help)
}

fn law(name: &str, values: Vec<f64>, normalise: bool, help: &str) -> Result<FiniteLaw, Problem> {
    let built =
        if normalise { FiniteLaw::proportional_to(name, values) } else { FiniteLaw::new(name, values) };
    built.map_err(|error| {
        let problem = Problem::new(error.to_string());
        if matches!(error, dobrushin::Error::SumNotOne { .. }) { problem.help(help) } else { problem }
    })
}
