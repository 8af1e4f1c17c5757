//! Products of contraction coefficients (CED Theorems 5 and 6, PAC Theorems 3, 4 and 5).

use super::walk::{Leg, legs, ln_weight_of_a_stop};
use super::{Analysis, Bound, unbounded};
use crate::chain::{Branch, Count, Mixture, StepNoise, Stop};
use crate::numeric::{ln_sum, theta};
use crate::run::{Fact, in_the_way};
use crate::{Enclosure, Epsilon, NonNegative, NotApplicable};

/// A record that is used once and then hidden by later steps on a bounded domain.
///
/// # Guarantee
/// δ(ε) = η(d_i/s_i)·∏_{t>i} η(ω_t(D)/s_t) with η = E_{e^ε} of the noise at that distance: the two
/// iterates after the use are at most that far apart in E_γ, and every later step contracts E_γ by η_γ of
/// its noise on the image of the domain, of diameter ω_t(D). (CED Theorem 5; with a Lipschitz modulus
/// PAC Theorems 3 and 4, whose step-size hypothesis, E6, and last index, E7, are part of the chain.)
pub struct ContractionPublished;

/// The same where the iterate of a random time is released.
///
/// # Guarantee
/// δ(ε) is the average over the times of the product up to each, by joint convexity: CED equation 33
/// exactly, of which CED equations 34 to 36 and PAC Theorem 5 are upper bounds. A record at a random
/// place, each equally likely, has the same average.
pub struct RandomStopPublished;

impl Analysis for ContractionPublished {
    fn id(&self) -> &'static str {
        "contraction-published"
    }

    fn apply(&self, released: &Mixture) -> Result<Bound, NotApplicable> {
        if released.stops_at_random() {
            return Err(NotApplicable::because_of(
                &[Fact::Release],
                "one of several iterates is released at random: random-stop-published is for that",
            ));
        }
        products(released)
    }
}

impl Analysis for RandomStopPublished {
    fn id(&self) -> &'static str {
        "random-stop-published"
    }

    fn apply(&self, released: &Mixture) -> Result<Bound, NotApplicable> {
        if !released.stops_at_random() {
            return Err(in_the_way!(
                "neither the time of the released iterate nor the place of the record is random: {} is not \
                 \"random-stop\", {} is not \"shuffled\"",
                Release,
                Order
            ));
        }
        products(released)
    }
}

/// A factor η(distance), several times.
struct Factor {
    noise: StepNoise,
    distance: Enclosure,
    count: Count,
    /// Whether the chain may stop after each of them.
    stops: bool,
}

struct Product {
    ln_weight: Enclosure,
    first: Factor,
    rest: Vec<Factor>,
    /// Whether the chain stops at its end only.
    ends: bool,
}

/// The average of the products of all branches.
pub(super) fn products(released: &Mixture) -> Result<Bound, NotApplicable> {
    let products = released.branches().iter().map(product).collect::<Result<Vec<Product>, _>>()?;
    Ok(Bound::by_log_delta(move |epsilon| {
        let terms: Vec<Enclosure> = products.iter().map(|product| product.ln_delta(epsilon)).collect();
        ln_sum(&terms)
    }))
}

fn product(branch: &Branch) -> Result<Product, NotApplicable> {
    if branch.chain.only_use().is_none() {
        return Err(in_the_way!(
            "the record is used in more than one step, or at random: it must be used once, {} = \"once\"",
            Order
        ));
    }
    let width = branch.chain.domain().width();
    let factor = |leg: &Leg| Factor {
        noise: leg.step.noise,
        distance: leg.step.modulus.at(width),
        count: leg.count,
        stops: leg.stops,
    };
    let legs = legs(branch)?;
    let (first, rest) = legs.split_first().ok_or_else(unbounded)?;
    let rest: Vec<Factor> = rest.iter().map(factor).collect();
    if branch.chain.domain().diameter.is_none()
        && rest.iter().all(|factor| factor.distance.upper() == f64::INFINITY)
    {
        return Err(unbounded());
    }
    let first = Factor { distance: first.step.displacement, ..factor(first) };
    Ok(Product { ln_weight: ln_weight_of_a_stop(branch), first, rest, ends: branch.stop == Stop::End })
}

impl Product {
    fn ln_delta(&self, epsilon: Epsilon) -> Enclosure {
        let mut ln_product = self.ln_weight + self.first.noise.ln_overlap(self.first.distance, epsilon);
        let mut stops = Vec::with_capacity(if self.ends { 0 } else { self.rest.len() + 1 });
        if self.first.stops {
            stops.push(ln_product);
        }
        for factor in &self.rest {
            let ln_factor = factor.noise.ln_overlap(factor.distance, epsilon);
            if factor.stops {
                // x·(q + q² + … + q^n)
                stops.push(ln_product + ln_factor + factor.count.geometric_sum_of_log(ln_factor).ln());
            }
            ln_product = ln_product + factor.count.times(ln_factor);
        }
        if self.ends { ln_product } else { ln_sum(&stops) }
    }
}

/// (1/n)·θ/(1 − q) with θ = θ_ε(first) and q = θ_ε(rest), distances in noise deviations, at most 1: what the average of the products becomes
/// if the sum never ends (CED Corollary 5 and equation 36, PAC Theorem 5). Never below
/// `random-stop-published`.
pub fn random_stop_closed_form(
    records: u64,
    first: NonNegative,
    rest: NonNegative,
    epsilon: Epsilon,
) -> Enclosure {
    let overlap = |ratio: NonNegative| theta::theta(epsilon, ratio);
    let left = theta::one_minus_theta(epsilon, rest);
    (overlap(first) / (Enclosure::from(records) * left)).min(Enclosure::ONE)
}
