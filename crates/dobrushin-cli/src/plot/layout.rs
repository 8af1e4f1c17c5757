//! Where the parts of a picture go.
//!
//! The width is fixed and the plot area has a fixed height; the caption is below it and makes the picture as high as it
//! needs, so that it never covers data. Names are written beside the curves; where that is impossible, a legend is
//! above the caption.

use super::names::{self, Name};
use super::ruler::{Ruler, drawable};
use super::text;
use super::{Plot, Scale};

/// The width of every picture in user units.
pub(super) const WIDTH: f64 = 760.0;
/// The font size of the title.
pub(super) const TITLE_SIZE: f64 = 18.0;
/// The font size of axis labels and legend.
pub(super) const LABEL_SIZE: f64 = 13.0;
/// The font size beside ticks and in the caption.
pub(super) const SMALL_SIZE: f64 = 12.0;
/// The width of the sample of a line in the legend.
pub(super) const SAMPLE: f64 = 48.0;
/// The gap between a sample and its label, and between a tick and its label.
pub(super) const GAP: f64 = 8.0;

/// A picture with every part in its place.
#[derive(Debug)]
pub(super) struct Layout {
    /// The height of the picture.
    pub height: f64,
    /// The lines of the title.
    pub title: Vec<Placed>,
    /// Where the curves are drawn.
    pub area: Area,
    /// The horizontal axis.
    pub x: Ruler,
    /// The vertical axis.
    pub y: Ruler,
    /// The label of the horizontal axis; its place is the middle of the baseline.
    pub x_label: Placed,
    /// The label of the vertical axis; its place is the middle of the baseline.
    pub y_label: Placed,
    /// Whether the label of the vertical axis is short enough not to be turned.
    pub y_label_upright: bool,
    /// The words at the ticks of the horizontal axis, if it has words; their places are the middles of their baselines.
    pub x_words: Vec<Placed>,
    /// The names beside the curves.
    pub names: Vec<Name>,
    /// The entries of the legend, if the names have no place beside the curves.
    pub legend: Vec<Entry>,
    /// The lines of the caption.
    pub caption: Vec<Placed>,
}

/// A line of text and the start of its baseline.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Placed {
    /// What is written.
    pub text: String,
    /// Distance from the left edge.
    pub x: f64,
    /// Distance from the upper edge.
    pub y: f64,
}

/// An entry of the legend; its place is the left end of its sample, halfway up.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    /// Which series it belongs to.
    pub series: usize,
    /// The name and the place.
    pub label: Placed,
}

/// The rectangle between the axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Area {
    /// The left edge.
    pub left: f64,
    /// The upper edge.
    pub top: f64,
    /// The horizontal extent.
    pub width: f64,
    /// The vertical extent.
    pub height: f64,
}

impl Area {
    /// The right edge.
    pub fn right(self) -> f64 {
        self.left + self.width
    }

    /// The lower edge.
    pub fn bottom(self) -> f64 {
        self.top + self.height
    }
}

impl Layout {
    /// Places every part of the plot.
    pub fn new(plot: &Plot) -> Self {
        Self::with_names(plot).unwrap_or_else(|| Self::arranged(plot, 0.0, true))
    }

    /// The picture with names beside the curves; `None` if one of them has no place.
    fn with_names(plot: &Plot) -> Option<Self> {
        let wanted = names::wanted(plot)?;
        let mut layout = Self::arranged(plot, names::room(&wanted), false);
        layout.names = names::place(&layout, plot, wanted)?;
        Some(layout)
    }

