//! Typed reading of one table: the one reader of run files and schemas.

use crate::error::DocumentError;
use dobrushin::{NonNegative, Positive, Probability};
use toml::{Table, Value};

/// The keys of a kind of table, each with an example of its use.
pub type Keys = &'static [(&'static str, &'static str)];

/// One table, perhaps absent.
pub struct Section<'a> {
    keys: Keys,
    /// What messages write before a key.
    prefix: String,
    /// Where a missing key is to be added.
    place: String,
    table: Option<&'a Table>,
}

impl<'a> Section<'a> {
    /// The table of a named section, such as `[run]`.
    pub fn of(tables: &'a Table, name: &str, keys: Keys) -> Result<Self, DocumentError> {
        let table = match tables.get(name) {
            None => None,
            Some(Value::Table(table)) => Some(table),
            Some(other) => {
                let what = format!("{name} is not a section: its type is {}", other.type_str());
                return Err(DocumentError::new(what).help(format!("write [{name}] above its keys")));
            }
        };
        Ok(Self { keys, prefix: format!("{name}."), place: format!("to [{name}]"), table })
    }

    /// One table of a list, counted from 1, such as the second `[[step]]`.
    pub fn entry(table: &'a Table, name: &str, number: usize, keys: Keys) -> Self {
        let (prefix, place) = (format!("{name} {number}."), format!("to its [[{name}]]"));
        Self { keys, prefix, place, table: Some(table) }
    }

    /// A table whose keys have a prefix in messages, such as "columns.age.".
    pub fn table(table: &'a Table, prefix: String, keys: Keys) -> Self {
        Self { keys, prefix, place: "it".to_owned(), table: Some(table) }
    }

