//! Local privacy: mechanisms, private reports, and what they tell.

use crate::answers::{ROWS, Read};
use crate::arrays::{Cost, Numbers, map};
use crate::convert::{checked, number};
use crate::errors::{Raised, invalid};
use crate::ledger::place_of;
use crate::people::Names;
use crate::work::{in_parallel, quickly, still_wanted, work};
use dobrushin::{Delta, Epsilon, Positive, Probability};
use dobrushin_cli::Problem;
use dobrushin_cli::ledger::{Charged, Exhausted, open, refuse_secret_numbers};
use dobrushin_document::local::{
    Answers, Batch, BoundsWishes, Categories, EstimateMethod, EstimateWishes, Id, Keys, Mechanism, Part,
    PlanWishes, ProfileWishes, Specification, Tally, bounds, estimate, plans, profile,
};
use dobrushin_document::report::{EstimateReport, PromiseReport};
use dobrushin_document::text::Style;
use dobrushin_document::{DocumentError, json, text};
use dobrushin_ledger::{Place, Spend};
use dobrushin_local::mean::Bounds;
use dobrushin_local::risk::Ball;
use dobrushin_local::{LocalPrivacy, LocalProfile};
use dobrushin_train::{Generators, RowSecret, Seed};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;
use std::num::NonZeroU32;
use std::sync::{Arc, OnceLock};

type Answer = (String, String);

/// What people may answer, as it was given.
#[derive(FromPyObject)]
pub struct Declared {
    #[pyo3(item)]
    categories: Option<u32>,
    #[pyo3(item)]
    values: Option<Vec<String>>,
    #[pyo3(item)]
    bounds: Option<(f64, f64)>,
    #[pyo3(item)]
    bins: Option<u32>,
    #[pyo3(item)]
    radius: Option<f64>,
    #[pyo3(item)]
    dimension: Option<u32>,
}

impl Declared {
    fn answers(self) -> Result<Answers, DocumentError> {
        let between = |(lower, upper)| {
            Bounds::new(lower, upper)
                .map_err(|error| DocumentError::new(error.to_string()).help("bounds=(0.0, 1.0)"))
        };
        Ok(match self {
            Self { categories: Some(count), .. } => Answers::Category(Categories::numbered(count)?),
            Self { values: Some(names), .. } => Answers::Category(Categories::named(names, "categories")?),
            Self { bounds: Some(ends), bins: Some(count), .. } => {
                Answers::Category(Categories::binned(between(ends)?, count)?)
            }
            Self { bounds: Some(ends), .. } => Answers::Number(between(ends)?),
            Self { radius: Some(radius), dimension, .. } => {
                let dimension = dimension.and_then(NonZeroU32::new).ok_or_else(|| {
                    DocumentError::new("dimension must be a whole number, 1 or more").help("dimension=10")
                })?;
                Answers::Vector(Ball { radius: Positive::named("radius", radius)?, dimension })
            }
            _ => return Err(DocumentError::new("what people answer is not declared").help("categories=10")),
        })
    }
}

fn promise(epsilon: &Bound<'_, PyAny>, delta: &Bound<'_, PyAny>) -> PyResult<LocalPrivacy> {
    let missing = |name: &str| invalid(epsilon.py(), &format!("{name} is missing"), &format!("{name}=1.0"));
    Ok(LocalPrivacy {
        epsilon: checked("epsilon", Some(epsilon), Epsilon::new)?.ok_or_else(|| missing("epsilon"))?,
        delta: checked("delta", Some(delta), Delta::new)?.ok_or_else(|| missing("delta"))?,
    })
}

/// A mechanism that keeps a promise about every single answer.
#[pyclass(frozen, module = "dobrushin._core")]
pub struct LocalMechanism {
    made: Arc<(Specification, Mechanism)>,
    /// How private it is, once that is asked for.
    profile: OnceLock<LocalProfile>,
    /// Whether it keeps its promise, once it has to.
    promise: OnceLock<PromiseReport>,
}

