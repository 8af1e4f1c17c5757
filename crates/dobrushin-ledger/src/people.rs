//! Everybody in a ledger, one after another.

use crate::store::{Rows, TERMS, Table};
use crate::stored::{Costs, bucket, histories, limit_of, limits, share_of};
use crate::{Budget, Ledger, LedgerError, Terms};

/// A person, with what they have spent.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Person<'a> {
    /// How they are named.
    pub name: &'a str,
    /// What they may spend.
    pub budget: Budget,
    /// An ε that holds at the δ of the budget if the releases were fixed in advance; [`Ledger::person`] finds a tighter one.
    pub epsilon: f64,
    /// The share of the budget that is spent.
    pub share: f64,
}

/// How many people have spent which share of their budgets.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Histogram {
    /// The number of people who have spent nothing.
    pub nothing: u64,
    /// The number of people for each tenth of the budget, up to its end.
    pub tenths: [u64; 10],
    /// The number of people who have spent more than their budget, since it was lowered.
    pub over: u64,
    /// The largest share, with the name of whoever spent it.
    pub most: Option<(f64, String)>,
}

impl Ledger {
    /// Calls `each` for everybody, bucket by bucket, so that memory does not grow with their number.
    ///
    /// # Errors
    /// [`LedgerError`] if something is damaged, or `each` fails.
    pub fn people(
        &mut self,
        each: &mut dyn FnMut(Person) -> Result<(), LedgerError>,
    ) -> Result<(), LedgerError> {
        self.read(|rows| {
            let terms: Terms = rows.json(Table::Meta, TERMS)?;
            let limits = limits(rows, &terms)?;
            let mut costs = Costs::default();
            for number in 0..terms.buckets {
                let mut known = None;
                for member in bucket(rows, number)?.members {
                    let limit = limit_of(&limits, &member)?;
                    let history = |rows: &mut dyn Rows| {
                        if known.is_none() {
                            known = Some(histories(rows, number)?);
                        }
                        let history = known.as_ref().and_then(|known| known.get(&member.serial));
                        Ok(history.cloned().unwrap_or_default())
                    };
                    let share = share_of(rows, limit, &member.cost, history, &mut costs)?;
                    let name = std::str::from_utf8(&member.name).map_err(|_| {
                        LedgerError::Damaged(format!("a name in bucket {number} is not UTF-8"))
                    })?;
                    each(Person {
                        name,
                        budget: limit.budget,
                        epsilon: member.cost.epsilon(limit.budget.delta()?),
                        share,
                    })?;
                }
            }
            Ok(())
        })
    }

    /// How many people have spent which share of their budgets.
    ///
    /// # Errors
    /// [`LedgerError`] if something is damaged.
    pub fn histogram(&mut self) -> Result<Histogram, LedgerError> {
        let mut histogram = Histogram::default();
        self.people(&mut |person| {
            match person.share {
                0.0 => histogram.nothing += 1,
                share if share > 1.0 => histogram.over += 1,
                share => histogram.tenths[((share * 10.0).ceil() as usize).clamp(1, 10) - 1] += 1,
            }
            if histogram.most.as_ref().is_none_or(|(most, _)| person.share > *most) {
                histogram.most = Some((person.share, person.name.to_owned()));
            }
            Ok(())
        })?;
        Ok(histogram)
    }
}
