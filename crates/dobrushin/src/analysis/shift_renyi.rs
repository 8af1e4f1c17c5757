//! Shifting the difference of two iterates into the noise, by Rényi divergences (PAI Theorem 22).

use super::laplace_shift;
use super::lines::squared_shift;
use super::once::squared_shifts;
use super::walk::at_each_end;
use super::{Analysis, Bound, Cost, Family, HiddenStates, Notes, Statement};
use crate::chain::{Chain, Mixture};
use crate::profile::{ComposedCurve, ConcentratedMixture, Direction, MixtureCurve, RenyiCurve};
use crate::run::NoiseKind;
use crate::{Enclosure, NotApplicable};
use std::sync::Arc;

/// Hidden steps that keep iterates together, with Gaussian or Laplace noise.
///
/// # Guarantee
/// D_α ≤ (α/2)·Σ(a_t/s_t)² for every a_t ≥ 0 with z_t = ω′_t(z_{t−1}) − a_t ≥ 0 and z₀ = z_T = 0 (ω′_t = ω_t in
/// steps without the record): PAI Theorem 22 for any modulus. The best a_t are taken. Instances: PAI Theorems
/// 23 and 24 (used once, convex: 2αL²/((n−t+1)σ²)) and 35 (several passes).
///
/// If the iterate at a random time is released, or the record is at a random place: D_α ≤ ln[Σ_j
/// w_j·e^((α−1)D_α,j)]/(α−1), for every noise, in place of PAI Theorem 26 (E8).
///
/// With Laplace noise, in one dimension, D_α is at most the sum of the D_α of two Laplace laws a_t/s_t scales apart, for
/// the same a_t, or with z_t ≤ D on a domain of diameter D (`shift` has the proof).
///
/// ```
/// use dobrushin::analysis::{Bound, HiddenStates, ShiftRenyi};
/// use dobrushin::chain::{Chain, Count, Domain, Mixture, Participation, Piece, Step, StepNoise};
/// use dobrushin::profile::{Direction, RenyiCurve};
/// use dobrushin::NonNegative;
///
/// // Used once with d = 2 and s = 1, and three later steps: D_α ≤ (α/2)·d²/(4s²), which is 1 for α = 2.
/// let later = Step::new(StepNoise::gaussian(1.0)?).with_modulus(vec![Piece::new(1.0, 0.0)?]);
/// let used = later.clone().used_by(Participation::Always, NonNegative::new(2.0)?);
/// let chain = Chain::new(vec![(used, Count::Times(1)), (later, Count::Times(3))], Domain::default())?;
/// let Bound::Renyi(curve) = ShiftRenyi.apply(&Mixture::last(chain))? else { panic!("it is a Rényi curve") };
/// assert!((curve.log_moment(Direction::Forward, 2.0).upper() - 1.0).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ShiftRenyi;

impl Analysis for ShiftRenyi {
    fn statement(&self) -> &'static Statement {
        &STATEMENT
    }

    fn family(&self) -> Family {
        Family::Shift
    }

    fn cost(&self) -> Cost {
        Cost::ClosedForm
    }

    /// With Gaussian noise `shift` says less, as quickly.
    fn suits_each_record_with(&self, noise: NoiseKind) -> bool {
        noise == NoiseKind::Laplace
    }
}

impl HiddenStates for ShiftRenyi {
    fn apply(&self, released: &Mixture) -> Result<Bound, NotApplicable> {
        if laplace_shift::is_laplace(released) {
            let members = at_each_end(released, into_laplace_noise)?;
            return Ok(Bound::Renyi(Arc::new(MixtureCurve::new(members))));
        }
        let members = squared_shifts(released, |released| at_each_end(released, squared_shift))?;
        let halves = members.into_iter().map(|(weight, square)| (weight, square / Enclosure::from(2.0)));
        Ok(Bound::Renyi(Arc::new(ConcentratedMixture::new(halves.collect()))))
    }
}

/// The sums of the divergences of the shifts.
fn into_laplace_noise(chain: &Chain) -> Result<Arc<LeastCurve>, NotApplicable> {
    let ways = laplace_shift::allocations(chain)?;
    Ok(Arc::new(LeastCurve(ways.iter().map(laplace_shift::curve).collect::<Result<_, _>>()?)))
}

/// The least of several bounds on one pair of laws, each the same in both directions.
struct LeastCurve(Vec<ComposedCurve>);

impl RenyiCurve for LeastCurve {
    fn log_moment(&self, direction: Direction, order: f64) -> Enclosure {
        let moments = self.0.iter().map(|way| way.log_moment(direction, order));
        moments.reduce(Enclosure::min).unwrap_or(Enclosure::ENTIRE)
    }

    fn log_moment_roughly(&self, direction: Direction, order: f64) -> f64 {
        let moments = self.0.iter().map(|way| way.log_moment_roughly(direction, order));
        moments.fold(f64::INFINITY, f64::min)
    }

