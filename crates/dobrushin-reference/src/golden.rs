//! The golden file: values that were computed elsewhere, to thirty digits.

use serde_json::Value;
use std::path::Path;

/// All entries of `golden/golden.json` in this repository, each with an `id`, its `params` and its `value`; numbers are
/// kept as strings.
///
/// # Panics
///
/// If the file is missing or is not a list: no test can go on without it.
pub fn golden() -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/golden.json");
    let text = std::fs::read_to_string(&path).expect("the golden file is part of the repository");
    serde_json::from_str(&text).expect("the golden file is a list")
}
