//! Finite channels: how much they make their inputs alike.

use crate::arrays::{Cost, Numbers, interval, map};
use crate::divergences::{level, named};
use crate::errors::{Raised, invalid};
use crate::work::work;
use dobrushin::divergence::{DiscretePair, FiniteLaw};
use dobrushin::kernel::{ContractionCurve, FiniteKernel, Kernel, Passage};
use dobrushin::{Delta, Enclosure, Epsilon, Error, Gamma};
use dobrushin_document::report::{Coefficients, EtaReport, KernelReport, Level, PassageReport};
use dobrushin_document::text::Style;
use dobrushin_document::{json, text};
use numpy::PyArray2;
use pyo3::prelude::*;
use std::sync::{Arc, OnceLock};

/// A product is formed if inputs² × outputs, the cost of comparing its inputs, is at most this.
const MOST_COMPARISONS: f64 = (1_u64 << 28) as f64;

/// A channel with finitely many inputs and outputs.
#[pyclass(frozen, module = "dobrushin._core")]
pub struct FiniteChannel {
    kernel: Arc<FiniteKernel>,
    /// γ ↦ η_γ, once it is asked for.
    curve: OnceLock<Arc<ContractionCurve>>,
}

impl FiniteChannel {
    fn of(kernel: FiniteKernel) -> Self {
        Self { kernel: Arc::new(kernel), curve: OnceLock::new() }
    }

    fn curve(&self, py: Python<'_>) -> PyResult<Arc<ContractionCurve>> {
        if let Some(curve) = self.curve.get() {
            return Ok(curve.clone());
        }
        let kernel = self.kernel.clone();
        let curve = work(py, move |progress| {
            Ok::<_, Error>(Arc::new(kernel.curve_with_progress(|| progress.advance(1))))
        })?;
        Ok(self.curve.get_or_init(|| curve).clone())
    }
}

/// Two inputs, counted from 0.
type Inputs = (usize, usize);

#[pymethods]
impl FiniteChannel {
    /// The channel with these rows, which are divided by their sums if that is wanted.
    #[new]
    fn new(matrix: &Bound<'_, PyAny>, normalise: bool) -> PyResult<Self> {
        let rows = Numbers::rows("the matrix", matrix)?;
        let built = if normalise { FiniteKernel::proportional_to(rows) } else { FiniteKernel::new(rows) };
        built.map(Self::of).map_err(|error| {
            let help = match error {
                Error::SumNotOne { .. } => "normalise=True divides every row by its sum",
                _ => "rows are inputs, columns are outputs, and entries are probabilities",
            };
            invalid(matrix.py(), &format!("the matrix is not a channel: {error}"), help)
        })
    }

    #[getter]
    fn inputs(&self) -> usize {
        self.kernel.inputs()
    }

    #[getter]
    fn outputs(&self) -> usize {
        self.kernel.outputs()
    }

