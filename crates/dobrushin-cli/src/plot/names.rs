//! Names beside the curves: at their right ends where they reach the edge, and otherwise near where they end, wherever
//! nothing else is written or drawn.

use super::layout::{Area, LABEL_SIZE, Layout, Placed};
use super::strokes::{Place, Strokes};
use super::text;
use super::{Line, Plot, Scale};

/// The name of a series, in its place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Name {
    /// Which series it belongs to.
    pub series: usize,
    /// The lines of the name.
    pub lines: Vec<Placed>,
    /// A thin line that leads from the curve to the name.
    pub leader: Option<(Place, Place)>,
}

/// A rectangle in the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rectangle {
    /// The left edge.
    pub left: f64,
    /// The upper edge.
    pub top: f64,
    /// The right edge.
    pub right: f64,
    /// The lower edge.
    pub bottom: f64,
}

impl Rectangle {
    /// Whether two rectangles have more than an edge in common.
    pub fn meets(self, other: Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    /// Whether a straight line passes through the rectangle (Liang and Barsky's clipping).
    pub fn is_crossed(self, (from, to): (Place, Place)) -> bool {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let (mut enters, mut leaves) = (0.0_f64, 1.0_f64);
        let sides = [
            (-dx, from.0 - self.left),
            (dx, self.right - from.0),
            (-dy, from.1 - self.top),
            (dy, self.bottom - from.1),
        ];
        for (speed, room) in sides {
            if speed == 0.0 {
                if room < 0.0 {
                    return false;
                }
            } else if speed < 0.0 {
                enters = enters.max(room / speed);
            } else {
                leaves = leaves.min(room / speed);
            }
        }
        enters <= leaves
    }

    fn is_inside(self, area: Area) -> bool {
        self.left >= area.left + EDGE
            && self.right <= area.right() - EDGE
            && self.top >= area.top + EDGE
            && self.bottom <= area.bottom() - EDGE
    }
}

/// The widest that a name beside the picture is before it is broken.
const WIDEST: f64 = 168.0;
/// The distance between the lines of a name.
pub(super) const LINE: f64 = 16.0;
/// The gap between two names beside the picture.
const BETWEEN: f64 = 4.0;
/// The room between the plot area and the names beside it, for the lines that lead to them.
pub(super) const LEAD: f64 = 16.0;
/// The least distance of a name from the edge of the plot area.
const EDGE: f64 = 3.0;
/// The distance of a name from its curve.
const AWAY: f64 = 7.0;
/// A curve that ends this near the end of all, as a share of the width, is named beside the picture.
const NEAR: f64 = 0.06;

/// More marks than this are a cloud.
const CLOUD: usize = 8;

/// The names, broken into lines, of the series that end at the right edge (`true`) or before it.
pub(super) fn wanted(plot: &Plot) -> Option<Vec<(usize, Vec<String>, bool)>> {
    let words = matches!(plot.x.scale, Scale::Words(_));
    let ends = plot.series.iter().map(|series| {
        let drawn = series.points.iter().filter(|(x, y)| x.is_finite() && y.is_finite());
        drawn.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &(x, _)| (low.min(x), high.max(x)))
    });
    let ends: Vec<(f64, f64)> = ends.collect();
    let low = ends.iter().fold(f64::INFINITY, |low, end| low.min(end.0));
    let high = ends.iter().fold(f64::NEG_INFINITY, |high, end| high.max(end.1));
    let mut names = Vec::new();
    for (index, series) in plot.series.iter().enumerate() {
        if series.label.is_empty() || ends[index].1 == f64::NEG_INFINITY {
            continue;
        }
        // A cloud of points has no end.
        if series.line == Line::Spans || series.line == Line::Marks && series.points.len() > CLOUD {
            return None;
        }
        let near = if words { 0.5 } else { NEAR * (high - low) };
        let outside = series.line != Line::Marks && ends[index].1 >= high - near;
        names.push((index, text::wrap(&series.label, LABEL_SIZE, WIDEST), outside));
    }
    Some(names)
}

/// The room that the names beside the picture need.
pub(super) fn room(names: &[(usize, Vec<String>, bool)]) -> f64 {
    let lines = names.iter().filter(|(_, _, outside)| *outside).flat_map(|(_, lines, _)| lines);
    let widest = lines.map(|line| text::width(line, LABEL_SIZE)).fold(0.0, f64::max);
    if widest > 0.0 { LEAD + widest + 8.0 } else { 0.0 }
}

