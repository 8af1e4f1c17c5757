//! Random participation on a bounded domain (NCV Theorems 1 and 2).

use super::walk::{Leg, groups, ln_weight_of_a_stop};
use super::{Analysis, Bound, Cost, Family, HiddenStates, Notes, Statement, ncv, unbounded};
use crate::chain::{Branch, Count, Mixture, StepNoise, Stop};
use crate::numeric::{ln_sum, normal};
use crate::{Delta, Enclosure, Epsilon, NotApplicable, Positive, Probability};

/// Any number of hidden uses, in fixed or random steps, on a bounded domain.
///
/// # Guarantee
/// With h a bound on E_γ before a step, E_γ after it is at most (1−p)·η(ω(D)/s)·h + p·η(ω′(D)/s): by joint convexity
/// over the batches, those without the record contract h, and those with it apply two kernels to points at most ω′(D)
/// apart. From h = 0, with ω = ω′ = D + 2ηC, T steps give NCV Theorem 1 (Poisson) and 2 (without replacement): δ = pθ(1
/// − ((1−p)θ)^T)/(1 − (1−p)θ). Convexity is not needed.
///
/// ```
/// use dobrushin::analysis::{HiddenStates, NonconvexPublished};
/// use dobrushin::chain::{Chain, Count, Domain, Mixture, Participation, Piece, Step, StepNoise};
/// use dobrushin::numeric::theta::theta;
/// use dobrushin::{Epsilon, NonNegative, Positive, PrivacyProfile, Probability};
///
/// // One step on a domain of diameter 2s that uses the record, with d = s, one time in four: θ_ε(3)/4.
/// let step = Step::new(StepNoise::gaussian(1.0)?).with_modulus(vec![Piece::new(1.0, 0.0)?]);
/// let used = step.used_by(Participation::Sometimes(Probability::new(0.25)?), NonNegative::new(1.0)?);
/// let domain = Domain { diameter: Some(Positive::new(2.0)?), dimension: None };
/// let chain = Chain::new(vec![(used, Count::Times(1))], domain)?;
/// let profile = NonconvexPublished.apply(&Mixture::last(chain))?.into_profile();
/// let (epsilon, one) = (Epsilon::new(1.0)?, theta(Epsilon::new(1.0)?, NonNegative::new(3.0)?));
/// assert!((profile.delta(epsilon).upper() / (0.25 * one.upper()) - 1.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct NonconvexPublished;

impl Analysis for NonconvexPublished {
    fn statement(&self) -> &'static Statement {
        &STATEMENT
    }

    fn family(&self) -> Family {
        Family::Contraction
    }

    fn cost(&self) -> Cost {
        Cost::ClosedForm
    }
}

impl HiddenStates for NonconvexPublished {
    fn apply(&self, released: &Mixture) -> Result<Bound, NotApplicable> {
        super::starts_together(released)?;
        let recursions = released.branches().iter().map(recursion).collect::<Result<Vec<Recursion>, _>>()?;
        Ok(Bound::by_log_delta(move |epsilon| {
            let terms: Vec<Enclosure> =
                recursions.iter().map(|recursion| recursion.ln_delta(epsilon)).collect();
            ln_sum(&terms)
        }))
    }
}

/// Equal steps.
struct Repeated {
    noise: StepNoise,
    /// ω(D).
    same: Enclosure,
    /// ω′(D).
    crossed: Enclosure,
    /// p.
    probability: Enclosure,
    count: Count,
    stops: bool,
}

struct Recursion {
    ln_weight: Enclosure,
    /// Consecutive steps, with the number of times all of them are repeated.
    groups: Vec<(Vec<Repeated>, u64)>,
    ends: bool,
}

fn recursion(branch: &Branch) -> Result<Recursion, NotApplicable> {
    let width = branch.chain.domain().width();
    if branch.chain.domain().diameter.is_none() {
        return Err(unbounded());
    }
    let repeated = |leg: &Leg<'_>| Repeated {
        noise: leg.step.noise,
        same: leg.step.modulus.at(width),
        crossed: leg.step.crossed_at(width),
        probability: leg.step.participation.probability(),
        count: leg.count,
        stops: leg.stops,
    };
    let groups = groups(branch)?;
    let groups =
        groups.iter().map(|group| (group.legs.iter().map(repeated).collect(), group.times)).collect();
    Ok(Recursion { ln_weight: ln_weight_of_a_stop(branch), groups, ends: branch.stop == Stop::End })
}