    /// Everything but the names beside the curves, for which there is this much room at the right edge.
    fn arranged(plot: &Plot, room: f64, has_legend: bool) -> Self {
        let points: Vec<(f64, f64)> = drawable_points(plot).collect();
        let zero = starts_at_zero(plot, &points).then_some(0.0);
        let y = Ruler::new(&plot.y.scale, points.iter().map(|p| p.1).chain(zero), MOST_Y);
        let label_widths = y.ticks.iter().map(|tick| tick.label.width(SMALL_SIZE));
        let left = to_grid(LEFT + label_widths.fold(0.0, f64::max) + GAP + GAP);
        let x = horizontal_ruler(plot, &points, WIDTH - left - RIGHT.max(room));
        let overhang = x.ticks.last().map_or(0.0, |tick| tick.label.width(SMALL_SIZE) / 2.0 + GAP);
        let width = WIDTH - left - to_grid(overhang.max(RIGHT).max(room));
        let wide = WIDTH - left - RIGHT;

        let line = |index: usize, text: String, first: f64, distance: f64| Placed {
            text,
            x: left,
            y: first + distance * index as f64,
        };
        let place = |lines: Vec<String>, first: f64, distance: f64| -> Vec<Placed> {
            let lines = lines.into_iter().enumerate();
            lines.map(|(i, text)| line(i, text, first, distance)).collect()
        };
        let title = place(text::wrap(&plot.title, TITLE_SIZE, wide), 40.0, 24.0);
        let area =
            Area { left, top: title.last().map_or(TOP, |last| last.y + 24.0), width, height: AREA_HEIGHT };
        let x_words = words(&plot.x.scale, area);
        let words_end = x_words.iter().map(|word| word.y).fold(area.bottom() + 16.0, f64::max);
        let mut bottom = words_end + 8.0;
        let x_label = Placed {
            text: text::shorten(&plot.x.label, LABEL_SIZE, width),
            x: left + width / 2.0,
            y: bottom + 22.0,
        };
        if !x_label.text.is_empty() {
            bottom += 24.0;
        }
        let y_label = Placed {
            text: text::shorten(&plot.y.label, LABEL_SIZE, area.height),
            x: 28.0,
            y: area.top + area.height / 2.0,
        };
        let y_label_upright = text::width(&y_label.text, LABEL_SIZE) <= 24.0;
        let legend = if has_legend { legend(plot, left, bottom + 24.0, wide) } else { Vec::new() };
        if let Some(last) = legend.last() {
            bottom = last.label.y + 8.0;
        }
        let paragraphs = plot.caption.iter();
        let lines = paragraphs.flat_map(|text| text::wrap(text, SMALL_SIZE, wide));
        let caption = place(lines.collect(), bottom + 32.0, 18.0);
        if let Some(last) = caption.last() {
            bottom = last.y;
        }
        Layout {
            height: to_grid(bottom + 24.0),
            title,
            area,
            x,
            y,
            x_label,
            y_label,
            y_label_upright,
            x_words,
            names: Vec::new(),
            legend,
            caption,
        }
    }

    /// The place of a point in the picture, none when it cannot be drawn.
    pub fn place(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        Some((self.place_x(drawable(x)?), self.place_y(drawable(y)?)))
    }

    /// The distance from the left edge of a coordinate on the horizontal axis.
    pub fn place_x(&self, x: f64) -> f64 {
        self.area.left + self.area.width * self.x.fraction(x)
    }

    /// The distance from the upper edge of a coordinate on the vertical axis.
    pub fn place_y(&self, y: f64) -> f64 {
        self.area.top + self.area.height * (1.0 - self.y.fraction(y))
    }
}

/// The height of the plot area.
const AREA_HEIGHT: f64 = 320.0;
/// The upper edge of the plot area when there is no title.
const TOP: f64 = 32.0;
/// The room at the left edge for the label of the vertical axis.
const LEFT: f64 = 40.0;
/// The least room at the right edge.
const RIGHT: f64 = 32.0;
/// The most tick intervals on the vertical axis.
const MOST_Y: usize = 7;
/// The most tick intervals on the horizontal axis.
const MOST_X: usize = 10;
/// The least gap between the labels on the horizontal axis.
const LABEL_GAP: f64 = 16.0;
/// The gap between columns of the legend.
const COLUMN_GAP: f64 = 32.0;
/// The distance between rows of the legend.
const ROW: f64 = 24.0;

/// The length rounded up to a multiple of eight.
fn to_grid(length: f64) -> f64 {
    (length / 8.0).ceil() * 8.0
}

/// The points of all series that can be drawn.
fn drawable_points(plot: &Plot) -> impl Iterator<Item = (f64, f64)> {
    let points = plot.series.iter().flat_map(|series| &series.points);
    points.filter_map(|&(x, y)| Some((drawable(x)?, drawable(y)?)))
}

