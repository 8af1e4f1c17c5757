//! What attacks prove, and whether it contradicts what is claimed.

use crate::convert::checked;
use crate::questions::asked;
use crate::run_file::RunFile;
use crate::work::work;
use dobrushin_cli::Problem;
use dobrushin_document::ask::{self, Asked, Attack};
use dobrushin_document::text::Style;
use dobrushin_document::{json, text};
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use std::sync::Arc;

/// What is claimed of a program, and the confidence with which it is contradicted if it is. It is computed before a
/// model is trained, so that nobody trains a thousand of them for a claim that makes no sense.
#[pyclass(frozen, module = "dobrushin._core")]
pub struct Claim {
    claim: Arc<ask::Claim>,
    confidence: f64,
}

/// The claim of a run, at this δ or that of its target; or that of ε and δ.
#[pyfunction]
#[pyo3(signature = (run=None, *, epsilon=None, delta=None, confidence=None))]
pub fn claim(
    py: Python<'_>,
    run: Option<&RunFile>,
    epsilon: Option<&Bound<'_, PyAny>>,
    delta: Option<&Bound<'_, PyAny>>,
    confidence: Option<&Bound<'_, PyAny>>,
) -> PyResult<Claim> {
    let share = |value: f64| match value {
        value if 0.0 < value && value < 1.0 => Ok(value),
        _ => Err(dobrushin::Error::OutOfRange { name: "confidence", value, accepted: "above 0 and below 1" }),
    };
    let confidence = checked("confidence", confidence, share)?.unwrap_or(0.95);
    let (asked, opened) = (asked(epsilon, delta)?, run.map(|run| run.opened.clone()));
    work(py, move |progress| {
        let claim = match (opened, asked) {
            (Some(opened), Asked { epsilon: None, delta }) => {
                ask::Claim::of_run(&opened.file, &opened.self_contained()?, delta, progress.clone())?
            }
            (None, Asked { epsilon: Some(epsilon), delta: Some(delta) }) => {
                ask::Claim::of_pair(epsilon, delta)?
            }
            _ => {
                return Err(Problem::new("what is claimed is either a run, or ε and δ")
                    .help("run=…, or epsilon=2, delta=1e-5"));
            }
        };
        Ok::<_, Problem>(Claim { claim: Arc::new(claim), confidence })
    })
}

#[pymethods]
impl Claim {
    /// What the rows prove against it, each of which is the score of a run, or a model.
    fn audit(
        &self,
        py: Python<'_>,
        with_rows: PyReadonlyArray2<'_, f64>,
        without_rows: PyReadonlyArray2<'_, f64>,
    ) -> PyResult<(String, String)> {
        let rows = |given: &PyReadonlyArray2<'_, f64>| -> Vec<Vec<f64>> {
            given.as_array().rows().into_iter().map(|row| row.to_vec()).collect()
        };
        let (with, without) = (rows(&with_rows), rows(&without_rows));
        let (claim, confidence) = (Arc::clone(&self.claim), self.confidence);
        work(py, move |_| {
            let found = ask::audit(&claim, &[Attack::on(with, without)?], confidence)?.report;
            let text = text::audit(&found, Style::default()).render(Style::default());
            Ok::<_, Problem>((json::of(&found).to_string(), text))
        })
    }
}

/// How much of a run's guarantee is real: the worst case that is known, and where the gap opens.
#[pyfunction]
#[pyo3(signature = (run, *, epsilon=None, delta=None))]
pub fn worst_case(
    py: Python<'_>,
    run: &RunFile,
    epsilon: Option<&Bound<'_, PyAny>>,
    delta: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, String)> {
    let (asked, opened) = (asked(epsilon, delta)?, run.opened.clone());
    work(py, move |progress| {
        let contained = opened.self_contained()?;
        let found = ask::worst_case(&opened.file, &contained, asked, &mut |_| progress.clone())?.report;
        let text = text::worst_case(&found, Style::default()).render(Style::default());
        Ok::<_, Problem>((json::of(&found).to_string(), text))
    })
}
