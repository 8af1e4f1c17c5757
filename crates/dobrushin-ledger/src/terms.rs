//! What a ledger is about.

use crate::{Budget, LedgerError};
use dobrushin::Neighbours;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// What a ledger is about, as it was decided when it was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Terms {
    /// The version of what is stored.
    pub(crate) version: u32,
    neighbours: String,
    /// The budget of everybody who has none of their own.
    pub budget: Budget,
    /// The number of buckets.
    pub(crate) buckets: u32,
    /// What names are hashed with, so that nobody can choose names for one bucket.
    salt: [u8; 16],
    /// The last release.
    pub(crate) releases: u64,
    /// The number of people.
    pub(crate) people: u64,
    /// The number of budgets that people have of their own.
    pub(crate) budgets: u32,
}

/// The version of what this program stores.
pub const VERSION: u32 = 1;
/// People of a bucket, about.
const PEOPLE: u64 = 1024;
const FEWEST: u64 = 64;
const MOST: u64 = 1 << 20;

const RELATIONS: [Neighbours; 3] = [Neighbours::ReplaceOne, Neighbours::AddOrRemoveOne, Neighbours::ZeroOut];

impl Terms {
    /// The terms of a new ledger that is made for about this many people; it works with any number.
    pub fn new(neighbours: Neighbours, budget: Budget, people: u64, salt: [u8; 16]) -> Self {
        let buckets = (people / PEOPLE).clamp(FEWEST, MOST).next_power_of_two() as u32;
        let neighbours = neighbours.to_string();
        Self { version: VERSION, neighbours, budget, buckets, salt, releases: 0, people: 0, budgets: 0 }
    }

    /// Which data sets are neighbours.
    ///
    /// # Errors
    /// [`LedgerError::Damaged`] if it is none that is known.
    pub fn neighbours(&self) -> Result<Neighbours, LedgerError> {
        RELATIONS
            .into_iter()
            .find(|relation| relation.to_string() == self.neighbours)
            .ok_or_else(|| LedgerError::Damaged(format!("it is for {} neighbours", self.neighbours)))
    }

    /// The number of people in it.
    pub fn people(&self) -> u64 {
        self.people
    }

    /// The bucket of a name.
    pub(crate) fn bucket(&self, name: &[u8]) -> u32 {
        let hash: [u8; 32] = Sha256::new().chain_update(self.salt).chain_update(name).finalize().into();
        u32::from_le_bytes([hash[0], hash[1], hash[2], hash[3]]) % self.buckets.max(1)
    }
}
