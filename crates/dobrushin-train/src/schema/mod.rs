//! What is declared about the columns of a table.
//!
//! A [`Schema`] is public: somebody who knows what the columns mean writes it, without looking at the records. It says
//! how a row of cells becomes features and targets, for all possible rows, and so gives the [`Bounds`] that the
//! accountant relies on.
//!
//! ```
//! use dobrushin_train::schema::{Declaration, Encoder, Feature, FeatureKind, Label, LabelKind, Range, Schema};
//! let range = Range::new(20.0, 60.0).expect("20 is below 60");
//! let classes = ["<=50K", ">50K"].map(str::to_owned).to_vec();
//! let schema = Schema::new(Declaration {
//!     labels: vec![Label { name: "income".to_owned(), kind: LabelKind::Category(classes) }],
//!     features: vec![Feature { name: "age".to_owned(), kind: FeatureKind::Number { range, if_missing: None } }],
//!     missing: Vec::new(),
//!     norm: None,
//!     intercept: true,
//! })?;
//! assert_eq!(schema.feature_names(), ["age", "intercept"]);
//! let (mut features, mut targets) = (Vec::new(), Vec::new());
//! let cells = [&b"50"[..], b">50K"];
//! let clipped = Encoder::new(&schema).encode(cells.into_iter(), true, &mut features, &mut targets);
//! assert_eq!(clipped.map(|clipped| clipped.values), Ok(0));
//! assert_eq!((features, targets), (vec![0.5, 1.0], vec![1.0]));
//! # Ok::<(), dobrushin_train::schema::SchemaError>(())
//! ```

mod column;
mod encode;
mod error;

pub use column::{Choice, Feature, FeatureKind, Label, LabelKind, Range};
pub use encode::{CellProblem, Clipped, Encoder};
pub use error::SchemaError;

use crate::{Bounds, Target};
use dobrushin::Positive;
use dobrushin::numeric::rounding::{mul_up, sqrt_up};

/// What is declared about the columns of a table.
///
/// ```
/// use dobrushin_train::schema::{Declaration, Feature, FeatureKind, Label, LabelKind, Range, Schema};
///
/// let range = Range::new(20.0, 60.0).ok_or("20 is below 60")?;
/// let classes = ["no", "yes"].map(str::to_owned).to_vec();
/// let schema = Schema::new(Declaration {
///     labels: vec![Label { name: "bought".to_owned(), kind: LabelKind::Category(classes) }],
///     features: vec![Feature { name: "age".to_owned(), kind: FeatureKind::Number { range, if_missing: None } }],
///     missing: Vec::new(),
///     norm: None,
///     intercept: true,
/// })?;
/// // What was declared can be read again.
/// assert_eq!(schema.declaration().labels.len(), 1);
/// assert!(schema.declaration().intercept && !schema.declares_norm());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// The columns that have labels, one for each task.
    pub labels: Vec<Label>,
    /// The columns that have features.
    pub features: Vec<Feature>,
    /// The cells that count as missing.
    pub missing: Vec<String>,
    /// The norm that longer rows are scaled down to; without it, the largest that a row can have.
    pub norm: Option<Positive>,
    /// Whether every row has a last feature that is 1.
    pub intercept: bool,
}

/// What the columns of a table may hold, and how rows become records.
///
/// The order in which columns are declared does not matter: features are in the order of the names of their columns,
/// the categories of one column as declared, and the intercept last.
///
/// ```
/// use dobrushin_train::schema::{Declaration, Feature, FeatureKind, Label, LabelKind, Range, Schema};
///
/// let range = Range::new(20.0, 60.0).ok_or("20 is below 60")?;
/// let classes = ["no", "yes"].map(str::to_owned).to_vec();
/// let schema = Schema::new(Declaration {
///     labels: vec![Label { name: "bought".to_owned(), kind: LabelKind::Category(classes) }],
///     features: vec![Feature { name: "age".to_owned(), kind: FeatureKind::Number { range, if_missing: None } }],
///     missing: Vec::new(),
///     norm: None,
///     intercept: true,
/// })?;
/// assert_eq!((schema.feature_columns(), schema.label_columns()), (vec!["age"], vec!["bought"]));
/// // One number in [−1, 1] and the intercept: no row is longer than √2.
/// assert!((schema.bounds().norm.get() - 2_f64.sqrt()).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    declared: Declaration,
}

