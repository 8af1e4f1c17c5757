//! What people may answer. The collector declares it; it is never read off the data.

use crate::DocumentError;
use dobrushin::numeric::decimal;
use dobrushin_local::estimate::Bins;
use dobrushin_local::mean::Bounds;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::{self, Display};

/// The categories of a column.
#[derive(Clone, Debug)]
pub struct Categories {
    names: Names,
}

#[derive(Clone, Debug)]
enum Names {
    /// 1, 2, … up to a number.
    Numbers(u32),
    /// Words, and their places.
    Words(Vec<String>, HashMap<Vec<u8>, u32>),
    /// Numbers between bounds, in bins of equal width.
    Bins(Bounds, Bins),
}

/// The category of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// Its place, counted from 0.
    pub category: u32,
    /// Whether the cell is a number outside the bounds, and was moved to them.
    pub clipped: bool,
}

impl Categories {
    /// The numbers from 1 to `count`.
    pub fn numbered(count: u32) -> Result<Self, DocumentError> {
        if count < 2 {
            return Err(too_few(&format!("--categories {count}")));
        }
        Ok(Self { names: Names::Numbers(count) })
    }

    /// These words, in this order.
    pub fn named(names: Vec<String>, given_by: &str) -> Result<Self, DocumentError> {
        if names.len() < 2 {
            return Err(too_few(given_by));
        }
        let mut places = HashMap::with_capacity(names.len());
        for (place, name) in (0..).zip(&names) {
            if let Some(before) = places.insert(name.clone().into_bytes(), place) {
                let message =
                    format!("{given_by}: categories {} and {} are both {name:?}", before + 1, place + 1);
                return Err(DocumentError::new(message).help("name every category once"));
            }
        }
        Ok(Self { names: Names::Words(names, places) })
    }

    /// Numbers between bounds, in this many bins of equal width.
    pub fn binned(bounds: Bounds, count: u32) -> Result<Self, DocumentError> {
        let bins = Bins::new(bounds, count)
            .map_err(|error| DocumentError::new(format!("--bins {count}: {error}")))?;
        Ok(Self { names: Names::Bins(bounds, bins) })
    }

    /// The bins, if the categories are bins of numbers.
    pub fn bins(&self) -> Option<Bins> {
        match &self.names {
            Names::Bins(_, bins) => Some(*bins),
            _ => None,
        }
    }

    /// A category on each line of a text; blank lines are skipped.
    pub fn lines(text: &str, given_by: &str) -> Result<Self, DocumentError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let names = text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
        Self::named(names, given_by)
    }

    /// The number of categories.
    pub fn count(&self) -> u32 {
        match &self.names {
            Names::Numbers(count) => *count,
            Names::Words(names, _) => names.len() as u32,
            Names::Bins(_, bins) => bins.count(),
        }
    }

    /// The name of a category, counted from 0.
    pub fn name(&self, category: u32) -> String {
        match &self.names {
            Names::Numbers(_) => (category + 1).to_string(),
            Names::Words(names, _) => names.get(category as usize).cloned().unwrap_or_default(),
            Names::Bins(_, bins) => {
                let [from, to] = [category, category + 1].map(|edge| decimal::nearest(bins.edge(edge), 10));
                format!("{from} to {to}")
            }
        }
    }

    /// The category of a cell; `None` if the cell is not a category.
    pub fn find(&self, cell: &[u8]) -> Option<Found> {
        let inside = |category: u32| Found { category, clipped: false };
        match &self.names {
            Names::Numbers(count) => {
                let number = whole(cell).filter(|number| (1..=u64::from(*count)).contains(number));
                number.map(|number| inside(number as u32 - 1))
            }
            Names::Words(_, places) => places.get(cell).copied().map(inside),
            Names::Bins(..) => self.find_number(number(cell)?),
        }
    }

    /// The category of a number; `None` if the number is not a category.
    pub fn find_number(&self, number: f64) -> Option<Found> {
        match &self.names {
            Names::Numbers(count) => {
                let inside = number.fract() == 0.0 && (1.0..=f64::from(*count)).contains(&number);
                inside.then(|| Found { category: number as u32 - 1, clipped: false })
            }
            Names::Words(..) => None,
            Names::Bins(bounds, bins) => {
                let value = bounds.clip(number).ok()?;
                Some(Found { category: bins.bin(value.value), clipped: value.clipped })
            }
        }
    }

    /// Which cells are categories.
    pub fn accepted(&self) -> String {
        match &self.names {
            Names::Numbers(count) => format!("a whole number from 1 to {count}"),
            Names::Words(names, _) => {
                let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("{name:?}")).collect();
                let more = if names.len() > SHOWN { ", …" } else { "" };
                format!("one of the {} declared categories ({}{more})", names.len(), shown.join(", "))
            }
            Names::Bins(..) => NUMBER.to_owned(),
        }
    }

    /// The description in a file of reports.
    pub fn json(&self) -> Value {
        match &self.names {
            Names::Numbers(count) => json!(count),
            Names::Words(names, _) => json!(names),
            Names::Bins(bounds, bins) => {
                json!({ "bins": bins.count(), "bounds": [bounds.lower(), bounds.upper()] })
            }
        }
    }

    /// Reads the description in a file of reports.
    pub fn from_json(value: &Value) -> Option<Self> {
        match value {
            Value::Number(count) => Self::numbered(count.as_u64()?.try_into().ok()?).ok(),
            Value::Array(names) => {
                let names: Option<_> = names.iter().map(|name| name.as_str().map(str::to_owned)).collect();
                Self::named(names?, "the file").ok()
            }
            Value::Object(bins) => {
                let count = bins.get("bins")?.as_u64()?.try_into().ok()?;
                let end = |index: usize| bins.get("bounds")?.get(index)?.as_f64();
                Self::binned(Bounds::new(end(0)?, end(1)?).ok()?, count).ok()
            }
            _ => None,
        }
    }
}

