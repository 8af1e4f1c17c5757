//! Noisy iterations.

use super::keys::section;
use crate::error::DocumentError;
use crate::section::{Section, number, shown, whole};
use dobrushin::Positive;
use dobrushin::mechanism::Neighbours;
use dobrushin::run::{
    Algorithm, Batch, Centre, Contribution, Divisor, DomainFacts, Evaluation, Forgotten, IncompleteBatch,
    LearningRate, Length, LossFacts, Noise, NoiseKind, Order, Record, Release, Run, Training,
};
use toml::{Table, Value};

/// The neighbour relations.
pub const NEIGHBOURS: &[(&str, Neighbours)] = &[
    ("replace-one", Neighbours::ReplaceOne),
    ("add-or-remove-one", Neighbours::AddOrRemoveOne),
    ("zero-out", Neighbours::ZeroOut),
];

const ALGORITHMS: &[(&str, Algorithm)] = &[
    ("pnsgd", Algorithm::Pnsgd),
    ("dp-sgd", Algorithm::DpSgd),
    ("gradient-descent", Algorithm::GradientDescent),
    ("online", Algorithm::Online),
];

/// The orders of records.
pub const ORDERS: &[(&str, Order)] = &[
    ("once", Order::Once),
    ("cyclic", Order::Cyclic),
    ("shuffled", Order::Shuffled),
    ("allocation", Order::Allocation),
    ("poisson", Order::Poisson),
    ("without-replacement", Order::WithoutReplacement),
    ("full", Order::Full),
];

const ENDINGS: &[(&str, IncompleteBatch)] = &[
    ("drop", IncompleteBatch::Drop),
    ("short", IncompleteBatch::Short),
    ("pad", IncompleteBatch::Pad),
    ("fill", IncompleteBatch::Fill),
];

/// The laws of noise.
pub const NOISES: &[(&str, NoiseKind)] =
    &[("gaussian", NoiseKind::Gaussian), ("laplace", NoiseKind::Laplace)];

const RELEASES: &[(&str, Release)] = &[
    ("last", Release::Last),
    ("random-stop", Release::RandomStop),
    ("random-skip", Release::RandomSkip),
    ("all", Release::All),
];

/// The run that the tables describe.
pub fn read(tables: &Table) -> Result<Run, DocumentError> {
    Ok(Run::training(parse(tables)?)?)
}

/// The numbers of the run, not yet checked against each other.
pub fn parse(tables: &Table) -> Result<Training, DocumentError> {
    for (list, algorithm) in [("mechanism", "composition"), ("step", "chain")] {
        if tables.contains_key(list) {
            return Err(DocumentError::new(format!("[[{list}]] is for algorithm = \"{algorithm}\" only"))
                .help(format!("set run.algorithm, or remove every [[{list}]]")));
        }
    }
    let run = section(tables, "run")?;
    let update = section(tables, "update")?;
    let algorithm = run.choice("algorithm", ALGORITHMS)?.ok_or_else(|| run.missing("algorithm"))?;
    if let Some(key) = ["start-distance", "start-divergence"].into_iter().find(|key| run.value(key).is_some())
    {
        return Err(DocumentError::new(format!("{} is for algorithm = \"chain\" only", run.dotted(key)))
            .help("remove it: both neighbours of such a run have the same start"));
    }
    let records = run.whole("records")?.ok_or_else(|| run.missing("records"))?;
    let order = order(&run, algorithm)?;
    Ok(Training {
        algorithm,
        records,
        length: length(&run, order)?,
        batch: batch(&run, algorithm, order, records)?,
        order,
        incomplete_batch: run.choice("incomplete-batch", ENDINGS)?,
        // A missing value is taken to be the least private one.
        release: run.choice("release", RELEASES)?.unwrap_or(Release::All),
        neighbours: run.choice("neighbours", NEIGHBOURS)?.unwrap_or(Neighbours::ReplaceOne),
        record: record(&run)?,
        public_steps: run.whole_or_none("public-steps")?.unwrap_or(0),
        forgetting: forgetting(tables)?,
        tasks: run.whole("tasks")?.unwrap_or(1),
        centre: section(tables, "centre")?
            .positive("noise-multiplier")?
            .map(|noise_multiplier| Centre { noise_multiplier }),
        evaluation: section(tables, "evaluation")?
            .positive("noise-multiplier")?
            .map(|noise_multiplier| Evaluation { noise_multiplier }),
        learning_rate: learning_rate(&update)?,
        contribution: contribution(&update)?,
        noise_kind: update.choice("noise", NOISES)?.unwrap_or(NoiseKind::Gaussian),
        noise: noise(&update)?,
        weight_decay: update.number("weight-decay")?.unwrap_or(0.0),
        divide_by: update
            .choice("divide-by", &[("batch-size", Divisor::BatchSize), ("actual", Divisor::Actual)])?
            .unwrap_or(Divisor::BatchSize),
        loss: loss(tables)?,
        domain: domain(tables)?,
    })
}

fn order(run: &Section, algorithm: Algorithm) -> Result<Order, DocumentError> {
    run.choice("order", ORDERS)?.or(algorithm.usual_order()).ok_or_else(|| run.missing("order"))
}

fn length(run: &Section, order: Order) -> Result<Length, DocumentError> {
    if let Some(epochs) = run.positive("epochs")? {
        return Ok(Length::Epochs(epochs));
    }
    match run.value("steps") {
        Some(Value::String(word)) if word == "any" => Ok(Length::Any),
        Some(value) => whole(value)
            .map(Length::Steps)
            .ok_or_else(|| run.refuse("steps", "a whole number, 1 or more, or \"any\"")),
        None => order.usual_length().ok_or_else(|| run.missing("steps")),
    }
}

