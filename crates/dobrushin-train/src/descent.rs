//! The iteration: w ← Π((1 − λ)·w − (η/b)·Σ gradients + noise).

use crate::gradient::Sum;
use crate::random::{Bits, Generators, Streams};
use crate::schedule::{Draw, Fate, Schedule};
use crate::{Plan, PrivateMetrics, Records, Table, TrainError};
use crate::{digits, noise};
use dobrushin::mechanism::Neighbours;
use dobrushin::run::{Divisor, NoiseKind};
use rayon::prelude::*;

/// The release: the parameters of each task's last iterate (or of the one that was drawn), and nothing else.
///
/// It has no `Debug`, so that parameters are written to one file, on purpose, and nowhere else.
///
/// ```
/// use dobrushin::{Order, Positive, Release, Run};
/// use dobrushin_train::loss::Logistic;
/// use dobrushin_train::{Bounds, Description, Generators, Model, Plan, Seed, Table, Target};
///
/// let run = Run::dp_sgd(4).order(Order::Cyclic).batch_size(2).steps(10).release(Release::Last);
/// let run = run.learning_rate(0.1).clip_norm(1.0).noise_multiplier(3.0).build()?;
/// let bounds = Bounds { dimension: 1, norm: Positive::new(1.0)?, target: Target::Classes(2) };
/// let plan = Plan::new(Description {
///     training: run.as_training().ok_or("it is an iteration")?.clone(),
///     model: Model::Linear { loss: Logistic.into(), features: 1 },
///     bounds,
///     projection: None,
///     loss_bound: Positive::new(1.0)?,
/// })?;
/// let mut table = Table::new(bounds, 1);
/// for class in [0.0, 1.0, 0.0, 1.0] {
///     table.push(&[2.0 * class - 1.0], &[class]);
/// }
/// // A parameter for the only feature; a known seed is for tests.
/// let released = plan.train(&mut table, None, &Generators::new(Seed::Known(1))?, &mut || {})?;
/// assert_eq!((released.parameters.len(), released.parameters[0].len()), (1, 1));
/// assert!(released.evaluations.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct Released {
    /// One vector for each task.
    pub parameters: Vec<Vec<f64>>,
    /// One evaluation for each task, if the plan has one.
    pub evaluations: Vec<PrivateMetrics>,
}

impl Plan {
    /// Carries out the plan. `progress` is called after every step; the number of steps does not depend on the data.
    ///
    /// # Errors
    /// [`TrainError`]; then nothing is released.
    pub fn train(
        &self,
        records: &mut dyn Records,
        public: Option<&Table>,
        generators: &Generators,
        progress: &mut (dyn FnMut() + Send),
    ) -> Result<Released, TrainError> {
        self.train_watched(records, public, generators, progress, &mut |_, _, _| ())
    }

    /// Like [`Plan::train`]; `watch` sees every iterate before its step, and the records of the step.
    pub(crate) fn train_watched(
        &self,
        records: &mut dyn Records,
        public: Option<&Table>,
        generators: &Generators,
        progress: &mut (dyn FnMut() + Send),
        watch: Watch<'_>,
    ) -> Result<Released, TrainError> {
        self.check_records(records, public)?;
        // A thread of the pool does everything: threads that hand each step to the pool and wait for it take longer
        // than small steps do.
        rayon::scope(|_| {
            let mut streams = Streams::new(generators);
            let mut released = Released { parameters: Vec::new(), evaluations: Vec::new() };
            let mut centred = match self.centre(records, &mut streams)? {
                None => None,
                Some(centre) => {
                    let rows = self.around(&centre, records)?;
                    let public = public.map(|table| centre.around_public(table));
                    Some((centre, rows, public))
                }
            };
            for task in 0..records.tasks() {
                let parameters = match &mut centred {
                    None => self.descend(task, records, public, &mut streams, progress, watch)?,
                    Some((centre, rows, public)) => {
                        let public = public.as_ref();
                        let mut parameters =
                            self.descend(task, rows, public, &mut streams, progress, watch)?;
                        centre.undo(&self.model, &mut parameters);
                        parameters
                    }
                };
                if !parameters.iter().all(|parameter| parameter.is_finite()) {
                    return Err(TrainError::Diverged);
                }
                released.evaluations.extend(self.evaluated(&parameters, task, records, &mut streams)?);
                released.parameters.push(parameters);
            }
            Ok(released)
        })
    }

