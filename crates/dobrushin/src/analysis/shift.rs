//! Shifting the difference of two iterates into the noise, without loss (shifted interpolation).

use super::laplace_shift::{self, Allocation, Shifts};
use super::lines::squared_shift_on_domain;
use super::once::squared_shifts;
use super::walk::at_each_end;
use super::{Analysis, Bound, Cost, Family, HiddenStates, Notes, Statement};
use crate::chain::{Mixture, Stop};
use crate::loss::{Composition, DominatingPair, LaplaceLoss, Part};
use crate::profile::{ComposedCurve, Direction, PrivacyProfile, RenyiProfile};
use crate::run::NoiseKind;
use crate::{Delta, Enclosure, Epsilon, NotApplicable, Positive};
use std::sync::Arc;

/// Hidden steps with Gaussian or Laplace noise and any modulus.
///
/// # Guarantee
/// *Gaussian noise.* The released iterate is μ-GDP: E_{e^ε} ≤ θ_ε(μ) for every ε ≥ 0 in both directions, μ² = Σ(a_t/s_t)², for every a_t
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
/// *Laplace noise, in one dimension.* For the same a_t, E_γ of the released iterates is at most that of the product of
/// the pairs of Laplace laws a_t/s_t of their scales apart, for every γ > 0 in both directions: as above, given the past,
/// V_t + Z_t is a mixture of Laplace laws at most a_t away from Z_t, and E_γ of a Laplace law moved by v grows with
/// |v|. The losses of the product are composed; several choices of a_t are tried. A random time or place is left to
/// `shift-renyi`.
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

    /// The losses of Laplace noise are composed anew for each record: `shift-renyi` is quick.
    fn suits_each_record_with(&self, noise: NoiseKind) -> bool {
        noise == NoiseKind::Gaussian
    }
}

impl HiddenStates for Shift {
    fn apply(&self, released: &Mixture) -> Result<Bound, NotApplicable> {
        if laplace_shift::is_laplace(released) {
            return into_laplace_noise(released);
        }
        let members = squared_shifts(released, |released| at_each_end(released, squared_shift_on_domain))?;
        Ok(Bound::gaussians(members.into_iter().map(|(weight, square)| (weight, square.sqrt())).collect()))
    }
}

/// The composition of the shifts' losses.
fn into_laplace_noise(released: &Mixture) -> Result<Bound, NotApplicable> {
    let [branch] = released.branches() else {
        return Err(at_random());
    };
    if branch.stop != Stop::End || branch.weight != Enclosure::ONE {
        return Err(at_random());
    }
    if branch.chain.has_coarse_stretches() {
        return Err(NotApplicable::beyond(
            "the steps of many records differ: with Laplace noise it would compose losses for each of them; shift-renyi \
             looks at them all",
        ));
    }
    let ways = laplace_shift::allocations(&branch.chain)?;
    let differ = branch.chain.stretches().nth(MOST_STRETCHES).is_some();
    let way = |way: &Allocation| Way::new(way, way.len() == 1 || !differ);
    Ok(Bound::Profile(Arc::new(LaplaceShifts(ways.iter().map(way).collect::<Result<_, _>>()?))))
}

fn at_random() -> NotApplicable {
    NotApplicable::beyond(
        "the record's place, or the time of the release, is random: with Laplace noise it would compose losses for each of \
         them; shift-renyi counts them all",
    )
}

/// The relative width of an enclosure of ε: for equal shifts, and for shifts that differ, which take longer.
const FINELY: f64 = 1e-4;
const ROUGHLY: f64 = 1e-3;
/// The losses of shifts that differ are composed for chains with at most this many stretches: others come by the hundred,
/// one for each record.
const MOST_STRETCHES: usize = 16;

/// Shifts of a chain: their divergences, and their losses.
struct Way {
    divergences: RenyiProfile<ComposedCurve>,
    losses: Option<Composition>,
}

impl Way {
    fn new(way: &Allocation, composes: bool) -> Result<Self, NotApplicable> {
        let part = |&Shifts { ratio, count }: &Shifts| {
            let loss = LaplaceLoss::new(Positive::new(ratio)?);
            Ok(Part { pair: DominatingPair::symmetric(Arc::new(loss)), count })
        };
        let parts = way.iter().map(part).collect::<Result<_, NotApplicable>>()?;
        let losses = Composition::new(parts).with_tolerance(if way.len() > 1 { ROUGHLY } else { FINELY });
        Ok(Self {
            divergences: RenyiProfile::new(laplace_shift::curve(way)?),
            losses: composes.then_some(losses),
        })
    }
}

/// The ways to shift, each of which is a bound that is the same in both directions.
struct LaplaceShifts(Vec<Way>);

