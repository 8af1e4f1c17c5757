//! What users read: tables or JSON, to standard output or a file.

use crate::cli::{Common, CsvArgs};
use crate::file;
use crate::problem::Problem;
use dobrushin::Enclosure;
use dobrushin_document::csv::Table;
use dobrushin_document::json::{self, Bounds};
use dobrushin_document::plain_text::lines_shown_safely;
use dobrushin_document::text::Text;
use serde_json::{Map, Value};
use std::process::ExitCode;

/// An answer in both forms.
pub struct Report {
    /// For people: the answer first.
    pub text: Text,
    /// For programs.
    pub json: Value,
    /// Whether the answer is "no": exit code 1.
    pub answer_is_no: bool,
    /// For spreadsheets, if the command has `--csv`.
    pub table: Option<Table>,
}

impl Report {
    /// An answer that is not "no".
    pub fn new(text: Text, json: Value) -> Self {
        Self { text, json, answer_is_no: false, table: None }
    }

    /// The same answer, also as a table.
    pub fn with_table(self, table: Table) -> Self {
        Self { table: Some(table), ..self }
    }

    /// The exit code: 1 for the answer "no".
    pub fn exit_code(&self) -> ExitCode {
        if self.answer_is_no { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }

    /// The report in the form that the flags ask for. No file that it quotes can command a terminal; JSON is not
    /// changed.
    pub fn rendered(&self, common: &Common) -> String {
        match common.json {
            true => lines_shown_safely(&format!("{:#}\n", self.json)),
            false => self.text.render(common.style()),
        }
    }

    /// Writes the table where `--csv` says, and prints the report. A table on standard output takes the place of the
    /// report, unless `--output` puts that elsewhere.
    pub fn deliver(&self, common: &Common, csv: Option<&CsvArgs>) -> Result<(), Problem> {
        if let (Some((csv, path)), Some(table)) =
            (csv.and_then(|csv| Some((csv, csv.csv.as_ref()?))), &self.table)
        {
            file::replace_by(path, |file| table.write(file))
                .map_err(|error| Problem::cannot_write(path, error))?;
            if csv.replaces_the_answer(common) {
                return Ok(());
            }
        }
        self.print(common)
    }

    /// Prints the report as the flags ask.
    pub fn print(&self, common: &Common) -> Result<(), Problem> {
        let path = common.destination();
        file::replace(path, self.rendered(common).as_bytes())
            .map_err(|error| Problem::cannot_write(path, error))
    }
}

/// `{"lower": …, "upper": …}`.
pub fn bounds(value: Enclosure) -> Value {
    json::of(&Bounds(value))
}

/// A JSON object from its fields, in order.
pub fn object<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
