//! What a shell user expects: completions, a manual, colours only where they are wanted, quiet answers, errors for
//! programs, and an interruption that says what is left.

use crate::file_support::{PRIVATIZE, contents, program, workshop};
use crate::support::{dobrushin, own_folder};
use serde_json::Value;
use std::path::Path;
use std::process::Output;

/// Every command with its parts, as `--help` lists them.
fn commands() -> Vec<Vec<String>> {
    fn below(path: &[String]) -> Vec<Vec<String>> {
        let words: Vec<&str> = path.iter().map(String::as_str).chain(["--help"]).collect();
        let output = dobrushin(&words).output().expect("it runs");
        let help = String::from_utf8(output.stdout).expect("UTF-8");
        let list = help.split("Commands:\n").nth(1).unwrap_or_default();
        let list = list.split("\n\n").next().unwrap_or_default();
        let name = |line: &str| {
            let name = line.strip_prefix("  ")?.split_whitespace().next()?;
            line.strip_prefix("  ")
                .filter(|line| line.starts_with(char::is_alphabetic))
                .map(|_| name.to_owned())
        };
        let names = list.lines().filter_map(name).filter(|name| name != "help");
        let parts = names.map(|name| [path, &[name]].concat());
        parts.flat_map(|part| [vec![part.clone()], below(&part)].concat()).collect()
    }
    let found = below(&[]);
    assert!(found.len() >= 25 && found.contains(&vec!["local".to_owned(), "plan".to_owned()]), "{found:?}");
    found
}

#[test]
fn every_shell_completes_every_command() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = dobrushin(&["completions", shell]).output().expect("it runs");
        assert!(output.status.success(), "{shell}");
        let script = String::from_utf8(output.stdout).expect("UTF-8");
        for command in commands() {
            let last = command.last().expect("a name");
            assert!(script.contains(last.as_str()), "{shell} does not know {command:?}");
        }
        for flag in ["per-record", "delimiter", "color"] {
            assert!(script.contains(flag), "{shell} does not know --{flag}");
        }
    }
    let (code, said) = crate::train_support::refused(&["completions", "csh"]);
    assert!(code == Some(2) && said.contains("bash"), "{said}");
}

#[cfg(unix)]
#[test]
fn bash_accepts_its_script() {
    let path = own_folder().join("dobrushin.bash");
    let script = dobrushin(&["completions", "bash"]).output().expect("it runs").stdout;
    std::fs::write(&path, script).expect("the folder is ours");
    // Not every system has a bash.
    if let Ok(output) = std::process::Command::new("bash").arg("-n").arg(&path).output() {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let folder = own_folder().join("man");
    let _ = std::fs::remove_dir_all(&folder);
    let out = folder.display().to_string();
    let output = dobrushin(&["man", "--out", &out]).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let names: Vec<String> =
        commands().iter().map(|words| format!("dobrushin-{}.1", words.join("-"))).collect();
    let page = |name: &str| {
        std::fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    for name in names.iter().map(String::as_str).chain(["dobrushin.1"]) {
        let page = page(name);
        for part in [".SH NAME", ".SH SYNOPSIS", ".SH OPTIONS", "\\-\\-json"] {
            assert!(page.contains(part), "{name} lacks {part}");
        }
    }
    let written = std::fs::read_dir(&folder).expect("it was made").count();
    assert_eq!(written, names.len() + 1, "a page for each, and nothing else");
    assert!(page("dobrushin-train.1").contains("private records"));
    // Without a folder, the first page is printed.
    let printed = dobrushin(&["man"]).output().expect("it runs").stdout;
    assert_eq!(String::from_utf8(printed).expect("UTF-8"), page("dobrushin.1"));
    // No page takes the place of the answer.
    let clash = folder.join("dobrushin.1").display().to_string();
    let (code, _) = crate::train_support::refused(&["man", "--out", &out, "--output", &clash]);
    assert_eq!(code, Some(2));
}

const ESCAPE: u8 = 0x1b;

/// The program without what the environment of the tests says about colours.
fn uncoloured(words: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = dobrushin(words);
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR"] {
        command.env_remove(name);
    }
    command.envs(environment.iter().copied()).output().expect("it runs")
}

fn has_colours(bytes: &[u8]) -> bool {
    bytes.contains(&ESCAPE)
}

#[test]
fn pipes_files_and_json_have_no_colours_unless_they_are_asked_for() {
    let account = ["account", "examples/noisy-gd.toml", "--analyses", "closed-form"];
    let with =
        |more: &[&str], environment: &[(&str, &str)]| uncoloured(&[&account[..], more].concat(), environment);
    let plain = with(&[], &[]);
    assert!(!has_colours(&plain.stdout) && plain.status.success());
    for (more, environment, is_coloured) in [
        (&["--color", "auto"][..], &[][..], false),
        (&["--color", "always"], &[], true),
        (&["--color=always"], &[("NO_COLOR", "1")], true),
        (&["--color", "never"], &[("CLICOLOR_FORCE", "1")], false),
        (&[], &[("CLICOLOR_FORCE", "1")], true),
        (&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false),
        (&["--json", "--color", "always"], &[], false),
        (&["--json"], &[("CLICOLOR_FORCE", "1")], false),
    ] {
        let output = with(more, environment);
        assert_eq!(has_colours(&output.stdout), is_coloured, "{more:?} {environment:?}");
        if is_coloured {
            let stripped = without_escapes(&output.stdout);
            assert_eq!(stripped, plain.stdout, "{more:?}: colours change nothing else");
        }
    }
    let path = own_folder().join("account.txt");
    let output = with(&["--color", "always", "--output", path.to_str().expect("UTF-8")], &[]);
    assert!(output.status.success());
    assert_eq!(std::fs::read(&path).expect("it was written"), plain.stdout, "a file has no colours");
}

/// The bytes without escape sequences `ESC [ … letter`.
fn without_escapes(bytes: &[u8]) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        if *first == ESCAPE {
            let end = after.iter().position(|byte| byte.is_ascii_alphabetic()).expect("it ends");
            rest = &after[end + 1..];
        } else {
            kept.push(*first);
            rest = after;
        }
    }
    kept
}

