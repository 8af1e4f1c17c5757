//! The law of M = m + Σ U_k·μ_k, for independent uses U_k with probabilities q_k, from above.
//!
//! # Guarantee
//! M is at most h·N in the stochastic order, where N is the integer with the given masses, up to a relative error of
//! each mass, and infinite with the remaining probability. Every rounding raises a value:
//!
//! - consecutive steps that are worth nearly the same count as the one that is worth most;
//! - a worth is raised to the next multiple of h, and when h is doubled, so are odd values of N;
//! - numbers of uses that are very unlikely, and values beyond the last, are infinite.

use crate::Enclosure;
use crate::numeric::rounding::{add_up, div_up};
use crate::numeric::{UNIT_ROUNDOFF, binomial};

/// Masses on the multiples of a unit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Law {
    /// h.
    unit: f64,
    /// The probabilities of 0, h, 2h, …
    masses: Vec<f64>,
    /// The probability of larger values.
    pub beyond: f64,
    /// Every mass is off by at most this share of itself.
    pub error: f64,
}

/// One use of several steps with the same probability, which are worth at most this much each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Uses {
    pub worth: f64,
    pub rate: f64,
    pub steps: u64,
}

/// Steps whose worths differ by at most this share count as equal.
const SIMILAR: f64 = 1.0 / 256.0;
/// The most uses that are expected of steps that are counted together.
const TOGETHER: f64 = 0.25;
/// A worth is at least this many units.
const FINENESS: f64 = 1024.0;
/// The largest number of values that are distinguished.
const MOST: usize = 1 << 15;
/// Values that differ by less than this share are not distinguished in the end.
const CLOSE: f64 = 1.0 / 1024.0;
/// Numbers of uses, and values, that are less likely than this are counted as infinite.
const UNLIKELY: f64 = 1e-34;

/// The uses of steps with these worths, probabilities and numbers of records that take part by themselves, in the order of the worths, joined where they are similar.
pub(super) fn joined(mut steps: Vec<(f64, f64, u64)>) -> Vec<Uses> {
    steps.retain(|(worth, rate, _)| *worth > 0.0 && *rate > 0.0);
    steps.sort_by(|(a, ..), (b, ..)| a.total_cmp(b));
    let mut all: Vec<Uses> = Vec::new();
    let mut least = 0.0;
    for (worth, rate, members) in steps {
        match all.last_mut() {
            Some(last)
                if last.rate == rate
                    && worth <= least * (1.0 + SIMILAR)
                    && (last.steps.saturating_add(members)) as f64 * rate <= TOGETHER.min(1.0 - rate) =>
            {
                *last = Uses { worth, rate, steps: last.steps + members };
            }
            _ => {
                least = worth;
                all.push(Uses { worth, rate, steps: members });
            }
        }
    }
    all
}

impl Law {
    /// The law of a sum; the uses come in the order of their worths.
    pub fn of(uses: &[Uses]) -> Self {
        let mut law = Self { unit: 0.0, masses: vec![1.0], beyond: 0.0, error: 0.0 };
        for uses in uses {
            law.add(uses);
        }
        law
    }

