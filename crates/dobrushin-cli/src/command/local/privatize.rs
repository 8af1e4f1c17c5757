//! `dobrushin local privatize`: a column of answers as private reports.

use super::arguments::PrivatizeArgs;
use super::promise::{Promise, claim};
use crate::cli::Common;
use crate::file::Place;
use crate::local_data::{BAD_ROWS, Batch, Description, Mechanism, NOT_PRIVATE, Writer, number};
use crate::output::{Report, Text, bounds, say};
use crate::problem::Problem;
use crate::table_file::{BadRow, Cells, Input, Pass};
use dobrushin::local::RandomBits;
use dobrushin_train::{Generators, Seed};
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;

/// Writes the reports to `--output`, or to standard output, and says what was done.
pub fn run(arguments: &PrivatizeArgs, common: &Common) -> Result<ExitCode, Problem> {
    let to = common.destination();
    let report = privatize(arguments, to, !common.quiet)?;
    // The reports may have taken the place where answers are printed.
    let rest = Common { json: common.json, quiet: common.quiet, output: None };
    if matches!(Place::of(to), Ok(Place::Standard)) {
        say(&report.rendered(&rest));
    } else {
        report.print(&rest)?;
    }
    Ok(report.exit_code())
}

fn privatize(arguments: &PrivatizeArgs, to: &Path, show_progress: bool) -> Result<Report, Problem> {
    let specification = arguments.mechanism.specification(arguments.epsilon)?;
    let mechanism = specification.build()?;
    let promise = Promise::of(&specification, &mechanism);
    promise.require(&specification)?;
    let description = Description {
        mechanism: specification.clone(),
        column: arguments.column.clone(),
        seed: arguments.seed,
    };
    let generators = Generators::new(arguments.seed.map_or(Seed::OperatingSystem, Seed::Known))?;
    let input = Input { path: &arguments.data, no_header: arguments.no_header };
    let columns = input.column(&arguments.column)?;
    let mut writer = Writer::new(to, &description, &mechanism)?;
    let form = writer.form();
    let work = |number: u64, cells: &Cells| {
        let answers = Answered::read(cells, &mechanism);
        let (rows, clipped) = (answers.rows(), answers.clipped);
        let batch = answers.values.privatised(&mechanism, &mut generators.stream(number));
        ((form.encode(batch), rows, clipped), answers.bad)
    };
    let (mut reports, mut clipped) = (0, 0);
    let pass = Pass { path: &arguments.data, skip_bad: arguments.skip_bad, help: BAD_ROWS, show_progress };
    let skipped = pass.run(columns, work, |(batch, rows, outside)| {
        reports += rows;
        clipped += outside;
        writer.write(to, batch)
    })?;
    writer.finish(to)?;

    let mut text = Text::default();
    let name = specification.id.name();
    text.answer(match arguments.seed {
        None => format!("{reports} reports, each {}-locally private by {name}", claim(&specification)),
        Some(seed) => format!("{reports} reports by {name} from seed {seed}: {NOT_PRIVATE}"),
    });
    let mut counts = Vec::new();
    counts.extend((skipped > 0).then(|| format!("{skipped} rows could not be used and have no report")));
    counts.extend(
        (clipped > 0).then(|| format!("{clipped} numbers were outside the bounds and moved to them")),
    );
    if !counts.is_empty() {
        let counts = counts.join("; ");
        text.answer(format!(
            "{counts}. These counts are not private: they are for you, not to be published."
        ));
    }
    let json = json!({
        "reports": reports,
        "skipped": skipped,
        "clipped": clipped,
        "mechanism": name,
        "epsilon": specification.epsilon.get(),
        "delta": specification.delta.get(),
        "exact_delta": bounds(promise.delta),
        "private": arguments.seed.is_none(),
        "output": to.display().to_string(),
    });
    Ok(Report::new(text, json))
}

/// The answers of a batch.
struct Answered {
    values: Values,
    clipped: u64,
    bad: Vec<BadRow>,
}

enum Values {
    Categories(Vec<u32>),
    Numbers(Vec<f64>),
}

impl Answered {
    fn read(cells: &Cells, mechanism: &Mechanism) -> Self {
        let (mut bad, mut clipped) = (Vec::new(), 0);
        let rows = cells.iter().map(|(place, mut row)| (place, row.next().unwrap_or_default()));
        let mut refuse = |place: u64, what: String| bad.push(BadRow { place, what });
        let values = match mechanism {
            Mechanism::Frequency(_, categories) => Values::Categories(
                rows.filter_map(|(place, cell)| {
                    let found = categories.find(cell).map_err(|what| refuse(place, what)).ok()?;
                    clipped += u64::from(found.clipped);
                    Some(found.category)
                })
                .collect(),
            ),
            Mechanism::Mean(mechanism) => {
                let bounds = mechanism.bounds();
                let clip = |value: f64| bounds.clip(value).map_err(|error| error.to_string());
                Values::Numbers(
                    rows.filter_map(|(place, cell)| {
                        let value = number(cell).and_then(clip).map_err(|what| refuse(place, what)).ok()?;
                        clipped += u64::from(value.clipped);
                        Some(value.value)
                    })
                    .collect(),
                )
            }
        };
        Self { values, clipped, bad }
    }

    fn rows(&self) -> u64 {
        match &self.values {
            Values::Categories(values) => values.len() as u64,
            Values::Numbers(values) => values.len() as u64,
        }
    }
}

impl Values {
    fn privatised(&self, mechanism: &Mechanism, bits: &mut impl RandomBits) -> Batch {
        match (self, mechanism) {
            (Self::Categories(categories), Mechanism::Frequency(oracle, _)) => {
                let mut reports = Vec::new();
                oracle.privatise_all(categories, bits, &mut reports);
                Batch::Words(reports, oracle.report_words())
            }
            (Self::Numbers(numbers), Mechanism::Mean(mechanism)) => {
                Batch::Numbers(numbers.iter().map(|&value| mechanism.privatise(value, bits)).collect())
            }
            // The values were read for this mechanism.
            _ => Batch::Numbers(Vec::new()),
        }
    }
}
