//! What happens to files: what is read is never replaced, and what is written is complete.
#![cfg(unix)]

use crate::file_support::{
    PRIVATIZE, Running, TRAIN, contents, is_ignored, program, succeeds, wait_until, workshop,
};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// Each command with what it reads, also by way of a file, and its flags for what it writes.
const COMMANDS: &[(&str, &[&str], &[&str])] = &[
    ("account run.toml", &["run.toml"], &["--output", "--certificate", "--per-record-csv", "--plot"]),
    ("account once.toml", &["once.toml"], &["--per-record-plot"]),
    (
        "account mechanisms.toml",
        &["mechanisms.toml", "channel.csv"],
        &["--output", "--certificate", "--plot"],
    ),
    ("account logistic.toml", &["logistic.toml", "schema.toml"], &["--output", "--certificate", "--plot"]),
    (
        "calibrate logistic.toml --parameter noise-multiplier",
        &["logistic.toml", "schema.toml"],
        &["--output"],
    ),
    ("curve logistic.toml --over steps=1,2", &["logistic.toml", "schema.toml"], &["--output", "--plot"]),
    (
        "curve logistic.toml --over model.schema=schema.toml,other-schema.toml",
        &["logistic.toml", "schema.toml", "other-schema.toml"],
        &["--output", "--plot"],
    ),
    (
        "account logistic.toml --set model.schema=other-schema.toml",
        &["logistic.toml", "other-schema.toml"],
        &["--output"],
    ),
    ("verify certificate.json", &["certificate.json"], &["--output"]),
    ("divergence discrete laws.csv", &["laws.csv"], &["--output", "--plot"]),
    ("kernel channel.csv", &["channel.csv"], &["--output", "--plot"]),
    ("local profile --channel channel.csv", &["channel.csv"], &["--output", "--plot"]),
    ("local verify --channel channel.csv --epsilon 2", &["channel.csv"], &["--output"]),
    (
        "local privatize answers.csv --column answer --mechanism k-rr --categories-file categories.txt --epsilon 1",
        &["answers.csv", "categories.txt"],
        &["--output"],
    ),
    ("local estimate reports.csv", &["reports.csv"], &["--output", "--plot"]),
    (
        "local plan --categories-file categories.txt --epsilon 1 --records 100",
        &["categories.txt"],
        &["--output"],
    ),
    ("schema init data.csv --label repaid", &["data.csv"], &["--output"]),
    ("schema check schema.toml data.csv", &["schema.toml", "data.csv"], &["--output"]),
    (
        "train data.csv --run logistic.toml --test test.csv --public test.csv --out new",
        &["data.csv", "logistic.toml", "test.csv", "schema.toml"],
        &["--output"],
    ),
    (
        "ledger reserve people.ledger --run logistic.toml --people data.csv --person job",
        &["logistic.toml", "data.csv"],
        &["--output", "--leave-out"],
    ),
    (
        "ledger reserve people.ledger --certificate certificate.json --people data.csv --person job",
        &["certificate.json", "data.csv"],
        &["--output", "--leave-out"],
    ),
    (
        "ledger budget people.ledger --epsilon 1 --delta 1e-6 --people data.csv --person job",
        &["data.csv"],
        &["--output"],
    ),
    ("predict model.json test.csv", &["model.json", "test.csv"], &["--output"]),
    ("certificate show certificate.json", &["certificate.json"], &["--output"]),
    (
        "certificate verify certificate.json --model model.json",
        &["certificate.json", "model.json"],
        &["--output"],
    ),
];

/// What a run says that must be refused before it does anything.
fn refused(folder: &Path, words: &str) -> String {
    let output = program(folder, words).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{words}: {said}");
    assert!(output.stdout.is_empty(), "{words}");
    said
}

#[test]
fn no_output_of_any_command_replaces_an_input() {
    let folder = workshop("inputs");
    symlink(".", folder.join("here")).expect("the folder is writable");
    for input in COMMANDS.iter().flat_map(|(_, inputs, _)| *inputs) {
        let _ = symlink(input, folder.join(format!("soft-{input}.svg")));
        let _ = fs::hard_link(folder.join(input), folder.join(format!("hard-{input}.svg")));
    }
    let before = contents(&folder);
    for (command, inputs, flags) in COMMANDS {
        for (input, flag) in inputs.iter().flat_map(|input| flags.iter().map(move |flag| (input, flag))) {
            let mut names = vec![format!("soft-{input}.svg"), format!("here/hard-{input}.svg")];
            // The name of a picture must end as such.
            if !flag.contains("plot") {
                names.extend([(*input).to_owned(), format!("here/{input}")]);
            }
            for name in names {
                let words = format!("{command} {flag} {name}");
                let said = refused(&folder, &words);
                assert!(said.contains(&format!("{flag} {name} is the file with ")), "{words}: {said}");
            }
        }
    }
    assert!(contents(&folder) == before, "nothing was touched");
}

