//! `[model]`: a run that is lowered from a model, a schema and a set to project onto, and that can be trained.

use super::keys::section;
use super::self_contained::names_a_file;
use super::{Files, training};
use crate::error::DocumentError;
use crate::json::{of_toml, to_toml};
use crate::schema;
use crate::section::{Section, number, whole};
use dobrushin::run::{Release, Training};
use dobrushin::{Positive, Probability};
use dobrushin_train::loss::Keys;
use dobrushin_train::schema::Schema;
use dobrushin_train::{Description, Loss, Model, Projection};
use toml::{Table, Value};

/// Whether the tables describe a run that can be trained.
pub fn is_plan(tables: &Table) -> bool {
    tables.contains_key("model")
}

/// Refuses a run without a model.
pub fn needs_model(tables: &Table) -> Result<(), DocumentError> {
    if is_plan(tables) {
        return Ok(());
    }
    Err(DocumentError::new("there is no [model] in the run file, so there is nothing to train")
        .help("add [model] with kind = \"logistic\" and schema = \"schema.toml\""))
}

/// The plan that the tables describe.
pub fn read(tables: &Table) -> Result<(Description, Schema), DocumentError> {
    if tables.contains_key("task") {
        return Err(DocumentError::new(
            "[[task]] has no meaning with [model]: a model is trained for each label",
        )
        .help("leave [[task]] or [model] out"));
    }
    let schema = schema_of(tables)?;
    let evaluation = section(tables, "evaluation")?;
    let loss_bound = evaluation.positive("loss-bound")?.unwrap_or(Positive::new(1.0)?);
    if evaluation.keys().next().is_some() && evaluation.value("noise-multiplier").is_none() {
        // Without noise there is no evaluation, whatever else the tables say about it.
        return Err(evaluation.missing("noise-multiplier"));
    }
    if section(tables, "centre")?.value("noise-multiplier").is_some() && !schema.declaration().intercept {
        return Err(DocumentError::new(
            "[centre] is given, but the schema has no intercept that could make up for the mean",
        )
        .help("intercept = true in the schema, or leave [centre] out"));
    }
    let domain = section(tables, "domain")?;
    let projection = projection(&domain)?;
    let model = model(&section(tables, "model")?, &schema)?;
    if domain.value("interval").is_some() && model.parameters() != 1 {
        let message =
            format!("domain.interval is for one parameter, but the model has {}", model.parameters());
        return Err(DocumentError::new(message)
            .help("box = [-1.0, 1.0] bounds every parameter, ball = 5.0 their norm"));
    }
    if let Some(derived) = ["diameter", "dimension"].into_iter().find(|key| domain.value(key).is_some()) {
        return Err(DocumentError::new(format!(
            "domain.{derived} is given, but with [model] it is derived from the set that iterates are projected to"
        ))
        .help("leave it out; say where to project: ball = 5.0, box = [-1, 1], simplex = 1.0 or interval = [0, 1]"));
    }
    let run = section(tables, "run")?;
    let tasks = schema.tasks() as u64;
    if run.value("tasks").is_some_and(|given| whole(given) != Some(tasks)) {
        return Err(DocumentError::new(format!("run.tasks is given, but the schema has {tasks} labels"))
            .help("leave it out: a model is trained for each label"));
    }
    let mut training = Training { tasks, ..training::parse(tables)? };
    if run.value("release").is_none() {
        // Training releases one iterate, so the file need not say what is released.
        training.release = Release::Last;
    }
    let bounds = schema.bounds();
    Ok((Description { training, model, bounds, projection, loss_bound }, schema))
}

/// Refuses keys that have a meaning only with [model].
pub fn refuse_without_model(tables: &Table) -> Result<(), DocumentError> {
    for (name, keys) in [("domain", &SETS[..]), ("evaluation", &["loss-bound"])] {
        let section = section(tables, name)?;
        if let Some(key) = keys.iter().find(|key| section.value(key).is_some()) {
            return Err(DocumentError::new(format!(
                "{} has no meaning without [model]",
                section.dotted(key)
            ))
            .help("say what is known about the iterates, such as diameter = 10.0, or add [model]"));
        }
    }
    Ok(())
}

/// The sets that iterates can be projected onto.
const SETS: [&str; 4] = ["ball", "box", "simplex", "interval"];

/// The name of the schema's file, if model.schema is one.
pub fn named(tables: &Table) -> Option<&str> {
    tables.get("model")?.as_table()?.get("schema")?.as_str()
}

