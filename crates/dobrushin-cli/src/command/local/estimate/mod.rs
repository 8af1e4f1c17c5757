//! `dobrushin local estimate`: frequencies or a mean from private reports.

mod frequencies;

use super::arguments::{EstimateArgs, EstimateMethod};
use crate::local_data::{Batch, Mechanism, Question, Reports, asked_word, parse};
use crate::output::Report;
use crate::problem::Problem;
use crate::table_file::{Cells, Pass};
use dobrushin::Probability;
use dobrushin_document::report::{
    Estimate, EstimateReport, MeanReport, QuantileReport, SurveyReport, VectorReport,
};
use dobrushin_document::text::Style;
use dobrushin_document::{csv, json, text};
use dobrushin_local::estimate::{CdfEstimator, Family, MeanEstimator, Method, VectorEstimator};
use dobrushin_local::mean::Target;

/// Reads the reports and estimates.
pub fn run(arguments: &EstimateArgs, style: Style) -> Result<Report, Problem> {
    let Some((first_path, others)) = arguments.reports.split_first() else {
        return Err(Problem::new("no file of reports is given"));
    };
    let Reports { description, mechanisms, columns } = Reports::open(first_path)?;
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
    let mut tallies: Vec<Tally> = mechanisms.iter().map(Tally::new).collect();
    let (mut rows, mut skipped) = (0, 0);
    let one_is_answered = description.one_is_answered();
    for (path, columns) in all {
        let pass = Pass { path, skip_bad: arguments.skip_bad, help: BAD_ROWS, show_progress: !style.quiet };
        let work = |_: u64, cells: &Cells| {
            let (batches, bad) = parse(cells, &mechanisms, one_is_answered);
            let parts = mechanisms.iter().zip(batches).map(|(mechanism, batch)| Part::of(mechanism, batch));
            ((parts.collect::<Vec<_>>(), cells.rows() as u64 - bad.count), bad)
        };
        skipped += pass.run(columns, work, |(parts, count)| {
            tallies.iter_mut().zip(&parts).for_each(|(tally, part)| tally.add(part));
            rows += count;
            Ok(())
        })?;
    }
    if rows == 0 {
        return Err(Problem::new(format!("{} has no reports", first_path.display()))
            .help("there must be at least one"));
    }
    let private = description.seed.is_none();
    let each = of_each(arguments, mechanisms.len())?;
    let report = |(question, (mechanism, tally)): (&Question, (&Mechanism, &Tally))| {
        let specification = &question.mechanism;
        Ok(EstimateReport {
            reports: tally.reports(),
            confidence: arguments.confidence.get(),
            estimate: estimate(question, mechanism, tally, &each)?,
            mechanism: specification.id.name(),
            epsilon: specification.epsilon.get(),
            delta: specification.delta.get(),
            column: question.name(),
            skipped,
            private,
        })
    };
    let pairs = description.questions.iter().zip(mechanisms.iter().zip(&tallies));
    let mut questions = pairs.map(report).collect::<Result<Vec<EstimateReport>, Problem>>()?;
    let table = csv::estimates(&questions);
    if let Some((promise, asked)) = description.survey {
        let report = SurveyReport {
            reports: rows,
            epsilon: promise.epsilon.get(),
            delta: promise.delta.get(),
            answer: asked_word(asked),
            questions,
            skipped,
            private,
        };
        return Ok(Report::new(text::survey(&report, style), json::of(&report)).with_table(table));
    }
    let report = questions.remove(0);
    Ok(Report::new(text::estimate(&report, style), json::of(&report)).with_table(table))
}

/// The arguments for each of several questions: intervals that cover at once share the error among the questions.
fn of_each(arguments: &EstimateArgs, questions: usize) -> Result<EstimateArgs, Problem> {
    let mut each = arguments.clone();
    if questions > 1 {
        if arguments.plot.is_some() {
            return Err(Problem::new("--plot is for one question, and there are several")
                .help("--csv FILE writes the estimates of all questions"));
        }
        if arguments.simultaneous {
            let error = (1.0 - arguments.confidence.get()) / questions as f64;
            each.confidence = Probability::new((1.0 - error).next_up().min(1.0))?;
        }
    }
    Ok(each)
}

