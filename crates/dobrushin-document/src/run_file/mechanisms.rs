//! `algorithm = "composition"`: a list of mechanisms.

use super::Files;
use super::keys::{entry, section};
use super::self_contained::names_a_file;
use super::training::NEIGHBOURS;
use crate::error::DocumentError;
use crate::section::{Section, number, shown};
use dobrushin::kernel::FiniteKernel;
use dobrushin::mechanism::{Mechanism, Neighbours, Sampling, dominating_pair};
use dobrushin::profile::{Knot, PiecewiseProfile};
use dobrushin::run::{MechanismUse, Mechanisms, Run};
use dobrushin::{Delta, Epsilon};
use std::sync::Arc;
use toml::{Table, Value};

/// The parameters of each kind of mechanism.
const KINDS: &[(&str, &[&str])] = &[
    ("gaussian", &["noise-multiplier"]),
    ("laplace", &["noise-multiplier"]),
    ("discrete-gaussian", &["sigma", "sensitivity"]),
    ("discrete-laplace", &["scale", "sensitivity"]),
    ("randomised-response", &["epsilon"]),
    ("k-randomised-response", &["epsilon", "categories"]),
    ("exponential", &["epsilon"]),
    ("channel", &["channel"]),
    ("approximate", &["epsilon", "delta"]),
    ("profile", &["points"]),
];

/// The run that the tables describe.
pub fn read(tables: &Table) -> Result<Run, DocumentError> {
    let run = section(tables, "run")?;
    if let Some(key) = run.keys().find(|key| !["algorithm", "neighbours"].contains(key)) {
        return Err(not_here(&run.dotted(key)));
    }
    if let Some(section) =
        tables.keys().find(|section| !["run", "mechanism", "target"].contains(&section.as_str()))
    {
        return Err(not_here(&format!("[{section}]")));
    }
    let neighbours = run.choice("neighbours", NEIGHBOURS)?.unwrap_or(Neighbours::ReplaceOne);
    let list = tables.get("mechanism").and_then(Value::as_array);
    let entries = list.into_iter().flatten().filter_map(Value::as_table).enumerate();
    let uses = entries
        .map(|(index, table)| {
            let section = entry(table, "mechanism", index + 1);
            let used = one(&section)?;
            // This is checked here, where the mechanism can be named.
            dominating_pair(&used.mechanism, used.sampling, neighbours).map_err(|error| {
                DocumentError::new(format!("mechanism {}: {error}", index + 1))
                    .help("change its kind, its sampling, or run.neighbours")
            })?;
            Ok(used)
        })
        .collect::<Result<_, DocumentError>>()?;
    Ok(Run::mechanisms(Mechanisms { neighbours, uses })?)
}

fn not_here(what: &str) -> DocumentError {
    DocumentError::new(format!("{what} is not for algorithm = \"composition\""))
        .help("that has run.neighbours, [[mechanism]] tables and [target] only")
}

fn one(section: &Section) -> Result<MechanismUse, DocumentError> {
    let kinds: Vec<&'static str> = KINDS.iter().map(|(kind, _)| *kind).collect();
    let kind = section.word("kind", &kinds)?;
    let parameters =
        KINDS.iter().find(|(name, _)| *name == kind).map_or(&[][..], |(_, parameters)| *parameters);
    let allowed = |key: &str| {
        ["kind", "count", "sampling", "sampling-probability"].contains(&key) || parameters.contains(&key)
    };
    if let Some(key) = section.keys().find(|key| !allowed(key)) {
        return Err(DocumentError::new(format!(
            "{} is not a parameter of kind = {kind:?}",
            section.dotted(key)
        ))
        .help(format!("it takes: {}", parameters.join(", "))));
    }
    Ok(MechanismUse {
        mechanism: mechanism(section, kind)?,
        sampling: sampling(section)?,
        count: section.whole("count")?.unwrap_or(1),
    })
}

fn sampling(section: &Section) -> Result<Sampling, DocumentError> {
    let words = [("every", 0), ("poisson", 1), ("without-replacement", 2)];
    let probability = section.probability("sampling-probability")?;
    let needed = || probability.ok_or_else(|| section.missing("sampling-probability"));
    match section.choice("sampling", &words)? {
        Some(1) => Ok(Sampling::Poisson(needed()?)),
        Some(2) => Ok(Sampling::WithoutReplacement(needed()?)),
        _ if probability.is_some() => Err(DocumentError::new(format!(
            "{} is given, but nothing is sampled",
            section.dotted("sampling-probability")
        ))
        .help("sampling = \"poisson\" or \"without-replacement\"")),
        _ => Ok(Sampling::Every),
    }
}