#[test]
fn errors_have_colours_only_where_they_are_asked_for() {
    for words in [&["account", "none.toml"][..], &["account", "--none"]] {
        assert!(!has_colours(&uncoloured(words, &[]).stderr), "{words:?}");
        assert!(has_colours(&uncoloured(&[words, &["--color", "always"]].concat(), &[]).stderr), "{words:?}");
        assert!(!has_colours(
            &uncoloured(&[words, &["--color", "never"]].concat(), &[("CLICOLOR_FORCE", "1")]).stderr
        ));
    }
}

/// What is said with `--json` by a command that fails.
fn complaint(words: &[&str]) -> (Value, Output) {
    let output = dobrushin(words).output().expect("it runs");
    assert!(output.stdout.is_empty(), "{words:?}");
    let said = String::from_utf8(output.stderr.clone()).expect("UTF-8");
    (serde_json::from_str(&said).unwrap_or_else(|error| panic!("{words:?}: {error}: {said}")), output)
}

#[test]
fn errors_are_json_where_answers_are() {
    for (words, code, message, help) in [
        ("account none.toml --json", 2, "none.toml", None),
        ("--json account none.toml", 2, "none.toml", None),
        ("account examples/noisy-gd.toml --delta 7 --json", 2, "--delta", Some("--help")),
        ("account --none --json", 2, "--none", Some("Usage: dobrushin account")),
        ("none --json", 2, "none", Some("Usage")),
        ("train --json", 2, "required", Some("Usage: dobrushin train")),
        ("account examples/noisy-gd.toml --set steps=-1 --json", 2, "steps", None),
        (
            "calibrate examples/noisy-gd.toml --parameter steps --epsilon 1e-9 --json",
            1,
            "cannot be reached",
            Some("add noise"),
        ),
    ] {
        let (json, output) = complaint(&words.split(' ').collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(code), "{words}");
        assert_eq!(json["exit_code"], code, "{words}");
        let error = &json["error"];
        assert!(error["message"].as_str().is_some_and(|said| said.contains(message)), "{words}: {json}");
        assert!(!error["message"].as_str().is_some_and(|said| said.starts_with("error")), "{words}: {json}");
        assert!(error["causes"].is_array(), "{words}: {json}");
        let helps = help.is_none_or(|help| error["help"].as_str().is_some_and(|said| said.contains(help)));
        assert!(helps, "{words}: {json}");
    }
    let (json, _) = complaint(&["account", "none.toml", "--json"]);
    assert_eq!(json["error"]["causes"].as_array().map(Vec::len), Some(1), "{json}");
    // A word after "--" is no flag.
    let output = dobrushin(&["account", "--", "--json"]).output().expect("it runs");
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("error: "));
}

