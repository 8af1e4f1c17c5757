//! Many records that are used once each, in steps that all differ: one chain for a range of records.

use crate::chain::{
    Branch, Chain, Count, Domain, Mixture, Modulus, Participation, Piece, Step, StepNoise, Stop,
};
use crate::run::{LearningRate, Noise, Order, Record, Release, Training, missing};
use crate::{Enclosure, NotApplicable, Positive};
use std::sync::Arc;

/// The records of a run with steps that differ, each used once: a view holds for a range of them.
///
/// ```
/// use dobrushin::analysis::{HiddenStates, Shift};
/// use dobrushin::run::LearningRate;
/// use dobrushin::{Epsilon, Positive, PrivacyProfile, Release, Run};
///
/// let run = Run::online(1_000_000).learning_rates(LearningRate::InverseSqrt(Positive::new(0.5)?)).lipschitz(1.0);
/// let run = run.gradient_noise(5.0).convex().smoothness(1.0).release(Release::RandomStop).build()?;
/// let released = run.released()?;
/// let records = &released.ranges[0];
/// assert_eq!(records.places(), 1_000_000);
/// // What holds for every record of a range holds for each of them.
/// let delta = |from, to| -> Result<f64, Box<dyn std::error::Error>> {
///     Ok(Shift.apply(&records.view(from, to)?)?.into_profile().delta(Epsilon::new(0.1)?).upper())
/// };
/// assert!(delta(1000, 2000)? >= delta(1234, 1234)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct RecordRanges {
    training: Arc<Training>,
    /// The number of places: records that are used in the same step share one.
    places: u64,
    /// The number of steps, with the public ones.
    total: u64,
    schedule: Schedule,
}

/// Beyond this many places with different steps, ranges of them are considered.
const MOST_PLACES: u64 = 500;
/// Beyond this many different stops, steps that follow are taken together.
const MOST_STOPS: u64 = 4096;
/// This many steps after the use are distinguished; later ones are taken together, …
const SINGLE: u64 = 64;
/// … as many as this share of their distance from the use, …
const SHARE: u64 = 32;
/// … and of all steps so far: learning rates tend to change by such shares.
const SHARE_OF_ALL: u64 = 96;

impl RecordRanges {
    /// The ranges of a run of this many steps on private records, if its records are to be considered by ranges: they
    /// are used once each, and steps differ.
    pub(super) fn of(training: &Training, private: Option<u64>) -> Result<Option<Self>, NotApplicable> {
        let private = private.unwrap_or(u64::MAX);
        let total = private.saturating_add(training.public_steps);
        let places = training.batches_in_a_pass().min(private);
        let wanted = match (training.record, training.release) {
            (Record::Worst, Release::RandomStop) => places > MOST_PLACES,
            (Record::Worst, Release::Last) => {
                places > MOST_PLACES && !(training.has_equal_ratios() && training.public_steps == 0)
            }
            (Record::Index(_), Release::RandomStop) => total > MOST_STOPS,
            _ => false,
        };
        let differ = training.learning_rate.is_some() && !training.has_equal_steps();
        if !wanted
            || !differ
            || training.order != Order::Once
            || !training.has_equal_passes()
            || total == u64::MAX
        {
            return Ok(None);
        }
        let schedule = Schedule::of(training, total)?;
        Ok(Some(Self { training: Arc::new(training.clone()), places, total, schedule }))
    }

    /// The number of places at which records are used.
    pub fn places(&self) -> u64 {
        self.places
    }

