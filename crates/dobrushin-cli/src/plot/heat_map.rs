//! A table of numbers as coloured cells.

use super::layout::{GAP, LABEL_SIZE, Placed, SMALL_SIZE, TITLE_SIZE, WIDTH};
use super::svg::{INK, PALE_INK};
use super::text::{escape, shorten, width, wrap};
use super::writer::{Writer, number};
use super::{PlotError, store};
use dobrushin::Enclosure;
use dobrushin::numeric::decimal;
use std::path::Path;

/// A picture of a matrix: each cell is coloured by its number, on a logarithmic scale, and darker where it is larger.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMap {
    /// The heading, wrapped when it is long.
    pub title: String,
    /// What the columns are.
    pub x: String,
    /// What the rows are.
    pub y: String,
    /// The name of each column.
    pub columns: Vec<String>,
    /// The name of each row, from the top.
    pub rows: Vec<String>,
    /// The numbers of each row; a cell without one is left blank, and an infinite one is the darkest.
    pub cells: Vec<Vec<Option<f64>>>,
    /// Paragraphs below the picture, each wrapped to its width.
    pub caption: Vec<String>,
}

/// The colours from the smallest number to the largest, as red, green and blue.
const COLOURS: [[f64; 3]; 5] =
    [[253.0, 231.0, 37.0], [94.0, 201.0, 98.0], [33.0, 145.0, 140.0], [59.0, 82.0, 139.0], [68.0, 1.0, 84.0]];
/// The height of a row.
const ROW: f64 = 20.0;
/// The room at the left edge for the label of the rows, and at the right edge.
const MARGIN: f64 = 40.0;
/// The font size of the numbers in cells.
const CELL_SIZE: f64 = 10.0;

impl HeatMap {
    /// The picture as SVG text, the same bytes for the same map.
    pub fn to_svg(&self) -> String {
        let names = self.rows.iter().map(|name| width(name, SMALL_SIZE));
        let left = MARGIN + names.fold(0.0, f64::max).min(200.0) + GAP;
        let across = WIDTH - left - MARGIN / 2.0;
        let cell = across / self.columns.len().max(1) as f64;
        let title: Vec<String> = wrap(&self.title, TITLE_SIZE, WIDTH - 2.0 * MARGIN);
        let top = 32.0 + 24.0 * title.len() as f64;
        let bottom = top + ROW * self.rows.len() as f64;
        let paragraphs = self.caption.iter().flat_map(|text| wrap(text, SMALL_SIZE, WIDTH - 2.0 * MARGIN));
        let caption: Vec<String> = paragraphs.collect();
        let height = bottom + 76.0 + 18.0 * caption.len() as f64;
        let (wide, high) = (number(WIDTH), number(height));
        let attributes = format!(
            "xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{high}\" viewBox=\"0 0 {wide} {high}\" \
             role=\"img\" aria-labelledby=\"plot-title plot-desc\" \
             font-family=\"DejaVu Sans, Verdana, sans-serif\" fill=\"{INK}\""
        );
        let lines = |lines: &[String], first: f64, apart: f64| -> Vec<Placed> {
            let place = |(index, text): (usize, &String)| Placed {
                text: text.clone(),
                x: MARGIN,
                y: first + apart * index as f64,
            };
            lines.iter().enumerate().map(place).collect()
        };
        let mut svg = Writer::default();
        svg.element("svg", &attributes, |svg| {
            svg.line(&format!("<title id=\"plot-title\">{}</title>", escape(&self.title)));
            let description = escape(&format!("{} against {}", self.y, self.x));
            svg.line(&format!("<desc id=\"plot-desc\">{description}</desc>"));
            svg.line(&format!("<rect width=\"{wide}\" height=\"{high}\" fill=\"#FFFFFF\"/>"));
            svg.element("g", &format!("font-size=\"{}\"", number(TITLE_SIZE)), |svg| {
                lines(&title, 40.0, 24.0).iter().for_each(|line| svg.placed(line));
            });
            self.draw_cells(svg, (left, top), cell);
            self.draw_names(svg, (left, top), cell, bottom);
            let small = format!("font-size=\"{}\" fill=\"{PALE_INK}\"", number(SMALL_SIZE));
            svg.element("g", &small, |svg| {
                lines(&caption, bottom + 68.0, 18.0).iter().for_each(|line| svg.placed(line));
            });
        });
        svg.finish()
    }

    fn draw_cells(&self, svg: &mut Writer, (left, top): (f64, f64), cell: f64) {
        let finite =
            || self.cells.iter().flatten().flatten().filter(|value| **value > 0.0 && value.is_finite());
        let ends = (finite().copied().fold(f64::INFINITY, f64::min), finite().copied().fold(0.0, f64::max));
        let attributes = format!("font-size=\"{}\" text-anchor=\"middle\"", number(CELL_SIZE));
        svg.element("g", &attributes, |svg| {
            for (row, values) in self.cells.iter().enumerate() {
                for (column, value) in values.iter().enumerate() {
                    let Some(value) = value.filter(|value| !value.is_nan()) else {
                        continue;
                    };
                    let (x, y) = (left + cell * column as f64, top + ROW * row as f64);
                    let darkness = darkness(value, ends);
                    svg.line(&format!(
                        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>",
                        number(x),
                        number(y),
                        number(cell),
                        number(ROW),
                        colour(darkness)
                    ));
                    let text = decimal::upper(Enclosure::from(value), 2);
                    if width(&text, CELL_SIZE) + 2.0 <= cell {
                        let ink = if darkness > 0.4 { "#FFFFFF" } else { INK };
                        let (x, y) = (number(x + cell / 2.0), number(y + 0.68 * ROW));
                        svg.line(&format!(
                            "<text x=\"{x}\" y=\"{y}\" fill=\"{ink}\">{}</text>",
                            escape(&text)
                        ));
                    }
                }
            }
        });
    }

