//! Charging a model to the people whose records it is trained on.

use super::{Charged, Exhausted, open, roll, spend_of};
use crate::problem::Problem;
use crate::table_file::Rows;
use dobrushin::Progress;
use dobrushin_document::SelfContained;
use dobrushin_document::report::ChargedReport;
use dobrushin_ledger::Place;

/// Who is charged, and where.
pub struct Charge<'a> {
    /// The ledger.
    pub place: &'a Place,
    /// The private records.
    pub rows: &'a dyn Rows,
    /// The column that says whose each of them is.
    pub person: &'a str,
    /// What to do about people whose budgets would be exceeded.
    pub exhausted: Exhausted,
    /// What the model is, in a few words.
    pub what: String,
}

/// The records that may be used, and what they are charged for. Without a ledger, these are all, and nothing.
#[derive(Default)]
pub struct Charging {
    charged: Option<Charged>,
    /// The places of records that are left out, from 1 upwards.
    pub gone: Vec<u64>,
}

impl Charging {
    /// Reserves the model. `run` is what will be trained on this many records.
    ///
    /// # Errors
    /// [`Problem`] if somebody's budget would be exceeded, or something is wrong; then nothing is reserved.
    pub fn of(
        charge: &Charge,
        progress: &Progress,
        run: &dyn Fn(u64) -> Result<SelfContained, Problem>,
    ) -> Result<Self, Problem> {
        let mut ledger = open(charge.place)?;
        let terms = ledger.terms()?;
        let mut roll = roll(&mut ledger, charge.rows, charge.person)?;
        let mut spend =
            |records| spend_of(&run(records)?, records, &terms, Some(charge.what.clone()), progress);
        let (charged, _) = Charged::reserve(charge.place, ledger, &mut roll, charge.exhausted, &mut spend)?;
        Ok(Self { charged: Some(charged), gone: roll.records_left_out().to_vec() })
    }

    /// Refuses to train on other records than those that were charged.
    ///
    /// # Errors
    /// [`Problem`] if there are more or fewer.
    pub fn refuse_other_records(&self, count: u64) -> Result<(), Problem> {
        match &self.charged {
            Some(charged) if charged.reserved().records != count => Err(Problem::new(format!(
                "{} records are charged, but there are {count}: the data changed while they were read",
                charged.reserved().records
            ))
            .help("train again on data that stay as they are")),
            _ => Ok(()),
        }
    }

    /// As reports show it, if anybody is charged.
    pub fn report(&self) -> Option<ChargedReport> {
        self.charged.as_ref().map(Charged::report)
    }

    /// The model is about to leave this program, and can no longer be aborted by somebody else.
    ///
    /// # Errors
    /// [`Problem`] if somebody has aborted it, or the ledger fails. Then nothing may be released.
    pub fn leaves(&mut self) -> Result<(), Problem> {
        self.charged.as_mut().map_or(Ok(()), Charged::leaves)
    }

    /// Commits what was reserved if the model was written, and aborts it otherwise.
    ///
    /// # Errors
    /// [`Problem`] of the outcome, or of the ledger.
    pub fn settle<T>(self, outcome: Result<T, Problem>) -> Result<T, Problem> {
        Charged::settle(self.charged, outcome)
    }
}
