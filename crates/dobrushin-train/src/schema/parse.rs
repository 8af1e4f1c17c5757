//! Schemas as TOML.

use super::column::{Choice, Feature, FeatureKind, Label, LabelKind, Range};
use super::error::SchemaError;
use super::section::Section;
use super::words::nearest;
use super::{MOST_FEATURES, Schema};
use dobrushin::Positive;
use std::collections::BTreeMap;
use toml::{Table, Value};

/// Cells that count as missing unless the schema says which do.
pub const MISSING: [&str; 5] = ["", "?", "NA", "NaN", "null"];

/// The largest count: all up to it are exact as numbers of 24 binary digits.
const MOST_COUNT: f64 = (1 << 24) as f64;

const LABEL: &str = "label = \"income\"";
const NUMBER: &str = "kind = \"number\" with lower = 0 and upper = 100";
const LOWER: &str = "lower = 0";
const UPPER: &str = "upper = 100";
const CATEGORIES: &str = "categories = [\"no\", \"yes\"]";

impl Schema {
    /// What a TOML file says.
    ///
    /// # Errors
    /// [`SchemaError`] names the key and what is accepted.
    pub fn parse(text: &str) -> Result<Self, SchemaError> {
        // Some editors begin UTF-8 files with a byte-order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let table: Table = text.parse().map_err(|error: toml::de::Error| match to_fill_in(text)[..] {
            [] => SchemaError::new("the schema", format!("is not TOML: {error}"), LABEL),
            ref keys => SchemaError::new(
                keys[0].clone(),
                "is still to be filled in",
                format!("say what is possible, without looking at private values, for: {}", keys.join(", ")),
            ),
        })?;
        Self::from_table(&table)
    }

    /// What a table says.
    pub(super) fn from_table(table: &Table) -> Result<Self, SchemaError> {
        let whole = Section::whole(table);
        whole.allow(&["label", "missing", "norm", "intercept", "columns"], "a schema")?;
        let columns = match table.get("columns") {
            Some(Value::Table(columns)) => columns,
            _ => return Err(whole.refuse("columns", "a table of columns", "[columns.age]")),
        };
        let names = label_names(&whole, columns)?;
        let missing = whole.texts("missing", "missing = [\"\", \"?\", \"NA\"]")?;
        let mut missing = missing.unwrap_or_else(|| MISSING.map(str::to_owned).to_vec());
        missing.sort();
        let norm = whole.number("norm", "norm = 2.0")?.map(|norm| {
            Positive::new(norm).map_err(|_| whole.refuse("norm", "a number above 0", "norm = 2.0"))
        });
        // Whatever order a table has, columns are in that of their names.
        let columns: BTreeMap<&String, &Value> = columns.iter().collect();
        let (mut labels, mut features) = (Vec::new(), Vec::new());
        for (name, value) in columns {
            let Value::Table(table) = value else {
                let help = format!("write [columns.{name}] above its keys");
                return Err(SchemaError::new(format!("columns.{name}"), "is no table of keys", help));
            };
            let section = Section::column(name, table);
            match names.contains(name) {
                true => labels.push(Label { name: name.clone(), kind: label(&section)? }),
                false => features.push(Feature { name: name.clone(), kind: feature(&section)? }),
            }
        }
        labels.sort_by_key(|label| names.iter().position(|name| *name == label.name));
        let intercept = whole.flag("intercept", "intercept = true")?.unwrap_or(true);
        let schema = Self { labels, features, missing, norm: norm.transpose()?, intercept };
        schema.check()?;
        Ok(schema)
    }

    /// What no column can know alone.
    fn check(&self) -> Result<(), SchemaError> {
        if self.features.is_empty() {
            let message = "have labels only, but there must be a column to predict them from";
            return Err(SchemaError::new("columns", message, "[columns.age] with its kind"));
        }
        let dimension = self.dimension();
        if dimension > MOST_FEATURES {
            let message = format!("have {dimension} features, but at most {MOST_FEATURES} are accepted");
            return Err(SchemaError::new("columns", message, "fewer columns, or fewer categories"));
        }
        let first = &self.labels[0];
        for other in &self.labels[1..] {
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
}

/// The names of the columns that have labels, all of which are declared.
fn label_names(whole: &Section, columns: &Table) -> Result<Vec<String>, SchemaError> {
    let names = match whole.value("label") {
        Some(Value::String(name)) => vec![name.clone()],
        Some(Value::Array(_)) => whole.texts("label", LABEL)?.unwrap_or_default(),
        _ => return Err(whole.refuse("label", "the name of a column, or a list of names", LABEL)),
    };
    if names.is_empty() {
        return Err(SchemaError::new("label", "is an empty list", LABEL));
    }
    if let Some(name) = names.iter().find(|name| !columns.contains_key(name.as_str())) {
        let near = nearest(name, columns.keys().map(String::as_str));
        let help =
            near.map_or(format!("[columns.{name}] with its kind"), |near| format!("did you mean {near:?}?"));
        return Err(SchemaError::new("label", format!("is {name:?}, but no such column is declared"), help));
    }
    Ok(names)
}

fn feature(section: &Section) -> Result<FeatureKind, SchemaError> {
    match kind(section, &["number", "category"])? {
        "number" => {
            section.allow(&["kind", "lower", "upper", "if-missing"], "kind = \"number\"")?;
            let range = range(section)?;
            let (lower, upper) = (range.lower, range.upper);
            let if_missing = section.number("if-missing", "if-missing = 40")?;
            if if_missing.is_some_and(|value| !(lower..=upper).contains(&value)) {
                let accepted = format!("a number from {lower} to {upper}");
                return Err(section.refuse("if-missing", &accepted, "a number within the bounds"));
            }
            Ok(FeatureKind::Number { range, if_missing })
        }
        _ => {
            let keys = ["kind", "categories", "if-missing", "if-unknown"];
            section.allow(&keys, "kind = \"category\"")?;
            let categories = categories(section, 1)?;
            let if_missing = choice(section, "if-missing", &categories)?;
            let if_unknown = choice(section, "if-unknown", &categories)?;
            Ok(FeatureKind::Category { categories, if_missing, if_unknown })
        }
    }
}

fn label(section: &Section) -> Result<LabelKind, SchemaError> {
    for key in ["if-missing", "if-unknown"] {
        if section.value(key).is_some() {
            let message = "is for features: a record is not given a label that it does not have";
            return Err(SchemaError::new(section.dotted(key), message, "leave it out"));
        }
    }
    match kind(section, &["number", "category", "count"])? {
        "number" => {
            section.allow(&["kind", "lower", "upper"], "kind = \"number\"")?;
            range(section).map(LabelKind::Number)
        }
        "count" => {
            section.allow(&["kind", "upper"], "kind = \"count\", which begins at 0")?;
            let upper = section.needed_number("upper", UPPER)?;
            if upper.fract() != 0.0 || !(1.0..=MOST_COUNT).contains(&upper) {
                return Err(section.refuse("upper", "a whole number from 1 to 2^24", UPPER));
            }
            Ok(LabelKind::Count(upper as u32))
        }
        _ => {
            section.allow(&["kind", "categories"], "kind = \"category\"")?;
            categories(section, 2).map(LabelKind::Category)
        }
    }
}

fn kind(section: &Section, known: &[&'static str]) -> Result<&'static str, SchemaError> {
    let list: Vec<String> = known.iter().map(|word| format!("{word:?}")).collect();
    let accepted = format!("one of {}", list.join(", "));
    let word =
        section.text("kind", &accepted, NUMBER)?.ok_or_else(|| section.refuse("kind", &accepted, NUMBER))?;
    if let Some(kind) = known.iter().find(|kind| **kind == word) {
        return Ok(kind);
    }
    let help = match (word, nearest(word, known.iter().copied())) {
        ("count", _) => "counts are for labels: kind = \"number\" with lower = 0".to_owned(),
        (_, Some(near)) => format!("did you mean {near:?}?"),
        (_, None) => NUMBER.to_owned(),
    };
    Err(section.refuse("kind", &accepted, &help))
}

fn range(section: &Section) -> Result<Range, SchemaError> {
    let lower = section.needed_number("lower", LOWER)?;
    let upper = section.needed_number("upper", UPPER)?;
    Range::new(lower, upper).ok_or_else(|| {
        let message = format!("is {lower}, but it must be below upper, which is {upper}");
        let help = "the least and the largest value that is possible; leave out a column that is constant";
        SchemaError::new(section.dotted("lower"), message, help)
    })
}

fn categories(section: &Section, least: usize) -> Result<Vec<String>, SchemaError> {
    let categories = section.texts("categories", CATEGORIES)?;
    let categories = categories.ok_or_else(|| section.refuse("categories", "a list of texts", CATEGORIES))?;
    if categories.len() < least {
        let message = format!("lists {}, but there must be {least} or more", categories.len());
        return Err(SchemaError::new(section.dotted("categories"), message, CATEGORIES));
    }
    Ok(categories)
}

/// One of the categories, or none.
fn choice(section: &Section, key: &str, categories: &[String]) -> Result<Option<Choice>, SchemaError> {
    let accepted = "one of the categories, or \"none\"";
    let help = format!("{key} = \"none\"");
    let Some(word) = section.text(key, accepted, &help)? else {
        return Ok(None);
    };
    if let Some(place) = categories.iter().position(|category| category == word) {
        return Ok(Some(Choice::Category(place)));
    }
    if word == "none" {
        return Ok(Some(Choice::None));
    }
    let near = nearest(word, categories.iter().map(String::as_str));
    let help = near.map_or(help, |near| format!("did you mean {near:?}?"));
    Err(section.refuse(key, accepted, &help))
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
