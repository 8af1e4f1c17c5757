//! What went wrong, as a user reads it.

use std::error::Error;
use std::process::ExitCode;

/// A message with its causes and, where there is one, what to do.
#[derive(Debug)]
pub struct Problem {
    message: String,
    cause: Option<Box<dyn Error>>,
    help: Option<String>,
}

impl Problem {
    /// Something wrong with what the user gave.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), cause: None, help: None }
    }

    /// With what led to it.
    pub fn because(mut self, cause: impl Error + 'static) -> Self {
        self.cause = Some(Box::new(cause));
        self
    }

    /// With what would mend it.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Writes the message, the chain of causes and the help to standard error.
    pub fn print(&self) {
        eprintln!("error: {}", self.message);
        let mut cause = self.cause.as_deref();
        while let Some(error) = cause {
            eprintln!("  because: {error}");
            cause = error.source();
        }
        if let Some(help) = &self.help {
            eprintln!("  help: {help}");
        }
    }

    /// Bad input is 2.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(2)
    }
}

impl From<crate::plot::PlotError> for Problem {
    fn from(error: crate::plot::PlotError) -> Self {
        Self::new("the plot could not be made").because(error)
    }
}

impl From<dobrushin::Error> for Problem {
    fn from(error: dobrushin::Error) -> Self {
        Self::new(error.to_string())
    }
}
