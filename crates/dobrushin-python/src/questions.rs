//! What can be asked about a run. Every answer is a report as JSON, and the text that people read.

use crate::convert::{checked, number, value};
use crate::errors::{Kind, Raised, invalid, raise};
use crate::run_file::RunFile;
use crate::work::{quickly, work};
use dobrushin::account::Options;
use dobrushin::{Delta, Epsilon, Probability};
use dobrushin_cli::{Problem, read_schema};
use dobrushin_document::ask::{self, Asked, CalibrationWishes, PlanWishes};
use dobrushin_document::certificate::{self, Certificate, NotAdded};
use dobrushin_document::report::CalibrationReport;
use dobrushin_document::text::Style;
use dobrushin_document::{DocumentError, Sweep, json, sheet, text};
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::path::PathBuf;

type Answer = (String, String);

/// The ε and the δ that are given, if any.
pub fn asked(epsilon: Option<&Bound<'_, PyAny>>, delta: Option<&Bound<'_, PyAny>>) -> PyResult<Asked> {
    let finite = |value: f64| match value {
        f64::INFINITY => Err(dobrushin::Error::OutOfRange { name: "epsilon", value, accepted: "finite" }),
        _ => Epsilon::new(value),
    };
    Ok(Asked { epsilon: checked("epsilon", epsilon, finite)?, delta: checked("delta", delta, Delta::new)? })
}

/// The value of a parameter that just meets a target, and the run with it.
#[pyfunction]
#[pyo3(signature = (run, parameter, *, epsilon=None, delta=None, advantage=None, tpr=None, fpr=None))]
#[allow(clippy::too_many_arguments)]
pub fn calibrate(
    py: Python<'_>,
    run: &RunFile,
    parameter: &str,
    epsilon: Option<&Bound<'_, PyAny>>,
    delta: Option<&Bound<'_, PyAny>>,
    advantage: Option<&Bound<'_, PyAny>>,
    tpr: Option<&Bound<'_, PyAny>>,
    fpr: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, String, RunFile)> {
    let parameter = ask::parameter_of(&parameter.replace('_', "-")).raised(py)?;
    let asked = asked(epsilon, delta)?;
    let advantage = checked("advantage", advantage, Probability::new)?;
    let rates = (checked("tpr", tpr, Probability::new)?, checked("fpr", fpr, Probability::new)?);
    let is_privacy = asked.epsilon.is_some() || asked.delta.is_some();
    let wishes = match (is_privacy, advantage, rates) {
        (_, None, (None, None)) | (false, Some(_), (None, None)) => {
            CalibrationWishes { asked, advantage, rates: None }
        }
        (false, None, (Some(tpr), Some(fpr))) => {
            CalibrationWishes { rates: Some((tpr, fpr)), ..Default::default() }
        }
        _ => {
            return Err(invalid(
                py,
                "the arguments give more than one target, or half of one",
                "epsilon=2, delta=1e-5, or advantage=0.1, or tpr=0.05, fpr=0.01",
            ));
        }
    };
    let mut opened = run.opened.clone();
    let (json, text, value) = {
        opened.file = opened.file.searchable(parameter).raised(py)?;
        let opened = opened.clone();
        work(py, move |progress| {
            let target = wishes.target(&opened.file)?;
            let run = opened.run()?;
            let found = ask::search(&run, parameter, target, progress)?;
            let value = found.value;
            let report = CalibrationReport::new(&run, found, target);
            let text = text::calibration(&report, Style::default()).render(Style::default());
            Ok::<_, Problem>((json::of(&report).to_string(), text, value))
        })?
    };
    opened.file = opened.file.with_found(parameter, value).raised(py)?;
    Ok((json, text, RunFile { opened }))
}

