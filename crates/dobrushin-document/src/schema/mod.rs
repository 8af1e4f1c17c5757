//! Schemas: what the columns of a table may hold, as TOML, and in the form in which they are stored and hashed.
//!
//! ```
//! use dobrushin_document::schema;
//! let schema = schema::parse(r#"
//!     label = "income"
//!     [columns.age]
//!     kind = "number"
//!     lower = 20
//!     upper = 60
//!     [columns.income]
//!     kind = "category"
//!     categories = ["<=50K", ">50K"]
//! "#)?;
//! assert_eq!(schema.feature_names(), ["age", "intercept"]);
//! # Ok::<(), dobrushin_document::DocumentError>(())
//! ```

mod canonical;
mod parse;

pub use canonical::{canonical_json, from_json, hash};
pub use parse::{MISSING, parse};

#[cfg(test)]
mod tests;
