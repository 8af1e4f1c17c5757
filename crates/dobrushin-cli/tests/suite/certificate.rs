//! Certificates: what they hold, and that `verify` tells true from false.

use crate::support::{bounds, dobrushin, file, json};
use serde_json::{Value, json as value};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A file for one certificate: tests run side by side.
fn new_file(name: &str) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    file(&format!("{name}-{}.certificate.json", NEXT.fetch_add(1, Ordering::Relaxed)), "")
}

/// The certificate of an example.
fn certificate(name: &str, more: &[&str]) -> (PathBuf, Value) {
    let path = new_file(name);
    let run = format!("examples/{name}.toml");
    dobrushin(&["account", &run, "--certificate"]).arg(&path).args(more).assert().success();
    let text = std::fs::read_to_string(&path).expect("it was written");
    (path, serde_json::from_str(&text).expect("valid JSON"))
}

/// Runs `verify` on a certificate: the exit code, and all it printed.
fn verify(certificate: &Value) -> (Option<i32>, String) {
    let path = new_file("changed");
    std::fs::write(&path, certificate.to_string()).expect("the folder of the tests is writable");
    let output = dobrushin(&["verify"]).arg(&path).output().expect("it runs");
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).expect("UTF-8"))
}

#[test]
fn a_certificate_has_the_run_the_guarantee_and_the_theorem() {
    let (_, certificate) = certificate("noisy-gd", &["--set", "steps=500"]);
    assert_eq!(certificate["schema"], 1);
    assert_eq!(certificate["kind"], "dobrushin-certificate");
    assert_eq!(certificate["program"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(certificate["run"]["run"]["steps"], 500);
    assert_eq!(certificate["target"], value!({ "delta": 1e-5 }));
    let account = json(&["account", "examples/noisy-gd.toml", "--set", "steps=500"]);
    let guarantee = &certificate["guarantee"];
    assert_eq!(guarantee["epsilon"], account["guarantee"]["epsilon"]);
    assert_eq!(guarantee["delta"], value!({ "lower": 1e-5, "upper": 1e-5 }));
    assert_eq!(guarantee["analysis"], "shift");
    assert_eq!(guarantee["assumptions"], account["guarantee"]["assumptions"]);
    let theorem = json(&["explain", "shift"]);
    assert_eq!(certificate["theorem"], theorem);
    for key in ["analyses", "warnings", "explanation"] {
        assert_eq!(certificate[key], account[key], "{key}");
    }
}

#[test]
fn certificates_of_every_kind_of_run_hold() {
    for (name, more) in [
        ("dp-sgd", &[][..]),
        ("dp-sgd", &["--tolerance", "1e-6"]),
        ("dp-sgd", &["--tolerance", "0.01"]),
        ("mechanisms", &[]),
        ("chain", &[]),
        ("pnsgd", &["--epsilon", "1", "--set", "record=9000"]),
        ("projected-dp-sgd", &[]),
        ("online", &["--set", "gradient-noise=3.3"]),
    ] {
        let (path, certificate) = certificate(name, more);
        let assert = dobrushin(&["verify"]).arg(&path).assert().success();
        let text = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
        assert!(text.starts_with("The certificate holds"), "{text}");
        let answer = json(&["verify", path.to_str().expect("UTF-8")]);
        assert_eq!(answer["holds"], true);
        assert_eq!(answer["same_assumptions"], true);
        assert_eq!(answer["assumptions"], certificate["guarantee"]["assumptions"]);
    }
}

#[test]
fn the_channel_is_in_the_certificate_and_not_only_its_name() {
    let (_, certificate) = certificate("mechanisms", &[]);
    let mechanisms = certificate["run"]["mechanism"].as_array().expect("a list");
    let channel = mechanisms.iter().find(|m| m["kind"] == "channel").expect("the example has one");
    assert_eq!(channel["channel"][0], value!([0.7, 0.1, 0.1, 0.1]));
}

#[test]
fn a_claim_that_is_too_good_does_not_hold() {
    let (_, certificate) = certificate("noisy-gd", &[]);
    let upper = bounds(&certificate["guarantee"]["epsilon"]).1;
    let claimed = |upper: f64| {
        let mut changed = certificate.clone();
        changed["guarantee"]["epsilon"]["upper"] = value!(upper);
        verify(&changed)
    };
    assert_eq!(claimed(upper * 1.1).0, Some(0));
    assert_eq!(claimed(upper.next_down()).0, Some(1), "there is no room for rounding");
    let (code, text) = claimed(upper * (1.0 - 1e-8));
    assert_eq!(code, Some(1), "{text}");
    assert!(text.starts_with("The certificate DOES NOT HOLD"), "{text}");
    assert!(text.contains(&upper.to_string()), "both numbers are shown: {text}");
    assert_eq!(claimed(0.0).0, Some(1));
}

#[test]
fn another_run_another_analysis_or_another_target_does_not_support_a_claim() {
    let (_, certificate) = certificate("noisy-gd", &[]);
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut changed = certificate.clone();
        change(&mut changed);
        verify(&changed)
    };
    let noise = |c: &mut Value| c["run"]["update"]["noise-multiplier"] = value!(19.9);
    assert_eq!(changed(&noise).0, Some(1));
    assert_eq!(changed(&|c| c["run"]["run"]["release"] = value!("all")).0, Some(1));
    // By composition ε is larger; by the approximation there is no guarantee; others do not apply.
    for id in ["composition", "composition-gdp", "nonconvex-published"] {
        let (code, text) = changed(&|c| c["guarantee"]["analysis"] = value!(id));
        assert_eq!(code, Some(1), "{id}: {text}");
    }
    let smaller = |c: &mut Value| {
        c["target"]["delta"] = value!(1e-9);
        c["guarantee"]["delta"]["upper"] = value!(1e-9);
    };
    assert_eq!(changed(&smaller).0, Some(1));
    let (code, text) = changed(&|c| c["guarantee"]["assumptions"] = value!(["trust me"]));
    assert_eq!(code, Some(1));
    assert!(text.starts_with("The certificate DOES NOT HOLD: guarantee.assumptions"), "{text}");
    assert!(!text.contains("trust me"), "{text}");
}

#[test]
fn where_delta_underflows_its_logarithm_is_the_claim() {
    let (_, certificate) = certificate("noisy-gd", &["--epsilon", "500"]);
    assert_eq!(certificate["guarantee"]["delta"]["upper"].as_f64(), Some(5e-324));
    let (code, text) = verify(&certificate);
    assert!(code == Some(0) && text.lines().next().is_some_and(|line| line.contains("(ln δ ≤ -")), "{text}");
    let mut changed = certificate;
    let upper = bounds(&changed["guarantee"]["log_delta"]).1;
    changed["guarantee"]["log_delta"]["upper"] = value!(upper.next_down());
    let (code, text) = verify(&changed);
    assert_eq!(code, Some(1));
    assert!(text.starts_with("The certificate DOES NOT HOLD: guarantee.log_delta claims more"), "{text}");
}

/// Nothing reads the target of the run file, which the certificate's own replaces; so it could say anything.
#[test]
fn the_target_of_the_run_is_a_target() {
    let (_, certificate) = certificate("noisy-gd", &[]);
    for target in [
        value!({ "delta": "audited: (0.01, 0)-private" }),
        value!({ "epsilon": [] }),
        value!({ "delta": -1e-5 }),
    ] {
        let mut changed = certificate.clone();
        changed["run"]["target"] = target;
        let (code, text) = verify(&changed);
        assert!(code == Some(2) && text.contains("target."), "{text}");
    }
}

#[test]
fn a_key_that_is_given_twice_is_refused() {
    let (path, _) = certificate("noisy-gd", &[]);
    let text = std::fs::read_to_string(&path).expect("it was written");
    // Whoever takes the first value reads another guarantee than whoever takes the last.
    let twice = text.replacen("\"guarantee\":", "\"guarantee\": { \"epsilon\": 0.01 }, \"guarantee\":", 1);
    assert_ne!(text, twice);
    std::fs::write(&path, twice).expect("writable");
    for command in [&["verify"][..], &["certificate", "verify"], &["certificate", "show"]] {
        let output = dobrushin(command).arg(&path).output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains("the key \"guarantee\" is given twice"), "{text}");
    }
}

