//! `dobrushin account`: how private a run is.

use super::{account_plot, utility};
use crate::certificate;
use crate::cli::{AccountArgs, QuestionArgs};
use crate::file;
use crate::guard::Guard;
use crate::output::{Report, Text, bounds, bullets, number as json_number, object, sentences, table, wrap};
use crate::problem::Problem;
use crate::records::Records;
use crate::run_file::{self, RunFile};
use dobrushin::account::{Advice, Answer, Entry, Options, Question, Report as Account, advice};
use dobrushin::numeric::decimal as number;
use dobrushin::run::Run;
use dobrushin::{Delta, Epsilon};
use serde_json::{Map, Value, json};
use std::path::Path;

/// Every analysis of the run.
pub fn run(arguments: &AccountArgs, guard: &Guard) -> Result<Report, Problem> {
    let mut file = match &arguments.run {
        Some(path) => RunFile::read(path)?,
        None => RunFile::built_in()?,
    };
    run_file::apply(&mut file, &arguments.changes.set)?;
    file.spared_by(guard)?;
    let run = file.run()?;
    let question = question(&file, &arguments.question)?;
    let options = Options { tolerance: arguments.tolerance, only: arguments.analyses.only() };
    let account = Account::new(&run, question, &options);
    let records = records(arguments, &run, &account, &options)?;
    if let Some(path) = &arguments.plot {
        account_plot::draw(&run, &account, &options)?.write(path)?;
    }
    if let Some(path) = &arguments.certificate {
        write_certificate(path, certificate::of(&file, &account, &options)?, &account)?;
    }
    let mut text = Text::default();
    if arguments.run.is_none() {
        text.explanation("No run file was given: this is the built-in example, examples/dp-sgd.toml.");
    }
    describe(&mut text, &account, records.as_ref());
    let advised = if arguments.advice { advice(&run, &account, &options) } else { Vec::new() };
    describe_advice(&mut text, question, &advised, arguments.advice);
    let worth = arguments.utility.then(|| dobrushin::utility::of(&run));
    if let Some(worth) = &worth {
        utility::describe(&mut text, worth);
    }
    if let Some(path) = &arguments.certificate {
        let path = path.display();
        text.explanation(format!("The certificate is {path}; it can be checked by: dobrushin verify {path}"));
    }
    let mut json = object([
        ("schema", json!(1)),
        ("run", file.json()),
        ("target", target(question)),
        ("guarantee", guarantee(&account)),
        ("analyses", analyses_json(&account)),
        ("explanation", json!(account.explanation)),
        ("warnings", json!(account.warnings)),
    ]);
    if arguments.advice {
        let one = |advice: &Advice| {
            let mut fields = object([("change", json!(advice.change)), ("analysis", json!(advice.analysis))]);
            fields.extend(answer_json(question, advice.answer));
            Value::Object(fields)
        };
        json.insert("advice".to_owned(), advised.iter().map(one).collect());
    }
    if let Some(worth) = &worth {
        json.insert("utility".to_owned(), utility::as_json(worth));
    }
    if let Some(records) = &records {
        json.insert("records".to_owned(), records.json());
    }
    if arguments.run.is_none() {
        json.insert("example".to_owned(), json!(true));
    }
    Ok(Report { text, json: Value::Object(json), answer_is_no: account.guarantee().is_none() })
}

fn describe_advice(text: &mut Text, question: Question, advice: &[Advice], asked_for: bool) {
    if !asked_for {
        return;
    }
    let symbol = if asked(question) == "epsilon" { "ε" } else { "δ" };
    let lines: Vec<String> = advice
        .iter()
        .map(|advice| format!("{}: {symbol} = {}", advice.change, number::briefly(advice.answer.value)))
        .collect();
    text.answer(if lines.is_empty() {
        "What would help\n  none of the changes that were tried".to_owned()
    } else {
        bullets("What would help, each by itself, tried out", &lines)
    });
}

