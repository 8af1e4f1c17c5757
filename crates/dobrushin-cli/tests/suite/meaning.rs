//! What a guarantee means for a person: in answers, in certificates, on pages to print, and over several releases.

use crate::support::{bounds, dobrushin, file, json, own_folder};
use crate::train_support::{LOANS, RUN, new_folder, read_json, refused};
use dobrushin::numeric::{normal, theta};
use dobrushin::{Delta, NonNegative};
use serde_json::{Value, json as value};
use std::path::{Path, PathBuf};

/// One Gaussian step on all records at distance μ for zero-out neighbours.
fn gaussian(name: &str, mu: f64, more: &[&str]) -> PathBuf {
    let content = format!(
        "[run]\nalgorithm = \"gradient-descent\"\nrecords = 1000\nsteps = 1\nneighbours = \"zero-out\"\n\
         [update]\nclip-norm = 1.0\nlearning-rate = 1.0\nnoise-multiplier = {}\n[target]\ndelta = 1e-6\n",
        1.0 / mu
    );
    let run = file(&format!("{name}.toml"), content).display().to_string();
    let certificate = own_folder().join(format!("{name}.json"));
    dobrushin(&["account", &run, "--certificate"]).arg(&certificate).args(more).assert().success();
    certificate
}

fn printed(arguments: &[&str]) -> String {
    let output = dobrushin(arguments).assert().success().get_output().stdout.clone();
    String::from_utf8(output).expect("UTF-8")
}

fn add(certificates: &[&Path], more: &[&str]) -> Value {
    let names: Vec<String> = certificates.iter().map(|path| path.display().to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    json(&[&["certificate", "add"], &names[..], more].concat())
}

fn exact(mu: f64, delta: f64) -> f64 {
    theta::smallest_epsilon(NonNegative::new(mu).expect("μ"), Delta::new(delta).expect("δ")).upper()
}

#[test]
fn the_numbers_of_a_gaussian_step_are_exact() {
    let certificate = read_json(&gaussian("exact", 0.7, &[]));
    let meaning = &certificate["meaning"];
    let epsilon = bounds(&certificate["guarantee"]["epsilon"]).1;
    let posterior = bounds(&meaning["posterior_from_half"]).1;
    assert!((posterior - 1.0 / (1.0 + (-epsilon).exp())).abs() < 1e-12);
    let advantage = bounds(&meaning["advantage"]).1;
    let known = 2.0 * normal::cdf(0.35).midpoint() - 1.0;
    assert!(advantage >= known - 1e-15 && advantage < known + 1e-12);
    assert_eq!(meaning["one_more_in"], (1.0 / advantage).floor() as u64);
    assert_eq!(meaning["question"], "was-used");
    for rate in meaning["tpr_at_fpr"].as_array().expect("a list") {
        let fpr = rate["fpr"].as_f64().expect("a number");
        let z = normal::tail_inverse(dobrushin::Probability::new(fpr).expect("a rate")).midpoint();
        let known = normal::tail(z - 0.7).midpoint();
        let tpr = bounds(&rate["tpr"]).1;
        assert!(tpr >= known * (1.0 - 1e-12) && tpr < known * (1.0 + 1e-9), "{tpr} {known}");
    }
}

#[test]
fn the_meaning_follows_the_answer_and_quiet_leaves_it_out() {
    let arguments = ["account", "examples/noisy-gd.toml", "--analyses", "composition,shift"];
    let text = printed(&arguments);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("(ε, δ) = "), "{text}");
    assert_eq!(lines[2], "What it means for a person with one record");
    assert!(text.contains("two values of a person's record equally likely"), "{text}");
    assert!(text.find("What it means") < text.find("If every iterate"));
    let quiet = printed(&[&arguments[..], &["--quiet"]].concat());
    assert!(!quiet.contains("person"), "{quiet}");
    let took_part = printed(&["account", "examples/dp-sgd.toml", "--set", "neighbours=add-or-remove-one"]);
    assert!(took_part.contains("a coin toss whether a person took part"), "{took_part}");
}

#[test]
fn a_vacuous_guarantee_means_nothing_and_says_so() {
    let arguments = ["account", "examples/noisy-gd.toml", "--delta", "1", "--analyses", "shift"];
    assert_eq!(json(&arguments)["meaning"], Value::Null);
    assert!(printed(&arguments).contains("Nothing limits what somebody can learn about a person."));
    let weak = ["account", "examples/noisy-gd.toml", "--analyses", "shift", "--set", "noise-multiplier=0.01"];
    assert!(printed(&weak).contains("by itself, this ε protects nobody"));
}

