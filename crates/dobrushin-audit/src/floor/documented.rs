//! A run as its keys are documented: the numbers of its steps, and when one record is used. Nothing here is shared with
//! the way from a run to its chains.

use dobrushin::Enclosure;
use dobrushin::run::{
    Batch, Contribution, IncompleteBatch, LearningRate, Length, Noise, Order, Record, Training,
};

/// A run of a known number of steps, and what its keys say about each.
#[derive(Clone, Copy)]
pub(super) struct Documented<'a> {
    pub run: &'a Training,
    /// The number of steps that may use private records.
    pub private: u64,
    /// Which of the possible ways to treat an incomplete batch is looked at.
    pub ending: IncompleteBatch,
}

/// Where a guarantee is claimed for any number of steps, these are looked at.
const LENGTHS: [u64; 4] = [1, 64, 4096, 262_144];

/// Every run of this description that is looked at.
pub(super) fn runs(run: &Training) -> Vec<Documented<'_>> {
    let mut all = Vec::new();
    for ending in endings(run) {
        let of = |private: u64| Documented { run, private, ending };
        let pass = of(0).steps_in_a_pass();
        let limit = if run.order == Order::Once { pass.max(1.0) as u64 } else { u64::MAX };
        let lengths = match run.length {
            Length::Steps(steps) => vec![steps],
            Length::Any => LENGTHS.to_vec(),
            Length::Epochs(epochs) => {
                let steps = epochs.get() * pass;
                let nearest = steps.round().max(1.0);
                // A fraction of a step is left out, or made whole.
                let whole = (steps - nearest).abs() <= 1e-9 * steps;
                let possible = if whole { vec![nearest] } else { vec![steps.ceil(), steps.floor()] };
                possible.into_iter().filter(|steps| *steps >= 1.0).map(|steps| steps as u64).collect()
            }
        };
        all.extend(lengths.into_iter().map(|steps| of(steps.min(limit))));
    }
    all
}

/// What may happen to an incomplete batch.
fn endings(run: &Training) -> Vec<IncompleteBatch> {
    use IncompleteBatch::{Drop, Fill, Pad, Short};
    match (run.order, run.batch, run.incomplete_batch) {
        (Order::Once | Order::Cyclic | Order::Shuffled, Batch::Size(size), ending) => match ending {
            _ if run.records.is_multiple_of(size) => vec![Short],
            Some(ending) => vec![ending],
            None if run.order == Order::Once => vec![Drop, Short, Pad],
            None => vec![Drop, Short, Pad, Fill],
        },
        _ => vec![Short],
    }
}

