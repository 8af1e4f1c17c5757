//! The best run that a budget buys, without a look at the data.

use super::worth_meeting;
use crate::error::DocumentError;
use crate::report::ChosenReport;
use crate::run_file::{NEIGHBOURS, ORDERS, kind_for, model_for};
use dobrushin::account::CalibrationError;
use dobrushin::mechanism::Neighbours;
use dobrushin::run::Order;
use dobrushin::{Delta, Epsilon, Progress};
use dobrushin_train::choose::{self, Wanted};
use dobrushin_train::schema::{
    Declaration, Feature, FeatureKind, Label, LabelKind, MOST_FEATURES, Range, Schema,
};
use std::sync::atomic::{AtomicU64, Ordering};

/// What a plan may be told.
#[derive(Clone, Debug, Default)]
pub struct PlanWishes {
    /// The label to predict, if the schema has several.
    pub label: Option<String>,
    /// The kind of model; without it, the one that suits the label.
    pub model: Option<String>,
    /// The order of records; without it, the best one.
    pub order: Option<Order>,
    /// Which data sets are neighbours; without it, zero-out.
    pub neighbours: Option<Neighbours>,
}

impl PlanWishes {
    /// Refuses what only a plan can use, because a run is given.
    pub fn refuse_with_run(&self) -> Result<(), DocumentError> {
        let given = [
            ("--label", self.label.is_some()),
            ("--model", self.model.is_some()),
            ("--order", self.order.is_some()),
            ("--neighbours", self.neighbours.is_some()),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((flag, _)) => Err(DocumentError::new(format!("{flag} is for a plan, but --run is given"))
                .help("change the run file, by --set too, or leave --run out")),
        }
    }
}

/// Orders that plans have.
const PLANNED: [Order; 6] = [
    Order::Full,
    Order::Poisson,
    Order::Allocation,
    Order::Shuffled,
    Order::Cyclic,
    Order::WithoutReplacement,
];

/// The order of this name, if plans have it.
pub fn order_of(text: &str) -> Result<Order, DocumentError> {
    let planned: Vec<_> = ORDERS.iter().filter(|(_, order)| PLANNED.contains(order)).collect();
    planned.iter().find(|(word, _)| *word == text).map(|(_, order)| *order).ok_or_else(|| {
        let words: Vec<&str> = planned.iter().map(|(word, _)| *word).collect();
        DocumentError::new(format!("{text:?} is not one of {}", words.join(", ")))
    })
}

/// The neighbour relation of this name.
pub fn neighbours_of(text: &str) -> Result<Neighbours, DocumentError> {
    NEIGHBOURS.iter().find(|(word, _)| *word == text).map(|(_, neighbours)| *neighbours).ok_or_else(|| {
        let words: Vec<&str> = NEIGHBOURS.iter().map(|(word, _)| *word).collect();
        DocumentError::new(format!("{text:?} is not one of {}", words.join(", ")))
    })
}

/// The most records of a plan: the trainer counts them in 32 bits.
const MOST_RECORDS: u64 = u32::MAX as u64;

/// A number of records or other things, also as 1e6.
pub fn count_of(text: &str) -> Result<u64, DocumentError> {
    let text = text.trim();
    let exact = |value: f64| {
        (value.fract() == 0.0 && (1.0..=MOST_RECORDS as f64).contains(&value)).then_some(value as u64)
    };
    let value = text.parse().ok().or_else(|| text.parse().ok().and_then(exact));
    value
        .filter(|value| (1..=MOST_RECORDS).contains(value))
        .ok_or_else(|| DocumentError::new(format!("{text:?} is not a whole number from 1 to {MOST_RECORDS}")))
}

