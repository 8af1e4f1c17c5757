//! What the last noise hides, whatever happened before.

use super::once::{use_and_later, weight_of_stops};
use super::walk::{Group, Leg, at_each_end, groups};
use super::{Analysis, Bound, Cost, Family, HiddenStates, Notes, Statement};
use crate::chain::{Branch, Chain, Count, Mixture, Piece, StepNoise, Stop};
use crate::numeric::ln_sum;
use crate::run::{Fact, missing};
use crate::{Enclosure, Epsilon, NotApplicable};

/// The noise of the last step, on iterates that cannot be far apart.
///
/// # Guarantee
/// With the same noise and the same batches the two runs are at most z_t apart, z_t = min(D, ω′_t(z_{t−1})), z₀ = 0,
/// with ω_t in place of ω′_t where the record takes no part. So before the last noise they are at most ω′_T(z_{T−1})
/// apart if the record takes part in the last step and ω_T(z_{T−1}) if not, and by joint convexity E_{e^ε} ≤
/// p·η(ω′_T(z_{T−1})/s_T) + (1−p)·η(ω_T(z_{T−1})/s_T). No convexity is needed, and any kind of noise is allowed.
///
/// ```
/// use dobrushin::analysis::{Ceiling, HiddenStates};
/// use dobrushin::chain::{Chain, Count, Domain, Mixture, Participation, Piece, Step, StepNoise};
/// use dobrushin::numeric::theta::theta;
/// use dobrushin::{Epsilon, NonNegative, PrivacyProfile};
///
/// // Updates that halve distances and move iterates apart by 1 never bring them 2 or more apart: θ_ε(2).
/// let step = Step::new(StepNoise::gaussian(1.0)?).with_modulus(vec![Piece::new(0.5, 0.0)?]);
/// let used = step.used_by(Participation::Always, NonNegative::new(1.0)?);
/// let chain = Chain::new(vec![(used, Count::Times(1000))], Domain::default())?;
/// let profile = Ceiling.apply(&Mixture::last(chain))?.into_profile();
/// let epsilon = Epsilon::new(1.0)?;
/// let known = theta(epsilon, NonNegative::new(2.0)?).upper();
/// assert!((profile.delta(epsilon).upper() / known - 1.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Ceiling;

impl Analysis for Ceiling {
    fn statement(&self) -> &'static Statement {
        &STATEMENT
    }

    fn family(&self) -> Family {
        Family::Contraction
    }

    fn cost(&self) -> Cost {
        Cost::ClosedForm
    }

    fn suits_each_record(&self) -> bool {
        true
    }
}

impl HiddenStates for Ceiling {
    fn apply(&self, released: &Mixture) -> Result<Bound, NotApplicable> {
        let mut last: Vec<(Enclosure, LastStep)> = Vec::new();
        for (weight, step) in last_steps(released)? {
            // Many ends are equal.
            match last.last_mut() {
                Some((total, same)) if *same == step => *total = *total + weight,
                _ => last.push((weight, step)),
            }
        }
        Ok(Bound::by_log_delta(move |epsilon| {
            let term = |(weight, step): &(Enclosure, LastStep)| weight.ln() + step.ln_delta(epsilon);
            ln_sum(&last.iter().map(term).collect::<Vec<_>>())
        }))
    }
}

/// The last step of each chain of a mixture, with its weight.
fn last_steps(released: &Mixture) -> Result<Vec<(Enclosure, LastStep)>, NotApplicable> {
    let [branch] = released.branches() else {
        return at_each_end(released, LastStep::of);
    };
    if !branch.stops_by_stretch() {
        return at_each_end(released, LastStep::of);
    }
    let (used, later) = use_and_later(branch)?;
    let mut last = Vec::with_capacity(later.len() + 1);
    let step = |leg: &Leg<'_>, same, crossed| LastStep {
        noise: leg.step.noise,
        probability: leg.step.participation.probability(),
        same,
        crossed,
    };
    if used.stops {
        let first = step(&used, Enclosure::ZERO, used.step.displacement);
        last.push((weight_of_stops(branch, used.count), first));
    }
    let mut distance = after(&used, used.count, Enclosure::ZERO).min(used.step.displacement);
    for leg in later {
        if leg.stops {
            let first = step(&leg, leg.step.modulus.at(distance), Enclosure::ZERO);
            last.push((weight_of_stops(branch, leg.count), first));
        }
        distance = after(&leg, leg.count, distance);
    }
    if last.iter().any(|(_, step)| step.same.max(step.crossed).upper() == f64::INFINITY) {
        return Err(apart());
    }
    Ok(last)
}