/// The protection of every record, if it is asked for, and its files.
fn records(
    arguments: &AccountArgs,
    run: &Run,
    account: &Account,
    options: &Options,
) -> Result<Option<Records>, Problem> {
    let (csv, plot) = (&arguments.per_record_csv, &arguments.per_record_plot);
    if !arguments.per_record && csv.is_none() && plot.is_none() {
        return Ok(None);
    }
    let records = Records::new(run, account.question, options)?;
    if let Some(path) = csv {
        records.write_csv(path)?;
    }
    if let Some(path) = plot {
        let published = account.if_published();
        records.draw(published.map(|answer| answer.value.upper())).write(path)?;
    }
    Ok(arguments.per_record.then_some(records))
}

fn write_certificate(path: &Path, certificate: Option<Value>, account: &Account) -> Result<(), Problem> {
    let Some(certificate) = certificate else {
        return Err(Problem::answer_is_no("there is no guarantee, so there is no certificate")
            .help(why_no_certificate(account)));
    };
    file::replace(path, format!("{certificate:#}\n").as_bytes())
        .map_err(|error| Problem::cannot_write(path, error))
}

/// Why there is no certificate, though the run can be accounted for.
pub fn why_no_certificate(account: &Account) -> String {
    match (&account.concern, account.guarantee()) {
        (Some(concern), _) => concern.clone(),
        (None, Some(_)) => "ε is infinite, which is no guarantee: add noise, or choose a larger δ".to_owned(),
        (None, None) => "dobrushin account without --certificate says why no analysis applies".to_owned(),
    }
}

/// A δ that something is to be certified or searched for. A question may have any; but everything is (ε, 1)-private.
pub fn worth_meeting(delta: Delta) -> Result<Delta, Problem> {
    if delta.get() < 1.0 {
        return Ok(delta);
    }
    Err(Problem::new(
        "δ is 1, but it must be below 1: everything is (ε, 1)-private, even publishing all records",
    )
    .help("--delta 1e-6, well below 1 over the number of records"))
}

/// What the flags ask, or else the file.
pub fn question(file: &RunFile, flags: &QuestionArgs) -> Result<Question, Problem> {
    match (flags.delta, flags.epsilon) {
        (Some(delta), _) => Ok(Question::Epsilon(delta)),
        (None, Some(epsilon)) => Ok(Question::Delta(epsilon)),
        (None, None) => file.question()?.ok_or_else(|| {
            Problem::new("nothing is asked: target.delta and target.epsilon are missing").help(
                "--delta 1e-5 finds ε, --epsilon 1 finds δ; or add [target] with delta = 1e-5 to the file",
            )
        }),
    }
}

/// The name of what is asked for.
pub fn asked(question: Question) -> &'static str {
    match question {
        Question::Epsilon(_) => "epsilon",
        Question::Delta(_) => "delta",
    }
}

/// Its symbol.
pub fn symbol(question: Question) -> &'static str {
    match question {
        Question::Epsilon(_) => "ε",
        Question::Delta(_) => "δ",
    }
}

/// (ε, δ) with an answer in its place.
pub fn pair(question: Question, value: &str) -> String {
    match question {
        Question::Epsilon(delta) => format!("({value}, {})", number::plain(delta.get())),
        Question::Delta(epsilon) => format!("({}, {value})", number::plain(epsilon.get())),
    }
}

/// What [`target`] wrote, read again.
pub fn question_of(target: &Value) -> Option<Question> {
    match (target["delta"].as_f64(), target["epsilon"].as_f64()) {
        (Some(delta), None) => Delta::new(delta).ok().map(Question::Epsilon),
        (None, Some(epsilon)) => Epsilon::new(epsilon).ok().map(Question::Delta),
        _ => None,
    }
}

/// `{"delta": …}` or `{"epsilon": …}`.
pub fn target(question: Question) -> Value {
    Value::Object(given(question))
}

fn given(question: Question) -> Map<String, Value> {
    match question {
        Question::Epsilon(delta) => object([("delta", json!(delta.get()))]),
        Question::Delta(epsilon) => object([("epsilon", json_number(epsilon.get()))]),
    }
}

/// The fields of an answer.
pub fn answer_json(question: Question, answer: Answer) -> Map<String, Value> {
    let mut fields = object([(asked(question), bounds(answer.value))]);
    if let Some(log_delta) = answer.log_delta {
        fields.insert("log_delta".to_owned(), bounds(log_delta));
    }
    fields
}

/// What every analysis says, for programs.
pub fn analyses_json(account: &Account) -> Value {
    account.entries.iter().map(|entry| entry_json(account.question, entry)).collect()
}

