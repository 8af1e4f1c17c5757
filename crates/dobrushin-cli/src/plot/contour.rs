//! Lines of equal value on a grid, by marching squares.

use super::layout::SMALL_SIZE;
use super::names::Rectangle;
use super::strokes::Place;
use super::text;

/// A line of equal value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Contour {
    /// The value.
    pub level: f64,
    /// The straight pieces of the line, in columns and rows of the grid: (0, 0) is the middle of the first cell.
    pub pieces: Vec<(Place, Place)>,
}

/// The most lines in a picture.
const MOST: usize = 8;

/// The lines at one, two and five times powers of ten between the least and the largest of the positive finite values,
/// or at powers of ten, or of a hundred, and so on, if those are too many. Values are interpolated by their logarithms;
/// no line passes a square with a corner without a value.
pub(super) fn contours(cells: &[Vec<Option<f64>>]) -> Vec<Contour> {
    let heights: Vec<Vec<Option<f64>>> = cells
        .iter()
        .map(|row| {
            row.iter().map(|cell| cell.filter(|v| *v > 0.0 && v.is_finite()).map(f64::log10)).collect()
        })
        .collect();
    let all = || heights.iter().flatten().flatten().copied();
    let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
    if low >= high {
        return Vec::new();
    }
    let levels = levels(low, high);
    let line = |&level: &f64| Contour { level, pieces: pieces(&heights, level.log10()) };
    levels.iter().map(line).filter(|contour| !contour.pieces.is_empty()).collect()
}

fn levels(low: f64, high: f64) -> Vec<f64> {
    let (first, last) = (low.floor() as i32, high.ceil() as i32);
    let inside = |level: &f64| (low..=high).contains(&level.log10());
    let digits: [&[u32]; 2] = [&[1, 2, 5], &[1]];
    let fine = digits.iter().map(|digits| {
        let levels =
            (first..=last).flat_map(|power| digits.iter().map(move |digit| format!("{digit}e{power}")));
        levels.filter_map(|level| level.parse().ok()).filter(inside).collect::<Vec<f64>>()
    });
    let coarse = (2..).map(|step| {
        let powers = (first..=last).filter(|power| power % step == 0);
        powers.filter_map(|power| format!("1e{power}").parse().ok()).filter(inside).collect::<Vec<f64>>()
    });
    fine.chain(coarse).find(|levels| levels.len() <= MOST).unwrap_or_default()
}

fn pieces(heights: &[Vec<Option<f64>>], level: f64) -> Vec<(Place, Place)> {
    let mut pieces = Vec::new();
    for (row, pair) in heights.windows(2).enumerate() {
        let columns = pair[0].len().min(pair[1].len());
        for column in 0..columns.saturating_sub(1) {
            let corners = [pair[0][column], pair[0][column + 1], pair[1][column + 1], pair[1][column]];
            let [Some(a), Some(b), Some(c), Some(d)] = corners else { continue };
            let (x, y) = (column as f64, row as f64);
            // Where each side of the square crosses the level, in order around it.
            let side = |(from, start): (f64, Place), (to, end): (f64, Place)| {
                ((from < level) != (to < level)).then(|| {
                    let share = (level - from) / (to - from);
                    (start.0 + share * (end.0 - start.0), start.1 + share * (end.1 - start.1))
                })
            };
            let places = [(a, (x, y)), (b, (x + 1.0, y)), (c, (x + 1.0, y + 1.0)), (d, (x, y + 1.0))];
            let crossed: Vec<Place> =
                (0..4).filter_map(|index| side(places[index], places[(index + 1) % 4])).collect();
            match crossed[..] {
                [one, two] => pieces.push((one, two)),
                // At a saddle the middle decides which corners belong together.
                [one, two, three, four] => {
                    let middle = (a + b + c + d) / 4.0;
                    if (middle < level) == (a < level) {
                        pieces.extend([(one, two), (three, four)]);
                    } else {
                        pieces.extend([(four, one), (two, three)]);
                    }
                }
                _ => {}
            }
        }
    }
    pieces
}

/// A place for the label of each line, on the line, that meets no other label and is not cut; lines that have none are
/// without label. `at` gives the place in the picture of a place in the grid.
pub(super) fn label_places(
    contours: &[Contour],
    labels: &[String],
    within: Rectangle,
    at: impl Fn(Place) -> Place,
) -> Vec<Option<Place>> {
    let mut taken: Vec<Rectangle> = Vec::new();
    let place = |(contour, label): (&Contour, &String)| {
        let half = text::width(label, SMALL_SIZE) / 2.0 + 3.0;
        let middles = contour.pieces.iter().map(|&(from, to)| {
            let (from, to) = (at(from), at(to));
            (from.0.midpoint(to.0), from.1.midpoint(to.1))
        });
        let mut middles: Vec<Place> = middles.collect();
        // Labels are easiest to find near the middle of the picture.
        let centre = (within.left.midpoint(within.right), within.top.midpoint(within.bottom));
        let distance = |place: &Place| (place.0 - centre.0).hypot(place.1 - centre.1);
        middles.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
        let found = middles.into_iter().find_map(|(x, y)| {
            let here = Rectangle { left: x - half, right: x + half, top: y - 9.0, bottom: y + 9.0 };
            let is_inside = here.left >= within.left
                && here.right <= within.right
                && here.top >= within.top
                && here.bottom <= within.bottom;
            (is_inside && !taken.iter().any(|other| here.meets(*other))).then_some((here, (x, y)))
        });
        found.map(|(here, place)| {
            taken.push(here);
            place
        })
    };
    contours.iter().zip(labels).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_separates_smaller_from_larger_values() {
        let cells = vec![vec![Some(1.0), Some(100.0)], vec![Some(1.0), Some(100.0)]];
        let contours = contours(&cells);
        let ten = contours.iter().find(|contour| contour.level == 10.0).expect("10 is between");
        assert_eq!(ten.pieces, [((0.5, 0.0), (0.5, 1.0))]);
    }

    #[test]
    fn there_are_some_lines_but_not_many() {
        for exponent in [0.5, 1.0, 5.0, 40.0, 290.0] {
            let count = levels(-exponent, exponent).len();
            assert!((1..=MOST).contains(&count), "{count} lines for {exponent}");
        }
        assert!(contours(&[]).is_empty() && contours(&[vec![Some(1.0)]]).is_empty());
        assert!(contours(&[vec![None, Some(f64::INFINITY)], vec![Some(0.0), Some(f64::NAN)]]).is_empty());
    }

    #[test]
    fn a_saddle_has_two_pieces_that_do_not_cross() {
        let cells = vec![vec![Some(1.0), Some(100.0)], vec![Some(100.0), Some(1.0)]];
        let contours = contours(&cells);
        assert!(contours.iter().all(|contour| contour.pieces.len() == 2), "{contours:?}");
    }
}
