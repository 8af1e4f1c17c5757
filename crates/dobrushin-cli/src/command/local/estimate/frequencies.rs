//! Frequencies from private reports.

use super::{EstimateArgs, EstimateMethod};
use crate::local_data::Categories;
use crate::plot::{Axis, Line, Plot, Scale, Series};
use crate::problem::Problem;
use dobrushin::numeric::decimal as number;
use dobrushin::{Error, Probability};
use dobrushin_document::json::Number;
use dobrushin_document::plain_text::shown_safely;
use dobrushin_document::report::{FrequenciesReport, FrequencyReport};
use dobrushin_local::estimate::{Family, Frequencies, Interval, Inversion, Stop, maximum_likelihood};
use dobrushin_local::frequency::FrequencyOracle;
use dobrushin_local::mean::Target;

/// A frequency for each category, with what is known about it.
pub fn estimate(
    oracle: &dyn FrequencyOracle,
    categories: &Categories,
    counters: &[u64],
    reports: u64,
    arguments: &EstimateArgs,
) -> Result<FrequenciesReport, Problem> {
    let family = if arguments.simultaneous { Family::Simultaneous } else { Family::Single };
    let counted = Counted::new(oracle, counters, reports);
    // These intervals cover the true frequencies, however those are estimated.
    let certain = counted.as_ref().ok();
    let certain =
        certain.map(|counted| counted.certain_intervals(arguments.confidence, family)).transpose()?;
    // The standard errors and normal intervals are those of unbiased estimates.
    let mut errors: Option<(Vec<f64>, Vec<Interval>)> = None;
    let mut notes = Vec::new();
    let (method, frequencies) = match arguments.method {
        EstimateMethod::Unbiased => {
            let counted = counted.map_err(|error| impossible(&error, "maximum-likelihood"))?;
            let normal = counted.normal_intervals(arguments.confidence, family)?;
            errors = Some((counted.standard_errors(), normal));
            ("unbiased", counted.unbiased())
        }
        EstimateMethod::Projected => {
            let counted = counted.map_err(|error| impossible(&error, "maximum-likelihood"))?;
            ("projected", counted.projected())
        }
        EstimateMethod::MaximumLikelihood => {
            let stop = Stop::default();
            let found = maximum_likelihood(oracle, counters, reports, stop)
                .map_err(|error| impossible(&error, "projected"))?;
            notes.extend((found.gap > stop.gap).then(|| {
                format!(
                    "It was stopped after {} steps: the mean log-likelihood may be {:.1e} below the largest.",
                    found.steps, found.gap
                )
            }));
            ("maximum-likelihood", found.frequencies)
        }
    };
    let row = |(index, frequency): (usize, f64)| FrequencyReport {
        category: categories.name(index as u32),
        frequency: Number(frequency),
        standard_error: errors.as_ref().map(|(errors, _)| Number(errors[index])),
        interval: errors.as_ref().map(|(_, normal)| normal[index].into()),
        certain_interval: certain.as_ref().map(|certain| certain[index].into()),
    };
    let frequencies: Vec<FrequencyReport> =
        frequencies.into_iter().take(categories.count() as usize).enumerate().map(row).collect();
    if let Some(path) = &arguments.plot {
        draw(&frequencies, reports, arguments).write(path)?;
    }
    let simultaneous = arguments.simultaneous;
    Ok(FrequenciesReport { method, simultaneous, frequencies, quantiles: None, notes })
}

/// The unbiased estimates of a mechanism: from what its reports support, or by inverting it.
enum Counted {
    Supported(Frequencies),
    Inverted(Inversion),
}

impl Counted {
    fn new(oracle: &dyn FrequencyOracle, counters: &[u64], reports: u64) -> Result<Self, Error> {
        match oracle.support() {
            Some(_) => Frequencies::new(oracle, counters, reports).map(Self::Supported),
            None => Inversion::new(oracle, counters, reports).map(Self::Inverted),
        }
    }

    fn unbiased(&self) -> Vec<f64> {
        match self {
            Self::Supported(counted) => counted.unbiased(),
            Self::Inverted(counted) => counted.unbiased().to_vec(),
        }
    }

    fn projected(&self) -> Vec<f64> {
        match self {
            Self::Supported(counted) => counted.projected(),
            Self::Inverted(counted) => counted.projected(),
        }
    }

    fn standard_errors(&self) -> Vec<f64> {
        match self {
            Self::Supported(counted) => counted.standard_errors(Target::Population),
            Self::Inverted(counted) => counted.standard_errors(),
        }
    }

    fn normal_intervals(&self, confidence: Probability, family: Family) -> Result<Vec<Interval>, Error> {
        match self {
            Self::Supported(counted) => counted.normal_intervals(confidence, family, Target::Population),
            Self::Inverted(counted) => counted.normal_intervals(confidence, family),
        }
    }

    fn certain_intervals(&self, confidence: Probability, family: Family) -> Result<Vec<Interval>, Error> {
        match self {
            Self::Supported(counted) => counted.certain_intervals(confidence, family),
            Self::Inverted(counted) => counted.certain_intervals(confidence, family),
        }
    }
}

/// Says that the mechanism does not have this estimate.
fn impossible(error: &Error, instead: &str) -> Problem {
    Problem::new(error.to_string()).help(format!("--method {instead} is possible"))
}

/// A picture has room for this many categories at its ticks, and names this many below.
const AT_TICKS: usize = 10;
const NAMED: usize = 40;

fn draw(rows: &[FrequencyReport], reports: u64, arguments: &EstimateArgs) -> Plot {
    let places = || (1..).map(f64::from);
    let bars = places().zip(rows).filter_map(|(place, row)| {
        let span = row.certain_interval?;
        Some([(place, span.from.0), (place, span.to.0)])
    });
    let confidence = number::plain(arguments.confidence.get());
    let bars = Series::new(format!("interval, {confidence}"), bars.flatten().collect(), Line::Spans);
    let points = places().zip(rows.iter().map(|row| row.frequency.0)).collect();
    let marks = Series::new("estimate", points, Line::Marks);
    let names = rows.iter().map(|row| shown_safely(&row.category)).collect::<Vec<String>>();
    let (scale, caption) = match names.len() > AT_TICKS {
        false => (Scale::Words(names), Vec::new()),
        true => {
            let first =
                names.iter().take(NAMED).enumerate().map(|(place, name)| format!("{} {name}", place + 1));
            let more = if names.len() > NAMED { ", …" } else { "" };
            (Scale::Linear, vec![format!("{}{more}", first.collect::<Vec<_>>().join(", "))])
        }
    };
    Plot {
        title: format!("Frequencies from {reports} private reports"),
        x: Axis { label: "category".to_owned(), scale },
        y: Axis { label: "frequency".to_owned(), scale: Scale::Linear },
        series: if bars.points.is_empty() { vec![marks] } else { vec![bars, marks] },
        caption,
    }
}
