//! States: where training stopped, so that it can go on after records were deleted.
//!
//! A state is secret. It holds the last iterate with all of its digits, and for each row a hash under a key that is in the
//! same file: whoever has the file can check a guess of a row, but finds no row in it. The hash of a deleted row is
//! removed.

mod matching;
mod print;

pub use matching::{Matched, Wanted, matched};
pub use print::{Print, RowKey};

use crate::certificate::Program;
use crate::error::DocumentError;
use crate::json::{self, digest};
use crate::run_file::SelfContained;
use dobrushin::run::Forgotten;
use dobrushin_train::Kept;
use print::{from_hex, hex};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// The first word of the file.
const TITLE: &str = "dobrushin-state";
/// The version of the format of states.
const SCHEMA: u64 = 1;
/// The second line of the file.
const SECRET: &str = "SECRET. This file lets \"dobrushin forget\" delete records from a model. Whoever reads it learns more about the \
                      records than the model tells. Keep it to yourself, and do not copy it: a copy remembers what is deleted later.";

/// Where states come from.
pub const WRITERS: &str = "--keep-state of train writes states, and forget replaces them";

/// What it takes to go on training after records were deleted.
pub struct State {
    /// The run that was trained, without requests.
    pub run: SelfContained,
    /// The seed, if any of the randomness so far came from one. Then no model of this state protects anybody.
    pub seed: Option<u64>,
    /// The requests so far.
    pub requests: Vec<Forgotten>,
    /// Where training stopped.
    pub kept: Kept,
    /// The key of the hashes.
    pub key: RowKey,
    /// For each row of the training data, in their order, its hash; `None` if it was deleted.
    pub rows: Vec<Option<Print>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    program: Program,
    run: Json,
    seed: Option<u64>,
    requests: Vec<Request>,
    steps: u64,
    iterate: Vec<f64>,
    least_noise: f64,
    drawn: u64,
    /// In hexadecimal digits, as the key and the rows are; a list would take far more memory to read.
    order: String,
    key: String,
    rows: String,
    deleted: Vec<usize>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    records: u64,
    steps: u64,
}

impl State {
    /// The bytes of the file: what it is, its checksum, that it is secret, and then its content.
    pub fn bytes(&self) -> Vec<u8> {
        let request = |&Forgotten { records, steps }: &Forgotten| Request { records, steps };
        let order: Vec<u8> = self.kept.order.iter().flat_map(|record| record.to_be_bytes()).collect();
        let deleted = (0..self.rows.len()).filter(|&row| self.rows[row].is_none());
        let content = Content {
            program: Program::this(),
            run: self.run.json(),
            seed: self.seed,
            requests: self.requests.iter().map(request).collect(),
            steps: self.kept.steps,
            iterate: self.kept.iterate.clone(),
            least_noise: self.kept.least_noise,
            drawn: self.kept.drawn,
            order: hex(&order),
            key: hex(self.key.bytes()),
            deleted: deleted.collect(),
            rows: self.rows.iter().map(|row| hex(&row.unwrap_or_default())).collect(),
        };
        let rest = format!("{SECRET}\n{}\n", json::of(&content));
        format!("{TITLE} {SCHEMA} {}\n{rest}", digest(rest.as_bytes())).into_bytes()
    }

    /// Whether bytes begin as a state does, damaged or not.
    pub fn is_one(bytes: &[u8]) -> bool {
        bytes.strip_prefix(TITLE.as_bytes()).is_some_and(|rest| rest.starts_with(b" "))
    }

    /// Reads what [`State::bytes`] gave; `name` stands in errors.
    ///
    /// # Errors
    /// [`DocumentError`] if it is not a state, is damaged, or is one of a newer program.
    pub fn read(bytes: &[u8], name: &str) -> Result<Self, DocumentError> {
        if !Self::is_one(bytes) {
            return Err(DocumentError::new(format!("{name} is not a state of training")).help(WRITERS));
        }
        let damaged = |why: &str| {
            DocumentError::new(format!("the state {name} is damaged: {why}")).help(
                "nothing was changed; if you have no other copy, train again without the deleted records",
            )
        };
        let end = bytes.iter().position(|&byte| byte == b'\n').ok_or_else(|| damaged("it ends too early"))?;
        let (title, rest) = (&bytes[..end], &bytes[end + 1..]);
        let words: Vec<&str> =
            std::str::from_utf8(title).map_or_else(|_| Vec::new(), |title| title.split(' ').collect());
        let [_, version, checksum] = words[..] else {
            return Err(damaged("its first line is not as it was written"));
        };
        match version.parse::<u64>() {
            Ok(SCHEMA) => {}
            Ok(newer) if newer > SCHEMA => {
                let message = format!("{name} is a state in version {newer} of its format");
                return Err(DocumentError::new(format!(
                    "{message}, but this program reads version {SCHEMA}"
                ))
                .help("the program that wrote it can read it, and so can newer ones"));
            }
            _ => return Err(damaged("its first line is not as it was written")),
        }
        if digest(rest) != checksum {
            return Err(damaged("its checksum does not fit"));
        }
        let content = rest.strip_prefix(SECRET.as_bytes()).and_then(|content| json::parse(content).ok());
        let content = content.and_then(|content| Content::deserialize(content).ok());
        let content = content.ok_or_else(|| damaged("it is not written as states are"))?;
        content.state().ok_or_else(|| damaged("its parts do not fit together"))?
    }

    /// The run with all requests so far and one more, as the accountant sees it.
    ///
    /// # Errors
    /// [`DocumentError`] if the run cannot hold them.
    pub fn after(&self, request: Forgotten) -> Result<SelfContained, DocumentError> {
        let requests: Vec<Forgotten> = self.requests.iter().copied().chain([request]).collect();
        self.run.clone().forgetting(&requests)
    }

    /// The places of the rows that were deleted, counted from 0.
    pub fn deleted(&self) -> impl Iterator<Item = u32> {
        (0..self.rows.len()).filter(|&row| self.rows[row].is_none()).map(|row| row as u32)
    }
}

impl Content {
    /// The state; `None` if this is none.
    fn state(self) -> Option<Result<State, DocumentError>> {
        let mut rows: Vec<Option<Print>> = from_hex(&self.rows)?
            .chunks(size_of::<Print>())
            .map(|chunk| Print::try_from(chunk).ok().map(Some))
            .collect::<Option<_>>()?;
        for &row in &self.deleted {
            *rows.get_mut(row)? = None;
        }
        let deleted = rows.iter().filter(|row| row.is_none()).count();
        let counted = self.requests.iter().map(|request| request.records).try_fold(0, u64::checked_add)?;
        let order = from_hex(&self.order)?;
        let order = order.chunks(4).map(|chunk| <[u8; 4]>::try_from(chunk).ok().map(u32::from_be_bytes));
        let kept = Kept {
            iterate: self.iterate,
            steps: self.steps,
            least_noise: self.least_noise,
            drawn: self.drawn,
            order: order.collect::<Option<_>>()?,
        };
        let key = RowKey::new(from_hex(&self.key)?.try_into().ok()?);
        let fits = self.deleted.len() == deleted && counted == deleted as u64 && !rows.is_empty();
        let requests =
            self.requests.into_iter().map(|Request { records, steps }| Forgotten { records, steps });
        let requests = requests.collect();
        fits.then(|| {
            let run = SelfContained::from_json(&self.run)?;
            Ok(State { run, seed: self.seed, requests, kept, key, rows })
        })
    }
}

#[cfg(test)]
mod tests;
