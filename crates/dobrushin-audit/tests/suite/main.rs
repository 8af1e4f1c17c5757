//! The tests of this crate in one program, a module for each subject: `cargo test -p dobrushin-audit --test suite SUBJECT::`.

#![allow(clippy::disallowed_methods)] // What is measured or expected may differ in its last digit.

mod brute_force;
mod conformance;
mod empirical;
mod errata;
mod floor;
mod oracle;
mod pitfalls;
mod simulator;
mod trained;
