//! A certificate may hold any bytes.

#![no_main]

mod file;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let path = file::with(bytes);
    for words in [["verify"].as_slice(), &["certificate", "show"]] {
        file::command(words, &[path.as_ref()]);
    }
});
