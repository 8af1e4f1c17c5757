//! A page for people: what is promised, and sections that say what it means, rests on and leaves out.
//!
//! A sheet is data. It becomes text here, a page for a browser in [`Sheet::html`], and printed pages in programs that can draw.

mod certificate;
mod html;

pub use certificate::of_certificate;
pub use html::certificate_in;

use crate::text::{Block, bullets, wrap};

/// A page for people.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// What kind of page it is.
    pub title: String,
    /// The answer, in one line.
    pub answer: String,
    /// What a reader must see before anything else.
    pub alarm: Option<String>,
    /// The rest, in order.
    pub sections: Vec<Section>,
}

/// Points under a heading.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// The heading.
    pub heading: &'static str,
    /// The points, each a sentence or two.
    pub points: Vec<String>,
}

impl Sheet {
    /// The sheet as text.
    pub fn text(&self) -> String {
        let mut blocks = vec![Block::from(&self.answer)];
        blocks.extend(self.alarm.as_ref().map(|alarm| wrap(alarm, "")));
        blocks.extend(self.sections.iter().map(|section| bullets(section.heading, &section.points)));
        blocks.iter().map(Block::to_string).collect::<Vec<_>>().join("\n\n") + "\n"
    }
}
