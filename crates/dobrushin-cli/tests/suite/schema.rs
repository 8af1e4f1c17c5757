//! `dobrushin schema`: drafts that look at no value unless they may, and what a schema says of itself.

use crate::support::{dobrushin, json};
use std::path::{Path, PathBuf};

/// A new empty folder.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("schema").join(name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).expect("what an earlier test wrote can be removed");
    }
    std::fs::create_dir_all(&folder).expect("the folder of the tests is writable");
    folder
}

fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) {
    std::fs::write(folder.join(name), content).expect("the folder is writable");
}

/// What a command says from a folder, which exits with this code: its output and its complaints.
fn said(folder: &Path, words: &[&str], code: i32) -> (String, String) {
    let assert = dobrushin(&[&["schema"], words].concat()).current_dir(folder).assert().code(code);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&assert.get_output().stdout), text(&assert.get_output().stderr))
}

/// Ages from 17 to 76, a colour that is sometimes missing, an identity, a zero, and an income.
fn people(folder: &Path) {
    let row = |row: usize| {
        let color = ["green", "red", "", "blue"][row % 4];
        format!("{},{color},S3CRET-{row},0,{}\n", 17 + row % 60, ["low", "high"][row % 2])
    };
    let rows: String = (0..200).map(row).collect();
    write(folder, "data.csv", format!("age,color,name,zero,income\n{rows}"));
}

#[test]
fn a_draft_looks_at_no_value_and_says_what_is_to_be_filled_in() {
    let folder = folder("names");
    people(&folder);
    let (draft, why) = said(&folder, &["init", "data.csv", "--label", "income"], 0);
    assert!(why.contains("only the names of the columns were read"), "{why}");
    for absent in ["S3CRET", "green", "17", "high"] {
        assert!(!draft.contains(absent) && !why.contains(absent), "{absent}");
    }
    // No later line changes it.
    write(&folder, "header.csv", "age,color,name,zero,income\n\"never closed, \u{0}");
    assert_eq!(said(&folder, &["init", "header.csv", "--label", "income"], 0).0, draft);
    write(&folder, "schema.toml", &draft);
    let (_, refusal) = said(&folder, &["check", "schema.toml"], 2);
    assert!(refusal.contains("schema.toml: columns.age.lower is still to be filled in"), "{refusal}");
    assert!(refusal.contains("columns.income.upper"), "{refusal}");
    let filled = draft.replace("lower = #", "lower = 0 #").replace("upper = #", "upper = 100 #");
    write(&folder, "schema.toml", filled);
    let (checked, _) = said(&folder, &["check", "schema.toml", "data.csv"], 0);
    assert!(checked.contains("features   5 from 4 columns") && checked.contains("data.csv has all columns"));
    // Quiet is quiet.
    assert_eq!(said(&folder, &["init", "data.csv", "--label", "income", "--quiet"], 0).1, "");
}

#[test]
fn public_values_give_kinds_bounds_and_categories() {
    let folder = folder("values");
    people(&folder);
    let words = [
        "init",
        "data.csv",
        "--label",
        "income",
        "--values-are-public",
        "--output",
        "schema.toml",
        "--quiet",
    ];
    let (_, warning) = said(&folder, &words, 0);
    assert!(warning.contains("holds only if they are public"), "{warning}");
    let draft = std::fs::read_to_string(folder.join("schema.toml")).expect("it was written");
    for expected in [
        "label = \"income\"",
        "[columns.age]\nkind = \"number\"\nlower = 10\nupper = 80\n",
        "categories = [\"blue\", \"green\", \"red\"]\nif-missing = \"none\"\nif-unknown = \"none\"\n",
        "# columns.name is left out: it has more than 100 different texts",
        "[columns.zero]\nkind = \"category\"\ncategories = [\"0\"]\nif-unknown = \"none\"\n",
        "[columns.income]\nkind = \"category\"\ncategories = [\"high\", \"low\"]\n",
    ] {
        assert!(draft.contains(expected), "{expected}: {draft}");
    }
    assert!(!draft.contains("S3CRET"));
    let path = folder.join("schema.toml").display().to_string();
    let checked = json(&["schema", "check", &path]);
    assert_eq!(checked["dimension"], 6);
    assert_eq!(checked["features"][0], "age");
    assert_eq!(checked["features"][5], "intercept");
    assert_eq!((&checked["label_kind"], &checked["classes"][1]), (&"category".into(), &"low".into()));
    let norm = checked["norm"].as_f64().expect("a number");
    assert!((2.0..2.000001).contains(&norm), "three columns and the intercept: {norm}");
    assert_eq!(checked["hash"].as_str().map(str::len), Some(64));
}

