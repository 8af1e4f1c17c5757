//! Frequencies from private reports.

use super::EstimateArgs;
use crate::command::local::arguments::EstimateMethod;
use crate::local_data::Categories;
use crate::output::Report;
use crate::plot::{Axis, Line, Plot, Scale, Series};
use crate::problem::Problem;
use dobrushin::Error;
use dobrushin::numeric::decimal as number;
use dobrushin_document::json::number as json_number;
use dobrushin_document::plain_text::shown_safely;
use dobrushin_document::text::{Text, aligned};
use dobrushin_local::estimate::{Family, Frequencies, Interval, Stop, maximum_likelihood};
use dobrushin_local::frequency::FrequencyOracle;
use dobrushin_local::mean::Target;
use serde_json::{Value, json};

/// A frequency for each category, with what is known about it.
pub fn report(
    oracle: &dyn FrequencyOracle,
    categories: &Categories,
    counters: &[u64],
    reports: u64,
    arguments: &EstimateArgs,
) -> Result<Report, Problem> {
    let estimates = Estimates::of(oracle, counters, reports, arguments)?;
    let rows: Vec<Row> =
        (0..categories.count()).map(|category| estimates.row(category, categories)).collect();
    if let Some(path) = &arguments.plot {
        draw(&rows, reports, arguments).write(path)?;
    }
    let confidence = number::plain(arguments.confidence.get());
    let mut text = Text::default();
    let mut header = vec!["category", "frequency"];
    header.extend(estimates.errors.as_ref().map(|_| "standard error"));
    header.extend(estimates.certain.iter().flat_map(|_| ["from", "to"]));
    let title = match &estimates.certain {
        Some(_) => format!("Frequencies from {reports} reports, with intervals of {confidence} confidence"),
        None => format!("Frequencies from {reports} reports"),
    };
    let table = aligned(header.into_iter().map(str::to_owned).collect(), rows.iter().map(Row::cells));
    text.answer(format!("{title}\n\n{table}"));
    estimates.notes.iter().for_each(|note| text.answer(note.as_str()));
    text.explanation(estimates.explanation(arguments));
    let json = json!({
        "reports": reports,
        "method": estimates.method,
        "confidence": arguments.confidence.get(),
        "simultaneous": arguments.simultaneous,
        "frequencies": rows.iter().map(Row::json).collect::<Value>(),
    });
    Ok(Report::new(text, json))
}

/// All that is known about the frequencies.
struct Estimates {
    method: &'static str,
    frequencies: Vec<f64>,
    /// Standard errors and intervals by the normal law, of unbiased estimates.
    errors: Option<(Vec<f64>, Vec<Interval>)>,
    /// Intervals that cover the true frequencies, however they are estimated.
    certain: Option<Vec<Interval>>,
    notes: Vec<String>,
}

impl Estimates {
    fn of(
        oracle: &dyn FrequencyOracle,
        counters: &[u64],
        reports: u64,
        arguments: &EstimateArgs,
    ) -> Result<Self, Problem> {
        let family = if arguments.simultaneous { Family::Simultaneous } else { Family::Single };
        let counted = Frequencies::new(oracle, counters, reports);
        let certain =
            counted.as_ref().ok().map(|counted| counted.certain_intervals(arguments.confidence, family));
        let certain = certain.transpose()?;
        let (errors, notes) = (None, Vec::new());
        match arguments.method {
            EstimateMethod::Unbiased => {
                let counted = counted.map_err(|error| impossible(&error, "maximum-likelihood"))?;
                let normal = counted.normal_intervals(arguments.confidence, family, Target::Population)?;
                let errors = Some((counted.standard_errors(Target::Population), normal));
                Ok(Self { method: "unbiased", frequencies: counted.unbiased(), errors, certain, notes })
            }
            EstimateMethod::Projected => {
                let counted = counted.map_err(|error| impossible(&error, "maximum-likelihood"))?;
                Ok(Self { method: "projected", frequencies: counted.projected(), errors, certain, notes })
            }
            EstimateMethod::MaximumLikelihood => {
                let stop = Stop::default();
                let found = maximum_likelihood(oracle, counters, reports, stop)
                    .map_err(|error| impossible(&error, "projected"))?;
                let unfinished = (found.gap > stop.gap).then(|| {
                    format!(
                        "It was stopped after {} steps: the mean log-likelihood may be {:.1e} below the largest.",
                        found.steps, found.gap
                    )
                });
                let notes = unfinished.into_iter().collect();
                Ok(Self {
                    method: "maximum-likelihood",
                    frequencies: found.frequencies,
                    errors,
                    certain,
                    notes,
                })
            }
        }
    }

