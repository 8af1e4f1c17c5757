//! Where monotone functions and predicates change: all bisections of this project are here.

use super::Enclosure;
use std::ops::Range;

/// The boundary of a monotone predicate.
///
/// ```
/// use dobrushin::numeric::Boundary;
///
/// // √2, between 1 and 2: each halving adds a binary digit.
/// let found = Boundary { holds: 1.0, fails: 2.0 }.halved(10, |x| x * x <= 2.0);
/// assert!(found.holds < 2_f64.sqrt() && 2_f64.sqrt() < found.fails);
/// assert_eq!(found.fails - found.holds, 1.0 / 1024.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Boundary {
    /// The last point at which the predicate held.
    pub holds: f64,
    /// A neighbouring `f64` at which it failed.
    pub fails: f64,
}

impl Boundary {
    /// The boundary, halved this many times: for guesses, and where the last place does not matter.
    pub fn halved(self, times: u32, mut predicate: impl FnMut(f64) -> bool) -> Self {
        let Self { mut holds, mut fails } = self;
        for _ in 0..times {
            let middle = holds.midpoint(fails);
            *if predicate(middle) { &mut holds } else { &mut fails } = middle;
        }
        Self { holds, fails }
    }

    /// The boundary, halved until its ends, which are not negative, differ by at most this share of the larger one.
    pub fn halved_to(self, share: f64, mut predicate: impl FnMut(f64) -> bool) -> Self {
        let mut ends = self;
        while (ends.holds - ends.fails).abs() > share * ends.holds.max(ends.fails) {
            let next = ends.halved(1, &mut predicate);
            if next == ends {
                // Nothing lies between 0 and the smallest number.
                break;
            }
            ends = next;
        }
        ends
    }

    /// The midpoint of the two.
    pub fn middle(self) -> f64 {
        self.holds.midpoint(self.fails)
    }
}

