//! `dobrushin local estimate`: frequencies or a mean from private reports.

mod picture;

use super::arguments::EstimateArgs;
use crate::local_data::{Question, Reports, asked_word, parse};
use crate::output::Report;
use crate::problem::Problem;
use crate::table_file::{Cells, Pass};
use dobrushin::Probability;
use dobrushin_document::local::{EstimateWishes, Mechanism, Part, Tally, estimate};
use dobrushin_document::report::{Estimate, EstimateReport, SurveyReport};
use dobrushin_document::text::Style;
use dobrushin_document::{csv, json, text};

/// Reads the reports and estimates.
pub fn run(arguments: &EstimateArgs, style: Style) -> Result<Report, Problem> {
    let Some((first_path, others)) = arguments.reports.split_first() else {
        return Err(Problem::new("no file of reports is given"));
    };
    let Reports { description, mechanisms, columns } = Reports::open(first_path)?;
    let mut all = vec![(first_path, columns)];
    for path in others {
        let reports = Reports::open(path)?;
        if let Some(difference) = description.difference(&reports.description) {
            let [one, other] = [first_path, path].map(|path| path.display());
            return Err(Problem::new(format!("{one} and {other} cannot be counted together: {difference}"))
                .help("estimate from each file alone"));
        }
        all.push((path, reports.columns));
    }
    let mut tallies: Vec<Tally> = mechanisms.iter().map(Tally::new).collect();
    let (mut rows, mut skipped) = (0, 0);
    let one_is_answered = description.one_is_answered();
    for (path, columns) in all {
        let pass = Pass { path, skip_bad: arguments.skip_bad, help: BAD_ROWS, show_progress: !style.quiet };
        let work = |_: u64, cells: &Cells| {
            let (batches, bad) = parse(cells, &mechanisms, one_is_answered);
            let parts = mechanisms.iter().zip(batches).map(|(mechanism, batch)| Part::of(mechanism, batch));
            ((parts.collect::<Vec<_>>(), cells.rows() as u64 - bad.count), bad)
        };
        skipped += pass.run(columns, work, |(parts, count)| {
            tallies.iter_mut().zip(&parts).for_each(|(tally, part)| tally.add(part));
            rows += count;
            Ok(())
        })?;
    }
    if rows == 0 {
        return Err(Problem::new(format!("{} has no reports", first_path.display()))
            .help("there must be at least one"));
    }
    let private = description.seed.is_none();
    let each = of_each(arguments, mechanisms.len())?;
    let report = |(question, (mechanism, tally)): (&Question, (&Mechanism, &Tally))| {
        let specification = &question.mechanism;
        Ok(EstimateReport {
            reports: tally.reports(),
            confidence: arguments.confidence.get(),
            estimate: estimate(&question.columns, mechanism, tally, &each)?,
            mechanism: specification.id.name(),
            epsilon: specification.epsilon.get(),
            delta: specification.delta.get(),
            column: question.name(),
            skipped,
            private,
        })
    };
    let pairs = description.questions.iter().zip(mechanisms.iter().zip(&tallies));
    let mut questions = pairs.map(report).collect::<Result<Vec<EstimateReport>, Problem>>()?;
    if let (Some(path), [only]) = (&arguments.plot, &questions[..]) {
        let Estimate::Frequencies(found) = &only.estimate else {
            return Err(Problem::new("--plot is for frequencies, and these reports are numbers")
                .help("a mean is a single number: leave out --plot"));
        };
        picture::draw(&found.frequencies, only.reports, arguments.confidence).write(path)?;
    }
    let table = csv::estimates(&questions);
    if let Some((promise, asked)) = description.survey {
        let report = SurveyReport {
            reports: rows,
            epsilon: promise.epsilon.get(),
            delta: promise.delta.get(),
            answer: asked_word(asked),
            questions,
            skipped,
            private,
        };
        return Ok(Report::new(text::survey(&report, style), json::of(&report)).with_table(table));
    }
    let report = questions.remove(0);
    Ok(Report::new(text::estimate(&report, style), json::of(&report)).with_table(table))
}

/// What is wanted of each of several questions: intervals that cover at once share the error among the questions.
fn of_each(arguments: &EstimateArgs, questions: usize) -> Result<EstimateWishes, Problem> {
    let mut wishes = arguments.wishes();
    if questions > 1 {
        if arguments.plot.is_some() {
            return Err(Problem::new("--plot is for one question, and there are several")
                .help("--csv FILE writes the estimates of all questions"));
        }
        if arguments.simultaneous {
            let error = (1.0 - arguments.confidence.get()) / questions as f64;
            wishes.confidence = Probability::new((1.0 - error).next_up().min(1.0))?;
        }
    }
    Ok(wishes)
}

/// What to do about rows that are not reports.
const BAD_ROWS: &str = "correct it; or --skip-bad passes over such rows and says how many there were";
