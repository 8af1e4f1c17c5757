//! `algorithm = "chain"`: the steps of one record's chain, given one by one.

use super::keys::{entry, example, section};
use super::training::NOISES;
use crate::error::DocumentError;
use crate::section::{Section, number, shown, whole};
use dobrushin::Probability;
use dobrushin::chain::{Chain, Count, Domain, Modulus, Participation, Piece, Step, StepNoise};
use dobrushin::run::{CustomChain, NoiseKind, Release, Run};
use toml::{Table, Value};

/// What a chain can release.
const RELEASES: &[(&str, Release)] =
    &[("last", Release::Last), ("random-stop", Release::RandomStop), ("all", Release::All)];

/// The run that the tables describe.
pub fn read(tables: &Table) -> Result<Run, DocumentError> {
    let run = section(tables, "run")?;
    let update = section(tables, "update")?;
    refuse_others(tables, &run, &update)?;
    let facts = section(tables, "domain")?;
    let domain = Domain { diameter: facts.positive("diameter")?, dimension: facts.whole("dimension")? };
    let usual = update.choice("noise", NOISES)?.unwrap_or(NoiseKind::Gaussian);
    let list = tables.get("step").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let entries = list.iter().filter_map(Value::as_table).enumerate();
    let steps = entries
        .map(|(index, table)| {
            let entry = entry(table, "step", index + 1);
            let last = index + 1 == list.len();
            Ok((step(&entry, usual, domain)?, count(&entry, last)?))
        })
        .collect::<Result<Vec<(Step, Count)>, DocumentError>>()?;
    if steps.iter().all(|(step, _)| step.participation.is_never()) {
        let what = if steps.is_empty() { "there is no [[step]]" } else { "no [[step]] uses the record" };
        return Err(DocumentError::new(format!("{what}: a chain needs a step with a displacement"))
            .help("[[step]] with iterate-noise = 0.1 and displacement = 0.2, for example"));
    }
    let chain = Chain::new(steps, domain).map_err(|error| {
        DocumentError::new(error.to_string()).help("examples/chain.toml is a complete chain")
    })?;
    // A missing value is taken to be the least private one.
    let release = run.choice("release", RELEASES)?.unwrap_or(Release::All);
    Ok(Run::chain(CustomChain { chain, release }))
}

/// Refuses keys that would be ignored.
fn refuse_others(tables: &Table, run: &Section, update: &Section) -> Result<(), DocumentError> {
    let key = run.keys().find(|key| !["algorithm", "release"].contains(key)).map(|key| run.dotted(key));
    let noise = update.keys().find(|key| *key != "noise").map(|key| update.dotted(key));
    let known = ["run", "update", "step", "domain", "target"];
    let section = tables.keys().find(|section| !known.contains(&section.as_str()));
    match key.or(noise).or(section.map(|section| format!("[{section}]"))) {
        None => Ok(()),
        Some(what) => Err(DocumentError::new(format!("{what} is not for algorithm = \"chain\"")).help(
            "that has run.release, update.noise, [[step]] tables, [domain] and [target] only; the steps say \
             what neighbours, batches and losses amount to",
        )),
    }
}

fn count(entry: &Section, last: bool) -> Result<Count, DocumentError> {
    match entry.value("count") {
        None => Ok(Count::Times(1)),
        Some(Value::String(word)) if word == "any" && last => Ok(Count::Any),
        Some(Value::String(word)) if word == "any" => Err(DocumentError::new(format!(
            "{} is \"any\", but only the last [[step]] can be repeated any number of times",
            entry.dotted("count")
        ))
        .help("give a number, or move it to the end")),
        Some(value) => whole(value)
            .map(Count::Times)
            .ok_or_else(|| entry.refuse("count", "a whole number, 1 or more, or \"any\"")),
    }
}

