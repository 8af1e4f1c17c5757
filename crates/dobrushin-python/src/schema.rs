//! What the columns of a table may hold: a file or a dict.

use crate::convert;
use crate::errors::{Raised, invalid};
use crate::run_file::RunFile;
use crate::work::quickly;
use dobrushin_cli::read_schema;
use dobrushin_document::{ask, schema};
use dobrushin_train::schema::Schema as Declared;
use pyo3::prelude::*;
use std::path::PathBuf;
use toml::Value;

/// What is declared about the columns of a table.
#[pyclass(frozen, module = "dobrushin._core")]
pub struct Schema {
    /// What is declared.
    pub declared: Declared,
}

#[pymethods]
impl Schema {
    /// Reads a file.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Ok(Self { declared: py.detach(|| read_schema(&path)).raised(py)? })
    }

    /// Reads a dict that says what a file says. The keys of a column may be written in snake_case.
    #[staticmethod]
    fn of_dict(py: Python<'_>, given: &Bound<'_, PyAny>) -> PyResult<Self> {
        let Some(mut table @ Value::Table(_)) = convert::value("schema", given)? else {
            return Err(invalid(py, "the schema is no dict", "{\"label\": \"income\", \"columns\": {…}}"));
        };
        convert::kebab_schema(&mut table);
        let text = toml::to_string(&table).unwrap_or_default();
        Ok(Self { declared: quickly(py, || schema::parse(&text))?.raised(py)? })
    }

    /// The schema of a run that can be trained.
    #[staticmethod]
    fn of_run(py: Python<'_>, run: &RunFile) -> PyResult<Self> {
        let opened = &run.opened;
        let contained = py.detach(|| opened.self_contained()).raised(py)?;
        Ok(Self { declared: quickly(py, || contained.schema())?.raised(py)? })
    }

    /// The schema with one of its labels.
    fn with_label(&self, py: Python<'_>, label: &str) -> PyResult<Self> {
        Ok(Self { declared: ask::with_label(self.declared.clone(), Some(label)).raised(py)? })
    }

    /// The columns with features, and those with labels, in the order in which they are wanted.
    fn columns(&self) -> (Vec<&str>, Vec<&str>) {
        (self.declared.feature_columns(), self.declared.label_columns())
    }

    /// The schema as a file.
    fn toml(&self) -> String {
        toml::to_string(&schema::canonical_json(&self.declared)).unwrap_or_default()
    }
}
