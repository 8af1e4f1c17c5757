//! `account --order` and `curve --order`: Rényi divergences of runs.

use crate::support::{bounds, dobrushin, file, json};
use serde_json::Value;

/// The upper end that an analysis has at the i-th order.
fn of(answer: &Value, index: usize, id: &str) -> f64 {
    let analyses = answer["renyi"][index]["analyses"].as_array().expect("a list");
    let found = analyses.iter().find(|found| found["id"] == id).unwrap_or_else(|| panic!("{id}"));
    bounds(&found["value"]).1
}

/// examples/pnsgd.toml: d = 2ηL = 0.2 and s = ησ = 0.4, so the last of the records has D_α = (α/2)·(1/2)² = α/8.
#[test]
fn account_has_the_divergence_of_every_order_and_the_best_as_the_guarantee() {
    let answer = json(&["account", "examples/pnsgd.toml", "--order", "2,8,32"]);
    for (index, order) in [2.0, 8.0, 32.0].into_iter().enumerate() {
        let one = &answer["renyi"][index];
        assert_eq!(one["order"], serde_json::json!(order));
        let (lower, upper) = bounds(&one["value"]);
        assert!(lower <= order / 8.0 && (upper / (order / 8.0) - 1.0).abs() < 1e-9, "{upper}");
        assert!(!one["assumptions"].as_array().expect("a list").is_empty());
        let named = one["analysis"].as_str().expect("a name");
        assert_eq!(of(&answer, index, named), upper);
        assert!(of(&answer, index, "composition-renyi") >= upper);
    }
    // Nothing else changes.
    let plain = json(&["account", "examples/pnsgd.toml"]);
    assert!(plain.get("renyi").is_none());
    assert_eq!(plain["guarantee"], answer["guarantee"]);
    let text = dobrushin(&["account", "examples/pnsgd.toml", "--order", "2,8"]).assert().success();
    let text = String::from_utf8_lossy(&text.get_output().stdout).into_owned();
    assert!(text.contains("D_α at most") && text.contains("0.25") && text.contains("shift-renyi"), "{text}");
}

/// The order may be infinite where noise is bounded, as Laplace noise is.
#[test]
fn the_infinite_order_is_the_epsilon_without_delta() {
    let base = [
        "account",
        "examples/laplace-pnsgd.toml",
        "--delta",
        "0",
        "--analyses",
        "composition,composition-renyi",
    ];
    let answer = json(&[&base[..], &["--order", "inf"]].concat());
    assert_eq!(answer["renyi"][0]["order"], "Infinity");
    let (epsilon, divergence) =
        (bounds(&answer["guarantee"]["epsilon"]).1, bounds(&answer["renyi"][0]["value"]).1);
    assert!((epsilon / divergence - 1.0).abs() < 1e-9, "{epsilon}, {divergence}");
}

#[test]
fn a_curve_over_orders_or_over_a_parameter_is_drawn() {
    let path = file("orders.svg", "");
    let base = ["curve", "examples/pnsgd.toml", "--order", "1.5..64", "--points", "5", "--log", "--plot"];
    dobrushin(&base).arg(&path).assert().success();
    let picture = std::fs::read_to_string(&path).expect("it was written");
    assert!(picture.contains("order α") && picture.contains("shift-renyi"));
    let answer = json(&["curve", "examples/pnsgd.toml", "--order", "1.5..64", "--points", "5", "--log"]);
    let orders: Vec<f64> =
        (0..5).map(|index| answer["renyi"][index]["order"].as_f64().expect("a number")).collect();
    assert!((orders[0], orders[4]) == (1.5, 64.0) && orders.is_sorted());
    // Over a parameter: each order at each value.
    let over = ["curve", "examples/pnsgd.toml", "--order", "2,8", "--over", "gradient-noise=2,4", "--plot"];
    dobrushin(&over).arg(&path).assert().success();
    let answer = json(&over[..over.len() - 1]);
    let points = answer["renyi"].as_array().expect("a list");
    assert_eq!(points.len(), 4);
    assert_eq!((&points[1]["at"], &points[1]["order"]), (&serde_json::json!(2), &serde_json::json!(8.0)));
    let upper = |index: usize| bounds(&points[index]["value"]).1;
    assert!((upper(0) / upper(2) - 4.0).abs() < 1e-9 && (upper(1) / upper(0) - 4.0).abs() < 1e-9);
}

#[test]
fn orders_that_make_no_sense_are_refused() {
    for (order, words) in [
        ("1", "above 1"),
        ("0.5", "above 1"),
        ("-3", "above 1"),
        ("nan", "above 1"),
        ("two", "not a number"),
        ("2,,8", "not a number"),
        ("", "not a number"),
    ] {
        for command in ["account", "curve"] {
            let assert = dobrushin(&[command, "examples/pnsgd.toml", &format!("--order={order}")]).assert();
            let assert = assert.code(2).stdout("");
            let message = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
            assert!(message.contains(words), "{command}, {order}: {message}");
        }
    }
    for (more, words) in [
        (&["--order", "8..2"][..], "empty"),
        (&["--order", "2..inf"], "endless"),
        (&["--order", "2", "--delta", "1e-5"], "--delta"),
        (&["--order", "2", "--over", "target.delta=1e-5,1e-6"], "does not depend on"),
        (&["--order", "2", "--over", "steps=1,2", "--over", "gradient-noise=1,2"], "one --over"),
    ] {
        let assert = dobrushin(&[&["curve", "examples/pnsgd.toml"], more].concat()).assert().code(2);
        let message = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(message.contains(words), "{more:?}: {message}");
    }
}

/// A run about which no analysis bounds Rényi divergences.
#[test]
fn a_run_without_divergences_says_so() {
    let only = ["--analyses", "contraction", "--order", "2"];
    let answer = json(&[&["account", "examples/pnsgd.toml"], &only[..]].concat());
    assert_eq!(
        answer["renyi"],
        serde_json::json!([{ "order": 2.0, "value": null, "analysis": null, "assumptions": [], "analyses": [] }])
    );
    dobrushin(&[&["curve", "examples/pnsgd.toml"], &only[..]].concat()).assert().code(1);
}
