//! A model may hold any bytes.

#![no_main]

mod file;

use std::path::Path;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/loans/test.csv");
    file::command(&["predict", "--skip-bad"], &[&file::with(bytes), &data]);
});
