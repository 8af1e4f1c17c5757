//! The tests of this crate in one program, a module for each subject: `cargo test -p dobrushin-local --test suite SUBJECT::`.

mod coins;
mod estimates;
mod frequency;
mod frequency_support;
mod inversion;
mod mean_privacy;
mod mean_statistics;
mod own;
mod quantiles;
mod risk;
mod shuffle;
mod survey;
mod vectors;
