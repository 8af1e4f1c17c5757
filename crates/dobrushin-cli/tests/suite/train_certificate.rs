//! Certificates of trained models: what they say, and what is found out.

use crate::support::{dobrushin, file, json, root};
use crate::train_support::{LOANS, RUN, new_folder, read_json, refused, trained};
use serde_json::Value;
use std::path::Path;

type Change = fn(&mut Value);

#[test]
fn every_assumption_of_a_guarantee_says_how_it_is_enforced() {
    for more in [
        &[][..],
        &["--set", "clip-norm=0.5", "--set", "domain.ball=2"],
        &["--set", "algorithm=dp-sgd", "--set", "order=poisson", "--set", "batch-size=100"],
        &["--set", "algorithm=dp-sgd", "--set", "order=without-replacement", "--set", "batch-size=100"],
        &[
            "--set",
            "algorithm=dp-sgd",
            "--set",
            "order=poisson",
            "--set",
            "batch-size=100",
            "--set",
            "divide-by=actual",
        ],
        &["--set", "algorithm=dp-sgd", "--set", "order=cyclic", "--set", "batch-size=70"],
        &[
            "--set",
            "algorithm=pnsgd",
            "--set",
            "order=once",
            "--set",
            "batch-size=10",
            "--set",
            "steps=300",
            "--set",
            "release=random-stop",
        ],
        &["--set", "evaluation.noise-multiplier=50"],
        &["--set", "public-steps=5", "--public", "examples/loans/test.csv"],
    ] {
        let (_, folder) = trained(&[&["--set", "steps=20"], more].concat());
        let certificate = read_json(&folder.join("certificate.json"));
        let assumptions = certificate["guarantee"]["assumptions"].as_array().expect("a list");
        let enforced = certificate["training"]["enforcement"].as_array().expect("a list");
        assert_eq!(assumptions.len(), enforced.len());
        for (assumption, entry) in assumptions.iter().zip(enforced) {
            assert_eq!(*assumption, entry["assumption"]);
            assert_ne!(entry["enforced"], "NOT enforced by the program", "{assumption}");
            let words = assumption.as_str().expect("words");
            let how = entry["enforced"].as_str().expect("words");
            assert_eq!(words.contains("is then evaluated"), how.contains("cut to its bound"), "{assumption}");
        }
    }
}

#[test]
fn an_iteration_that_must_start_at_zero_says_where_it_starts() {
    let loans = std::fs::read_to_string(root().join(LOANS)).expect("there");
    let few: Vec<&str> = loans.lines().take(41).collect();
    let data = file("few-loans.csv", few.join("\n")).display().to_string();
    let folder = new_folder();
    let out = folder.display().to_string();
    let more = [
        "algorithm=gradient-descent",
        "order=full",
        "records=40",
        "batch-size=40",
        "clip-norm=0.1",
        "noise-multiplier=100",
        "weight-decay=0.9",
        "model.kind=network",
        "model.hidden=1",
    ];
    let sets = more.iter().flat_map(|assignment| ["--set", assignment]).collect::<Vec<_>>();
    let answer = json(&[&["train", &data, "--run", RUN, "--out", &out], &sets[..]].concat());
    assert_eq!(answer["guarantee"]["analysis"], "recursion");
    let certificate = read_json(&folder.join("certificate.json"));
    let enforced = certificate["training"]["enforcement"].as_array().expect("a list");
    let entry = enforced.iter().find(|entry| entry["assumption"].to_string().contains("starts at 0"));
    let how = entry.expect("recursion assumes it")["enforced"].as_str().expect("words");
    assert!(how.contains("random weights, which depend on no record"), "{how}");
}

