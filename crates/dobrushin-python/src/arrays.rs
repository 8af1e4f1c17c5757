//! Functions of numbers, for numbers and for arrays of any shape.
//!
//! An array of `float64` is read where it is, also if it is strided; numbers of other kinds are converted if they fit.

use crate::errors::{Raised, invalid};
use crate::work::{in_parallel, quickly};
use dobrushin::{Enclosure, Error};
use numpy::ndarray::{ArrayViewD, Axis, Slice};
use numpy::{
    PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyFloat, PyInt, PyTuple, PyType};
use rayon::prelude::*;

/// Whole numbers up to this are `float64`s.
const MOST_WHOLE: f64 = (1_u64 << 53) as f64;

/// The most axes that an array may have here.
const MOST_AXES: usize = 32;

/// What one value costs.
#[derive(Clone, Copy)]
pub enum Cost {
    /// Less than a microsecond.
    Little,
    /// Up to some milliseconds.
    Much,
    /// Up to some milliseconds, perhaps in many threads.
    Threads,
}

impl Cost {
    /// This many values are one piece of work for one thread.
    fn piece(self) -> usize {
        match self {
            Self::Little => 1 << 12,
            Self::Much | Self::Threads => 4,
        }
    }
}

/// There are this many pieces of work between two looks at the keyboard.
const PIECES: usize = 1 << 10;

/// A number, or an array of them.
pub enum Numbers<'py> {
    /// A number.
    One(f64),
    /// An array.
    Many(PyReadonlyArrayDyn<'py, f64>),
}

impl<'py> Numbers<'py> {
    /// The numbers that are given as the argument of this name.
    pub fn of(name: &str, given: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(float) = given.cast::<PyFloat>() {
            return Ok(Self::One(float.value()));
        }
        if given.cast::<PyInt>().is_ok() && given.cast::<PyBool>().is_err() {
            let value = given.extract::<f64>().unwrap_or(f64::INFINITY);
            return if value.abs() <= MOST_WHOLE {
                Ok(Self::One(value))
            } else {
                Err(too_large(name, given))
            };
        }
        let array = array_of(name, given)?.try_readonly().map_err(|_| {
            invalid(given.py(), &format!("{name} is being written elsewhere"), "give a copy of it")
        })?;
        Ok(match array.ndim() {
            0 => array.as_array().first().map_or(Self::Many(array.clone()), |&number| Self::One(number)),
            _ => Self::Many(array),
        })
    }

    /// The list of numbers that is given as the argument of this name.
    pub fn list(name: &str, given: &Bound<'py, PyAny>) -> PyResult<Vec<f64>> {
        match Self::of(name, given)? {
            Self::Many(array) if array.ndim() == 1 => Ok(array.as_array().iter().copied().collect()),
            other => {
                let axes = other.shape().len();
                let message = format!("{name} has {axes} axes, but it must be a list of numbers");
                Err(invalid(given.py(), &message, &format!("{name}=[0.5, 0.5]")))
            }
        }
    }

    /// The rows of a matrix that is given as the argument of this name.
    pub fn rows(name: &str, given: &Bound<'py, PyAny>) -> PyResult<Vec<Vec<f64>>> {
        match Self::of(name, given)? {
            Self::Many(array) if array.ndim() == 2 => {
                Ok(array.as_array().outer_iter().map(|row| row.iter().copied().collect()).collect())
            }
            other => {
                let axes = other.shape().len();
                let message = format!("{name} has {axes} axes, but it must be a matrix");
                Err(invalid(given.py(), &message, "[[0.75, 0.25], [0.25, 0.75]]"))
            }
        }
    }

    fn shape(&self) -> &[usize] {
        match self {
            Self::One(_) => &[],
            Self::Many(array) => array.shape(),
        }
    }

    fn source(&self) -> Source<'_> {
        match self {
            Self::One(number) => Source::One(*number),
            Self::Many(array) => Source::Many(array.as_array()),
        }
    }
}

