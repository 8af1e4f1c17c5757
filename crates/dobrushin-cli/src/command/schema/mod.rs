//! `dobrushin schema`: what is declared about the columns of a table.

mod check;
mod draft;
mod init;
mod values;

pub use draft::{Held, from_names};

use crate::cli::DelimiterArgs;
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
    /// Make a draft from the names of the columns; you fill in bounds and categories
    Init(InitArgs),
    /// Show what a schema makes of a row: features, norm, label, and the hash by which certificates identify it
    Check(CheckArgs),
}

#[derive(Args, Debug)]
pub struct InitArgs {
    /// A CSV file with a header line, or a Parquet file; only the names of its columns are read
    pub data: PathBuf,
    /// The column to predict; each of several columns gets its own model
    #[arg(long, value_name = "COLUMN", required = true)]
    pub label: Vec<String>,
    /// Also read the values, and propose kinds, bounds and categories. Use it only for public values: a guarantee says
    /// nothing about what the schema itself gives away
    #[arg(long)]
    pub values_are_public: bool,
    #[command(flatten)]
    pub cells: DelimiterArgs,
}

#[derive(Args, Debug)]
pub struct CheckArgs {
    /// A schema (TOML)
    pub schema: PathBuf,
    /// A file that must have the schema's columns; only their names are read
    pub data: Option<PathBuf>,
    /// Also read the rows, and stop at the first that cannot be used, with its line and column. The answer depends on
    /// the rows: it is for whoever holds them, and must not be published
    #[arg(long, requires = "data")]
    pub rows: bool,
    #[command(flatten)]
    pub cells: DelimiterArgs,
}

/// Does what the user asks.
pub fn run(arguments: &SchemaArgs, quiet: bool) -> Result<Report, Problem> {
    match &arguments.command {
        SchemaCommand::Init(arguments) => init::run(arguments, quiet),
        SchemaCommand::Check(arguments) => check::run(arguments, quiet),
    }
}
