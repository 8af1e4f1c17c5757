//! How far apart two laws are: divergences, and how much noise contracts them.

use crate::arrays::{Cost, Numbers, map};
use crate::errors::{Raised, invalid};
use dobrushin::divergence::{DiscretePair, FiniteLaw, GaussianPair, LaplacePair, NamedDivergence, Pair};
use dobrushin::kernel::{GaussianKernel, Kernel, LaplaceKernel};
use dobrushin::numeric::theta;
use dobrushin::{Delta, Enclosure, Epsilon, Error, Gamma, NonNegative, RenyiOrder};
use pyo3::prelude::*;

pub type Given<'a, 'py> = &'a Bound<'py, PyAny>;
type Answer<'py> = PyResult<Bound<'py, PyAny>>;

/// θ_ε(r), the hockey-stick divergence E_γ of N(r, 1) from N(0, 1) with γ = e^ε: the δ at ε of a distance of r
/// standard deviations of Gaussian noise.
///
/// Numbers and arrays are accepted, and arrays are combined by NumPy's rules. The answer is the upper end of a certified
/// enclosure, which is at most 4e-13 above the truth, relatively; with ``bounds=True`` it is both ends.
///
/// >>> import dobrushin as db
/// >>> print(f"{db.theta(1.0, 1.0):.6f}")
/// 0.126937
/// >>> db.theta(7.0, 0.9, bounds=True)
/// Interval(lower=1.2138…e-14, upper=1.2138…e-14)
/// >>> db.theta([0.0, 1.0], 1.0).shape
/// (2,)
#[pyfunction(name = "theta")]
#[pyo3(signature = (epsilon, r, *, bounds=false))]
pub fn theta_of<'py>(epsilon: &Bound<'py, PyAny>, r: &Bound<'py, PyAny>, bounds: bool) -> Answer<'py> {
    map(r.py(), [("epsilon", epsilon), ("r", r)], bounds, Cost::Little, |[epsilon, r]| {
        Ok(theta::theta(Epsilon::new(epsilon)?, NonNegative::new(r)?))
    })
}

/// γ, from itself or from ε.
pub type AsGamma = fn(f64) -> Result<Gamma, Error>;

/// The argument that says at which γ, with its name.
pub fn level<'a, 'py>(
    py: Python<'py>,
    epsilon: Option<Given<'a, 'py>>,
    gamma: Option<Given<'a, 'py>>,
) -> PyResult<(&'static str, Given<'a, 'py>, AsGamma)> {
    match (epsilon, gamma) {
        (Some(epsilon), None) => Ok(("epsilon", epsilon, Gamma::from_epsilon)),
        (None, Some(gamma)) => Ok(("gamma", gamma, Gamma::new)),
        _ => Err(invalid(py, "exactly one of epsilon and gamma is needed", "epsilon=1.0, or gamma=2.0")),
    }
}

/// Two laws, by the name of their family and two numbers that describe them.
enum Family {
    Gaussian,
    Laplace,
}

impl Family {
    fn of(py: Python<'_>, name: &str) -> PyResult<Self> {
        match name {
            "gaussian" => Ok(Self::Gaussian),
            "laplace" => Ok(Self::Laplace),
            _ => Err(invalid(py, &format!("there are no laws named {name:?}"), "gaussian or laplace")),
        }
    }

    /// The name of the size of the noise.
    fn size(&self) -> &'static str {
        match self {
            Self::Gaussian => "sigma",
            Self::Laplace => "scale",
        }
    }

    /// What is asked of the pair of laws.
    fn pair<T>(&self, distance: f64, size: f64, ask: impl Fn(&dyn Pair) -> T) -> Result<T, Error> {
        Ok(match self {
            Self::Gaussian => ask(&GaussianPair::new(distance, size)?),
            Self::Laplace => ask(&LaplacePair::new(distance, size)?),
        })
    }

    /// What is asked of the noise, on a set of this diameter.
    fn kernel<T>(&self, length: f64, size: f64, ask: impl Fn(&dyn Kernel) -> T) -> Result<T, Error> {
        Ok(match self {
            Self::Gaussian => ask(&GaussianKernel::new(length, size)?),
            Self::Laplace => ask(&LaplaceKernel::new(length, size)?),
        })
    }

    fn chi_squared_contraction(&self, length: f64, size: f64) -> Result<Enclosure, Error> {
        Ok(match self {
            Self::Gaussian => GaussianKernel::new(length, size)?.chi_squared_contraction(),
            Self::Laplace => LaplaceKernel::new(length, size)?.chi_squared_contraction(),
        })
    }
}

