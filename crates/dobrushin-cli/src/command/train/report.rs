//! What users read when training has ended.

use super::NOT_PRIVATE;
use super::arguments::TrainArgs;
use super::data::Data;
use super::files::Folder;
use crate::command::account::{answer_json, pair, symbol, target, warn};
use crate::output::{Report, Text, bullets, object, sentences, table};
use crate::run_file::RunFile;
use dobrushin::account::Report as Account;
use dobrushin::numeric::decimal as number;
use dobrushin_train::schema::Schema;
use dobrushin_train::{Metrics, Plan, PrivateMetrics, Released, Table, evaluate};
use serde_json::{Map, Value, json};

/// Everything there is to say.
pub struct Outcome<'a> {
    pub arguments: &'a TrainArgs,
    pub file: &'a RunFile,
    pub plan: &'a Plan,
    pub schema: &'a Schema,
    pub account: &'a Account,
    pub out: &'a Folder,
    pub released: &'a Released,
    pub data: &'a Data,
}

/// The guarantee first, then what may be said of how good the model is.
pub fn of(outcome: &Outcome) -> Report {
    let (mut text, mut json) = (Text::default(), Map::new());
    let files = [("model", outcome.out.model()), ("certificate", outcome.out.certificate())];
    for (key, path) in &files {
        json.insert((*key).to_owned(), json!(path.display().to_string()));
    }
    guarantee(outcome, &mut text, &mut json);
    test(outcome, &mut text, &mut json);
    paid(outcome, &mut text, &mut json);
    public(outcome, &mut text, &mut json);
    if !outcome.arguments.data_is_public {
        text.explanation(UNUSABLE);
    }
    text.explanation(format!(
        "The model is {}, its certificate {} (for people: {}).\nIt can be checked by: dobrushin certificate verify {} --model {}",
        files[0].1.display(),
        files[1].1.display(),
        outcome.out.text().display(),
        files[1].1.display(),
        files[0].1.display(),
    ));
    Report::new(text, Value::Object(json))
}

/// The same for all data.
const UNUSABLE: &str = "Rows that cannot be used, if there are any, were trained on as empty records. Only you may know: dobrushin schema check \
                        with --rows\nfinds them.";

fn guarantee(outcome: &Outcome, text: &mut Text, json: &mut Map<String, Value>) {
    let account = outcome.account;
    let question = account.question;
    // There is one, or nothing was trained.
    let Some(best) = account.guarantee() else {
        return;
    };
    let value = number::upper(best.answer.value);
    let promise = format!("(ε, δ) = {}, by {}", pair(question, &value), best.id);
    text.answer(match outcome.arguments.seed {
        None => promise,
        Some(seed) => format!("{NOT_PRIVATE}: the randomness came from seed {seed}. Otherwise {promise}"),
    });
    warn(text, account.concern.as_deref());
    json.insert("warnings".to_owned(), json!(account.warnings));
    if let Some(published) = account.answer("composition").filter(|_| best.id != "composition") {
        text.explanation(format!(
            "If every iterate were published it would be {} = {}, by composition.",
            symbol(question),
            number::upper(published.value)
        ));
    }
    let mut fields = answer_json(question, best.answer);
    if let Value::Object(given) = target(question) {
        fields.extend(given);
    }
    fields.extend(object([("analysis", json!(best.id)), ("assumptions", sentences(best.assumptions))]));
    json.insert("guarantee".to_owned(), Value::Object(fields));
    json.insert("private".to_owned(), json!(outcome.arguments.seed.is_none()));
    json.insert("run".to_owned(), outcome.file.json());
}

/// How good the model is on records that may be looked at.
fn test(outcome: &Outcome, text: &mut Text, json: &mut Map<String, Value>) {
    let Some(tested) = &outcome.data.test else {
        return;
    };
    let metrics = metrics(outcome, tested);
    text.answer(metrics_table(outcome.schema, &metrics));
    if outcome.arguments.test_share.is_some() {
        text.explanation("The test records are part of the same file. The guarantee does not cover these numbers for them.");
    }
    json.insert("test".to_owned(), metrics_json(&metrics));
}

