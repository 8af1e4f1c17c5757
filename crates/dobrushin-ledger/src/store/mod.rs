//! Where ledgers are kept: tables of rows with two numbers as their key, changed in transactions.
//!
//! A store has transactions that happen as a whole or not at all, survive what comes after they were finished, and of which
//! only one can change something at a time. Nothing else is asked of it, and nothing is decided by it.

#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(feature = "sqlite")]
pub mod sqlite;

use crate::LedgerError;
use crate::codec::{json, of_json, opened, sealed};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// The terms, in row (0, 0).
    Meta,
    /// Budgets of certain people, in rows (0, number).
    Budget,
    /// What was released, in rows (0, release).
    Release,
    /// Costs, in rows (release, class).
    Cost,
    /// People, in rows (0, bucket).
    Bucket,
    /// Who took part, in rows (bucket, release).
    Entry,
}

impl Table {
    pub const ALL: [Self; 6] =
        [Self::Meta, Self::Budget, Self::Release, Self::Cost, Self::Bucket, Self::Entry];

    pub fn name(self) -> &'static str {
        match self {
            Self::Meta => "meta",
            Self::Budget => "budget",
            Self::Release => "release",
            Self::Cost => "cost",
            Self::Bucket => "bucket",
            Self::Entry => "entry",
        }
    }
}

/// The key of a row.
pub type Key = (i64, i64);

/// The key of the terms.
pub const TERMS: Key = (0, 0);

/// What is done with a row: the second number of its key, and its content.
pub type Visit<'a> = &'a mut dyn FnMut(i64, &[u8]) -> Result<(), LedgerError>;

/// The rows of a store, in a transaction.
pub trait Rows {
    fn get(&mut self, table: Table, key: Key) -> Result<Option<Vec<u8>>, LedgerError>;
    fn put(&mut self, table: Table, key: Key, row: &[u8]) -> Result<(), LedgerError>;
    fn delete(&mut self, table: Table, key: Key) -> Result<(), LedgerError>;
    /// Rows whose first number is this, and whose second is this or more: the second numbers in order, and the rows. As
    /// many as are read at once; none at the end.
    fn page(&mut self, table: Table, first: i64, from: i64) -> Result<Vec<(i64, Vec<u8>)>, LedgerError>;
}

impl dyn Rows + '_ {
    /// The content of a row that must exist.
    pub fn content(&mut self, table: Table, key: Key) -> Result<Vec<u8>, LedgerError> {
        self.content_if_any(table, key)?.ok_or_else(|| {
            LedgerError::Damaged(format!("row {}, {} of the table {} is missing", key.0, key.1, table.name()))
        })
    }

    pub fn content_if_any(&mut self, table: Table, key: Key) -> Result<Option<Vec<u8>>, LedgerError> {
        let row = self.get(table, key)?;
        row.map(|row| Ok(opened(table, key, &row)?.to_vec())).transpose()
    }

    pub fn put_content(&mut self, table: Table, key: Key, content: &[u8]) -> Result<(), LedgerError> {
        self.put(table, key, &sealed(table, key, content))
    }

    pub fn json<T: DeserializeOwned>(&mut self, table: Table, key: Key) -> Result<T, LedgerError> {
        of_json(table, key, &self.content(table, key)?)
    }

    pub fn put_json(&mut self, table: Table, key: Key, row: &impl Serialize) -> Result<(), LedgerError> {
        self.put_content(table, key, &json(row))
    }

    /// Every row whose first number is this, in order.
    pub fn each(&mut self, table: Table, first: i64, work: Visit) -> Result<(), LedgerError> {
        let mut from = i64::MIN;
        loop {
            let page = self.page(table, first, from)?;
            let Some(&(last, _)) = page.last() else { return Ok(()) };
            for (second, row) in &page {
                work(*second, opened(table, (first, *second), row)?)?;
            }
            let Some(next) = last.checked_add(1) else { return Ok(()) };
            from = next;
        }
    }
}

/// What a transaction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It sees one state of everything.
    Read,
    /// It also changes something, and nobody else does so in the meantime.
    Write,
}

/// The work of a transaction.
pub type Work<'a> = &'a mut dyn FnMut(&mut dyn Rows) -> Result<(), LedgerError>;

/// A place where a ledger is kept.
pub trait Store: Send {
    /// Carries out the work in one transaction. If it fails, nothing was changed; when this returns without an error, what it
    /// changed is there to stay.
    fn transaction(&mut self, access: Access, work: Work) -> Result<(), LedgerError>;

    /// What the store itself finds wrong with its files.
    fn faults(&mut self) -> Result<Vec<String>, LedgerError>;
}
