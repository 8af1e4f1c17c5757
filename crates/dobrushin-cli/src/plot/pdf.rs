//! SVG text to a PDF file of one page.
//!
//! The same reader that makes pixels of the SVG (`usvg`) gives its shapes, with all writing already turned into outlines
//! of the program's own font, so that a page looks the same in every viewer and needs no font. Our drawings have only
//! paths in one colour, so each becomes a PDF path as it is.

use super::{PlotError, png};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use pdf_writer::types::{LineCapStyle, LineJoinStyle};
use pdf_writer::{Content, Filter, Finish, Pdf, Rect, Ref, TextStr};
use resvg::tiny_skia::{PathSegment, Transform};
use resvg::usvg::{Color, FillRule, Group, LineCap, LineJoin, Node, Paint, PaintOrder, Path};
use std::io::Write;

/// Points (1/72 inch) per SVG user unit (1/96 inch).
const SCALE: f32 = 0.75;

/// The drawing as a page of its size.
pub(super) fn render(svg: &str) -> Result<Vec<u8>, PlotError> {
    let tree = png::parse(svg)?;
    let (width, height) = (tree.size().width() * SCALE, tree.size().height() * SCALE);
    let mut content = Content::new();
    // The vertical axis of a page points upwards.
    content.transform([SCALE, 0.0, 0.0, -SCALE, 0.0, height]);
    draw(&mut content, tree.root());
    let drawn = compressed(&content.finish());

    let [catalog, pages, page, stream, about] = [1, 2, 3, 4, 5].map(Ref::new);
    let mut pdf = Pdf::new();
    pdf.catalog(catalog).pages(pages);
    pdf.pages(pages).kids([page]).count(1);
    let mut written = pdf.page(page);
    written.parent(pages).media_box(Rect::new(0.0, 0.0, width, height)).contents(stream);
    written.resources();
    written.finish();
    pdf.stream(stream, &drawn).filter(Filter::FlateDecode);
    pdf.document_info(about).title(TextStr(&title(svg))).creator(TextStr("dobrushin"));
    Ok(pdf.finish())
}

/// The heading of a drawing.
fn title(svg: &str) -> String {
    let start = svg.split_once("<title id=\"plot-title\">").map_or("", |(_, rest)| rest);
    let escaped = start.split_once('<').map_or("", |(title, _)| title);
    let signs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    signs.iter().fold(escaped.to_owned(), |title, (code, sign)| title.replace(code, sign))
}

/// A stream as it is stored.
pub(crate) fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    // Writing to memory cannot fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

/// Writes the shapes of a drawing.
pub(crate) fn draw(content: &mut Content, group: &Group) {
    let clip = group.clip_path();
    if let Some(clip) = clip {
        content.save_state();
        // It is given in the units of the group.
        let place = group.abs_transform().pre_concat(clip.transform());
        for node in clip.root().children() {
            if let Node::Path(path) = node {
                trace(content, path, place.pre_concat(path.abs_transform()));
            }
        }
        content.clip_nonzero().end_path();
    }
    for node in group.children() {
        match node {
            Node::Group(group) => draw(content, group),
            Node::Path(path) => paint(content, path),
            Node::Text(text) => draw(content, text.flattened()),
            Node::Image(_) => {}
        }
    }
    if clip.is_some() {
        content.restore_state();
    }
}

