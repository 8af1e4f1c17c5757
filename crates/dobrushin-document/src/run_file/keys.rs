//! Every key that a run file can have.

use crate::error::DocumentError;
use crate::section::{Keys, Section, nearest};
use dobrushin_train::Model;
use std::sync::LazyLock;
use toml::{Table, Value};

/// The algorithms.
pub const ALGORITHMS: &[&str] = &["pnsgd", "dp-sgd", "gradient-descent", "online", "chain", "composition"];

/// The sections that are lists of tables.
const LISTS: [&str; 3] = ["mechanism", "step", "task"];

const RUN: Keys = &[
    ("algorithm", "algorithm = \"dp-sgd\""),
    ("records", "records = 60000"),
    ("steps", "steps = 10000"),
    ("epochs", "epochs = 10"),
    ("batch-size", "batch-size = 256"),
    ("sampling-probability", "sampling-probability = 0.01"),
    ("order", "order = \"poisson\""),
    ("incomplete-batch", "incomplete-batch = \"drop\""),
    ("release", "release = \"last\""),
    ("neighbours", "neighbours = \"replace-one\""),
    ("record", "record = \"worst\""),
    ("public-steps", "public-steps = 100"),
    ("tasks", "tasks = 10"),
    ("start-distance", "start-distance = 1.0"),
    ("start-divergence", "start-divergence = 0.1"),
];
/// What a task can say besides the keys of other sections.
const TASK: Keys = &[("count", "count = 10"), ("first", "first = 1"), ("reversed", "reversed = true")];
/// The keys of a run that all its tasks share.
const OF_ALL_TASKS: [&str; 4] = ["records", "neighbours", "record", "tasks"];
const UPDATE: Keys = &[
    ("learning-rate", "learning-rate = 0.1"),
    ("clip-norm", "clip-norm = 1.0"),
    ("lipschitz", "lipschitz = 1.0"),
    ("noise", "noise = \"gaussian\""),
    ("noise-multiplier", "noise-multiplier = 1.0"),
    ("gradient-noise", "gradient-noise = 1.0"),
    ("iterate-noise", "iterate-noise = 0.1"),
    ("weight-decay", "weight-decay = 0.001"),
    ("divide-by", "divide-by = \"batch-size\""),
];
const LOSS: Keys = &[
    ("convex", "convex = true"),
    ("smoothness", "smoothness = 0.25"),
    ("strong-convexity", "strong-convexity = 0.01"),
    ("generalised-linear", "generalised-linear = true"),
];
const DOMAIN: Keys = &[
    ("diameter", "diameter = 10.0"),
    ("dimension", "dimension = 785"),
    ("ball", "ball = 5.0"),
    ("box", "box = [-1.0, 1.0]"),
    ("simplex", "simplex = 1.0"),
    ("interval", "interval = [0.0, 1.0]"),
];
const OF_EVERY_MODEL: Keys = &[("kind", "kind = \"logistic\""), ("schema", "schema = \"schema.toml\"")];
const CENTRE: Keys = &[("noise-multiplier", "noise-multiplier = 50")];
const EVALUATION: Keys = &[("noise-multiplier", "noise-multiplier = 50"), ("loss-bound", "loss-bound = 2.0")];
/// Requests to delete records, after training.
const FORGET: Keys = &[("records", "records = 1"), ("steps", "steps = 300")];
const TARGET: Keys = &[("delta", "delta = 1e-5"), ("epsilon", "epsilon = 1.0")];
const MECHANISM: Keys = &[
    ("kind", "kind = \"gaussian\""),
    ("count", "count = 10"),
    ("sampling", "sampling = \"poisson\""),
    ("sampling-probability", "sampling-probability = 0.01"),
    ("noise-multiplier", "noise-multiplier = 5.0"),
    ("sigma", "sigma = 5.0"),
    ("scale", "scale = 5.0"),
    ("sensitivity", "sensitivity = 1"),
    ("epsilon", "epsilon = 0.5"),
    ("delta", "delta = 1e-6"),
    ("categories", "categories = 10"),
    ("channel", "channel = \"channel.csv\""),
    ("points", "points = [[0.0, 0.1], [1.0, 1e-6]]"),
];
const STEP: Keys = &[
    ("count", "count = 100"),
    ("iterate-noise", "iterate-noise = 0.1"),
    ("noise", "noise = \"gaussian\""),
    ("modulus", "modulus = [[1.0, 0.0]]"),
    ("displacement", "displacement = 0.2"),
    ("participation", "participation = 0.01"),
    ("crossed", "crossed = [[1.0, 0.2]]"),
    ("growth", "growth = [1.0, 0.1]"),
    ("diameter", "diameter = 1.0"),
];

