//! What half-lines tell about two mixtures of Gaussians.
//!
//! In a linear instance the released number is M + N with D and −M′ + N, or N, with D′: N is Gaussian, and M ≥ 0 is the
//! sum of what the record added, with M′ distributed like M. The density ratio of the two is monotone if all bells have
//! the same width, so that no event tells more than the best half-line.

use super::Instance;
use super::densities::{self, Densities};
use super::uses::SumLaw;
use dobrushin::numeric::normal;
use dobrushin::profile::{Direction, PrivacyProfile};
use dobrushin::{Delta, Enclosure, Epsilon};
use std::sync::Arc;

/// A Gaussian: its probability, its mean in D, and its standard deviation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bell {
    pub mass: f64,
    pub mean: f64,
    pub width: Enclosure,
}

/// Two mixtures of Gaussians, in which the means of D are all ≥ 0, and those of D′ their opposites, or 0.
///
/// # Guarantee
/// For every ε, the lower end of δ(ε) is at most E_{e^ε} of two neighbours' releases, and both ends enclose what the
/// half-line that was found tells: P(A) − e^ε·Q(A).
#[derive(Clone, Debug)]
pub(super) struct Bells {
    /// No mean is above the true one.
    lower: Vec<Bell>,
    /// No mean is below the true one.
    upper: Vec<Bell>,
    /// Whether the means of D′ are opposite to those of D; otherwise they are 0.
    opposite: bool,
    /// The probability, with either data set, of what the bells do not describe.
    slack: f64,
    /// The relative error of every mass.
    error: f64,
}

impl Bells {
    /// The sum of what a record adds, with noise of this width.
    pub fn new(law: &SumLaw, width: Enclosure, opposite: bool) -> Self {
        let bells = |atoms: &[(f64, f64)]| -> Vec<Bell> {
            atoms.iter().map(|&(mean, mass)| Bell { mass, mean, width }).collect()
        };
        let (lower, upper) = (bells(&law.lower), bells(&law.upper));
        Self { lower, upper, opposite, slack: law.lost, error: law.error }
    }

    /// One of several, each with its probability. There must be at least one, and all must be of the same kind.
    pub fn mixture(parts: Vec<(f64, Self)>) -> Option<Self> {
        let opposite = parts.first()?.1.opposite;
        let mut mixed = Self { lower: vec![], upper: vec![], opposite, slack: 0.0, error: 0.0 };
        for (share, part) in parts {
            let scaled = |bell: &Bell| Bell { mass: share * bell.mass, ..*bell };
            mixed.lower.extend(part.lower.iter().map(scaled));
            mixed.upper.extend(part.upper.iter().map(scaled));
            mixed.slack += share * part.slack * (1.0 + 1e-9);
            mixed.error = mixed.error.max(part.error + 4.0 * f64::EPSILON);
        }
        Some(mixed)
    }

    /// The same, except with this probability.
    pub fn except(mut self, probability: f64) -> Self {
        self.slack = (self.slack + probability) * (1.0 + 1e-9);
        self
    }

    /// The same with another Gaussian number of width 1 whose mean D and D′ move `apart`, seen together with the first
    /// as the sum of both, weighted by what each tells.
    pub fn beside(self, apart: f64) -> Self {
        // What is seen must not depend on which of the bells it is, so all are counted in one width.
        let Some(scale) = self.lower.iter().map(|bell| bell.width.midpoint()).reduce(f64::max) else {
            return self;
        };
        let largest = self.lower.iter().map(|bell| bell.mean / scale).fold(0.0, f64::max);
        let sides = if self.opposite { 2.0 } else { 1.0 };
        let norm = (sides * sides * largest * largest + apart * apart).sqrt();
        let (own, other) = (sides * largest / norm, apart / norm);
        let seen = |bell: &Bell| {
            let factor = Enclosure::from(own) / Enclosure::from(scale);
            let mean = (Enclosure::from(bell.mean) * factor).midpoint() + other * apart / sides;
            let width = ((bell.width * factor).square() + Enclosure::from(other).square()).sqrt();
            Bell {
                mass: bell.mass,
                mean,
                width: Enclosure::around(width.midpoint(), 1e-12 + width.relative_width()),
            }
        };
        let lower = self.lower.iter().map(seen).map(|b| Bell { mean: b.mean * (1.0 - 1e-11), ..b }).collect();
        let upper = self.upper.iter().map(seen).map(|b| Bell { mean: b.mean * (1.0 + 1e-11), ..b }).collect();
        Self { lower, upper, ..self }
    }

