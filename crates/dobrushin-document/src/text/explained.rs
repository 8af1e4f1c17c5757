//! A theorem or an idea in plain words, and the list of all of them.

use super::{Block, Text, bullets, heading, verbatim, wrap};
use crate::error::DocumentError;
use crate::idea::{IDEAS, Idea};
use crate::json;
use crate::nearest;
use crate::report::Theorem;
use dobrushin::analysis;
use dobrushin::statement::{FOUNDATIONS, LOCAL, Statement, UTILITY, find};
use serde_json::{Value, json};

/// What is known of a topic, for people and for programs; without one, all topics.
///
/// # Errors
/// [`DocumentError`] if nothing has that name.
pub fn explained(topic: Option<&str>) -> Result<(Text, Value), DocumentError> {
    let Some(id) = topic else {
        return Ok(list());
    };
    if let Some(idea) = Idea::find(id) {
        return Ok((idea_in_words(&idea), json::of(&idea)));
    }
    let Some(statement) = find(id) else {
        let theorems = topics().into_iter().flat_map(|(_, group)| group).map(|s| s.id);
        let known: Vec<&str> = IDEAS.into_iter().chain(theorems).collect();
        let near = nearest(id, known.iter().copied()).map(|near| format!("did you mean {near}? "));
        let help = format!("{}all of them: {}", near.unwrap_or_default(), known.join(", "));
        return Err(DocumentError::new(format!("nothing is called {id:?}")).help(help));
    };
    Ok((in_words(statement), json::of(&Theorem::from(statement))))
}

/// The answer first: the formula, what it means, what it needs and when it helps; then why it holds.
fn in_words(statement: &Statement) -> Text {
    let mut text = Text::default();
    text.answer(format!("{}\n{}", statement.title, "─".repeat(statement.title.chars().count())));
    if let Some(notes) = statement.notes {
        text.answer(indented(notes.formula));
    }
    text.answer(wrap(statement.statement, ""));
    text.answer(bullets("Assumptions", statement.assumptions));
    if let Some(notes) = statement.notes {
        text.answer(bullets("When it wins", notes.wins));
        text.answer(numbered("Proof sketch", notes.proof));
    }
    text.answer(heading("Source").then(wrap(statement.source, "  ")));
    if !statement.errata.is_empty() {
        text.answer(bullets("Errata", statement.errata));
    }
    if let Some(notes) = statement.notes {
        text.answer(heading("Example").then(verbatim(&format!("  dobrushin {}", notes.example))));
    }
    text
}

/// What it is, then an example with numbers.
fn idea_in_words(idea: &Idea) -> Text {
    let mut text = Text::default();
    text.answer(format!("{}\n{}", idea.title, "─".repeat(idea.title.chars().count())));
    idea.statement.iter().for_each(|paragraph| text.answer(wrap(paragraph, "")));
    if let [lead, lines @ ..] = &idea.numbers[..] {
        let lines = lines.iter().map(|line| wrap(line, "    "));
        text.answer(heading("In numbers").then(wrap(lead, "  ")).then(lines.collect::<Block>()));
    }
    text.answer(heading("Try").then(verbatim(&format!("  dobrushin {}", idea.example))));
    text.explanation(format!("See also: dobrushin explain {}", idea.see.join(", ")));
    text
}

/// The lines, indented by two columns.
fn indented(lines: &str) -> Block {
    let lines: Vec<String> = lines.lines().map(|line| format!("  {line}").trim_end().to_owned()).collect();
    verbatim(&lines.join("\n"))
}

/// The steps, under a heading.
fn numbered(words: &str, steps: &[&str]) -> Block {
    let steps = steps.iter().zip(1..).map(|(step, number)| wrap(step, &format!("  {number}. ")));
    heading(words).then(steps.collect::<Block>())
}

fn list() -> (Text, Value) {
    let mut text = Text::default();
    let ids = topics().into_iter().flat_map(|(_, group)| group).map(|s| s.id.len());
    let longest = ids.max().unwrap_or(0);
    let ideas = Idea::all();
    let lines = ideas.iter().map(|idea| wrap(idea.title, &format!("  {:longest$}  ", idea.id)));
    text.answer(heading("Ideas in plain words").then(lines.collect::<Block>()));
    for (name, group) in topics() {
        let lines = group.iter().map(|s| wrap(s.title, &format!("  {:longest$}  ", s.id)));
        text.answer(heading(name).then(lines.collect::<Block>()));
    }
    text.explanation("dobrushin explain NAME prints one of them with its assumptions, source and errata, and of an analysis also the \
         formula, when it wins, a proof and an example.");
    let statements: Vec<Theorem> =
        topics().into_iter().flat_map(|(_, group)| group).map(Theorem::from).collect();
    (text, json!({ "ideas": ideas, "statements": statements }))
}

/// The analyses in the order of reports, what they rest on, what noise costs, and what local privacy does.
pub fn topics() -> [(&'static str, Vec<&'static Statement>); 4] {
    [
        ("Analyses of runs", analysis::ALL.iter().map(|theorem| theorem.statement()).collect()),
        ("What they rest on", FOUNDATIONS.iter().collect()),
        ("Utility", UTILITY.iter().collect()),
        ("Local privacy", LOCAL.iter().collect()),
    ]
}
