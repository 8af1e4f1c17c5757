//! Work that may take long: without the interpreter's lock, interruptible, in threads that survive a fork.

use crate::errors::{Kind, Raised, raise};
use dobrushin::{Progress, Stopped};
use dobrushin_cli::Problem;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often Python is asked whether somebody pressed Ctrl-C.
const INTERVAL: Duration = Duration::from_millis(50);

/// Does some work in the threads of this process, and waits for it.
///
/// The work owns all that it needs, because Ctrl-C does not wait for it: the exception is raised at once, and the work
/// ends by itself after its next part, see [`Progress::stop`].
pub fn work<T, E>(py: Python<'_>, job: impl FnOnce(&Progress) -> Result<T, E> + Send + 'static) -> PyResult<T>
where
    T: Send + 'static,
    E: Into<Problem> + Send + 'static,
{
    let progress = Progress::default();
    let watched = progress.clone();
    let (sender, mut receiver) = channel();
    threads(py)?.spawn(move || {
        // If nobody waits any more, nobody wants the answer.
        _ = sender.send(catch_unwind(AssertUnwindSafe(|| job(&watched))));
    });
    loop {
        let said;
        (receiver, said) = py.detach(move || {
            let said = receiver.recv_timeout(INTERVAL);
            (receiver, said)
        });
        match said {
            Ok(Ok(answer)) => return answer.raised(py),
            Ok(Err(payload)) => return Err(internal(py, payload.as_ref())),
            Err(RecvTimeoutError::Disconnected) => return Err(internal(py, &"the thread is gone")),
            Err(RecvTimeoutError::Timeout) => {
                py.check_signals().inspect_err(|_| progress.stop())?;
            }
        }
    }
}

/// Refuses to go on with work for which nobody waits any more.
pub fn still_wanted(progress: &Progress) -> Result<(), Problem> {
    catch_unwind(AssertUnwindSafe(|| progress.advance(0))).map_err(|_| Problem::new("the work was stopped"))
}

/// Does some quick work here and now: a panic becomes an exception.
pub fn quickly<T>(py: Python<'_>, job: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(job)).map_err(|payload| internal(py, payload.as_ref()))
}

/// Work on borrowed arrays in all threads, without the interpreter's lock. It must be bounded, because it cannot be
/// interrupted.
pub fn in_parallel<T: Send>(py: Python<'_>, job: impl FnOnce() -> T + Send) -> PyResult<T> {
    let threads = threads(py)?;
    let done = py.detach(|| catch_unwind(AssertUnwindSafe(|| threads.install(job))));
    done.map_err(|payload| internal(py, payload.as_ref()))
}

/// The threads of this process. A process that was forked has none of its parent's threads, so it gets its own.
fn threads(py: Python<'_>) -> PyResult<Arc<ThreadPool>> {
    // Whoever forks has the interpreter's lock, and so has whoever looks here: the child never finds this locked by a
    // thread that it does not have.
    static THREADS: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);
    let mut threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    match &*threads {
        Some((owner, pool)) if *owner == process => Ok(pool.clone()),
        _ => {
            let built = ThreadPoolBuilder::new().thread_name(|n| format!("dobrushin-{n}")).build();
            let pool = Arc::new(built.map_err(|error| {
                raise(py, Kind::Internal, &format!("no threads can be started: {error}"), None)
            })?);
            // The threads of the parent are not here, so nothing may wait for them.
            if let Some(parents) = threads.replace((process, pool.clone())) {
                std::mem::forget(parents);
            }
            Ok(pool)
        }
    }
}

fn internal(py: Python<'_>, payload: &(dyn Any + Send)) -> PyErr {
    let message = if payload.is::<Stopped>() {
        "the work was stopped".to_owned()
    } else {
        let said = payload.downcast_ref::<String>().map(String::as_str);
        let said = said.or(payload.downcast_ref::<&str>().copied()).unwrap_or("it gave no reason");
        format!("dobrushin failed, which is a defect of dobrushin: {said}")
    };
    raise(py, Kind::Internal, &message, Some("please report it, with what you called"))
}
