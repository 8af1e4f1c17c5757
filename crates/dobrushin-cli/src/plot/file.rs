//! Pictures as files, in the format that the name asks for.

use super::{pdf, png};
use std::path::{Path, PathBuf};

/// The formats of pictures.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Format {
    /// A drawing.
    Svg,
    /// Pixels.
    Png,
    /// A printed page as large as the drawing.
    Pdf,
    /// A page that holds the drawing and its numbers.
    Html,
}

impl Format {
    /// The format that the ending of a name gives.
    pub fn of(path: &Path) -> Result<Self, PlotError> {
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
        match extension.to_ascii_lowercase().as_str() {
            "svg" => Ok(Self::Svg),
            "png" => Ok(Self::Png),
            "pdf" => Ok(Self::Pdf),
            "html" => Ok(Self::Html),
            _ => Err(PlotError::UnknownFormat { path: path.to_path_buf() }),
        }
    }
}

/// Why a picture could not be made or stored.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// The file name does not say which of the known formats is wanted.
    #[error("cannot tell the picture format of {path}: the name must end in .svg, .png, .pdf or .html")]
    UnknownFormat {
        /// The path as given.
        path: PathBuf,
    },
    /// The picture would have more pixels than can be held.
    #[error("a picture of {width} by {height} pixels is too large")]
    TooLarge {
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
    },
    /// The SVG could not be rendered.
    #[error("cannot render the picture")]
    Render(#[from] resvg::usvg::Error),
    /// The pixels could not be encoded.
    #[error("cannot encode the picture as PNG")]
    Encode(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The file could not be written; whatever existed before is unchanged.
    #[error("cannot write {path}")]
    Write {
        /// The path as given.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
}

/// Writes a drawing in the format named by the extension; `page` makes the HTML that holds it.
///
/// A file that already exists is replaced at once and completely, or not at all.
pub(super) fn store(svg: String, page: impl FnOnce(&str) -> String, path: &Path) -> Result<(), PlotError> {
    let bytes = match Format::of(path)? {
        Format::Svg => svg.into_bytes(),
        Format::Png => png::render(&svg)?,
        Format::Pdf => pdf::render(&svg)?,
        Format::Html => page(&svg).into_bytes(),
    };
    crate::file::replace(path, &bytes).map_err(|source| PlotError::Write { path: path.to_path_buf(), source })
}