    /// One task, from its start to its release.
    ///
    /// The records of the next step are drawn while this one is carried out. With a random stop or skipped steps, all
    /// steps are still carried out, so neither the time this takes nor the progress tells what was drawn.
    fn descend(
        &self,
        task: usize,
        records: &mut dyn Records,
        public: Option<&Table>,
        streams: &mut Streams<'_>,
        progress: &mut (dyn FnMut() + Send),
        watch: Watch<'_>,
    ) -> Result<Vec<f64>, TrainError> {
        let mut schedule = Schedule::new(self.training(), records.count(), streams.fresh());
        let mut descent = Descent::new(self, task, public, &mut streams.fresh());
        let (mut draw, mut next) = (Draw::default(), Draw::default());
        let mut more = schedule.draw(&mut draw);
        while more {
            let carried_out;
            (carried_out, more) =
                rayon::join(|| descent.step(&draw, records, streams, watch), || schedule.draw(&mut next));
            carried_out?;
            std::mem::swap(&mut draw, &mut next);
            progress();
        }
        Ok(descent.released())
    }

    fn check_records(&self, records: &dyn Records, public: Option<&Table>) -> Result<(), TrainError> {
        let training = self.training();
        let other = |planned: String, found: String| Err(TrainError::OtherRecords { planned, found });
        let count = records.count();
        // Where a record may be present or absent, an error for one record too many would tell that it is present.
        let fits = match training.neighbours {
            Neighbours::AddOrRemoveOne => count >= training.records,
            Neighbours::ReplaceOne | Neighbours::ZeroOut => count == training.records,
        };
        if !fits {
            return other(format!("{} records", training.records), count.to_string());
        }
        let bounded = [Some(records.bounds()), public.map(Table::bounds)];
        if bounded.into_iter().flatten().any(|bounds| bounds != &self.bounds) {
            return other("records within its bounds".to_owned(), "others".to_owned());
        }
        let tasks = [Some(records.tasks()), public.map(Table::tasks)];
        if tasks.into_iter().flatten().any(|tasks| tasks as u64 != training.tasks) {
            return other(format!("{} tasks", training.tasks), "others".to_owned());
        }
        if training.public_steps > 0 && public.is_none_or(Table::is_empty) {
            return Err(TrainError::NoPublicRecords);
        }
        if !records.any_order() && !Schedule::is_in_order(training) {
            return Err(TrainError::AnyOrder);
        }
        Ok(())
    }

    pub(crate) fn project(&self, iterate: &mut [f64]) {
        if let Some(set) = self.projection {
            set.project(iterate);
        }
    }
}

/// Sees the iterate before a step, and the records of the step.
pub(crate) type Watch<'a> = &'a mut (dyn FnMut(&[f64], &Table, &[u32]) + Send);

/// The iterate of one task.
struct Descent<'a> {
    plan: &'a Plan,
    task: usize,
    public: Option<&'a Table>,
    sum: Sum,
    /// The sum of more records than are brought into memory at once.
    total: Vec<f64>,
    start: Vec<f64>,
    iterate: Vec<f64>,
    /// The iterate that will be released, if it is not the last.
    chosen: Option<Vec<f64>>,
    /// The least noise of the steps so far.
    least_noise: f64,
}

impl<'a> Descent<'a> {
    fn new(plan: &'a Plan, task: usize, public: Option<&'a Table>, bits: &mut Bits) -> Self {
        let mut start = plan.model.start(bits);
        plan.project(&mut start);
        Self {
            plan,
            task,
            public,
            sum: Sum::new(&plan.model),
            total: Vec::new(),
            iterate: start.clone(),
            start,
            chosen: None,
            least_noise: f64::INFINITY,
        }
    }

