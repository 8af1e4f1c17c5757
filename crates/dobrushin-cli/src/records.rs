//! Who is protected how much, with records used in turn.

use crate::command::account::{answer_json, asked, symbol};
use crate::file;
use crate::output::{object, table};
use crate::plot::{Axis, FLOOR, Line, Plot, Scale, Series};
use crate::problem::Problem;
use dobrushin::account::{Options, Protection, Question, protection_by_record};
use dobrushin::numeric::decimal as number;
use dobrushin::run::{Order, Run};
use serde_json::{Value, json};
use std::path::Path;

/// The protection of every record.
pub struct Records {
    question: Question,
    /// Records in a row that share a bound, in their order.
    rows: Vec<Protection>,
}

/// Places, as shares of all records, that a summary shows.
const SHOWN: [f64; 10] = [0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999];

impl Records {
    /// Asks for every record.
    pub fn new(run: &Run, question: Question, options: &Options) -> Result<Self, Problem> {
        let fixed = |order: Order| matches!(order, Order::Once | Order::Cyclic);
        if !run.as_training().is_some_and(|training| fixed(training.order)) {
            return Err(Problem::new(
                "--per-record asks for single records, but they have no fixed place here",
            )
            .help(
                "it needs run.order = \"once\" or \"cyclic\", where each record has its place in the pass",
            ));
        }
        let rows = protection_by_record(run, question, options)
            .map_err(|error| Problem::new(format!("--per-record has no answer: {error}")))?;
        Ok(Self { question, rows: joined(rows) })
    }

    /// A summary: a dozen places, and how many records have which protection.
    pub fn text(&self) -> String {
        let last = self.rows.last().map_or(0, |row| row.to);
        let inner = SHOWN.iter().map(|share| (share * last as f64).ceil() as u64);
        let shown: Vec<u64> = [1].into_iter().chain(inner).chain([last]).collect();
        let rows = self.rows.iter().filter(|row| shown.iter().any(|&at| (row.from..=row.to).contains(&at)));
        let cells = rows.map(|row| {
            let records =
                if row.from == row.to { row.from.to_string() } else { format!("{}–{}", row.from, row.to) };
            let value = row.answer.map_or("–".to_owned(), |answer| number::upper(answer.value));
            [records, value, row.analysis.to_owned()]
        });
        let symbol = symbol(self.question);
        let header = ["record", &format!("{symbol} at most"), "analysis"];
        let [half, most, all] = [0.5, 0.9, 1.0].map(|share| self.reached_by(share));
        format!(
            "{}\n\nHalf of the records have {symbol} ≤ {half}, nine in ten {symbol} ≤ {most}, all {symbol} ≤ {all}.",
            table(header, cells)
        )
    }

    /// The bound that holds for this share of the records.
    fn reached_by(&self, share: f64) -> String {
        let mut rows: Vec<&Protection> = self.rows.iter().collect();
        rows.sort_by(|a, b| upper(a).total_cmp(&upper(b)));
        let all: u64 = rows.iter().map(|row| row.to - row.from + 1).sum();
        let mut counted = 0;
        let reached = rows.into_iter().find(|row| {
            counted += row.to - row.from + 1;
            counted as f64 >= share * all as f64
        });
        reached.and_then(|row| row.answer).map_or("∞".to_owned(), |answer| number::briefly(answer.value))
    }

    /// Every row.
    pub fn json(&self) -> Value {
        let row = |row: &Protection| {
            let mut fields = object([("from", json!(row.from)), ("to", json!(row.to))]);
            if let Some(answer) = row.answer {
                fields.extend(answer_json(self.question, answer));
                fields.insert("analysis".to_owned(), json!(row.analysis));
            }
            Value::Object(fields)
        };
        self.rows.iter().map(row).collect()
    }

