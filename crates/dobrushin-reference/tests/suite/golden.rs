//! Agreement with the published digits of the golden file.

use dobrushin_reference::{Real, golden, ln_theta_at, one_minus_theta_at, theta_at};
use serde_json::Value;

/// Enough for the decimal arguments to be indistinguishable from their exact values.
const ARGUMENT_BITS: usize = 512;

fn number(value: &Value) -> Real {
    let text = value.as_str().expect("numbers are kept as strings");
    Real::parse(text, ARGUMENT_BITS).expect("numbers are finite decimals")
}

/// Compares all entries whose id starts with `prefix`, and says how many there were.
fn compare(prefix: &str, function: impl Fn(&Real, &Real) -> Real) -> usize {
    let tolerance = Real::parse("1e-28", 64).expect("a decimal");
    let mut count = 0;
    for entry in golden() {
        let id = entry["id"].as_str().expect("every entry has an id");
        if !id.starts_with(prefix) {
            continue;
        }
        let params = &entry["params"];
        let found = function(&number(&params["eps"]), &number(&params["r"]));
        let expected = number(&entry["value"]);
        let error = (&found - &expected).abs();
        assert!(error <= expected.abs() * &tolerance, "{id}: found {found}, expected {expected}");
        count += 1;
    }
    count
}

#[test]
fn theta_has_the_golden_digits() {
    assert!(compare("theta/", theta_at) > 90);
}

#[test]
fn ln_theta_has_the_golden_digits() {
    assert!(compare("log_theta/", ln_theta_at) > 120);
}

#[test]
fn one_minus_theta_has_the_golden_digits() {
    assert!(compare("one_minus_theta/", one_minus_theta_at) > 40);
}