/// An array of `float64` with these numbers, which is the given one if it has this form already.
fn array_of<'py>(name: &str, given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    let py = given.py();
    let class = given.get_type().name().map_or("something else".to_owned(), |name| name.to_string());
    let refused = || {
        let message = format!("{name} is a {class}, but it must be a number or an array of numbers");
        invalid(py, &message, &format!("{name}=1.0, or {name}=numpy.linspace(0, 1, 11)"))
    };
    // What is below a mask must not be used.
    if class == "MaskedArray" {
        return Err(refused());
    }
    let numpy = py.import("numpy")?;
    let array = numpy.call_method1("asarray", (given,)).map_err(|_| refused())?;
    let untyped = array.cast::<PyUntypedArray>().map_err(|_| refused())?;
    let (kind, size) = (untyped.dtype().kind(), untyped.dtype().itemsize());
    if !matches!(kind, b'f' | b'i' | b'u') || size > 8 || untyped.ndim() > MOST_AXES {
        return Err(match untyped.ndim() {
            0 => refused(),
            axes if axes > MOST_AXES => {
                invalid(py, &format!("{name} has {axes} axes"), "at most 32 are accepted")
            }
            _ => {
                let message = format!("{name} is an array of {}, but it must have numbers", untyped.dtype());
                invalid(py, &message, "float64 is read without a copy; other numbers are converted")
            }
        });
    }
    if let Ok(array) = array.cast::<PyArrayDyn<f64>>()
        && is_aligned(array)
    {
        return Ok(array.clone());
    }
    let converted = array.call_method1("astype", ("float64",)).map_err(|_| refused())?;
    let converted = converted.cast_into::<PyArrayDyn<f64>>().map_err(|_| refused())?;
    if kind != b'f' && converted.readonly().as_array().iter().any(|value| value.abs() > MOST_WHOLE) {
        return Err(too_large(name, given));
    }
    Ok(converted)
}

/// Whether each element is where a `float64` can be read.
fn is_aligned(array: &Bound<'_, PyArrayDyn<f64>>) -> bool {
    let size = size_of::<f64>();
    array.data().addr() % size == 0 && array.strides().iter().all(|stride| stride % size as isize == 0)
}

fn too_large(name: &str, given: &Bound<'_, PyAny>) -> PyErr {
    let message = format!("{name} has a whole number beyond 2^53, which a float may not hold exactly");
    invalid(given.py(), &message, "give it as a float, rounded to the side that you want")
}

/// Where numbers are read.
enum Source<'a> {
    One(f64),
    Many(ArrayViewD<'a, f64>),
}

impl Source<'_> {
    /// The same numbers, repeated along the axes of this shape.
    fn spread(&self, shape: &[usize]) -> Option<Spread<'_>> {
        Some(match self {
            Self::One(number) => Spread::One(*number),
            Self::Many(view) => match view.as_slice().filter(|_| view.shape() == shape) {
                Some(flat) => Spread::Flat(flat),
                None => Spread::Strided(view.broadcast(shape)?),
            },
        })
    }
}

/// Numbers of the shape of the result.
enum Spread<'a> {
    One(f64),
    Flat(&'a [f64]),
    Strided(ArrayViewD<'a, f64>),
}

impl Spread<'_> {
    /// This many numbers from this place on, in the order of the result.
    fn read<'b>(&'b self, start: usize, count: usize, buffer: &'b mut Vec<f64>) -> &'b [f64] {
        match self {
            Self::Flat(all) => return &all[start..start + count],
            Self::One(number) => {
                buffer.clear();
                buffer.resize(count, *number);
            }
            Self::Strided(view) => {
                buffer.clear();
                while buffer.len() < count {
                    gather(view, start + buffer.len(), count - buffer.len(), buffer);
                }
            }
        }
        buffer
    }
}

