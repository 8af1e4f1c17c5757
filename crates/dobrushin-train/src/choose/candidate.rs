//! Which plans are worth a trial.

use super::Wanted;
use super::race::Runner;
use crate::{Bounds, Description, Model, Target};
use dobrushin::account::{CalibrationError, calibrate};
use dobrushin::mechanism::Neighbours;
use dobrushin::run::{Order, Parameter, Release, Run, RunError};
use dobrushin::{Positive, Target as Aim};

/// The numbers of a plan, without its noise.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    pub order: Order,
    /// The size of a batch: all records, if the order is full.
    pub batch: u64,
    pub steps: u64,
    /// C.
    pub clip: f64,
    /// η.
    pub rate: f64,
    /// λ.
    pub weight_decay: f64,
}

/// What is wanted, and what one step on all records costs.
pub struct Problem<'a> {
    wanted: &'a Wanted,
    bounds: Bounds,
    /// The noise multiplier with which one step on all records meets the target: 1/μ.
    unit: f64,
}

/// The noise κ that the scores may have gathered together, where a logistic score of 3 is near certainty. Made-up records
/// are harder to tell apart than those that people collect, on which less noise only means that less was learnt …
const NOISES_OF_SCORES: [f64; 2] = [4.0, 7.0];
/// … and clip norms over R: a gradient's norm is R times the probability of the wrong class.
const CLIPS_OF_SCORES: [f64; 3] = [0.03, 0.1, 0.3];
/// The same for numbers between −1 and 1.
const NOISES_OF_NUMBERS: [f64; 4] = [0.02, 0.05, 0.15, 0.5];
const CLIPS_OF_NUMBERS: [f64; 3] = [0.1, 0.3, 1.0];
/// With fewer steps a path is too jagged to follow the loss, …
const FEWEST_STEPS: u64 = 100;
/// … and more bring nothing.
const MOST_STEPS: u64 = 1000;
/// Products of a parameter and a feature in all: a minute or so.
const WORK: f64 = 4e10;
/// The batches of a pass, for other orders than full.
const BATCHES: u64 = 8;

impl<'a> Problem<'a> {
    pub fn new(wanted: &'a Wanted) -> Result<Self, CalibrationError> {
        let bounds = wanted.schema.bounds();
        let mut problem = Self { wanted, bounds, unit: 1.0 };
        let clip = bounds.norm.get() / 10.0;
        let once = Candidate {
            order: Order::Full,
            batch: wanted.records,
            steps: 1,
            clip,
            rate: 1e-3,
            weight_decay: 0.0,
        };
        problem.unit = problem.noise(&once, Release::Last)?;
        Ok(problem)
    }

    /// Paths and clip norms on all records, without repetition.
    pub fn grid(&self) -> Vec<Candidate> {
        let (noises, clips): (&[f64], _) = match self.bounds.target {
            Target::Classes(_) => (&NOISES_OF_SCORES, CLIPS_OF_SCORES),
            Target::Range { .. } => (&NOISES_OF_NUMBERS, CLIPS_OF_NUMBERS),
        };
        let pairs = clips.iter().flat_map(|&clip| noises.iter().map(move |&noise| (clip, noise)));
        let mut grid = Vec::new();
        let scores = self.wanted.model.parameters() as f64 / self.bounds.dimension.max(1) as f64;
        for (clip, noise) in pairs {
            let noise = noise / scores.sqrt();
            let candidate = self.candidate(Order::Full, self.wanted.records, clip, noise);
            if !grid.contains(&candidate) {
                grid.push(candidate);
            }
        }
        grid
    }

    /// The fewest steps of at most the largest rate that go as far as the noise in a score allows.
    fn candidate(&self, order: Order, batch: u64, clip_share: f64, noise: f64) -> Candidate {
        let (norm, records) = (self.bounds.norm.get(), self.wanted.records as f64);
        let clip = clip_share * norm;
        let path = noise * records / self.unit;
        let longest = self.largest_rate(clip) * clip * norm;
        let work = batch as f64 * self.wanted.model.parameters() as f64;
        let most = ((WORK / work) as u64).clamp(FEWEST_STEPS, MOST_STEPS);
        let steps = ((path / longest).ceil() as u64).clamp(FEWEST_STEPS, most);
        let rate = (path / steps as f64).min(longest) / (clip * norm);
        Candidate { order, batch, steps, clip, rate: three_digits(rate), weight_decay: 0.0 }
    }

    /// 2/β, slightly less, so that rounding it to three digits is harmless. Clipped cross-entropy of several classes is
    /// not convex, but it bends no more than that of two.
    fn largest_rate(&self, clip: f64) -> f64 {
        let norm = self.bounds.norm.get();
        let beta = match (&self.wanted.model, Positive::new(clip)) {
            (Model::Linear { .. }, Ok(clip)) => {
                self.wanted.model.constants(&self.bounds, None, Some(clip)).smoothness.unwrap_or(norm * norm)
            }
            _ if clip < norm / 2.0 => clip * (norm - clip),
            _ => norm * norm / 4.0,
        };
        1.99 / beta
    }

    /// The same plan with weight decay, so that hidden iterates forget.
    pub fn decayed(&self, candidate: &Candidate) -> Vec<Candidate> {
        let decayed = |times: f64| Candidate {
            weight_decay: three_digits((times / candidate.steps as f64).min(0.5)),
            ..candidate.clone()
        };
        vec![decayed(1.0), decayed(3.0)]
    }

