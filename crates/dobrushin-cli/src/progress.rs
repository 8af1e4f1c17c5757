//! Progress on a terminal.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar that counts up to so many of something; it is shown on a terminal only.
pub fn bar(show: bool, count: u64, what: &str) -> ProgressBar {
    let bar = if show { ProgressBar::new(count) } else { ProgressBar::hidden() };
    let style = ProgressStyle::with_template(&format!("{{wide_bar}} {{pos}}/{{len}} {what}, {{eta}} left"));
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}