/// The first index of a range at which a predicate fails, if it holds before that index and nowhere after it; the end
/// of the range if it never fails. (Slices have such a method, but ranges do not.)
///
/// ```
/// use dobrushin::numeric::partition_point;
///
/// // The first number whose square is not below 50.
/// assert_eq!(partition_point(0..100, |i| i * i < 50), 8);
/// assert_eq!(partition_point(0..5, |i| i * i < 50), 5);
/// ```
pub fn partition_point(range: Range<usize>, predicate: impl Fn(usize) -> bool) -> usize {
    let Range { start: mut low, end: mut high } = range;
    while low < high {
        let middle = low.midpoint(high);
        if predicate(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// The place between `holds`, where the predicate is true, and `fails`, where
/// it is false (in either order), at which it changes.
///
/// The two results are neighbouring `f64`s (unless the ends already were), and the predicate was *evaluated* to be true
/// at `holds`: a caller who asks "is this still private?" gets a private answer even if rounding makes the predicate
/// flicker. Starting at `hint` and doubling the stride, it takes about 2·log₂(distance of the hint in units in the last
/// place) evaluations, at most 128.
///
/// ```
/// use dobrushin::numeric::{Boundary, boundary};
///
/// // The largest `f64` whose square is at most 2, from a rough guess.
/// let found = boundary(Boundary { holds: 0.0, fails: 2.0 }, 1.4, |x| x * x <= 2.0);
/// assert!(found.holds * found.holds <= 2.0 && found.fails == found.holds.next_up());
/// ```
pub fn boundary(ends: Boundary, hint: f64, predicate: impl Fn(f64) -> bool) -> Boundary {
    let (mut holds, mut fails) = (to_key(ends.holds), to_key(ends.fails));
    let mut probe = to_key(hint).clamp(holds.min(fails), holds.max(fails));
    let mut stride: i64 = 1;
    let mut first_answer = None;
    // Walk away from the hint until the answer changes …
    while holds.abs_diff(fails) > 1 {
        if probe == holds || probe == fails {
            break;
        }
        let answer = predicate(from_key(probe));
        if answer {
            holds = probe;
        } else {
            fails = probe;
        }
        if *first_answer.get_or_insert(answer) != answer {
            break;
        }
        let goal = if answer { fails } else { holds };
        let towards = if goal > probe { 1 } else { -1 };
        probe = if probe.abs_diff(goal) > stride.unsigned_abs() { probe + towards * stride } else { goal };
        stride = stride.saturating_mul(2);
    }
    // … then halve the bracket.
    while holds.abs_diff(fails) > 1 {
        let middle = holds.midpoint(fails);
        if predicate(from_key(middle)) {
            holds = middle;
        } else {
            fails = middle;
        }
    }
    Boundary { holds: from_key(holds), fails: from_key(fails) }
}

/// The root of `f = target` in `[start, end]` for a non-increasing `f` known to have one there, from enclosures of `f`
/// at points: at the lower end `f` was checked to be at least the target, at the upper end at most (or they are the
/// given ends).
pub(crate) fn root_of_decreasing(
    (start, end): (f64, f64),
    hint: f64,
    target: f64,
    f: impl Fn(f64) -> Enclosure,
) -> Enclosure {
    let not_after = boundary(Boundary { holds: start, fails: end }, hint, |x| f(x).lower() >= target);
    let not_before =
        boundary(Boundary { holds: end, fails: start }, not_after.holds, |x| f(x).upper() <= target);
    Enclosure::between(not_after.holds.min(not_before.holds), not_before.holds.max(not_after.holds))
}

/// Newton's iteration inside a bracket: a good hint, without a guarantee.
///
/// `step(x)` is the change Newton's method proposes at `x`.
pub(crate) fn newton_hint((start, end): (f64, f64), guess: f64, step: impl Fn(f64) -> f64) -> f64 {
    let mut x = guess.clamp(start, end);
    for _ in 0..40 {
        let change = step(x);
        if change.is_nan() {
            break;
        }
        let next = (x + change).clamp(start, end);
        let settled = (next - x).abs() <= 4.0 * f64::EPSILON * x.abs();
        x = next;
        if settled {
            break;
        }
    }
    x
}

/// An integer with the same order as the float; neighbouring floats have neighbouring keys.
fn to_key(x: f64) -> i64 {
    let bits = (x + 0.0).to_bits() as i64;
    if bits < 0 { i64::MIN - bits } else { bits }
}

fn from_key(key: i64) -> f64 {
    f64::from_bits(if key < 0 { (i64::MIN - key) as u64 } else { key as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_boundary_is_found_to_the_last_place_from_any_hint() {
        for threshold in [-3.7, -1e-300, 0.1, 2.0, 7e10] {
            for hint in [-1e300, -3.7, 0.0, 0.1, threshold, f64::next_up(threshold), 1e300] {
                let up = boundary(Boundary { holds: f64::MIN, fails: f64::MAX }, hint, |x| x <= threshold);
                assert_eq!(up, Boundary { holds: threshold, fails: threshold.next_up() });
                let down = boundary(Boundary { holds: f64::MAX, fails: f64::MIN }, hint, |x| x >= threshold);
                assert_eq!(down, Boundary { holds: threshold, fails: threshold.next_down() });
            }
        }
    }

    #[test]
    fn halving_keeps_what_was_seen_on_both_sides() {
        for threshold in [0.0, 0.3, 1.0, 6.9] {
            for ends in [Boundary { holds: 0.0, fails: 7.0 }, Boundary { holds: 7.0, fails: 0.0 }] {
                let rises = ends.holds < ends.fails;
                let predicate = |x: f64| (x <= threshold) == rises;
                let halved = ends.halved(20, predicate);
                assert!((halved.holds - halved.fails).abs() == 7.0 * 2f64.powi(-20));
                assert!((halved.middle() - threshold).abs() <= 7.0 * 2f64.powi(-20));
                let close = ends.halved_to(1e-12, predicate);
                assert!((close.holds - threshold).abs() <= 1e-12 * threshold + f64::MIN_POSITIVE);
                assert!(predicate(close.holds) && !predicate(close.fails));
            }
        }
    }

    #[test]
    fn the_partition_point_is_the_first_failure() {
        for first in 3..=9 {
            assert_eq!(partition_point(3..9, |index| index < first), first);
        }
        assert_eq!(partition_point(5..5, |_| true), 5);
    }

    #[test]
    fn a_good_hint_saves_evaluations() {
        let calls = std::cell::Cell::new(0);
        boundary(Boundary { holds: 0.0, fails: 1e9 }, 2.0 + 1e-15, |x| {
            calls.set(calls.get() + 1);
            x * x <= 4.0
        });
        assert!(calls.get() < 12, "{} evaluations", calls.get());
    }
}