/// The last step, and the distance between the two runs before its noise.
#[derive(PartialEq)]
struct LastStep {
    noise: StepNoise,
    probability: Enclosure,
    same: Enclosure,
    crossed: Enclosure,
}

impl LastStep {
    fn of(chain: &Chain) -> Result<Self, NotApplicable> {
        let branch = Branch { weight: Enclosure::ONE, chain: chain.clone(), stop: Stop::End };
        let mut groups = groups(&branch)?;
        let Some(last) = groups.last_mut().and_then(|group| group.legs.pop()) else {
            return Err(NotApplicable::beyond("there are no steps"));
        };
        if last.count == Count::Any && groups.iter().any(|group| !group.legs.is_empty()) {
            return Err(NotApplicable::missing(
                &[Fact::Steps],
                "any number of steps after others may be none, and then the last noise is another: give a number",
            ));
        }
        let width = chain.domain().width();
        let mut distance = Enclosure::ZERO;
        for group in &groups {
            distance = after_all(group, distance, width);
        }
        let before_the_last = match last.count {
            Count::Times(times) => Count::Times(times - 1),
            Count::Any => Count::Any,
        };
        let first_use = distance == Enclosure::ZERO && before_the_last == Count::Times(0);
        let distance = after(&last, before_the_last, distance);
        let step = last.step;
        // From equal iterates, the distance is at most the displacement.
        let crossed = if first_use { step.displacement } else { step.crossed_at(distance) };
        let same = step.modulus.at(distance);
        let probability = step.participation.probability();
        if crossed.upper() == f64::INFINITY && probability != Enclosure::ZERO
            || same.upper() == f64::INFINITY && probability == Enclosure::ZERO
        {
            return Err(apart());
        }
        let same = if distance == Enclosure::ZERO { Enclosure::ZERO } else { same };
        Ok(Self { noise: step.noise, probability, same, crossed })
    }

    fn ln_delta(&self, epsilon: Epsilon) -> Enclosure {
        let used = self.probability.ln() + self.noise.ln_overlap(self.crossed, epsilon);
        let unused = (Enclosure::ONE - self.probability).ln() + self.noise.ln_overlap(self.same, epsilon);
        ln_sum(&[used, unused])
    }
}

fn apart() -> NotApplicable {
    missing!(
        "iterates may be any distance apart: {:#}, {}, or a number of steps ({}) with {} would bound it",
        Diameter,
        WeightDecay,
        Steps,
        ClipNorm
    )
}

/// The number of laps that are treated one by one.
const MOST_LAPS: u64 = 4096;

/// The largest distance between two runs after a group of steps.
///
/// From lap to lap the distance is monotone until it stays the same. If it does not settle soon, the bound is the least
/// that any choice of two lines (one for every step without the record, one for every other step) gives for all laps
/// together.
fn after_all(group: &Group<'_>, mut distance: Enclosure, width: Enclosure) -> Enclosure {
    for _ in 0..group.times.min(MOST_LAPS) {
        let lap = group.legs.iter().fold(distance, |distance, leg| after(leg, leg.count, distance));
        if lap == distance {
            return distance;
        }
        distance = lap;
    }
    let left = Count::Times(group.times.saturating_sub(MOST_LAPS));
    if left == Count::Times(0) {
        return distance;
    }
    let most = |never: bool| {
        let legs = group.legs.iter().filter(|leg| leg.step.participation.is_never() == never);
        legs.map(|leg| leg.step.lines().count()).max().unwrap_or(1)
    };
    let (same, crossed) = (most(true), most(false));
    let choices = (0..same).flat_map(|same| (0..crossed).map(move |crossed| (same, crossed)));
    let after_laps = choices.map(|(same, crossed)| {
        let lap = group.legs.iter().try_fold((Enclosure::ONE, Enclosure::ZERO), |(slope, offset), leg| {
            let choice = if leg.step.participation.is_never() { same } else { crossed };
            let line = leg.step.lines().take(choice + 1).last()?;
            let factor = leg.count.power(line.slope());
            Some((factor * slope, factor * offset + line.offset() * leg.count.geometric_sum(line.slope())))
        });
        lap.map_or(Enclosure::INFINITE, |(slope, offset)| {
            left.power(slope) * distance + offset * left.geometric_sum(slope)
        })
    });
    after_laps.fold(width, Enclosure::min)
}

