//! `prescribe`: the run for a learning problem and a privacy level.

use crate::json::Bounds;
use dobrushin::account::large_delta;
use dobrushin::run::LearningRate;
use dobrushin::utility::{LowerBound, Prescribed, Published, Request, Scheme, Smoothing};
use serde::Serialize;
use serde_json::{Value as Json, json};

/// The run to make, what it promises, what the paper prints, and what nobody can do better.
#[derive(Clone, Serialize)]
pub struct PrescriptionReport {
    scheme: &'static str,
    theorem: &'static str,
    target: TargetReport,
    gradient_noise: f64,
    learning_rate: Json,
    guarantee: ConfirmedReport,
    utility: PromiseOfUtility,
    #[serde(skip_serializing_if = "Option::is_none")]
    smoothing: Option<SmoothingReport>,
    published: Option<PublishedReport>,
    lower_bound: LowerBoundReport,
    warnings: Vec<String>,
    /// Where the run file was written, if it was.
    pub output: Option<String>,
    /// What was asked for.
    #[serde(skip)]
    pub request: Request,
    /// The answer.
    #[serde(skip)]
    pub found: Prescribed,
    /// Why the target protects nobody, in words.
    #[serde(skip)]
    pub concern: Option<String>,
}

#[derive(Clone, Serialize)]
struct TargetReport {
    epsilon: f64,
    delta: f64,
}

#[derive(Clone, Serialize)]
struct ConfirmedReport {
    epsilon: Bounds,
    delta: f64,
    analysis: &'static str,
}

#[derive(Clone, Serialize)]
struct PromiseOfUtility {
    measure: &'static str,
    value: Bounds,
    id: &'static str,
    vacuous: bool,
    without_data: Bounds,
}

#[derive(Clone, Serialize)]
struct SmoothingReport {
    deviation: f64,
    smoothness: Bounds,
    error: Bounds,
}

#[derive(Clone, Serialize)]
struct PublishedReport {
    source: &'static str,
    gradient_noise: Option<f64>,
    learning_rate: Option<Bounds>,
    excess: Option<Bounds>,
    epsilon: Option<Bounds>,
    delta: Option<Bounds>,
    erratum: Option<&'static str>,
}

#[derive(Clone, Serialize)]
struct LowerBoundReport {
    excess: Bounds,
    id: &'static str,
    without_privacy: Bounds,
}

impl PrescriptionReport {
    /// The answer to a request; `output` is where its run file is written.
    pub fn new(request: Request, found: Prescribed, output: Option<String>) -> Self {
        let concern = large_delta(&found.run, request.privacy.delta.get());
        let Prescribed { smoothing, published, least, .. } = &found;
        let published =
            published.map(|Published { gradient_noise, learning_rate, excess, epsilon, delta, erratum }| {
                PublishedReport {
                    source: source(request.scheme),
                    gradient_noise: gradient_noise.map(|noise| noise.get()),
                    learning_rate: learning_rate.map(Bounds),
                    excess: excess.map(Bounds),
                    epsilon: epsilon.map(Bounds),
                    delta: delta.map(Bounds),
                    erratum,
                }
            });
        let smoothing = smoothing.map(|Smoothing { deviation, smoothness, error }| SmoothingReport {
            deviation: deviation.get(),
            smoothness: Bounds(smoothness),
            error: Bounds(error),
        });
        let LowerBound { excess, id, without_privacy } = *least;
        let (epsilon, delta) = (request.privacy.epsilon.get(), request.privacy.delta.get());
        Self {
            scheme: request.scheme.name(),
            theorem: request.scheme.theorem(),
            target: TargetReport { epsilon, delta },
            gradient_noise: found.gradient_noise.get(),
            learning_rate: rate_as_json(&found.learning_rate),
            guarantee: ConfirmedReport { epsilon: Bounds(found.epsilon), delta, analysis: found.analysis },
            utility: PromiseOfUtility {
                measure: found.measure.name(),
                value: Bounds(found.excess),
                id: found.theorem,
                vacuous: found.vacuous,
                without_data: Bounds(found.blind),
            },
            smoothing,
            published,
            lower_bound: LowerBoundReport {
                excess: Bounds(excess),
                id,
                without_privacy: Bounds(without_privacy),
            },
            warnings: concern.iter().cloned().collect(),
            output,
            request,
            found,
            concern,
        }
    }

