//! What users of other libraries know their runs by, as run files.
//!
//! Every library has its names for the same numbers ([`Library::names`]). What they mean, what becomes of them, and
//! what the library's own accountant would say is the same for all, up to the conventions of `library.rs`.

mod library;
mod parameters;
mod theirs;
mod translate;

pub use library::Library;
pub use parameters::Parameters;
pub use translate::translate;