impl LocalMechanism {
    fn profile(&self, py: Python<'_>) -> PyResult<&LocalProfile> {
        if self.profile.get().is_none() {
            let made = self.made.clone();
            let found = work(py, move |_| Ok::<_, Problem>(made.1.privacy()))?;
            _ = self.profile.set(found);
        }
        self.profile.get().ok_or_else(|| invalid(py, "the mechanism has no profile", "choose another"))
    }

    /// Refuses a mechanism that does not keep its promise.
    fn keeps_its_promise(&self, py: Python<'_>) -> PyResult<()> {
        let promise = self.promise.get_or_init(|| self.made.0.promise(&self.made.1));
        let broken = || Problem::answer_is_no(text::promise_sentence(promise));
        if promise.holds { Ok(()) } else { Err::<(), _>(broken()).raised(py) }
    }

    /// Reports that are given as numbers or words, if they can be reports of this mechanism.
    fn batch(&self, given: &Bound<'_, PyAny>) -> PyResult<Batch> {
        let py = given.py();
        let refused = |place: usize| {
            let message =
                format!("report {place} (counted from 0) is not a report of {}", self.made.0.id.name());
            invalid(py, &message, "give the reports as privatize made them")
        };
        let empty = Batch::empty(&self.made.1);
        if let (Batch::Numbers(_), Mechanism::Mean(mechanism)) = (&empty, &self.made.1) {
            let reports = Numbers::list("reports", given)?;
            return match reports.iter().position(|&report| !mechanism.is_report(report)) {
                Some(place) => Err(refused(place)),
                None => Ok(Batch::Numbers(reports)),
            };
        }
        let width = empty.width();
        let words: PyReadonlyArrayDyn<'_, u64> = given.extract().map_err(|_| {
            let message = format!("reports must be an array of {width} words of 64 bits for each report");
            invalid(py, &message, "give the reports as privatize made them")
        })?;
        if words.ndim() != 2 || words.shape()[1] != width {
            let message =
                format!("reports have the shape {:?}, but {width} words each are needed", words.shape());
            return Err(invalid(py, &message, "give the reports as privatize made them"));
        }
        let words: Vec<u64> = words.as_array().iter().copied().collect();
        let is_report = |report: &[u64]| match &self.made.1 {
            Mechanism::Frequency(oracle, _) => oracle.is_report(report),
            Mechanism::Vector(mechanism) => {
                report.first_chunk().is_some_and(|&report| mechanism.is_report(report))
            }
            Mechanism::Mean(_) => false,
        };
        match words.chunks_exact(width).position(|report| !is_report(report)) {
            Some(place) => Err(refused(place)),
            None => Ok(Batch::Words(words, width)),
        }
    }
}

#[pymethods]
impl LocalMechanism {
    #[new]
    #[pyo3(signature = (name, epsilon, delta, declared, truth=None, channel=None))]
    fn new(
        py: Python<'_>,
        name: &str,
        epsilon: &Bound<'_, PyAny>,
        delta: &Bound<'_, PyAny>,
        declared: Declared,
        truth: Option<&Bound<'_, PyAny>>,
        channel: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let id = Id::named(name).ok_or_else(|| {
            let names: Vec<String> = Id::all().map(Id::name).collect();
            invalid(py, &format!("there is no mechanism {name:?}"), &format!("one of: {}", names.join(", ")))
        })?;
        let LocalPrivacy { epsilon, delta } = promise(epsilon, delta)?;
        let specification = Specification {
            id,
            epsilon,
            delta,
            answers: declared.answers().raised(py)?,
            truth: checked("truth", truth, Probability::new)?,
            channel: channel.map(|matrix| Numbers::rows("the matrix", matrix)).transpose()?,
        };
        let made = work(py, move |_| {
            let mechanism = specification.build()?;
            Ok::<_, DocumentError>(Arc::new((specification, mechanism)))
        })?;
        Ok(Self { made, profile: OnceLock::new(), promise: OnceLock::new() })
    }