/// Every name in its place; `None` if one has no place.
pub(super) fn place(
    layout: &Layout,
    plot: &Plot,
    names: Vec<(usize, Vec<String>, bool)>,
) -> Option<Vec<Name>> {
    let strokes: Vec<Strokes> = plot.series.iter().map(|series| Strokes::of(layout, plot, series)).collect();
    let (outside, mut inside): (Vec<_>, Vec<_>) = names.into_iter().partition(|(_, _, outside)| *outside);
    // What the picture is about has the first choice.
    inside.sort_by_key(|(series, ..)| match plot.series[*series].line {
        Line::Marks => 0,
        Line::Guarantee => 1,
        _ => 2,
    });
    let mut placed = beside(layout.area, &strokes, outside)?;
    let mut field = Field {
        area: layout.area,
        ink: strokes.iter().map(|strokes| coarse(strokes.segments())).collect(),
        taken: Vec::new(),
    };
    for (series, lines, _) in inside {
        let places = along(&strokes[series]);
        let near = field.near(series, &lines, &places);
        // A line that leads away from a mark would be taken for data.
        match plot.series[series].line {
            Line::Marks => placed.extend(near),
            _ => placed.push(near.or_else(|| field.far(series, &lines, &places))?),
        }
    }
    placed.sort_by_key(|name| name.series);
    Some(placed)
}

/// Names in a column beside the plot area, each as near to the end of its curve as the others allow.
fn beside(area: Area, strokes: &[Strokes], names: Vec<(usize, Vec<String>, bool)>) -> Option<Vec<Name>> {
    let mut ends: Vec<(usize, Vec<String>, Place)> = Vec::new();
    for (series, lines, _) in names {
        ends.push((series, lines, strokes[series].end()?));
    }
    // Of curves that end at the same height, the last to end has the lowest name, so that no lines cross.
    ends.sort_by(|a, b| a.2.1.round().total_cmp(&b.2.1.round()).then(a.2.0.total_cmp(&b.2.0)));
    let heights: Vec<f64> = ends.iter().map(|(_, lines, _)| lines.len() as f64 * LINE + BETWEEN).collect();
    if heights.iter().sum::<f64>() > area.height + LINE {
        return None;
    }
    let wanted: Vec<f64> = ends.iter().map(|(_, _, end)| end.1).collect();
    let middles = spread(&wanted, &heights, (area.top - LINE / 2.0, area.bottom() + LINE / 2.0));
    let left = area.right() + LEAD;
    let name = |((series, lines, end), middle): ((usize, Vec<String>, Place), f64)| {
        let rows = lines_around(&lines, left, middle);
        Name { series, lines: rows, leader: Some(((end.0 + 3.0, end.1), (left - 3.0, middle))) }
    };
    Some(ends.into_iter().zip(middles).map(name).collect())
}

/// The lines of a name, one below the other, around the height of their middle.
fn lines_around(lines: &[String], left: f64, middle: f64) -> Vec<Placed> {
    let first = middle - LINE * (lines.len() as f64 - 1.0) / 2.0 + 0.36 * LABEL_SIZE;
    let line =
        |(row, text): (usize, &String)| Placed { text: text.clone(), x: left, y: first + LINE * row as f64 };
    lines.iter().enumerate().map(line).collect()
}

/// Heights as near to the wanted ones as possible (in the sense of least squares), in the same order, without overlap
/// and within bounds: neighbours that would overlap are joined into blocks around the mean of what they want.
fn spread(wanted: &[f64], heights: &[f64], (top, bottom): (f64, f64)) -> Vec<f64> {
    struct Block {
        start: f64,
        height: f64,
        members: Vec<usize>,
    }
    let within = |start: f64, height: f64| start.min(bottom - height).max(top);
    let start = |members: &[usize], height: f64| {
        let mut above = 0.0;
        let mut sum = 0.0;
        for &member in members {
            sum += wanted[member] - above - heights[member] / 2.0;
            above += heights[member];
        }
        within(sum / members.len() as f64, height)
    };
    let mut blocks: Vec<Block> = Vec::new();
    for (index, &height) in heights.iter().enumerate() {
        let mut block = Block { start: start(&[index], height), height, members: vec![index] };
        while let Some(last) = blocks.pop_if(|last| last.start + last.height > block.start) {
            let members = [last.members, block.members].concat();
            let height = last.height + block.height;
            block = Block { start: start(&members, height), height, members };
        }
        blocks.push(block);
    }
    let mut middles = vec![0.0; wanted.len()];
    for block in blocks {
        let mut at = block.start;
        for member in block.members {
            middles[member] = at + heights[member] / 2.0;
            at += heights[member];
        }
    }
    middles
}

