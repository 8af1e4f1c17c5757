//! Typed reading of one table.

use super::keys::{example, is_list, nearest};
use crate::problem::Problem;
use dobrushin::{NonNegative, Positive, Probability};
use toml::{Table, Value};

/// One table of a run file, perhaps absent.
pub struct Section<'a> {
    /// The kind of table, by which its keys are known.
    kind: &'static str,
    /// How messages call it.
    name: String,
    table: Option<&'a Table>,
}

impl<'a> Section<'a> {
    /// The section with a name.
    pub fn of(tables: &'a Table, kind: &'static str) -> Result<Self, Problem> {
        let table = match tables.get(kind) {
            None => None,
            Some(Value::Table(table)) => Some(table),
            Some(other) => {
                let what = format!("{kind} is no section: it is a {}", other.type_str());
                return Err(Problem::new(what).help(format!("write [{kind}] above its keys")));
            }
        };
        Ok(Self { kind, name: kind.to_owned(), table })
    }

    /// One table of a list, counted from 1.
    pub fn entry(table: &'a Table, kind: &'static str, number: usize) -> Self {
        Self { kind, name: format!("{kind} {number}"), table: Some(table) }
    }

    /// The keys that are given.
    pub fn keys(&self) -> impl Iterator<Item = &'a str> {
        self.table.into_iter().flat_map(|table| table.keys().map(String::as_str))
    }

    /// How messages call a key.
    pub fn dotted(&self, key: &str) -> String {
        format!("{}.{key}", self.name)
    }

    /// The value of a key.
    pub fn value(&self, key: &str) -> Option<&'a Value> {
        self.table.and_then(|table| table.get(key))
    }

    /// What to say about a value that is not accepted.
    pub fn refuse(&self, key: &str, accepted: &str) -> Problem {
        let value = self.value(key).map_or("missing".to_owned(), shown);
        Problem::new(format!("{} is {value}, but it must be {accepted}", self.dotted(key)))
            .help(example(self.kind, key))
    }

    /// What to say about a key that is needed.
    pub fn missing(&self, key: &str) -> Problem {
        let kind = self.kind;
        let place = if is_list(kind) { format!("its [[{kind}]]") } else { format!("[{kind}]") };
        Problem::new(format!("{} is missing", self.dotted(key)))
            .help(format!("add to {place}, for example: {}", example(self.kind, key)))
    }

    /// A finite number.
    pub fn number(&self, key: &str) -> Result<Option<f64>, Problem> {
        let Some(value) = self.value(key) else {
            return Ok(None);
        };
        let number = match value {
            Value::Float(number) if number.is_finite() => *number,
            Value::Integer(number) => *number as f64,
            _ => return Err(self.refuse(key, "a finite number")),
        };
        Ok(Some(number))
    }

    /// A number, 0 or more.
    pub fn non_negative(&self, key: &str) -> Result<Option<NonNegative>, Problem> {
        let accepted = |value| NonNegative::new(value).map_err(|_| self.refuse(key, "a number, 0 or more"));
        self.number(key)?.map(accepted).transpose()
    }

    /// A number above 0.
    pub fn positive(&self, key: &str) -> Result<Option<Positive>, Problem> {
        let accepted = |value| Positive::new(value).map_err(|_| self.refuse(key, "a number above 0"));
        self.number(key)?.map(accepted).transpose()
    }

    /// A number between 0 and 1.
    pub fn probability(&self, key: &str) -> Result<Option<Probability>, Problem> {
        let accepted =
            |value| Probability::new(value).map_err(|_| self.refuse(key, "a number between 0 and 1"));
        self.number(key)?.map(accepted).transpose()
    }

    /// A whole number, 1 or more, perhaps written as 1e4.
    pub fn whole(&self, key: &str) -> Result<Option<u64>, Problem> {
        let Some(value) = self.value(key) else {
            return Ok(None);
        };
        whole(value).map(Some).ok_or_else(|| self.refuse(key, "a whole number, 1 or more"))
    }

    /// A whole number, 0 or more.
    pub fn whole_or_none(&self, key: &str) -> Result<Option<u64>, Problem> {
        let zero = |value: &Value| value.as_integer() == Some(0) || value.as_float() == Some(0.0);
        let Some(value) = self.value(key) else {
            return Ok(None);
        };
        let number = if zero(value) { Some(0) } else { whole(value) };
        number.map(Some).ok_or_else(|| self.refuse(key, "a whole number, 0 or more"))
    }

    /// true or false.
    pub fn flag(&self, key: &str) -> Result<Option<bool>, Problem> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::Boolean(flag)) => Ok(Some(*flag)),
            Some(_) => Err(self.refuse(key, "true or false")),
        }
    }

    /// One of several words, each with its meaning.
    pub fn choice<T: Copy>(&self, key: &str, words: &[(&'static str, T)]) -> Result<Option<T>, Problem> {
        let Some(value) = self.value(key) else {
            return Ok(None);
        };
        let known = words.iter().map(|(word, _)| *word);
        let word = value.as_str().unwrap_or_default();
        if let Some((_, meaning)) = words.iter().find(|(known, _)| *known == word) {
            return Ok(Some(*meaning));
        }
        let list: Vec<String> = known.clone().map(|word| format!("{word:?}")).collect();
        let problem = Problem::new(format!(
            "{} is {}, but it must be one of {}",
            self.dotted(key),
            shown(value),
            list.join(", ")
        ));
        Err(problem.help(
            nearest(word, known)
                .map_or(example(self.kind, key).to_owned(), |near| format!("did you mean {near:?}?")),
        ))
    }

    /// One of several words, which must be given.
    pub fn word(&self, key: &str, words: &[&'static str]) -> Result<&'static str, Problem> {
        let words: Vec<(&'static str, &'static str)> = words.iter().map(|word| (*word, *word)).collect();
        self.choice(key, &words)?.ok_or_else(|| self.missing(key))
    }
}

/// What to say of the name of a file where nothing may be opened.
pub fn names_a_file(dotted: &str, needed: &str) -> Problem {
    Problem::new(format!("{dotted} is the name of a file, but here it must be {needed}")).help(
        "nothing is opened that a certificate or a model names; what dobrushin writes for programs holds all of it, so that \
         it means the same everywhere",
    )
}

/// A whole number from 1 to 2⁵³.
pub fn whole(value: &Value) -> Option<u64> {
    match value {
        Value::Integer(number) => u64::try_from(*number).ok().filter(|n| (1..=1 << 53).contains(n)),
        Value::Float(number) => ((1.0..=9.007_199_254_740_992e15).contains(number) && number.fract() == 0.0)
            .then_some(*number as u64),
        _ => None,
    }
}

/// A number, whole or not.
pub fn number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|n| n as f64))
}

/// A value as it is written, short.
pub fn shown(value: &Value) -> String {
    match value {
        Value::Table(_) => "a table".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::String(text) if text.chars().count() > 40 => "a long text".to_owned(),
        other => other.to_string(),
    }
}
