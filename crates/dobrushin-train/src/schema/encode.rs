//! Rows of cells as features and targets.

use super::Schema;
use super::column::{Choice, Feature, FeatureKind, Label, LabelKind, Range};
use std::collections::HashMap;

/// Turns rows of cells into features and targets, as a schema declares.
///
/// The result for a row does not depend on any other row.
///
/// ```
/// use dobrushin_train::schema::{Declaration, Encoder, Feature, FeatureKind, Label, LabelKind, Range, Schema};
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
/// let (mut features, mut targets) = (Vec::new(), Vec::new());
/// let cells = [&b"50"[..], b"yes"];
/// Encoder::new(&schema).encode(cells.into_iter(), true, &mut features, &mut targets)?;
/// // 50 is half of the way from the middle of 20 and 60 to the end; the intercept is 1, and "yes" is class 1.
/// assert_eq!((features, targets), (vec![0.5, 1.0], vec![1.0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Encoder {
    features: Vec<FeatureColumn>,
    labels: Vec<LabelColumn>,
    missing: Vec<Vec<u8>>,
    intercept: bool,
}

/// How many values of a row were outside their bounds and moved to them. The number depends on the row, so it is as
/// private as the row.
///
/// ```
/// use dobrushin_train::schema::{Declaration, Encoder, Feature, FeatureKind, Label, LabelKind, Range, Schema};
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
/// // An age of 99 counts as 60.
/// let (mut features, mut targets) = (Vec::new(), Vec::new());
/// let cells = [&b"99"[..], b"yes"];
/// let clipped = Encoder::new(&schema).encode(cells.into_iter(), true, &mut features, &mut targets)?;
/// assert_eq!((clipped.values, features), (1, vec![1.0, 1.0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clipped {
    /// The number of such values, including labels.
    pub values: u64,
}

/// Why a row cannot be used: the column, and what is accepted. It never says what the cell holds.
///
/// ```
/// use dobrushin_train::schema::{Declaration, Encoder, Feature, FeatureKind, Label, LabelKind, Range, Schema};
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
/// // The message names the column, and never what the cell holds.
/// let cells = [&b"secret"[..], b"yes"];
/// let refused = Encoder::new(&schema).encode(cells.into_iter(), true, &mut Vec::new(), &mut Vec::new());
/// assert!(refused.is_err_and(|problem| problem.column == "age" && !problem.to_string().contains("secret")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column:?}: {what}")]
pub struct CellProblem {
    /// The name of the column.
    pub column: String,
    /// What is wrong, and what is accepted.
    pub what: String,
}

impl Encoder {
    /// The encoder for rows that a schema declares.
    pub fn new(schema: &Schema) -> Self {
        let feature = |feature: &Feature| {
            let kind = match &feature.kind {
                FeatureKind::Number { range, if_missing } => {
                    FeatureCells::Number { range: *range, if_missing: *if_missing }
                }
                FeatureKind::Category { categories, if_missing, if_unknown } => FeatureCells::Category {
                    categories: Categories::new(categories),
                    if_missing: *if_missing,
                    if_unknown: *if_unknown,
                },
            };
            FeatureColumn { name: feature.name.clone(), kind }
        };
        let label = |label: &Label| {
            let kind = match &label.kind {
                LabelKind::Category(classes) => LabelCells::Category(Categories::new(classes)),
                LabelKind::Number(range) => LabelCells::Number(*range),
                LabelKind::Count(upper) => LabelCells::Count(f64::from(*upper)),
            };
            LabelColumn { name: label.name.clone(), kind }
        };
        let declared = schema.declaration();
        Self {
            features: declared.features.iter().map(feature).collect(),
            labels: declared.labels.iter().map(label).collect(),
            missing: declared.missing.iter().map(|text| text.clone().into_bytes()).collect(),
            intercept: declared.intercept,
        }
    }

    /// Appends the features of a row, whose cells are in the order of [`Schema::columns_wanted`], and its targets if
    /// `with_labels`; otherwise it takes only the cells of [`Schema::feature_columns`]. Cells have no white space
    /// around them.
    ///
    /// # Errors
    /// [`CellProblem`] if a cell is neither accepted nor replaced; then nothing is appended.
    pub fn encode<'a>(
        &self,
        cells: impl Iterator<Item = &'a [u8]>,
        with_labels: bool,
        features: &mut Vec<f32>,
        targets: &mut Vec<f32>,
    ) -> Result<Clipped, CellProblem> {
        let before = (features.len(), targets.len());
        let clipped = self.append(cells, with_labels, features, targets);
        if clipped.is_err() {
            features.truncate(before.0);
            targets.truncate(before.1);
        }
        clipped
    }

    fn append<'a>(
        &self,
        mut cells: impl Iterator<Item = &'a [u8]>,
        with_labels: bool,
        features: &mut Vec<f32>,
        targets: &mut Vec<f32>,
    ) -> Result<Clipped, CellProblem> {
        let mut clipped = Clipped::default();
        for column in &self.features {
            // A row that ends too soon has empty cells.
            let cell = cells.next().unwrap_or_default();
            let outside = column.kind.push(cell, self.is_missing(cell), features);
            clipped.values += u64::from(outside.map_err(|what| problem(&column.name, what))?);
        }
        if self.intercept {
            features.push(1.0);
        }
        for column in self.labels.iter().filter(|_| with_labels) {
            let cell = cells.next().unwrap_or_default();
            let (target, outside) = column
                .kind
                .target(cell, self.is_missing(cell))
                .map_err(|what| problem(&column.name, what))?;
            targets.push(target);
            clipped.values += u64::from(outside);
        }
        Ok(clipped)
    }

    fn is_missing(&self, cell: &[u8]) -> bool {
        self.missing.iter().any(|missing| missing == cell)
    }
}

