//! `dobrushin curve`: a run with one or two of its parameters varied.

use super::curve_plot::{Wishes, draw};
use super::renyi_curve;
use crate::cli::{AnalysesArgs, CsvArgs, QuestionArgs, SetArgs};
use crate::guard::Guard;
use crate::output::Report;
use crate::problem::Problem;
use crate::run_file::Opened;
use crate::watch::Watch;
use clap::Args;
use dobrushin::account::{Options, Question};
use dobrushin::run::Run;
use dobrushin_document::text::Style;
use dobrushin_document::{Setting, Sweep, ask, csv, json, text};
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct CurveArgs {
    /// A run file (TOML)
    pub run: PathBuf,
    /// What to vary: steps=1..1e5, or noise-multiplier=0.5,1,2. You can give it once or twice
    #[arg(long, value_name = "KEY=VALUES", required_unless_present = "order")]
    pub over: Vec<String>,
    /// How many points a range has
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u32).range(2..=100_000))]
    pub points: u32,
    /// Space the points at equal ratios instead of equal distances, and make the axes logarithmic
    #[arg(long)]
    pub log: bool,
    #[command(flatten)]
    pub question: QuestionArgs,
    #[command(flatten)]
    pub changes: SetArgs,
    #[command(flatten)]
    pub analyses: AnalysesArgs,
    /// Show Rényi divergences of these orders α > 1, as in 2,8,32, or of a range of orders, as in 1.5..64; with --over,
    /// at every point
    #[arg(long, value_name = "ALPHAS", allow_hyphen_values = true, conflicts_with_all = ["delta", "epsilon", "utility"])]
    pub order: Option<String>,
    /// Also show a bound on the expected excess risk, or regret; with --plot, ε (or δ) is drawn against it
    #[arg(long)]
    pub utility: bool,
    /// Draw the curve to a file (.svg, .png, .pdf or .html); over two parameters with four values or more, a map
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    #[command(flatten)]
    pub csv: CsvArgs,
}

/// Asks the question at every point.
pub fn run(arguments: &CurveArgs, guard: &Guard, style: Style) -> Result<Report, Problem> {
    if let Some(orders) = &arguments.order {
        return renyi_curve::run(arguments, orders, guard, style);
    }
    let opened = Opened::new(Some(&arguments.run), &arguments.changes.set, guard)?;
    let sweeps = sweeps(arguments)?;
    // The words that a key takes in turn may be names of files.
    for word in sweeps.iter().flat_map(Sweep::words) {
        opened.with([word])?.spared_by(guard)?;
    }
    let question = arguments.question.asked().of(&opened.file)?;
    let watch = Watch::new(!style.quiet, 0, "points");
    let options =
        Options { only: arguments.analyses.only(), progress: watch.progress().clone(), ..Options::default() };
    let curve = ask::curve(sweeps, question, arguments.utility, &options, |settings| at(&opened, settings))?;
    drop(watch);
    if let Some(path) = &arguments.plot {
        let wishes = Wishes { log: arguments.log, all: !arguments.analyses.analyses.is_empty() };
        draw(&curve, wishes).write(path)?;
    }
    Ok(Report::new(text::curve(&curve, style), json::of(&curve)).with_table(csv::curve(&curve)))
}

pub(super) fn sweeps(arguments: &CurveArgs) -> Result<Vec<Sweep>, Problem> {
    let read = |over: &String| Sweep::parse(over, arguments.points, arguments.log);
    let sweeps: Vec<Sweep> = arguments.over.iter().map(read).collect::<Result<_, _>>()?;
    ask::refuse_sweeps(&sweeps)?;
    Ok(sweeps)
}

fn at(opened: &Opened, settings: Vec<Setting>) -> Result<(Run, Option<Question>), Problem> {
    let opened = opened.with(settings)?;
    Ok((opened.run()?, opened.file.question()?))
}
