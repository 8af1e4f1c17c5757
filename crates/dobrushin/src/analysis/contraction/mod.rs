//! The tight contraction curve, applied along a chain in blocks of steps.

mod again;
mod noisy;
mod once;
mod tail;

pub(super) use tail::Tail;

use super::contraction_published::products;
use super::{Analysis, Bound, Cost, Family, HiddenStates, NonconvexPublished, Notes, Statement, unbounded};
use crate::chain::{Branch, Mixture};
use crate::numeric::ln_sum;
use crate::profile::{Direction, PrivacyProfile, crossing, smallest_epsilon};
use crate::{Delta, Enclosure, Epsilon, NotApplicable};
use again::Again;
use noisy::Level;
use once::{Once, Way};
use std::sync::Arc;

/// Hidden steps on a bounded domain, each of which contracts E_γ, and contracts it more the smaller it is.
///
/// # Guarantee
/// If E_γ ≤ e before some steps without the record, it is at most F_γ(e) = e·η_γ̃ after them, γ̃ = 1 + (γ−1)/e, where
/// η_γ = θ_ε(R) for k steps with Gaussian noise together (Balle, Barthe, Gaboardi, Geumlek 2019): from any two points
/// of the domain, at most D apart, the k steps shift all of the difference into their noise, at a price of R² =
/// Σ(a_t/s_t)² (`shift`; (c^k·D)²/Σ(s·c^j)² for a modulus cz, (D + ok)²/(s²k) for z + o). One step by itself also has
/// η_γ of its noise at distance ω(D), which is the only bound for Laplace noise.
///
/// A record used once: e₀ = E_γ of the shift over the use and j₀ later steps, then blocks of k steps; the best j₀ and k
/// are taken. A record used again: h⁺ = min{F_γ(p + (1−p)h), (1−p)·F_γ(h) + p·η(ω′(D)/s)}: given the other records of
/// the batch, E_γ before the noise is at most p + (1−p)h, on the images under the updates with and without the record,
/// whose distance is the radius of the first; or both kinds of batches are bounded separately, by joint convexity. A
/// random time or place: the average. F_γ(e) ≤ e·η_γ; where many steps are treated together, the products of
/// `contraction-published` and `nonconvex-published` may still be smaller, and the least of all is taken.
///
/// ```
/// use dobrushin::analysis::{Contraction, ContractionPublished, HiddenStates};
/// use dobrushin::chain::{Chain, Count, Domain, Mixture, Participation, Piece, Step, StepNoise};
/// use dobrushin::{Epsilon, NonNegative, Positive, PrivacyProfile};
///
/// let later = Step::new(StepNoise::gaussian(1.0)?).with_modulus(vec![Piece::new(1.0, 0.0)?]);
/// let used = later.clone().used_by(Participation::Always, NonNegative::new(2.0)?);
/// let domain = Domain { diameter: Some(Positive::new(2.0)?), dimension: None };
/// let chain = Chain::new(vec![(used, Count::Times(1)), (later, Count::Times(10))], domain)?;
/// let released = Mixture::last(chain);
/// // The tight curve leaves far less than the product of the coefficients, wherever ε > 0.
/// let epsilon = Epsilon::new(1.0)?;
/// let tight = Contraction.apply(&released)?.into_profile().log_delta(epsilon);
/// let product = ContractionPublished.apply(&released)?.into_profile().log_delta(epsilon);
/// assert!(tight.upper() < 2.0 * product.lower());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Contraction;

impl Analysis for Contraction {
    fn statement(&self) -> &'static Statement {
        &STATEMENT
    }

    fn family(&self) -> Family {
        Family::Contraction
    }

    fn cost(&self) -> Cost {
        Cost::Sums
    }

    fn suits_each_record(&self) -> bool {
        true
    }
}

impl HiddenStates for Contraction {
    fn apply(&self, released: &Mixture) -> Result<Bound, NotApplicable> {
        let folds = released.branches().iter().map(Fold::new).collect::<Result<Vec<Fold>, _>>()?;
        let published = [products(released), NonconvexPublished.apply(released)];
        let published: Vec<_> = published.into_iter().flatten().map(Bound::into_profile).collect();
        Ok(Bound::Profile(Arc::new(Folded { folds, published })))
    }
}

/// One branch.
enum Fold {
    Once(Once),
    Again(Again),
}

/// The path taken along a branch; empty where there is no choice.
type Choice = Option<Vec<Way>>;

