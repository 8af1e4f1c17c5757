//! docs/mathematics says what `dobrushin::statement` says, and shows what the examples print.
//!
//! The pages are not written by hand: `UPDATE_PAGES=1 cargo test -p dobrushin-cli --test suite mathematics::` writes them.

use crate::support::{dobrushin, json, root};
use dobrushin::account::analysis_ids;
use dobrushin::statement::{FOUNDATIONS, LOCAL, Notes, Statement, UTILITY, find};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;

const HOW: &str = "UPDATE_PAGES=1 cargo test -p dobrushin-cli --test suite mathematics::";

#[test]
fn the_pages_are_those_of_the_statements() {
    if std::env::var_os("UPDATE_PAGES").is_some() {
        std::fs::create_dir_all(folder()).expect("the folder can be made");
        for (name, page) in pages() {
            std::fs::write(folder().join(name), page).expect("the folder is writable");
        }
    }
    let there = std::fs::read_dir(folder()).expect("there are pages");
    for entry in there {
        let name = entry.expect("it can be read").file_name().into_string().expect("UTF-8");
        assert!(pages().contains_key(&name), "docs/mathematics/{name} belongs to no analysis: delete it");
    }
    for (name, page) in pages() {
        let written = std::fs::read_to_string(folder().join(name)).unwrap_or_default();
        let differs = written.lines().zip(page.lines()).find(|(written, right)| written != right);
        assert!(written == *page, "docs/mathematics/{name} is not up to date: {HOW}\nfirst: {differs:?}");
    }
}

#[test]
fn an_explanation_has_all_that_its_page_has() {
    for (statement, notes) in analyses() {
        let printed = dobrushin(&["explain", statement.id]).assert().success().get_output().stdout.clone();
        let printed = String::from_utf8(printed).expect("UTF-8");
        let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut rest = flat(&printed);
        let mut parts = vec![statement.title, notes.formula, statement.statement];
        parts.extend(statement.assumptions.iter().chain(notes.wins).chain(notes.proof));
        parts.push(statement.source);
        parts.extend(statement.errata);
        parts.push(notes.example);
        // In this order.
        for part in parts {
            let place = rest.find(&flat(part)).unwrap_or_else(|| panic!("{part:?} is not in {printed}"));
            rest = rest.split_off(place + flat(part).len());
        }
        let answer = json(&["explain", statement.id]);
        assert_eq!(answer["formula"], notes.formula);
        assert_eq!(answer["proof"].as_array().map(Vec::len), Some(notes.proof.len()));
        assert_eq!(answer["wins"][0], notes.wins[0]);
        assert_eq!(answer["example"], notes.example);
    }
    assert!(json(&["explain", "tight-curve"])["formula"].is_null());
}

fn folder() -> PathBuf {
    root().join("docs/mathematics")
}

/// The analyses, in the order of reports.
fn analyses() -> impl Iterator<Item = (&'static Statement, Notes)> {
    analysis_ids().map(|id| {
        let statement = find(id).expect("every analysis has a statement");
        (statement, statement.notes.expect("every analysis has notes"))
    })
}

/// Every page by the name of its file.
fn pages() -> &'static BTreeMap<String, String> {
    static PAGES: LazyLock<BTreeMap<String, String>> = LazyLock::new(all_pages);
    &PAGES
}

fn all_pages() -> BTreeMap<String, String> {
    let mut pages: BTreeMap<String, String> = analyses()
        .map(|(statement, notes)| (format!("{}.md", statement.id), page(statement, notes)))
        .collect();
    pages.insert("README.md".to_owned(), index());
    let foundations = list_of("What the analyses rest on", FOUNDATIONS.iter());
    pages.insert("foundations.md".to_owned(), foundations);
    pages.insert("utility.md".to_owned(), list_of("What privacy costs", UTILITY.iter()));
    pages.insert("local.md".to_owned(), list_of("Local privacy", LOCAL.iter()));
    pages
}

const ORIGIN: &str = "<!-- Written by crates/dobrushin-cli/tests/suite/mathematics.rs from \
                      crates/dobrushin/src/statement. -->";

