//! `dobrushin verify` and `dobrushin certificate`: what a certificate says, and whether it holds.

use super::account_plot;
use crate::cli::delta;

use crate::input;
use crate::output::Report;
use crate::problem::Problem;
use crate::run_file::bytes_of;
use crate::sheet_file;
use clap::{Args, Subcommand};
use dobrushin::Delta;
use dobrushin_document::ask::worth_meeting;
use dobrushin_document::certificate::{self, Certificate, Checked, NotAdded, WRITERS};
use dobrushin_document::text::Style;
use dobrushin_document::text::Text;
use dobrushin_document::{json, model, sheet, text};
use same_file::is_same_file;
use serde::Deserialize;
use serde_json::Value;
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
pub struct VerifyArgs {
    /// The file that dobrushin account --certificate wrote; "-" is standard input
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
        /// Write it for people, with a picture, to a file (.html or .pdf)
        #[arg(long, value_name = "FILE")]
        report: Option<PathBuf>,
    },
    /// Recompute the certificate from its run, as dobrushin verify does; with --model, also check that it belongs to
    /// that model
    Verify(CertifiedArgs),
    /// Add up several certificates about the same people: the guarantee of all their releases together. Each is
    /// recomputed first
    Add(AddArgs),
}

#[derive(Args, Debug)]
pub struct CertifiedArgs {
    /// The file that dobrushin train or dobrushin account --certificate wrote
    pub certificate: PathBuf,
    /// The model that the certificate should belong to
    #[arg(long, value_name = "MODEL.json")]
    pub model: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct AddArgs {
    /// The files that dobrushin train or dobrushin account --certificate wrote
    #[arg(required = true, value_name = "CERTIFICATE")]
    pub certificates: Vec<PathBuf>,
    /// The δ for which to find ε, instead of the sum of theirs
    #[arg(long, value_parser = delta, allow_negative_numbers = true)]
    pub delta: Option<Delta>,
}

/// Recomputes the certificate and compares the two.
pub fn verify(arguments: &VerifyArgs, style: Style) -> Result<Report, Problem> {
    report(&arguments.certificate, None, style)
}

/// Shows the certificate, or recomputes it.
pub fn run(arguments: &CertificateArgs, style: Style) -> Result<Report, Problem> {
    match &arguments.command {
        CertificateCommand::Show { certificate, report } => show(certificate, report.as_deref()),
        CertificateCommand::Add(arguments) => add(arguments, style),
        CertificateCommand::Verify(arguments) => {
            report(&arguments.certificate, arguments.model.as_deref(), style)
        }
    }
}

/// A certificate, and the page that it was part of.
struct Given {
    certificate: Value,
    page: Option<Vec<u8>>,
}

impl Given {
    fn read(path: &Path) -> Result<Self, Problem> {
        let (bytes, name) = (bytes_of(path, WRITERS)?, input::shown(path));
        Ok(match sheet::certificate_in(&bytes) {
            Some(text) => Self { certificate: certificate::read(text.as_bytes(), &name)?, page: Some(bytes) },
            None => Self { certificate: certificate::read(&bytes, &name)?, page: None },
        })
    }

    /// Refuses a page whose certificate holds, but which is not the page of that certificate to the last byte.
    fn refuse_other_pages(&self) -> Result<(), Problem> {
        let Some(page) = &self.page else { return Ok(()) };
        let certificate = Certificate::deserialize(&self.certificate)
            .map_err(|error| Problem::new("the page holds no certificate of this version").because(error))?;
        let Checked { claim, account, floor, .. } = certificate::check(&self.certificate)?;
        let picture =
            account_plot::of_the_guarantee(&claim.run().run()?, &account, floor.as_ref(), &claim.options)?;
        if sheet_file::html(&certificate, &picture).as_bytes() == page {
            return Ok(());
        }
        Err(Problem::answer_is_no(
            "the certificate in the page holds, but the page is not the one that this program writes for it: \
             its text, picture or script were changed, or another version wrote it",
        )
        .help("dobrushin certificate show FILE.html --report NEW.html writes the page that it should be"))
    }
}

fn read(path: &Path) -> Result<Value, Problem> {
    Ok(Given::read(path)?.certificate)
}

/// Whether the certificate holds and, if a model is given, belongs to that model.
fn report(path: &Path, model: Option<&Path>, style: Style) -> Result<Report, Problem> {
    let given = Given::read(path)?;
    let bytes = model.map(|path| bytes_of(path, model::WRITERS)).transpose()?;
    let found = certificate::verify(&given.certificate, bytes.as_deref())?;
    if found.confirmed {
        given.refuse_other_pages()?;
    }
    let name = model.map(input::shown);
    let text = text::verification(&found, name.as_deref(), style);
    Ok(Report { text, json: json::of(&found), answer_is_no: !found.confirmed, table: None })
}

/// This shows nothing that [`verify`] would not stand for.
fn show(path: &Path, report: Option<&Path>) -> Result<Report, Problem> {
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
    let sheet = sheet::of_certificate(&certificate);
    text.answer(sheet.text());
    if let Some(file) = report {
        let Checked { claim, account, floor, .. } = certificate::check(&json)?;
        let picture =
            account_plot::of_the_guarantee(&claim.run().run()?, &account, floor.as_ref(), &claim.options)?;
        sheet_file::write(&certificate, &picture, file)?;
        text.explanation(format!("The report is {}.", file.display()));
    }
    Ok(Report::new(text, json))
}

/// The guarantee of all releases together.
fn add(arguments: &AddArgs, style: Style) -> Result<Report, Problem> {
    let delta = arguments.delta.map(worth_meeting).transpose()?;
    let mut certificates = Vec::with_capacity(arguments.certificates.len());
    for (index, path) in arguments.certificates.iter().enumerate() {
        let mut earlier = arguments.certificates[..index].iter();
        if let Some(other) = earlier.find(|other| is_same_file(other, path).unwrap_or(false)) {
            let what = format!("{} and {} are the same file", other.display(), path.display());
            return Err(Problem::new(what).help("give each release once"));
        }
        certificates.push((path.display().to_string(), read(path)?));
    }
    let found = certificate::total(&certificates, delta).map_err(|refused| match refused {
        NotAdded::Bad(error) => error.into(),
        NotAdded::DoesNotHold(why) => Problem::answer_is_no(format!("nothing is added up, because {why}"))
            .help("dobrushin certificate verify lists every difference, and what does hold"),
    })?;
    let answer_is_no = found.epsilon.0.upper().is_infinite();
    Ok(Report { text: text::total(&found, style), json: json::of(&found), answer_is_no, table: None })
}
