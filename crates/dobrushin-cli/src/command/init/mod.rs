//! `dobrushin init`: files to begin with.

mod account;
mod columns;
mod interview;
mod local;
mod train;

use crate::cli::{Common, SetArgs, epsilon};
use crate::file::{self, Place, STANDARD_OUTPUT};
use crate::output::Report;
use crate::problem::Problem;
use crate::stderr::say;
use clap::{Args, ValueEnum};
use dobrushin::Epsilon;
use dobrushin_document::peers::Library;
use dobrushin_document::text::{Text, wrap};
use interview::Interview;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Args, Debug)]
pub struct InitArgs {
    /// What you want to do
    #[arg(value_enum)]
    pub kind: Option<Kind>,
    /// For train and local: a CSV file with a header line, or a Parquet file; only the names of its columns are read
    pub data: Option<PathBuf>,
    /// Translate the parameters of this library: opacus, tensorflow-privacy or jax-privacy
    #[arg(long, value_name = "LIBRARY", value_parser = library)]
    pub from: Option<Library>,
    /// A parameter as you gave it to that library, such as noise_multiplier=1.1. You can give this flag several times
    #[arg(long, value_name = "NAME=VALUE", requires = "from")]
    pub param: Vec<String>,
    /// A file with such parameters: a JSON object, or NAME = VALUE on lines of their own ("-" is standard input)
    #[arg(long, value_name = "FILE", requires = "from")]
    pub params: Option<PathBuf>,
    #[command(flatten)]
    pub changes: SetArgs,
    /// For train: the column to predict
    #[arg(long, value_name = "COLUMN")]
    pub label: Option<String>,
    /// For train: what the label is
    #[arg(long, value_enum)]
    pub task: Option<Task>,
    /// For train and local: a column of numbers, and the smallest and the largest that are possible
    #[arg(long, value_name = "COLUMN=LOWER,UPPER", allow_hyphen_values = true)]
    pub bounds: Vec<String>,
    /// For train and local: a column of words, and all that are possible
    #[arg(long, value_name = "COLUMN=A,B,…", allow_hyphen_values = true)]
    pub categories: Vec<String>,
    /// For train and local: a column that is not used
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    pub without: Vec<String>,
    /// For local: the ε that is promised to everybody
    #[arg(long, value_parser = epsilon, allow_negative_numbers = true)]
    pub epsilon: Option<Epsilon>,
    /// Ask nothing, even on a terminal: what no flag says has a usual value
    #[arg(long)]
    pub defaults: bool,
    /// Replace files that already exist
    #[arg(long)]
    pub force: bool,
}

/// What the files are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Account for a run: run.toml
    Account,
    /// Train a model: schema.toml and run.toml
    Train,
    /// Ask people privately: survey.toml
    Local,
}

/// What is predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Task {
    /// One of two classes, by logistic regression
    YesNo,
    /// One of several classes, by softmax regression
    Class,
    /// A number, by Huber regression
    Number,
}

/// The schema, in the folder of the run file.
const SCHEMA: &str = "schema.toml";

fn library(text: &str) -> Result<Library, String> {
    Library::named(text).ok_or_else(|| {
        let known = Library::ALL.map(Library::word);
        let near = dobrushin_document::nearest(text, known.into_iter());
        near.map_or(format!("one of: {}", known.join(", ")), |near| format!("did you mean {near}?"))
    })
}

/// A file that is to be written.
struct Starting {
    path: PathBuf,
    text: String,
}

impl InitArgs {
    /// The files that are written besides that of `--output`.
    pub fn also_written(&self, common: &Common) -> Vec<PathBuf> {
        let to_standard = common.output.as_deref().is_some_and(|path| path == Path::new(STANDARD_OUTPUT));
        let main = common.output.is_none().then(|| self.main_file(Kind::Account, common));
        match self.kind {
            _ if to_standard => Vec::new(),
            None => main.into_iter().collect(),
            Some(Kind::Train) => {
                let run = self.main_file(Kind::Train, common);
                main.into_iter().chain([beside(&run)]).collect()
            }
            Some(kind) => main.map(|_| self.main_file(kind, common)).into_iter().collect(),
        }
    }

