//! What is wrong with a document.

use dobrushin::run::RunError;
use dobrushin_train::schema::SchemaError;
use std::error::Error;
use std::fmt;

/// Why a document was refused: the key or place and what is accepted, what led to it, and what would fix it.
///
/// ```
/// use dobrushin_document::RunFile;
///
/// // The message says where, and the help how to mend it.
/// let refused = RunFile::parse("[run]\nalgorithm = \"pnsgd\"\nrecord = 10\n", "run.toml").and_then(|file| file.run());
/// let Err(error) = refused else { panic!("it says nothing of the noise") };
/// assert!(!error.message.is_empty() && error.help.is_some());
/// ```
#[derive(Debug)]
pub struct DocumentError {
    /// What is wrong, with the key or place that is to blame.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
    /// Whether nothing is wrong, but the answer is "no".
    pub answer_is_no: bool,
    cause: Option<Box<dyn Error + Send + Sync>>,
}

impl DocumentError {
    /// A problem with what a document says.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None, answer_is_no: false, cause: None }
    }

    /// Nothing is wrong, but the answer is "no".
    pub fn answer_is_no(message: impl Into<String>) -> Self {
        Self { answer_is_no: true, ..Self::new(message) }
    }

    /// Adds what would fix it.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds the part of the document in which it is.
    pub fn within(mut self, part: &str) -> Self {
        self.message = format!("{part}: {}", self.message);
        self
    }

    /// Adds what led to it.
    pub fn because(mut self, cause: impl Error + Send + Sync + 'static) -> Self {
        self.cause = Some(Box::new(cause));
        self
    }
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for DocumentError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as &dyn Error)
    }
}

impl From<dobrushin::Error> for DocumentError {
    fn from(error: dobrushin::Error) -> Self {
        Self::new(error.to_string())
    }
}

impl From<RunError> for DocumentError {
    fn from(error: RunError) -> Self {
        Self::new(error.to_string()).help(error.help)
    }
}

impl From<SchemaError> for DocumentError {
    fn from(error: SchemaError) -> Self {
        Self::new(error.to_string()).help(error.help)
    }
}
