//! A number at every place of a grid, as coloured cells, and what wins where.

use super::contour::{contours, label_places};
use super::layout::{GAP, LABEL_SIZE, Placed, SMALL_SIZE, TITLE_SIZE, WIDTH};
use super::names::Rectangle;
use super::regions::{FILLS, borders, occurring};
use super::svg::{INK, PALE_INK};
use super::text::{escape, shorten, width, wrap};
use super::writer::{Writer, number};
use dobrushin::Enclosure;
use dobrushin::numeric::decimal;
use dobrushin_document::csv::Table;

/// A picture of a matrix: each cell is coloured by its number, on a logarithmic scale, and darker where it is larger.
/// Numbers are written into the cells if they fit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatMap {
    /// The heading, wrapped when it is long.
    pub title: String,
    /// What the columns are.
    pub x: String,
    /// What the rows are.
    pub y: String,
    /// What the numbers are.
    pub value: String,
    /// The name of each column.
    pub columns: Vec<String>,
    /// The name of each row, from the top.
    pub rows: Vec<String>,
    /// The numbers of each row; a cell without one is left blank, and an infinite one is the darkest.
    pub cells: Vec<Vec<Option<f64>>>,
    /// Whether neighbours are close to each other, so that lines of equal value say something where the numbers do not
    /// fit.
    pub contours: bool,
    /// A second picture below, of the same cells.
    pub regions: Option<Regions>,
    /// Paragraphs below the picture, each wrapped to its width.
    pub caption: Vec<String>,
}

/// What wins where.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Regions {
    /// The heading of the second picture.
    pub title: String,
    /// The name of the winner at each cell.
    pub names: Vec<Vec<Option<String>>>,
}

/// The colours from the smallest number to the largest, as red, green and blue.
const COLOURS: [[f64; 3]; 5] =
    [[253.0, 231.0, 37.0], [94.0, 201.0, 98.0], [33.0, 145.0, 140.0], [59.0, 82.0, 139.0], [68.0, 1.0, 84.0]];
/// The height of a row where there are few, and of all rows where there are many.
const ROW: f64 = 20.0;
const HIGHEST: f64 = 320.0;
/// More numbers than this are harder to read than lines of equal value.
const MOST_NUMBERS: usize = 120;
/// The room at the left edge for the label of the rows, and at the right edge.
const MARGIN: f64 = 40.0;
/// The font size of the numbers in cells.
const CELL_SIZE: f64 = 10.0;
/// The room below a grid for the names of its columns and their label.
const BELOW: f64 = 48.0;
/// The room for the bar of colours.
const BAR: f64 = 52.0;
/// The size of a sample in the legend of regions, and the distance of its rows.
const SWATCH: (f64, f64) = (36.0, 16.0);
const LEGEND_ROW: f64 = 24.0;

/// Where everything is.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// The lines of the heading.
    title: Vec<Placed>,
    /// The left edge of the grids.
    pub left: f64,
    /// The upper edge of the first grid.
    top: f64,
    /// The upper edge of the second grid, if there is one.
    second: Option<f64>,
    /// The width of a column.
    pub cell: f64,
    /// The height of a row.
    pub row: f64,
    /// The names of regions: which fill, and where.
    legend: Vec<(usize, Placed)>,
    /// The lines below.
    caption: Vec<Placed>,
    /// The height of the picture.
    height: f64,
}

impl Frame {
    /// The upper edges of the grids.
    pub fn tops(&self) -> impl Iterator<Item = f64> {
        std::iter::once(self.top).chain(self.second)
    }
}