#[test]
fn nothing_is_shown_that_verify_would_not_stand_for() {
    let (path, original) = certificate("noisy-gd", &[]);
    let show = |certificate: &Value| {
        std::fs::write(&path, certificate.to_string()).expect("writable");
        let output = dobrushin(&["certificate", "show"]).arg(&path).output().expect("it runs");
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(text).expect("UTF-8"))
    };
    let (code, text) = show(&original);
    assert!(code == Some(0) && text.starts_with("(ε, δ) = (2.558, 1e-5), by shift"), "{text}");
    for place in ["/guarantee/assumptions/0", "/explanation/0", "/analyses/0/id", "/guarantee/epsilon/lower"]
    {
        let mut changed = original.clone();
        let value = changed.pointer_mut(place).expect("it is there");
        *value = if value.is_string() { value!("\u{1b}[2Jtrust me") } else { value!(2.557_621_792_3) };
        let (code, text) = show(&changed);
        assert_eq!(code, Some(1), "{place}: {text}");
        assert!(
            !text.contains("trust me") && !text.contains("(ε, δ)") && text.contains("DOES NOT HOLD"),
            "{text}"
        );
    }
}

#[test]
fn no_certificate_commands_a_terminal() {
    let (_, original) = certificate("noisy-gd", &[]);
    for (place, key) in
        [("/program", "version"), ("/run/run", "\u{9b}2J"), ("/run", "\u{1b}]0;x\u{7}"), ("", "\u{1b}[2J")]
    {
        let mut changed = original.clone();
        changed.pointer_mut(place).expect("it is there")[key] = value!("\u{1b}[31m\u{9b}2J\u{202e}");
        let path = new_file("terminal");
        std::fs::write(&path, changed.to_string()).expect("writable");
        for command in [
            &["verify"][..],
            &["verify", "--json"],
            &["certificate", "show"],
            &["certificate", "show", "--json"],
        ] {
            let output = dobrushin(command).arg(&path).output().expect("it runs");
            assert_ne!(output.status.code(), Some(0), "{place} {key:?}");
            let text = String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8");
            let obeyed = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
            assert!(!text.contains(obeyed), "{place} {key:?}: {text:?}");
        }
    }
}

