//! A picture of either kind.

use super::file::store;
use super::{HeatMap, Plot, PlotError, html};
use dobrushin_document::csv::Table;
use std::path::Path;

/// Curves or a map.
#[derive(Clone, Debug, PartialEq)]
pub enum Drawing {
    /// Curves in common axes.
    Curves(Plot),
    /// A number at every place of a grid.
    Map(HeatMap),
}

impl Drawing {
    /// The heading.
    pub fn title(&self) -> &str {
        match self {
            Self::Curves(plot) => &plot.title,
            Self::Map(map) => &map.title,
        }
    }

    /// The paragraphs below the picture.
    pub fn caption(&self) -> &[String] {
        match self {
            Self::Curves(plot) => &plot.caption,
            Self::Map(map) => &map.caption,
        }
    }

    /// The picture as SVG text.
    pub fn to_svg(&self) -> String {
        match self {
            Self::Curves(plot) => plot.to_svg(),
            Self::Map(map) => map.to_svg(),
        }
    }

    /// Every number of the picture.
    pub fn points(&self) -> Table {
        match self {
            Self::Curves(plot) => plot.points(),
            Self::Map(map) => map.points(),
        }
    }

    /// Writes the picture to `path` in the format named by the extension: `.svg`, `.png`, `.pdf` or `.html` (a page that
    /// needs nothing else).
    ///
    /// A file that already exists is replaced at once and completely, or not at all.
    pub fn write(&self, path: &Path) -> Result<(), PlotError> {
        store(self.to_svg(), |svg| html::page(self, svg), path)
    }
}

impl From<Plot> for Drawing {
    fn from(plot: Plot) -> Self {
        Self::Curves(plot)
    }
}

impl From<HeatMap> for Drawing {
    fn from(map: HeatMap) -> Self {
        Self::Map(map)
    }
}
