//! A landscape that keeps what every step told, where nothing is claimed about the loss.
//!
//! If the other records' gradients may be anything, hiding the iterates between hides nothing (Cebere, Bellet, Papernot
//! 2025). The record pushes a new coordinate in each step. Until then, all other records together pull that coordinate to 0, so
//! that it holds no noise of earlier steps. In the step after, they multiply it by a large factor, so that the noise of later
//! steps hardly changes it. The release then holds the result of every step, as if each were published. With more steps
//! than coordinates, neighbouring steps share one.

use super::ratio::log_sum;
use super::uses::Uses;
use dobrushin::mechanism::Neighbours;
use dobrushin::numeric::elementary::powi;
use dobrushin::run::NoiseKind;
use dobrushin_train::{Model, Plan, Projection, Table};

/// Coordinates stay within this many deviations of their noise before they are multiplied.
const REACH: f64 = 4.0;
/// A larger factor keeps nothing more.
const LARGEST: f64 = 1e4;
/// With a smaller factor, the record had better push one coordinate in all steps.
const SMALLEST: f64 = 2.0;

/// Which coordinate each step pushes, and how the others multiply it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Keep {
    /// Parameters that start at 0.
    places: Vec<usize>,
    /// The number of steps that share a coordinate.
    share: u64,
    /// What a coordinate is multiplied by once it is complete.
    factor: f64,
    /// 1 − λ, by which a step multiplies every coordinate anyway.
    decay: f64,
    /// By how much all other records together move an iterate, for each step, if their gradients are 1.
    strength: Vec<f64>,
    blocks: Vec<Block>,
    /// Whether the neighbour pushes the other way.
    opposite: bool,
}

/// The steps that share a coordinate.
#[derive(Clone, Debug, PartialEq)]
struct Block {
    /// What the coordinate is multiplied by until it is released.
    gain: f64,
    /// One push, before that.
    push: f64,
    /// The variance of all noise, before that.
    variance: f64,
    /// The probability of each number of uses of the record.
    uses: Vec<f64>,
}

impl Keep {
    /// The landscape of a plan; `None` if something is claimed about the loss, or if the others are too few.
    pub fn new(plan: &Plan, table: &Table, uses: &Uses) -> Option<Self> {
        let training = plan.training();
        // If something is known about the gradients' changes, the landscape would have to obey it.
        let loss = &training.loss;
        let is_claimed =
            loss.smoothness.is_some() || loss.convex == Some(true) || loss.generalised_linear == Some(true);
        if is_claimed || training.noise_kind != NoiseKind::Gaussian || training.public_steps > 0 {
            return None;
        }
        let places = starting_at_zero(plan.model());
        let steps = uses.steps.max(1);
        let share = steps.div_ceil(places.len().max(1) as u64);
        let blocks = steps.div_ceil(share);
        let decay = 1.0 - training.weight_decay;
        let (clip, others) = (training.contribution?.norm().get(), uses.others(table));
        let updates: Option<Vec<_>> = (1..=steps).map(|time| training.update_at(time)).collect();
        let updates = updates?;
        let pushes: Vec<f64> = updates.iter().map(|update| update.rate / update.divisor * clip).collect();
        let noise = updates.iter().map(|update| update.noise).fold(0.0, f64::max);
        let push = pushes.iter().copied().fold(0.0, f64::max);
        let strength: Vec<f64> = pushes.iter().map(|push| push / clip * others).collect();
        let least = strength.iter().copied().fold(f64::INFINITY, f64::min);
        let width = push * share as f64 + REACH * noise * (share as f64).sqrt();
        let room = match plan.projection() {
            None => f64::INFINITY,
            Some(Projection::Ball { radius }) => radius / (blocks as f64).sqrt(),
            Some(Projection::Box { lower, upper }) => upper.min(-lower),
            Some(Projection::Simplex { .. }) => 0.0,
        };
        // Half of the others' strength is left for batches that happen to be small, and for what is pulled to 0.
        let factor = (1.0 + clip * least / 2.0 / width).min(room / width).min(LARGEST);
        let pulled = decay * noise * (blocks as f64).sqrt();
        // The width is 0 only if nothing is pushed and nothing is drawn; then the factor is NaN.
        if factor.is_nan() || factor < SMALLEST || pulled > clip * least / 4.0 {
            return None;
        }
        let places: Vec<usize> = places.into_iter().take(blocks as usize).collect();
        let of_block = |block: u64| {
            let (first, end) = (block * share + 1, ((block + 1) * share).min(steps));
            let variance = |from: u64, to: u64| -> f64 {
                let noises = (from..=to).map(|time| (time, updates[time as usize - 1].noise));
                noises.map(|(time, noise)| powi(noise * libm::pow(decay, (to - time) as f64), 2)).sum()
            };
            let gain = if end < steps { factor * libm::pow(decay, (steps - end - 1) as f64) } else { 1.0 };
            let later = if end < steps { variance(end + 1, steps) } else { 0.0 };
            Block {
                gain,
                push: pushes[first as usize - 1],
                variance: variance(first, end) + later / (gain * gain),
                uses: counts((first..=end).map(|time| uses.probability(time))),
            }
        };
        let blocks = (0..blocks).map(of_block).collect();
        let opposite = training.neighbours == Neighbours::ReplaceOne;
        Some(Self { places, share, factor, decay, strength, blocks, opposite })
    }