#[test]
fn a_certificate_that_means_more_than_it_should_does_not_hold() {
    let path = gaussian("forged", 0.5, &[]);
    let original = read_json(&path);
    let verify = |changed: &Value| {
        let path = file("forged-changed.json", changed.to_string());
        dobrushin(&["verify"]).arg(path).output().expect("it runs").status.code()
    };
    assert_eq!(verify(&original), Some(0));
    let mut without = original.clone();
    without.as_object_mut().expect("an object").remove("meaning");
    assert_eq!(verify(&without), Some(0), "older certificates do not say what they mean");
    for (place, forged) in [
        ("/meaning/advantage/upper", value!(0.01)),
        ("/meaning/posterior_from_half/upper", value!(0.5)),
        ("/meaning/tpr_at_fpr/1/tpr/upper", value!(0.001)),
        ("/meaning/tpr_at_fpr/0/fpr", value!(0.5)),
        ("/meaning/one_more_in", value!(1000)),
        ("/meaning/question", value!("took-part")),
        ("/meaning/delta", value!(0.0)),
        ("/meaning", value!("nothing")),
    ] {
        let mut changed = original.clone();
        *changed.pointer_mut(place).expect("it is a place") = forged;
        assert_eq!(verify(&changed), Some(1), "{place}");
    }
}

#[test]
fn two_gaussian_releases_add_up_to_the_exact_one() {
    let [a, b] = [("add-a", 0.6), ("add-b", 0.8)].map(|(name, mu)| gaussian(name, mu, &[]));
    let total = add(&[&a, &b], &["--delta", "1e-6"]);
    let (lower, upper) = bounds(&total["epsilon"]);
    let known = exact(1.0, 1e-6);
    assert!(
        lower <= known && upper >= known * (1.0 - 1e-12) && upper < known * (1.0 + 1e-9),
        "{upper} {known}"
    );
    let advantage = bounds(&total["meaning"]["advantage"]).1;
    assert!((advantage - (2.0 * normal::cdf(0.5).midpoint() - 1.0)).abs() < 1e-9);
    // Without a δ it is the sum of theirs.
    let sum = add(&[&a, &b], &[]);
    assert!((sum["delta"].as_f64().expect("a number") / 2e-6 - 1.0).abs() < 1e-12);
    assert!(bounds(&sum["epsilon"]).1 <= exact(1.0, 2e-6) * (1.0 + 1e-9));
    let text = printed(&["certificate", "add", &a.display().to_string(), &b.display().to_string()]);
    assert!(text.contains("for all 2 certificates together") && text.contains("their sum"), "{text}");
}

#[test]
fn a_hidden_release_counts_as_one_mechanism_and_costs_what_it_costs_alone() {
    let path = own_folder().join("hidden.json");
    dobrushin(&["account", "examples/noisy-gd.toml", "--certificate"]).arg(&path).assert().success();
    let alone = bounds(&read_json(&path)["guarantee"]["epsilon"]).1;
    let total = bounds(&add(&[&path], &[])["epsilon"]).1;
    assert!(total <= alone && total > 0.999 * alone, "{total} {alone}");
}

#[test]
fn other_neighbours_are_counted_as_replaced_records() {
    let zero_out = gaussian("mixed-a", 0.25, &[]);
    let replaced = gaussian("mixed-b", 0.25, &["--set", "neighbours=replace-one"]);
    let total = add(&[&zero_out, &replaced], &["--delta", "1e-6"]);
    assert_eq!((&total["neighbours"], &total["changed_neighbours"]), (&value!("replace-one"), &value!(true)));
    // Both are at distance 1/2 if a record is replaced.
    let (upper, known) = (bounds(&total["epsilon"]).1, exact(0.5_f64.sqrt(), 1e-6));
    assert!(upper >= known && upper < 1.01 * known, "{upper} {known}");
}

