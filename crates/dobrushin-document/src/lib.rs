//! The documents of dobrushin: what is read and written, as typed values.
//!
//! A [`RunFile`] says what was run, and becomes a [`SelfContained`] run that names no file; a schema (see [`schema`])
//! says what the columns of a table hold; a [`Certificate`](certificate::Certificate) is a guarantee with all that is
//! needed to recompute it; a [`SavedModel`](model::SavedModel) is what was trained. Texts and bytes come in and go out.
//! Nothing here opens a file, takes arguments or prints, so every front end can use it.
//!
//! One section reader, and not derived code, reads run files and schemas: it says which key is wrong, what
//! is accepted, what was probably meant, and how to write it.

// Tests compare with the functions of the standard library.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod ask;
pub mod certificate;
pub mod csv;
mod error;
pub mod forgotten;
pub mod idea;
pub mod json;
pub mod local;
pub mod model;
pub mod peers;
pub mod plain_text;
pub mod report;
mod run_file;
pub mod schema;
mod section;
pub mod sheet;
pub mod state;
mod survey;
pub mod text;
pub mod trained;

pub use error::DocumentError;
pub use run_file::{
    Files, NEIGHBOURS, ORDERS, RunFile, SelfContained, Setting, Starter, Sweep, kind_for, model_for, text_of,
};
pub use section::nearest;
pub use survey::{Possible, SurveyFile, SurveyQuestion};
