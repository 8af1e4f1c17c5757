//! How wide text is, where it is broken, and how it is written in XML.

/// The width of a line of text in DejaVu Sans whose font size is `size`.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let advances: u32 = text.chars().map(advance).sum();
    f64::from(advances) * size / UNITS_PER_EM
}

/// The text in lines no wider than `limit`, broken at white space, or inside a word where a
/// single word is wider than that.
pub(crate) fn wrap(text: &str, size: f64, limit: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        if let Some(line) = lines.last_mut()
            && width(line, size) + width(" ", size) + width(word, size) <= limit
        {
            line.push(' ');
            line.push_str(word);
            continue;
        }
        let mut piece = String::new();
        let mut piece_width = 0.0;
        for letter in word.chars() {
            let letter_width = width(letter.encode_utf8(&mut [0; 4]), size);
            if piece_width + letter_width > limit && !piece.is_empty() {
                lines.push(std::mem::take(&mut piece));
                piece_width = 0.0;
            }
            piece.push(letter);
            piece_width += letter_width;
        }
        lines.push(piece);
    }
    lines
}

/// Like [`wrap`], but also broken behind hyphens, as the names of values have them.
pub(super) fn wrap_word(text: &str, size: f64, limit: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in text.split_inclusive(['-', ' ']) {
        match lines.last_mut() {
            Some(line) if width(line, size) + width(part.trim_end(), size) <= limit => line.push_str(part),
            _ if width(part.trim_end(), size) <= limit => lines.push(part.to_owned()),
            _ => lines.extend(wrap(part, size, limit)),
        }
    }
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}

/// The text on one line no wider than `limit`, with an ellipsis in place of what does not fit.
pub(super) fn shorten(text: &str, size: f64, limit: f64) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if width(&line, size) <= limit {
        return line;
    }
    let room = limit - width("…", size);
    let start = wrap(&line.replace(' ', "\u{a0}"), size, room);
    // A no-break space keeps the line in one word, so that it is filled to the last letter.
    let start = start.first().map(|s| s.replace('\u{a0}', " "));
    format!("{}…", start.unwrap_or_default().trim_end())
}

/// The text as it is written inside an XML element or attribute. Characters that XML cannot hold
/// become replacement characters.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            '\t' | '\n' | '\r' => escaped.push(' '),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(letter),
        }
    }
    escaped
}

/// Font units per font size.
const UNITS_PER_EM: f64 = 2048.0;

/// The advance widths of U+0020 to U+007E in DejaVu Sans.
#[rustfmt::skip]
const ASCII: [u16; 95] = [
    651, 821, 942, 1716, 1303, 1946, 1597, 563, 799, 799, 1024, 1716, 651, 739, 651, 690,
    1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 690, 690, 1716, 1716, 1716, 1087,
    2048, 1401, 1405, 1430, 1577, 1294, 1178, 1587, 1540, 604, 604, 1343, 1141, 1767, 1532, 1612,
    1235, 1612, 1423, 1300, 1251, 1499, 1401, 2025, 1403, 1251, 1403, 799, 690, 799, 1716, 1024,
    1024, 1255, 1300, 1126, 1300, 1260, 721, 1300, 1298, 569, 569, 1186, 569, 1995, 1298, 1253,
    1300, 1300, 842, 1067, 803, 1298, 1212, 1675, 1212, 1212, 1075, 1303, 690, 1303, 1716,
];

/// The advance width of a character in font units: exact in ASCII and for the common signs,
/// a typical width for other letters.
fn advance(letter: char) -> u32 {
    let ascii = (letter as usize).checked_sub(0x20).and_then(|index| ASCII.get(index));
    match (ascii, letter) {
        (Some(&advance), _) => advance.into(),
        (None, '\u{a0}' | '·') => 651,
        (None, '₀'..='₉') => 821,
        (None, '–' | '‖') => 1024,
        (None, 'α'..='ω') => 1260,
        (None, '−' | '×' | '≤' | '≥' | '∞' | '→' | '∈') => 1716,
        (None, '…' | '—') => 2048,
        (None, _) => 1440,
    }
}

#[cfg(test)]
mod tests {
    use super::super::png;
    use super::*;

    #[test]
    fn widths_agree_with_the_rendered_font() {
        for text in ["Hxxxxx composition of 1000 steps", "0123456789", "ε ≤ 10−5, δ → 0 …"] {
            let svg = format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"900\" height=\"90\">\
                 <text x=\"9\" y=\"50\" font-size=\"20\" font-family=\"DejaVu Sans\">{text}</text>\
                 </svg>"
            );
            let tree = png::parse(&svg).expect("the text is SVG");
            let drawn = f64::from(tree.root().bounding_box().width());
            let computed = width(text, 20.0);
            assert!((drawn - computed).abs() < 0.03 * computed, "{drawn} {computed} {text}");
        }
    }

    #[test]
    fn wrapped_lines_keep_every_word_and_fit() {
        let text = "the curve of the last iterate lies below the curve of composition";
        let lines = wrap(text, 12.0, 150.0);
        assert!(lines.len() > 2);
        assert!(lines.iter().all(|line| width(line, 12.0) <= 150.0));
        assert_eq!(lines.join(" "), text);
    }

    #[test]
    fn a_word_wider_than_the_line_is_broken() {
        let lines = wrap(&"m".repeat(100), 12.0, 120.0);
        assert!(lines.iter().all(|line| width(line, 12.0) <= 120.0));
        assert_eq!(lines.concat(), "m".repeat(100));
        assert_eq!(wrap("mm", 12.0, 0.0), ["m", "m"]);
    }

    #[test]
    fn a_word_is_broken_at_its_hyphens_first() {
        assert_eq!(wrap_word("without-replacement", 12.0, 90.0), ["without-", "replacement"]);
        assert_eq!(wrap_word("add-or-remove-one", 12.0, 90.0), ["add-or-", "remove-one"]);
        assert_eq!(wrap_word("once", 12.0, 90.0), ["once"]);
        assert!(wrap_word(&"m".repeat(40), 12.0, 90.0).iter().all(|line| width(line, 12.0) <= 90.0));
    }

    #[test]
    fn empty_text_has_no_lines() {
        assert!(wrap(" \n ", 12.0, 100.0).is_empty());
    }

    #[test]
    fn shortened_text_fits_and_says_that_it_was_cut() {
        assert_eq!(shorten("short\nenough", 12.0, 200.0), "short enough");
        let cut = shorten("a label with many words in it", 12.0, 80.0);
        assert!(cut.starts_with("a label") && cut.ends_with('…'));
        assert!(width(&cut, 12.0) <= 80.0);
    }

    #[test]
    fn markup_is_escaped() {
        assert_eq!(escape("a<b & \"c\">'d'"), "a&lt;b &amp; &quot;c&quot;&gt;&apos;d&apos;");
        assert_eq!(escape("bell\u{7}\n"), "bell\u{fffd} ");
    }
}
