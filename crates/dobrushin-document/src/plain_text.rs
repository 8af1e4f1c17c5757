//! Text from files and arguments, made safe to show.
//!
//! A terminal obeys control characters: a category called "\u{1b}[2J" clears the screen, and one with a bidirectional
//! override reads as something that it is not. So nothing that a file says reaches a person without one of these
//! functions. They write such a character as `\u001b`, which JSON and TOML read back as the same character. A
//! spreadsheet also obeys formulas: see [`csv_cell`].

use std::borrow::Cow;
use std::fmt::Write;

/// A text that takes up one line: every character that moves the cursor, starts a terminal command, breaks a line or
/// turns the direction of writing is written as an escape.
pub fn shown_safely(text: &str) -> String {
    escaped(text, false)
}

/// Like [`shown_safely`], for a text of several lines, which keeps its line feeds and tabs.
pub fn lines_shown_safely(text: &str) -> String {
    escaped(text, true)
}

/// A text for a message: several lines, shown safely, of at most [`LONGEST`] characters, and a note about what was left
/// out.
pub fn for_message(text: &str) -> String {
    lines_shown_safely(&shortened(text))
}

/// A message shows at most this many characters of a text.
pub const LONGEST: usize = 2000;

fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(LONGEST) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}… ({} bytes in all)", &text[..end], text.len())),
    }
}

fn escaped(text: &str, has_lines: bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        let is_layout = has_lines && matches!(character, '\n' | '\t');
        if is_dangerous(character) && !is_layout {
            // Writing to memory cannot fail.
            let _ = write!(shown, "\\u{:04x}", u32::from(character));
        } else {
            shown.push(character);
        }
    }
    shown
}

/// A text as a cell of a CSV file, in quotes if it needs them, that no spreadsheet takes for a formula.
///
/// A text that begins with a character that begins a formula, and is not a number, gets an apostrophe before it, by
/// which spreadsheets recognise texts (OWASP, "CSV injection"); so does one with apostrophes before such a character.
/// Nothing is lost: if a cell has one or more apostrophes and then such a character, the text is the cell without the
/// first of them; every other cell is its text.
pub fn csv_cell(text: &str) -> String {
    let is_formula = text.trim_start_matches('\'').starts_with(FORMULA);
    let is_number = text.parse::<f64>().is_ok_and(f64::is_finite);
    let apostrophe = if is_formula && !is_number { "'" } else { "" };
    match text.contains([',', ';', '"', '\n', '\r', '\t']) {
        true => format!("\"{apostrophe}{}\"", text.replace('"', "\"\"")),
        false => format!("{apostrophe}{text}"),
    }
}

/// A formula begins with one of these in one spreadsheet or another.
const FORMULA: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// Control characters (C0, delete, C1), line and paragraph separators, and what overrides the direction of writing.
fn is_dangerous(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_that_a_terminal_obeys_is_left() {
        let text = "a\u{1b}[2J\u{9b}1m\u{7f}\r\n\t\0\u{202e}b\u{2066}c\u{2028}ä’…";
        let shown = shown_safely(text);
        assert_eq!(shown, r"a\u001b[2J\u009b1m\u007f\u000d\u000a\u0009\u0000\u202eb\u2066c\u2028ä’…");
        assert_eq!(lines_shown_safely("a\n\t\u{1b}b\r\n"), "a\n\t\\u001bb\\u000d\n");
        let all: String = ('\0'..=char::MAX).collect();
        assert!(!shown_safely(&all).chars().any(is_dangerous));
    }

    #[test]
    fn what_is_shown_of_json_is_the_same_json() {
        let value = serde_json::json!({ "a\u{9b}\u{1b}": "\u{202e}\u{7f}\n\u{2029}" });
        let shown = lines_shown_safely(&format!("{value:#}\n"));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).ok(), Some(value));
    }

    #[test]
    fn no_cell_is_a_formula_and_every_text_can_be_read_back() {
        for (text, cell) in [
            ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
            ("'=1", "''=1"),
            ("'tis", "'tis"),
            ("@SUM(1,2)", "\"'@SUM(1,2)\""),
            ("-", "'-"),
            ("-1.5", "-1.5"),
            ("+1", "+1"),
            ("-inf", "'-inf"),
            ("＝1", "'＝1"),
            ("\t=1", "\"'\t=1\""),
            ("a;=1", "\"a;=1\""),
            ("<=50K", "<=50K"),
            ("say \"=\"", "\"say \"\"=\"\"\""),
            ("", ""),
        ] {
            assert_eq!(csv_cell(text), cell);
            let mut file = csv::ReaderBuilder::new().has_headers(false).from_reader(cell.as_bytes());
            if let Some(row) = file.records().next() {
                let read = row.expect("a row").get(0).expect("a cell").to_owned();
                let bare = read.trim_start_matches('\'');
                let was_marked = bare.len() < read.len() && bare.starts_with(FORMULA);
                assert_eq!(&read[usize::from(was_marked)..], text);
            }
        }
    }

    #[test]
    fn a_message_is_short_however_long_its_text_is() {
        assert_eq!(for_message("short"), "short");
        let long = for_message(&"ä\u{1b}".repeat(1 << 20));
        assert!(long.len() < 10 * LONGEST && long.ends_with("… (3145728 bytes in all)"), "{}", long.len());
        assert_eq!(for_message(&"x".repeat(LONGEST)).len(), LONGEST);
    }
}