impl HeatMap {
    /// Places everything.
    pub(super) fn frame(&self) -> Frame {
        let names = self.rows.iter().map(|name| width(name, SMALL_SIZE));
        let left = MARGIN + names.fold(0.0, f64::max).min(200.0) + GAP;
        let across = WIDTH - left - MARGIN / 2.0;
        let lines = |text: &str, size: f64| wrap(text, size, WIDTH - MARGIN - MARGIN / 2.0);
        let placed = |lines: Vec<String>, first: f64, apart: f64| -> Vec<Placed> {
            let place = |(index, text)| Placed { text, x: MARGIN, y: first + apart * index as f64 };
            lines.into_iter().enumerate().map(place).collect()
        };
        let title = placed(lines(&self.title, TITLE_SIZE), 40.0, 24.0);
        let top = title.last().map_or(32.0, |last| last.y + 20.0);
        let even = HIGHEST / self.rows.len().max(1) as f64;
        let row = if self.contours { even.clamp(3.0, 2.0 * ROW) } else { even.clamp(3.0, ROW) };
        let high = row * self.rows.len() as f64;
        let mut bottom = top + high + BELOW + BAR;
        let mut legend = Vec::new();
        let second = self.regions.as_ref().map(|regions| {
            let second = bottom + 36.0;
            bottom = second + high + BELOW;
            let mut x = left;
            for (index, (name, _)) in occurring(&regions.names).into_iter().enumerate() {
                let text = shorten(&name, LABEL_SIZE, across - SWATCH.0 - GAP);
                let wide = SWATCH.0 + GAP + width(&text, LABEL_SIZE);
                if x + wide > WIDTH - MARGIN / 2.0 && x > left {
                    x = left;
                    bottom += LEGEND_ROW;
                }
                legend.push((index % FILLS.len(), Placed { text, x, y: bottom + 16.0 }));
                x += wide + 28.0;
            }
            bottom += LEGEND_ROW;
            second
        });
        let paragraphs = self.caption.iter().flat_map(|text| lines(text, SMALL_SIZE));
        let caption = placed(paragraphs.collect(), bottom + 24.0, 18.0);
        let height = caption.last().map_or(bottom, |last| last.y) + 24.0;
        let cell = across / self.columns.len().max(1) as f64;
        Frame { title, left, top, second, cell, row, legend, caption, height }
    }

    /// The picture as SVG text, the same bytes for the same map.
    pub fn to_svg(&self) -> String {
        let frame = self.frame();
        let (wide, high) = (number(WIDTH), number(frame.height));
        let attributes = format!(
            "xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{high}\" viewBox=\"0 0 {wide} {high}\" \
             role=\"img\" aria-labelledby=\"plot-title plot-desc\" \
             font-family=\"DejaVu Sans, Verdana, sans-serif\" fill=\"{INK}\""
        );
        let mut svg = Writer::default();
        svg.element("svg", &attributes, |svg| {
            svg.line(&format!("<title id=\"plot-title\">{}</title>", escape(&self.title)));
            let description = escape(&format!("{} against {}", self.y, self.x));
            svg.line(&format!("<desc id=\"plot-desc\">{description}</desc>"));
            svg.line(&format!("<rect width=\"{wide}\" height=\"{high}\" fill=\"#FFFFFF\"/>"));
            svg.element("g", &format!("font-size=\"{}\"", number(TITLE_SIZE)), |svg| {
                frame.title.iter().for_each(|line| svg.placed(line));
            });
            self.draw_cells(svg, &frame);
            self.draw_names(svg, &frame, frame.top);
            self.draw_bar(svg, &frame);
            if let (Some(regions), Some(top)) = (&self.regions, frame.second) {
                self.draw_regions(svg, &frame, regions, top);
                self.draw_names(svg, &frame, top);
            }
            let small = format!("font-size=\"{}\" fill=\"{PALE_INK}\"", number(SMALL_SIZE));
            svg.element("g", &small, |svg| frame.caption.iter().for_each(|line| svg.placed(line)));
        });
        svg.finish()
    }

    /// The least and the largest positive finite number.
    fn ends(&self) -> (f64, f64) {
        let finite = || self.cells.iter().flatten().flatten().copied().filter(|v| *v > 0.0 && v.is_finite());
        (finite().fold(f64::INFINITY, f64::min), finite().fold(0.0, f64::max))
    }