#[test]
fn what_does_not_hold_or_is_given_twice_is_not_added() {
    let path = gaussian("refused", 0.5, &[]).display().to_string();
    let (code, said) = refused(&["certificate", "add", &path, &path]);
    assert!(code == Some(2) && said.contains("are the same file"), "{said}");
    let mut forged = read_json(Path::new(&path));
    forged["guarantee"]["epsilon"]["upper"] = value!(0.001);
    forged["guarantee"]["epsilon"]["lower"] = value!(0.001);
    let forged = file("refused-forged.json", forged.to_string()).display().to_string();
    let (code, said) = refused(&["certificate", "add", &path, &forged]);
    assert!(code == Some(1) && said.contains("DOES NOT HOLD"), "{said}");
    let (code, said) = refused(&["certificate", "add", &path, "--delta", "1"]);
    assert!(code == Some(2) && said.contains("below 1"), "{said}");
    for delta in ["NaN", "-1", "inf", "2"] {
        assert_eq!(refused(&["certificate", "add", &path, "--delta", delta]).0, Some(2), "{delta}");
    }
    assert_eq!(refused(&["certificate", "add"]).0, Some(2));
    let chain = own_folder().join("refused-chain.json");
    dobrushin(&["account", "examples/chain.toml", "--certificate"]).arg(&chain).assert().success();
    let (code, said) = refused(&["certificate", "add", &path, &chain.display().to_string()]);
    assert!(code == Some(2) && said.contains("neighbours"), "{said}");
    let zero = printed(&["certificate", "add", &path, "--delta", "0.5"]);
    assert!(zero.starts_with("(ε, δ) = (0, 0.5)"), "{zero}");
    let none = dobrushin(&["certificate", "add", &path, "--delta", "0"]).output().expect("it runs");
    assert_eq!(none.status.code(), Some(1), "no Gaussian is purely private");
}

/// Trains on a few loans: the folder.
fn trained(more: &[&str]) -> PathBuf {
    let folder = new_folder();
    let out = folder.display().to_string();
    let first = ["train", LOANS, "--run", RUN, "--out", &out, "--set", "steps=20"];
    dobrushin(&[&first[..], more].concat()).env("SOURCE_DATE_EPOCH", "1795000000").assert().success();
    folder
}

#[test]
fn a_certificate_of_a_model_says_what_was_trained_on_what_and_when() {
    let page = own_folder().join("trained.html");
    let folder = trained(&["--report", &page.display().to_string()]);
    let path = folder.join("certificate.json");
    let certificate = read_json(&path);
    assert_eq!(certificate["training"]["made"], "2026-11-18");
    let text = std::fs::read_to_string(folder.join("certificate.txt")).expect("it was written");
    let shown = printed(&["certificate", "show", &path.display().to_string()]);
    assert_eq!(text.trim(), shown.trim());
    let html = std::fs::read_to_string(&page).expect("it was written");
    for words in [
        "that predicts repaid",
        "trained on 2026-11-18 (UTC)",
        "3000 records",
        "20 steps",
        "300 records in a batch",
        "relative to the most that one record adds",
        "What it means for a person with one record",
        "What was taken as public",
        "how many records there are",
        "age: a number from 18",
        "home: one of owns, mortgage, rents",
        "Not covered",
        "dobrushin certificate verify certificate.json --model model.json",
    ] {
        let unwrapped = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(unwrapped.contains(words), "{words}: {text}");
        assert!(html.contains(words), "{words}: {html}");
    }
    // The certificate, the program that recomputes it and what calls that; nothing is loaded.
    assert!(html.contains("<svg") && !html.contains("<link") && !html.contains("src="));
    assert_eq!(html.matches("<script").count(), 3);
    // The day cannot be recomputed, but it can only be a day.
    for (made, code) in [("2020-02-29", 0), ("yesterday", 1), ("2020-13-01", 1), ("2020-1-1", 1)] {
        let mut changed = certificate.clone();
        changed["training"]["made"] = value!(made);
        let path = file("made.json", changed.to_string());
        let output = dobrushin(&["verify"]).arg(path).output().expect("it runs");
        assert_eq!(output.status.code(), Some(code), "{made}");
    }
    let two = [path.display().to_string(), file("copy.json", certificate.to_string()).display().to_string()];
    let (code, said) = refused(&["certificate", "add", &two[0], &two[1]]);
    assert!(code == Some(2) && said.contains("certificates of the same model"), "{said}");
}

#[test]
fn the_number_of_records_is_not_shown_if_it_is_a_secret() {
    let folder = trained(&[
        "--set",
        "algorithm=dp-sgd",
        "--set",
        "order=poisson",
        "--set",
        "neighbours=add-or-remove-one",
        "--set",
        "records=4000",
        "--set",
        "batch-size=100",
    ]);
    let text = std::fs::read_to_string(folder.join("certificate.txt")).expect("it was written");
    assert!(text.contains("at most 4000 records, as declared: how many there are is a secret"), "{text}");
    assert!(!text.contains("3000 ") && !text.contains("how many records there are\n"), "{text}");
    assert!(text.contains("a coin toss whether a person took part"), "{text}");
}