/// The plot area, with what is already drawn and written in it.
struct Field {
    area: Area,
    /// The lines of each series, and then those that lead to names.
    ink: Vec<Vec<(Place, Place)>>,
    taken: Vec<Rectangle>,
}

impl Field {
    /// The first free place for a name beside its curve, from the end backwards.
    fn near(&mut self, series: usize, lines: &[String], places: &[Place]) -> Option<Name> {
        let (width, height) = size(lines);
        let candidates = places.iter().flat_map(|&(x, y)| {
            let sides = [x + AWAY, x - AWAY - width].map(|left| [0.0, 1.0, -1.0].map(|share| (left, share)));
            let beside =
                sides.concat().into_iter().map(move |(left, share)| (left, y + share * (height / 2.0 + 3.0)));
            let above = [y - AWAY - height / 2.0, y + AWAY + height / 2.0];
            beside.chain(above.map(|middle| (x - width / 2.0, middle)))
        });
        let found = candidates.into_iter().find(|&place| self.is_free(rectangle(place, lines)))?;
        Some(self.take(series, lines, found, None))
    }

    /// The best free place farther away, with a line that leads there: near, and across few other curves.
    fn far(&mut self, series: usize, lines: &[String], places: &[Place]) -> Option<Name> {
        const DIRECTIONS: u32 = 16;
        const STEPS: u32 = 20;
        const STEP: f64 = 18.0;
        // What it costs to cross a curve, in units of length.
        const CROSSING: f64 = 45.0;
        let (width, height) = size(lines);
        let mut best: Option<(f64, Place, (Place, Place))> = None;
        for step in 1..=STEPS {
            let away = STEP * f64::from(step);
            if best.is_some_and(|(cost, ..)| cost <= away) {
                break;
            }
            for &(x, y) in places.iter().step_by(3) {
                for direction in 0..DIRECTIONS {
                    let angle = f64::from(direction) * std::f64::consts::TAU / f64::from(DIRECTIONS);
                    let (dx, dy) = (angle.cos(), angle.sin());
                    let tip = (x + away * dx, y + away * dy);
                    // The line ends at the side of the name that it comes from.
                    let left = if dx >= 0.0 { tip.0 + 3.0 } else { tip.0 - 3.0 - width };
                    let place = (left, tip.1 + dy * height / 2.0 * f64::from(u8::from(dx.abs() < 0.3)));
                    if !self.is_free(rectangle(place, lines)) {
                        continue;
                    }
                    let leader = ((x + 4.0 * dx, y + 4.0 * dy), tip);
                    if self.taken.iter().any(|other| other.is_crossed(leader)) {
                        continue;
                    }
                    let others = self.ink.iter().enumerate().filter(|(index, _)| *index != series);
                    let crossed =
                        others.filter(|(_, ink)| ink.iter().any(|&piece| meet(piece, leader))).count();
                    let cost = away + CROSSING * crossed as f64;
                    if best.is_none_or(|(least, ..)| cost < least) {
                        best = Some((cost, place, leader));
                    }
                }
            }
        }
        let (_, place, leader) = best?;
        Some(self.take(series, lines, place, Some(leader)))
    }

    fn is_free(&self, here: Rectangle) -> bool {
        let clear = Rectangle { left: here.left - 2.0, right: here.right + 2.0, ..here };
        here.is_inside(self.area)
            && !self.taken.iter().any(|other| clear.meets(*other))
            && !self.ink.iter().flatten().any(|&segment| clear.is_crossed(segment))
    }

