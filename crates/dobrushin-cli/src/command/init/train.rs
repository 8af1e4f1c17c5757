//! `dobrushin init train`: a schema and a run file for a table.

use super::columns::{self, Said};
use super::interview::Interview;
use super::{InitArgs, SCHEMA, Task};
use crate::command::schema::{Held, from_names};
use crate::problem::Problem;
use crate::table_file::find_all;
use clap::ValueEnum;
use dobrushin_document::{Setting, Starter};
use std::path::{Path, PathBuf};

/// The two files.
pub struct Written {
    /// The run file.
    pub run: Starter,
    /// The schema, in which something may be left to fill in.
    pub schema: String,
}

/// The files, from the names of the columns, from flags and from answers. No row is read.
pub fn written(arguments: &InitArgs, interview: &mut Interview) -> Result<Written, Problem> {
    let data = data(arguments, interview)?;
    let names = columns::of_file(&data)?;
    let label = label(arguments, &names, &data, interview)?;
    let task = task(arguments, interview)?;
    let said = Said::new(&arguments.bounds, &arguments.categories)?;
    let mentioned: Vec<&str> = said.names().chain(arguments.without.iter().map(String::as_str)).collect();
    find_all(&names, &mentioned, &data)?;
    if arguments.without.contains(&label) {
        return Err(Problem::new(format!("--without {label} is the label")).help("leave another column out"));
    }
    let mut declared: Vec<(&str, Held)> = Vec::new();
    for name in names.iter().filter(|name| !arguments.without.contains(name)) {
        let held = match (said.of(name), name == &label) {
            (Some(held), false) => held,
            (held, true) => of_label(name, task, held, interview)?,
            (None, false) => columns::ask(name, interview)?.unwrap_or(Held::Numbers(None)),
        };
        declared.push((name, held));
    }
    let schema = from_names(&[&label], &declared);
    Ok(Written { run: run(arguments, task, interview)?, schema })
}

fn data(arguments: &InitArgs, interview: &mut Interview) -> Result<PathBuf, Problem> {
    let asked = match &arguments.data {
        Some(path) => Some(path.clone()),
        None => interview.ask(
            "Which file has the records? Only the names of its columns are read.",
            None,
            |answer| columns::of_file(Path::new(answer)).map(|_| PathBuf::from(answer)),
        )?,
    };
    asked.ok_or_else(|| {
        Problem::new(
            "dobrushin init train needs the file with the records: only the names of its columns are read",
        )
        .help("dobrushin init train DATA.csv --label COLUMN")
    })
}

fn label(
    arguments: &InitArgs,
    names: &[String],
    data: &Path,
    interview: &mut Interview,
) -> Result<String, Problem> {
    if let Some(label) = &arguments.label {
        find_all(names, &[label], data)?;
        return Ok(label.clone());
    }
    let asked = interview.ask("Which column is to be predicted?", None, |answer| {
        find_all(names, &[answer], data).map(|_| answer.to_owned())
    })?;
    asked.ok_or_else(|| Problem::new("--label is missing: the column to predict").help("--label COLUMN"))
}

fn task(arguments: &InitArgs, interview: &mut Interview) -> Result<Task, Problem> {
    if let Some(task) = arguments.task {
        return Ok(task);
    }
    let question = "What is it? yes-no (two classes), class (several), number?";
    let asked = interview.ask(question, Some("yes-no"), |answer| {
        Task::from_str(answer, true)
            .map_err(|_| Problem::new(format!("{answer:?} is no task")).help("yes-no, class or number"))
    })?;
    Ok(asked.unwrap_or(Task::YesNo))
}

/// What the label may be, which must fit the task.
fn of_label(label: &str, task: Task, said: Option<Held>, interview: &mut Interview) -> Result<Held, Problem> {
    let fits = |held: Held| match (&held, task) {
        (Held::Numbers(_), Task::Number) | (Held::Words(None), Task::YesNo | Task::Class) => Ok(held),
        (Held::Words(Some(_)), Task::Class) => Ok(held),
        (Held::Words(Some(words)), Task::YesNo) if words.len() == 2 => Ok(held),
        (_, Task::YesNo) => {
            Err(Problem::new(format!("the label {label:?} must have two classes for yes-no"))
                .help(format!("--categories {label}=no,yes, or --task class or number")))
        }
        (_, Task::Class) => Err(Problem::new(format!("the label {label:?} must have classes"))
            .help(format!("--categories {label}=a,b,c, or --task number"))),
        (_, Task::Number) => Err(Problem::new(format!("the label {label:?} must have bounds"))
            .help(format!("--bounds {label}=0,100, or --task class"))),
    };
    if let Some(said) = said {
        return fits(said);
    }
    let question = match task {
        Task::YesNo => format!("{label}: its two classes, as in no,yes?"),
        Task::Class => format!("{label}: all its classes, as in red,green,blue?"),
        Task::Number => format!("{label}: the smallest and the largest possible value, as in 0,100?"),
    };
    let question = format!("{question} Leave it open to fill it in later.");
    let asked = interview.ask(&question, None, |answer| match task {
        Task::Number => columns::ends("the answer", answer).map(|ends| Held::Numbers(Some(ends))),
        _ => fits(Held::Words(Some(columns::list("the answer", answer)?))),
    })?;
    Ok(asked.unwrap_or(match task {
        Task::Number => Held::Numbers(None),
        Task::YesNo | Task::Class => Held::Words(None),
    }))
}