#[test]
fn files_in_a_folder_replace_no_input_either() {
    let folder = workshop("folders");
    fs::create_dir(folder.join("new")).expect("the folder is writable");
    for (input, name) in
        [("data.csv", "model.json"), ("schema.toml", "certificate.json"), ("test.csv", "certificate.txt")]
    {
        fs::hard_link(folder.join(input), folder.join("new").join(name)).expect("the system has hard links");
        let before = contents(&folder);
        let said = refused(&folder, &format!("{TRAIN} --test test.csv --force"));
        assert!(said.contains(&format!("new/{name} of --out is the file with ")), "{said}");
        assert!(contents(&folder) == before, "nothing was touched");
        fs::remove_file(folder.join("new").join(name)).expect("it is ours");
    }
}

#[test]
fn outputs_do_not_replace_each_other() {
    let folder = workshop("each-other");
    symlink("new", folder.join("link")).expect("the folder is writable");
    let before = contents(&folder);
    for words in [
        "account run.toml --output a.json --certificate a.json",
        "account run.toml --output a.csv --csv a.csv",
        "curve run.toml --over steps=1,2 --csv a.svg --plot a.svg",
        "account run.toml --certificate a.json --per-record-csv ./a.json",
        "account once.toml --plot a.svg --per-record-plot a.svg",
        "curve run.toml --over steps=1,2 --plot a.svg --output ../each-other/a.svg",
        "train data.csv --run logistic.toml --out new --output new/model.json",
        "train data.csv --run logistic.toml --out new --output link/certificate.txt",
        "figures --out new --only pac-2-1 --output new/index.html",
        "ledger show people.ledger --csv a.svg --plot a.svg",
        "ledger show people.ledger --plot people.svg --output ../each-other/people.ledger",
        "train data.csv --run logistic.toml --out new --ledger new/model.json --person job",
        "figures --out new --only pac-2-1 --output new/pac-2-1.csv",
    ] {
        let said = refused(&folder, words);
        assert!(said.contains("are the same file"), "{words}: {said}");
    }
    assert!(contents(&folder) == before, "nothing was touched");
}

#[test]
fn what_is_read_from_or_written_to_a_redirected_stream_counts_too() {
    let folder = workshop("redirected");
    let before = contents(&folder);
    let open =
        |name: &str| fs::File::options().read(true).append(true).open(folder.join(name)).expect("it exists");
    let mut appending = program(&folder, "account run.toml --analyses closed-form");
    let output = appending.stdout(open("run.toml")).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    let privatize = PRIVATIZE.replace("answers.csv", "-") + " --output answers.csv";
    let output = program(&folder, &privatize).stdin(open("answers.csv")).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("--output answers.csv is the file with the answers"), "{said}");
    assert_eq!(output.status.code(), Some(2));
    assert!(contents(&folder) == before, "nothing was touched");
}

#[test]
fn a_dash_is_standard_output_for_every_command() {
    let folder = workshop("dash");
    let before = contents(&folder);
    for command in [
        "account run.toml --analyses closed-form",
        "curve run.toml --over steps=1,2 --analyses closed-form",
        "kernel channel.csv",
        "schema init data.csv --label repaid",
        "predict model.json test.csv",
        "local estimate reports.csv",
        PRIVATIZE,
    ] {
        let printed = |more: &str| {
            let output = program(&folder, &format!("{command}{more}")).output().expect("it runs");
            assert!(output.status.success(), "{command}{more}");
            output.stdout
        };
        let usual = printed("");
        assert!(!usual.is_empty());
        assert!(printed(" --output -") == usual, "{command}");
        assert!(printed(" --output /dev/fd/1") == usual, "{command}");
    }
    // One thing at a time.
    let quick = "account run.toml --analyses closed-form";
    let said = refused(&folder, &format!("{quick} --certificate -"));
    assert!(said.contains("cannot both go to standard output"), "{said}");
    let output =
        program(&folder, &format!("{quick} --certificate - --output ../answer")).output().expect("it runs");
    assert!(output.stdout.starts_with(b"{") && output.stdout.ends_with(b"}\n"));
    // A table takes the place of the answer, and is refused beside it or its JSON.
    for command in
        ["account run.toml --analyses closed-form", "kernel channel.csv", "local estimate reports.csv"]
    {
        let table =
            |more: &str| program(&folder, &format!("{command} --csv -{more}")).output().expect("it runs");
        let alone = table("").stdout;
        assert!(
            alone.split(|&byte| byte == b'\n').next().is_some_and(|line| line.contains(&b',')),
            "{command}"
        );
        assert!(table(" --output ../answer").stdout == alone, "{command}");
        let said = refused(&folder, &format!("{command} --csv - --json"));
        assert!(said.contains("cannot both go to standard output"), "{said}");
    }
    let said = refused(&folder, &format!("{quick} --plot -"));
    assert!(said.contains(".svg, .png, .pdf or .html"), "{said}");
    for words in ["figures --out - --only pac-2-1", "train data.csv --run logistic.toml --out -"] {
        let said = refused(&folder, words);
        assert!(said.contains("--out - would be standard output"), "{words}: {said}");
    }
    assert!(contents(&folder) == before, "no file was called -");
}