    /// The probabilities with D and with D′ of {x > `from`}, or of {x < `from`}.
    fn half_line(&self, from: f64, above: bool) -> [Enclosure; 2] {
        let sign = if above { 1.0 } else { -1.0 };
        let of = |bells: &[Bell], mean: &dyn Fn(f64) -> f64| -> (f64, f64) {
            bells.iter().fold((0.0, 0.0), |(least, most), bell| {
                let z = Enclosure::from(sign * (from - mean(bell.mean))) / bell.width;
                // The tail falls in z.
                let (low, high) = (normal::tail(z.upper()).lower(), normal::tail(z.lower()).upper());
                (least + bell.mass * low, most + bell.mass * high)
            })
        };
        let own = |mean: f64| mean;
        let other = |mean: f64| if self.opposite { -mean } else { 0.0 };
        let rounding = 1.0 + self.error + 4.0 * f64::EPSILON * self.lower.len().max(self.upper.len()) as f64;
        let ends = |low: f64, high: f64| {
            let (low, high) = (low / rounding - self.slack, high * rounding + self.slack);
            Enclosure::between(low.clamp(0.0, 1.0), high.clamp(low.clamp(0.0, 1.0), 1.0))
        };
        // Larger means have a larger upper tail.
        let (small, large) = if above { (&self.lower, &self.upper) } else { (&self.upper, &self.lower) };
        let first = ends(of(small, &own).0, of(large, &own).1);
        let second = ends(of(large, &other).0, of(small, &other).1);
        [first, second]
    }

    /// The half-line at which some value of the two probabilities is largest, and that value.
    fn best(&self, direction: Direction, value: impl Fn(Enclosure, Enclosure) -> f64) -> [Enclosure; 2] {
        let above = direction == Direction::Forward;
        let in_order =
            |[first, second]: [Enclosure; 2]| if above { [first, second] } else { [second, first] };
        // Any half-line will do, so it is looked for with a few bells that stand for all.
        let few = few(&self.lower);
        let height = |from: f64| {
            let [p, q] = in_order(self.roughly(&few, from, above).map(Enclosure::from));
            let value = value(p, q);
            if value.is_nan() { f64::NEG_INFINITY } else { value }
        };
        let width = self.upper.iter().map(|bell| bell.width.upper()).fold(0.0, f64::max);
        let mean = self.upper.iter().map(|bell| bell.mean).fold(0.0, f64::max);
        let (from, to) = (if self.opposite { -mean } else { 0.0 } - REACH * width, mean + REACH * width);
        let point = |i: f64| from + (to - from) * i / POINTS as f64;
        let best =
            (0..=POINTS).map(|i| i as f64).max_by(|a, b| height(point(*a)).total_cmp(&height(point(*b))));
        let (mut left, mut right) = (point(best.unwrap_or(0.0) - 1.0), point(best.unwrap_or(0.0) + 1.0));
        for _ in 0..NARROWINGS {
            let (a, b) = (left + (right - left) / 3.0, right - (right - left) / 3.0);
            if height(a) < height(b) { left = a } else { right = b }
        }
        in_order(self.half_line(left.midpoint(right), above))
    }

    /// About the probabilities with D and with D′ of {x > `from`}, or of {x < `from`}.
    fn roughly(&self, few: &[(f64, f64, f64)], from: f64, above: bool) -> [f64; 2] {
        let sign = if above { 1.0 } else { -1.0 };
        let tail = |mean: f64, width: f64| normal::tail(sign * (from - mean) / width).midpoint();
        few.iter().fold([0.0; 2], |[with, without], &(mass, mean, width)| {
            let other = if self.opposite { -mean } else { 0.0 };
            [with + mass * tail(mean, width), without + mass * tail(other, width)]
        })
    }
}

/// At most this many bells are looked at in a search.
const FEW: usize = 96;

/// Bells that stand for neighbouring ones: their masses, means and widths.
fn few(bells: &[Bell]) -> Vec<(f64, f64, f64)> {
    let group = bells.len().div_ceil(FEW).max(1);
    let joined = bells.chunks(group).map(|group| {
        let mass: f64 = group.iter().map(|bell| bell.mass).sum();
        let mean = group.iter().map(|bell| bell.mass * bell.mean).sum::<f64>() / mass.max(f64::MIN_POSITIVE);
        let width = group.iter().map(|bell| bell.mass * bell.width.midpoint()).sum::<f64>();
        (mass, mean, width / mass.max(f64::MIN_POSITIVE))
    });
    joined.filter(|(mass, _, _)| *mass > 0.0).collect()
}

impl Bells {
    /// The instance with these laws.
    pub fn instance(self, words: String) -> Instance {
        let bells = Arc::new(self);
        Instance { profile: bells.clone(), words, densities: Some(bells) }
    }
}

impl Densities for Bells {
    fn range(&self) -> (f64, f64) {
        let width = self.lower.iter().map(|bell| bell.width.upper()).fold(0.0, f64::max);
        // Means that hardly ever occur are left out.
        let likely = self.lower.iter().filter(|bell| bell.mass > 1e-12);
        let mean = likely.map(|bell| bell.mean).fold(0.0, f64::max);
        (if self.opposite { -mean } else { 0.0 } - 8.0 * width, mean + 8.0 * width)
    }

