//! The parameters of a run in another library, as its users write them.

use super::library::{Library, Meaning};
use crate::error::DocumentError;
use crate::section::nearest;
use dobrushin::numeric::decimal::plain;
use serde_json::Value as Json;

/// What somebody gave to another library.
///
/// ```
/// use dobrushin_document::peers::{Library, Parameters};
///
/// let mut parameters = Parameters::new(Library::Opacus);
/// // One of them, as in Python or on a command line, or all of them from a file: JSON or keywords.
/// parameters.add("noise_multiplier=1.1")?;
/// parameters.read("max_grad_norm=1.0,\npoisson_sampling=True,\n")?;
/// parameters.read(r#"{"epochs": 10}"#)?;
/// let Err(error) = parameters.add("noise_multipler=1") else { panic!("it is misspelt") };
/// assert_eq!(error.help.as_deref(), Some("did you mean noise_multiplier?"));
/// # Ok::<(), dobrushin_document::DocumentError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Parameters {
    pub(super) library: Library,
    /// The name, the meaning and the value of each.
    given: Vec<(String, Meaning, Json)>,
}

impl Parameters {
    /// None yet.
    pub fn new(library: Library) -> Self {
        Self { library, given: Vec::new() }
    }

    /// Adds `name=value`, `name: value` or `--name value`.
    ///
    /// # Errors
    /// [`DocumentError`] if the library has no such parameter, or if it is given already.
    pub fn add(&mut self, assignment: &str) -> Result<(), DocumentError> {
        let text = assignment.trim().trim_start_matches('-');
        let parts = text.split_once('=').or_else(|| text.split_once(':')).or_else(|| text.split_once(' '));
        let Some((name, value)) = parts.filter(|(_, value)| !value.trim().is_empty()) else {
            return Err(DocumentError::new(format!("{assignment:?} has no value"))
                .help("name and value, as in noise_multiplier=1.1"));
        };
        let name = name.trim().trim_matches('"').trim_matches('\'');
        self.insert(name, literal(value.trim()))
    }

    /// Adds everything in a text: a JSON object, or `name = value` on lines of their own.
    ///
    /// # Errors
    /// [`DocumentError`] if it is neither, or as for [`Parameters::add`].
    pub fn read(&mut self, text: &str) -> Result<(), DocumentError> {
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.starts_with('{') {
            let object: serde_json::Map<String, Json> = serde_json::from_str(text).map_err(|error| {
                DocumentError::new("the parameters are not JSON").because(error).help(EXAMPLE)
            })?;
            return object.into_iter().try_for_each(|(name, value)| self.insert(&name, value));
        }
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or(line));
        let lines = lines.map(|line| line.trim().trim_end_matches([',', '\\']).trim());
        lines.filter(|line| !line.is_empty()).try_for_each(|line| self.add(line))
    }

    fn insert(&mut self, name: &str, value: Json) -> Result<(), DocumentError> {
        let library = self.library;
        let Some(meaning) = library.meaning(name) else {
            let help = match nearest(name, library.names()) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("one of: {}", library.names().collect::<Vec<_>>().join(", ")),
            };
            let message = format!("{name:?} is not a parameter of {} that is known here", library.name());
            return Err(DocumentError::new(message).help(help));
        };
        let again = |(other, known, _): &&(String, Meaning, Json)| {
            other == name || (*known == meaning && ![Meaning::Irrelevant, Meaning::OnlyOne].contains(known))
        };
        if let Some((other, ..)) = self.given.iter().find(again) {
            let message = match other == name {
                true => format!("{name} is given twice"),
                false => format!("{other} and {name} are both given, but they say the same thing"),
            };
            return Err(DocumentError::new(message).help("keep one of them"));
        }
        // None says that the parameter is not given.
        if !value.is_null() {
            Given { name, value: &value }.check(meaning)?;
            self.given.push((name.to_owned(), meaning, value));
        }
        Ok(())
    }

    /// Whether one of these is given.
    pub fn has(&self, names: &[&str]) -> bool {
        let meanings: Vec<Meaning> = names.iter().filter_map(|name| self.library.meaning(name)).collect();
        self.given.iter().any(|(_, meaning, _)| meanings.contains(meaning))
    }

    /// The parameters as they were given, in words.
    pub(super) fn in_words(&self) -> Vec<String> {
        let words = |value: &Json| value.as_f64().map_or_else(|| value.to_string(), plain);
        self.given.iter().map(|(name, _, value)| format!("{name}={}", words(value))).collect()
    }

    pub(super) fn all(&self, wanted: Meaning) -> impl Iterator<Item = Given<'_>> {
        let of = move |(_, meaning, _): &&(String, Meaning, Json)| *meaning == wanted;
        self.given.iter().filter(of).map(|(name, _, value)| Given { name, value })
    }

    pub(super) fn get(&self, wanted: Meaning) -> Option<Given<'_>> {
        self.all(wanted).next()
    }

    pub(super) fn number(&self, wanted: Meaning) -> Result<Option<f64>, DocumentError> {
        self.get(wanted).map(|given| given.positive()).transpose()
    }

    pub(super) fn whole(&self, wanted: Meaning) -> Result<Option<u64>, DocumentError> {
        self.get(wanted).map(|given| given.whole()).transpose()
    }

    pub(super) fn flag(&self, wanted: Meaning) -> Result<Option<bool>, DocumentError> {
        self.get(wanted).map(|given| given.flag()).transpose()
    }

    pub(super) fn word(&self, wanted: Meaning) -> Result<Option<String>, DocumentError> {
        self.get(wanted).map(|given| given.word()).transpose()
    }
}

