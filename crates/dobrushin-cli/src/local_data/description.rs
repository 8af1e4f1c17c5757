//! What a file of reports says about itself.
//!
//! A report means nothing without the mechanism that made it, so both are in one file: the description is the first
//! line of a CSV file, and is in the metadata of a Parquet file.

use crate::problem::Problem;
use dobrushin::{Delta, Epsilon, Positive, Probability};
use dobrushin_document::certificate::NOT_PRIVATE;
use dobrushin_document::local::{Answers, Categories, Id, Mechanism, Specification};
use dobrushin_local::mean::Bounds;
use dobrushin_local::risk::Ball;
use dobrushin_local::{Asked, LocalPrivacy};
use serde_json::{Value, json};
use std::num::NonZeroU32;

/// The questions, and how they were answered.
#[derive(Clone, Debug)]
pub struct Description {
    /// The questions; a single one unless there is a survey.
    pub questions: Vec<Question>,
    /// The promise to everybody who answered, and who answered what, if there are several questions.
    pub survey: Option<(LocalPrivacy, Asked)>,
    /// The seed, if it is known; then the reports are not private.
    pub seed: Option<u64>,
}

/// A column, or several that are one vector, and the mechanism that made reports of it.
#[derive(Clone, Debug)]
pub struct Question {
    /// The mechanism.
    pub mechanism: Specification,
    /// The columns that were privatised.
    pub columns: Vec<String>,
}

/// The first line of a CSV file begins with this.
pub const FIRST_LINE: &str = "# dobrushin local reports ";

/// The key in the metadata of a Parquet file.
#[cfg(feature = "parquet")]
pub const METADATA_KEY: &str = "dobrushin local reports";

const SCHEMA: u64 = 1;

impl Description {
    /// On one line.
    pub fn line(&self, realised: &[Mechanism]) -> String {
        let mut questions =
            self.questions.iter().zip(realised).map(|(question, realised)| question.json(realised));
        let mut fields = match self.survey {
            None => questions.next().unwrap_or_default(),
            Some((promise, asked)) => json!({
                "epsilon": promise.epsilon.get(),
                "delta": promise.delta.get(),
                "answer": asked_word(asked),
                "questions": questions.collect::<Vec<_>>(),
            }),
        };
        fields["schema"] = json!(SCHEMA);
        if let Some(seed) = self.seed {
            fields["privacy"] = json!(NOT_PRIVATE);
            fields["seed"] = json!(seed);
        }
        fields.to_string()
    }

    /// Reads what was written, and makes the mechanisms again. `file` is for messages.
    pub fn read(line: &str, file: &str) -> Result<(Self, Vec<Mechanism>), Problem> {
        let fields: Value = serde_json::from_str(line).map_err(|error| {
            Problem::new(format!("{file}: the description of the reports is damaged"))
                .because(error)
                .help(HELP)
        })?;
        if fields["schema"] != SCHEMA {
            let message = format!(
                "{file} was written in form {}, but this program knows form {SCHEMA}",
                fields["schema"]
            );
            return Err(Problem::new(message).help("use the version of dobrushin that wrote it"));
        }
        let asked = match &fields["questions"] {
            Value::Array(questions) if !questions.is_empty() => questions.as_slice(),
            _ => std::slice::from_ref(&fields),
        };
        let invalid = |fields: &Value, key: &str| {
            let message =
                format!("{file}: the description of the reports has no valid {key:?}: {}", fields[key]);
            Problem::new(message).help(HELP)
        };
        let survey = match fields["questions"] {
            Value::Array(_) => Some(survey(&fields).map_err(|key| invalid(&fields, key))?),
            _ => None,
        };
        let (mut questions, mut mechanisms) = (Vec::new(), Vec::new());
        for fields in asked {
            let question = Question::from_fields(fields).map_err(|key| invalid(fields, key))?;
            let mechanism = question.mechanism.build()?;
            if mechanism.fingerprint() != fields["realised"] {
                let name = question.mechanism.id.name();
                let message = format!("{file}: its mechanism is not the {name} of this program");
                return Err(Problem::new(message).help(
                    "its probabilities were changed, or another version of dobrushin wrote it: use that version",
                ));
            }
            questions.push(question);
            mechanisms.push(mechanism);
        }
        Ok((Self { questions, survey, seed: fields["seed"].as_u64() }, mechanisms))
    }

    /// Whether everybody answered only one of several questions.
    pub fn one_is_answered(&self) -> bool {
        self.survey.is_some_and(|(_, asked)| asked == Asked::One)
    }

    /// Why reports of another file cannot be added to those of this one.
    pub fn difference(&self, other: &Self) -> Option<String> {
        if (self.questions.len(), self.survey) != (other.questions.len(), other.survey) {
            return Some("they are reports of different surveys".to_owned());
        }
        let mut pairs = self.questions.iter().zip(&other.questions);
        pairs.find_map(|(mine, theirs)| mine.difference(theirs))
    }
}