    /// A line for each record.
    pub fn write_csv(&self, path: &Path) -> Result<(), Problem> {
        let written = file::replace_by(path, |file| {
            // A δ that underflows is known by its logarithm.
            let of_delta = matches!(self.question, Question::Delta(_));
            let logarithm = if of_delta { ",log_delta_upper" } else { "" };
            writeln!(file, "record,{}_upper,analysis{logarithm}", asked(self.question))?;
            for row in &self.rows {
                let ln =
                    row.answer.and_then(|answer| answer.log_delta).map_or(f64::INFINITY, |ln| ln.upper());
                let ln = if of_delta { format!(",{ln:e}") } else { String::new() };
                let rest = format!(",{:e},{}{ln}", upper(row), row.analysis);
                for record in row.from..=row.to {
                    writeln!(file, "{record}{rest}")?;
                }
            }
            Ok(())
        });
        written.map_err(|error| Problem::cannot_write(path, error))
    }

    /// The axis of the records, and where on it each is: most differ near the least private one, so that
    /// many records are counted from there, on a logarithmic axis.
    fn places(&self) -> (Axis, Box<dyn Fn(f64) -> f64>) {
        let axis = |label: &str, scale| Axis { label: label.to_owned(), scale };
        let ends = self.rows.first().zip(self.rows.last());
        match ends.filter(|(_, last)| last.to > MANY) {
            None => (axis("record", Scale::Linear), Box::new(|record| record)),
            Some((first, last)) if upper(first) > upper(last) => {
                (axis("record", Scale::Log10), Box::new(f64::log10))
            }
            Some((_, last)) => {
                let end = last.to as f64 + 1.0;
                let label = "record, counted from the end (1 is the last)";
                (axis(label, Scale::Log10), Box::new(move |record| (end - record).log10()))
            }
        }
    }

    /// The bound of each record against its place, beside that of composition.
    pub fn draw(&self, published: Option<f64>) -> Plot {
        let symbol = symbol(self.question);
        let uppers = || self.rows.iter().map(upper).filter(|upper| upper.is_finite());
        let (least, most) = (uppers().fold(f64::INFINITY, f64::min), uppers().fold(0.0, f64::max));
        let log = asked(self.question) == "delta" || (least > 0.0 && most > 20.0 * least);
        let scale = if log { Scale::Log10 } else { Scale::Linear };
        let height = |value: f64| if log { value.log10() } else { value };
        let of = |row: &Protection| {
            let ln = row.answer.and_then(|answer| answer.log_delta);
            ln.map_or(height(upper(row)), |ln| ln.upper() / std::f64::consts::LN_10)
        };
        let (x, place) = self.places();
        // Each record is half a place wide on either side.
        let last = self.rows.last().map_or(1.0, |row| row.to as f64);
        let ends =
            |row: &Protection| [row.from as f64 - 0.5, row.to as f64 + 0.5].map(|at| at.clamp(1.0, last));
        let steps = self.rows.iter().flat_map(|row| ends(row).map(|at| (place(at), of(row))));
        let steps: Vec<(f64, f64)> = steps.collect();
        let first_and_last = steps.first().zip(steps.last());
        let level = first_and_last.zip(published).map(|((first, last), published)| Series {
            label: "if every iterate were published".to_owned(),
            points: vec![(first.0, height(published)), (last.0, height(published))],
            line: Line::Dashed,
        });
        let guarantee = Series { label: "guarantee".to_owned(), points: steps, line: Line::Solid };
        let given = match self.question {
            Question::Epsilon(delta) => format!("δ = {}", number::plain(delta.get())),
            Question::Delta(epsilon) => format!("ε = {}", number::plain(epsilon.get())),
        };
        let plot = Plot {
            title: format!("Protection of each record: {symbol} at {given}"),
            x,
            y: Axis { label: symbol.to_owned(), scale },
            series: [guarantee].into_iter().chain(level).collect(),
            caption: vec![
                "For each record, by its place in the order: upper ends of certified enclosures.".to_owned(),
            ],
        };
        plot.above(FLOOR)
    }
}

/// From here on a logarithmic axis shows more.
const MANY: u64 = 100;

fn upper(row: &Protection) -> f64 {
    row.answer.map_or(f64::INFINITY, |answer| answer.value.upper())
}

/// Neighbours with the same answer together.
fn joined(rows: Vec<Protection>) -> Vec<Protection> {
    let mut joined: Vec<Protection> = Vec::with_capacity(rows.len());
    for row in rows {
        match joined.last_mut() {
            Some(last) if last.answer == row.answer && last.analysis == row.analysis => last.to = row.to,
            _ => joined.push(row),
        }
    }
    joined
}
