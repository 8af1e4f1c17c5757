//! Weight decay in place of a bounded domain (NCV Theorem 3, corrected).

use super::{Analysis, Bound, Cost, Family, HiddenStates, Notes, Statement, ncv};
use crate::chain::{Branch, Chain, Count, Mixture, Piece, StepNoise, Stop, Stretch};
use crate::numeric::{GoldenSection, chi_square, ln_sum};
use crate::run::{Assumption, Fact, in_the_way, missing};
use crate::{Enclosure, Epsilon, NonNegative, NotApplicable, Positive};
use std::num::NonZeroU32;
use std::sync::OnceLock;

/// An iteration from 0 that weight decay pulls back towards 0, without projection.
///
/// # Guarantee
/// For every κ > 0, δ(ε) ≤ (1 + e^ε)·[1 − P(χ²_d ≤ κ²)^T] + h_T, with h₀ = 0,
/// h_t = θ_ε(2ρ_t/s_t)·((1−p_t)·h_{t−1} + p_t), ρ_t = c·r_{t−1} + ηC and r_t = ρ_t + κs_t, r₀ = 0: unless one of
/// the T noises is longer than κs_t, iterates before the noise of step t are in a ball of radius ρ_t. The
/// printed theorem uses the radius where the proof has the diameter (E1) and a larger factor (E2).
/// The least over κ is taken.
///
/// ```
/// use dobrushin::analysis::{HiddenStates, RegularizedPublished, regularized_delta_at};
/// use dobrushin::{Epsilon, Order, Positive, PrivacyProfile, Release, Run};
///
/// let run = Run::dp_sgd(100).order(Order::WithoutReplacement).batch_size(10).steps(10).learning_rate(1.0);
/// let run = run.clip_norm(1.0).iterate_noise(2.0).weight_decay(0.9).dimension(1).release(Release::Last).build()?;
/// let released = run.released()?;
/// let view = &released.views[0];
/// // No κ gives less than the one that is chosen.
/// let epsilon = Epsilon::new(0.5)?;
/// let best = RegularizedPublished.apply(view)?.into_profile().delta(epsilon).upper();
/// let at_three = regularized_delta_at(Positive::new(3.0)?, &view.branches()[0].chain, epsilon)?;
/// assert!(best <= at_three.upper() && best < 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RegularizedPublished;

impl Analysis for RegularizedPublished {
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

impl HiddenStates for RegularizedPublished {
    fn further_assumption(&self) -> Option<Assumption> {
        Some(Assumption::StartsAtZero)
    }

    fn apply(&self, released: &Mixture) -> Result<Bound, NotApplicable> {
        super::starts_together(released)?;
        let runs = released.branches().iter().map(Regularized::new).collect::<Result<Vec<_>, _>>()?;
        Ok(Bound::by_log_delta(move |epsilon| {
            let terms: Vec<Enclosure> = runs.iter().map(|run| run.ln_delta(epsilon)).collect();
            ln_sum(&terms)
        }))
    }
}

/// The bound at one κ.
///
/// # Errors
/// [`NotApplicable`] if `regularized-published` does not apply.
///
/// ```
/// use dobrushin::analysis::regularized_delta_at;
/// use dobrushin::numeric::theta::theta;
/// use dobrushin::{Epsilon, NonNegative, Order, Positive, Release, Run};
///
/// // One step from 0 with ηC = 1 and s = 2, which uses a record one time in ten. No noise is longer than 40 standard
/// // deviations, so that θ_ε(2ηC/s)/10 remains.
/// let run = Run::dp_sgd(100).order(Order::WithoutReplacement).batch_size(10).steps(1).learning_rate(1.0);
/// let run = run.clip_norm(1.0).iterate_noise(2.0).weight_decay(0.9).dimension(1).release(Release::Last).build()?;
/// let (released, epsilon) = (run.released()?, Epsilon::new(0.5)?);
/// let delta = regularized_delta_at(Positive::new(40.0)?, &released.views[0].branches()[0].chain, epsilon)?;
/// let known = 0.1 * theta(epsilon, NonNegative::new(1.0)?).upper();
/// assert!((delta.upper() / known - 1.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn regularized_delta_at(
    kappa: Positive,
    chain: &Chain,
    epsilon: Epsilon,
) -> Result<Enclosure, NotApplicable> {
    let branch = Branch { weight: Enclosure::ONE, chain: chain.clone(), stop: Stop::End };
    Ok(Regularized::new(&branch)?.ln_delta_at(kappa.get(), epsilon).exp())
}

