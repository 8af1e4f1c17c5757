//! README.md and docs/ do what they say: every code block is executed, every link leads somewhere.
//!
//! A page is executed from its first line to its last, in a folder of its own with a copy of examples/, as if that were
//! the root of the repository; a later command can read what an earlier one wrote.
//!
//! | block | what must hold |
//! |---|---|
//! | `console` | each line `$ dobrushin …` succeeds; with `exit=1` after the language, it exits so. Words in single quotes are one. What `$ cargo …` names exists |
//! | `text` | the last command before it printed that; a line "…" stands for any lines |
//! | `json` | the same; a field, or the last value of a list, "…" stands for any others |
//! | `toml` | a run file with an account; it is kept under the name in its first line, if that is `# NAME.toml` |
//! | `toml schema` | a schema of columns, complete |
//! | `toml fragment FILE` | keys that can be set in that run file |
//! | `rust` | it is also in the README of the library, which is one of its documentation tests |
//! | `python` | it, and a `text` after it, is on a page that python/tests/test_pages.py executes: README.md or docs/python/ |

use crate::pages::{Block, Page, cargo, links, shown};
use crate::support::{dobrushin, file, json, root};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What was done with the blocks of a page.
#[derive(Default)]
struct Executed {
    commands: usize,
    outputs: usize,
    run_files: usize,
    problems: Vec<String>,
}

