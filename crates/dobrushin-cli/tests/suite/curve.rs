//! `dobrushin curve` as the interface promises it.

use crate::support::{bounds, dobrushin, file, json};

#[test]
fn curve_json_has_the_fields_of_the_contract() {
    let answer = json(&["curve", "examples/dp-sgd.toml", "--over", "steps=1,10,100", "--delta", "1e-5"]);
    assert_eq!(answer["over"], serde_json::json!([{ "key": "run.steps", "values": [1, 10, 100] }]));
    let composition = &answer["analyses"][0];
    assert_eq!(composition["id"], "composition");
    let values: Vec<f64> = (0..3).map(|i| bounds(&composition["epsilon"][i]).1).collect();
    assert!(values[0] < values[1] && values[1] < values[2]);
    assert_eq!(answer["guarantee"], composition["epsilon"]);
    let one = json(&["account", "examples/dp-sgd.toml", "--set", "steps=100"]);
    assert_eq!(one["guarantee"]["epsilon"], answer["guarantee"][2]);
}

#[test]
fn two_parameters_make_a_table_of_rows() {
    let answer = json(&[
        "curve",
        "examples/dp-sgd.toml",
        "--over",
        "noise-multiplier=1,2",
        "--over",
        "run.steps=10,20,30",
        "--epsilon",
        "1",
    ]);
    let rows = answer["guarantee"].as_array().expect("a list");
    assert_eq!((rows.len(), rows[0].as_array().expect("a list").len()), (2, 3));
    assert!(bounds(&rows[1][0]).1 < bounds(&rows[0][0]).1);
    assert!(answer["analyses"][0]["log_delta"][1][2].is_object());
    assert_eq!(answer["target"], serde_json::json!({ "epsilon": 1.0 }));
}

#[test]
fn ranges_have_both_ends_and_whole_numbers_where_needed() {
    let over = |more: &[&str]| {
        let answer = json(&[&["curve", "examples/dp-sgd.toml"], more].concat());
        answer["over"][0]["values"].clone()
    };
    assert_eq!(
        over(&["--over", "steps=1..1e4", "--log", "--points", "5"]),
        serde_json::json!([1, 10, 100, 1000, 10000])
    );
    assert_eq!(over(&["--over", "steps=1..3", "--points", "9"]), serde_json::json!([1, 2, 3]));
    assert_eq!(
        over(&["--over", "noise-multiplier=1..2", "--points", "3"]),
        serde_json::json!([1.0, 1.5, 2.0])
    );
    assert_eq!(
        over(&["--over", "neighbours=zero-out,replace-one"]),
        serde_json::json!(["zero-out", "replace-one"])
    );
}

#[test]
fn the_curve_is_drawn() {
    for name in ["curve.svg", "curve.png", "curve.pdf", "curve.html"] {
        let path = file(name, "");
        let base =
            ["curve", "examples/dp-sgd.toml", "--over", "steps=1..1000", "--points", "4", "--log", "--plot"];
        dobrushin(&base).arg(&path).assert().success();
        assert!(std::fs::metadata(&path).expect("it was written").len() > 1000);
    }
}

#[test]
fn ranges_that_make_no_sense_are_refused() {
    for (over, words) in [
        ("steps=10..1", "empty"),
        ("steps=a..b", "not a finite number"),
        ("stpes=1,2", "did you mean steps?"),
        ("steps", "has no value"),
        ("steps=0,1", "run.steps is 0"),
        ("noise-multiplier=1,nan", "finite"),
    ] {
        let assert =
            dobrushin(&["curve", "examples/dp-sgd.toml", "--over", over]).assert().code(2).stdout("");
        let message = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(message.contains(words) && message.contains("help:"), "{over}: {message}");
    }
    let three = ["--over", "steps=1", "--over", "records=1000", "--over", "epochs=1"];
    dobrushin(&[&["curve", "examples/dp-sgd.toml"][..], &three].concat()).assert().code(2);
    let log = ["curve", "examples/dp-sgd.toml", "--over", "weight-decay=0..1", "--log"];
    dobrushin(&log).assert().code(2);
}

#[test]
fn more_points_than_are_computed_are_refused_with_their_number() {
    let base = ["curve", "examples/dp-sgd.toml", "--points", "100000", "--over", "noise-multiplier=1..2"];
    let assert =
        dobrushin(&[&base[..], &["--over", "learning-rate=1..2"]].concat()).assert().code(2).stdout("");
    let message = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    for words in ["100000 × 100000 = 10000000000 points", "at most 100000", "--points", "help:"] {
        assert!(message.contains(words), "{words}: {message}");
    }
}