/// Equal steps.
struct Ring {
    /// The growth of the radius in each step.
    growth: Piece,
    /// s.
    noise: Enclosure,
    /// p.
    probability: Enclosure,
    /// The steps, in groups over which the radius grows little.
    groups: Vec<Group>,
    /// The effect of all of them on the radius.
    all: Grown,
}

/// Consecutive steps that are treated alike.
struct Group {
    count: Count,
    /// The effect on the radius of the steps before the first of them, …
    before_first: Grown,
    /// … and of the steps before the last.
    before_last: Grown,
}

/// r ↦ factor·r + sum·(growth in a step), after several steps.
#[derive(Clone, Copy)]
struct Grown {
    factor: Enclosure,
    sum: Enclosure,
}

impl Grown {
    fn after(steps: u64, slope: Enclosure) -> Self {
        let steps = Count::Times(steps);
        Self { factor: steps.power(slope), sum: steps.geometric_sum(slope) }
    }

    fn of(self, radius: Enclosure, added: Enclosure) -> Enclosure {
        self.factor * radius + self.sum * added
    }
}

struct Regularized {
    weight: Enclosure,
    dimension: NonZeroU32,
    steps: Enclosure,
    rings: Vec<Ring>,
    /// The ε of the least δ, and its logarithm.
    turn: OnceLock<(f64, Enclosure)>,
}

impl Regularized {
    fn new(branch: &Branch) -> Result<Self, NotApplicable> {
        let domain = branch.chain.domain();
        if domain.diameter.is_some() {
            return Err(NotApplicable::because_of(
                &[Fact::Diameter],
                "iterates are projected to a bounded domain: nonconvex-published is for that",
            ));
        }
        let steps = branch.chain.steps().ok_or_else(endless)?;
        let equal = branch.chain.stretches().take(2).count() == 1;
        if branch.stop != Stop::End && !equal {
            return Err(in_the_way!(
                "the released iterate is that of a random time: {} must be \"last\"",
                Release
            ));
        }
        let dimension = domain.dimension.and_then(|d| u32::try_from(d).ok()).and_then(NonZeroU32::new);
        let dimension = dimension.ok_or_else(|| {
            missing!("the length of the noise depends on the dimension: {:#} is missing", Dimension)
        })?;
        let ring = |stretch: Stretch<'_>| {
            let StepNoise::Gaussian(noise) = stretch.step.noise else {
                return Err(in_the_way!("the noise must be Gaussian: {}", NoiseKind));
            };
            let growth = stretch.step.growth.filter(|growth| growth.slope().upper() < 1.0);
            let growth = growth.ok_or_else(|| {
                NotApplicable::missing(
                    &[Fact::WeightDecay, Fact::ClipNorm, Fact::Lipschitz],
                    format!(
                        "nothing pulls the iterates back: {} is 0, or gradients may have any norm",
                        Fact::WeightDecay
                    ),
                )
            })?;
            let probability = stretch.step.participation.probability();
            let Count::Times(count) = stretch.count else {
                return Err(endless());
            };
            let slope = growth.slope();
            Ok(Ring {
                growth,
                noise,
                probability,
                groups: groups(count, slope),
                all: Grown::after(count, slope),
            })
        };
        let different = branch.chain.stretches().take(MOST_RINGS + 1).count();
        if different > MOST_RINGS {
            return Err(NotApplicable::because_of(
                &[Fact::LearningRate, Fact::GradientNoise],
                format!("steps differ more than {MOST_RINGS} times: one learning rate and noise would do"),
            ));
        }
        let rings = branch.chain.stretches().map(ring).collect::<Result<_, _>>()?;
        // For equal steps the bound grows with their number, so it also holds at every earlier time.
        let steps = Enclosure::from(steps);
        Ok(Self { weight: branch.weight, dimension, steps, rings, turn: OnceLock::new() })
    }

    /// The least over κ, and over all smaller ε: δ is decreasing in ε, but the share of long noises grows with e^ε.
    fn ln_delta(&self, epsilon: Epsilon) -> Enclosure {
        let (turn, least) = *self.turn.get_or_init(|| {
            let place = lowest(TURNS, |ln_epsilon| self.best(libm::exp(ln_epsilon)).upper());
            (libm::exp(place), self.best(libm::exp(place)))
        });
        let here = self.best(epsilon.get());
        if epsilon.get() > turn && least.upper() < here.upper() { least } else { here }
    }

    /// The least over κ.
    fn best(&self, epsilon: f64) -> Enclosure {
        let Ok(epsilon) = Epsilon::new(epsilon) else {
            return Enclosure::ZERO;
        };
        // The length of a noise vector is about √d, and a few times that far out in its tail.
        let middle = 0.5 * libm::log(f64::from(self.dimension.get()));
        let range = (middle - 3.0, middle + 4.0);
        let place = lowest(range, |ln_kappa| self.ln_delta_at(libm::exp(ln_kappa), epsilon).upper());
        self.ln_delta_at(libm::exp(place), epsilon)
    }

    fn ln_delta_at(&self, kappa: f64, epsilon: Epsilon) -> Enclosure {
        let Ok(square) = NonNegative::new(kappa * kappa) else {
            return Enclosure::between(f64::NEG_INFINITY, 0.0);
        };
        // The square is rounded: κ itself is taken to be its root.
        let kappa = Enclosure::from(square).sqrt();
        let all_short = self.steps * chi_square::ln_cdf(self.dimension, square);
        let some_long = (-all_short.exp_m1()).positive_part();
        let ln_tail = (Enclosure::ONE + Enclosure::from(epsilon).exp()).ln() + some_long.ln();
        let ln_h = self.ln_contracted(kappa, epsilon);
        (self.weight.ln() + ln_sum(&[ln_tail, ln_h])).min(Enclosure::ZERO)
    }

    /// ln h_T.
    fn ln_contracted(&self, kappa: Enclosure, epsilon: Epsilon) -> Enclosure {
        let mut ln_h = Enclosure::from(f64::NEG_INFINITY);
        let mut radius = Enclosure::ZERO;
        for ring in &self.rings {
            let added = ring.growth.offset() + kappa * ring.noise;
            let ln_rest = (Enclosure::ONE - ring.probability).ln();
            let ln_probability = ring.probability.ln();
            for group in &ring.groups {
                // The radius is monotone, so the balls of the first and the last step enclose all.
                let ball = |before: Grown| ring.growth.at(before.of(radius, added));
                let balls = ball(group.before_first).hull(ball(group.before_last));
                let ln_theta =
                    StepNoise::Gaussian(ring.noise).ln_overlap(balls * Enclosure::from(2.0), epsilon);
                let (ln_q, ln_x) = (ln_rest + ln_theta, ln_probability + ln_theta);
                let sum = group.count.geometric_sum_of_log(ln_q).ln();
                ln_h = ln_sum(&[ln_x + sum, ln_h + group.count.times(ln_q)]).min(Enclosure::ZERO);
            }
            radius = ring.all.of(radius, added);
        }
        ln_h
    }
}

