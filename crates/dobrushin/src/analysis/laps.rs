//! Laps of a shift: several stretches in a row, again and again, as equal steps.

use super::allocation::ShiftStep;
use crate::Enclosure;
use crate::chain::Count;

/// Laps as equal steps; `None` if one lap is not like a step.
///
/// # Guarantee
/// A lap takes iterates that are z apart to C·z + O − a, if a is shifted into noise of the variance U, at a price of a²/U,
/// as one step does: C is the product of the slopes, O and U are what offsets and noise amount to at its end. Every step is
/// given the same multiple of what its noise has of U. Of a ≤ C·z + O that shifts at most (C·z + O)·u_j up to the j-th
/// step, u_j = U_j/U, where C·z + O_j is there (all in units of the end). So nothing is shifted before it is there if
/// O_j ≥ O·u_j for every j, which is checked at the end of each stretch; inside one, O_j is concave in U_j, if the slope is
/// at most 1, or constant.
///
/// The points of the taut string inside a lap are then above its chord, so that no allocation of the laps is cheaper than
/// the best of these equal steps: nothing is lost but rounding.
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

/// What some steps do: C, O and U.
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