    /// The smallest δ at which a report is (ε, δ)-private.
    #[pyo3(signature = (epsilon, *, bounds=false))]
    fn delta<'py>(&self, epsilon: &Bound<'py, PyAny>, bounds: bool) -> PyResult<Bound<'py, PyAny>> {
        let profile = self.profile(epsilon.py())?;
        map(epsilon.py(), [("epsilon", epsilon)], bounds, Cost::Threads, |[epsilon]| {
            Ok(profile.delta(Epsilon::new(epsilon)?))
        })
    }

    /// The smallest ε at which a report is (ε, δ)-private.
    #[pyo3(signature = (delta, *, bounds=false))]
    fn epsilon<'py>(&self, delta: &Bound<'py, PyAny>, bounds: bool) -> PyResult<Bound<'py, PyAny>> {
        let profile = self.profile(delta.py())?;
        map(delta.py(), [("delta", delta)], bounds, Cost::Threads, |[delta]| {
            Ok(profile.epsilon(Delta::new(delta)?))
        })
    }

    /// The profile, and what many such reports give away, as `dobrushin local profile` says it.
    #[pyo3(signature = (*, questions=None, shuffled=None, delta))]
    fn report(
        &self,
        py: Python<'_>,
        questions: Option<u32>,
        shuffled: Option<u32>,
        delta: &Bound<'_, PyAny>,
    ) -> PyResult<Answer> {
        let count = |name: &str, given: Option<u32>| match given.map(NonZeroU32::new) {
            None => Ok(None),
            Some(Some(count)) => Ok(Some(count)),
            Some(None) => Err(invalid(py, &format!("{name} is 0"), "give a whole number, 1 or more")),
        };
        let own = self.made.0.epsilon.get();
        let mut levels = vec![0.0, 0.5, 1.0, 2.0, 5.0, own];
        levels.sort_by(f64::total_cmp);
        levels.dedup();
        let levels: Result<Vec<Epsilon>, _> = levels.into_iter().map(Epsilon::new).collect();
        let together = checked("delta", Some(delta), Delta::new)?;
        let wishes = ProfileWishes {
            levels: levels.raised(py)?,
            questions: count("questions", questions)?,
            shuffled: count("shuffled", shuffled)?,
            together_delta: together.ok_or_else(|| invalid(py, "delta is missing", "delta=1e-6"))?,
        };
        let made = self.made.clone();
        work(py, move |_| {
            let report = profile(&made.0, &made.1, &wishes)?;
            let style = Style::default();
            Ok::<_, DocumentError>((
                json::of(&report).to_string(),
                text::local_profile(&report, style).render(style),
            ))
        })
    }

    /// A private report for each answer: an array, how many answers could not be used, and how many were moved to their
    /// bounds. Unless bad answers are skipped, the first one is an error, which says where it is and not what it is. With a
    /// ledger, the people whose answers they are pay for them.
    #[pyo3(signature = (answers, *, skip_bad, seed=None, ledger=None, people=None))]
    fn privatize<'py>(
        &self,
        py: Python<'py>,
        answers: &Bound<'py, PyAny>,
        skip_bad: bool,
        seed: Option<u64>,
        ledger: Option<&str>,
        people: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyAny>, u64, u64)> {
        self.keeps_its_promise(py)?;
        let people = people.map(|given| Names::of(given, "people")).transpose()?;
        let charge = ledger.zip(people).map(|(ledger, people)| (place_of(ledger), people));
        let read = Read::of(&self.made.1, answers)?;
        let skipped = read.values.bad();
        if let (Some(place), false) = (skipped.first, skip_bad) {
            let message = format!("answer {place} (counted from 0) cannot be used");
            return Err(invalid(py, &message, &format!("{SKIP_BAD}, and says how many there were")));
        }
        let generators = Generators::new(seed.map_or(Seed::OperatingSystem, Seed::Known)).raised(py)?;
        let (made, clipped) = (self.made.clone(), read.clipped);
        let batch = work(py, move |progress| {
            let charged = charge.map(|(place, people)| charged(&made, &place, &people, read.values.len()));
            let mut charged = charged.transpose()?;
            let batch = read.values.reports(&made.1, &generators);
            let leaves = |()| charged.as_mut().map_or(Ok(()), Charged::leaves);
            let done = still_wanted(progress).and_then(leaves).map(|()| batch);
            Charged::settle(charged, done)
        })?;
        Ok((array(py, batch)?, skipped.count, clipped))
    }

    /// A private report for each row, which is a function of the secret, the row's key and its answer. With `codes`,
    /// they say which of the answers each row gave, and a negative one that it gave none.
    #[pyo3(signature = (keys, answers, codes=None, *, secret, skip_bad))]
    fn privatize_keyed<'py>(
        &self,
        py: Python<'py>,
        keys: GivenKeys<'py>,
        answers: &Bound<'py, PyAny>,
        codes: Option<PyReadonlyArray1<'py, i32>>,
        secret: [u8; 32],
        skip_bad: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.keeps_its_promise(py)?;
        let mut values = Read::of(&self.made.1, answers)?.values;
        if let Some(codes) = codes {
            values = values.chosen(codes.as_slice()?);
        }
        let keys = keys.read()?;
        if keys.rows() != values.len() {
            let message = format!("there are {} keys, but {} answers", keys.rows(), values.len());
            return Err(invalid(py, &message, "give a key for each answer"));
        }
        if let (Some(place), false) = (values.bad().first, skip_bad) {
            let message = format!("the answer of the row with the key {:?} cannot be used", keys.show(place));
            return Err(invalid(py, &message, SKIP_BAD));
        }
        let (mechanism, secret) = (&self.made.1, RowSecret::new(secret));
        let reports = || values.keyed_reports(mechanism, &secret, keys);
        // A batch of Spark is one part: to wake other threads for it would take longer than it does.
        let batch = if values.len() <= ROWS { quickly(py, reports)? } else { in_parallel(py, reports)? };
        array(py, batch)
    }

    /// The number of words of 64 bits in a report; 0 if a report is a number.
    fn report_words(&self) -> usize {
        match Batch::empty(&self.made.1) {
            Batch::Words(_, width) => width,
            Batch::Numbers(_) => 0,
        }
    }

    /// How often each counter is counted by these reports.
    fn count<'py>(
        &self,
        py: Python<'py>,
        reports: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let batch = self.batch(reports)?;
        let made = self.made.clone();
        let counters = work(py, move |_| match (&made.1, batch) {
            (Mechanism::Frequency(oracle, _), Batch::Words(words, width)) => {
                let count = |words: &[u64]| {
                    let mut counters = vec![0; oracle.counters()];
                    oracle.count_all(words, &mut counters);
                    counters
                };
                let pieces = words.par_chunks(width * ROWS).map(count);
                Ok(pieces.reduce(
                    || vec![0; oracle.counters()],
                    |mut sum: Vec<u64>, other| {
                        sum.iter_mut().zip(other).for_each(|(counter, other)| *counter += other);
                        sum
                    },
                ))
            }
            _ => Err(DocumentError::new("only reports on categories can be counted")
                .help("estimate from the reports")),
        })?;
        Ok(PyArray1::from_vec(py, counters))
    }

    /// What reports, or counters of this many reports, or reported numbers that were each reported so many times, tell.
    #[pyo3(signature = (reports, count, times=None, *, confidence, simultaneous, method, quantiles, private))]
    #[allow(clippy::too_many_arguments)]
    fn estimate(
        &self,
        py: Python<'_>,
        reports: &Bound<'_, PyAny>,
        count: Option<u64>,
        times: Option<Vec<u64>>,
        confidence: &Bound<'_, PyAny>,
        simultaneous: bool,
        method: &str,
        quantiles: Vec<Bound<'_, PyAny>>,
        private: bool,
    ) -> PyResult<Answer> {
        let probability = |name: &str, given: &Bound<'_, PyAny>| {
            let found = checked(name, Some(given), Probability::new)?;
            found.ok_or_else(|| invalid(py, &format!("{name} is missing"), &format!("{name}=0.95")))
        };
        let wishes = EstimateWishes {
            confidence: probability("confidence", confidence)?,
            simultaneous,
            method: match method {
                "unbiased" => EstimateMethod::Unbiased,
                "projected" => EstimateMethod::Projected,
                "maximum-likelihood" => EstimateMethod::MaximumLikelihood,
                _ => {
                    let help = "\"unbiased\", \"projected\" or \"maximum-likelihood\"";
                    return Err(invalid(py, &format!("method is {method:?}"), help));
                }
            },
            quantiles: quantiles
                .iter()
                .map(|level| probability("quantiles", level))
                .collect::<PyResult<_>>()?,
        };
        let given = match (count, times) {
            (Some(count), _) => Given::Counters(self.counters(reports, count)?, count),
            (None, Some(times)) => Given::Repeated(self.repeated(reports, times)?),
            (None, None) => Given::Reports(self.batch(reports)?),
        };
        let made = self.made.clone();
        work(py, move |_| {
            let (specification, mechanism) = &*made;
            let mut tally = Tally::new(mechanism);
            match given {
                Given::Reports(batch) => batch_by_batch(mechanism, batch, &mut tally),
                Given::Repeated(numbers) => tally.add(&Part::Repeated(numbers)),
                // Counters do not tell how reports are distributed.
                Given::Counters(counters, count) => tally = Tally::Counters(counters, count, None),
            }
            let columns = match &specification.answers {
                Answers::Vector(ball) => (1..=ball.dimension.get()).map(|place| place.to_string()).collect(),
                _ => vec!["the answers".to_owned()],
            };
            let report = EstimateReport {
                reports: tally.reports(),
                confidence: wishes.confidence.get(),
                estimate: estimate(&columns, mechanism, &tally, &wishes)?,
                mechanism: specification.id.name(),
                epsilon: specification.epsilon.get(),
                delta: specification.delta.get(),
                column: columns.join(", "),
                skipped: 0,
                private,
            };
            let style = Style::default();
            Ok::<_, DocumentError>((
                json::of(&report).to_string(),
                text::estimate(&report, style).render(style),
            ))
        })
    }
}