fn mechanism(section: &Section, kind: &str) -> Result<Mechanism, DocumentError> {
    let positive = |key: &str| section.positive(key)?.ok_or_else(|| section.missing(key));
    Ok(match kind {
        "gaussian" => Mechanism::Gaussian { noise_multiplier: positive("noise-multiplier")? },
        "laplace" => Mechanism::Laplace { noise_multiplier: positive("noise-multiplier")? },
        "discrete-gaussian" => Mechanism::DiscreteGaussian {
            sigma: positive("sigma")?,
            sensitivity: small(section, "sensitivity")?,
        },
        "discrete-laplace" => Mechanism::DiscreteLaplace {
            scale: positive("scale")?,
            sensitivity: small(section, "sensitivity")?,
        },
        "randomised-response" => Mechanism::RandomisedResponse { epsilon: epsilon(section)? },
        "k-randomised-response" => Mechanism::KaryRandomisedResponse {
            epsilon: epsilon(section)?,
            categories: small(section, "categories")?,
        },
        "exponential" => Mechanism::Exponential { epsilon: epsilon(section)? },
        "channel" => Mechanism::Channel(channel(section)?),
        "approximate" => Mechanism::Approximate { epsilon: epsilon(section)?, delta: delta(section)? },
        _ => Mechanism::Profile(Arc::new(profile(section)?)),
    })
}

fn epsilon(section: &Section) -> Result<Epsilon, DocumentError> {
    let value = section.number("epsilon")?.ok_or_else(|| section.missing("epsilon"))?;
    Epsilon::new(value).map_err(|_| section.refuse("epsilon", "a number, 0 or more"))
}

fn delta(section: &Section) -> Result<Delta, DocumentError> {
    let value = section.number("delta")?.ok_or_else(|| section.missing("delta"))?;
    Delta::new(value).map_err(|_| section.refuse("delta", "a number between 0 and 1"))
}

fn small(section: &Section, key: &'static str) -> Result<u32, DocumentError> {
    let value = section.whole(key)?.ok_or_else(|| section.missing(key))?;
    u32::try_from(value).map_err(|_| section.refuse(key, "a whole number, at most 4294967295"))
}

/// The channel whose rows are given.
fn channel(section: &Section) -> Result<FiniteKernel, DocumentError> {
    let value = section.value("channel").ok_or_else(|| section.missing("channel"))?;
    if value.is_str() {
        return Err(names_a_file(&section.dotted("channel"), "the list of its rows"));
    }
    let row = |row: &Value| row.as_array()?.iter().map(number).collect::<Option<Vec<f64>>>();
    let rows = value.as_array().and_then(|rows| rows.iter().map(row).collect::<Option<Vec<_>>>());
    let rows = rows
        .ok_or_else(|| section.refuse("channel", "the path of a CSV file, or a list of rows of numbers"))?;
    kernel(rows, &section.dotted("channel"))
}

fn kernel(rows: Vec<Vec<f64>>, name: &str) -> Result<FiniteKernel, DocumentError> {
    FiniteKernel::new(rows).map_err(|error| {
        DocumentError::new(format!("{name} is not a channel: {error}"))
            .help("rows are inputs (counted without header), columns are outputs")
    })
}

/// The channels that are names of files, each with its key as messages write it.
pub fn named(tables: &Table) -> impl Iterator<Item = (String, &str)> {
    let list = tables.get("mechanism").and_then(Value::as_array);
    let entries = list.into_iter().flatten().filter_map(Value::as_table).enumerate();
    entries.filter_map(|(index, table)| {
        let section = entry(table, "mechanism", index + 1);
        Some((section.dotted("channel"), section.value("channel")?.as_str()?))
    })
}

/// Replaces the name of every channel's file by the probabilities in it.
pub fn embed<F: Files>(tables: &mut Table, files: &F) -> Result<(), F::Error> {
    let list = tables.get_mut("mechanism").and_then(Value::as_array_mut);
    for (index, table) in list.into_iter().flatten().filter_map(Value::as_table_mut).enumerate() {
        let section = entry(table, "mechanism", index + 1);
        let Some(name) = section.value("channel").and_then(Value::as_str) else {
            continue;
        };
        let rows = files.channel(&section.dotted("channel"), name)?;
        // This is checked here, where the file can be named.
        kernel(rows.clone(), name)?;
        let row = |row: Vec<f64>| Value::Array(row.into_iter().map(Value::Float).collect());
        table.insert("channel".to_owned(), Value::Array(rows.into_iter().map(row).collect()));
    }
    Ok(())
}

fn profile(section: &Section) -> Result<PiecewiseProfile, DocumentError> {
    let Some(value) = section.value("points") else {
        return Err(section.missing("points"));
    };
    let refused = || section.refuse("points", "a list of [epsilon, delta] pairs");
    let list = value.as_array().filter(|list| !list.is_empty()).ok_or_else(refused)?;
    let knot = |(index, pair): (usize, &Value)| {
        let place = format!("point {} of {}", index + 1, section.dotted("points"));
        let wrong = |why: String| {
            DocumentError::new(format!("{place} {why}")).help("points = [[0.0, 0.1], [1.0, 1e-6]]")
        };
        let Some([Some(epsilon), Some(delta)]) = pair.as_array().and_then(|pair| match &pair[..] {
            [epsilon, delta] => Some([number(epsilon), number(delta)]),
            _ => None,
        }) else {
            return Err(wrong(format!("is {}, but it must be [epsilon, delta]", shown(pair))));
        };
        let epsilon = Epsilon::new(epsilon).map_err(|error| wrong(format!("is wrong: {error}")))?;
        let delta = Delta::new(delta).map_err(|error| wrong(format!("is wrong: {error}")))?;
        Ok(Knot::new(epsilon, delta))
    };
    let knots: Vec<Knot> = list.iter().enumerate().map(knot).collect::<Result<_, DocumentError>>()?;
    Ok(PiecewiseProfile::symmetric(&knots))
}