/// Appends at most this many numbers of a view: those from one place to the end of the last axis.
fn gather(view: &ArrayViewD<'_, f64>, place: usize, most: usize, buffer: &mut Vec<f64>) {
    let mut lane = view.view();
    let (mut rest, mut size) = (place, view.len());
    while lane.ndim() > 1 {
        size /= lane.len_of(Axis(0)).max(1);
        lane.index_axis_inplace(Axis(0), rest / size.max(1));
        rest %= size.max(1);
    }
    let end = size.min(rest + most);
    lane.slice_axis_inplace(Axis(0), Slice::from(rest..end));
    buffer.extend(lane.iter());
}

/// The shape of arrays that are combined, by the rules of NumPy.
fn common_shape<'a>(shapes: impl Iterator<Item = &'a [usize]>) -> Option<Vec<usize>> {
    let mut common: Vec<usize> = Vec::new();
    for shape in shapes {
        let missing = shape.len().saturating_sub(common.len());
        common.splice(0..0, std::iter::repeat_n(1, missing));
        let offset = common.len() - shape.len();
        for (axis, &length) in common[offset..].iter_mut().zip(shape) {
            match (*axis, length) {
                (_, 1) => {}
                (1, _) => *axis = length,
                (axis, length) if axis == length => {}
                _ => return None,
            }
        }
    }
    Some(common)
}

/// The values of a function of some numbers, each an argument with a name: a float, or an array if one of them is an
/// array. With `bounds` it is both ends of the enclosures, and otherwise their upper ends.
pub fn map<'py, const N: usize>(
    py: Python<'py>,
    arguments: [(&str, &Bound<'py, PyAny>); N],
    bounds: bool,
    cost: Cost,
    function: impl Fn([f64; N]) -> Result<Enclosure, Error> + Sync,
) -> PyResult<Bound<'py, PyAny>> {
    let mut numbers = [0.0; N];
    let mut are_floats = true;
    for (number, (_, given)) in numbers.iter_mut().zip(arguments) {
        match given.cast_exact::<PyFloat>() {
            Ok(float) => *number = float.value(),
            Err(_) => are_floats = false,
        }
    }
    if are_floats {
        return one(py, bounds, cost, || function(numbers));
    }
    let mut given = Vec::with_capacity(N);
    for (name, argument) in arguments {
        given.push(Numbers::of(name, argument)?);
    }
    let shapes = || given.iter().map(Numbers::shape);
    let shape = common_shape(shapes()).ok_or_else(|| {
        let shown: Vec<String> = shapes().map(|shape| format!("{shape:?}")).collect();
        let message = format!("arrays of the shapes {} do not fit together", shown.join(", "));
        invalid(py, &message, "lengths of an axis are equal, or one of them is 1")
    })?;
    let sources: Vec<Source<'_>> = given.iter().map(Numbers::source).collect();
    if sources.iter().all(|source| matches!(source, Source::One(_))) {
        let numbers =
            std::array::from_fn(|k| if let Source::One(number) = sources[k] { number } else { 0.0 });
        return one(py, bounds, cost, || function(numbers));
    }
    let upper = empty(py, &shape)?;
    let lower = if bounds { Some(empty(py, &shape)?) } else { None };
    let spread: Option<Vec<Spread<'_>>> = sources.iter().map(|source| source.spread(&shape)).collect();
    let spread: [Spread<'_>; N] = spread
        .and_then(|spread| spread.try_into().ok())
        .ok_or_else(|| invalid(py, "the arrays do not fit together", "give arrays of one shape"))?;
    fill(py, &spread, &upper, lower.as_ref(), cost, &function)?;
    match lower {
        Some(lower) => Ok(PyTuple::new(py, [lower, upper])?.into_any()),
        None => Ok(upper.into_any()),
    }
}

/// The answer for a single number.
fn one(
    py: Python<'_>,
    bounds: bool,
    cost: Cost,
    value: impl FnOnce() -> Result<Enclosure, Error> + Send,
) -> PyResult<Bound<'_, PyAny>> {
    let value = match cost {
        Cost::Threads => in_parallel(py, value)?,
        Cost::Little | Cost::Much => quickly(py, value)?,
    };
    let value = value.raised(py)?;
    match bounds {
        false => Ok(PyFloat::new(py, value.upper()).into_any()),
        true => interval(py, value),
    }
}