/// A run with one or two of its parameters varied. `over` has a text such as `"steps=1..1e5"`, or a key and its values,
/// for each.
#[pyfunction]
#[pyo3(signature = (run, over, *, epsilon=None, delta=None, points=25, log=false, analyses=None, utility=false))]
#[allow(clippy::too_many_arguments)]
pub fn curve(
    py: Python<'_>,
    run: &RunFile,
    over: &Bound<'_, PyList>,
    epsilon: Option<&Bound<'_, PyAny>>,
    delta: Option<&Bound<'_, PyAny>>,
    points: u32,
    log: bool,
    analyses: Option<Vec<String>>,
    utility: bool,
) -> PyResult<Answer> {
    if !(2..=100_000).contains(&points) {
        return Err(invalid(
            py,
            &format!("points is {points}, but it must be between 2 and 100000"),
            "points=25",
        ));
    }
    let mut sweeps = Vec::new();
    for one in over.iter() {
        sweeps.push(match one.extract::<String>() {
            Ok(text) => Sweep::parse(&text, points, log).raised(py)?,
            Err(_) => {
                let (key, values): (String, Vec<Bound<'_, PyAny>>) = one.extract().map_err(|_| {
                    invalid(
                        py,
                        "over is neither a text nor a dict of keys and values",
                        "over={\"steps\": [1, 10, 100]}",
                    )
                })?;
                let key = key.replace("__", ".").replace('_', "-");
                let mut list = Vec::with_capacity(values.len());
                for given in &values {
                    list.push(value(&key, given)?.ok_or_else(|| {
                        invalid(py, &format!("over: {key} has the value None"), "leave it out")
                    })?);
                }
                Sweep::of(&key, list).raised(py)?
            }
        });
    }
    if sweeps.is_empty() {
        return Err(invalid(py, "over is empty: nothing is varied", "over={\"steps\": [1, 10, 100]}"));
    }
    ask::refuse_sweeps(&sweeps).raised(py)?;
    let only =
        analyses.unwrap_or_default().iter().map(|word| ask::analyses_of(word)).collect::<Result<Vec<_>, _>>();
    let only = only.raised(py)?.concat();
    let (asked, opened) = (asked(epsilon, delta)?, run.opened.clone());
    work(py, move |progress| {
        // The target itself may be varied.
        let first = opened.with(sweeps.iter().map(|sweep| sweep.setting(0)))?;
        let question = asked.of(&first.file)?;
        let options = Options { only, progress: progress.clone(), ..Options::default() };
        let curve = ask::curve(sweeps, question, utility, &options, |settings| {
            let opened = opened.with(settings)?;
            Ok::<_, Problem>((opened.run()?, opened.file.question()?))
        })?;
        let text = text::curve(&curve, Style::default()).render(Style::default());
        Ok::<_, Problem>((json::of(&curve).to_string(), text))
    })
}

/// The best runs that a budget buys, and the run file of the best. Give the path of a schema, or its text, or the number
/// of features and classes.
#[pyfunction]
#[pyo3(signature = (*, records, epsilon, delta, schema=None, schema_text=None, dimension=None, classes=None, label=None, model=None, order=None, neighbours=None))]
#[allow(clippy::too_many_arguments)]
pub fn plan(
    py: Python<'_>,
    records: &Bound<'_, PyAny>,
    epsilon: &Bound<'_, PyAny>,
    delta: &Bound<'_, PyAny>,
    schema: Option<PathBuf>,
    schema_text: Option<&str>,
    dimension: Option<&Bound<'_, PyAny>>,
    classes: Option<&Bound<'_, PyAny>>,
    label: Option<String>,
    model: Option<String>,
    order: Option<&str>,
    neighbours: Option<&str>,
) -> PyResult<(String, String, RunFile)> {
    let count = |name: &str, given: &Bound<'_, PyAny>| {
        let text = number(name, given)?.to_string();
        ask::count_of(&text).map_err(|error| DocumentError::new(format!("{name}: {error}"))).raised(py)
    };
    let schema = match (schema, schema_text, dimension) {
        (Some(path), None, None) => py.detach(|| read_schema(&path)).raised(py)?,
        (None, Some(text), None) => dobrushin_document::schema::parse(text).raised(py)?,
        (None, None, Some(dimension)) => {
            let classes = classes.map(|given| count("classes", given)).transpose()?;
            ask::schema_of(count("dimension", dimension)?, classes.unwrap_or(2)).raised(py)?
        }
        _ => {
            return Err(invalid(
                py,
                "a plan needs either a schema or the number of features",
                "schema=\"schema.toml\", or dimension=20, classes=2",
            ));
        }
    };
    let records = count("records", records)?;
    let asked = asked(Some(epsilon), Some(delta))?;
    let (Some(epsilon), Some(delta)) = (asked.epsilon, asked.delta) else {
        return Err(invalid(py, "epsilon and delta are both needed", "epsilon=1.0, delta=1e-6"));
    };
    let wishes = PlanWishes {
        label,
        model,
        order: order.map(ask::order_of).transpose().raised(py)?,
        neighbours: neighbours.map(ask::neighbours_of).transpose().raised(py)?,
    };
    let (json, text, file) = work(py, move |progress| {
        let report = ask::planned(schema, records, epsilon, delta, &wishes, progress)?;
        let text = text::chosen(&report, Style::default()).render(Style::default());
        let file = report.best.file();
        Ok::<_, DocumentError>((json::of(&report).to_string(), text, file))
    })?;
    Ok((json, text, RunFile { opened: dobrushin_cli::Opened::here(file) }))
}