impl LaplaceShifts {
    /// The least that divergences say, or what the losses of that way say, if it is less. There is no need to ask them if
    /// nothing is left.
    fn least(&self, nothing: f64, value: impl Fn(&dyn PrivacyProfile) -> Enclosure) -> Enclosure {
        let known = self.0.iter().map(|way| (value(&way.divergences), way));
        let least = known.reduce(|a, b| if b.0.upper() < a.0.upper() { b } else { a });
        let Some((known, way)) = least else {
            return Enclosure::INFINITE;
        };
        match &way.losses {
            Some(losses) if known.upper() != nothing => known.min(value(losses)),
            _ => known,
        }
    }
}

impl PrivacyProfile for LaplaceShifts {
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        self.least(0.0, |way| way.delta_of(direction, epsilon)).min(Enclosure::ONE)
    }

    fn log_delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        self.least(f64::NEG_INFINITY, |way| way.log_delta_of(direction, epsilon)).min(Enclosure::ZERO)
    }

    fn epsilon_of(&self, direction: Direction, delta: Delta) -> Enclosure {
        self.least(0.0, |way| way.epsilon_of(direction, delta))
    }

    fn is_symmetric(&self) -> bool {
        true
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
                (2ηC/s)·√((1−c^T)/(1+c^T)·(2−λ)/λ), c = 1−λ, in every dimension. With Laplace noise of scale s_t, in \
                one dimension: E_γ is at most that of the product of the pairs of Laplace laws a_t/s_t scales apart, for the \
                same a_t.",
    assumptions: &[
        "only the last iterate, or that of a random time, is published",
        "Gaussian noise, or Laplace noise in one dimension",
        "a modulus of the updates; projections to closed convex sets are allowed",
    ],
    source: "Bok, Su, Altschuler, Shifted interpolation for differential privacy (2024); Altschuler, Talwar, Privacy of noisy \
             stochastic gradient descent (2022), for the start at any time; any modulus, the optimal allocation and Laplace \
             noise are ours",
    errata: &[],
    notes: Some(Notes {
        applies_to: "Gaussian or Laplace noise, and updates that do not drive iterates far apart or a bounded domain",
        formula: "\
δ(ε) = θ_ε(μ),   μ² = Σ(a_t/s_t)²   for all a_t ≥ 0 with z_t = ω′_t(z_{t−1}) − a_t ≥ 0, z_T = 0,
from z = 0 before the first use, or from z = D at any time

c-Lipschitz updates, T uses:     μ = (d/s)·√((1 − c^T)/(1 + c^T)·(1 + c)/(1 − c))
one use, k later steps, c = 1:   μ = d/(s·√(k + 1))

Laplace noise: δ(ε) = E(1 − e^(ε − L₁ − … − L_T))₊, L_t the loss of Laplace laws a_t/s_t apart

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
            "Laplace noise: given the past, V_t + Z_t is a mixture of Laplace laws at most a_t from Z_t. E_γ of a Laplace law \
             moved by v from the law itself is [1 − e^((ε − |v|/s_t)/2)]₊, and grows with |v|; E_γ is jointly convex. So \
             the pair moved by a_t dominates the mixture against the noise of X′, at every γ > 0 and in both orders, \
             whatever came before, and the product of these pairs dominates the whole (`composition`). \
             For Laplace noise the taut string is tried, in pieces of equal a_t/s_t, and equal a_t/s_t in the last 1, 4, 16, … \
             steps. Any a_t ≥ 0 will do if z_t = min{D, (ω′_t(z_{t−1}) − a_t)₊} ends in 0, as V_t need not be longer \
             than the difference; that is computed with every rounding counted.",
        ],
        wins: &[
            "The guarantee for full batches with a strongly convex loss or weight decay: ε = 2.558 in the example for any \
             number of steps, exact for quadratic losses; `composition` says 17.86 after 1000 steps and 91.8 after 10000.",
            "For one use and k later steps with a convex loss it is as if the noise were √(k + 1) times larger, with or \
             without a domain; on a domain of a few standard deviations `contraction` says less.",
            "It does not know that who was drawn is secret: 1.083 in examples/regularised-dp-sgd.toml, where `recursion` has 8.8e-4; \
             and on a small domain noise mixes faster than differences are shifted: with D = 2.5s and without strong \
             convexity the example has 4.38, by `recursion` 1.34.",
            "With Laplace noise, where the update moves by one scale of it: the first of 1000 records of a convex run has ε = 0.0969 \
             and the last 1.000; many small shifts are nearly Gaussian. Where updates contract fast, everything is left to \
             the last step, as in `ceiling`.",
            "With bounded gradients alone, and no domain, iterates may move 2ηC farther apart in every step, whatever the \
             record does: then it never says less than `composition`.",
        ],
        example: "account examples/noisy-gd.toml",
    }),
};
