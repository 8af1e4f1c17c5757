//! One file for each command.

pub mod account;
pub mod calibrate;
pub mod curve;
pub mod demonstration;
pub mod divergence;
pub mod explain;
pub mod kernel;
