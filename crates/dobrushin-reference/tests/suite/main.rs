//! The tests of this crate in one program, a module for each subject: `cargo test -p dobrushin-reference --test suite SUBJECT::`.

mod golden;
mod identities;
mod numbers;
