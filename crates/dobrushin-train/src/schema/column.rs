//! What one column may hold.

/// A column that has features.
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
/// // A number is one feature, under the name of its column.
/// assert_eq!(schema.feature_names(), ["age", "intercept"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Feature {
    /// Its name in the header.
    pub name: String,
    /// What it holds.
    pub kind: FeatureKind,
}

/// What a column of features holds.
///
/// ```
/// use dobrushin_train::schema::{Choice, FeatureKind};
///
/// // A feature for each category; what is unknown has none of them.
/// let categories = ["red", "green", "blue"].map(str::to_owned).to_vec();
/// let kind = FeatureKind::Category { categories, if_missing: None, if_unknown: Some(Choice::None) };
/// assert_eq!(kind.width(), 3);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum FeatureKind {
    /// One feature.
    Number {
        /// The numbers that are possible.
        range: Range,
        /// The number that a missing cell counts as; without it, no cell may be missing.
        if_missing: Option<f64>,
    },
    /// A feature for each category: 1 for the category of the cell, 0 for the others.
    Category {
        /// The categories, in the order of their features.
        categories: Vec<String>,
        /// What a missing cell counts as; without it, no cell may be missing.
        if_missing: Option<Choice>,
        /// What a cell that is not a category counts as; without it, no such cell is accepted.
        if_unknown: Option<Choice>,
    },
}

/// What a cell that is missing, or is not a category, counts as.
///
/// ```
/// use dobrushin_train::schema::{Choice, Declaration, Encoder, Feature, FeatureKind, Label, LabelKind, Schema};
///
/// let categories = ["red", "green"].map(str::to_owned).to_vec();
/// let kind = FeatureKind::Category { categories, if_missing: None, if_unknown: Some(Choice::Category(1)) };
/// let schema = Schema::new(Declaration {
///     labels: vec![Label { name: "visits".to_owned(), kind: LabelKind::Count(20) }],
///     features: vec![Feature { name: "colour".to_owned(), kind }],
///     missing: Vec::new(),
///     norm: None,
///     intercept: false,
/// })?;
/// // Blue is unknown, and counts as green.
/// let (mut features, mut targets) = (Vec::new(), Vec::new());
/// Encoder::new(&schema).encode([&b"blue"[..], b"3"].into_iter(), true, &mut features, &mut targets)?;
/// assert_eq!((features, targets), (vec![0.0, 1.0], vec![3.0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Choice {
    /// No category: all features are 0.
    None,
    /// The category with this number, counted from 0.
    Category(usize),
}

/// A column that has the labels of a task.
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
/// assert_eq!(schema.label_columns(), ["bought"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// Its name in the header.
    pub name: String,
    /// What it holds.
    pub kind: LabelKind,
}

/// What a column of labels holds.
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
/// assert_eq!(schema.classes(0), Some(&["no".to_owned(), "yes".to_owned()][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum LabelKind {
    /// Classes, class 0 first.
    Category(Vec<String>),
    /// Numbers.
    Number(Range),
    /// Whole numbers from 0 to this one.
    Count(u32),
}

impl FeatureKind {
    /// The number of features.
    pub fn width(&self) -> usize {
        match self {
            Self::Number { .. } => 1,
            Self::Category { categories, .. } => categories.len(),
        }
    }
}

/// Numbers between two ends, scaled to [−1, 1].
///
/// If a typical number is declared, it becomes 0 instead of the middle, and the ends move with it. Rows of typical
/// numbers are then short, and what is left of them is what differs between records.
///
/// ```
/// use dobrushin_train::schema::Range;
///
/// let range = Range::new(20.0, 60.0).ok_or("20 is below 60")?;
/// assert_eq!((range.scaled(50.0), range.scaled(80.0)), ((0.5, false), (1.0, true)));
/// assert_eq!(range.unscaled(0.5), 50.0);
/// let around = range.around(30.0).ok_or("30 is between them")?;
/// assert_eq!((around.scaled(30.0), around.scaled(80.0)), ((0.0, false), (1.5, true)));
/// assert!(Range::new(60.0, 20.0).is_none() && range.around(70.0).is_none());
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    lower: f64,
    upper: f64,
    typical: Option<f64>,
}

impl Range {
    /// `None` if the ends are not finite, not in order, or so close that numbers between them cannot be scaled.
    pub fn new(lower: f64, upper: f64) -> Option<Self> {
        let range = Self { lower, upper, typical: None };
        (lower.is_finite() && upper.is_finite() && lower < upper && range.half().is_normal()).then_some(range)
    }

    /// The lower end.
    pub fn lower(self) -> f64 {
        self.lower
    }

    /// The upper end.
    pub fn upper(self) -> f64 {
        self.upper
    }