fn entry_json(question: Question, entry: &Entry) -> Value {
    let mut fields = object([("id", json!(entry.id))]);
    match &entry.outcome {
        Ok(answer) => fields.extend(answer_json(question, *answer)),
        Err(reason) => drop(fields.insert("not_applicable".to_owned(), json!(reason.to_string()))),
    }
    if !entry.rigorous {
        fields.insert("approximate".to_owned(), json!(true));
    }
    Value::Object(fields)
}

fn guarantee(account: &Account) -> Value {
    let Some(best) = account.guarantee() else {
        return Value::Null;
    };
    let mut fields = answer_json(account.question, best.answer);
    fields.extend(given(account.question));
    fields.insert("analysis".to_owned(), json!(best.id));
    fields.insert("assumptions".to_owned(), sentences(best.assumptions));
    Value::Object(fields)
}

/// The answer, where it comes from, what every analysis says, and what must hold.
fn describe(text: &mut Text, account: &Account, records: Option<&Records>) {
    let best = account.guarantee();
    text.answer(match best {
        Some(best) => {
            let value = shown(best.answer, number::upper(best.answer.value));
            format!("(ε, δ) = {}, by {}", pair(account.question, &value), best.id)
        }
        None => "No guarantee: none of the analyses applies.".to_owned(),
    });
    warn(text, account.concern.as_deref());
    if !account.explanation.is_empty() {
        let lines: Vec<String> = account.explanation.iter().map(|line| wrap(line, "")).collect();
        text.explanation(lines.join("\n"));
    }
    if let Some(records) = records {
        text.answer(records.text());
    }
    if account.entries.iter().any(|entry| entry.outcome.is_ok()) {
        text.answer(answers(account));
    }
    let reasons = reasons(account);
    if !reasons.is_empty() {
        let lines = reasons.iter().map(|(reason, ids)| format!("{}: {reason}", ids.join(", ")));
        text.explanation(bullets("Not applicable", lines));
    }
    if let Some(best) = best {
        text.explanation(bullets("Assumptions", best.assumptions));
    }
    let notes = || account.warnings.iter().filter(|note| Some(*note) != account.concern.as_ref());
    if notes().next().is_some() {
        text.explanation(bullets("Notes", notes()));
    }
    text.explanation(format!(
        "The guarantee is the smallest upper end of a rigorous analysis; printed bounds are rounded outward.\n\
         The theorem: dobrushin explain {}",
        best.map_or("composition", |best| best.id)
    ));
}

/// Why a guarantee protects nobody; --quiet does not leave it out.
pub fn warn(text: &mut Text, concern: Option<&str>) {
    if let Some(concern) = concern {
        text.answer(wrap(&format!("Warning: {concern}."), ""));
    }
}

/// Why analyses do not apply, those with the same reason together.
fn reasons(account: &Account) -> Vec<(String, Vec<&'static str>)> {
    let mut reasons: Vec<(String, Vec<&'static str>)> = Vec::new();
    for entry in &account.entries {
        let Err(reason) = &entry.outcome else {
            continue;
        };
        let reason = reason.to_string();
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, ids)) => ids.push(entry.id),
            None => reasons.push((reason, vec![entry.id])),
        }
    }
    reasons
}

/// A table of the analyses that apply.
fn answers(account: &Account) -> String {
    let symbol = symbol(account.question);
    let rows = account.entries.iter().filter_map(|entry| {
        let answer = *entry.outcome.as_ref().ok()?;
        let note = if entry.rigorous { "" } else { "approximate: no guarantee" };
        let (lower, upper) = (number::lower(answer.value), shown(answer, number::upper(answer.value)));
        Some([entry.id.to_owned(), lower, upper, note.to_owned()])
    });
    table(["analysis", &format!("{symbol} at least"), &format!("{symbol} at most"), ""], rows)
}

/// A value; where δ underflows, its logarithm too.
fn shown(answer: Answer, value: String) -> String {
    match answer.log_delta {
        Some(log_delta) if answer.value.upper() < 1e-300 && log_delta.upper().is_finite() => {
            format!("{value} (ln δ ≤ {})", number::upper(log_delta))
        }
        _ => value,
    }
}
