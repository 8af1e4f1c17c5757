//! The records of a training run: those to train on, those to test on, and public ones.

use super::arguments::TrainArgs;
use crate::keeping::Keeping;
use crate::ledger::{Charging, Remaining};
use crate::problem::Problem;
use crate::table_file::Rows;
use crate::train_data::{Loaded, Streamed, load, load_columns, pad, refuse_none, split};
use dobrushin_document::SelfContained;
use dobrushin_document::state::State;
use dobrushin_document::trained::{self, count_is_secret};
use dobrushin_train::schema::Schema;
use dobrushin_train::{Generators, Plan, Regret, Released, Table, TrainError};
use std::path::{Path, PathBuf};

/// All records of a training run.
pub struct Data {
    private: Private,
    /// Test records, which may be looked at.
    pub test: Option<Table>,
    /// Records for public steps.
    pub public: Option<Table>,
    /// What the schema did to the private records; it is as private as they are.
    pub enforced: Option<Loaded>,
    /// The regret of online learning, if the records are public.
    pub regret: Option<Regret>,
    are_public: bool,
    /// What is kept of training, if it is to go on later.
    keeping: Option<Keeping>,
}

enum Private {
    Memory(Table),
    Streamed(Box<Streamed>),
}

/// The stream that decides which records are for testing; training numbers its streams from 0 upwards.
const SPLIT: u64 = u64::MAX;

impl Data {
    /// Reads the files that the flags name.
    ///
    /// The contents of a public row may stop the program. The contents of a private row must not: if the program did
    /// not stop, that would tell that every row could be used. So private rows that cannot be used are always empty
    /// records.
    pub fn read(
        arguments: &TrainArgs,
        schema: &Schema,
        generators: &Generators,
        charging: &Charging,
        show_progress: bool,
    ) -> Result<Self, Problem> {
        let data = Self::read_all(arguments, schema, generators, &charging.gone, show_progress)?;
        charging.refuse_other_records(data.count())?;
        Ok(data)
    }

    fn read_all(
        arguments: &TrainArgs,
        schema: &Schema,
        generators: &Generators,
        gone: &[u64],
        show_progress: bool,
    ) -> Result<Self, Problem> {
        let read_public = |path: &PathBuf| -> Result<Table, Problem> {
            let table = load(arguments.cells.source(path), schema, arguments.skip_bad, show_progress)?.table;
            refuse_none(path, table.len() as u64)?;
            Ok(table)
        };
        let mut test = arguments.test.as_ref().map(read_public).transpose()?;
        let public = arguments.public.as_ref().map(read_public).transpose()?;
        let skip_bad = arguments.skip_bad || !arguments.data_is_public;
        let source = arguments.cells.source(&arguments.data);
        if arguments.stream {
            let streamed = Streamed::open(source, schema, skip_bad, show_progress)?;
            let private = Private::Streamed(Box::new(streamed));
            let (enforced, regret, keeping) = (None, None, None);
            return Ok(Self { private, test, public, enforced, regret, are_public: false, keeping });
        }
        let (mut loaded, keeping) = match arguments.keep_state {
            None => {
                let columns = Remaining { rows: &source, gone }.columns(&schema.columns_wanted())?;
                (load_columns(source.path, columns, schema, skip_bad, show_progress)?, None)
            }
            Some(_) => {
                let (loaded, keeping) = Keeping::load(&source, schema, show_progress)?;
                (loaded, Some(keeping))
            }
        };
        let mut table = std::mem::replace(&mut loaded.table, Table::new(schema.bounds(), schema.tasks()));
        if let Some(share) = arguments.test_share {
            let (kept, tested) = split(&table, share, &mut generators.stream(SPLIT));
            if kept.is_empty() || tested.is_empty() {
                let what = format!(
                    "--test-share {} of {} records leaves none on one side",
                    share.get(),
                    table.len()
                );
                return Err(Problem::new(what).help("--test-share 0.2"));
            }
            (table, test) = (kept, Some(tested));
        }
        let (private, are_public) = (Private::Memory(table), arguments.data_is_public);
        Ok(Self { private, test, public, enforced: Some(loaded), regret: None, are_public, keeping })
    }

    /// How many records there are to train on, if there are any.
    pub fn some(&self, path: &Path) -> Result<u64, Problem> {
        refuse_none(path, self.count())?;
        Ok(self.count())
    }

    /// How many records there are to train on.
    fn count(&self) -> u64 {
        match &self.private {
            Private::Memory(table) => table.len() as u64,
            Private::Streamed(streamed) => streamed.found().rows,
        }
    }

    /// The run with this many records, unless their number is a secret; a run that gives another number is refused.
    pub fn counted(&self, path: &Path, run: SelfContained) -> Result<SelfContained, Problem> {
        if count_is_secret(&run)? {
            return Ok(run);
        }
        Ok(trained::counted(run, self.some(path)?)?)
    }

    /// Adds the empty records that the plan counts on.
    pub fn prepare(&mut self, plan: &Plan) {
        let training = plan.training();
        match &mut self.private {
            Private::Memory(table) => pad(table, training.records),
            Private::Streamed(streamed) => streamed.pad_to(training.records),
        }
    }

    /// Carries out the plan.
    pub fn train(
        &mut self,
        plan: &Plan,
        generators: &Generators,
        progress: &mut (dyn FnMut() + Send),
    ) -> Result<Released, TrainError> {
        let public = self.public.as_ref();
        match &mut self.private {
            Private::Memory(table) if self.are_public => {
                let (released, regret) = plan.train_on_public_records(table, public, generators, progress)?;
                self.regret = regret;
                Ok(released)
            }
            Private::Memory(table) => match &mut self.keeping {
                None => plan.train(table, public, generators, progress),
                Some(keeping) => keeping.train(plan, table, generators, progress),
            },
            Private::Streamed(streamed) => plan.train(streamed.as_mut(), public, generators, progress),
        }
    }

    /// What it takes to go on after the run was carried out, if it is to be kept.
    pub fn state(&mut self, run: &SelfContained, seed: Option<u64>) -> Option<State> {
        self.keeping.take()?.state(run, seed)
    }

    /// The records, if they are in memory.
    pub fn in_memory(&self) -> Option<&Table> {
        match &self.private {
            Private::Memory(table) => Some(table),
            Private::Streamed(_) => None,
        }
    }
}