fn batch(run: &Section, algorithm: Algorithm, order: Order, records: u64) -> Result<Batch, DocumentError> {
    if let Some(probability) = run.probability("sampling-probability")? {
        return Ok(Batch::Probability(probability));
    }
    let said = run.whole("batch-size")?.map(Batch::Size);
    said.or(algorithm.usual_batch(order, records)).ok_or_else(|| run.missing("batch-size"))
}

fn record(run: &Section) -> Result<Record, DocumentError> {
    match run.value("record") {
        None => Ok(Record::Worst),
        Some(Value::String(word)) if word == "worst" => Ok(Record::Worst),
        Some(value) => {
            let refused = || run.refuse("record", "\"worst\" or an index from 1 on");
            whole(value).map(Record::Index).ok_or_else(refused)
        }
    }
}

/// The requests to delete records: a number, or one for each request.
fn forgetting(tables: &Table) -> Result<Vec<Forgotten>, DocumentError> {
    if !tables.contains_key("forget") {
        return Ok(Vec::new());
    }
    let forget = section(tables, "forget")?;
    let Some(steps) = wholes(&forget, "steps")? else {
        return Err(forget.missing("steps"));
    };
    let records = wholes(&forget, "records")?.unwrap_or_else(|| vec![1; steps.len()]);
    if records.len() != steps.len() {
        return Err(DocumentError::new(format!(
            "forget.records is for {} requests, but forget.steps for {}",
            records.len(),
            steps.len()
        ))
        .help("one number of each for every request, as in records = [1, 5] and steps = [300, 300]"));
    }
    Ok(records.into_iter().zip(steps).map(|(records, steps)| Forgotten { records, steps }).collect())
}

/// A whole number, or a list of them.
fn wholes(section: &Section, key: &str) -> Result<Option<Vec<u64>>, DocumentError> {
    let Some(value) = section.value(key) else {
        return Ok(None);
    };
    let read: Option<Vec<u64>> = match value {
        Value::Array(list) => list.iter().map(whole).collect(),
        value => whole(value).map(|number| vec![number]),
    };
    let refused =
        || section.refuse(key, "a whole number, 1 or more, or a list of them, one for each request");
    read.filter(|list| !list.is_empty()).map(Some).ok_or_else(refused)
}

fn learning_rate(update: &Section) -> Result<Option<LearningRate>, DocumentError> {
    const ACCEPTED: &str = "a number above 0, a list of such numbers, or { inverse-sqrt = 0.1 }";
    let refused = || update.refuse("learning-rate", ACCEPTED);
    let Some(value) = update.value("learning-rate") else {
        return Ok(None);
    };
    let read = match value {
        Value::Array(list) => LearningRate::List(positives(update, "learning-rate", list)?),
        Value::Table(table) => {
            let first = table.get("inverse-sqrt").filter(|_| table.len() == 1);
            LearningRate::InverseSqrt(first.and_then(positive).ok_or_else(refused)?)
        }
        value => LearningRate::Constant(positive(value).ok_or_else(refused)?),
    };
    Ok(Some(read))
}

fn positive(value: &Value) -> Option<Positive> {
    Positive::new(number(value)?).ok()
}

/// Numbers above 0, one for each step.
fn positives(update: &Section, key: &str, list: &[Value]) -> Result<Vec<Positive>, DocumentError> {
    let each = |(index, value): (usize, &Value)| {
        positive(value).ok_or_else(|| {
            let place = format!("value {} of {}", index + 1, update.dotted(key));
            DocumentError::new(format!("{place} is {}, but it must be a number above 0", shown(value)))
                .help(format!("{key} = [0.1, 0.05]"))
        })
    };
    list.iter().enumerate().map(each).collect()
}

fn contribution(update: &Section) -> Result<Option<Contribution>, DocumentError> {
    let clipped = update.positive("clip-norm")?.map(Contribution::Clipped);
    Ok(clipped.or(update.positive("lipschitz")?.map(Contribution::Lipschitz)))
}

fn noise(update: &Section) -> Result<Noise, DocumentError> {
    let multiplier = update.positive("noise-multiplier")?.map(Noise::Multiplier);
    let gradient = match update.value("gradient-noise") {
        Some(Value::Array(list)) => Some(Noise::GradientList(positives(update, "gradient-noise", list)?)),
        _ => update.positive("gradient-noise")?.map(Noise::Gradient),
    };
    let iterate = update.positive("iterate-noise")?.map(Noise::Iterate);
    multiplier.or(gradient).or(iterate).ok_or_else(|| {
        DocumentError::new(
            "the noise is missing: none of noise-multiplier, gradient-noise and iterate-noise is given",
        )
        .help("add to [update], for example: noise-multiplier = 1.0")
    })
}

fn loss(tables: &Table) -> Result<LossFacts, DocumentError> {
    let loss = section(tables, "loss")?;
    Ok(LossFacts {
        convex: loss.flag("convex")?,
        smoothness: loss.positive("smoothness")?,
        strong_convexity: loss.non_negative("strong-convexity")?,
        generalised_linear: loss.flag("generalised-linear")?,
    })
}

fn domain(tables: &Table) -> Result<DomainFacts, DocumentError> {
    let domain = section(tables, "domain")?;
    Ok(DomainFacts { diameter: domain.positive("diameter")?, dimension: domain.whole("dimension")? })
}