/// Replaces the name of the schema's file by the schema itself, in its canonical form.
pub fn embed<F: Files>(tables: &mut Table, files: &F) -> Result<(), F::Error> {
    let Some(model) = tables.get_mut("model").and_then(Value::as_table_mut) else {
        return Ok(());
    };
    let schema = match model.get("schema") {
        Some(Value::String(name)) => files.schema("model.schema", name)?,
        Some(value @ Value::Table(_)) => schema::from_json(&of_toml(value))?,
        _ => return Ok(()),
    };
    if let Some(value) = to_toml(&schema::canonical_json(&schema)) {
        model.insert("schema".to_owned(), value);
    }
    Ok(())
}

/// The model of tables that have only `[model]`.
pub fn model_alone(tables: &Table) -> Result<(Model, Schema), DocumentError> {
    let schema = schema_of(tables)?;
    Ok((model(&section(tables, "model")?, &schema)?, schema))
}

/// The schema in model.schema.
pub fn schema_of(tables: &Table) -> Result<Schema, DocumentError> {
    let model = section(tables, "model")?;
    match model.value("schema") {
        Some(value @ Value::Table(_)) => schema::from_json(&of_toml(value)),
        Some(Value::String(_)) => Err(names_a_file(&model.dotted("schema"), "the schema itself")),
        Some(_) => Err(model.refuse("schema", "the name of a schema file")),
        None => Err(model.missing("schema")),
    }
}

fn model(section: &Section, schema: &Schema) -> Result<Model, DocumentError> {
    let kinds = Model::kinds();
    let names: Vec<&'static str> = kinds.iter().map(|kind| kind.name).collect();
    let kind = section.word("kind", &names)?;
    let taken = kinds.iter().filter(|known| known.name == kind).flat_map(|known| known.keys);
    let taken: Vec<&str> = taken.map(|key| key.name).collect();
    if let Some(key) = section.keys().find(|key| !["kind", "schema"].contains(key) && !taken.contains(key)) {
        let help = if taken.is_empty() {
            "leave it out".to_owned()
        } else {
            format!("it takes: {}", taken.join(", "))
        };
        return Err(
            DocumentError::new(format!("{} is not a key of kind = {kind:?}", section.dotted(key))).help(help)
        );
    }
    let features = schema.bounds().dimension;
    if let Some(loss) = Loss::read(kind, section)? {
        return Ok(Model::Linear { loss, features });
    }
    let classes = schema.classes(0).map_or(0, <[String]>::len);
    Ok(match kind {
        "network" => Model::Network { hidden: hidden(section)?, classes, features },
        _ => Model::Softmax { classes, features },
    })
}

impl Keys for Section<'_> {
    type Error = DocumentError;

    fn positive(&self, key: &'static str) -> Result<Positive, DocumentError> {
        Section::positive(self, key)?.ok_or_else(|| self.missing(key))
    }

    fn probability(&self, key: &'static str) -> Result<Option<Probability>, DocumentError> {
        Section::probability(self, key)
    }
}

/// The sizes of the hidden layers: a number or a list.
fn hidden(section: &Section) -> Result<Vec<usize>, DocumentError> {
    let refused = || section.refuse("hidden", "a whole number, 1 or more, or a list of them");
    let units =
        |value: &Value| whole(value).and_then(|units| usize::try_from(units).ok()).ok_or_else(refused);
    match section.value("hidden") {
        None => Err(section.missing("hidden")),
        Some(Value::Array(list)) => list.iter().map(units).collect(),
        Some(value) => Ok(vec![units(value)?]),
    }
}

/// The only set that is given, if any.
fn projection(section: &Section) -> Result<Option<Projection>, DocumentError> {
    let given: Vec<&str> = SETS.into_iter().filter(|key| section.value(key).is_some()).collect();
    let ends = |key: &str| -> Result<(f64, f64), DocumentError> {
        let list = section.value(key).and_then(Value::as_array);
        match list.map(Vec::as_slice) {
            Some([lower, upper]) => number(lower).zip(number(upper)),
            _ => None,
        }
        .ok_or_else(|| section.refuse(key, "two numbers, the smaller first"))
    };
    match given[..] {
        [] => Ok(None),
        ["ball"] => Ok(section.positive("ball")?.map(|radius| Projection::Ball { radius: radius.get() })),
        ["simplex"] => {
            Ok(section.positive("simplex")?.map(|scale| Projection::Simplex { scale: scale.get() }))
        }
        [key] => {
            let (lower, upper) = ends(key)?;
            Ok(Some(Projection::Box { lower, upper }))
        }
        [first, second, ..] => Err(DocumentError::new(format!(
            "domain.{first} and domain.{second} are both given, but there is one domain"
        ))
        .help("keep one of them")),
    }
}
