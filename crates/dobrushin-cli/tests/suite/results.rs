//! docs/results.md: everything that the papers number has a row, its command succeeds, and prints the number that is
//! known from elsewhere.
//!
//! A row is `| result | what it says | here | command | look for |`. The words to look for stand in one line of what the
//! command prints, in this order; what `explain` prints holds them one after another. If the last one is a number,
//! [`known`] has it from another source. Of `cargo test` the test that is named must exist.

use crate::documentation::fresh_with_examples;
use crate::pages::cargo;
use crate::results_support::known;
use crate::support::{dobrushin, root};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A row of a table.
#[derive(Debug)]
struct Row {
    /// The short name of the paper, and the number in it.
    name: (String, String),
    command: String,
    /// What the command prints.
    look_for: Vec<String>,
}

/// The rows of the page, and what is wrong with the others.
fn rows(text: &str) -> (Vec<Row>, Vec<String>) {
    let (mut rows, mut problems) = (Vec::new(), Vec::new());
    let mut paper = "";
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            paper = title.split(':').next().unwrap_or_default();
        }
        if paper.is_empty() || !line.starts_with("| ") || line.starts_with("| result |") {
            continue;
        }
        let line_without_escapes = line.replace("\\|", "¦");
        let cells: Vec<&str> = line_without_escapes.trim_matches('|').split('|').map(str::trim).collect();
        let code = |cell: &str| cell.strip_prefix('`')?.strip_suffix('`').map(str::to_owned);
        let row = || {
            let [number, says, here, command, look_for] = cells[..] else { return None };
            let [command, look_for] = [code(command)?, code(look_for)?];
            let name = (paper.to_owned(), number.to_owned());
            let look_for: Vec<String> = look_for.split_whitespace().map(str::to_owned).collect();
            let complete = ![number, says, here].contains(&"") && !look_for.is_empty();
            complete.then_some(Row { name, command, look_for })
        };
        rows.extend(row());
        if row().is_none() {
            problems.push(format!("it lacks a command, or what to look for: {line}"));
        }
    }
    (rows, problems)
}

/// What a command prints, or why it fails.
fn output(command: &str, folder: &Path) -> Result<String, String> {
    let words: Vec<&str> = command.split_whitespace().skip(1).collect();
    let output = dobrushin(&words).current_dir(folder).output().map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    Err(format!("{command}: {}\n{}", output.status, text(&output.stderr)))
}

/// What every command prints, each run once, in a folder of this name.
fn outputs(rows: &[Row], name: &str) -> BTreeMap<String, Result<String, String>> {
    let is_ours = |command: &&str| command.starts_with("dobrushin ");
    let commands: BTreeSet<&str> = rows.iter().map(|row| row.command.as_str()).filter(is_ours).collect();
    let commands: Vec<&str> = commands.into_iter().collect();
    let folder = &PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("results").join(name);
    fresh_with_examples(folder);
    let share = |worker: usize| {
        let mine = commands.iter().skip(worker).step_by(WORKERS);
        mine.map(|command| ((*command).to_owned(), output(command, folder))).collect::<Vec<_>>()
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|worker| scope.spawn(move || share(worker))).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("its commands are run")).collect()
    })
}

/// So many commands run at once.
const WORKERS: usize = 4;

/// A word without the punctuation around it.
fn bare(word: &str) -> &str {
    word.trim_start_matches('(').trim_end_matches([',', '.', ';', ':', ')'])
}

/// Whether the words are in a line, in this order.
fn has_in_order(line: &str, words: &[String]) -> bool {
    let mut line = line.split_whitespace().map(bare);
    words.iter().all(|word| line.any(|found| found == bare(word)))
}

/// Whether the words are in a text, one after another.
fn has_phrase(text: &str, words: &[String]) -> bool {
    let text: Vec<&str> = text.split_whitespace().map(bare).collect();
    text.windows(words.len()).any(|found| found.iter().zip(words).all(|(found, word)| *found == bare(word)))
}

/// Whether a printed number is the known one, to its last digit.
fn is_close(printed: &str, known: f64) -> bool {
    let value: f64 = printed.parse().expect("it is a number");
    let (mantissa, exponent) = printed.split_once('e').unwrap_or((printed, "0"));
    let decimals = mantissa.split_once('.').map_or(0, |(_, decimals)| decimals.len()) as i32;
    let unit = 10f64.powi(exponent.parse::<i32>().expect("an exponent") - decimals);
    // A number that ends in zeros is printed without them.
    let unit = unit.min(10f64.powf(known.abs().log10().floor() - 3.0));
    (value - known).abs() <= unit * 1.000_001
}