    /// The coordinate that the record pushes in a step, counted from 1.
    pub fn place(&self, time: u64) -> Option<usize> {
        self.places.get(((time.max(1) - 1) / self.share) as usize).copied()
    }

    /// Writes the gradient of each other record: coordinates that wait for their push are pulled to 0, and one that was
    /// completed in the last step is multiplied.
    pub fn others(&self, time: u64, iterate: &[f64], gradient: &mut [f64]) {
        let done = time.max(1) - 1;
        let Some(&strength) = self.strength.get(done as usize) else {
            return;
        };
        let is_first = done.is_multiple_of(self.share);
        let block = (done / self.share) as usize;
        // Their sum takes a·strength·coordinate away.
        let mut take = |place: usize, a: f64| gradient[place] = a / strength * iterate[place];
        let waiting = if is_first { block } else { block + 1 };
        self.places.iter().skip(waiting).for_each(|&place| take(place, self.decay));
        if let (true, Some(&place)) = (is_first, block.checked_sub(1).and_then(|last| self.places.get(last)))
        {
            take(place, self.decay - self.factor);
        }
    }

    /// The logarithm of the likelihood ratio, as if the coordinates were independent and the batches of the same size.
    pub fn score(&self, released: &[f64]) -> f64 {
        let of = |(block, &place): (&Block, &usize)| {
            let x = released[place] / block.gain;
            let ratio = |x: f64| {
                log_sum(|| {
                    block.uses.iter().enumerate().map(|(count, chance)| {
                        let mean = count as f64 * block.push;
                        libm::log(*chance) + (mean * x - mean * mean / 2.0) / block.variance
                    })
                })
            };
            if self.opposite { ratio(x) - ratio(-x) } else { ratio(x) }
        };
        self.blocks.iter().zip(&self.places).map(of).sum()
    }
}

/// The parameters that start at 0.
pub(super) fn starting_at_zero(model: &Model) -> Vec<usize> {
    match model {
        Model::Linear { .. } | Model::Softmax { .. } => (0..model.parameters()).collect(),
        Model::Network { hidden, classes, features } => {
            let (mut inputs, mut first, mut places) = (*features, 0, Vec::new());
            for &units in hidden.iter().chain([classes]) {
                first += inputs * units;
                places.extend(first..first + units);
                first += units;
                inputs = units;
            }
            places
        }
    }
}

/// The law of the number of independent events that happen, without numbers of probability below 10⁻³⁰.
fn counts(probabilities: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut law = vec![1.0];
    for probability in probabilities.filter(|&probability| probability > 0.0) {
        let mut next = vec![0.0; law.len() + 1];
        for (count, chance) in law.iter().enumerate() {
            next[count] += chance * (1.0 - probability);
            next[count + 1] += chance * probability;
        }
        while next.last().is_some_and(|&chance| chance < 1e-30) {
            next.pop();
        }
        law = next;
    }
    law
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_events_are_binomial() {
        let law = counts([0.25; 3].into_iter());
        for (chance, exact) in law.iter().zip([27.0, 27.0, 9.0, 1.0]) {
            assert!((chance - exact / 64.0).abs() < 1e-12);
        }
        assert_eq!(counts([0.0, 1.0].into_iter()), [0.0, 1.0]);
    }

    #[test]
    fn the_offsets_of_a_network_start_at_zero() {
        let model = Model::Network { hidden: vec![2], classes: 3, features: 4 };
        assert_eq!(starting_at_zero(&model), [8, 9, 16, 17, 18]);
    }
}
