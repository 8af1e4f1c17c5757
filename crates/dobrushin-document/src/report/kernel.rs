//! `kernel`: how much a channel, or noise, makes its inputs alike, and what a joint table tells.

use super::level::Level;
use super::local::EpsilonAt;
use crate::json::Bounds;
use dobrushin::divergence::NamedDivergence;
use dobrushin::kernel::{ByBound, ContractionCurve, Kernel, Passage};
use dobrushin::{Delta, Enclosure, Gamma, Probability};
use serde::Serialize;

/// The contraction coefficients of a channel or of noise, and what follows from them.
#[derive(Serialize)]
pub struct KernelReport {
    /// What the kernel is, in words.
    #[serde(skip)]
    pub title: String,
    /// The number of inputs of a channel, unless it is astronomic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inputs: Option<u64>,
    /// The number of its outputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outputs: Option<u64>,
    /// The noise, if the kernel is no channel.
    #[serde(flatten)]
    pub noise: Option<NoiseReport>,
    pub(crate) eta: Vec<EtaReport>,
    pub(crate) tv: Bounds,
    pub(crate) chi2: Bounds,
    kl: Bounds,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tv_maximiser: Option<Maximiser>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) chi2_maximiser: Option<Maximiser>,
    pub(crate) epsilon_at_delta: Vec<EpsilonAt>,
    /// Every bend of γ ↦ η_γ, if the user asks for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curve: Option<Vec<BendReport>>,
    /// Channels in sequence, from their coefficients alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub composition: Option<CompositionReport>,
    /// Channels side by side, from their coefficients alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub product: Option<ProductReport>,
    /// What is left of divergences of two given laws.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub divergences: Vec<PassageReport>,
}

/// Two inputs, counted from 0.
type Inputs = (usize, usize);

/// What was found about a kernel.
pub struct Coefficients {
    /// η at levels.
    pub eta: Vec<EtaReport>,
    /// η_TV, and the inputs that attain it.
    pub tv: (Enclosure, Option<Inputs>),
    /// η_χ² = η_KL, and the inputs that attain it, with the weight of the first.
    pub chi2: (Enclosure, Option<(Inputs, f64)>),
    /// The smallest ε for each δ.
    pub epsilon_at_delta: Vec<(Delta, Enclosure)>,
}

impl KernelReport {
    /// The report about a kernel that is described in words.
    pub fn new(title: String, found: Coefficients) -> Self {
        let (tv, tv_pair) = found.tv;
        let (chi2, chi2_at) = found.chi2;
        let epsilon_at =
            |(delta, epsilon): (Delta, Enclosure)| EpsilonAt { delta: delta.get(), epsilon: Bounds(epsilon) };
        Self {
            title,
            inputs: None,
            outputs: None,
            noise: None,
            eta: found.eta,
            tv: Bounds(tv),
            chi2: Bounds(chi2),
            kl: Bounds(chi2),
            tv_maximiser: tv_pair.map(|pair| Maximiser { pair: from_one(pair), weight: None }),
            chi2_maximiser: chi2_at
                .map(|(pair, weight)| Maximiser { pair: from_one(pair), weight: Some(weight) }),
            epsilon_at_delta: found.epsilon_at_delta.into_iter().map(epsilon_at).collect(),
            curve: None,
            composition: None,
            product: None,
            divergences: Vec::new(),
        }
    }
}

/// Noise that is added to a point of an interval.
#[derive(Serialize)]
pub struct NoiseReport {
    /// "gaussian" or "laplace".
    pub noise: &'static str,
    /// The length of the interval.
    pub length: f64,
    /// The standard deviation of Gaussian noise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sigma: Option<f64>,
    /// The scale of Laplace noise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
}

/// η at one level.
#[derive(Serialize)]
pub struct EtaReport {
    #[serde(flatten)]
    pub(crate) level: Level,
    pub(crate) value: Bounds,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pair: Option<(usize, usize)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tight: Vec<TightReport>,
}

impl EtaReport {
    /// η, the inputs that attain it (counted from 0), and F_γ(e) for some e.
    pub fn new(
        level: Level,
        value: Enclosure,
        pair: Option<(usize, usize)>,
        tight: impl IntoIterator<Item = (Probability, Enclosure)>,
    ) -> Self {
        let tight = tight.into_iter().map(|(e, f)| TightReport { before: e.get(), after: Bounds(f) });
        Self { level, value: Bounds(value), pair: pair.map(from_one), tight: tight.collect() }
    }
}

/// The tight curve at one point.
#[derive(Serialize)]
pub(crate) struct TightReport {
    pub before: f64,
    pub after: Bounds,
}

/// The two inputs that attain a coefficient, counted from 1.
#[derive(Serialize)]
pub(crate) struct Maximiser {
    pub pair: (usize, usize),
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
}

