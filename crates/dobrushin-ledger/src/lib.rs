//! What each person has spent over all releases, and what is left of their budgets.
//!
//! A [`Ledger`] is a table on disk, in a file or in a database that a team shares. Before a release is made, it is
//! [reserved](Ledger::reserve): each person in it is charged what it tells about them at their place, or it is refused
//! because somebody's budget would be exceeded. After it was made, it is [committed](Ledger::commit); if nothing was released,
//! it is [aborted](Ledger::abort). What is reserved counts as spent until then, so whatever fails in between, no spend is
//! lost.
//!
//! ```text
//! meta     the terms: neighbours, budgets of people without their own, how names are hashed
//! budget   budgets of certain people
//! release  what was released, and how far it is
//! cost     what a release costs at some of its places: a privacy profile
//! bucket   people whose names have the same hash: their budgets, and the sums of their costs
//! entry    who of a bucket was in a release, and at what cost
//! ```
//!
//! Every row has a checksum over its content and its place, and a name that is not in its bucket was never there: so what is
//! damaged is refused, and not taken for somebody who has spent nothing.

#![cfg_attr(
    not(any(feature = "sqlite", feature = "postgres")),
    allow(dead_code, reason = "without a store, nothing is kept")
)]

mod bucket;
mod budget;
mod charge;
mod check;
mod classes;
mod codec;
mod entry;
mod error;
mod ledger;
mod people;
mod place;
mod release;
mod roll;
mod standing;
mod store;
mod stored;
mod terms;

pub use budget::{Budget, Choice};
pub use check::Checked;
pub use classes::Spend;
pub use error::{LedgerError, OverBudget};
pub use ledger::{Ledger, Reserved};
pub use people::{Histogram, Person};
pub use place::Place;
pub use release::{Release, Status};
pub use roll::Roll;
pub use standing::{Spent, Standing};
pub use terms::Terms;
