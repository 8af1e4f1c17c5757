//! From a library's parameters to a run file.

use super::Parameters;
use super::library::{Library, Meaning};
use super::theirs::Theirs;
use crate::error::DocumentError;
use crate::run_file::Starter;
use dobrushin::Neighbours;
use dobrushin::numeric::decimal::{nearest, plain};
use toml::Value;

/// The run file of what a library was given, with comments on what became of each parameter, on what the library's
/// accountant assumes, and on what it would say.
///
/// Nothing that the library does not say is claimed: the file counts every iterate as published.
///
/// ```
/// use dobrushin_document::peers::{Library, Parameters, translate};
///
/// let mut parameters = Parameters::new(Library::Opacus);
/// parameters.read("noise_multiplier=1.1\nmax_grad_norm=1.0\ndataset_size=60000\nbatch_size=256\nepochs=10")?;
/// let starter = translate(&parameters)?;
/// // 60,000 records in batches of 256 are 235 batches, and the sample rate is 1/235.
/// assert_eq!(starter.value("run.steps").as_deref(), Some("2350"));
/// assert!(starter.text().contains("Opacus's own accountant"));
/// # Ok::<(), dobrushin_document::DocumentError>(())
/// ```
///
/// # Errors
/// [`DocumentError`] names the parameter that is missing or not accepted.
pub fn translate(parameters: &Parameters) -> Result<Starter, DocumentError> {
    let plan = Plan::of(parameters)?;
    let mut starter = Starter::default();
    starter.begin_with(format!(
        "Translated by dobrushin init from {}: {}.",
        parameters.library.name(),
        parameters.in_words().join(", ")
    ));
    plan.describe_batches(&mut starter)?;
    plan.describe_update(parameters, &mut starter)?;
    if let Some(delta) = parameters.get(Meaning::Delta) {
        let remark = format!("{}; finds ε", delta.name);
        starter.put("target.delta", Value::Float(delta.probability()?), remark)?;
    }
    let delta = starter.value("target.delta").and_then(|delta| delta.parse().ok());
    let theirs = Theirs { accountant: accountant(parameters)?, ..plan.theirs(delta.unwrap_or(1e-6)) };
    theirs.sentence().into_iter().for_each(|sentence| starter.begin_with(sentence));
    if plan.groups {
        starter.begin_with(
            "The averages of microbatches are clipped, not the gradients of records. One record moves such an average by up \
             to twice the norm: so the noise multiplier is halved. No key says how large such steps are, so the learning rate \
             is left out, and every iterate counts as published.",
        );
    }
    starter.begin_with(
        "To count the iterates that you keep secret, say so: release = \"last\", the learning rate, and what is known about \
         the loss. Then ask: dobrushin account FILE",
    );
    Ok(starter)
}

/// How batches are drawn.
#[derive(Clone, Copy, PartialEq)]
enum Draw {
    Poisson,
    WithoutReplacement,
    Shuffled { drop_last: bool },
}

/// What the parameters say about the run, in numbers.
struct Plan {
    library: Library,
    noise: f64,
    records: Option<u64>,
    /// The size of a batch, if it is given.
    batch: Option<u64>,
    /// Whether the share of the records in a batch was given, and not a size.
    rate_is_given: bool,
    /// The share of the records in a batch, as the library's accountant counts it.
    rate: f64,
    /// The number of batches in a pass, where the library counts them.
    batches: u64,
    epochs: Option<f64>,
    steps: u64,
    draw: Draw,
    neighbours: Neighbours,
    /// Whether the averages of groups of records are clipped.
    groups: bool,
}

