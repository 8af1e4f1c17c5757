//! Accounting: what every analysis says about a run, the best of it as the guarantee, and how
//! much noise (or how many steps) a target needs or leaves.

mod analyses;
mod calibrate;
mod losses;
mod proxy;
mod report;
mod search;
mod target;

pub use analyses::{Analysis, DEFAULT_TOLERANCE, analyses, analyses_for_curves};
pub use calibrate::{Calibration, CalibrationError, calibrate};
pub use report::{Answer, Entry, Question, Report};
pub use target::Target;