    /// The run file (TOML), with comments.
    pub fn run_file(&self) -> String {
        let Request { problem, privacy, scheme, .. } = self.request;
        let n = problem.records.get();
        let (algorithm, records, order, release, more) = match scheme {
            Scheme::Local => ("pnsgd", n, "once", "all", String::new()),
            Scheme::PerRecord => ("pnsgd", n, "once", "random-skip", String::new()),
            Scheme::PublicTail { records } => {
                let tail = format!(
                    "public-steps = {records}               # at the end, on public records, with the same noise\n"
                );
                ("pnsgd", n.saturating_sub(records), "once", "random-skip", tail)
            }
            Scheme::Tasks { tasks } => {
                let each = format!(
                    "tasks = {tasks}                      # models, each with its own noise and its own stop\n"
                );
                ("pnsgd", n, "once", "random-stop", each)
            }
            Scheme::Passes { passes } => {
                let steps = format!(
                    "steps = {}                    # {passes} passes\n",
                    n.saturating_mul(passes.get())
                );
                ("pnsgd", n, "cyclic", "last", steps)
            }
            Scheme::Online => ("online", n, "once", "all", String::new()),
        };
        let rate = match &self.found.learning_rate {
            LearningRate::InverseSqrt(first) => format!("{{ inverse-sqrt = {:?} }}", first.get()),
            LearningRate::Constant(rate) => format!("{:?}", rate.get()),
            LearningRate::List(rates) => {
                format!("{:?}", rates.iter().map(|rate| rate.get()).collect::<Vec<f64>>())
            }
        };
        let smoothness = match (&self.found.smoothing, self.request.smoothness) {
            (Some(Smoothing { deviation, smoothness, .. }), _) => format!(
                "smoothness = {:?}  # of the losses averaged over N(0, λ²I), λ = {:?}; train on those\n",
                smoothness.upper(),
                deviation.get()
            ),
            (None, Some(beta)) => format!("smoothness = {:?}\n", beta.get()),
            (None, None) => String::new(),
        };
        format!(
            "# {title}.\n#\n# Written by dobrushin prescribe {name} for (ε, δ) = ({epsilon:?}, {delta:?}). dobrushin account confirms it, \
             and with\n# --utility bounds the excess. The theorem: dobrushin explain {theorem}\n\n\
             [run]\nalgorithm = \"{algorithm}\"\nrecords = {records}\norder = \"{order}\"\nrelease = \"{release}\"\n\
             neighbours = \"replace-one\"\n{more}\n[update]\nlearning-rate = {rate}\nlipschitz = {lipschitz:?}\n\
             gradient-noise = {noise:?}\n\n[loss]\nconvex = true\n{smoothness}\n[domain]\ndiameter = {diameter:?}\n\
             dimension = {dimension}\n\n[target]\ndelta = {delta:?}\n",
            title = title(scheme),
            name = scheme.name(),
            epsilon = privacy.epsilon.get(),
            delta = privacy.delta.get(),
            theorem = scheme.theorem(),
            lipschitz = problem.lipschitz.get(),
            noise = self.found.gradient_noise.get(),
            diameter = 2.0 * problem.radius.get(),
            dimension = problem.dimension,
        )
    }
}

fn rate_as_json(rate: &LearningRate) -> Json {
    match rate {
        LearningRate::Constant(rate) => json!(rate.get()),
        LearningRate::InverseSqrt(first) => json!({ "inverse-sqrt": first.get() }),
        LearningRate::List(rates) => rates.iter().map(|rate| rate.get()).collect(),
    }
}

/// The run, in words.
pub(crate) fn title(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::Local => "One pass of noisy SGD, every step of which may be seen",
        Scheme::PerRecord => "One pass of noisy SGD that skips up to half of its start at random",
        Scheme::PublicTail { .. } => "One pass of noisy SGD that ends with public records",
        Scheme::Tasks { .. } => {
            "Models on the same records, each of one pass of noisy SGD that stops at random"
        }
        Scheme::Passes { .. } => {
            "Several passes of noisy SGD in the same order, of which the last model is released"
        }
        Scheme::Online => "Online gradient descent, every play of which may be seen",
    }
}

/// Where the papers prescribe it.
pub(crate) fn source(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::Local => "Feldman et al. 2018, Theorem 29",
        Scheme::PerRecord => "Feldman et al. 2018, Theorem 30 and Corollary 34",
        Scheme::PublicTail { .. } => "Feldman et al. 2018, Corollary 31",
        Scheme::Tasks { .. } => "Feldman et al. 2018, Theorem 32",
        Scheme::Passes { .. } => "Feldman et al. 2018, Theorem 35",
        Scheme::Online => "Asoodeh, Diaz, Calmon 2023, Proposition 2",
    }
}