    /// The numbers as they are written into cells; nothing if one does not fit.
    fn numbers(&self, frame: &Frame) -> Option<Vec<Vec<String>>> {
        let text = |cell: &Option<f64>| {
            let value = cell.filter(|value| !value.is_nan());
            value.map_or(String::new(), |value| decimal::upper(Enclosure::from(value), 2))
        };
        let all: Vec<Vec<String>> = self.cells.iter().map(|row| row.iter().map(text).collect()).collect();
        let widest = all.iter().flatten().map(|text| width(text, CELL_SIZE)).fold(0.0, f64::max);
        let count = self.rows.len() * self.columns.len();
        let fits = widest + 4.0 <= frame.cell && frame.row >= CELL_SIZE + 4.0;
        (fits && (!self.contours || count <= MOST_NUMBERS)).then_some(all)
    }

    fn draw_cells(&self, svg: &mut Writer, frame: &Frame) {
        let ends = self.ends();
        let numbers = self.numbers(frame);
        let attributes = format!("font-size=\"{}\" text-anchor=\"middle\"", number(CELL_SIZE));
        svg.element("g", &attributes, |svg| {
            for (row, values) in self.cells.iter().enumerate() {
                for (column, value) in values.iter().enumerate() {
                    let Some(value) = value.filter(|value| !value.is_nan()) else {
                        continue;
                    };
                    let (x, y) =
                        (frame.left + frame.cell * column as f64, frame.top + frame.row * row as f64);
                    let darkness = darkness(value, ends);
                    // Neighbours overlap a little, so that no light shines between them.
                    svg.line(&format!(
                        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>",
                        number(x),
                        number(y),
                        number(frame.cell + 0.3),
                        number(frame.row + 0.3),
                        colour(darkness)
                    ));
                    if let Some(numbers) = &numbers {
                        let ink = if darkness > 0.4 { "#FFFFFF" } else { INK };
                        let (x, y) = (number(x + frame.cell / 2.0), number(y + frame.row / 2.0 + 3.6));
                        let text = escape(&numbers[row][column]);
                        svg.line(&format!("<text x=\"{x}\" y=\"{y}\" fill=\"{ink}\">{text}</text>"));
                    }
                }
            }
        });
        if let Some(regions) = &self.regions {
            self.draw_borders(svg, frame, regions, frame.top);
        }
        if self.contours && numbers.is_none() {
            self.draw_contours(svg, frame);
        }
    }

    fn draw_contours(&self, svg: &mut Writer, frame: &Frame) {
        let at = |(column, row): (f64, f64)| {
            (frame.left + frame.cell * (column + 0.5), frame.top + frame.row * (row + 0.5))
        };
        let lines = contours(&self.cells);
        let labels: Vec<String> = lines.iter().map(|line| decimal::plain(line.level)).collect();
        let within = Rectangle {
            left: frame.left,
            top: frame.top,
            right: frame.left + frame.cell * self.columns.len() as f64,
            bottom: frame.top + frame.row * self.rows.len() as f64,
        };
        let places = label_places(&lines, &labels, within, at);
        for line in &lines {
            let pieces = line.pieces.iter().map(|&(from, to)| {
                let (from, to) = (at(from), at(to));
                format!("M{} {}L{} {}", number(from.0), number(from.1), number(to.0), number(to.1))
            });
            let path: String = pieces.collect();
            for (colour, wide) in [("#FFFFFF", "2.6"), (INK, "1.1")] {
                svg.line(&format!(
                    "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{wide}\" \
                     stroke-linecap=\"round\"/>"
                ));
            }
        }
        let attributes = format!(
            "class=\"contour-labels\" font-size=\"{}\" text-anchor=\"middle\" stroke=\"#FFFFFF\" stroke-width=\"4\" \
             stroke-linejoin=\"round\" paint-order=\"stroke\"",
            number(SMALL_SIZE)
        );
        svg.element("g", &attributes, |svg| {
            for (label, place) in labels.iter().zip(places) {
                if let Some((x, y)) = place {
                    svg.placed(&Placed { text: label.clone(), x, y: y + 4.3 });
                }
            }
        });
    }

