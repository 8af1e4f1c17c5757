//! A record that is used once, and the shift of its effect into the noise of more and more later steps.

use super::allocation::{Gathered, ShiftStep};
use super::walk::{Leg, legs};
use super::{unbounded, unrelated};
use crate::chain::{Branch, Count, Mixture, Step, StepNoise, Stop};
use crate::run::in_the_way;
use crate::{Enclosure, NotApplicable};

/// The best shift over the only use of the record and the later steps so far.
///
/// # Guarantee
/// The iterate is μ-GDP with μ² = [`Shifted::price`]. The use moves iterates apart by d. Let later updates be
/// c_t-Lipschitz, w_t = c_{t+1}⋯c_T, V = d·w₀ and U = Σ(s_t·w_t)², over the use and the later steps. Shifting a_t =
/// V·w_t·s_t²/U in each leaves w_t·z_t = V·(1 − Σ_{i≤t}(s_i·w_i)²/U) ≥ 0, and nothing at the end: μ² = V²/U, by the
/// guarantee of `shift`. V and U follow each other step by step, so that all ends cost no more than the last one. From
/// the first step on whose update is not known to be Lipschitz, later steps count as post-processing.
#[derive(Clone, Copy)]
pub(super) struct Shifted {
    gathered: Gathered,
    /// Whether all later updates so far are Lipschitz.
    lipschitz: bool,
    price: Enclosure,
}

/// A smaller difference is taken for this one, so that none underflows.
const SMALLEST: f64 = 1e-140;

impl Shifted {
    /// The shift over the use.
    ///
    /// # Errors
    /// [`NotApplicable`] if the noise is not Gaussian, or the use may move iterates by any distance.
    pub fn over_the_use(step: &Step) -> Result<Self, NotApplicable> {
        let StepNoise::Gaussian(noise) = step.noise else {
            return Err(in_the_way!("the noise must be Gaussian: {}", NoiseKind));
        };
        // From equal iterates, the distance is at most the displacement, and at most what any line gives.
        let offsets = step.crossed_pieces().map(|piece| piece.offset().upper());
        let offset = offsets.fold(step.displacement.upper(), f64::min).max(SMALLEST);
        if offset == f64::INFINITY {
            return Err(unrelated());
        }
        let used = ShiftStep { slope: 1.0, offset, noise: noise.lower(), count: Count::Times(1) };
        let gathered = Gathered::NOTHING.then(&used);
        Ok(Self { gathered, lipschitz: true, price: gathered.price() })
    }

    /// The shift with some more equal steps.
    pub fn then(self, step: &Step, count: Count) -> Self {
        let pieces = step.modulus.pieces().iter();
        let slopes =
            pieces.filter(|piece| piece.offset() == Enclosure::ZERO).map(|piece| piece.slope().upper());
        let slope = slopes.fold(f64::INFINITY, f64::min);
        let (true, StepNoise::Gaussian(noise), true) = (self.lipschitz, step.noise, slope < f64::INFINITY)
        else {
            return Self { lipschitz: false, ..self };
        };
        let mut gathered = self.gathered.then(&ShiftStep { slope, offset: 0.0, noise: noise.lower(), count });
        gathered.raise_to(SMALLEST);
        let price = gathered.price();
        Self { gathered, price: if price.upper() < self.price.upper() { price } else { self.price }, ..self }
    }

    /// μ².
    pub fn price(self) -> Enclosure {
        self.price
    }
}

/// The legs of a branch that stops by stretches: the only use of the record, and the later steps.
///
/// # Errors
/// [`NotApplicable`] if there are too many of them to visit, or none.
pub(super) fn use_and_later(branch: &Branch) -> Result<(Leg<'_>, Vec<Leg<'_>>), NotApplicable> {
    let mut legs = legs(branch)?.into_iter();
    let used = legs.next().ok_or_else(unbounded)?;
    Ok((used, legs.collect()))
}

/// The weight of some stops of a branch.
pub(super) fn weight_of_stops(branch: &Branch, stops: Count) -> Enclosure {
    match branch.stop {
        Stop::End => branch.weight,
        Stop::Uniform(times) => branch.weight * stops.number() / Enclosure::from(times),
    }
}

/// μ² at each end of a mixture, with its weight: by `known`, or, where the branch stops by stretches, along the chain.
///
/// # Errors
/// [`NotApplicable`] as [`Shifted`] and `known`.
pub(super) fn squared_shifts(
    released: &Mixture,
    known: impl Fn(&Mixture) -> Result<Vec<(Enclosure, Enclosure)>, NotApplicable>,
) -> Result<Vec<(Enclosure, Enclosure)>, NotApplicable> {
    if !released.branches().iter().any(Branch::stops_by_stretch) {
        return known(released);
    }
    let mut members = Vec::new();
    for branch in released.branches() {
        if !branch.stops_by_stretch() {
            members.extend(known(&Mixture::new(vec![branch.clone()]))?);
            continue;
        }
        let (used, later) = use_and_later(branch)?;
        let mut shifted = Shifted::over_the_use(used.step)?;
        if used.stops {
            members.push((weight_of_stops(branch, used.count), shifted.price()));
        }
        for leg in later {
            let Count::Times(steps) = leg.count else { continue };
            if leg.stops {
                // The first stop represents the first half of them, and the next one the others.
                let half = steps.div_ceil(2);
                for (stop, stops) in [(1, half), (half + 1, steps - half)] {
                    if stops > 0 {
                        let price = shifted.then(leg.step, Count::Times(stop)).price();
                        members.push((weight_of_stops(branch, Count::Times(stops)), price));
                    }
                }
            }
            shifted = shifted.then(leg.step, leg.count);
        }
    }
    Ok(members)
}
