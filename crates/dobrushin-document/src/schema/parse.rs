//! Schemas as TOML.

use crate::error::DocumentError;
use crate::section::{Keys, Section, nearest};
use dobrushin::Positive;
use dobrushin_train::schema::{Choice, Declaration, Feature, FeatureKind, Label, LabelKind, Range, Schema};
use std::collections::BTreeMap;
use toml::{Table, Value};

/// Cells that count as missing unless the schema lists its own.
pub const MISSING: [&str; 5] = ["", "?", "NA", "NaN", "null"];

/// The largest count: all numbers up to it are exact with 24 binary digits.
const MOST_COUNT: f64 = (1 << 24) as f64;

const LABEL: &str = "label = \"income\"";
const KIND: (&str, &str) = ("kind", "kind = \"number\" with lower = 0 and upper = 100");
const LOWER: (&str, &str) = ("lower", "lower = 0");
const UPPER: (&str, &str) = ("upper", "upper = 100");
const CATEGORIES: (&str, &str) = ("categories", "categories = [\"no\", \"yes\"]");
const IF_MISSING: (&str, &str) = ("if-missing", "if-missing = \"none\"");
const IF_UNKNOWN: (&str, &str) = ("if-unknown", "if-unknown = \"none\"");

const SCHEMA: Keys = &[
    ("label", LABEL),
    ("missing", "missing = [\"\", \"?\", \"NA\"]"),
    ("norm", "norm = 2.0"),
    ("intercept", "intercept = true"),
    ("columns", "[columns.age]"),
];
const TYPICAL: (&str, &str) = ("typical", "typical = 40");
const COLUMN: Keys = &[KIND, LOWER, UPPER, TYPICAL, CATEGORIES, IF_MISSING, IF_UNKNOWN];
const NUMBER_FEATURE: Keys = &[KIND, LOWER, UPPER, TYPICAL, ("if-missing", "if-missing = 40")];
const CATEGORY_FEATURE: Keys = &[KIND, CATEGORIES, IF_MISSING, IF_UNKNOWN];
const NUMBER_LABEL: Keys = &[KIND, LOWER, UPPER];
const COUNT_LABEL: Keys = &[KIND, UPPER];
const CATEGORY_LABEL: Keys = &[KIND, CATEGORIES];

/// Reads a TOML file.
///
/// # Errors
/// [`DocumentError`] names the key and what is accepted.
pub fn parse(text: &str) -> Result<Schema, DocumentError> {
    // Some editors start UTF-8 files with a byte-order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let table: Table = text.parse().map_err(|error: toml::de::Error| match to_fill_in(text)[..] {
        [] => DocumentError::new(format!("the schema is not TOML: {error}")).help(LABEL),
        ref keys => DocumentError::new(format!("{} is still to be filled in", keys[0])).help(format!(
            "say what is possible, without looking at private values, for: {}",
            keys.join(", ")
        )),
    })?;
    from_table(&table)
}

/// Reads a table.
pub(super) fn from_table(table: &Table) -> Result<Schema, DocumentError> {
    let whole = Section::table(table, String::new(), SCHEMA);
    whole.allow_its_keys("a schema")?;
    let Some(Value::Table(columns)) = table.get("columns") else {
        return Err(whole.refuse("columns", "a table of columns"));
    };
    let names = label_names(&whole, columns)?;
    let missing = whole.texts("missing")?.unwrap_or_else(|| MISSING.map(str::to_owned).to_vec());
    let norm = whole
        .number("norm")?
        .map(|norm| Positive::new(norm).map_err(|_| whole.refuse("norm", "a number above 0")));
    // The columns are sorted by name, whatever order the table has.
    let columns: BTreeMap<&String, &Value> = columns.iter().collect();
    let (mut labels, mut features) = (Vec::new(), Vec::new());
    for (name, value) in columns {
        let Value::Table(table) = value else {
            let help = format!("write [columns.{name}] above its keys");
            return Err(DocumentError::new(format!("columns.{name} is not a table of keys")).help(help));
        };
        let section = |keys| Section::table(table, format!("columns.{name}."), keys);
        match names.contains(name) {
            true => labels.push(Label { name: name.clone(), kind: label(section)? }),
            false => features.push(Feature { name: name.clone(), kind: feature(section)? }),
        }
    }
    labels.sort_by_key(|label| names.iter().position(|name| *name == label.name));
    let intercept = whole.flag("intercept")?.unwrap_or(true);
    Ok(Schema::new(Declaration { labels, features, missing, norm: norm.transpose()?, intercept })?)
}

/// The names of the columns that have labels, all of which are declared.
fn label_names(whole: &Section, columns: &Table) -> Result<Vec<String>, DocumentError> {
    let names = match whole.value("label") {
        Some(Value::String(name)) => vec![name.clone()],
        Some(Value::Array(_)) => whole.texts("label")?.unwrap_or_default(),
        _ => return Err(whole.refuse("label", "the name of a column, or a list of names")),
    };
    if names.is_empty() {
        return Err(DocumentError::new("label is an empty list").help(LABEL));
    }
    if let Some(name) = names.iter().find(|name| !columns.contains_key(name.as_str())) {
        let near = nearest(name, columns.keys().map(String::as_str));
        let help =
            near.map_or(format!("[columns.{name}] with its kind"), |near| format!("did you mean {near:?}?"));
        return Err(
            DocumentError::new(format!("label is {name:?}, but no such column is declared")).help(help)
        );
    }
    Ok(names)
}