fn paint(content: &mut Content, path: &Path) {
    let fill = |content: &mut Content| {
        if let Some((fill, Paint::Color(colour))) = path.fill().map(|fill| (fill, fill.paint())) {
            let [red, green, blue] = shares(*colour);
            content.set_fill_rgb(red, green, blue);
            trace(content, path, path.abs_transform());
            match fill.rule() {
                FillRule::NonZero => content.fill_nonzero(),
                FillRule::EvenOdd => content.fill_even_odd(),
            };
        }
    };
    let stroke = |content: &mut Content| {
        if let Some((stroke, Paint::Color(colour))) = path.stroke().map(|stroke| (stroke, stroke.paint())) {
            let [red, green, blue] = shares(*colour);
            content.set_stroke_rgb(red, green, blue);
            content.set_line_width(stroke.width().get());
            content.set_miter_limit(stroke.miterlimit().get());
            content.set_line_cap(match stroke.linecap() {
                LineCap::Butt => LineCapStyle::ButtCap,
                LineCap::Round => LineCapStyle::RoundCap,
                LineCap::Square => LineCapStyle::ProjectingSquareCap,
            });
            content.set_line_join(match stroke.linejoin() {
                LineJoin::Miter | LineJoin::MiterClip => LineJoinStyle::MiterJoin,
                LineJoin::Round => LineJoinStyle::RoundJoin,
                LineJoin::Bevel => LineJoinStyle::BevelJoin,
            });
            let dashes = stroke.dasharray().unwrap_or_default();
            content.set_dash_pattern(dashes.iter().copied(), stroke.dashoffset());
            trace(content, path, path.abs_transform());
            content.stroke();
        }
    };
    match path.paint_order() {
        PaintOrder::FillAndStroke => {
            fill(content);
            stroke(content);
        }
        PaintOrder::StrokeAndFill => {
            stroke(content);
            fill(content);
        }
    }
}

/// Writes an outline, in user units of the whole picture.
fn trace(content: &mut Content, path: &Path, transform: Transform) {
    let Some(outline) = path.data().clone().transform(transform) else { return };
    let mut last = (0.0, 0.0);
    for segment in outline.segments() {
        match segment {
            PathSegment::MoveTo(to) => {
                content.move_to(to.x, to.y);
                last = (to.x, to.y);
            }
            PathSegment::LineTo(to) => {
                content.line_to(to.x, to.y);
                last = (to.x, to.y);
            }
            // A quadratic curve is a cubic one.
            PathSegment::QuadTo(by, to) => {
                let towards = |from: (f32, f32)| {
                    (from.0 + (by.x - from.0) * 2.0 / 3.0, from.1 + (by.y - from.1) * 2.0 / 3.0)
                };
                let (first, second) = (towards(last), towards((to.x, to.y)));
                content.cubic_to(first.0, first.1, second.0, second.1, to.x, to.y);
                last = (to.x, to.y);
            }
            PathSegment::CubicTo(first, second, to) => {
                content.cubic_to(first.x, first.y, second.x, second.y, to.x, to.y);
                last = (to.x, to.y);
            }
            PathSegment::Close => {
                content.close_path();
            }
        }
    }
}

fn shares(colour: Color) -> [f32; 3] {
    [colour.red, colour.green, colour.blue].map(|part| f32::from(part) / 255.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PICTURE: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"40\" height=\"30\">\
                           <title id=\"plot-title\">δ &lt; 1 &amp; more</title>\
                           <clipPath id=\"c\"><rect width=\"20\" height=\"20\"/></clipPath>\
                           <path d=\"M1 1L9 9\" stroke=\"#ff0000\" stroke-dasharray=\"2 1\" clip-path=\"url(#c)\"/>\
                           <text x=\"2\" y=\"20\" font-family=\"DejaVu Sans\">δ</text></svg>";

    #[test]
    fn a_page_is_as_large_as_the_drawing_and_the_same_every_time() {
        let pdf = render(PICTURE).expect("it is SVG");
        assert!(pdf.starts_with(b"%PDF-"));
        let text = String::from_utf8_lossy(&pdf);
        assert!(text.contains("/MediaBox [0 0 30 22.5]"), "{text}");
        assert_eq!(pdf, render(PICTURE).expect("it is SVG"));
    }

    #[test]
    fn the_heading_is_the_title_of_the_document() {
        assert_eq!(title(PICTURE), "δ < 1 & more");
        assert_eq!(title("<svg/>"), "");
    }

    #[test]
    fn a_text_that_is_not_svg_is_an_error() {
        assert!(matches!(render("<svg"), Err(PlotError::Render(_))));
    }
}
