//! A certificate as a privacy officer reads it.

use super::{Section, Sheet};
use crate::certificate::{Certificate, TrainingRecord};
use crate::json;
use crate::report::MeaningReport;
use crate::run_file::SelfContained;
use crate::text::{forgetting, meaning};
use dobrushin::numeric::decimal as number;
use dobrushin::run::Forgotten;
use dobrushin::{Neighbours, Run};
use serde::Serialize;
use serde_json::Value as Json;

/// The sheet of a certificate: the guarantee, what it means, what was run on what, what it rests on, what it leaves out,
/// and how to check it.
pub fn of_certificate(certificate: &Certificate) -> Sheet {
    let Certificate { guarantee, training, run, .. } = certificate;
    let run = Described::new(run);
    let is_seeded = training.as_ref().is_some_and(|training| !training.private);
    let section = |heading, points: Vec<String>| Section { heading, points };
    let mut sections = vec![
        section(
            if run.deletes() { meaning::OF_DELETED } else { meaning::HEADING },
            means(certificate.meaning.as_ref().filter(|_| !is_seeded)),
        ),
        section("What was run", run.facts(training.as_ref(), &certificate.program.version)),
        section("What was taken as public", run.public(training.as_ref())),
        match training {
            Some(training) => section("What it assumes", enforced(training)),
            None => section("What it assumes", guarantee.assumptions.clone()),
        },
        section("Not covered", not_covered(training.as_ref(), run.deletes())),
        section("Where it comes from", certificate.explanation.clone()),
        section("Warnings", certificate.warnings.clone()),
        section("How to verify it", verification(certificate)),
    ];
    sections.retain(|section| !section.points.is_empty());
    Sheet {
        title: if run.deletes() { "Certificate of forgetting" } else { "Privacy certificate" }.to_owned(),
        answer: format!(
            "{}(ε, δ) = ({}, {}), by {}",
            run.promise(),
            meaning::shortest(guarantee.epsilon.0.upper()),
            meaning::shortest(guarantee.delta.0.upper()),
            guarantee.analysis
        ),
        alarm: training.as_ref().filter(|_| is_seeded).map(|training| {
            format!("The randomness came from seed {}: {}.", shown(&training.seed), training.randomness)
        }),
        sections,
    }
}

/// Certificates of older versions do not say what they mean.
fn means(meaning: Option<&MeaningReport>) -> Vec<String> {
    meaning.map_or_else(Vec::new, meaning::sentences)
}

fn enforced(training: &TrainingRecord) -> Vec<String> {
    training
        .enforcement
        .iter()
        .map(|entry| format!("{}. How: {}", entry.assumption, entry.enforced))
        .collect()
}

/// What no guarantee of one run covers, besides what the certificate says.
fn not_covered(training: Option<&TrainingRecord>, deletes: bool) -> Vec<String> {
    let mut points = match training {
        Some(training) => training.not_covered.clone(),
        None => vec![OTHER_RELEASES.to_owned(), NOT_WATCHED.to_owned()],
    };
    match training {
        _ if !deletes => points.push(SEVERAL_RECORDS.to_owned()),
        None => points.push(REMAINING_RECORDS.to_owned()),
        // It says so itself.
        Some(_) => {}
    }
    points
}

const OTHER_RELEASES: &str =
    "what else is published about the same people: costs add up (dobrushin certificate add)";
const NOT_WATCHED: &str = "whether the run was made as it is described: the program did not make it";
const REMAINING_RECORDS: &str = "what the model tells about the records that remain: this is the guarantee of the same run without [forget]";
const SEVERAL_RECORDS: &str =
    "a person with several records: the guarantee is for each one of them, and weaker for all together";

fn verification(certificate: &Certificate) -> Vec<String> {
    let Certificate { guarantee, training, .. } = certificate;
    let command = match training {
        Some(_) => "dobrushin certificate verify certificate.json --model model.json",
        None => "dobrushin certificate verify certificate.json",
    };
    let [epsilon, delta] =
        [guarantee.epsilon, guarantee.delta].map(|bounds| shown(&json::Number(bounds.0.upper())));
    let mut points = vec![
        format!("Anyone can recompute it: {command}"),
        format!("all digits: ε = {epsilon}, δ = {delta}"),
    ];
    if let Some(training) = training {
        points.push(format!("SHA-256 of the model {}", training.model_sha256));
        points.push(format!("SHA-256 of the schema {}", training.schema_sha256));
    }
    points
}

/// A run, as its certificate writes it.
struct Described<'a> {
    json: &'a Json,
    neighbours: Option<Neighbours>,
    /// The requests to delete records.
    requests: Vec<Forgotten>,
}

impl<'a> Described<'a> {
    fn new(json: &'a Json) -> Self {
        let run = SelfContained::from_json(json).and_then(|run| run.run()).ok();
        let training = run.as_ref().and_then(Run::as_training);
        let requests = training.map_or_else(Vec::new, |training| training.forgetting.clone());
        Self { json, neighbours: run.as_ref().and_then(Run::neighbours), requests }
    }

    /// Whether records were deleted; then the certificate is about these alone.
    fn deletes(&self) -> bool {
        !self.requests.is_empty()
    }

    /// What ε and δ are about, where they are not about everybody's privacy.
    fn promise(&self) -> String {
        match self.requests.iter().map(|request| request.records).fold(0, u64::saturating_add) {
            0 => String::new(),
            records => format!("The model is {}: ", forgetting::as_if(records)),
        }
    }