impl LocalMechanism {
    fn counters(&self, given: &Bound<'_, PyAny>, reports: u64) -> PyResult<Vec<u64>> {
        let wanted = match &self.made.1 {
            Mechanism::Frequency(oracle, _) => oracle.counters(),
            _ => 0,
        };
        let counters: Vec<u64> = given.extract().unwrap_or_default();
        if wanted == 0 || counters.len() != wanted || counters.iter().any(|&counter| counter > reports) {
            let message = format!(
                "counts of {} need {wanted} counters, none above the number of reports",
                self.made.0.id.name()
            );
            return Err(invalid(given.py(), &message, "give the counts as count made them"));
        }
        Ok(counters)
    }

    fn repeated(&self, given: &Bound<'_, PyAny>, times: Vec<u64>) -> PyResult<Vec<(f64, u64)>> {
        match self.batch(given)? {
            Batch::Numbers(numbers) if numbers.len() == times.len() => {
                Ok(numbers.into_iter().zip(times).collect())
            }
            _ => {
                let message =
                    format!("{} does not report numbers that can be counted", self.made.0.id.name());
                Err(invalid(given.py(), &message, "give a count for each reported number"))
            }
        }
    }
}

/// What is estimated from.
enum Given {
    Reports(Batch),
    Repeated(Vec<(f64, u64)>),
    Counters(Vec<u64>, u64),
}

