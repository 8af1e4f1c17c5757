//! One file for each command: what users type after it, and how it answers.

mod account;
mod account_plot;
mod audit;
mod calibrate;
mod certificate;
mod completions;
mod curve;
mod curve_plot;
mod demonstration;
mod divergence;
mod explain;
mod figures;
mod forget;
mod init;
mod kernel;
mod ledger;
mod local;
mod man;
mod observers_plot;
mod page;
mod plan;
mod predict;
mod prescribe;
mod records_plot;
mod renyi_curve;
mod schema;
mod touched;
mod train;

use crate::cli::{Common, CsvArgs};
use crate::guard::Guard;
use crate::problem::Problem;
use crate::watch::Watch;
use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// How private is the last iterate of a noisy iterative algorithm?
///
/// Every number is certified: the true value lies between the printed ends, and the upper end is the guarantee. Without
/// a command, you see a built-in demonstration.
#[derive(Debug, Parser)]
#[command(name = "dobrushin", version, after_help = EXIT_CODES, after_long_help = MORE)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub common: Common,
}

/// What `dobrushin explain` says about a topic.
pub fn explain(topic: Option<&str>) -> Result<crate::output::Report, Problem> {
    explain::run(&explain::ExplainArgs { id: topic.map(str::to_owned) })
}

const EXIT_CODES: &str = "Exit codes: 0 done, 1 the answer is \"no\", 2 bad input, 130 interrupted.";

const MORE: &str = "Exit codes: 0 done, 1 the answer is \"no\", 2 bad input, 130 interrupted.

Environment: NO_COLOR turns colours off; CLICOLOR_FORCE=1 turns them on, also where nobody looks.

Files appear complete or not at all, and no output replaces an input.";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write a run file to begin with: from a few questions, from flags, or from another library's parameters
    Init(Box<init::InitArgs>),
    /// The (ε, δ) of a run, by every analysis; the best one is the guarantee
    #[command(
        after_long_help = "Examples:\n  dobrushin account run.toml\n  dobrushin account run.toml --set steps=any --plot profile.svg\n  dobrushin account run.toml --certificate certificate.json"
    )]
    Account(account::AccountArgs),
    /// The smallest noise, or the most steps, with which a run meets a target
    #[command(
        after_long_help = "Examples:\n  dobrushin calibrate run.toml --parameter noise-multiplier --epsilon 1\n  dobrushin calibrate run.toml --parameter steps --tpr 0.05 --fpr 0.01"
    )]
    Calibrate(calibrate::CalibrateArgs),
    /// Noise and learning rate for a learning problem and a target: the run, its excess risk, and what nobody can do better
    Prescribe(prescribe::PrescribeArgs),
    /// ε or δ over one or two parameters
    #[command(
        after_long_help = "Examples:\n  dobrushin curve run.toml --over steps=1..1e5 --log --plot steps.svg\n  dobrushin curve run.toml --over noise-multiplier=0.5,1,2 --over steps=100,1000"
    )]
    Curve(curve::CurveArgs),
    /// Check whether a certificate holds: everything in it is recomputed and compared
    Verify(certificate::VerifyArgs),
    /// How much of a guarantee is real: the worst case that is known, and what attacks prove about models or programs
    #[command(
        after_long_help = "Examples:\n  dobrushin audit run.toml --plot worst-case.svg\n  dobrushin audit --train data.csv --run run.toml --runs 2000 --state audit.state\n  dobrushin audit --scores with.csv without.csv run.toml\n  dobrushin audit --command 'python train.py {data} {out} {runs}' --data with.csv --neighbour without.csv --epsilon 2 --delta 1e-5 --state audit.state"
    )]
    Audit(Box<audit::AuditArgs>),
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
    #[command(
        after_long_help = "Examples:\n  dobrushin schema init data.csv --label repaid --output schema.toml\n  dobrushin train data.csv --run run.toml --epsilon 1 --test test.csv --out model"
    )]
    Train(train::TrainArgs),
    /// Delete records from a model: make the fewest clean steps after which it is as if they had never been used
    #[command(
        after_long_help = "Examples:\n  dobrushin train data.csv --run run.toml --out model --keep-state model.state\n  dobrushin forget --state model.state --data data.csv --remove rows.csv --epsilon 0.1 --delta 1e-6 --dry-run\n  dobrushin forget --state model.state --data data.csv --remove-where customer=4711 --epsilon 0.1 --delta 1e-6 --out model-2"
    )]
    Forget(Box<forget::ForgetArgs>),
    /// What each person has spent over all releases, and what is left of their budgets
    #[command(
        after_long_help = "Examples:\n  dobrushin ledger init people.ledger --epsilon 2 --delta 1e-6\n  dobrushin train data.csv --run run.toml --out model --ledger people.ledger --person customer\n  dobrushin ledger show people.ledger --person 4711"
    )]
    Ledger(ledger::LedgerArgs),
    /// What a model predicts for new records
    #[command(
        after_long_help = "Examples:\n  dobrushin predict model/model.json new.csv --id customer --output predicted.csv"
    )]
    Predict(predict::PredictArgs),
    /// The calculator: a page for your browser that answers all these questions, from this machine and without a network
    Page(page::PageArgs),
    /// What a certificate says, and whether it holds
    Certificate(certificate::CertificateArgs),
    /// Every figure of the papers, recomputed: published, corrected and ours in the same axes
    Figures(figures::FiguresArgs),
    /// The theorem behind a number: statement, assumptions, source, errata
    Explain(explain::ExplainArgs),
    /// A script by which a shell completes commands and flags
    #[command(
        after_long_help = "Examples:\n  dobrushin completions bash > ~/.local/share/bash-completion/completions/dobrushin\n  dobrushin completions zsh > ~/.zfunc/_dobrushin\n  dobrushin completions fish > ~/.config/fish/completions/dobrushin.fish"
    )]
    Completions(completions::CompletionsArgs),
    /// The manual: a page for every command
    #[command(after_long_help = "Examples:\n  dobrushin man --out ~/.local/share/man/man1")]
    Man(man::ManArgs),
}