fn step(entry: &Section, usual: NoiseKind, domain: Domain) -> Result<Step, DocumentError> {
    let size = entry.positive("iterate-noise")?.ok_or_else(|| entry.missing("iterate-noise"))?;
    let noise = match entry.choice("noise", NOISES)?.unwrap_or(usual) {
        NoiseKind::Gaussian => StepNoise::Gaussian(size.into()),
        NoiseKind::Laplace => {
            if let Some(dimension) = domain.dimension.filter(|dimension| *dimension > 1) {
                return Err(DocumentError::new(format!(
                    "{} is \"laplace\", which is for one dimension, but domain.dimension is {dimension}",
                    entry.dotted("noise")
                ))
                .help("noise = \"gaussian\""));
            }
            StepNoise::Laplace(size.into())
        }
    };
    let displacement = entry.non_negative("displacement")?;
    let moves = displacement.is_some_and(|displacement| displacement.get() > 0.0);
    let usual = if moves { Participation::Always } else { Participation::Never };
    let participation = participation(entry)?.unwrap_or(usual);
    if participation.is_never() {
        let idle = [("displacement", moves), ("crossed", entry.value("crossed").is_some())];
        if let Some((key, _)) = idle.into_iter().find(|(_, given)| *given) {
            let dotted = entry.dotted(key);
            return Err(DocumentError::new(format!(
                "{dotted} is given, but the record takes no part in that step"
            ))
            .help("participation = \"always\" or a probability, with a displacement; or leave both out"));
        }
    } else if displacement.is_none() {
        return Err(entry.missing("displacement"));
    }
    let mut step = Step::new(noise).with_modulus(lines(entry, "modulus")?);
    if let Some(displacement) = displacement {
        step = step.used_by(participation, displacement);
    }
    step.crossed = Modulus::new(lines(entry, "crossed")?);
    step.growth = growth(entry)?;
    Ok(step)
}

fn participation(entry: &Section) -> Result<Option<Participation>, DocumentError> {
    let refused = || entry.refuse("participation", "\"never\", \"always\", or a number between 0 and 1");
    let Some(value) = entry.value("participation") else {
        return Ok(None);
    };
    let read = match (value.as_str(), number(value)) {
        (Some("never"), _) | (_, Some(0.0)) => Participation::Never,
        (Some("always"), _) | (_, Some(1.0)) => Participation::Always,
        (_, Some(probability)) => {
            Participation::Sometimes(Probability::new(probability).map_err(|_| refused())?)
        }
        _ => return Err(refused()),
    };
    Ok(Some(read))
}

/// A list of lines, if it is given.
fn lines(entry: &Section, key: &'static str) -> Result<Vec<Piece>, DocumentError> {
    let Some(value) = entry.value(key) else {
        return Ok(Vec::new());
    };
    let list = value
        .as_array()
        .filter(|list| !list.is_empty())
        .ok_or_else(|| entry.refuse(key, "a list of [slope, offset] pairs, at least one"))?;
    let piece = |(index, pair): (usize, &Value)| {
        line(&format!("line {} of {}", index + 1, entry.dotted(key)), pair, example("step", key))
    };
    list.iter().enumerate().map(piece).collect()
}

fn growth(entry: &Section) -> Result<Option<Piece>, DocumentError> {
    let read = |value| line(&entry.dotted("growth"), value, example("step", "growth"));
    entry.value("growth").map(read).transpose()
}

fn line(place: &str, value: &Value, example: &'static str) -> Result<Piece, DocumentError> {
    let pair = match value.as_array().map(Vec::as_slice) {
        Some([slope, offset]) => number(slope).zip(number(offset)),
        _ => None,
    };
    let Some((slope, offset)) = pair else {
        let what = format!("{place} is {}, but it must be [slope, offset], two numbers", shown(value));
        return Err(DocumentError::new(what).help(example));
    };
    Piece::new(slope, offset).map_err(|error| DocumentError::new(format!("{place}: {error}")).help(example))
}
