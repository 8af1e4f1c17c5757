//! What went wrong, as Python users meet it: the exceptions of `dobrushin.errors`.

use dobrushin_cli::Problem;
use dobrushin_ledger::OverBudget;
use pyo3::call::PyCallArgs;
use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// The exceptions, by what they say about whose fault it is.
#[derive(Clone, Copy)]
pub enum Kind {
    /// Something that the user gave.
    InvalidInput,
    /// Nobody's: the answer is "no".
    NoGuarantee,
    /// Ours.
    Internal,
    /// Nobody's: people would spend more than they may.
    OverBudget,
}

/// An exception with a message and, where possible, what to do.
pub fn raise(py: Python<'_>, kind: Kind, message: &str, help: Option<&str>) -> PyErr {
    raised_with(py, kind, (in_python(message), help.map(in_python)))
}

/// An exception that is made of these arguments.
fn raised_with<'py>(py: Python<'py>, kind: Kind, arguments: impl PyCallArgs<'py>) -> PyErr {
    static CLASSES: PyOnceLock<[Py<PyType>; 4]> = PyOnceLock::new();
    let classes = CLASSES.get_or_try_init(py, || {
        let module = py.import("dobrushin.errors")?;
        let class = |name| Ok::<_, PyErr>(module.getattr(name)?.cast_into::<PyType>()?.unbind());
        Ok::<_, PyErr>([
            class("InvalidInputError")?,
            class("NoGuaranteeError")?,
            class("InternalError")?,
            class("OverBudgetError")?,
        ])
    });
    let class = match classes {
        Ok(classes) => classes[kind as usize].bind(py),
        Err(error) => return error,
    };
    match class.call1(arguments).and_then(|error| Ok(error.cast_into::<PyBaseException>()?)) {
        Ok(error) => PyErr::from_value(error.into_any()),
        Err(error) => error,
    }
}

/// Something that the user gave is wrong.
pub fn invalid(py: Python<'_>, message: &str, help: &str) -> PyErr {
    raise(py, Kind::InvalidInput, message, Some(help))
}

/// Anything that can go wrong below, for Python.
pub trait Raised<T> {
    /// The value, or an exception.
    fn raised(self, py: Python<'_>) -> PyResult<T>;
}

impl<T, E: Into<Problem>> Raised<T> for Result<T, E> {
    fn raised(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| {
            let problem = error.into();
            let (message, help) = (problem.to_string(), problem.help_text());
            if let Some(OverBudget { count, first }) = problem.people_over_budget() {
                let arguments = (in_python(&message), help.map(in_python), first.clone(), *count);
                return raised_with(py, Kind::OverBudget, arguments);
            }
            let kind = if problem.is_answer() { Kind::NoGuarantee } else { Kind::InvalidInput };
            raise(py, kind, &message, help)
        })
    }
}

/// Flags that are arguments which are true or false.
const SWITCHES: [&str; 6] =
    ["force", "not_private", "skip_bad", "dry_run", "leave_out", "nothing_was_released"];

/// A message with the names of flags as the names of arguments: `--test-share` is `test_share`, `--delta 1e-6` is
/// `delta=1e-6`, and `--force` is `force=True`. A command of the program stays as it is.
fn in_python(message: &str) -> String {
    let mut text = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(at) = rest.find("--") {
        let (before, flag) = (&rest[..at], &rest[at + 2..]);
        let end = flag.find(|c: char| !(c.is_ascii_lowercase() || c == '-')).unwrap_or(flag.len());
        let begins_a_word = before.chars().next_back().is_none_or(|c| !c.is_alphanumeric() && c != '-');
        text.push_str(before);
        let is_of_a_command =
            text.rsplit([',', ';', ':', '\n']).next().is_some_and(|clause| clause.contains("dobrushin "));
        let follows = &flag[end..];
        rest = follows;
        if is_of_a_command || !begins_a_word || !flag.starts_with(|c: char| c.is_ascii_lowercase()) {
            text.push_str("--");
            text.push_str(&flag[..end]);
            continue;
        }
        let name = flag[..end].replace('-', "_");
        text.push_str(&name);
        if SWITCHES.contains(&name.as_str()) && !follows.starts_with(" out") {
            text.push_str("=True");
        } else if let Some(value) = follows.strip_prefix(' ')
            && value.starts_with(|c: char| c.is_ascii_digit() || c == '"')
        {
            text.push('=');
            // Arguments are divided by commas, and flags by spaces.
            let end = value.find(' ').unwrap_or(value.len());
            text.push_str(&value[..end]);
            rest = &value[end..];
            if rest.starts_with(" --") {
                text.push(',');
            }
        }
    }
    text.push_str(rest);
    text
}