#[test]
fn a_quiet_command_prints_its_answer_and_nothing_else() {
    let folder = workshop("quiet");
    // The answers are one value, and one line.
    for words in [
        "account run.toml",
        "account run.toml --analyses closed-form",
        "account once.toml --epsilon 5",
        "calibrate once.toml --parameter noise-multiplier --epsilon 1",
        "verify certificate.json",
        "certificate verify certificate.json",
        "local verify --channel channel.csv --epsilon 2",
        "figures --out new --only pac-2-39",
        "man --out manual",
        "train data.csv --run logistic.toml --out trained --set steps=5",
    ] {
        let output = program(&folder, &format!("{words} --quiet")).output().expect("it runs");
        let printed = String::from_utf8(output.stdout).expect("UTF-8");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{words}: {said}");
        assert_eq!((printed.lines().count(), said.as_ref()), (1, ""), "{words}: {printed}");
    }
    // The answers are tables, or several values; what explains them is left out.
    for (words, most) in [
        ("curve run.toml --over steps=1..100 --points 3 --analyses closed-form", 4),
        ("divergence gaussian --distance 1 --sigma 1 --epsilon 1", 12),
        ("kernel channel.csv", 22),
        ("local plan --epsilon 2 --records 1000 --categories 4", 2),
        ("local bounds --epsilon 1 --records 1000 --radius 1 --dimension 10", 20),
        ("local estimate reports.csv", 7),
        ("schema check schema.toml", 4),
        ("account once.toml --per-record", 20),
        (
            "prescribe local --records 2e4 --dimension 20 --lipschitz 1 --radius 1 --smoothness 1 --epsilon 1 --delta 1e-6",
            2,
        ),
    ] {
        let quiet = program(&folder, &format!("{words} --quiet")).output().expect("it runs");
        let printed = String::from_utf8(quiet.stdout).expect("UTF-8");
        let said = String::from_utf8_lossy(&quiet.stderr);
        assert!(quiet.status.success() && said.is_empty(), "{words}: {said}");
        assert!((1..=most).contains(&printed.lines().count()), "{words}: {printed}");
    }
    // Where a command prints what it makes, nothing else is printed, not even on standard error.
    for words in [PRIVATIZE, "predict model.json data.csv"] {
        let output = program(&folder, &format!("{words} --quiet")).output().expect("it runs");
        assert!(output.status.success() && output.stderr.is_empty(), "{words}");
        assert!(output.stdout.len() > 1000, "{words}");
    }
}

#[test]
fn nothing_is_said_of_progress_where_nobody_looks() {
    let folder = workshop("progress");
    let words = "curve run.toml --over steps=1..100 --points 9 --analyses closed-form";
    let output = program(&folder, words).output().expect("it runs");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A command that takes long, stopped when something holds: its exit code, and what it says.
#[cfg(unix)]
fn interrupted(folder: &Path, words: &str, when: impl Fn() -> bool) -> (Option<i32>, String) {
    use crate::file_support::{Running, wait_until};
    use std::io::Read;
    use std::process::Stdio;
    use std::time::Instant;
    let child =
        program(folder, words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut running = Running(child);
    wait_until("it has begun", || when() || running.0.try_wait().expect("it can be waited for").is_some());
    let start = Instant::now();
    running.signal("INT");
    let status = running.ended();
    assert!(start.elapsed().as_secs() < 20, "{words}: it stops at once");
    let mut said = String::new();
    running.0.stderr.take().expect("it is ours").read_to_string(&mut said).expect("UTF-8");
    (status.code(), said)
}

#[cfg(unix)]
#[test]
fn an_interruption_says_what_is_left() {
    use crate::file_support::is_ignored;
    use std::time::{Duration, Instant};
    if is_ignored(2) {
        return;
    }
    let folder = workshop("interrupted");
    let before = contents(&folder);
    let after = |wait: u64| {
        let start = Instant::now();
        move || start.elapsed() > Duration::from_millis(wait)
    };
    for words in [
        "account run.toml --set steps=100000 --tolerance 1e-8 --certificate out.json --output out.txt",
        "calibrate run.toml --parameter noise-multiplier --epsilon 0.7 --set steps=100000 --output out.txt",
        "curve run.toml --over steps=1..1e6 --points 2000 --log --output out.txt",
    ] {
        let (code, said) = interrupted(&folder, words, after(300));
        assert_eq!(code, Some(130), "{words}: {said}");
        assert_eq!(said, "error: interrupted: no file was written\n", "{words}");
        assert!(contents(&folder) == before, "{words}: nothing is left");
    }
    let (code, said) =
        interrupted(&folder, "curve run.toml --over steps=1..1e6 --points 2000 --log --json", after(300));
    let json: Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!((code, &json["exit_code"]), (Some(130), &Value::from(130)));
    assert_eq!(json["error"]["message"], "interrupted: no file was written");
    // Of files that are complete, the names are told.
    let first = folder.join("figures/pac-2-39.csv");
    let (code, said) = interrupted(&folder, "figures --out figures", || first.exists());
    assert_eq!(code, Some(130), "{said}");
    assert!(said.contains("complete") && said.contains("nothing else was written"), "{said}");
    let files = contents(&folder.join("figures"));
    assert!(
        !files.is_empty() && files.keys().all(|path| !path.display().to_string().ends_with(".tmp")),
        "{files:?}"
    );
}