#[test]
fn a_known_seed_needs_consent_and_marks_everything() {
    let folder = new_folder();
    let out = folder.display().to_string();
    let (code, text) = refused(&["train", LOANS, "--run", RUN, "--out", &out, "--seed", "1"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("--not-private"), "{text}");
    let (answer, first) = trained(&["--set", "steps=20"]);
    assert_eq!(answer["private"], false);
    let (_, second) = trained(&["--set", "steps=20"]);
    let bytes = |folder: &Path, name: &str| std::fs::read(folder.join(name)).expect("it was written");
    assert_eq!(bytes(&first, "model.json"), bytes(&second, "model.json"), "the same seed, the same model");
    assert_eq!(read_json(&first.join("model.json"))["warning"], "reproducible, NOT private");
    let certificate = read_json(&first.join("certificate.json"));
    assert_eq!(certificate["training"]["randomness"], "reproducible, NOT private");
    assert_eq!(certificate["training"]["seed"], 1);
    let text = String::from_utf8(bytes(&first, "certificate.txt")).expect("UTF-8");
    assert!(text.contains("reproducible, NOT private"), "{text}");
    let output =
        dobrushin(&["certificate", "verify"]).arg(first.join("certificate.json")).output().expect("it runs");
    assert_eq!(output.status.code(), Some(1), "such a model is not private");
    assert!(String::from_utf8_lossy(&output.stdout).contains("NOT private"));
}

#[test]
fn a_changed_certificate_or_model_is_found_out() {
    let (_, folder) = trained(&["--set", "steps=20"]);
    let original = read_json(&folder.join("certificate.json"));
    let check = |certificate: &Value| {
        let path = folder.join("changed.json");
        std::fs::write(&path, certificate.to_string()).expect("writable");
        let output = dobrushin(&["certificate", "verify", "--json"]).arg(&path).output().expect("it runs");
        let answer: Option<Value> = serde_json::from_slice(&output.stdout).ok();
        answer.map(|answer| answer["holds"] == true)
    };
    assert_eq!(check(&original), Some(true));
    let changes: [(&str, Change); 8] = [
        ("a smaller ε", |c| c["guarantee"]["epsilon"]["upper"] = 0.01.into()),
        ("less noise", |c| c["run"]["update"]["noise-multiplier"] = 5.into()),
        ("another model", |c| c["run"]["model"]["kind"] = "smoothed-hinge".into()),
        ("more steps", |c| c["run"]["run"]["steps"] = 200.into()),
        ("larger batches, used more often", |c| c["run"]["run"]["batch-size"] = 3000.into()),
        ("other constants", |c| c["training"]["constants"]["gradient_norm"] = 0.1.into()),
        ("another schema hash", |c| c["training"]["schema_sha256"] = "00".into()),
        ("other bounds of a column", |c| c["run"]["model"]["schema"]["norm"] = 50.into()),
    ];
    for (what, change) in changes {
        let mut changed = original.clone();
        change(&mut changed);
        assert_ne!(changed, original, "{what} changes something");
        assert_ne!(check(&changed), Some(true), "{what}");
    }
    let model = folder.join("model.json");
    // More noise, with the smaller ε that it would give: nothing is wrong with it, but it is not of this model.
    let path = folder.join("quieter.json");
    dobrushin(&["account", RUN, "--set", "steps=20", "--set", "noise-multiplier=160", "--certificate"])
        .arg(&path)
        .assert()
        .success();
    let mut quieter = read_json(&path);
    assert_eq!(quieter["guarantee"]["assumptions"], original["guarantee"]["assumptions"]);
    quieter["training"] = original["training"].clone();
    assert_eq!(check(&quieter), Some(true));
    let output = dobrushin(&["certificate", "verify"])
        .args([&folder.join("changed.json"), Path::new("--model"), &model])
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("trained by another run"));
    // The model has a known seed; whatever the certificate says of that, it is not taken for private.
    let seeds: [(Change, &str); 3] = [
        (|c| c["training"]["private"] = true.into(), "known seed: reproducible"),
        (|c| c["training"]["private"] = "true".into(), "known seed: reproducible"),
        (
            |c| {
                c["training"]["private"] = true.into();
                c["training"]["seed"] = Value::Null;
            },
            "from a known seed, which the certificate does not say",
        ),
    ];
    for (change, words) in seeds {
        let mut changed = original.clone();
        change(&mut changed);
        check(&changed);
        let output = dobrushin(&["certificate", "verify"])
            .args([&folder.join("changed.json"), Path::new("--model"), &model])
            .output()
            .expect("it runs");
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&output.stdout).contains(words), "{words}");
    }
    // A certificate holds its schema, and what is no certificate is not shown as one.
    let odd: [Change; 3] = [
        |c| c["run"]["model"]["schema"] = "examples/loans/schema.toml".into(),
        |c| c["kind"] = "another".into(),
        |c| *c = Value::Array(Vec::new()),
    ];
    for change in odd {
        let mut changed = original.clone();
        change(&mut changed);
        assert_eq!(check(&changed), None);
        let path = folder.join("changed.json").display().to_string();
        assert_eq!(refused(&["certificate", "show", &path]).0, Some(2));
    }
    let mut other = read_json(&model);
    other["parameters"][0][0] = 0.5.into();
    std::fs::write(&model, other.to_string()).expect("writable");
    let certificate = folder.join("certificate.json");
    let output = dobrushin(&["certificate", "verify"])
        .arg(&certificate)
        .arg("--model")
        .arg(&model)
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let verdict = text.lines().next().unwrap_or_default();
    assert!(verdict.starts_with("It is NOT the certificate of"), "{text}");
    assert!(!text.contains("The certificate holds"), "{text}");
}

