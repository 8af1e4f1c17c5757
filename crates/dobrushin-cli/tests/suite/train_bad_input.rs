//! What `dobrushin train` refuses, and that nothing of it is lost or shown.

use crate::support::{bounds, dobrushin, file, json, root};
use crate::train_support::{LOANS, RUN, files_in, new_folder, refused};
use std::sync::atomic::{AtomicU32, Ordering};

#[test]
fn bad_runs_are_refused_with_the_key_and_a_way_out() {
    let folder = new_folder();
    let out = folder.display().to_string();
    let base = ["train", LOANS, "--run", RUN, "--out", &out];
    for (more, words) in [
        (&["--set", "loss.convex=true"][..], &["[loss]"][..]),
        (&["--set", "lipschitz=1"], &["update.lipschitz", "derived"]),
        (&["--set", "domain.diameter=1"], &["domain.diameter", "ball"]),
        (&["--set", "release=all"], &["run.release", "last"]),
        (&["--set", "steps=any"], &["run.steps"]),
        (&["--set", "record=3"], &["run.record"]),
        (&["--set", "model.kind=logistics"], &["model.kind", "logistic"]),
        (&["--set", "model.width=1"], &["model.width", "logistic"]),
        (&["--set", "model.kind=linear"], &["model.kind"]),
        (&["--set", "model.kind=network", "--set", "model.hidden=4"], &["update.clip-norm"]),
        (&["--set", "domain.ball=-1"], &["domain.ball"]),
        (&["--set", "domain.interval=[0, 1]"], &["domain.interval", "box"]),
        (&["--set", "domain.ball=1", "--set", "domain.box=[0, 1]"], &["domain.ball", "domain.box"]),
        (&["--set", "records=2999"], &["run.records", "3000"]),
        (
            &["--test-share", "0.5", "--set", "neighbours=add-or-remove-one", "--set", "order=poisson"],
            &["--test-share", "how many", "--test FILE"],
        ),
        (&["--set", "neighbours=add-or-remove-one", "--set", "divide-by=actual"], &["run.neighbours"]),
        (&["--set", "public-steps=3"], &["--public"]),
        (&["--set", "noise=laplace"], &["update.noise", "one dimension"]),
        (&["--set", "model.schema=nowhere.toml"], &["nowhere.toml"]),
        (&["--set", "evaluation.noise-multiplier=0"], &["evaluation.noise-multiplier"]),
        (&["--set", "evaluation.loss-bound=3"], &["evaluation.noise-multiplier", "missing"]),
        (&["--set", "batch-size=3001"], &["run.batch-size", "3000 records"]),
        (&["--set", "learning-rate=[0.1, 0.2]"], &["update.learning-rate", "one value for each step"]),
        (&["--set", "clip-norm=1e-40"], &["update.clip-norm", "1e-20"]),
        (&["--stream", "--data-is-public"], &["--stream", "--data-is-public"]),
        (&["--test-share", "0"], &["--test-share"]),
        (&["--epsilon", "1e-9", "--delta", "1e-12"], &["cannot be reached"]),
    ] {
        let (code, text) = refused(&[&base[..], more].concat());
        assert!(matches!(code, Some(1 | 2)), "{more:?}: {text}");
        for word in words {
            assert!(text.contains(word), "{more:?} says {word}: {text}");
        }
        assert!(files_in(&folder).is_empty(), "{more:?} leaves nothing");
    }
    let without = ["train", LOANS, "--run", "examples/dp-sgd.toml", "--out", &out];
    assert!(refused(&without).1.contains("there is no [model]"));
}

