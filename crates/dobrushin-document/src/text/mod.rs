//! Reports as people read them: tables and prose, the answer first.

mod account;
mod calibration;
mod certificate;
mod choice;
mod curve;
mod kernel;
mod local;
mod observers;
mod prescription;
mod problem;
mod renyi;
mod training;
mod verification;

pub use account::account;
pub use calibration::calibration;
pub use certificate::certificate;
pub use choice::{chosen, plan_in_words};
pub use curve::curve;
pub use kernel::{joint, kernel};
pub use local::{bounds, estimate, local_profile, plans, privatized, promise, promise_sentence, survey};
pub use prescription::prescription;
pub use problem::problem;
pub use renyi::renyi_curve;
pub use training::training;
pub use verification::{complaint, verification};

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use dobrushin::Enclosure;
use dobrushin::numeric::decimal as number;

/// How much people want to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Only the answer: no explanations.
    pub quiet: bool,
    /// Also what most readers do not need.
    pub verbose: bool,
    /// The significant digits of numbers, which are rounded outward.
    pub digits: usize,
}

impl Default for Style {
    fn default() -> Self {
        Self { quiet: false, verbose: false, digits: number::DIGITS }
    }
}

impl Style {
    /// The upper end, rounded up.
    pub fn upper(self, value: Enclosure) -> String {
        number::upper(value, self.digits)
    }

    /// The lower end, rounded down.
    pub fn lower(self, value: Enclosure) -> String {
        number::lower(value, self.digits)
    }

    /// A number that is not a bound.
    pub fn nearest(self, value: f64) -> String {
        number::nearest(value, self.digits)
    }
}

/// Blocks of text; a quiet text leaves out the explanations.
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

    /// The blocks; a quiet style leaves out the explanations.
    pub fn render(&self, style: Style) -> String {
        let shown = self.blocks.iter().filter(|(kind, _)| !style.quiet || *kind == Kind::Answer);
        let blocks: Vec<&str> = shown.map(|(_, block)| block.trim_end()).collect();
        blocks.join("\n\n") + "\n"
    }
}

/// An aligned table: the first column to the left, numbers to the right.
pub fn table<const N: usize>(header: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    aligned(header.map(str::to_owned).to_vec(), rows.into_iter().map(Vec::from))
}

/// Like [`table`], with as many columns as the header has.
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

/// Lines of prose: the first follows `first`, and the others are indented as far.
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
pub fn bullets(heading: &str, items: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| wrap(item.as_ref(), "  - ")).collect();
    format!("{heading}\n{}", items.join("\n"))
}

/// Why a guarantee protects nobody; a quiet text does not leave it out.
fn warn(text: &mut Text, concern: Option<&str>) {
    if let Some(concern) = concern {
        text.answer(wrap(&format!("Warning: {concern}."), ""));
    }
}

/// A sentence that begins with a capital letter.
fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
