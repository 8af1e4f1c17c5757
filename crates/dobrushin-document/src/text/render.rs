//! How blocks become lines: as wide as the terminal, and with colours where it shows them.

use super::block::{Block, Line};
use crate::plain_text::lines_shown_safely;
use anstyle::{AnsiColor, Style as Ink};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// The width of lines of prose, unless a terminal is narrower. Longer lines are hard to read.
const WIDEST: usize = 100;
/// No text is made narrower than this.
const NARROWEST: usize = 40;

/// How wide lines may be.
#[derive(Clone, Copy)]
pub(super) struct Room {
    prose: usize,
    plain: usize,
    table: usize,
}

impl Room {
    /// The room of an answer in a file or a pipe: only prose is broken, so that programs find each line as it is.
    pub const OF_ANSWERS: Self = Self { prose: WIDEST, plain: usize::MAX, table: usize::MAX };
    /// The room of all else in a file or a pipe.
    pub const OF_FILES: Self = Self { prose: WIDEST, plain: WIDEST, table: usize::MAX };

    /// The room of a terminal with this many columns.
    pub fn of_terminal(columns: usize) -> Self {
        let prose = columns.clamp(NARROWEST, WIDEST);
        Self { prose, plain: prose, table: columns.max(NARROWEST) }
    }
}

/// How the first line of the answer looks on a terminal with colours.
const ANSWER: Ink = Ink::new().bold();
/// How a warning looks.
pub(super) const WARNING: Ink = AnsiColor::Yellow.on_default();
/// How headings look.
const HEADING: Ink = Ink::new().underline();
/// How the first line of a table looks.
const HEADER: Ink = Ink::new().dimmed();

/// The lines of a block without colours.
pub(super) fn plain(block: &Block, room: Room) -> Vec<String> {
    block.0.iter().flat_map(|line| laid_out(line, room)).map(|(text, _)| text).collect()
}

/// The lines of a block for a terminal with colours; `ink` is that of lines that have none of their own.
pub(super) fn coloured(block: &Block, room: Room, ink: Ink) -> Vec<String> {
    let lines = block.0.iter().flat_map(|line| laid_out(line, room));
    lines.map(|(text, own)| inked(&text, own.unwrap_or(ink))).collect()
}

/// The lines of a block that begins with the answer, unless it begins with a heading or a table.
pub(super) fn answer(block: &Block, room: Room) -> Vec<String> {
    let (first, rest) = block.0.split_at(block.0.len().min(1));
    let part = |lines: &[Line], ink| coloured(&Block(lines.to_vec()), room, ink);
    let is_words = matches!(first, [Line::Plain(_) | Line::Prose { .. }]);
    [part(first, if is_words { ANSWER } else { Ink::new() }), part(rest, Ink::new())].concat()
}

/// A line in a colour. What it quotes was made safe before, so these are its only escapes.
fn inked(text: &str, ink: Ink) -> String {
    let words = text.trim_start();
    if ink.is_plain() || words.is_empty() {
        return text.to_owned();
    }
    let indent = &text[..text.len() - words.len()];
    format!("{indent}{ink}{words}{ink:#}")
}

/// The lines that a line takes, and how each looks if it has a look of its own.
fn laid_out(line: &Line, room: Room) -> Vec<(String, Option<Ink>)> {
    let all = |lines: Vec<String>, ink| lines.into_iter().map(|line| (line, ink)).collect();
    match line {
        Line::Heading(words) => all(broken(&safe(words), room.plain), Some(HEADING)),
        Line::Prose { first, words } => {
            all(filled(safe(words).split_whitespace(), &safe(first), room.prose), None)
        }
        Line::Plain(text) => all(broken(&safe(text), room.plain), None),
        Line::Verbatim(text) => all(vec![safe(text)], Some(Ink::new())),
        Line::Table { header, rows } => table(header, rows, room),
    }
}