const EXAMPLE: &str =
    "{\"noise_multiplier\": 1.1, \"max_grad_norm\": 1.0}, or noise_multiplier=1.1 on a line of its own";

/// A parameter and its value.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub name: &'a str,
    value: &'a Json,
}

impl Given<'_> {
    pub fn refuse(&self, accepted: &str) -> DocumentError {
        DocumentError::new(format!("{} is {}, but it must be {accepted}", self.name, self.value))
    }

    /// Refuses a value that is of another type than its meaning, or out of range.
    fn check(&self, meaning: Meaning) -> Result<(), DocumentError> {
        match meaning {
            Meaning::Noise | Meaning::Epochs | Meaning::LearningRate | Meaning::Epsilon => {
                self.positive().map(drop)
            }
            Meaning::WeightDecay | Meaning::Momentum => self.non_negative().map(drop),
            Meaning::Norm => self.norm().map(drop),
            Meaning::Records | Meaning::Batch | Meaning::Steps | Meaning::Microbatches => {
                self.whole().map(drop)
            }
            Meaning::Rate | Meaning::Delta => self.probability().map(drop),
            Meaning::Poisson | Meaning::DropLast | Meaning::UsesMicrobatches | Meaning::UnitNorm => {
                self.flag().map(drop)
            }
            Meaning::Clipping
            | Meaning::Sampling
            | Meaning::Neighbours
            | Meaning::Reduction
            | Meaning::Accountant => self.word().map(drop),
            Meaning::OnlyOne | Meaning::Irrelevant => Ok(()),
        }
    }

    /// A number above 0, which is finite.
    pub fn positive(&self) -> Result<f64, DocumentError> {
        let number = self.value.as_f64().filter(|number| *number > 0.0 && number.is_finite());
        number.ok_or_else(|| self.refuse("a number above 0"))
    }

    pub fn non_negative(&self) -> Result<f64, DocumentError> {
        let number = self.value.as_f64().filter(|number| *number >= 0.0 && number.is_finite());
        number.ok_or_else(|| self.refuse("a number, 0 or more"))
    }

    /// A whole number, 1 or more, that a float holds exactly.
    pub fn whole(&self) -> Result<u64, DocumentError> {
        let is_whole = |number: &f64| (1.0..=9e15).contains(number) && number.fract() == 0.0;
        let number = self.value.as_f64().filter(is_whole);
        number.map(|number| number as u64).ok_or_else(|| self.refuse("a whole number, 1 or more"))
    }

    /// A probability above 0.
    pub fn probability(&self) -> Result<f64, DocumentError> {
        let number = self.value.as_f64().filter(|number| *number > 0.0 && *number <= 1.0);
        number.ok_or_else(|| self.refuse("above 0 and at most 1"))
    }

    /// The norm of a gradient whose parts are clipped to this norm, or to these.
    pub fn norm(&self) -> Result<f64, DocumentError> {
        let refused = || self.refuse("a number above 0, or a list of such numbers");
        let above = |value: &Json| value.as_f64().filter(|number| *number > 0.0 && number.is_finite());
        match self.value {
            Json::Array(list) if !list.is_empty() => {
                let squares = list.iter().map(|value| above(value).map(|number| number * number));
                let sum: f64 = squares.sum::<Option<f64>>().ok_or_else(refused)?;
                Some(sum.sqrt()).filter(|norm| norm.is_finite()).ok_or_else(refused)
            }
            value => above(value).ok_or_else(refused),
        }
    }

    pub fn flag(&self) -> Result<bool, DocumentError> {
        self.value.as_bool().ok_or_else(|| self.refuse("True or False"))
    }

    /// A word in small letters, without what stands before its last dot.
    pub fn word(&self) -> Result<String, DocumentError> {
        let word = self.value.as_str().map(|word| word.rsplit('.').next().unwrap_or(word).to_lowercase());
        word.ok_or_else(|| self.refuse("a word"))
    }

    /// Whether the value is 1.
    pub fn is_one(&self) -> bool {
        self.value.as_f64() == Some(1.0)
    }
}

/// A value as Python, JSON or a shell write it: a number or a quotient of two, a truth value, a list, or a word.
fn literal(text: &str) -> Json {
    let number = |text: &str| text.trim().replace('_', "").parse::<f64>().ok().filter(|n| n.is_finite());
    let quotient = || {
        let (a, b) = text.split_once('/')?;
        Some(number(a)? / number(b)?).filter(|number| number.is_finite())
    };
    let list = || {
        let inner = text.strip_prefix(['[', '(']).and_then(|text| text.strip_suffix([']', ')']))?;
        Some(Json::from_iter(inner.split(',').map(|item| literal(item.trim()))))
    };
    match text {
        "True" | "true" => Json::from(true),
        "False" | "false" => Json::from(false),
        "None" | "null" => Json::Null,
        _ => number(text)
            .or_else(quotient)
            .map(Json::from)
            .or_else(list)
            .unwrap_or_else(|| Json::from(text.trim_matches(['"', '\'']))),
    }
}