/// What the labels are.
///
/// ```
/// use dobrushin_train::schema::{Declaration, Feature, FeatureKind, Label, LabelKind, Labels, Range, Schema};
///
/// let range = Range::new(0.0, 1.0).ok_or("0 is below 1")?;
/// let schema = Schema::new(Declaration {
///     labels: vec![Label { name: "visits".to_owned(), kind: LabelKind::Count(20) }],
///     features: vec![Feature { name: "age".to_owned(), kind: FeatureKind::Number { range, if_missing: None } }],
///     missing: Vec::new(),
///     norm: None,
///     intercept: false,
/// })?;
/// assert_eq!((schema.labels(), schema.tasks()), (Labels::Count, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Labels {
    /// Classes.
    Category,
    /// Numbers, scaled to [−1, 1].
    Number,
    /// Counts: whole numbers from 0, not scaled.
    Count,
}

/// A schema has at most this many features.
pub const MOST_FEATURES: usize = 10_000;

/// The largest norm is rounded up by this much, relatively, so that a row that reaches it is not changed.
const ROOM: f64 = 1.0 + 1.0 / (1u64 << 35) as f64;

impl Schema {
    /// The schema of a declaration, if its columns fit together.
    ///
    /// # Errors
    /// [`SchemaError`] if there is no label or no feature, if there are too many features, or if the labels are of
    /// different kinds.
    pub fn new(mut declared: Declaration) -> Result<Self, SchemaError> {
        declared.features.sort_by(|a, b| a.name.cmp(&b.name));
        declared.missing.sort();
        let schema = Self { declared };
        schema.check()?;
        Ok(schema)
    }

    /// The declaration, with features and missing cells in order.
    pub fn declaration(&self) -> &Declaration {
        &self.declared
    }

    /// Checks what no column can know alone.
    fn check(&self) -> Result<(), SchemaError> {
        let Declaration { labels, features, .. } = &self.declared;
        if features.is_empty() {
            let message = "have labels only, but there must be a column to predict them from";
            return Err(SchemaError::new("columns", message, "[columns.age] with its kind"));
        }
        let dimension = self.dimension();
        if dimension > MOST_FEATURES {
            let message = format!("have {dimension} features, but at most {MOST_FEATURES} are accepted");
            return Err(SchemaError::new("columns", message, "fewer columns, or fewer categories"));
        }
        let Some((first, others)) = labels.split_first() else {
            return Err(SchemaError::new("label", "is an empty list", "label = \"income\""));
        };
        for other in others {
            let same = match (&first.kind, &other.kind) {
                (LabelKind::Category(a), LabelKind::Category(b)) => a.len() == b.len(),
                (LabelKind::Number(_), LabelKind::Number(_)) | (LabelKind::Count(_), LabelKind::Count(_)) => {
                    true
                }
                _ => false,
            };
            if !same {
                let message = format!(
                    "lists {:?} and {:?}, but all labels must be of one kind, with equally many classes",
                    first.name, other.name
                );
                return Err(SchemaError::new("label", message, "a schema for each"));
            }
        }
        Ok(())
    }

    /// The bounds that the records obey.
    ///
    /// Without a declared norm, it is the largest that a row can have, rounded up: √m for m columns of numbers and of
    /// categories together with the intercept, because a column of numbers has one feature in [−1, 1] (or, with a
    /// typical number, up to [`Range::largest`]) and one of categories has at most one that is not 0.
    pub fn bounds(&self) -> Bounds {
        let square = |feature: &Feature| match feature.kind {
            FeatureKind::Number { range, .. } => range.largest().powi(2),
            FeatureKind::Category { .. } => 1.0,
        };
        let features: f64 = self.declared.features.iter().map(square).sum();
        let largest = mul_up(sqrt_up(features + f64::from(u8::from(self.declared.intercept))), ROOM);
        // There is at least one column of features, so the root is at least 1.
        let largest = Positive::new(largest).unwrap_or_else(|_| unreachable!("a root of 1 or more"));
        let norm = self.declared.norm.unwrap_or(largest);
        Bounds { dimension: self.dimension(), norm, target: self.target() }
    }

