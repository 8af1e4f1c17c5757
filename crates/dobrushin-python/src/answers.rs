//! Answers as they are given, and their private reports.

use crate::arrays::Numbers;
use crate::errors::invalid;
use dobrushin_document::local::{
    Batch, Found, Keys, Mechanism, on_categories, on_keyed_categories, on_keyed_numbers, on_keyed_vectors,
    on_numbers, on_vectors,
};
use dobrushin_local::mean::clip_to_ball;
use dobrushin_train::{Bits, Generators, RowSecret};
use numpy::PyUntypedArrayMethods;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};
use rayon::prelude::*;

/// This many answers are privatised with one stream of random bits.
pub const ROWS: usize = 1 << 14;

/// Answers as a mechanism takes them; `None` is one that cannot be used.
pub enum Values {
    Categories(Vec<Option<u32>>),
    Numbers(Vec<Option<f64>>),
    Vectors(Vec<Option<Vec<f64>>>),
}

/// Answers, and how many numbers and vectors were moved to their bounds.
pub struct Read {
    pub values: Values,
    pub clipped: u64,
}

/// The answers that cannot be used.
pub struct Bad {
    pub count: u64,
    pub first: Option<usize>,
}

impl Read {
    pub fn of(mechanism: &Mechanism, given: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut clipped = 0;
        let values = match mechanism {
            Mechanism::Frequency(_, categories) => {
                let find = |answer: Value| match answer {
                    Value::Text(text) => categories.find(text.as_bytes()),
                    Value::Number(number) => categories.find_number(number),
                    Value::Bad => None,
                };
                let mut category = |found: Found| {
                    clipped += u64::from(found.clipped);
                    found.category
                };
                Values::Categories(each(given, |answer| find(answer).map(&mut category))?)
            }
            Mechanism::Mean(mechanism) => {
                let bounds = mechanism.bounds();
                Values::Numbers(each(given, |answer| {
                    let Value::Number(number) = answer else { return None };
                    let found = bounds.clip(number).ok()?;
                    clipped += u64::from(found.clipped);
                    Some(found.value)
                })?)
            }
            Mechanism::Vector(mechanism) => {
                let dimension = mechanism.dimension().get() as usize;
                let mut clip = |row: Option<Vec<f64>>| {
                    let row = row.filter(|row| row.len() == dimension)?;
                    let found = clip_to_ball(row, mechanism.radius()).ok()?;
                    clipped += u64::from(found.clipped);
                    Some(found.value)
                };
                Values::Vectors(rows(given)?.into_iter().map(&mut clip).collect())
            }
        };
        Ok(Self { values, clipped })
    }
}

impl Values {
    pub fn len(&self) -> usize {
        match self {
            Self::Categories(values) => values.len(),
            Self::Numbers(values) => values.len(),
            Self::Vectors(values) => values.len(),
        }
    }

    pub fn bad(&self) -> Bad {
        fn of<T>(values: &[Option<T>]) -> Bad {
            let bad = || values.iter().enumerate().filter(|(_, value)| value.is_none());
            Bad { count: bad().count() as u64, first: bad().next().map(|(place, _)| place) }
        }
        match self {
            Self::Categories(values) => of(values),
            Self::Numbers(values) => of(values),
            Self::Vectors(values) => of(values),
        }
    }

    /// The values that these codes choose; none for a code that chooses none.
    pub fn chosen(self, codes: &[i32]) -> Self {
        fn of<T: Clone>(values: &[Option<T>], codes: &[i32]) -> Vec<Option<T>> {
            let value = |code: &i32| values.get(usize::try_from(*code).ok()?).cloned().flatten();
            codes.iter().map(value).collect()
        }
        match self {
            Self::Categories(values) => Self::Categories(of(&values, codes)),
            Self::Numbers(values) => Self::Numbers(of(&values, codes)),
            Self::Vectors(values) => Self::Vectors(of(&values, codes)),
        }
    }

