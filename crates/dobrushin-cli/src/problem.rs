//! What went wrong, as a user reads it.

use crate::file::STANDARD_OUTPUT;
use crate::stderr::Complaint;
use dobrushin_document::DocumentError;
use dobrushin_document::plain_text::for_message;
use dobrushin_ledger::OverBudget;
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

/// A message with its causes and, where possible, what to do. All of them are short and safe for a terminal, whatever
/// is in a file or an argument that they quote.
#[derive(Debug)]
pub struct Problem {
    message: String,
    cause: Option<Box<dyn Error + Send>>,
    help: Option<String>,
    over_budget: Option<Box<OverBudget>>,
    code: u8,
}

impl Problem {
    /// A problem with what the user gave.
    pub fn new(message: impl Into<String>) -> Self {
        let message = for_message(&message.into());
        Self { message, cause: None, help: None, over_budget: None, code: 2 }
    }

    /// What is wrong with the arguments, from what clap says about them: a sentence, and then hints and the usage.
    pub fn of_arguments(said: &str) -> Self {
        let (message, hints) = said.split_once("\n\n").unwrap_or((said, ""));
        let hints: Vec<&str> = hints.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let message = message.strip_prefix("error: ").unwrap_or(message);
        Self::new(message.trim()).help(hints.join("; "))
    }

    /// Nothing is wrong, but the answer is "no".
    pub fn answer_is_no(message: impl Into<String>) -> Self {
        Self { code: 1, ..Self::new(message) }
    }

    /// An output that could not be written; `-` is standard output.
    pub fn cannot_write(path: &Path, error: impl Error + Send + 'static) -> Self {
        Self::new(match path == Path::new(STANDARD_OUTPUT) {
            true => "cannot write to standard output".to_owned(),
            false => format!("cannot write {}", path.display()),
        })
        .because(error)
    }

    /// Adds what led to the problem.
    pub fn because(mut self, cause: impl Error + Send + 'static) -> Self {
        self.cause = Some(Box::new(Cause::of(&cause)));
        self
    }

    /// Adds where it is.
    pub fn within(mut self, place: &str) -> Self {
        self.message = for_message(&format!("{place}: {}", self.message));
        self
    }

    /// Adds what would fix it.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(for_message(&help.into()));
        self
    }

    /// Adds who would spend more than they may, which is why the answer is "no".
    pub fn over_budget(mut self, people: OverBudget) -> Self {
        self.over_budget = Some(Box::new(people));
        self
    }

    /// Writes the message, the chain of causes and the help to standard error.
    pub fn print(&self) {
        let (message, help) = (&self.message, self.help.as_deref());
        Complaint { message, causes: &self.causes(), help, exit_code: self.code }.say();
    }

    /// The message, the chain of causes and the help, on lines of their own.
    pub fn text(&self) -> String {
        let mut text = format!("error: {}\n", self.message);
        self.causes().iter().for_each(|cause| text += &format!("  because: {cause}\n"));
        self.help.iter().for_each(|help| text += &format!("  help: {help}\n"));
        text
    }

    fn causes(&self) -> Vec<String> {
        let mut causes = Vec::new();
        let mut cause = self.cause.as_deref().map(|cause| cause as &dyn Error);
        while let Some(error) = cause {
            causes.push(error.to_string());
            cause = error.source();
        }
        causes
    }

    /// What would fix it, if that is known.
    pub fn help_text(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// Who would spend more than they may, if that is why the answer is "no".
    pub fn people_over_budget(&self) -> Option<&OverBudget> {
        self.over_budget.as_deref()
    }

    /// Whether nothing is wrong, but the answer is "no".
    pub fn is_answer(&self) -> bool {
        self.code == 1
    }

    /// The exit code: 2 for bad input, 1 for the answer "no".
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.code)
    }
}

/// The messages of an error and of its causes.
#[derive(Debug)]
struct Cause {
    message: String,
    source: Option<Box<Self>>,
}

impl Cause {
    fn of(error: &dyn Error) -> Self {
        let source = error.source().map(|source| Box::new(Self::of(source)));
        Self { message: for_message(&error.to_string()), source }
    }
}

impl std::fmt::Display for Cause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for Cause {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as &dyn Error)
    }
}

/// The message and the chain of causes, on one line.
impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.message)?;
        let mut cause = self.cause.as_deref().map(|cause| cause as &dyn Error);
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
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

impl From<dobrushin::run::RunError> for Problem {
    fn from(error: dobrushin::run::RunError) -> Self {
        Self::new(error.to_string()).help(error.help)
    }
}

impl From<DocumentError> for Problem {
    fn from(error: DocumentError) -> Self {
        let cause = error.source().map(|cause| Box::new(Cause::of(cause)) as _);
        let code = if error.answer_is_no { 1 } else { 2 };
        let problem = Self { cause, code, ..Self::new(error.message.as_str()) };
        match error.help {
            Some(help) => problem.help(help),
            None => problem,
        }
    }
}

impl From<dobrushin_train::NoRandomness> for Problem {
    fn from(error: dobrushin_train::NoRandomness) -> Self {
        Self::new(error.to_string())
    }
}
