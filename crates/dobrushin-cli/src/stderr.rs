//! What goes to standard error: notes, and progress on a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, Write};

/// Writes to standard error. If that is full or closed, nobody can be told, and the exit code still says how the
/// program ended.
pub fn say(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// A bar that counts up to this many of something; it is shown only on a terminal.
pub fn bar(show: bool, count: u64, what: &str) -> ProgressBar {
    let bar = if show { ProgressBar::new(count) } else { ProgressBar::hidden() };
    let style = ProgressStyle::with_template(&format!("{{wide_bar}} {{pos}}/{{len}} {what}, {{eta}} left"));
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}
