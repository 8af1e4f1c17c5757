//! Deleting records from a model whose state was kept.

use crate::convert::number;
use crate::errors::{Raised, invalid};
use crate::frame::{Given, cell_of};
use crate::questions::asked;
use crate::schema::Schema;
use crate::train::refuse_clash;
use crate::work::work;
use dobrushin_cli::{
    Folder, How, Outcome, Problem, Request, Resumed, Rows, Which, load_columns, refuse_none,
};
use dobrushin_document::ask;
use dobrushin_document::forgotten::Wish;
use dobrushin_document::report::ForgettingReport;
use dobrushin_document::text::Style;
use dobrushin_document::{json, text};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;

/// The schema of a state, and the run that was trained, as JSON and without requests.
#[pyfunction]
pub fn state_of(py: Python<'_>, path: PathBuf) -> PyResult<(Schema, String)> {
    let (declared, run) = work(py, move |_| {
        let resumed = Resumed::open(&path)?;
        Ok::<_, Problem>((resumed.schema().clone(), resumed.state().run.json().to_string()))
    })?;
    Ok((Schema { declared }, run))
}

/// Deletes records from a model, as `dobrushin forget` does, and gives the bytes of the new model's file and its
/// certificate, the report as JSON and as text, and a warning. Nothing is written unless everything is done.
///
/// `data` has the columns of the schema, and then those of `more`. Of `like`, `numbers` and `conditions`, one is given.
/// `like` has the columns of the schema, or only that of the group.
#[pyfunction]
#[pyo3(signature = (state, data, *, delta, more, like=None, numbers=None, mask=None, conditions=None, group=None, epsilon=None, steps=None, dry_run=false, test=None, out=None, force=false, seed=None))]
#[allow(clippy::too_many_arguments, clippy::type_complexity)]
pub fn forget<'py>(
    py: Python<'py>,
    state: PathBuf,
    data: &Bound<'_, PyAny>,
    delta: &Bound<'_, PyAny>,
    more: Vec<String>,
    like: Option<&Bound<'_, PyAny>>,
    numbers: Option<Vec<u64>>,
    mask: Option<u64>,
    conditions: Option<Vec<(String, Bound<'_, PyAny>)>>,
    group: Option<String>,
    epsilon: Option<&Bound<'_, PyAny>>,
    steps: Option<&Bound<'_, PyAny>>,
    dry_run: bool,
    test: Option<&Bound<'_, PyAny>>,
    out: Option<PathBuf>,
    force: bool,
    seed: Option<u64>,
) -> PyResult<(Option<(Bound<'py, PyBytes>, String)>, String, String, Option<String>)> {
    let steps = steps.map(|given| {
        let count = ask::count_of(&number("steps", given)?.to_string());
        count.map_err(|error| error.within("steps").help("steps=100")).raised(py)
    });
    let asked = asked(epsilon, Some(delta))?;
    let Some(delta) = asked.delta else {
        return Err(invalid(py, "there is no delta", "delta=1e-6, well below 1 over the number of records"));
    };
    let wish = Wish::of(asked.epsilon, delta, steps.transpose()?).raised(py)?;
    let how = How::new(wish, seed, dry_run).raised(py)?;
    let data = Given::of(data, "the data")?;
    let like = like.map(|given| Given::of(given, "the rows to remove")).transpose()?;
    let test = test.map(|given| Given::of(given, "the test records")).transpose()?;
    let given = [
        ("the data", Some(&data)),
        ("the rows to delete", like.as_ref()),
        ("the test records", test.as_ref()),
    ];
    refuse_clash(("--state", &state), out.as_deref(), &given).raised(py)?;
    // Which text a value is depends on its column, so that the schema is read before the state is opened to go on.
    let conditions = match conditions {
        None => Vec::new(),
        Some(given) => {
            let (schema, _) = state_of(py, state.clone())?;
            let one = |(name, value): (String, Bound<'_, PyAny>)| {
                let cell = cell_of(&value, &name, &schema.declared);
                (name, cell)
            };
            given.into_iter().map(one).collect()
        }
    };
    let (outcome, folder, metrics, warning) = work(py, move |progress| {
        let mut resumed = Resumed::open(&state)?;
        let warning = resumed.warning.take();
        let folder = out.map(|path| Folder::new(&path, force)).transpose()?;
        let schema = resumed.schema();
        let own: Vec<String> = schema.columns_wanted().into_iter().map(str::to_owned).collect();
        let all = own.iter().chain(&more).cloned().collect();
        let test = test.as_ref().map(|given| {
            let loaded = load_columns(given.path(), given.columns(schema, true)?, schema, false, false)?;
            refuse_none(given.path(), loaded.table.len() as u64)?;
            Ok::<_, Problem>(loaded.table)
        });
        let test = test.transpose()?;
        let like =
            like.as_ref().map(|like| like.named(schema, group.clone().map_or(own, |group| vec![group])));
        let which = match (&like, &numbers) {
            (Some(like), _) => Which::Like(like as &dyn Rows),
            (None, Some(numbers)) => Which::Rows { numbers, of: mask },
            (None, None) => Which::Where(&conditions),
        };
        let request = Request { which, group: group.as_deref() };
        let found = resumed.find(&data.named(schema, all), &request, false)?;
        let outcome = resumed.forget(found, how, &mut |_| progress.clone())?;
        let metrics = test.zip(outcome.made.as_ref()).map(|(table, made)| made.trained.metrics(&table, true));
        Ok::<_, Problem>((outcome, folder, metrics, warning))
    })?;
    // Nobody has pressed Ctrl-C up to here, and from here on nothing listens to it.
    let Outcome { report, made } = outcome;
    if let Some(made) = &made {
        py.detach(|| made.write(folder.as_ref(), None)).raised(py)?;
    }
    let files = folder.as_ref().filter(|_| made.is_some()).map(Folder::files);
    let report = ForgettingReport { files, test: metrics, ..report };
    let style = Style::default();
    let (data, said) = (json::of(&report).to_string(), text::forgetting(&report, style).render(style));
    let model = made.map(|made| (PyBytes::new(py, &made.trained.model), made.trained.certificate.file()));
    Ok((model, data, said, warning))
}
