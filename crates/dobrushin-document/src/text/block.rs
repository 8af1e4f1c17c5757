//! The blocks that a text is made of. They say what each line is; how it looks is decided when the text is rendered.

use super::render::{self, Room};
use std::fmt;

/// Lines that belong together: a sentence, a list, a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block(pub(super) Vec<Line>);

/// What a line of a block is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Line {
    /// The name of what follows.
    Heading(String),
    /// Words that fill lines. The first line begins with `first`, and the others are indented as far.
    Prose { first: String, words: String },
    /// A line that is broken only if it does not fit.
    Plain(String),
    /// A line that is never changed, such as one of a file.
    Verbatim(String),
    /// A table, whose first column is aligned to the left and whose others are aligned to the right.
    Table { header: Vec<String>, rows: Vec<Vec<String>> },
}

impl Block {
    /// The block with another one below it.
    #[must_use]
    pub fn then(mut self, other: impl Into<Self>) -> Self {
        self.0.extend(other.into().0);
        self
    }

    /// The block with an empty line and another one below it.
    #[must_use]
    pub fn then_apart(self, other: impl Into<Self>) -> Self {
        self.then(verbatim("\n")).then(other)
    }
}

impl From<&str> for Block {
    fn from(text: &str) -> Self {
        Self(text.trim_end().lines().map(|line| Line::Plain(line.to_owned())).collect())
    }
}

impl From<String> for Block {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<&String> for Block {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

/// One below the other.
impl FromIterator<Block> for Block {
    fn from_iter<I: IntoIterator<Item = Block>>(blocks: I) -> Self {
        Self(blocks.into_iter().flat_map(|block| block.0).collect())
    }
}

/// The lines of a file.
impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&render::plain(self, Room::OF_ANSWERS).join("\n"))
    }
}

/// The name of what follows.
pub fn heading(words: &str) -> Block {
    Block(vec![Line::Heading(words.to_owned())])
}

/// Lines that are never changed, such as those of a file.
pub fn verbatim(text: &str) -> Block {
    Block(text.lines().map(|line| Line::Verbatim(line.to_owned())).collect())
}

/// Lines of prose: the first follows `first`, and the others are indented as far.
pub fn wrap(text: &str, first: &str) -> Block {
    Block(vec![Line::Prose { first: first.to_owned(), words: text.to_owned() }])
}

/// A list of points under a heading.
pub fn bullets(words: &str, items: impl IntoIterator<Item = impl AsRef<str>>) -> Block {
    let items = items.into_iter().map(|item| wrap(item.as_ref(), "  - "));
    heading(words).then(items.collect::<Block>())
}

/// An aligned table: the first column to the left, numbers to the right.
pub fn table<const N: usize>(header: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> Block {
    aligned(header.map(str::to_owned).to_vec(), rows.into_iter().map(Vec::from))
}

/// Like [`table`], with as many columns as the header has.
pub fn aligned(header: Vec<String>, rows: impl IntoIterator<Item = Vec<String>>) -> Block {
    Block(vec![Line::Table { header, rows: rows.into_iter().collect() }])
}