#[test]
fn a_file_that_a_certificate_names_is_not_opened() {
    let (_, certificate) = certificate("mechanisms", &[]);
    let secret = file("secret-channel.csv", "a,secret\n0.5,hidden\n");
    let mut changed = certificate;
    for name in [secret.display().to_string(), "/no/such/file".to_owned(), "-".to_owned()] {
        let mechanisms = changed["run"]["mechanism"].as_array_mut().expect("a list");
        let channel = mechanisms.iter_mut().find(|m| m["kind"] == "channel").expect("the example has one");
        channel["channel"] = value!(name);
        let (code, text) = verify(&changed);
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains("is the name of a file, but here it must be the list of its rows"), "{text}");
        assert!(!text.contains("hidden") && !text.contains("cannot read"), "{text}");
    }
}

#[test]
fn what_is_no_certificate_is_bad_input() {
    let (_, certificate) = certificate("noisy-gd", &[]);
    let cases: &[(&str, Value, &str)] = &[
        ("/kind", value!("certificate"), "kind of the certificate is \"certificate\""),
        ("/schema", value!(2), "schema of the certificate is 2"),
        ("/guarantee", Value::Null, "guarantee.analysis of the certificate is missing"),
        ("/guarantee/analysis", value!("magic"), "a known analysis"),
        ("/guarantee/epsilon/upper", value!("small"), "guarantee.epsilon.upper"),
        ("/guarantee/epsilon/upper", value!(-1.0), "0 or more"),
        ("/guarantee/delta/upper", value!(1e-6), "contradicts itself"),
        ("/guarantee/assumptions", value!("none"), "guarantee.assumptions"),
        ("/target", value!({}), "target of the certificate"),
        ("/target/delta", value!(2.0), "target of the certificate"),
        ("/tolerance", value!(0.0), "tolerance of the certificate is 0"),
        ("/run", value!(3), "the run is not a table"),
        ("/run/run/records", value!(0), "run.records is 0"),
        ("/run/run/zebra", value!(0), ""),
    ];
    for (place, new, words) in cases {
        let mut changed = certificate.clone();
        match changed.pointer_mut(place) {
            Some(old) => *old = new.clone(),
            None => changed["run"]["run"]["zebra"] = new.clone(),
        }
        let (code, text) = verify(&changed);
        assert!(code == Some(2) && text.contains(words) && text.contains("help:"), "{place}: {text}");
    }
    for (name, content) in [("empty.json", ""), ("text.json", "ε = 1"), ("list.json", "[1, 2]")] {
        let path = file(name, content);
        dobrushin(&["verify"]).arg(&path).assert().code(2).stdout("");
    }
    dobrushin(&["verify", "no/such/file.json"]).assert().code(2).stdout("");
}

#[test]
fn without_a_guarantee_there_is_no_certificate() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("none-certificate.json");
    let arguments = ["account", "--set", "steps=any", "--set", "release=all", "--certificate"];
    let assert = dobrushin(&arguments).arg(&path).assert().code(1).stdout("");
    assert!(String::from_utf8_lossy(&assert.get_output().stderr).contains("there is no guarantee"));
    assert!(!path.exists());
}

/// A small ε about deleted records must not pass for the privacy of those that remain.
#[test]
fn a_certificate_of_forgetting_says_that_it_is_about_what_was_deleted() {
    let path = format!("{}/forget-certificate.json", env!("CARGO_TARGET_TMPDIR"));
    let _ = std::fs::remove_file(&path);
    dobrushin(&["account", "examples/forget.toml", "--certificate", &path]).assert().success();
    let verified = dobrushin(&["certificate", "verify", &path]).assert().success();
    let said = String::from_utf8_lossy(&verified.get_output().stdout).into_owned();
    assert!(
        said.starts_with("The certificate holds: (ε, δ) = (0.04574, 1e-6) for what was deleted, by"),
        "{said}"
    );
    // It cannot be added to what other releases cost.
    let added = dobrushin(&["certificate", "add", &path]).assert().failure();
    let said = String::from_utf8_lossy(&added.get_output().stderr).into_owned();
    assert!(said.contains("[forget]") && said.contains("deleted records"), "{said}");
}
