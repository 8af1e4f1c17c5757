//! What must hold for a guarantee.

use super::{Batch, Fact, Forgotten, IncompleteBatch, NoiseKind, Release, Turn};
use crate::Positive;
use crate::mechanism::Neighbours;
use std::fmt;

/// An assumption of a guarantee, with its numbers; it is displayed as a sentence.
///
/// It is not `#[non_exhaustive]`: code that carries out a run has to say for each assumption whether it is enforced,
/// and must not overlook a new one.
///
/// ```
/// use dobrushin::Positive;
/// use dobrushin::run::Assumption;
/// let clipped = Assumption::ClippedTo(Positive::new(1.5)?);
/// assert_eq!(clipped.to_string(), "each record's gradient is clipped to norm 1.5");
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Assumption {
    /// The definition of neighbouring data sets.
    NeighboursDiffer(Neighbours),
    /// Poisson sampling.
    DrawnIndependently {
        /// How many records are drawn, or the probability of drawing each.
        batch: Batch,
        /// The number of records to draw from.
        records: u64,
    },
    /// Random allocation to the batches of a pass.
    Allocated {
        /// The number of batches of a pass.
        batches: u64,
        /// The number of passes, the last of which may end early.
        passes: u64,
    },
    /// Sampling without replacement.
    DrawnTogether {
        /// How many records are drawn.
        batch: Batch,
        /// The number of records to draw from.
        records: u64,
    },
    /// There is no sampling.
    EveryRecordEveryStep,
    /// Records take turns, each once.
    OneBatch(Ending),
    /// Records take turns, pass after pass.
    OneBatchOfEachPass {
        /// The largest number of times a record is used.
        times: u64,
        /// Whether each pass has a random order of its own.
        shuffled: bool,
        /// Whether the length of the run is given in passes rather than steps.
        whole_passes: bool,
        /// How a pass ends.
        ending: Ending,
    },
    /// Gradients are clipped.
    ClippedTo(Positive),
    /// Gradients never exceed this norm.
    GradientNorm(Positive),
    /// Gradients never exceed the unit of the noise multiplier.
    GradientNormOfTheMultiplier,
    /// The divisor is fixed.
    DividedBy(f64),
    /// The divisor is the number of records that were drawn.
    DividedByTheNumberDrawn,
    /// The divisor is the number of records in the batch, which may be incomplete.
    DividedByTheBatch,
    /// One of two neighbouring data sets has this many records.
    ExactlyRecords(u64),
    /// Neither of two neighbouring data sets has more records.
    AtMostRecords(u64),
    /// The noise of every step.
    Noise(NoiseKind),
    /// The guarantee is for one record only.
    OnlyForRecord(u64),
    /// The last steps, this many, use public data.
    PublicSteps(u64),
    /// What is compared: this run, and one in which the slots of this many deleted records were always empty.
    AsIfNeverUsed(u64),
    /// Records are deleted after the other steps, and clean steps follow, request by request.
    Deleted {
        /// The possible numbers of steps before the first request; none if it may be any number.
        after: Option<Vec<u64>>,
        /// The requests.
        requests: Vec<Forgotten>,
    },
    /// Clean steps continue the iterate itself.
    ContinuesTheIterate,
    /// Who is deleted does not depend on what was released.
    RequestsWithoutReleases,
    /// Earlier releases are not covered.
    EarlierReleasesStay,
    /// A noisy sum over the same records is taken before training, with this noise multiplier.
    Centred(Positive),
    /// The released model is evaluated on the same records, with this noise multiplier.
    Evaluated(Positive),
    /// This many such runs are released.
    Tasks(u64),
    /// This many runs, which may differ, are released.
    DifferentTasks(u64),
    /// The guarantee of several tasks is for one record only.
    OnlyForRecordOfAll(u64),
    /// Where a pass begins among the records, and its direction.
    PassBegins(Turn),
    /// What must hold for one of several tasks, counted from 1.
    OfTask(usize, Box<Assumption>),
    /// Everything may be published; this is what is published.
    MayPublish(Release),
    /// Nothing else is published.
    PublishesOnly(Release),
    /// An iterate depends only on the previous one.
    NoMemory,
    /// Iterates are projected to a set of this diameter.
    ProjectedTo(Positive),
    /// Iterates are multiplied by 1 minus this.
    WeightDecay(f64),
    /// The gradient of every record's loss has this Lipschitz constant.
    Smooth(Positive, Curvature),
    /// Poisson batches are of ordinary size.
    OrdinaryBatches {
        /// The fewest other records in a batch.
        least: u64,
        /// The most other records in a batch.
        most: u64,
        /// The probability that some batch has fewer or more, which δ includes.
        exception: f64,
        /// The number of the last steps of which this is said, if not of all.
        last: Option<u64>,
    },
    /// The number of steps that use private data is one of these.
    ExactlySteps(Vec<u64>),
    /// If there are more noise levels than this, different ones are counted as the smallest of their group.
    SmallestNoiseOfMoreThan(usize),
    /// The parameters do not depend on the data.
    ParametersWithoutData,
    /// The iteration starts at 0.
    StartsAtZero,
    /// The iteration starts at 0, unless the domain is bounded.
    StartsAtZeroUnlessBounded,
    /// The mechanisms of a list are independent.
    IndependentMechanisms,
    /// The list of mechanisms does not depend on the data.
    FixedMechanisms,
    /// Every output of a list of mechanisms may be published.
    MayPublishOutputs,
    /// The noise of mechanisms is not rounded.
    ContinuousMechanisms,
    /// The chain is as given.
    StepsAsGiven,
    /// The displacements of the chain are as given.
    DisplacementsAsGiven,
    /// The noise of a chain is independent.
    IndependentSteps,
    /// The noise of a chain is Laplace noise.
    OneDimension,
    /// Nothing but the release of the chain is published.
    PublishesOnlyTheRelease,
    /// The two runs of a chain start apart, by no more than is given.
    StartsApart {
        /// The largest distance, if it is given.
        distance: Option<f64>,
        /// Whether bounds on E_γ of the laws of the starts are given.
        divergence: bool,
    },
}

