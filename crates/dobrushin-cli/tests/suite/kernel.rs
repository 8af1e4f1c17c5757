//! `dobrushin kernel` as the interface promises it.

use crate::support::{bounds, dobrushin, file, json, root};

#[test]
fn kernel_json_has_the_fields_of_the_contract() {
    let path = file("response.csv", "yes,no\n0.75,0.25\n0.25,0.75\n");
    let path = path.to_str().expect("UTF-8");
    let answer =
        json(&["kernel", path, "--epsilon", "0,1", "--gamma", "3", "--delta", "0.25", "--tight", "0.5"]);
    assert_eq!((&answer["inputs"], &answer["outputs"]), (&2.into(), &2.into()));
    assert_eq!(bounds(&answer["eta"][0]["value"]).0, 0.5);
    assert_eq!(answer["eta"][0]["pair"], serde_json::json!([1, 2]));
    assert_eq!(bounds(&answer["eta"][2]["value"]), (0.0, 0.0));
    assert_eq!(answer["eta"][2]["gamma"], 3.0);
    let (lower, upper) = bounds(&answer["tv"]);
    assert!(lower == 0.5 && upper < 0.5 + 1e-14);
    let (lower, upper) = bounds(&answer["chi2"]);
    assert!(lower <= 0.25 && (0.25..0.25 + 1e-13).contains(&upper));
    assert_eq!(answer["chi2"], answer["kl"]);
    let at_zero = bounds(&answer["epsilon_at_delta"][0]["epsilon"]);
    assert_eq!(answer["epsilon_at_delta"][0]["delta"], 0.0);
    assert!(at_zero.0 <= 3f64.ln() && 3f64.ln() <= at_zero.1 && at_zero.1 < 3f64.ln() + 1e-14);
    // (3/4 − δ)/(1/4) = 2 at δ = 1/4.
    let at_quarter = bounds(&answer["epsilon_at_delta"][1]["epsilon"]);
    assert!(at_quarter.0 <= 2f64.ln() && 2f64.ln() <= at_quarter.1 && at_quarter.1 < 2f64.ln() + 1e-13);
    // F_1(1/2) = η_TV/2, at ε = 0.
    let tight = bounds(&answer["eta"][0]["tight"][0]["after"]);
    assert!(tight.0 == 0.25 && tight.1 < 0.25 + 1e-14);
}

#[test]
fn the_curve_lists_its_bends_with_their_inputs() {
    let path = file("asymmetric.csv", "0.5,0.5\n0.25,0.75\n");
    let answer = json(&["kernel", path.to_str().expect("UTF-8"), "--curve"]);
    let bends: Vec<f64> = answer["curve"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|b| b["gamma"].as_f64().expect("a number"))
        .collect();
    // 0.5 − γ/4 from inputs (1, 2) and 0.75 − γ/2 from (2, 1) meet at 1.
    assert_eq!(bends, [1.0, 2.0]);
    assert_eq!(answer["curve"][1]["pair"], serde_json::json!([1, 2]));
}

#[test]
fn the_example_channel_is_seven_to_one_private() {
    let answer = json(&["kernel", "examples/channel.csv"]);
    let (lower, upper) = bounds(&answer["epsilon_at_delta"][0]["epsilon"]);
    assert!(lower <= 7f64.ln() && 7f64.ln() <= upper);
    assert!(root().join("examples/channel.csv").is_file());
}

#[test]
fn identical_rows_hide_everything() {
    let path = file("constant.csv", "0.1,0.2,0.7\n0.1,0.2,0.7\n");
    let answer = json(&["kernel", path.to_str().expect("UTF-8"), "--epsilon", "0,1"]);
    for value in [
        &answer["tv"],
        &answer["chi2"],
        &answer["epsilon_at_delta"][0]["epsilon"],
        &answer["eta"][1]["value"],
    ] {
        assert_eq!(bounds(value), (0.0, 0.0));
    }
}

#[test]
fn rows_are_divided_by_their_sums_only_when_asked() {
    let path = file("counts.csv", "3,1\n1,3\n");
    let path = path.to_str().expect("UTF-8");
    dobrushin(&["kernel", path]).assert().code(2);
    let answer = json(&["kernel", path, "--normalise", "--epsilon", "0"]);
    assert!(bounds(&answer["tv"]).0 <= 0.5 && bounds(&answer["tv"]).1 >= 0.5);
}

#[test]
fn a_channel_is_read_from_standard_input() {
    let output = dobrushin(&["kernel", "-", "--json"]).write_stdin("1,0\n0,1\n").assert().success();
    let answer: serde_json::Value = serde_json::from_slice(&output.get_output().stdout).expect("valid JSON");
    assert_eq!(bounds(&answer["tv"]), (1.0, 1.0));
    assert_eq!(bounds(&answer["epsilon_at_delta"][0]["epsilon"]).0, f64::INFINITY);
}