/// What is wrong with a row.
fn problem(
    row: &Row,
    outputs: &BTreeMap<String, Result<String, String>>,
    known: &BTreeMap<(&str, &str), f64>,
) -> Option<String> {
    let Row { name, command, look_for } = row;
    let known = known.get(&(name.0.as_str(), name.1.as_str()));
    let last = look_for.last().map(|word| bare(word)).unwrap_or_default();
    if command.starts_with("cargo test ") {
        let [test] = &look_for[..] else { return Some("it names no test".to_owned()) };
        let missing = || (!has_test(command, test)).then(|| format!("there is no test {test}"));
        return cargo::problem(&root(), command).or_else(missing);
    }
    let printed = match outputs.get(command) {
        Some(Ok(printed)) => printed,
        Some(Err(problem)) => return Some(problem.clone()),
        None => return Some(format!("{command} is no command of the program")),
    };
    let shown = if command.starts_with("dobrushin explain ") {
        has_phrase(printed, look_for)
    } else {
        printed.lines().any(|line| has_in_order(line, look_for))
    };
    if !shown {
        return Some(format!("{command} does not print {}:\n{printed}", look_for.join(" ")));
    }
    match (last.parse::<f64>(), known) {
        (Ok(_), None) => Some(format!("nothing else is known to give {last}")),
        (Err(_), Some(known)) => Some(format!("it shows no number, but {known} is known")),
        (Ok(_), Some(known)) => {
            (!is_close(last, *known)).then(|| format!("{last} is shown, but it is {known}"))
        }
        (Err(_), None) if command.starts_with("dobrushin explain ") => None,
        (Err(_), None) if command.starts_with("dobrushin figures ") => None,
        (Err(_), None) => Some("there is no number to look for".to_owned()),
    }
}

/// Whether the subject that a command names has a test of this name.
fn has_test(command: &str, test: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    let ["cargo", "test", "-p", package, "--test", "suite", subject] = words[..] else { return false };
    let file = format!("crates/{package}/tests/suite/{}.rs", subject.trim_end_matches("::"));
    let text = std::fs::read_to_string(root().join(file)).unwrap_or_default();
    text.contains(&format!("#[test]\nfn {test}("))
}

fn page() -> String {
    std::fs::read_to_string(root().join("docs/results.md")).expect("it is part of the repository")
}

#[test]
fn every_result_of_the_papers_is_shown_by_its_command() {
    let (rows, mut problems) = rows(&page());
    let outputs = outputs(&rows, "all");
    let known = known::all();
    for row in &rows {
        let found = problem(row, &outputs, &known);
        problems.extend(found.map(|problem| format!("{} {}: {problem}", row.name.0, row.name.1)));
    }
    let names: BTreeSet<(&str, &str)> =
        rows.iter().map(|row| (row.name.0.as_str(), row.name.1.as_str())).collect();
    problems
        .extend(known.keys().filter(|name| !names.contains(name)).map(|name| format!("{name:?}: no row")));
    assert_eq!(names.len(), rows.len(), "two rows have the same name");
    println!("{} results, {} commands, {} numbers", rows.len(), outputs.len(), known.len());
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n\n"));
}

/// What the papers number, and how far they count.
const NUMBERED: [(&str, &str, u32, u32); 30] = [
    ("CED", "Theorem", 1, 7),
    ("CED", "Lemma", 1, 6),
    ("CED", "Proposition", 1, 2),
    ("CED", "Corollary", 1, 5),
    ("CED", "Definition", 1, 4),
    ("CED", "Remark", 1, 3),
    ("CED", "Example", 1, 5),
    ("CED", "Algorithm", 1, 2),
    ("CED", "Figure", 1, 3),
    ("PAC", "Theorem", 1, 5),
    ("PAC", "Lemma", 1, 3),
    ("PAC", "Proposition", 1, 1),
    ("PAC", "Definition", 1, 1),
    ("PAC", "Example", 1, 2),
    ("PAC", "Algorithm", 1, 1),
    ("PAC", "Figure", 1, 3),
    ("LDC", "Theorem", 1, 3),
    ("LDC", "Lemma", 1, 4),
    ("LDC", "Corollary", 1, 5),
    ("LDC", "Definition", 1, 1),
    ("LDC", "Remark", 1, 1),
    ("LDC", "Example", 1, 4),
    ("LDC", "Figure", 1, 1),
    ("PAI", "Algorithm", 1, 2),
    ("PAI", "Table", 1, 1),
    ("NCV", "Theorem", 1, 3),
    ("NCV", "Lemma", 1, 2),
    ("NCV", "Proposition", 1, 5),
    ("NCV", "Definition", 1, 2),
    ("NCV", "Figure", 1, 3),
];

