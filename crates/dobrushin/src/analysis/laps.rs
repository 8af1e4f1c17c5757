//! Laps of a shift: consecutive stretches, repeated, as equal steps.

use super::allocation::ShiftStep;
use crate::Enclosure;
use crate::chain::Count;

/// Laps as equal steps; `None` if a lap does not act like a step.
///
/// # Guarantee
/// Like a step, a lap takes iterates that are z apart to C·z + O − a, if a is shifted into noise of variance U, at a
/// price of a²/U. Here C is the product of the slopes, and O and U are the total offset and noise variance at its end.
/// Each step shifts in proportion to its noise's share of U. For a ≤ C·z + O, at most (C·z + O)·u_j is shifted up to
/// the j-th step, u_j = U_j/U, while a distance of C·z + O_j is available (all in units of the end). So no more is
/// shifted than is available if O_j ≥ O·u_j for every j. This is checked at the end of each stretch; inside a stretch,
/// O_j is concave in U_j if the slope is at most 1, or constant.
///
/// The points of the taut string inside a lap then lie above its chord, so no allocation of the laps is cheaper than
/// the best allocation of these equal steps: nothing is lost except by rounding.
pub(super) fn laps(lap: &[ShiftStep], times: u64) -> Option<ShiftStep> {
    let mut steps: Vec<ShiftStep> = Vec::with_capacity(lap.len());
    for step in lap {
        let (Count::Times(next), true) = (step.count, step.slope < f64::INFINITY) else {
            return None;
        };
        match steps.last_mut() {
            Some(ShiftStep { count: Count::Times(before), slope, offset, noise })
                if (*slope, *offset, *noise) == (step.slope, step.offset, step.noise) =>
            {
                *before = before.checked_add(next)?;
            }
            _ => steps.push(*step),
        }
    }
    if let [ShiftStep { count: Count::Times(count), .. }] = steps[..] {
        return Some(ShiftStep { count: Count::Times(count.checked_mul(times)?), ..steps[0] });
    }
    let is_like_its_ends =
        |step: &ShiftStep| step.slope <= 1.0 || step.offset == 0.0 || step.count == Count::Times(1);
    if !steps.iter().all(is_like_its_ends) {
        return None;
    }
    let ends: Vec<Lap> = steps
        .iter()
        .scan(Lap::NOTHING, |lap, step| {
            *lap = lap.then(step);
            Some(*lap)
        })
        .collect();
    let whole = *ends.last()?;
    let mut later = Enclosure::ONE;
    for (end, next) in ends.iter().zip(&steps[1..]).rev() {
        later = later * next.count.power(Enclosure::from(next.slope));
        // In units of the end, O_j is multiplied by the later slopes and U_j by their square.
        let (there, shifted) = (end.offset * whole.variance, whole.offset * end.variance * later);
        if there.lower() < shifted.upper() {
            return None;
        }
    }
    let noise = whole.variance.sqrt().lower();
    (noise > 0.0).then_some(ShiftStep {
        slope: whole.slope.upper(),
        offset: whole.offset.upper(),
        noise,
        count: Count::Times(times),
    })
}

/// The effect of some steps: C, O and U.
#[derive(Clone, Copy)]
struct Lap {
    slope: Enclosure,
    offset: Enclosure,
    variance: Enclosure,
}

impl Lap {
    const NOTHING: Self = Self { slope: Enclosure::ONE, offset: Enclosure::ZERO, variance: Enclosure::ZERO };

    fn then(self, step: &ShiftStep) -> Self {
        let slope = Enclosure::from(step.slope);
        let factor = step.count.power(slope);
        let noise = Enclosure::from(step.noise).square();
        Self {
            slope: factor * self.slope,
            offset: factor * self.offset + Enclosure::from(step.offset) * step.count.geometric_sum(slope),
            variance: factor.square() * self.variance + noise * step.count.geometric_sum(slope.square()),
        }
    }
}