    /// Draws the colours from the least number to the largest.
    fn draw_bar(&self, svg: &mut Writer, frame: &Frame) {
        let (least, most) = self.ends();
        if least > most {
            return;
        }
        const PIECES: u32 = 40;
        let top = frame.top + frame.row * self.rows.len() as f64 + BELOW + 8.0;
        let ends =
            [(least, 0.0), (most, 1.0)].map(|(value, at)| (decimal::upper(Enclosure::from(value), 2), at));
        let name = &self.value;
        let start = frame.left + width(name, SMALL_SIZE) + 2.0 * GAP + width(&ends[0].0, SMALL_SIZE);
        let across = 200.0;
        for piece in 0..PIECES {
            let share = f64::from(piece) / f64::from(PIECES);
            let shade = colour(if least < most { (share + 0.5 / f64::from(PIECES)).min(1.0) } else { 0.0 });
            svg.line(&format!(
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"12\" fill=\"{shade}\"/>",
                number(start + share * across),
                number(top),
                number(across / f64::from(PIECES) + 0.3),
            ));
        }
        let y = top + 10.5;
        svg.element("g", &format!("font-size=\"{}\" fill=\"{PALE_INK}\"", number(SMALL_SIZE)), |svg| {
            let [low, high] = ends.map(|(text, _)| text);
            let before = start - GAP - width(&low, SMALL_SIZE);
            svg.placed(&Placed { text: name.clone(), x: frame.left, y });
            svg.placed(&Placed { text: low, x: before, y });
            svg.placed(&Placed { text: high, x: start + across + GAP, y });
        });
    }

    fn draw_regions(&self, svg: &mut Writer, frame: &Frame, regions: &Regions, top: f64) {
        svg.element("g", &format!("font-size=\"{}\"", number(LABEL_SIZE + 1.0)), |svg| {
            let text = shorten(&regions.title, LABEL_SIZE + 1.0, WIDTH - 2.0 * MARGIN);
            svg.placed(&Placed { text, x: MARGIN, y: top - 14.0 });
        });
        for (index, (name, _)) in occurring(&regions.names).into_iter().enumerate() {
            let fill = FILLS[index % FILLS.len()];
            let mut hatching = String::new();
            let mut area = String::new();
            for (row, cells) in regions.names.iter().enumerate() {
                // Neighbours in a row are one rectangle.
                let mut column = 0;
                while column < cells.len() {
                    let end = cells[column..].iter().take_while(|cell| cell.as_ref() == Some(&name)).count();
                    if end > 0 {
                        let x = frame.left + frame.cell * column as f64;
                        let y = top + frame.row * row as f64;
                        let (wide, high) = (frame.cell * end as f64, frame.row);
                        area.push_str(&format!(
                            "M{} {}h{}v{}h{}z",
                            number(x),
                            number(y),
                            number(wide),
                            number(high),
                            number(-wide)
                        ));
                        hatching.push_str(&fill.hatch.path(x, y, wide, high));
                    }
                    column += end.max(1);
                }
            }
            svg.line(&format!("<path d=\"{area}\" fill=\"{}\"/>", fill.colour));
            if !hatching.is_empty() {
                svg.line(&format!("<path d=\"{hatching}\" stroke=\"{HATCHING}\" stroke-width=\"0.8\"/>"));
            }
        }
        self.draw_borders(svg, frame, regions, top);
        svg.element("g", &format!("font-size=\"{}\"", number(LABEL_SIZE)), |svg| {
            for (index, Placed { text, x, y }) in &frame.legend {
                let fill = FILLS[*index];
                let top = y - SWATCH.1 / 2.0 - 4.0;
                svg.line(&format!(
                    "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" stroke=\"{INK}\"/>",
                    number(*x),
                    number(top),
                    number(SWATCH.0),
                    number(SWATCH.1),
                    fill.colour
                ));
                let hatching = fill.hatch.path(*x, top, SWATCH.0, SWATCH.1);
                if !hatching.is_empty() {
                    svg.line(&format!("<path d=\"{hatching}\" stroke=\"{HATCHING}\" stroke-width=\"0.8\"/>"));
                }
                svg.placed(&Placed { text: text.clone(), x: x + SWATCH.0 + GAP, y: *y });
            }
        });
    }

