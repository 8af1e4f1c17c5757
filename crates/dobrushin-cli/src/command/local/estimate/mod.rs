//! `dobrushin local estimate`: frequencies or a mean from private reports.

mod frequencies;

use super::arguments::{EstimateArgs, EstimateMethod};
use crate::local_data::{Batch, Mechanism, Reports, parse};
use crate::output::Report;
use crate::problem::Problem;
use crate::table_file::{Cells, Pass};
use dobrushin::Probability;
use dobrushin_document::report::{Estimate, EstimateReport, MeanReport, QuantileReport};
use dobrushin_document::text::Style;
use dobrushin_document::{json, text};
use dobrushin_local::estimate::{CdfEstimator, MeanEstimator, Method};
use dobrushin_local::mean::Target;

/// Reads the reports and estimates.
pub fn run(arguments: &EstimateArgs, style: Style) -> Result<Report, Problem> {
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
                .help("estimate from each file alone"));
        }
        all.push((path, reports.columns));
    }
    let mut tally = Tally::new(&mechanism);
    let mut skipped = 0;
    for (path, columns) in all {
        let pass = Pass { path, skip_bad: arguments.skip_bad, help: BAD_ROWS, show_progress: !style.quiet };
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
            .help("there must be at least one"));
    }
    let estimate = match (&mechanism, &tally) {
        (Mechanism::Frequency(oracle, categories), Tally::Counters(counters, reports, cdf)) => {
            let mut found =
                frequencies::estimate(oracle.as_ref(), categories, counters, *reports, arguments)?;
            found.quantiles = cdf.as_ref().map(|cdf| quantiles(cdf, arguments)).transpose()?;
            Estimate::Frequencies(found)
        }
        (_, Tally::Mean(estimator, _)) => Estimate::Mean(mean(estimator, arguments)?),
        _ => return Err(Problem::new("the reports are of another mechanism")),
    };
    let specification = &description.mechanism;
    let report = EstimateReport {
        reports: tally.reports(),
        confidence: arguments.confidence.get(),
        estimate,
        mechanism: specification.id.name(),
        epsilon: specification.epsilon.get(),
        delta: specification.delta.get(),
        column: description.column,
        skipped,
        private: description.seed.is_none(),
    };
    Ok(Report::new(text::estimate(&report, style), json::of(&report)))
}

/// What to do about rows that are not reports.
const BAD_ROWS: &str = "correct it; or --skip-bad passes over such rows and says how many there were";

/// Quantiles of numbers that were reported in bins.
fn quantiles(estimator: &CdfEstimator, arguments: &EstimateArgs) -> Result<Vec<QuantileReport>, Problem> {
    let cdf = estimator.estimate(arguments.confidence, Method::Certain)?;
    let quantile = |level: &Probability| QuantileReport::new(level.get(), &cdf.quantile(*level));
    Ok(arguments.quantiles.iter().map(quantile).collect())
}

/// The mean, its standard error, and two intervals.
fn mean(estimator: &MeanEstimator, arguments: &EstimateArgs) -> Result<MeanReport, Problem> {
    if arguments.method != EstimateMethod::Unbiased {
        return Err(Problem::new("--method is for frequencies, and these reports are numbers")
            .help("the mean of the reports is unbiased: leave out --method"));
    }
    if arguments.plot.is_some() {
        return Err(Problem::new("--plot is for frequencies, and these reports are numbers")
            .help("a mean is a single number: leave out --plot"));
    }
    Ok(MeanReport::from(&estimator.estimate(arguments.confidence, Target::Population)?))
}

/// The total of some reports, which does not depend on the batches in which they are read.
enum Tally<'a> {
    /// How often each counter was counted, the number of reports, and their distribution if they are numbers in bins.
    Counters(Vec<u64>, u64, Option<Box<CdfEstimator<'a>>>),
    /// The sum and spread of the reports, and their number.
    Mean(MeanEstimator<'a>, u64),
}

/// What a batch adds. Many cores count at the same time, but numbers are added one after another, because rounding
/// depends on the order.
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
                // The reports were checked to be of this mechanism.
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
