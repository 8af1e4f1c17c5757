//! A page that holds a drawing, its numbers, and a script that reads them out.
//!
//! The page needs nothing else and asks no network for anything: its policy (CSP) allows the one style and the one
//! script whose hashes it names. What users named reaches the page only as escaped text and as JSON without `<`, and the
//! script writes it only as text.

use super::layout::Layout;
use super::style::{Pen, styles};
use super::text::escape;
use super::{Drawing, HeatMap, Line, Plot, Scale};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const SCRIPT: &str = include_str!("../../assets/plot.js");
const STYLE: &str = include_str!("../../assets/plot.css");

/// What readers can do; the script puts numbers in its place.
const HINT: &str = "Point at the picture, or press the arrow keys in it, to read its numbers. Drag to zoom; Escape goes back.";
const HINT_OF_MAP: &str = "Point at the picture, or press the arrow keys in it, to read its numbers.";

/// The page of a drawing, whose SVG is given.
pub(super) fn page(drawing: &Drawing, svg: &str) -> String {
    let (data, hint) = match drawing {
        Drawing::Curves(plot) => (of_plot(plot), HINT),
        Drawing::Map(map) => (of_map(map), HINT_OF_MAP),
    };
    let [script, style] = [SCRIPT, STYLE].map(|text| STANDARD.encode(Sha256::digest(text)));
    let title = escape(drawing.title());
    // Only the lines of the table are kept.
    let numbers: Vec<String> = drawing.points().text().split('\n').map(escape).collect();
    let numbers = numbers.join("\n");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-{script}'; \
         style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n\
         <div class=\"picture\" tabindex=\"0\" role=\"group\" aria-label=\"{title}\">\n{svg}</div>\n\
         <p class=\"readout\" role=\"status\">{hint}</p>\n<p class=\"tools\" hidden></p>\n\
         <details><summary>The numbers</summary>\n<textarea readonly aria-label=\"The numbers, as CSV\">{numbers}</textarea>\n\
         </details>\n<script type=\"application/json\" id=\"data\">{}</script>\n<script>{SCRIPT}</script>\n</html>\n",
        inert(&data)
    )
}

/// JSON that no parser of HTML takes for an element, and no parser of scripts for the end of a line.
fn inert(data: &Value) -> String {
    let signs = [
        ('<', "\\u003c"),
        ('>', "\\u003e"),
        ('&', "\\u0026"),
        ('\u{2028}', "\\u2028"),
        ('\u{2029}', "\\u2029"),
    ];
    signs.iter().fold(data.to_string(), |text, (sign, code)| text.replace(*sign, code))
}

/// Where everything is, and the numbers at every point as they are read out.
fn of_plot(plot: &Plot) -> Value {
    let layout = Layout::new(plot);
    let area = layout.area;
    let styles = styles(plot.series.iter().map(|series| series.line));
    let series = plot.series.iter().zip(&styles).map(|(series, style)| {
        let points = series.points.iter().enumerate().map(|(index, &(x, y))| {
            let height = if layout.place((x, y)).is_some() { json!(y) } else { Value::Null };
            json!([x, height, plot.x.scale.quantity(x), series.quantity(index, &plot.y.scale)])
        });
        json!({
            "label": series.label,
            "colour": style.colour,
            "mark": if let Pen::Mark(mark) = style.pen { Some(mark.outline()) } else { None },
            "pairs": series.line == Line::Spans,
            "points": points.filter(|point| !point[0].is_null()).collect::<Vec<Value>>(),
        })
    });
    let log = |scale: &Scale| *scale == Scale::Log10;
    json!({
        "kind": "curves",
        "area": { "left": area.left, "top": area.top, "width": area.width, "height": area.height },
        "x": {
            "label": plot.x.label, "low": layout.x.low, "high": layout.x.high, "log": log(&plot.x.scale),
            "words": matches!(plot.x.scale, Scale::Words(_)),
        },
        "y": { "label": plot.y.label, "low": layout.y.low, "high": layout.y.high, "log": log(&plot.y.scale) },
        "series": series.collect::<Vec<Value>>(),
    })
}

/// Where every grid of a map is, and what is read out at each cell.
fn of_map(map: &HeatMap) -> Value {
    let frame = map.frame();
    json!({
        "kind": "map",
        "x": map.x,
        "y": map.y,
        "columns": map.columns,
        "rows": map.rows,
        "cell": frame.cell,
        "row": frame.row,
        "grids": frame.tops().map(|top| json!({ "left": frame.left, "top": top })).collect::<Vec<Value>>(),
        "cells": map.said(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Series};
    use super::*;

    fn hostile() -> Plot {
        let bad = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(1)> =1+1";
        let axis = |label: &str| Axis { label: label.to_owned(), scale: Scale::Linear };
        Plot {
            title: bad.to_owned(),
            x: axis(bad),
            y: axis("ε"),
            series: vec![Series::new(bad, vec![(0.0, 1.0), (1.0, f64::NAN), (2.0, 3.0)], Line::Guarantee)],
            caption: vec![bad.to_owned()],
        }
    }

    #[test]
    fn no_name_becomes_an_element_or_a_script() {
        let page = page(&hostile().clone().into(), &hostile().to_svg());
        assert_eq!(page.matches("<script").count(), 2, "the data and the script");
        assert_eq!(page.matches("</script").count(), 2);
        assert!(!page.contains("<img"));
        let data = page.split("id=\"data\">").nth(1).and_then(|rest| rest.split("</script>").next());
        let data: Value = serde_json::from_str(data.expect("there are data")).expect("they are JSON");
        assert_eq!(data["series"][0]["label"].as_str(), Some(hostile().title.as_str()));
        assert_eq!(data["series"][0]["points"][1][1], Value::Null);
    }

    #[test]
    fn the_policy_allows_exactly_the_script_and_the_style_of_the_page() {
        let page = page(&hostile().clone().into(), "");
        for (open, close) in [("<script>", "</script>"), ("<style>", "</style>")] {
            let inside = page.split(open).nth(1).and_then(|rest| rest.split(close).next()).expect(open);
            let hash = STANDARD.encode(Sha256::digest(inside));
            assert!(page.contains(&format!("-src 'sha256-{hash}'")), "{open}");
        }
        assert!(page.contains("default-src 'none'"));
        // An attribute that holds a style or a handler would need another permission.
        assert!(!page.contains(" style=\"") && !page.contains(" onclick"));
    }

    #[test]
    fn a_page_refers_to_nothing_outside() {
        let page = page(&hostile().clone().into(), &hostile().to_svg());
        for word in ["src=\"", "href=", "@import", "fetch(", "XMLHttpRequest", "import("] {
            assert!(!page.contains(word), "{word}");
        }
        let addresses: Vec<&str> = page.match_indices("http").map(|(at, _)| &page[at..at + 27]).collect();
        assert!(
            addresses.iter().all(|a| a.starts_with("http-equiv") || *a == "http://www.w3.org/2000/svg\""),
            "{addresses:?}"
        );
    }

    #[test]
    fn the_script_is_small() {
        assert!(SCRIPT.len() < 16_000, "{}", SCRIPT.len());
    }
}
