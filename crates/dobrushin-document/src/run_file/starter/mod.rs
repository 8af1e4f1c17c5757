//! Run files to start from: complete, commented, and accepted as they are.

mod comments;

use super::keys::{self, LISTED, excluded_by, is_given, keys_of};
use super::{RunFile, Setting};
use crate::error::DocumentError;
use crate::plain_text::{shown_safely, wrap};
use comments::{SUGGESTED, above, meaning};
use std::collections::BTreeMap;
use toml::{Table, Value};

/// What is known about a run so far, and usual values for the rest.
///
/// ```
/// use dobrushin_document::{RunFile, Setting, Starter};
///
/// let mut starter = Starter::default();
/// starter.set(&Setting::parse("--set", "records=1000")?)?;
/// // The rest has usual values that fit: batches are not larger than the table, and δ is well below 1/1000.
/// assert!(starter.defaults().contains(&"run.batch-size".to_owned()));
/// let file = RunFile::parse(&starter.text(), "run.toml")?;
/// assert!(file.run()?.as_training().is_some_and(|training| training.records == 1000));
/// # Ok::<(), dobrushin_document::DocumentError>(())
/// ```
#[derive(Clone, Default)]
pub struct Starter {
    /// The first lines of the file, each a paragraph.
    head: Vec<String>,
    given: Table,
    /// What is said beside keys, instead of what they mean in general.
    remarks: BTreeMap<String, String>,
}

impl Starter {
    /// Sets a key, and removes those that it excludes.
    ///
    /// # Errors
    /// [`DocumentError`] if there is no place for it.
    pub fn set(&mut self, setting: &Setting) -> Result<(), DocumentError> {
        setting.apply(&mut self.given)?;
        self.remarks.remove(setting.key());
        Ok(())
    }

    /// Sets a key to a value, with a remark of its own.
    ///
    /// # Errors
    /// [`DocumentError`] if run files have no such key.
    pub(crate) fn put(
        &mut self,
        key: &str,
        value: Value,
        remark: impl Into<String>,
    ) -> Result<(), DocumentError> {
        self.set(&Setting::new(&keys::resolve(key)?, value))?;
        self.remarks.insert(key.to_owned(), remark.into());
        Ok(())
    }

    /// Adds a paragraph to the beginning of the file.
    pub fn begin_with(&mut self, paragraph: impl Into<String>) {
        self.head.push(paragraph.into());
    }

    /// The file, for questions about it.
    pub fn file(&self) -> RunFile {
        RunFile { tables: self.tables() }
    }

    /// Whether a key was set.
    pub fn is_set(&self, key: &str) -> bool {
        is_given(&self.given, key)
    }

    /// The value that a key has, set or usual, as the file writes it.
    pub fn value(&self, key: &str) -> Option<String> {
        let (section, name) = key.split_once('.')?;
        self.tables().get(section)?.get(name).map(written)
    }

    /// The keys that have usual values, because nobody set them.
    pub fn defaults(&self) -> Vec<String> {
        self.usual().into_iter().map(|(key, _)| key.to_owned()).collect()
    }

    fn tables(&self) -> Table {
        let mut tables = self.given.clone();
        for (key, value) in self.usual() {
            let (section, name) = key.split_once('.').unwrap_or((key, ""));
            let table = tables.entry(section).or_insert_with(|| Value::Table(Table::new()));
            if let Some(table) = table.as_table_mut() {
                table.insert(name.to_owned(), value);
            }
        }
        tables
    }