/// The plans for records that nobody looks at. Everything that goes in is public.
pub fn planned(
    schema: Schema,
    records: u64,
    epsilon: Epsilon,
    delta: Delta,
    choice: &PlanWishes,
    progress: &Progress,
) -> Result<ChosenReport, DocumentError> {
    if epsilon.get() == 0.0 {
        return Err(DocumentError::new("--epsilon is 0, but it must be above 0").help("--epsilon 1"));
    }
    if delta.get() == 0.0 {
        return Err(DocumentError::new(
            "--delta is 0, but it must be above 0: Gaussian noise is never (ε, 0)-private",
        )
        .help("--delta 1e-6, well below 1 over the number of records"));
    }
    let neighbours = choice.neighbours.unwrap_or(Neighbours::ZeroOut);
    if let (Neighbours::AddOrRemoveOne, Some(order)) = (neighbours, choice.order)
        && !matches!(order, Order::Full | Order::Poisson | Order::Allocation)
    {
        return Err(DocumentError::new("--order is neither full, poisson nor allocation, but with add-or-remove-one others would show how many records there are")
            .help("--order poisson, or --neighbours zero-out"));
    }
    let schema = as_planned(schema, choice)?;
    let kind = kind_for(&schema, choice.model.as_deref());
    let model = model_for(&schema, kind)?;
    let wanted = Wanted {
        schema,
        model,
        records,
        epsilon,
        delta: worth_meeting(delta)?,
        neighbours,
        order: choice.order,
    };
    progress.add_parts(100);
    let shown = AtomicU64::new(0);
    let advance = |done: u64, expected: u64| {
        let now = 100 * done / expected.max(1);
        let before = shown.fetch_max(now, Ordering::Relaxed);
        progress.advance(now.saturating_sub(before));
    };
    let found = choose::choose(&wanted, &advance).map_err(problem)?;
    ChosenReport::new(&wanted, kind, &found)
}

/// The schema that plans use, by which the records are read.
pub fn as_planned(schema: Schema, choice: &PlanWishes) -> Result<Schema, DocumentError> {
    Ok(choose::prepared(&with_label(schema, choice.label.as_deref())?))
}

/// The schema with one of its labels.
pub fn with_label(schema: Schema, label: Option<&str>) -> Result<Schema, DocumentError> {
    let Some(label) = label else {
        return Ok(schema);
    };
    let mut declared = schema.declaration().clone();
    declared.labels.retain(|known| known.name == label);
    if declared.labels.is_empty() {
        let known = schema.label_columns().join(", ");
        return Err(DocumentError::new(format!(
            "--label is {label:?}, but the label of the schema is {known}"
        ))
        .help(format!("write label = {label:?} into the schema, or leave --label out")));
    }
    Ok(Schema::new(declared)?)
}

/// A table of numbers between −1 and 1, and a label.
pub fn schema_of(dimension: u64, classes: u64) -> Result<Schema, DocumentError> {
    if dimension >= MOST_FEATURES as u64 || classes > MOST_FEATURES as u64 {
        return Err(DocumentError::new(format!(
            "--dimension is {dimension} and --classes {classes}, but both must be below {MOST_FEATURES}"
        ))
        .help("--dimension 100 --classes 10"));
    }
    if classes < 2 {
        return Err(DocumentError::new("--classes is 1, but there must be 2 or more").help("--classes 2"));
    }
    let range = Range::new(-1.0, 1.0).and_then(|range| range.around(0.0));
    let Some(range) = range else { unreachable!("−1 is below 1") };
    let feature = |number| Feature {
        name: format!("x{number}"),
        kind: FeatureKind::Number { range, if_missing: None },
    };
    let classes = (0..classes).map(|class| class.to_string()).collect();
    let declared = Declaration {
        labels: vec![Label { name: "y".to_owned(), kind: LabelKind::Category(classes) }],
        features: (1..=dimension).map(feature).collect(),
        missing: Vec::new(),
        norm: None,
        intercept: true,
    };
    Ok(Schema::new(declared)?)
}

fn problem(error: CalibrationError) -> DocumentError {
    match error {
        CalibrationError::Run(error) => error.into(),
        CalibrationError::Unreachable { .. } => {
            DocumentError::answer_is_no(format!("no plan meets the target: {error}")).help("a larger ε or δ")
        }
        other => DocumentError::new(other.to_string()),
    }
}