/// What the reports on one question say.
fn estimate(
    question: &Question,
    mechanism: &Mechanism,
    tally: &Tally,
    arguments: &EstimateArgs,
) -> Result<Estimate, Problem> {
    if tally.reports() == 0 {
        return Err(Problem::new(format!("nobody answered the question about {}", question.name()))
            .help("there must be at least one report on each question"));
    }
    Ok(match (mechanism, tally) {
        (Mechanism::Frequency(oracle, categories), Tally::Counters(counters, reports, cdf)) => {
            let mut found =
                frequencies::estimate(oracle.as_ref(), categories, counters, *reports, arguments)?;
            found.quantiles = cdf.as_ref().map(|cdf| quantiles(cdf, arguments)).transpose()?;
            Estimate::Frequencies(found)
        }
        (_, Tally::Mean(estimator, _)) => Estimate::Mean(mean(estimator, arguments)?),
        (_, Tally::Vector(estimator)) => Estimate::Vector(vector(question, estimator, arguments)?),
        _ => return Err(Problem::new("the reports are of another mechanism")),
    })
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
    only_unbiased(arguments)?;
    Ok(MeanReport::from(&estimator.estimate(arguments.confidence, Target::Population)?))
}

/// The mean of the vectors, and of each coordinate.
fn vector(
    question: &Question,
    estimator: &VectorEstimator,
    arguments: &EstimateArgs,
) -> Result<VectorReport, Problem> {
    only_unbiased(arguments)?;
    let family = if arguments.simultaneous { Family::Simultaneous } else { Family::Single };
    let coordinates = estimator.coordinates(arguments.confidence, family)?;
    let whole = estimator.estimate(arguments.confidence)?;
    Ok(VectorReport::new(&question.columns, &coordinates, arguments.simultaneous, &whole))
}

/// Refuses what is for frequencies.
fn only_unbiased(arguments: &EstimateArgs) -> Result<(), Problem> {
    if arguments.method != EstimateMethod::Unbiased {
        return Err(Problem::new("--method is for frequencies, and these reports are numbers")
            .help("the mean of the reports is unbiased: leave out --method"));
    }
    if arguments.plot.is_some() {
        return Err(Problem::new("--plot is for frequencies, and these reports are numbers")
            .help("a mean is a single number: leave out --plot"));
    }
    Ok(())
}

/// The total of some reports, which does not depend on the batches in which they are read.
enum Tally<'a> {
    /// How often each counter was counted, the number of reports, and their distribution if they are numbers in bins.
    Counters(Vec<u64>, u64, Option<Box<CdfEstimator<'a>>>),
    /// The sum and spread of the reports, and their number.
    Mean(MeanEstimator<'a>, u64),
    /// The sum of the decoded reports.
    Vector(VectorEstimator<'a>),
}

/// What a batch adds. Many cores count at the same time, but numbers are added one after another, because rounding
/// depends on the order.
enum Part<'a> {
    Counted(Tally<'a>),
    Numbers(Vec<f64>),
    /// Decoded reports, one after another.
    Vectors(Vec<f64>, usize),
}

impl<'a> Part<'a> {
    fn of(mechanism: &'a Mechanism, batch: Batch) -> Self {
        let mut tally = Tally::new(mechanism);
        match (&mut tally, mechanism, batch) {
            (_, _, Batch::Numbers(numbers)) => return Self::Numbers(numbers),
            (_, Mechanism::Vector(mechanism), Batch::Words(words, _)) => {
                let decoded = words.as_chunks().0.iter().flat_map(|report| mechanism.vector(*report));
                return Self::Vectors(decoded.collect(), mechanism.dimension().get() as usize);
            }
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
            Mechanism::Vector(mechanism) => Self::Vector(VectorEstimator::new(mechanism.as_ref())),
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
            (Self::Vector(estimator), Part::Vectors(vectors, dimension)) => {
                vectors.chunks_exact(*dimension).for_each(|vector| estimator.add_decoded(vector));
            }
            // All parts are of the same mechanism.
            _ => {}
        }
    }

    fn reports(&self) -> u64 {
        match self {
            Self::Counters(_, reports, _) | Self::Mean(_, reports) => *reports,
            Self::Vector(estimator) => estimator.records(),
        }
    }
}
