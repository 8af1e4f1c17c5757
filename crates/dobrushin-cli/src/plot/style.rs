//! Colours, dash patterns and marks, chosen so that series can be told apart without colour.

use super::Line;

/// How one series is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Style {
    /// The colour as an SVG attribute value.
    pub colour: &'static str,
    /// The colour of the name: the same, but dark enough to be read.
    pub ink: &'static str,
    /// How broad lines are.
    pub width: f64,
    /// The line or the marks.
    pub pen: Pen,
}

/// A line or marks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pen {
    /// A line with this `stroke-dasharray`, unbroken when empty.
    Line(&'static str),
    /// A mark at every point.
    Mark(Mark),
}

/// The shape of a mark.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Mark {
    /// A disc.
    Disc,
    /// A square on its side.
    Square,
    /// A triangle on its base.
    Triangle,
    /// A square on its corner.
    Diamond,
}

/// The styles of series drawn as the given lines. Colours follow the order of all series, patterns and shapes the order
/// among series of the same kind; both start over when they run out.
///
/// The guarantee has the first colour and a broad unbroken line wherever it stands; if there is one, no other series
/// has that colour.
pub(super) fn styles(lines: impl Iterator<Item = Line> + Clone) -> Vec<Style> {
    // If there is a guarantee, the first colour and the unbroken line are taken.
    let taken = usize::from(lines.clone().any(|line| line == Line::Guarantee));
    let (mut solid, mut dashed, mut marks, mut others) = (taken, 0, 0, 0);
    lines
        .map(|line| {
            if line == Line::Guarantee {
                let (colour, ink) = COLOURS[0];
                return Style { colour, ink, width: BROAD, pen: Pen::Line("") };
            }
            let (colour, ink) = next(&COLOURS[taken..], &mut others);
            let pen = match line {
                Line::Guarantee | Line::Spans => Pen::Line(""),
                Line::Solid => Pen::Line(next(&SOLID, &mut solid)),
                Line::Dashed => Pen::Line(next(&DASHED, &mut dashed)),
                Line::Marks => Pen::Mark(next(&MARKS, &mut marks)),
            };
            Style { colour, ink, width: FINE, pen }
        })
        .collect()
}

/// The width of the line of the guarantee.
pub(super) const BROAD: f64 = 4.0;
/// The width of other lines.
const FINE: f64 = 1.8;

impl Mark {
    /// The outline around a centre, as SVG path data relative to it.
    pub fn outline(self) -> &'static str {
        match self {
            Mark::Disc => "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z",
            Mark::Square => "m-3 -3h6v6h-6z",
            Mark::Triangle => "m0 -4l4 7h-8z",
            Mark::Diamond => "m0 -4.5l4.5 4.5l-4.5 4.5l-4.5 -4.5z",
        }
    }
}

/// The palette of Okabe and Ito, which people with any common colour vision can tell apart,
/// without its yellow, which is too light on white. Beside each is a darker shade for text, whose contrast with white is
/// at least 4.5.
const COLOURS: [(&str, &str); 7] = [
    ("#0072B2", "#0068A3"),
    ("#D55E00", "#B54F00"),
    ("#009E73", "#007A59"),
    ("#CC79A7", "#A3487C"),
    ("#E69F00", "#8A5F00"),
    ("#56B4E9", "#1B75A8"),
    ("#000000", "#000000"),
];

/// Mostly ink.
const SOLID: [&str; 4] = ["", "20 4", "20 4 4 4", "20 4 4 4 4 4"];

/// Short dashes and dots.
const DASHED: [&str; 4] = ["6 4", "2 3", "6 3 2 3", "6 3 2 3 2 3"];

/// Every shape.
const MARKS: [Mark; 4] = [Mark::Disc, Mark::Square, Mark::Triangle, Mark::Diamond];

/// The entry at `position`, which moves on, cyclically.
fn next<T: Copy>(entries: &[T], position: &mut usize) -> T {
    let entry = entries[*position % entries.len()];
    *position += 1;
    entry
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_differ_without_colour() {
        for line in [Line::Solid, Line::Dashed, Line::Marks] {
            let styles = styles([line; 4].into_iter());
            for (index, style) in styles.iter().enumerate() {
                assert!(styles[..index].iter().all(|other| other.pen != style.pen));
            }
        }
    }

    #[test]
    fn series_differ_in_colour_whatever_their_kind() {
        let kinds = [Line::Solid, Line::Dashed, Line::Marks, Line::Solid, Line::Dashed];
        let styles = styles(kinds.into_iter());
        for (index, style) in styles.iter().enumerate() {
            assert!(styles[..index].iter().all(|other| other.colour != style.colour));
        }
    }

    #[test]
    fn the_guarantee_is_broad_and_has_a_colour_and_a_line_of_its_own() {
        let kinds = [Line::Solid, Line::Solid, Line::Guarantee, Line::Dashed, Line::Solid];
        let styles = styles(kinds.into_iter());
        for (index, style) in styles.iter().enumerate().filter(|(index, _)| *index != 2) {
            assert!(style.width < styles[2].width && style.colour != styles[2].colour, "{index}");
            assert_ne!(style.pen, styles[2].pen);
        }
    }

    #[test]
    fn the_first_solid_line_is_unbroken_after_any_other_series() {
        let styles = styles([Line::Marks, Line::Dashed, Line::Solid].into_iter());
        assert_eq!(styles[2].pen, Pen::Line(""));
    }

    #[test]
    fn styles_begin_anew_when_they_run_out() {
        assert_eq!(styles([Line::Marks; 30].into_iter()).len(), 30);
    }
}
