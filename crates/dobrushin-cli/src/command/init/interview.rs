//! Questions on a terminal.

use crate::problem::Problem;
use dobrushin_document::plain_text::for_message;
use std::io::{self, BufRead, IsTerminal, Write};

/// Somebody who can be asked, or nobody: then every answer is the usual one.
pub struct Interview<'a> {
    person: Option<Person<'a>>,
}

struct Person<'a> {
    answers: Box<dyn BufRead + 'a>,
    questions: Box<dyn Write + 'a>,
}

/// Whether both the questions, on standard error, and the answers have a terminal.
pub fn is_possible() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

impl<'a> Interview<'a> {
    /// Asks nobody.
    pub fn of_nobody() -> Self {
        Self { person: None }
    }

    /// Asks on the terminal. Standard output stays free for the file.
    pub fn on_the_terminal() -> Self {
        Self::new(io::stdin().lock(), io::stderr())
    }

    /// Asks whoever reads and writes these.
    pub fn new(answers: impl BufRead + 'a, questions: impl Write + 'a) -> Self {
        Self { person: Some(Person { answers: Box::new(answers), questions: Box::new(questions) }) }
    }

    /// Whether there is somebody.
    pub fn is_possible(&self) -> bool {
        self.person.is_some()
    }

    /// Asks until the answer is accepted. An empty answer stands for the usual one, which is shown; `None` is returned
    /// for it, and if there is nobody to ask.
    pub fn ask<T>(
        &mut self,
        question: &str,
        usual: Option<&str>,
        mut accept: impl FnMut(&str) -> Result<T, Problem>,
    ) -> Result<Option<T>, Problem> {
        let Some(person) = &mut self.person else {
            return Ok(None);
        };
        let shown = usual.map_or(String::new(), |usual| format!(" [{usual}]"));
        loop {
            person.write(&format!("{}{} ", for_message(question), for_message(&shown)))?;
            let mut answer = String::new();
            let read = person.answers.read_line(&mut answer);
            let length = read.map_err(|error| Problem::new("the answer cannot be read").because(error))?;
            if length == 0 {
                person.write("\n")?;
                return Err(Problem::new("the questions were not answered to their end: nothing is written")
                    .help("--defaults asks nothing, and --set KEY=VALUE answers"));
            }
            match answer.trim() {
                "" => return Ok(None),
                answer => match accept(answer) {
                    Ok(accepted) => return Ok(Some(accepted)),
                    Err(problem) => person.write(&problem.text())?,
                },
            }
        }
    }
}

impl Person<'_> {
    fn write(&mut self, words: &str) -> Result<(), Problem> {
        let written = self.questions.write_all(words.as_bytes()).and_then(|()| self.questions.flush());
        written.map_err(|error| Problem::new("the question cannot be shown").because(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(answer: &str) -> Result<u32, Problem> {
        answer.parse().map_err(|_| Problem::new(format!("{answer:?} is not a number")).help("7"))
    }

    #[test]
    fn a_question_is_repeated_until_its_answer_is_accepted() {
        let mut shown = Vec::new();
        let answer =
            Interview::new(&b"x\n\xc3\xa4\n 12 \n13\n"[..], &mut shown).ask("How many?", Some("7"), number);
        assert_eq!(answer.expect("it ends"), Some(12));
        let shown = String::from_utf8(shown).expect("UTF-8");
        assert_eq!(shown.matches("How many? [7] ").count(), 3, "{shown}");
        assert!(shown.contains("error: \"x\" is not a number") && shown.contains("help: 7"), "{shown}");
    }

    #[test]
    fn an_empty_answer_is_the_usual_one_and_nobody_is_asked_nothing() {
        let mut interview = Interview::new(&b"\n\n"[..], io::sink());
        assert_eq!(interview.ask("How many?", Some("7"), number).expect("it ends"), None);
        assert_eq!(interview.ask("How many?", None, number).expect("it ends"), None);
        assert_eq!(Interview::of_nobody().ask("How many?", None, number).expect("it ends"), None);
    }

    #[test]
    fn the_end_of_the_answers_is_an_error_and_so_is_what_is_not_text() {
        for answers in [&b""[..], b"x\n", b"\xff\n"] {
            assert!(Interview::new(answers, io::sink()).ask("How many?", Some("7"), number).is_err());
        }
    }
}