/// What to do about an answer that cannot be used.
const SKIP_BAD: &str = "correct it; or skip_bad=True makes such answers report a category drawn at random, the middle of \
                        the bounds or the zero vector";

/// Reports, as NumPy has them.
fn array(py: Python<'_>, batch: Batch) -> PyResult<Bound<'_, PyAny>> {
    let width = batch.width();
    Ok(match batch {
        Batch::Numbers(numbers) => PyArray1::from_vec(py, numbers).into_any(),
        Batch::Words(words, _) => {
            let count = words.len() / width;
            PyArray1::from_vec(py, words).reshape([count, width])?.into_any()
        }
    })
}

/// What identifies rows: numbers, or the ends of texts in their bytes.
#[derive(FromPyObject)]
pub enum GivenKeys<'py> {
    Numbers(PyReadonlyArray1<'py, i64>),
    Texts(PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, u8>),
}

impl GivenKeys<'_> {
    fn read(&self) -> PyResult<Keys<'_>> {
        Ok(match self {
            Self::Numbers(numbers) => Keys::Numbers(numbers.as_slice()?),
            Self::Texts(ends, bytes) => Keys::Texts(ends.as_slice()?, bytes.as_slice()?),
        })
    }
}

/// Adds reports to a total. Many threads count at the same time; numbers are added in their order.
fn batch_by_batch<'a>(mechanism: &'a Mechanism, batch: Batch, tally: &mut Tally<'a>) {
    let pieces: Vec<Batch> = match batch {
        Batch::Numbers(_) => vec![batch],
        Batch::Words(words, width) => {
            words.chunks(width * ROWS).map(|words| Batch::Words(words.to_vec(), width)).collect()
        }
    };
    let parts: Vec<Part<'_>> = pieces.into_par_iter().map(|piece| Part::of(mechanism, piece)).collect();
    parts.iter().for_each(|part| tally.add(part));
}

