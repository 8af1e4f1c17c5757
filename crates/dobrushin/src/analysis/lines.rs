//! From a chain to the steps of a shift: one line for each modulus.

use super::allocation::{ShiftStep, squared_shift_anywhere, squared_shift_from};
use crate::chain::{Chain, Count, Piece, StepNoise, Stretch};
use crate::{Enclosure, NotApplicable};

/// μ² = Σ(a_t/s_t)² of the best allocation from the first use of the record on.
///
/// # Errors
/// [`NotApplicable`] if the noise is not Gaussian, nothing bounds the distance of iterates, or no
/// allocation is finite.
pub(super) fn squared_shift(chain: &Chain) -> Result<Enclosure, NotApplicable> {
    best_over_lines(chain, |steps, _| together(steps))
}

/// From equal iterates. If the last stretch may have any number of steps, all is shifted before it, and then as
/// in a chain of its own, which is dearest without end; none at all is one of the numbers.
fn together(steps: &[ShiftStep]) -> Enclosure {
    // The first step of a chain of its own is by itself.
    match steps {
        [before @ .., last] if last.count == Count::Any && before.len() > 1 => {
            squared_shift_from(0.0, before) + squared_shift_from(0.0, std::slice::from_ref(last))
        }
        steps => squared_shift_from(0.0, steps),
    }
}

/// The same, or less if iterates are in a bounded set, so that the argument may begin at any time.
pub(super) fn squared_shift_on_domain(chain: &Chain) -> Result<Enclosure, NotApplicable> {
    let diameter = chain.domain().width().upper();
    best_over_lines(chain, |steps, from_the_start| {
        let together = together(steps);
        // Any number of steps may be too few to begin among them, unless there are no others.
        let endless = from_the_start.len() > 1 && from_the_start.iter().any(|step| step.count == Count::Any);
        if diameter == f64::INFINITY || endless {
            return together;
        }
        let apart = squared_shift_anywhere(diameter, from_the_start);
        if apart.upper() < together.upper() { apart } else { together }
    })
}

/// The least over the choices of lines; the steps with the first use by itself, and as they are.
fn best_over_lines(
    chain: &Chain,
    price: impl Fn(&[ShiftStep], &[ShiftStep]) -> Enclosure,
) -> Result<Enclosure, NotApplicable> {
    // Steps without the record that may also not be there are left out.
    let stretches: Vec<Stretch<'_>> = chain
        .since_the_record()
        .filter(|stretch| !(stretch.count == Count::Any && stretch.step.participation.is_never()))
        .collect();
    let choices = |crossed: bool| {
        let of_this_kind = stretches.iter().filter(|s| s.step.participation.is_never() != crossed);
        of_this_kind.map(|stretch| lines(stretch).len()).max().unwrap_or(1)
    };
    let mut best: Option<Enclosure> = None;
    for same in 0..choices(false) {
        for crossed in 0..choices(true) {
            if let Some((first, all)) = steps(&stretches, same, crossed)? {
                let price = price(&first, &all);
                best =
                    Some(best.map_or(price, |best| if price.upper() < best.upper() { price } else { best }));
            }
        }
    }
    match best {
        _ if stretches.is_empty() => Ok(Enclosure::ZERO),
        Some(price) if price.upper() < f64::INFINITY => Ok(price),
        Some(_) => Err(NotApplicable::new(
            "what has to be shifted grows with the number of steps: weight decay or strong convexity would bound it, \
             or a bounded domain",
        )),
        None => Err(NotApplicable::new(
            "nothing bounds how far iterates move apart: [loss] convex with smoothness, update.weight-decay, \
             or update.clip-norm is missing",
        )),
    }
}

/// The lines above the distance of two iterates after a step.
fn lines(stretch: &Stretch<'_>) -> Vec<Piece> {
    if stretch.step.participation.is_never() {
        stretch.step.modulus.pieces().to_vec()
    } else {
        stretch.step.crossed_pieces().collect()
    }
}

type Steps = (Vec<ShiftStep>, Vec<ShiftStep>);

/// One line for each stretch, from the first use on, which is once by itself and once as it is; `None` if some
/// stretch has no line.
fn steps(stretches: &[Stretch<'_>], same: usize, crossed: usize) -> Result<Option<Steps>, NotApplicable> {
    let mut all = Vec::with_capacity(stretches.len());
    let mut unknown = false;
    for stretch in stretches {
        let StepNoise::Gaussian(noise) = stretch.step.noise else {
            return Err(NotApplicable::new("the noise must be Gaussian: update.noise"));
        };
        let lines = lines(stretch);
        let choice = if stretch.step.participation.is_never() { same } else { crossed };
        let line = lines.get(choice).or(lines.last());
        // Without any, the first use by itself may still be bounded.
        unknown |= line.is_none() && !(all.is_empty() && stretch.count == Count::Times(1));
        let (slope, offset) =
            line.map_or((f64::INFINITY, f64::INFINITY), |line| (line.slope().upper(), line.offset().upper()));
        all.push(ShiftStep { slope, offset, noise: noise.lower(), count: stretch.count });
    }
    let (Some(stretch), false) = (stretches.first(), unknown) else {
        return Ok(None);
    };
    // Iterates that are equal are at most the displacement apart after the first use, and no more than any line says.
    let offsets = stretch.step.crossed_pieces().map(|piece| piece.offset().upper());
    let first = ShiftStep {
        slope: 1.0,
        offset: offsets.fold(stretch.step.displacement.upper(), f64::min),
        noise: all[0].noise,
        count: Count::Times(1),
    };
    let left = match stretch.count {
        Count::Times(times) => Count::Times(times - 1),
        Count::Any => Count::Any,
    };
    let rest = ShiftStep { count: left, ..all[0] };
    let mut by_itself = vec![first];
    by_itself.extend((left != Count::Times(0)).then_some(rest));
    by_itself.extend_from_slice(&all[1..]);
    let known = all.iter().all(|step| step.slope < f64::INFINITY);
    Ok(Some((by_itself, if known { all } else { Vec::new() })))
}
