//! Where the ink of each series goes.

use super::layout::Layout;
use super::writer::number;
use super::{Line, Plot, Scale, Series};

/// A place in the picture.
pub(super) type Place = (f64, f64);

/// What a series draws: lines through places, and places that stand alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Strokes {
    /// Lines, each through two places or more.
    pub lines: Vec<Vec<Place>>,
    /// Places without a line.
    pub dots: Vec<Place>,
}

/// The part of the room of a word that a stroke at it takes up.
const SHARE: f64 = 0.6;

impl Strokes {
    /// The strokes of a series. A point that cannot be drawn interrupts a line, and a point without a neighbour is a dot.
    pub fn of(layout: &Layout, plot: &Plot, series: &Series) -> Self {
        let places: Vec<Option<Place>> = series.points.iter().map(|&point| layout.place(point)).collect();
        match (&plot.x.scale, series.line) {
            (_, Line::Marks) => Self { lines: Vec::new(), dots: places.into_iter().flatten().collect() },
            (_, Line::Spans) => {
                let ends =
                    series.points.chunks_exact(2).map(|ends| [layout.place(ends[0]), layout.place(ends[1])]);
                let line = |[from, to]: [Option<Place>; 2]| Some(vec![from?, to?]);
                Self { lines: ends.filter_map(line).collect(), dots: Vec::new() }
            }
            (Scale::Words(words), _) => {
                let half = layout.area.width / words.len().max(1) as f64 * SHARE / 2.0;
                let stroke = |(x, y): Place| vec![(x - half, y), (x + half, y)];
                Self { lines: places.into_iter().flatten().map(stroke).collect(), dots: Vec::new() }
            }
            _ => Self::joined(&places),
        }
    }

    fn joined(places: &[Option<Place>]) -> Self {
        let mut strokes = Self::default();
        for run in places.split(|place| place.is_none()) {
            let mut line: Vec<Place> = run.iter().flatten().copied().collect();
            // Places that are written alike are the same.
            line.dedup_by_key(|(x, y)| (number(*x), number(*y)));
            match line[..] {
                [] => {}
                [alone] => strokes.dots.push(alone),
                _ => strokes.lines.push(line),
            }
        }
        strokes
    }

    /// The place that is farthest to the right, and the first of those.
    pub fn end(&self) -> Option<Place> {
        let all = self.lines.iter().flatten().chain(&self.dots).copied();
        all.fold(None, |end: Option<Place>, place| match end {
            Some(end) if end.0 >= place.0 => Some(end),
            _ => Some(place),
        })
    }

    /// Every straight piece of the lines; a dot is a piece of no length.
    pub fn segments(&self) -> impl Iterator<Item = (Place, Place)> {
        let pieces = self.lines.iter().flat_map(|line| line.windows(2).map(|pair| (pair[0], pair[1])));
        pieces.chain(self.dots.iter().map(|&dot| (dot, dot)))
    }
}
