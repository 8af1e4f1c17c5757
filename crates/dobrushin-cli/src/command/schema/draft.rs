//! Schemas that a program writes.

use super::values::{MOST_CATEGORIES, Values};
use crate::problem::Problem;
use dobrushin_document::plain_text::shown_safely;
use std::fmt::Write;
use std::path::Path;

/// A column of numbers with more distinct values than this is numeric; otherwise its values are categories.
const FEW: usize = 12;

/// What a column may hold, as far as somebody has said.
#[derive(Clone, Debug, PartialEq)]
pub enum Held {
    /// Numbers between these; `None` if that is still to be said.
    Numbers(Option<(f64, f64)>),
    /// One of these words; `None` if they are still to be listed.
    Words(Option<Vec<String>>),
}

/// A draft from the names of columns, in which the user fills in what nobody has said.
pub fn from_names(labels: &[&str], columns: &[(&str, Held)]) -> String {
    let mut draft = String::from(
        "# Fill in what is possible for each column, from what it means: never from private values.\n\
         # Remove the columns that are not to be used. A column of categories has instead:\n\
         #   kind = \"category\"\n\
         #   categories = [\"a\", \"b\"]\n\
         # A label is a \"category\" for classes, a \"number\" for regression, or a \"count\", which has only upper.\n",
    );
    head(&mut draft, labels);
    for (column, held) in columns {
        let note = if labels.contains(column) { "  # a label" } else { "" };
        section(&mut draft, column, note);
        draft += &match held {
            Held::Numbers(Some((lower, upper))) => {
                format!("kind = \"number\"\nlower = {}\nupper = {}\n", plain(*lower), plain(*upper))
            }
            Held::Numbers(None) => {
                "kind = \"number\"\nlower = # TODO: the smallest possible, e.g. 0\nupper = # TODO: the largest, e.g. 100\n"
                    .to_owned()
            }
            Held::Words(Some(words)) => {
                format!("kind = \"category\"\ncategories = {}\n", list(words.iter().map(String::as_str)))
            }
            Held::Words(None) => {
                "kind = \"category\"\ncategories = # TODO: all that are possible, e.g. [\"a\", \"b\"]\n".to_owned()
            }
        };
    }
    draft
}

/// A draft that fits public values.
pub fn from_values(labels: &[&str], columns: &[Values], path: &Path) -> Result<String, Problem> {
    let mut draft = String::from(
        "# Kinds, bounds and categories were read off values that are public: a guarantee does not cover what this \
         schema says.\n",
    );
    head(&mut draft, labels);
    for column in columns {
        let is_label = labels.contains(&column.column.as_str());
        let left_out = match column.different.len() {
            0 => Some("it has no values"),
            count if column.range.is_none() && count > MOST_CATEGORIES => {
                Some("it has more than 100 different texts")
            }
            _ => None,
        };
        if let Some(why) = left_out {
            if is_label {
                let message = format!("{:?} of {} cannot be a label: {why}", column.column, path.display());
                return Err(Problem::new(message).help("numbers, or up to 100 classes"));
            }
            // A comment ends with its line, whatever a name contains.
            _ = writeln!(draft, "\n# columns.{} is left out: {why}", key(&column.column));
            continue;
        }
        section(&mut draft, &column.column, "");
        match column.range.filter(|_| column.different.len() > FEW) {
            Some((lower, upper)) => draft += &number(lower, upper, column.missing && !is_label),
            None => draft += &category(column, is_label),
        }
    }
    Ok(draft)
}

fn head(draft: &mut String, labels: &[&str]) {
    let label = match labels {
        [label] => text(label),
        _ => list(labels.iter().copied()),
    };
    _ = writeln!(draft, "\nlabel = {label}");
}

fn section(draft: &mut String, column: &str, note: &str) {
    _ = writeln!(draft, "\n[columns.{}]{note}", key(column));
}

fn number(lower: f64, upper: f64, missing: bool) -> String {
    let (lower, upper) = outward(lower, upper);
    let mut keys = format!("kind = \"number\"\nlower = {}\nupper = {}\n", plain(lower), plain(upper));
    if missing {
        // The middle is 0 as a feature.
        keys += &format!("if-missing = {}\n", plain(lower / 2.0 + upper / 2.0));
    }
    keys
}

