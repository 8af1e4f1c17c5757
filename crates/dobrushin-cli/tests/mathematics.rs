//! docs/mathematics says what `dobrushin::statement` says, and shows what the examples print.
//!
//! The pages are not written by hand: `UPDATE_PAGES=1 cargo test -p dobrushin-cli --test mathematics` writes them.

mod support;

use dobrushin::account::analysis_ids;
use dobrushin::statement::{Notes, STATEMENTS, Statement, find};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;
use support::{bounds, dobrushin, json, root};

const HOW: &str = "UPDATE_PAGES=1 cargo test -p dobrushin-cli --test mathematics";

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
fn every_link_of_the_pages_leads_somewhere() {
    let mut links = 0;
    for (name, page) in pages() {
        for link in page.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let elsewhere = || std::fs::read_to_string(folder().join(file)).ok();
            let text = pages().get(file).cloned().or_else(elsewhere);
            let text = text.unwrap_or_else(|| panic!("{name} links to {link}, which does not exist"));
            let found = anchor.is_empty() || text.contains(&format!("<a id=\"{anchor}\"></a>"));
            assert!(found, "{name} links to {link}, where there is no such place");
            links += 1;
        }
    }
    assert!(links > 100, "{links} links");
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

/// What pages say of the best analyses, as the program says it: the page, the command, the analysis, the number.
const NUMBERS: [(&str, &str, &str, &str); 47] = [
    ("composition", "dp-sgd", "composition", "2.345"),
    ("composition", "dp-sgd", "shift-subsampled", "3.031"),
    ("composition-renyi", "dp-sgd", "composition-renyi", "2.566"),
    ("composition-gdp", "dp-sgd", "composition-gdp", "2.259"),
    ("composition-gdp", "dp-sgd --set steps=100", "composition-gdp", "0.181"),
    ("composition-gdp", "dp-sgd --set steps=100", "composition", "0.291"),
    ("composition-gdp", "dp-sgd --set steps=1e6", "composition-gdp", "38.75"),
    ("composition-gdp", "dp-sgd --set steps=1e6", "composition", "38.67"),
    (
        "contraction-published",
        "pnsgd --set record=9990 --set diameter=0.2 --epsilon 0",
        "contraction",
        "1.77e-8",
    ),
    ("contraction-published", "pnsgd --set record=9990 --set diameter=0.2 --epsilon 0", "shift", "0.060"),
    ("contraction-published", "pnsgd --set record=9990 --epsilon 1", "contraction-published", "5.6e-3"),
    ("contraction-published", "pnsgd --set record=9990 --epsilon 1", "contraction", "2.8e-33"),
    (
        "random-stop-published",
        "stop-pnsgd --set diameter=0.4 --epsilon 0.1",
        "random-stop-published",
        "2.46e-5",
    ),
    ("random-stop-published", "stop-pnsgd --set diameter=0.4 --epsilon 0.1", "contraction", "2.00e-5"),
    ("random-stop-published", "stop-pnsgd", "random-stop-published", "3.4e-5"),
    ("random-stop-published", "stop-pnsgd", "contraction", "7.3e-7"),
    ("shift-renyi", "noisy-gd", "shift-renyi", "2.774"),
    ("strongly-convex-renyi", "public-tail --set strong-convexity=0.2", "strongly-convex-renyi", "0.337"),
    ("strongly-convex-renyi", "public-tail --set strong-convexity=0.2", "shift-renyi", "0.326"),
    ("strongly-convex-renyi", "public-tail --set strong-convexity=0.2", "shift", "0.296"),
    ("strongly-convex-renyi", "public-tail --set strong-convexity=0.2", "contraction", "0.194"),
    ("nonconvex-published", "projected-dp-sgd", "nonconvex-published", "10.97"),
    ("nonconvex-published", "projected-dp-sgd --set steps=1e6 --epsilon 0", "composition", "1.6e-2"),
    ("nonconvex-published", "projected-dp-sgd --set steps=1e6 --epsilon 0", "recursion", "7.5e-5"),
    ("contraction", "projected-dp-sgd --set steps=1e6 --epsilon 0", "nonconvex-published", "6.74e-3"),
    ("contraction", "projected-dp-sgd --set steps=1e6 --epsilon 0", "contraction", "6.88e-3"),
    ("contraction", "projected-dp-sgd", "contraction", "4.09"),
    ("contraction", "public-tail", "contraction", "0.232"),
    ("contraction", "public-tail", "shift", "0.375"),
    ("contraction", "public-tail --set noise=laplace", "contraction", "0.138"),
    (
        "regularized-published",
        "regularised-dp-sgd --set steps=50 --epsilon 1",
        "regularized-published",
        "0.386",
    ),
    ("regularized-published", "regularised-dp-sgd --set steps=50 --epsilon 1", "shift", "3.1e-5"),
    ("shift", "noisy-gd --set steps=any", "shift", "2.558"),
    ("shift", "noisy-gd --set steps=10000", "composition", "91.8"),
    ("shift", "noisy-gd --set diameter=0.01 --set strong-convexity=0", "shift", "4.38"),
    ("shift", "noisy-gd --set diameter=0.01 --set strong-convexity=0", "recursion", "1.34"),
    ("ceiling", "noisy-gd --set noise=laplace --set steps=any", "ceiling", "1.99998"),
    ("ceiling", "noisy-gd --set noise=laplace", "composition", "17.42"),
    ("hybrid", "chain", "hybrid", "1.232"),
    ("hybrid", "chain", "recursion", "1.380"),
    ("hybrid", "chain --set step.2.count=1", "hybrid", "7.13"),
    (
        "shift-subsampled",
        "dp-sgd --set order=without-replacement --set weight-decay=0.01 --set steps=any",
        "recursion",
        "7.959",
    ),
    (
        "shift-subsampled",
        "dp-sgd --set order=without-replacement --set weight-decay=0.01 --set steps=any",
        "shift-subsampled",
        "5.434",
    ),
    ("recursion", "projected-dp-sgd", "recursion", "2.28e-4"),
    ("recursion", "projected-dp-sgd --set steps=1e4", "composition", "9.9e-3"),
    ("recursion", "noisy-gd --set diameter=0.01", "recursion", "1.22"),
    ("recursion", "regularised-dp-sgd", "recursion", "8.8e-4"),
];