/// An enclosure as a `dobrushin.Interval`.
pub fn interval(py: Python<'_>, value: Enclosure) -> PyResult<Bound<'_, PyAny>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = CLASS.import(py, "dobrushin.report", "Interval")?;
    class.call1((value.lower(), value.upper()))
}

/// A new array; an error if there is no room for it.
fn empty<'py>(py: Python<'py>, shape: &[usize]) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    let made = py.import("numpy")?.call_method1("empty", (PyTuple::new(py, shape)?,));
    let made = made.map_err(|_| {
        invalid(py, &format!("there is no room for an array of shape {shape:?}"), "give smaller arrays")
    })?;
    Ok(made.cast_into::<PyArrayDyn<f64>>()?)
}

/// A piece of the result: where it begins, and the ends of the enclosures there.
type Piece<'a> = (usize, Option<&'a mut [f64]>, &'a mut [f64]);

fn fill<const N: usize>(
    py: Python<'_>,
    arguments: &[Spread<'_>; N],
    upper: &Bound<'_, PyArrayDyn<f64>>,
    lower: Option<&Bound<'_, PyArrayDyn<f64>>>,
    cost: Cost,
    function: &(impl Fn([f64; N]) -> Result<Enclosure, Error> + Sync),
) -> PyResult<()> {
    let mut upper = upper.readwrite();
    let mut lower = lower.map(PyArrayMethods::readwrite);
    let (upper, lower) =
        (upper.as_slice_mut()?, lower.as_mut().map(|lower| lower.as_slice_mut()).transpose()?);
    let mut lowers = lower.map(|lower| lower.chunks_mut(cost.piece()));
    let piece = |(index, upper)| (index * cost.piece(), lowers.as_mut().and_then(Iterator::next), upper);
    let mut pieces: Vec<Piece<'_>> = upper.chunks_mut(cost.piece()).enumerate().map(piece).collect();
    while !pieces.is_empty() {
        let rest = pieces.split_off(pieces.len().min(PIECES));
        let refused = match (pieces.len(), cost) {
            (1, Cost::Little | Cost::Much) => {
                quickly(py, || pieces.into_iter().find_map(|piece| values(arguments, piece, function)))?
            }
            _ => in_parallel(py, || {
                let refused = pieces.into_par_iter().filter_map(|piece| values(arguments, piece, function));
                refused.min_by_key(|(place, _)| *place)
            })?,
        };
        if let Some((place, error)) = refused {
            let help = format!("see element {place} of the result, counted from 0 in the order of its rows");
            return Err(invalid(py, &error.to_string(), &help));
        }
        py.check_signals()?;
        pieces = rest;
    }
    Ok(())
}

/// Writes the values of one piece; what is wrong with the first that has none.
fn values<const N: usize>(
    arguments: &[Spread<'_>; N],
    (start, mut lower, upper): Piece<'_>,
    function: &(impl Fn([f64; N]) -> Result<Enclosure, Error> + Sync),
) -> Option<(usize, Error)> {
    let mut buffers: [Vec<f64>; N] = std::array::from_fn(|_| Vec::new());
    let mut rest = buffers.iter_mut();
    let read: [&[f64]; N] = std::array::from_fn(|k| {
        rest.next().map_or(&[][..], |buffer| arguments[k].read(start, upper.len(), buffer))
    });
    for (place, upper) in upper.iter_mut().enumerate() {
        match function(std::array::from_fn(|k| read[k][place])) {
            Ok(value) => {
                *upper = value.upper();
                if let Some(lower) = &mut lower {
                    lower[place] = value.lower();
                }
            }
            Err(error) => return Some((start + place, error)),
        }
    }
    None
}