fn page(statement: &Statement, notes: Notes) -> String {
    // A quotation of code, line by line: a block would be taken for a command.
    let quoted = |line: &str| if line.is_empty() { ">".to_owned() } else { format!("> `{line}`\\") };
    let formula: Vec<String> = notes.formula.lines().map(quoted).collect();
    let mut blocks = vec![
        ORIGIN.to_owned(),
        format!("# {}", escaped(statement.title)),
        format!("`dobrushin explain {}`; [all analyses](README.md).", statement.id),
        "## Formula".to_owned(),
        formula.join("\n").trim_end_matches('\\').to_owned(),
        "## Statement".to_owned(),
        wrapped(statement.statement, ""),
        "## Assumptions".to_owned(),
        bullets(statement.assumptions),
        "## When it wins".to_owned(),
        bullets(notes.wins),
        "## Proof sketch".to_owned(),
        numbered(notes.proof),
        "## Source".to_owned(),
        wrapped(statement.source, ""),
    ];
    if !statement.errata.is_empty() {
        blocks.extend(["## Errata".to_owned(), bullets(statement.errata)]);
    }
    blocks.extend([
        "## Example".to_owned(),
        format!("```console\n$ dobrushin {}\n```", notes.example),
        format!("```text\n{}\n```", example(statement.id, notes.example)),
    ]);
    blocks.join("\n\n") + "\n"
}

/// What an example prints, up to the end of its table, in which the analysis must be.
fn example(id: &str, arguments: &str) -> String {
    let arguments: Vec<&str> = arguments.split_whitespace().collect();
    let printed = dobrushin(&arguments).assert().success().get_output().stdout.clone();
    let printed = String::from_utf8(printed).expect("UTF-8");
    let head = printed.find("\nanalysis ").expect("it prints a table");
    let end = printed[head..].find("\n\n").map_or(printed.len(), |length| head + length);
    let row = printed[head..end].lines().any(|line| line.split_whitespace().next() == Some(id));
    assert!(row, "{id} is not in the table of its example: {printed}");
    format!("{}\n…", &printed[..end])
}

fn index() -> String {
    let analyses = analyses().map(|(statement, notes)| {
        let id = format!("[`{}`]({}.md)", statement.id, statement.id);
        [id, cell(statement.title), cell(notes.applies_to), cell(statement.source), errata(statement)]
    });
    let row = |statement: &'static Statement| {
        let id = linked(&format!("`{}`", statement.id));
        [id, cell(statement.title), cell(statement.source), errata(statement)]
    };
    [
        ORIGIN.to_owned(),
        "# Mathematics".to_owned(),
        "What every analysis says, needs and proves, when it is the best one, and an example. The overviews are\n\
         [hidden-states.md](../hidden-states.md) and [composition.md](../composition.md)."
            .to_owned(),
        format!(
            "Nothing here is written by hand: `{HOW}`\nwrites it from `crates/dobrushin/src/statement`, which \
             `dobrushin explain` and certificates print, too."
        ),
        "## Analyses".to_owned(),
        table(["id", "title", "applies to", "source", "errata"], analyses),
        "## What they rest on".to_owned(),
        table(["id", "title", "source", "errata"], FOUNDATIONS.iter().map(row)),
        "## Utility".to_owned(),
        table(["id", "title", "source", "errata"], UTILITY.iter().map(row)),
        "## Local privacy".to_owned(),
        table(["id", "title", "source", "errata"], LOCAL.iter().map(row)),
    ]
    .join("\n\n")
        + "\n"
}

/// A page of several statements.
fn list_of(title: &str, statements: impl Iterator<Item = &'static Statement>) -> String {
    let mut blocks = vec![
        ORIGIN.to_owned(),
        format!("# {title}"),
        "`dobrushin explain ID`; [all analyses](README.md).".to_owned(),
    ];
    for statement in statements {
        blocks.extend([
            format!("## <a id=\"{}\"></a>{}", statement.id, escaped(statement.title)),
            format!("`{}`", statement.id),
            wrapped(statement.statement, ""),
            format!("Assumptions:\n\n{}", bullets(statement.assumptions)),
            wrapped(&format!("Source: {}.", statement.source), ""),
        ]);
        if !statement.errata.is_empty() {
            blocks.push(format!("Errata:\n\n{}", bullets(statement.errata)));
        }
    }
    blocks.join("\n\n") + "\n"
}

