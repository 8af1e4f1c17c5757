//! What goes to standard error: notes and complaints.

use anstream::AutoStream;
use anstyle::{AnsiColor, Style as Ink};
use serde_json::json;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Writes to standard error. If that is full or closed, nobody can be told, and the exit code still says how the
/// program ended.
pub fn say(text: &str) {
    let _ = AutoStream::auto(io::stderr()).write_all(text.as_bytes());
}

/// Whether complaints are JSON.
static AS_JSON: AtomicBool = AtomicBool::new(false);

/// From now on, complaints are JSON if that is wanted.
pub fn complain_as_json(wanted: bool) {
    AS_JSON.store(wanted, Ordering::Relaxed);
}

/// Why the program ends, as people or programs read it.
pub struct Complaint<'a> {
    /// What is wrong.
    pub message: &'a str,
    /// What led to it, the nearest cause first.
    pub causes: &'a [String],
    /// What would fix it.
    pub help: Option<&'a str>,
    /// The exit code.
    pub exit_code: u8,
}

const ERROR: Ink = AnsiColor::Red.on_default().bold();
const NAME: Ink = Ink::new().bold();

impl Complaint<'_> {
    /// Whether it is written as JSON.
    pub fn is_json() -> bool {
        AS_JSON.load(Ordering::Relaxed)
    }

    /// Writes it.
    pub fn say(&self) {
        let Self { message, causes, help, exit_code } = self;
        if Self::is_json() {
            let error = json!({ "message": message, "help": help, "causes": causes });
            return say(&format!("{}\n", json!({ "error": error, "exit_code": exit_code })));
        }
        let mut text = format!("{ERROR}error:{ERROR:#} {message}\n");
        for cause in *causes {
            text += &format!("  {NAME}because:{NAME:#} {cause}\n");
        }
        if let Some(help) = help {
            text += &format!("  {NAME}help:{NAME:#} {help}\n");
        }
        say(&text);
    }
}
