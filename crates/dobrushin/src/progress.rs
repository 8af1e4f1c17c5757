//! How far long work has come, for somebody who waits for it.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How much of some work is done. Clones count together: one is given to the work, another is looked at.
///
/// Counting takes an atomic addition, and whoever looks does so from a thread of their own, so the work is not slowed
/// down. What is counted are parts of the work, such as analyses, points or steps; nothing that is computed depends on
/// it.
///
/// ```
/// use dobrushin::{Delta, Options, Progress, Question, Run};
///
/// let run = Run::gradient_descent(100).steps(10).clip_norm(1.0).noise_multiplier(5.0).build()?;
/// let progress = Progress::default();
/// assert_eq!(progress.share(), None);
/// let options = Options { progress: progress.clone(), ..Options::default() };
/// run.account_by(Question::EpsilonAt(Delta::new(1e-5)?), &options);
/// assert_eq!(progress.share(), Some(1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Parts>);

#[derive(Debug, Default)]
struct Parts {
    done: AtomicU64,
    expected: AtomicU64,
    stopped: AtomicBool,
}

/// What unwinds the work after [`Progress::stop`].
#[derive(Clone, Copy, Debug)]
pub struct Stopped;

impl Progress {
    /// Says that this many parts more are to be done.
    pub fn add_parts(&self, parts: u64) {
        self.0.expected.fetch_add(parts, Ordering::Relaxed);
    }

    /// Asks the work to stop. It unwinds with [`Stopped`] when it has done its next part, in whatever thread it is;
    /// whoever may stop some work must therefore catch that, as by [`std::panic::catch_unwind`]. Nothing is printed.
    pub fn stop(&self) {
        self.0.stopped.store(true, Ordering::Relaxed);
    }

    /// Says that this many parts more are done.
    pub fn advance(&self, parts: u64) {
        if self.0.stopped.load(Ordering::Relaxed) {
            resume_unwind(Box::new(Stopped));
        }
        self.0.done.fetch_add(parts, Ordering::Relaxed);
    }

    /// The share of the work that is done, as far as it is known; `None` if nobody knows how much there is to do.
    pub fn share(&self) -> Option<f64> {
        let [done, expected] = [&self.0.done, &self.0.expected].map(|parts| parts.load(Ordering::Relaxed));
        (expected > 0).then(|| (done as f64 / expected as f64).min(1.0))
    }
}

/// Who watches does not change what is asked.
impl PartialEq for Progress {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_is_stopped_unwinds_at_its_next_part() {
        let watcher = Progress::default();
        let work = watcher.clone();
        work.advance(1);
        watcher.stop();
        let ended = std::panic::catch_unwind(|| work.advance(1));
        assert!(ended.is_err_and(|payload| payload.is::<Stopped>()));
    }

    #[test]
    fn clones_count_together_and_the_share_never_exceeds_one() {
        let (work, watcher) = (Progress::default(), Progress::default());
        assert_eq!((work.share(), work == watcher), (None, true));
        let watcher = work.clone();
        work.add_parts(3);
        work.advance(1);
        work.add_parts(1);
        assert_eq!(watcher.share(), Some(0.25));
        work.advance(10);
        assert_eq!(watcher.share(), Some(1.0));
    }
}
