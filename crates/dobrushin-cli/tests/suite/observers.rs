//! `account --observers`: what owners of records see of each other.

use crate::support::{bounds, dobrushin, file, json};
use dobrushin::numeric::theta;
use dobrushin::{Delta, NonNegative};
use serde_json::Value;

const OWNERS: &str = "examples/owners.toml";

fn observers(arguments: &[&str]) -> Value {
    json(&[&["account", OWNERS, "--observers"], arguments].concat())["observers"].clone()
}

fn epsilon(value: &Value) -> f64 {
    bounds(&value["epsilon"]).1
}

fn refused(arguments: &[&str]) -> String {
    let assert = dobrushin(arguments).assert().code(2).stdout("");
    String::from_utf8_lossy(&assert.get_output().stderr).into_owned()
}

#[test]
fn a_million_owners_are_summed_up() {
    let seen = observers(&[]);
    assert_eq!((seen["owners"].as_u64(), seen["passes"].as_u64()), (Some(1_000_000), Some(1)));
    // The local guarantee is that of two Gaussians one deviation apart.
    let distance = NonNegative::new(1.0).expect("a distance");
    let known = theta::smallest_epsilon(distance, Delta::new(1e-8).expect("δ"));
    assert!((epsilon(&seen["local"]) / known.upper() - 1.0).abs() < 1e-12);
    assert_eq!(seen["worst"]["epsilon"], seen["local"]["epsilon"]);
    assert_eq!(seen["worst"]["hidden_steps"], 0);
    for (list, last) in [("public", 1_000_000), ("later", 999_999)] {
        let mut next = 1;
        for row in seen[list].as_array().expect("a list") {
            assert_eq!(row["from"].as_u64(), Some(next), "{list}");
            next = row["to"].as_u64().expect("a number") + 1;
            epsilon(row);
        }
        assert_eq!(next, last + 1, "{list}");
    }
    let within = &seen["within"];
    assert_eq!(within["exposed_to_next"], 26);
    let share = within["share"].as_f64().expect("a share");
    assert!(0.99994 < share && share < 0.99996, "{share}");
}

#[test]
fn a_pair_is_the_account_of_the_run_that_ends_there() {
    let seen = observers(&["--set", "records=20"]);
    let pairs = seen["pairs"].as_array().expect("a list");
    assert_eq!(pairs.len(), 20 * 20);
    for (owner, observer) in [(1, 2), (1, 20), (7, 15)] {
        let found = pairs.iter().find(|pair| pair["owner"] == owner && pair["observer"] == observer);
        let (records, record) = (format!("records={}", observer - 1), format!("record={owner}"));
        let truncated = json(&["account", OWNERS, "--set", &records, "--set", &record]);
        let (found, known) = (epsilon(found.expect("it is listed")), epsilon(&truncated["guarantee"]));
        assert!((found / known - 1.0).abs() < 1.1e-3, "{owner}, {observer}: {found} for {known}");
    }
    let public =
        pairs.iter().find(|pair| pair["owner"] == 3 && pair["observer"] == "public").expect("listed");
    assert_eq!(public["hidden_steps"], 17);
    assert!(json(&["account", OWNERS])["observers"].is_null());
}

#[test]
fn delta_can_be_asked_for_and_passes_counted() {
    let seen =
        observers(&["--set", "records=30", "--set", "order=cyclic", "--set", "epochs=3", "--epsilon", "1"]);
    assert_eq!(seen["passes"], 3);
    assert!(seen["within"].is_null());
    let deltas: Vec<f64> =
        seen["later"].as_array().expect("a list").iter().map(|row| bounds(&row["delta"]).1).collect();
    assert!(deltas.is_sorted_by(|a, b| a >= b), "{deltas:?}");
}

#[test]
fn the_matrix_is_drawn() {
    for name in ["owners.svg", "owners.png", "owners.html"] {
        let path = file(name, "");
        for records in ["records=12", "records=5000"] {
            dobrushin(&["account", OWNERS, "--set", records, "--observers-plot"])
                .arg(&path)
                .assert()
                .success();
            let bytes = std::fs::read(&path).expect("it was written");
            assert!(bytes.len() > 2000 && !String::from_utf8_lossy(&bytes).contains("NaN"), "{name}");
        }
    }
    assert!(refused(&["account", OWNERS, "--observers-plot", "owners.gif"]).contains(".svg"));
}

#[test]
fn runs_without_a_journey_are_refused_with_the_reason() {
    for (run, set, words) in [
        ("examples/dp-sgd.toml", "steps=10", "order = \"once\""),
        ("examples/chain.toml", "step.1.count=1", "no model travels"),
        ("examples/there-and-back.toml", "records=100000", "no model travels"),
        (OWNERS, "release=all", "run.release"),
        (OWNERS, "record=3", "run.record"),
        (OWNERS, "tasks=2", "tasks"),
    ] {
        let message = refused(&["account", run, "--set", set, "--observers"]);
        assert!(message.contains("--observers") && message.contains(words), "{message}");
    }
}
