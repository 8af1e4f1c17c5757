//! A CSV file may hold any bytes, and no line has a say in how others are read.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dobrushin_cli::fuzz::csv(bytes));
