//! Pictures of privacy curves, as SVG, PNG, PDF and HTML.
//!
//! A [`Plot`] says what is drawn; where everything goes is decided here. The SVG text depends on
//! nothing but the plot, and PNG and PDF are that same SVG rendered with a font that is part of the
//! program, so all come out the same on every machine. The HTML page holds the SVG, the numbers, and a
//! script that reads them out.

mod contour;
mod curves;
mod decimal;
mod drawing;
mod file;
mod frame;
mod heat_map;
mod html;
mod layout;
mod names;
pub(crate) mod pdf;
pub(crate) mod png;
mod regions;
mod ruler;
mod strokes;
mod style;
mod svg;
pub(crate) mod text;
mod writer;

pub use drawing::Drawing;
pub use file::{Format, PlotError};
pub use heat_map::{HeatMap, Regions};

use dobrushin::numeric::decimal as number;
use dobrushin_document::csv::Table;
use std::path::Path;

/// Values of δ below 10 to this power say no more than those above.
pub const FLOOR: f64 = -20.0;

/// A picture of one or more curves in common axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// The heading, wrapped when it is long.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The curves; later ones are drawn over earlier ones.
    pub series: Vec<Series>,
    /// Paragraphs below the picture, each wrapped to its width.
    pub caption: Vec<String>,
}

/// One axis. Its range follows from the points of the plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The quantity along the axis; nothing is written if this is empty.
    pub label: String,
    /// How coordinates are to be read.
    pub scale: Scale,
}

/// What the coordinates on an axis stand for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Scale {
    /// A coordinate is the quantity itself.
    Linear,
    /// A coordinate is the base-ten logarithm of the quantity, so that quantities far below the
    /// range of `f64` can be drawn. The ticks are labelled with the quantity.
    Log10,
    /// Coordinates 1, 2, 3, … stand for these words, which are written at the ticks. Nothing lies between words, so
    /// points are short strokes and not joined. Only the horizontal axis can have words.
    Words(Vec<String>),
}

impl Scale {
    /// The coordinate of a quantity.
    pub fn place(&self, quantity: f64) -> f64 {
        if *self == Self::Log10 { quantity.log10() } else { quantity }
    }

    /// A logarithmic scale if the quantities are positive and the largest is more than 20 times the least.
    pub fn suiting(quantities: impl Iterator<Item = f64> + Clone) -> Self {
        let finite = quantities.filter(|quantity| quantity.is_finite());
        let least = finite.clone().fold(f64::INFINITY, f64::min);
        let most = finite.fold(0.0, f64::max);
        if least > 0.0 && most > 20.0 * least { Self::Log10 } else { Self::Linear }
    }

    /// The quantity at a coordinate, in digits, or the word.
    pub fn quantity(&self, coordinate: f64) -> String {
        match self {
            Self::Linear => number::nearest(coordinate, 12),
            Self::Words(words) => {
                let place = (coordinate as usize).checked_sub(1);
                place.and_then(|place| words.get(place)).cloned().unwrap_or_default()
            }
            Self::Log10 if coordinate == f64::NEG_INFINITY => "0".to_owned(),
            Self::Log10 if coordinate.abs() < 300.0 => number::nearest(10f64.powf(coordinate), 12),
            Self::Log10 => {
                // The value is beyond the range of f64.
                let exponent = coordinate.floor();
                format!("{}e{exponent}", number::nearest(10f64.powf(coordinate - exponent), 12))
            }
        }
    }
}

/// One curve, or one cloud of points.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The name, beside the curve or in the legend; an empty name is not written.
    pub label: String,
    /// The points in drawing order. The curve is interrupted at a point with a coordinate that is
    /// NaN or infinite.
    pub points: Vec<(f64, f64)>,
    /// How the points are drawn.
    pub line: Line,
    /// The quantity at each point, for readers who want every digit; if this is empty, the coordinate gives it.
    pub exact: Vec<f64>,
}

impl Series {
    /// A series whose coordinates say everything.
    pub fn new(label: impl Into<String>, points: Vec<(f64, f64)>, line: Line) -> Self {
        Self { label: label.into(), points, line, exact: Vec::new() }
    }

    /// The quantity at a point, in digits.
    fn quantity(&self, index: usize, scale: &Scale) -> String {
        match self.exact.get(index) {
            // A quantity that underflows still has a logarithm.
            Some(&exact) if exact != 0.0 && !exact.is_nan() => number::plain(exact),
            _ if self.points[index].1.is_nan() => "none".to_owned(),
            _ => scale.quantity(self.points[index].1),
        }
    }
}

/// How the points of a series are drawn.
///
/// Every series has its own colour, up to seven, and its own pattern of dashes or shape of marks,
/// up to four of each kind, so that series differ even when printed in black and white.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Line {
    /// What the picture is about: a broad line, drawn over everything else.
    Guarantee,
    /// A line through the points: unbroken in the first such series, long strokes with narrow
    /// gaps in the following ones.
    Solid,
    /// A line of short dashes or dots through the points.
    Dashed,
    /// A mark at every point and no line.
    Marks,
    /// A line between the first two points, one between the next two, and so on.
    Spans,
}

