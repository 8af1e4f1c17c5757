//! The iteration.