fn feature<'a>(column: impl Fn(Keys) -> Section<'a>) -> Result<FeatureKind, DocumentError> {
    match kind(&column(COLUMN), &["number", "category"])? {
        "number" => {
            let section = column(NUMBER_FEATURE);
            section.allow_its_keys("kind = \"number\"")?;
            let mut range = range(&section)?;
            let (lower, upper) = (range.lower(), range.upper());
            if let Some(typical) = section.number("typical")? {
                let accepted = format!("a number from {lower} to {upper}");
                range = range.around(typical).ok_or_else(|| {
                    section.refuse("typical", &accepted).help("an ordinary value, known without the records")
                })?;
            }
            let if_missing = section.number("if-missing")?;
            if if_missing.is_some_and(|value| !(lower..=upper).contains(&value)) {
                let accepted = format!("a number from {lower} to {upper}");
                return Err(section.refuse("if-missing", &accepted).help("a number within the bounds"));
            }
            Ok(FeatureKind::Number { range, if_missing })
        }
        _ => {
            let section = column(CATEGORY_FEATURE);
            section.allow_its_keys("kind = \"category\"")?;
            let categories = categories(&section, 1)?;
            let if_missing = choice(&section, "if-missing", &categories)?;
            let if_unknown = choice(&section, "if-unknown", &categories)?;
            Ok(FeatureKind::Category { categories, if_missing, if_unknown })
        }
    }
}

fn label<'a>(column: impl Fn(Keys) -> Section<'a>) -> Result<LabelKind, DocumentError> {
    let any = column(COLUMN);
    if let Some(key) = ["if-missing", "if-unknown"].into_iter().find(|key| any.value(key).is_some()) {
        let message = "is for features: a record is not given a label that it does not have";
        return Err(DocumentError::new(format!("{} {message}", any.dotted(key))).help("leave it out"));
    }
    match kind(&any, &["number", "category", "count"])? {
        "number" => {
            let section = column(NUMBER_LABEL);
            section.allow_its_keys("kind = \"number\"")?;
            range(&section).map(LabelKind::Number)
        }
        "count" => {
            let section = column(COUNT_LABEL);
            section.allow_its_keys("kind = \"count\", which begins at 0")?;
            let upper = section.needed_number("upper")?;
            if upper.fract() != 0.0 || !(1.0..=MOST_COUNT).contains(&upper) {
                return Err(section.refuse("upper", "a whole number from 1 to 2^24"));
            }
            Ok(LabelKind::Count(upper as u32))
        }
        _ => {
            let section = column(CATEGORY_LABEL);
            section.allow_its_keys("kind = \"category\"")?;
            categories(&section, 2).map(LabelKind::Category)
        }
    }
}

fn kind(section: &Section, known: &[&'static str]) -> Result<&'static str, DocumentError> {
    if section.value("kind").is_none() {
        // The key may be there with a typo.
        section.allow_its_keys("a column")?;
    }
    section.word("kind", known).map_err(|error| match section.value("kind").and_then(Value::as_str) {
        Some("count") => error.help("counts are for labels: kind = \"number\" with lower = 0"),
        _ => error,
    })
}

fn range(section: &Section) -> Result<Range, DocumentError> {
    let (lower, upper) = (section.needed_number("lower")?, section.needed_number("upper")?);
    Range::new(lower, upper).ok_or_else(|| {
        let lower_key = section.dotted("lower");
        DocumentError::new(format!("{lower_key} is {lower}, but it must be below upper, which is {upper}"))
            .help("the least and the largest value that is possible; leave out a column that is constant")
    })
}

fn categories(section: &Section, least: usize) -> Result<Vec<String>, DocumentError> {
    let categories = section.texts("categories")?.ok_or_else(|| section.missing("categories"))?;
    if categories.len() < least {
        let (key, count) = (section.dotted("categories"), categories.len());
        let message = format!("{key} lists {count}, but there must be {least} or more");
        return Err(DocumentError::new(message).help(CATEGORIES.1));
    }
    Ok(categories)
}

/// One of the categories, or none.
fn choice(section: &Section, key: &str, categories: &[String]) -> Result<Option<Choice>, DocumentError> {
    let refused = || section.refuse(key, "one of the categories, or \"none\"");
    let word = match section.value(key) {
        None => return Ok(None),
        Some(value) => value.as_str().ok_or_else(refused)?,
    };
    if let Some(place) = categories.iter().position(|category| category == word) {
        return Ok(Some(Choice::Category(place)));
    }
    if word == "none" {
        return Ok(Some(Choice::None));
    }
    Err(match nearest(word, categories.iter().map(String::as_str)) {
        Some(near) => refused().help(format!("did you mean {near:?}?")),
        None => refused(),
    })
}

/// The keys of a draft that have no value yet: "lower = # e.g. 0" below "[columns.age]".
fn to_fill_in(text: &str) -> Vec<String> {
    let mut keys = Vec::new();
    let mut table = "";
    for line in text.lines().map(str::trim) {
        if let Some((name, _)) = line.strip_prefix('[').and_then(|rest| rest.rsplit_once(']')) {
            table = name;
        }
        let Some((key, value)) = line.split_once('=') else {
            continue;
        };
        let is_empty = value.trim().is_empty() || value.trim().starts_with('#');
        if is_empty && ["lower", "upper", "categories"].contains(&key.trim()) {
            keys.push(format!("{table}.{}", key.trim()));
        }
    }
    keys
}
