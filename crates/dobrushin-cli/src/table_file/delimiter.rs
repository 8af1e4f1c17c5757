//! What stands between the cells of a CSV file.

/// A character between cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delimiter(pub u8);

impl Default for Delimiter {
    fn default() -> Self {
        Self(b',')
    }
}

impl Delimiter {
    /// Those that programs write, in the order in which they are common.
    const COMMON: [Self; 4] = [Self(b','), Self(b';'), Self(b'\t'), Self(b'|')];

    /// The common ones, but for this one.
    pub fn others(self) -> impl Iterator<Item = Self> {
        Self::COMMON.into_iter().filter(move |other| *other != self)
    }

    /// Reads a value of `--delimiter`.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text.as_bytes() {
            b"tab" | b"\\t" => Ok(Self(b'\t')),
            [byte @ (b'\t' | b' '..=b'~')] if *byte != b'"' && !byte.is_ascii_alphanumeric() => {
                Ok(Self(*byte))
            }
            _ => Err(format!(
                "{text:?} is not one character between cells: give ',', ';', '|', tab, or another character of ASCII that \
                 is no letter, no digit and no quote"
            )),
        }
    }

    /// What messages call it.
    pub fn name(self) -> String {
        match self.0 {
            b'\t' => "tabs".to_owned(),
            byte => format!("{:?}", char::from(byte)),
        }
    }

    /// How users type it after `--delimiter`.
    pub fn flag(self) -> String {
        match self.0 {
            b'\t' => "tab".to_owned(),
            _ => self.name(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_that_is_no_part_of_a_cell_can_separate_cells() {
        for (text, byte) in
            [(",", b','), (";", b';'), ("tab", b'\t'), ("\\t", b'\t'), ("\t", b'\t'), ("|", b'|')]
        {
            assert_eq!(Delimiter::parse(text), Ok(Delimiter(byte)), "{text:?}");
        }
        for text in ["", "\"", "a", "5", ";;", "\n", "\r", "\0", "\u{7f}", "é", "×"] {
            assert!(Delimiter::parse(text).is_err(), "{text:?}");
        }
        for delimiter in Delimiter::COMMON {
            let typed = delimiter.flag();
            assert_eq!(Delimiter::parse(typed.trim_matches('\'')), Ok(delimiter));
        }
    }
}