struct FeatureColumn {
    name: String,
    kind: FeatureCells,
}

enum FeatureCells {
    Number { range: Range, if_missing: Option<f64> },
    Category { categories: Categories, if_missing: Option<Choice>, if_unknown: Option<Choice> },
}

impl FeatureCells {
    /// Appends the features of a cell. It returns whether the cell is outside the bounds, or else what is wrong.
    fn push(&self, cell: &[u8], is_missing: bool, features: &mut Vec<f32>) -> Result<bool, String> {
        match self {
            Self::Number { range, if_missing } => {
                let number = match is_missing {
                    true => if_missing.ok_or_else(|| missing(NUMBER))?,
                    false => number(cell).ok_or_else(|| refused(NUMBER))?,
                };
                let (scaled, outside) = range.scaled(number);
                features.push(scaled);
                Ok(outside)
            }
            Self::Category { categories, if_missing, if_unknown } => {
                // A declared category is never missing.
                let choice = match (categories.find(cell), is_missing) {
                    (Some(place), _) => Choice::Category(place),
                    (None, true) => if_missing.ok_or_else(|| missing(&categories.accepted()))?,
                    (None, false) => if_unknown.ok_or_else(|| refused(&categories.accepted()))?,
                };
                let start = features.len();
                features.resize(start + categories.count, 0.0);
                if let Choice::Category(place) = choice {
                    features[start + place] = 1.0;
                }
                Ok(false)
            }
        }
    }
}

struct LabelColumn {
    name: String,
    kind: LabelCells,
}

enum LabelCells {
    Category(Categories),
    Number(Range),
    Count(f64),
}

impl LabelCells {
    /// The target of a cell, and whether it is outside the bounds; or else what is wrong.
    fn target(&self, cell: &[u8], is_missing: bool) -> Result<(f32, bool), String> {
        let wrong = |accepted: &str| match is_missing {
            true => missing(accepted),
            false => refused(accepted),
        };
        let number = || number(cell).filter(|_| !is_missing);
        match self {
            Self::Category(categories) => match categories.find(cell) {
                Some(place) => Ok((place as f32, false)),
                None => Err(wrong(&categories.accepted())),
            },
            Self::Number(range) => number().map(|number| range.scaled(number)).ok_or_else(|| wrong(NUMBER)),
            Self::Count(upper) => {
                let count = number().filter(|number| *number >= 0.0 && number.fract() == 0.0);
                let count = count.ok_or_else(|| wrong("a whole number, 0 or more"))?;
                Ok((count.min(*upper) as f32, count > *upper))
            }
        }
    }
}

/// The places of categories.
struct Categories {
    count: usize,
    places: HashMap<Vec<u8>, usize>,
    /// Some of them, for messages.
    first: Vec<String>,
}

/// A message lists at most this many categories.
const SHOWN: usize = 6;

impl Categories {
    fn new(names: &[String]) -> Self {
        let places =
            names.iter().enumerate().map(|(place, name)| (name.clone().into_bytes(), place)).collect();
        Self { count: names.len(), places, first: names.iter().take(SHOWN).cloned().collect() }
    }

    fn find(&self, cell: &[u8]) -> Option<usize> {
        self.places.get(cell).copied()
    }

    fn accepted(&self) -> String {
        let first: Vec<String> = self.first.iter().map(|name| format!("{name:?}")).collect();
        let more = if self.count > SHOWN { ", …" } else { "" };
        format!("one of the {} declared categories ({}{more})", self.count, first.join(", "))
    }
}

const NUMBER: &str = "a finite number";

fn number(cell: &[u8]) -> Option<f64> {
    let number = std::str::from_utf8(cell).ok()?.parse::<f64>().ok()?;
    number.is_finite().then_some(number)
}

fn missing(accepted: &str) -> String {
    format!("the cell is missing; {accepted} is accepted")
}

fn refused(accepted: &str) -> String {
    format!("the cell is not accepted; {accepted} is")
}

fn problem(column: &str, what: String) -> CellProblem {
    CellProblem { column: column.to_owned(), what }
}