    /// Other orders that may be tried: with a secret number of records, only those that do not show it.
    pub fn orders(&self) -> impl Iterator<Item = Order> {
        let orders: &[Order] = match (self.wanted.neighbours, self.wanted.order) {
            (Neighbours::AddOrRemoveOne, Some(Order::Allocation)) => &[Order::Allocation, Order::Poisson],
            (Neighbours::AddOrRemoveOne, _) => &[Order::Poisson],
            (_, Some(Order::WithoutReplacement)) => &[Order::WithoutReplacement, Order::Poisson],
            (_, Some(Order::Allocation)) => &[Order::Allocation, Order::Poisson],
            _ => &[Order::Poisson, Order::Shuffled, Order::Cyclic],
        };
        orders.iter().copied()
    }

    /// A plan on all records, with batches in another order and as far a path, or a shorter one.
    pub fn in_order(&self, full: &Candidate, order: Order) -> Vec<Candidate> {
        if self.wanted.records < 2 * BATCHES {
            return Vec::new();
        }
        let batch = self.wanted.records.div_ceil(BATCHES);
        let noise = full.rate * full.clip * full.steps as f64 * self.bounds.norm.get() * self.unit
            / self.wanted.records as f64;
        let shares: &[f64] = if self.wanted.order == Some(order) { &[0.25, 0.5, 1.0] } else { &[1.0] };
        let scaled = |share: &f64| {
            let candidate = self.candidate(order, batch, full.clip / self.bounds.norm.get(), noise * share);
            // Whole passes.
            Candidate { steps: candidate.steps.next_multiple_of(BATCHES), ..candidate }
        };
        shares.iter().map(scaled).collect()
    }

    /// Runners whose noise follows from that of one step: exactly, as long as nothing is gained by hiding.
    pub fn runners(&self, grid: Vec<Candidate>) -> Vec<Runner> {
        let noise = |candidate: &Candidate| self.unit * (candidate.steps as f64).sqrt();
        grid.into_iter().map(|candidate| Runner::new(candidate.clone(), noise(&candidate))).collect()
    }

    /// Runners with the least noise that meets the target.
    pub fn calibrated(&self, candidates: &[Candidate]) -> Result<Vec<Runner>, CalibrationError> {
        let runner =
            |candidate: &Candidate| Ok(Runner::new(candidate.clone(), self.noise(candidate, Release::Last)?));
        candidates.iter().map(runner).collect()
    }

    /// The least noise multiplier that meets the target.
    pub fn noise(&self, candidate: &Candidate, release: Release) -> Result<f64, CalibrationError> {
        let run = self.description(candidate, release, 1.0)?.lowered()?;
        let Wanted { epsilon, delta, .. } = *self.wanted;
        Ok(calibrate(&run, Parameter::NoiseMultiplier, Aim::Privacy { epsilon, delta })?.value)
    }

    /// The plan with this noise.
    pub fn description(
        &self,
        candidate: &Candidate,
        release: Release,
        noise: f64,
    ) -> Result<Description, RunError> {
        let Wanted { schema, model, records, neighbours, .. } = self.wanted;
        candidate.description(
            model,
            self.bounds,
            *records,
            schema.tasks() as u64,
            *neighbours,
            release,
            noise,
        )
    }
}

impl Candidate {
    /// The plan on this many records.
    #[expect(clippy::too_many_arguments, reason = "a plan has as many parts")]
    fn description(
        &self,
        model: &Model,
        bounds: Bounds,
        records: u64,
        tasks: u64,
        neighbours: Neighbours,
        release: Release,
        noise: f64,
    ) -> Result<Description, RunError> {
        let run = match self.order {
            Order::Full => Run::gradient_descent(records),
            order => Run::dp_sgd(records).order(order).batch_size(self.batch),
        };
        let run = run.steps(self.steps).release(release).neighbours(neighbours).tasks(tasks);
        let run = run.learning_rate(self.rate).clip_norm(self.clip).weight_decay(self.weight_decay);
        let training = run.noise_multiplier(noise).training()?;
        let loss_bound = Positive::new(1.0).unwrap_or(bounds.norm);
        Ok(Description { training, model: model.clone(), bounds, projection: None, loss_bound })
    }

    /// The same plan on fewer, made-up records, with the same noise on the iterate: the noise multiplier is over the
    /// size of a batch.
    pub fn scaled_down(
        &self,
        wanted: &Wanted,
        bounds: Bounds,
        records: u64,
        noise: f64,
    ) -> Result<Description, RunError> {
        let batch = match self.order {
            Order::Full => records,
            _ => (self.batch.saturating_mul(records) / wanted.records.max(1)).clamp(1, records),
        };
        let noise = noise * batch as f64 / self.batch as f64;
        let smaller = Self { batch, ..self.clone() };
        smaller.description(&wanted.model, bounds, records, 1, Neighbours::ZeroOut, Release::Last, noise)
    }
}

/// Rounded down to three digits, so that people can read it.
fn three_digits(value: f64) -> f64 {
    let digit = 10_f64.powf(value.log10().floor() - 2.0);
    let rounded = (value / digit).floor() * digit;
    // Digits such as 0.30000000000000004 come from the multiplication.
    let short = format!("{rounded:.2e}").parse().unwrap_or(value);
    if short > 0.0 { short } else { value }
}
