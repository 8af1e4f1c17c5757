//! Accounting: what every analysis says about a run; the best of these answers as the guarantee, for the worst record
//! or for each one; and how much noise a target needs, or how many steps it allows.

mod advice;
mod analyses;
mod bounds;
mod by_ranges;
mod calibrate;
mod cost;
mod exception;
mod explanation;
mod large_delta;
mod meaning;
mod monotone;
mod observers;
mod proxy;
mod question;
mod records;
mod renyi;
mod rows;
mod search;
mod target;
mod tasks;
mod total;
mod worst;
mod worst_place;

pub use advice::{Advice, advice};
pub use analyses::{Analysed, DEFAULT_TOLERANCE, Options, analyses, analyses_for_curves, analysis_ids};
pub use calibrate::{Calibration, CalibrationError, calibrate, calibrate_watched};
pub use cost::{PlaceCost, composed_cost, cost_of_group, costs_by_place};
pub use large_delta::large_delta;
pub use meaning::Meaning;
pub use observers::{Observer, Observers, Pair};
pub use question::{Account, Answer, Entry, Guarantee, Question};
pub use records::{Protection, RecordsError, protection_by_record};
pub use renyi::{RenyiAccount, RenyiEntry};
pub use target::Target;
pub use total::{Total, TotalError};