#[test]
fn what_a_certificate_says_of_training_is_recomputed_or_has_the_right_form() {
    let (_, folder) = trained(&["--set", "steps=20", "--set", "evaluation.noise-multiplier=50"]);
    let original = read_json(&folder.join("certificate.json"));
    let verdict = |certificate: &Value| {
        let path = folder.join("changed.json");
        std::fs::write(&path, certificate.to_string()).expect("writable");
        let output = dobrushin(&["certificate", "verify", "--json"]).arg(&path).output().expect("it runs");
        let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        (answer["holds"] == true, answer["differences"].to_string())
    };
    assert_eq!(verdict(&original), (true, "[]".to_owned()));
    let changes: [(&str, Change); 9] = [
        ("training.randomness", |c| c["training"]["randomness"] = "a fair coin".into()),
        ("training.private", |c| c["training"]["private"] = "no".into()),
        ("training.seed", |c| c["training"]["seed"] = "none".into()),
        ("training.model_sha256", |c| c["training"]["model_sha256"] = "whichever you like".into()),
        ("training.not_covered", |c| c["training"]["not_covered"] = Value::Array(Vec::new())),
        ("training.enforcement[0].enforced", |c| {
            c["training"]["enforcement"][0]["enforced"] = "by law".into()
        }),
        ("training.evaluation[0].loss_deviation", |c| {
            c["training"]["evaluation"][0]["loss_deviation"] = 0.into()
        }),
        ("training.evaluation[0].accuracy", |c| {
            c["training"]["evaluation"][0]["accuracy"] = "perfect".into()
        }),
        ("training.audited", |c| c["training"]["audited"] = true.into()),
    ];
    for (field, change) in changes {
        let mut changed = original.clone();
        change(&mut changed);
        let (holds, differences) = verdict(&changed);
        assert!(!holds && differences.contains(&format!("\"{field}\"")), "{field}: {differences}");
    }
}

#[test]
fn a_file_that_a_model_names_is_not_opened() {
    let (_, folder) = trained(&["--set", "steps=20"]);
    let path = folder.join("model.json");
    let mut model = read_json(&path);
    model["model"]["schema"] = file("secret-schema.toml", "hidden words").display().to_string().into();
    std::fs::write(&path, model.to_string()).expect("writable");
    let (code, text) = refused(&["predict", &path.display().to_string(), LOANS]);
    assert_eq!(code, Some(2));
    assert!(
        text.contains("model.schema is the name of a file, but here it must be the schema itself"),
        "{text}"
    );
    assert!(!text.contains("hidden"), "{text}");
}
