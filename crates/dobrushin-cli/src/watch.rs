//! How far long work has come, on a terminal.

use crate::stderr;
use dobrushin::Progress;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Nothing is shown of work that takes less than this.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often the line is drawn.
const INTERVAL: Duration = Duration::from_millis(200);

/// Shows on a terminal how far some work has come, until it is dropped.
///
/// A thread looks at a counter from time to time, so the work does nothing but count. The line says a percentage and
/// a time, and no number of anything that a file holds.
pub struct Watch {
    progress: Progress,
    shown: Option<(Sender<()>, JoinHandle<()>)>,
}

/// The line that is shown; only one is at a time.
static LINE: Mutex<Option<ProgressBar>> = Mutex::new(None);

impl Watch {
    /// Work of this many parts, in words ("steps", "points"); of an unknown number if it is 0.
    pub fn new(show: bool, parts: u64, what: &'static str) -> Self {
        let progress = Progress::default();
        progress.add_parts(parts);
        let shown = (show && io::stderr().is_terminal()).then(|| {
            let (sender, receiver) = channel();
            let progress = progress.clone();
            (sender, std::thread::spawn(move || draw(&progress, what, &receiver)))
        });
        Self { progress, shown }
    }

    /// What counts the parts that are done.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.shown.take() {
            drop(sender);
            // If it panicked, the line is gone as well.
            let _ = thread.join();
        }
    }
}

/// Says on a terminal how long something took. It is said nowhere else: a time may tell something about the records.
pub fn say_how_long(show: bool, what: &str, time: Duration) {
    if show && io::stderr().is_terminal() {
        stderr::say(&format!("{what} took {:.1} s.\n", time.as_secs_f64()));
    }
}

/// Draws nothing more, ever: the program ends.
pub fn stop_drawing() {
    // The lock is kept, so that no other line is begun.
    let line = LINE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(bar) = &*line {
        bar.finish_and_clear();
    }
    std::mem::forget(line);
}

/// Draws the line again and again until the work ends.
fn draw(progress: &Progress, what: &str, ended: &Receiver<()>) {
    let start = Instant::now();
    if ended.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
        return;
    }
    let line = || LINE.lock().unwrap_or_else(PoisonError::into_inner);
    {
        let mut line = line();
        if line.is_some() {
            return;
        }
        let style = ProgressStyle::with_template("{msg}");
        let bar = ProgressBar::new_spinner();
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        *line = Some(bar);
    }
    loop {
        if let Some(bar) = &*line() {
            bar.set_message(said(progress.share(), what, start.elapsed()));
            bar.tick();
        }
        if ended.recv_timeout(INTERVAL) != Err(RecvTimeoutError::Timeout) {
            break;
        }
    }
    if let Some(bar) = line().take() {
        bar.finish_and_clear();
    }
}

/// The line for a share of the work that took this long.
fn said(share: Option<f64>, what: &str, elapsed: Duration) -> String {
    let Some(share) = share else {
        return format!("{what}, {} so far", in_words(elapsed));
    };
    let filled = (share * WIDTH as f64).round() as usize;
    let bar = format!("{}{}", "█".repeat(filled), "░".repeat(WIDTH - filled));
    let left = match share {
        0.0 => String::new(),
        share if share < 1.0 => format!(", about {} left", in_words(elapsed.mul_f64((1.0 - share) / share))),
        _ => ", nearly done".to_owned(),
    };
    // It is not done before the line is gone.
    format!("{bar} {:2.0} % of the {what}{left}", (100.0 * share).min(99.0).floor())
}

/// The bar has this many characters.
const WIDTH: usize = 24;

fn in_words(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_tells_a_percentage_and_how_long_it_will_take() {
        let after = |share, seconds| said(share, "steps", Duration::from_secs(seconds));
        assert_eq!(after(Some(0.25), 10), "██████░░░░░░░░░░░░░░░░░░ 25 % of the steps, about 30 s left");
        assert_eq!(after(Some(0.5), 600), "████████████░░░░░░░░░░░░ 50 % of the steps, about 10 min left");
        assert_eq!(after(Some(0.0), 10), "░░░░░░░░░░░░░░░░░░░░░░░░  0 % of the steps");
        assert_eq!(after(Some(1.0), 10), "████████████████████████ 99 % of the steps, nearly done");
        assert_eq!(after(None, 10_000), "steps, 2 h so far");
    }

    #[test]
    fn nothing_is_shown_without_a_terminal_and_the_work_is_counted_all_the_same() {
        let watch = Watch::new(false, 4, "steps");
        assert!(watch.shown.is_none());
        watch.progress().advance(1);
        assert_eq!(watch.progress().share(), Some(0.25));
    }
}
