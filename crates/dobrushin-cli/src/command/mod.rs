//! One file for each command.

pub mod demonstration;
pub mod divergence;
pub mod explain;
pub mod kernel;
