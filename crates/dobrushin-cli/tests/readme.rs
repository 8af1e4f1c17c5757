//! The commands of README.md work as they stand there.

mod support;

use support::{dobrushin, root};

/// The commands in the README's blocks, without the leading `dobrushin` or `cargo run --release --`.
fn commands() -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(root().join("README.md")).expect("there is a README");
    let mut commands = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if let Some(language) = line.strip_prefix("```") {
            inside = language == "console";
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| inside) {
            let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
            commands.push(words);
        }
    }
    commands
}

#[test]
fn every_command_of_the_readme_succeeds() {
    let commands = commands();
    let folder = env!("CARGO_TARGET_TMPDIR");
    let mut run = 0;
    for words in &commands {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let arguments = match words[..] {
            ["dobrushin", ref rest @ ..] => rest,
            ["cargo", "run", "--release"] => &[],
            // What builds and tests is not run from inside a test.
            ["cargo", ..] => continue,
            _ => panic!("the README has a command that is not tested: {words:?}"),
        };
        // Pictures go to the folder of the tests.
        let arguments: Vec<String> = arguments
            .iter()
            .map(|word| {
                if word.ends_with(".svg") || word.ends_with(".png") {
                    format!("{folder}/{word}")
                } else {
                    (*word).to_owned()
                }
            })
            .collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        dobrushin(&arguments).assert().success();
        run += 1;
    }
    assert!(run >= 5, "only {run} commands were found");
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
    for statement in list["statements"].as_array().expect("a list") {
        let id = statement["id"].as_str().expect("a name");
        let assert = dobrushin(&["explain", id]).assert().success();
        let text = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
        for part in ["Assumptions", "Source", statement["title"].as_str().expect("a title")] {
            assert!(text.contains(part), "{text}");
        }
    }
}
