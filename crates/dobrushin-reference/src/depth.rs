//! How thorough a test is: as thorough as a contributor can wait for, or as possible.

use std::env;

/// Whether tests should try all they can, as `cargo xtask test --deep` asks by setting `DOBRUSHIN_DEEP`.
pub fn is_deep() -> bool {
    env::var_os("DOBRUSHIN_DEEP").is_some()
}

/// What a test tries `usually`, or what it tries [deeply](is_deep): a number of cases, and what is expected of them.
pub fn depth<T>(usually: T, deeply: T) -> T {
    if is_deep() { deeply } else { usually }
}
