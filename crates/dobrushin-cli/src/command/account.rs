//! `dobrushin account`: how private a run is.

use super::{account_plot, observers_plot, records_plot};
use crate::cli::{AnalysesArgs, CsvArgs, QuestionArgs, SetArgs, checked, order_above_one};
use crate::file;
use crate::guard::Guard;
use crate::output::Report;
use crate::problem::Problem;
use crate::run_file::Opened;
use crate::sheet_file;
use crate::watch::Watch;
use clap::Args;
use dobrushin::RenyiOrder;
use dobrushin::account::DEFAULT_TOLERANCE;
use dobrushin_document::ask::{self, AccountWishes, Accounted, why_no_certificate};
use dobrushin_document::certificate::Certificate;
use dobrushin_document::report::{AccountReport, Extras};
use dobrushin_document::text::Style;
use dobrushin_document::{SelfContained, csv, json, text};
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct AccountArgs {
    /// A run file (TOML), or "-" for standard input; without it, a built-in example is used
    pub run: Option<PathBuf>,
    #[command(flatten)]
    pub changes: SetArgs,
    #[command(flatten)]
    pub question: QuestionArgs,
    /// How wide the enclosure of ε may be relative to ε, from 1e-8 to 0.1
    #[arg(long, value_name = "SHARE", value_parser = tolerance, default_value_t = DEFAULT_TOLERANCE,
          allow_negative_numbers = true)]
    pub tolerance: f64,
    #[command(flatten)]
    pub analyses: AnalysesArgs,
    /// Leave out how much of the guarantee is real: the floor that no analysis of the same facts can go below
    #[arg(long)]
    pub no_floor: bool,
    /// Also show what would help most: more noise, a smaller domain, weight decay, convexity, …; each is tried out
    #[arg(long)]
    pub advice: bool,
    /// Also show how good the released result is: a bound on its expected excess risk, or regret
    #[arg(long)]
    pub utility: bool,
    /// Also show the Rényi divergences of these orders α > 1 ("inf" is allowed), separated by commas
    #[arg(long, value_name = "ALPHA", value_delimiter = ',', value_parser = order_above_one,
          allow_negative_numbers = true)]
    pub order: Vec<RenyiOrder>,
    /// Draw δ against ε to a file (.svg, .png, .pdf or .html)
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    #[command(flatten)]
    pub csv: CsvArgs,
    /// Write the guarantee, the run and the theorem to a JSON file that dobrushin verify checks
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// Write the guarantee for people, with a picture, to a file (.html or .pdf)
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Also show how well each record is protected, if records are used in turn (order once or cyclic)
    #[arg(long)]
    pub per_record: bool,
    /// Write a line for each record to a CSV file
    #[arg(long, value_name = "FILE")]
    pub per_record_csv: Option<PathBuf>,
    /// Draw the protection of each record to a file (.svg, .png, .pdf or .html)
    #[arg(long, value_name = "FILE")]
    pub per_record_plot: Option<PathBuf>,
    /// Also show what owners see of each other, if records stay at their owners and the model travels from one to the next
    /// (order once or cyclic): each person against each observer
    #[arg(long)]
    pub observers: bool,
    /// Draw each person against each observer to a file (.svg, .png, .pdf or .html)
    #[arg(long, value_name = "FILE")]
    pub observers_plot: Option<PathBuf>,
}

fn tolerance(text: &str) -> Result<f64, String> {
    checked(text, AccountWishes::check_tolerance)
}

impl AccountArgs {
    fn wishes(&self) -> AccountWishes {
        AccountWishes {
            asked: self.question.asked(),
            tolerance: self.tolerance,
            only: self.analyses.only(),
            floor: !self.no_floor,
            advice: self.advice,
            utility: self.utility,
            per_record: self.per_record || self.per_record_csv.is_some() || self.per_record_plot.is_some(),
            observers: self.observers || self.observers_plot.is_some(),
            orders: self.order.clone(),
        }
    }
}

/// Every analysis of the run.
pub fn run(arguments: &AccountArgs, guard: &Guard, style: Style) -> Result<Report, Problem> {
    let opened = Opened::new(arguments.run.as_deref(), &arguments.changes.set, guard)?;
    let contained = opened.self_contained()?;
    let mut watch = None;
    let mut begin = |what| {
        // Only one line is shown at a time.
        watch = None;
        watch.insert(Watch::new(!style.quiet, 0, what)).progress().clone()
    };
    let accounted = ask::account(&opened.file, &contained, &arguments.wishes(), &mut begin)?;
    drop(watch);
    write_files(arguments, &contained, &accounted, style)?;
    let Accounted { account, extras, .. } = accounted;
    let extras = Extras {
        records: extras.records.filter(|_| arguments.per_record),
        observers: extras.observers.filter(|_| arguments.observers),
        is_example: arguments.run.is_none(),
        ..extras
    };
    let report = AccountReport::new(&opened.file, &account, extras);
    let meets = report.extras.wanted.as_ref().is_none_or(|wanted| wanted.meets);
    // A user who names analyses wants to know what each one says.
    let style = Style { verbose: style.verbose || !arguments.analyses.analyses.is_empty(), ..style };
    let mut text = text::account(&report, style);
    if let Some(path) = &arguments.certificate {
        let path = path.display();
        text.explanation(format!("The certificate is {path}; it can be checked by: dobrushin verify {path}"));
    }
    if let Some(path) = &arguments.report {
        text.explanation(format!("The report is {}.", path.display()));
    }
    let table = Some(csv::account(&report));
    Ok(Report { text, json: json::of(&report), answer_is_no: report.guarantee.is_none() || !meets, table })
}

/// Writes every file that the flags name.
fn write_files(
    arguments: &AccountArgs,
    contained: &SelfContained,
    accounted: &Accounted,
    style: Style,
) -> Result<(), Problem> {
    let Accounted { run, account, floor, options, extras } = accounted;
    if let (Some(path), Some(records)) = (&arguments.per_record_csv, &extras.records) {
        let written = file::replace_by(path, |file| csv::write_records(records, file));
        written.map_err(|error| Problem::cannot_write(path, error))?;
    }
    if let (Some(path), Some(records)) = (&arguments.per_record_plot, &extras.records) {
        let published = account.if_published();
        records_plot::draw(records, published.map(|answer| answer.value.upper())).write(path)?;
    }
    if let (Some(path), Some(observers)) = (&arguments.observers_plot, &extras.observers) {
        observers_plot::draw(observers).write(path)?;
    }
    if let Some(path) = &arguments.plot {
        let _watch = Watch::new(!style.quiet, 0, "picture");
        account_plot::draw(run, account, floor.as_ref(), options)?.write(path)?;
    }
    if arguments.certificate.is_some() || arguments.report.is_some() {
        let certificate = certified(contained, accounted)?;
        if let Some(path) = &arguments.certificate {
            let written = file::replace(path, certificate.file().as_bytes());
            written.map_err(|error| Problem::cannot_write(path, error))?;
        }
        if let Some(path) = &arguments.report {
            let picture = account_plot::of_the_guarantee(run, account, floor.as_ref(), options)?;
            sheet_file::write(&certificate, &picture, path)?;
        }
    }
    Ok(())
}

/// The certificate, if there is something to certify.
fn certified(run: &SelfContained, accounted: &Accounted) -> Result<Certificate, Problem> {
    let Accounted { account, floor, options, .. } = accounted;
    Certificate::of(run, account, floor.as_ref(), options).ok_or_else(|| {
        Problem::answer_is_no("there is no guarantee, so there is no certificate")
            .help(why_no_certificate(account))
    })
}
