//! `dobrushin man`: the pages of the manual.

use super::Cli;
use crate::file;
use crate::output::Report;
use crate::problem::Problem;
use clap::{Args, CommandFactory};
use clap_mangen::Man;
use dobrushin_document::text::{Text, verbatim};
use serde_json::json;
use std::io;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct ManArgs {
    /// Write a page for every command to this folder, which is created if it does not exist. Without it, the page of
    /// dobrushin itself is printed
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// A page of the manual.
struct Page {
    name: String,
    roff: String,
}

/// Prints the first page, or writes all of them.
pub fn run(arguments: &ManArgs) -> Result<Report, Problem> {
    let pages = pages().map_err(|error| Problem::new("the manual cannot be made").because(error))?;
    let mut text = Text::default();
    let Some(folder) = &arguments.out else {
        text.answer(verbatim(&pages[0].roff));
        return Ok(Report::new(text, json!({ "name": pages[0].name, "page": pages[0].roff })));
    };
    std::fs::create_dir_all(folder).map_err(|error| {
        Problem::new(format!("cannot make the folder {}", folder.display())).because(error)
    })?;
    for page in &pages {
        let path = folder.join(&page.name);
        file::replace(&path, page.roff.as_bytes()).map_err(|error| Problem::cannot_write(&path, error))?;
    }
    let first = folder.join(&pages[0].name);
    text.answer(format!("{} pages in {}", pages.len(), folder.display()));
    text.explanation(format!("One of them can be read by: man -l {}", first.display()));
    let names: Vec<&str> = pages.iter().map(|page| page.name.as_str()).collect();
    Ok(Report::new(text, json!({ "folder": folder.display().to_string(), "pages": names })))
}

/// Every file that will be written.
pub fn written(arguments: &ManArgs) -> Vec<PathBuf> {
    let folder = arguments.out.iter();
    let names = all().into_iter().map(|command| file_name(&command)).collect::<Vec<_>>();
    folder.flat_map(|folder| names.iter().map(|name| folder.join(name)).collect::<Vec<_>>()).collect()
}

/// The program and all its commands, the program first. Each is called by its full name.
fn all() -> Vec<clap::Command> {
    fn collect(command: clap::Command, all: &mut Vec<clap::Command>) {
        let parts: Vec<clap::Command> =
            command.get_subcommands().filter(|part| !part.is_hide_set()).cloned().collect();
        all.push(command);
        parts.into_iter().for_each(|part| collect(part, all));
    }
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    let mut all = Vec::new();
    collect(program, &mut all);
    all
}

/// "dobrushin-local-plan.1" of `dobrushin local plan`.
fn file_name(command: &clap::Command) -> String {
    format!("{}.1", full_name(command))
}

fn full_name(command: &clap::Command) -> String {
    command.get_bin_name().unwrap_or(command.get_name()).replace(' ', "-")
}

fn pages() -> io::Result<Vec<Page>> {
    all()
        .into_iter()
        .map(|command| {
            let name = file_name(&command);
            let title = full_name(&command);
            let mut roff = Vec::new();
            Man::new(command).title(title.to_uppercase()).manual("dobrushin").render(&mut roff)?;
            Ok(Page { name, roff: String::from_utf8_lossy(&roff).into_owned() })
        })
        .collect()
}
