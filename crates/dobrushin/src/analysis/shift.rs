//! Shifting the difference of two iterates into the noise, without loss (shifted interpolation).

use super::lines::squared_shift_on_domain;
use super::once::squared_shifts;
use super::walk::at_each_end;
use super::{Analysis, Bound, Cost, Family, HiddenStates, Notes, Statement};
use crate::NotApplicable;
use crate::chain::Mixture;

/// Hidden steps with Gaussian noise and any modulus.
///
/// # Guarantee
/// The released iterate is μ-GDP: E_{e^ε} ≤ θ_ε(μ) for every ε ≥ 0 in both directions, μ² = Σ(a_t/s_t)², for every a_t
/// ≥ 0 with z_t = ω′_t(z_{t−1}) − a_t ≥ 0 and z_T = 0, where either z₀ = 0 and t starts at the first use of the record,
/// or z_τ = D at any time τ, D being the diameter of the domain, and t starts there (Bok, Su, Altschuler 2024 for
/// affine moduli; Altschuler, Talwar 2022 for the start).
///
/// Let X and X′ be the two runs, and Y_τ = X_τ. Set Y_t = ψ′_t(Y_{t−1}) + V_t + Z_t with the noise Z_t of X and V_t =
/// λ_t·(ψ_t(X_{t−1}) − ψ′_t(Y_{t−1})), λ_t = a_t/ω′_t(z_{t−1}). Then ‖X_t − Y_t‖ ≤ z_t, so Y_T = X_T, and given the
/// past, V_t + Z_t is a mixture of Gaussians at most a_t away from Z_t: the trade-off of Y_T and X′_T is at least that
/// of the composition of a_t/s_t-GDP. (From z_τ = D: Y_τ = X′_τ, which is at most D from X_τ.) Projections to closed
/// convex sets do not drive points apart.
///
/// If the iterate at a random time is released, or the record is at a random place, the bound is Σw_j·θ_ε(μ_j).
///
/// ```
/// use dobrushin::analysis::{Bound, HiddenStates, Shift};
/// use dobrushin::chain::{Chain, Count, Domain, Mixture, Participation, Piece, Step, StepNoise};
/// use dobrushin::NonNegative;
///
/// // Any number of updates that halve distances, with d = s = 1: μ = (d/s)·√((1 + c)/(1 − c)) = √3.
/// let step = Step::new(StepNoise::gaussian(1.0)?).with_modulus(vec![Piece::new(0.5, 0.0)?]);
/// let used = step.used_by(Participation::Always, NonNegative::new(1.0)?);
/// let chain = Chain::new(vec![(used, Count::Any)], Domain::default())?;
/// let Bound::Gaussian(profile) = Shift.apply(&Mixture::last(chain))? else { panic!("it is μ-GDP") };
/// assert!((profile.mu().upper() - 3_f64.sqrt()).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Shift;

impl Analysis for Shift {
    fn statement(&self) -> &'static Statement {
        &STATEMENT
    }

    fn family(&self) -> Family {
        Family::Shift
    }

    fn cost(&self) -> Cost {
        Cost::ClosedForm
    }

    fn suits_each_record(&self) -> bool {
        true
    }
}

impl HiddenStates for Shift {
    fn apply(&self, released: &Mixture) -> Result<Bound, NotApplicable> {
        let members = squared_shifts(released, |released| at_each_end(released, squared_shift_on_domain))?;
        Ok(Bound::gaussians(members.into_iter().map(|(weight, square)| (weight, square.sqrt())).collect()))
    }
}

