//! Hidden participation: composition that forgets.

mod exchange;
mod law;
mod pair;
mod past;

use super::{Analysis, Bound, Cost, Family, HiddenStates, Notes, Statement};
use crate::chain::{Chain, Mixture};
use crate::profile::{Direction, PrivacyProfile};
use crate::{Delta, Enclosure, Epsilon, NotApplicable};
use exchange::Exchanged;
use law::Law;
use pair::Pair;
use past::{Past, Worth};
use std::sync::{Arc, OnceLock};

/// Steps with Gaussian noise in which a record takes part in secret and at random, and whose updates are Lipschitz.
///
/// # Guarantee
/// Let the updates of step t be c_t-Lipschitz, whoever takes part, and its noise s_t; projections to closed convex sets
/// may follow. Given everything about the other records, let the record take part with probability q_t, independently.
/// With Λ_T = 1/s_T and Λ_t^(−2) = s_t² + Λ_{t+1}^(−2)/c_{t+1}²:
///
/// 1. *One neighbour without the record* (zero-out or add-or-remove-one with Poisson sampling, `Step::vanishes`). The
///    last iterates are dominated, in both directions, by the pair (M + N(0, 1), N(0, 1)) with M = Σ U_t·d_t·Λ_t and
///    independent U_t ~ Bernoulli(q_t): `pair.rs`. A group of g records, each of which takes part by itself and moves by d_t,
///    has U_t ~ Bin(g, q_t).
/// 2. *Otherwise* they are dominated by the recursion of `exchange.rs`.
///
/// If iterates may be anywhere in a domain of diameter D before step t, or z apart, M gains D·c_t·Λ_t or z·c_t·Λ_t. So
/// only the last steps count if c < 1, and the bound holds for any number of steps.
///
/// *Proof.* For a test f of the last iterate let b_t(x) be its expectation given the iterate x after step t on one
/// neighbour's data, a_t(x) on the other's, and β_t(y) = E b_t(y + s_t·Z).
///
/// (i) *Smoothing.* If Φ⁻¹∘b is L-Lipschitz, then Φ⁻¹∘E b(· + s·Z) is L/√(1 + L²s²)-Lipschitz. With b = Φ∘G the
/// expectation is the normal measure of {(z, n): n ≤ G(y + s·z)}. Moving y by v is covered by moving this set by
/// (−τv/s, (1−τ)·L·|v|), and a set moved by w has measure at most Φ(Φ⁻¹(·) + |w|); τ = L²s²/(1 + L²s²) is best. Any f
/// has L = ∞ at first, which gives 1/s_T; a c-Lipschitz update before it multiplies L by c, and a mixture of functions
/// of this kind is of this kind, since the isoperimetric profile of the normal law is concave. This is Λ.
///
/// (ii) *One neighbour without the record.* Let b be of that neighbour. Then a_t ≤ α_t(b_t) with α_T(u) = u and
/// α_{t−1}(u) = (1−q_t)·α_t(u) + q_t·α_t(Φ(Φ⁻¹(u) + d_tΛ_t)), all of which increase and are concave: a_{t−1}(x) ≤
/// (1−q)·E α_t(b_t(y + sZ)) + q·E α_t(b_t(y + v + sZ)) with y = ψ(x) and |v| ≤ d; Jensen's inequality gives α_t(β_t(y))
/// and α_t(β_t(y + v)), and (i) bounds β_t(y + v). Unrolled, α_0(u) = E Φ(Φ⁻¹(u) + M), the power of the best test of
/// size u between M + N and N. Tests 1 − f give the other direction. A group adds k displacements with probability
/// P(U_t = k): α_{t−1}(u) = E α_t(Φ(Φ⁻¹(u) + U_t·d_tΛ_t)), and the rest is the same.
///
/// (iii) *Otherwise* the same step has three updates: without the record, with one, and with the other (`exchange.rs`).
///
/// ```
/// use dobrushin::analysis::{HiddenParticipation, HiddenStates};
/// use dobrushin::chain::{Chain, Count, Domain, Mixture, Participation, Piece, Step, StepNoise};
/// use dobrushin::{Delta, NonNegative, PrivacyProfile, Probability};
///
/// // Each step uses the record with probability 1 % and halves what is left of earlier uses, any number of steps.
/// let step = Step::new(StepNoise::gaussian(1.0)?).with_modulus(vec![Piece::new(0.5, 0.0)?]);
/// let mut used = step.used_by(Participation::Sometimes(Probability::new(0.01)?), NonNegative::new(1.0)?);
/// used.vanishes = true;
/// let chain = Chain::new(vec![(used, Count::Any)], Domain::default())?;
/// let profile = HiddenParticipation.apply(&Mixture::last(chain))?.into_profile();
/// let epsilon = profile.epsilon(Delta::new(1e-5)?).upper();
/// // The sum over the uses of the last twelve steps has ε = 0.26119.
/// assert!(0.2611 < epsilon && epsilon < 0.28, "{epsilon}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct HiddenParticipation;

