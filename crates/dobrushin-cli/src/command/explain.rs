//! `dobrushin explain`: the theorem behind a number.

use crate::cli::ExplainArgs;
use crate::output::{Report, Text};
use crate::problem::Problem;
use dobrushin::statement::{STATEMENTS, Statement, find};
use serde_json::{Value, json};

/// One statement, or the list of all.
pub fn run(arguments: &ExplainArgs) -> Result<Report, Problem> {
    let Some(id) = &arguments.id else {
        return Ok(list());
    };
    let Some(statement) = find(id) else {
        let known: Vec<&str> = STATEMENTS.iter().map(|s| s.id).collect();
        return Err(
            Problem::new(format!("nothing is called {id:?}")).help(format!("one of: {}", known.join(", ")))
        );
    };
    let mut text = Text::default();
    text.answer(format!("{}\n{}", statement.title, "─".repeat(statement.title.chars().count())));
    text.answer(wrap(statement.statement, ""));
    text.answer(format!("Assumptions\n{}", bullets(statement.assumptions)));
    text.answer(format!("Source\n{}", wrap(statement.source, "  ")));
    if !statement.errata.is_empty() {
        text.answer(format!("Errata\n{}", bullets(statement.errata)));
    }
    Ok(Report::new(text, as_json(statement)))
}

fn list() -> Report {
    let mut text = Text::default();
    let rows = STATEMENTS.iter().map(|s| [s.id.to_owned(), s.title.to_owned()]);
    let longest = STATEMENTS.iter().map(|s| s.id.len()).max().unwrap_or(0);
    let lines: Vec<String> = rows.map(|[id, title]| format!("{id:longest$}  {title}")).collect();
    text.answer(lines.join("\n"));
    text.explanation("dobrushin explain NAME prints one of them with its assumptions, source and errata.");
    let statements: Vec<Value> = STATEMENTS.iter().map(as_json).collect();
    Report::new(text, json!({ "statements": statements }))
}

fn as_json(statement: &Statement) -> Value {
    json!({
        "id": statement.id,
        "title": statement.title,
        "statement": statement.statement,
        "assumptions": statement.assumptions,
        "source": statement.source,
        "errata": statement.errata,
    })
}

fn bullets(items: &[&str]) -> String {
    let items: Vec<String> =
        items.iter().map(|item| format!("  - {}", wrap(item, "    ").trim_start())).collect();
    items.join("\n")
}

/// Lines of at most 90 characters, each after the indent.
fn wrap(text: &str, indent: &str) -> String {
    const WIDTH: usize = 90;
    let mut lines = vec![indent.to_owned()];
    for word in text.split_whitespace() {
        let line = lines.last().map_or(0, |line| line.chars().count());
        if line + word.chars().count() >= WIDTH && line > indent.len() {
            lines.push(indent.to_owned());
        }
        if let Some(line) = lines.last_mut() {
            if line.len() > indent.len() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.join("\n")
}
