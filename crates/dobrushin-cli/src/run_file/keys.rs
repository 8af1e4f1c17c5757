//! Every key a run file can have.

pub use dobrushin_train::schema::nearest;

use crate::problem::Problem;
use dobrushin_train::Model;
use std::sync::LazyLock;
use toml::{Table, Value};

/// The algorithms.
pub const ALGORITHMS: &[&str] = &["pnsgd", "dp-sgd", "gradient-descent", "online", "chain", "composition"];

/// A key, with an example of its use.
#[derive(Clone, Copy)]
pub struct Key {
    pub section: &'static str,
    pub name: &'static str,
    pub example: &'static str,
}

const fn key(section: &'static str, name: &'static str, example: &'static str) -> Key {
    Key { section, name, example }
}

/// The sections that are lists of tables.
pub const LISTS: [&str; 2] = ["mechanism", "step"];

/// The sections.
const SECTIONS: [&str; 9] =
    ["run", "update", "model", "loss", "domain", "evaluation", "target", "mechanism", "step"];

/// All of them; those of [[mechanism]] and [[step]] last.
static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| {
    let mut models: Vec<Key> = Vec::new();
    for of_model in Model::kinds().iter().flat_map(|kind| kind.keys) {
        if models.iter().all(|key| key.name != of_model.name) {
            models.push(key("model", of_model.name, of_model.example));
        }
    }
    [BEFORE_MODELS, &models, AFTER_MODELS].concat()
});

/// Those up to the keys that models take besides their kind and schema.
const BEFORE_MODELS: &[Key] = &[
    key("run", "algorithm", "algorithm = \"dp-sgd\""),
    key("run", "records", "records = 60000"),
    key("run", "steps", "steps = 10000"),
    key("run", "epochs", "epochs = 10"),
    key("run", "batch-size", "batch-size = 256"),
    key("run", "sampling-probability", "sampling-probability = 0.01"),
    key("run", "order", "order = \"poisson\""),
    key("run", "incomplete-batch", "incomplete-batch = \"drop\""),
    key("run", "release", "release = \"last\""),
    key("run", "neighbours", "neighbours = \"replace-one\""),
    key("run", "record", "record = \"worst\""),
    key("run", "public-steps", "public-steps = 100"),
    key("run", "tasks", "tasks = 10"),
    key("update", "learning-rate", "learning-rate = 0.1"),
    key("update", "clip-norm", "clip-norm = 1.0"),
    key("update", "lipschitz", "lipschitz = 1.0"),
    key("update", "noise", "noise = \"gaussian\""),
    key("update", "noise-multiplier", "noise-multiplier = 1.0"),
    key("update", "gradient-noise", "gradient-noise = 1.0"),
    key("update", "iterate-noise", "iterate-noise = 0.1"),
    key("update", "weight-decay", "weight-decay = 0.001"),
    key("update", "divide-by", "divide-by = \"batch-size\""),
    key("loss", "convex", "convex = true"),
    key("loss", "smoothness", "smoothness = 0.25"),
    key("loss", "strong-convexity", "strong-convexity = 0.01"),
    key("loss", "generalised-linear", "generalised-linear = true"),
    key("domain", "diameter", "diameter = 10.0"),
    key("domain", "dimension", "dimension = 785"),
    key("domain", "ball", "ball = 5.0"),
    key("domain", "box", "box = [-1.0, 1.0]"),
    key("domain", "simplex", "simplex = 1.0"),
    key("domain", "interval", "interval = [0.0, 1.0]"),
    key("model", "kind", "kind = \"logistic\""),
    key("model", "schema", "schema = \"schema.toml\""),
];

/// Those after them.
const AFTER_MODELS: &[Key] = &[
    key("evaluation", "noise-multiplier", "noise-multiplier = 50"),
    key("evaluation", "loss-bound", "loss-bound = 2.0"),
    key("target", "delta", "delta = 1e-5"),
    key("target", "epsilon", "epsilon = 1.0"),
    key("mechanism", "kind", "kind = \"gaussian\""),
    key("mechanism", "count", "count = 10"),
    key("mechanism", "sampling", "sampling = \"poisson\""),
    key("mechanism", "sampling-probability", "sampling-probability = 0.01"),
    key("mechanism", "noise-multiplier", "noise-multiplier = 5.0"),
    key("mechanism", "sigma", "sigma = 5.0"),
    key("mechanism", "scale", "scale = 5.0"),
    key("mechanism", "sensitivity", "sensitivity = 1"),
    key("mechanism", "epsilon", "epsilon = 0.5"),
    key("mechanism", "delta", "delta = 1e-6"),
    key("mechanism", "categories", "categories = 10"),
    key("mechanism", "channel", "channel = \"channel.csv\""),
    key("mechanism", "points", "points = [[0.0, 0.1], [1.0, 1e-6]]"),
    key("step", "count", "count = 100"),
    key("step", "iterate-noise", "iterate-noise = 0.1"),
    key("step", "noise", "noise = \"gaussian\""),
    key("step", "modulus", "modulus = [[1.0, 0.0]]"),
    key("step", "displacement", "displacement = 0.2"),
    key("step", "participation", "participation = 0.01"),
    key("step", "crossed", "crossed = [[1.0, 0.2]]"),
    key("step", "growth", "growth = [1.0, 0.1]"),
];

