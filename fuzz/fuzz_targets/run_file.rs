//! A run file may hold any text.

#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| dobrushin_cli::fuzz::run_file(text));
