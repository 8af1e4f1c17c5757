//! What is wrong with a schema.

/// Why a schema was refused: which key is wrong, what is accepted, and what would fix it.
///
/// ```
/// use dobrushin_train::schema::{Declaration, Schema};
///
/// // Nothing is declared at all.
/// let nothing = Declaration { labels: vec![], features: vec![], missing: vec![], norm: None, intercept: true };
/// assert!(Schema::new(nothing).is_err_and(|error| !error.help.is_empty()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} {message}")]
pub struct SchemaError {
    /// The key that is to blame, such as `columns.age.lower`.
    pub key: String,
    /// What is wrong with it; the key and this form a sentence.
    pub message: String,
    /// What to do.
    pub help: String,
}

impl SchemaError {
    pub(super) fn new(key: impl Into<String>, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { key: key.into(), message: message.into(), help: help.into() }
    }
}
