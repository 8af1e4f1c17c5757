//! What is known of the papers' results from other sources than the program.

pub mod known;