    fn at(&self, x: f64) -> [f64; 2] {
        let other = |mean: f64| if self.opposite { -mean } else { 0.0 };
        self.lower.iter().fold([0.0; 2], |[with, without], one| {
            let width = one.width.midpoint();
            [
                with + one.mass * densities::bell(x - one.mean, width),
                without + one.mass * densities::bell(x - other(one.mean), width),
            ]
        })
    }
}

/// Half-lines are looked for this many widths beyond all means.
const REACH: f64 = 12.0;
/// The number of half-lines that are tried first, and how often the best third is then chosen.
const POINTS: usize = 96;
const NARROWINGS: usize = 16;

impl PrivacyProfile for Bells {
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        let gamma = Enclosure::from(epsilon).exp();
        let stick = |p: Enclosure, q: Enclosure| p - gamma * q;
        let [p, q] = self.best(direction, |p, q| stick(p, q).lower());
        stick(p, q).positive_part()
    }

    fn is_symmetric(&self) -> bool {
        self.opposite
    }

    /// What is told at ε is P(A) − e^ε·Q(A) > δ for every ε below ln((P(A) − δ)/Q(A)).
    fn epsilon_of(&self, direction: Direction, delta: Delta) -> Enclosure {
        let known = |p: Enclosure, q: Enclosure| (p - Enclosure::from(delta)).positive_part() / q;
        let [p, q] = self.best(direction, |p, q| known(p, q).lower());
        let ratio = known(p, q);
        // Nothing is known below 1, and an event that only D can produce tells everything.
        let end = |ratio: f64| if ratio > 1.0 { Enclosure::from(ratio).ln() } else { Enclosure::ZERO };
        Enclosure::between(end(ratio.lower()).lower().max(0.0), end(ratio.upper()).upper().max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::super::uses::{Atom, Use, sum_law};
    use super::*;
    use dobrushin::NonNegative;
    use dobrushin::numeric::theta;

    fn bells(amount: f64, probability: f64, count: u64, opposite: bool) -> Bells {
        let law = sum_law(&[Use { atoms: vec![Atom::new(amount, probability)], count }]).expect("small");
        Bells::new(&law, Enclosure::ONE, opposite)
    }

    #[test]
    fn a_single_bell_is_the_gaussian_mechanism() {
        for mean in [0.1, 1.0, 3.0] {
            let exact = |r: f64| {
                theta::smallest_epsilon(NonNegative::new(r).expect("r"), Delta::new(1e-6).expect("δ"))
            };
            for (opposite, apart) in [(false, mean), (true, 2.0 * mean)] {
                let found = bells(mean, 1.0, 1, opposite).epsilon(Delta::new(1e-6).expect("δ"));
                let known = exact(apart);
                assert!(found.lower() <= known.upper() && found.lower() > known.lower() * (1.0 - 1e-6));
            }
        }
    }

    #[test]
    fn floors_of_poisson_runs_are_those_of_the_proof() {
        // A record that is drawn with probability 1/100 in each step, and then moves the iterate by the noise.
        for (steps, known) in [(1000_u64, 1.27776), (10_000, 4.47572)] {
            let law = sum_law(&[Use { atoms: vec![Atom::new(1.0, 0.01)], count: steps }]).expect("small");
            let bells = Bells::new(&law, Enclosure::from(steps).sqrt(), false);
            let found = bells.epsilon(Delta::new(1e-5).expect("δ"));
            assert!((found.lower() - known).abs() < 1e-5 && found.width() < 1e-6, "{found:?}");
        }
    }

    #[test]
    fn no_half_line_tells_more_than_composition() {
        // One draw: the pair of the Poisson-subsampled Gaussian, whose profile is known.
        let one = bells(1.0, 0.2, 1, false);
        for epsilon in [0.0, 0.1, 0.5, 1.0] {
            let gamma = f64::exp(epsilon);
            let inner = 1.0 + (gamma - 1.0) / 0.2;
            let forward = 0.2
                * theta::theta(Epsilon::new(inner.ln()).expect("ε"), NonNegative::new(1.0).expect("r"))
                    .upper();
            let found = one.delta_of(Direction::Forward, Epsilon::new(epsilon).expect("ε"));
            assert!(found.lower() <= forward * (1.0 + 1e-12) && found.upper() > forward * (1.0 - 1e-6));
        }
    }

    #[test]
    fn a_second_number_adds_what_it_tells() {
        let both = bells(1.0, 1.0, 1, false).beside(2.0).epsilon(Delta::new(1e-5).expect("δ"));
        let known =
            theta::smallest_epsilon(NonNegative::new(5_f64.sqrt()).expect("r"), Delta::new(1e-5).expect("δ"));
        assert!(both.lower() <= known.upper() && both.lower() > known.lower() * (1.0 - 1e-6));
        let both = bells(0.5, 1.0, 1, true).beside(2.0).epsilon(Delta::new(1e-5).expect("δ"));
        assert!(both.lower() <= known.upper() && both.lower() > known.lower() * (1.0 - 1e-6));
    }
}