/// A finite number.
pub fn number(cell: &[u8]) -> Option<f64> {
    let parsed = std::str::from_utf8(cell).ok().and_then(|text| text.parse::<f64>().ok());
    parsed.filter(|number| number.is_finite())
}

/// What [`number`] accepts.
pub const NUMBER: &str = "a finite number";

/// A whole number without a sign, written with all its digits.
pub fn whole(cell: &[u8]) -> Option<u64> {
    if cell.is_empty() || cell.len() > 20 {
        return None;
    }
    cell.iter().try_fold(0u64, |value, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        value.checked_mul(10)?.checked_add(digit)
    })
}

/// What a message says about a cell that is not accepted: its column, and what is accepted. It never says what the cell
/// holds.
pub fn refusal(column: &str, cell: &[u8], accepted: impl Fn() -> String) -> impl Display {
    fmt::from_fn(move |f| match cell.is_empty() {
        true => write!(f, "column {column:?}: the cell is empty; {} is accepted", accepted()),
        false => write!(f, "column {column:?}: the cell is not accepted; {} is", accepted()),
    })
}

/// A message lists at most this many categories.
const SHOWN: usize = 6;

fn too_few(given: &str) -> DocumentError {
    DocumentError::new(format!("{given}: there must be at least two categories"))
        .help("a single possible answer has nothing to hide; declare all that people may answer")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_from_one_and_words_are_taken_as_they_are() {
        let numbers = Categories::numbered(10).expect("ten categories");
        let category = |cell: &[u8]| numbers.find(cell).map(|found| found.category);
        assert_eq!((category(b"1"), category(b"10")), (Some(0), Some(9)));
        assert_eq!(numbers.name(9), "10");
        for cell in [&b"0"[..], b"11", b"-1", b"1.0", b"", b"one", b"+1", b"99999999999999999999999", b"\xff"]
        {
            assert_eq!(numbers.find(cell), None, "{cell:?}");
        }
        assert_eq!(numbers.accepted(), "a whole number from 1 to 10");
        let words = Categories::named(vec!["yes".into(), "no".into()], "--values").expect("two");
        let found = words.find(b"no").map(|found| found.category);
        assert_eq!((found, words.count(), words.name(1)), (Some(1), 2, "no".to_owned()));
        assert_eq!(words.find(b"No"), None);
        let said = refusal("answer", b"No", || words.accepted()).to_string();
        let accepted = "one of the 2 declared categories (\"yes\", \"no\") is";
        assert_eq!(said, format!("column \"answer\": the cell is not accepted; {accepted}"));
    }

    #[test]
    fn numbers_in_bins_are_clipped_and_say_so() {
        let bins = Categories::binned(Bounds::new(0.0, 10.0).expect("bounds"), 4).expect("four bins");
        let found = |cell: &[u8]| bins.find(cell).map(|found| (found.category, found.clipped));
        assert_eq!(found(b"0"), Some((0, false)));
        assert_eq!((found(b"2.5"), found(b"2.6")), (Some((0, false)), Some((1, false))));
        assert_eq!(found(b"10"), Some((3, false)));
        assert_eq!((found(b"-1"), found(b"11")), (Some((0, true)), Some((3, true))));
        assert_eq!(found(b"ten"), None);
        assert_eq!((bins.name(0), bins.name(3)), ("0 to 2.5".to_owned(), "7.5 to 10".to_owned()));
    }

    #[test]
    fn one_category_or_one_twice_is_refused() {
        assert!(Categories::numbered(1).is_err());
        assert!(Categories::named(vec!["a".into()], "--values").is_err());
        let twice = Categories::named(vec!["a".into(), "b".into(), "a".into()], "--values");
        assert!(format!("{twice:?}").contains("categories 1 and 3 are both"), "{twice:?}");
    }

    #[test]
    fn categories_return_from_a_file_as_they_were() {
        let named = Categories::named(vec!["ä,b".into(), "\"".into()], "");
        let binned = Categories::binned(Bounds::new(-1.5, 0.1).expect("bounds"), 7);
        for categories in [Categories::numbered(5), named, binned] {
            let categories = categories.expect("they are valid");
            let again = Categories::from_json(&categories.json()).expect("they were written");
            assert_eq!(again.json(), categories.json());
        }
        assert!(Categories::from_json(&json!(["a", 1])).is_none());
    }

    #[test]
    fn only_finite_numbers_are_numbers() {
        assert_eq!(number(b"-1.5e3"), Some(-1500.0));
        for cell in [&b"NaN"[..], b"inf", b"1e999", b"1,5", b"", b"\xff"] {
            assert_eq!(number(cell), None);
        }
        assert_eq!(whole(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(whole(b"18446744073709551616"), None);
    }
}
