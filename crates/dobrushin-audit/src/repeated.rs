//! Many equal steps of a chain.
//!
//! After a step with Gaussian noise, the places from which mass moves on depend on the interval and on the next step alone.
//! So if a step is repeated, the masses at these places are multiplied by one matrix of positive numbers for each
//! law, which is computed once.
//!
//! # Guarantee
//! Each multiplication is one step of `transition.rs`, with the same error, and so the errors add. If there are more
//! steps than are needed to forget where they started, only the last K need to be made. Two runs of K equal steps on the
//! same data that start anywhere in the interval are at most
//!
//! ```text
//! min{ η^K, θ₀(z_K/s) },   η = θ₀(R/s),   z₀ = length, z_{k+1} = c·z_k + j
//! ```
//!
//! apart in variation, where R is the diameter of the maps' images, c their largest slope and j the sum of their jumps: by the
//! two-point formula, and because runs with the same noise and coins come closer. Twice that is added to the error.

use crate::mixture::{CHUNK, Mixture, UNIT};
use crate::step::{Noise, Step};
use crate::transition::{Place, Places};
use crate::{Error, Interval};

/// What may be forgotten: steps before this much of a difference are left out.
const FORGOTTEN: f64 = 1e-16;

/// The same for maps that jump by a rounding.
const ROUNDED: f64 = 1e-11;

/// At most this many equal steps are made.
const MOST_STEPS: u64 = 1 << 20;

/// At most this many places: the matrices of both laws then have 64 MB.
const MOST_PLACES: usize = 2000;

impl Mixture {
    /// The mixture after this many equal steps, the first of which has a number.
    pub(crate) fn advance_by(
        self,
        interval: Interval,
        step: &Step,
        number: usize,
        count: u64,
    ) -> Result<Self, Error> {
        if count == 0 {
            return Ok(self);
        }
        let first = self.advance(interval, step, number)?;
        if count == 1 {
            return Ok(first);
        }
        if count > MOST_STEPS {
            return Err(Error::TooLong { step: number, steps: count, most: MOST_STEPS });
        }
        let places = Places::new(&first, interval, step, number, |_| true)?;
        let size = places.all.len();
        if size > MOST_PLACES {
            return Err(Error::TooFine { step: number, nodes: size, most: MOST_PLACES });
        }
        let matrices = matrices(&first, &places);
        let mut masses = places.masses(&first);
        let mut law = places.carry(&first, &masses);
        // The rounding errors of a product are those of a sum over all places, whose summands are off by some more units.
        let rounding = (CHUNK as f64 + size as f64 / LANES as f64 + 24.0) * UNIT;
        let each = places.error_of(&law, places.displacement()) + rounding;
        let mut clamped = law.clamped;
        let mut vectors = [0, 1].map(|law| masses.iter().map(|masses| masses[law]).collect::<Vec<f64>>());
        let mut next = vec![0.0; size];
        for _ in 2..count {
            for (matrix, vector) in matrices.iter().zip(&mut vectors) {
                for (row, mass) in matrix.iter().zip(&mut next) {
                    *mass = row.times(vector);
                }
                std::mem::swap(&mut next, vector);
            }
            clamped += vectors.iter().map(|vector| vector[0] + vector[1]).fold(0.0, f64::max);
        }
        masses
            .iter_mut()
            .enumerate()
            .for_each(|(place, masses)| *masses = [vectors[0][place], vectors[1][place]]);
        let (error, made) = (law.error, law.made);
        law = places.carry(&law, &masses);
        law.error = (error + (count - 2) as f64 * each) * (1.0 + 1e-9);
        (law.clamped, law.made) = (clamped, made + (count - 2));
        Ok(law)
    }

    /// As few of the equal steps after this law as are needed, and an error for the others.
    pub(crate) fn advance_by_enough(
        self,
        interval: Interval,
        step: &Step,
        number: usize,
        count: u64,
    ) -> Result<Self, Error> {
        let (needed, forgotten) = needed(interval, step, count);
        let mut law = self.advance_by(interval, step, number, needed)?;
        law.error += forgotten;
        Ok(law)
    }
}

/// How many of the equal steps are needed, and what the others may change, in L¹.
fn needed(interval: Interval, step: &Step, count: u64) -> (u64, f64) {
    let Noise::Gaussian(noise) = step.noise else {
        return (count, 0.0);
    };
    // The variation between normal laws: 2Φ(z/2) − 1 ≤ z/√(2π).
    let apart = |distance: f64| (0.4 * distance / noise).min(1.0);
    let mut image = Mixture::empty(step.noise);
    let ends = [interval.lower(), interval.upper()];
    for (map, chances) in step.active() {
        for x in ends.into_iter().chain(map.breaks().iter().copied().filter(|&x| interval.contains(x))) {
            image.cover(&[(map.piece(x), chances), (map.piece_before(x), chances)], x, x);
        }
    }
    let image = image.reach[1] - image.reach[0];
    let beyond = dobrushin::numeric::normal::tail(0.5 * image / noise).lower();
    let eta = 1.0 - 2.0 * beyond.min(0.5);
    let (slope, jumps) = step.active().fold((0.0_f64, 0.0_f64), |(slope, jumps), (map, _)| {
        let (own, between) = map.steepness();
        (slope.max(own), jumps.max(between))
    });
    let (mut power, mut distance) = (1.0_f64, interval.length());
    for made in 1..count.min(MOST_STEPS) {
        let before = distance;
        (power, distance) = (power * eta * (1.0 + 1e-15), (slope * distance + jumps) * (1.0 + 1e-15));
        let difference = 2.0 * power.min(apart(distance));
        // A map whose pieces meet up to a rounding does not bring iterates closer than that.
        let as_close_as_it_gets = distance > before * slope * 1.5 && difference <= ROUNDED;
        if difference <= FORGOTTEN || as_close_as_it_gets {
            return (made, difference);
        }
        if eta >= 1.0 && slope >= 1.0 {
            break;
        }
    }
    (count, 0.0)
}

