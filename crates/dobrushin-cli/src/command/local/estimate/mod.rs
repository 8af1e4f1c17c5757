//! `dobrushin local estimate`: frequencies or a mean from private reports.

mod frequencies;
mod mean;
mod quantiles;

use super::arguments::EstimateArgs;
use crate::local_data::{Batch, Description, Mechanism, NOT_PRIVATE, Reports, parse};
use crate::output::Report;
use crate::problem::Problem;
use crate::table_file::{Cells, Pass};
use dobrushin_local::estimate::{CdfEstimator, MeanEstimator};
use serde_json::json;

/// Reads the reports, and estimates.
pub fn run(arguments: &EstimateArgs, show_progress: bool) -> Result<Report, Problem> {
    let Some((first_path, others)) = arguments.reports.split_first() else {
        return Err(Problem::new("no file of reports is given"));
    };
    let Reports { description, mechanism, columns } = Reports::open(first_path)?;
    let mut all = vec![(first_path, columns)];
    for path in others {
        let reports = Reports::open(path)?;
        if let Some(difference) = description.difference(&reports.description) {
            let [one, other] = [first_path, path].map(|path| path.display());
            return Err(Problem::new(format!("{one} and {other} cannot be counted together: {difference}"))
                .help("estimate from each alone"));
        }
        all.push((path, reports.columns));
    }
    let mut tally = Tally::new(&mechanism);
    let mut skipped = 0;
    for (path, columns) in all {
        let pass = Pass { path, skip_bad: arguments.skip_bad, help: BAD_ROWS, show_progress };
        let work = |_: u64, cells: &Cells| {
            let (batch, bad) = parse(cells, &mechanism);
            (Part::of(&mechanism, batch), bad)
        };
        skipped += pass.run(columns, work, |part| {
            tally.add(&part);
            Ok(())
        })?;
    }
    if tally.reports() == 0 {
        return Err(Problem::new(format!("{} has no reports", first_path.display()))
            .help("there must be one at least"));
    }
    let mut report = match (&mechanism, &tally) {
        (Mechanism::Frequency(oracle, categories), Tally::Counters(counters, reports, cdf)) => {
            let mut report = frequencies::report(oracle.as_ref(), categories, counters, *reports, arguments)?;
            if let Some(cdf) = cdf {
                quantiles::tell(&mut report, cdf, arguments)?;
            }
            report
        }
        (_, Tally::Mean(estimator, _)) => mean::report(estimator, &description, arguments)?,
        _ => return Err(Problem::new("the reports are of another mechanism")),
    };
    tell(&mut report, &description, skipped);
    Ok(report)
}

/// What to do about rows that are no reports.
const BAD_ROWS: &str = "correct it; or --skip-bad passes over such rows and says how many there were";

/// What is common to all estimates.
fn tell(report: &mut Report, description: &Description, skipped: u64) {
    let specification = &description.mechanism;
    report.json["mechanism"] = json!(specification.id.name());
    report.json["epsilon"] = json!(specification.epsilon.get());
    report.json["delta"] = json!(specification.delta.get());
    report.json["column"] = json!(description.column);
    report.json["skipped"] = json!(skipped);
    report.json["private"] = json!(description.seed.is_none());
    if skipped > 0 {
        report.text.answer(format!("{skipped} rows were no reports and are not counted"));
    }
    if description.seed.is_some() {
        report.text.answer(format!("The reports were drawn from a known seed: {NOT_PRIVATE}"));
    }
}

/// What reports add up to, which does not depend on the batches in which they are read.
enum Tally<'a> {
    /// How often each counter was counted, the number of reports, and their distribution if they are numbers in bins.
    Counters(Vec<u64>, u64, Option<Box<CdfEstimator<'a>>>),
    /// Their sum and spread, and their number.
    Mean(MeanEstimator<'a>, u64),
}

/// What a batch adds: what is counted is counted by many cores, but numbers are added up one after another, since
/// rounding depends on the order.
enum Part<'a> {
    Counted(Tally<'a>),
    Numbers(Vec<f64>),
}

impl<'a> Part<'a> {
    fn of(mechanism: &'a Mechanism, batch: Batch) -> Self {
        let mut tally = Tally::new(mechanism);
        match (&mut tally, mechanism, batch) {
            (_, _, Batch::Numbers(numbers)) => return Self::Numbers(numbers),
            (
                Tally::Counters(counters, reports, cdf),
                Mechanism::Frequency(oracle, _),
                Batch::Words(words, width),
            ) => {
                oracle.count_all(&words, counters);
                if let Some(cdf) = cdf {
                    words.chunks_exact(width).for_each(|report| cdf.add(report));
                }
                *reports += (words.len() / width) as u64;
            }
            // The words were read for this mechanism.
            _ => {}
        }
        Self::Counted(tally)
    }
}

impl<'a> Tally<'a> {
    fn new(mechanism: &'a Mechanism) -> Self {
        match mechanism {
            Mechanism::Frequency(oracle, categories) => {
                let bins = categories.bins();
                let cdf = bins.and_then(|bins| CdfEstimator::new(bins, oracle.as_ref()).ok().map(Box::new));
                Self::Counters(vec![0; oracle.counters()], 0, cdf)
            }
            Mechanism::Mean(mechanism) => Self::Mean(MeanEstimator::new(mechanism.as_ref()), 0),
        }
    }

    fn add(&mut self, part: &Part<'a>) {
        match (self, part) {
            (Self::Counters(counters, reports, cdf), Part::Counted(Tally::Counters(others, more, other))) => {
                if let (Some(cdf), Some(other)) = (cdf, other) {
                    cdf.merge(other);
                }
                counters.iter_mut().zip(others).for_each(|(counter, other)| *counter += other);
                *reports += more;
            }
            (Self::Mean(estimator, reports), Part::Numbers(numbers)) => {
                // They were checked to be reports of this mechanism.
                numbers.iter().for_each(|&report| estimator.add(report).unwrap_or(()));
                *reports += numbers.len() as u64;
            }
            // All parts are of the same mechanism.
            _ => {}
        }
    }

    fn reports(&self) -> u64 {
        match self {
            Self::Counters(_, reports, _) | Self::Mean(_, reports) => *reports,
        }
    }
}