/// The keys of models: first those that all kinds take, then those that some take.
static MODEL: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    let mut keys = OF_EVERY_MODEL.to_vec();
    for key in Model::kinds().iter().flat_map(|kind| kind.keys) {
        if keys.iter().all(|(name, _)| *name != key.name) {
            keys.push((key.name, key.example));
        }
    }
    keys
});

/// The keys of tasks: their own, and whatever a task may do differently.
static OF_TASKS: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    let sections = [TASK, RUN, UPDATE, LOSS, &DOMAIN[..2]];
    let keys = sections.iter().flat_map(|keys| keys.iter().copied());
    keys.filter(|(name, _)| !OF_ALL_TASKS.contains(name)).collect()
});

/// The section to which a key of a task belongs; `None` for its own.
pub fn section_of_task_key(name: &str) -> Option<&'static str> {
    ["run", "update", "loss", "domain"].into_iter().find(|section| is_key(section, name))
}

/// The order of sections in which a key without its section is looked up; lists come last.
const SECTIONS: [&str; 12] = [
    "run",
    "update",
    "loss",
    "domain",
    "model",
    "centre",
    "evaluation",
    "forget",
    "target",
    "mechanism",
    "step",
    "task",
];

/// The order in which messages list the sections.
pub const LISTED: [&str; 12] = [
    "run",
    "update",
    "model",
    "loss",
    "domain",
    "centre",
    "evaluation",
    "forget",
    "target",
    "mechanism",
    "step",
    "task",
];

/// The table of a section.
pub fn section<'a>(tables: &'a Table, name: &str) -> Result<Section<'a>, DocumentError> {
    Section::of(tables, name, keys_of(name))
}

/// One table of a list, counted from 1.
pub fn entry<'a>(table: &'a Table, name: &str, number: usize) -> Section<'a> {
    Section::entry(table, name, number, keys_of(name))
}

/// The keys of a section.
pub fn keys_of(section: &str) -> Keys {
    match section {
        "run" => RUN,
        "update" => UPDATE,
        "loss" => LOSS,
        "domain" => DOMAIN,
        "model" => &MODEL,
        "centre" => CENTRE,
        "evaluation" => EVALUATION,
        "forget" => FORGET,
        "target" => TARGET,
        "mechanism" => MECHANISM,
        "step" => STEP,
        "task" => &OF_TASKS,
        _ => &[],
    }
}

/// Every key with its section and an example of its use.
pub fn all() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    SECTIONS
        .iter()
        .flat_map(|section| keys_of(section).iter().map(|(name, example)| (*section, *name, *example)))
}

/// Groups of keys of which only one can be given.
const EXCLUSIVE: &[&[&str]] = &[
    &["run.steps", "run.epochs"],
    &["run.batch-size", "run.sampling-probability"],
    &["update.noise-multiplier", "update.gradient-noise", "update.iterate-noise"],
    &["update.clip-norm", "update.lipschitz"],
];

/// Two questions: a file may ask both, and then asks whether they are met; one that is set replaces the other.
const QUESTIONS: &[&str] = &["target.delta", "target.epsilon"];

/// The keys that a key excludes.
pub fn excluded_by(dotted: &str) -> impl Iterator<Item = &'static str> {
    let groups = EXCLUSIVE.iter().copied().chain([QUESTIONS]);
    let group = groups.into_iter().find(|group| group.contains(&dotted)).unwrap_or(&[]);
    let dotted = dotted.to_owned();
    group.iter().copied().filter(move |other| *other != dotted)
}

/// An example of a key's use.
pub fn example(section: &str, name: &str) -> &'static str {
    keys_of(section).iter().find(|(key, _)| *key == name).map_or("", |(_, example)| example)
}

/// Whether a key takes only whole numbers.
pub fn is_whole(dotted: &str) -> bool {
    let name = dotted.rsplit('.').next().unwrap_or(dotted);
    [
        "records",
        "steps",
        "batch-size",
        "dimension",
        "count",
        "sensitivity",
        "categories",
        "record",
        "public-steps",
        "tasks",
        "first",
    ]
    .contains(&name)
}

/// Whether a section is a list of tables.
pub fn is_list(section: &str) -> bool {
    LISTS.contains(&section)
}

