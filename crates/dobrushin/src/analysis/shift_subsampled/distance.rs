//! The law of the distance between two neighbours' iterates that share their noise and batches.
//!
//! The distance is at most z, where z ← c·z in steps without the record and z ← min(D, c·z + d) in steps with it, which
//! have probability p. Starting at 0, the law of z increases with the number of steps, in the stochastic order;
//! starting at any upper bound of z, it decreases towards the same limit. So z after any number of steps is
//! stochastically below the result of starting at the largest distance and taking some number of steps.
//!
//! # Guarantee
//! For every increasing f ≥ 0, E f(z) ≤ Σ mass·f(distance) over the atoms. Each rounding raises a distance
//! or a mass:
//!
//! - M steps are taken at once, with all uses in the last of them: z ← c^M·z + d·Bin(M, p);
//! - distances are raised to the next of finitely many, in a geometric progression, so that without a use the next
//!   distance is again one of them and nothing is raised;
//! - more uses than are counted lead to the largest distance;
//! - the rounding of masses is added at the end.

use super::setting::moved;
use crate::chain::Count;
use crate::numeric::rounding::{mul_down, mul_up};
use crate::{Enclosure, Probability};

/// A distance and a bound on its probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Atom {
    pub distance: f64,
    pub mass: f64,
}

/// Steps of the contraction z ← min(most, slope·z + displacement·Bernoulli(rate)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Contraction {
    pub slope: f64,
    pub displacement: f64,
    pub rate: Probability,
    /// The largest possible distance.
    pub most: f64,
}

/// Steps are taken together until distances shrink by about this share …
const BLOCK: f64 = 1.0 / 64.0;
/// … and distances are distinguished by at least this share of it if every block uses the record.
const FINEST: f64 = 1.0 / 16.0;
/// Steps are added until what remains of the largest distance is e to the power of minus this, times the mean.
const SETTLED: f64 = 5.5;
/// Numbers of uses in a block that are less likely than this count as the largest distance.
const UNLIKELY: f64 = 1e-30;
/// More simultaneous uses are not distinguished.
const MOST_USES: usize = 20_000;
/// The largest number of distinguished distances.
const MOST_DISTANCES: f64 = 20_000.0;

impl Contraction {
    /// The law after this many steps from 0, or fewer.
    pub fn law(&self, steps: Count) -> Vec<Atom> {
        let certain = vec![Atom { distance: self.most, mass: 1.0 }];
        if self.most == 0.0 || steps == Count::Times(0) {
            return vec![Atom { distance: 0.0, mass: 1.0 }];
        }
        if !self.most.is_finite() || self.slope <= 0.0 || self.slope > 1.0 {
            return certain;
        }
        let law = match steps {
            Count::Times(times) if times as f64 * -libm::log(self.slope) <= BLOCK => self.sum(times),
            Count::Any if self.slope == 1.0 => None,
            _ => self.settled(steps),
        };
        law.unwrap_or(certain)
    }

    /// The law without contraction: d·Bin(n, p).
    fn sum(&self, steps: u64) -> Option<Vec<Atom>> {
        let counted = (self.most / self.displacement).ceil();
        let uses = uses(steps, self.rate, counted as usize)?;
        let last = uses.len();
        let atom = |(j, mass): (usize, f64)| {
            let distance = mul_up(self.displacement, j as f64).min(self.most);
            Atom { distance: if j + 1 == last { self.most } else { distance }, mass }
        };
        Some(gathered(uses.into_iter().enumerate().map(atom).collect(), TOGETHER))
    }

