//! `local`: what is found, as lines of CSV files.
//!
//! Numbers have the shortest digits that are read back as the same number, and what does not apply is empty.

use super::local::{
    Estimate, EstimateReport, FrequenciesReport, MeanReport, PlansReport, ProfileReport, Span,
};
use crate::json::Number;
use crate::plain_text::csv_cell;

/// A table, its header first.
struct Lines(Vec<Vec<String>>);

impl Lines {
    fn new<const N: usize>(header: [&str; N]) -> Self {
        Self(vec![header.map(str::to_owned).to_vec()])
    }

    fn text(self) -> String {
        let line = |cells: Vec<String>| cells.join(",") + "\n";
        self.0.into_iter().map(line).collect()
    }
}

/// A line for each category, number, coordinate and quantile that is estimated, of all questions.
pub fn estimates_csv(questions: &[EstimateReport]) -> String {
    let mut lines = Lines::new([
        "column",
        "what",
        "name",
        "estimate",
        "standard_error",
        "from",
        "to",
        "certain_from",
        "certain_to",
        "reports",
        "mechanism",
        "epsilon",
        "delta",
    ]);
    for question in questions {
        let mut add = |column: &str, what: &str, name: &str, numbers: [String; 6]| {
            let [epsilon, delta] = [question.epsilon, question.delta].map(digits);
            let first = [csv_cell(column), what.to_owned(), csv_cell(name)].into_iter().chain(numbers);
            let last = [question.reports.to_string(), question.mechanism.clone(), epsilon, delta];
            lines.0.push(first.chain(last).collect());
        };
        match &question.estimate {
            Estimate::Frequencies(found) => {
                of_frequencies(found, |what, name, numbers| add(&question.column, what, name, numbers));
            }
            Estimate::Mean(found) => add(&question.column, "mean", "", of_mean(found)),
            Estimate::Vector(found) => {
                for coordinate in &found.coordinates {
                    add(&coordinate.column, "coordinate", "", of_mean(&coordinate.mean));
                }
            }
        }
    }
    lines.text()
}

fn of_frequencies(found: &FrequenciesReport, mut add: impl FnMut(&str, &str, [String; 6])) {
    for row in &found.frequencies {
        let error = row.standard_error.map_or_else(String::new, |Number(error)| digits(error));
        let [[from, to], [certain_from, certain_to]] = [row.interval, row.certain_interval].map(ends);
        add("frequency", &row.category, [digits(row.frequency.0), error, from, to, certain_from, certain_to]);
    }
    for quantile in found.quantiles.iter().flatten() {
        let [certain_from, certain_to] = ends(Some(quantile.certain_interval));
        let none = String::new;
        let numbers = [digits(quantile.value.0), none(), none(), none(), certain_from, certain_to];
        add("quantile", &digits(quantile.level), numbers);
    }
}

fn of_mean(found: &MeanReport) -> [String; 6] {
    let [[from, to], [certain_from, certain_to]] =
        [found.interval, found.certain_interval].map(|span| ends(Some(span)));
    [digits(found.mean.0), digits(found.standard_error.0), from, to, certain_from, certain_to]
}

/// A line for each mechanism, best first.
pub fn plans_csv(report: &PlansReport) -> String {
    let mut lines = Lines::new([
        "mechanism",
        "records",
        "standard_error",
        "standard_error_of_one_category",
        "epsilon",
        "delta",
    ]);
    for plan in &report.plans {
        let one = plan.of_one_category.map_or_else(String::new, |Number(error)| digits(error));
        let [error, epsilon, delta] = [plan.standard_error.0, report.epsilon, report.delta].map(digits);
        let mechanism = csv_cell(plan.mechanism);
        lines.0.push(vec![mechanism, plan.records.to_string(), error, one, epsilon, delta]);
    }
    lines.text()
}

/// A line for each level ε.
pub fn profile_csv(report: &ProfileReport) -> String {
    let mut lines = Lines::new(["mechanism", "epsilon", "delta_lower", "delta_upper"]);
    for eta in &report.eta {
        let [epsilon, lower, upper] = [eta.epsilon, eta.value.0.lower(), eta.value.0.upper()].map(digits);
        lines.0.push(vec![csv_cell(&report.mechanism), epsilon, lower, upper]);
    }
    lines.text()
}

fn digits(number: f64) -> String {
    number.to_string()
}

fn ends(span: Option<Span>) -> [String; 2] {
    span.map_or_else(Default::default, |span| [span.from, span.to].map(|Number(end)| digits(end)))
}
