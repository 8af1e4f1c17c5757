//! Colours, dash patterns and marks, chosen so that series can be told apart without colour.

use super::Line;

/// How one series is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Style {
    /// The colour as an SVG attribute value.
    pub colour: &'static str,
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
pub(super) fn styles(lines: impl Iterator<Item = Line>) -> Vec<Style> {
    let (mut solid, mut dashed, mut marks) = (0, 0, 0);
    lines
        .enumerate()
        .map(|(index, line)| Style {
            colour: COLOURS[index % COLOURS.len()],
            pen: match line {
                Line::Solid => Pen::Line(next(&SOLID, &mut solid)),
                Line::Dashed => Pen::Line(next(&DASHED, &mut dashed)),
                Line::Marks => Pen::Mark(next(&MARKS, &mut marks)),
            },
        })
        .collect()
}

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
/// without its yellow, which is too light on white.
const COLOURS: [&str; 7] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"];

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
    fn the_first_solid_line_is_unbroken_after_any_other_series() {
        let styles = styles([Line::Marks, Line::Dashed, Line::Solid].into_iter());
        assert_eq!(styles[2].pen, Pen::Line(""));
    }

    #[test]
    fn styles_begin_anew_when_they_run_out() {
        assert_eq!(styles([Line::Marks; 30].into_iter()).len(), 30);
    }
}