/// Whether the vertical axis starts at zero: amounts are compared best from there, unless that would take more than half
/// of the picture.
fn starts_at_zero(plot: &Plot, points: &[(f64, f64)]) -> bool {
    let low = points.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
    let high = points.iter().map(|point| point.1).fold(0.0, f64::max);
    plot.y.scale == Scale::Linear && low > 0.0 && low <= high / 2.0
}

/// The horizontal axis with as many ticks as there is room for their labels.
fn horizontal_ruler(plot: &Plot, points: &[(f64, f64)], width: f64) -> Ruler {
    let ruler = |most| Ruler::new(&plot.x.scale, points.iter().map(|p| p.0), most);
    let fits = |ruler: &Ruler| {
        ruler.ticks.windows(2).all(|pair| {
            let distance = (ruler.fraction(pair[1].at) - ruler.fraction(pair[0].at)) * width;
            let widths = pair[0].label.width(SMALL_SIZE) + pair[1].label.width(SMALL_SIZE);
            distance >= widths / 2.0 + LABEL_GAP
        })
    };
    let candidates = (3..=MOST_X).rev().map(ruler);
    candidates.into_iter().find(fits).unwrap_or_else(|| ruler(2))
}

/// The words of an axis, broken into lines as wide as their room. Where even single letters would not fit, every
/// second word, every third, and so on.
fn words(scale: &Scale, area: Area) -> Vec<Placed> {
    let Scale::Words(words) = scale else { return Vec::new() };
    let room = area.width / words.len().max(1) as f64;
    let every = (LEAST_WORD / room).ceil().max(1.0) as usize;
    let lines = words.iter().enumerate().step_by(every).flat_map(|(index, word)| {
        let mut lines = text::wrap_word(word, SMALL_SIZE, room * every as f64 - GAP);
        lines.truncate(MOST_LINES);
        let line = move |(row, text): (usize, String)| Placed {
            text,
            x: area.left + room * (index as f64 + 0.5),
            y: area.bottom() + 21.0 + LINE * row as f64,
        };
        lines.into_iter().enumerate().map(line)
    });
    lines.collect()
}

/// The least room of a word.
const LEAST_WORD: f64 = 64.0;
/// The most lines of a word.
const MOST_LINES: usize = 4;
/// The distance between the lines of a word.
const LINE: f64 = 14.0;

/// The entries of the legend in as few rows as fit, in aligned columns.
fn legend(plot: &Plot, left: f64, top: f64, width: f64) -> Vec<Entry> {
    let room = width - SAMPLE - GAP;
    let series = plot.series.iter().enumerate();
    let named = series.map(|(i, s)| (i, text::shorten(&s.label, LABEL_SIZE, room)));
    let named: Vec<(usize, String)> = named.filter(|(_, label)| !label.is_empty()).collect();
    let widths: Vec<f64> =
        named.iter().map(|(_, label)| SAMPLE + GAP + text::width(label, LABEL_SIZE)).collect();
    let starts = column_starts(&widths, width);
    let entries = named.into_iter().enumerate();
    entries
        .map(|(index, (series, text))| Entry {
            series,
            label: Placed {
                text,
                x: left + starts[index % starts.len()],
                y: top + ROW * (index / starts.len()) as f64,
            },
        })
        .collect()
}

