//! Hidden participation and hidden iterates at once: the last steps are composed, and what earlier steps left
//! of the record is shifted into the noise of the last (the strategy of Altschuler and Talwar 2022, in
//! hockey-stick form).

mod distance;
mod scout;
mod setting;
mod table;

use super::{Analysis, Bound};
use crate::chain::{Branch, Count, Mixture, Stop};
use crate::profile::{Direction, PiecewiseProfile, PrivacyProfile};
use crate::run::missing;
use crate::{Delta, Enclosure, Epsilon, NotApplicable};
use setting::Setting;
use std::sync::{Arc, OnceLock};

/// Equal steps with Gaussian noise s in which the record takes part in secret, with probability p, and whose
/// updates keep iterates together.
///
/// # Guarantee
/// Let X be the run on one data set and X′ that on a neighbour, both with the same batches and noise, and
/// τ = T − k for any k ≤ T.
///
/// **Before the cut.** ‖X_τ − X′_τ‖ ≤ z_τ, where z ← min(D, c·z) in steps without the record and
/// z ← min(D, c·z + d) in those with it: projections to convex sets bring points no farther apart. So z_τ is a
/// random distance that never exceeds D_τ = min(D, d·(1 − c^τ)/(1 − c)), and whose law only grows with τ.
///
/// **Shift.** Two runs of k steps *with the same updates* from x and y have E_γ ≤ θ_ε(R_k·‖x − y‖) with
/// R_k = 1/(s·√Σ_{i=1..k} c^(−2i)): given the batches, let Y follow X by Y ← Π(ψ(Y) + λ(ψ(X) − ψ(Y)) + noise)
/// from Y = y, so that their distance shrinks from c·z to (1 − λ)·c·z and is 0 in the end, when λ = 1.
/// Given Y, a step differs from one of the second run by at most a = λ·c·z, and the best a have
/// Σa² = ‖x − y‖²/Σc^(−2i). For updates with ‖ψ(x) − ψ(y)‖ ≤ c·z + o, c ≤ 1, R_k·z becomes
/// (c^k·z + o·Σ_{j<k} c^j)/(s·√Σ_{j<k} c^(2j)).
///
/// **Own losses.** From the same iterate, k steps on X's data against k on those of X′ are k subsampled
/// pairs, composed: E_γ ≤ g_k(γ), where g₁(γ) = p·[(1−b)·θ_g(d₀/s) + b·θ_g(d/s)], g = 1 + (γ−1)/p, b = γ/g, and d₀ is how
/// far updates with and without the record are apart.
///
/// 1. *Split.* For s² = s₁² + s₂² the same Y, from Y_τ = X′_τ and with the updates ψ of X's data, ends in X_T.
///    Given Y_t = y, let A = ψ(y) + noise s₁ and C = λ(ψ(X_t) − ψ(y)) + noise s₂; Y_{t+1} = Π(A + C). A step of X′
///    from y is Π(A′ + C′) with A′ = ψ′(y) + noise s₁ and C′ = noise s₂. A against A′ is the subsampled pair with
///    noise s₁; whatever A is, C is a mixture of normal laws within a of that of C′. So (X_T, X′_T) is dominated
///    by k subsampled pairs with noise s₁ and one normal pair with μ = D_τ·R_k·s/s₂ (adaptive composition).
/// 2. *Triangle.* E_{γ₁γ₂}(P‖Q) ≤ E_{γ₁}(P‖S) + γ₁·E_{γ₂}(S‖Q). With S the k steps of either data set from the
///    other's iterate, E_{γ₁γ₂} is at most g_k(γ₁) + γ₁·h(γ₂) and at most h(γ₁) + γ₁·g_k(γ₂), with
///    h(γ) = E θ_ε(R_k·z_τ), by joint convexity over the batches before the cut.
///
/// Every k, split and γ₁ gives a bound; good ones are looked for. All hold for both orders of the neighbours,
/// since nothing distinguishes them, and for fewer steps than T: D_τ and z_τ only shrink, and k steps at least
/// cover fewer. The convex hull of all points is the profile.
pub struct ShiftSubsampled;

impl Analysis for ShiftSubsampled {
    fn id(&self) -> &'static str {
        "shift-subsampled"
    }

    fn apply(&self, released: &Mixture) -> Result<Bound, NotApplicable> {
        let mut members = Vec::new();
        for branch in released.branches() {
            members.extend(ends(branch)?);
        }
        if members.len() > MOST_MEMBERS {
            return Err(NotApplicable::beyond("there are too many different chains in the mixture"));
        }
        Ok(Bound::Profile(Arc::new(Tables { members })))
    }
}

/// The most chains whose bounds are averaged.
const MOST_MEMBERS: usize = 16;
/// How many groups the times of a random stop are divided into.
const GROUPS: u64 = 4;

/// Settings that stop at their ends, with their weights. The times of a random stop are grouped, and the last
/// time of each group stands for all of it.
fn ends(branch: &Branch) -> Result<Vec<Member>, NotApplicable> {
    let setting = Setting::of(&branch.chain)?;
    let member = |weight: Enclosure, steps: Count| Member {
        weight: weight.upper().min(1.0),
        setting: setting.with_steps(steps),
        table: OnceLock::new(),
    };
    let Stop::Uniform(times) = branch.stop else {
        return Ok(vec![member(branch.weight, setting.steps)]);
    };
    let (Count::Times(uses), Some(steps)) = (setting.steps, branch.chain.steps()) else {
        return Err(missing!("a random stop needs a number of steps: give {}", Steps));
    };
    // The last times follow the last use; of each earlier one, one more use is left out.
    let before: u64 = branch
        .chain
        .stretches()
        .take_while(|stretch| stretch.step.participation.is_never())
        .map(|stretch| if let Count::Times(times) = stretch.count { times } else { 0 })
        .sum();
    let after = steps.saturating_sub(before).saturating_sub(uses);
    let group = uses.min(times.saturating_sub(after)).div_ceil(GROUPS).max(1);
    let mut members = Vec::new();
    let (mut uses, mut covered, mut left) = (uses, after.saturating_add(group), times);
    while left > 0 && uses > 0 {
        let share = Enclosure::from(covered.min(left)) / Enclosure::from(times);
        members.push(member(branch.weight * share, Count::Times(uses)));
        left -= covered.min(left);
        (uses, covered) = (uses.saturating_sub(group), group);
    }
    Ok(members)
}

/// A chain and its weight.
struct Member {
    weight: f64,
    setting: Setting,
    table: OnceLock<PiecewiseProfile>,
}

/// The weighted sum of the bounds of several chains, each computed when it is first asked for.
struct Tables {
    members: Vec<Member>,
}

impl Tables {
    fn tables(&self) -> impl Iterator<Item = (Enclosure, &PiecewiseProfile)> {
        self.members.iter().map(|member| {
            let table = member.table.get_or_init(|| table::profile(&member.setting));
            (Enclosure::from(member.weight), table)
        })
    }
}

impl PrivacyProfile for Tables {
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        let terms = self.tables().map(|(weight, table)| weight * table.delta_of(direction, epsilon));
        terms.sum::<Enclosure>().min(Enclosure::ONE)
    }

    fn is_symmetric(&self) -> bool {
        true
    }

    fn epsilon_of(&self, direction: Direction, delta: Delta) -> Enclosure {
        let mut tables = self.tables();
        match (tables.next(), tables.next()) {
            (Some((weight, table)), None) if weight == Enclosure::ONE => table.epsilon_of(direction, delta),
            _ => crate::profile::smallest_epsilon(delta, |epsilon| self.delta_of(direction, epsilon)),
        }
    }
}