    fn row(&self, category: u32, categories: &Categories) -> Row {
        let index = category as usize;
        Row {
            category: categories.name(category),
            frequency: self.frequencies[index],
            error: self.errors.as_ref().map(|(errors, _)| errors[index]),
            normal: self.errors.as_ref().map(|(_, normal)| normal[index]),
            certain: self.certain.as_ref().map(|certain| certain[index]),
        }
    }

    fn explanation(&self, arguments: &EstimateArgs) -> String {
        let estimate = match self.method {
            "unbiased" => "The frequencies are right on average, and may be negative.",
            "projected" => {
                "These are the nearest possible frequencies. They are not unbiased: rare ones come out too large."
            }
            _ => "These make the reports most likely. They are not unbiased: rare ones come out too large.",
        };
        let cover = match (&self.certain, arguments.simultaneous) {
            (None, _) => "",
            (_, true) => {
                "\nAll intervals at once cover the true frequencies with at least the confidence, for any number of reports."
            }
            (_, false) => {
                "\nEach interval covers the true frequency with at least the confidence, for any number of reports;\n\
                 --simultaneous makes them cover all at once."
            }
        };
        format!("{estimate}{cover}")
    }
}

/// One category.
struct Row {
    category: String,
    frequency: f64,
    error: Option<f64>,
    normal: Option<Interval>,
    certain: Option<Interval>,
}

impl Row {
    fn cells(&self) -> Vec<String> {
        let shown = |value: f64| format!("{value:.6}");
        let ends = self.certain.map(|interval| [interval.lower, interval.upper].map(shown));
        let frequency = [shown_safely(&self.category), shown(self.frequency)];
        frequency.into_iter().chain(self.error.map(shown)).chain(ends.into_iter().flatten()).collect()
    }

    fn json(&self) -> Value {
        let interval = |of: Interval| json!({ "from": json_number(of.lower), "to": json_number(of.upper) });
        let mut fields = json!({ "category": self.category, "frequency": json_number(self.frequency) });
        for (key, value) in [
            ("standard_error", self.error.map(json_number)),
            ("interval", self.normal.map(interval)),
            ("certain_interval", self.certain.map(interval)),
        ] {
            if let Some(value) = value {
                fields[key] = value;
            }
        }
        fields
    }
}

/// The mechanism has no such estimate.
fn impossible(error: &Error, instead: &str) -> Problem {
    Problem::new(error.to_string()).help(format!("--method {instead} is possible"))
}

/// How many categories the caption of a picture names.
const NAMED: usize = 40;

fn draw(rows: &[Row], reports: u64, arguments: &EstimateArgs) -> Plot {
    let places = || (1..).map(f64::from);
    let bars = places().zip(rows).filter_map(|(place, row)| {
        let Interval { lower, upper } = row.certain?;
        Some([(place, lower), (place, upper), (f64::NAN, f64::NAN)])
    });
    let confidence = number::plain(arguments.confidence.get());
    let bars = Series {
        label: format!("interval, {confidence}"),
        points: bars.flatten().collect(),
        line: Line::Solid,
    };
    let points = places().zip(rows.iter().map(|row| row.frequency)).collect();
    let marks = Series { label: "estimate".to_owned(), points, line: Line::Marks };
    let name = |(place, row): (f64, &Row)| format!("{place} {}", shown_safely(&row.category));
    let names = places().zip(rows).take(NAMED).map(name);
    let names: Vec<String> = names.collect();
    let more = if rows.len() > NAMED { ", …" } else { "" };
    Plot {
        title: format!("Frequencies from {reports} private reports"),
        x: Axis { label: "category".to_owned(), scale: Scale::Linear },
        y: Axis { label: "frequency".to_owned(), scale: Scale::Linear },
        series: if bars.points.is_empty() { vec![marks] } else { vec![bars, marks] },
        caption: vec![format!("{}{more}", names.join(", "))],
    }
}
