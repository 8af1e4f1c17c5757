//! Files of records: loaded whole, or streamed.
//!
//! Every row of a file is a record, whatever it holds. A private row that cannot be used becomes an empty record in its
//! place, so neither the number of records nor whether the program stops depends on any record. No message says what a
//! cell holds.

mod load;
mod rows;
mod split;
mod stream;
#[cfg(test)]
mod tests;

pub use load::{Loaded, Mark, load, load_columns, load_marked, pad};
pub use rows::refuse_none;
pub use split::split;
pub use stream::Streamed;