impl Fold {
    fn new(branch: &Branch) -> Result<Self, NotApplicable> {
        if branch.chain.domain().diameter.is_none() {
            return Err(unbounded());
        }
        match branch.chain.only_use() {
            Some(_) => Ok(Self::Once(Once::new(branch)?)),
            None => Ok(Self::Again(Again::new(branch)?)),
        }
    }

    /// The best choice at a level.
    fn choice(&self, level: Level) -> Choice {
        match self {
            Self::Once(once) => Some(once.ways(level)),
            Self::Again(_) => None,
        }
    }

    /// The bound for the best choice.
    fn ln_least(&self, level: Level) -> Enclosure {
        match self {
            Self::Once(once) => once.ln_least(level),
            Self::Again(again) => again.ln_delta(level.epsilon),
        }
    }

    /// A bound that holds for any choice.
    fn ln_delta(&self, level: Level, choice: &Choice) -> Enclosure {
        match (self, choice) {
            (Self::Once(once), Some(ways)) => once.ln_delta(level, ways),
            (Self::Once(once), None) => once.ln_least(level),
            (Self::Again(again), _) => again.ln_delta(level.epsilon),
        }
    }
}

/// The number of times choices are improved; three are usually enough.
const MOST_CHOICES: u32 = 20;

/// How far below an ε better choices are searched for, as a share of it.
const BELOW: f64 = 1.0 - 1e-6;

/// The sum over the branches, or the published bound, whichever is less.
struct Folded {
    folds: Vec<Fold>,
    published: Vec<Arc<dyn PrivacyProfile>>,
}

impl Folded {
    fn choices(&self, level: Level) -> Vec<Choice> {
        self.folds.iter().map(|fold| fold.choice(level)).collect()
    }

    /// The bound for any choices.
    fn ln_delta(&self, level: Level, choices: &[Choice]) -> Enclosure {
        let terms: Vec<Enclosure> =
            self.folds.iter().zip(choices).map(|(fold, choice)| fold.ln_delta(level, choice)).collect();
        ln_sum(&terms).min(Enclosure::ZERO)
    }

    /// This bound or the published one, whichever is less.
    fn least(&self, level: Level, choices: &[Choice]) -> Enclosure {
        self.or_published(level, self.ln_delta(level, choices))
    }

    fn or_published(&self, level: Level, bound: Enclosure) -> Enclosure {
        let published = self.published.iter().map(|profile| profile.log_delta(level.epsilon));
        published.fold(bound, Enclosure::min)
    }
}

impl PrivacyProfile for Folded {
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        self.log_delta_of(direction, epsilon).exp().min(Enclosure::ONE)
    }

    fn log_delta_of(&self, _: Direction, epsilon: Epsilon) -> Enclosure {
        let level = Level::new(epsilon);
        let terms: Vec<Enclosure> = self.folds.iter().map(|fold| fold.ln_least(level)).collect();
        self.or_published(level, ln_sum(&terms).min(Enclosure::ZERO))
    }

    /// The ε of any choices is not below the answer, and the best choices a little below it have a smaller ε, until
    /// none are better. (At this ε itself all choices may be equally good: with Laplace noise nothing at all remains
    /// from there on.)
    fn epsilon_of(&self, _: Direction, delta: Delta) -> Enclosure {
        let mut choices = vec![None; self.folds.len()];
        let has_choice = self.folds.iter().any(|fold| matches!(fold, Fold::Once(_)));
        let mut level = Epsilon::new(1.0).ok().filter(|_| has_choice).map(Level::new);
        let mut ln_least = f64::INFINITY;
        for _ in 0..MOST_CHOICES {
            let Some(here) = level else { break };
            let better = self.choices(here);
            if self.ln_delta(here, &better).upper() >= ln_least - 1e-12 * (1.0 + ln_least.abs()) {
                break;
            }
            choices = better;
            level =
                crossing(delta, |epsilon| libm::exp(self.ln_delta(Level::new(epsilon), &choices).upper()))
                    .and_then(|epsilon| Epsilon::new(epsilon.get() * BELOW).ok())
                    .map(Level::new);
            ln_least = level.map_or(0.0, |level| self.ln_delta(level, &choices).upper());
        }
        smallest_epsilon(delta, |epsilon| self.least(Level::new(epsilon), &choices).exp())
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}

