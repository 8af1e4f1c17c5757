//! The commands of README.md work as they stand there.

mod support;

use support::{dobrushin, file, json, root};

/// A block of the README: its language and its lines.
fn blocks() -> Vec<(String, Vec<String>)> {
    let text = std::fs::read_to_string(root().join("README.md")).expect("there is a README");
    let mut blocks: Vec<(String, Vec<String>)> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match line.strip_prefix("```") {
            Some(language) if !inside => {
                inside = true;
                blocks.push((language.to_owned(), Vec::new()));
            }
            Some(_) => inside = false,
            None if inside => blocks.last_mut().expect("a block has begun").1.push(line.to_owned()),
            None => (),
        }
    }
    blocks
}

/// The arguments of a command, with the files that it writes in the folder of the tests; `None` for what builds and
/// tests, which is not run from inside a test.
fn arguments(command: &str) -> Option<Vec<String>> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let words = match words[..] {
        ["dobrushin", ref rest @ ..] => rest,
        ["cargo", "install" | "xtask", ..] => return None,
        _ => panic!("the README has a command that is not tested: {command}"),
    };
    let written = |word: &str| {
        [".svg", ".png", ".json", ".csv"].iter().any(|end| word.ends_with(end))
            && !word.starts_with("examples/")
    };
    let folder = env!("CARGO_TARGET_TMPDIR");
    let place = |word: &&str| if written(word) { format!("{folder}/{word}") } else { (*word).to_owned() };
    Some(words.iter().map(place).collect())
}

/// A block of text after a block of commands shows what the last of them prints; what is left out at the end is "…".
#[test]
fn every_command_of_the_readme_succeeds_and_prints_what_it_shows() {
    let mut last = String::new();
    let (mut run, mut compared) = (0, 0);
    for (language, lines) in blocks() {
        match language.as_str() {
            "console" => {
                for line in &lines {
                    let command = line.strip_prefix("$ ").expect("consoles show commands");
                    let Some(words) = arguments(command) else {
                        continue;
                    };
                    let words: Vec<&str> = words.iter().map(String::as_str).collect();
                    let output = dobrushin(&words).assert().success().get_output().stdout.clone();
                    last = String::from_utf8(output).expect("UTF-8");
                    run += 1;
                }
            }
            "text" => {
                let whole = lines.last().is_some_and(|line| line != "…");
                let shown = if whole { &lines[..] } else { &lines[..lines.len() - 1] };
                let printed: Vec<&str> = last.lines().collect();
                let printed = if whole { &printed[..] } else { &printed[..shown.len().min(printed.len())] };
                assert_eq!(printed, shown, "the README shows something else");
                compared += 1;
            }
            _ => (),
        }
    }
    assert!(run >= 12 && compared >= 5, "{run} commands, {compared} outputs");
}

#[test]
fn the_run_file_of_the_readme_is_that_of_its_first_example() {
    let (_, lines) =
        blocks().into_iter().find(|(language, _)| language == "toml").expect("it shows a run file");
    let path = file("readme.toml", lines.join("\n"));
    let ours = json(&["account", path.to_str().expect("UTF-8")]);
    let theirs = json(&["account", "examples/noisy-gd.toml"]);
    assert_eq!((&ours["run"], &ours["guarantee"]), (&theirs["run"], &theirs["guarantee"]));
}

#[test]
fn every_file_that_the_readme_links_to_exists() {
    let text = std::fs::read_to_string(root().join("README.md")).expect("there is a README");
    let links: Vec<&str> = text.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    let files = links.iter().filter(|link| !link.starts_with("http"));
    let missing: Vec<_> = files.filter(|link| !root().join(link).exists()).collect();
    assert!(links.len() > 10 && missing.is_empty(), "{missing:?}");
}

#[test]
fn the_demonstration_says_what_it_shows() {
    let assert = dobrushin(&[]).assert().success();
    let text = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    for words in ["built-in demonstration", "Hidden steps forget", "4.415443471e-24", "tight contraction"] {
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn every_statement_can_be_explained() {
    let assert = dobrushin(&["explain", "--json"]).assert().success();
    let list: serde_json::Value = serde_json::from_slice(&assert.get_output().stdout).expect("valid JSON");
    let first = list["statements"][0]["id"].as_str();
    assert_eq!(first, Some("composition"), "analyses come first");
    for statement in list["statements"].as_array().expect("a list") {
        let id = statement["id"].as_str().expect("a name");
        let assert = dobrushin(&["explain", id]).assert().success();
        let text = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
        for part in ["Assumptions", "Source", statement["title"].as_str().expect("a title")] {
            assert!(text.contains(part), "{text}");
        }
    }
}
