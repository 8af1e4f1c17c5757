//! Products of contraction coefficients (CED Theorems 5 and 6, PAC Theorems 3, 4 and 5).

use super::walk::{Leg, legs, ln_weight_of_a_stop};
use super::{Analysis, Bound, Cost, Family, HiddenStates, Notes, Statement, ced, unbounded};
use crate::chain::{Branch, Count, Mixture, Start, StepNoise, Stop};
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
///
/// ```
/// use dobrushin::analysis::{ContractionPublished, HiddenStates};
/// use dobrushin::chain::{Chain, Count, Domain, Mixture, Participation, Piece, Step, StepNoise};
/// use dobrushin::numeric::theta::theta;
/// use dobrushin::{Epsilon, NonNegative, Positive, PrivacyProfile};
///
/// // A use with d = 2s and one later step on a domain of diameter 2s: θ_ε(2)·θ_ε(2).
/// let later = Step::new(StepNoise::gaussian(1.0)?).with_modulus(vec![Piece::new(1.0, 0.0)?]);
/// let used = later.clone().used_by(Participation::Always, NonNegative::new(2.0)?);
/// let domain = Domain { diameter: Some(Positive::new(2.0)?), dimension: None };
/// let chain = Chain::new(vec![(used, Count::Times(1)), (later, Count::Times(1))], domain)?;
/// let profile = ContractionPublished.apply(&Mixture::last(chain))?.into_profile();
/// let (epsilon, one) = (Epsilon::new(1.0)?, theta(Epsilon::new(1.0)?, NonNegative::new(2.0)?));
/// assert!((profile.delta(epsilon).upper() / (one * one).upper() - 1.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ContractionPublished;

/// [`ContractionPublished`] for a release of the iterate at a random time.
///
/// # Guarantee
/// δ(ε) is the average over the times of the product up to each, by joint convexity: CED equation 33 exactly, for which
/// CED equations 34 to 36 and PAC Theorem 5 are upper bounds. A record at a random place, each equally likely, gives
/// the same average.
///
/// ```
/// use dobrushin::analysis::{HiddenStates, RandomStopPublished};
/// use dobrushin::chain::{Branch, Chain, Count, Domain, Mixture, Participation, Piece, Step, StepNoise, Stop};
/// use dobrushin::numeric::theta::theta;
/// use dobrushin::{Enclosure, Epsilon, NonNegative, Positive, PrivacyProfile};
///
/// // A use with d = 2s and one later step on a domain of diameter 2s; either may be the last: θ·(1 + θ)/2.
/// let later = Step::new(StepNoise::gaussian(1.0)?).with_modulus(vec![Piece::new(1.0, 0.0)?]);
/// let used = later.clone().used_by(Participation::Always, NonNegative::new(2.0)?);
/// let domain = Domain { diameter: Some(Positive::new(2.0)?), dimension: None };
/// let chain = Chain::new(vec![(used, Count::Times(1)), (later, Count::Times(1))], domain)?;
/// let stopped = Mixture::new(vec![Branch { weight: Enclosure::ONE, chain, stop: Stop::Uniform(2) }]);
/// let profile = RandomStopPublished.apply(&stopped)?.into_profile();
/// let (epsilon, one) = (Epsilon::new(1.0)?, theta(Epsilon::new(1.0)?, NonNegative::new(2.0)?).upper());
/// assert!((profile.delta(epsilon).upper() / (one * (1.0 + one) / 2.0) - 1.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RandomStopPublished;

impl Analysis for ContractionPublished {
    fn statement(&self) -> &'static Statement {
        &LAST
    }

    fn family(&self) -> Family {
        Family::Contraction
    }

    fn cost(&self) -> Cost {
        Cost::ClosedForm
    }
}

impl HiddenStates for ContractionPublished {
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
    fn statement(&self) -> &'static Statement {
        &RANDOM_STOP
    }

    fn family(&self) -> Family {
        Family::Contraction
    }

    fn cost(&self) -> Cost {
        Cost::ClosedForm
    }
}

