//! `dobrushin forget`: a model from which records were deleted, with its certificate.

mod arguments;
mod request;

pub use arguments::ForgetArgs;

use super::account_plot;
use crate::day;
use crate::model_folder::Folder;
use crate::output::Report;
use crate::problem::Problem;
use crate::sheet_file;
use crate::state_file;
use crate::train_data::{load, refuse_none};
use crate::watch::{self, Watch};
use dobrushin::run::Forgotten;
use dobrushin_document::forgotten::{Wish, everyone_else, planned};
use dobrushin_document::report::ForgettingReport;
use dobrushin_document::state::State;
use dobrushin_document::text::Style;
use dobrushin_document::trained::{Accounted, Circumstances, Trained};
use dobrushin_document::{json, sheet, text};
use dobrushin_train::schema::Schema;
use dobrushin_train::{Generators, Seed, Table};
use request::Request;
use std::time::Instant;

/// Finds the rows, then how many clean steps they take, then makes these, and then writes the new model, its certificate
/// and the new state, or nothing: until all of them are complete, the old ones stay as they are.
pub fn run(arguments: &ForgetArgs, style: Style) -> Result<Report, Problem> {
    // It is read before the records are, so that it does not depend on them.
    let made = Some(day::today());
    let generators = Generators::new(arguments.seed.map_or(Seed::OperatingSystem, Seed::Known))?;
    let wish = Wish::of(arguments.epsilon, arguments.delta, arguments.steps)?;
    // It is locked until everything is written.
    let (state, _lock) = state_file::open(&arguments.state)?;
    let out = arguments.out.as_deref().map(|out| Folder::new(out, arguments.force)).transpose()?;
    let (plan, schema) = state.run.plan()?;
    let test = test_records(arguments, &schema, !style.quiet)?;
    let request = Request::read(arguments, &state, &schema, plan.training().records, !style.quiet)?;
    let mut watch = None;
    let mut begin = |what| {
        // Only one line is shown at a time.
        watch = None;
        watch.insert(Watch::new(!style.quiet, 0, what)).progress().clone()
    };
    let records = request.deleted.len() as u64;
    let (run, steps) = planned(&state, records, wish, &begin("search"))?;
    let accounted = Accounted::new(&run, wish.question(), &mut begin)?;
    wish.refuse_more(&accounted.account)?;
    let made_now = Forgotten { records, steps };
    let seed = arguments.seed.or(state.seed);
    let report = ForgettingReport {
        everyone_else: everyone_else(&state, made_now, wish.question(), begin("analyses")),
        ..ForgettingReport::new(&accounted, &run, &schema, seed)
    };
    let Some(out) = out else {
        return Ok(Report::new(text::forgetting(&report, style), json::of(&report)));
    };
    let start = Instant::now();
    let Request { deleted, mut table } = request;
    let all: Vec<u32> = state.deleted().chain(deleted.iter().copied()).collect();
    let mut kept = None;
    let circumstances = Circumstances { seed, test_share: None, keeps_state: true, made };
    let trained = accounted.train(circumstances, &mut begin, |plan, progress| {
        let (released, stopped) = plan.forget(&state.kept, &mut table, &all, &generators, progress)?;
        kept = Some(stopped);
        Ok(released)
    })?;
    drop(watch);
    watch::say_how_long(!style.quiet, "Forgetting", start.elapsed());
    let Trained { plan, account, floor, options, certificate, model, .. } = &trained;
    let page = arguments.report.as_deref().map(|path| {
        let picture = account_plot::of_the_guarantee(plan.run(), account, floor.as_ref(), options)?;
        Ok::<_, Problem>((path, sheet_file::bytes(certificate, &picture, path)?))
    });
    let page = page.transpose()?;
    let report = ForgettingReport {
        files: Some(out.files()),
        state: Some(arguments.state.display().to_string()),
        test: test.as_ref().map(|table| trained.metrics(table, true)),
        ..report
    };
    let mut rows = state.rows;
    deleted.iter().for_each(|&row| rows[row as usize] = None);
    let next = State {
        run: state.run,
        seed,
        requests: state.requests.into_iter().chain([made_now]).collect(),
        kept: kept.ok_or_else(|| Problem::new("no step was made"))?,
        key: state.key,
        rows,
    };
    let state = state_file::draft(&arguments.state, &next)?;
    out.write(model, certificate, page, Some(state))?;
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
