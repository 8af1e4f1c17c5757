//! The iteration: w ← Π((1 − λ)·w − (η/b)·Σ gradients + noise).

use crate::crafted::{Crafted, CraftedGradient};
use crate::gradient::{self, Sum};
use crate::random::{Generators, Streams};
use crate::schedule::{Draw, Fate, Schedule};
use crate::{Kept, Plan, PrivateMetrics, Records, Table, TrainError};
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
        let gradients = &mut Gradients::Own(&mut |_, _, _| ());
        Ok(self.train_by(records, public, generators, progress, gradients, None)?.0)
    }

    /// Like [`Plan::train`], by the records' own gradients or by others, from the start or from where training stopped.
    /// It also returns where each task stopped.
    pub(crate) fn train_by(
        &self,
        records: &mut dyn Records,
        public: Option<&Table>,
        generators: &Generators,
        progress: &mut (dyn FnMut() + Send),
        gradients: &mut Gradients<'_>,
        from: Option<&Kept>,
    ) -> Result<(Released, Vec<Kept>), TrainError> {
        if from.is_none() {
            self.refuse_deletions()?;
        }
        self.check_records(records, public)?;
        // A thread of the pool does everything: threads that hand each step to the pool and wait for it take longer
        // than small steps do.
        rayon::scope(|_| {
            let mut work = Work { streams: Streams::new(generators), progress, gradients, from };
            let mut released = Released { parameters: Vec::new(), evaluations: Vec::new() };
            let mut stopped = Vec::new();
            let mut centred = match self.centre(records, &mut work.streams)? {
                None => None,
                Some(centre) => {
                    let rows = self.around(&centre, records)?;
                    let public = public.map(|table| centre.around_public(table));
                    Some((centre, rows, public))
                }
            };
            for task in 0..records.tasks() {
                let (parameters, kept) = match &mut centred {
                    None => self.descend(task, records, public, &mut work)?,
                    Some((centre, rows, public)) => {
                        let public = public.as_ref();
                        let (mut parameters, kept) = self.descend(task, rows, public, &mut work)?;
                        centre.undo(&self.model, &mut parameters);
                        (parameters, kept)
                    }
                };
                if !parameters.iter().all(|parameter| parameter.is_finite()) {
                    return Err(TrainError::Diverged);
                }
                released.evaluations.extend(self.evaluated(&parameters, task, records, &mut work.streams)?);
                released.parameters.push(parameters);
                stopped.push(kept);
            }
            Ok((released, stopped))
        })
    }

    /// One task, from its start, or from where it stopped, to its release; and where it stops then.
    ///
    /// The records of the next step are drawn while this one is carried out. With a random stop or skipped steps, all
    /// steps are still carried out, so neither the time this takes nor the progress tells what was drawn.
    fn descend(
        &self,
        task: usize,
        records: &mut dyn Records,
        public: Option<&Table>,
        work: &mut Work<'_, '_>,
    ) -> Result<(Vec<f64>, Kept), TrainError> {
        let Work { streams, progress, gradients, from } = work;
        let mut schedule = Schedule::new(self.training(), records.count(), streams.fresh());
        let mut start = self.model.start(&mut streams.fresh());
        self.project(&mut start);
        if let Some(kept) = from {
            schedule.go_on_from(kept);
            start.clone_from(&kept.iterate);
            // The steps that were made before used these.
            streams.skip(kept.steps.saturating_mul(chunks(&start) as u64));
        }
        let mut descent = Descent::new(self, task, public, start);
        if let Some(kept) = from {
            descent.least_noise = kept.least_noise;
        }
        let (mut draw, mut next) = (Draw::default(), Draw::default());
        let mut more = schedule.draw(&mut draw);
        while more {
            let carried_out;
            (carried_out, more) = if matches!(gradients, Gradients::Own(_)) {
                rayon::join(|| descent.step(&draw, records, streams, gradients), || schedule.draw(&mut next))
            } else {
                // An auditor trains a model in each thread.
                (descent.step(&draw, records, streams, gradients), schedule.draw(&mut next))
            };
            carried_out?;
            std::mem::swap(&mut draw, &mut next);
            progress();
        }
        let (steps, drawn, order) = schedule.stopped();
        let (iterate, least_noise) = (descent.iterate.clone(), descent.least_noise);
        Ok((descent.released(), Kept { iterate, steps, least_noise, drawn, order }))
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

    /// The largest norm of a contribution. Gradients that are short enough anyway are also clipped, so that rounding does
    /// not make them longer either.
    fn clip(&self) -> Option<f64> {
        self.training().contribution.map(|contribution| contribution.norm().get())
    }

    pub(crate) fn project(&self, iterate: &mut [f64]) {
        if let Some(set) = self.projection {
            set.project(iterate);
        }
    }
}