    /// The keys that are given.
    pub fn keys(&self) -> impl Iterator<Item = &'a str> {
        self.table.into_iter().flat_map(|table| table.keys().map(String::as_str))
    }

    /// The name of a key in messages.
    pub fn dotted(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }

    /// The value of a key.
    pub fn value(&self, key: &str) -> Option<&'a Value> {
        self.table.and_then(|table| table.get(key))
    }

    /// What to say about a value that is not accepted, or is missing.
    pub fn refuse(&self, key: &str, accepted: &str) -> DocumentError {
        let Some(value) = self.value(key) else {
            return self.missing(key);
        };
        DocumentError::new(format!("{} is {}, but it must be {accepted}", self.dotted(key), shown(value)))
            .help(self.example(key))
    }

    /// What to say about a required key.
    pub fn missing(&self, key: &str) -> DocumentError {
        DocumentError::new(format!("{} is missing", self.dotted(key))).help(format!(
            "add {}, for example: {}",
            self.place,
            self.example(key)
        ))
    }

    fn example(&self, key: &str) -> &'static str {
        self.keys.iter().find(|(name, _)| *name == key).map_or("", |(_, example)| example)
    }

    /// Refuses all unknown keys; `of` says what the known ones belong to.
    pub fn allow_its_keys(&self, of: &str) -> Result<(), DocumentError> {
        let known = || self.keys.iter().map(|(name, _)| *name);
        let Some(unknown) = self.keys().find(|key| !known().any(|name| name == *key)) else {
            return Ok(());
        };
        let help = match nearest(unknown, known()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("one of: {}", known().collect::<Vec<_>>().join(", ")),
        };
        Err(DocumentError::new(format!("{} is not a key of {of}", self.dotted(unknown))).help(help))
    }

    /// A finite number.
    pub fn number(&self, key: &str) -> Result<Option<f64>, DocumentError> {
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

    /// A finite number, which is required.
    pub fn needed_number(&self, key: &str) -> Result<f64, DocumentError> {
        self.number(key)?.ok_or_else(|| self.missing(key))
    }

    /// A number, 0 or more.
    pub fn non_negative(&self, key: &str) -> Result<Option<NonNegative>, DocumentError> {
        let accepted = |value| NonNegative::new(value).map_err(|_| self.refuse(key, "a number, 0 or more"));
        self.number(key)?.map(accepted).transpose()
    }

    /// A number above 0.
    pub fn positive(&self, key: &str) -> Result<Option<Positive>, DocumentError> {
        let accepted = |value| Positive::new(value).map_err(|_| self.refuse(key, "a number above 0"));
        self.number(key)?.map(accepted).transpose()
    }

    /// A number between 0 and 1.
    pub fn probability(&self, key: &str) -> Result<Option<Probability>, DocumentError> {
        let accepted =
            |value| Probability::new(value).map_err(|_| self.refuse(key, "a number between 0 and 1"));
        self.number(key)?.map(accepted).transpose()
    }

    /// A whole number, 1 or more, which may be written as 1e4.
    pub fn whole(&self, key: &str) -> Result<Option<u64>, DocumentError> {
        let Some(value) = self.value(key) else {
            return Ok(None);
        };
        whole(value).map(Some).ok_or_else(|| self.refuse(key, "a whole number, 1 or more"))
    }

    /// A whole number, 0 or more.
    pub fn whole_or_none(&self, key: &str) -> Result<Option<u64>, DocumentError> {
        let zero = |value: &Value| value.as_integer() == Some(0) || value.as_float() == Some(0.0);
        let Some(value) = self.value(key) else {
            return Ok(None);
        };
        let number = if zero(value) { Some(0) } else { whole(value) };
        number.map(Some).ok_or_else(|| self.refuse(key, "a whole number, 0 or more"))
    }

    /// true or false.
    pub fn flag(&self, key: &str) -> Result<Option<bool>, DocumentError> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::Boolean(flag)) => Ok(Some(*flag)),
            Some(_) => Err(self.refuse(key, "true or false")),
        }
    }

    /// One of several words, each with its meaning.
    pub fn choice<T: Copy>(
        &self,
        key: &str,
        words: &[(&'static str, T)],
    ) -> Result<Option<T>, DocumentError> {
        let Some(value) = self.value(key) else {
            return Ok(None);
        };
        let known = words.iter().map(|(word, _)| *word);
        let word = value.as_str().unwrap_or_default();
        if let Some((_, meaning)) = words.iter().find(|(known, _)| *known == word) {
            return Ok(Some(*meaning));
        }
        let refused = self.refuse(key, &one_of(known.clone()));
        Err(match nearest(word, known) {
            Some(near) => refused.help(format!("did you mean {near:?}?")),
            None => refused,
        })
    }

    /// One of several words, which is required.
    pub fn word(&self, key: &str, words: &[&'static str]) -> Result<&'static str, DocumentError> {
        let words: Vec<(&'static str, &'static str)> = words.iter().map(|word| (*word, *word)).collect();
        self.choice(key, &words)?.ok_or_else(|| self.missing(key))
    }

    /// A list of distinct texts without white space around them.
    pub fn texts(&self, key: &str) -> Result<Option<Vec<String>>, DocumentError> {
        let Some(value) = self.value(key) else {
            return Ok(None);
        };
        let list = value.as_array().map(|list| list.iter().map(|text| text.as_str().map(str::to_owned)));
        let texts: Option<Vec<String>> = list.and_then(Iterator::collect);
        let texts = texts.ok_or_else(|| self.refuse(key, "a list of texts"))?;
        let dotted = self.dotted(key);
        if let Some(twice) = twice(&texts) {
            return Err(DocumentError::new(format!("{dotted} lists {twice:?} twice")).help("list it once"));
        }
        if let Some(padded) = texts.iter().find(|text| text.trim_ascii() != text.as_str()) {
            let what =
                format!("{dotted} lists {padded:?}, but cells are read without the white space around them");
            return Err(DocumentError::new(what).help(format!("{:?}", padded.trim_ascii())));
        }
        Ok(Some(texts))
    }
}

/// What is accepted where only a few words are.
pub fn one_of(words: impl Iterator<Item = &'static str>) -> String {
    format!("one of {}", words.map(|word| format!("{word:?}")).collect::<Vec<_>>().join(", "))
}

/// A text that occurs twice.
fn twice(texts: &[String]) -> Option<&String> {
    let mut sorted: Vec<&String> = texts.iter().collect();
    sorted.sort();
    sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
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

/// A short form of a value as it is written.
pub fn shown(value: &Value) -> String {
    match value {
        Value::Table(_) => "a table".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::String(text) if text.chars().count() > 40 => "a long text".to_owned(),
        other => other.to_string(),
    }
}

/// The known word that takes the fewest changes, if they are few.
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase().replace('_', "-");
    let best = known.map(|candidate| (strsim::levenshtein(&word, candidate), candidate)).min()?;
    (best.0 <= 1 + word.chars().count() / 4).then_some(best.1)
}
