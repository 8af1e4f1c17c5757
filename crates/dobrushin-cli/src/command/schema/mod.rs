//! `dobrushin schema`: what is declared of the columns of a table.

mod check;
mod draft;
mod init;
mod values;

use crate::output::Report;
use crate::problem::Problem;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct SchemaArgs {
    #[command(subcommand)]
    pub command: SchemaCommand,
}

#[derive(Debug, Subcommand)]
pub enum SchemaCommand {
    /// A draft from the names of the columns; bounds and categories are for you to fill in
    Init(InitArgs),
    /// What a schema makes of a row: features, norm, label, and the hash by which certificates know it
    Check(CheckArgs),
}

#[derive(Args, Debug)]
pub struct InitArgs {
    /// A CSV file with a header line, or a Parquet file; only the names of its columns are read
    pub data: PathBuf,
    /// The column to predict; several are one model each
    #[arg(long, value_name = "COLUMN", required = true)]
    pub label: Vec<String>,
    /// Read the values too, and propose kinds, bounds and categories. Only for values that are public: a guarantee says
    /// nothing about what the schema itself gives away
    #[arg(long)]
    pub values_are_public: bool,
}

#[derive(Args, Debug)]
pub struct CheckArgs {
    /// A schema (TOML)
    pub schema: PathBuf,
    /// A file that must have its columns; only their names are read
    pub data: Option<PathBuf>,
    /// Read the rows too, and stop at the first that cannot be used, with its line and column. What it says depends on
    /// them: it is for whoever holds them, not to be published
    #[arg(long, requires = "data")]
    pub rows: bool,
}

/// Does what is asked.
pub fn run(arguments: &SchemaArgs, quiet: bool) -> Result<Report, Problem> {
    match &arguments.command {
        SchemaCommand::Init(arguments) => init::run(arguments, quiet),
        SchemaCommand::Check(arguments) => check::run(arguments, quiet),
    }
}