/// E_γ of two laws this far apart.
#[pyfunction]
#[pyo3(signature = (family, distance, size, *, epsilon=None, gamma=None, bounds=false))]
pub fn hockey_stick<'py>(
    family: &str,
    distance: &Bound<'py, PyAny>,
    size: &Bound<'py, PyAny>,
    epsilon: Option<&Bound<'py, PyAny>>,
    gamma: Option<&Bound<'py, PyAny>>,
    bounds: bool,
) -> Answer<'py> {
    let family = Family::of(distance.py(), family)?;
    let (name, level, as_gamma) = level(distance.py(), epsilon, gamma)?;
    let arguments = [("distance", distance), (family.size(), size), (name, level)];
    map(distance.py(), arguments, bounds, Cost::Little, |[distance, size, level]| {
        let gamma = as_gamma(level)?;
        family.pair(distance, size, |pair| pair.hockey_stick(gamma))
    })
}

/// The smallest ε at which two laws this far apart have an E_γ of at most δ.
#[pyfunction]
#[pyo3(signature = (family, distance, size, delta, *, bounds=false))]
pub fn smallest_epsilon<'py>(
    family: &str,
    distance: &Bound<'py, PyAny>,
    size: &Bound<'py, PyAny>,
    delta: &Bound<'py, PyAny>,
    bounds: bool,
) -> Answer<'py> {
    let family = Family::of(distance.py(), family)?;
    let arguments = [("distance", distance), (family.size(), size), ("delta", delta)];
    map(distance.py(), arguments, bounds, Cost::Much, |[distance, size, delta]| {
        let delta = Delta::new(delta)?;
        family.pair(distance, size, |pair| pair.smallest_epsilon(delta))
    })
}

/// The Rényi divergence of two laws this far apart.
#[pyfunction]
#[pyo3(signature = (family, distance, size, order, *, bounds=false))]
pub fn renyi<'py>(
    family: &str,
    distance: &Bound<'py, PyAny>,
    size: &Bound<'py, PyAny>,
    order: &Bound<'py, PyAny>,
    bounds: bool,
) -> Answer<'py> {
    let family = Family::of(distance.py(), family)?;
    let arguments = [("distance", distance), (family.size(), size), ("order", order)];
    map(distance.py(), arguments, bounds, Cost::Little, |[distance, size, order]| {
        let order = RenyiOrder::new(order)?;
        family.pair(distance, size, |pair| pair.renyi(order))
    })
}

pub fn named(py: Python<'_>, f: &str) -> PyResult<NamedDivergence> {
    f.parse().map_err(|error: Error| invalid(py, &error.to_string(), "f=\"kl\""))
}

/// A divergence with a name, of two laws this far apart.
#[pyfunction]
#[pyo3(signature = (family, distance, size, f, *, bounds=false))]
pub fn divergence<'py>(
    family: &str,
    distance: &Bound<'py, PyAny>,
    size: &Bound<'py, PyAny>,
    f: &str,
    bounds: bool,
) -> Answer<'py> {
    let (family, f) = (Family::of(distance.py(), family)?, named(distance.py(), f)?);
    map(
        distance.py(),
        [("distance", distance), (family.size(), size)],
        bounds,
        Cost::Much,
        |[distance, size]| family.pair(distance, size, |pair| f.between(pair)),
    )
}