static STATEMENT: Statement = Statement {
    id: "shift",
    title: "Shifting the difference into hidden noise, without loss",
    statement: "The released iterate is μ-GDP, δ(ε) = θ_ε(μ), with μ² = Σ(a_t/s_t)² for every a_t ≥ 0 with \
                z_t = ω′_t(z_{t−1}) − a_t ≥ 0 and z_T = 0, from z₀ = 0 at the first use on, or from z_τ = D at any \
                time τ on. The best a_t are the slopes of the greatest convex minorant. Noisy gradient descent with \
                c-Lipschitz updates: μ = (d/s)·√((1−c^T)/(1+c^T)·(1+c)/(1−c)), exact for quadratic losses; used once, \
                n−i steps before the end: d/(s·√(n−i+1)) for c = 1; regularised DP-SGD without convexity: \
                (2ηC/s)·√((1−c^T)/(1+c^T)·(2−λ)/λ), c = 1−λ, in every dimension.",
    assumptions: &[
        "only the last iterate, or that of a random time, is published",
        "Gaussian noise",
        "a modulus of the updates; projections to closed convex sets are allowed",
    ],
    source: "Bok, Su, Altschuler, Shifted interpolation for differential privacy (2024); Altschuler, Talwar, Privacy of noisy \
             stochastic gradient descent (2022), for the start at any time; any modulus and the optimal allocation are ours",
    errata: &[],
    notes: Some(Notes {
        applies_to: "Gaussian noise, and updates that do not drive iterates far apart or a bounded domain",
        formula: "\
δ(ε) = θ_ε(μ),   μ² = Σ(a_t/s_t)²   for all a_t ≥ 0 with z_t = ω′_t(z_{t−1}) − a_t ≥ 0, z_T = 0,
from z = 0 before the first use, or from z = D at any time

c-Lipschitz updates, T uses:     μ = (d/s)·√((1 − c^T)/(1 + c^T)·(1 + c)/(1 − c))
one use, k later steps, c = 1:   μ = d/(s·√(k + 1))

θ_ε(μ)   E_{e^ε} of two unit Gaussians at distance μ
ω′_t(z)  how far apart iterates z apart can be after step t, each on its own data
a_t      what is charged of the difference to the noise s_t of step t; z_t is what is left
D        the diameter of the domain; d how far the update moves when the record is replaced",
        proof: &[
            "Let X and X′ be the runs on two neighbours. Interpolate: Y_t = ψ′_t(Y_{t−1}) + V_t + Z_t, with the noise Z_t of X and \
             V_t = λ_t·(ψ_t(X_{t−1}) − ψ′_t(Y_{t−1})), λ_t = a_t/ω′_t(z_{t−1}), and Y = X before the first use.",
            "By induction ‖X_t − Y_t‖ ≤ (1 − λ_t)·ω′_t(z_{t−1}) = z_t and ‖V_t‖ ≤ a_t. As z_T = 0, Y_T = X_T: Y and X′ are to be \
             compared. Projections of all three bring nothing apart.",
            "Given Y_{t−1}, the law of V_t + Z_t is a mixture of Gaussians at most a_t from Z_t: against the noise of X′ its \
             trade-off is at least that of two Gaussians a_t/s_t apart.",
            "Y_t and X′_t are the same function of (Y_{t−1}, V_t + Z_t) and (X′_{t−1}, Z′_t). By adaptive composition and \
             post-processing Y_T against X′_T is at least as hard to tell as Gaussians μ apart, μ² = Σ(a_t/s_t)².",
            "On a bounded domain start at any time τ with Y_τ = X′_τ, at most D from X_τ, and nothing spent before.",
            "The cheapest a_t for lines ω′_t(z) = c_t·z + o_t: with w_t = c_{t+1}⋯c_T, the total shift is a curve below the points \
             (−Σ(s_i·w_i)², −Σo_i·w_i), sums over i > t, that ends in the last of them; its price is the integral of its squared \
             slope, least for the greatest convex minorant (the taut string). Where that touches is found in ordinary arithmetic, \
             straight parts are priced in closed form, and z_t ≥ 0 is checked with every rounding counted. Of a modulus \
             that is the least of several lines each is tried.",
            "A random time or place: Σ w_j·θ_ε(μ_j), by joint convexity.",
        ],
        wins: &[
            "The guarantee for full batches with a strongly convex loss or weight decay: ε = 2.558 in the example for any \
             number of steps, exact for quadratic losses; `composition` says 17.86 after 1000 steps and 91.8 after 10000.",
            "For one use and k later steps with a convex loss it is as if the noise were √(k + 1) times larger, with or \
             without a domain; on a domain of a few standard deviations `contraction` says less.",
            "It does not know that who was drawn is secret: 1.083 in examples/regularised-dp-sgd.toml, where `recursion` has 8.8e-4; \
             and on a small domain noise mixes faster than differences are shifted: with D = 2.5s and without strong \
             convexity the example has 4.38, by `recursion` 1.34.",
            "With bounded gradients alone, and no domain, iterates may move 2ηC farther apart in every step, whatever the \
             record does: then it never says less than `composition`.",
        ],
        example: "account examples/noisy-gd.toml",
    }),
};
