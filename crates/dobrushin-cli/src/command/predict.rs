//! `dobrushin predict`: what a model predicts for new records.

use crate::cli::{Common, DelimiterArgs};
use crate::file::{Draft, Place};
use crate::problem::Problem;
use crate::run_file::bytes_of;
use crate::table_file::{BadRows, Cells, Pass, columns};
use clap::Args;
use dobrushin_document::model::{SavedModel, WRITERS};
use dobrushin_document::plain_text::{csv_cell, lines_shown_safely};
use dobrushin_train::Prediction;
use dobrushin_train::schema::Encoder;
use serde_json::json;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Args, Debug)]
pub struct PredictArgs {
    /// The model.json that dobrushin train wrote
    pub model: PathBuf,
    /// Records with the columns of the model's schema: CSV with a header line, also compressed (.gz), or Parquet
    pub data: PathBuf,
    /// Copy this column of the records to the output, before the predictions
    #[arg(long, value_name = "COLUMN")]
    pub id: Option<String>,
    #[command(flatten)]
    pub cells: DelimiterArgs,
    /// Leave the line empty for a row that cannot be used, instead of stopping
    #[arg(long)]
    pub skip_bad: bool,
}

/// Writes a line for each record, to `--output` or to standard output.
pub fn run(arguments: &PredictArgs, common: &Common) -> Result<ExitCode, Problem> {
    let saved = read(&arguments.model)?;
    let cannot_write = |error| Problem::cannot_write(common.destination(), error);
    let mut draft = Draft::new(common.destination()).map_err(cannot_write)?;
    predict(arguments, common, &saved, |lines| draft.write_all(lines.as_bytes()).map_err(cannot_write))?;
    draft.finish().map_err(cannot_write)?;
    Ok(ExitCode::SUCCESS)
}

/// Reads a model from its file.
fn read(path: &Path) -> Result<SavedModel, Problem> {
    Ok(SavedModel::read(&bytes_of(path, WRITERS)?, &path.display().to_string())?)
}

fn predict(
    arguments: &PredictArgs,
    common: &Common,
    saved: &SavedModel,
    mut write: impl FnMut(&str) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let id = arguments.id.as_deref();
    if let Some(id) = id.filter(|id| saved.schema.label_columns().contains(id)) {
        return Err(Problem::new(format!("--id {id} is the column that is predicted"))
            .help("give another column, such as one that numbers the records"));
    }
    let form = Form { saved, id, json: common.json };
    let wanted: Vec<&str> = saved.schema.feature_columns().into_iter().chain(id).collect();
    let columns = columns(arguments.cells.source(&arguments.data), &wanted)?;
    let encoder = Encoder::new(&saved.schema);
    let help = "correct it; or --skip-bad leaves the line of such a row empty";
    let pass = Pass {
        path: &arguments.data,
        skip_bad: arguments.skip_bad,
        help,
        show_progress: !common.quiet && common.output.is_some(),
    };
    let work = |_: u64, cells: &Cells| form.lines(cells, &encoder);
    // JSON stays the same. A CSV file keeps every character of its labels, but a terminal must not obey them.
    let is_standard = matches!(Place::of(common.destination()), Ok(Place::Standard));
    let is_shown = common.json || (is_standard && io::stdout().is_terminal());
    let mut write = |text: String| write(&if is_shown { lines_shown_safely(&text) } else { text });
    write(form.header())?;
    pass.run(columns, work, write)?;
    Ok(())
}

/// How predictions are written: as CSV, or as one line of JSON for each record.
struct Form<'a> {
    saved: &'a SavedModel,
    /// The name of the column that is copied; its cell comes after those of the features.
    id: Option<&'a str>,
    json: bool,
}

impl Form<'_> {
    /// The names of the columns: each label, and the probabilities of its classes.
    fn header(&self) -> String {
        if self.json {
            return String::new();
        }
        let mut names: Vec<String> = self.id.into_iter().map(csv_cell).collect();
        for (task, label) in self.saved.schema.label_columns().into_iter().enumerate() {
            names.push(csv_cell(label));
            if self.has_probabilities(task) {
                let classes = self.saved.schema.classes(task).unwrap_or_default();
                names.extend(classes.iter().map(|class| csv_cell(&format!("{label}={class}"))));
            }
        }
        names.join(",") + "\n"
    }

    /// Whether a task's predictions include the probability of each class.
    fn has_probabilities(&self, task: usize) -> bool {
        let SavedModel { model, schema, parameters } = self.saved;
        let scores = model.scores(&parameters[task], &vec![0.0; schema.bounds().dimension]);
        matches!(model.prediction(&scores), Prediction::Class { probabilities, .. } if !probabilities.is_empty())
    }

    /// The lines of a batch, and the rows that cannot be used.
    fn lines(&self, cells: &Cells, encoder: &Encoder) -> (String, BadRows) {
        let (mut text, mut bad, mut features) = (String::new(), BadRows::default(), Vec::new());
        let count = self.saved.schema.feature_columns().len();
        for row in 0..cells.len() {
            features.clear();
            let encoded = cells.get(row).map(|(place, cells)| {
                let cells: Vec<&[u8]> = cells.collect();
                let id = self.id.and_then(|_| cells.get(count)).map(|cell| String::from_utf8_lossy(cell));
                encoder
                    .encode(cells[..count].iter().copied(), false, &mut features, &mut Vec::new())
                    .map(|_| id)
                    .map_err(|problem| (place, problem))
            });
            match encoded {
                Some(Ok(id)) => {
                    self.saved.schema.bounds().scale_down(&mut features);
                    self.push_line(&mut text, id.as_deref(), &features);
                }
                Some(Err((place, problem))) => bad.add(place, problem),
                None => {}
            }
            text.push('\n');
        }
        (text, bad)
    }

    fn push_line(&self, text: &mut String, id: Option<&str>, features: &[f32]) {
        let SavedModel { model, schema, parameters } = self.saved;
        let labels = schema.label_columns();
        let mut fields = serde_json::Map::new();
        if let (Some(name), Some(id)) = (self.id, id) {
            fields.insert(name.to_owned(), json!(id));
            if !self.json {
                text.push_str(&csv_cell(id));
            }
        }
        for (task, parameters) in parameters.iter().enumerate() {
            if (task > 0 || id.is_some()) && !self.json {
                text.push(',');
            }
            match model.prediction(&model.scores(parameters, features)) {
                Prediction::Value(value) => {
                    let value = schema.label_value(task, value);
                    fields.insert(labels[task].to_owned(), json!(value));
                    if !self.json {
                        text.push_str(&value.to_string());
                    }
                }
                Prediction::Class { class, probabilities } => {
                    let classes = schema.classes(task).unwrap_or_default();
                    let name = classes.get(class).map_or("", String::as_str);
                    fields.insert(labels[task].to_owned(), json!(name));
                    if !probabilities.is_empty() {
                        let pairs = classes.iter().cloned().zip(probabilities.iter().map(|p| json!(p)));
                        fields.insert(format!("{}_probabilities", labels[task]), pairs.collect());
                    }
                    if !self.json {
                        text.push_str(&csv_cell(name));
                        probabilities.iter().for_each(|p| text.push_str(&format!(",{p:.6}")));
                    }
                }
            }
        }
        if self.json {
            text.push_str(&serde_json::Value::Object(fields).to_string());
        }
    }
}
