//! Everything a run computes, by adding up what each step costs.

use super::losses::Tabulated;
use crate::divergence::LaplacePair;
use crate::loss::{Composition, Part};
use crate::lower::{Composed, ComposedPart};
use crate::mechanism::{Mechanism, Neighbours, Sampling, dominating_pair};
use crate::profile::{
    ComposedCurve, ConcentratedCurve, GaussianProfile, PairCurve, PrivacyProfile, RenyiProfile,
    SubsampledGaussian,
};
use crate::run::in_the_way;
use crate::{Enclosure, NotApplicable, Positive};
use std::sync::Arc;

/// A profile, or why there is none.
pub(super) type Outcome = Result<Arc<dyn PrivacyProfile>, NotApplicable>;

/// How exactly losses are added up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Effort {
    /// For one question, with an enclosure of ε about this wide, relatively.
    Once(f64),
    /// To be asked in hundreds of places: enclosures of ε are about 1e-3 wide.
    ManyPlaces,
}

/// Privacy losses, added up on a grid.
pub(super) fn exact(composed: &Composed, effort: Effort) -> Outcome {
    if let Some(profile) = gaussian(composed) {
        return profile;
    }
    let losses = losses(composed)?;
    Ok(match effort {
        Effort::Once(tolerance) => Arc::new(losses.with_tolerance(tolerance)),
        Effort::ManyPlaces => Arc::new(Tabulated::new(&losses.with_tolerance(1e-3))),
    })
}

/// Gaussian mechanisms without sampling are one: no losses need to be added up.
pub(super) fn gaussian(composed: &Composed) -> Option<Outcome> {
    let one = |part: &ComposedPart| {
        matches!((&part.mechanism, part.sampling), (Mechanism::Gaussian { .. }, Sampling::Every))
    };
    composed
        .parts
        .iter()
        .all(one)
        .then(|| Ok(Arc::new(GaussianProfile::enclosed(central_limit_mu(composed)?)) as _))
}

/// With less noise, losses are in the millions, and no grid holds them.
const LEAST_MULTIPLIER: f64 = 1e-3;
/// With more, they are next to nothing.
const MOST_MULTIPLIER: f64 = 1e100;

/// The privacy losses of all parts, to be added up.
pub(super) fn losses(composed: &Composed) -> Result<Composition, NotApplicable> {
    let part = |part: &ComposedPart| {
        let mechanism = match part.mechanism {
            Mechanism::Gaussian { noise_multiplier } => {
                Mechanism::Gaussian { noise_multiplier: in_range(noise_multiplier)? }
            }
            Mechanism::Laplace { noise_multiplier } => {
                Mechanism::Laplace { noise_multiplier: in_range(noise_multiplier)? }
            }
            ref other => other.clone(),
        };
        let pair = dominating_pair(&mechanism, part.sampling, part.neighbours)?;
        Ok(Part { pair, count: part.count })
    };
    Ok(Composition::new(composed.parts.iter().map(part).collect::<Result<_, NotApplicable>>()?))
}

/// A multiplier that a grid can hold, and no larger: less noise is less private.
fn in_range(multiplier: Positive) -> Result<Positive, NotApplicable> {
    let value = multiplier.get();
    if value < LEAST_MULTIPLIER {
        return Err(NotApplicable::beyond(format!(
            "noise of {value:e} times one record's contribution hides nothing: at least {LEAST_MULTIPLIER:e} is needed"
        )));
    }
    Ok(Positive::new(value.min(MOST_MULTIPLIER))?)
}

/// r: the distance of neighbours over the noise.
fn ratio(part: &ComposedPart, noise_multiplier: Positive) -> Enclosure {
    Enclosure::from(part.neighbours.contributions_apart()) / Enclosure::from(noise_multiplier)
}

/// The sum of the Rényi curves, converted at the best order.
pub(super) fn renyi(composed: &Composed) -> Outcome {
    let mut curve = ComposedCurve::default();
    for part in &composed.parts {
        curve = match (&part.mechanism, part.sampling) {
            (Mechanism::Gaussian { noise_multiplier }, Sampling::Every) => {
                curve.then(part.count, ConcentratedCurve::gaussian(ratio(part, *noise_multiplier)))
            }
            (Mechanism::Laplace { noise_multiplier }, Sampling::Every) => {
                let pair = LaplacePair::new(part.neighbours.contributions_apart(), noise_multiplier.get())?;
                curve.then(part.count, PairCurve::symmetric(pair))
            }
            (Mechanism::Gaussian { noise_multiplier }, Sampling::Poisson(rate))
                if part.neighbours != Neighbours::ReplaceOne =>
            {
                curve.then(part.count, SubsampledGaussian::new(rate, *noise_multiplier)?)
            }
            (_, sampling) => return Err(no_curve(sampling)),
        };
    }
    Ok(Arc::new(RenyiProfile::new(curve)))
}

fn no_curve(sampling: Sampling) -> NotApplicable {
    match sampling {
        Sampling::Every => NotApplicable::beyond("no Rényi curve is known here for one of the mechanisms"),
        Sampling::Poisson(_) => in_the_way!(
            "the Rényi curve of Poisson sampling is for Gaussian noise and {} = \"add-or-remove-one\" or \"zero-out\" \
             with a fixed divisor",
            Neighbours
        ),
        Sampling::WithoutReplacement(_) => in_the_way!(
            "no Rényi curve is known here for batches of a fixed size, nor for {} = \"actual\"",
            DivideBy
        ),
    }
}

/// μ² = Σ T·p²·(e^(1/m²) − 1) for Poisson sampling (Bu, Dong, Long, Su 2020), T·r² without, where it
/// is no approximation.
fn central_limit_mu(composed: &Composed) -> Result<Enclosure, NotApplicable> {
    let mut square = Enclosure::ZERO;
    for part in &composed.parts {
        let one = match (&part.mechanism, part.sampling) {
            (Mechanism::Gaussian { noise_multiplier }, Sampling::Every) => {
                ratio(part, *noise_multiplier).square()
            }
            (Mechanism::Gaussian { noise_multiplier }, Sampling::Poisson(rate))
                if part.neighbours != Neighbours::ReplaceOne =>
            {
                Enclosure::from(rate).square() * ratio(part, *noise_multiplier).square().exp_m1()
            }
            _ => {
                return Err(in_the_way!(
                    "the central-limit formula is for Gaussian noise, on all records or Poisson samples with {} = \
                     \"add-or-remove-one\" or \"zero-out\" and a fixed divisor",
                    Neighbours
                ));
            }
        };
        square = square + one * Enclosure::from(part.count);
    }
    Ok(square.sqrt())
}

/// The Gaussian profile that the central limit theorem has.
pub(super) fn central_limit(composed: &Composed) -> Outcome {
    Ok(Arc::new(GaussianProfile::enclosed(central_limit_mu(composed)?)))
}
