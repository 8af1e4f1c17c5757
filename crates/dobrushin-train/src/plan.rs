//! The one description of a run.