    fn draw_borders(&self, svg: &mut Writer, frame: &Frame, regions: &Regions, top: f64) {
        let at = |(column, row): (usize, usize)| {
            format!(
                "{} {}",
                number(frame.left + frame.cell * column as f64),
                number(top + frame.row * row as f64)
            )
        };
        let sides = borders(&regions.names);
        let path: String = sides.into_iter().map(|(from, to)| format!("M{}L{}", at(from), at(to))).collect();
        if !path.is_empty() {
            svg.line(&format!(
                "<path class=\"borders\" d=\"{path}\" fill=\"none\" stroke=\"{INK}\" stroke-width=\"1.6\" \
                 stroke-linecap=\"square\" stroke-dasharray=\"5 3\"/>"
            ));
        }
    }

    fn draw_names(&self, svg: &mut Writer, frame: &Frame, top: f64) {
        let (left, cell) = (frame.left, frame.cell);
        let bottom = top + frame.row * self.rows.len() as f64;
        let small = format!("font-size=\"{}\" fill=\"{PALE_INK}\"", number(SMALL_SIZE));
        let text = |svg: &mut Writer, x: f64, y: f64, text: &str| {
            svg.line(&format!("<text x=\"{}\" y=\"{}\">{}</text>", number(x), number(y), escape(text)));
        };
        // As many names as there is room for.
        let every = (14.0 / frame.row).ceil().max(1.0) as usize;
        svg.element("g", &format!("{small} text-anchor=\"end\""), |svg| {
            for (row, name) in self.rows.iter().enumerate().step_by(every) {
                let y = top + frame.row * (row as f64 + 0.5) + 4.0;
                text(svg, left - GAP, y, &shorten(name, SMALL_SIZE, 200.0));
            }
        });
        let widest = self.columns.iter().map(|name| width(name, SMALL_SIZE)).fold(1.0, f64::max);
        let every = ((widest + GAP) / cell).ceil().max(1.0) as usize;
        let across = cell * self.columns.len() as f64;
        svg.element("g", &format!("{small} text-anchor=\"middle\""), |svg| {
            for (column, name) in self.columns.iter().enumerate().step_by(every) {
                let name = shorten(name, SMALL_SIZE, across);
                let half = width(&name, SMALL_SIZE) / 2.0;
                let x = (left + cell * (column as f64 + 0.5)).min(WIDTH - 4.0 - half);
                text(svg, x, bottom + 16.0, &name);
            }
        });
        svg.element("g", &format!("font-size=\"{}\" text-anchor=\"middle\"", number(LABEL_SIZE)), |svg| {
            text(svg, left + across / 2.0, bottom + 38.0, &shorten(&self.x, LABEL_SIZE, across));
            let (x, y) = (number(24.0), number(top.midpoint(bottom)));
            let name = escape(&shorten(&self.y, LABEL_SIZE, (bottom - top).max(120.0)));
            svg.line(&format!("<text transform=\"translate({x} {y}) rotate(-90)\">{name}</text>"));
        });
    }

    /// The winner at a cell.
    fn winner(&self, row: usize, column: usize) -> Option<&str> {
        self.regions.as_ref()?.names.get(row)?.get(column)?.as_deref()
    }