#[test]
fn the_numbers_that_pages_compare_are_those_of_the_program() {
    for (id, command, analysis, shown) in NUMBERS {
        let notes = find(id).and_then(|statement| statement.notes).expect("an analysis");
        assert!(notes.wins.iter().any(|point| point.contains(shown)), "{id} does not say {shown}");
        let mut words = command.split_whitespace();
        let file = format!("examples/{}.toml", words.next().expect("a file"));
        let arguments: Vec<&str> = words.chain(["--analyses", analysis]).collect();
        let answer = json(&[&["account", &file], &arguments[..]].concat());
        let said = &answer["analyses"][0];
        let value = bounds(if said["epsilon"].is_null() { &said["delta"] } else { &said["epsilon"] }).1;
        // Rounded to as many digits as are shown.
        let digits = shown.split('e').next().map_or(0, |digits| digits.trim_start_matches(['0', '.']).len());
        let digits = digits - usize::from(!shown.starts_with('0') && shown.contains('.'));
        let rounded: f64 = format!("{value:.*e}", digits - 1).parse().expect("a number");
        assert_eq!(
            rounded,
            shown.parse::<f64>().expect("a number"),
            "{id}: {command} by {analysis} is {value}"
        );
    }
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

/// What analyses rest on.
fn foundations() -> impl Iterator<Item = &'static Statement> {
    STATEMENTS.iter().filter(|statement| statement.notes.is_none())
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
    pages.insert("foundations.md".to_owned(), foundations_page());
    pages
}

const ORIGIN: &str = "<!-- Written by crates/dobrushin-cli/tests/mathematics.rs from \
                      crates/dobrushin/src/statement. -->";

fn page(statement: &Statement, notes: Notes) -> String {
    let formula: Vec<String> =
        notes.formula.lines().map(|line| format!("    {line}").trim_end().to_owned()).collect();
    let mut blocks = vec![
        ORIGIN.to_owned(),
        format!("# {}", escaped(statement.title)),
        format!("`dobrushin explain {}`; [all analyses](README.md).", statement.id),
        "## Formula".to_owned(),
        formula.join("\n"),
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
    let foundations = foundations().map(|statement| {
        let id = format!("[`{}`](foundations.md#{})", statement.id, statement.id);
        [id, cell(statement.title), cell(statement.source), errata(statement)]
    });
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
        table(["id", "title", "source", "errata"], foundations),
    ]
    .join("\n\n")
        + "\n"
}

fn foundations_page() -> String {
    let mut blocks = vec![
        ORIGIN.to_owned(),
        "# What the analyses rest on".to_owned(),
        "`dobrushin explain ID`; [all analyses](README.md).".to_owned(),
    ];
    for statement in foundations() {
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
        Some(_) if id.len() + 2 == name.len() => format!("foundations.md#{id}"),
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