/// No file that is quoted can command a terminal.
fn safe(text: &str) -> String {
    lines_shown_safely(text)
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// Lines that are filled with words: the first follows `first`, and the others are indented as far, unless that would
/// leave less than half of the line.
fn filled<'a>(words: impl Iterator<Item = &'a str>, first: &str, width: usize) -> Vec<String> {
    let begun = length(first);
    let spaces = begun - length(first.trim_start());
    let indent = if begun <= width / 2 { begun } else { spaces + 4 };
    let mut lines = vec![first.to_owned()];
    let mut is_empty = true;
    for word in words {
        let so_far = lines.last().map_or(0, |line| length(line));
        if so_far + length(word) >= width && !(is_empty && so_far <= indent) {
            lines.push(" ".repeat(indent));
            is_empty = true;
        }
        if let Some(line) = lines.last_mut() {
            if !is_empty {
                line.push(' ');
            }
            line.push_str(word);
            is_empty = false;
        }
    }
    lines
}

/// A line, or several if it does not fit; they are indented as it is. A command at its end stays in one piece, so that
/// it can be copied.
fn broken(text: &str, width: usize) -> Vec<String> {
    if length(text) <= width {
        return vec![text.to_owned()];
    }
    let words = text.trim_start();
    let indent = &text[..text.len() - words.len()];
    let (sentence, command) = match words.rfind(COMMAND) {
        Some(colon) => words.split_at(colon + 1),
        None => (words, ""),
    };
    let command = Some(command.trim()).filter(|command| !command.is_empty());
    filled(sentence.split_whitespace().chain(command), indent, width)
}

/// What stands before a command at the end of a sentence, with the first word of the command.
const COMMAND: &str = ": dobrushin ";

fn table(header: &[String], rows: &[Vec<String>], room: Room) -> Vec<(String, Option<Ink>)> {
    let (header, rows) = (cells(header), rows.iter().map(|row| cells(row)).collect::<Vec<_>>());
    let mut lines: Vec<String> = aligned(&header, &rows).lines().map(str::to_owned).collect();
    if lines.iter().all(|line| length(line) <= room.table) {
        let first = lines.drain(..1).map(|line| (line, Some(HEADER))).collect::<Vec<_>>();
        return first.into_iter().chain(lines.into_iter().map(|line| (line, None))).collect();
    }
    listed(&header, &rows, room.prose)
}

fn cells(cells: &[String]) -> Vec<String> {
    cells.iter().map(|cell| safe(cell)).collect()
}

fn aligned(header: &[String], rows: &[Vec<String>]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header.to_vec());
    for row in rows {
        table.add_row(row.clone());
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if index == 0 { 0 } else { 2 }, 0));
        if index > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}

