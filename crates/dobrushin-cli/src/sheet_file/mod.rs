//! Sheets as files: a page for a browser, or pages to print.

mod pdf;

use crate::file;
use crate::page_files;
use crate::plot::Plot;
use crate::problem::Problem;
use dobrushin_document::certificate::Certificate;
use dobrushin_document::sheet;
use std::path::Path;

/// The formats of sheets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A page for a browser that needs no other file.
    Html,
    /// Pages to print.
    Pdf,
}

impl Format {
    /// The format that the ending of a name gives.
    pub fn of(path: &Path) -> Result<Self, Problem> {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("");
        match extension.to_ascii_lowercase().as_str() {
            "html" => Ok(Self::Html),
            "pdf" => Ok(Self::Pdf),
            _ => Err(Problem::new(format!(
                "cannot tell the format of the report {}: the name must end in .html or .pdf",
                path.display()
            ))
            .help("--report report.html, or --report report.pdf")),
        }
    }
}

/// The bytes of a certificate for people with its picture, in the format that the name of its file gives.
pub fn bytes(certificate: &Certificate, picture: &Plot, path: &Path) -> Result<Vec<u8>, Problem> {
    match Format::of(path)? {
        Format::Html => Ok(html(certificate, picture).into_bytes()),
        Format::Pdf => pdf::render(&sheet::of_certificate(certificate), &picture.to_svg()),
    }
}

/// The page that holds the certificate, and the program that recomputes it.
pub fn html(certificate: &Certificate, picture: &Plot) -> String {
    sheet::of_certificate(certificate).html(&picture.to_svg(), certificate, page_files::MODULE)
}

/// Writes a certificate for people with its picture.
pub fn write(certificate: &Certificate, picture: &Plot, path: &Path) -> Result<(), Problem> {
    let bytes = bytes(certificate, picture, path)?;
    file::replace(path, &bytes).map_err(|error| Problem::cannot_write(path, error))
}