impl Cli {
    /// The table that is written, if the command has one.
    fn csv(&self) -> Option<&CsvArgs> {
        match self.command.as_ref()? {
            Command::Account(arguments) => Some(&arguments.csv),
            Command::Calibrate(arguments) => Some(&arguments.csv),
            Command::Curve(arguments) => Some(&arguments.csv),
            Command::Divergence(arguments) => Some(&arguments.pair.at().csv),
            Command::Kernel(arguments) => Some(arguments.csv()),
            Command::Local(arguments) => arguments.csv(),
            Command::Ledger(arguments) => arguments.csv(),
            _ => None,
        }
    }
}

/// Does what the user asks, and prints the answer.
pub fn run(cli: &Cli) -> Result<ExitCode, Problem> {
    let guard = Guard::new(&touched::of(cli)?)?;
    let (show_progress, style) = (!cli.common.quiet, cli.common.style());
    let is_recomputed = matches!(cli.command, Some(Command::Verify(_) | Command::Certificate(_)));
    let watch = Watch::new(show_progress && is_recomputed, 0, "recomputing");
    let report = match &cli.command {
        None => demonstration::run(style),
        Some(Command::Init(arguments)) => return init::run(arguments, &cli.common),
        Some(Command::Account(arguments)) => account::run(arguments, &guard, style),
        Some(Command::Verify(arguments)) => certificate::verify(arguments, style),
        Some(Command::Calibrate(arguments)) => calibrate::run(arguments, &guard, style),
        Some(Command::Prescribe(arguments)) => return prescribe::run(arguments, &cli.common),
        Some(Command::Curve(arguments)) => curve::run(arguments, &guard, style),
        Some(Command::Audit(arguments)) => audit::run(arguments, &guard, style),
        Some(Command::Divergence(arguments)) => divergence::run(arguments, style),
        Some(Command::Kernel(arguments)) => kernel::run(arguments, style),
        Some(Command::Local(arguments)) => return local::run(arguments, &cli.common),
        Some(Command::Schema(arguments)) => schema::run(arguments, cli.common.quiet),
        Some(Command::Plan(arguments)) => plan::run(arguments, &guard, style),
        Some(Command::Train(arguments)) => train::run(arguments, &guard, style),
        Some(Command::Forget(arguments)) => forget::run(arguments, style),
        Some(Command::Ledger(arguments)) => match ledger::run(arguments, &guard, style) {
            // The table is written already, because there may be more people than memory holds.
            Ok(report) if arguments.csv().is_some_and(|csv| csv.replaces_the_answer(&cli.common)) => {
                return Ok(report.exit_code());
            }
            report => report,
        },
        Some(Command::Predict(arguments)) => return predict::run(arguments, &cli.common),
        Some(Command::Certificate(arguments)) => certificate::run(arguments, style),
        Some(Command::Figures(arguments)) => figures::run(arguments, show_progress),
        Some(Command::Explain(arguments)) => explain::run(arguments),
        Some(Command::Page(arguments)) => page::run(arguments),
        Some(Command::Completions(arguments)) => Ok(completions::run(arguments)),
        Some(Command::Man(arguments)) => man::run(arguments),
    };
    drop(watch);
    let report = report?;
    report.deliver(&cli.common, cli.csv())?;
    Ok(report.exit_code())
}
