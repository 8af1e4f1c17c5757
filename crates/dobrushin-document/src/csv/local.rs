//! What `local` finds.

use super::{Cell, Table};
use crate::json::{Bounds, Number};
use crate::report::{
    BoundsReport, Estimate, EstimateReport, FrequenciesReport, MeanReport, PlansReport, ProblemReport,
    ProfileReport, Span,
};

/// A row for each category, number, coordinate and quantile that is estimated, of all questions.
pub fn estimates(questions: &[EstimateReport]) -> Table {
    let mut table = Table::new([
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
        let mut add = |column: &str, what: &str, name: Cell, numbers: [Cell; 6]| {
            let first = [column.into(), what.into(), name].into_iter().chain(numbers);
            let last: [Cell; 4] = [
                question.reports.into(),
                question.mechanism.as_str().into(),
                question.epsilon.into(),
                question.delta.into(),
            ];
            table.push(first.chain(last).collect());
        };
        match &question.estimate {
            Estimate::Frequencies(found) => {
                of_frequencies(found, |what, name, numbers| add(&question.column, what, name, numbers));
            }
            Estimate::Mean(found) => add(&question.column, "mean", Cell::Empty, of_mean(found)),
            Estimate::Vector(found) => {
                for coordinate in &found.coordinates {
                    add(&coordinate.column, "coordinate", Cell::Empty, of_mean(&coordinate.mean));
                }
            }
        }
    }
    table
}

fn of_frequencies(found: &FrequenciesReport, mut add: impl FnMut(&str, Cell, [Cell; 6])) {
    for row in &found.frequencies {
        let [[from, to], [certain_from, certain_to]] = [row.interval, row.certain_interval].map(ends);
        let numbers = [row.frequency.into(), row.standard_error.into(), from, to, certain_from, certain_to];
        add("frequency", row.category.as_str().into(), numbers);
    }
    for quantile in found.quantiles.iter().flatten() {
        let [certain_from, certain_to] = ends(Some(quantile.certain_interval));
        let none = || Cell::Empty;
        let numbers = [quantile.value.into(), none(), none(), none(), certain_from, certain_to];
        add("quantile", quantile.level.into(), numbers);
    }
}

fn of_mean(found: &MeanReport) -> [Cell; 6] {
    let [[from, to], [certain_from, certain_to]] =
        [found.interval, found.certain_interval].map(|span| ends(Some(span)));
    [found.mean.into(), found.standard_error.into(), from, to, certain_from, certain_to]
}

/// A row for each mechanism, best first.
pub fn plans(report: &PlansReport) -> Table {
    let mut table = Table::new([
        "mechanism",
        "records",
        "standard_error",
        "standard_error_of_one_category",
        "epsilon",
        "delta",
    ]);
    for plan in &report.plans {
        table.push(vec![
            plan.mechanism.into(),
            plan.records.into(),
            plan.standard_error.into(),
            plan.of_one_category.into(),
            report.epsilon.into(),
            report.delta.into(),
        ]);
    }
    table
}

/// A row for each level ε.
pub fn local_profile(report: &ProfileReport) -> Table {
    let mut table = Table::new(["mechanism", "epsilon", "delta_lower", "delta_upper"]);
    for eta in &report.eta {
        let [lower, upper] = Cell::ends(Some(eta.value));
        table.push(vec![report.mechanism.as_str().into(), eta.epsilon.into(), lower, upper]);
    }
    table
}

/// A row for each bound of each task.
pub fn bounds(report: &BoundsReport) -> Table {
    let mut table = Table::new(["task", "bound", "lower", "upper", "coefficient"]);
    for (task, found) in &report.tasks {
        for bound in found {
            let [lower, upper] = Cell::ends(Some(bound.value));
            table.push(vec![
                task.as_str().into(),
                bound.id.into(),
                lower,
                upper,
                bound.coefficient.as_str().into(),
            ]);
        }
    }
    table
}

/// A row for each quantity and each bound of a problem of one's own.
pub fn problem(report: &ProblemReport) -> Table {
    let mut table = Table::new([
        "what",
        "bound",
        "bounded_from",
        "lower",
        "upper",
        "published_lower",
        "published_upper",
        "without_privacy_lower",
        "without_privacy_upper",
        "coefficient",
    ]);
    let mut add = |what: &str, bound: Cell, from: Cell, values: [Option<Bounds>; 3], coefficient: Cell| {
        let ends = values.into_iter().flat_map(Cell::ends);
        table.push([what.into(), bound, from].into_iter().chain(ends).chain([coefficient]).collect());
    };
    let none = || Cell::Empty;
    for quantity in &report.quantities {
        add(&quantity.what, quantity.id.into(), none(), [Some(quantity.value), None, None], none());
    }
    for answer in &report.answers {
        for bound in &answer.bounds {
            let values = [Some(bound.value), bound.published, bound.without_privacy];
            let coefficient = bound.coefficient.as_str().into();
            add(&answer.what, bound.id.into(), answer.bounded_from.into(), values, coefficient);
        }
        for (name, value) in
            [("without privacy", answer.without_privacy), ("through the channel", answer.through_channel)]
        {
            if value.is_some() {
                add(&answer.what, name.into(), none(), [value, None, None], none());
            }
        }
    }
    table
}

fn ends(span: Option<Span>) -> [Cell; 2] {
    span.map_or([Cell::Empty, Cell::Empty], |span| [span.from, span.to].map(|end: Number| end.into()))
}