    /// The probabilities, a row for each input.
    fn matrix<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let row = |input: usize| self.kernel.row_enclosures(input).map(Enclosure::midpoint).collect();
        let rows: Vec<Vec<f64>> = (0..self.kernel.inputs()).map(row).collect();
        PyArray2::from_vec2(py, &rows).map_err(|error| invalid(py, &error.to_string(), "give a matrix"))
    }

    /// η_γ.
    #[pyo3(signature = (*, epsilon=None, gamma=None, bounds=false))]
    fn contraction<'py>(
        &self,
        py: Python<'py>,
        epsilon: Option<&Bound<'py, PyAny>>,
        gamma: Option<&Bound<'py, PyAny>>,
        bounds: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (name, level, as_gamma) = level(py, epsilon, gamma)?;
        let curve = self.curve(py)?;
        map(py, [(name, level)], bounds, Cost::Little, |[level]| Ok(curve.contraction(as_gamma(level)?)))
    }

    /// The smallest ε at which the channel is (ε, δ)-locally private.
    #[pyo3(signature = (delta, *, bounds=false))]
    fn epsilon<'py>(
        &self,
        py: Python<'py>,
        delta: &Bound<'py, PyAny>,
        bounds: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let curve = self.curve(py)?;
        map(py, [("delta", delta)], bounds, Cost::Much, |[delta]| Ok(curve.epsilon_at(Delta::new(delta)?)))
    }

    /// η_1, and the inputs that attain it.
    fn total_variation<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Inputs)> {
        let kernel = self.kernel.clone();
        let found = work(py, move |_| Ok::<_, Error>(kernel.contraction_with_pair(Gamma::ONE)))?;
        Ok((interval(py, found.value)?, found.pair))
    }

    /// η_χ² = η_KL, the inputs that attain it, and the weight of the first.
    fn chi_squared<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Inputs, f64)> {
        let kernel = self.kernel.clone();
        let found = work(py, move |progress| {
            Ok::<_, Error>(kernel.chi_squared_contraction_with_progress(|| progress.advance(1)))
        })?;
        Ok((interval(py, found.value)?, found.pair, found.weight))
    }

    /// The γ at which γ ↦ η_γ bends, with the inputs that attain it just below.
    fn bends(&self, py: Python<'_>) -> PyResult<Vec<(f64, Inputs)>> {
        Ok(self.curve(py)?.bends().collect())
    }

    /// The channel that applies this one and then another.
    fn then(&self, py: Python<'_>, next: &Self) -> PyResult<Self> {
        let (kernel, next) = (self.kernel.clone(), next.kernel.clone());
        work(py, move |_| kernel.then(&next)).map(Self::of)
    }

    /// The channel that applies both, independently, to a pair of inputs.
    fn beside(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        let (kernel, other) = (self.kernel.clone(), other.kernel.clone());
        let inputs = kernel.inputs() as f64 * other.inputs() as f64;
        if inputs * inputs * kernel.outputs() as f64 * other.outputs() as f64 > MOST_COMPARISONS {
            let message = "the product is too large: inputs² × outputs is above 2^28";
            return Err(invalid(py, message, "combine fewer channels"));
        }
        work(py, move |_| kernel.beside(&other)).map(Self::of)
    }

    /// What the channel leaves of a divergence of two laws of its input, as JSON.
    fn passage(
        &self,
        py: Python<'_>,
        mu: &Bound<'_, PyAny>,
        nu: &Bound<'_, PyAny>,
        f: &str,
    ) -> PyResult<String> {
        let law = |name: &str, given: &Bound<'_, PyAny>| {
            let numbers = Numbers::list(name, given)?;
            if numbers.len() != self.kernel.inputs() {
                let (found, inputs) = (numbers.len(), self.kernel.inputs());
                let message =
                    format!("{name} has {found} probabilities, but the channel has {inputs} inputs");
                return Err(invalid(py, &message, "give a probability for each input"));
            }
            FiniteLaw::new(name, numbers).raised(py)
        };
        let laws = DiscretePair::new(law("mu", mu)?, law("nu", nu)?).raised(py)?;
        let (f, curve, kernel) = (named(py, f)?, self.curve(py)?, self.kernel.clone());
        work(py, move |_| {
            let chi2 = kernel.chi_squared_contraction().value;
            let passage = Passage::through_channel(&laws, &kernel, (&curve, chi2), &f)?;
            Ok::<_, Error>(json::of(&PassageReport::new(&f, &passage)).to_string())
        })
    }

    /// All coefficients, as `dobrushin kernel` says them.
    fn report(&self, py: Python<'_>) -> PyResult<(String, String)> {
        let kernel = self.kernel.clone();
        work(py, move |_| {
            let levels =
                [0.0, 0.5, 1.0, 2.0, 5.0].map(|epsilon| Epsilon::new(epsilon).and_then(Level::at_epsilon));
            let levels = levels.into_iter().collect::<Result<Vec<Level>, Error>>()?;
            let eta = |&level: &Level| {
                let found = kernel.contraction_with_pair(level.gamma);
                EtaReport::new(level, found.value, Some(found.pair), [])
            };
            let (tv, chi2) = (kernel.contraction_with_pair(Gamma::ONE), kernel.chi_squared_contraction());
            let zero = Delta::new(0.0)?;
            let found = Coefficients {
                eta: levels.iter().map(eta).collect(),
                tv: (tv.value, Some(tv.pair)),
                chi2: (chi2.value, Some((chi2.pair, chi2.weight))),
                epsilon_at_delta: vec![(zero, kernel.epsilon_at(zero))],
            };
            let (inputs, outputs) = (kernel.inputs(), kernel.outputs());
            let title = format!("Channel with {inputs} inputs and {outputs} outputs");
            let mut report = KernelReport::new(title, found);
            (report.inputs, report.outputs) = (Some(inputs as u64), Some(outputs as u64));
            let style = Style::default();
            Ok::<_, Error>((json::of(&report).to_string(), text::kernel(&report, style).render(style)))
        })
    }
}
