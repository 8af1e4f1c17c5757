//! `dobrushin schema init`: a draft.

use super::InitArgs;
use super::draft::{self, Held};
use super::values;
use crate::output::Report;
use crate::problem::Problem;
use crate::stderr::say;
use crate::table_file::{find_all, names};
use dobrushin_document::text::{Text, verbatim};
use serde_json::json;

/// Prints the draft, and says on standard error what it rests on.
pub fn run(arguments: &InitArgs, quiet: bool) -> Result<Report, Problem> {
    let data = &arguments.data;
    let source = arguments.cells.source(data);
    let labels: Vec<&str> = arguments.label.iter().map(String::as_str).collect();
    let columns = names(source, &labels)?;
    let all: Vec<&str> = columns.iter().map(String::as_str).collect();
    find_all(&columns, &all, data)?;
    let (draft, said) = match arguments.values_are_public {
        true => (draft::from_values(&labels, &values::read(source, &all, !quiet)?, data)?, FROM_VALUES),
        false => {
            let open: Vec<_> = all.iter().map(|&column| (column, Held::Numbers(None))).collect();
            (draft::from_names(&labels, &open), FROM_NAMES)
        }
    };
    // The user is always told what a guarantee does not cover.
    if arguments.values_are_public || !quiet {
        say(&format!("{said}\n"));
    }
    let mut text = Text::default();
    text.answer(verbatim(&draft));
    let json = json!({ "schema": draft, "values_read": arguments.values_are_public });
    Ok(Report::new(text, json))
}

const FROM_NAMES: &str = "note: only the names of the columns were read. Bounds and categories that are read off private \
                          values give some of them away, and no\nguarantee covers that: fill them in from what is known \
                          without the data. If all values are public, --values-are-public proposes them.";
const FROM_VALUES: &str = "warning: this schema is a function of the values in the file. A guarantee of a model trained \
                           with it holds only if they are public:\na public sample, a codebook, made-up rows. If \
                           they are private, run it without --values-are-public.";
