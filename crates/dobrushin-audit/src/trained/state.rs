//! The scores of an audit so far, in a file that only grows.

use super::World;
use crate::{Journal, JournalError};
use dobrushin_train::{Plan, Table};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

/// The scores of an audit in a [`Journal`], so that it can be continued after an interruption. It holds scores and no
/// model.
///
/// The first line names what is audited by a digest. Every other line is a score: the attack, the world, the number of
/// the run and the number.
///
/// ```
/// use dobrushin_audit::trained::{State, World};
///
/// let path = std::env::temp_dir().join(format!("dobrushin-state-example-{}", std::process::id()));
/// # let _ = std::fs::remove_file(&path);
/// State::open(&path, "a digest")?.keep("crafted-gradient", World::With, 3, 0.25)?;
/// assert_eq!(State::open(&path, "a digest")?.known("crafted-gradient", World::With, 3), Some(0.25));
/// assert!(State::open(&path, "another").is_err());
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct State {
    journal: Journal,
    known: HashMap<(String, World, u64), f64>,
}

impl State {
    /// Opens the state of an audit with this digest, or creates it.
    ///
    /// # Errors
    /// [`JournalError`] if the file cannot be used. Then it is left as it is.
    pub fn open(path: &Path, digest: &str) -> Result<Self, JournalError> {
        let (journal, lines) = Journal::open(path, &format!("of trained models {digest}"))?;
        let scores = lines.iter().enumerate().map(|(number, line)| read(line).ok_or(journal.damaged(number)));
        let known = scores.collect::<Result<_, _>>()?;
        Ok(Self { journal, known })
    }

    /// A score that was in the file when it was opened.
    pub fn known(&self, attack: &str, world: World, run: u64) -> Option<f64> {
        self.known.get(&(attack.to_owned(), world, run)).copied()
    }

    /// How many scores were in the file when it was opened.
    pub fn count(&self) -> usize {
        self.known.len()
    }

    /// Adds a score to the file.
    ///
    /// # Errors
    /// [`JournalError`] if it cannot be written.
    pub fn keep(&self, attack: &str, world: World, run: u64, score: f64) -> Result<(), JournalError> {
        self.journal.append(&format!("{attack} {} {run} {score:e}", world.word()))
    }
}

/// A line of the file.
fn read(line: &str) -> Option<((String, World, u64), f64)> {
    let mut words = line.split(' ');
    let attack = words.next().filter(|attack| !attack.is_empty())?;
    let world = words.next()?;
    let world = World::BOTH.into_iter().find(|other| other.word() == world)?;
    let run = words.next()?.parse().ok()?;
    let score: f64 = words.next()?.parse().ok()?;
    (words.next().is_none() && score.is_finite()).then(|| ((attack.to_owned(), world, run), score))
}

/// What is audited, as 64 hexadecimal digits: the plan, the records, the public records and the first seed.
///
/// ```
/// use dobrushin::{Order, Positive, Release, Run};
/// use dobrushin_audit::trained::digest;
/// use dobrushin_train::loss::Logistic;
/// use dobrushin_train::{Bounds, Description, Model, Plan, Table, Target};
///
/// let run = Run::gradient_descent(1).steps(5).release(Release::Last);
/// let run = run.learning_rate(0.5).clip_norm(1.0).noise_multiplier(1.0).build()?;
/// let bounds = Bounds { dimension: 1, norm: Positive::new(1.0)?, target: Target::Classes(2) };
/// let plan = Plan::new(Description {
///     training: run.as_training().ok_or("it is an iteration")?.clone(),
///     model: Model::Linear { loss: Logistic.into(), features: 1 },
///     bounds,
///     projection: None,
///     loss_bound: Positive::new(1.0)?,
/// })?;
/// let mut table = Table::new(bounds, 1);
/// table.push(&[0.5], &[1.0]);
/// let before = digest(&plan, &table, None, 1);
/// table.clear();
/// table.push(&[0.25], &[1.0]);
/// assert_ne!(digest(&plan, &table, None, 1), before);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn digest(plan: &Plan, table: &Table, public: Option<&Table>, seed: u64) -> String {
    let mut hash = Sha256::new();
    let described =
        (env!("CARGO_PKG_VERSION"), plan.training(), plan.model(), plan.bounds(), plan.projection(), seed);
    hash.update(format!("{described:?}"));
    for table in std::iter::once(table).chain(public) {
        hash.update((table.len() as u64).to_le_bytes());
        for record in 0..table.len() {
            table.features(record).iter().for_each(|value| hash.update(value.to_le_bytes()));
            (0..table.tasks()).for_each(|task| hash.update(table.target(record, task).to_le_bytes()));
        }
    }
    let mut words = String::new();
    for byte in hash.finalize() {
        // Writing to a string does not fail.
        let _ = write!(words, "{byte:02x}");
    }
    words
}
