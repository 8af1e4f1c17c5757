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
    /// What dobrushin account --certificate wrote
    pub certificate: PathBuf,
}

#[derive(Args, Debug)]
pub struct CertificateArgs {
    #[command(subcommand)]
    pub command: CertificateCommand,
}

#[derive(Debug, Subcommand)]
pub enum CertificateCommand {
    /// The certificate for people: guarantee, assumptions, and how each is enforced
    Show {
        /// What dobrushin train or dobrushin account --certificate wrote
        certificate: PathBuf,
    },
    /// Recompute the certificate from its run, as dobrushin verify does; with --model, also whether it is of that model
    Verify(CertifiedArgs),
}

#[derive(Args, Debug)]
pub struct CertifiedArgs {
    /// What dobrushin train or dobrushin account --certificate wrote
    pub certificate: PathBuf,
    /// The model that it should be of
    #[arg(long, value_name = "MODEL.json")]
    pub model: Option<PathBuf>,
}

/// Recomputes the certificate and compares.
pub fn verify(arguments: &VerifyArgs, style: Style) -> Result<Report, Problem> {
    report(&arguments.certificate, None, style)
}

/// Shows it, or recomputes it.
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

/// Whether the certificate holds, and is that of a model, if one is given.
fn report(path: &Path, model: Option<&Path>, style: Style) -> Result<Report, Problem> {
    let certificate = read(path)?;
    let bytes = model.map(|path| bytes_of(path, model::WRITERS)).transpose()?;
    let found = certificate::verify(&certificate, bytes.as_deref())?;
    let name = model.map(|path| path.display().to_string());
    let text = text::verification(&found, name.as_deref(), style);
    Ok(Report { text, json: json::of(&found), answer_is_no: !found.confirmed })
}

/// Nothing is shown that [`verify`] would not stand for.
fn show(path: &Path) -> Result<Report, Problem> {
    let json = read(path)?;
    let complaint = text::complaint(&certificate::verify(&json, None)?);
    // What holds has the form of what is recomputed.
    let certificate = match (complaint, Certificate::deserialize(&json)) {
        (None, Ok(certificate)) => certificate,
        (complaint, _) => {
            let complaint = complaint.unwrap_or_else(|| "it is no certificate".to_owned());
            return Err(Problem::answer_is_no(format!("it is not shown, since {complaint}"))
                .help("dobrushin certificate verify lists every difference, and what does hold"));
        }
    };
    let mut text = Text::default();
    text.answer(text::certificate(&certificate));
    Ok(Report::new(text, json))
}
