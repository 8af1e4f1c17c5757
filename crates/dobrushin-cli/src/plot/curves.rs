//! The curves and marks themselves.

use super::layout::{Area, LABEL_SIZE, Layout};
use super::style::{Pen, Style};
use super::svg::PALE_INK;
use super::writer::{Writer, number};
use super::{Plot, Series};

/// Draws all series. Lines are clipped to the plot area, with room for their width at its edges.
pub(super) fn curves(svg: &mut Writer, layout: &Layout, plot: &Plot, styles: &[Style]) {
    let Area { left, top, width, height } = layout.area;
    svg.element("clipPath", "id=\"plot-area\"", |svg| {
        svg.line(&format!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
            number(left - CURVE_WIDTH),
            number(top - CURVE_WIDTH),
            number(width + 2.0 * CURVE_WIDTH),
            number(height + 2.0 * CURVE_WIDTH),
        ));
    });
    let drawable = |series: &Series| series.points.iter().any(|&p| layout.place(p).is_some());
    if !plot.series.iter().any(drawable) {
        let (x, y) = (number(left + width / 2.0), number(top + height / 2.0));
        svg.line(&format!(
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\" font-size=\"{}\" \
             fill=\"{PALE_INK}\">no finite points</text>",
            number(LABEL_SIZE)
        ));
        return;
    }
    for (series, style) in plot.series.iter().zip(styles) {
        let pieces = pieces(layout, &series.points);
        match style.pen {
            Pen::Line(dashes) => {
                let paths = pieces.iter().filter(|piece| piece.len() > 1);
                let path: String = paths.map(|piece| polyline(piece)).collect();
                stroke(svg, &path, style.colour, dashes, " clip-path=\"url(#plot-area)\"");
                // A point without a neighbour has no line; a dot shows it.
                let alone = pieces.iter().filter(|piece| piece.len() == 1);
                for (x, y) in alone.flatten() {
                    svg.line(&format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"3\" fill=\"{}\"/>", style.colour));
                }
            }
            Pen::Mark(mark) => {
                let outline = mark.outline();
                let places = pieces.iter().flatten();
                let path: String = places.map(|(x, y)| format!("M{x} {y}{outline}")).collect();
                marks(svg, &path, style.colour);
            }
        }
    }
}

/// The width of curves.
const CURVE_WIDTH: f64 = 2.0;

/// The places of points as they are written, in pieces without a point that cannot be drawn, and
/// without immediate repetitions.
fn pieces(layout: &Layout, points: &[(f64, f64)]) -> Vec<Vec<(String, String)>> {
    let places: Vec<Option<(String, String)>> =
        points.iter().map(|&point| layout.place(point).map(|(x, y)| (number(x), number(y)))).collect();
    let runs = places.split(|place| place.is_none());
    let pieces = runs.map(|run| {
        let mut piece: Vec<(String, String)> = run.iter().flatten().cloned().collect();
        piece.dedup();
        piece
    });
    pieces.filter(|piece| !piece.is_empty()).collect()
}

/// Path data for a line through places.
fn polyline(places: &[(String, String)]) -> String {
    let commands = std::iter::once('M').chain(std::iter::repeat('L'));
    let places = places.iter().zip(commands);
    places.map(|((x, y), c)| format!("{c}{x} {y}")).collect()
}

/// Draws a curve, if there is one.
pub(super) fn stroke(svg: &mut Writer, path: &str, colour: &str, dashes: &str, attributes: &str) {
    if path.is_empty() {
        return;
    }
    let dashes = match dashes {
        "" => String::new(),
        dashes => format!(" stroke-dasharray=\"{dashes}\""),
    };
    let width = number(CURVE_WIDTH);
    svg.line(&format!(
        "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" \
         stroke-linejoin=\"round\"{dashes}{attributes}/>"
    ));
}

/// Draws marks, if there are any, with a thin white rim that sets them off from lines.
pub(super) fn marks(svg: &mut Writer, path: &str, colour: &str) {
    if !path.is_empty() {
        svg.line(&format!(
            "<path d=\"{path}\" fill=\"{colour}\" stroke=\"#FFFFFF\" stroke-width=\"2\" \
             paint-order=\"stroke\"/>"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::super::style::Mark;
    use super::super::svg::draw;
    use super::super::{Axis, Line, Scale};
    use super::*;

    /// A plot of one series.
    fn plot(points: &[(f64, f64)], line: Line) -> Plot {
        let axis = |label: &str, scale| Axis { label: label.into(), scale };
        Plot {
            title: "Privacy <& \"profile\"".into(),
            x: axis("ε", Scale::Linear),
            y: axis("δ", Scale::Log10),
            series: vec![Series { label: "a < b".into(), points: points.to_vec(), line }],
            caption: vec!["1 & 2".into()],
        }
    }

    /// The path data of the curve.
    fn curve(svg: &str) -> &str {
        let line = svg.lines().find(|line| line.contains("clip-path="));
        let line = line.expect("there is a curve");
        line.split('"').nth(1).expect("the data is the first attribute")
    }

    #[test]
    fn a_curve_runs_from_corner_to_corner_of_the_plot_area() {
        let svg = draw(&plot(&[(0.0, 0.0), (1.0, -5.0)], Line::Solid));
        let area = Layout::new(&plot(&[(0.0, 0.0), (1.0, -5.0)], Line::Solid)).area;
        let (right, bottom) = (area.right(), area.bottom());
        let expected = format!("M{} {}L{right} {bottom}", area.left, area.top);
        assert_eq!(curve(&svg), expected);
    }

    #[test]
    fn nan_breaks_the_line() {
        let points = [(0.0, -1.0), (1.0, -2.0), (2.0, f64::NAN), (3.0, -3.0), (4.0, -4.0)];
        let svg = draw(&plot(&points, Line::Solid));
        assert_eq!(curve(&svg).matches('M').count(), 2);
        assert_eq!(curve(&svg).matches('L').count(), 2);
    }

    #[test]
    fn a_point_without_neighbours_is_a_dot() {
        let points = [(0.0, -1.0), (1.0, f64::NEG_INFINITY), (2.0, -2.0), (3.0, -3.0)];
        let svg = draw(&plot(&points, Line::Dashed));
        assert_eq!(svg.matches("<circle").count(), 1);
    }

    #[test]
    fn every_point_has_a_mark() {
        let svg = draw(&plot(&[(0.0, -1.0), (1.0, -2.0), (2.0, -3.0)], Line::Marks));
        let outline = Mark::Disc.outline();
        assert_eq!(svg.matches(outline).count(), 3 + 1, "three points and the legend");
    }

    #[test]
    fn a_picture_without_points_says_so() {
        assert!(draw(&plot(&[(f64::NAN, 1.0)], Line::Solid)).contains("no finite points"));
        assert!(!draw(&plot(&[(1.0, 1.0)], Line::Solid)).contains("no finite points"));
    }
}
