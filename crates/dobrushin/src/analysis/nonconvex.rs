//! Random participation on a bounded domain (NCV Theorems 1 and 2).

use super::walk::{legs, ln_weight_of_a_stop};
use super::{Analysis, Bound, unbounded};
use crate::chain::{Branch, Count, Mixture, StepNoise, Stop};
use crate::numeric::{ln_sum, normal};
use crate::{Delta, Enclosure, Epsilon, NotApplicable, Positive, Probability};

/// Any number of hidden uses, of fixed or random steps, on a bounded domain.
///
/// # Guarantee
/// With h a bound on E_γ before a step, E_γ after it is at most (1−p)·η(ω(D)/s)·h + p·η(ω′(D)/s): by joint
/// convexity over the batches; those without the record contract h, those with it are two kernels on
/// points at most ω′(D) apart. From h = 0, with ω = ω′ = D + 2ηC, T steps give NCV Theorem 1 (Poisson) and 2
/// (without replacement): δ = pθ(1 − ((1−p)θ)^T)/(1 − (1−p)θ). Convexity is not needed.
pub struct NonconvexPublished;

impl Analysis for NonconvexPublished {
    fn id(&self) -> &'static str {
        "nonconvex-published"
    }

    fn apply(&self, released: &Mixture) -> Result<Bound, NotApplicable> {
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
    steps: Vec<Repeated>,
    ends: bool,
}

fn recursion(branch: &Branch) -> Result<Recursion, NotApplicable> {
    let width = branch.chain.domain().width();
    if branch.chain.domain().diameter.is_none() {
        return Err(unbounded());
    }
    let repeated = |leg: &super::walk::Leg| Repeated {
        noise: leg.step.noise,
        same: leg.step.modulus.at(width),
        crossed: leg.step.crossed_at(width),
        probability: leg.step.participation.probability(),
        count: leg.count,
        stops: leg.stops,
    };
    let steps = legs(branch)?.iter().map(repeated).collect();
    Ok(Recursion { ln_weight: ln_weight_of_a_stop(branch), steps, ends: branch.stop == Stop::End })
}

impl Recursion {
    fn ln_delta(&self, epsilon: Epsilon) -> Enclosure {
        let mut ln_h = Enclosure::from(f64::NEG_INFINITY);
        let mut stops = Vec::new();
        for step in &self.steps {
            // h ← q·h + x, n times.
            let ln_q = (Enclosure::ONE - step.probability).ln() + step.noise.ln_overlap(step.same, epsilon);
            let ln_x = step.probability.ln() + step.noise.ln_overlap(step.crossed, epsilon);
            let sum = step.count.geometric_sum_of_log(ln_q);
            if step.stops {
                let sums = sum_of_sums(step.count, ln_q.exp(), sum);
                stops.push(ln_sum(&[ln_x + sums.ln(), ln_h + ln_q + sum.ln()]));
            }
            let after = ln_sum(&[ln_x + sum.ln(), ln_h + step.count.times(ln_q)]);
            // Any number of steps: none at all, too.
            ln_h = if step.count == Count::Any { after.max(ln_h) } else { after };
            ln_h = ln_h.min(Enclosure::ZERO);
        }
        self.ln_weight + if self.ends { ln_h } else { ln_sum(&stops) }
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
pub fn nonconvex_epsilon_closed_form(ratio: Positive, rate: Probability, delta: Delta) -> Enclosure {
    let (r, p, delta) = (Enclosure::from(ratio), Enclosure::from(rate), Enclosure::from(delta));
    let level = p * (Enclosure::ONE - delta) / (p + (Enclosure::ONE - p) * delta);
    let quantile = level.map_monotone(|level| {
        Probability::new(level.clamp(0.0, 1.0)).map_or(Enclosure::ENTIRE, normal::cdf_inverse)
    });
    (r * (r / Enclosure::from(2.0) + quantile)).positive_part()
}