#[test]
fn the_hash_is_that_of_what_is_declared() {
    let folder = folder("hash");
    let schema = "label = \"y\"\n[columns.x]\nkind = \"number\"\nlower = 0\nupper = 1\n\
                  [columns.y]\nkind = \"count\"\nupper = 9\n";
    let hash = |text: &str| {
        write(&folder, "schema.toml", text);
        let (out, _) = said(&folder, &["check", "schema.toml"], 0);
        out.lines().find_map(|line| line.strip_prefix("hash")).expect("a hash").trim().to_owned()
    };
    let first = hash(schema);
    assert_eq!(hash(&format!("# A comment.\n{}", schema.replace("lower = 0", "lower   = 0.0"))), first);
    assert_ne!(hash(&schema.replace("upper = 9", "upper = 8")), first);
    let (out, _) = said(&folder, &["check", "schema.toml"], 0);
    assert!(out.contains("label      y (count)") && out.contains("norm       1.4142135"), "{out}");
}

#[test]
fn what_is_wrong_is_named_and_nothing_is_written() {
    let folder = folder("wrong");
    people(&folder);
    write(&folder, "twice.csv", "a,a,y\n1,2,3\n");
    write(&folder, "empty.csv", "");
    write(&folder, "torn.csv", "a,y\n1,S3CRET,3\n");
    write(&folder, "bytes.csv", b"a,y\n1,\xff\n");
    write(&folder, "blank.csv", "a,y\n1,\n2,\n");
    write(&folder, "bytes.toml", b"label = \"\xff\"");
    write(&folder, "wrong.toml", "label = \"y\"\n[columns.y]\nknd = \"number\"\n");
    write(
        &folder,
        "other.toml",
        "label = \"y\"\ncolumns.y = { kind = \"count\", upper = 1 }\ncolumns.Age = { kind = \"number\", lower = 0, upper = 1 }\n",
    );
    let public = "--values-are-public";
    for (words, what) in [
        (&["init", "data.csv"][..], "--label"),
        (
            &["init", "data.csv", "--label", "Income"],
            "there is no column \"Income\" in data.csv\n  help: it is called \"income\" there",
        ),
        (&["init", "none.csv", "--label", "y"], "cannot read none.csv"),
        (&["init", "empty.csv", "--label", "y"], "empty.csv has no rows"),
        (&["init", "twice.csv", "--label", "y"], "columns 1 and 2 of twice.csv have the same name"),
        (
            &["init", "torn.csv", "--label", "y", public],
            "line 2 of torn.csv: it has 3 cells, but the header has 2",
        ),
        (
            &["init", "bytes.csv", "--label", "y", public],
            "line 2 of bytes.csv: column \"y\": the cell is not UTF-8",
        ),
        (
            &["init", "blank.csv", "--label", "y", public],
            "\"y\" of blank.csv cannot be a label: it has no values",
        ),
        (&["init", "data.csv", "--label", "name", public], "it has more than 100 different texts"),
        (&["init", "data.csv", "--label", "income", "--output", "data.csv"], "is the file with the data"),
        (&["check", "none.toml"], "cannot read none.toml"),
        (&["check", "bytes.toml"], "bytes.toml is not UTF-8 text"),
        (
            &["check", "wrong.toml"],
            "wrong.toml: columns.y.knd is not a key of a column\n  help: did you mean kind?",
        ),
        (
            &["check", "other.toml", "data.csv"],
            "there is no column \"Age\" in data.csv\n  help: it is called \"age\" there",
        ),
    ] {
        let (out, refusal) = said(&folder, words, 2);
        assert!(refusal.contains(what), "{words:?}: {refusal}");
        assert!(out.is_empty() && !refusal.contains("S3CRET"), "{words:?}: {out}{refusal}");
    }
}
