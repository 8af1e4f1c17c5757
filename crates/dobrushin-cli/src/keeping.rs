//! Training whose state is kept, so that records can be deleted later.

use crate::problem::Problem;
use crate::state_file;
use crate::table_file::Rows;
use crate::train_data::{Loaded, load_marked};
use dobrushin_document::state::{Print, RowKey, State};
use dobrushin_document::{SelfContained, forgotten};
use dobrushin_train::schema::Schema;
use dobrushin_train::{Generators, Kept, Plan, Records, Released, TrainError};
use std::path::Path;

/// The rows, by their hashes, and where training stopped.
pub struct Keeping {
    key: RowKey,
    rows: Vec<Option<Print>>,
    kept: Option<Kept>,
}

impl Keeping {
    /// Refuses a place at which no state may be put, and a run from which no record could ever be deleted.
    ///
    /// # Errors
    /// [`Problem`] with what is in the way.
    pub fn check(path: &Path, force: bool, run: &SelfContained) -> Result<(), Problem> {
        state_file::refuse_existing(path, force)?;
        Ok(forgotten::refuse_unforgettable(run)?)
    }

    /// Reads all private records, and what it takes to find them again.
    ///
    /// # Errors
    /// [`Problem`] if they cannot be read.
    pub fn load(rows: &dyn Rows, schema: &Schema, show_progress: bool) -> Result<(Loaded, Self), Problem> {
        let key = state_file::fresh_key()?;
        let (loaded, marks) = load_marked(rows, schema, &key, &[], show_progress)?;
        let rows = marks.into_iter().map(|mark| Some(mark.print)).collect();
        Ok((loaded, Self { key, rows, kept: None }))
    }

    /// Carries out the plan.
    ///
    /// # Errors
    /// [`TrainError`]; then nothing is released.
    pub fn train(
        &mut self,
        plan: &Plan,
        records: &mut dyn Records,
        generators: &Generators,
        progress: &mut (dyn FnMut() + Send),
    ) -> Result<Released, TrainError> {
        let (released, kept) = plan.train_and_keep(records, generators, progress)?;
        self.kept = Some(kept);
        Ok(released)
    }

    /// What it takes to go on after the run was carried out.
    pub fn state(self, run: &SelfContained, seed: Option<u64>) -> Option<State> {
        let Self { key, rows, kept } = self;
        Some(State { run: run.clone(), seed, requests: Vec::new(), kept: kept?, key, rows })
    }
}