impl HiddenStates for RandomStopPublished {
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

/// A factor η(distance), repeated.
struct Factor {
    noise: StepNoise,
    distance: Enclosure,
    count: Count,
    /// Whether the chain may stop after each of them.
    stops: bool,
}

struct Product {
    ln_weight: Enclosure,
    /// How far apart the two runs start, if the start is the only use.
    start: Option<Start>,
    first: Factor,
    rest: Vec<Factor>,
    /// Whether the chain can stop only at its end.
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
    let factor = |leg: &Leg| Factor {
        noise: leg.step.noise,
        distance: leg.step.modulus.at(leg.before),
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
    Ok(Product {
        ln_weight: ln_weight_of_a_stop(branch),
        start: branch.chain.start().cloned(),
        first,
        rest,
        ends: branch.stop == Stop::End,
    })
}

impl Product {
    fn ln_delta(&self, epsilon: Epsilon) -> Enclosure {
        let mut ln_first = self.first.noise.ln_overlap(self.first.distance, epsilon);
        if let Some(start) = &self.start {
            ln_first = ln_first.min(start.ln_divergence(epsilon));
        }
        let mut ln_product = self.ln_weight + ln_first;
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

/// (1/n)·θ/(1 − q) with θ = θ_ε(first) and q = θ_ε(rest), distances in noise deviations, at most 1: the average of the
/// products with an infinite sum (CED Corollary 5 and equation 36, PAC Theorem 5). Never below `random-stop-published`.
///
/// ```
/// use dobrushin::analysis::random_stop_closed_form;
/// use dobrushin::{Epsilon, NonNegative};
///
/// // It falls as 1/n: among ten times as many records one is ten times as well hidden.
/// let (first, rest, epsilon) = (NonNegative::new(1.0)?, NonNegative::new(2.0)?, Epsilon::new(1.0)?);
/// let few = random_stop_closed_form(1000, first, rest, epsilon);
/// let many = random_stop_closed_form(10_000, first, rest, epsilon);
/// assert!((few / many).contains(10.0));
/// # Ok::<(), dobrushin::Error>(())
/// ```
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

static LAST: Statement = Statement {
    id: "contraction-published",
    title: "A record used once, then hidden by steps on a bounded domain: a product of contraction coefficients",
    statement: "If the record is used in step i only, the last iterate has δ(ε) = η(d_i/s_i)·∏_{t>i} η(ω_t(D)/s_t), \
                where η(r) = θ_ε(r) for Gaussian noise and [1 − e^((ε−r)/2)]₊ for Laplace noise in one dimension; \
                d_i is how far the update moves when the record is replaced, s_t the noise of the iterate, and ω_t(D) \
                the diameter of the image of the domain under the update.",
    assumptions: &[
        "only the last iterate is published",
        "iterates are projected to a closed convex set of diameter D",
        "ω_t(D) ≤ D + 2ηL always; ≤ D·max(|1−ηρ|, |1−ηβ|) if losses are ρ-strongly convex and β-smooth",
        "diameters are suprema over all data sets",
    ],
    source: ced!(
        "Theorem 5; Privacy amplification of iterative algorithms via contraction coefficients (2020), Theorems 3 and 4"
    ),
    errata: &[
        "the step-size hypothesis η ≤ 2/(β+ρ) is missing in the 2020 paper (E6): with η = 1, β = 1000 on [0, 0.1] \
         two steps have TV 0.449138, and Theorem 4 says 0.027224; here the modulus is right for every η",
        "\"consequently δ = 0 if ε ≥ M(b−a)/(ηv)\" fails for the last record (E7): 0.527633 against 0",
        "the diameter must not be that of the data at hand (E14): 0 against 0.254132",
        "the displayed product of eq. 2 of the 2020 paper counts one factor too many (E5)",
    ],
    notes: Some(Notes {
        applies_to: "a record used once; bounded domain",
        formula: "\
δ(ε) = η(d/s)·∏ η(ω(D)/s), the product over the steps after the use

η(r)     E_{e^ε} of the noise at distance r: θ_ε(r), or [1 − e^((ε−r)/2)]₊ for Laplace noise
θ_ε(r)   E_{e^ε} of two unit Gaussians at distance r
d        how far the update moves when the record is replaced
ω(D)     how far apart two points of the domain, of diameter D, can be after the same update
s        the noise of the step",
        proof: &[
            "Up to the use both runs have the same law. Given the iterate before it, the use adds noise to two points at most d \
             apart, so that E_γ ≤ η(d/s) afterwards (joint convexity; projecting is post-processing).",
            "A later step is the same kernel K on both sides, w ↦ Π(ψ(w) + noise), and \
             E_γ(μK‖νK) ≤ η_γ(K)·E_γ(μ‖ν), η_γ(K) = sup E_γ(K(x)‖K(y)) over two inputs (`contraction-coefficient`).",
            "Inputs are points of the domain, whose images are at most ω(D) apart, and η grows with the distance: \
             η_γ(K) ≤ η(ω(D)/s).",
            "Multiply. Nothing distinguishes the two orders of the neighbours. After no later step the product is \
             empty, and 1 (E7).",
        ],
        wins: &[
            "Only at ε = 0, where `contraction`, which takes it into account, says no less: in the example, with learning \
             rates 0.5/√t, δ(0) = 6.6e-46 for the first of 200 records, `shift` 0.036.",
            "At ε > 0 much is given away: with D = 5 standard deviations, record 9990 of examples/pnsgd.toml at ε = 1 has \
             5.6e-3 by the product and 2.8e-33 by `contraction`; the example at ε = 0.1 has 9.3e-50, and by `contraction` \
             nothing that a number could hold.",
            "Nothing for a record used more than once, at random, or without a bounded domain; next to nothing if ω(D)/s is \
             above 8, as θ_0(8) = 0.99994.",
        ],
        example: "account examples/online.toml --set record=1 --set diameter=0.5 --epsilon 0",
    }),
};

static RANDOM_STOP: Statement = Statement {
    id: "random-stop-published",
    title: "One iterate at a random time, or a record at a random place: the average of the products",
    statement: "If T is uniform on 1…n and W_T is published, δ(ε) is the average over T of the products of \
                `contraction-published` up to T (0 if T < i), by joint convexity of E_γ; for equal steps that is at most \
                (1/n)·θ(d/s)·Σ_{j<n} θ(ω(D)/s)^j, at most (1/n)·θ(d/s)/(1 − θ(ω(D)/s)). A record at a uniformly random \
                place of one pass has the same average.",
    assumptions: &["as `contraction-published`", "neither the time nor the place is told"],
    source: ced!(
        "Theorem 6, eq. 33; eq. 34 to 36 and Theorem 5 of Privacy amplification of iterative algorithms via contraction \
         coefficients (2020) are upper bounds of it"
    ),
    errata: &[
        "the closed forms exceed 1 easily (E14): 10.6 at η = 0.05, σ = 3, n = 100, ε = 0; the finite sum is reported, \
         which is never larger",
        "the diameter must not be that of the data at hand (E14), and Theorem 5 of the 2020 paper lacks the step-size \
         hypothesis (E6)",
    ],
    notes: Some(Notes {
        applies_to: "a record used once; bounded domain; a random time or a random place of the record",
        formula: "\
δ(ε) = (1/n)·η(d/s)·(1 + q + q² + … + q^(n−i)),   q = η(ω(D)/s)

n        the number of steps, one of which, each equally likely, is the last
i        the step that uses the record; other symbols as in contraction-published",
        proof: &[
            "What is published is a mixture, with equal weights, of the iterates of the n times, and E_γ is jointly \
             convex: E_γ of two mixtures with the same weights is at most the average of E_γ.",
            "At a time before i both runs have the same law, so that E_γ = 0; at the time i + j it is at most the product of \
             `contraction-published`, η(d/s)·q^j.",
            "The sum of a geometric series; the code adds different steps group by group, in closed form. That \
             1/(1 − q) is above every finite sum gives the closed forms of the papers, which are not used.",
            "The worst record is the first one, for which the sum is longest. A record at a random place of one pass, each \
             equally likely, has the same mixture over the number of steps that follow its use.",
        ],
        wins: &[
            "Only at ε = 0, where `contraction`, which takes it into account, says no less: 3.199167e-5 in the example, on a \
             domain of about a noise standard deviation.",
            "Otherwise `contraction` averages smaller terms: at ε = 0.1 the example has 2.46e-5 against 2.00e-5; with D = 5s \
             and ε = 1 it is 3.4e-5 against 7.3e-7.",
            "δ is at least a share 1/n of what one use costs, as the last step may be that of the record: it is for large n.",
            "Nothing without a bounded domain: there `shift` averages over the times, too.",
        ],
        example: "account examples/stop-pnsgd.toml --set diameter=0.4 --epsilon 0",
    }),
};
