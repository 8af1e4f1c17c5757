//! `dobrushin audit`: how much of a guarantee is real, what attacks prove about a program, and whether it contradicts what is
//! claimed.

mod arguments;
mod call;
mod picture;
mod program;
mod state;
mod train;
mod worst_case;

pub use arguments::AuditArgs;

use crate::guard::Guard;
use crate::input;
use crate::output::Report;
use crate::probabilities;
use crate::problem::Problem;
use crate::run_file::Opened;
use crate::watch::Watch;
use dobrushin_document::ask::{self, Attack, Claim};
use dobrushin_document::text::Style;
use dobrushin_document::{json, text};
use std::path::PathBuf;

/// Looks at the claim first, so that nobody trains a thousand models for one that makes no sense.
pub fn run(arguments: &AuditArgs, guard: &Guard, style: Style) -> Result<Report, Problem> {
    let means = (&arguments.trained.train, &arguments.scores, &arguments.program.command);
    let is_attack = !matches!(means, (None, None, None));
    if is_attack && arguments.epsilon.is_some() && arguments.delta.is_none() {
        return Err(Problem::new("--epsilon is claimed, but it is not said at which δ").help("--delta 1e-5"));
    }
    let held_against = |claim: Claim, (with, without): (Rows, Rows)| {
        let audited = ask::audit(&claim, &[Attack::on(with, without)?], arguments.confidence)?;
        Ok::<_, Problem>((claim, audited))
    };
    let (claim, audited) = match means {
        (Some(data), ..) => train::audit(data, arguments, guard, style)?,
        (None, Some(paths), _) => held_against(claim(arguments, guard, style)?, scores(paths)?)?,
        (None, None, Some(command)) => {
            let claim = claim(arguments, guard, style)?;
            held_against(claim, program::models(command, arguments, !style.quiet)?)?
        }
        (None, None, None) if arguments.run().is_some() => return worst_case::run(arguments, guard, style),
        (None, None, None) => return Err(Problem::new("there is nothing to audit").help(FORMS)),
    };
    if let Some(path) = &arguments.plot {
        let _watch = Watch::new(!style.quiet, 0, "picture");
        picture::draw(&claim, &audited).write(path)?;
    }
    let report = &audited.report;
    Ok(Report {
        text: text::audit(report, style),
        json: json::of(report),
        answer_is_no: report.violation,
        table: None,
    })
}

const FORMS: &str = "RUN.toml, or --scores WITH.csv WITHOUT.csv, or --command 'CMD {data} {out}' --data WITH.csv --neighbour WITHOUT.csv, or \
                     --train DATA.csv --run RUN.toml";

/// What is claimed: a pair, or the profile of a run.
fn claim(arguments: &AuditArgs, guard: &Guard, style: Style) -> Result<Claim, Problem> {
    if let (Some(epsilon), Some(delta)) = (arguments.epsilon, arguments.delta) {
        if arguments.run().is_some() || !arguments.changes.set.is_empty() {
            return Err(Problem::new(
                "--epsilon cannot be used with a run or --set, unless --train is given",
            )
            .help("the claim is either --epsilon with --delta, or what the run guarantees"));
        }
        return Ok(Claim::of_pair(epsilon, delta)?);
    }
    let opened = Opened::new(arguments.run().map(PathBuf::as_path), &arguments.changes.set, guard)?;
    let watch = Watch::new(!style.quiet, 0, "analyses");
    let contained = opened.self_contained()?;
    Ok(Claim::of_run(&opened.file, &contained, arguments.delta, watch.progress().clone())?)
}

/// Rows of numbers, each of which is a score or a model.
type Rows = Vec<Vec<f64>>;

/// The rows of the two files of `--scores`.
fn scores(paths: &[PathBuf]) -> Result<(Rows, Rows), Problem> {
    let [with, without] = paths else {
        return Err(Problem::new("--scores needs two files").help("--scores WITH.csv WITHOUT.csv"));
    };
    let (first, second) = (probabilities::read(with)?, probabilities::read(without)?);
    let (columns, others) = (first[0].len(), second[0].len());
    if columns != others {
        let [with, without] = [with, without].map(|path| input::shown(path));
        return Err(Problem::new(format!(
            "{with} has {columns} numbers on a line, and {without} has {others}"
        ))
        .help("one score on each line of both, or the same parameters of each model"));
    }
    Ok((first, second))
}