    fn draw_names(&self, svg: &mut Writer, (left, top): (f64, f64), cell: f64, bottom: f64) {
        let small = format!("font-size=\"{}\" fill=\"{PALE_INK}\"", number(SMALL_SIZE));
        let text = |svg: &mut Writer, x: f64, y: f64, text: &str| {
            svg.line(&format!("<text x=\"{}\" y=\"{}\">{}</text>", number(x), number(y), escape(text)));
        };
        svg.element("g", &format!("{small} text-anchor=\"end\""), |svg| {
            for (row, name) in self.rows.iter().enumerate() {
                text(svg, left - GAP, top + ROW * (row as f64 + 0.68), &shorten(name, SMALL_SIZE, 200.0));
            }
        });
        // As many names of columns as there is room for.
        let widest = self.columns.iter().map(|name| width(name, SMALL_SIZE)).fold(1.0, f64::max);
        let every = ((widest + GAP) / cell).ceil().max(1.0) as usize;
        svg.element("g", &format!("{small} text-anchor=\"middle\""), |svg| {
            for (column, name) in self.columns.iter().enumerate().step_by(every) {
                text(svg, left + cell * (column as f64 + 0.5), bottom + 16.0, name);
            }
        });
        svg.element("g", &format!("font-size=\"{}\" text-anchor=\"middle\"", number(LABEL_SIZE)), |svg| {
            text(svg, left + cell * self.columns.len() as f64 / 2.0, bottom + 40.0, &self.x);
            let (x, y) = (number(24.0), number(top.midpoint(bottom)));
            let name = escape(&shorten(&self.y, LABEL_SIZE, (bottom - top).max(120.0)));
            svg.line(&format!("<text transform=\"translate({x} {y}) rotate(-90)\">{name}</text>"));
        });
    }

    /// Writes the picture to `path` in the format named by the extension, `.svg`, `.png` or `.html`.
    ///
    /// A file that already exists is replaced at once and completely, or not at all.
    pub fn write(&self, path: &Path) -> Result<(), PlotError> {
        store(&self.to_svg(), path)
    }
}

/// The place of a number between the smallest and the largest one, on a logarithmic scale.
fn darkness(value: f64, (least, most): (f64, f64)) -> f64 {
    if value == f64::INFINITY {
        return 1.0;
    }
    if value <= 0.0 || least >= most {
        return 0.0;
    }
    ((value / least).ln() / (most / least).ln()).clamp(0.0, 1.0)
}

/// The colour of a place.
fn colour(darkness: f64) -> String {
    let at = darkness * (COLOURS.len() - 1) as f64;
    let first = (at.floor() as usize).min(COLOURS.len() - 2);
    let share = at - first as f64;
    let [red, green, blue] = [0, 1, 2].map(|part| {
        let (a, b) = (COLOURS[first][part], COLOURS[first + 1][part]);
        (a + share * (b - a)).round() as u8
    });
    format!("#{red:02X}{green:02X}{blue:02X}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(cells: Vec<Vec<Option<f64>>>) -> HeatMap {
        let names = |count: usize| (1..=count).map(|name| name.to_string()).collect();
        HeatMap {
            title: "ε < δ & more".to_owned(),
            x: "person".to_owned(),
            y: "observer".to_owned(),
            columns: names(cells.first().map_or(0, Vec::len)),
            rows: names(cells.len()),
            cells,
            caption: vec!["A caption.".to_owned()],
        }
    }

    #[test]
    fn awkward_numbers_are_drawn_without_panic_and_render() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        let cases = [
            vec![],
            vec![vec![]],
            vec![vec![None]],
            vec![vec![Some(0.0), Some(1.0)]],
            vec![vec![Some(nan), Some(inf)], vec![Some(-1.0), Some(1e-320)]],
            vec![vec![Some(1e300), Some(1e-300)]; 40],
            vec![vec![Some(1.0); 200]; 3],
        ];
        for cells in cases {
            let picture = map(cells.clone());
            let svg = picture.to_svg();
            assert!(!svg.contains("\"NaN") && !svg.contains("\"inf"), "{cells:?}");
            assert!(svg.contains("ε &lt; δ &amp; more"));
            assert!(super::super::png::render(&svg).expect("our own SVG renders").starts_with(b"\x89PNG"));
        }
    }

    #[test]
    fn larger_numbers_are_darker() {
        let shades: Vec<f64> =
            [1e-9, 0.1, 0.5, 1.0, 10.0].map(|value| darkness(value, (1e-9, 10.0))).to_vec();
        assert!(shades.is_sorted_by(|a, b| a < b));
        assert_eq!((colour(0.0), colour(1.0)), ("#FDE725".to_owned(), "#440154".to_owned()));
        assert_eq!(darkness(f64::INFINITY, (1.0, 2.0)), 1.0);
    }
}
