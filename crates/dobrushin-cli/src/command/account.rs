//! `dobrushin account`: how private a run is.

use crate::cli::{AccountArgs, QuestionArgs};
use crate::output::{Report, Text, bounds, number as json_number, object, table};
use crate::plot::{Line, Plot};
use crate::problem::Problem;
use crate::profile_plot::{Picture, Profile};
use crate::run_file::{self, RunFile};
use dobrushin::account::{Answer, Entry, Options, Question, Report as Account, analyses_for_curves};
use dobrushin::algorithm::Run;
use dobrushin::numeric::decimal as number;
use dobrushin::profile::PrivacyProfile;
use dobrushin::{Delta, Enclosure, Epsilon, Gamma};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Every analysis of the run.
pub fn run(arguments: &AccountArgs) -> Result<Report, Problem> {
    let mut file = match &arguments.run {
        Some(path) => RunFile::read(path)?,
        None => RunFile::built_in()?,
    };
    run_file::apply(&mut file, &arguments.changes.set)?;
    let run = file.run()?;
    let question = question(&file, &arguments.question)?;
    let options = Options { tolerance: arguments.tolerance, only: Vec::new() };
    let account = Account::new(&run, question, &options);
    if let Some(path) = &arguments.plot {
        draw(&run, &account, &options)?.write(path)?;
    }
    let mut text = Text::default();
    if arguments.run.is_none() {
        text.explanation("No run file was given: this is the built-in example, examples/dp-sgd.toml.");
    }
    describe(&mut text, &account);
    let mut json = object([
        ("schema", json!(1)),
        ("run", file.json()),
        ("target", target(question)),
        ("guarantee", guarantee(&account)),
        ("analyses", account.entries.iter().map(|entry| entry_json(question, entry)).collect()),
    ]);
    if arguments.run.is_none() {
        json.insert("example".to_owned(), json!(true));
    }
    Ok(Report { text, json: Value::Object(json), answer_is_no: account.guarantee().is_none() })
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
    fields.insert("assumptions".to_owned(), json!(best.assumptions));
    Value::Object(fields)
}

fn describe(text: &mut Text, account: &Account) {
    let question = account.question;
    let symbol = if asked(question) == "epsilon" { "ε" } else { "δ" };
    match account.guarantee() {
        Some(best) => {
            let value = shown(best.answer, number::upper(best.answer.value));
            let pair = match question {
                Question::Epsilon(delta) => format!("({value}, {})", number::plain(delta.get())),
                Question::Delta(epsilon) => format!("({}, {value})", number::plain(epsilon.get())),
            };
            text.answer(format!("(ε, δ) = {pair}, by {}", best.id));
        }
        None => text.answer("No guarantee: none of the analyses applies."),
    }
    let rows = account.entries.iter().filter_map(|entry| {
        let answer = *entry.outcome.as_ref().ok()?;
        let note = if entry.rigorous { "" } else { "approximate: no guarantee" };
        let (lower, upper) = (number::lower(answer.value), shown(answer, number::upper(answer.value)));
        Some([entry.id.to_owned(), lower, upper, note.to_owned()])
    });
    let rows: Vec<[String; 4]> = rows.collect();
    if !rows.is_empty() {
        let (lower, upper) = (format!("{symbol} at least"), format!("{symbol} at most"));
        text.answer(table(["analysis", &lower, &upper, ""], rows));
    }
    let not: Vec<String> = account
        .entries
        .iter()
        .filter_map(|entry| Some(format!("  {}: {}", entry.id, entry.outcome.as_ref().err()?)))
        .collect();
    if !not.is_empty() {
        text.answer(format!("Not applicable\n{}", not.join("\n")));
    }
    if !account.explanation.is_empty() {
        text.explanation(account.explanation.join("\n"));
    }
    let lines = |lines: &[String]| -> String {
        let lines: Vec<String> = lines.iter().map(|line| format!("  - {line}")).collect();
        lines.join("\n")
    };
    if let Some(best) = account.guarantee() {
        text.explanation(format!("Assumptions\n{}", lines(best.assumptions)));
    }
    if !account.warnings.is_empty() {
        text.explanation(format!("Note\n{}", lines(&account.warnings)));
    }
    text.explanation(
        "The guarantee is the smallest upper end of a rigorous analysis; printed bounds are rounded outward.\n\
         See: dobrushin explain composition",
    );
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

/// δ(ε) of every analysis that applies.
fn draw(run: &Run, account: &Account, options: &Options) -> Result<Plot, Problem> {
    let floor = Delta::new(1e-12)?;
    type Curve = Box<dyn Fn(Gamma) -> Enclosure>;
    let mut curves: Vec<(&'static str, Line, Curve, f64)> = Vec::new();
    for analysis in analyses_for_curves(run, options) {
        let Ok(profile) = analysis.profile else {
            continue;
        };
        let end = profile.epsilon(floor).upper();
        let line = if analysis.rigorous { Line::Solid } else { Line::Dashed };
        curves.push((analysis.id, line, Box::new(move |gamma| ln_delta(&profile, gamma)), end));
    }
    let profiles = curves
        .iter()
        .map(|(label, line, ln_delta, end)| Profile {
            label,
            line: *line,
            ln_delta: ln_delta.as_ref(),
            end: *end,
        })
        .collect();
    let asked = match account.question {
        Question::Delta(epsilon) => vec![epsilon.get()],
        Question::Epsilon(_) => {
            account.guarantee().map(|best| best.answer.value.upper()).into_iter().collect()
        }
    };
    let picture = Picture {
        title: "Privacy profile of the run".to_owned(),
        value: "δ",
        profiles,
        knots: Vec::new(),
        asked,
        caption: "Upper ends of certified enclosures; composition-gdp is an approximation, no bound."
            .to_owned(),
        floor,
    };
    Ok(picture.draw())
}

fn ln_delta(profile: &Arc<dyn PrivacyProfile>, gamma: Gamma) -> Enclosure {
    Epsilon::new(gamma.epsilon().lower().max(0.0))
        .map_or(Enclosure::ZERO, |epsilon| profile.log_delta(epsilon))
}
