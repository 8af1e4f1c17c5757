//! One call of somebody's program.

use crate::probabilities;
use crate::problem::Problem;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

/// A shell command with places for paths and numbers.
pub struct Template<'a>(&'a str);

impl<'a> Template<'a> {
    /// Checks that the command can read the data and answer.
    pub fn new(command: &'a str) -> Result<Self, Problem> {
        for place in ["{data}", "{out}"] {
            if !command.contains(place) {
                return Err(Problem::new(format!("--command has no {place}: {command:?}"))
                    .help("as in --command 'python train.py {data} {out}'"));
            }
        }
        for place in ["{data}", "{out}", "{runs}", "{seed}"] {
            if ['\'', '"'].iter().any(|quote| command.contains(&format!("{quote}{place}"))) {
                return Err(Problem::new(format!(
                    "{place} is in quotes in --command, but it is quoted for you"
                ))
                .help(format!("write {place} without quotes around it")));
            }
        }
        Ok(Self(command))
    }

    /// Whether one call can train several models.
    pub fn takes_runs(&self) -> bool {
        self.0.contains("{runs}")
    }

    /// The command for one call.
    fn filled(&self, call: &Call<'_>) -> Result<String, Problem> {
        let mut filled = self.0.to_owned();
        for (place, path) in [("{data}", call.data), ("{out}", call.out)] {
            filled = filled.replace(place, &quoted(path)?);
        }
        Ok(filled.replace("{runs}", &call.models.to_string()).replace("{seed}", &call.number.to_string()))
    }

    /// Runs the command, and reads what it has written: one row for each model.
    pub fn run(&self, call: &Call<'_>) -> Result<Vec<Vec<f64>>, Problem> {
        let filled = self.filled(call)?;
        let log = call.out.with_extension("log");
        let cannot = |error| Problem::new(format!("cannot run the command {filled:?}")).because(error);
        let said = File::create(&log).map_err(cannot)?;
        let status = Command::new("sh")
            .arg("-c")
            .arg(&filled)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(said)
            .status()
            .map_err(cannot)?;
        if !status.success() {
            let end = end_of(&log);
            let what = format!("the command failed ({status}): {filled}");
            return Err(Problem::new(what).help(match end.is_empty() {
                true => "it said nothing on standard error; run it by itself".to_owned(),
                false => format!("it said: {end}"),
            }));
        }
        let rows = self.rows(call, &filled)?;
        let _ = fs::remove_file(call.out);
        let _ = fs::remove_file(log);
        Ok(rows)
    }

    fn rows(&self, call: &Call<'_>, filled: &str) -> Result<Vec<Vec<f64>>, Problem> {
        const HELP: &str =
            "write one line for each model to {out}: a score, or its parameters separated by commas";
        let bytes = fs::read(call.out).map_err(|error| {
            Problem::new(format!("the command wrote no {{out}}: {filled}")).because(error).help(HELP)
        })?;
        let rows = probabilities::parse(&bytes).map_err(|problem| {
            Problem::new(format!("{{out}} of the command {filled:?}: {problem}")).help(HELP)
        })?;
        if rows.len() as u64 == call.models {
            return Ok(rows);
        }
        let (lines, models) = (rows.len(), call.models);
        let help =
            if self.takes_runs() { HELP } else { "without {runs} in --command, every call trains one model" };
        Err(Problem::new(format!("the command wrote {lines} lines to {{out}}, and not {models}: {filled}"))
            .help(help))
    }
}

/// What is put into the places of a command.
pub struct Call<'a> {
    /// The data set.
    pub data: &'a Path,
    /// Where it writes.
    pub out: &'a Path,
    /// The number of the call.
    pub number: u64,
    /// The models to train.
    pub models: u64,
}

/// A path that the shell reads as one word and no program takes for a flag.
fn quoted(path: &Path) -> Result<String, Problem> {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let Some(text) = whole.to_str() else {
        return Err(Problem::new(format!("the path {} is not UTF-8 text", path.display()))
            .help("give the file a name that can be written in a command"));
    };
    Ok(format!("'{}'", text.replace('\'', r"'\''")))
}

/// The last lines that a command said.
fn end_of(log: &Path) -> String {
    const LAST: usize = 600;
    let said = fs::read(log).unwrap_or_default();
    let said = String::from_utf8_lossy(&said[said.len().saturating_sub(LAST)..]).into_owned();
    said.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_and_other_braces_stay() {
        let template =
            Template::new("awk '{print $1}' {data} > {out}; echo ${HOME} {runs} {seed}").expect("valid");
        let call = Call { data: Path::new("/a b/it's.csv"), out: Path::new("/o"), number: 7, models: 3 };
        let filled = template.filled(&call).expect("UTF-8");
        assert_eq!(filled, r"awk '{print $1}' '/a b/it'\''s.csv' > '/o'; echo ${HOME} 3 7");
        assert!(template.takes_runs());
    }

    #[test]
    fn commands_that_cannot_answer_are_refused() {
        for command in ["train.py {data}", "train.py {out}", "train.py", "train.py '{data}' {out}"] {
            assert!(Template::new(command).is_err(), "{command}");
        }
    }
}