    fn step(
        &mut self,
        draw: &Draw,
        records: &mut dyn Records,
        streams: &mut Streams<'_>,
        watch: Watch<'_>,
    ) -> Result<(), TrainError> {
        let training = self.plan.training();
        // A plan describes all of its steps.
        let update = training.update_at(draw.time).expect("the plan has a rate for every step");
        let divisor = match training.divide_by {
            Divisor::BatchSize => update.divisor,
            Divisor::Actual => draw.records.len().max(1) as f64,
        };
        let step = Step {
            keep: 1.0 - training.weight_decay,
            pace: ROOM * update.rate / divisor,
            noise: update.noise,
            kind: training.noise_kind,
        };
        self.least_noise = update.noise.min(self.least_noise);
        self.add_up(draw, records, watch)?;
        step.apply(&mut self.iterate, &self.total, streams);
        self.plan.project(&mut self.iterate);
        match draw.fate {
            Fate::Skipped => self.iterate.copy_from_slice(&self.start),
            Fate::Released => self.chosen = Some(self.iterate.clone()),
            Fate::Used => {}
        }
        Ok(())
    }

    /// Makes the total the sum of the gradients of the records that were drawn.
    fn add_up(&mut self, draw: &Draw, records: &mut dyn Records, watch: Watch<'_>) -> Result<(), TrainError> {
        let Self { plan, task, sum, total, iterate, .. } = self;
        // Gradients that are short enough anyway are also clipped, so that rounding does not make them longer either.
        let clip = plan.training().contribution.map(|contribution| contribution.norm().get());
        total.clear();
        total.resize(iterate.len(), 0.0);
        let mut add = |part: &[f64]| total.iter_mut().zip(part).for_each(|(total, part)| *total += part);
        if let Some(table) = self.public.filter(|_| draw.public) {
            let wrapped: Vec<u32> = draw.records.iter().map(|&record| record % table.len() as u32).collect();
            add(sum.of(&plan.model, iterate, table, *task, &wrapped, clip));
            return Ok(());
        }
        // Streamed records are never all in memory.
        for wanted in draw.records.chunks(BLOCK) {
            let (table, places) = plan.bring(records, wanted)?;
            watch(iterate, table, &places);
            add(sum.of(&plan.model, iterate, table, *task, &places, clip));
        }
        Ok(())
    }

    /// The release: the iterate that was chosen, or the last, without digits that tell where it came from.
    fn released(self) -> Vec<f64> {
        let mut released = self.chosen.unwrap_or(self.iterate);
        // This does not use the noise of the released step, because which step that is may be secret.
        released.iter_mut().for_each(|parameter| *parameter = digits::round(*parameter, self.least_noise));
        self.plan.project(&mut released);
        released
    }
}

/// One update, before the projection.
struct Step {
    /// 1 − λ.
    keep: f64,
    /// η/b.
    pace: f64,
    /// The size of the noise.
    noise: f64,
    kind: NoiseKind,
}

/// Steps are shorter than described by this much, so that rounding does not make them longer.
///
/// A record that is replaced or emptied may also change the rounding of its block's sum. That change is at most
/// 2·81·2⁻²⁴ times the sum of the norms of 80 gradients (see [`Sum`]), less than 2⁻¹⁰ times the largest norm. The
/// displacement that is accounted for is at least that norm, and 2⁻¹⁰ of it is spared. A shorter step of the same
/// gradients drives no two iterates further apart than a longer one is said to, because no strong convexity is claimed.
const ROOM: f64 = 1.0 - 1.0 / 1024.0;
/// At most this many records are brought into memory at once, and summed separately.
const BLOCK: usize = 1 << 16;
/// Parameters that share a stream of noise.
const CHUNK: usize = 4096;

impl Step {
    fn apply(&self, iterate: &mut [f64], gradients: &[f64], streams: &mut Streams<'_>) {
        let generators = streams.generators;
        let first = streams.reserve(iterate.len().div_ceil(CHUNK));
        let chunks = iterate.par_chunks_mut(CHUNK).zip(gradients.par_chunks(CHUNK));
        chunks.enumerate().for_each(|(number, (iterate, gradients))| {
            let mut bits = generators.stream(first + number as u64);
            let mut buffer = [0.0; CHUNK];
            let noises = &mut buffer[..iterate.len()];
            match self.kind {
                NoiseKind::Gaussian => noise::gaussian(&mut bits, noises),
                NoiseKind::Laplace => noise::laplace(&mut bits, noises),
            }
            for ((parameter, &gradient), &noise) in iterate.iter_mut().zip(gradients).zip(noises.iter()) {
                *parameter = self.keep * *parameter - self.pace * gradient + self.noise * noise;
            }
        });
    }
}