/// A bend of γ ↦ η_γ.
#[derive(Serialize)]
pub struct BendReport {
    pub(crate) gamma: f64,
    pub(crate) epsilon: f64,
    pub(crate) value: Bounds,
    pub(crate) pair: (usize, usize),
}

impl BendReport {
    /// Every bend of a curve.
    pub fn all(curve: &ContractionCurve) -> Vec<Self> {
        let bend = |(gamma, pair): (f64, (usize, usize))| {
            let value = curve.contraction(Gamma::new(gamma).ok()?);
            Some(Self { gamma, epsilon: libm::log(gamma), value: Bounds(value), pair: from_one(pair) })
        };
        curve.bends().filter_map(bend).collect()
    }
}

/// What the coefficients of channels in sequence say about all of them.
#[derive(Serialize)]
pub struct CompositionReport {
    /// The number of channels.
    pub channels: usize,
    /// The product of their η_TV.
    pub tv: Bounds,
    /// The product of their η_χ².
    pub chi2: Bounds,
    /// At each level.
    pub eta: Vec<ComposedEta>,
}

/// Bounds on η_γ of channels in sequence.
#[derive(Serialize)]
pub struct ComposedEta {
    /// γ.
    #[serde(flatten)]
    pub level: Level,
    /// By the tight curves, one after the other.
    pub tight: Bounds,
    /// By the product of their η_γ, as published.
    pub published: Bounds,
}

/// What the coefficients of channels side by side say about all of them.
#[derive(Serialize)]
pub struct ProductReport {
    /// The number of channels.
    pub channels: usize,
    /// Whether the channel of all of them was formed, so that its own coefficients are known.
    pub formed: bool,
    /// 1 − Π(1 − η_TV).
    pub tv: Bounds,
    /// max 1 − (1 − η_TV)^n, as published.
    pub tv_published: Bounds,
    /// 1 − Π(1 − η_χ²).
    pub chi2: Bounds,
    /// At each level.
    pub eta: Vec<ProductEta>,
}

/// Bounds on channels side by side, from their η at one γ.
#[derive(Serialize)]
pub struct ProductEta {
    /// γ.
    #[serde(flatten)]
    pub level: Level,
    /// A bound on η_γ.
    pub value: Bounds,
    /// max 1 − ((1 − η_γ)/γ)^n, a bound on η_TV.
    pub tv_published: Bounds,
}

/// What is left of a divergence.
#[derive(Serialize)]
pub struct PassageReport {
    pub(crate) f: String,
    pub(crate) before: Bounds,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<Bounds>,
    pub(crate) bounds: PassageBounds,
    /// The key of the smallest bound.
    pub(crate) smallest: Option<&'static str>,
}

#[derive(Serialize)]
pub(crate) struct PassageBounds {
    pub tight: Option<Bounds>,
    pub corollary_1: Option<Bounds>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eta_f: Option<Bounds>,
    pub eta_tv: Option<Bounds>,
}

impl PassageReport {
    /// The report about one divergence.
    pub fn new(f: &NamedDivergence, passage: &Passage) -> Self {
        let bound = |by: ByBound| passage.bound(by).map(Bounds);
        Self {
            f: f.to_string(),
            before: Bounds(passage.before),
            after: passage.after.map(Bounds),
            bounds: PassageBounds {
                tight: bound(ByBound::TightCurve),
                corollary_1: bound(ByBound::Corollary1),
                eta_f: bound(ByBound::OwnCoefficient),
                eta_tv: bound(ByBound::TotalVariation),
            },
            smallest: passage.best().map(|(by, _)| match by {
                ByBound::TightCurve => "tight",
                ByBound::Corollary1 => "corollary_1",
                ByBound::OwnCoefficient => "eta_f",
                ByBound::TotalVariation => "eta_tv",
            }),
        }
    }
}

/// What one coordinate of a joint table tells about the other.
#[derive(Serialize)]
pub struct JointReport {
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
    /// I_γ at levels.
    pub information: Vec<InformationReport>,
    /// The mutual information.
    pub mutual_information: MutualInformation,
}

/// I_γ at one level.
#[derive(Serialize)]
pub struct InformationReport {
    /// γ.
    #[serde(flatten)]
    pub level: Level,
    /// E_γ of the joint law and the product of its marginals.
    pub value: Bounds,
}

/// KL of the joint law and the product of its marginals.
#[derive(Serialize)]
pub struct MutualInformation {
    /// By the natural logarithm.
    pub nats: Bounds,
    /// By the logarithm to base 2.
    pub bits: Bounds,
}

fn from_one((x, y): (usize, usize)) -> (usize, usize) {
    (x + 1, y + 1)
}