    /// Usual values of keys that are needed and neither set nor excluded by others.
    fn usual(&self) -> Vec<(&'static str, Value)> {
        let word = |key: &str| {
            let (section, name) = key.split_once('.').unwrap_or((key, ""));
            self.given.get(section).and_then(|table| table.get(name))
        };
        let text = |key: &str| word(key).and_then(Value::as_str);
        let algorithm = text("run.algorithm").unwrap_or("dp-sgd");
        if ["chain", "composition"].contains(&algorithm) {
            return Vec::new();
        }
        let trained = self.given.contains_key("model");
        let usual_order = match algorithm {
            "gradient-descent" => "full",
            "pnsgd" | "online" => "once",
            _ if trained => "cyclic",
            _ => "poisson",
        };
        let order = text("run.order").unwrap_or(usual_order);
        // Training counts the records itself.
        let records = word("run.records").and_then(Value::as_integer).unwrap_or(RECORDS).max(1);
        let mut usual = vec![
            ("run.algorithm", Value::from("dp-sgd")),
            ("run.order", Value::from(usual_order)),
            ("run.neighbours", Value::from("replace-one")),
            ("update.noise-multiplier", Value::from(if trained { 16.0 } else { 1.0 })),
            ("target.delta", Value::from(delta(records))),
        ];
        if trained {
            usual.push(("update.learning-rate", Value::from(0.3)));
        } else {
            usual.push(("run.records", Value::from(RECORDS)));
            usual.push(("run.release", Value::from("all")));
            usual.push(("update.clip-norm", Value::from(1.0)));
        }
        if order != "full" {
            let size = if ["pnsgd", "online"].contains(&algorithm) { 1 } else { BATCH };
            usual.push(("run.batch-size", Value::from(size.min(records))));
        }
        if order != "once" {
            usual.push(("run.epochs", Value::from(if trained { 40 } else { 10 })));
        }
        let is_free = |(key, _): &(&'static str, Value)| {
            !is_given(&self.given, key) && !excluded_by(key).any(|other| is_given(&self.given, other))
        };
        usual.into_iter().filter(is_free).collect()
    }

    /// The file as text, with comments.
    pub fn text(&self) -> String {
        let tables = self.tables();
        let defaults = self.defaults();
        let mut text: String = self.head.iter().map(|line| remark(line)).collect::<Vec<_>>().join("#\n");
        for section in LISTED.into_iter().filter(|section| !keys::is_list(section)) {
            let table = tables.get(section).and_then(Value::as_table);
            let mut lines = Vec::new();
            for (name, _) in keys_of(section) {
                let Some(value) = table.and_then(|table| table.get(*name)) else {
                    continue;
                };
                let key = format!("{section}.{name}");
                let mut words = self.remarks.get(&key).map_or(meaning(&key), String::as_str).to_owned();
                if defaults.contains(&key) {
                    words = format!("usual: {words}");
                }
                lines.push(line(&format!("{name} = {}", written(value)), &words));
            }
            let excluded = |key: &str| excluded_by(key).any(|other| is_given(&tables, other));
            let suggested = SUGGESTED.iter().filter(|key| {
                // Training derives the facts, and releases the last iterate.
                let fits = !tables.contains_key("model") || **key == "run.records";
                key.starts_with(&format!("{section}.")) && !is_given(&tables, key) && !excluded(key) && fits
            });
            for key in suggested {
                let (_, name) = key.split_once('.').unwrap_or(("", key));
                lines.push(line(&format!("# {}", keys::example(section, name)), meaning(key)));
            }
            if !lines.is_empty() {
                let above = above(section).map_or(String::new(), remark);
                text += &format!("\n{above}[{section}]\n{}", lines.concat());
            }
        }
        text.trim_start_matches('\n').to_owned()
    }
}

/// The number of records, the size of a batch, if nothing is known about them.
const RECORDS: i64 = 60_000;
const BATCH: i64 = 256;

/// The largest power of ten that is at most a tenth of one over the number of records.
fn delta(records: i64) -> f64 {
    let digits = libm::log10(records.max(1) as f64 * 10.0).ceil() as i32;
    format!("1e-{digits}").parse().unwrap_or(1e-12)
}

/// A key with its comment, which begins in the same column everywhere; a long one continues on lines of its own above.
fn line(assignment: &str, comment: &str) -> String {
    if comment.is_empty() {
        return format!("{assignment}\n");
    }
    let line = format!("{assignment:33} # {}", shown_safely(comment));
    match line.chars().count() <= WIDTH && assignment.chars().count() <= 33 {
        true => format!("{line}\n"),
        false => format!("{}{assignment}\n", remark(comment)),
    }
}

/// Files are at most this wide.
const WIDTH: usize = 130;

/// A paragraph as comments.
fn remark(paragraph: &str) -> String {
    let lines = wrap(&shown_safely(paragraph), "");
    lines.lines().map(|line| format!("# {line}\n")).collect()
}

/// A value in TOML, on one line.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) => shown_safely(&serde_json::Value::from(text.as_str()).to_string()),
        Value::Float(number) => format!("{number:?}"),
        Value::Array(list) => format!("[{}]", list.iter().map(written).collect::<Vec<_>>().join(", ")),
        Value::Table(table) => {
            let pairs = table.iter().map(|(key, value)| format!("{key} = {}", written(value)));
            format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}