#[test]
fn a_model_from_a_known_seed_means_nothing_for_anybody() {
    let folder = trained(&["--seed", "1", "--not-private"]);
    assert_eq!(read_json(&folder.join("certificate.json"))["meaning"], Value::Null);
    let text = std::fs::read_to_string(folder.join("certificate.txt")).expect("it was written");
    assert!(!text.contains("What it means") && text.contains("NOT private"), "{text}");
    let (code, said) =
        refused(&["certificate", "add", &folder.join("certificate.json").display().to_string()]);
    assert!(code == Some(1) && said.contains("known seed"), "{said}");
}

#[test]
fn a_report_is_one_file_in_the_format_of_its_name() {
    let folder = own_folder();
    let path = |name: &str| folder.join(name).display().to_string();
    let arguments = ["account", "examples/noisy-gd.toml", "--analyses", "composition,shift"];
    for (name, start) in [("report.html", &b"<!doctype html>"[..]), ("report.PDF", b"%PDF-")] {
        dobrushin(&[&arguments[..], &["--report", &path(name)]].concat()).assert().success();
        let bytes = std::fs::read(folder.join(name)).expect("it was written");
        assert!(bytes.starts_with(start), "{name}");
        // The same bytes for the same run.
        dobrushin(&[&arguments[..], &["--report", &path(name)]].concat()).assert().success();
        assert_eq!(std::fs::read(folder.join(name)).expect("it was written"), bytes);
        let certificate = gaussian("reported", 0.5, &[]).display().to_string();
        dobrushin(&["certificate", "show", &certificate, "--report", &path(name)]).assert().success();
        assert_ne!(std::fs::read(folder.join(name)).expect("it was written"), bytes);
    }
    for name in ["report.svg", "report", "-"] {
        let (code, said) = refused(&[&arguments[..], &["--report", name]].concat());
        assert!(code == Some(2) && said.contains("must end in .html or .pdf"), "{said}");
    }
    // No report without a guarantee, and none over an input.
    let (code, _) = refused(&[&arguments[..], &["--delta", "1", "--report", &path("none.html")]].concat());
    assert_eq!((code, folder.join("none.html").exists()), (Some(1), false));
    let input = file("input.html", "[run]").display().to_string();
    let (code, said) = refused(&["account", &input, "--report", &input]);
    assert!(code == Some(2) && said.contains("--report") && said.contains("is the file with"), "{said}");
}

#[test]
fn ideas_are_explained_in_plain_words() {
    let all = printed(&["explain"]);
    for id in [
        "epsilon",
        "delta",
        "membership",
        "neighbours",
        "samplers",
        "hidden",
        "forgetting",
        "ledger",
        "floor",
        "audit",
    ] {
        assert!(all.contains(&format!("  {id} ")), "{id} is listed");
        let text = printed(&["explain", id]);
        assert!(text.contains("In numbers") && text.contains("Try\n  dobrushin "), "{text}");
        let idea = json(&["explain", id]);
        assert_eq!(idea["id"], id);
        let example = idea["example"].as_str().expect("a command");
        dobrushin(&example.split_whitespace().collect::<Vec<_>>()).assert().success();
    }
    assert_eq!(json(&["explain"])["ideas"].as_array().map(Vec::len), Some(10));
    let (code, said) = refused(&["explain", "epsilom"]);
    assert!(code == Some(2) && said.contains("did you mean epsilon?"), "{said}");
}

#[test]
fn the_table_of_certainties_is_right() {
    let page = std::fs::read_to_string(crate::support::root().join("docs/guide/is-my-epsilon-good.md"))
        .expect("a page");
    let rows: Vec<(f64, f64)> = page
        .lines()
        .filter_map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            Some((cells.get(1)?.parse().ok()?, cells.get(2)?.strip_suffix("%")?.parse().ok()?))
        })
        .collect();
    assert_eq!(rows.len(), 7);
    for (epsilon, shown) in rows {
        let certain = 100.0 / (1.0 + f64::exp(-epsilon));
        assert!(shown >= certain && shown < certain + 0.01, "{epsilon}: {shown} {certain}");
    }
}
