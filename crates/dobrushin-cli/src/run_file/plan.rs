//! `[model]`: a run that is lowered from a model, a schema and a set to project to, and that can be trained.

use super::section::{Section, names_a_file, number, whole};
use super::{json, toml_of, training};
use crate::problem::Problem;
use crate::train_data::read_schema;
use dobrushin::{Positive, Probability};
use dobrushin_train::loss::Keys;
use dobrushin_train::schema::Schema;
use dobrushin_train::{Description, Loss, Model, Projection};
use std::path::Path;
use toml::{Table, Value};

/// Whether the tables describe a run that can be trained.
pub fn is_plan(tables: &Table) -> bool {
    tables.contains_key("model")
}

/// Refuses a run that says nothing of a model.
pub fn needs_model(tables: &Table) -> Result<(), Problem> {
    if is_plan(tables) {
        return Ok(());
    }
    Err(Problem::new("there is no [model] in the run file, so there is nothing to train")
        .help("add [model] with kind = \"logistic\" and schema = \"schema.toml\""))
}

/// What the tables describe.
pub fn read(tables: &Table) -> Result<(Description, Schema), Problem> {
    let schema = schema(tables)?;
    let mut tables = tables.clone();
    let evaluation = Section::of(&tables, "evaluation")?;
    let loss_bound = evaluation.positive("loss-bound")?.unwrap_or(Positive::new(1.0)?);
    if evaluation.keys().next().is_some() && evaluation.value("noise-multiplier").is_none() {
        // Without noise there is no evaluation, whatever else is said of it.
        return Err(evaluation.missing("noise-multiplier"));
    }
    let projection = projection(&Section::of(&tables, "domain")?)?;
    let model = model(&Section::of(&tables, "model")?, &schema)?;
    if Section::of(&tables, "domain")?.value("interval").is_some() && model.parameters() != 1 {
        let message =
            format!("domain.interval is for one parameter, but the model has {}", model.parameters());
        return Err(
            Problem::new(message).help("box = [-1.0, 1.0] bounds every parameter, ball = 5.0 their norm")
        );
    }
    for derived in ["diameter", "dimension"] {
        if Section::of(&tables, "domain")?.value(derived).is_some() {
            return Err(Problem::new(format!(
                "domain.{derived} is given, but with [model] it is derived from the set that iterates are projected to"
            ))
            .help("leave it out; say where to project: ball = 5.0, box = [-1, 1], simplex = 1.0 or interval = [0, 1]"));
        }
    }
    let run = tables.entry("run").or_insert_with(|| Value::Table(Table::new()));
    if let Some(run) = run.as_table_mut() {
        let tasks = schema.tasks() as i64;
        if run.get("tasks").is_some_and(|given| whole(given) != Some(tasks as u64)) {
            return Err(Problem::new(format!("run.tasks is given, but the schema has {tasks} labels"))
                .help("leave it out: a model is trained for each label"));
        }
        run.insert("tasks".to_owned(), Value::Integer(tasks));
        // Training releases one iterate; what it releases need not be said.
        run.entry("release").or_insert_with(|| Value::String("last".to_owned()));
    }
    let training = training::parse(&tables)?;
    let bounds = schema.bounds();
    Ok((Description { training, model, bounds, projection, loss_bound }, schema))
}

/// Refuses keys that have a meaning with [model] only.
pub fn refuse_without_model(tables: &Table) -> Result<(), Problem> {
    for (section, keys) in [("domain", &SETS[..]), ("evaluation", &["loss-bound"])] {
        let section = Section::of(tables, section)?;
        if let Some(key) = keys.iter().find(|key| section.value(key).is_some()) {
            return Err(Problem::new(format!("{} has no meaning without [model]", section.dotted(key)))
                .help("say what is known of the iterates, as diameter = 10.0, or add [model]"));
        }
    }
    Ok(())
}

/// The sets that iterates can be projected to.
const SETS: [&str; 4] = ["ball", "box", "simplex", "interval"];

/// Puts the schema itself in the place of the name of its file, which is looked for in the folder.
pub fn embed(tables: &mut Table, folder: &Path) -> Result<(), Problem> {
    let Some(model) = tables.get_mut("model").and_then(Value::as_table_mut) else {
        return Ok(());
    };
    let schema = match model.get("schema") {
        Some(Value::String(name)) => read_schema(&folder.join(name))?,
        Some(value @ Value::Table(_)) => Schema::from_json(&json(value))?,
        _ => return Ok(()),
    };
    if let Some(value) = toml_of(&schema.canonical_json()) {
        model.insert("schema".to_owned(), value);
    }
    Ok(())
}

/// The model of tables that have nothing but `[model]`.
pub fn model_alone(tables: &Table) -> Result<(Model, Schema), Problem> {
    let schema = schema(tables)?;
    Ok((model(&Section::of(tables, "model")?, &schema)?, schema))
}

/// The schema that model.schema is.
pub fn schema(tables: &Table) -> Result<Schema, Problem> {
    let model = Section::of(tables, "model")?;
    match model.value("schema") {
        Some(value @ Value::Table(_)) => Ok(Schema::from_json(&json(value))?),
        Some(Value::String(_)) => Err(names_a_file(&model.dotted("schema"), "the schema itself")),
        Some(_) => Err(model.refuse("schema", "the name of a schema file")),
        None => Err(model.missing("schema")),
    }
}

fn model(section: &Section, schema: &Schema) -> Result<Model, Problem> {
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
        return Err(Problem::new(format!("{} is no key of kind = {kind:?}", section.dotted(key))).help(help));
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
    type Error = Problem;

    fn positive(&self, key: &'static str) -> Result<Positive, Problem> {
        Section::positive(self, key)?.ok_or_else(|| self.missing(key))
    }

    fn probability(&self, key: &'static str) -> Result<Option<Probability>, Problem> {
        Section::probability(self, key)
    }
}

/// The sizes of the hidden layers: a number or a list.
fn hidden(section: &Section) -> Result<Vec<usize>, Problem> {
    let refused = || section.refuse("hidden", "a whole number, 1 or more, or a list of them");
    let units =
        |value: &Value| whole(value).and_then(|units| usize::try_from(units).ok()).ok_or_else(refused);
    match section.value("hidden") {
        None => Err(section.missing("hidden")),
        Some(Value::Array(list)) => list.iter().map(units).collect(),
        Some(value) => Ok(vec![units(value)?]),
    }
}

/// The one set that is given, if any.
fn projection(section: &Section) -> Result<Option<Projection>, Problem> {
    let given: Vec<&str> = SETS.into_iter().filter(|key| section.value(key).is_some()).collect();
    let ends = |key: &str| -> Result<(f64, f64), Problem> {
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
        [first, second, ..] => Err(Problem::new(format!(
            "domain.{first} and domain.{second} are both given, but there is one domain"
        ))
        .help("keep one of them")),
    }
}