    /// The value of a key in a section, if it is given.
    fn given(&self, section: &str, key: &str) -> Option<String> {
        let value = &self.json[section][key];
        (!value.is_null()).then(|| short(&shown(value)))
    }

    /// What was run on what, when, and with which numbers.
    fn facts(&self, training: Option<&TrainingRecord>, version: &str) -> Vec<String> {
        let mut facts = Vec::new();
        let of = |key: &str| self.given("run", key);
        if let Some(training) = training {
            let (kind, parameters) =
                (shown(&self.json["model"]["kind"]), shown(&training.constants.parameters));
            facts.push(match self.label() {
                Some(label) => format!("a model ({kind}, {parameters} parameters) that predicts {label}"),
                None => format!("a model ({kind}, {parameters} parameters)"),
            });
        }
        let done = if self.deletes() { "the last request was carried out" } else { "trained" };
        facts.extend(
            training.and_then(|training| training.made.as_ref()).map(|day| format!("{done} on {day} (UTC)")),
        );
        facts.extend(self.records(training));
        facts.push(match of("order") {
            Some(order) => format!("algorithm {}, order {order}", shown(&self.json["run"]["algorithm"])),
            None => format!("algorithm {}", shown(&self.json["run"]["algorithm"])),
        });
        let length = [("steps", "steps"), ("epochs", "epochs"), ("batch-size", "records in a batch")];
        facts.extend(length.into_iter().filter_map(|(key, words)| Some(format!("{} {words}", of(key)?))));
        facts.extend(self.requests.iter().enumerate().map(|(number, Forgotten { records, steps })| {
            format!(
                "request {}: records deleted {records}, then clean steps on the others {steps}",
                number + 1
            )
        }));
        facts.extend(
            of("sampling-probability").map(|p| format!("each record is in a batch with probability {p}")),
        );
        let update = [
            ("noise-multiplier", "noise, relative to the most that one record adds to a batch's sum"),
            ("gradient-noise", "noise on the average gradient"),
            ("iterate-noise", "noise on the model"),
            ("clip-norm", "the longest gradient of one record (clip norm)"),
            ("learning-rate", "learning rate"),
            ("weight-decay", "weight decay"),
        ];
        facts.extend(
            update
                .into_iter()
                .filter_map(|(key, words)| Some(format!("{words}: {}", self.given("update", key)?))),
        );
        facts.extend(of("release").map(|release| format!("released: {release}")));
        facts.push(format!("made by dobrushin {version}"));
        facts
    }

    fn label(&self) -> Option<String> {
        match &self.json["model"]["schema"]["label"] {
            Json::String(label) => Some(label.clone()),
            Json::Array(labels) => Some(short(&labels.iter().map(shown).collect::<Vec<_>>().join(", "))),
            _ => None,
        }
    }

    /// The number of records, or a bound on it if it is a secret.
    fn records(&self, training: Option<&TrainingRecord>) -> Option<String> {
        let records =
            training.map(|training| training.records.to_string()).or_else(|| self.given("run", "records"))?;
        Some(match self.neighbours {
            Some(Neighbours::AddOrRemoveOne) => {
                format!("at most {records} records, as declared: how many there are is a secret")
            }
            _ => format!("{records} records"),
        })
    }

    /// What everybody may know: the guarantee does not hide it.
    fn public(&self, training: Option<&TrainingRecord>) -> Vec<String> {
        let mut public = Vec::new();
        if matches!(self.neighbours, Some(Neighbours::ReplaceOne | Neighbours::ZeroOut)) {
            public.push("how many records there are".to_owned());
        }
        public.push("the run: everything under \"What was run\"".to_owned());
        if training.is_none() {
            return public;
        }
        let schema = &self.json["model"]["schema"];
        if let Json::Object(columns) = &schema["columns"] {
            public.push(
                "what each column may hold, which was declared without looking at the records:".to_owned(),
            );
            public.extend(columns.iter().map(|(name, column)| format!("{name}: {}", allowed(column))));
        }
        let norm = &schema["norm"];
        public.extend((!norm.is_null()).then(|| format!("the largest norm of a row, {}", shown(norm))));
        public
    }
}

/// What a column may hold.
fn allowed(column: &Json) -> String {
    let mut words = match (&column["categories"], &column["lower"], &column["upper"]) {
        (Json::Array(categories), ..) => {
            format!("one of {}", categories.iter().map(shown).collect::<Vec<_>>().join(", "))
        }
        (_, Json::Null, Json::Null) => shown(&column["kind"]),
        (_, Json::Null, upper) => format!("a count up to {}", shown(upper)),
        (_, lower, upper) => format!("a number from {} to {}", shown(lower), shown(upper)),
    };
    for (key, when) in [("if-missing", "if it is missing"), ("if-unknown", "if it is unknown")] {
        let value = &column[key];
        if !value.is_null() {
            words += &format!("; {} {when}", shown(value));
        }
    }
    short(&words)
}

/// The most characters of a value that are shown.
const LONGEST: usize = 160;

fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// A value as the certificate writes it, without quotes.
fn shown(value: &impl Serialize) -> String {
    match json::of(value) {
        Json::String(text) => text,
        Json::Null => "unknown".to_owned(),
        Json::Number(value) if value.is_f64() => value.as_f64().map_or_else(String::new, number::plain),
        other => other.to_string(),
    }
}
