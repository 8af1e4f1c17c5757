//! The whole picture as SVG text.

use super::layout::{Layout, WIDTH};
use super::style::styles;
use super::text::escape;
use super::writer::{Writer, number};
use super::{Plot, curves, frame};

/// The colour of text and axes.
pub(super) const INK: &str = "#222222";
/// The colour of text beside ticks and of the caption.
pub(super) const PALE_INK: &str = "#555555";

/// The plot as a complete SVG document. Curves are drawn over grid and axes.
pub(super) fn draw(plot: &Plot) -> String {
    let layout = Layout::new(plot);
    let styles = styles(plot.series.iter().map(|series| series.line));
    let (width, height) = (number(WIDTH), number(layout.height));
    let attributes = format!(
        "xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-labelledby=\"plot-title plot-desc\" \
         font-family=\"DejaVu Sans, Verdana, sans-serif\" fill=\"{INK}\""
    );
    let mut svg = Writer::default();
    svg.element("svg", &attributes, |svg| {
        let (title, description) = (escape(&plot.title), escape(&description(plot)));
        svg.line(&format!("<title id=\"plot-title\">{title}</title>"));
        svg.line(&format!("<desc id=\"plot-desc\">{description}</desc>"));
        svg.line(&format!("<rect width=\"{width}\" height=\"{height}\" fill=\"#FFFFFF\"/>"));
        frame::title(svg, &layout);
        frame::grid(svg, &layout);
        frame::axes(svg, &layout);
        curves::curves(svg, &layout, plot, &styles);
        curves::names(svg, &layout, plot, &styles);
        frame::legend(svg, &layout, &styles);
        frame::caption(svg, &layout);
    });
    svg.finish()
}

/// What the picture shows, for those who cannot see it.
fn description(plot: &Plot) -> String {
    let mut labels = vec![plot.y.label.as_str(), plot.x.label.as_str()];
    labels.retain(|label| !label.is_empty());
    let mut names: Vec<&str> = plot.series.iter().map(|s| s.label.as_str()).collect();
    names.retain(|name| !name.is_empty());
    let mut parts = vec![labels.join(" against "), names.join("; ")];
    parts.retain(|part| !part.is_empty());
    parts.join(": ")
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Line, Scale, Series};
    use super::*;

    /// A plot of one line.
    fn plot() -> Plot {
        let axis = |label: &str, scale| Axis { label: label.into(), scale };
        Plot {
            title: "Privacy <& \"profile\"".into(),
            x: axis("ε", Scale::Linear),
            y: axis("δ", Scale::Log10),
            series: vec![Series::new("a < b", vec![(0.0, 0.0), (1.0, -5.0)], Line::Solid)],
            caption: vec!["1 & 2".into()],
        }
    }

    #[test]
    fn all_text_is_escaped_and_described() {
        let svg = draw(&plot());
        assert!(svg.contains("<title id=\"plot-title\">Privacy &lt;&amp; &quot;profile&quot;</title>"));
        assert!(svg.contains("<desc id=\"plot-desc\">δ against ε: a &lt; b</desc>"));
        assert!(svg.contains("role=\"img\""));
        assert!(svg.contains(">a &lt; b</text>") && svg.contains(">1 &amp; 2</text>"));
    }

    #[test]
    fn the_same_plot_gives_the_same_text() {
        let plot = plot();
        assert_eq!(draw(&plot), draw(&plot.clone()));
    }

    #[test]
    fn curves_are_over_the_axes() {
        let svg = draw(&plot());
        let position = |part: &str| svg.find(part).expect(part);
        let axes = position(&format!("stroke=\"{INK}\""));
        assert!(position("stroke=\"#E4E4E4\"") < axes);
        assert!(axes < position("clip-path="));
    }
}