/// What happens to the last batch of a pass.
///
/// ```
/// use dobrushin::Run;
/// use dobrushin::run::{Assumption, Ending};
///
/// // One record in each step: no batch is ever incomplete.
/// let run = Run::pnsgd(100).learning_rate(0.1).clip_norm(1.0).noise_multiplier(1.0).build()?;
/// assert!(run.composition()?.assumptions.contains(&Assumption::OneBatch(Ending::Complete)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It is complete.
    Complete,
    /// It is not complete, and is handled like this.
    Incomplete(IncompleteBatch),
    /// It is not complete, and may be handled in any way.
    Unknown,
}

/// The curvature of a record's loss, besides smoothness.
///
/// ```
/// use dobrushin::Positive;
/// use dobrushin::run::{Assumption, Curvature};
///
/// let smooth = Assumption::Smooth(Positive::new(0.25)?, Curvature::Convex);
/// let words = "every record's loss is convex and has a gradient with Lipschitz constant 0.25, whatever the record";
/// assert_eq!(smooth.to_string(), words);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Curvature {
    /// Nothing is assumed about it.
    Any,
    /// It is convex.
    Convex,
    /// It is strongly convex, with this constant.
    StronglyConvex(f64),
    /// It is convex and generalised linear.
    GeneralisedLinear,
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NeighboursDiffer(neighbours) => {
                write!(f, "neighbouring data sets differ in one record, {}", difference(*neighbours))
            }
            Self::DrawnIndependently { batch, records } => write!(
                f,
                "every step draws each record independently with probability {}, anew and in secret (Poisson sampling)",
                Share(*batch, *records)
            ),
            Self::Allocated { batches, passes } => {
                let passes = if *passes == 1 { "the pass".to_owned() } else { format!("each of {passes} passes") };
                write!(
                    f,
                    "in {passes} every record goes to one of {batches} batches, drawn uniformly and independently of all \
                     others, anew and in secret; the number of batches does not depend on the records"
                )
            }
            Self::DrawnTogether { batch, records } => write!(
                f,
                "every step draws a uniformly random batch, a share of {} of the records, anew and in secret",
                Share(*batch, *records)
            ),
            Self::EveryRecordEveryStep => f.write_str("every step uses all records"),
            Self::OneBatch(ending) => write!(
                f,
                "each record is in one batch at most; the order may be known{}",
                match ending {
                    Ending::Unknown =>
                        "; an incomplete last batch may be left out, used as it is, or made complete by empty records",
                    ending => ending.words(),
                }
            ),
            Self::OneBatchOfEachPass { times, shuffled, whole_passes, ending } => {
                let credit = if *shuffled { "; each pass has its own random order" } else { "" };
                match ending {
                    // Certificates are compared word for word: where no batch is incomplete, the wording stays
                    // unchanged.
                    Ending::Complete => {
                        let whatever =
                            if *whole_passes { "" } else { " whatever becomes of an incomplete last batch," };
                        write!(
                            f,
                            "each record is in one batch of each pass,{whatever} at most {times} in all{credit}"
                        )
                    }
                    ending => write!(
                        f,
                        "each record is in one batch of each pass at most, {times} times at most in all{credit}{}{}",
                        ending.words(),
                        if *shuffled { ending.twice() } else { String::new() }
                    ),
                }
            }
            Self::ClippedTo(norm) => write!(f, "each record's gradient is clipped to norm {}", norm.get()),
            Self::GradientNorm(norm) => write!(
                f,
                "each record's gradient has norm at most {}, for every iterate and record",
                norm.get()
            ),
            Self::GradientNormOfTheMultiplier => {
                f.write_str("each record's gradient has at most the norm that the noise multiplier refers to")
            }
            Self::DividedBy(number) => {
                write!(f, "the sum of the gradients is divided by {number} whatever number was drawn")
            }
            Self::DividedByTheNumberDrawn => f.write_str(
                "the sum of the gradients is divided by the number drawn, which may be 1; the noise does not depend on \
                 that number, and is added also when nothing was drawn",
            ),
            Self::DividedByTheBatch => f.write_str(
                "the average is over the records of the batch; the noise does not depend on their number",
            ),
            Self::ExactlyRecords(records) => {
                write!(f, "one of the two data sets has exactly {records} records, which is public")
            }
            Self::AtMostRecords(records) => write!(
                f,
                "neither data set has more than {records} records, a bound that is public and does not depend on the data"
            ),
            Self::Noise(kind) => {
                let kind = match kind {
                    NoiseKind::Gaussian => "Gaussian, the same in every direction",
                    NoiseKind::Laplace => "Laplace, and the iterate has one dimension",
                };
                write!(
                    f,
                    "the noise of every step is {kind}, independent, secret, and continuous (not rounded)"
                )
            }
            Self::OnlyForRecord(index) => {
                write!(f, "the bound is for record {index} in that order, not for the others")
            }
            Self::PublicSteps(steps) => write!(
                f,
                "after them, {steps} further steps with the same update and noise use public data only"
            ),
            Self::AsIfNeverUsed(records) => {
                let slots = match records {
                    1 => "slot of the deleted record was".to_owned(),
                    records => format!("slots of the {records} deleted records were"),
                };
                write!(
                    f,
                    "compared are this run and the same one, as long, in which the {slots} always empty: an empty slot is drawn \
                     like any other and contributes the gradient 0"
                )
            }
            Self::Deleted { after, requests } => {
                let records: u64 = requests.iter().map(|request| request.records).fold(0, u64::saturating_add);
                let steps: u64 = requests.iter().map(|request| request.steps).fold(0, u64::saturating_add);
                let records = Counted(records, "record is", "records are");
                let steps = Counted(steps, "further step follows", "further steps follow");
                match after {
                    Some(after) => write!(f, "after exactly {} steps, {records} deleted", either(after))?,
                    None => write!(f, "after any number of steps, {records} deleted")?,
                }
                match requests.len() {
                    1 => write!(f, ", and exactly {steps}")?,
                    number => write!(
                        f,
                        " by {number} requests, and exactly {steps} in all, after each request as many as the run says"
                    )?,
                }
                f.write_str(", with the same update, noise, sampling and divisor, on the remaining records only")
            }
            Self::ContinuesTheIterate => f.write_str(
                "the further steps continue the secret iterate itself, not a copy that was rounded or released",
            ),
            Self::RequestsWithoutReleases => f.write_str(
                "which records are deleted, and when, does not depend on any model that was released",
            ),
            Self::EarlierReleasesStay => f.write_str(
                "what was released before a request stays released: the bound is about the last iterate only",
            ),
            Self::Centred(multiplier) => write!(
                f,
                "before the first step, a mean is taken of the same records: a sum to which no record adds more than 1/{} of \
                 its Gaussian noise; steps may use it, and one record's gradient keeps its bound whatever it is",
                multiplier.get()
            ),
            Self::Evaluated(multiplier) => write!(
                f,
                "what is released is then evaluated on the same records: a sum to which no record adds more than 1/{} of \
                 its Gaussian noise, and nothing else of it is published",
                multiplier.get()
            ),
            Self::Tasks(tasks) => write!(
                f,
                "{tasks} such runs on the same records are released, each with its own noise and order"
            ),
            Self::DifferentTasks(runs) => write!(
                f,
                "{runs} runs on the same records are released, each with its own noise and secrets; what a later one does may \
                 depend on what was released, but on nothing else that an earlier one computed"
            ),
            Self::OnlyForRecordOfAll(index) => {
                write!(f, "the bound is for record {index} of the records, not for the others")
            }
            Self::PassBegins(Turn { first, reversed }) => write!(
                f,
                "a pass begins with record {first} and goes on {}",
                if *reversed { "backward" } else { "forward" }
            ),
            Self::OfTask(number, assumption) => write!(f, "task {number}: {assumption}"),
            Self::MayPublish(release) => f.write_str(match release {
                Release::All => "every iterate may be published",
                Release::Last => {
                    "every iterate may be published, though only the last one is (that it hides the others is not \
                     credited)"
                }
                Release::RandomStop | Release::RandomSkip => {
                    "every iterate and its time may be published, though only one is (that it hides the others is not \
                     credited)"
                }
            }),
            Self::PublishesOnly(release) => {
                let published = match release {
                    Release::All => "every iterate",
                    Release::Last => "only the last iterate",
                    Release::RandomStop => "only the iterate of one step, each equally likely,",
                    Release::RandomSkip => {
                        "only the last iterate of a run that skips its first steps, up to half of them, each number \
                         equally likely,"
                    }
                };
                write!(
                    f,
                    "{published} is published: all other iterates, and everything computed from them, stay secret"
                )
            }
            Self::NoMemory => f.write_str(
                "each iterate is computed from the one before, a batch and fresh noise only: no momentum, no Adam, no \
                 average",
            ),
            Self::ProjectedTo(diameter) => write!(
                f,
                "after every step the iterate is projected to a fixed closed convex set of diameter {}",
                diameter.get()
            ),
            Self::WeightDecay(decay) => {
                write!(f, "every step multiplies the iterate by 1 − {decay}, whatever the gradients are")
            }
            Self::Smooth(smoothness, curvature) => {
                let smoothness = smoothness.get();
                f.write_str("every record's loss ")?;
                match curvature {
                    Curvature::Any => f.write_str("has")?,
                    Curvature::Convex => f.write_str("is convex and has")?,
                    Curvature::StronglyConvex(rho) => write!(f, "is {rho}-strongly convex and has")?,
                    Curvature::GeneralisedLinear => {
                        f.write_str("is convex and generalised linear, and has")?
                    }
                }
                write!(f, " a gradient with Lipschitz constant {smoothness}, whatever the record")
            }
            Self::OrdinaryBatches { least, most, exception, last } => {
                match last {
                    Some(last) => write!(f, "each of the last {last} batches")?,
                    None => f.write_str("every batch")?,
                }
                write!(
                    f,
                    " has between {least} and {most} other records: Poisson sampling sees to it, except with probability \
                     {exception:.3e} in all, which δ includes"
                )
            }
            Self::ExactlySteps(possible) => {
                write!(f, "exactly {} steps were made on private data", either(possible))
            }
            Self::SmallestNoiseOfMoreThan(kinds) => write!(
                f,
                "steps with similar noise are counted with the smallest noise among them (more than {kinds} different)"
            ),
            Self::ParametersWithoutData => f.write_str("no parameter was chosen by looking at the data"),
            Self::StartsAtZero => f.write_str("the iteration starts at 0"),
            Self::StartsAtZeroUnlessBounded => {
                f.write_str("unless the domain is bounded, the iteration starts at 0")
            }
            Self::IndependentMechanisms => f
                .write_str("every mechanism draws its noise and its sample anew, independently and in secret"),
            Self::FixedMechanisms => f.write_str(
                "which mechanism comes next may depend on what was published, but the list and its parameters may not",
            ),
            Self::MayPublishOutputs => f.write_str("every output may be published"),
            Self::ContinuousMechanisms => f.write_str("noise that is called continuous is not rounded"),
            Self::StepsAsGiven => f.write_str(
                "the steps are as the file says for every data set and both neighbours: noise, modulus, displacement",
            ),
            Self::DisplacementsAsGiven => f.write_str(
                "the displacement of a step bounds how far its update moves when the record is replaced, and when it is \
                 left out",
            ),
            Self::IndependentSteps => f.write_str(
                "the noise of every step is independent, secret, and continuous (not rounded); so is participation at \
                 random",
            ),
            Self::OneDimension => f.write_str("the iterate has one dimension"),
            Self::StartsApart { distance, divergence } => {
                f.write_str("the two runs may start at different points of the domain, which stay secret")?;
                if let Some(distance) = distance {
                    write!(f, ", never more than {distance} apart")?;
                }
                if *divergence {
                    f.write_str(", drawn from laws as near to each other as run.start-divergence says, in both orders")?;
                }
                Ok(())
            }
            Self::PublishesOnlyTheRelease => {
                write!(f, "only what {} says is published; all other iterates stay secret", Fact::Release)
            }
        }
    }
}