    /// The number of models that are trained, one for each label.
    pub fn tasks(&self) -> usize {
        self.declared.labels.len()
    }

    /// What the labels are, all of them.
    pub fn labels(&self) -> Labels {
        match self.declared.labels[0].kind {
            LabelKind::Category(_) => Labels::Category,
            LabelKind::Number(_) => Labels::Number,
            LabelKind::Count(_) => Labels::Count,
        }
    }

    /// The columns that have features, then those that have labels: the order in which [`Encoder`] takes cells.
    pub fn columns_wanted(&self) -> Vec<&str> {
        self.feature_columns().into_iter().chain(self.label_columns()).collect()
    }

    /// The columns that have features.
    pub fn feature_columns(&self) -> Vec<&str> {
        self.declared.features.iter().map(|feature| feature.name.as_str()).collect()
    }

    /// The columns that have labels, one for each task.
    pub fn label_columns(&self) -> Vec<&str> {
        self.declared.labels.iter().map(|label| label.name.as_str()).collect()
    }

    /// A name for each feature: that of its column, followed for a category by "=" and its name.
    pub fn feature_names(&self) -> Vec<String> {
        let mut names = Vec::with_capacity(self.dimension());
        for Feature { name, kind } in &self.declared.features {
            match kind {
                FeatureKind::Number { .. } => names.push(name.clone()),
                FeatureKind::Category { categories, .. } => {
                    names.extend(categories.iter().map(|category| format!("{name}={category}")));
                }
            }
        }
        names.extend(self.declared.intercept.then(|| "intercept".to_owned()));
        names
    }

    /// The classes of a task, if its label has classes.
    pub fn classes(&self, task: usize) -> Option<&[String]> {
        match &self.declared.labels.get(task)?.kind {
            LabelKind::Category(classes) => Some(classes),
            LabelKind::Number(_) | LabelKind::Count(_) => None,
        }
    }

    /// What a target of a task means in the units of its column: numbers are scaled back, classes and counts are not
    /// changed.
    pub fn label_value(&self, task: usize, scaled: f64) -> f64 {
        match self.declared.labels.get(task).map(|label| &label.kind) {
            Some(LabelKind::Number(range)) => range.unscaled(scaled),
            _ => scaled,
        }
    }

    /// Whether the norm is declared, so that longer rows are scaled down to it.
    pub fn declares_norm(&self) -> bool {
        self.declared.norm.is_some()
    }

    /// The same columns with another declaration of how they are scaled: longer rows are scaled down to `norm`, and a
    /// column of numbers for which nothing typical is declared is taken to be typical at this share of its range.
    pub fn rescaled(&self, norm: Option<Positive>, share: f64) -> Self {
        let mut declared = self.declared.clone();
        declared.norm = norm;
        for feature in &mut declared.features {
            if let FeatureKind::Number { range, .. } = &mut feature.kind
                && range.typical().is_none()
            {
                *range = range.around(range.at(share)).unwrap_or(*range);
            }
        }
        Self { declared }
    }

    fn dimension(&self) -> usize {
        self.declared.features.iter().map(|feature| feature.kind.width()).sum::<usize>()
            + usize::from(self.declared.intercept)
    }

    fn target(&self) -> Target {
        let upper = |label: &Label| match label.kind {
            LabelKind::Count(upper) => f64::from(upper),
            LabelKind::Number(_) | LabelKind::Category(_) => 1.0,
        };
        match &self.declared.labels[0].kind {
            LabelKind::Category(classes) => Target::Classes(classes.len()),
            LabelKind::Number(_) => Target::Range { lower: -1.0, upper: 1.0 },
            LabelKind::Count(_) => Target::Range {
                lower: 0.0,
                upper: self.declared.labels.iter().map(upper).fold(0.0, f64::max),
            },
        }
    }
}