/// The most chains whose bounds are averaged.
const MOST_CHAINS: usize = 8;
/// The most steps of the recursion.
const MOST_EXCHANGED: usize = 4096;
/// The recursion goes back until what came before is worth this share of the last use.
const LEFT: f64 = 1e-4;

impl Analysis for HiddenParticipation {
    fn statement(&self) -> &'static Statement {
        &STATEMENT
    }

    fn family(&self) -> Family {
        Family::Shift
    }

    fn cost(&self) -> Cost {
        Cost::Laborious
    }
}

impl HiddenStates for HiddenParticipation {
    fn apply(&self, released: &Mixture) -> Result<Bound, NotApplicable> {
        let mut members = Vec::new();
        for branch in released.branches() {
            let ends = match branch.ends().filter(|ends| ends.len() <= MOST_CHAINS) {
                Some(ends) => ends,
                // A run of fewer equal steps is an instance of a run of more.
                None if branch.chain.stretches().take(2).count() == 1 => {
                    vec![(branch.weight, branch.chain.clone())]
                }
                None => Vec::new(),
            };
            if ends.is_empty() || members.len() + ends.len() > MOST_CHAINS {
                return Err(NotApplicable::beyond(
                    "there are too many different times at which the run may stop, or places of the record",
                ));
            }
            for (weight, chain) in ends {
                members.push(Member::new(weight, &chain)?);
            }
        }
        Ok(Bound::Profile(Arc::new(Members(members))))
    }
}

/// What one use of the record may be worth, in deviations of the noise: beyond that everybody sees it.
const FARTHEST: f64 = 1e3;

/// A chain with its probability, and its bound when it is first asked for.
struct Member {
    weight: Enclosure,
    past: Past,
    profile: OnceLock<Arc<dyn PrivacyProfile>>,
}

impl Member {
    fn new(weight: Enclosure, chain: &Chain) -> Result<Self, NotApplicable> {
        let past = Past::of(chain)?;
        if past.steps.iter().any(|step| step.apart > FARTHEST) {
            return Err(NotApplicable::beyond(format!(
                "one use of the record moves the iterate by more than {FARTHEST} times its noise, which hides nothing"
            )));
        }
        Ok(Self { weight, past, profile: OnceLock::new() })
    }

    fn profile(&self) -> &dyn PrivacyProfile {
        self.profile.get_or_init(|| self.past.profile()).as_ref()
    }
}

impl Past {
    fn profile(&self) -> Arc<dyn PrivacyProfile> {
        if self.vanishes {
            let last = self.best_cut();
            let steps = self.steps[..last].iter().map(|step| (step.apart, step.rate, step.members)).collect();
            return Arc::new(Pair::new(&Law::of(&law::joined(steps)), self.before[last - 1]));
        }
        let enough = LEFT * self.steps.iter().map(|step| step.apart).fold(0.0, f64::max);
        let most = self.steps.len().min(MOST_EXCHANGED);
        let last = self.before[..most].iter().position(|before| *before <= enough).map_or(most, |at| at + 1);
        Arc::new(Exchanged::new(self.steps[..last].to_vec(), self.before[last - 1]))
    }

    /// The number of last steps for which what they are worth on average, and what came before at most, is least.
    fn best_cut(&self) -> usize {
        let mut mean = 0.0;
        let mut best = (f64::INFINITY, self.steps.len());
        for (index, (Worth { rate, apart, members, .. }, before)) in
            self.steps.iter().zip(&self.before).enumerate()
        {
            mean += *members as f64 * rate * apart;
            if mean + before < best.0 {
                best = (mean + before, index + 1);
            }
        }
        best.1
    }
}

/// The weighted sum of the bounds of several chains.
struct Members(Vec<Member>);

impl PrivacyProfile for Members {
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        let terms = self.0.iter().map(|member| member.weight * member.profile().delta_of(direction, epsilon));
        terms.sum::<Enclosure>().min(Enclosure::ONE)
    }

    fn is_symmetric(&self) -> bool {
        self.0.iter().all(|member| member.profile().is_symmetric())
    }

    fn epsilon_of(&self, direction: Direction, delta: Delta) -> Enclosure {
        match &self.0[..] {
            [member] if member.weight == Enclosure::ONE => member.profile().epsilon_of(direction, delta),
            _ => crate::profile::smallest_epsilon(delta, |epsilon| self.delta_of(direction, epsilon)),
        }
    }
}

