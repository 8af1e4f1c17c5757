//! The tests of this crate in one program, a module for each subject: `cargo test -p dobrushin-train --test suite SUBJECT::`.

mod attack;
mod extent;
mod forget;
mod last_digits;
mod losses;
mod model_constants;
mod one_description;
mod oracle;
mod softmax_constants;
mod support;
mod vectors;
