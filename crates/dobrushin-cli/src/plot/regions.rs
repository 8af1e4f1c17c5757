//! Which name each cell of a grid has: cells of one name are hatched alike, so that nobody needs colours to tell them
//! apart.

use super::writer::number;

/// How cells of one name are filled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fill {
    /// The colour below the hatching.
    pub colour: &'static str,
    /// The hatching.
    pub hatch: Hatch,
}

/// Thin lines across a cell.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Hatch {
    /// No lines.
    None,
    /// Lines from the lower left to the upper right.
    Rising,
    /// Lines from the upper left to the lower right.
    Falling,
    /// Both.
    Crossed,
    /// Level lines.
    Level,
    /// Upright lines.
    Upright,
}

/// Light shades of the palette of Okabe and Ito, under black hatching. No two have both in common until all are used.
pub(super) const FILLS: [Fill; 8] = [
    Fill { colour: "#9CCBE6", hatch: Hatch::None },
    Fill { colour: "#F3C99F", hatch: Hatch::Rising },
    Fill { colour: "#9FD9C5", hatch: Hatch::Falling },
    Fill { colour: "#EBCBDD", hatch: Hatch::Crossed },
    Fill { colour: "#F6DFA6", hatch: Hatch::Level },
    Fill { colour: "#FFFFFF", hatch: Hatch::Upright },
    Fill { colour: "#D5D5D5", hatch: Hatch::None },
    Fill { colour: "#FFFFFF", hatch: Hatch::Rising },
];

/// The distance between lines of hatching.
const APART: f64 = 8.0;

impl Hatch {
    /// Path data of the lines within a rectangle. Lines go on from one cell to the next.
    pub fn path(self, left: f64, top: f64, width: f64, height: f64) -> String {
        let (right, bottom) = (left + width, top + height);
        let steps = |from: f64, to: f64| {
            let (first, last) = ((from / APART).ceil() as i64, (to / APART).floor() as i64);
            (first..=last).map(|step| step as f64 * APART)
        };
        let line = |from: (f64, f64), to: (f64, f64)| {
            format!("M{} {}L{} {}", number(from.0), number(from.1), number(to.0), number(to.1))
        };
        // x + y is the same along a rising line, and x − y along a falling one.
        let rising = |sum: f64| {
            let (low, high) = ((sum - bottom).max(left), (sum - top).min(right));
            if low < high { line((low, sum - low), (high, sum - high)) } else { String::new() }
        };
        let falling = |difference: f64| {
            let (low, high) = ((difference + top).max(left), (difference + bottom).min(right));
            if low < high { line((low, low - difference), (high, high - difference)) } else { String::new() }
        };
        match self {
            Self::None => String::new(),
            Self::Rising => steps(left + top, right + bottom).map(rising).collect(),
            Self::Falling => steps(left - bottom, right - top).map(falling).collect(),
            Self::Crossed => {
                Self::Rising.path(left, top, width, height) + &Self::Falling.path(left, top, width, height)
            }
            Self::Level => steps(top, bottom).map(|y| line((left, y), (right, y))).collect(),
            Self::Upright => steps(left, right).map(|x| line((x, top), (x, bottom))).collect(),
        }
    }
}

/// The names that occur, in the order in which they are met, with the number of their cells.
pub(super) fn occurring(names: &[Vec<Option<String>>]) -> Vec<(String, usize)> {
    let mut found: Vec<(String, usize)> = Vec::new();
    for name in names.iter().flatten().flatten() {
        match found.iter_mut().find(|(other, _)| other == name) {
            Some((_, count)) => *count += 1,
            None => found.push((name.clone(), 1)),
        }
    }
    found
}

/// The sides between cells of different names, as pairs of corners in columns and rows.
pub(super) fn borders(names: &[Vec<Option<String>>]) -> Vec<((usize, usize), (usize, usize))> {
    let mut sides = Vec::new();
    for (row, cells) in names.iter().enumerate() {
        for (column, name) in cells.iter().enumerate() {
            if cells.get(column + 1).is_some_and(|next| next != name) {
                sides.push(((column + 1, row), (column + 1, row + 1)));
            }
            let below = names.get(row + 1).and_then(|below| below.get(column));
            if below.is_some_and(|below| below != name) {
                sides.push(((column, row + 1), (column + 1, row + 1)));
            }
        }
    }
    sides
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_differ_without_colour() {
        for (index, fill) in FILLS[..6].iter().enumerate() {
            assert!(FILLS[..index].iter().all(|other| other.hatch != fill.hatch), "{fill:?}");
        }
        for (index, fill) in FILLS.iter().enumerate() {
            assert!(FILLS[..index].iter().all(|other| other != fill), "{fill:?}");
        }
    }

    #[test]
    fn hatching_stays_within_its_cell() {
        for hatch in [Hatch::Rising, Hatch::Falling, Hatch::Crossed, Hatch::Level, Hatch::Upright] {
            let path = hatch.path(101.0, 53.0, 37.0, 20.0);
            let places = path.split(['M', 'L']).filter(|place| !place.is_empty());
            for place in places {
                let (x, y) = place.split_once(' ').expect("two numbers");
                let (x, y): (f64, f64) = (x.parse().expect("a number"), y.parse().expect("a number"));
                assert!((100.9..=138.1).contains(&x) && (52.9..=73.1).contains(&y), "{hatch:?} {x} {y}");
            }
        }
    }

    #[test]
    fn borders_are_between_different_names() {
        let name = |text: &str| Some(text.to_owned());
        let names = vec![vec![name("a"), name("b")], vec![name("a"), name("a")]];
        assert_eq!(borders(&names), [((1, 0), (1, 1)), ((1, 1), (2, 1))]);
        assert_eq!(occurring(&names), [("a".to_owned(), 3), ("b".to_owned(), 1)]);
    }
}