/// How much noise contracts E_γ, or the divergence with a name, on a set of this diameter.
#[pyfunction]
#[pyo3(signature = (family, length, size, *, epsilon=None, gamma=None, f=None, bounds=false))]
pub fn contraction<'py>(
    family: &str,
    length: &Bound<'py, PyAny>,
    size: &Bound<'py, PyAny>,
    epsilon: Option<&Bound<'py, PyAny>>,
    gamma: Option<&Bound<'py, PyAny>>,
    f: Option<&str>,
    bounds: bool,
) -> Answer<'py> {
    let py = length.py();
    let family = Family::of(py, family)?;
    let given = [("length", length), (family.size(), size)];
    match (f, epsilon, gamma) {
        (None, ..) => {
            let (name, level, as_gamma) = level(py, epsilon, gamma)?;
            map(py, [given[0], given[1], (name, level)], bounds, Cost::Little, |[length, size, level]| {
                let gamma = as_gamma(level)?;
                family.kernel(length, size, |kernel| kernel.contraction(gamma))
            })
        }
        (Some(f), None, None) => match named(py, f)? {
            NamedDivergence::TotalVariation => map(py, given, bounds, Cost::Little, |[length, size]| {
                family.kernel(length, size, |kernel| kernel.total_variation())
            }),
            f if f.is_operator_convex() => map(py, given, bounds, Cost::Much, |[length, size]| {
                family.chi_squared_contraction(length, size)
            }),
            f => Err(invalid(py, &format!("the contraction of {f} is not known"), "f=\"kl\", or f=\"tv\"")),
        },
        _ => Err(invalid(py, "only one of epsilon, gamma and f can be given", "f=\"kl\"")),
    }
}

/// Two laws on the same outcomes.
#[pyclass(frozen, module = "dobrushin._core")]
pub struct Laws(DiscretePair);

#[pymethods]
impl Laws {
    #[new]
    fn new(p: &Bound<'_, PyAny>, q: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = p.py();
        let law = |name: &str, given: &Bound<'_, PyAny>| {
            let numbers = Numbers::list(name, given)?;
            let help = "give probabilities that add up to 1";
            FiniteLaw::new(name, numbers).map_err(|error| invalid(py, &error.to_string(), help))
        };
        Ok(Self(DiscretePair::new(law("p", p)?, law("q", q)?).raised(py)?))
    }

    #[pyo3(signature = (*, epsilon=None, gamma=None, bounds=false))]
    fn hockey_stick<'py>(
        &self,
        py: Python<'py>,
        epsilon: Option<&Bound<'py, PyAny>>,
        gamma: Option<&Bound<'py, PyAny>>,
        bounds: bool,
    ) -> Answer<'py> {
        let (name, level, as_gamma) = level(py, epsilon, gamma)?;
        map(py, [(name, level)], bounds, Cost::Much, |[level]| Ok(self.0.hockey_stick(as_gamma(level)?)))
    }

    #[pyo3(signature = (delta, *, bounds=false))]
    fn smallest_epsilon<'py>(&self, delta: &Bound<'py, PyAny>, bounds: bool) -> Answer<'py> {
        map(delta.py(), [("delta", delta)], bounds, Cost::Much, |[delta]| {
            Ok(self.0.smallest_epsilon(Delta::new(delta)?))
        })
    }

    #[pyo3(signature = (order, *, bounds=false))]
    fn renyi<'py>(&self, order: &Bound<'py, PyAny>, bounds: bool) -> Answer<'py> {
        map(order.py(), [("order", order)], bounds, Cost::Much, |[order]| {
            Ok(self.0.renyi(RenyiOrder::new(order)?))
        })
    }

    #[pyo3(signature = (f, *, bounds=false))]
    fn divergence<'py>(&self, py: Python<'py>, f: &str, bounds: bool) -> Answer<'py> {
        let f = named(py, f)?;
        map(py, [], bounds, Cost::Much, |[]| Ok(self.0.f_divergence(f.generator())))
    }
}