#[test]
fn devices_and_pipes_are_written_in_place() {
    let folder = workshop("devices");
    let quick = "account run.toml --analyses closed-form";
    let usual = program(&folder, quick).output().expect("it runs").stdout;
    // By links only: a program that replaced the device itself would break the machine of whoever tests it.
    symlink("/dev/null", folder.join("null.svg")).expect("the folder is writable");
    succeeds(&folder, &format!("{quick} --output null.svg --plot null.svg --certificate null.svg"));
    assert!(fs::symlink_metadata(folder.join("null.svg")).expect("it exists").is_symlink());
    assert!(fs::metadata(folder.join("null.svg")).expect("it exists").file_type().is_char_device());
    let pipe = folder.join("pipe");
    let mkfifo = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
    assert!(mkfifo.success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read(pipe).expect("it can be read")
    });
    succeeds(&folder, &format!("{quick} --output pipe"));
    assert!(reader.join().expect("it reads") == usual);
    assert!(fs::metadata(&pipe).expect("it exists").file_type().is_fifo());
    // A file that somebody has open is written to, and does not lose its name.
    let script =
        format!("{} --output /dev/fd/3 3>open.txt", "exec \"$0\" account run.toml --analyses closed-form");
    let mut shell = Command::new("sh");
    shell.current_dir(&folder).args(["-c", &script]).arg(assert_cmd::cargo::cargo_bin("dobrushin"));
    assert!(shell.status().expect("sh runs").success());
    assert!(fs::read(folder.join("open.txt")).expect("it was opened") == usual);
}

#[test]
fn modes_and_links_are_kept() {
    let folder = workshop("modes");
    let quick = "account run.toml --analyses closed-form";
    let mode = |name: &str| fs::metadata(folder.join(name)).expect("it exists").permissions().mode() & 0o777;
    fs::write(folder.join("secret"), "old").expect("the folder is writable");
    fs::set_permissions(folder.join("secret"), fs::Permissions::from_mode(0o600)).expect("it is ours");
    symlink("secret", folder.join("link")).expect("the folder is writable");
    succeeds(&folder, &format!("{quick} --output link"));
    assert_eq!(mode("secret"), 0o600);
    assert!(fs::symlink_metadata(folder.join("link")).expect("it exists").is_symlink());
    assert!(fs::read(folder.join("secret")).expect("it exists").starts_with("(ε, δ) = ".as_bytes()));
    fs::write(folder.join("usual"), "").expect("the folder is writable");
    succeeds(&folder, &format!("{quick} --output new"));
    assert_eq!(mode("new"), mode("usual"));
}