    fn largest_loss(&self, direction: Direction) -> Enclosure {
        let losses = self.0.iter().map(|way| way.largest_loss(direction));
        losses.reduce(Enclosure::min).unwrap_or(Enclosure::INFINITE)
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}

static STATEMENT: Statement = Statement {
    id: "shift-renyi",
    title: "Shifting the difference into hidden noise, by Rényi divergences",
    statement: "D_α(W_T‖W′_T) ≤ (α/2)·Σ(a_t/s_t)² for every a_t ≥ 0 with z_t = ω′_t(z_{t−1}) − a_t ≥ 0, z₀ = z_T = 0, at \
                every order α > 1, where ω′_t = ω_t in steps without the record and at most ω_t + d_t in others. The \
                best a_t are the slopes of the greatest convex minorant. Used once, n−i steps before the end, with \
                1-Lipschitz updates: 2αL²/((n−i+1)σ²). A random time or place: \
                ln[Σ w_j·e^((α−1)D_j)]/(α−1). With Laplace noise of scale s_t, in one dimension, a shift costs D_α of two \
                Laplace laws a_t/s_t scales apart. Converted to (ε, δ) at the best order (`renyi-conversion`).",
    assumptions: &[
        "only the last iterate, or that of a random time, is published",
        "Gaussian noise, or Laplace noise in one dimension",
        "a modulus of the updates: convex and smooth losses with η ≤ 2/β keep iterates together; bounded gradients \
         alone let them drift apart by 2ηL a step",
        "projections to closed convex sets are allowed, and not needed",
    ],
    source: "Feldman, Mironov, Talwar, Thakurta, Privacy amplification by iteration (2018), Theorems 22, 23, 24, 35",
    errata: &[
        "Theorem 1 lacks a square (E4): distance 3, one step, α = 2 has D = 9, and it says 3",
        "Theorem 22 needs a_t ≥ 0 (E22)",
        "Theorem 26 has ln n where H_n is needed (E8): at n = 1 it says 0, and at n = 2 4.62098 where D_α = 4.71652; \
         the mixture formula used here needs no condition on σ",
        "Theorem 32 fails for n = 1 (E9); Lemma 27 and Theorem 29 use the 1.25-formula beyond ε = 1 (E10)",
        "the (ε/√m, δ) of Theorem 30 does not follow from its Rényi curve (E11); `shift` has what holds",
        "Corollary 31 lacks a factor √2 in σ (E12): δ(1) = 2.713e-5 where 1e-5 is claimed",
    ],
    notes: Some(Notes {
        applies_to: "Gaussian or Laplace noise and updates that do not drive iterates far apart",
        formula: "\
D_α ≤ (α/2)·Σ(a_t/s_t)²   for all a_t ≥ 0 with z_t = ω′_t(z_{t−1}) − a_t ≥ 0, z₀ = z_T = 0
D_α ≤ Σ ln[(α·e^((α−1)r_t) + (α−1)·e^(−α·r_t))/(2α−1)]/(α−1)   for Laplace noise, r_t = a_t/s_t

D_α      the Rényi divergence of order α of the published iterate for two neighbours
ω′_t(z)  how far apart iterates z apart can be after step t, each on its own data
a_t      what is charged of the difference to the noise s_t of step t; z_t is what is left",
        proof: &[
            "Let D_α^z(μ‖ν) be the least D_α(μ′‖ν) over the μ′ that are within z of μ (a coupling never more than z apart). \
             D_α^0 is D_α, and both runs start with D_α^0 = 0.",
            "Updates: if μ′ is within z of μ, the image of μ′ under the update of ν is within ω′(z) of the image of μ under its \
             own. So D_α^{ω′(z)} after the updates is at most D_α^z before, by data processing. Projections count as \
             updates that bring nothing apart.",
            "Noise: D_α^{z−a} of μ + N(0, s²) and ν + N(0, s²) is at most D_α^z(μ‖ν) + (α/2)·(a/s)². Of the displacement between \
             μ and μ′, at most z long, a part at most a long is told to the noise, which it shifts at that price; the \
             rest, at most z − a, is kept.",
            "From z₀ = 0 to z_T = 0 the prices add. Steps before the first use cost nothing and are left out, those after \
             the last use may be.",
            "The best a_t minimise a sum of squares: in units of the end, the total shift is a curve below given points, \
             and the tautest one is their greatest convex minorant. It is found in ordinary arithmetic; that \
             z_t ≥ 0 is checked with every rounding counted. Of a modulus that is the least of several lines each is \
             tried.",
            "Laplace noise: told a part at most a long, D_α of the noise grows by at most that of two Laplace laws a apart, as \
             it grows with the distance and e^((α−1)D_α) is jointly convex. The a_t are those of `shift`.",
            "A random time or place: e^((α−1)D_α) is jointly convex, so D_α ≤ ln[Σ w_j·e^((α−1)D_j)]/(α−1), in place of \
             Theorem 26 (E8).",
        ],
        wins: &[
            "Never with Gaussian noise: `shift` turns the same a_t into (ε, δ) without going through Rényi divergences. In the example 2.774 \
             against 2.558; composition says 17.86.",
            "With Laplace noise it also speaks of random times and places, which `shift` does not, and of each of a million records.",
            "Unlike `shift` it does not use a bounded domain to forget what came before, unless the noise is Laplace noise.",
            "Where gradients are bounded and nothing else is known, what has to be shifted grows with every step: \
             nothing for any number of steps.",
        ],
        example: "account examples/noisy-gd.toml --analyses shift-renyi,shift,composition",
    }),
};