impl Plot {
    /// Leaves out values below 10 to the power of `floor` on a logarithmic vertical axis, unless there are no others,
    /// and says so.
    #[must_use]
    pub fn above(mut self, floor: f64) -> Self {
        let heights = || self.series.iter().flat_map(|series| &series.points).map(|point| point.1);
        let hidden = heights().any(|height| height < floor);
        if self.y.scale != Scale::Log10 || !hidden || !heights().any(|height| height >= floor) {
            return self;
        }
        for point in self.series.iter_mut().flat_map(|series| &mut series.points) {
            if point.1 < floor {
                point.1 = f64::NEG_INFINITY;
            }
        }
        self.caption.push(format!("What is below 1e{floor} is not drawn."));
        self
    }

    /// The picture as SVG text, the same bytes for the same plot.
    pub fn to_svg(&self) -> String {
        svg::draw(self)
    }

    /// Writes the picture; see [`Drawing::write`].
    pub fn write(&self, path: &Path) -> Result<(), PlotError> {
        Drawing::from(self.clone()).write(path)
    }

    /// All points, one row for each, with the curve's name. Values on logarithmic axes are written out, however small.
    pub fn points(&self) -> Table {
        let mut table = Table::new(["curve", &self.x.label, &self.y.label]);
        for series in &self.series {
            for (index, &(x, y)) in series.points.iter().enumerate() {
                // Not a point: a gap in the line.
                if x.is_nan() || y.is_nan() {
                    continue;
                }
                let cells = [self.x.scale.quantity(x), series.quantity(index, &self.y.scale)];
                table.push([series.label.clone()].into_iter().chain(cells).map(Into::into).collect());
            }
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plot with one solid series on a linear and a logarithmic axis.
    fn plot(points: Vec<(f64, f64)>) -> Plot {
        Plot {
            title: "δ < ε & more".into(),
            x: Axis { label: "ε".into(), scale: Scale::Linear },
            y: Axis { label: "δ".into(), scale: Scale::Log10 },
            series: vec![Series::new("curve", points, Line::Solid)],
            caption: vec!["A caption.".into()],
        }
    }

    #[test]
    fn awkward_data_is_drawn_without_panic_and_renders() {
        let (nan, inf, max) = (f64::NAN, f64::INFINITY, f64::MAX);
        let cases = [
            vec![],
            vec![(0.0, 0.0)],
            vec![(3.0, -5.0), (3.0, -5.0)],
            vec![(nan, 1.0), (1.0, nan), (inf, -inf)],
            vec![(0.0, -1e6), (1.0, 0.0)],
            vec![(0.0, -1e18), (1.0, 1e18)],
            vec![(-max, -max), (max, max)],
            vec![(1.0, -5.0), (1.0 + 1e-15, -5.0 + 1e-14)],
            vec![(1.0, -5.0), (1.0 + 1e-7, -5.0 + 1e-6)],
            vec![(1e-310, 1e-310), (5e-324, 0.0)],
            vec![(1e9, -1e6), (1e9 + 1.0, -1e6 + 0.1)],
            vec![(1e-290, 1e-290), (2e-290, -1e-299)],
        ];
        for points in cases {
            for scale in [Scale::Linear, Scale::Log10] {
                let mut picture = plot(points.clone());
                picture.x.scale = scale.clone();
                let svg = picture.to_svg();
                for word in ["NaN", "inf"] {
                    assert!(!svg.contains(word), "{word} in the picture of {points:?}");
                }
                let png = png::render(&svg).expect("our own SVG renders");
                assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
            }
        }
    }

    #[test]
    fn what_is_far_below_is_left_out_unless_it_is_all() {
        let picture = plot(vec![(0.0, -250.0), (1.0, -2.0), (2.0, -1.0)]).above(-20.0);
        let heights: Vec<f64> = picture.series[0].points.iter().map(|point| point.1).collect();
        assert_eq!(heights, [f64::NEG_INFINITY, -2.0, -1.0]);
        assert!(picture.to_svg().contains("below 1e-20"));
        let deep = plot(vec![(0.0, -250.0), (1.0, -200.0)]);
        assert_eq!(deep.clone().above(-20.0), deep);
    }

    #[test]
    fn the_extension_chooses_the_format_whatever_its_case() {
        let folder = std::env::temp_dir().join(format!("dobrushin-plot-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the temporary folder is writable");
        let picture = plot(vec![(0.0, -1.0), (1.0, -2.0)]);
        for (name, start) in [
            ("a.svg", &b"<svg"[..]),
            ("b.PNG", b"\x89PNG"),
            ("c.html", b"<!doctype html>"),
            ("d.pdf", b"%PDF-"),
        ] {
            let path = folder.join(name);
            picture.write(&path).expect("the folder is writable");
            let bytes = std::fs::read(&path).expect("the file was written");
            assert!(bytes.starts_with(start), "{name}");
        }
        let left: Vec<_> = std::fs::read_dir(&folder).expect("the folder exists").collect();
        assert_eq!(left.len(), 4, "no temporary file is left behind");
        std::fs::remove_dir_all(&folder).expect("the folder is ours");
    }

    #[test]
    fn another_extension_is_refused_with_the_accepted_ones() {
        for name in ["curve.gif", "curve", "svg"] {
            let error = plot(vec![]).write(Path::new(name)).expect_err(name);
            let message = error.to_string();
            assert!([".svg", ".png", ".pdf", ".html"].iter().all(|ending| message.contains(ending)));
            assert!(message.contains(name));
        }
    }

    #[test]
    fn a_failed_write_names_the_file() {
        let path = std::env::temp_dir().join("no-such-folder-of-dobrushin/curve.svg");
        let error = plot(vec![]).write(&path).expect_err("there is no folder");
        assert!(matches!(error, PlotError::Write { .. }));
        assert!(error.to_string().contains("curve.svg"));
    }
}
