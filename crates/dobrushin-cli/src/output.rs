//! What users read: tables or JSON, to standard output or a file.

use crate::cli::Common;
use crate::file;
use crate::plain_text::lines_shown_safely;
use crate::problem::Problem;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use dobrushin::Enclosure;
use serde_json::{Map, Value, json};
use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

/// An answer in both forms.
pub struct Report {
    /// For people: the answer first.
    pub text: Text,
    /// For programs.
    pub json: Value,
    /// Whether the answer is "no": exit code 1.
    pub answer_is_no: bool,
}

/// Blocks of text; the explanations are left out by `--quiet`.
#[derive(Default)]
pub struct Text {
    blocks: Vec<(Kind, String)>,
}

#[derive(PartialEq)]
enum Kind {
    Answer,
    Explanation,
}

impl Text {
    /// A line or a table that is the answer.
    pub fn answer(&mut self, block: impl Into<String>) {
        self.blocks.push((Kind::Answer, block.into()));
    }

    /// Something a reader may not need twice.
    pub fn explanation(&mut self, block: impl Into<String>) {
        self.blocks.push((Kind::Explanation, block.into()));
    }

    fn render(&self, quiet: bool) -> String {
        let shown = self.blocks.iter().filter(|(kind, _)| !quiet || *kind == Kind::Answer);
        let blocks: Vec<&str> = shown.map(|(_, block)| block.trim_end()).collect();
        blocks.join("\n\n") + "\n"
    }
}

impl Report {
    /// An answer that is not "no".
    pub fn new(text: Text, json: Value) -> Self {
        Self { text, json, answer_is_no: false }
    }

    /// 1 for the answer "no".
    pub fn exit_code(&self) -> ExitCode {
        if self.answer_is_no { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }

    /// As the flags ask. No file that it quotes can command a terminal; JSON stays the same JSON.
    pub fn rendered(&self, common: &Common) -> String {
        lines_shown_safely(&match common.json {
            true => format!("{:#}\n", self.json),
            false => self.text.render(common.quiet),
        })
    }

    /// Prints the report as the flags ask.
    pub fn print(&self, common: &Common) -> Result<(), Problem> {
        let path = common.destination();
        file::replace(path, self.rendered(common).as_bytes())
            .map_err(|error| Problem::cannot_write(path, error))
    }
}

/// Writes to standard error. Where that is full or closed there is nobody to tell, and nothing to be done: the exit code
/// still says how the program ended.
pub fn say(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// An aligned table: the first column to the left, numbers to the right.
pub fn table<const N: usize>(header: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    aligned(header.map(str::to_owned).to_vec(), rows.into_iter().map(Vec::from))
}

/// As [`table`], with as many columns as the header has.
pub fn aligned(header: Vec<String>, rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header);
    for row in rows {
        table.add_row(row);
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if index == 0 { 0 } else { 2 }, 0));
        if index > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}

/// The width of lines of prose.
const WIDTH: usize = 100;

/// Lines of prose, the first after `first`, the others after as many spaces.
pub fn wrap(text: &str, first: &str) -> String {
    let indent = " ".repeat(first.chars().count());
    let mut lines = vec![first.to_owned()];
    for word in text.split_whitespace() {
        let line = lines.last().map_or(0, |line| line.chars().count());
        if line + word.chars().count() >= WIDTH && line > indent.len() {
            lines.push(indent.clone());
        }
        if let Some(line) = lines.last_mut() {
            if line.chars().count() > indent.len() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.join("\n")
}

/// A list of points under a heading.
pub fn bullets(heading: &str, items: impl IntoIterator<Item = impl Display>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| wrap(&item.to_string(), "  - ")).collect();
    format!("{heading}\n{}", items.join("\n"))
}

/// A list of sentences.
pub fn sentences(items: &[impl Display]) -> Value {
    items.iter().map(ToString::to_string).collect()
}

/// `{"lower": …, "upper": …}`.
pub fn bounds(value: Enclosure) -> Value {
    json!({ "lower": number(value.lower()), "upper": number(value.upper()) })
}

/// A JSON number, or the string "Infinity" or "-Infinity", for which JSON has no
/// number.
pub fn number(value: f64) -> Value {
    if value.is_finite() { json!(value) } else { json!(if value > 0.0 { "Infinity" } else { "-Infinity" }) }
}

/// A JSON object from its fields, in order.
pub fn object<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