impl Recursion {
    fn ln_delta(&self, epsilon: Epsilon) -> Enclosure {
        let mut ln_h = Enclosure::from(f64::NEG_INFINITY);
        let mut stops = Vec::new();
        for (steps, times) in &self.groups {
            if *times > 1 {
                // The combined effect on h is a line, too.
                let one = steps.iter().fold(Affine::identity(), |one, step| one.then(step.all_at(epsilon)));
                ln_h = one.repeated(Count::Times(*times)).at(ln_h).min(Enclosure::ZERO);
                continue;
            }
            for step in steps {
                let one = step.one_at(epsilon);
                if step.stops {
                    let sum = step.count.geometric_sum_of_log(one.ln_q);
                    let sums = sum_of_sums(step.count, one.ln_q.exp(), sum);
                    stops.push(ln_sum(&[one.ln_x + sums.ln(), ln_h + one.ln_q + sum.ln()]));
                }
                let after = one.repeated(step.count).at(ln_h);
                // Any number of steps includes none.
                ln_h = if step.count == Count::Any { after.max(ln_h) } else { after };
                ln_h = ln_h.min(Enclosure::ZERO);
            }
        }
        self.ln_weight + if self.ends { ln_h } else { ln_sum(&stops) }
    }
}

impl Repeated {
    /// The effect of one step on h.
    fn one_at(&self, epsilon: Epsilon) -> Affine {
        Affine {
            ln_q: (Enclosure::ONE - self.probability).ln() + self.noise.ln_overlap(self.same, epsilon),
            ln_x: self.probability.ln() + self.noise.ln_overlap(self.crossed, epsilon),
        }
    }

    /// The effect of all the steps.
    fn all_at(&self, epsilon: Epsilon) -> Affine {
        self.one_at(epsilon).repeated(self.count)
    }
}

/// h ↦ q·h + x.
#[derive(Clone, Copy)]
struct Affine {
    ln_q: Enclosure,
    ln_x: Enclosure,
}

impl Affine {
    fn identity() -> Self {
        Self { ln_q: Enclosure::ZERO, ln_x: Enclosure::from(f64::NEG_INFINITY) }
    }

    fn at(self, ln_h: Enclosure) -> Enclosure {
        ln_sum(&[self.ln_x, ln_h + self.ln_q])
    }

    fn then(self, next: Self) -> Self {
        Self { ln_q: self.ln_q + next.ln_q, ln_x: next.at(self.ln_x) }
    }

    fn repeated(self, count: Count) -> Self {
        let sum = count.geometric_sum_of_log(self.ln_q);
        Self { ln_q: count.times(self.ln_q), ln_x: self.ln_x + sum.ln() }
    }
}

/// Σ_{j=1}^n (1 + q + … + q^(j−1)), between n and n times its last term.
fn sum_of_sums(count: Count, q: Enclosure, last: Enclosure) -> Enclosure {
    let n = count.number();
    let ends = Enclosure::between(n.lower(), (n * last).upper());
    ((n - q * last) / (Enclosure::ONE - q)).intersect(ends).unwrap_or(ends)
}

/// The closed upper bound on the ε of δ for any number of steps: r·[r/2 + Φ⁻¹(p(1−δ)/(p + (1−p)δ))], at least 0
/// (NCV equation 23), with r = (D + 2ηC)/s.
///
/// ```
/// use dobrushin::analysis::nonconvex_epsilon_closed_form;
/// use dobrushin::numeric::normal;
/// use dobrushin::{Delta, Positive, Probability};
///
/// // For a record that is always used, with r = 1, it is 1/2 + Φ⁻¹(1 − δ).
/// let always = nonconvex_epsilon_closed_form(Positive::new(1.0)?, Probability::new(1.0)?, Delta::new(1e-5)?);
/// let known = 0.5 + normal::tail_inverse(Probability::new(1e-5)?).upper();
/// assert!((always.upper() - known).abs() < 1e-9);
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn nonconvex_epsilon_closed_form(ratio: Positive, rate: Probability, delta: Delta) -> Enclosure {
    let (r, p, delta) = (Enclosure::from(ratio), Enclosure::from(rate), Enclosure::from(delta));
    let level = p * (Enclosure::ONE - delta) / (p + (Enclosure::ONE - p) * delta);
    let quantile = level.map_monotone(|level| {
        Probability::new(level.clamp(0.0, 1.0)).map_or(Enclosure::ENTIRE, normal::cdf_inverse)
    });
    (r * (r / Enclosure::from(2.0) + quantile)).positive_part()
}