/// The theorems, lemmas, propositions, corollaries and definitions of PAI share one count, 1 to 35.
const SHARED_COUNT: (&str, u32) = ("PAI", 35);

/// The equations that are results in themselves.
const EQUATIONS: [(&str, &[u32]); 4] = [
    (
        "CED",
        &[4, 5, 6, 9, 12, 13, 14, 16, 17, 18, 19, 20, 21, 22, 25, 29, 30, 31, 34, 36, 37, 38, 39, 40, 47],
    ),
    ("PAC", &[2, 3, 4, 13, 14]),
    ("LDC", &[1, 2, 3, 6, 7, 9, 10, 15, 20, 28, 29, 30, 40, 42, 45, 46]),
    ("NCV", &[1, 2, 3, 5, 6, 7, 8, 16, 17, 20, 22, 23, 26]),
];

#[test]
fn nothing_that_the_papers_number_is_left_out() {
    let (rows, _) = rows(&page());
    let listed: BTreeSet<String> = rows
        .iter()
        .flat_map(|Row { name: (paper, number), .. }| {
            let (kind, numbers) = number.split_once(' ').expect("a kind and a number");
            numbers.split(", ").map(move |number| format!("{paper} {kind} {number}")).collect::<Vec<_>>()
        })
        .collect();
    let numbered = NUMBERED.iter().flat_map(|(paper, kind, first, last)| {
        (*first..=*last).map(move |number| vec![format!("{paper} {kind} {number}")])
    });
    let (paper, last) = SHARED_COUNT;
    let kinds = ["Theorem", "Lemma", "Proposition", "Corollary", "Definition"];
    let shared = (1..=last).map(|number| kinds.map(|kind| format!("{paper} {kind} {number}")).to_vec());
    let equations = EQUATIONS
        .iter()
        .flat_map(|(paper, numbers)| numbers.iter().map(move |number| vec![format!("{paper} Eq. {number}")]));
    let missing: Vec<Vec<String>> = numbered
        .chain(shared)
        .chain(equations)
        .filter(|names| !names.iter().any(|name| listed.contains(name)))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn a_row_that_does_not_show_its_number_is_found_out() {
    let command = "dobrushin divergence gaussian --distance 1 --sigma 1 --epsilon 1";
    let row = |command: &str, look_for: &str| {
        let text = format!("## CED: title\n\n| Lemma 3 | says | here | `{command}` | `{look_for}` |\n");
        let (rows, problems) = rows(&text);
        assert_eq!((rows.len(), problems.len()), (1, 0));
        problem(
            &rows[0],
            &outputs(&rows, "one"),
            &BTreeMap::from([(("CED", "Lemma 3"), 0.126_936_737_506_644)]),
        )
    };
    assert_eq!(row(command, "1 0.127"), None);
    for (command, look_for, problem) in [
        (command, "1 0.128", "does not print"),
        (command, "1 0.6827", "does not print"),
        (command, "total variation 0.383", "is shown, but it is"),
        (command, "total variation", "it shows no number"),
        ("dobrushin divergence gaussian --distance 1", "1 0.127", "--sigma"),
        ("dobrushin nothing", "1 0.127", "nothing"),
        ("echo 0.127", "0.127", "is no command of the program"),
        ("cargo test -p dobrushin --test suite kernel::", "nothing_of_this_name", "there is no test"),
        ("cargo test -p dobrushin --test suite nothing::", "nothing", "there is no such"),
    ] {
        let found = row(command, look_for).unwrap_or_default();
        assert!(found.contains(problem), "{command}, {look_for}: {found:?}");
    }
    for text in [
        "| Lemma 3 | says | here | – | `1` |",
        "| Lemma 3 | says | here | `dobrushin` |  |",
        "| Lemma 3 | says |",
    ] {
        let (rows, problems) = rows(&format!("## CED: title\n{text}"));
        assert_eq!((rows.len(), problems.len()), (0, 1), "{text}");
    }
}

#[test]
fn numbers_are_compared_to_their_last_digit() {
    for (printed, known, same) in [
        ("0.127", 0.126_94, true),
        ("0.127", 0.126_84, false),
        ("0.5001", 0.5, true),
        ("0.5002", 0.5, false),
        ("4.416e-24", 4.4154e-24, true),
        ("4.416e-24", 4.4142e-24, false),
        ("9", 9.0, true),
        ("9", 9.01, false),
        ("12.3", 12.2945, true),
        ("12.3", 12.28, false),
        ("0", 0.0, true),
    ] {
        assert_eq!(is_close(printed, known), same, "{printed} and {known}");
    }
}