    /// What is read out at each cell: pairs of a name and a value.
    pub(super) fn said(&self) -> Vec<Vec<Vec<[String; 2]>>> {
        let at = |row: usize, column: usize, cell: &Option<f64>| {
            let value = cell.map_or("none".to_owned(), decimal::plain);
            let winner = self.winner(row, column).map(|winner| ["by".to_owned(), winner.to_owned()]);
            [[self.value.clone(), value]].into_iter().chain(winner).collect()
        };
        let row = |(row, cells): (usize, &Vec<Option<f64>>)| {
            cells.iter().enumerate().map(|(column, cell)| at(row, column, cell)).collect()
        };
        self.cells.iter().enumerate().map(row).collect()
    }

    /// Every number, with its column and its row.
    pub fn points(&self) -> Table {
        let winners = self.regions.as_ref().map(|_| "by");
        let mut table = Table::new([&*self.x, &*self.y, &*self.value].into_iter().chain(winners));
        for (row, cells) in self.cells.iter().enumerate() {
            for (column, cell) in cells.iter().enumerate() {
                let by = winners.map(|_| self.winner(row, column).into());
                let first =
                    [self.columns[column].as_str().into(), self.rows[row].as_str().into(), (*cell).into()];
                table.push(first.into_iter().chain(by).collect());
            }
        }
        table
    }
}

/// The colour of hatching.
const HATCHING: &str = "#444444";

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
            value: "ε at most".to_owned(),
            cells,
            caption: vec!["A caption.".to_owned()],
            ..HeatMap::default()
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
        let both =
            |cells: Vec<Vec<Option<f64>>>| [false, true].map(|rich| rich_or_plain(map(cells.clone()), rich));
        for picture in cases.into_iter().flat_map(both) {
            let cells = &picture.cells;
            let svg = picture.to_svg();
            assert!(!svg.contains("\"NaN") && !svg.contains("\"inf"), "{cells:?}");
            assert!(svg.contains("ε &lt; δ &amp; more") && !svg.contains("<b>"));
            assert!(super::super::png::render(&svg).expect("our own SVG renders").starts_with(b"\x89PNG"));
        }
    }

    /// The same map, perhaps with contours and regions.
    fn rich_or_plain(map: HeatMap, rich: bool) -> HeatMap {
        if !rich {
            return map;
        }
        let name =
            |value: &Option<f64>| value.map(|value| if value > 1.0 { "<b>" } else { "shift" }.to_owned());
        let names = map.cells.iter().map(|row| row.iter().map(name).collect()).collect();
        HeatMap { contours: true, regions: Some(Regions { title: "Who wins".to_owned(), names }), ..map }
    }

    /// ε of a product, on a grid with this many rows and columns.
    fn product(count: usize) -> HeatMap {
        let row = |row: usize| (1..=count).map(|column| Some((column * row) as f64 / 8.0)).collect();
        rich_or_plain(map((1..=count).map(row).collect()), true)
    }

    #[test]
    fn few_cells_have_numbers_and_many_have_lines_with_labels() {
        let few = product(8).to_svg();
        assert!(few.contains(">4.5<") && !few.contains("contour-labels"));
        let many = product(40).to_svg();
        assert!(!many.contains(">4.5<") && many.contains("contour-labels"));
        assert!(many.contains(">10<") && many.contains("shift"), "{many}");
    }

    #[test]
    fn every_cell_is_in_the_table_and_can_be_read_out() {
        let map = product(3);
        assert_eq!(map.points().text().lines().count(), 10);
        assert_eq!(map.points().text().lines().nth(2), Some("2,1,0.25,shift"));
        assert_eq!(
            map.said()[1][2],
            [["ε at most".to_owned(), "0.75".to_owned()], ["by".to_owned(), "shift".to_owned()]]
        );
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
