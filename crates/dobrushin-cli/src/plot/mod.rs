//! Pictures of privacy curves, as SVG, PNG and HTML.
//!
//! A [`Plot`] says what is drawn; where everything goes is decided here. The SVG text depends on
//! nothing but the plot, and the PNG is that same SVG rendered with a font that is part of the
//! program, so both come out the same on every machine.

mod curves;
mod decimal;
mod frame;
mod heat_map;
mod layout;
pub(crate) mod pdf;
pub(crate) mod png;
mod ruler;
mod style;
mod svg;
pub(crate) mod text;
mod writer;

pub use heat_map::HeatMap;

use std::path::{Path, PathBuf};

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
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Scale {
    /// A coordinate is the quantity itself.
    Linear,
    /// A coordinate is the base-ten logarithm of the quantity, so that quantities far below the
    /// range of `f64` can be drawn. The ticks are labelled with the quantity.
    Log10,
}

/// One curve, or one cloud of points.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The name in the legend; a series with an empty name is not listed there.
    pub label: String,
    /// The points in drawing order. The curve is interrupted at a point with a coordinate that is
    /// NaN or infinite.
    pub points: Vec<(f64, f64)>,
    /// How the points are drawn.
    pub line: Line,
}

/// How the points of a series are drawn.
///
/// Every series has its own colour, up to seven, and its own pattern of dashes or shape of marks,
/// up to four of each kind, so that series differ even when printed in black and white.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Line {
    /// A line through the points: unbroken in the first such series, long strokes with narrow
    /// gaps in the following ones.
    Solid,
    /// A line of short dashes or dots through the points.
    Dashed,
    /// A mark at every point and no line.
    Marks,
}

/// The formats of pictures.
pub enum Format {
    /// A drawing.
    Svg,
    /// Pixels.
    Png,
    /// A page that holds the drawing.
    Html,
}

impl Format {
    /// The format that the ending of a name gives.
    pub fn of(path: &Path) -> Result<Self, PlotError> {
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
        match extension.to_ascii_lowercase().as_str() {
            "svg" => Ok(Self::Svg),
            "png" => Ok(Self::Png),
            "html" => Ok(Self::Html),
            _ => Err(PlotError::UnknownFormat { path: path.to_path_buf() }),
        }
    }
}

/// Why a picture could not be made or stored.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// The file name does not say which of the known formats is wanted.
    #[error("cannot tell the picture format of {path}: the name must end in .svg, .png or .html")]
    UnknownFormat {
        /// The path as given.
        path: PathBuf,
    },
    /// The picture would have more pixels than can be held.
    #[error("a picture of {width} by {height} pixels is too large")]
    TooLarge {
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
    },
    /// The SVG could not be rendered.
    #[error("cannot render the picture")]
    Render(#[from] resvg::usvg::Error),
    /// The pixels could not be encoded.
    #[error("cannot encode the picture as PNG")]
    Encode(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The file could not be written; whatever existed before is unchanged.
    #[error("cannot write {path}")]
    Write {
        /// The path as given.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
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

    /// The picture as a PNG file with two pixels per SVG user unit.
    #[cfg(test)]
    fn to_png(&self) -> Result<Vec<u8>, PlotError> {
        png::render(&self.to_svg())
    }

    /// Writes the picture to `path` in the format named by the extension, `.svg`, `.png` or `.html`
    /// (a page that holds the SVG and needs nothing else).
    ///
    /// A file that already exists is replaced at once and completely, or not at all.
    pub fn write(&self, path: &Path) -> Result<(), PlotError> {
        store(&self.to_svg(), path)
    }
}

/// A page that holds a drawing.
fn page_of(svg: &str) -> String {
    let mut page = String::from("<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n");
    page.push_str(
        "<style>body { margin: 2rem auto; max-width: 60rem } svg { width: 100%; height: auto }</style>\n",
    );
    page.push_str(svg);
    page.push_str("</html>\n");
    page
}

/// Writes a drawing in the format named by the extension.
fn store(svg: &str, path: &Path) -> Result<(), PlotError> {
    let bytes = match Format::of(path)? {
        Format::Svg => svg.as_bytes().to_vec(),
        Format::Png => png::render(svg)?,
        Format::Html => page_of(svg).into_bytes(),
    };
    crate::file::replace(path, &bytes).map_err(|source| PlotError::Write { path: path.to_path_buf(), source })
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
            series: vec![Series { label: "curve".into(), points, line: Line::Solid }],
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
                picture.x.scale = scale;
                let svg = picture.to_svg();
                for word in ["NaN", "inf"] {
                    assert!(!svg.contains(word), "{word} in the picture of {points:?}");
                }
                let png = picture.to_png().expect("our own SVG renders");
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
        for (name, start) in [("a.svg", &b"<svg"[..]), ("b.PNG", b"\x89PNG"), ("c.html", b"<!doctype html>")]
        {
            let path = folder.join(name);
            picture.write(&path).expect("the folder is writable");
            let bytes = std::fs::read(&path).expect("the file was written");
            assert!(bytes.starts_with(start), "{name}");
        }
        let left: Vec<_> = std::fs::read_dir(&folder).expect("the folder exists").collect();
        assert_eq!(left.len(), 3, "no temporary file is left behind");
        std::fs::remove_dir_all(&folder).expect("the folder is ours");
    }

    #[test]
    fn another_extension_is_refused_with_the_accepted_ones() {
        for name in ["curve.pdf", "curve", "svg"] {
            let error = plot(vec![]).write(Path::new(name)).expect_err(name);
            let message = error.to_string();
            assert!(message.contains(".svg") && message.contains(".png"));
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