static STATEMENT: Statement = Statement {
    id: "hidden-participation",
    title: "Hidden participation: composition that forgets",
    statement: "Let updates be c_t-Lipschitz and Λ_T = 1/s_T, Λ_t^(−2) = s_t² + Λ_{t+1}^(−2)/c_{t+1}². If one of two neighbours \
                never uses the record (zero-out, add-or-remove-one with Poisson sampling), the last iterates are dominated by \
                the pair (M + N(0,1), N(0,1)), in both directions, where M = Σ U_t·d_t·Λ_t and the record takes part in step t \
                with probability P(U_t = 1) = q_t. Otherwise (replace-one, sampling without replacement), with e = 0 at λ = 1 \
                after the last step, e(λ) ← (1−q)·e(λ₁) + q·e(λ₂) + q·λ₂·[ρ·E_κ′(dΛ) + (1−ρ)·E_κ″(d₀Λ)], κ′ = λ/(λ₂ρ), \
                κ″ = (1−q)(λ−λ₁)/(qλ₂(1−ρ)), for any λ₁ ≤ λ, λ₂ and ρ, step by step from the last. If iterates are z apart \
                before step t, M gains z·c_t·Λ_t. With c < 1 or a domain the bound holds for any number of steps.",
    assumptions: &[
        "only the last iterate (or that of a random time) is published, and who was drawn stays secret",
        "Gaussian noise; the record takes part at random, independently in each step",
        "every update is c-Lipschitz, for every batch that can occur",
        "projections to closed convex sets are allowed, and not needed if c < 1",
    ],
    source: "Proved here; smoothing in the scale of Φ⁻¹ is a form of the Gaussian isoperimetric inequality",
    errata: &[],
    notes: Some(Notes {
        applies_to: "hidden random use, Lipschitz updates, Gaussian noise, any number of steps",
        formula: "\
δ(ε) = E_γ(M + N(0,1) ‖ N(0,1)), or the other direction if it is larger
M    = Σ_k U_k·(d/s)/√(1 + c⁻² + … + c^(−2k))

k        steps before the last
U_k      1 if that step uses the record, with probability q, and 0 if not
c, d     the Lipschitz constant of updates, and how far the record moves one
s        the noise of the iterate",
        proof: &[
            "A test f of the last iterate has an expectation β(y), given the iterate y of a step before its noise. Φ⁻¹∘β is \
             Λ-Lipschitz: noise of size s turns a Lipschitz constant L into L/√(1 + L²s²), because moving a set of the normal law by w \
             changes Φ⁻¹ of its measure by at most |w|; a c-Lipschitz update multiplies it by c; mixtures keep it.",
            "Let b_t be the expectation of f given the iterate after step t on the data without the record, a_t with it. Then \
             a_t ≤ α_t(b_t) with concave α_t: α_T is the identity, and α_{t−1}(u) = (1−q)·α_t(u) + q·α_t(Φ(Φ⁻¹(u) + dΛ_t)), by \
             Jensen's inequality for the noise and the first step for the displacement.",
            "Unrolled, α_0(u) = E Φ(Φ⁻¹(u) + M), which is the power of the best test of size u between M + N and N. The tests 1 − f \
             give the other direction.",
            "If both neighbours use the record, a test has size u₀ without it, u₁ with the one and power α(w) with the other, and \
             w ≤ Φ(Φ⁻¹(u₁) + dΛ), w ≤ Φ(Φ⁻¹(u₀) + d₀Λ). Lines above α and E_κ of normal laws bound the best of these.",
            "The law of M is computed from above: worths are raised to multiples of a unit, unlikely numbers of uses count as \
             infinite, and the relative error of every mass is kept.",
        ],
        wins: &[
            "The guarantee for records drawn rarely whose every use pushes hard, and updates that forget: in the example ε = 0.2714 for \
             any number of steps, `composition` 2.108 after 11800.",
            "Without a domain and with c = 1 what a use tells fades only like 1/√k, and `composition` is usually better.",
            "Nothing for Laplace noise, or where no Lipschitz constant of updates is known (clipping alone).",
        ],
        example: "account examples/logistic-regression.toml --set order=poisson --set neighbours=zero-out --set steps=any",
    }),
};
