//! `dobrushin completions`: what lets a shell complete commands and flags.

use super::Cli;
use crate::output::Report;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use dobrushin_document::text::{Text, verbatim};
use serde_json::json;

#[derive(Args, Debug)]
pub struct CompletionsArgs {
    /// The shell that reads the script
    #[arg(value_enum)]
    pub shell: Shell,
}

/// The script.
pub fn run(arguments: &CompletionsArgs) -> Report {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "dobrushin", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    let mut text = Text::default();
    text.answer(verbatim(&script));
    Report::new(text, json!({ "shell": arguments.shell.to_string(), "script": script }))
}
