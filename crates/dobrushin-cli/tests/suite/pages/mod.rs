//! The pages of the documentation, as their readers see them.

pub mod cargo;
pub mod links;
pub mod shown;

use std::path::{Path, PathBuf};

/// A page.
pub struct Page {
    /// Its path from the root of the repository.
    pub name: String,
    /// Its code blocks, in order.
    pub blocks: Vec<Block>,
    /// Everything else, line by line.
    pub prose: Vec<String>,
}

/// A fenced code block.
pub struct Block {
    /// The line of its page on which it begins.
    pub line: usize,
    /// What follows the fence: a language and perhaps more words.
    pub info: String,
    /// What it holds.
    pub lines: Vec<String>,
}

impl Page {
    /// Reads a page.
    pub fn read(root: &Path, name: &str) -> Self {
        let text = std::fs::read_to_string(root.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        Self::parse(name, &text)
    }

    /// A page from its text.
    pub fn parse(name: &str, text: &str) -> Self {
        let mut page = Self { name: name.to_owned(), blocks: Vec::new(), prose: Vec::new() };
        let mut inside = false;
        for (index, line) in text.lines().enumerate() {
            // A block of a list item is indented.
            match line.trim_start().strip_prefix("```") {
                Some(_) if inside => inside = false,
                Some(info) => {
                    inside = true;
                    let info = info.trim().to_owned();
                    page.blocks.push(Block { line: index + 1, info, lines: Vec::new() });
                }
                None if inside => {
                    page.blocks.last_mut().expect("a block has begun").lines.push(line.to_owned());
                }
                None => page.prose.push(line.to_owned()),
            }
        }
        assert!(!inside, "{name}: a code block has no end");
        page
    }

    /// The lines of code that are set off by indentation: nothing says what they are.
    pub fn indented(&self) -> Vec<&str> {
        let mut code = Vec::new();
        let mut before = "";
        for line in &self.prose {
            let blank = before.trim().is_empty() || code.last() == Some(&before);
            if blank && (line.starts_with("    ") || line.starts_with('\t')) && !line.trim().is_empty() {
                code.push(line.as_str());
            }
            before = line;
        }
        code
    }

    /// The code within sentences.
    pub fn code_spans(&self) -> Vec<String> {
        let prose = self.prose.join("\n");
        let spans = prose.split('`').skip(1).step_by(2);
        spans.map(|span| span.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }
}

/// The pages at the root of the repository, and every page under docs/.
pub fn all(root: &Path) -> Vec<Page> {
    let mut names = ["CONTRIBUTING.md", "README.md", "SECURITY.md"].map(str::to_owned).to_vec();
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        for path in entries(&folder) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let name = path.strip_prefix(root).expect("it is below the root");
                names.push(name.to_str().expect("names are UTF-8").to_owned());
            }
        }
    }
    names.sort();
    names.iter().map(|name| Page::read(root, name)).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.expect("it can be read").path()).collect()
}
