//! The values that a key takes in turn.

use super::keys::{is_whole, resolve};
use super::setting::{Setting, parse_assignment, value_of};
use crate::error::DocumentError;
use crate::json::of_toml;
use dobrushin::numeric::decimal as number;
use serde_json::Value as Json;
use toml::Value;

/// A key and its values.
///
/// ```
/// use dobrushin_document::Sweep;
///
/// // Three points at equal ratios.
/// let sweep = Sweep::parse("update.noise-multiplier=1..4", 3, true)?;
/// assert_eq!(sweep.count(), 3);
/// assert!((sweep.number(1) - 2.0).abs() < 1e-9);
/// # Ok::<(), dobrushin_document::DocumentError>(())
/// ```
pub struct Sweep {
    /// The key, such as `run.steps`.
    pub key: String,
    /// The values, at least one.
    values: Vec<Value>,
}

impl Sweep {
    /// Reads `key=a..b`, with this many points at equal distances or ratios, or `key=v1,v2,v3`.
    pub fn parse(text: &str, points: u32, log: bool) -> Result<Self, DocumentError> {
        let (key, values) = parse_assignment("--over", text)?;
        let values = match values.split_once("..") {
            Some((start, end)) => range(&key, (start, end), points, log)?,
            None => values.split(',').map(|value| value_of(value.trim())).collect(),
        };
        let sweep = Self { key, values };
        if log
            && let Some(value) = sweep.values.iter().find(|value| !as_number(value).is_some_and(|n| n > 0.0))
        {
            return Err(DocumentError::new(format!(
                "--over {} has the value {value}, but --log needs numbers above 0",
                sweep.key
            ))
            .help("leave --log out"));
        }
        Ok(sweep)
    }

    /// A key as users write it, and the values that it takes in turn.
    pub fn of(key: &str, values: Vec<Value>) -> Result<Self, DocumentError> {
        let key = resolve(key)?;
        if values.is_empty() {
            return Err(DocumentError::new(format!("--over {key} has no value")).help("--over steps=1..1e5"));
        }
        Ok(Self { key, values })
    }

    /// The number of values.
    pub fn count(&self) -> usize {
        self.values.len()
    }

    /// The values, for programs.
    pub fn json(&self) -> Vec<Json> {
        self.values.iter().map(of_toml).collect()
    }

    /// Whether all values are numbers.
    pub fn is_numeric(&self) -> bool {
        self.values.iter().all(|value| as_number(value).is_some())
    }

    /// Whether the question itself is varied.
    pub fn is_of_target(&self) -> bool {
        self.key.starts_with("target.")
    }

    /// The setting of the key to one of its values.
    pub fn setting(&self, index: usize) -> Setting {
        Setting::new(&self.key, self.values[index].clone())
    }

    /// The settings whose values are words, which may name files.
    pub fn words(&self) -> impl Iterator<Item = Setting> {
        (0..self.count()).filter(|&index| self.values[index].is_str()).map(|index| self.setting(index))
    }

    /// A value, as it is shown.
    pub fn label(&self, index: usize) -> String {
        match &self.values[index] {
            Value::String(word) => word.clone(),
            value => as_number(value).map_or(value.to_string(), |value| number::nearest(value, 10)),
        }
    }

    /// The place of a value on an axis; words are counted.
    pub fn number(&self, index: usize) -> f64 {
        as_number(&self.values[index]).unwrap_or(index as f64 + 1.0)
    }
}

fn as_number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|n| n as f64))
}

fn range(key: &str, (start, end): (&str, &str), points: u32, log: bool) -> Result<Vec<Value>, DocumentError> {
    let number = |text: &str| {
        text.trim().parse::<f64>().ok().filter(|n| n.is_finite()).ok_or_else(|| {
            DocumentError::new(format!("{text:?} in --over {key} is not a finite number"))
                .help("--over steps=1..1e5")
        })
    };
    let (start, end) = (number(start)?, number(end)?);
    if start >= end {
        return Err(DocumentError::new(format!("--over {key}: the range {start}..{end} is empty"))
            .help("write the smaller end first"));
    }
    if log && start <= 0.0 {
        return Err(DocumentError::new(format!(
            "--over {key}: the range starts at {start}, but --log needs it above 0"
        ))
        .help("start above 0, or leave --log out"));
    }
    let whole = is_whole(key);
    let point = |i: u32| {
        let t = f64::from(i) / f64::from(points - 1);
        let value = match i {
            0 => start,
            _ if i == points - 1 => end,
            _ if log => libm::exp(libm::log(start) + t * (libm::log(end) - libm::log(start))),
            _ => start + t * (end - start),
        };
        if whole { value.round() } else { value }
    };
    let mut numbers: Vec<f64> = (0..points).map(point).collect();
    numbers.dedup();
    let value = |number: f64| if whole { Value::Integer(number as i64) } else { Value::Float(number) };
    Ok(numbers.into_iter().map(value).collect())
}
