//! Charging a model to the people whose records it is trained on.

use crate::frame::Given;
use crate::ledger::{exhausted, place_of};
use crate::people::Names;
use dobrushin::Progress;
use dobrushin_cli::ledger::{Charge, Charging, Exhausted};
use dobrushin_cli::{Problem, Rows};
use dobrushin_document::SelfContained;
use dobrushin_ledger::Place;
use dobrushin_train::schema::Schema;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::path::PathBuf;

/// Who is charged for a model, and where.
pub struct ModelCharge {
    place: Place,
    person: Person,
    exhausted: Exhausted,
    /// Where the model goes.
    out: Option<PathBuf>,
}

/// Whose each record is.
enum Person {
    /// The column of a file says it.
    Column(String),
    Names(Names),
}

impl ModelCharge {
    /// A ledger, and the name of a column of a file or the names of people.
    pub fn new(
        ledger: &str,
        person: &Bound<'_, PyAny>,
        leave_out: bool,
        out: Option<PathBuf>,
    ) -> PyResult<Self> {
        let person = match person.cast::<PyString>() {
            Ok(_) => Person::Column(person.extract()?),
            Err(_) => Person::Names(Names::of(person, "person")?),
        };
        Ok(Self { place: place_of(ledger), person, exhausted: exhausted(leave_out), out })
    }

    /// Reserves the model. `run` is what will be trained on this many of the private records.
    ///
    /// # Errors
    /// [`Problem`] if somebody's budget would be exceeded, or something is wrong; then nothing is reserved.
    pub fn reserve(
        &self,
        private: &Given,
        schema: &Schema,
        progress: &Progress,
        run: &dyn Fn(u64) -> Result<SelfContained, Problem>,
    ) -> Result<Unreleased, Problem> {
        let Self { place, person, exhausted, out } = self;
        if let (Person::Names(names), Given::Memory(frame, _)) = (person, private)
            && names.len() != frame.rows()
        {
            let (names, records) = (names.len(), frame.rows());
            return Err(Problem::new(format!("person has {names} names, but there are {records} records"))
                .help("give the name of the person of each record, in the order of the records"));
        }
        let what = match out {
            Some(folder) => format!("model in {}", folder.display()),
            None => format!("model of {}", schema.label_columns().join(", ")),
        };
        let file = private.named(schema, Vec::new());
        let (rows, person): (&dyn Rows, _) = match person {
            Person::Column(column) => (&file, column.as_str()),
            Person::Names(names) => (names, "person"),
        };
        let charge = Charge { place, rows, person, exhausted: *exhausted, what };
        Charging::of(&charge, progress, run).map(|charging| Unreleased { charging })
    }
}

/// A reservation of something that has not left this program. Whatever ends its work, Ctrl-C and defects too, ends the
/// reservation with it.
#[derive(Default)]
pub struct Unreleased {
    charging: Charging,
}

impl Unreleased {
    /// What is known about who is charged.
    pub fn charging(&self) -> &Charging {
        &self.charging
    }

    /// From here on, it may leave: only who settles this knows whether it did.
    pub fn leaving(mut self) -> Charging {
        std::mem::take(&mut self.charging)
    }
}

impl Drop for Unreleased {
    fn drop(&mut self) {
        let charging = std::mem::take(&mut self.charging);
        // Whoever ended the work has said why.
        _ = charging.settle(Err::<(), _>(Problem::new("the work was ended")));
    }
}
