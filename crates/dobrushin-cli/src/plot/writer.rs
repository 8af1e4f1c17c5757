//! Lines of SVG text.

use super::layout::{Placed, SMALL_SIZE};
use super::ruler::Label;
use super::text::escape;

/// Indented lines of SVG.
#[derive(Default)]
pub(super) struct Writer {
    /// What is written so far.
    text: String,
    /// How many elements are open.
    depth: usize,
}

impl Writer {
    /// Writes a line.
    pub fn line(&mut self, line: &str) {
        self.text.push_str(&"  ".repeat(self.depth));
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Writes an element with its name and attributes around what `content` writes, or nothing
    /// when that is nothing.
    pub fn element(&mut self, name: &str, attributes: &str, content: impl FnOnce(&mut Self)) {
        let before = self.text.len();
        self.line(&format!("<{name} {attributes}>"));
        let opened = self.text.len();
        self.depth += 1;
        content(self);
        self.depth -= 1;
        if self.text.len() == opened {
            self.text.truncate(before);
        } else {
            self.line(&format!("</{name}>"));
        }
    }

    /// The document.
    pub fn finish(self) -> String {
        self.text
    }

    /// Writes text at its place, if there is any.
    pub fn placed(&mut self, placed: &Placed) {
        if placed.text.is_empty() {
            return;
        }
        let (x, y) = (number(placed.x), number(placed.y));
        self.line(&format!("<text x=\"{x}\" y=\"{y}\">{}</text>", escape(&placed.text)));
    }

    /// Writes the number beside a tick.
    pub fn label(&mut self, x: f64, y: f64, label: &Label) {
        if label.body.is_empty() {
            return;
        }
        let mut content = escape(&label.body);
        if !label.superscript.is_empty() {
            let rise = number(-0.4 * SMALL_SIZE);
            let size = number(Label::RAISED * SMALL_SIZE);
            let superscript = escape(&label.superscript);
            content.push_str(&format!("<tspan dy=\"{rise}\" font-size=\"{size}\">{superscript}</tspan>"));
        }
        let (x, y) = (number(x), number(y));
        self.line(&format!("<text x=\"{x}\" y=\"{y}\">{content}</text>"));
    }
}

/// A length with at most two decimals and no trailing zeros.
pub(super) fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match text {
        "-0" => "0".into(),
        text => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_indented_and_empty_ones_left_out() {
        let mut svg = Writer::default();
        svg.element("g", "id=\"a\"", |svg| {
            svg.element("g", "id=\"b\"", |_| {});
            svg.line("<path/>");
        });
        assert_eq!(svg.finish(), "<g id=\"a\">\n  <path/>\n</g>\n");
    }

    #[test]
    fn exponents_are_raised() {
        let mut svg = Writer::default();
        let label = Label { body: "10".into(), superscript: "−5".into() };
        svg.label(1.0, 2.0, &label);
        assert!(svg.finish().contains(">10<tspan dy=\"-4.8\" font-size=\"9\">−5</tspan></text>"));
    }

    #[test]
    fn lengths_are_short() {
        assert_eq!(number(1.0), "1");
        assert_eq!(number(100.0), "100");
        assert_eq!(number(0.126), "0.13");
        assert_eq!(number(-0.001), "0");
        assert_eq!(number(2.50), "2.5");
    }
}
