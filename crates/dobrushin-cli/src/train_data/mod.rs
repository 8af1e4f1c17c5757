//! Files of records: loaded whole, or streamed.
//!
//! Every row of a file is a record, whatever it holds: with --skip-bad a row that cannot be used becomes an empty record
//! in its place, so that the number of records depends on no record. No message says what a cell holds.

mod load;
mod rows;
mod schema_file;
mod split;
mod stream;
#[cfg(test)]
mod tests;

pub use load::{Loaded, load};
pub use schema_file::read_schema;
pub use split::split;
pub use stream::Streamed;