    /// The file that the user reads first.
    fn main_file(&self, kind: Kind, common: &Common) -> PathBuf {
        let usual = if kind == Kind::Local { "survey.toml" } else { "run.toml" };
        common.output.clone().unwrap_or_else(|| PathBuf::from(usual))
    }

    /// Refuses flags that have no meaning for the kind.
    fn refuse_others(&self, kind: Kind) -> Result<(), Problem> {
        let (table, training) = ([Kind::Train, Kind::Local], [Kind::Train]);
        let flags: [(&str, bool, &[Kind]); 9] = [
            ("--from", self.from.is_some(), &[Kind::Account]),
            ("--set", !self.changes.set.is_empty(), &[Kind::Account, Kind::Train]),
            ("the file with data", self.data.is_some(), &table),
            ("--label", self.label.is_some(), &training),
            ("--task", self.task.is_some(), &training),
            ("--bounds", !self.bounds.is_empty(), &table),
            ("--categories", !self.categories.is_empty(), &table),
            ("--without", !self.without.is_empty(), &table),
            ("--epsilon", self.epsilon.is_some(), &[Kind::Local]),
        ];
        let word = |kind: &Kind| {
            kind.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
        };
        match flags.into_iter().find(|(_, given, kinds)| *given && !kinds.contains(&kind)) {
            None => Ok(()),
            Some((flag, _, kinds)) => {
                let kinds: Vec<String> = kinds.iter().map(word).collect();
                Err(Problem::new(format!("{flag} has no meaning for dobrushin init {}", word(&kind)))
                    .help(format!("it is for: dobrushin init {}", kinds.join(", dobrushin init "))))
            }
        }
    }
}

/// Asks, writes the files, and says what is left to do.
pub fn run(arguments: &InitArgs, common: &Common) -> Result<ExitCode, Problem> {
    let mut interview = match interview::is_possible() && !arguments.defaults {
        true => Interview::on_the_terminal(),
        false => Interview::of_nobody(),
    };
    let kind = kind(arguments, &mut interview)?;
    arguments.refuse_others(kind)?;
    let main = arguments.main_file(kind, common);
    // Nobody answers questions for a file that cannot be written.
    let mut paths = vec![main.clone()];
    paths.extend((kind == Kind::Train && !is_standard(&main)).then(|| beside(&main)));
    paths.iter().try_for_each(|path| refuse_to_replace(path, arguments.force))?;
    let (files, usual) = match kind {
        Kind::Account => {
            let starter = account::starter(arguments, &mut interview)?;
            (vec![Starting { path: main, text: starter.text() }], starter.defaults())
        }
        Kind::Train => {
            let train::Written { run, schema } = train::written(arguments, &mut interview)?;
            let (path, usual) = (beside(&main), run.defaults());
            (vec![Starting { path, text: schema }, Starting { path: main, text: run.text() }], usual)
        }
        Kind::Local => {
            (vec![Starting { path: main, text: local::survey(arguments, &mut interview)? }], Vec::new())
        }
    };
    let was_asked = interview.is_possible();
    finish(kind, &files, &usual, was_asked, common)?;
    Ok(ExitCode::SUCCESS)
}

fn kind(arguments: &InitArgs, interview: &mut Interview) -> Result<Kind, Problem> {
    if let Some(kind) = arguments.kind.or(arguments.from.map(|_| Kind::Account)) {
        return Ok(kind);
    }
    let question = "What do you want to do? account (how private is a run?), train (a model of a table), local (ask people)?";
    let asked = interview.ask(question, Some("account"), |answer| {
        Kind::from_str(answer, true)
            .map_err(|_| Problem::new(format!("{answer:?} is none of them")).help("account, train or local"))
    })?;
    Ok(asked.unwrap_or(Kind::Account))
}

/// The schema in the folder of a run file.
fn beside(run: &Path) -> PathBuf {
    run.with_file_name(SCHEMA)
}

fn is_standard(path: &Path) -> bool {
    matches!(Place::of(path), Ok(Place::Standard))
}