/// The largest distance between two runs after equal steps: the least bound of the lines, each by itself.
fn after(leg: &Leg<'_>, count: Count, distance: Enclosure) -> Enclosure {
    if count == Count::Times(0) {
        return distance;
    }
    let never = leg.step.participation.is_never();
    if never && distance == Enclosure::ZERO {
        return distance;
    }
    let line = |piece: Piece| {
        let (slope, offset) = (piece.slope(), piece.offset());
        let sum = count.geometric_sum(slope);
        let grown = if offset == Enclosure::ZERO { Enclosure::ZERO } else { offset * sum };
        let kept = if distance == Enclosure::ZERO { Enclosure::ZERO } else { count.power(slope) * distance };
        // Any number of steps includes none.
        if count == Count::Any { (kept + grown).max(distance) } else { kept + grown }
    };
    leg.step.lines().map(line).fold(leg.after, Enclosure::min)
}

static STATEMENT: Statement = Statement {
    id: "ceiling",
    title: "What the last noise hides",
    statement: "With the same noise and batches two runs are at most z_t = min(D, ω′_t(z_{t−1})) apart, so that \
                δ(ε) ≤ p·η(ω′_T(z_{T−1})/s_T) + (1−p)·η(ω_T(z_{T−1})/s_T), η(r) being E_{e^ε} of the noise at distance r.",
    assumptions: &["only the last iterate (or that of a random time) is published"],
    source: "the coupling that shares all noise but the last",
    errata: &[],
    notes: Some(Notes {
        applies_to: "iterates that cannot be far apart; any noise",
        formula: "\
δ(ε) = p·η(ω′(z)/s) + (1 − p)·η(ω(z)/s),   z = min(D, ω′(… ω′(0)))

η(r)     E_{e^ε} of the noise at distance r: θ_ε(r), or [1 − e^((ε−r)/2)]₊ for Laplace noise
θ_ε(r)   E_{e^ε} of two unit Gaussians at distance r
ω, ω′    how far apart iterates can be after updates on the same data, and on different data
z        how far apart the two runs can be before the last step
p, s     the probability that the last step uses the record, and its noise
D        the diameter of the domain, ∞ if there is none",
        proof: &[
            "Run both neighbours with the same noise and the same batches in all steps but the last. Their distance is at most \
             z_t = min(D, ω′_t(z_{t−1})), z₀ = 0, with ω_t in place of ω′_t in steps without the record.",
            "Given all of that, the last step adds noise to two points at most ω′_T(z_{T−1}) apart if it uses the record, and \
             ω_T(z_{T−1}) if not. Sharing is allowed: E_γ of the mixtures over noise and batches is at most the \
             average, by joint convexity.",
            "For any number of steps z is the limit, or D. The code takes the least over the lines of a modulus; several kinds of \
             steps, the last of which may not be there at all, are refused.",
        ],
        wins: &[
            "With Laplace noise and no domain `shift` may say less, but not in the example, where it leaves everything to the last \
             step too: ε = 1.99998 for any number of steps, `composition` 17.42 after 1000.",
            "With Gaussian noise `shift` says less, as it spreads the difference over the noise of many steps: 2.558 against 9.997 in \
             examples/noisy-gd.toml. The two are equal if nothing is left of the steps before the last, or only one step is made.",
            "Nothing if iterates may be any distance apart, and next to nothing if that is many noise standard deviations.",
        ],
        example: "account examples/noisy-gd.toml --set noise=laplace",
    }),
};
