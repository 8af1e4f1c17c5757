//! `[[task]]`: runs on the same records, each with what it does differently.

use super::keys::{entry, section, section_of_task_key};
use super::setting::Setting;
use super::training;
use crate::error::DocumentError;
use dobrushin::run::{Record, Run, Task, Tasks, Turn};
use toml::{Table, Value};

/// Whether the tables describe tasks that differ.
pub fn is_tasks(tables: &Table) -> bool {
    tables.contains_key("task")
}

/// The tasks: all of them are as the other sections say, except for what each says itself.
pub fn read(tables: &Table) -> Result<Run, DocumentError> {
    let run = section(tables, "run")?;
    if let Some(tasks) = run.whole("tasks")? {
        return Err(DocumentError::new(format!("run.tasks is {tasks}, but the tasks are listed one by one"))
            .help("leave it out; count = 10 in a [[task]] makes ten of it"));
    }
    let list = tables.get("task").and_then(Value::as_array);
    let mut record = Record::Worst;
    let mut tasks = Vec::new();
    for (number, table) in (1..).zip(list.into_iter().flatten().filter_map(Value::as_table)) {
        let own = entry(table, "task", number);
        let within = |error: DocumentError| error.within(&format!("task {number}"));
        let mut training = training::parse(&changed(tables, table)?).map_err(within)?;
        record = std::mem::replace(&mut training.record, Record::Worst);
        Run::training(training.clone()).map_err(|error| within(error.into()))?;
        let reversed = own.flag("reversed")?.unwrap_or(false);
        let first = own.whole("first")?.unwrap_or(if reversed { training.records } else { 1 });
        let count = own.whole("count")?.unwrap_or(1);
        tasks.push(Task { training, turn: Turn { first, reversed }, count });
    }
    Ok(Run::of_tasks(Tasks { tasks, record })?)
}

/// The tables of one task.
fn changed(tables: &Table, task: &Table) -> Result<Table, DocumentError> {
    let mut tables = tables.clone();
    tables.remove("task");
    for (name, value) in task {
        if let Some(section) = section_of_task_key(name) {
            Setting::new(&format!("{section}.{name}"), value.clone()).apply(&mut tables)?;
        }
    }
    Ok(tables)
}