static STATEMENT: Statement = Statement {
    id: "nonconvex-published",
    title: "Projected DP-SGD without convexity: a bound that does not grow for ever",
    statement: "If E_γ ≤ h before a step, it is at most (1−p)·θ(ω(D)/s)·h + p·θ(ω′(D)/s) after it; with \
                ω = ω′ = D + 2ηC and T equal steps, δ(ε) = pθ·(1 − ((1−p)θ)^T)/(1 − (1−p)θ), θ = θ_ε((D+2ηC)/s), at most its \
                limit for every T. p is the Poisson rate, b/n without replacement, 1 or 0 in fixed orders.",
    assumptions: &[
        "only the last iterate (or that of a random time) is published, and who was drawn stays secret",
        "iterates are projected to a closed convex set of diameter D",
        "clipped or Lipschitz gradients; nothing else of the loss",
    ],
    source: ncv!("Theorems 1 and 2, eq. 22 and 23"),
    errata: &[
        "Theorem 1 needs division by the number drawn (E15): with a fixed divisor an update may be n/b times longer, and \
         n = 1, p = 0.01, D = 0.1 has δ(0) = 0.0100 where it says 0.00166; the modulus here counts that",
        "an empty batch leaves the iterate to noise (E15); eq. 22 has a solution only for small δ, otherwise ε = 0",
    ],
    notes: Some(Notes {
        applies_to: "bounded domain, any uses, any number of steps; Gaussian or Laplace noise",
        formula: "\
δ(ε) = p·θ·(1 + q + q² + … + q^(T−1)) ≤ p·θ/(1 − q),   q = (1 − p)·θ,   θ = θ_ε((D + 2ηC)/s)

θ_ε(r)   E_{e^ε} of two unit Gaussians at distance r
p        the probability with which a step uses the record; T the number of steps
D        the diameter of the domain
2ηC      how much farther apart two points can be after updates of length at most ηC
s        the noise of the iterate",
        proof: &[
            "A step draws a batch, with the same probabilities on both sides: both kernels are mixtures over the batches. E_γ is \
             jointly convex, so E_γ after the step is at most the average over the batches.",
            "Batches without the record, of probability 1 − p, are one kernel on both sides: it contracts h by \
             θ_ε(ω(D)/s) (`gaussian-kernel`).",
            "With the record two kernels meet two laws; whatever these are, two points are at most ω′(D) apart before \
             the noise, which leaves θ_ε(ω′(D)/s).",
            "h ← (1−p)·θ(ω(D)/s)·h + p·θ(ω′(D)/s) from h = 0. The code takes ω and ω′ as they are, step by step, \
             Laplace noise with its own E_γ, and the average over the times of a random stop; the formula above is ω = ω′ = D + 2ηC.",
            "T → ∞: a geometric series with q < 1, so that the bound holds for any number of steps.",
        ],
        wins: &[
            "Only at ε = 0 with Laplace noise, where `contraction`, which takes it into account, says no less: 3.5595e-3 in \
             the example. At ε = 0.5 `contraction` has 0.",
            "With Gaussian noise never, as `recursion` takes it into account: 7.5e-5 against 6.7e-3 at ε = 0 after 1e6 steps \
             of examples/projected-dp-sgd.toml, and less and less as ε grows.",
            "There it is below composition from about 2e5 steps on (1.6e-2 of `composition` after 1e6); at δ = 1e-5 it needs \
             ε = 10.97.",
            "Every use counts with θ(ω′(D)/s), however little the record moves the update: it never says less than p·θ. \
             Nothing without a bounded domain.",
        ],
        example: "account examples/projected-dp-sgd.toml --set noise=laplace --set steps=1e6 --epsilon 0",
    }),
};
