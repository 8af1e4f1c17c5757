//! Somebody's program, run many times on two data sets.

use super::Rows;
use super::arguments::AuditArgs;
use super::call::{Call, Template};
use super::state::{Finished, State, identity};
use crate::file::TemporaryFolder;
use crate::input;
use crate::problem::Problem;
use crate::watch::Watch;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The models of each data set, if nothing else is said.
const RUNS: u64 = 1000;
/// One call trains at most this many models, so that progress is seen and an interruption loses little.
const MOST_MODELS: u64 = 250;

/// The models with the record and without it, by as many calls as are needed.
pub fn models(command: &str, arguments: &AuditArgs, show_progress: bool) -> Result<(Rows, Rows), Problem> {
    let template = Template::new(command)?;
    let program = &arguments.program;
    let (Some(data), Some(neighbour)) = (&program.data, &program.neighbour) else {
        return Err(Problem::new("--command needs --data WITH.csv and --neighbour WITHOUT.csv"));
    };
    let contents = [input::bytes(data)?, input::bytes(neighbour)?];
    if contents[0] == contents[1] {
        return Err(Problem::new(
            "--data and --neighbour are the same records, so there is nothing to tell apart",
        )
        .help("leave the record out of --neighbour, or put another one in its place"));
    }
    let (state, before) = match &arguments.state {
        Some(path) => {
            let (state, before) = State::open(path, &identity(command, &contents[0], &contents[1]))?;
            (Some(state), before)
        }
        None => (None, Vec::new()),
    };
    let runs = arguments.runs.unwrap_or(RUNS);
    let jobs = program.jobs.map_or_else(cores, |jobs| jobs.get() as u64);
    let size = if template.takes_runs() { (runs / (4 * jobs)).clamp(1, MOST_MODELS) } else { 1 };
    let work = Work {
        template,
        data,
        neighbour,
        size,
        runs,
        folder: TemporaryFolder::new()
            .map_err(|error| Problem::new("cannot make a temporary folder").because(error))?,
        done: Mutex::new(Done { state, ..Done::from(before)? }),
        watch: Watch::new(show_progress, 2 * runs, "models"),
    };
    std::thread::scope(|scope| {
        for worker in 0..jobs {
            let work = &work;
            scope.spawn(move || work.go_on(worker));
        }
    });
    let done = work.done.into_inner().unwrap_or_else(PoisonError::into_inner);
    match done.failed {
        Some(problem) => Err(problem),
        None => Ok((done.with, done.without)),
    }
}

fn cores() -> u64 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64)
}

struct Work<'a> {
    template: Template<'a>,
    data: &'a Path,
    neighbour: &'a Path,
    /// The models of one call.
    size: u64,
    /// The models of each data set.
    runs: u64,
    folder: TemporaryFolder,
    done: Mutex<Done>,
    watch: Watch,
}

/// What was asked for and what was answered so far.
#[derive(Default)]
struct Done {
    /// The models that were asked for, with the record and without it, also those of unfinished calls.
    asked: [u64; 2],
    next_call: u64,
    with: Rows,
    without: Rows,
    /// The last call's models of each data set.
    last: [Rows; 2],
    state: Option<State>,
    failed: Option<Problem>,
}

impl Done {
    /// What earlier calls did.
    fn from(calls: Vec<Finished>) -> Result<Self, Problem> {
        let mut done = Self::default();
        for call in calls {
            done.next_call = done.next_call.max(call.call.saturating_add(1));
            let rows = call.rows().unwrap_or_default();
            done.asked[usize::from(!call.with)] += rows.len() as u64;
            done.take(call.with, rows)?;
        }
        Ok(done)
    }

    fn take(&mut self, with: bool, rows: Rows) -> Result<(), Problem> {
        let width = self.with.iter().chain(&self.without).chain(&rows).map(Vec::len).next().unwrap_or(0);
        if let Some(row) = rows.iter().find(|row| row.len() != width) {
            let what = format!("one model has {} numbers and another one {width}", row.len());
            return Err(
                Problem::new(what).help("write the same parameters of every model, in the same order")
            );
        }
        let last = &mut self.last[usize::from(!with)];
        let numbers: Vec<f64> = rows.concat();
        let varies = numbers.windows(2).any(|pair| pair[0] != pair[1]);
        if varies && *last == rows {
            return Err(Problem::new(
                "two calls on the same data wrote the same numbers, so the runs are not independent",
            )
            .help("the command seems to draw from a fixed seed: seed it with {seed}, or not at all"));
        }
        last.clone_from(&rows);
        if with { &mut self.with } else { &mut self.without }.extend(rows);
        Ok(())
    }
}

impl Work<'_> {
    fn done(&self) -> MutexGuard<'_, Done> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes calls, on the two data sets alternately, until all is asked for or something fails.
    fn go_on(&self, worker: u64) {
        while let Some((number, with, models)) = self.next() {
            let out = self.folder.path().join(format!("{worker}.csv"));
            let data = if with { self.data } else { self.neighbour };
            let answer = self.template.run(&Call { data, out: &out, number, models });
            let mut done = self.done();
            let kept = answer.and_then(|rows| {
                let call = Finished::new(number, with, &rows);
                done.take(with, rows)?;
                done.state.as_mut().map_or(Ok(()), |state| state.keep(&call))
            });
            match kept {
                Ok(()) => self.watch.progress().advance(models),
                Err(problem) => done.failed = done.failed.take().or(Some(problem)),
            }
        }
    }

    /// The next call: its number, its data set and its models.
    fn next(&self) -> Option<(u64, bool, u64)> {
        let mut done = self.done();
        if done.failed.is_some() {
            return None;
        }
        let side = usize::from(done.asked[1] < done.asked[0]);
        let models = self.size.min(self.runs.saturating_sub(done.asked[side]));
        if models == 0 {
            return None;
        }
        done.asked[side] += models;
        done.next_call += 1;
        Some((done.next_call - 1, side == 0, models))
    }
}
