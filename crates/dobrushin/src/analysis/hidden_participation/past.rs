//! What each step of a chain can still tell at the end: the steps, counted back from the last.
//!
//! Let Λ_0 = 1/s of the last step, and Λ_k^(−2) = s_k² + Λ_{k−1}^(−2)/c_{k−1}² for the step k before it, where the
//! updates of step k are c_k-Lipschitz and its noise is s_k. A function of the last iterate with values in [0, 1] has
//! an expectation β(y), given the iterate y of step k before its noise, whose Φ⁻¹∘β is Λ_k-Lipschitz (see
//! [`super::HiddenParticipation`]). So a displacement d of step k is worth at most d·Λ_k in the end.

use crate::analysis::{unbounded, unrelated};
use crate::chain::{Chain, Count, Members, Step, StepNoise, Stretch};
use crate::numeric::rounding::{add_down, add_up, div_down, div_up, mul_down, mul_up, sqrt_down};
use crate::run::{in_the_way, missing};
use crate::{Enclosure, NonNegative, NotApplicable};

/// What one step before the end is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Worth {
    /// The probability with which the record takes part.
    pub rate: f64,
    /// Λ·(the distance between two neighbours' updates, if the record takes part).
    pub apart: f64,
    /// Λ·(the distance between the updates with and without the record).
    pub missing: f64,
    /// The number of records that take part so, each by itself.
    pub members: u64,
}

/// The steps before the end, as far as they are looked at, and what is left of everything before them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Past {
    /// What the steps are worth, starting with the last.
    pub steps: Vec<Worth>,
    /// After each of these steps: what any earlier difference of iterates is worth at most; ∞ if it is unbounded, and 0
    /// if there is nothing before.
    pub before: Vec<f64>,
    /// Whether one neighbour never depends on who takes part.
    pub vanishes: bool,
}

/// The most steps that are looked at.
const MOST_STEPS: usize = 1 << 17;
/// Members are looked at by themselves up to this many; more of them count as one use by all.
const MOST_MEMBERS: u64 = 1024;
/// What is worth less than this share of the first use is not looked at step by step.
const NEGLIGIBLE: f64 = 1e-9;

/// The Lipschitz constant of the updates of a step.
fn slope(step: &Step) -> Result<f64, NotApplicable> {
    let linear = step.modulus.pieces().iter().filter(|piece| piece.offset().upper() == 0.0);
    linear.map(|piece| piece.slope().upper()).reduce(f64::min).ok_or_else(unrelated)
}

impl Past {
    /// The past of the last iterate.
    ///
    /// # Errors
    /// [`NotApplicable`] if noise is not Gaussian, or nothing bounds how far updates move iterates apart.
    pub fn of(chain: &Chain) -> Result<Self, NotApplicable> {
        let stretches: Vec<Stretch<'_>> = chain.since_the_record().take(MOST_STEPS + 1).collect();
        if stretches.len() > MOST_STEPS {
            return Err(NotApplicable::beyond("the steps change too often"));
        }
        // Any number of steps may be none of them. A shorter run of equal steps is an instance of a longer one.
        if stretches.len() > 1 && stretches.iter().any(|stretch| stretch.count == Count::Any) {
            return Err(missing!(
                "any number of steps after others may be none, which nothing then hides: give {}",
                Steps
            ));
        }
        let width = chain.domain().width().upper();
        // A start that is apart is the first step, and not one that adds noise.
        let (start, stretches) = match (chain.start(), &stretches[..]) {
            (Some(start), [_, rest @ ..]) => {
                (start.distance.map_or(width, NonNegative::get).min(width), rest)
            }
            (_, all) => (0.0, all),
        };
        let apart = apart_before(start, stretches, width)?;
        let used = |stretch: &&Stretch<'_>| !stretch.step.participation.is_never();
        let vanishes = stretches.iter().filter(used).all(|stretch| stretch.step.vanishes);
        let mut past = Self { steps: Vec::new(), before: Vec::new(), vanishes };
        // Λ^(−2) of the step after, rounded down, and its slope.
        let mut after: Option<(f64, f64)> = None;
        let mut first_worth = 0.0_f64;
        for (stretch, &entering) in stretches.iter().zip(&apart).rev() {
            let step = stretch.step;
            let StepNoise::Gaussian(noise) = step.noise else {
                return Err(in_the_way!("the noise must be Gaussian: {}", NoiseKind));
            };
            let (noise, slope) = (noise.lower(), slope(step)?);
            let own = mul_down(noise, noise);
            let rate = step.participation.probability().upper();
            let (displacement, absence) = (step.displacement.upper(), step.absence.upper());
            // Members that take part by themselves are worth what each moves, if the other run has none of them.
            let few = |members: &Members| vanishes && members.number <= MOST_MEMBERS;
            let (rate, each, members) = match step.members.filter(few) {
                Some(Members { number, rate }) => (rate.get(), div_up(displacement, number as f64), number),
                None => (rate, displacement, 1),
            };
            let mut left = stretch.count;
            while let Some(earlier) = one_less(left) {
                left = earlier;
                let variance = match after {
                    None => own,
                    Some((_, 0.0)) => f64::INFINITY,
                    Some((variance, slope)) => add_down(own, div_down(variance, mul_up(slope, slope))),
                };
                after = Some((variance, slope));
                let worth = div_up(1.0, sqrt_down(variance));
                let of = |distance: f64| if distance == 0.0 { 0.0 } else { mul_up(distance, worth) };
                past.steps.push(Worth { rate, apart: of(each), missing: of(absence), members });
                // Iterates before this step, of the same stretch or an earlier one.
                past.before.push(of(mul_up(slope, within(step, slope, entering, left, width))));
                first_worth = first_worth.max(of(displacement));
                let rest = past.before[past.before.len() - 1];
                if rest <= NEGLIGIBLE * first_worth && past.steps.len() > 1 {
                    return Ok(past);
                }
                if past.steps.len() >= MOST_STEPS {
                    return past.ended();
                }
            }
        }
        past.ended()
    }

    /// The past, if something before its first step is bounded.
    fn ended(self) -> Result<Self, NotApplicable> {
        if self.before.iter().any(|before| before.is_finite()) { Ok(self) } else { Err(unbounded()) }
    }
}

/// The largest distance of two neighbours' iterates that share batches and noise, before each stretch, and an error if
/// updates have no Lipschitz constant.
fn apart_before(start: f64, stretches: &[Stretch<'_>], width: f64) -> Result<Vec<f64>, NotApplicable> {
    let mut apart = Vec::with_capacity(stretches.len());
    let mut distance = start;
    for stretch in stretches {
        apart.push(distance);
        distance = within(stretch.step, slope(stretch.step)?, distance, stretch.count, width);
    }
    Ok(apart)
}

/// One step less; `None` if there is none.
fn one_less(steps: Count) -> Option<Count> {
    match steps {
        Count::Times(times) => times.checked_sub(1).map(Count::Times),
        Count::Any => Some(Count::Any),
    }
}

/// The largest distance after this many steps from a distance: z ← min(D, c·z + d).
fn within(step: &Step, slope: f64, from: f64, times: Count, width: f64) -> f64 {
    let moved = if step.participation.is_never() { 0.0 } else { step.displacement.upper() };
    let slope = Enclosure::from(slope);
    let kept = if from == 0.0 { 0.0 } else { (times.power(slope) * Enclosure::from(from)).upper() };
    let added =
        if moved == 0.0 { 0.0 } else { (times.geometric_sum(slope) * Enclosure::from(moved)).upper() };
    add_up(kept, added).min(width)
}