/// The most stretches of different steps.
const MOST_RINGS: usize = 64;

fn endless() -> NotApplicable {
    missing!("its bound grows with the number of steps: give {}", Steps)
}

/// The range of ln ε searched for the least δ.
const TURNS: (f64, f64) = (-7.0, 7.0);

/// Approximately where a function is lowest: a coarse search everywhere, then golden sections.
fn lowest((start, end): (f64, f64), height: impl Fn(f64) -> f64) -> f64 {
    const LOOKS: u32 = 10;
    const SECTIONS: u32 = 16;
    let stride = (end - start) / f64::from(LOOKS);
    let looks = (0..=LOOKS).map(|i| start + stride * f64::from(i));
    let best = looks.min_by(|a, b| height(*a).total_cmp(&height(*b))).unwrap_or(start);
    GoldenSection::new((best - stride, best + stride), height).narrowed(SECTIONS).lowest().0
}

/// The number of single steps, before they are grouped …
const SINGLE: u64 = 64;
/// … into groups that grow by this share, until …
const GROUP: u64 = 16;
/// … the radius no longer moves.
const SETTLED: f64 = 1e-17;

/// Equal steps in groups.
fn groups(end: u64, slope: Enclosure) -> Vec<Group> {
    let settled = libm::log(SETTLED) / libm::log(slope.upper().max(f64::MIN_POSITIVE));
    let mut groups = Vec::new();
    let mut first = 1;
    while first <= end {
        let last = match first {
            first if first as f64 > settled => end,
            ..SINGLE => first,
            first => (first + first / GROUP).min(end),
        };
        groups.push(Group {
            count: Count::Times(last - first + 1),
            before_first: Grown::after(first - 1, slope),
            before_last: Grown::after(last - 1, slope),
        });
        first = last + 1;
    }
    groups
}