    fn settled(&self, steps: Count) -> Option<Vec<Atom>> {
        let shrink = -libm::log(self.slope);
        // The number of steps taken at once, and the factor by which distances shrink in them.
        let together = (BLOCK / shrink).floor().max(1.0) as u64;
        let together = match steps {
            Count::Times(times) => times.div_ceil(times.div_ceil(together)),
            Count::Any => together,
        };
        let shrink = shrink * together as f64;
        // The more often distances are raised, the finer they are distinguished.
        let often = (together as f64 * self.rate.get()).min(1.0);
        let per_block = (shrink / BLOCK).max(often / FINEST).ceil();
        let ratio = shrink / per_block;
        // Around the mean nothing is lost; far below it nothing needs to be distinguished.
        let remembered = self.rate.get() * (1.0 / (1.0 - self.slope)).min(steps.number().upper());
        let typical = (remembered * self.displacement).min(self.most);
        let least = typical * libm::exp(-7.0 / (1.0 + remembered / 8.0));
        let cells = (libm::log(self.most / least) / ratio).ceil() + 1.0;
        if cells.is_nan() || cells > MOST_DISTANCES {
            return None;
        }
        // The grid shrinks slightly more slowly than the distances, so that shrunk ones are certainly below the next.
        let distance = |i: usize| self.most * libm::exp(-(ratio * (1.0 - 1e-9)) * i as f64);
        let mut distances: Vec<f64> = (0..cells as usize).map(distance).collect();
        distances.push(0.0);
        distances[0] = self.most;
        // Starts at the largest distance, and goes on until a small share of the mean remains of it.
        let settled = ((libm::log(self.most / typical) + SETTLED) / shrink).ceil() as u64;
        let (blocks, start) = match steps {
            Count::Times(times) if times.div_ceil(together) <= settled => {
                (times.div_ceil(together), distances.len() - 1)
            }
            _ => (settled, 0),
        };
        let uses = uses(together, self.rate, 400)?;
        let kept = Count::Times(together).power(Enclosure::from(self.slope)).upper();
        let place = |from: f64, used: usize| {
            let raised = moved(kept, from, mul_up(self.displacement, used as f64)).min(self.most);
            distances.partition_point(|&distance| distance >= raised) - 1
        };
        let places: Vec<Vec<usize>> = (0..uses.len() - 1)
            .map(|used| distances.iter().map(|&from| place(from, used)).collect())
            .collect();
        let mut masses = vec![0.0; distances.len()];
        masses[start] = 1.0;
        for _ in 0..blocks {
            let mut next = vec![0.0; distances.len()];
            for (from, &mass) in masses.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
                for (places, likely) in places.iter().zip(&uses) {
                    next[places[from]] += mass * likely;
                }
            }
            next[0] += uses[uses.len() - 1];
            // Any underflow is negligible compared with this.
            next[0] += 1e-280;
            masses = next;
        }
        // In each block a mass is multiplied once and is one of at most this many terms of a sum.
        let terms = (distances.len() * uses.len() + 4) as f64;
        let rounding = 1.0 + 2.0 * f64::EPSILON * terms * blocks as f64;
        let atoms = distances.iter().zip(&masses).rev();
        Some(gathered(
            atoms.map(|(&distance, &mass)| Atom { distance, mass: mass * rounding }).collect(),
            TOGETHER,
        ))
    }
}

/// Bounds on the probabilities of 0, 1, 2, … uses in this many steps, the last for all larger numbers together; `None`
/// if there are too many.
fn uses(steps: u64, rate: Probability, most: usize) -> Option<Vec<f64>> {
    let (p, n) = (Enclosure::from(rate), Enclosure::from(steps));
    let rest = Enclosure::ONE - p;
    if rest.lower() <= 0.0 {
        return None;
    }
    let mean = n.upper() * rate.get();
    let most = most.min(MOST_USES).min(usize::try_from(steps).unwrap_or(MOST_USES));
    // ln P(j) = ln P(0) + Σ ln((n − i)/(i + 1)·p/(1 − p)).
    let mut ln_likely = n * (-p).ln_1p();
    let odds = (p / rest).ln();
    let (mut likely, mut counted) = (Vec::new(), Enclosure::ZERO);
    for j in 0..=most {
        likely.push(ln_likely.exp().upper());
        counted = counted + ln_likely.exp();
        let (j, left) = (j as f64, n - Enclosure::from(j as f64));
        if j > mean && ln_likely.upper() < libm::log(UNLIKELY) {
            break;
        }
        ln_likely = ln_likely + (left.positive_part() / Enclosure::from(j + 1.0)).ln() + odds;
    }
    // P(≥ j) ≤ P(j)/(1 − P(j + 1)/P(j)) where the ratios fall and are below 1; and it is also the remaining
    // probability.
    let next = likely.len() as f64;
    let next_ratio = (n - Enclosure::from(next)).positive_part() / Enclosure::from(next + 1.0) * p / rest;
    let tail = if next > n.upper() {
        Enclosure::ZERO
    } else if next_ratio.upper() < 1.0 {
        ln_likely.exp() / (Enclosure::ONE - next_ratio)
    } else {
        Enclosure::ONE
    };
    likely.push(tail.min(Enclosure::ONE - counted).upper().clamp(0.0, 1.0));
    Some(likely)
}

/// The largest ratio of several distances that are counted as one.
const TOGETHER: f64 = 1.0 + 1.0 / 64.0;

