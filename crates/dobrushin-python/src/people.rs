//! Whose each record is: names of people in memory.
//!
//! A name is text, or a whole number, which is the same name as its digits. What is missing, rounded or no name is refused,
//! because somebody who is spelled in two ways would have two budgets.

use crate::errors::invalid;
use dobrushin_cli::{Cells, Columns, Problem, Rows};
use dobrushin_ledger::{Ledger, Roll};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};
use std::path::Path;
use std::sync::Arc;

/// The names of people, one for each record.
#[derive(Clone)]
pub struct Names {
    names: Arc<Vec<String>>,
    /// The name of the argument.
    argument: &'static str,
}

impl Names {
    /// An array of whole numbers, or a list of anything, which is the argument of this name.
    pub fn of(given: &Bound<'_, PyAny>, argument: &'static str) -> PyResult<Self> {
        let names = match given.extract::<PyReadonlyArray1<'_, i64>>() {
            Ok(whole) => whole.as_array().iter().map(i64::to_string).collect(),
            Err(_) => given
                .try_iter()?
                .enumerate()
                .map(|(place, cell)| name_of(&cell?, &format!("{argument}[{place}]")))
                .collect::<PyResult<Vec<_>>>()?,
        };
        Ok(Self { names: Arc::new(names), argument })
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// The people, in the order of their records.
    ///
    /// # Errors
    /// [`Problem`] if something is no name.
    pub fn roll(&self, ledger: &mut Ledger) -> Result<Roll, Problem> {
        let mut roll = Roll::new(&ledger.terms()?);
        for (place, name) in self.names.iter().enumerate() {
            let added = roll.add(name.as_bytes());
            added.map_err(|error| Problem::from(error).within(&format!("{}[{place}]", self.argument)))?;
        }
        Ok(roll)
    }

    /// For each record, whether its person is not one of these.
    pub fn without(&self, left_out: &[String]) -> Vec<bool> {
        // Both are in order of their bytes.
        let is_out = |name: &str| left_out.binary_search_by(|other| other.as_str().cmp(name)).is_ok();
        self.names.iter().map(|name| !is_out(name.trim_ascii())).collect()
    }
}

/// The name that messages find at this place.
pub fn name_of(given: &Bound<'_, PyAny>, place: &str) -> PyResult<String> {
    let py = given.py();
    let refused = |what: &str, help: &str| Err(invalid(py, &format!("{place} {what}"), help));
    if let Ok(text) = given.cast::<PyString>() {
        return match text.to_str() {
            Ok(text) => Ok(text.to_owned()),
            Err(_) => refused("is not valid text", "names are Unicode text without lone surrogates"),
        };
    }
    let class = given.get_type().name().map_or("something else".to_owned(), |name| name.to_string());
    let is_missing = given.is_none() || ["NAType", "NaTType", "MaskedConstant"].contains(&class.as_str());
    let number = if is_missing { None } else { given.extract::<f64>().ok() };
    if is_missing || number.is_some_and(f64::is_nan) {
        return refused(
            "is missing, but nobody can be charged without a name",
            "each record needs a name or number that is always the same for the same person",
        );
    }
    if number.is_some() && given.call_method0("__index__").is_err() {
        return refused(
            &format!("is a {class}, but a name is text or a whole number"),
            "floats are rounded, so they are no names: read the column as text or whole numbers, such as \
             column.astype(\"int64\")",
        );
    }
    let is_flag = given.cast::<PyBool>().is_ok() || class == "bool" || class == "bool_";
    match given.call_method0("__index__").and_then(|whole| whole.str()) {
        Ok(digits) if !is_flag => Ok(digits.to_string_lossy().into_owned()),
        _ => refused(
            &format!("is a {class}, but a name is text or a whole number"),
            "give the name as text, such as str(name), always in the same form",
        ),
    }
}

impl Rows for Names {
    fn path(&self) -> &Path {
        Path::new("the data")
    }

    /// There is one column, whatever it is called.
    fn columns(&self, _: &[&str]) -> Result<Box<dyn Columns>, Problem> {
        Ok(Box::new(Column { names: self.names.clone(), next: 0 }))
    }
}

/// Reads names from the first to the last.
struct Column {
    names: Arc<Vec<String>>,
    next: usize,
}

impl Columns for Column {
    fn becoming(&mut self, _: usize) {}

    fn next(&mut self) -> Result<(Cells, u64), Problem> {
        let mut cells = Cells::new(1);
        while !cells.is_full(0)
            && let Some(name) = self.names.get(self.next)
        {
            cells.push(name.as_bytes());
            self.next += 1;
            cells.end_row(self.next as u64);
        }
        Ok((cells, self.next as u64))
    }

    fn length(&self) -> Option<u64> {
        Some(self.names.len() as u64)
    }

    fn place(&self) -> &'static str {
        "row"
    }
}