    /// The values plus a constant, and their masses. Large values that are close to each other are raised to the
    /// largest of them.
    pub fn atoms(&self, constant: f64) -> Vec<(f64, f64)> {
        let value =
            |i: usize| if i == 0 { constant } else { add_up((self.unit * i as f64).next_up(), constant) };
        let mut atoms: Vec<(f64, f64)> = Vec::new();
        let mut first = 0;
        for (i, &mass) in self.masses.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
            match atoms.last_mut() {
                Some(last) if (i as f64) <= first as f64 * (1.0 + CLOSE) => *last = (value(i), last.1 + mass),
                _ => {
                    first = i;
                    atoms.push((value(i), mass));
                }
            }
        }
        atoms
    }

    /// The number of values that are distinguished.
    pub fn values(&self) -> usize {
        self.masses.len()
    }

    fn add(&mut self, uses: &Uses) {
        if self.masses.len() == 1 {
            self.unit = div_up(uses.worth, FINENESS);
        }
        while uses.worth > 2.0 * FINENESS * self.unit {
            self.double();
        }
        let taps = self.taps(uses);
        let stride = div_up(uses.worth, self.unit).ceil() as usize;
        let reach = stride.saturating_mul(taps.len() - 1);
        let length = (self.masses.len().saturating_add(reach)).min(MOST);
        let mut next = vec![0.0; length];
        for (tap, &likely) in taps.iter().enumerate() {
            let shift = stride.saturating_mul(tap);
            let fit = self.masses.len().min(length.saturating_sub(shift));
            let (kept, lost) = self.masses.split_at(fit);
            for (sum, mass) in next[length.min(shift)..].iter_mut().zip(kept) {
                *sum += mass * likely;
            }
            self.beyond = add_up(self.beyond, lost.iter().sum::<f64>() * likely * (1.0 + 1e-9));
        }
        // Each mass is a sum of at most as many products as there are taps. What underflows is infinite.
        self.error += 2.0 * UNIT_ROUNDOFF * (taps.len() + 1) as f64;
        self.beyond = add_up(self.beyond, 1e-290);
        self.masses = next;
        self.trim();
        while self.masses.len() > MOST / 2 {
            self.double();
        }
    }

    /// The probabilities of 0, 1, 2, … uses; what is left of them is added to the infinite values.
    fn taps(&mut self, uses: &Uses) -> Vec<f64> {
        let rate = Enclosure::from(uses.rate);
        let other = Enclosure::ONE - rate;
        if uses.rate >= 1.0 {
            // Certain uses are joined with no others, so these are the members of one step, which are few.
            return [vec![0.0; uses.steps as usize], vec![1.0]].concat();
        }
        let mean = uses.rate * uses.steps as f64;
        let (mut taps, mut widest) = (Vec::new(), 0.0_f64);
        for number in 0..=uses.steps {
            let likely = binomial::mass(uses.steps, number, rate, other);
            if number as f64 > mean && likely.upper() < UNLIKELY {
                let rest = binomial::at_least(uses.steps, number, rate);
                self.beyond = add_up(self.beyond, rest.upper());
                break;
            }
            widest = widest.max(likely.relative_width());
            taps.push(likely.upper());
        }
        self.error += widest;
        taps
    }

    /// Counts the largest values as infinite if together they are very unlikely.
    fn trim(&mut self) {
        let mut unlikely = 0.0;
        while let Some(&last) = self.masses.last()
            && self.masses.len() > 1
            && unlikely + last < UNLIKELY
        {
            unlikely += last;
            self.masses.pop();
        }
        self.beyond = add_up(self.beyond, unlikely * (1.0 + 1e-9));
    }

    /// Doubles the unit.
    fn double(&mut self) {
        self.unit *= 2.0;
        let length = self.masses.len() / 2 + 1;
        let mut masses = vec![0.0; length];
        for (i, mass) in self.masses.iter().enumerate() {
            masses[i.div_ceil(2)] += mass;
        }
        self.error += UNIT_ROUNDOFF;
        self.masses = masses;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The law of a sum by enumeration, as (value, probability).
    fn enumerated(steps: &[(f64, f64)]) -> Vec<(f64, f64)> {
        let mut all = vec![(0.0, 1.0)];
        for &(worth, rate) in steps {
            let used = all.iter().map(|&(value, mass)| (value + worth, mass * rate)).collect::<Vec<_>>();
            all = all.iter().map(|&(value, mass)| (value, mass * (1.0 - rate))).chain(used).collect();
        }
        all
    }

    fn at_least(threshold: f64, law: &[(f64, f64)]) -> f64 {
        law.iter().filter(|(value, _)| *value >= threshold).map(|(_, mass)| mass).sum()
    }

    #[test]
    fn the_law_is_above_the_enumerated_one_and_not_by_much() {
        for (c, rate) in [(1.0_f64, 0.3), (0.9, 0.05), (0.3, 0.7), (0.999, 0.5), (0.6, 1.0)] {
            let mut sum = 0.0;
            let worth = |k: i32| {
                sum += c.powi(-2 * k);
                (1.7 / f64::sqrt(sum), rate)
            };
            let steps: Vec<(f64, f64)> = (0..14).map(worth).collect();
            let exact = enumerated(&steps);
            let law = Law::of(&joined(steps.iter().map(|&(worth, rate)| (worth, rate, 1)).collect()));
            let atoms = law.atoms(0.0);
            let mean = |law: &[(f64, f64)]| law.iter().map(|(value, mass)| value * mass).sum::<f64>();
            for &(value, _) in exact.iter().step_by(97) {
                let threshold = value * (1.0 - 1e-12);
                let (bound, truth) = (at_least(threshold, &atoms) + law.beyond, at_least(threshold, &exact));
                assert!(
                    bound * (1.0 + law.error) + 1e-12 >= truth,
                    "{c}, {rate}: {bound} < {truth} at {value}"
                );
            }
            assert!(mean(&atoms) <= 1.004 * mean(&exact), "{c}, {rate}");
            assert!(law.error < 1e-10 && law.beyond < 1e-28, "{c}, {rate}: {law:?}");
        }
    }

    #[test]
    fn members_that_take_part_by_themselves_are_as_many_uses() {
        for (members, rate) in [(3_u64, 0.02), (2, 0.4), (5, 1.0), (4, 0.9)] {
            let steps = [1.3, 0.7, 0.2].map(|worth| (worth, rate, members)).to_vec();
            let one_by_one = steps.iter().flat_map(|&(worth, rate, _)| vec![(worth, rate); members as usize]);
            let exact = enumerated(&one_by_one.collect::<Vec<_>>());
            let law = Law::of(&joined(steps));
            let atoms = law.atoms(0.0);
            let mean = |law: &[(f64, f64)]| law.iter().map(|(value, mass)| value * mass).sum::<f64>();
            for &(value, _) in exact.iter().step_by(7) {
                let threshold = value * (1.0 - 1e-12);
                let (bound, truth) = (at_least(threshold, &atoms) + law.beyond, at_least(threshold, &exact));
                assert!(bound * (1.0 + law.error) + 1e-12 >= truth, "{members}, {rate}: {bound} < {truth}");
            }
            assert!(mean(&atoms) <= 1.004 * mean(&exact), "{members}, {rate}");
        }
    }
}
