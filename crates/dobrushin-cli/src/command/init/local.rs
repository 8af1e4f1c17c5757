//! `dobrushin init local`: a survey file.

use super::InitArgs;
use super::columns::{self, Said};
use super::interview::Interview;
use crate::command::schema::Held;
use crate::problem::Problem;
use crate::table_file::find_all;
use dobrushin::Epsilon;
use dobrushin_document::SurveyFile;
use dobrushin_document::plain_text::shown_safely;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The survey, from the names of the columns, from flags and from answers. No answer of anybody is read.
pub fn survey(arguments: &InitArgs, interview: &mut Interview) -> Result<String, Problem> {
    let said = Said::new(&arguments.bounds, &arguments.categories)?;
    let mut asked: Vec<(String, Held)> = Vec::new();
    let data = match &arguments.data {
        None if said.names().next().is_none() => interview.ask(
            "Which file has the answers? Only the names of its columns are read. Leave it out for an example.",
            None,
            |answer| columns::of_file(Path::new(answer)).map(|_| PathBuf::from(answer)),
        )?,
        data => data.clone(),
    };
    match &data {
        Some(data) => {
            let names = columns::of_file(data)?;
            let mentioned: Vec<&str> =
                said.names().chain(arguments.without.iter().map(String::as_str)).collect();
            find_all(&names, &mentioned, data)?;
            for name in names.into_iter().filter(|name| !arguments.without.contains(name)) {
                // A column of which nobody says anything is no question of the survey.
                let held = match said.of(&name) {
                    Some(held) => Some(held),
                    None => columns::ask(&name, interview)?,
                };
                asked.extend(held.map(|held| (name, held)));
            }
        }
        None => asked.extend(said.names().filter_map(|name| Some((name.to_owned(), said.of(name)?)))),
    }
    let epsilon = match arguments.epsilon {
        Some(epsilon) => Some(epsilon.get()),
        None => interview.ask(
            "Which ε is promised to everybody, for all answers together?",
            Some("2"),
            |answer| crate::cli::epsilon(answer).map(Epsilon::get).map_err(Problem::new),
        )?,
    };
    let text = text(epsilon, &asked);
    SurveyFile::parse(&text)?;
    Ok(text)
}

fn text(epsilon: Option<f64>, asked: &[(String, Held)]) -> String {
    let mut text = String::from(
        "# A survey by dobrushin init: the questions, and one promise for all answers of a person together.\n\
         # dobrushin local privatize ANSWERS.csv --survey FILE makes the answers private.\n\
         # dobrushin local plan says which mechanism is best for a question, and how large its error is.\n\n",
    );
    text += &match epsilon {
        Some(epsilon) => format!("epsilon = {epsilon:?}\n"),
        None => "epsilon = 2.0                  # usual: smaller protects more\n".to_owned(),
    };
    text += "answer = \"all\"                 # \"one\": everybody answers one question, drawn at random, with all of epsilon\n";
    if asked.is_empty() {
        text += "\n# TODO: your question. This is an example.\n[[question]]\ncolumn = \"transport\"\n\
                 values = [\"bus\", \"car\", \"bicycle\"]\nmechanism = \"k-rr\"\n";
    }
    for (column, held) in asked {
        let column = quoted(column);
        let (possible, mechanism) = match held {
            Held::Numbers(ends) => {
                let (lower, upper) = ends.unwrap_or((0.0, 1.0));
                (format!("bounds = [{lower:?}, {upper:?}]"), "one-bit")
            }
            Held::Words(words) => {
                let words: Vec<String> = words.iter().flatten().map(|word| quoted(word)).collect();
                (format!("values = [{}]", words.join(", ")), "k-rr")
            }
        };
        text += &format!(
            "\n[[question]]\ncolumn = {column}\n{possible}\nmechanism = \"{mechanism}\"\nshare = 1\n"
        );
    }
    text
}

/// A text in double quotes, on one line; JSON's escapes are also TOML's.
fn quoted(text: &str) -> String {
    shown_safely(&Value::from(text).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::init::tests::arguments;

    #[test]
    fn every_answer_stands_in_the_survey() {
        let folder = tempfile::tempdir().expect("the folder for temporary files is writable");
        let path = folder.path().join("people.csv");
        std::fs::write(&path, "transport,minutes,name\n").expect("the folder is writable");
        let answers = format!("{}\nbus,car\n0,60\n\n-1\n3\n", path.display());
        let mut interview = Interview::new(answers.as_bytes(), std::io::sink());
        let text = survey(&arguments(&["local"]), &mut interview).expect("all is accepted");
        let survey = SurveyFile::parse(&text).expect("it is a survey");
        assert_eq!(survey.promise.epsilon.get(), 3.0);
        let columns: Vec<&str> =
            survey.questions.iter().map(|question| question.columns[0].as_str()).collect();
        assert_eq!(columns, ["transport", "minutes"], "{text}");
    }
}