    /// The same ends, with a number between them that becomes 0; `None` if it is not between them.
    pub fn around(self, typical: f64) -> Option<Self> {
        (self.lower..=self.upper).contains(&typical).then_some(Self { typical: Some(typical), ..self })
    }

    /// The number that becomes 0, if it is declared; otherwise the middle does.
    pub fn typical(self) -> Option<f64> {
        self.typical
    }

    /// (clamp(v) − mid)/half, less that of the typical number, and whether v is outside.
    pub fn scaled(self, value: f64) -> (f32, bool) {
        let inside = value.clamp(self.lower, self.upper);
        ((self.place(inside) - self.shift()) as f32, inside != value)
    }

    /// The largest absolute value of a scaled number, from 1 to 2.
    pub fn largest(self) -> f64 {
        1.0 + self.shift().abs()
    }

    /// The value that is scaled to this number.
    pub fn unscaled(self, scaled: f64) -> f64 {
        self.mid() + self.half() * (scaled + self.shift())
    }

    /// The number at this share of the way from the lower end to the upper, to three digits if there is one.
    pub(super) fn at(self, share: f64) -> f64 {
        let exact = self.lower * (1.0 - share) + self.upper * share;
        let digit = 10_f64.powf((self.half().log10() - 2.0).floor());
        let short = (exact / digit).round() * digit;
        // Digits such as 0.30000000000000004 come from the multiplication.
        let short = format!("{short:.12e}").parse().unwrap_or(exact);
        if (self.lower..=self.upper).contains(&short) { short } else { exact }
    }

    /// Where the middle is 0 and the ends are −1 and 1.
    fn place(self, inside: f64) -> f64 {
        // The share is from 0 to 1, and this is exact at both ends.
        2.0 * ((inside / 2.0 - self.lower / 2.0) / self.half()) - 1.0
    }

    /// Where the typical number is.
    fn shift(self) -> f64 {
        self.typical.map_or(0.0, |typical| self.place(typical))
    }

    /// The ends are halved first, because the sum of two large ends may be infinite.
    fn mid(self) -> f64 {
        self.lower / 2.0 + self.upper / 2.0
    }

    fn half(self) -> f64 {
        self.upper / 2.0 - self.lower / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_become_one_and_minus_one_and_nothing_goes_beyond() {
        for (lower, upper) in
            [(17.0, 90.0), (-0.1, 0.3), (0.0, 1e-300), (-1.7e308, 1.7e308), (1e6, 1e6 + 1e-3)]
        {
            let range = Range::new(lower, upper).expect("the ends are in order");
            assert_eq!(range.scaled(lower), (-1.0, false));
            assert_eq!(range.scaled(upper), (1.0, false));
            assert_eq!(range.scaled(f64::MAX), (1.0, upper < f64::MAX));
            assert_eq!(range.scaled(f64::MIN), (-1.0, true));
            for share in [0.0, 0.1, 0.37, 0.5, 0.99, 1.0] {
                let value = lower * (1.0 - share) + upper * share;
                let scaled = range.scaled(value).0;
                assert!((-1.0..=1.0).contains(&scaled));
                let again = range.unscaled(f64::from(scaled));
                assert!((again - value).abs() <= 1e-7 * (upper - lower).min(f64::MAX) + 1e-9 * value.abs());
            }
        }
    }

    #[test]
    fn a_typical_number_becomes_zero_and_nothing_goes_beyond_the_largest() {
        for (lower, upper, typical) in
            [(17.0, 90.0, 40.0), (-0.1, 0.3, -0.1), (0.0, 16.0, 16.0), (0.0, 1.0, 0.5)]
        {
            let range =
                Range::new(lower, upper).and_then(|range| range.around(typical)).expect("between the ends");
            assert_eq!(range.scaled(typical), (0.0, false));
            let ends = [range.scaled(lower).0, range.scaled(upper).0].map(f64::from);
            assert!((ends[1] - ends[0] - 2.0).abs() < 1e-6);
            assert!(ends.iter().all(|end| end.abs() <= range.largest() * (1.0 + 1e-7)));
            assert!((range.unscaled(ends[1]) - upper).abs() < 1e-5 * (upper - lower));
        }
        let range = Range::new(0.0, 1.0).expect("in order");
        assert!(
            [f64::NAN, -1.0, 1.1, f64::INFINITY].into_iter().all(|typical| range.around(typical).is_none())
        );
    }

    #[test]
    fn ends_that_enclose_nothing_are_refused() {
        for (lower, upper) in [
            (1.0, 1.0),
            (2.0, 1.0),
            (f64::NAN, 1.0),
            (0.0, f64::NAN),
            (f64::NEG_INFINITY, 0.0),
            (0.0, f64::INFINITY),
            (0.0, 5e-324),
        ] {
            assert_eq!(Range::new(lower, upper), None, "{lower} {upper}");
        }
    }
}
