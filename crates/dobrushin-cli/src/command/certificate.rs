//! `dobrushin verify` and `dobrushin certificate`: what a certificate says, and whether it holds.

use crate::output::Report;
use crate::problem::Problem;
use crate::run_file::bytes_of;
use clap::{Args, Subcommand};
use dobrushin_document::certificate::{self, Certificate, WRITERS};
use dobrushin_document::text::Style;
use dobrushin_document::text::Text;
use dobrushin_document::{json, model, text};
use serde::Deserialize;
use serde_json::Value;
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
pub struct VerifyArgs {
    /// The file that dobrushin account --certificate wrote
    pub certificate: PathBuf,
}

#[derive(Args, Debug)]
pub struct CertificateArgs {
    #[command(subcommand)]
    pub command: CertificateCommand,
}

#[derive(Debug, Subcommand)]
pub enum CertificateCommand {
    /// Show the certificate for people: its guarantee, its assumptions, and how each is enforced
    Show {
        /// The file that dobrushin train or dobrushin account --certificate wrote
        certificate: PathBuf,
    },
    /// Recompute the certificate from its run, as dobrushin verify does; with --model, also check that it belongs to
    /// that model
    Verify(CertifiedArgs),
}

#[derive(Args, Debug)]
pub struct CertifiedArgs {
    /// The file that dobrushin train or dobrushin account --certificate wrote
    pub certificate: PathBuf,
    /// The model that the certificate should belong to
    #[arg(long, value_name = "MODEL.json")]
    pub model: Option<PathBuf>,
}

/// Recomputes the certificate and compares the two.
pub fn verify(arguments: &VerifyArgs, style: Style) -> Result<Report, Problem> {
    report(&arguments.certificate, None, style)
}

/// Shows the certificate, or recomputes it.
pub fn run(arguments: &CertificateArgs, style: Style) -> Result<Report, Problem> {
    match &arguments.command {
        CertificateCommand::Show { certificate } => show(certificate),
        CertificateCommand::Verify(arguments) => {
            report(&arguments.certificate, arguments.model.as_deref(), style)
        }
    }
}

fn read(path: &Path) -> Result<Value, Problem> {
    Ok(certificate::read(&bytes_of(path, WRITERS)?, &path.display().to_string())?)
}

/// Whether the certificate holds and, if a model is given, belongs to that model.
fn report(path: &Path, model: Option<&Path>, style: Style) -> Result<Report, Problem> {
    let certificate = read(path)?;
    let bytes = model.map(|path| bytes_of(path, model::WRITERS)).transpose()?;
    let found = certificate::verify(&certificate, bytes.as_deref())?;
    let name = model.map(|path| path.display().to_string());
    let text = text::verification(&found, name.as_deref(), style);
    Ok(Report { text, json: json::of(&found), answer_is_no: !found.confirmed, table: None })
}

/// This shows nothing that [`verify`] would not stand for.
fn show(path: &Path) -> Result<Report, Problem> {
    let json = read(path)?;
    let complaint = text::complaint(&certificate::verify(&json, None)?);
    // A certificate that holds has the form of the recomputed one.
    let certificate = match (complaint, Certificate::deserialize(&json)) {
        (None, Ok(certificate)) => certificate,
        (complaint, _) => {
            let complaint = complaint.unwrap_or_else(|| "it is not a certificate".to_owned());
            return Err(Problem::answer_is_no(format!("it is not shown, because {complaint}"))
                .help("dobrushin certificate verify lists every difference, and what does hold"));
        }
    };
    let mut text = Text::default();
    text.answer(text::certificate(&certificate));
    Ok(Report::new(text, json))
}