/// Whether a certificate holds, and belongs to a model.
#[pyfunction]
#[pyo3(signature = (certificate, *, name, model=None, model_name=None))]
pub fn verify(
    py: Python<'_>,
    certificate: Vec<u8>,
    name: String,
    model: Option<Vec<u8>>,
    model_name: Option<String>,
) -> PyResult<Answer> {
    work(py, move |_| {
        let certificate = certificate::read(&certificate, &name)?;
        let found = certificate::verify(&certificate, model.as_deref())?;
        let text =
            text::verification(&found, model_name.as_deref(), Style::default()).render(Style::default());
        Ok::<_, DocumentError>((json::of(&found).to_string(), text))
    })
}

/// The guarantee of several releases about the same people together, each given by the name and the bytes of its
/// certificate.
#[pyfunction]
#[pyo3(signature = (certificates, *, delta=None))]
pub fn total(
    py: Python<'_>,
    certificates: Vec<(String, Vec<u8>)>,
    delta: Option<&Bound<'_, PyAny>>,
) -> PyResult<Answer> {
    let delta = asked(None, delta)?.delta.map(ask::worth_meeting).transpose().raised(py)?;
    work(py, move |_| {
        let read = |(name, bytes): (String, Vec<u8>)| {
            let certificate = certificate::read(&bytes, &name)?;
            Ok::<_, DocumentError>((name, certificate))
        };
        let certificates = certificates.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let found = certificate::total(&certificates, delta).map_err(|refused| match refused {
            NotAdded::Bad(error) => error,
            NotAdded::DoesNotHold(why) => {
                DocumentError::answer_is_no(format!("nothing is added up, because {why}"))
                    .help("dobrushin.verify lists every difference, and what does hold")
            }
        })?;
        let text = text::total(&found, Style::default()).render(Style::default());
        Ok::<_, DocumentError>((json::of(&found).to_string(), text))
    })
}

/// A certificate that dobrushin wrote, for people.
#[pyfunction]
pub fn certificate_text(py: Python<'_>, certificate: &str) -> PyResult<String> {
    let text = quickly(py, || {
        serde_json::from_str::<Certificate>(certificate).ok().map(|read| sheet::of_certificate(&read).text())
    })?;
    text.ok_or_else(|| raise(py, Kind::InvalidInput, "it is not a certificate", Some(certificate::WRITERS)))
}

/// A theorem or an idea in plain words, as `dobrushin explain` prints it.
#[pyfunction]
pub fn explain(py: Python<'_>, topic: Option<String>) -> PyResult<String> {
    quickly(py, || dobrushin_cli::explanation(topic.as_deref()))?.raised(py)
}
