//! What a file of reports says about itself.
//!
//! A report means nothing without the mechanism that made it, so both are in one file: the description is the first
//! line of a CSV file, and is in the metadata of a Parquet file.

use super::answers::Categories;
use super::mechanism::{Answers, Id, Mechanism, Specification};
use crate::problem::Problem;
use clap::ValueEnum;
use dobrushin::{Delta, Epsilon, Probability};
use dobrushin_document::certificate::NOT_PRIVATE;
use dobrushin_local::mean::Bounds;
use serde_json::{Value, json};

/// The mechanism, and how it was used.
#[derive(Clone, Debug)]
pub struct Description {
    /// The mechanism.
    pub mechanism: Specification,
    /// The column that was privatised.
    pub column: String,
    /// The seed, if it is known; then the reports are not private.
    pub seed: Option<u64>,
}

/// The first line of a CSV file begins with this.
pub const FIRST_LINE: &str = "# dobrushin local reports ";

/// The key in the metadata of a Parquet file.
#[cfg(feature = "parquet")]
pub const METADATA_KEY: &str = "dobrushin local reports";

const SCHEMA: u64 = 1;

impl Description {
    /// On one line.
    pub fn line(&self, realised: &Mechanism) -> String {
        let specification = &self.mechanism;
        let mut fields = json!({
            "schema": SCHEMA,
            "mechanism": specification.id.name(),
            "epsilon": specification.epsilon.get(),
            "delta": specification.delta.get(),
            "column": self.column,
            "realised": realised.fingerprint(),
        });
        match &specification.answers {
            Answers::Category(categories) => fields["categories"] = categories.json(),
            Answers::Number(bounds) => fields["bounds"] = json!([bounds.lower(), bounds.upper()]),
        }
        if let Some(truth) = specification.truth {
            fields["truth"] = json!(truth.get());
        }
        if let Some(channel) = &specification.channel {
            fields["channel"] = json!(channel);
        }
        if let Some(seed) = self.seed {
            fields["privacy"] = json!(NOT_PRIVATE);
            fields["seed"] = json!(seed);
        }
        fields.to_string()
    }

    /// Reads what was written, and makes the mechanism again. `file` is for messages.
    pub fn read(line: &str, file: &str) -> Result<(Self, Mechanism), Problem> {
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
        let description = Self::from_fields(&fields).map_err(|key| {
            let message =
                format!("{file}: the description of the reports has no valid {key:?}: {}", fields[key]);
            Problem::new(message).help(HELP)
        })?;
        let mechanism = description.mechanism.build()?;
        if mechanism.fingerprint() != fields["realised"] {
            let message = format!(
                "{file}: its mechanism is not the {} of this program",
                description.mechanism.id.name()
            );
            return Err(Problem::new(message).help(
                "its probabilities were changed, or another version of dobrushin wrote it: use that version",
            ));
        }
        Ok((description, mechanism))
    }

    /// The description, or the key that is missing or wrong.
    fn from_fields(fields: &Value) -> Result<Self, &'static str> {
        let number = |key: &'static str| fields[key].as_f64().ok_or(key);
        let id = fields["mechanism"].as_str().and_then(|name| Id::from_str(name, false).ok());
        let epsilon = Epsilon::new(number("epsilon")?).map_err(|_| "epsilon")?;
        let delta = Delta::new(number("delta")?).map_err(|_| "delta")?;
        let answers = match &fields["bounds"] {
            Value::Null => {
                Answers::Category(Categories::from_json(&fields["categories"]).ok_or("categories")?)
            }
            bounds => {
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
            column: fields["column"].as_str().ok_or("column")?.to_owned(),
            seed: fields["seed"].as_u64(),
        })
    }

    /// Why reports of another file cannot be added to those of this one.
    pub fn difference(&self, other: &Self) -> Option<String> {
        let [mine, theirs] = [self, other].map(|description| {
            let specification = &description.mechanism;
            let answers = match &specification.answers {
                Answers::Category(categories) => categories.json(),
                Answers::Number(bounds) => json!([bounds.lower(), bounds.upper()]),
            };
            [
                ("mechanism", json!(specification.id.name())),
                ("epsilon", json!(specification.epsilon.get())),
                ("delta", json!(specification.delta.get())),
                ("answers", answers),
                ("truth", json!(specification.truth.map(Probability::get))),
                ("channel", json!(specification.channel)),
                ("column", json!(description.column)),
            ]
        });
        let different = mine.into_iter().zip(theirs).find(|(mine, theirs)| mine != theirs);
        different.map(|((key, mine), (_, theirs))| format!("{key} {mine} and {key} {theirs}"))
    }
}

const HELP: &str = "dobrushin local privatize writes it; do not edit it";