#[test]
fn bad_records_are_refused_by_their_line_and_never_shown() {
    let loans = std::fs::read_to_string(root().join(LOANS)).expect("there");
    let header = loans.lines().next().expect("a header");
    let row = loans.lines().nth(1).expect("a row");
    let folder = new_folder();
    let out = folder.display().to_string();
    let train = |content: &[u8], more: &[&str]| {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("bad-{}.csv", NEXT.fetch_add(1, Ordering::Relaxed));
        let data = file(&name, content).display().to_string();
        let _ = std::fs::remove_dir_all(&folder);
        let base = ["train", &data, "--run", RUN, "--out", &out, "--set", "steps=5"];
        let known = ["--set", "records=2", "--set", "batch-size=1"];
        let output = dobrushin(&[&base[..], &known, more].concat()).output().expect("it runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let with = |cells: &str| format!("{header}\n{row}\n{cells}\n").into_bytes();
    for (content, words) in [
        (with("20,employed,rents,54700,24900,48,0,"), &["line 3", "repaid"][..]),
        (with("20,employed,rents,54700,24900,48,0,SECRET"), &["line 3", "repaid"]),
        (with("SECRET,employed,rents,54700,24900,48,0,yes"), &["line 3", "age"]),
        (with("NaN,employed,rents,54700,24900,48,0,yes"), &["line 3", "age"]),
        (with("inf,employed,rents,54700,24900,48,0,yes"), &["line 3", "age"]),
        (with("20,SECRET,rents,54700,24900,48,0,yes"), &["line 3", "job"]),
        (with("20,employed"), &["line 3"]),
        (with("20,employ\u{fffd},rents,54700,24900,48,0,yes"), &["line 3", "job"]),
        (
            [header.as_bytes(), b"\n", row.as_bytes(), b"\n20,\xff\xfe,rents,1,1,12,0,yes\n"].concat(),
            &["line 3"],
        ),
        (format!("{header}\n").into_bytes(), &["no records"]),
        (Vec::new(), &["no rows"]),
        (b"age,job\n1,employed\n".to_vec(), &["no column"]),
    ] {
        // Public rows stop the program. Private ones are empty records, and nothing is said of them.
        let (code, text) = train(&content, &["--data-is-public"]);
        assert_eq!(code, Some(2), "{text}");
        for word in words {
            assert!(text.contains(word), "says {word}: {text}");
        }
        assert!(!text.contains("SECRET"), "{text}");
        assert!(files_in(&folder).is_empty());
        let (code, text) = train(&content, &[]);
        match words[0] {
            "line 3" => assert_eq!((code, text.as_str()), (Some(0), "")),
            whole_file => assert!(code == Some(2) && text.contains(whole_file), "{text}"),
        }
    }
    let bad = with("SECRET,employed,rents,54700,24900,48,0,yes");
    let (code, text) = train(&bad, &["--data-is-public", "--skip-bad"]);
    assert_eq!(code, Some(0), "{text}");
    // Whoever holds the rows can look for those that cannot be used.
    let data = file("bad-rows.csv", &bad).display().to_string();
    let (_, text) = refused(&["schema", "check", "examples/loans/schema.toml", &data, "--rows"]);
    assert!(text.contains("line 3") && text.contains("age") && !text.contains("SECRET"), "{text}");
    let rows = json(&["schema", "check", "examples/loans/schema.toml", LOANS, "--rows"]);
    assert_eq!(rows["rows"]["count"], 3000);
    // One class, a constant column, values outside the bounds: all fine, and nothing is said of them.
    let (code, text) = train(&with(row), &[]);
    assert_eq!((code, text.as_str()), (Some(0), ""));
    let (code, text) = train(&with("20,employed,rents,99999999,24900,48,0,yes"), &[]);
    assert_eq!((code, text.as_str()), (Some(0), ""));
}

#[test]
fn one_record_and_more_parameters_than_records_are_no_problem() {
    let loans = std::fs::read_to_string(root().join(LOANS)).expect("there");
    let one: String = loans.lines().take(2).map(|line| format!("{line}\n")).collect();
    let data = file("one-record.csv", one).display().to_string();
    let out = new_folder().display().to_string();
    let answer = json(&[
        "train",
        &data,
        "--run",
        RUN,
        "--out",
        &out,
        "--set",
        "records=1",
        "--set",
        "batch-size=1",
        "--set",
        "steps=5",
    ]);
    assert!(bounds(&answer["guarantee"]["epsilon"]).1 > 0.0);
}