impl Plan {
    fn of(parameters: &Parameters) -> Result<Self, DocumentError> {
        let library = parameters.library;
        if let Some(only) = parameters.all(Meaning::OnlyOne).find(|only| !only.is_one()) {
            return Err(only.refuse("1, or left out: no key of a run file says that"));
        }
        if let Some(clipping) = parameters.get(Meaning::Clipping)
            && !["flat", "per_layer"].contains(&clipping.word()?.as_str())
        {
            let error = clipping.refuse("\"flat\" or \"per_layer\"");
            return Err(error
                .help("a norm that depends on the records has a price of its own, which no key describes"));
        }
        let noise = parameters.number(Meaning::Noise)?.ok_or_else(|| missing_noise(parameters))?;
        let (mut records, batch) = (parameters.whole(Meaning::Records)?, parameters.whole(Meaning::Batch)?);
        let drop_last = parameters.flag(Meaning::DropLast)?.unwrap_or(false);
        let rate = parameters.get(Meaning::Rate).map(|rate| rate.probability()).transpose()?;
        let rate_is_given = rate.is_some();
        if let (Some(batch), Some(rate), None) = (batch, rate, records) {
            records = Some(((batch as f64 / rate).round() as u64).max(1));
        }
        let [_, sizes, lengths] = library.needed();
        let (rate, batches) = match (rate, batch, records) {
            (Some(rate), ..) => (rate, ((1.0 / rate).round() as u64).max(1)),
            (None, Some(batch), Some(records)) => {
                if batch > records {
                    let message = format!("the batch size is {batch}, but there are only {records} records");
                    return Err(
                        DocumentError::new(message).help("a batch size of at most the number of records")
                    );
                }
                let batches = if drop_last { records / batch } else { records.div_ceil(batch) };
                match library {
                    // 1 / len(data_loader).
                    Library::Opacus => (1.0 / batches as f64, batches),
                    _ => (batch as f64 / records as f64, batches),
                }
            }
            (None, Some(_), None) => return Err(missing(library, Meaning::Records, &[])),
            (None, None, _) => return Err(missing(library, Meaning::Batch, sizes)),
        };
        let epochs = parameters.number(Meaning::Epochs)?;
        let steps = match (parameters.whole(Meaning::Steps)?, epochs) {
            (Some(steps), _) => steps,
            (None, Some(epochs)) => {
                let pass = if library == Library::Opacus { batches as f64 } else { 1.0 / rate };
                // A share of 256/60000 must not turn 10 passes into a step more than they are.
                let steps = (epochs * pass * (1.0 - 1e-12)).ceil();
                if steps > 9e15 {
                    return Err(DocumentError::new(format!("{epochs} epochs are {steps:e} steps"))
                        .help("fewer epochs"));
                }
                (steps as u64).max(1)
            }
            (None, None) => return Err(missing(library, Meaning::Epochs, lengths)),
        };
        let draw = draw(parameters, drop_last)?;
        let groups =
            match (parameters.get(Meaning::Microbatches), parameters.flag(Meaning::UsesMicrobatches)?) {
                (_, Some(used)) => used,
                (Some(count), None) => {
                    batch.is_some_and(|batch| count.whole().is_ok_and(|count| count < batch))
                }
                (None, None) => false,
            };
        let neighbours = match relation(parameters)? {
            Some(said) => said,
            None if groups || draw != Draw::Poisson => Neighbours::ReplaceOne,
            None => Neighbours::AddOrRemoveOne,
        };
        Ok(Self {
            library,
            noise,
            records,
            batch,
            rate_is_given,
            rate,
            batches,
            epochs,
            steps,
            draw,
            neighbours,
            groups,
        })
    }

    fn describe_batches(&self, starter: &mut Starter) -> Result<(), DocumentError> {
        let whole = |number: u64| Value::Integer(i64::try_from(number).unwrap_or(i64::MAX));
        starter.put("run.algorithm", Value::from("dp-sgd"), "clipped gradients with noise")?;
        if let Some(records) = self.records {
            starter.put("run.records", whole(records), "")?;
        }
        let (order, remark) = match (self.draw, self.library) {
            (Draw::Poisson, Library::TensorflowPrivacy) => (
                "poisson",
                "what its accountant assumes. A tf.data pipeline that shuffles is order = \"shuffled\" with neighbours = \
                 \"replace-one\", which is not what that accountant reports",
            ),
            (Draw::Poisson, _) => ("poisson", "each record is drawn independently"),
            (Draw::WithoutReplacement, _) => {
                ("without-replacement", "batches of a fixed size, drawn again in each step")
            }
            (Draw::Shuffled { .. }, _) => (
                "shuffled",
                "the loader is left as it is. The library's accountant counts Poisson batches all the same, and its ε is \
                 then no theorem",
            ),
        };
        starter.put("run.order", Value::from(order), remark)?;
        match (self.draw, self.library) {
            (Draw::Poisson, Library::Opacus) => {
                let remark = format!("1/len(data_loader): {} batches are a pass", self.batches);
                starter.put("run.sampling-probability", Value::Float(self.rate), remark)?;
            }
            (Draw::Poisson, _) if self.rate_is_given => {
                starter.put("run.sampling-probability", Value::Float(self.rate), "")?;
            }
            _ => {
                let size =
                    self.batch.or(self.records.map(|records| (records as f64 * self.rate).round() as u64));
                let size = size
                    .filter(|&size| size > 0)
                    .ok_or_else(|| missing(self.library, Meaning::Batch, &[]))?;
                starter.put("run.batch-size", whole(size), "")?;
            }
        }
        if let Draw::Shuffled { drop_last } = self.draw {
            let (word, remark) = match drop_last {
                true => ("drop", "drop_last=True"),
                false => ("short", "drop_last=False: the last batch of a pass may be smaller"),
            };
            starter.put("run.incomplete-batch", Value::from(word), remark)?;
        }
        let remark = self.epochs.map_or(String::new(), |epochs| format!("{} epochs", plain(epochs)));
        starter.put("run.steps", whole(self.steps), remark)?;
        starter.put("run.release", Value::from("all"), RELEASE)?;
        let word = match self.neighbours {
            Neighbours::AddOrRemoveOne => "add-or-remove-one",
            Neighbours::ReplaceOne => "replace-one",
            Neighbours::ZeroOut => "zero-out",
        };
        let remark = match self.neighbours {
            Neighbours::AddOrRemoveOne => {
                format!("what {}'s accountant assumes; replace-one is stricter", self.library.name())
            }
            _ => "one record is replaced by any other".to_owned(),
        };
        starter.put("run.neighbours", Value::from(word), remark)
    }

