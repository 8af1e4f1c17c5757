//! Certificates and models of version 1, as the first program that wrote them left them.

use dobrushin::account::DEFAULT_TOLERANCE;
use dobrushin_document::certificate::{self, Certificate, Verdict, Verification};
use dobrushin_document::model::SavedModel;
use dobrushin_document::{DocumentError, json};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;

fn bytes(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/data").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn certificate(name: &str) -> Value {
    certificate::read(&bytes(name), name).expect("it is JSON")
}

fn verified(certificate: &Value, model: Option<&[u8]>) -> Verification {
    certificate::verify(certificate, model).unwrap_or_else(|error| panic!("{}", whole(&error)))
}

/// The message and the help.
fn whole(error: &DocumentError) -> String {
    format!("{error}; {}", error.help.as_deref().unwrap_or_default())
}

/// Whether a certificate gives this, and claims the other: then another value contradicts its target.
fn field_is_given(certificate: &Value, field: &str) -> bool {
    certificate["target"].get(field).is_some()
}

#[test]
fn the_guarantees_of_runs_still_hold_whatever_the_other_analyses_say_today() {
    for name in ["chain.json", "mechanisms.json", "dp-sgd-delta.json"] {
        let certificate = certificate(name);
        let found = verified(&certificate, None);
        // This version words the theorems differently.
        assert_eq!((found.verdict, found.confirmed), (Verdict::NotConfirmed, false), "{name}");
        // A claim that is smaller by more than another rounding does not hold.
        for field in ["epsilon", "delta"] {
            let mut forged = certificate.clone();
            let end = &mut forged["guarantee"][field]["upper"];
            *end = json!(end.as_f64().expect("a number") * (1.0 - 2.0 * DEFAULT_TOLERANCE));
            let refused = certificate::verify(&forged, None);
            assert!(
                refused.is_ok_and(|found| found.verdict == Verdict::DoesNotHold)
                    || field_is_given(&forged, field)
            );
        }
        // And they are what they were, to the last digit, once they are typed values.
        let typed = Certificate::deserialize(&certificate).expect("it holds, so it has the form");
        assert_eq!(json::of(&typed), certificate, "{name}");
        assert_eq!(typed.file().into_bytes(), bytes(name), "{name}");
    }
}

#[test]
fn the_guarantees_of_models_still_hold_and_know_their_models() {
    for (name, is_private) in [("private-model", true), ("seeded-model", false)] {
        let certificate = certificate(&format!("{name}-certificate.json"));
        let model = bytes(&format!("{name}.json"));
        let found = verified(&certificate, Some(&model));
        // This version words the theorem differently.
        assert_eq!((found.verdict, found.model_matches), (Verdict::NotConfirmed, Some(true)), "{name}");
        assert_eq!((found.private, found.confirmed), (is_private, false), "{name}");
        let typed = Certificate::deserialize(&certificate).expect("it holds, so it has the form");
        assert_eq!(json::of(&typed), certificate, "{name}");
        let saved = SavedModel::read(&model, name).unwrap_or_else(|error| panic!("{}", whole(&error)));
        assert_eq!(saved.parameters.len(), saved.schema.tasks());
    }
    let certificate = certificate("private-model-certificate.json");
    let found = verified(&certificate, Some(&bytes("seeded-model.json")));
    assert_eq!((found.model_matches, found.confirmed), (Some(false), false));
}

#[test]
fn what_no_run_implies_must_still_have_its_form() {
    let original = certificate("seeded-model-certificate.json");
    let forged = [
        ("/training/model_sha256", json!([])),
        ("/training/model_sha256", json!("")),
        ("/training/model_sha256", json!("0".repeat(63))),
        ("/training/model_sha256", Value::Null),
        ("/training/seed", json!([])),
        ("/training/seed", json!("none")),
        ("/training/seed", json!(-1)),
        ("/training/private", json!([])),
        ("/training/test_share", json!(2.0)),
        ("/training/evaluation/0/accuracy", json!([])),
        ("/training/evaluation/0/accuracy", Value::Null),
        ("/training/evaluation/0/loss", json!("small")),
        ("/training/evaluation", json!([])),
    ];
    for (place, value) in forged {
        let mut changed = original.clone();
        *changed.pointer_mut(place).expect("it is a place") = value.clone();
        assert_eq!(verified(&changed, None).verdict, Verdict::DoesNotHold, "{place} is {value}");
    }
    // Another seed, and another accuracy, are as good.
    for (place, value) in [("/training/seed", json!(8)), ("/training/evaluation/0/accuracy", json!(1.0))] {
        let mut changed = original.clone();
        *changed.pointer_mut(place).expect("it is a place") = value;
        assert_eq!(verified(&changed, None).verdict, verified(&original, None).verdict, "{place}");
    }
}

#[test]
fn a_newer_version_is_refused_and_named() {
    let mut newer = certificate("chain.json");
    newer["schema"] = json!(2);
    let error = certificate::verify(&newer, None).err().expect("it is of another version");
    assert!(
        whole(&error).contains("schema of the certificate is 2, but it must be 1: a newer program"),
        "{error}"
    );
    let mut newer = json::parse(&bytes("private-model.json")).expect("it is JSON");
    newer["schema"] = json!(2);
    let error = SavedModel::read(newer.to_string().as_bytes(), "model.json").err().expect("another version");
    assert!(whole(&error).contains("model.json is a model in version 2 of its format"), "{}", whole(&error));
    for none in
        [json!({ "kind": "dobrushin-model" }), json!({ "kind": "dobrushin-certificate", "schema": 1 })]
    {
        let error = SavedModel::read(none.to_string().as_bytes(), "x").err().expect("it is no model");
        assert!(whole(&error).contains("x is not a model: its kind is not"), "{}", whole(&error));
    }
}