/// Keys of which only one can be given.
const EXCLUSIVE: &[&[&str]] = &[
    &["run.steps", "run.epochs"],
    &["run.batch-size", "run.sampling-probability"],
    &["update.noise-multiplier", "update.gradient-noise", "update.iterate-noise"],
    &["update.clip-norm", "update.lipschitz"],
    &["target.delta", "target.epsilon"],
];

/// The keys that a key excludes.
pub fn excluded_by(dotted: &str) -> impl Iterator<Item = &'static str> {
    let group = EXCLUSIVE.iter().find(|group| group.contains(&dotted)).copied().unwrap_or(&[]);
    let dotted = dotted.to_owned();
    group.iter().copied().filter(move |other| *other != dotted)
}

/// An example of a key's use.
pub fn example(section: &str, name: &str) -> &'static str {
    KEYS.iter().find(|key| key.section == section && key.name == name).map_or("", |key| key.example)
}

/// Whether a key takes whole numbers only.
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
    ]
    .contains(&name)
}

/// Whether a section is a list of tables.
pub fn is_list(section: &str) -> bool {
    LISTS.contains(&section)
}

/// The section and name of a key as users write it: `run.steps`, or `steps` alone;
/// `mechanism.2.count` for the second mechanism.
pub fn resolve(written: &str) -> Result<String, Problem> {
    let (section, name) = match written.rsplit_once('.') {
        Some((section, name)) => (section, name),
        None => {
            let found = KEYS.iter().find(|key| key.name == written && !is_list(key.section));
            return found.map(|key| format!("{}.{written}", key.section)).ok_or_else(|| unknown("", written));
        }
    };
    let table = section.split_once('.').map_or(section, |(table, _)| table);
    if KEYS.iter().any(|key| key.section == table && key.name == name) {
        return Ok(written.to_owned());
    }
    Err(unknown(table, name))
}

/// Refuses unknown sections and keys, and keys that exclude each other.
pub fn check(tables: &Table) -> Result<(), Problem> {
    for (section, value) in tables {
        if !KEYS.iter().any(|key| key.section == section) {
            let near = nearest(section, SECTIONS.into_iter());
            return Err(Problem::new(format!("there is no section [{section}] in run files")).help(
                near.map_or(format!("one of: {}", SECTIONS.join(", ")), |near| {
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

/// Two keys of which only one can be given.
pub fn both(section: &str, a: &str, b: &str) -> Problem {
    Problem::new(format!("{section}.{a} and {section}.{b} are both given, but they say the same thing"))
        .help("keep one of them")
}

/// The tables of a section: one, or those of a list.
fn tables_of<'a>(section: &str, value: &'a Value) -> Result<Vec<&'a Table>, Problem> {
    let wrong = |help: String| {
        Problem::new(format!("{section} is no section: it is a {}", value.type_str())).help(help)
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
    KEYS.iter().any(|key| key.section == section && key.name == name)
}

/// Whether a key is given.
pub fn is_given(tables: &Table, dotted: &str) -> bool {
    let (section, name) = dotted.split_once('.').unwrap_or(("", dotted));
    tables.get(section).and_then(Value::as_table).is_some_and(|table| table.contains_key(name))
}

fn unknown(section: &str, name: &str) -> Problem {
    let written = if section.is_empty() { name.to_owned() } else { format!("{section}.{name}") };
    let elsewhere = KEYS.iter().find(|key| key.name == name && !is_list(key.section) && !is_list(section));
    let here = KEYS.iter().filter(|key| section.is_empty() || key.section == section);
    let near = nearest(name, here.map(|key| key.name));
    let help = match (elsewhere, near) {
        (Some(key), _) => format!("{name} belongs to [{}]: {}", key.section, key.example),
        (None, Some(near)) => format!("did you mean {near}?"),
        (None, None) => {
            let here = KEYS.iter().filter(|key| section.is_empty() || key.section == section);
            let mut names: Vec<&str> = here.map(|key| key.name).collect();
            names.dedup();
            format!("one of: {}", names.join(", "))
        }
    };
    Problem::new(format!("there is no key {written} in run files")).help(help)
}
