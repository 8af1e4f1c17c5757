//! Deleting records from a model, for every front end: from the state to the new model and the new state.

mod request;

pub use request::{Found, Request, Which};

use crate::day;
use crate::model_folder::{self, Folder};
use crate::problem::Problem;
use crate::state_file;
use crate::table_file::Rows;
use dobrushin::Progress;
use dobrushin::run::Forgotten;
use dobrushin_document::forgotten::{Wish, everyone_else, planned};
use dobrushin_document::report::ForgettingReport;
use dobrushin_document::state::State;
use dobrushin_document::trained::{Accounted, Circumstances, Trained};
use dobrushin_train::schema::Schema;
use dobrushin_train::{Generators, Seed};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What a request is to meet, and how.
pub struct How {
    wish: Wish,
    seed: Option<u64>,
    generators: Generators,
    made: Option<String>,
    dry_run: bool,
}

impl How {
    /// With a seed, everything can be repeated. A dry run makes no step.
    ///
    /// # Errors
    /// [`Problem`] if there is no randomness.
    pub fn new(wish: Wish, seed: Option<u64>, dry_run: bool) -> Result<Self, Problem> {
        // The day is read before the records are, so that it does not depend on them.
        let made = Some(day::today());
        let generators = Generators::new(seed.map_or(Seed::OperatingSystem, Seed::Known))?;
        Ok(Self { wish, seed, generators, made, dry_run })
    }
}

/// A state that training goes on from. Nobody else does until this value is dropped.
pub struct Resumed {
    path: PathBuf,
    state: State,
    lock: File,
    schema: Schema,
    records: u64,
    /// Whether others can read the file, which is secret, in words.
    pub warning: Option<String>,
}

/// What came of a request.
pub struct Outcome {
    /// What may be said; it does not know yet of files other than the state.
    pub report: ForgettingReport,
    /// The new model, unless nothing was to be made.
    pub made: Option<Made>,
}

/// A new model, and the state that goes with it. Nothing is written yet.
pub struct Made {
    /// The model with its certificate.
    pub trained: Trained,
    /// How long the clean steps took.
    pub took: Duration,
    path: PathBuf,
    next: State,
    _lock: File,
}

impl Resumed {
    /// Opens a state.
    ///
    /// # Errors
    /// [`Problem`] if it cannot be read, or somebody else is going on from it.
    pub fn open(path: &Path) -> Result<Self, Problem> {
        let (state, lock) = state_file::open(path)?;
        let warning = state_file::warning(path, &lock);
        let (plan, schema) = state.run.plan()?;
        let records = plan.training().records;
        Ok(Self { path: path.to_owned(), state, lock, schema, records, warning })
    }

    /// What the columns of the data may hold.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// What was trained, without the requests.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Finds the rows of a request.
    ///
    /// # Errors
    /// [`Problem`] with the row that does not fit.
    pub fn find(
        &self,
        data: &dyn Rows,
        request: &Request<'_>,
        show_progress: bool,
    ) -> Result<Found, Problem> {
        request.find(data, &self.state, &self.schema, self.records, show_progress)
    }

    /// Finds how many clean steps it takes, and makes them. `begin` is told what is being worked on, and gives what
    /// counts it.
    ///
    /// # Errors
    /// [`Problem`] if no number of steps is enough, or the answer is no.
    pub fn forget(
        self,
        found: Found,
        how: How,
        begin: &mut dyn FnMut(&'static str) -> Progress,
    ) -> Result<Outcome, Problem> {
        let Self { path, state, lock, schema, .. } = self;
        let How { wish, seed, generators, made, dry_run } = how;
        let records = found.deleted.len() as u64;
        let (run, steps) = planned(&state, records, wish, &begin("search"))?;
        let accounted = Accounted::new(&run, wish.question(), begin)?;
        wish.refuse_more(&accounted.account)?;
        let now = Forgotten { records, steps };
        let seed = seed.or(state.seed);
        let report = ForgettingReport {
            everyone_else: everyone_else(&state, now, wish.question(), begin("analyses")),
            ..ForgettingReport::new(&accounted, &run, &schema, seed)
        };
        if dry_run {
            return Ok(Outcome { report, made: None });
        }
        let start = Instant::now();
        let Found { deleted, mut table } = found;
        let all: Vec<u32> = state.deleted().chain(deleted.iter().copied()).collect();
        let mut kept = None;
        let circumstances =
            Circumstances { seed, test_share: None, keeps_state: true, data_is_public: false, made };
        let trained = accounted.train(circumstances, begin, |plan, progress| {
            let (released, stopped) = plan.forget(&state.kept, &mut table, &all, &generators, progress)?;
            kept = Some(stopped);
            Ok(released)
        })?;
        let mut rows = state.rows;
        deleted.iter().for_each(|&row| rows[row as usize] = None);
        let next = State {
            run: state.run,
            seed,
            requests: state.requests.into_iter().chain([now]).collect(),
            kept: kept.ok_or_else(|| Problem::new("no step was made"))?,
            key: state.key,
            rows,
        };
        let report = ForgettingReport { state: Some(path.display().to_string()), ..report };
        let made = Made { trained, took: start.elapsed(), path, next, _lock: lock };
        Ok(Outcome { report, made: Some(made) })
    }
}

impl Made {
    /// Writes the model with its certificate, if there is a folder for them, a report, if there is one, and the new
    /// state: all of them or none.
    ///
    /// # Errors
    /// [`Problem`] if something cannot be written.
    pub fn write(&self, folder: Option<&Folder>, page: Option<(&Path, Vec<u8>)>) -> Result<(), Problem> {
        let Trained { model, certificate, .. } = &self.trained;
        model_folder::write(folder, model, certificate, page, Some((&self.path, &self.next)))
    }
}
