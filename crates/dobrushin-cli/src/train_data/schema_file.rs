//! Schemas in files.

use crate::problem::Problem;
use dobrushin_train::schema::Schema;
use std::path::Path;

/// Reads a schema.
pub fn read_schema(path: &Path) -> Result<Schema, Problem> {
    let name = path.display();
    let bytes = std::fs::read(path).map_err(|error| {
        Problem::new(format!("cannot read {name}"))
            .because(error)
            .help("dobrushin schema init DATA.csv --label COLUMN drafts a schema")
    })?;
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        Problem::new(format!("{name} is not UTF-8 text")).because(error).help("save it as UTF-8")
    })?;
    Schema::parse(text).map_err(|error| Problem::new(format!("{name}: {error}")).help(error.help))
}
