//! Reports as people read them: tables and prose, the answer first.

mod account;
mod audit;
mod block;
mod calibration;
mod choice;
mod curve;
mod evaluation;
mod explained;
pub(crate) mod forgetting;
mod kernel;
pub mod ledger;
mod local;
pub(crate) mod meaning;
mod observers;
mod prescription;
mod problem;
mod render;
mod renyi;
mod total;
mod training;
mod verification;
mod worst_case;

pub use account::account;
pub use audit::audit;
pub use calibration::calibration;
pub use choice::{chosen, plan_in_words};
pub use curve::curve;
pub use explained::{explained, topics};
pub use forgetting::forgetting;
pub use kernel::{joint, kernel};
pub use local::{bounds, estimate, local_profile, plans, privatized, promise, promise_sentence, survey};
pub use prescription::prescription;
pub use problem::problem;
pub use renyi::renyi_curve;
pub use total::total;
pub use training::training;
pub use verification::{complaint, verification};
pub use worst_case::worst_case;

pub use block::{Block, aligned, bullets, heading, table, verbatim, wrap};

use anstyle::Style as Ink;
use dobrushin::Enclosure;
use dobrushin::numeric::decimal as number;
use render::Room;

/// How much people want to read, and on what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Only the answer: no explanations.
    pub quiet: bool,
    /// Also what most readers do not need.
    pub verbose: bool,
    /// The significant digits of numbers, which are rounded outward.
    pub digits: usize,
    /// The columns of the terminal, if there is one: prose fills at most that, and tables that are wider become lists.
    pub columns: Option<usize>,
    /// Whether headings, the answer and warnings are marked for a terminal that shows colours.
    pub colours: bool,
}

impl Default for Style {
    fn default() -> Self {
        Self { quiet: false, verbose: false, digits: number::DIGITS, columns: None, colours: false }
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
    blocks: Vec<(Kind, Block)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Answer,
    Warning,
    Explanation,
}

impl Text {
    /// A line or a table that is the answer.
    pub fn answer(&mut self, block: impl Into<Block>) {
        self.blocks.push((Kind::Answer, block.into()));
    }

    /// Why the answer must not be relied on; a quiet text does not leave it out.
    pub fn warning(&mut self, block: impl Into<Block>) {
        self.blocks.push((Kind::Warning, block.into()));
    }

    /// Something a reader may not need twice.
    pub fn explanation(&mut self, block: impl Into<Block>) {
        self.blocks.push((Kind::Explanation, block.into()));
    }

    /// The blocks; a quiet style leaves out the explanations. Whatever files say in them, they command no terminal.
    pub fn render(&self, style: Style) -> String {
        let answer = self.blocks.iter().position(|(kind, _)| *kind == Kind::Answer);
        let shown = self.blocks.iter().enumerate();
        let shown = shown.filter(|(_, (kind, _))| !style.quiet || *kind != Kind::Explanation);
        let blocks = shown.map(|(index, (kind, block))| {
            let room = match (style.columns, kind) {
                (Some(columns), _) => Room::of_terminal(columns),
                (None, Kind::Answer) => Room::OF_ANSWERS,
                (None, _) => Room::OF_FILES,
            };
            let lines = match kind {
                _ if !style.colours => render::plain(block, room),
                Kind::Warning => render::coloured(block, room, render::WARNING),
                _ if Some(index) == answer => render::answer(block, room),
                _ => render::coloured(block, room, Ink::new()),
            };
            lines.join("\n").trim_end().to_owned()
        });
        blocks.collect::<Vec<_>>().join("\n\n") + "\n"
    }
}

/// Why a guarantee protects nobody; a quiet text does not leave it out.
fn warn(text: &mut Text, concern: Option<&str>) {
    if let Some(concern) = concern {
        text.warning(wrap(&format!("Warning: {concern}."), ""));
    }
}

/// A sentence that begins with a capital letter.
fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