fn difference(neighbours: Neighbours) -> &'static str {
    match neighbours {
        Neighbours::ReplaceOne => "which is replaced by any other (replace-one)",
        Neighbours::AddOrRemoveOne => "which is there or not (add-or-remove-one)",
        Neighbours::ZeroOut => "whose gradient becomes zero while its place is kept (zero-out)",
    }
}

/// One of several numbers.
fn either(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(" or ")
}

/// A number of things.
struct Counted(u64, &'static str, &'static str);

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0, if self.0 == 1 { self.1 } else { self.2 })
    }
}

/// The fraction of the records that a batch contains.
struct Share(Batch, u64);

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Batch::Size(size) => write!(f, "{size}/{}", self.1),
            Batch::Probability(probability) => write!(f, "{}", probability.get()),
        }
    }
}

impl Ending {
    /// How the last batch is handled, where another pass may follow.
    fn words(self) -> &'static str {
        match self {
            Self::Complete => "",
            Self::Incomplete(IncompleteBatch::Drop) => {
                "; records that fill no batch are left out of that pass"
            }
            Self::Incomplete(IncompleteBatch::Short) => {
                "; the last batch of a pass is smaller than the others"
            }
            Self::Incomplete(IncompleteBatch::Pad) => {
                "; empty records make the last batch of a pass complete"
            }
            Self::Incomplete(IncompleteBatch::Fill) => {
                "; records of the next pass make the last batch of a pass complete"
            }
            Self::Unknown => {
                "; an incomplete last batch may be left out, used as it is, or made complete by empty records or by \
                 records of the next pass"
            }
        }
    }

    /// Whether the last batch may contain a record twice, if the next pass has an order of its own.
    fn twice(self) -> String {
        match self {
            Self::Incomplete(IncompleteBatch::Fill) => ", which may hold a record twice".to_owned(),
            Self::Unknown => format!(", so that it holds a record twice ({})", Fact::IncompleteBatch),
            Self::Complete | Self::Incomplete(_) => String::new(),
        }
    }
}