    /// One chain for the records at these places, the first and the last included.
    ///
    /// # Guarantee
    /// The release of each of these records is an instance of the mixture, or is obtained from one. The record at place i
    /// is used in step i, and j steps later step i + j is taken. The j-th step of the chain is as bad as any of the steps
    /// i + j: it has the largest modulus, and the least noise, since more noise is this noise and some more that is
    /// added to the update, independently on both sides (for Laplace noise, too: the quotient of the characteristic
    /// functions (1 + a²t²)/(1 + b²t²), a < b, is that of a law). Distances may be measured for each record in a unit
    /// of its own, in which its learning rate is that of the first place. Some consecutive steps are taken together, as
    /// equal steps. If the last iterate is released, as many steps follow as follow the last of these records: what
    /// comes later is post-processing. If it is that of a random time, each record can be seen at no more times, and
    /// with the same probability at each, as the chain.
    ///
    /// # Errors
    /// [`NotApplicable`] if a fact that a chain needs is missing.
    pub fn view(&self, from: u64, to: u64) -> Result<Mixture, NotApplicable> {
        let from = from.clamp(1, self.places);
        let to = to.clamp(from, self.places);
        let unit = self.unit(from, to);
        let used = self.step(from, to, (0, 0), Participation::Always, unit)?;
        let mut kinds = vec![used];
        let mut stretches = vec![(0, Count::Times(1))];
        let last = match self.training.release {
            Release::RandomStop => self.total - from,
            _ => self.total - to,
        };
        let mut first = 1;
        while first <= last {
            let more = (first / SHARE).min(from.saturating_add(first) / SHARE_OF_ALL);
            let until = if first < SINGLE { first } else { first.saturating_add(more).min(last) };
            stretches.push((kinds.len(), Count::Times(until - first + 1)));
            kinds.push(self.step(from, to, (first, until), Participation::Never, unit)?);
            first = until + 1;
        }
        let diameter = self.training.domain.diameter.map(|diameter| Enclosure::from(diameter) * unit);
        let diameter = diameter.map(|diameter| Positive::new(diameter.upper())).transpose()?;
        let domain = Domain { diameter, dimension: self.training.domain.dimension };
        let chain = Chain::of_kinds(kinds.into(), stretches, domain)?.in_coarse_stretches();
        let (weight, stop) = match self.training.release {
            Release::RandomStop => {
                let stops = last + 1;
                (Enclosure::from(stops) / Enclosure::from(self.total), Stop::Uniform(stops))
            }
            _ => (Enclosure::ONE, Stop::End),
        };
        Ok(Mixture::new(vec![Branch { weight, chain, stop }]))
    }

    /// The view of a record.
    pub(super) fn of_record(&self, record: u64) -> Result<Mixture, NotApplicable> {
        let place = self.training.place_of(record);
        if place > self.places {
            return Ok(Mixture::new(Vec::new()));
        }
        self.view(place, place)
    }

    /// By what distances are multiplied, so that the learning rate at each of these places becomes that of the first.
    fn unit(&self, from: u64, to: u64) -> Enclosure {
        if from == to {
            return Enclosure::ONE;
        }
        self.reference(from) / self.schedule.rates(&self.training, from, to)
    }

    fn reference(&self, place: u64) -> Enclosure {
        Enclosure::from(self.schedule.rates(&self.training, place, place).upper())
    }

    /// A step that is as bad as any that comes this many steps after the use of a record at these places.
    fn step(
        &self,
        from: u64,
        to: u64,
        (first, until): (u64, u64),
        participation: Participation,
        unit: Enclosure,
    ) -> Result<Step, NotApplicable> {
        let (training, schedule) = (&*self.training, &self.schedule);
        let (start, end) = (from + first, to.saturating_add(until).min(self.total));
        let norm = training.largest_norm()?;
        let rates = schedule.rates(training, start, end);
        let noises = schedule.noises(training, norm, start, end);
        let step = training.step_of(rates, noises, participation, None)?;
        let upper = |x: Enclosure| Enclosure::from(x.upper());
        let scaled = |modulus: &Modulus| {
            let scaled = |piece: &Piece| Piece::enclosed(upper(piece.slope()), upper(piece.offset() * unit));
            Modulus::new(modulus.pieces().iter().map(scaled).collect())
        };
        let alone = from == to;
        // In these units the use of each record has the learning rate of the first place. If the noise follows the rate
        // c/√t, it falls most after the first place.
        let follows = matches!(training.learning_rate, Some(LearningRate::InverseSqrt(_)))
            && training.has_equal_ratios()
            && !alone;
        let noise = if follows {
            let fallen = Enclosure::from(from) / Enclosure::from((from + until).min(self.total));
            training.noise_at(from, self.reference(from), norm) * fallen.sqrt()
        } else {
            noises * unit
        };
        let noise = Enclosure::from(noise.lower());
        let moves = |step: &Step| (upper(step.displacement), upper(step.absence));
        let (displacement, absence) = match participation {
            Participation::Never => (Enclosure::ZERO, Enclosure::ZERO),
            _ if alone => moves(&step),
            _ => moves(&training.step_of(self.reference(from), noise, participation, None)?),
        };
        Ok(Step {
            noise: match step.noise {
                StepNoise::Gaussian(_) => StepNoise::Gaussian(noise),
                StepNoise::Laplace(_) => StepNoise::Laplace(noise),
            },
            modulus: scaled(&step.modulus),
            displacement,
            absence,
            crossed: scaled(&step.crossed),
            // Noise that is added to the update changes its norm.
            growth: None,
            vanishes: step.vanishes,
            members: None,
            participation,
            diameter: None,
        })
    }
}