fn refuse_to_replace(path: &Path, force: bool) -> Result<(), Problem> {
    match Place::of(path).map_err(|error| Problem::cannot_write(path, error))? {
        Place::Replaced(target) if !force && target.exists() => {
            Err(Problem::new(format!("{} already exists", path.display()))
                .help("--force replaces it; --output FILE writes another, and --output - prints it"))
        }
        _ => Ok(()),
    }
}

/// Writes the files, or prints them, and says what to do next.
fn finish(
    kind: Kind,
    files: &[Starting],
    usual: &[String],
    was_asked: bool,
    common: &Common,
) -> Result<(), Problem> {
    let printed = files.last().is_some_and(|file| is_standard(&file.path));
    let write = |path: &Path, bytes: &[u8]| {
        file::replace(path, bytes).map_err(|error| Problem::cannot_write(path, error))
    };
    if !printed {
        files.iter().try_for_each(|file| write(&file.path, file.text.as_bytes()))?;
    }
    let text = summary(kind, files, usual, was_asked, printed);
    let listed = |file: &Starting| {
        let path = if printed { Value::Null } else { json!(file.path.display().to_string()) };
        json!({ "path": path, "text": file.text })
    };
    let report =
        Report::new(text, json!({ "files": files.iter().map(listed).collect::<Vec<_>>(), "usual": usual }));
    let standard = Path::new(STANDARD_OUTPUT);
    match (printed, common.json) {
        (true, false) => {
            if !common.quiet {
                say(&report.rendered(common));
            }
            write(standard, together(files).as_bytes())
        }
        _ => write(standard, report.rendered(common).as_bytes()),
    }
}

/// Several files as one text, each after a line with its name.
fn together(files: &[Starting]) -> String {
    match files {
        [one] => one.text.clone(),
        [schema, run] => format!("# {SCHEMA}\n{}\n# run.toml\n{}", schema.text, run.text),
        _ => String::new(),
    }
}

fn summary(kind: Kind, files: &[Starting], usual: &[String], was_asked: bool, printed: bool) -> Text {
    let mut text = Text::default();
    let names: Vec<String> = files.iter().map(|file| file.path.display().to_string()).collect();
    let main = names.last().map_or("FILE", String::as_str);
    if !printed {
        let verb = if names.len() == 1 { "is" } else { "are" };
        text.answer(format!("{} {verb} written.", names.join(" and ")));
    }
    if !was_asked && !usual.is_empty() {
        text.explanation(wrap(
            &format!(
                "Nobody was asked. What no flag says has a usual value, which need not be yours: {}. Change it in the file, or \
                 with --set KEY=VALUE.",
                usual.join(", ")
            ),
            "",
        ));
    }
    let open = files.iter().map(|file| file.text.matches("TODO").count()).sum::<usize>();
    if open > 0 {
        text.explanation(wrap(
            &format!(
                "{open} places marked TODO are left to fill in, from what the columns mean: never from private values."
            ),
            "",
        ));
    }
    let file = if printed { "FILE" } else { main };
    text.explanation(match kind {
        Kind::Account => format!("Next: dobrushin account {file}"),
        Kind::Train => format!("Next: dobrushin schema check {}", if printed { SCHEMA } else { &names[0] }),
        Kind::Local => {
            format!("Next: dobrushin local privatize ANSWERS.csv --survey {file} --output reports.csv")
        }
    });
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        arguments: InitArgs,
    }

    /// What these flags say.
    pub fn arguments(flags: &[&str]) -> InitArgs {
        let words = ["init"].iter().chain(flags);
        Only::try_parse_from(words).unwrap_or_else(|error| panic!("{error}")).arguments
    }

    #[test]
    fn the_kind_is_asked_for_only_where_nothing_says_it() {
        let asked = |flags: &[&str], answers: &str| {
            let mut interview = Interview::new(answers.as_bytes(), std::io::sink());
            kind(&arguments(flags), &mut interview).expect("it is answered")
        };
        assert_eq!(asked(&[], "something\nlocal\n"), Kind::Local);
        assert_eq!(asked(&[], "\n"), Kind::Account);
        assert_eq!(asked(&["train"], ""), Kind::Train);
        assert_eq!(asked(&["--from", "opacus"], ""), Kind::Account);
    }
}
