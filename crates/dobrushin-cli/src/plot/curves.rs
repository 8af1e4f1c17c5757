//! The curves and marks themselves, and their names.

use super::layout::{Area, LABEL_SIZE, Layout};
use super::strokes::{Place, Strokes};
use super::style::{BROAD, Pen, Style};
use super::svg::PALE_INK;
use super::text::escape;
use super::writer::{Writer, number};
use super::{Line, Plot};

/// Draws all series, the guarantee and then marks last. Lines are clipped to the plot area, with room for their width at its edges.
pub(super) fn curves(svg: &mut Writer, layout: &Layout, plot: &Plot, styles: &[Style]) {
    let Area { left, top, width, height } = layout.area;
    svg.element("clipPath", "id=\"plot-area\"", |svg| {
        svg.line(&format!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
            number(left - BROAD),
            number(top - BROAD),
            number(width + 2.0 * BROAD),
            number(height + 2.0 * BROAD),
        ));
    });
    let strokes: Vec<Strokes> = plot.series.iter().map(|series| Strokes::of(layout, plot, series)).collect();
    if strokes.iter().all(|strokes| strokes.end().is_none()) {
        let (x, y) = (number(left + width / 2.0), number(top + height / 2.0));
        svg.line(&format!(
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\" font-size=\"{}\" \
             fill=\"{PALE_INK}\">no finite points</text>",
            number(LABEL_SIZE)
        ));
        return;
    }
    let mut order: Vec<usize> = (0..plot.series.len()).collect();
    let rank = |line: Line| match line {
        Line::Guarantee => 1,
        // The mark of an answer is on its line.
        Line::Marks => 2,
        _ => 0,
    };
    order.sort_by_key(|&index| rank(plot.series[index].line));
    svg.element("g", "clip-path=\"url(#plot-area)\"", |svg| {
        for index in order {
            let class = format!("class=\"series\" data-series=\"{index}\"");
            svg.element("g", &class, |svg| series(svg, &strokes[index], &styles[index]));
        }
    });
}

/// Draws one series.
fn series(svg: &mut Writer, strokes: &Strokes, style: &Style) {
    match style.pen {
        Pen::Line(dashes) => {
            let path: String = strokes.lines.iter().map(|line| polyline(line)).collect();
            stroke(svg, &path, style, dashes);
            // A point without a neighbour has no line; a dot shows it.
            for (x, y) in &strokes.dots {
                let (x, y, radius) = (number(*x), number(*y), number(1.2 + style.width));
                svg.line(&format!(
                    "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{}\"/>",
                    style.colour
                ));
            }
        }
        Pen::Mark(mark) => {
            let outline = mark.outline();
            let path: String = strokes
                .dots
                .iter()
                .map(|(x, y)| format!("M{} {}{outline}", number(*x), number(*y)))
                .collect();
            marks(svg, &path, style.colour);
        }
    }
}

/// Writes the names beside the curves, with a thin line to each that is not at the end of its curve.
pub(super) fn names(svg: &mut Writer, layout: &Layout, plot: &Plot, styles: &[Style]) {
    svg.element("g", &format!("class=\"names\" font-size=\"{}\"", number(LABEL_SIZE)), |svg| {
        for name in &layout.names {
            let style = &styles[name.series];
            // The font of the program has no bold face.
            let bold = match plot.series[name.series].line {
                Line::Guarantee => format!(" stroke=\"{}\" stroke-width=\"0.6\"", style.ink),
                _ => String::new(),
            };
            svg.element("g", &format!("data-series=\"{}\"", name.series), |svg| {
                if let Some((from, to)) = name.leader {
                    let path = polyline(&[from, to]);
                    svg.line(&format!(
                        "<path d=\"{path}\" stroke=\"{}\" stroke-width=\"0.8\"/>",
                        style.colour
                    ));
                }
                for line in &name.lines {
                    let (x, y, text) = (number(line.x), number(line.y), escape(&line.text));
                    svg.line(&format!(
                        "<text x=\"{x}\" y=\"{y}\" fill=\"{}\"{bold}>{text}</text>",
                        style.ink
                    ));
                }
            });
        }
    });
}

/// Path data for a line through places.
fn polyline(places: &[Place]) -> String {
    let commands = std::iter::once('M').chain(std::iter::repeat('L'));
    let places = places.iter().zip(commands);
    places.map(|((x, y), c)| format!("{c}{} {}", number(*x), number(*y))).collect()
}

/// Draws a curve, if there is one.
pub(super) fn stroke(svg: &mut Writer, path: &str, style: &Style, dashes: &str) {
    if path.is_empty() {
        return;
    }
    let dashes = match dashes {
        "" => String::new(),
        dashes => format!(" stroke-dasharray=\"{dashes}\""),
    };
    let (colour, width) = (style.colour, number(style.width));
    svg.line(&format!(
        "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" \
         stroke-linejoin=\"round\"{dashes}/>"
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
    use super::super::{Axis, Line, Scale, Series};
    use super::*;

    /// A plot of one series.
    fn plot(points: &[(f64, f64)], line: Line) -> Plot {
        let axis = |label: &str, scale| Axis { label: label.into(), scale };
        Plot {
            title: "Privacy <& \"profile\"".into(),
            x: axis("ε", Scale::Linear),
            y: axis("δ", Scale::Log10),
            series: vec![Series::new("a < b", points.to_vec(), line)],
            caption: vec!["1 & 2".into()],
        }
    }

    /// The path data of the curve.
    fn curve(svg: &str) -> &str {
        let line = svg.lines().skip_while(|line| !line.contains("class=\"series\"")).nth(1);
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
        assert_eq!(svg.matches(outline).count(), 3, "the name is beside them");
    }

    #[test]
    fn a_point_at_a_word_is_a_stroke_that_is_not_joined_to_its_neighbours() {
        let mut words = plot(&[(1.0, -1.0), (2.0, -2.0)], Line::Guarantee);
        words.x.scale = Scale::Words(vec!["poisson".into(), "without-replacement".into()]);
        let svg = draw(&words);
        assert_eq!((curve(&svg).matches('M').count(), curve(&svg).matches('L').count()), (2, 2));
        assert!(svg.contains(">poisson<") && svg.contains(">without-replacement<"), "{svg}");
    }

    #[test]
    fn the_guarantee_is_drawn_last_wherever_it_stands() {
        let mut two = plot(&[(0.0, -1.0), (1.0, -2.0)], Line::Guarantee);
        two.series.push(Series::new("other", vec![(0.0, -2.0), (1.0, -3.0)], Line::Solid));
        let svg = draw(&two);
        let position = |index: usize| svg.find(&format!("class=\"series\" data-series=\"{index}\""));
        assert!(position(0) > position(1), "{svg}");
    }

    #[test]
    fn a_picture_without_points_says_so() {
        assert!(draw(&plot(&[(f64::NAN, 1.0)], Line::Solid)).contains("no finite points"));
        assert!(!draw(&plot(&[(1.0, 1.0)], Line::Solid)).contains("no finite points"));
    }
}
