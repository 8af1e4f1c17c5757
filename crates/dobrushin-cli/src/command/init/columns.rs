//! What columns may hold, as somebody who knows them says: from flags and answers, never from values.

use super::interview::Interview;
use crate::cli::bounds;
use crate::command::schema::Held;
use crate::problem::Problem;
use crate::table_file::{Delimiter, Source, find_all, names};
use std::path::Path;

/// What was said about columns with flags.
pub struct Said {
    columns: Vec<(String, Held)>,
}

impl Said {
    /// Reads `--bounds COLUMN=LOWER,UPPER` and `--categories COLUMN=A,B,C`.
    pub fn new(numbers: &[String], words: &[String]) -> Result<Self, Problem> {
        let mut columns: Vec<(String, Held)> = Vec::new();
        let split = |flag: &str, text: &str, example: &str| -> Result<(String, String), Problem> {
            let (column, held) = text
                .rsplit_once('=')
                .filter(|(column, held)| !column.is_empty() && !held.is_empty())
                .ok_or_else(|| {
                    Problem::new(format!("{flag} {text} is not COLUMN=…")).help(format!("{flag} {example}"))
                })?;
            Ok((column.to_owned(), held.to_owned()))
        };
        for text in numbers {
            let (column, held) = split("--bounds", text, "age=0,120")?;
            columns.push((column, Held::Numbers(Some(ends("--bounds", &held)?))));
        }
        for text in words {
            let (column, held) = split("--categories", text, "home=owns,rents")?;
            columns.push((column, Held::Words(Some(list("--categories", &held)?))));
        }
        for (index, (column, _)) in columns.iter().enumerate() {
            if columns[..index].iter().any(|(other, _)| other == column) {
                return Err(Problem::new(format!("column {column:?} is declared twice"))
                    .help("keep one --bounds or --categories for each column"));
            }
        }
        Ok(Self { columns })
    }

    /// What was said about a column.
    pub fn of(&self, column: &str) -> Option<Held> {
        self.columns.iter().find(|(other, _)| other == column).map(|(_, held)| held.clone())
    }

    /// The columns of which something was said.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(column, _)| column.as_str())
    }
}

/// The names of the columns of a file, all different; only its first line is read.
pub fn of_file(path: &Path) -> Result<Vec<String>, Problem> {
    let columns = names(Source { path, delimiter: Delimiter::default() }, &[])?;
    find_all(&columns, &columns.iter().map(String::as_str).collect::<Vec<_>>(), path)?;
    Ok(columns)
}

/// Two bounds.
pub fn ends(flag: &str, text: &str) -> Result<(f64, f64), Problem> {
    let found = bounds(text)
        .map_err(|why| Problem::new(format!("{flag} {text}: {why}")).help("two numbers, as in 0,120"))?;
    Ok((found.lower(), found.upper()))
}

/// Words, separated by commas, all different.
pub fn list(flag: &str, text: &str) -> Result<Vec<String>, Problem> {
    let words: Vec<String> = text.split(',').map(|word| word.trim().to_owned()).collect();
    let different: std::collections::BTreeSet<&String> = words.iter().collect();
    if words.len() < 2 || words.iter().any(String::is_empty) || different.len() < words.len() {
        return Err(Problem::new(format!("{flag} {text} is not a list of two or more different words"))
            .help("separate them by commas, as in no,yes"));
    }
    Ok(words)
}

/// Asks what a column may hold; an empty answer leaves it open.
pub fn ask(column: &str, interview: &mut Interview) -> Result<Option<Held>, Problem> {
    let question = format!(
        "{column}: two bounds, as in 0,120, or all possible words, as in owns,rents? Leave it open to fill it in later."
    );
    interview.ask(&question, None, |answer| match ends("the answer", answer) {
        Ok(found) => Ok(Held::Numbers(Some(found))),
        Err(_) => list("the answer", answer).map(|words| Held::Words(Some(words))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(numbers: &[&str], words: &[&str]) -> bool {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        Said::new(&owned(numbers), &owned(words)).is_err()
    }

    #[test]
    fn bounds_and_words_that_say_nothing_are_refused() {
        for bounds in [
            "age",
            "age=",
            "=0,1",
            "age=1",
            "age=1,0",
            "age=0,0",
            "age=NaN,1",
            "age=0,inf",
            "age=a,b",
            "age=0,1,2",
        ] {
            assert!(refused(&[bounds], &[]), "{bounds}");
        }
        for words in ["home", "home=", "=a,b", "home=a", "home=a,,b", "home=a,a", "home=,"] {
            assert!(refused(&[], &[words]), "{words}");
        }
        assert!(refused(&["age=0,1", "age=0,2"], &[]) && refused(&["age=0,1"], &["age=a,b"]));
        assert!(!refused(&["age=0,1", "a=b=-1e3,2"], &["home=a,b"]));
    }

    #[test]
    fn an_answer_is_two_bounds_or_words_or_open() {
        let held = |answers: &str| {
            let mut interview = Interview::new(answers.as_bytes(), std::io::sink());
            ask("age", &mut interview).expect("it ends")
        };
        assert_eq!(held("0,120\n"), Some(Held::Numbers(Some((0.0, 120.0)))));
        assert_eq!(held("one\nno, yes\n"), Some(Held::Words(Some(vec!["no".to_owned(), "yes".to_owned()]))));
        assert_eq!(held("\n"), None);
    }
}
