//! Charging a model to the people whose records it is trained on.

use super::arguments::TrainArgs;
use crate::ledger::{Charged, Exhausted, open, roll, spend_of};
use crate::problem::Problem;
use crate::watch::Watch;
use dobrushin_document::SelfContained;

/// The records that may be used, and what they are charged for.
#[derive(Default)]
pub struct Charging {
    charged: Option<Charged>,
    /// The places of records that are left out, from 1 upwards.
    pub gone: Vec<u64>,
}

impl Charging {
    /// Reserves the model in the ledger that the flags name, if they do. `run` is what will be trained on this many records.
    pub fn of(
        arguments: &TrainArgs,
        show_progress: bool,
        run: &dyn Fn(u64) -> Result<SelfContained, Problem>,
    ) -> Result<Self, Problem> {
        let Some((place, person)) = arguments.charge.ledger.as_ref().zip(arguments.charge.person.as_deref())
        else {
            return Ok(Self::default());
        };
        if arguments.seed.is_some() || arguments.data_is_public || arguments.test_share.is_some() {
            return Err(Problem::new("--ledger counts what private training tells, which --seed, --data-is-public and --test-share exceed")
                .help("leave them out; --test FILE tests on public records"));
        }
        let mut ledger = open(place)?;
        let terms = ledger.terms()?;
        let mut roll = roll(&mut ledger, &arguments.cells.source(&arguments.data), person)?;
        let exhausted = if arguments.leave_out { Exhausted::LeaveOut } else { Exhausted::Refuse };
        let watch = Watch::new(show_progress, 0, "what it costs");
        let what = format!("model in {}", arguments.out.display());
        let mut spend =
            |records| spend_of(&run(records)?, records, &terms, Some(what.clone()), watch.progress());
        let (charged, _) = Charged::reserve(place, ledger, &mut roll, exhausted, &mut spend)?;
        Ok(Self { charged: Some(charged), gone: roll.records_left_out().to_vec() })
    }

    /// Refuses to train on other records than those that were charged.
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

    /// Commits what was reserved if the model was written, and aborts it otherwise.
    pub fn settle<T>(self, outcome: Result<T, Problem>) -> Result<T, Problem> {
        Charged::settle(self.charged, outcome)
    }
}
