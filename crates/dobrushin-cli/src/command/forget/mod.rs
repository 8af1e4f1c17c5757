//! `dobrushin forget`: a model from which records were deleted, with its certificate.

mod arguments;

pub use arguments::ForgetArgs;

use super::account_plot;
use crate::forgetting::{How, Made, Outcome, Request, Resumed, Which};
use crate::model_folder::Folder;
use crate::output::Report;
use crate::problem::Problem;
use crate::sheet_file;
use crate::stderr::say;
use crate::table_file::Source;
use crate::train_data::{load, refuse_none};
use crate::watch::{self, Watch};
use dobrushin_document::forgotten::Wish;
use dobrushin_document::report::ForgettingReport;
use dobrushin_document::text::Style;
use dobrushin_document::trained::Trained;
use dobrushin_document::{json, text};
use dobrushin_train::Table;
use dobrushin_train::schema::Schema;

/// Finds the rows, then how many clean steps they take, then makes these, and then writes the new model, its certificate
/// and the new state, or nothing: until all of them are complete, the old ones stay as they are.
pub fn run(arguments: &ForgetArgs, style: Style) -> Result<Report, Problem> {
    let wish = Wish::of(arguments.epsilon, arguments.delta, arguments.steps)?;
    let how = How::new(wish, arguments.seed, arguments.dry_run)?;
    // It is locked until everything is written.
    let resumed = Resumed::open(&arguments.state)?;
    resumed.warning.iter().for_each(|warning| say(&format!("warning: {warning}\n")));
    let out = arguments.out.as_deref().map(|out| Folder::new(out, arguments.force)).transpose()?;
    let test = test_records(arguments, resumed.schema(), !style.quiet)?;
    let data = arguments.cells.source(&arguments.data);
    let rows: Option<Source> = arguments.remove.as_deref().map(|path| arguments.cells.source(path));
    let conditions = conditions(&arguments.remove_where)?;
    let which = match &rows {
        Some(rows) => Which::Like(rows),
        None => Which::Where(&conditions),
    };
    let request = Request { which, group: arguments.group.as_deref() };
    let found = resumed.find(&data, &request, !style.quiet)?;
    let mut watch = None;
    let mut begin = |what| {
        // Only one line is shown at a time.
        watch = None;
        watch.insert(Watch::new(!style.quiet, 0, what)).progress().clone()
    };
    let Outcome { report, made } = resumed.forget(found, how, &mut begin)?;
    drop(watch);
    let (Some(made), Some(out)) = (made, out) else {
        return Ok(Report::new(text::forgetting(&report, style), json::of(&report)));
    };
    let Made { trained, took, .. } = &made;
    watch::say_how_long(!style.quiet, "Forgetting", *took);
    let Trained { plan, account, floor, options, certificate, .. } = trained;
    let page = arguments.report.as_deref().map(|path| {
        let picture = account_plot::of_the_guarantee(plan.run(), account, floor.as_ref(), options)?;
        Ok::<_, Problem>((path, sheet_file::bytes(certificate, &picture, path)?))
    });
    let report = ForgettingReport {
        files: Some(out.files()),
        test: test.as_ref().map(|table| trained.metrics(table, true)),
        ..report
    };
    made.write(Some(&out), page.transpose()?)?;
    Ok(Report::new(text::forgetting(&report, style), json::of(&report)))
}

/// The public records that the new model is tested on.
fn test_records(
    arguments: &ForgetArgs,
    schema: &Schema,
    show_progress: bool,
) -> Result<Option<Table>, Problem> {
    let Some(path) = &arguments.test else {
        return Ok(None);
    };
    let table = load(arguments.cells.source(path), schema, arguments.skip_bad, show_progress)?.table;
    refuse_none(path, table.len() as u64)?;
    Ok(Some(table))
}

/// The column and the value of each `COLUMN=VALUE`.
fn conditions(words: &[String]) -> Result<Vec<(String, String)>, Problem> {
    words
        .iter()
        .map(|word| match word.split_once('=') {
            Some((column, value)) if !column.trim().is_empty() => {
                Ok((column.trim().to_owned(), value.trim().to_owned()))
            }
            _ => Err(Problem::new(format!("--remove-where {word:?} does not name a column and a value"))
                .help(
                    "--remove-where \"customer=4711\"; the value is compared as it is written in the file",
                )),
        })
        .collect()
}