    /// A report for each row, which has this key.
    pub fn keyed_reports(&self, mechanism: &Mechanism, secret: &RowSecret, keys: Keys<'_>) -> Batch {
        fn in_parts<T: Sync>(
            mechanism: &Mechanism,
            keys: Keys<'_>,
            answers: &[Option<T>],
            reports: impl Fn(Keys<'_>, &[Option<T>]) -> Batch + Sync,
        ) -> Batch {
            if answers.len() <= ROWS {
                return reports(keys, answers);
            }
            let parts = answers.par_chunks(ROWS).enumerate().map(|(part, some)| {
                let start = part * ROWS;
                reports(keys.part(start..start + some.len()), some)
            });
            joined(mechanism, parts.collect())
        }
        match (self, mechanism) {
            (Self::Categories(all), Mechanism::Frequency(oracle, _)) => {
                in_parts(mechanism, keys, all, |keys, some| {
                    on_keyed_categories(oracle.as_ref(), secret, keys, some)
                })
            }
            (Self::Numbers(all), Mechanism::Mean(mean)) => in_parts(mechanism, keys, all, |keys, some| {
                on_keyed_numbers(mean.as_ref(), secret, keys, some)
            }),
            (Self::Vectors(all), Mechanism::Vector(vector)) => {
                in_parts(mechanism, keys, all, |keys, some| {
                    on_keyed_vectors(vector.as_ref(), secret, keys, some)
                })
            }
            // The answers were read for this mechanism.
            _ => Batch::empty(mechanism),
        }
    }

    /// A report for each answer.
    pub fn reports(self, mechanism: &Mechanism, generators: &Generators) -> Batch {
        match (self, mechanism) {
            (Self::Categories(all), Mechanism::Frequency(oracle, _)) => {
                in_streams(mechanism, generators, all, |some, bits| {
                    on_categories(oracle.as_ref(), some, bits)
                })
            }
            (Self::Numbers(all), Mechanism::Mean(mean)) => {
                in_streams(mechanism, generators, all, |some, bits| on_numbers(mean.as_ref(), some, bits))
            }
            (Self::Vectors(all), Mechanism::Vector(vector)) => {
                in_streams(mechanism, generators, all, |some, bits| on_vectors(vector.as_ref(), some, bits))
            }
            // The answers were read for this mechanism.
            _ => Batch::empty(mechanism),
        }
    }
}

/// Reports, each part of them with a stream of random bits of its own.
fn in_streams<T: Clone + Send + Sync>(
    mechanism: &Mechanism,
    generators: &Generators,
    answers: Vec<Option<T>>,
    privatise: impl Fn(std::iter::Cloned<std::slice::Iter<'_, Option<T>>>, &mut Bits) -> Batch + Sync,
) -> Batch {
    let parts: Vec<Batch> = answers
        .par_chunks(ROWS)
        .enumerate()
        .map(|(number, some)| privatise(some.iter().cloned(), &mut generators.stream(number as u64)))
        .collect();
    joined(mechanism, parts)
}

/// One batch of many; the only one is not copied.
fn joined(mechanism: &Mechanism, mut parts: Vec<Batch>) -> Batch {
    if parts.len() == 1 {
        return parts.remove(0);
    }
    parts.into_iter().fold(Batch::empty(mechanism), |mut all, part| {
        match (&mut all, part) {
            (Batch::Words(all, _), Batch::Words(part, _)) => all.extend(part),
            (Batch::Numbers(all), Batch::Numbers(part)) => all.extend(part),
            // All parts are of one mechanism.
            _ => {}
        }
        all
    })
}

/// An answer.
enum Value {
    Number(f64),
    Text(String),
    Bad,
}

/// Answers, whatever they are, each of them read. What is wrong with one is not an error: errors would tell about it.
fn each<T>(given: &Bound<'_, PyAny>, mut read: impl FnMut(Value) -> T) -> PyResult<Vec<T>> {
    // NumPy would take bools in a list for numbers.
    if given.hasattr("__array__").unwrap_or(false)
        && let Ok(Numbers::Many(array)) = Numbers::of("answers", given)
        && array.ndim() == 1
    {
        return Ok(array.as_array().iter().map(|&number| read(Value::Number(number))).collect());
    }
    let value = |answer: Bound<'_, PyAny>| {
        if let Ok(text) = answer.cast::<PyString>() {
            return text.to_str().map_or(Value::Bad, |text| Value::Text(text.to_owned()));
        }
        match answer.cast::<PyBool>().is_err().then(|| answer.extract::<f64>()) {
            Some(Ok(number)) => Value::Number(number),
            _ => Value::Bad,
        }
    };
    Ok(items(given)?.into_iter().map(|answer| read(value(answer))).collect())
}

/// Vectors; `None` for what is none.
fn rows(given: &Bound<'_, PyAny>) -> PyResult<Vec<Option<Vec<f64>>>> {
    if let Ok(rows) = Numbers::rows("answers", given) {
        return Ok(rows.into_iter().map(Some).collect());
    }
    let row = |row: Bound<'_, PyAny>| Numbers::list("answers", &row).ok();
    Ok(items(given)?.into_iter().map(row).collect())
}

fn items<'py>(given: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let refused =
        || invalid(given.py(), "the answers are not a list or an array", "answers=[\"yes\", \"no\"]");
    if given.cast::<PyString>().is_ok() {
        return Err(refused());
    }
    let items = given.try_iter().map_err(|_| refused())?;
    items.collect::<PyResult<_>>().map_err(|_| refused())
}