/// The run file. What it says is checked against itself; with the schema it is checked when it is used.
fn run(arguments: &InitArgs, task: Task, interview: &mut Interview) -> Result<Starter, Problem> {
    let mut run = Starter::default();
    run.begin_with(
        "A run that can be trained, by dobrushin init. Fill in the schema first, from what the columns mean. Then train: \
         dobrushin train DATA --run FILE --epsilon 1 --out DIR finds the least noise for ε = 1.",
    );
    let mut set =
        |assignment: &str| -> Result<(), Problem> { Ok(run.set(&Setting::parse("--set", assignment)?)?) };
    set(&format!("model.schema={SCHEMA}"))?;
    match task {
        Task::YesNo => set("model.kind=logistic")?,
        Task::Class => set("model.kind=softmax")?,
        Task::Number => ["model.kind=huber", "model.width=1.0"].into_iter().try_for_each(&mut set)?,
    }
    arguments.changes.set.iter().try_for_each(|assignment| set(assignment))?;
    for (key, question) in QUESTIONS {
        if run.is_set(key) {
            continue;
        }
        let usual = run.value(key);
        let answered = interview.ask(question, usual.as_deref(), |answer| {
            let mut tried = run.clone();
            tried.set(&Setting::parse("the answer", &format!("{key}={answer}"))?)?;
            check(&tried)?;
            Ok(tried)
        })?;
        run = answered.unwrap_or(run);
    }
    check(&run)?;
    Ok(run)
}

const QUESTIONS: [(&str, &str); 5] = [
    ("run.records", "How many records are there? Leave it out if training may count them."),
    ("run.batch-size", "How many records are in a batch?"),
    ("run.epochs", "How many passes over the records?"),
    ("update.learning-rate", "Which learning rate?"),
    ("target.delta", "Which δ, well below 1 over the number of records?"),
];

/// Checks the run as if it were of a loss about which nothing is known, because the schema may not be complete yet.
fn check(run: &Starter) -> Result<(), Problem> {
    run.file().question()?;
    Ok(run.file().without_model()?.run().map(|_| ())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::init::tests::arguments;

    fn answered(flags: &[&str], answers: &str) -> (Result<Written, Problem>, String) {
        let folder = tempfile::tempdir().expect("the folder for temporary files is writable");
        let path = folder.path().join("data.csv");
        std::fs::write(&path, "age,home,repaid\nnever,read,this\n").expect("the folder is writable");
        let path = path.to_str().expect("UTF-8");
        let mut shown = Vec::new();
        let answers = answers.replace("DATA", path);
        let flags: Vec<&str> = flags.iter().map(|&flag| if flag == "DATA" { path } else { flag }).collect();
        let asked = written(&arguments(&flags), &mut Interview::new(answers.as_bytes(), &mut shown));
        (asked, String::from_utf8(shown).expect("UTF-8"))
    }

    #[test]
    fn every_answer_stands_in_one_of_the_files() {
        let answers = "none.csv\nDATA\nRepaid\nrepaid\nmaybe\nyes-no\n0,120\nowns,rents\nno,yes,late\nno,yes\n\
                       3000\n4000\n300\n20\n0.1\n1e-5\n";
        let (written, shown) = answered(&["train"], answers);
        let Written { run, schema } = written.unwrap_or_else(|problem| panic!("{problem}\n{shown}"));
        let read = dobrushin_document::schema::parse(&schema).expect("it is complete");
        assert_eq!(read.label_columns(), ["repaid"]);
        for words in ["lower = 0\nupper = 120", "[\"owns\", \"rents\"]", "[\"no\", \"yes\"]"] {
            assert!(schema.contains(words), "{schema}");
        }
        for (key, value) in [
            ("run.records", "3000"),
            ("run.batch-size", "300"),
            ("run.epochs", "20"),
            ("update.learning-rate", "0.1"),
            ("target.delta", "1e-5"),
            ("model.kind", "\"logistic\""),
        ] {
            assert_eq!(run.value(key).as_deref(), Some(value), "{key}: {shown}");
        }
        for words in [
            "cannot read none.csv",
            "it is called \"repaid\"",
            "no task",
            "two classes",
            "run.batch-size is 4000",
        ] {
            assert!(shown.contains(words), "{words}: {shown}");
        }
        assert!(!shown.contains("never"), "{shown}");
    }

    #[test]
    fn what_is_left_open_is_left_to_fill_in_and_records_are_counted() {
        let (written, shown) =
            answered(&["train", "DATA", "--label", "repaid", "--task", "number"], &"\n".repeat(8));
        let Written { run, schema } = written.unwrap_or_else(|problem| panic!("{problem}\n{shown}"));
        assert_eq!(schema.matches("# TODO").count(), 6, "{schema}");
        assert!(run.value("run.records").is_none() && run.text().contains("# records = "), "{}", run.text());
    }
}
