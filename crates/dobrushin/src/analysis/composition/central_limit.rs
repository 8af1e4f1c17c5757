//! Everything a run computes, by the central limit theorem.

use super::{Effort, ratio};
use crate::analysis::{Analysis, Bound, Cost, EveryStep, Family, Notes, Statement};
use crate::lower::ComposedPart;
use crate::mechanism::{Mechanism, Neighbours, Sampling};
use crate::profile::GaussianProfile;
use crate::run::in_the_way;
use crate::{Enclosure, NotApplicable};

/// The Gaussian profile of the central limit theorem: an approximation, which is exact without sampling.
///
/// ```
/// use dobrushin::analysis::{Bound, CentralLimit, Effort, EveryStep};
/// use dobrushin::mechanism::{Mechanism, Sampling};
/// use dobrushin::{Neighbours, Positive, Probability, lower::ComposedPart};
///
/// // μ = p·√(T·(e^(1/m²) − 1)) with p = 0.01, T = 10000 and m = 1: √(e − 1).
/// let mechanism = Mechanism::Gaussian { noise_multiplier: Positive::new(1.0)? };
/// let sampling = Sampling::Poisson(Probability::new(0.01)?);
/// let parts = [ComposedPart { mechanism, sampling, neighbours: Neighbours::AddOrRemoveOne, count: 10_000 }];
/// let bound = CentralLimit.apply(&parts, Effort::Once(1e-4))?;
/// let Bound::Gaussian(profile) = bound else { panic!("it is μ-GDP") };
/// assert!((profile.mu().upper() - 1_f64.exp_m1().sqrt()).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CentralLimit;

impl Analysis for CentralLimit {
    fn statement(&self) -> &'static Statement {
        &STATEMENT
    }

    fn family(&self) -> Family {
        Family::Composition
    }

    fn cost(&self) -> Cost {
        Cost::ClosedForm
    }

    fn is_rigorous(&self) -> bool {
        false
    }
}

impl EveryStep for CentralLimit {
    fn apply(&self, steps: &[ComposedPart], _: Effort) -> Result<Bound, NotApplicable> {
        Ok(Bound::Gaussian(GaussianProfile::enclosed(mu(steps)?)))
    }
}

/// μ² = Σ T·p²·(e^(1/m²) − 1) for Poisson sampling (Bu, Dong, Long, Su 2020), and T·r² without sampling, where it is
/// exact.
pub(super) fn mu(steps: &[ComposedPart]) -> Result<Enclosure, NotApplicable> {
    let mut square = Enclosure::ZERO;
    for part in steps {
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

static STATEMENT: Statement = Statement {
    id: "composition-gdp",
    title: "Everything a run computes, as the central limit theorem has it (an approximation)",
    statement: "T steps on Poisson samples of rate p with noise multiplier m are about as private as a Gaussian \
                mechanism with μ = p·√(T·(e^(1/m²) − 1)). It is no bound: it errs to either side, at small δ to the \
                unsafe one, and is never the guarantee.",
    assumptions: &["p·√T tends to a constant as T grows", "Gaussian noise; add-or-remove-one or zero-out"],
    source: "Bu, Dong, Long, Su, Deep learning with Gaussian differential privacy (2020), Theorem 5",
    errata: &[],
    notes: Some(Notes {
        applies_to: "Gaussian noise on all records or on Poisson samples; an approximation",
        formula: "\
δ(ε) ≈ θ_ε(μ),   μ = p·√(T·(e^(1/m²) − 1))

θ_ε(μ)   E_{e^ε} of two unit Gaussians at distance μ
p, T, m  the sampling rate, the number of steps, the noise multiplier",
        proof: &[
            "One step's likelihood ratio is 1 + p·(t − 1), t = e^(x/m − 1/(2m²)), x normal. E(t − 1)² = e^(1/m²) − 1, so for small p \
             its logarithm has mean −p²·(e^(1/m²) − 1)/2 and variance p²·(e^(1/m²) − 1), up to p³.",
            "If p·√T tends to a constant, the sum of T of them tends to N(−μ²/2, μ²) by the central limit theorem: the \
             loss of two unit Gaussians at distance μ.",
            "That is a limit, without a bound on what is missing at a given T. The tail of a sum is the last to become \
             normal, and a small δ is all tail: there the formula is too small.",
            "Steps on all records, at distance r, add T·r² to μ², which is no approximation; μ² of different steps add.",
        ],
        wins: &[
            "Never: an approximation is no guarantee, and is reported to be compared with what others report.",
            "In the example it says 2.259 where ε is 2.345; with 100 steps 0.181 for 0.291, with 1e6 steps 38.75 for 38.67. \
             Without sampling it is exact.",
        ],
        example: "account examples/dp-sgd.toml --set steps=100 --analyses composition-gdp,composition",
    }),
};