/// Reserves a report about each answer of these people.
fn charged(
    (specification, mechanism): &(Specification, Mechanism),
    place: &Place,
    people: &Names,
    answers: usize,
) -> Result<Charged, Problem> {
    if people.len() != answers {
        return Err(Problem::new(format!(
            "people has {} names, but there are {answers} answers",
            people.len()
        ))
        .help("give the name of the person who gave each answer, in the order of the answers"));
    }
    let mut ledger = open(place)?;
    refuse_secret_numbers(&ledger.terms()?)?;
    let mut roll = people.roll(&mut ledger)?;
    let what = format!("private answers by {}", specification.id.name());
    let description = json::of(&specification.promise(mechanism));
    let privacy = mechanism.privacy();
    let mut spend = |_| Ok(Spend::of_profile(&privacy, "local", what.clone(), description.clone()));
    Charged::reserve(place, ledger, &mut roll, Exhausted::Refuse, &mut spend).map(|(charged, _)| charged)
}

/// Every mechanism that can keep a promise, best first, as `dobrushin local plan` says it.
#[pyfunction]
pub fn local_plan(
    py: Python<'_>,
    epsilon: &Bound<'_, PyAny>,
    delta: &Bound<'_, PyAny>,
    declared: Declared,
    records: Option<u64>,
    error: Option<&Bound<'_, PyAny>>,
) -> PyResult<Answer> {
    let wishes = PlanWishes {
        promise: promise(epsilon, delta)?,
        records,
        error: checked("error", error, |value| Positive::named("error", value))?,
    };
    if wishes.records.is_some() == wishes.error.is_some() || wishes.records == Some(0) {
        return Err(invalid(py, "either records or error is needed", "records=10_000, or error=0.01"));
    }
    let answers = declared.answers().raised(py)?;
    work(py, move |_| {
        let report = plans(&answers, &wishes)?;
        Ok::<_, DocumentError>((json::of(&report).to_string(), text::plans(&report).render(Style::default())))
    })
}

/// The smallest error that any mechanism with a promise can have, as `dobrushin local bounds` says it.
#[pyfunction]
#[pyo3(signature = (epsilon, delta, records, *, moments=None, radius=None, dimension=None, categories=None))]
#[allow(clippy::too_many_arguments)]
pub fn local_bounds(
    py: Python<'_>,
    epsilon: &Bound<'_, PyAny>,
    delta: &Bound<'_, PyAny>,
    records: u32,
    moments: Option<&Bound<'_, PyAny>>,
    radius: Option<&Bound<'_, PyAny>>,
    dimension: Option<u32>,
    categories: Option<u32>,
) -> PyResult<Answer> {
    let radius = checked("radius", radius, |value| Positive::named("radius", value))?;
    let ball = match (radius, dimension.and_then(NonZeroU32::new)) {
        (Some(radius), Some(dimension)) => Some(Ball { radius, dimension }),
        (None, None) if dimension.is_none() => None,
        _ => return Err(invalid(py, "radius and dimension go together", "radius=1.0, dimension=10")),
    };
    let moments = moments.map(|given| number("moments", given)).transpose()?;
    let wishes = BoundsWishes { moments, ball, categories };
    let records = NonZeroU32::new(records).ok_or_else(|| invalid(py, "records is 0", "records=1000"))?;
    let promise = promise(epsilon, delta)?;
    work(py, move |_| {
        let (report, style) = (bounds(promise, records, &wishes)?, Style::default());
        Ok::<_, DocumentError>((json::of(&report).to_string(), text::bounds(&report, style).render(style)))
    })
}
