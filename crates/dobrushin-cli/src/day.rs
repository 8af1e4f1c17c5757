//! Today's date.

use std::time::{SystemTime, UNIX_EPOCH};

/// Today in UTC, as in 2026-11-18. `SOURCE_DATE_EPOCH`, in seconds since 1970, replaces the clock for builds that must be
/// reproducible.
pub fn today() -> String {
    let fixed = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|seconds| seconds.parse::<u64>().ok());
    let clock = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    of_seconds(fixed.unwrap_or_else(clock))
}

/// The day of a time in seconds since 1970-01-01, in the Gregorian calendar; 9999-12-31 if it is later.
fn of_seconds(seconds: u64) -> String {
    /// The days up to the end of 9999.
    const LAST: u64 = 2_932_896;
    let mut days = (seconds / 86_400).min(LAST);
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year:04}-{month:02}-{:02}", days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_times_have_their_days() {
        for (seconds, day) in [
            (0, "1970-01-01"),
            (951_782_399, "2000-02-28"),
            (951_782_400, "2000-02-29"),
            (1_078_099_200, "2004-03-01"),
            (1_795_000_000, "2026-11-18"),
            (4_107_542_400, "2100-03-01"),
            (253_402_300_799, "9999-12-31"),
            (u64::MAX, "9999-12-31"),
        ] {
            assert_eq!(of_seconds(seconds), day);
        }
    }
}