/// Where the columns of a table begin that holds cells of these widths row by row: as many
/// columns as fit, but no more than its number of rows needs, and at least one.
fn column_starts(widths: &[f64], room: f64) -> Vec<f64> {
    let starts = |columns: usize| {
        let mut start = 0.0;
        let mut starts = Vec::with_capacity(columns);
        for column in 0..columns {
            let cells = widths.iter().skip(column).step_by(columns);
            starts.push(start);
            start += cells.copied().fold(0.0, f64::max) + COLUMN_GAP;
        }
        (starts, start - COLUMN_GAP)
    };
    (2..=widths.len())
        .rev()
        .filter(|&columns| columns == widths.len().div_ceil(widths.len().div_ceil(columns)))
        .map(starts)
        .find(|(_, total)| *total <= room)
        .map_or_else(|| vec![0.0], |(starts, _)| starts)
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Line, Scale, Series};
    use super::*;

    /// A plot of one segment per label.
    fn plot(labels: &[&str], title: &str) -> Plot {
        let axis = |scale| Axis { label: "label".into(), scale };
        let series = |label: &&str| Series::new(*label, vec![(0.0, -1e6), (1e-4, 0.0)], Line::Solid);
        Plot {
            title: title.into(),
            x: axis(Scale::Linear),
            y: axis(Scale::Log10),
            series: labels.iter().map(series).collect(),
            caption: vec!["word ".repeat(60), "end".into()],
        }
    }

    #[test]
    fn legend_and_caption_are_below_the_plot_area_and_inside_the_picture() {
        let layout = Layout::arranged(&plot(&["one", "two", "three", "four"], "title"), 0.0, true);
        let bottom = layout.area.bottom();
        assert_eq!(layout.legend.len(), 4);
        for entry in &layout.legend {
            assert!(entry.label.y > bottom + 32.0);
            let end = entry.label.x + SAMPLE + GAP + text::width(&entry.label.text, LABEL_SIZE);
            assert!(end <= WIDTH);
        }
        assert!(layout.caption.len() >= 4);
        assert!(layout.caption[0].y > layout.legend[3].label.y + 16.0);
        assert!(layout.caption.last().unwrap().y < layout.height);
    }

    #[test]
    fn everything_is_on_the_grid_of_eight() {
        let layout = Layout::new(&plot(&["one"], "title"));
        let area = layout.area;
        for length in [area.left, area.top, area.width, area.height, layout.height] {
            assert_eq!(length % 8.0, 0.0);
        }
    }

    #[test]
    fn labels_of_the_vertical_axis_fit_beside_it() {
        let layout = Layout::new(&plot(&["one"], "title"));
        for tick in &layout.y.ticks {
            let start = layout.area.left - GAP - tick.label.width(SMALL_SIZE);
            assert!(start > layout.y_label.x, "{tick:?}");
        }
    }

    #[test]
    fn a_long_title_moves_the_plot_area_down() {
        let short = Layout::new(&plot(&["one"], "title"));
        let long = Layout::new(&plot(&["one"], &"title ".repeat(30)));
        assert!(long.title.len() > 1);
        assert!(long.area.top > long.title.last().unwrap().y);
        assert!(long.area.top > short.area.top);
    }

    #[test]
    fn long_names_are_below_each_other() {
        let name = "a rather long name of a curve that takes most of the width";
        let layout = Layout::arranged(&plot(&[name, name], ""), 0.0, true);
        assert_eq!(layout.legend[0].label.x, layout.legend[1].label.x);
        assert!(layout.legend[0].label.y < layout.legend[1].label.y);
    }

    #[test]
    fn four_names_that_need_two_rows_are_two_by_two() {
        assert_eq!(column_starts(&[150.0; 4], 600.0).len(), 2);
        assert_eq!(column_starts(&[100.0; 4], 600.0).len(), 4);
        assert_eq!(column_starts(&[900.0; 3], 600.0), [0.0]);
        assert_eq!(column_starts(&[], 600.0), [0.0]);
    }

    #[test]
    fn unnamed_series_are_not_in_the_legend() {
        let layout = Layout::arranged(&plot(&["", "two"], ""), 0.0, true);
        assert_eq!(layout.legend.len(), 1);
        assert_eq!(layout.legend[0].series, 1);
    }

    #[test]
    fn names_are_beside_the_curves_and_a_cloud_of_points_has_a_legend() {
        let curves = Layout::new(&plot(&["one", "two"], ""));
        assert_eq!((curves.names.len(), curves.legend.len()), (2, 0));
        let mut cloud = plot(&["one", "two"], "");
        cloud.series[0].line = Line::Marks;
        cloud.series[0].points = (0..20).map(|i| (f64::from(i), f64::from(i % 7))).collect();
        let cloud = Layout::new(&cloud);
        assert_eq!((cloud.names.len(), cloud.legend.len()), (0, 2));
    }

    #[test]
    fn labels_of_the_horizontal_axis_do_not_touch() {
        let mut wide = plot(&["one"], "");
        wide.series[0].points = vec![(1e9, 0.0), (1e9 + 10.0, 1.0)];
        let layout = Layout::new(&wide);
        for pair in layout.x.ticks.windows(2) {
            let [a, b] = [&pair[0], &pair[1]];
            let end = layout.place_x(a.at) + a.label.width(SMALL_SIZE) / 2.0;
            assert!(end < layout.place_x(b.at) - b.label.width(SMALL_SIZE) / 2.0);
        }
    }
}
