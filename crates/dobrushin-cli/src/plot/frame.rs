//! All that surrounds the curves: title, grid, axes, legend and caption.

use super::curves::{marks, stroke};
use super::layout::{GAP, LABEL_SIZE, Layout, Placed, SAMPLE, SMALL_SIZE, TITLE_SIZE};
use super::ruler::Ruler;
use super::style::{Pen, Style};
use super::svg::{INK, PALE_INK};
use super::text::escape;
use super::writer::{Writer, number};

/// Writes the title.
pub(super) fn title(svg: &mut Writer, layout: &Layout) {
    let attributes = format!("font-size=\"{}\"", number(TITLE_SIZE));
    svg.element("g", &attributes, |svg| {
        layout.title.iter().for_each(|line| svg.placed(line));
    });
}

/// Draws a grid through the labelled ticks.
pub(super) fn grid(svg: &mut Writer, layout: &Layout) {
    let area = layout.area;
    let mut path = String::new();
    for tick in layout.x.ticks.iter().filter(|_| layout.x_words.is_empty()) {
        let (x, top) = (number(layout.place_x(tick.at)), number(area.top));
        path.push_str(&format!("M{x} {top}v{}", number(area.height)));
    }
    for tick in &layout.y.ticks {
        let (left, y) = (number(area.left), number(layout.place_y(tick.at)));
        path.push_str(&format!("M{left} {y}h{}", number(area.width)));
    }
    svg.line(&format!("<path class=\"grid\" d=\"{path}\" stroke=\"{GRID}\"/>"));
}

/// Draws the axes with their ticks and all that is written beside them.
pub(super) fn axes(svg: &mut Writer, layout: &Layout) {
    let (left, bottom) = (layout.area.left, layout.area.bottom());
    let (top, right) = (layout.area.top, layout.area.right());
    let mut path = format!("M{} {}V{}H{}", number(left), number(top), number(bottom), number(right));
    for (at, length) in ticks(&layout.x) {
        let x = number(layout.place_x(at));
        path.push_str(&format!("M{x} {}v{}", number(bottom), number(length)));
    }
    for (at, length) in ticks(&layout.y) {
        let y = number(layout.place_y(at));
        path.push_str(&format!("M{} {y}h{}", number(left), number(-length)));
    }
    svg.line(&format!("<path class=\"axes\" d=\"{path}\" fill=\"none\" stroke=\"{INK}\"/>"));

    let small = format!("font-size=\"{}\" fill=\"{PALE_INK}\"", number(SMALL_SIZE));
    svg.element("g", &format!("class=\"x-ticks\" {small} text-anchor=\"middle\""), |svg| {
        layout.x_words.iter().for_each(|word| svg.placed(word));
        for tick in &layout.x.ticks {
            svg.label(layout.place_x(tick.at), bottom + 21.0, &tick.label);
        }
    });
    svg.element("g", &format!("class=\"y-ticks\" {small} text-anchor=\"end\""), |svg| {
        for tick in &layout.y.ticks {
            let baseline = layout.place_y(tick.at) + MIDDLE * SMALL_SIZE;
            svg.label(left - TICK - GAP / 2.0, baseline, &tick.label);
        }
    });
    let attributes = format!("font-size=\"{}\" text-anchor=\"middle\"", number(LABEL_SIZE));
    svg.element("g", &attributes, |svg| {
        svg.placed(&layout.x_label);
        if layout.y_label_upright {
            svg.placed(&layout.y_label);
        } else {
            let (x, y) = (number(layout.y_label.x), number(layout.y_label.y));
            svg.line(&format!(
                "<text transform=\"translate({x} {y}) rotate(-90)\">{}</text>",
                escape(&layout.y_label.text)
            ));
        }
    });
}

/// Draws the legend: for every entry a sample and the name.
pub(super) fn legend(svg: &mut Writer, layout: &Layout, styles: &[Style]) {
    let attributes = format!("font-size=\"{}\"", number(LABEL_SIZE));
    svg.element("g", &attributes, |svg| {
        for entry in &layout.legend {
            let Placed { text, x, y } = &entry.label;
            let style = styles[entry.series];
            match style.pen {
                Pen::Line(dashes) => {
                    let path = format!("M{} {}h{}", number(*x), number(*y), number(SAMPLE));
                    stroke(svg, &path, &style, dashes);
                }
                Pen::Mark(mark) => {
                    let middle = number(x + SAMPLE / 2.0);
                    let path = format!("M{middle} {}{}", number(*y), mark.outline());
                    marks(svg, &path, style.colour);
                }
            }
            svg.placed(&Placed { text: text.clone(), x: x + SAMPLE + GAP, y: y + MIDDLE * LABEL_SIZE });
        }
    });
}

/// Writes the caption.
pub(super) fn caption(svg: &mut Writer, layout: &Layout) {
    let attributes = format!("font-size=\"{}\" fill=\"{PALE_INK}\"", number(SMALL_SIZE));
    svg.element("g", &attributes, |svg| {
        layout.caption.iter().for_each(|line| svg.placed(line));
    });
}

/// The colour of the grid.
const GRID: &str = "#E4E4E4";
/// The length of a labelled tick.
const TICK: f64 = 5.0;
/// The length of a tick without label.
const MINOR_TICK: f64 = 3.0;
/// How far a baseline is below the line that digits are centred on, in font sizes.
const MIDDLE: f64 = 0.36;

/// The coordinates of all ticks with their lengths.
fn ticks(ruler: &Ruler) -> impl Iterator<Item = (f64, f64)> {
    let major = ruler.ticks.iter().map(|tick| (tick.at, TICK));
    major.chain(ruler.minor.iter().map(|&at| (at, MINOR_TICK)))
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Plot, Scale};
    use super::*;

    /// The axes of a plot without points whose vertical axis has this label.
    fn drawn_axes(y_label: &str) -> String {
        let axis = |label: &str| Axis { label: label.into(), scale: Scale::Log10 };
        let plot =
            Plot { title: String::new(), x: axis("ε"), y: axis(y_label), series: vec![], caption: vec![] };
        let mut svg = Writer::default();
        axes(&mut svg, &Layout::new(&plot));
        svg.finish()
    }

    #[test]
    fn only_a_long_label_of_the_vertical_axis_is_turned() {
        assert!(!drawn_axes("δ").contains("rotate"));
        assert!(drawn_axes("false negative rate").contains("rotate(-90)\">false negative rate<"));
    }

    #[test]
    fn every_labelled_tick_has_a_line_on_its_axis() {
        let svg = drawn_axes("δ");
        assert_eq!(svg.matches("<tspan").count(), 12, "six decades on both axes");
        assert_eq!(svg.matches("v5").count(), 6);
        assert_eq!(svg.matches("h-5").count(), 6);
    }
}