static STATEMENT: Statement = Statement {
    id: "regularized-published",
    title: "DP-SGD with weight decay and no projection",
    statement: "For every κ > 0: δ(ε) ≤ (1+e^ε)·[1 − P(χ²_d ≤ κ²)^T] + h_T with h_t = θ_ε(2ρ_t/s)·((1−p)h_{t−1} + p), \
                ρ_t = (1−λ)r_{t−1} + ηC, r_t = ρ_t + κs, r₀ = 0, h₀ = 0. The least over κ is taken.",
    assumptions: &[
        "only the last iterate is published, and who was drawn stays secret",
        "the iteration starts at 0, to which weight decay pulls back",
        "weight decay λ > 0, outside the clipping; clipped or Lipschitz gradients; Gaussian noise; no projection",
    ],
    source: ncv!("Theorem 3"),
    errata: &[
        "as printed it uses the radius where its proof has the diameter (E1): n = 2, T = 1, ε = 1 has δ = 0.210496, and it \
         says 0.126937; in the paper's Figure 2 it is 8 to 31 times too small",
        "the factor b/(n−b) is larger than b/n, which suffices (E2)",
    ],
    notes: Some(Notes {
        applies_to: "weight decay, no projection, start at 0, a number of steps",
        formula: "\
δ(ε) ≤ (1 + e^ε)·[1 − P(χ²_d ≤ κ²)^T] + h_T,   h_t = θ_ε(2ρ_t/s)·((1 − p)·h_{t−1} + p),   h₀ = 0

ρ_t      (1 − λ)·r_{t−1} + ηC: where iterates are before the noise of step t, from r₀ = 0
r_t      ρ_t + κs: where they are after it, if no noise is longer than κs; any κ > 0 will do
θ_ε(r)   E_{e^ε} of two unit Gaussians at distance r
λ, ηC    weight decay, and the length of an update
d, s     the dimension and the noise; χ²_d the squared length of d unit normals
p, T     the probability of a use and the number of steps",
        proof: &[
            "All T noises are at most κs long with probability P(χ²_d ≤ κ²)^T = 1 − τ. If they are, induction gives \
             ‖W_t‖ ≤ r_t, and ψ(W_{t−1}) lies in the ball of radius ρ_t around 0.",
            "Compare with a run that projects to the ball of radius r_t after each step: with the same noise and batches both \
             are the same unless a noise is too long, so that their laws differ by τ in total variation. \
             P(A) − γ·Q(A) changes by τ + γτ at most, for both neighbours together.",
            "In the projected run E_γ before the noise is at most (1−p)·h + p, by joint convexity over the batches and E_γ ≤ 1; \
             the points are in a ball of radius ρ_t, of diameter 2ρ_t (E1), whose noise contracts by θ_ε(2ρ_t/s).",
            "Every κ gives a bound, and the best is searched for. The first term grows with e^ε while δ falls: at large ε the \
             code takes the best bound of all smaller ε. Many steps are taken in groups, with the radii of a \
             group's first and last step as bounds.",
        ],
        wins: &[
            "For records that are drawn rarely and then push by several noise standard deviations, with strong decay, at \
             small ε: in the example (ηC = 3.3s, p = 1e-5, λ = 0.99, one dimension) δ(0) = 0.0166 after 1e6 steps; \
             `recursion` has 0.141, all others more than 0.99. At ε = 1 `recursion` has 6.1e-4, and this 1.03e-2.",
            "Where the record pushes less than the noise, `shift` and `recursion` say less by orders of magnitude: 0.386 at ε \
             = 1 in examples/regularised-dp-sgd.toml with 50 steps, against 3.1e-5 and 1e-300. At δ = 1e-5 it has no ε at all \
             there: in 10 dimensions the ball of short noises is many standard deviations across.",
            "Nothing for any number of steps, nor if iterates are projected.",
        ],
        example: "account examples/regularised-dp-sgd.toml --set steps=1e6 --set dimension=1 \
                  --set records=100000 --set batch-size=1 --set iterate-noise=0.03 --set weight-decay=0.99 --epsilon 0",
    }),
};