/// The private evaluation, which the guarantee covers.
fn paid(outcome: &Outcome, text: &mut Text, json: &mut Map<String, Value>) {
    let evaluations = &outcome.released.evaluations;
    if evaluations.is_empty() {
        return;
    }
    let of = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.4}"));
    let rows = evaluations.iter().enumerate().map(|(task, evaluation)| {
        [
            outcome.schema.label_columns()[task].to_owned(),
            of(evaluation.accuracy),
            of(Some(evaluation.loss)),
            of(evaluation.accuracy_deviation),
            of(Some(evaluation.loss_deviation)),
        ]
    });
    text.answer(table(
        ["on the private records, with noise", "accuracy", "loss", "± accuracy", "± loss"],
        rows,
    ));
    text.explanation("The guarantee covers these numbers. ± is the standard deviation of their noise.");
    json.insert("private_evaluation".to_owned(), evaluations_json(outcome.released));
}

/// The private evaluation of each task.
pub fn evaluations_json(released: &Released) -> Value {
    let one = |evaluation: &PrivateMetrics| {
        json!({
            "accuracy": evaluation.accuracy,
            "accuracy_deviation": evaluation.accuracy_deviation,
            "loss": evaluation.loss,
            "loss_deviation": evaluation.loss_deviation,
        })
    };
    released.evaluations.iter().map(one).collect()
}

/// What may be said if the records are no secret.
fn public(outcome: &Outcome, text: &mut Text, json: &mut Map<String, Value>) {
    if !outcome.arguments.data_is_public {
        return;
    }
    let mut lines = Vec::new();
    if let Some(enforced) = &outcome.data.enforced {
        lines.push(format!(
            "{} values were outside their bounds and moved to them, {} rows were scaled down, {} rows could not be used",
            enforced.clipped, enforced.scaled, enforced.skipped
        ));
        json.insert(
            "enforced".to_owned(),
            json!({ "clipped": enforced.clipped, "scaled": enforced.scaled, "skipped": enforced.skipped }),
        );
    }
    if let Some(table) = outcome.data.in_memory() {
        let metrics = metrics(outcome, table);
        lines.extend(
            metrics.iter().map(|metrics| format!("loss on the training records {:.4}", metrics.loss)),
        );
        json.insert("training_records".to_owned(), metrics_json(&metrics));
    }
    if let Some(regret) = &outcome.data.regret {
        lines.push(format!(
            "regret {:.4} over {} rounds: mean loss {:.4} as they came, {:.4} of the best fixed parameters that were found",
            regret.total(), regret.rounds, regret.loss / regret.rounds as f64, regret.best / regret.rounds as f64
        ));
        json.insert(
            "regret".to_owned(),
            json!({ "rounds": regret.rounds, "loss": regret.loss, "best": regret.best, "regret": regret.total() }),
        );
    }
    text.answer(bullets("Of the training records, which are said to be public", &lines));
}

/// One for each task.
fn metrics(outcome: &Outcome, table: &Table) -> Vec<Metrics> {
    let parameters = outcome.released.parameters.iter().enumerate();
    parameters.map(|(task, parameters)| evaluate(outcome.plan.model(), parameters, table, task)).collect()
}

fn metrics_table(schema: &Schema, metrics: &[Metrics]) -> String {
    let of = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.4}"));
    // Errors of scaled numbers, in the units of the column.
    let scale = |task| schema.label_value(task, 1.0) - schema.label_value(task, 0.0);
    let rows = metrics.iter().enumerate().map(|(task, metrics)| {
        [
            schema.label_columns()[task].to_owned(),
            metrics.records.to_string(),
            of(metrics.accuracy),
            of(metrics.root_mean_square.map(|error| error * scale(task))),
            of(Some(metrics.loss)),
        ]
    });
    table(["on the test records", "records", "accuracy", "root mean square", "loss"], rows)
}

/// One object, or a list of one for each task.
fn metrics_json(metrics: &[Metrics]) -> Value {
    let one = |metrics: &Metrics| {
        json!({
            "records": metrics.records,
            "accuracy": metrics.accuracy,
            "loss": metrics.loss,
            "root_mean_square": metrics.root_mean_square,
        })
    };
    match metrics {
        [only] => one(only),
        several => several.iter().map(one).collect(),
    }
}
