//! `algorithm = "chain"`: the steps of one record's chain, given one by one.

use super::keys::{entry, example, section};
use super::training::NOISES;
use crate::error::DocumentError;
use crate::section::{Section, number, shown, whole};
use dobrushin::chain::{Chain, Count, Domain, Modulus, Participation, Piece, Start, Step, StepNoise};
use dobrushin::run::{CustomChain, NoiseKind, Release, Run};
use dobrushin::{Delta, Epsilon, NonNegative, Positive, Probability};
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
    let start = start(&run)?;
    let diameter = domain_of(tables, facts.positive("diameter")?, &start)?;
    let domain = Domain { diameter, dimension: facts.whole("dimension")? };
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
    let starts_apart = start != Start::default();
    if (steps.is_empty() || !starts_apart) && steps.iter().all(|(step, _)| step.participation.is_never()) {
        let what = if steps.is_empty() { "there is no [[step]]" } else { "no [[step]] uses the record" };
        return Err(DocumentError::new(format!("{what}: a chain needs a step with a displacement"))
            .help("[[step]] with iterate-noise = 0.1 and displacement = 0.2, for example"));
    }
    let chain = Chain::new(steps, domain).and_then(|chain| chain.starting(start)).map_err(|error| {
        DocumentError::new(error.to_string()).help("examples/chain.toml is a complete chain")
    })?;
    // A missing value is taken to be the least private one.
    let release = run.choice("release", RELEASES)?.unwrap_or(Release::All);
    Ok(Run::chain(CustomChain { chain, release }))
}

/// Refuses keys that would be ignored.
fn refuse_others(tables: &Table, run: &Section, update: &Section) -> Result<(), DocumentError> {
    let known = ["algorithm", "release", "start-distance", "start-divergence"];
    let key = run.keys().find(|key| !known.contains(key)).map(|key| run.dotted(key));
    let noise = update.keys().find(|key| *key != "noise").map(|key| update.dotted(key));
    let known = ["run", "update", "step", "domain", "target"];
    let section = tables.keys().find(|section| !known.contains(&section.as_str()));
    match key.or(noise).or(section.map(|section| format!("[{section}]"))) {
        None => Ok(()),
        Some(what) => Err(DocumentError::new(format!("{what} is not for algorithm = \"chain\"")).help(
            "that has run.release, run.start-distance, run.start-divergence, update.noise, [[step]] tables, [domain] and \
             [target] only; the steps say what neighbours, batches and losses amount to",
        )),
    }
}

/// How far apart the two runs start.
fn start(run: &Section) -> Result<Start, DocumentError> {
    let distance = run.non_negative("start-distance")?;
    let accepted = "a probability that bounds the variation distance of the two starts, or a list of pairs [ε, δ] with \
                    E_γ at most δ for γ = e^ε";
    let refused = || run.refuse("start-divergence", accepted);
    let pair = |epsilon: f64, delta: f64| {
        Ok((Epsilon::new(epsilon).map_err(|_| refused())?, Delta::new(delta).map_err(|_| refused())?))
    };
    let divergence = match run.value("start-divergence") {
        None => Vec::new(),
        Some(Value::Array(list)) if !list.is_empty() => list
            .iter()
            .map(|value| match value.as_array().map(Vec::as_slice) {
                Some([epsilon, delta]) => {
                    let (epsilon, delta) = number(epsilon).zip(number(delta)).ok_or_else(refused)?;
                    pair(epsilon, delta)
                }
                _ => Err(refused()),
            })
            .collect::<Result<_, DocumentError>>()?,
        Some(value) => vec![pair(0.0, number(value).ok_or_else(refused)?)?],
    };
    Ok(Start { distance, divergence })
}

/// The diameter of the domain: that of the largest set, if each step has one and nothing else is said.
fn domain_of(
    tables: &Table,
    given: Option<Positive>,
    start: &Start,
) -> Result<Option<Positive>, DocumentError> {
    let list = tables.get("step").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let entries = list.iter().filter_map(Value::as_table).enumerate();
    let sets = entries
        .map(|(index, table)| entry(table, "step", index + 1).positive("diameter"))
        .collect::<Result<Vec<_>, DocumentError>>()?;
    if given.is_some() || sets.iter().all(Option::is_none) {
        return Ok(given);
    }
    let apart = start.distance.map_or(0.0, NonNegative::get);
    if sets.iter().any(Option::is_none) || (start.distance.is_none() && !start.divergence.is_empty()) {
        return Err(DocumentError::new(
            "some [[step]] tables have a diameter, but the iterates may be anywhere at other times",
        )
        .help("give domain.diameter, too: that of a set that contains all iterates and starts"));
    }
    let largest = sets.iter().flatten().map(|set| set.get()).fold(apart, f64::max);
    Ok(Positive::new(largest).ok())
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
    step.diameter = entry.positive("diameter")?;
    if let (Some(set), Some(all)) = (step.diameter, domain.diameter)
        && set.get() > all.get()
    {
        return Err(DocumentError::new(format!(
            "{} is {}, but domain.diameter is {}: every set is a part of the domain",
            entry.dotted("diameter"),
            set.get(),
            all.get()
        ))
        .help("a smaller diameter, or a larger domain.diameter"));
    }
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