/// Fewer atoms: atoms close to each other are raised to the largest of them. The atoms come in increasing order.
pub(super) fn gathered(atoms: Vec<Atom>, together: f64) -> Vec<Atom> {
    let mut groups: Vec<Atom> = Vec::new();
    let mut first = 0.0;
    for atom in atoms.into_iter().filter(|atom| atom.mass > 0.0) {
        match groups.last_mut() {
            Some(group) if atom.distance <= mul_down(first, together) => {
                *group = Atom { distance: atom.distance, mass: moved(1.0, group.mass, atom.mass) };
            }
            _ => {
                first = atom.distance;
                groups.push(atom);
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every value of the distance after this many steps, with its probability.
    fn exact(of: Contraction, steps: u64) -> Vec<(f64, f64)> {
        let p = of.rate.get();
        let mut all = vec![(0.0, 1.0)];
        for _ in 0..steps {
            let used = |&(z, mass): &(f64, f64)| ((of.slope * z + of.displacement).min(of.most), mass * p);
            let unused = |&(z, mass): &(f64, f64)| (of.slope * z, mass * (1.0 - p));
            all = all.iter().map(used).chain(all.iter().map(unused)).collect();
        }
        all
    }

    fn above(threshold: f64, law: impl Iterator<Item = (f64, f64)>) -> f64 {
        law.filter(|(distance, _)| *distance >= threshold).map(|(_, mass)| mass).sum()
    }

    fn cases() -> Vec<Contraction> {
        let mut cases = Vec::new();
        for slope in [0.2, 0.7, 0.95, 0.999, 1.0] {
            for (rate, most) in [(0.02, 1e3), (0.3, 1e3), (0.9, 2.5), (0.5, 0.7)] {
                let rate = Probability::new(rate).expect("valid");
                let reach: f64 = if slope < 1.0 { 1.3 / (1.0 - slope) } else { 1e3 };
                let most = reach.min(most) * (1.0 + 1e-12);
                cases.push(Contraction { slope, displacement: 1.3, rate, most });
            }
        }
        cases
    }

    #[test]
    fn the_law_is_above_the_exact_one_in_the_stochastic_order_and_not_by_much() {
        for of in cases() {
            for steps in [1, 2, 5, 12] {
                let exact = exact(of, steps);
                let mean = |law: &[(f64, f64)]| law.iter().map(|(z, mass)| z * mass).sum::<f64>();
                for (count, close) in [(Count::Times(steps), true), (Count::Any, false)] {
                    let law: Vec<_> = of.law(count).iter().map(|a| (a.distance, a.mass)).collect();
                    for &(threshold, _) in exact.iter().step_by(7) {
                        let threshold = threshold * (1.0 - 1e-12);
                        let (bound, truth) =
                            (above(threshold, law.iter().copied()), above(threshold, exact.iter().copied()));
                        assert!(bound >= truth * (1.0 - 1e-9), "{of:?}, {count:?}: {bound} < {truth}");
                    }
                    assert!(!close || mean(&law) <= 1.1 * mean(&exact) + 1e-6, "{of:?}, {count:?}");
                }
            }
        }
    }

    #[test]
    fn the_limit_has_nearly_the_right_mean() {
        for (slope, rate) in [(0.99, 0.01), (0.999, 0.5), (0.9999, 1e-3), (0.5, 0.2), (0.99, 1e-4)] {
            let rate = Probability::new(rate).expect("valid");
            let of = Contraction { slope, displacement: 0.1, rate, most: 0.1 / (1.0 - slope) };
            let law = of.law(Count::Any);
            let mean: f64 = law.iter().map(|atom| atom.distance * atom.mass).sum();
            let exact = rate.get() * of.most;
            assert!(mean >= exact && mean < 1.08 * exact, "{slope}, {rate:?}: {mean} against {exact}");
            assert!(law.iter().all(|atom| atom.distance <= of.most));
        }
    }

    #[test]
    fn numbers_of_uses_are_likely_as_they_should_be() {
        for (steps, rate) in [(1, 0.3), (7, 0.5), (60, 0.02), (1000, 0.2), (50_000, 1e-4)] {
            let uses = uses(steps, Probability::new(rate).expect("valid"), 5000).expect("few");
            let total: f64 = uses.iter().sum();
            assert!((1.0..1.0 + 1e-9).contains(&(total + 1e-12)), "{steps} {rate}: {total}");
            let mean: f64 = uses.iter().enumerate().map(|(j, mass)| j as f64 * mass).sum();
            assert!((mean / (steps as f64 * rate) - 1.0).abs() < 1e-9, "{steps} {rate}: {mean}");
        }
        // The last entry contains what is not counted.
        let cut = uses(10, Probability::new(0.5).expect("valid"), 3).expect("few");
        let counted: f64 = cut[..4].iter().sum();
        assert_eq!(cut.len(), 5);
        assert!(counted + cut[4] >= 1.0 - 1e-12);
    }
}
