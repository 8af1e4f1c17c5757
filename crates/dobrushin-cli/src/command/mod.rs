//! One file for each command: what users type after it, and how it answers.

mod account;
mod account_plot;
mod calibrate;
mod certificate;
mod curve;
mod demonstration;
mod divergence;
mod explain;
mod figures;
mod kernel;
mod local;
mod observers_plot;
mod plan;
mod predict;
mod prescribe;
mod records_plot;
mod renyi_curve;
mod schema;
mod touched;
mod train;

use crate::cli::Common;
use crate::guard::Guard;
use crate::problem::Problem;
use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// How private is the last iterate of a noisy iterative algorithm?
///
/// Every number is certified: the true value lies between the printed ends, and the upper end is the guarantee. Without
/// a command, you see a built-in demonstration.
#[derive(Debug, Parser)]
#[command(name = "dobrushin", version, after_help = EXIT_CODES)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub common: Common,
}

const EXIT_CODES: &str = "Exit codes: 0 done, 1 the answer is \"no\", 2 bad input.";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// The (ε, δ) of a run, by every analysis; the best one is the guarantee
    Account(account::AccountArgs),
    /// The smallest noise, or the most steps, with which a run meets a target
    Calibrate(calibrate::CalibrateArgs),
    /// Noise and learning rate for a learning problem and a target: the run, its excess risk, and what nobody can do better
    Prescribe(prescribe::PrescribeArgs),
    /// ε or δ over one or two parameters
    Curve(curve::CurveArgs),
    /// Check whether a certificate holds: everything in it is recomputed and compared
    Verify(certificate::VerifyArgs),
    /// Hockey-stick, Rényi and f-divergences of two laws
    Divergence(divergence::DivergenceArgs),
    /// Contraction coefficients and local-privacy profile of a finite channel, or of noise on an interval
    Kernel(Box<kernel::KernelArgs>),
    /// Local privacy: mechanisms, private reports of a column, estimates with error bars
    Local(local::LocalArgs),
    /// Declare what the columns of a table may hold, for training: make a draft, and check a schema
    Schema(schema::SchemaArgs),
    /// The best run that a budget buys, ranked, without a look at the data
    Plan(plan::PlanArgs),
    /// Train a model on private records, and write its certificate
    Train(train::TrainArgs),
    /// What a model predicts for new records
    Predict(predict::PredictArgs),
    /// What a certificate says, and whether it holds
    Certificate(certificate::CertificateArgs),
    /// Every figure of the papers, recomputed: published, corrected and ours in the same axes
    Figures(figures::FiguresArgs),
    /// The theorem behind a number: statement, assumptions, source, errata
    Explain(explain::ExplainArgs),
}

/// Does what the user asks, and prints the answer.
pub fn run(cli: &Cli) -> Result<ExitCode, Problem> {
    let guard = Guard::new(&touched::of(cli)?)?;
    let (show_progress, style) = (!cli.common.quiet, cli.common.style());
    let report = match &cli.command {
        None => demonstration::run(style),
        Some(Command::Account(arguments)) => account::run(arguments, &guard, style),
        Some(Command::Verify(arguments)) => certificate::verify(arguments, style),
        Some(Command::Calibrate(arguments)) => calibrate::run(arguments, &guard, style),
        Some(Command::Prescribe(arguments)) => return prescribe::run(arguments, &cli.common),
        Some(Command::Curve(arguments)) => curve::run(arguments, &guard, style),
        Some(Command::Divergence(arguments)) => divergence::run(arguments, style),
        Some(Command::Kernel(arguments)) => kernel::run(arguments, style),
        Some(Command::Local(arguments)) => return local::run(arguments, &cli.common),
        Some(Command::Schema(arguments)) => schema::run(arguments, cli.common.quiet),
        Some(Command::Plan(arguments)) => plan::run(arguments, &guard, style),
        Some(Command::Train(arguments)) => train::run(arguments, &guard, style),
        Some(Command::Predict(arguments)) => return predict::run(arguments, &cli.common),
        Some(Command::Certificate(arguments)) => certificate::run(arguments, style),
        Some(Command::Figures(arguments)) => figures::run(arguments, show_progress),
        Some(Command::Explain(arguments)) => explain::run(arguments),
    }?;
    report.print(&cli.common)?;
    Ok(report.exit_code())
}
