//! Values of Python as values of run files, and the other way round.

use crate::errors::invalid;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use toml::{Table, Value};

/// Nothing that a run file can say is nested deeper.
const DEEPEST: usize = 16;

/// A value, for the key of this name; `None` for `None`, which means that it is not given.
pub fn value(key: &str, given: &Bound<'_, PyAny>) -> PyResult<Option<Value>> {
    nested(key, given, 0)
}

/// A table of sections. Names of sections and of their keys may be written in snake_case.
pub fn tables(given: &Bound<'_, PyAny>) -> PyResult<Table> {
    let mut tables = Table::new();
    for (name, section) in items("run", given)? {
        let name = name.replace('_', "-");
        let Some(mut section) = nested(&name, &section, 1)? else { continue };
        kebab(&mut section);
        if tables.insert(name.clone(), section).is_some() {
            return Err(twice(given.py(), &name));
        }
    }
    Ok(tables)
}

/// Writes the keys of a table, or of each table of a list, as run files do, and those of a schema in it.
fn kebab(section: &mut Value) {
    match section {
        Value::Table(table) => {
            *table = std::mem::take(table)
                .into_iter()
                .map(|(key, value)| (key.replace('_', "-"), value))
                .collect();
            table.get_mut("schema").into_iter().for_each(kebab_schema);
        }
        Value::Array(list) => list.iter_mut().for_each(kebab),
        _ => {}
    }
}

/// Writes the keys of the columns of a schema as files do. The names of the columns stay as they are.
pub fn kebab_schema(schema: &mut Value) {
    if let Some(Value::Table(columns)) = schema.get_mut("columns") {
        columns.iter_mut().for_each(|(_, column)| kebab(column));
    }
}

fn nested(key: &str, given: &Bound<'_, PyAny>, depth: usize) -> PyResult<Option<Value>> {
    let py = given.py();
    if depth > DEEPEST {
        return Err(invalid(
            py,
            &format!("{key} is nested too deeply"),
            "see dobrushin.Run for what a run can say",
        ));
    }
    if given.is_none() {
        return Ok(None);
    }
    if let Ok(flag) = given.cast::<PyBool>() {
        return Ok(Some(Value::Boolean(flag.is_true())));
    }
    if let Ok(text) = given.cast::<PyString>() {
        let text =
            text.to_str().map_err(|_| invalid(py, &format!("{key} is not valid text"), "use UTF-8"))?;
        return Ok(Some(Value::String(text.to_owned())));
    }
    if let Ok(float) = given.cast::<PyFloat>() {
        return Ok(Some(Value::Float(float.value())));
    }
    if given.cast::<PyInt>().is_ok() {
        return whole(key, given).map(Some);
    }
    if given.cast::<PyBytes>().is_ok() {
        return Err(no_value(key, given));
    }
    if given.cast::<PyDict>().is_ok() || given.cast::<PyMapping>().is_ok() {
        let mut table = Table::new();
        for (name, entry) in items(key, given)? {
            if let Some(value) = nested(&format!("{key}.{name}"), &entry, depth + 1)? {
                table.insert(name, value);
            }
        }
        return Ok(Some(Value::Table(table)));
    }
    if given.cast::<PyList>().is_ok() || given.cast::<PyTuple>().is_ok() || is_array(given) {
        let mut list = Vec::new();
        for entry in given.try_iter().map_err(|_| no_value(key, given))? {
            let entry = entry.map_err(|_| no_value(key, given))?;
            list.push(nested(key, &entry, depth + 1)?.ok_or_else(|| no_value(key, &entry))?);
        }
        return Ok(Some(Value::Array(list)));
    }
    // The numbers of NumPy and others: whole ones say so by __index__.
    if given.hasattr("__index__").unwrap_or(false) {
        return whole(key, given).map(Some);
    }
    match given.extract::<f64>() {
        Ok(float) => Ok(Some(Value::Float(float))),
        Err(_) => path(given).map(Some).ok_or_else(|| no_value(key, given)),
    }
}

fn is_array(given: &Bound<'_, PyAny>) -> bool {
    given.hasattr("__array__").unwrap_or(false) && given.len().is_ok()
}

/// The name of a file, if it is given as a path.
fn path(given: &Bound<'_, PyAny>) -> Option<Value> {
    let name = given.call_method0("__fspath__").ok()?;
    Some(Value::String(name.extract::<String>().ok()?))
}

fn whole(key: &str, given: &Bound<'_, PyAny>) -> PyResult<Value> {
    given.extract::<i64>().map(Value::Integer).map_err(|_| {
        let message = format!("{key} is a whole number beyond what run files can hold");
        invalid(given.py(), &message, "give a number between −2⁶³ and 2⁶³ − 1, or a float such as 1e30")
    })
}

fn items<'py>(key: &str, given: &Bound<'py, PyAny>) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
    let py = given.py();
    let refused =
        || invalid(py, &format!("{key} is not a dict of keys and values"), "{\"run\": {\"steps\": 1000}}");
    let mapping = given.cast::<PyMapping>().map_err(|_| refused())?;
    let mut found = Vec::new();
    for pair in mapping.items().map_err(|_| refused())?.iter() {
        let (name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract().map_err(|_| refused())?;
        let name = name.extract::<String>().map_err(|_| {
            let message = format!("{key} has a key that is not text");
            invalid(py, &message, "keys are the words of a run file, such as \"steps\"")
        })?;
        found.push((name, value));
    }
    Ok(found)
}

fn no_value(key: &str, given: &Bound<'_, PyAny>) -> PyErr {
    let class = given.get_type().name().map_or("something else".to_owned(), |name| name.to_string());
    let message = format!("{key} is a {class}, which a run file cannot hold");
    invalid(given.py(), &message, "give a number, a bool, a text, or a list or dict of them")
}

fn twice(py: Python<'_>, name: &str) -> PyErr {
    invalid(py, &format!("{name} is given twice"), "write each section once, with - or with _")
}

/// A number, for the argument of this name. What is not a number is an [`InvalidInputError`](crate::errors), too.
pub fn number(name: &str, given: &Bound<'_, PyAny>) -> PyResult<f64> {
    if let Ok(float) = given.cast::<PyFloat>() {
        return Ok(float.value());
    }
    if given.cast::<PyBool>().is_err()
        && let Ok(value) = given.extract::<f64>()
    {
        return Ok(value);
    }
    let class = given.get_type().name().map_or("something else".to_owned(), |name| name.to_string());
    Err(invalid(given.py(), &format!("{name} is a {class}, but it must be a number"), &format!("{name}=1.0")))
}

/// A number that a check accepts, for the argument of this name, if it is given.
pub fn checked<T>(
    name: &str,
    given: Option<&Bound<'_, PyAny>>,
    check: impl Fn(f64) -> Result<T, dobrushin::Error>,
) -> PyResult<Option<T>> {
    let Some(given) = given.filter(|given| !given.is_none()) else {
        return Ok(None);
    };
    let value = number(name, given)?;
    check(value).map(Some).map_err(|error| {
        invalid(
            given.py(),
            &format!("{name}: {error}"),
            &format!("see help(dobrushin) for what {name} means"),
        )
    })
}