#[test]
fn nobody_can_prepare_the_temporary_file() {
    // The program's number becomes that of a shell that has already put a link in the way.
    let folder = workshop("prepared");
    fs::write(folder.join("victim"), "untouched").expect("the folder is writable");
    let script = "ln -s victim .out.json.$$.tmp; exec \"$0\" account run.toml --analyses closed-form --output out.json";
    let mut shell = Command::new("sh");
    shell.current_dir(&folder).args(["-c", script]).arg(assert_cmd::cargo::cargo_bin("dobrushin"));
    assert!(shell.status().expect("sh runs").success());
    assert_eq!(fs::read(folder.join("victim")).expect("it exists"), b"untouched");
    assert!(fs::symlink_metadata(folder.join("out.json")).expect("it exists").is_file());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_error_changes_no_exit_code() {
    let folder = workshop("stderr");
    fs::write(folder.join("short.csv"), "age\n1\n").expect("the folder is writable");
    for words in [
        "account missing.toml",
        "account run.toml --no-such-flag",
        "verify run.toml",
        "predict model.json short.csv",
        "account --set steps=no",
        "schema init data.csv --label repaid",
        "schema init data.csv --label repaid --values-are-public",
        PRIVATIZE,
        "--help",
        "train data.csv --run logistic.toml --out certificate.json",
    ] {
        let run =
            |to: Stdio| program(&folder, words).stderr(to).stdout(Stdio::null()).status().expect("it runs");
        let full = fs::File::options().write(true).open("/dev/full").expect("Linux has it");
        let usual = run(Stdio::null());
        assert!(usual.code().is_some_and(|code| code <= 2), "{words}: {usual}");
        assert_eq!(run(full.into()), usual, "{words}");
    }
    // What was asked for and cannot be printed is an error.
    for words in ["--help", "--version", "explain", "predict model.json test.csv", PRIVATIZE] {
        let full = fs::File::options().write(true).open("/dev/full").expect("Linux has it");
        let output = program(&folder, words).stdout(full).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{words}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write"), "{words}");
    }
}

/// Reports of an endless column, which is being read when a signal comes.
fn endless(folder: &Path, ignoring: &str) -> Running {
    // Signals that a shell ignores stay ignored by what it executes.
    let script = match ignoring {
        "" => "exec \"$0\" \"$@\"".to_owned(),
        _ => format!("trap '' {ignoring}; exec \"$0\" \"$@\""),
    };
    let words = PRIVATIZE.replace("answers.csv", "-") + " --output out.csv --quiet";
    let mut shell = Command::new("sh");
    shell.current_dir(folder).args(["-c", &script]).arg(assert_cmd::cargo::cargo_bin("dobrushin"));
    let mut running = Running::start(shell.args(words.split(' ')).stdin(Stdio::piped()));
    running.0.stdin.as_mut().expect("it is piped").write_all(b"answer\nyes\n").expect("it reads");
    let is_temporary = |path: &PathBuf| path.extension().is_some_and(|end| end == "tmp");
    wait_until("it writes a temporary file", || contents(folder).keys().any(is_temporary));
    running
}

#[test]
fn signals_remove_temporaries_also_where_others_are_ignored() {
    let folder = workshop("signals");
    fs::write(folder.join("out.csv"), "old").expect("the folder is writable");
    let before = contents(&folder);
    for (name, number, ignoring) in [
        ("TERM", 15, "INT HUP"),
        ("TERM", 15, ""),
        ("INT", 2, "HUP"),
        ("INT", 2, ""),
        ("HUP", 1, "INT"),
        ("HUP", 1, ""),
    ] {
        if is_ignored(number) {
            continue;
        }
        let mut running = endless(&folder, ignoring);
        running.signal(name);
        let status = running.ended();
        assert_eq!(status.code(), Some(128 + number as i32), "SIG{name} while {ignoring:?} are ignored");
        assert!(contents(&folder) == before, "SIG{name} while {ignoring:?} are ignored");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_was_ignored_stays_ignored() {
    let folder = workshop("ignored");
    let mut running = endless(&folder, "INT HUP");
    running.signal("INT");
    running.signal("HUP");
    drop(running.0.stdin.take());
    assert!(running.ended().success());
    assert_eq!(fs::read_to_string(folder.join("out.csv")).expect("it was written").lines().count(), 3);
}

#[test]
fn of_two_that_train_into_one_folder_exactly_one_does() {
    let folder = workshop("two-trainers");
    for round in 0..10 {
        let train = |seed: usize| {
            let words = format!("{} --set steps=20", TRAIN.replace("--seed 1", &format!("--seed {seed}")));
            program(&folder, &words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
        };
        let outputs = [train(1), train(2)].map(|child| child.wait_with_output().expect("it ends"));
        let (won, lost): (Vec<&Output>, Vec<&Output>) =
            outputs.iter().partition(|output| output.status.success());
        assert_eq!((won.len(), lost.len()), (1, 1), "round {round}");
        assert_eq!(lost[0].status.code(), Some(2));
        let said = String::from_utf8_lossy(&lost[0].stderr);
        assert!(
            said.contains("another dobrushin train is writing") || said.contains("already exists"),
            "{said}"
        );
        assert_eq!(contents(&folder.join("new")).len(), 3, "no temporary file is left");
        // A certificate that is not of the model is told apart; this one is of a known seed, which is "no" too.
        let words = "certificate verify new/certificate.json --model new/model.json --json";
        let verified = program(&folder, words).output().expect("it runs").stdout;
        let verified: serde_json::Value = serde_json::from_slice(&verified).expect("valid JSON");
        assert_eq!((&verified["holds"], &verified["model_matches"]), (&true.into(), &true.into()));
        fs::remove_dir_all(folder.join("new")).expect("it is ours");
    }
}

#[test]
fn the_second_who_trains_is_told_at_once() {
    let folder = workshop("second-trainer");
    let first = Running::start(&mut program(&folder, &format!("{TRAIN} --set steps=2000000")));
    wait_until("it makes the folder", || folder.join("new").exists());
    std::thread::sleep(Duration::from_millis(100));
    for more in ["", " --force"] {
        let said = refused(&folder, &format!("{TRAIN}{more}"));
        assert!(said.contains("another dobrushin train is writing to new"), "{said}");
    }
    // Killed, it cannot free the folder, but the system does.
    drop(first);
    succeeds(&folder, TRAIN);
}