/// What a place gets from every other one: the atoms first, and then from where it gets anything on.
struct Row {
    atoms: [f64; 2],
    first: usize,
    shares: Vec<f64>,
}

impl Row {
    /// Leaves out what is 0 on both sides.
    fn new(shares: &[f64]) -> Self {
        let rest = &shares[2..];
        let first = rest.iter().position(|share| *share > 0.0).unwrap_or(rest.len());
        let end = rest.iter().rposition(|share| *share > 0.0).map_or(first, |last| last + 1);
        Self { atoms: [shares[0], shares[1]], first: first + 2, shares: rest[first..end].to_vec() }
    }

    fn times(&self, masses: &[f64]) -> f64 {
        let atoms = self.atoms[0] * masses[0] + self.atoms[1] * masses[1];
        atoms + dot(&self.shares, &masses[self.first..][..self.shares.len()])
    }
}

/// The masses at the places after a step, for a mass of 1 at each place before it, and for each law.
fn matrices(law: &Mixture, places: &Places) -> [Vec<Row>; 2] {
    let row = |to: &Place| {
        let mut rows = [vec![0.0; places.all.len()], vec![0.0; places.all.len()]];
        for (column, from) in places.all.iter().enumerate() {
            for (centre, chances) in places.targets(from) {
                let mass = to.mass_of(law, centre);
                rows[0][column] += chances[0] * mass;
                rows[1][column] += chances[1] * mass;
            }
        }
        rows.map(|row| Row::new(&row))
    };
    let (first, second) = places.all.iter().map(row).map(|[first, second]| (first, second)).unzip();
    [first, second]
}

const LANES: usize = 8;

/// The sum of products, in a few independent sums.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (first, second) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f64 = first.remainder().iter().zip(second.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in first.zip(second) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use crate::{Interval, Map, Noise, OneDimensionalChain, Step};
    use dobrushin::Gamma;
    use dobrushin::profile::Direction;

    fn steps() -> [Step; 4] {
        let noise = Noise::Gaussian(0.7);
        let map = |slope: f64, by: f64| Map::affine(slope, by).expect("moderate");
        let random = Step {
            noise,
            common: map(0.9, 0.0),
            first: map(0.9, 0.4),
            second: map(0.9, -0.4),
            probability: 0.2,
        };
        let jumps = Map::sign_push(0.3, 0.1).expect("moderate");
        [
            random.clone(),
            Step {
                common: jumps.clone(),
                first: jumps.clone().shifted(0.2).expect("moderate"),
                second: jumps,
                ..random
            },
            Step::never(noise, Map::identity()),
            Step::always(noise, Map::constant(0.5).expect("moderate"), Map::identity()),
        ]
    }

    #[test]
    fn equal_steps_give_what_they_give_one_by_one() {
        let interval = Interval::new(-2.0, 2.0).expect("it increases");
        for step in steps() {
            for count in [1_u64, 2, 3, 40] {
                let used = Step::always(
                    Noise::Gaussian(0.5),
                    Map::identity(),
                    Map::affine(1.0, 0.5).expect("moderate"),
                );
                let mut all = vec![used.clone()];
                all.extend(std::iter::repeat_n(step.clone(), count as usize));
                let slowly = OneDimensionalChain { interval, start: 0.3, steps: all }.laws().expect("small");
                let quickly =
                    OneDimensionalChain::laws_of_runs(interval, 0.3, &[(used, 1), (step.clone(), count)])
                        .expect("small");
                for gamma in [1.0, 1.5, 4.0] {
                    for direction in Direction::BOTH {
                        let gamma = Gamma::new(gamma).expect("at least 1");
                        let [a, b] = [&slowly, &quickly].map(|laws| laws.hockey_stick(direction, gamma));
                        assert!(
                            a.intersect(b).is_some() && b.width() < 1e-10,
                            "{step:?} {count}: {a:?} {b:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn many_steps_forget_how_many_they_were() {
        let interval = Interval::new(-2.0, 2.0).expect("it increases");
        let step = &steps()[0];
        let after = |count: u64| {
            let laws =
                OneDimensionalChain::laws_of_runs(interval, 0.0, &[(step.clone(), count)]).expect("small");
            laws.hockey_stick(Direction::Forward, Gamma::ONE)
        };
        let [long, longer] = [after(400), after(1_000_000_000_000)];
        assert!(
            long.intersect(longer).is_some() && longer.width() < 1e-10 && longer.lower() > 0.1,
            "{longer:?}"
        );
    }
}
