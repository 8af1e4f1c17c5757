//! `dobrushin prescribe`: the run files that it writes are confirmed, and bad input is refused with its name.

use crate::support::{bounds, dobrushin, json, own_folder, root};
use serde_json::Value;

const PROBLEM: [&str; 12] = [
    "--records",
    "1e5",
    "--dimension",
    "5",
    "--lipschitz",
    "2",
    "--radius",
    "0.5",
    "--epsilon",
    "0.8",
    "--delta",
    "1e-6",
];

/// Every setting, with what it needs.
const SETTINGS: [&[&str]; 6] = [
    &["local"],
    &["per-record"],
    &["public-tail", "--public-records", "200"],
    &["tasks", "--tasks", "1", "--records", "300"],
    &["passes", "--passes", "20"],
    &["online", "--records", "2000"],
];

/// The command line of a setting; what is given twice counts once, with the setting's value.
fn with<'a>(setting: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    let own = |flag: &str| setting.contains(&flag);
    let problem = PROBLEM.chunks(2).filter(|pair| !own(pair[0])).flatten().copied();
    ["prescribe"]
        .into_iter()
        .chain(setting.iter().copied())
        .chain(problem)
        .chain(more.iter().copied())
        .collect()
}

#[test]
fn a_written_run_file_is_confirmed_at_the_target_by_account() {
    for (index, setting) in SETTINGS.into_iter().enumerate() {
        for smoothness in [&[][..], &["--smoothness", "3"]] {
            let path = own_folder().join(format!("{index}-{}.toml", smoothness.len()));
            let path = path.to_str().expect("UTF-8");
            let report = json(&with(setting, &[smoothness, &["--output", path]].concat()));
            assert_eq!(report["output"], path);
            let account = json(&["account", path, "--utility", "--analyses", "composition,shift"]);
            let epsilon = bounds(&account["guarantee"]["epsilon"]).1;
            assert!(epsilon <= 0.8, "{setting:?}: {epsilon}");
            assert_eq!(bounds(&report["guarantee"]["epsilon"]).1, epsilon);
            let smoothing = &report["smoothing"]["error"];
            let error = if smoothing.is_object() { bounds(smoothing).1 } else { 0.0 };
            let (promised, confirmed) =
                (bounds(&report["utility"]["value"]).1, bounds(&account["utility"]["value"]).1);
            assert!(
                (promised - confirmed - error).abs() <= 1e-12 * promised,
                "{setting:?}: {promised} {confirmed} {error}"
            );
            assert_eq!(report["utility"]["measure"], account["utility"]["measure"]);
            assert_eq!(report["utility"]["vacuous"], account["utility"]["vacuous"]);
            assert!(bounds(&report["lower_bound"]["excess"]).0 <= promised);
            // The file says what the report says, and a little less noise is too little.
            let file = std::fs::read_to_string(path).expect("it was written");
            let noise = report["gradient_noise"].as_f64().expect("a number");
            assert!(file.contains(&format!("gradient-noise = {noise:?}")), "{file}");
            let less = format!("gradient-noise={}", noise * 0.999);
            let account = json(&["account", path, "--analyses", "composition,shift", "--set", &less]);
            assert!(bounds(&account["guarantee"]["epsilon"]).1 > 0.8, "{setting:?} wastes noise");
        }
    }
}

