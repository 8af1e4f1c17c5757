//! `dobrushin divergence` as the interface promises it.

use crate::support::{bounds, dobrushin, file, json};

/// 17 digits are more than the width of the enclosures.
fn encloses(value: &serde_json::Value, truth: f64) {
    let (lower, upper) = bounds(value);
    assert!(lower <= truth.next_up() && truth.next_down() <= upper, "{value} misses {truth}");
    assert!(upper - lower <= 1e-12 * truth.abs(), "{value} is wide");
}

#[test]
fn gaussian_json_has_the_fields_of_the_contract() {
    let arguments =
        ["divergence", "gaussian", "--distance", "1", "--sigma", "1", "--epsilon", "0,1", "--order", "2,8"];
    let answer = json(&arguments);
    let points = answer["points"].as_array().expect("a list");
    assert_eq!(points.len(), 2);
    assert_eq!(points[1]["epsilon"], 1.0);
    encloses(&points[0]["delta"], 0.382_924_922_548_026_2);
    encloses(&points[1]["delta"], 0.126_936_737_506_643_95);
    encloses(&points[1]["log_delta"], -2.064_066_446_500_390_6);
    encloses(&answer["tv"], 0.382_924_922_548_026_2);
    encloses(&answer["kl"], 0.5);
    encloses(&answer["chi2"], std::f64::consts::E - 1.0);
    encloses(&answer["hellinger2"], 0.235_006_194_830_809_2);
    assert_eq!(answer["renyi"][1]["order"], 8.0);
    encloses(&answer["renyi"][1]["value"], 4.0);
}

#[test]
fn a_delta_that_underflows_keeps_its_logarithm() {
    let answer = json(&["divergence", "gaussian", "--distance", "1", "--sigma", "1", "--epsilon", "100"]);
    let point = &answer["points"][0];
    assert_eq!(bounds(&point["delta"]).0, 0.0);
    assert!(bounds(&point["delta"]).1 > 0.0, "an upper bound is never rounded to nothing");
    let (lower, upper) = bounds(&point["log_delta"]);
    assert!(lower < upper && (-4962.0..-4959.0).contains(&lower), "{lower}");
}

#[test]
fn gamma_below_one_follows_the_papers_convention() {
    let answer = json(&[
        "divergence",
        "laplace",
        "--distance",
        "1",
        "--scale",
        "1",
        "--epsilon",
        "0",
        "--gamma",
        "0.5,2",
    ]);
    let points = answer["points"].as_array().expect("a list");
    assert_eq!(points[1]["gamma"], 0.5);
    let (below, above) = (bounds(&points[1]["delta"]), bounds(&points[2]["delta"]));
    assert!((below.1 - 0.5 * above.1).abs() < 1e-15, "E_1/2 = E_2/2 for a symmetric pair");
}

#[test]
fn the_smallest_epsilon_is_found_for_each_delta() {
    let answer = json(&["divergence", "gaussian", "--distance", "1", "--sigma", "1", "--delta", "1e-5,0.5"]);
    encloses(&answer["epsilon_at_delta"][0]["epsilon"], 4.377_178_095_681_225);
    assert_eq!(bounds(&answer["epsilon_at_delta"][1]["epsilon"]), (0.0, 0.0));
}

#[test]
fn discrete_pairs_are_read_by_rows_and_by_columns() {
    let columns = file("columns.csv", "p,q\n0.5,0.25\n0.25,0.25\n0.25,0.5\n");
    let rows = file("rows.csv", "0.5,0.25,0.25\n0.25,0.25,0.5\n");
    let by = |path: &std::path::Path| {
        json(&["divergence", "discrete", path.to_str().expect("UTF-8"), "--gamma", "1.5"])
    };
    let (by_columns, by_rows) = (by(&columns), by(&rows));
    assert_eq!(by_columns, by_rows);
    assert_eq!(bounds(&by_rows["tv"]), (0.25, 0.25));
    assert_eq!(bounds(&by_rows["points"][5]["delta"]), (0.125, 0.125));
    assert_eq!(bounds(&by_rows["points"][5]["delta_reversed"]), (0.125, 0.125));
}

#[test]
fn a_two_by_two_table_is_read_the_way_that_makes_laws() {
    let columns = file("two.csv", "p,q\n0.75,0.5\n0.25,0.5\n");
    let answer = json(&["divergence", "discrete", columns.to_str().expect("UTF-8")]);
    assert_eq!(bounds(&answer["tv"]), (0.25, 0.25));
}

#[test]
fn infinite_divergences_are_said_to_be_infinite() {
    let path = file("singular.csv", "0.5,0.5\n1,0\n");
    let answer =
        json(&["divergence", "discrete", path.to_str().expect("UTF-8"), "--order", "2,inf", "--delta", "0"]);
    assert_eq!(answer["kl"]["lower"], "Infinity");
    assert_eq!(answer["renyi"][1]["order"], "Infinity");
    assert_eq!(bounds(&answer["epsilon_at_delta"][0]["epsilon"]).0, f64::INFINITY);
}

#[test]
fn tables_put_the_answer_first_and_quiet_leaves_out_the_explanation() {
    let arguments = ["divergence", "gaussian", "--distance", "0.5", "--sigma", "1", "--epsilon", "5"];
    let full = dobrushin(&arguments).assert().success();
    let full = String::from_utf8_lossy(&full.get_output().stdout).into_owned();
    assert!(full.lines().nth(3).expect("a table").contains("4.416e-24"), "{full}");
    assert!(full.contains("Printed bounds are rounded up"));
    let finer = dobrushin(&arguments).args(["--digits", "10"]).assert().success();
    assert!(String::from_utf8_lossy(&finer.get_output().stdout).contains("4.415443471e-24"));
    let quiet = dobrushin(&arguments).arg("--quiet").assert().success();
    let quiet = String::from_utf8_lossy(&quiet.get_output().stdout).into_owned();
    assert!(quiet.contains("4.416e-24") && !quiet.contains("rounded up"), "{quiet}");
}

#[test]
fn output_goes_to_a_file_when_asked() {
    let path = file("output.json", "old");
    let arguments = ["divergence", "gaussian", "--distance", "1", "--sigma", "1", "--json", "--output"];
    dobrushin(&arguments).arg(&path).assert().success().stdout("");
    let written = std::fs::read_to_string(&path).expect("it was written");
    assert!(written.starts_with('{') && written.contains("\"hellinger2\""), "{written}");
}
