//! Everything a run computes, by Rényi divergences.

use super::{Effort, ratio};
use crate::NotApplicable;
use crate::analysis::{Analysis, Bound, Cost, EveryStep, Family, Notes, Statement};
use crate::divergence::LaplacePair;
use crate::lower::ComposedPart;
use crate::mechanism::{Mechanism, Neighbours, Sampling};
use crate::profile::{ComposedCurve, ConcentratedCurve, PairCurve, SubsampledGaussian};
use crate::run::in_the_way;
use std::sync::Arc;

/// The sum of the Rényi curves, converted at the best order.
///
/// # Guarantee
/// D_α of the outputs of all steps together is at most the sum of the steps' D_α, for every α > 1 (Mironov 2017).
///
/// ```
/// use dobrushin::analysis::{Bound, Effort, EveryStep, RenyiComposition};
/// use dobrushin::mechanism::{Mechanism, Sampling};
/// use dobrushin::profile::{Direction, RenyiCurve};
/// use dobrushin::{Neighbours, Positive, lower::ComposedPart};
///
/// // Four sums with noise multiplier 2: D_2 = 4·(2/2)·(1/2)² = 1.
/// let mechanism = Mechanism::Gaussian { noise_multiplier: Positive::new(2.0)? };
/// let (sampling, neighbours) = (Sampling::Every, Neighbours::AddOrRemoveOne);
/// let parts = [ComposedPart { mechanism, sampling, neighbours, count: 4 }];
/// let bound = RenyiComposition.apply(&parts, Effort::Once(1e-4))?;
/// let Bound::Renyi(curve) = bound else { panic!("it is a Rényi curve") };
/// assert!(curve.log_moment(Direction::Forward, 2.0).contains(1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RenyiComposition;

impl Analysis for RenyiComposition {
    fn statement(&self) -> &'static Statement {
        &STATEMENT
    }

    fn family(&self) -> Family {
        Family::Composition
    }

    fn cost(&self) -> Cost {
        Cost::ClosedForm
    }
}

impl EveryStep for RenyiComposition {
    fn apply(&self, steps: &[ComposedPart], _: Effort) -> Result<Bound, NotApplicable> {
        let mut curve = ComposedCurve::default();
        for part in steps {
            curve = match (&part.mechanism, part.sampling) {
                (Mechanism::Gaussian { noise_multiplier }, Sampling::Every) => {
                    curve.then(part.count, ConcentratedCurve::gaussian(ratio(part, *noise_multiplier)))
                }
                (Mechanism::Laplace { noise_multiplier }, Sampling::Every) => {
                    let pair =
                        LaplacePair::new(part.neighbours.contributions_apart(), noise_multiplier.get())?;
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
        Ok(Bound::Renyi(Arc::new(curve)))
    }
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

static STATEMENT: Statement = Statement {
    id: "composition-renyi",
    title: "Everything a run computes, by adding up Rényi divergences",
    statement: "D_α of all outputs together is at most ΣD_α of the steps, for every α > 1; the profile is the best \
                that any one order implies (`renyi-conversion`). Never below `composition`.",
    assumptions: &[
        "as `composition`",
        "Gaussian or Laplace noise on all records, or Gaussian noise on Poisson samples with a fixed divisor and \
         add-or-remove-one or zero-out",
    ],
    source: "Mironov, Rényi differential privacy (2017), Proposition 1; Mironov, Talwar, Zhang, Rényi differential \
             privacy of the sampled Gaussian mechanism (2019)",
    errata: &[],
    notes: Some(Notes {
        applies_to: "a number of steps, each of which has a Rényi curve",
        formula: "\
δ(ε) = min over α > 1 of δ*(ε; α, D_α(step 1) + … + D_α(step T))

D_α      the Rényi divergence of order α of a step's outputs for two neighbours
δ*       the largest δ at ε that a pair of laws with this D_α can have",
        proof: &[
            "e^((α−1)·D_α) = ∫ p^α·q^(1−α). Given the earlier outputs, the factor of step t is at most e^((α−1)·D_α(step t)), \
             so the integral over all outputs is at most the product: the divergences add.",
            "D_α = α·r²/2 for Gaussian noise at distance r, a closed form for Laplace noise. For Poisson samples of rate p and \
             r = 1/m it is ln E[(1 − p + p·e^(rx − r²/2))^α]/(α − 1), x normal, integrated with a proved error \
             at every real order.",
            "With a record removed in place of added, D_α is smaller: with t = e^(rx − r²/2), u = 1 − p + pt, v = 1 − p + p/t \
             the claim is u^α − u^(1−α) ≥ t·(v^(1−α) − v^α) for t > 1, an equality at α = 1 that uv ≥ 1 keeps true beyond.",
            "`renyi-conversion` turns one order into (ε, δ) without loss. Every order gives a bound; the best one is \
             searched for.",
        ],
        wins: &[
            "Where δ is below 1e-250 or so: there the masses of losses underflow and `composition` answers ∞; in the example \
             ε = 74.60.",
            "Otherwise never: ε of examples/dp-sgd.toml at δ = 1e-5 is 2.566 against 2.345, and 7 to 9 per cent more are \
             usual there.",
            "It is a check on `composition` that shares no code with it and needs no grid.",
            "It says nothing about batches of a fixed size, a realised divisor, or Poisson samples with replace-one.",
        ],
        example: "account examples/dp-sgd.toml --delta 1e-300",
    }),
};
