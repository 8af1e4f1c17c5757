//! What was run: a file, a dict or keyword arguments.

use crate::convert;
use crate::errors::{Raised, invalid};
use dobrushin_cli::Opened;
use dobrushin_document::{RunFile as File, Setting};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use toml::Value;

/// What a run file says, and the folder that names of files in it are relative to.
#[pyclass(frozen, module = "dobrushin._core")]
pub struct RunFile {
    /// The file, with the folder of the files that it names.
    pub opened: Opened,
}

#[pymethods]
impl RunFile {
    /// Reads a file.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let opened = py.detach(|| Opened::new(Some(&path), &[], &dobrushin_cli::Guard::of_nothing()));
        Ok(Self { opened: opened.raised(py)? })
    }

    /// Reads a text.
    #[staticmethod]
    fn parse(py: Python<'_>, text: &str) -> PyResult<Self> {
        let file = File::parse(text, "the text").raised(py)?;
        Ok(Self { opened: Opened::here(file) })
    }

    /// Reads a dict of sections.
    #[staticmethod]
    fn of_sections(sections: &Bound<'_, PyAny>) -> PyResult<Self> {
        let file = File::of_tables(convert::tables(sections)?);
        Ok(Self { opened: Opened::here(file) })
    }

    /// The same run with other values. Names are those of the keys of run files, in snake_case or not, also with their
    /// section; lists of tables (`mechanism`, `step`, `task`) and sections are given whole.
    fn with_keys(&self, py: Python<'_>, keys: &Bound<'_, PyDict>) -> PyResult<Self> {
        let mut opened = self.opened.clone();
        for (name, given) in keys.iter() {
            let name: String = name.extract().map_err(|_| invalid(py, "a key is not text", "steps=1000"))?;
            let name = name.replace("__", ".").replace('_', "-");
            match convert::value(&name, &given)? {
                None => {}
                Some(Value::Table(_) | Value::Array(_)) if File::is_section(&name) => {
                    let section = PyDict::new(py);
                    section.set_item(&name, &given)?;
                    opened.file.set_sections(convert::tables(&section)?);
                }
                Some(value) => {
                    let setting = Setting::of(&name, value).raised(py)?;
                    opened.file.set(&setting).raised(py)?;
                }
            }
        }
        Ok(Self { opened })
    }

    /// The run as JSON, as reports and certificates hold it.
    fn json(&self) -> String {
        self.opened.file.json().to_string()
    }

    /// The run as a run file.
    fn toml(&self) -> String {
        self.opened.file.toml()
    }

    /// The same run with the content of every file that it names, so that it means the same everywhere.
    fn self_contained(&self, py: Python<'_>) -> PyResult<Self> {
        let opened = self.opened.clone();
        let contained = crate::work::work(py, move |_| opened.self_contained())?;
        Ok(Self { opened: Opened::here(contained.file()) })
    }

    /// Whether the run names files.
    fn names_files(&self) -> bool {
        self.opened.file.names().next().is_some()
    }

    /// Refuses a run that cannot be accounted for.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        let opened = self.opened.clone();
        crate::work::work(py, move |_| opened.run().map(drop))
    }
}