/// Sees the iterate before a step, and the records of the step.
pub(crate) type Watch<'a> = &'a mut (dyn FnMut(&[f64], &Table, &[u32]) + Send);

/// What all tasks share.
struct Work<'a, 'b> {
    streams: Streams<'a>,
    progress: &'a mut (dyn FnMut() + Send),
    gradients: &'a mut Gradients<'b>,
    /// Where training stopped, if it goes on from there.
    from: Option<&'a Kept>,
}

/// Which gradients are summed.
pub(crate) enum Gradients<'a> {
    /// Those of the records, while somebody watches.
    Own(Watch<'a>),
    /// Those that an auditor crafted.
    Crafted(&'a Crafted<'a>),
}

/// The iterate of one task.
struct Descent<'a> {
    plan: &'a Plan,
    task: usize,
    public: Option<&'a Table>,
    sum: Sum,
    /// The sum of more records than are brought into memory at once.
    total: Vec<f64>,
    /// A gradient that an auditor crafted.
    gradient: Vec<f64>,
    /// The records that an auditor left alone.
    others: Vec<u32>,
    start: Vec<f64>,
    iterate: Vec<f64>,
    /// The iterate that will be released, if it is not the last.
    chosen: Option<Vec<f64>>,
    /// The least noise of the steps so far.
    least_noise: f64,
}

impl<'a> Descent<'a> {
    fn new(plan: &'a Plan, task: usize, public: Option<&'a Table>, start: Vec<f64>) -> Self {
        Self {
            plan,
            task,
            public,
            sum: Sum::new(&plan.model),
            total: Vec::new(),
            gradient: Vec::new(),
            others: Vec::new(),
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
        gradients: &mut Gradients<'_>,
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
        self.add_up(draw, records, gradients)?;
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
    fn add_up(
        &mut self,
        draw: &Draw,
        records: &mut dyn Records,
        gradients: &mut Gradients<'_>,
    ) -> Result<(), TrainError> {
        self.total.clear();
        self.total.resize(self.iterate.len(), 0.0);
        if let Some(table) = self.public.filter(|_| draw.public) {
            let wrapped: Vec<u32> = draw.records.iter().map(|&record| record % table.len() as u32).collect();
            self.add(table, &wrapped);
            return Ok(());
        }
        match gradients {
            Gradients::Own(watch) => self.add_own(&draw.records, records, watch),
            Gradients::Crafted(crafted) => self.add_crafted(draw, records, crafted),
        }
    }

    /// Adds the records' own gradients.
    fn add_own(
        &mut self,
        wanted: &[u32],
        records: &mut dyn Records,
        watch: Watch<'_>,
    ) -> Result<(), TrainError> {
        // Streamed records are never all in memory.
        for wanted in wanted.chunks(BLOCK) {
            let (table, places) = self.plan.bring(records, wanted)?;
            watch(&self.iterate, table, &places);
            self.add(table, &places);
        }
        Ok(())
    }

    /// Adds the gradients that an auditor crafted, and those of records that it left alone.
    fn add_crafted(
        &mut self,
        draw: &Draw,
        records: &mut dyn Records,
        crafted: &Crafted<'_>,
    ) -> Result<(), TrainError> {
        let mut others = std::mem::take(&mut self.others);
        let canaries = crafted.split(&draw.records, &mut others);
        match crafted.others() {
            None => self.add_own(&others, records, &mut |_, _, _| ())?,
            Some(gradient) => self.add_many(draw.time, gradient, others.len()),
        }
        canaries.into_iter().for_each(|gradient| self.add_many(draw.time, gradient, 1));
        self.others = others;
        Ok(())
    }

    /// Adds the gradients of records in a table.
    fn add(&mut self, table: &Table, places: &[u32]) {
        let Self { plan, task, sum, total, iterate, .. } = self;
        let part = sum.of(&plan.model, iterate, table, *task, places, plan.clip());
        total.iter_mut().zip(part).for_each(|(total, part)| *total += part);
    }

    /// Adds a crafted gradient, clipped, this often.
    fn add_many(&mut self, time: u64, crafted: &CraftedGradient<'_>, count: usize) {
        let Self { plan, total, iterate, gradient, .. } = self;
        gradient.clear();
        gradient.resize(iterate.len(), 0.0);
        crafted(time, iterate, gradient);
        gradient::clip(gradient, plan.clip());
        total.iter_mut().zip(&*gradient).for_each(|(total, part)| *total += count as f64 * part);
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

/// The number of streams that the noise of a step uses.
fn chunks(iterate: &[f64]) -> usize {
    iterate.len().div_ceil(CHUNK)
}

impl Step {
    fn apply(&self, iterate: &mut [f64], gradients: &[f64], streams: &mut Streams<'_>) {
        let generators = streams.generators;
        let first = streams.reserve(chunks(iterate));
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
