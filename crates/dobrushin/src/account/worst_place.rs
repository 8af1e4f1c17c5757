//! The worst of a million records that are used once each, in steps that all differ.

use crate::analysis::{Bound, HiddenStates};
use crate::lower::RecordRanges;
use crate::profile::{Direction, PrivacyProfile};
use crate::{Delta, Enclosure, Epsilon, NotApplicable};
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The largest δ of any place at every ε, found by halving ranges of places.
///
/// # Guarantee
/// A bound on a range holds for each of its places. Ranges are halved until each of them is known to be no worse than the
/// worst single place found so far, but for a share of [`SHARE`]; the upper end of an answer holds for all of them.
pub(super) struct WorstPlace {
    theorem: &'static dyn HiddenStates,
    records: RecordRanges,
    /// What is known about some ranges.
    known: Mutex<HashMap<Range, Arc<dyn PrivacyProfile>>>,
}

/// The first and the last of some places.
pub(super) type Range = (u64, u64);

/// By which share an answer may be above the worst one.
const SHARE: f64 = 1e-3;
/// The most ranges of one question; if they do not suffice, the answer is that of the worst range.
const MOST_RANGES: usize = 1500;
/// The most profiles that are kept.
const MOST_KNOWN: usize = 3000;

impl WorstPlace {
    /// # Errors
    /// [`NotApplicable`] if the theorem says nothing about the first or the last place.
    pub fn new(theorem: &'static dyn HiddenStates, records: RecordRanges) -> Result<Self, NotApplicable> {
        for place in [1, records.places()] {
            theorem.apply(&records.view(place, place)?)?;
        }
        Ok(Self { theorem, records, known: Mutex::default() })
    }

    /// The bound on a range; `None` if the theorem says nothing about it.
    fn profile(&self, range: Range) -> Option<Arc<dyn PrivacyProfile>> {
        if let Some(known) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&range) {
            return Some(Arc::clone(known));
        }
        let view = self.records.view(range.0, range.1).ok()?;
        let found = self.theorem.apply(&view).ok().map(Bound::into_profile)?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < MOST_KNOWN {
            known.insert(range, Arc::clone(&found));
        }
        Some(found)
    }

    fn log_delta_at(&self, range: Range, direction: Direction, epsilon: Epsilon) -> Enclosure {
        self.profile(range).map_or(Enclosure::ZERO, |profile| profile.log_delta_of(direction, epsilon))
    }

    fn all(&self) -> Range {
        (1, self.records.places())
    }
}

/// The halves of a range, in proportion to its places: steps tend to change by such shares.
pub(super) fn halves((from, to): Range) -> [Range; 2] {
    let middle = if to / from < 4 { from.midpoint(to) } else { ((from as f64) * (to as f64)).sqrt() as u64 };
    let middle = middle.clamp(from, to - 1);
    [(from, middle), (middle + 1, to)]
}

impl PrivacyProfile for WorstPlace {
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        self.log_delta_of(direction, epsilon).exp().min(Enclosure::ONE)
    }

    fn log_delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        let at = |range: Range| self.log_delta_at(range, direction, epsilon);
        let mut worst = at((1, 1));
        let mut open = vec![self.all()];
        let mut most = worst.upper();
        let mut looked_at = 0;
        while !open.is_empty() {
            looked_at += open.len();
            let found: Vec<(Range, f64)> = open.par_iter().map(|&range| (range, at(range).upper())).collect();
            let limit = worst.upper() + 2.0 * SHARE;
            let (above, below): (Vec<_>, Vec<_>) = found.into_iter().partition(|(_, upper)| *upper > limit);
            most = below.iter().map(|(_, upper)| *upper).fold(most, f64::max);
            let (single, wide): (Vec<_>, Vec<_>) = above.into_iter().partition(|((from, to), _)| from == to);
            for (place, _) in single {
                worst = worst.max(at(place));
            }
            if looked_at > MOST_RANGES {
                most = wide.iter().map(|(_, upper)| *upper).fold(most, f64::max);
                break;
            }
            // A place of the worst range raises the limit.
            if let Some(((from, to), _)) = wide.iter().max_by(|(_, a), (_, b)| a.total_cmp(b)) {
                let places = [*from, from.midpoint(*to), *to];
                let found: Vec<Enclosure> = places.par_iter().map(|&place| at((place, place))).collect();
                worst = found.into_iter().fold(worst, Enclosure::max);
            }
            open = wide.into_iter().flat_map(|(range, _)| halves(range)).collect();
        }
        Enclosure::between(worst.lower(), most.max(worst.upper()))
    }

    fn is_symmetric(&self) -> bool {
        self.profile((1, 1)).is_none_or(|profile| profile.is_symmetric())
    }

    fn epsilon_of(&self, direction: Direction, delta: Delta) -> Enclosure {
        let of = |range: Range, guess: f64| {
            let at = |epsilon| self.log_delta_at(range, direction, epsilon);
            epsilon_near(guess, NEAR, delta, at)
        };
        let misses = |range: Range, epsilon: f64| {
            let ln_delta = Epsilon::new(epsilon).map(|epsilon| self.log_delta_at(range, direction, epsilon));
            ln_delta.map_or(f64::INFINITY, Enclosure::upper) - libm::log(delta.get())
        };
        let mut worst = of((1, 1), 1.0);
        if misses(self.all(), worst.upper()) <= 0.0 {
            return worst;
        }
        let mut open = halves(self.all()).to_vec();
        let mut looked_at = 0;
        while !open.is_empty() {
            if worst.upper() == f64::INFINITY {
                return worst;
            }
            let limit = worst.upper() * (1.0 + SHARE);
            looked_at += open.len();
            let found: Vec<(Range, f64)> =
                open.par_iter().map(|&range| (range, misses(range, limit))).collect();
            let mut missed: Vec<_> = found.into_iter().filter(|(_, miss)| *miss > 0.0).collect();
            missed.sort_by(|(_, a), (_, b)| b.total_cmp(a));
            if looked_at > MOST_RANGES {
                let ranges = missed.par_iter().map(|&(range, _)| of(range, limit).upper());
                let most = ranges.reduce(|| limit, f64::max);
                return Enclosure::between(worst.lower(), most);
            }
            // Places of the worst ranges raise the limit.
            for &((from, to), _) in missed.iter().take(2) {
                for place in [from, from.midpoint(to)] {
                    if misses((place, place), worst.upper()) > 0.0 {
                        worst = worst.max(of((place, place), worst.upper()));
                    }
                }
            }
            let (single, wide): (Vec<_>, Vec<_>) = missed.into_iter().partition(|((from, to), _)| from == to);
            for (place, _) in single {
                if misses(place, worst.upper()) > 0.0 {
                    worst = worst.max(of(place, worst.upper()));
                }
            }
            open = wide.into_iter().flat_map(|(range, _)| halves(range)).collect();
        }
        Enclosure::between(worst.lower(), worst.upper() * (1.0 + 2.0 * SHARE))
    }
}