/// The largest and the smallest learning rate and noise of some consecutive steps.
#[derive(Clone)]
enum Schedule {
    /// They fall from step to step, or stay the same.
    Falling,
    /// They are listed.
    Listed { rates: Arc<Extremes>, noises: Arc<Extremes> },
}

/// The most steps whose learning rates or noise are listed.
const MOST_LISTED: u64 = 4_000_000;

impl Schedule {
    fn of(training: &Training, total: u64) -> Result<Self, NotApplicable> {
        let listed = matches!(training.learning_rate, Some(LearningRate::List(_)))
            || matches!(training.noise, Noise::GradientList(_));
        if !listed {
            return Ok(Self::Falling);
        }
        if total > MOST_LISTED {
            return Err(NotApplicable::beyond(format!(
                "{total} different steps: at most {MOST_LISTED} are looked at"
            )));
        }
        let norm = training.largest_norm()?;
        let mut rates = Vec::with_capacity(total as usize);
        let mut noises = Vec::with_capacity(total as usize);
        for time in 1..=total {
            let rate = training
                .rate_of(time)
                .ok_or_else(|| missing!("step {time} has no learning rate: {}", LearningRate))?;
            rates.push(rate);
            noises.push(training.noise_at(time, rate, norm));
        }
        Ok(Self::Listed { rates: Arc::new(Extremes::of(rates)), noises: Arc::new(Extremes::of(noises)) })
    }

    /// All learning rates from one step to another.
    fn rates(&self, training: &Training, from: u64, to: u64) -> Enclosure {
        let at = |time| training.rate_of(time).unwrap_or(Enclosure::ENTIRE);
        match self {
            Self::Falling => at(from).hull(at(to)),
            Self::Listed { rates, .. } => rates.between(from, to),
        }
    }

    /// All sizes of the noise from one step to another.
    fn noises(&self, training: &Training, norm: Enclosure, from: u64, to: u64) -> Enclosure {
        let at = |time| training.noise_at(time, self.rates(training, time, time), norm);
        match self {
            Self::Falling => at(from).hull(at(to)),
            Self::Listed { noises, .. } => noises.between(from, to),
        }
    }
}

/// The hull of any consecutive ones of some numbers: a tree, each node of which is the hull of two.
struct Extremes {
    /// The root has index 1, and the children of a node twice its index and the next; the numbers come last.
    hulls: Vec<Enclosure>,
}

impl Extremes {
    fn of(numbers: Vec<Enclosure>) -> Self {
        let leaves = numbers.len();
        let mut hulls = vec![Enclosure::ENTIRE; leaves];
        hulls.extend(numbers);
        for node in (1..leaves).rev() {
            hulls[node] = hulls[2 * node].hull(hulls[2 * node + 1]);
        }
        Self { hulls }
    }

    /// The hull of the numbers at these places, counted from 1.
    fn between(&self, from: u64, to: u64) -> Enclosure {
        let leaves = self.hulls.len() / 2;
        let place = |number: u64| usize::try_from(number).unwrap_or(usize::MAX).clamp(1, leaves) - 1 + leaves;
        let (mut low, mut high) = (place(from), place(to.max(from)) + 1);
        let mut hull = self.hulls[low];
        while low < high {
            if low % 2 == 1 {
                hull = hull.hull(self.hulls[low]);
                low += 1;
            }
            if high % 2 == 1 {
                high -= 1;
                hull = hull.hull(self.hulls[high]);
            }
            low /= 2;
            high /= 2;
        }
        hull
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Random;

    #[test]
    fn the_hull_of_consecutive_numbers_is_that_of_all_of_them() {
        let mut random = Random::new(5);
        for length in [1_usize, 2, 3, 7, 64, 100] {
            let numbers: Vec<f64> = (0..length).map(|_| random.log_between(1e-3, 1e3)).collect();
            let tree = Extremes::of(numbers.iter().map(|&x| Enclosure::from(x)).collect());
            for from in 1..=length {
                for to in from..=length {
                    let some = &numbers[from - 1..to];
                    let ends = [f64::min, f64::max].map(|end| some.iter().copied().reduce(end).unwrap());
                    let hull = tree.between(from as u64, to as u64);
                    assert_eq!([hull.lower(), hull.upper()], ends, "{from} to {to} of {length}");
                }
            }
        }
    }
}
