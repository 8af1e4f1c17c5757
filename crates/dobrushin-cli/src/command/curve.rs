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
use dobrushin::account::{Account, Options, Question};
use dobrushin::run::Run;
use dobrushin::utility;
use dobrushin_document::report::{Curve, Worth};
use dobrushin_document::text::Style;
use dobrushin_document::{Sweep, csv, json, text};
use rayon::prelude::*;
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
    let question = arguments.question.of(&opened.file)?;
    let points = Curve::points(&sweeps);
    let watch = Watch::new(!style.quiet, points.len() as u64, "points");
    let options = Options { only: arguments.analyses.only(), ..Options::default() };
    let accounts = points
        .par_iter()
        .map(|point| {
            let (run, question) = at(&opened, &sweeps, point, question)?;
            let worth = arguments.utility.then(|| utility::of(&run));
            let account = run.account_by(question, &options);
            watch.progress().advance(1);
            Ok((account, worth))
        })
        .collect::<Result<Vec<_>, Problem>>()?;
    drop(watch);
    let (accounts, worths): (Vec<Account>, Vec<Option<Worth>>) = accounts.into_iter().unzip();
    let worths = worths.into_iter().collect();
    let curve = Curve { sweeps, points, accounts, worths, question };
    if let Some(path) = &arguments.plot {
        let wishes = Wishes { log: arguments.log, all: !arguments.analyses.analyses.is_empty() };
        draw(&curve, wishes).write(path)?;
    }
    Ok(Report::new(text::curve(&curve, style), json::of(&curve)).with_table(csv::curve(&curve)))
}

/// A curve, or a table for two parameters, has at most this many points: each takes some ten kilobytes until all are
/// printed.
const MOST_POINTS: usize = 100_000;

pub(super) fn sweeps(arguments: &CurveArgs) -> Result<Vec<Sweep>, Problem> {
    if arguments.over.len() > 2 {
        return Err(Problem::new(format!("--over is given {} times", arguments.over.len()))
            .help("once, or twice for two parameters"));
    }
    let read = |over: &String| Sweep::parse(over, arguments.points, arguments.log);
    let sweeps: Vec<Sweep> = arguments.over.iter().map(read).collect::<Result<_, _>>()?;
    if let [a, b] = &sweeps[..]
        && a.key == b.key
    {
        return Err(Problem::new(format!("--over varies {} twice", a.key)).help("give two different keys"));
    }
    let numbers = sweeps.iter().map(|sweep| sweep.count());
    let points = numbers.clone().fold(1_usize, usize::saturating_mul);
    if points > MOST_POINTS {
        let each = numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(" × ");
        return Err(Problem::new(format!(
            "--over asks for {each} = {points} points: at most {MOST_POINTS} are computed"
        ))
        .help("give fewer values, or a smaller number with --points"));
    }
    Ok(sweeps)
}

fn at(
    opened: &Opened,
    sweeps: &[Sweep],
    point: &[usize],
    question: Question,
) -> Result<(Run, Question), Problem> {
    let opened = opened.with(sweeps.iter().zip(point).map(|(sweep, &index)| sweep.setting(index)))?;
    // A target that is varied is also asked for.
    let varied = sweeps.iter().any(Sweep::is_of_target);
    let question = if varied { opened.file.question()?.unwrap_or(question) } else { question };
    Ok((opened.run()?, question))
}