#[test]
fn every_block_of_every_page_does_what_it_shows() {
    let pages = crate::pages::all(&root());
    let done: Vec<Executed> = std::thread::scope(|scope| {
        let threads: Vec<_> = pages.iter().map(|page| scope.spawn(|| Execution::of(page))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a page is executed")).collect()
    });
    let problems: Vec<&str> = done.iter().flat_map(|page| &page.problems).map(String::as_str).collect();
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n\n"));
    let sum = |count: fn(&Executed) -> usize| done.iter().map(count).sum::<usize>();
    let (commands, outputs, run_files) =
        (sum(|page| page.commands), sum(|page| page.outputs), sum(|page| page.run_files));
    println!("{commands} commands, {outputs} outputs, {run_files} run files on {} pages", pages.len());
    assert!(
        pages.len() >= LEAST.0 && commands >= LEAST.1 && outputs >= LEAST.2 && run_files >= LEAST.3,
        "{} pages, {commands} commands, {outputs} outputs, {run_files} run files are fewer than {LEAST:?}",
        pages.len()
    );
}

/// So many pages, commands, outputs and run files there are at least: none is passed over.
const LEAST: (usize, usize, usize, usize) = (36, 115, 81, 6);

#[test]
fn no_code_is_set_off_by_indentation_only() {
    let pages = crate::pages::all(&root());
    let found = pages.iter().flat_map(|page| {
        page.indented().into_iter().map(|line| format!("{}: {}", page.name, line.trim())).collect::<Vec<_>>()
    });
    let found: Vec<String> = found.collect();
    assert!(found.is_empty(), "begin and end it with ```, and say what it is:\n{}", found.join("\n"));
}

#[test]
fn every_cargo_command_within_a_sentence_names_what_exists() {
    let pages = crate::pages::all(&root());
    let spans: Vec<String> = pages.iter().flat_map(Page::code_spans).collect();
    let commands: Vec<&String> = spans.iter().filter(|span| span.starts_with("cargo ")).collect();
    let problems: Vec<String> =
        commands.iter().filter_map(|command| cargo::problem(&root(), command)).collect();
    assert!(commands.len() >= 5 && problems.is_empty(), "{} commands: {problems:?}", commands.len());
}

#[test]
fn every_link_leads_to_a_file_and_a_place_in_it() {
    let checked =
        crate::pages::all(&root()).iter().map(|page| links::check(&root(), page)).collect::<Vec<_>>();
    let broken: Vec<&str> = checked.iter().flat_map(|(broken, _)| broken).map(String::as_str).collect();
    let links: usize = checked.iter().map(|(_, links)| links).sum();
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
    assert!(links >= 40, "only {links} links were found");
}

/// A page that is being executed.
struct Execution {
    folder: PathBuf,
    /// What the last command printed, if a block may show it.
    printed: Option<String>,
    /// Whether the last block was Python, which the tests of the package execute.
    after_python: bool,
    done: Executed,
}

impl Execution {
    /// Executes a page.
    fn of(page: &Page) -> Executed {
        let name = page.name.replace(['/', '.'], "-");
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("documentation").join(name);
        fresh_with_examples(&folder);
        let mut execution = Self { folder, printed: None, after_python: false, done: Executed::default() };
        for block in &page.blocks {
            let executed = match block.info.as_str() {
                "python" => execution.python(page),
                "text" if execution.after_python => Ok(()),
                _ => execution.execute(block),
            };
            execution.after_python = block.info == "python";
            if let Err(problem) = executed {
                execution.done.problems.push(format!("{}:{}: {problem}", page.name, block.line));
            }
        }
        execution.done
    }

    fn execute(&mut self, block: &Block) -> Result<(), String> {
        let words: Vec<&str> = block.info.split_whitespace().collect();
        match words[..] {
            ["console"] => self.console(block, 0),
            ["console", exit] => {
                let code = exit.strip_prefix("exit=").and_then(|code| code.parse().ok());
                self.console(block, code.ok_or(format!("{exit} is not exit=1 or exit=2"))?)
            }
            ["text"] => self.text(block),
            ["json"] => self.json(block),
            ["toml"] => self.run_file(block),
            ["toml", "schema"] => self.schema(block),
            ["toml", "fragment", base] => self.fragment(block, base),
            ["rust"] => self.rust(block),
            _ => Err(format!("no test knows how to execute a block of {:?}", block.info)),
        }
    }

    fn console(&mut self, block: &Block, code: i32) -> Result<(), String> {
        for command in block.lines.join("\n").replace("\\\n", " ").lines() {
            let command = command.strip_prefix("$ ").ok_or(format!("{command:?} is no command: $ …"))?;
            let words = words(command)?;
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            match words[..] {
                ["dobrushin", ref words @ ..] => self.printed = Some(self.run(words, code)?),
                _ => cargo::problem(&root(), command).map_or(Ok(()), Err)?,
            }
            self.done.commands += 1;
        }
        Ok(())
    }

    /// What the program prints, and then what it complains of.
    fn run(&self, words: &[&str], code: i32) -> Result<String, String> {
        let output =
            dobrushin(words).current_dir(&self.folder).output().map_err(|error| error.to_string())?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let printed = text(&output.stdout) + &text(&output.stderr);
        if output.status.code() != Some(code) {
            return Err(format!("{}: {}, not {code}\n{printed}", words.join(" "), output.status));
        }
        Ok(printed)
    }

    fn text(&mut self, block: &Block) -> Result<(), String> {
        let printed = self.printed.as_ref().ok_or("it shows what no command printed")?;
        if !shown::is_text(&block.lines, printed) {
            return Err(format!("it shows\n{}\nbut it is\n{printed}", block.lines.join("\n")));
        }
        self.done.outputs += 1;
        Ok(())
    }

    fn json(&mut self, block: &Block) -> Result<(), String> {
        let parse = |text: &str| serde_json::from_str(text).map_err(|error| format!("{error} in\n{text}"));
        let shown = parse(&block.lines.join("\n"))?;
        if let Some(printed) = &self.printed {
            if !shown::is_json(&shown, &parse(printed)?) {
                return Err(format!("it shows\n{shown:#}\nbut it is\n{printed}"));
            }
            self.done.outputs += 1;
        }
        Ok(())
    }

    fn run_file(&mut self, block: &Block) -> Result<(), String> {
        let named = block.lines.first().and_then(|line| line.strip_prefix("# "));
        let name = named.filter(|name| name.ends_with(".toml") && !name.contains(['/', ' ']));
        let name = name.map_or(format!("line-{}.toml", block.line), str::to_owned);
        std::fs::write(self.folder.join(&name), block.lines.join("\n")).map_err(|error| error.to_string())?;
        self.run(&["account", &name], 0)?;
        self.printed = None;
        self.done.run_files += 1;
        Ok(())
    }

    fn schema(&mut self, block: &Block) -> Result<(), String> {
        let name = format!("line-{}.toml", block.line);
        std::fs::write(self.folder.join(&name), block.lines.join("\n")).map_err(|error| error.to_string())?;
        self.run(&["schema", "check", &name], 0)?;
        self.printed = None;
        Ok(())
    }

    fn fragment(&mut self, block: &Block, base: &str) -> Result<(), String> {
        let tables: toml::Table = block.lines.join("\n").parse().map_err(|error| format!("{error}"))?;
        let mut words = vec!["account".to_owned(), base.to_owned()];
        for (section, keys) in &tables {
            let keys = keys.as_table().ok_or(format!("{section} is above every [section]"))?;
            words.extend(
                keys.iter().flat_map(|(key, value)| ["--set".to_owned(), format!("{section}.{key}={value}")]),
            );
        }
        self.run(&words.iter().map(String::as_str).collect::<Vec<_>>(), 0)?;
        self.printed = None;
        self.done.run_files += 1;
        Ok(())
    }

    /// The tests of the Python package execute it.
    fn python(&mut self, page: &Page) -> Result<(), String> {
        self.printed = None;
        match page.name == "README.md" || page.name.starts_with("docs/python/") {
            true => Ok(()),
            false => Err("python/tests/test_pages.py does not execute this page".to_owned()),
        }
    }

    fn rust(&mut self, block: &Block) -> Result<(), String> {
        self.printed = None;
        let page = Page::read(&root(), "crates/dobrushin/README.md");
        if page.blocks.iter().any(|tested| tested.info == "rust" && tested.lines == block.lines) {
            return Ok(());
        }
        Err("it is no documentation test: crates/dobrushin/README.md, which the library includes, lacks it"
            .to_owned())
    }
}

/// The words of a command, which is run without a shell. What is in single quotes is one word.
fn words(command: &str) -> Result<Vec<String>, String> {
    let parts: Vec<&str> = command.split('\'').collect();
    let mut words = Vec::new();
    for (place, part) in parts.iter().enumerate() {
        let is_quoted = place % 2 == 1;
        let is_apart = |part: &str, end: fn(&str) -> Option<char>| end(part).is_none_or(char::is_whitespace);
        if is_quoted && place + 1 < parts.len() {
            words.push((*part).to_owned());
        } else if is_quoted
            || part.contains(['"', '|', '<', '>', ';', '&', '$', '*'])
            || (place > 0 && !is_apart(part, |part| part.chars().next()))
            || (place + 1 < parts.len() && !is_apart(part, |part| part.chars().next_back()))
        {
            return Err(format!("{command}: it is run without a shell, as words"));
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    Ok(words)
}

#[test]
fn words_in_single_quotes_are_one_word_and_a_shell_is_not_there() {
    assert_eq!(words("a --b 'c > {d}' e").expect("words"), ["a", "--b", "c > {d}", "e"]);
    for command in ["a > b", "a 'b", "a 'b'c", "a'b'", "a \"b\"", "a | b", "a $b"] {
        assert!(words(command).is_err(), "{command}");
    }
}

/// Makes an empty folder, and copies examples/ into it.
pub fn fresh_with_examples(folder: &Path) {
    if folder.exists() {
        std::fs::remove_dir_all(folder).expect("what an earlier test wrote can be removed");
    }
    copy(&root().join("examples"), &folder.join("examples"));
}

/// Copies a folder with all that is in it.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("the folder of the tests is writable");
    for entry in std::fs::read_dir(from).expect("there are examples") {
        let path = entry.expect("it can be read").path();
        let copied = to.join(path.file_name().expect("it has a name"));
        if path.is_dir() {
            copy(&path, &copied);
        } else {
            std::fs::copy(&path, copied).expect("it can be read");
        }
    }
}

#[test]
fn the_run_file_of_the_readme_is_that_of_its_first_example() {
    let readme = Page::read(&root(), "README.md");
    let block = readme.blocks.iter().find(|block| block.info == "toml").expect("it shows a run file");
    let path = file("readme.toml", block.lines.join("\n"));
    let ours = json(&["account", path.to_str().expect("UTF-8")]);
    let theirs = json(&["account", "examples/logistic-regression.toml"]);
    assert_eq!((&ours["run"], &ours["guarantee"]), (&theirs["run"], &theirs["guarantee"]));
}

#[test]
fn the_page_of_the_contest_has_the_numbers_of_its_results() {
    let read = |name: &str| std::fs::read_to_string(root().join(name)).expect("it is part of the repository");
    let page = read("docs/contest.md");
    let document: Value = serde_json::from_str(&read("benches/contest/results.json")).expect("valid JSON");
    let cell = |row: &Value| {
        let number = |key: &str| row[key].as_f64().expect("a number");
        let (mean, error) = (number("mean"), number("error"));
        let digits = if error >= 0.0005 { 1 } else { 2 };
        format!("{:.digits$} ± {:.digits$}", 100.0 * mean, 100.0 * error)
    };
    for (data, methods) in document["results"].as_object().expect("data sets") {
        for (method, rows) in methods.as_object().expect("methods") {
            let cells: Vec<String> = rows.as_object().expect("a row for each ε").values().map(cell).collect();
            let line = format!("| {} |", cells.join(" | "));
            assert!(cells.len() == 5 && page.contains(&line), "{data}, {method}: {line}");
        }
    }
}

#[test]
fn the_demonstration_says_what_it_shows() {
    let assert = dobrushin(&[]).assert().success();
    let text = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    for words in ["built-in demonstration", "Hidden steps forget", "4.416e-24", "tight contraction"] {
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn every_statement_can_be_explained() {
    let assert = dobrushin(&["explain", "--json"]).assert().success();
    let list: Value = serde_json::from_slice(&assert.get_output().stdout).expect("valid JSON");
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

/// What is wrong with a page that is only this text.
fn problems_of(name: &str, text: &str) -> Vec<String> {
    Execution::of(&Page::parse(name, text)).problems
}

#[test]
fn a_page_that_does_not_do_what_it_shows_is_found_out() {
    let account = "```console\n$ dobrushin account examples/noisy-gd.toml\n```\n";
    let answer = "(ε, δ) = (2.558, 1e-5), by shift";
    for (name, text, problems) in [
        ("right", format!("{account}```text\n{answer}\n…\n```"), 0),
        ("another-number", format!("{account}```text\n(ε, δ) = (2.557, 1e-5), by shift\n…\n```"), 1),
        ("not-all", format!("{account}```text\n{answer}\n```"), 1),
        ("of-no-command", format!("```text\n{answer}\n…\n```"), 1),
        ("fails", "```console\n$ dobrushin account nothing.toml\n```".to_owned(), 1),
        ("fails-as-said", "```console exit=2\n$ dobrushin account nothing.toml\n```".to_owned(), 0),
        ("no-language", "```\nx = 1\n```".to_owned(), 1),
        ("other-language", "```python\nx = 1\n```".to_owned(), 1),
        ("no-test", "```console\n$ cargo test -p dobrushin --test nothing\n```".to_owned(), 1),
        ("a-test", "```console\n$ cargo test -p dobrushin --test suite recursion::\n```".to_owned(), 0),
        ("no-subject", "```console\n$ cargo test -p dobrushin --test suite nothing::\n```".to_owned(), 1),
        ("subjects", "```console\n$ cargo test -p dobrushin -- theta:: recursion::\n```".to_owned(), 0),
        ("not-both", "```console\n$ cargo test -p dobrushin -- theta:: nothing::\n```".to_owned(), 1),
        ("no-chore", "```console\n$ cargo xtask nothing\n```".to_owned(), 1),
        ("unknown-key", "```toml fragment examples/dp-sgd.toml\n[run]\nstep = 10\n```".to_owned(), 1),
        ("known-key", "```toml fragment examples/dp-sgd.toml\n[run]\nsteps = 10\n```".to_owned(), 0),
        ("no-run", "```toml\n[run]\nalgorithm = \"dp-sgd\"\n```".to_owned(), 1),
        ("untested-rust", "```rust\nlet x = 1;\n```".to_owned(), 1),
    ] {
        let found = problems_of(name, &text);
        assert_eq!(found.len(), problems, "{name}: {found:?}");
    }
    let verified = "```console\n$ dobrushin account examples/noisy-gd.toml --certificate c.json\n\
                    $ dobrushin verify c.json --json\n```\n";
    for (name, json, problems) in [
        ("json-part", "{\"holds\": true, \"assumptions\": [\"…\"], \"…\": \"…\"}", 0),
        ("json-not-all", "{\"holds\": true}", 1),
        ("json-other", "{\"holds\": false, \"…\": \"…\"}", 1),
        ("json-list-not-all", "{\"assumptions\": [], \"…\": \"…\"}", 1),
    ] {
        let found = problems_of(name, &format!("{verified}```json\n{json}\n```"));
        assert_eq!(found.len(), problems, "{name}: {found:?}");
    }
}

#[test]
fn dots_stand_for_lines_that_were_printed_and_for_nothing_else() {
    for (shown, printed, same) in [
        ("a b c", "a b c", true),
        ("a b", "a b c", false),
        ("a b c d", "a b c", false),
        ("a …", "a b c", true),
        ("a b c d …", "a b c", false),
        ("… c", "a b c", true),
        ("… b", "a b c", false),
        ("… b …", "a b c", true),
        ("… d …", "a b c", false),
        ("a … c", "a b c", true),
        ("a b … b c", "a b c", false),
        ("… b … a …", "a b c", false),
        ("…", "a b c", true),
    ] {
        let shown_lines: Vec<String> = shown.split(' ').map(str::to_owned).collect();
        assert_eq!(shown::is_text(&shown_lines, &printed.replace(' ', "\n")), same, "{shown} of {printed}");
    }
}

#[test]
fn links_to_nothing_and_indented_code_are_found_out() {
    let page = Page::parse(
        "docs/none.md",
        "# A `b`, c\n\n[a](#a-b-c) [b](#a-b) [c](errata.md#e1) [d](errata.md#e99)\n[e](none.svg) [f](https://e.org)\n\n\
         ## A b c\n![g](../README.md#a-b-c-1)\n- item\n    continued\n\n    code\n    more\n\n- item",
    );
    // A page is read from its file when something links to it.
    assert_eq!(links::places(&page), ["a-b-c", "a-b-c-1"]);
    let page = Page { name: "docs/errata.md".to_owned(), ..page };
    let (broken, links) = links::check(&root(), &page);
    assert_eq!((broken.len(), links), (5, 6), "{broken:?}");
    assert_eq!(page.indented(), ["    code", "    more"]);
}