/// The section and name of a key as users write it: `run.steps`, or `steps` alone;
/// `mechanism.2.count` for the second mechanism.
pub fn resolve(written: &str) -> Result<String, DocumentError> {
    let (section, name) = match written.rsplit_once('.') {
        Some((section, name)) => (section, name),
        None => {
            let found = all().find(|(section, name, _)| *name == written && !is_list(section));
            return found
                .map(|(section, ..)| format!("{section}.{written}"))
                .ok_or_else(|| unknown("", written));
        }
    };
    let table = section.split_once('.').map_or(section, |(table, _)| table);
    if is_key(table, name) {
        return Ok(written.to_owned());
    }
    Err(unknown(table, name))
}

/// Refuses unknown sections and keys, and keys that exclude each other.
pub fn check(tables: &Table) -> Result<(), DocumentError> {
    for (section, value) in tables {
        if !LISTED.contains(&section.as_str()) {
            let near = nearest(section, LISTED.into_iter());
            return Err(DocumentError::new(format!("there is no section [{section}] in run files")).help(
                near.map_or(format!("one of: {}", LISTED.join(", ")), |near| {
                    format!("did you mean [{near}]?")
                }),
            ));
        }
        for table in tables_of(section, value)? {
            if let Some(name) = table.keys().find(|name| !is_key(section, name)) {
                return Err(unknown(section, name));
            }
        }
    }
    for (index, table) in (1..).zip(tables.get("task").and_then(Value::as_array).into_iter().flatten()) {
        refuse_both(index, table)?;
    }
    for group in EXCLUSIVE {
        let given: Vec<&str> = group.iter().copied().filter(|dotted| is_given(tables, dotted)).collect();
        if let [first, second, ..] = given[..] {
            let (section, a) = first.split_once('.').unwrap_or(("", first));
            let (_, b) = second.split_once('.').unwrap_or(("", second));
            return Err(both(section, a, b));
        }
    }
    Ok(())
}

/// Refuses keys of one task that exclude each other.
fn refuse_both(number: usize, task: &Value) -> Result<(), DocumentError> {
    for group in EXCLUSIVE {
        let names = group.iter().map(|dotted| dotted.rsplit('.').next().unwrap_or(dotted));
        let given: Vec<&str> = names.filter(|name| task.get(name).is_some()).collect();
        if let [first, second, ..] = given[..] {
            return Err(both(&format!("task {number}"), first, second));
        }
    }
    Ok(())
}

/// Two keys of which only one can be given.
pub fn both(section: &str, a: &str, b: &str) -> DocumentError {
    DocumentError::new(format!("{section}.{a} and {section}.{b} are both given, but they say the same thing"))
        .help("keep one of them")
}

/// The tables of a section: one, or those of a list.
fn tables_of<'a>(section: &str, value: &'a Value) -> Result<Vec<&'a Table>, DocumentError> {
    let wrong = |help: String| {
        DocumentError::new(format!("{section} is not a section: its type is {}", value.type_str())).help(help)
    };
    let as_list = || wrong(format!("begin each {section} with [[{section}]]"));
    match value {
        Value::Table(table) if !is_list(section) => Ok(vec![table]),
        Value::Array(list) if is_list(section) => {
            list.iter().map(|value| value.as_table().ok_or_else(as_list)).collect()
        }
        _ if is_list(section) => Err(as_list()),
        _ => Err(wrong(format!("write [{section}] above its keys"))),
    }
}

fn is_key(section: &str, name: &str) -> bool {
    keys_of(section).iter().any(|(key, _)| *key == name)
}

/// Whether a key is given.
pub fn is_given(tables: &Table, dotted: &str) -> bool {
    let (section, name) = dotted.split_once('.').unwrap_or(("", dotted));
    tables.get(section).and_then(Value::as_table).is_some_and(|table| table.contains_key(name))
}

fn unknown(section: &str, name: &str) -> DocumentError {
    let written = if section.is_empty() { name.to_owned() } else { format!("{section}.{name}") };
    let elsewhere = all().find(|(other, key, _)| *key == name && !is_list(other) && !is_list(section));
    let here = || all().filter(|(other, ..)| section.is_empty() || *other == section).map(|(_, key, _)| key);
    let help = match (elsewhere, nearest(name, here())) {
        (Some((section, _, example)), _) => format!("{name} belongs to [{section}]: {example}"),
        (None, Some(near)) => format!("did you mean {near}?"),
        (None, None) => {
            let mut names: Vec<&str> = here().collect();
            names.dedup();
            format!("one of: {}", names.join(", "))
        }
    };
    DocumentError::new(format!("there is no key {written} in run files")).help(help)
}