    fn take(
        &mut self,
        series: usize,
        lines: &[String],
        place: Place,
        leader: Option<(Place, Place)>,
    ) -> Name {
        self.taken.push(rectangle(place, lines));
        self.ink.push(leader.into_iter().collect());
        Name { series, lines: lines_around(lines, place.0, place.1), leader }
    }
}

fn size(lines: &[String]) -> (f64, f64) {
    let width = lines.iter().map(|line| text::width(line, LABEL_SIZE)).fold(0.0, f64::max);
    (width, LINE * lines.len() as f64)
}

/// What a name covers whose left edge and middle are here.
fn rectangle((left, middle): Place, lines: &[String]) -> Rectangle {
    let (width, height) = size(lines);
    Rectangle {
        left: left - 2.0,
        top: middle - height / 2.0,
        right: left + width + 2.0,
        bottom: middle + height / 2.0,
    }
}

/// The same lines with fewer pieces: those that are shorter than a few units are joined.
fn coarse(pieces: impl Iterator<Item = (Place, Place)>) -> Vec<(Place, Place)> {
    let mut joined: Vec<(Place, Place)> = Vec::new();
    for (from, to) in pieces {
        match joined.last_mut() {
            Some(last) if last.1 == from && (last.0.0 - from.0).hypot(last.0.1 - from.1) < 4.0 => last.1 = to,
            _ => joined.push((from, to)),
        }
    }
    joined
}

/// Whether two straight lines cross each other.
fn meet((a, b): (Place, Place), (c, d): (Place, Place)) -> bool {
    let side = |p: Place, q: Place, r: Place| (q.0 - p.0) * (r.1 - p.1) - (q.1 - p.1) * (r.0 - p.0);
    (side(a, b, c) > 0.0) != (side(a, b, d) > 0.0) && (side(c, d, a) > 0.0) != (side(c, d, b) > 0.0)
}

/// Places along a curve, some units apart, from its end.
fn along(strokes: &Strokes) -> Vec<Place> {
    const APART: f64 = 6.0;
    let mut places: Vec<Place> = strokes.dots.clone();
    for (from, to) in strokes.lines.iter().flat_map(|line| line.windows(2).map(|pair| (pair[0], pair[1]))) {
        let pieces = ((to.0 - from.0).hypot(to.1 - from.1) / APART).ceil().max(1.0);
        places.extend((0..=pieces as u32).map(|piece| {
            let share = f64::from(piece) / pieces;
            (from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1))
        }));
    }
    let mut thinned: Vec<Place> = Vec::new();
    for place in places.into_iter().rev() {
        if thinned.last().is_none_or(|last| (last.0 - place.0).hypot(last.1 - place.1) >= APART) {
            thinned.push(place);
        }
    }
    thinned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_want_the_same_place_are_spread_around_it() {
        let middles = spread(&[100.0, 100.0, 100.0], &[20.0; 3], (0.0, 300.0));
        assert_eq!(middles, [80.0, 100.0, 120.0]);
        let middles = spread(&[0.0, 5.0, 290.0], &[20.0; 3], (0.0, 300.0));
        assert_eq!(middles, [10.0, 30.0, 290.0]);
        let full = spread(&[300.0; 5], &[20.0; 5], (0.0, 300.0));
        assert!(full.windows(2).all(|pair| pair[1] - pair[0] >= 20.0) && full[4] == 290.0, "{full:?}");
    }

    #[test]
    fn lines_cross_or_do_not() {
        assert!(meet(((0.0, 0.0), (10.0, 10.0)), ((0.0, 10.0), (10.0, 0.0))));
        assert!(!meet(((0.0, 0.0), (10.0, 10.0)), ((0.0, 10.0), (4.0, 6.0))));
    }

    #[test]
    fn a_line_through_a_rectangle_is_found_even_if_both_ends_are_outside() {
        let here = Rectangle { left: 0.0, top: 0.0, right: 10.0, bottom: 10.0 };
        assert!(here.is_crossed(((-5.0, 5.0), (15.0, 6.0))));
        assert!(here.is_crossed(((5.0, 5.0), (5.0, 5.0))));
        assert!(!here.is_crossed(((-5.0, 12.0), (15.0, 12.0))));
        assert!(!here.is_crossed(((11.0, -5.0), (11.0, 50.0))));
        assert!(!here.is_crossed(((-5.0, 8.0), (5.0, 18.0))));
    }
}