fn category(column: &Values, is_label: bool) -> String {
    let mut categories: Vec<&String> = column.different.iter().collect();
    categories.sort();
    if column.range.is_some() {
        let number = |text: &String| text.parse::<f64>().unwrap_or(0.0);
        categories.sort_by(|a, b| number(a).total_cmp(&number(b)));
    }
    let list = list(categories.into_iter().map(String::as_str));
    let mut keys = format!("kind = \"category\"\ncategories = {list}\n");
    if !is_label {
        if column.missing {
            keys += "if-missing = \"none\"\n";
        }
        keys += "if-unknown = \"none\"\n";
    }
    keys
}

/// The nearest multiples below and above of a unit (1, 2 or 5 times a power of ten) of which about ten fit between the
/// two; where no such unit exists, the numbers themselves.
fn outward(lower: f64, upper: f64) -> (f64, f64) {
    let tenth = (upper / 10.0 - lower / 10.0).max(f64::MIN_POSITIVE);
    let exponent = tenth.log10().floor() as i32;
    let fits = |digit: &&f64| **digit * 10f64.powi(exponent) >= tenth * (1.0 - 1e-9);
    let digit = *[1.0, 2.0, 5.0].iter().find(fits).unwrap_or(&10.0);
    // Decimal digits are rounded once: 3e-1 is 0.3, but 3·0.1 is not.
    let multiple = |count: f64| format!("{}e{exponent}", count * digit).parse::<f64>().unwrap_or(f64::NAN);
    let unit = multiple(1.0);
    let (mut below, mut above) = ((lower / unit).floor(), (upper / unit).ceil());
    // The quotients were rounded.
    below -= f64::from(u8::from(multiple(below) > lower));
    above += f64::from(u8::from(multiple(above) < upper));
    let (least, most) = (multiple(below), multiple(above));
    let sound = least <= lower && most >= upper && least < most && least.is_finite() && most.is_finite();
    if sound { (least, most) } else { (lower, upper) }
}

/// A number in TOML's notation, without a point if it is whole.
fn plain(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e15 { format!("{number:.0}") } else { format!("{number:?}") }
}

/// A text in double quotes, on one line; JSON's escapes are also TOML's.
fn text(text: &str) -> String {
    shown_safely(&serde_json::Value::from(text).to_string())
}

fn list<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    format!("[{}]", texts.map(text).collect::<Vec<_>>().join(", "))
}

/// A name as a TOML key.
fn key(name: &str) -> String {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if !name.is_empty() && name.bytes().all(bare) { name.to_owned() } else { text(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_rounded_outward_to_short_numbers() {
        for ((lower, upper), expected) in [
            ((17.0, 90.0), ("10", "90")),
            ((0.0, 99_999.0), ("0", "100000")),
            ((12_285.0, 1_490_400.0), ("0", "1600000")),
            ((0.13, 0.97), ("0.1", "1")),
            ((-0.3, 0.3), ("-0.3", "0.3")),
            ((-5.0, 5.0), ("-5", "5")),
            ((1e9, 1e9 + 20.0), ("1000000000", "1000000020")),
            ((1.0, 16.0), ("0", "16")),
            ((-1e300, 2e300), ("-1e300", "2e300")),
        ] {
            let (least, most) = outward(lower, upper);
            assert_eq!((plain(least).as_str(), plain(most).as_str()), expected, "{lower} {upper}");
        }
        for exponent in -300..300 {
            for (a, b) in [(1.234_567, 1.234_599), (-9.87, 3.3), (0.1, 0.7), (-0.003, -0.001)] {
                let (lower, upper) = (a * 10f64.powi(exponent), b * 10f64.powi(exponent));
                let (least, most) = outward(lower, upper);
                assert!(least <= lower && most >= upper && most - least < 1.5 * (upper - lower));
                assert_eq!(plain(least).parse(), Ok(least));
            }
        }
    }

    #[test]
    fn any_name_and_any_value_returns_from_the_draft() {
        let names = [
            "plain",
            "a.b",
            "two words",
            "quote\"",
            "back\\slash",
            "line\nfeed",
            "",
            "ä",
            "\u{7f}\u{1}\u{202e}\u{9b}",
        ];
        let values = names.map(|name| Values {
            column: name.to_owned(),
            missing: true,
            range: None,
            different: [name, "'''", "\"\"\"", "x"].map(|cell| cell.trim().to_owned()).into(),
        });
        for label in names {
            let draft = from_values(&[label], &values, Path::new("data.csv")).expect("it has few categories");
            let schema = dobrushin_document::schema::parse(&draft).unwrap_or_else(|e| panic!("{draft}: {e}"));
            assert_eq!(schema.label_columns(), [label]);
            let mut columns = schema.columns_wanted();
            let mut expected = names;
            columns.sort_unstable();
            expected.sort_unstable();
            assert_eq!(columns, expected);
        }
    }
}