/// How near a bound on ε is to the smallest one, relatively.
const NEAR: f64 = 1e-4;
/// Below this guess it is asked whether ε may be 0.
const TINY: f64 = 1e-9;

/// An enclosure of the smallest ε ≥ 0 at which a falling function is at most ln δ, from a guess of it: at the upper end
/// it was seen to be, and no more than about this share above the smallest one.
pub(super) fn epsilon_near(
    guess: f64,
    share: f64,
    delta: Delta,
    ln_delta: impl Fn(Epsilon) -> Enclosure,
) -> Enclosure {
    let target = libm::log(delta.get());
    let at = |epsilon: f64| Epsilon::new(epsilon).map_or(Enclosure::ZERO, &ln_delta);
    // Where it misses and where it meets δ, with the heights there; and where it certainly misses.
    let (mut missed, mut met) = (None::<(f64, f64)>, None::<(f64, f64)>);
    let mut certain = 0.0_f64;
    let mut probe = if guess.is_finite() && guess > 0.0 { guess } else { 1.0 };
    let mut factor = 1.0 + 4.0 * share;
    for round in 0..100 {
        if probe < TINY && missed.is_none() {
            probe = 0.0;
        }
        let found = at(probe);
        let height = found.upper() - target;
        if height > 0.0 {
            missed = Some((probe, height));
            if found.lower() > target {
                certain = certain.max(probe);
            }
        } else if probe == 0.0 {
            return Enclosure::ZERO;
        } else {
            met = Some((probe, height));
        }
        probe = match (missed, met) {
            (Some((start, _)), None) if start > 1e300 => return Enclosure::between(certain, f64::INFINITY),
            (Some((start, _)), None) => {
                factor *= factor;
                start.max(TINY) * factor
            }
            (None, Some((end, _))) => {
                factor *= factor;
                end / factor
            }
            (Some((start, above)), Some((end, below))) => {
                let width = end - start;
                if width <= share * end {
                    break;
                }
                // A chord may approach from one side only: every third time the bracket is halved.
                let chord = start + width * above / (above - below);
                let halved =
                    if start > end / 4.0 { start.midpoint(end) } else { (start.max(TINY) * end).sqrt() };
                let secant = if chord.is_finite() && round % 3 < 2 { chord } else { halved };
                // A little beyond the crossing, on the side of the end that is farther, so that both ends come near.
                let margin = if width > 16.0 * share * end { 0.02 * width } else { 0.4 * share * end };
                let beyond = if secant - start < end - secant { secant + margin } else { secant - margin };
                beyond.clamp(start + 0.01 * width, end - 0.01 * width)
            }
            (None, None) => break,
        };
    }
    let upper = met.map_or(f64::INFINITY, |(met, _)| met);
    Enclosure::between(certain.min(upper), upper)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_epsilon_is_found_from_any_guess() {
        let curves: [fn(f64) -> f64; 3] = [|x| -x * x, |x| -3.0 * x, |x| 0.0_f64.min(1.0 - 40.0 * x)];
        for curve in curves {
            for ln_delta in [-1e-3_f64, -1.0, -11.5, -300.0] {
                let delta = Delta::new(ln_delta.exp()).expect("valid");
                for guess in [0.0, 1e-9, 0.3, 2.0, 1e6, f64::INFINITY, f64::NAN] {
                    let calls = std::cell::Cell::new(0);
                    let found = epsilon_near(guess, NEAR, delta, |epsilon| {
                        calls.set(calls.get() + 1);
                        Enclosure::from(curve(epsilon.get()))
                    });
                    assert!(curve(found.upper()) <= delta.get().ln(), "{ln_delta} from {guess}");
                    assert!(curve(found.lower()) > delta.get().ln() || found.lower() == 0.0);
                    assert!(found.relative_width() < 2.0 * NEAR, "{ln_delta} from {guess}: {found}");
                    assert!(calls.get() < 60, "{} calls", calls.get());
                }
            }
        }
        let never = epsilon_near(1.0, NEAR, Delta::new(1e-5).expect("valid"), |_| Enclosure::ZERO);
        assert_eq!(never.upper(), f64::INFINITY);
    }

    #[test]
    fn halves_cover_a_range() {
        for range in [(1, 2), (1, 1_000_000), (5, 9), (700_000, 1_000_000), (1, u64::MAX / 2)] {
            let [(a, b), (c, d)] = halves(range);
            assert!(a == range.0 && d == range.1 && b + 1 == c && a <= b && c <= d, "{range:?}");
        }
    }
}