    fn describe_update(&self, parameters: &Parameters, starter: &mut Starter) -> Result<(), DocumentError> {
        let (noise, remark) = match self.groups {
            true => (
                self.noise / 2.0,
                "half of it: one record moves the average of a microbatch by twice the norm",
            ),
            false => (self.noise, "the same number: noise over the norm"),
        };
        starter.put("update.noise-multiplier", Value::Float(noise), remark)?;
        if let Some(norm) = parameters.get(Meaning::Norm) {
            let (value, remark) = match parameters.flag(Meaning::UnitNorm)? {
                Some(true) => (1.0, format!("{}: rescaled to norm 1, and so is the smoothness", norm.name)),
                _ => (norm.norm()?, norm.name.to_owned()),
            };
            starter.put("update.clip-norm", Value::Float(value), remark)?;
        }
        let rate = parameters.number(Meaning::LearningRate)?;
        let decay = parameters.get(Meaning::WeightDecay).map(|decay| decay.non_negative()).transpose()?;
        let momentum =
            parameters.get(Meaning::Momentum).map(|momentum| momentum.non_negative()).transpose()?;
        let summed = match parameters.word(Meaning::Reduction)?.as_deref() {
            None | Some("mean") => false,
            Some("sum") => true,
            Some(_) => {
                let given = parameters.get(Meaning::Reduction);
                return Err(given.map_or_else(
                    || DocumentError::new("loss_reduction"),
                    |given| given.refuse("mean or sum"),
                ));
            }
        };
        if momentum.is_some_and(|momentum| momentum > 0.0) {
            starter.begin_with(
                "With momentum, the optimiser remembers earlier gradients, and what it remembers is a state that is not \
                 forgotten. So the learning rate is left out, and every iterate counts as published.",
            );
            return Ok(());
        }
        let Some(rate) = rate.filter(|_| !self.groups) else {
            return Ok(());
        };
        let (scale, remark) = self.divisor(summed);
        starter.put("update.learning-rate", Value::Float(rate * scale), remark)?;
        if let Some(decay) = decay.filter(|decay| *decay > 0.0) {
            let remark = format!("lr × weight_decay = {} × {}", plain(rate), plain(decay));
            starter.put("update.weight-decay", Value::Float(rate * decay), remark)?;
        }
        Ok(())
    }

    /// The learning rate of the run file over the library's, which may divide by another number than the run file.
    fn divisor(&self, summed: bool) -> (f64, String) {
        let ours = match (self.draw, self.batch, self.records) {
            (Draw::Shuffled { .. } | Draw::WithoutReplacement, Some(batch), _) => batch as f64,
            (_, _, Some(records)) => records as f64 * self.rate,
            (_, Some(batch), None) => batch as f64,
            (_, None, None) => 1.0 / self.rate,
        };
        let theirs = match self.library {
            // expected_batch_size = int(len(dataset) / len(data_loader)).
            Library::Opacus => {
                self.records.map_or(ours, |records| (records as f64 * self.rate + 1e-9).floor().max(1.0))
            }
            _ => ours,
        };
        match summed {
            true => (ours, format!("lr times the batch size, {}: loss_reduction is \"sum\"", plain(ours))),
            false if ours == theirs => (1.0, "the same number".to_owned()),
            false => (
                ours / theirs,
                format!(
                    "lr × {} / {}: Opacus divides by the expected batch size, rounded down",
                    nearest(ours, 8),
                    plain(theirs)
                ),
            ),
        }
    }

