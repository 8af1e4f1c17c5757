//! A sheet as PDF pages.
//!
//! Each page is laid out as a drawing in the font that is part of the program, so it looks the same on every machine.

use crate::plot::pdf::{compressed, draw};
use crate::plot::png;
use crate::plot::text::{escape, wrap};
use crate::problem::Problem;
use dobrushin_document::plain_text::shown_safely;
use dobrushin_document::sheet::Sheet;
use pdf_writer::{Content, Filter, Finish, Pdf, Rect, Ref, TextStr};

/// A4 in points.
const WIDTH: f64 = 595.0;
const HEIGHT: f64 = 842.0;
const MARGIN: f64 = 56.0;
/// The size of text, and the distance of its lines.
const SIZE: f64 = 9.5;
const LINE: f64 = 14.0;
/// How far points are indented.
const INDENT: f64 = 12.0;
/// What an emphasised line looks like.
const INK: &str = "#222222";
const PALE: &str = "#555555";
const ALARM: &str = "#B00020";

/// The bytes of the file.
pub fn render(sheet: &Sheet, drawing: &str) -> Result<Vec<u8>, Problem> {
    let mut pages = Pages::default();
    pages.paragraph(&sheet.title, 9.0, PALE, 0.0);
    pages.gap(4.0);
    pages.paragraph(&sheet.answer, 16.0, INK, 0.0);
    if let Some(alarm) = &sheet.alarm {
        pages.gap(6.0);
        pages.paragraph(alarm, SIZE, ALARM, 0.0);
    }
    for (index, section) in sheet.sections.iter().enumerate() {
        pages.gap(12.0);
        // A heading stays with the first lines below it.
        pages.keep_together(5.0 * LINE);
        pages.paragraph(section.heading, 12.0, INK, 0.0);
        pages.rule();
        section.points.iter().for_each(|point| pages.point(point));
        if index == 0 {
            pages.drawing(drawing);
        }
    }
    write(&sheet.title, &pages.finish())
}

/// Pages in the making, as SVG.
#[derive(Default)]
struct Pages {
    done: Vec<String>,
    current: String,
    /// How far down the current page is filled.
    y: f64,
}

impl Pages {
    fn gap(&mut self, height: f64) {
        self.y += height;
    }

    /// Begins a new page unless this one has so much room left.
    fn keep_together(&mut self, height: f64) {
        if self.y + height > HEIGHT - 2.0 * MARGIN && !self.current.is_empty() {
            self.done.push(std::mem::take(&mut self.current));
            self.y = 0.0;
        }
    }

    /// A line of text at the given indentation.
    fn line(&mut self, text: &str, size: f64, ink: &str, indent: f64) {
        self.keep_together(LINE.max(1.3 * size));
        self.y += LINE.max(1.3 * size);
        let (x, y) = (MARGIN + indent, MARGIN + self.y);
        self.current += &format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" fill=\"{ink}\" xml:space=\"preserve\">{}</text>\n",
            escape(text)
        );
    }

    fn paragraph(&mut self, text: &str, size: f64, ink: &str, indent: f64) {
        for line in wrap(&shown_safely(text), size, WIDTH - 2.0 * MARGIN - indent) {
            self.line(&line, size, ink, indent);
        }
    }

    /// An item of a list.
    fn point(&mut self, text: &str) {
        let lines = wrap(&shown_safely(text), SIZE, WIDTH - 2.0 * MARGIN - INDENT);
        self.gap(2.0);
        for (index, line) in lines.iter().enumerate() {
            self.line(line, SIZE, INK, INDENT);
            if index == 0 {
                let (x, y) = (MARGIN + 3.0, MARGIN + self.y - 0.35 * SIZE);
                self.current += &format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"1.5\" fill=\"{PALE}\"/>\n");
            }
        }
    }

    fn rule(&mut self) {
        self.gap(4.0);
        let (left, right, y) = (MARGIN, WIDTH - MARGIN, MARGIN + self.y);
        self.current +=
            &format!("<path d=\"M{left} {y:.1}H{right}\" stroke=\"#DDDDDD\" stroke-width=\"0.7\"/>\n");
        self.gap(2.0);
    }

    /// A drawing over the whole width.
    fn drawing(&mut self, svg: &str) {
        let Some((width, height)) = size_of(svg) else {
            return;
        };
        let scale = (WIDTH - 2.0 * MARGIN) / width;
        self.gap(8.0);
        self.keep_together(scale * height);
        let y = MARGIN + self.y;
        self.current +=
            &format!("<g transform=\"translate({MARGIN} {y:.1}) scale({scale:.5})\">\n{svg}</g>\n");
        self.gap(scale * height);
    }

    fn finish(mut self) -> Vec<String> {
        self.done.push(self.current);
        let all = self.done.len();
        let page = |(content, number): (&String, usize)| {
            let (x, y) = (WIDTH / 2.0, HEIGHT - 0.5 * MARGIN);
            format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
                 font-family=\"DejaVu Sans\">\n{content}<text x=\"{x}\" y=\"{y}\" font-size=\"8\" fill=\"{PALE}\" \
                 text-anchor=\"middle\">{number} / {all}</text>\n</svg>\n"
            )
        };
        self.done.iter().zip(1..).map(page).collect()
    }
}

/// The size of one of our own drawings.
fn size_of(svg: &str) -> Option<(f64, f64)> {
    let attribute = |name: &str| {
        let rest = svg.split_once(name)?.1;
        rest.split_once('"')?.0.parse::<f64>().ok().filter(|length| *length > 0.0)
    };
    attribute(" width=\"").zip(attribute(" height=\""))
}

/// The file of these pages.
fn write(title: &str, pages: &[String]) -> Result<Vec<u8>, Problem> {
    let mut next = Ref::new(1);
    let [catalog, tree, about] = [next.bump(), next.bump(), next.bump()];
    let mut pdf = Pdf::new();
    let mut kids = Vec::with_capacity(pages.len());
    for page in pages {
        let drawing = png::parse(page)?;
        let mut content = Content::new();
        // The vertical axis of a page points upwards.
        content.transform([1.0, 0.0, 0.0, -1.0, 0.0, HEIGHT as f32]);
        draw(&mut content, drawing.root());
        let [kid, stream] = [next.bump(), next.bump()];
        let mut written = pdf.page(kid);
        written.parent(tree).media_box(Rect::new(0.0, 0.0, WIDTH as f32, HEIGHT as f32)).contents(stream);
        written.resources();
        written.finish();
        pdf.stream(stream, &compressed(&content.finish())).filter(Filter::FlateDecode);
        kids.push(kid);
    }
    pdf.catalog(catalog).pages(tree);
    pdf.pages(tree).count(kids.len() as i32).kids(kids);
    pdf.document_info(about).title(TextStr(title)).creator(TextStr("dobrushin"));
    Ok(pdf.finish())
}