#[test]
fn people_read_the_numbers_what_they_mean_and_what_the_paper_prints() {
    let read = |arguments: &[&str]| {
        let output = dobrushin(arguments).assert().success().get_output().stdout.clone();
        String::from_utf8(output).expect("UTF-8")
    };
    let text = read(&with(&["public-tail", "--public-records", "200"], &[]));
    for words in [
        "gradient-noise = ",
        "learning-rate = ",
        "at least",
        "not enough",
        "E12",
        "This holds if",
        "--output run.toml",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let quiet = read(&with(&["local"], &["--quiet"]));
    assert!(quiet.contains("gradient-noise") && !quiet.contains("This holds if"), "{quiet}");
    let vacuous = read(&with(&["local", "--records", "10"], &[]));
    assert!(vacuous.contains("vacuous"), "{vacuous}");
    assert_eq!(json(&with(&["local", "--records", "10"], &[]))["utility"]["vacuous"], true);
    assert_eq!(json(&with(&["local"], &[]))["utility"]["vacuous"], false);
    // Averaged losses are explained; losses of known smoothness are not averaged.
    assert!(read(&with(&["per-record"], &[])).contains("averaged over normal Z"));
    assert!(!read(&with(&["per-record"], &["--smoothness", "1"])).contains("averaged over normal Z"));
}

#[test]
fn the_errata_of_printed_noise_are_reproduced() {
    let delta = |report: &Value| bounds(&report["published"]["delta"]);
    let local = json(&[
        "prescribe",
        "local",
        "--records",
        "1000",
        "--dimension",
        "3",
        "--lipschitz",
        "1",
        "--diameter",
        "2",
        "--epsilon",
        "10",
        "--delta",
        "1e-5",
    ]);
    assert!((delta(&local).1 - 2.265e-5).abs() < 1e-8, "{local}");
    let tail = json(&[
        "prescribe",
        "public-tail",
        "--records",
        "102",
        "--public-records",
        "50",
        "--dimension",
        "400",
        "--lipschitz",
        "1",
        "--radius",
        "1",
        "--epsilon",
        "1",
        "--delta",
        "1e-5",
    ]);
    assert!(delta(&tail).0 > 2.713e-5, "{tail}");
    assert_eq!(tail["published"]["erratum"], "E12");
}

#[test]
fn the_run_file_may_go_to_standard_output() {
    let output = dobrushin(&with(&["local"], &["--output", "-"])).assert().success().get_output().clone();
    let file = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(file.starts_with("# One pass") && file.contains("[target]"), "{file}");
    assert!(String::from_utf8(output.stderr).expect("UTF-8").contains("gradient-noise = "));
}

#[test]
fn bad_input_is_refused_with_the_flag_and_what_is_accepted() {
    let said = |arguments: &[&str]| {
        let output = dobrushin(arguments).assert().code(2).get_output().stderr.clone();
        String::from_utf8(output).expect("UTF-8")
    };
    for (setting, more, words) in [
        (&["local", "--epsilon", "0"][..], &[][..], &["--epsilon is 0", "above 0"][..]),
        (&["local", "--delta", "0"], &[], &["--delta is 0", "above 0"]),
        (&["local", "--delta", "1"], &[], &["δ is 1"]),
        (&["local", "--epsilon", "inf"], &[], &["epsilon"]),
        (&["local", "--epsilon", "-1"], &[], &["epsilon"]),
        (&["local", "--records", "0"], &[], &["--records", "whole number"]),
        (&["local", "--records", "1.5"], &[], &["--records", "whole number"]),
        (&["local", "--records", "nan"], &[], &["--records", "whole number"]),
        (&["local", "--dimension", "-3"], &[], &["--dimension", "whole number"]),
        (&["local", "--lipschitz", "0"], &[], &["lipschitz", "positive"]),
        (&["local", "--radius", "inf"], &[], &["radius"]),
        (&["local", "--radius", "1e308"], &[], &["diameter"]),
        (&["local"], &["--diameter", "1"], &["--diameter", "--radius"]),
        (&["local"], &["--smoothness", "-1"], &["smoothness"]),
        (&["local"], &["--tasks", "3"], &["--tasks is 3", "another setting", "prescribe tasks"]),
        (&["tasks"], &[], &["--tasks is missing"]),
        (&["passes"], &[], &["--passes is missing"]),
        (&["passes", "--passes", "1000000000000000000"], &[], &["--passes is", "at most"]),
        (&["public-tail"], &[], &["--public-records is missing"]),
        (
            &["public-tail", "--public-records", "100000"],
            &[],
            &["--public-records is 100000", "must be private"],
        ),
        (&["elsewhere"], &[], &["elsewhere", "per-record"]),
        (&["local", "--records", "99999999999999999999"], &[], &["--records"]),
        (&["local", "--records", "2305843009213693952"], &[], &["--records", "1152921504606846976"]),
    ] {
        let message = said(&with(setting, more));
        for word in words {
            assert!(message.contains(word), "{setting:?}: {word} is not in {message}");
        }
        assert!(!message.contains("panicked"), "{message}");
    }
    // Nothing is written where an answer is refused.
    let path = own_folder().join("never.toml");
    let _ = std::fs::remove_file(&path);
    said(&with(&["tasks"], &["--output", path.to_str().expect("UTF-8")]));
    assert!(!path.exists());
}

/// The page's table of PAI Table 1 is what the figure says.
#[test]
fn the_table_of_the_documentation_is_what_the_figure_draws() {
    let folder = own_folder().join("figures");
    dobrushin(&["figures", "--out", folder.to_str().expect("UTF-8"), "--only", "pai-table-1"])
        .assert()
        .success();
    let text = std::fs::read_to_string(folder.join("pai-table-1.csv")).expect("it was drawn");
    let page = std::fs::read_to_string(root().join("docs/guide/prescriptions.md")).expect("the page");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("valid CSV")).collect();
    let number = |row: &csv::StringRecord, column: usize| row[column].parse::<f64>().expect("a number");
    for (row, label) in [
        ("noisy SGD, as printed (Theorem 29)", "noisy SGD, this work: Theorem 29, published"),
        ("noisy SGD, every step private", "noisy SGD, this work: here"),
        ("noisy SGD and sampling (empirical risk only)", "noisy SGD and sampling (empirical risk)"),
        ("output perturbation", "output perturbation"),
        ("no locally private algorithm is below", "nobody locally private is below"),
        ("no private algorithm is below", "nobody private is below"),
    ] {
        let at = |n: f64| {
            let found = rows.iter().find(|row| &row[0] == label && (number(row, 1) / n - 1.0).abs() < 1e-9);
            number(found.expect("it is drawn there"), 2)
        };
        // Upper bounds are rounded up, lower ones down.
        let shown = |value: f64| {
            let scaled = value * 1e4;
            (if label.starts_with("nobody") { scaled.floor() } else { scaled.ceil() }) / 1e4
        };
        let line = format!("| {row} | {:.4} | {:.4} |", shown(at(1e4)), shown(at(1e5)));
        assert!(page.contains(&line), "docs/guide/prescriptions.md lacks: {line}");
    }
    // No promise is below what is impossible.
    for row in rows.iter().filter(|row| !row[0].starts_with("nobody") && !row[0].contains("sampling")) {
        let least = rows.iter().find(|other| &other[0] == "nobody private is below" && other[1] == row[1]);
        assert!(number(row, 2) > number(least.expect("it is drawn everywhere"), 2));
    }
}