/// A table that is too wide, row by row: each cell on a line of its own, after the name of its column.
fn listed(header: &[String], rows: &[Vec<String>], width: usize) -> Vec<(String, Option<Ink>)> {
    let longest = header.iter().skip(1).map(|name| length(name)).max().unwrap_or(0);
    let mut lines = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        if index > 0 {
            lines.push((String::new(), None));
        }
        let first = header.iter().zip(row).take(1).map(|(name, cell)| format!("{name} {cell}"));
        let first = first.flat_map(|line| broken(line.trim(), width)).map(|line| (line, Some(HEADER)));
        lines.extend(first);
        for (name, cell) in header.iter().zip(row).skip(1).filter(|(_, cell)| !cell.is_empty()) {
            let name = format!("  {name}{}  ", " ".repeat(longest - length(name)));
            lines.extend(filled(cell.split_whitespace(), &name, width).into_iter().map(|line| (line, None)));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::{Style, Text, bullets, heading, table, verbatim, wrap};
    use super::*;

    fn text() -> Text {
        let mut text = Text::default();
        text.answer("(ε, δ) = (2.558, 1e-5), by shift");
        text.warning(wrap(
            "Warning: there is something about this guarantee that everybody who reads it should know.",
            "",
        ));
        text.explanation(bullets(
            "Assumptions",
            ["every gradient is clipped to a norm of at most one before it is added up", "short"],
        ));
        text.explanation(table(
            ["analysis", "ε at least", "ε at most"],
            [["shift", "2.5", "2.558"].map(str::to_owned)],
        ));
        text.explanation(
            heading("Example")
                .then(verbatim("  dobrushin account examples/a-run-with-a-very-long-name.toml --delta 1e-6")),
        );
        text.explanation(
            "The certificate can be checked by: dobrushin verify a/very/long/path/to/a/certificate.json",
        );
        text
    }

    fn at(columns: usize, colours: bool) -> String {
        text().render(Style { columns: Some(columns), colours, ..Style::default() })
    }

    /// The text without escapes.
    fn plain(text: &str) -> String {
        let mut parts = text.split('\x1b');
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |kept, part| kept + part.split_once('m').map_or("", |(_, after)| after))
    }

    #[test]
    fn prose_is_as_wide_as_the_terminal_within_reason() {
        for (columns, most) in [(1, 40), (39, 40), (40, 40), (57, 57), (100, 100), (300, 100)] {
            let shown = at(columns, false);
            let lines = shown.lines().filter(|line| !line.contains("dobrushin"));
            let longest = lines.map(length).max().expect("lines");
            assert!(longest <= most, "{longest} > {most}:\n{shown}");
        }
        // Without a terminal it is as if that were as wide as can be.
        assert_eq!(text().render(Style::default()), at(300, false));
        // Nothing is lost, and no word is broken.
        let words =
            |columns| -> Vec<String> { at(columns, false).split_whitespace().map(str::to_owned).collect() };
        assert_eq!(words(40), words(300));
    }

    #[test]
    fn a_command_is_not_broken() {
        let shown = at(40, false);
        for command in [
            "dobrushin verify a/very/long/path/to/a/certificate.json",
            "  dobrushin account examples/a-run-with-a-very-long-name.toml --delta 1e-6",
        ] {
            assert!(shown.lines().any(|line| line == command), "{shown}");
        }
    }

    #[test]
    fn colours_change_nothing_but_colours() {
        for columns in [40, 80, 200] {
            let (with, without) = (at(columns, true), at(columns, false));
            assert_eq!(plain(&with), without);
            assert!(with.starts_with("\x1b[1m(ε, δ)") && with.contains("\x1b[33mWarning"), "{with:?}");
            assert!(
                with.contains("\x1b[4mAssumptions\x1b[0m") && with.contains("\x1b[2manalysis"),
                "{with:?}"
            );
            // No colour goes on into the next line.
            assert!(with.lines().all(|line| line.matches('\x1b').count() % 2 == 0), "{with:?}");
        }
        assert!(!at(80, false).contains('\x1b'));
    }

    #[test]
    fn a_file_that_is_quoted_has_no_colours_of_its_own() {
        let mut text = Text::default();
        text.answer("\x1b[31mred\x1b[0m");
        text.answer(heading("\x1b]0;title\x07"));
        text.explanation(verbatim("\x1b[2J"));
        text.explanation(wrap("\x1b[2J a", "\x1b[2J"));
        text.explanation(table(["a", "\u{9b}b"], [["\x1b[2J", "\r"].map(str::to_owned)]));
        for colours in [false, true] {
            let shown = text.render(Style { colours, columns: Some(80), ..Style::default() });
            assert!(
                !shown.contains("\x1b[31m") && !shown.contains("\x1b[2J") && !shown.contains("\x1b]"),
                "{shown:?}"
            );
            assert!(!shown.contains(['\x07', '\r', '\u{9b}']), "{shown:?}");
            assert!(shown.contains("\\u001b[31mred"), "{shown:?}");
        }
    }

    #[test]
    fn a_table_that_is_too_wide_becomes_a_list_on_a_terminal_only() {
        let rows = [["1", "0.3407", "0.3407", ""], ["10", "1.2", "1.186", "approximate: no guarantee"]];
        let mut text = Text::default();
        text.answer(table(["run.steps", "composition", "shift", ""], rows.map(|row| row.map(str::to_owned))));
        let at = |columns| text.render(Style { columns, ..Style::default() });
        let wide = at(None);
        assert_eq!(at(Some(80)), wide, "it fits");
        let listed = at(Some(50));
        assert_eq!(
            listed,
            "run.steps 1\n  composition  0.3407\n  shift        0.3407\n\nrun.steps 10\n  composition  1.2\n  shift        1.186\n\
             \u{20}              approximate: no guarantee\n"
        );
        assert!(listed.lines().all(|line| length(line) <= 50));
        assert!(wide.lines().next().is_some_and(|line| line.starts_with("run.steps  composition")), "{wide}");
    }
}