/// The promise and who answered what, or the key that is missing or wrong.
fn survey(fields: &Value) -> Result<(LocalPrivacy, Asked), &'static str> {
    let number = |key: &'static str| fields[key].as_f64().ok_or(key);
    let epsilon = Epsilon::new(number("epsilon")?).map_err(|_| "epsilon")?;
    let delta = Delta::new(number("delta")?).map_err(|_| "delta")?;
    let asked = [Asked::All, Asked::One].into_iter().find(|asked| fields["answer"] == asked_word(*asked));
    Ok((LocalPrivacy { epsilon, delta }, asked.ok_or("answer")?))
}

/// The word for who answers what.
pub fn asked_word(asked: Asked) -> &'static str {
    match asked {
        Asked::All => "all",
        Asked::One => "one",
    }
}

impl Question {
    /// What it is called: its column, or its columns.
    pub fn name(&self) -> String {
        self.columns.join(", ")
    }

    fn json(&self, realised: &Mechanism) -> Value {
        let specification = &self.mechanism;
        let mut fields = json!({
            "mechanism": specification.id.name(),
            "epsilon": specification.epsilon.get(),
            "delta": specification.delta.get(),
            "realised": realised.fingerprint(),
        });
        match (&specification.answers, &self.columns[..]) {
            (Answers::Vector(_), columns) => fields["columns"] = json!(columns),
            (_, columns) => fields["column"] = json!(columns.first()),
        }
        match &specification.answers {
            Answers::Category(categories) => fields["categories"] = categories.json(),
            Answers::Number(bounds) => fields["bounds"] = json!([bounds.lower(), bounds.upper()]),
            Answers::Vector(ball) => fields["radius"] = json!(ball.radius.get()),
        }
        if let Some(truth) = specification.truth {
            fields["truth"] = json!(truth.get());
        }
        if let Some(channel) = &specification.channel {
            fields["channel"] = json!(channel);
        }
        fields
    }

    /// The description, or the key that is missing or wrong.
    fn from_fields(fields: &Value) -> Result<Self, &'static str> {
        let number = |key: &'static str| fields[key].as_f64().ok_or(key);
        let id = fields["mechanism"].as_str().and_then(Id::named);
        let epsilon = Epsilon::new(number("epsilon")?).map_err(|_| "epsilon")?;
        let delta = Delta::new(number("delta")?).map_err(|_| "delta")?;
        let columns = match &fields["columns"] {
            Value::Null => vec![fields["column"].as_str().ok_or("column")?.to_owned()],
            names => {
                let names = names.as_array().ok_or("columns")?.iter();
                names
                    .map(|name| name.as_str().map(str::to_owned))
                    .collect::<Option<Vec<_>>>()
                    .ok_or("columns")?
            }
        };
        let answers = match (&fields["bounds"], &fields["radius"]) {
            (Value::Null, Value::Null) => {
                Answers::Category(Categories::from_json(&fields["categories"]).ok_or("categories")?)
            }
            (Value::Null, radius) => {
                let radius = radius.as_f64().and_then(|radius| Positive::new(radius).ok()).ok_or("radius")?;
                let dimension =
                    u32::try_from(columns.len()).ok().and_then(NonZeroU32::new).ok_or("columns")?;
                Answers::Vector(Ball { radius, dimension })
            }
            (bounds, _) => {
                let end = |index: usize| bounds[index].as_f64().ok_or("bounds");
                Answers::Number(Bounds::new(end(0)?, end(1)?).map_err(|_| "bounds")?)
            }
        };
        let row = |row: &Value| row.as_array()?.iter().map(Value::as_f64).collect();
        let channel = match &fields["channel"] {
            Value::Null => None,
            rows => {
                let rows: Option<Vec<Vec<f64>>> =
                    rows.as_array().and_then(|rows| rows.iter().map(row).collect());
                Some(rows.ok_or("channel")?)
            }
        };
        let truth = match &fields["truth"] {
            Value::Null => None,
            truth => Some(truth.as_f64().and_then(|truth| Probability::new(truth).ok()).ok_or("truth")?),
        };
        Ok(Self {
            mechanism: Specification { id: id.ok_or("mechanism")?, epsilon, delta, answers, truth, channel },
            columns,
        })
    }

    /// Why reports of another file cannot be added to those of this one.
    fn difference(&self, other: &Self) -> Option<String> {
        let [mine, theirs] = [self, other].map(|question| {
            let specification = &question.mechanism;
            let answers = match &specification.answers {
                Answers::Category(categories) => categories.json(),
                Answers::Number(bounds) => json!([bounds.lower(), bounds.upper()]),
                Answers::Vector(ball) => json!(ball.radius.get()),
            };
            [
                ("mechanism", json!(specification.id.name())),
                ("epsilon", json!(specification.epsilon.get())),
                ("delta", json!(specification.delta.get())),
                ("answers", answers),
                ("truth", json!(specification.truth.map(Probability::get))),
                ("channel", json!(specification.channel)),
                ("column", json!(question.name())),
            ]
        });
        let different = mine.into_iter().zip(theirs).find(|(mine, theirs)| mine != theirs);
        different.map(|((key, mine), (_, theirs))| format!("{key} {mine} and {key} {theirs}"))
    }
}

const HELP: &str = "dobrushin local privatize writes it; do not edit it";