static STATEMENT: Statement = Statement {
    id: "contraction",
    title: "Hidden steps on a bounded domain: the tight contraction curve in blocks of steps",
    statement: "If E_γ ≤ e before k steps without the record, it is at most F_γ(e) = e·θ_{ln γ̃}(R_k) after them, \
                γ̃ = 1 + (γ−1)/e, R_k = (c^k·D + o·Σc^j)/(s·√Σc^(2j)) for a modulus cz + o. Used once: the shift over the \
                use and j₀ steps, then blocks of k steps, the best of all. Used again, with probability p: \
                h⁺ = min{F_γ(p + (1−p)h), (1−p)·F_γ(h) + p·θ(ω′(D)/s)}, the first on points as far apart as any two of the \
                updates with one record, another, or neither. With Laplace noise δ is exactly 0 after \
                finitely many steps. A random time or place: the average. Never above `contraction-published`, \
                `random-stop-published` and `nonconvex-published`, whose products are taken where they are smaller.",
    assumptions: &[
        "only the last iterate (or that of a random time) is published, and who was drawn stays secret",
        "iterates are projected to a closed convex set of diameter D",
    ],
    source: "Balle, Barthe, Gaboardi, Geumlek, Privacy amplification by mixing and diffusion mechanisms (2019), for one \
             step; the blocks and the recursions are ours",
    errata: &[],
    notes: Some(Notes {
        applies_to: "bounded domain, any uses; Gaussian or Laplace noise",
        formula: "\
E_γ ≤ e before k hidden steps  ⇒  E_γ ≤ e·θ_ε̃(R_k) after them,   e^ε̃ = 1 + (γ − 1)/e
R_k = (c^k·D + o·(1 + c + … + c^(k−1))) / (s·√(1 + c² + … + c^(2k−2)))

E_γ      the hockey-stick divergence of two neighbours' iterates: δ(ε) at γ = e^ε
θ_ε(r)   E_{e^ε} of two unit Gaussians at distance r
cz + o   how far apart points z apart can be after the same update
D, s     the diameter of the domain and the noise",
        proof: &[
            "The positive part of μ − γν has mass e = E_γ(μ‖ν), the negative part e + γ − 1, so μ − γν = e·a − (e + γ − 1)·b with \
             laws a and b. After a kernel K: E_γ(μK‖νK) = e·E_γ̃(aK‖bK) ≤ e·η_γ̃(K), γ̃ = 1 + (γ − 1)/e (`tight-curve`).",
            "F_γ(e) = e·η_γ̃(K) is convex in e and 0 at 0, so it increases: e may be any bound on E_γ. F_γ(e)/e increases, too.",
            "η of k steps together is E_γ from the two worst starting points (`contraction-coefficient`), at most D apart. \
             `shift` from z₀ = D, with a_j proportional to c^(k−j), shifts all of it into the noise for θ_ε(R_k); what is \
             left in between is not negative if c ≤ 1 or o = 0. One step has η of its noise at distance ω(D), \
             also for Laplace noise.",
            "Used once: after the use and j steps E_γ is at most that of `shift`; from there blocks lead on. The best way to \
             each time is found by dynamic programming over all times up to 16 and strides of a quarter beyond; \
             every way is a bound. After 24 equal blocks the ratio of the last is kept.",
            "Used again: before the noise E_γ ≤ p + (1−p)·h by joint convexity over the batches, and the noise acts on images of \
             the domain under all updates. Or batches with and without the record by themselves: \
             (1−p)·F_γ(h) + p·θ_ε(ω′(D)/s).",
            "If h bounds E_γ after every number of steps, so does what a step makes of it: from h = 1 it is pushed down, at \
             most 64 times, which is what is used beyond 256 equal steps.",
            "Laplace noise of scale v: η_γ̃ = 0 as soon as ln γ̃ ≥ ω(D)/v, which is so for every small e.",
        ],
        wins: &[
            "The guarantee for a record that is used once on a domain of a few noise standard deviations: in the example, \
             D = 5s and 20 later steps, ε = 0.232 against 0.375 of `shift` and 1.993 of `composition`. With D = 50s it \
             says what `shift` says.",
            "With Laplace noise it forgets step by step as well: the example with noise = \"laplace\" has ε = 0.138, against 0.353 of \
             `shift` and 0.500 of `composition`.",
            "A record that is used again is charged with ω′(D), however little it moves: 4.09 in examples/projected-dp-sgd.toml, \
             where `recursion` has 2.3e-4.",
            "Nothing without a bounded domain.",
        ],
        example: "account examples/public-tail.toml",
    }),
};