/// The numbers of the errata of a statement, each once, with links.
fn errata(statement: &Statement) -> String {
    let words = statement.errata.iter().flat_map(|erratum| erratum.split_whitespace());
    let mut numbers: Vec<&str> = words.map(core).filter(|word| is_erratum(word)).collect();
    numbers.sort_by_key(|number| number[1..].parse::<u32>().ok());
    numbers.dedup();
    numbers.into_iter().map(linked).collect::<Vec<_>>().join(", ")
}

fn table<const N: usize>(header: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
    let mut lines = vec![line(&header.map(str::to_owned)), format!("|{}", "---|".repeat(N))];
    lines.extend(rows.map(|row| line(&row)));
    lines.join("\n")
}

fn cell(text: &str) -> String {
    text.split_whitespace().map(linked).collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

fn bullets(items: &[&str]) -> String {
    items.iter().map(|item| wrapped(item, "- ")).collect::<Vec<_>>().join("\n")
}

fn numbered(items: &[&str]) -> String {
    let items = items.iter().zip(1..).map(|(item, number)| wrapped(item, &format!("{number}. ")));
    items.collect::<Vec<_>>().join("\n")
}

/// The width of lines of prose.
const WIDTH: usize = 120;

/// Lines of prose with links, the first after `first`, the others after as many spaces. A line starts with a letter or a
/// bracket, which Markdown takes for nothing else.
fn wrapped(text: &str, first: &str) -> String {
    let indent = " ".repeat(first.len());
    let mut lines = vec![first.to_owned()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is a first line");
        let may_start = word.starts_with(|start: char| start.is_alphabetic() || "(`".contains(start));
        let fits = line.chars().count() + word.chars().count() < WIDTH;
        let word = linked(word);
        if line.trim_end().len() <= indent.len() {
            line.push_str(&word);
        } else if fits || !may_start {
            line.push(' ');
            line.push_str(&word);
        } else {
            lines.push(format!("{indent}{word}"));
        }
    }
    lines.join("\n")
}

/// A word as Markdown: names of statements, errata and examples with links.
fn linked(word: &str) -> String {
    let name = core(word);
    let id = name.trim_matches('`');
    let target = match find(id) {
        Some(statement) if id.len() + 2 == name.len() && statement.notes.is_some() => format!("{id}.md"),
        Some(statement) if id.len() + 2 == name.len() => {
            let page = if UTILITY.contains(statement) {
                "utility"
            } else if LOCAL.contains(statement) {
                "local"
            } else {
                "foundations"
            };
            format!("{page}.md#{id}")
        }
        _ if is_erratum(name) => format!("../errata.md#{}", name.to_lowercase()),
        _ if name.starts_with("examples/") => format!("../../{name}"),
        _ => return escaped(word),
    };
    word.replacen(name, &format!("[{name}]({target})"), 1)
}

/// A word without the punctuation around it.
fn core(word: &str) -> &str {
    word.trim_start_matches('(').trim_end_matches([',', '.', ';', ':', ')'])
}

/// E and a number.
fn is_erratum(word: &str) -> bool {
    word.strip_prefix('E').is_some_and(|number| number.parse::<u32>().is_ok())
}

/// Text in which Markdown sees no emphasis, no tags and no links.
fn escaped(text: &str) -> String {
    assert!(!text.contains("]("), "{text:?} would be a link");
    let mut escaped = String::new();
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(here) = rest.next() {
        let tag = here == '<' && rest.peek().is_some_and(|next| next.is_alphabetic());
        if here == '*' || tag || (here == '_' && !before.is_alphanumeric()) {
            escaped.push('\\');
        }
        escaped.push(here);
        before = here;
    }
    escaped
}
