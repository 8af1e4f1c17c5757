//! What `kernel` finds: a row for each number, with what it is and where it is taken.

use super::{Cell, Table};
use crate::json::Bounds;
use crate::report::{JointReport, KernelReport, Level};

/// The columns: `before` is E_γ before the channel, and the inputs are those that attain the number, counted from 1.
const COLUMNS: [&str; 9] =
    ["what", "epsilon", "gamma", "before", "delta", "lower", "upper", "input_1", "input_2"];

/// A number and where it is taken.
#[derive(Default)]
struct Row {
    epsilon: Option<f64>,
    gamma: Option<f64>,
    before: Option<f64>,
    delta: Option<f64>,
    inputs: Option<(usize, usize)>,
}

impl Row {
    fn at(level: &Level) -> Self {
        Self { epsilon: Some(level.epsilon()), gamma: level.given_as_gamma(), ..Self::default() }
    }

    fn cells(self, what: &str, value: Bounds) -> Vec<Cell> {
        let [lower, upper] = Cell::ends(Some(value));
        let input = |of: fn((usize, usize)) -> usize| self.inputs.map(|inputs| of(inputs) as u64).into();
        vec![
            what.into(),
            self.epsilon.into(),
            self.gamma.into(),
            self.before.into(),
            self.delta.into(),
            lower,
            upper,
            input(|inputs| inputs.0),
            input(|inputs| inputs.1),
        ]
    }
}

/// Every number of the report.
pub fn kernel(report: &KernelReport) -> Table {
    let mut table = Table::new(COLUMNS);
    for eta in &report.eta {
        table.push(Row { inputs: eta.pair, ..Row::at(&eta.level) }.cells("eta", eta.value));
        for tight in &eta.tight {
            table.push(Row { before: Some(tight.before), ..Row::at(&eta.level) }.cells("tight", tight.after));
        }
    }
    let maximisers =
        [(&report.tv_maximiser, "eta_tv", report.tv), (&report.chi2_maximiser, "eta_chi2", report.chi2)];
    for (maximiser, what, value) in maximisers {
        let inputs = maximiser.as_ref().map(|maximiser| maximiser.pair);
        table.push(Row { inputs, ..Row::default() }.cells(what, value));
    }
    for found in &report.epsilon_at_delta {
        table.push(Row { delta: Some(found.delta), ..Row::default() }.cells("epsilon", found.epsilon));
    }
    for bend in report.curve.iter().flatten() {
        let row = Row {
            epsilon: Some(bend.epsilon),
            gamma: Some(bend.gamma),
            inputs: Some(bend.pair),
            ..Row::default()
        };
        table.push(row.cells("bend", bend.value));
    }
    if let Some(composed) = &report.composition {
        table.push(Row::default().cells("composed_eta_tv", composed.tv));
        table.push(Row::default().cells("composed_eta_chi2", composed.chi2));
        for eta in &composed.eta {
            table.push(Row::at(&eta.level).cells("composed_tight", eta.tight));
            table.push(Row::at(&eta.level).cells("composed_published", eta.published));
        }
    }
    if let Some(product) = &report.product {
        table.push(Row::default().cells("product_eta_tv", product.tv));
        table.push(Row::default().cells("product_eta_tv_published", product.tv_published));
        table.push(Row::default().cells("product_eta_chi2", product.chi2));
        for eta in &product.eta {
            table.push(Row::at(&eta.level).cells("product_eta", eta.value));
            table.push(Row::at(&eta.level).cells("product_eta_tv_published", eta.tv_published));
        }
    }
    for passage in &report.divergences {
        let f = &passage.f;
        table.push(Row::default().cells(&format!("{f} before"), passage.before));
        let bounds = &passage.bounds;
        let after = [
            ("after", passage.after),
            ("by tight", bounds.tight),
            ("by corollary_1", bounds.corollary_1),
            ("by eta_f", bounds.eta_f),
            ("by eta_tv", bounds.eta_tv),
        ];
        for (what, value) in after.into_iter().filter_map(|(what, value)| Some((what, value?))) {
            table.push(Row::default().cells(&format!("{f} {what}"), value));
        }
    }
    table
}

/// Every number of a joint table.
pub fn joint(report: &JointReport) -> Table {
    let mut table = Table::new(COLUMNS);
    for information in &report.information {
        table.push(Row::at(&information.level).cells("information", information.value));
    }
    table.push(Row::default().cells("mutual_information_nats", report.mutual_information.nats));
    table.push(Row::default().cells("mutual_information_bits", report.mutual_information.bits));
    table
}
