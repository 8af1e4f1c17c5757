//! One file for each command.

pub mod account;
mod account_plot;
pub mod calibrate;
pub mod certificate;
pub mod curve;
pub mod demonstration;
pub mod divergence;
pub mod explain;
pub mod figures;
pub mod kernel;
pub mod local;
pub mod predict;
pub mod schema;
pub mod touched;
pub mod train;
mod utility;
pub mod verify;
