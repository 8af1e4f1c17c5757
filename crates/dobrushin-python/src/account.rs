//! How private a run is.

use crate::convert::checked;
use crate::errors::Raised;
use crate::questions::asked;
use crate::run_file::RunFile;
use crate::work::work;
use dobrushin::RenyiOrder;
use dobrushin::account::{Account, Options, Question};
use dobrushin_cli::Problem;
use dobrushin_document::ask::{self, AccountWishes, Accounted};
use dobrushin_document::certificate::Certificate;
use dobrushin_document::report::{AccountReport, Extras};
use dobrushin_document::text::Style;
use dobrushin_document::{SelfContained, json, text};
use pyo3::prelude::*;
use std::sync::Arc;

/// An account. What it means for a person, its text and its certificate take as long as the account itself, so they are
/// made when somebody wants them.
#[pyclass(frozen, module = "dobrushin._core")]
pub struct Answer(Arc<Inner>);

struct Inner {
    file: dobrushin_document::RunFile,
    contained: SelfContained,
    account: Account,
    floor: Option<dobrushin_audit::floor::Floor>,
    options: Options,
    style: Style,
    extras: Extras,
}

/// ε and δ, each with its lower and its upper end, the analysis that proves them, and what must hold.
type Guaranteed = ((f64, f64), (f64, f64), &'static str, Vec<String>);

#[pymethods]
impl Answer {
    /// What was asked for: "epsilon" or "delta".
    fn asked(&self) -> &'static str {
        match self.0.account.question {
            Question::EpsilonAt(_) => "epsilon",
            Question::DeltaAt(_) => "delta",
        }
    }

    /// The guarantee, if there is one.
    fn guarantee(&self) -> Option<Guaranteed> {
        let guarantee = self.0.account.guarantee().ok()?;
        let (found, id) = (guarantee.answer.value, guarantee.id);
        let found = (found.lower(), found.upper());
        let assumptions = guarantee.assumptions.iter().map(ToString::to_string).collect();
        Some(match self.0.account.question {
            Question::EpsilonAt(delta) => (found, (delta.get(), delta.get()), id, assumptions),
            Question::DeltaAt(epsilon) => ((epsilon.get(), epsilon.get()), found, id, assumptions),
        })
    }

    /// The report as JSON, and as the text that people read.
    fn report(&self, py: Python<'_>) -> PyResult<(String, String)> {
        let inner = Arc::clone(&self.0);
        work(py, move |_| {
            let report = AccountReport::new(&inner.file, &inner.account, inner.extras.clone());
            let text = text::account(&report, inner.style).render(inner.style);
            Ok::<_, Problem>((json::of(&report).to_string(), text))
        })
    }

    /// The text of the certificate's file, if there is something to certify.
    fn certificate(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let inner = Arc::clone(&self.0);
        work(py, move |_| {
            let certificate =
                Certificate::of(&inner.contained, &inner.account, inner.floor.as_ref(), &inner.options);
            Ok::<_, Problem>(certificate.map(|certificate| certificate.file()))
        })
    }
}

/// The account of a run.
#[pyfunction]
#[pyo3(signature = (run, *, epsilon=None, delta=None, tolerance=None, analyses=None, floor=true, advice=false, utility=false, per_record=false, observers=false, orders=None))]
#[allow(clippy::too_many_arguments)]
pub fn account(
    py: Python<'_>,
    run: &RunFile,
    epsilon: Option<&Bound<'_, PyAny>>,
    delta: Option<&Bound<'_, PyAny>>,
    tolerance: Option<&Bound<'_, PyAny>>,
    analyses: Option<Vec<String>>,
    floor: bool,
    advice: bool,
    utility: bool,
    per_record: bool,
    observers: bool,
    orders: Option<Vec<Bound<'_, PyAny>>>,
) -> PyResult<Answer> {
    let words = analyses.unwrap_or_default();
    let only = words.iter().map(|word| ask::analyses_of(word)).collect::<Result<Vec<_>, _>>();
    let order = |given: &Bound<'_, PyAny>| {
        checked("orders", Some(given), |value| match RenyiOrder::new(value) {
            Ok(order) if value > 1.0 => Ok(order),
            _ => Err(dobrushin::Error::OutOfRange { name: "order", value, accepted: "above 1" }),
        })
    };
    let orders = orders.unwrap_or_default().iter().map(order).collect::<PyResult<Vec<_>>>()?;
    let tolerance = checked("tolerance", tolerance, AccountWishes::check_tolerance)?;
    let wishes = AccountWishes {
        asked: asked(epsilon, delta)?,
        tolerance: tolerance.unwrap_or(AccountWishes::default().tolerance),
        only: only.raised(py)?.concat(),
        floor,
        advice,
        utility,
        per_record,
        observers,
        orders: orders.into_iter().flatten().collect(),
    };
    let opened = run.opened.clone();
    work(py, move |progress| {
        let contained = opened.self_contained()?;
        let accounted = ask::account(&opened.file, &contained, &wishes, &mut |_| progress.clone())?;
        let Accounted { account, floor, options, extras, .. } = accounted;
        let style = Style { verbose: !wishes.only.is_empty(), ..Style::default() };
        let inner = Inner { file: opened.file, contained, account, floor, options, style, extras };
        Ok::<_, Problem>(Answer(Arc::new(inner)))
    })
}
