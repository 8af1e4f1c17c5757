//! `--set key=value`: values in place of those of the file.

use super::RunFile;
use super::keys::{excluded_by, is_list, resolve};
use crate::problem::Problem;
use toml::{Table, Value};

/// Applies every `key=value`.
pub fn apply(file: &mut RunFile, assignments: &[String]) -> Result<(), Problem> {
    for assignment in assignments {
        let (key, value) = parse_assignment("--set", assignment)?;
        set(file, &key, value_of(value))?;
    }
    Ok(())
}

/// A key as run files call it, and the text of its value.
pub fn parse_assignment<'a>(flag: &str, assignment: &'a str) -> Result<(String, &'a str), Problem> {
    let Some((key, value)) = assignment.split_once('=').filter(|(_, value)| !value.trim().is_empty()) else {
        return Err(Problem::new(format!("{flag} {assignment} has no value"))
            .help(format!("{flag} run.steps=1000, without spaces")));
    };
    Ok((resolve(key.trim())?, value.trim()))
}

/// A value as TOML; what is no TOML is a word, so that `order=full` needs no quotes.
pub fn value_of(text: &str) -> Value {
    let document: Result<Table, _> = format!("value = {text}").parse();
    match document.ok().and_then(|mut table| table.remove("value").filter(|_| table.is_empty())) {
        Some(value) => value,
        None => Value::String(text.to_owned()),
    }
}

const EXAMPLES: &str = "run.steps=1000, update.noise-multiplier=1.2, mechanism.1.count=5, step.2.count=10";

/// Puts a value in place, instead of keys that it excludes.
pub fn set(file: &mut RunFile, dotted: &str, value: Value) -> Result<(), Problem> {
    let mut parts = dotted.split('.');
    let (section, rest): (&str, Vec<&str>) = (parts.next().unwrap_or_default(), parts.collect());
    let no_place = |why: String| Err(Problem::new(format!("{dotted} cannot be set: {why}")).help(EXAMPLES));
    match rest[..] {
        [number, name] if is_list(section) => {
            let list = file.tables.get_mut(section).and_then(Value::as_array_mut);
            let index = number.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
            match (list, index) {
                (Some(list), Some(index)) if index < list.len() => {
                    if let Some(table) = list[index].as_table_mut() {
                        table.insert(name.to_owned(), value);
                    }
                    Ok(())
                }
                _ => no_place(format!("there is no {section} {number} in the file")),
            }
        }
        [name] if is_list(section) => no_place(format!("say which one, as in {section}.1.{name}")),
        [name] => {
            let table = file.tables.entry(section).or_insert_with(|| Value::Table(Table::new()));
            let Some(table) = table.as_table_mut() else {
                return no_place(format!("{section} is no section"));
            };
            for other in excluded_by(dotted) {
                table.remove(other.split_once('.').map_or(other, |(_, name)| name));
            }
            table.insert(name.to_owned(), value);
            Ok(())
        }
        _ => no_place("keys have a section and a name, as in run.steps".to_owned()),
    }
}