impl Documented<'_> {
    /// All steps: the private ones, and then the public ones.
    pub fn steps(&self) -> u64 {
        self.private + self.run.public_steps
    }

    /// The number of records in a batch, or its expectation.
    pub fn batch(&self) -> f64 {
        match self.run.batch {
            Batch::Size(size) => size as f64,
            Batch::Probability(rate) => rate.get() * self.run.records as f64,
        }
    }

    /// The probability with which a step uses one record, where each step draws its own.
    pub fn rate_of_use(&self) -> f64 {
        match self.run.batch {
            Batch::Size(size) => size as f64 / self.run.records as f64,
            Batch::Probability(rate) => rate.get(),
        }
    }

    /// The largest norm of one record's gradient. Without it only its multiples matter, and it is 1.
    pub fn norm(&self) -> Option<f64> {
        match (self.run.contribution, &self.run.noise) {
            (Some(contribution), _) => Some(contribution.norm().get()),
            (None, Noise::Multiplier(_)) => Some(1.0),
            (None, _) => None,
        }
    }

    /// Whether gradients are clipped, and not only known to be short.
    pub fn is_clipped(&self) -> bool {
        matches!(self.run.contribution, Some(Contribution::Clipped(_)))
    }

    /// η of a step, counted from 1. Without it only its multiples matter, if the noise has the form η·σ.
    pub fn learning_rate(&self, time: u64) -> Option<f64> {
        match (&self.run.learning_rate, &self.run.noise) {
            (Some(LearningRate::Constant(rate)), _) => Some(rate.get()),
            (Some(LearningRate::List(list)), _) => {
                list.get(usize::try_from(time).ok()?.checked_sub(1)?).map(|rate| rate.get())
            }
            (Some(LearningRate::InverseSqrt(first)), _) => Some(first.get() / (time as f64).sqrt()),
            (None, Noise::Iterate(_)) => None,
            (None, _) => Some(1.0),
        }
    }

    /// The noise of the iterate in a step.
    pub fn noise(&self, time: u64) -> Option<f64> {
        let rate = || self.learning_rate(time);
        match &self.run.noise {
            Noise::Multiplier(multiplier) => Some(rate()? * multiplier.get() * self.norm()? / self.batch()),
            Noise::Gradient(sigma) => Some(rate()? * sigma.get()),
            Noise::GradientList(list) => {
                Some(rate()? * list.get(usize::try_from(time).ok()?.checked_sub(1)?)?.get())
            }
            Noise::Iterate(noise) => Some(noise.get()),
        }
    }

    /// Whether all steps have the same numbers.
    pub fn has_equal_steps(&self) -> bool {
        matches!(self.run.learning_rate, None | Some(LearningRate::Constant(_)))
            && !matches!(self.run.noise, Noise::GradientList(_))
    }

    fn records_and_size(&self) -> (u64, u64) {
        let size = match self.run.batch {
            Batch::Size(size) => size,
            Batch::Probability(_) => 1,
        };
        (self.run.records, size.max(1))
    }

    /// The number of steps in a pass over the records.
    pub fn steps_in_a_pass(&self) -> f64 {
        let (n, b) = self.records_and_size();
        match (self.run.order, self.run.batch) {
            (Order::Once | Order::Cyclic | Order::Shuffled, Batch::Size(_)) => match self.ending {
                IncompleteBatch::Drop => (n / b) as f64,
                IncompleteBatch::Short | IncompleteBatch::Pad => n.div_ceil(b) as f64,
                IncompleteBatch::Fill => n as f64 / b as f64,
            },
            (Order::Allocation, Batch::Size(_)) => n.div_ceil(b) as f64,
            (_, Batch::Size(size)) => n as f64 / size as f64,
            (_, Batch::Probability(rate)) => 1.0 / rate.get(),
        }
    }

    /// The step, counted from 1, in which a pass uses the record at a place, both counted from 0; `None` if it does not,
    /// or only after the last private step.
    pub fn step_of(&self, pass: u64, place: u64) -> Option<u64> {
        let (n, b) = self.records_and_size();
        let step = match self.ending {
            IncompleteBatch::Drop if place >= n / b * b => return None,
            IncompleteBatch::Fill => {
                let at = u128::from(pass) * u128::from(n) + u128::from(place);
                u64::try_from(at / u128::from(b)).ok()?
            }
            _ => pass.checked_mul(self.steps_in_a_pass() as u64)?.checked_add(place / b)?,
        };
        (step < self.private && (pass == 0 || self.run.order != Order::Once)).then_some(step + 1)
    }

    /// The number of passes that the private steps begin. After a whole number of passes, the last batch is not filled
    /// up, because there is no next pass.
    pub fn passes(&self) -> u64 {
        let begun = (self.private as f64 / self.steps_in_a_pass()).ceil() as u64;
        match self.run.length {
            Length::Epochs(epochs) if epochs.get().fract() == 0.0 => begun.min(epochs.get() as u64),
            _ => begun,
        }
    }

    /// The places, counted from 0, of the record in question, or a few among which the worst is likely to be: that of the
    /// last step, that of the last step of a pass, and the first.
    pub fn places(&self) -> Vec<u64> {
        let (n, b) = self.records_and_size();
        if let Record::Index(index) = self.run.record {
            return vec![index - 1];
        }
        let last = match self.ending {
            IncompleteBatch::Fill => {
                let at = u128::from(self.private - 1) * u128::from(b) % u128::from(n);
                at as u64
            }
            _ => (self.private - 1) % (self.steps_in_a_pass() as u64).max(1) * b,
        };
        let end = if self.ending == IncompleteBatch::Drop { (n / b * b).max(1) } else { n } - 1;
        let mut places = vec![last.min(end), end, 0];
        places.dedup();
        places
    }

    /// How many steps are looked at, in words, where that is a choice.
    pub fn here_after(&self) -> String {
        match self.run.length {
            Length::Any => format!(", here after {} steps", self.steps()),
            Length::Steps(_) | Length::Epochs(_) => String::new(),
        }
    }

    /// The share of the iterate that a step keeps, if the others' losses have this curvature.
    pub fn keep(&self, time: u64, curvature: f64) -> Option<f64> {
        Some(1.0 - self.run.weight_decay - self.learning_rate(time)? * curvature)
    }
}

/// A number that was computed in a few roundings.
pub(super) fn nearly(value: f64) -> Enclosure {
    Enclosure::around(value, super::uses::ROUNDING)
}