    /// What the library's accountant counts.
    fn theirs(&self, delta: f64) -> Theirs {
        let doubled = self.groups || self.draw == Draw::WithoutReplacement;
        Theirs {
            library: self.library,
            rate: self.rate,
            noise: if doubled { self.noise / 2.0 } else { self.noise },
            steps: self.steps,
            delta,
            neighbours: match self.draw {
                Draw::Poisson if !self.groups => self.neighbours,
                _ => Neighbours::AddOrRemoveOne,
            },
            assumes: match (self.groups, self.draw, self.neighbours) {
                (true, ..) => "Poisson batches in which one record more counts twice",
                (_, Draw::WithoutReplacement, _) => {
                    "batches of a fixed size, and neighbours in which a record is replaced"
                }
                (_, Draw::Poisson, Neighbours::ReplaceOne) => {
                    "Poisson batches, and neighbours in which a record is replaced"
                }
                (_, Draw::Poisson, Neighbours::ZeroOut) => {
                    "Poisson batches, and neighbours in which a record is emptied"
                }
                _ => "Poisson batches, and neighbours in which a record is added or removed",
            },
            accountant: None,
        }
    }
}

const RELEASE: &str = "\"last\" if nobody ever sees another iterate: no checkpoint, no average";

/// The accountant that was named.
fn accountant(parameters: &Parameters) -> Result<Option<String>, DocumentError> {
    let Some(given) = parameters.get(Meaning::Accountant) else {
        return Ok(None);
    };
    let word = given.word()?;
    match ["prv", "pld", "rdp", "gdp"].contains(&word.as_str()) {
        true => Ok(Some(word)),
        false => Err(given.refuse("prv, pld, rdp or gdp")),
    }
}

fn draw(parameters: &Parameters, drop_last: bool) -> Result<Draw, DocumentError> {
    if let Some(method) = parameters.get(Meaning::Sampling) {
        return match method.word()?.as_str() {
            "poisson" => Ok(Draw::Poisson),
            "fixed_batch_size" => Ok(Draw::WithoutReplacement),
            _ => Err(method.refuse("POISSON or FIXED_BATCH_SIZE")),
        };
    }
    Ok(match parameters.flag(Meaning::Poisson)? {
        Some(false) => Draw::Shuffled { drop_last },
        _ => Draw::Poisson,
    })
}

fn relation(parameters: &Parameters) -> Result<Option<Neighbours>, DocumentError> {
    let Some(given) = parameters.get(Meaning::Neighbours) else {
        return Ok(None);
    };
    match given.word()?.as_str() {
        "add_or_remove_one" => Ok(Some(Neighbours::AddOrRemoveOne)),
        "replace_one" => Ok(Some(Neighbours::ReplaceOne)),
        "replace_special" => Ok(Some(Neighbours::ZeroOut)),
        _ => Err(given.refuse("ADD_OR_REMOVE_ONE, REPLACE_ONE or REPLACE_SPECIAL")),
    }
}

fn missing_noise(parameters: &Parameters) -> DocumentError {
    let error = DocumentError::new("noise_multiplier is missing");
    match (parameters.get(Meaning::Epsilon), parameters.library) {
        (Some(_), Library::Opacus) => error.help(
            "the library found it from the target: print(optimizer.noise_multiplier) after make_private_with_epsilon",
        ),
        (Some(target), _) => {
            error.help(format!("the library found it from {}: give what it found, noise_multiplier=1.1", target.name))
        }
        (None, _) => error.help("--param noise_multiplier=1.1"),
    }
}

/// What to say about a parameter without which nothing is known; `names` are those that would do.
fn missing(library: Library, wanted: Meaning, names: &[&str]) -> DocumentError {
    let all: Vec<&str> = match names {
        [] => library.names().filter(|name| library.meaning(name) == Some(wanted)).collect(),
        names => names.to_vec(),
    };
    DocumentError::new(format!("{} is missing", all.join(" or "))).help(format!(
        "--param {}=…, as you gave it to {}",
        all.first().unwrap_or(&""),
        library.name()
    ))
}
