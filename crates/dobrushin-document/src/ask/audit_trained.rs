//! Attacks on models that are trained for an audit.

use super::audit::{Attack, Saw};
use crate::error::DocumentError;
use crate::trained::help_for;
use dobrushin::Progress;
use dobrushin_audit::JournalError;
use dobrushin_audit::trained::{self, AuditError, CanaryAttack, Kind, State, collect, digest};
use dobrushin_train::{Plan, Table};
use std::path::Path;

/// One way to attack models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// Many models with a record, and as many without it.
    Many(Kind),
    /// One model with many canaries.
    OneRun,
}

/// With more canaries, the correction for δ grows, and they prove little more.
const MOST_CANARIES: usize = 1000;
/// With fewer runs, nothing is left to choose a rule.
const FEWEST_RUNS: u64 = 4;

impl Means {
    /// Its name in reports.
    pub fn id(self) -> &'static str {
        match self {
            Self::Many(kind) => kind.id(),
            Self::OneRun => "one-run",
        }
    }

    /// All of them.
    fn all() -> impl Iterator<Item = Self> {
        Kind::ALL.into_iter().map(Self::Many).chain([Self::OneRun])
    }

    /// The one of this name.
    pub fn named(id: &str) -> Result<Self, DocumentError> {
        let known: Vec<&str> = Self::all().map(Self::id).collect();
        Self::all().find(|means| means.id() == id).ok_or_else(|| {
            DocumentError::new(format!("there is no attack {id:?}"))
                .help(format!("attacks: {}", known.join(", ")))
        })
    }

    /// Those that tell something of their own about the models of a plan.
    pub fn suiting(plan: &Plan) -> Vec<Self> {
        Kind::suiting(plan.training()).into_iter().map(Self::Many).chain([Self::OneRun]).collect()
    }
}

/// How models are attacked.
pub struct TrainedWishes<'a> {
    /// The attacks; those that suit the plan if there are none.
    pub attacks: Vec<Means>,
    /// The models with the record, and as many without it, for each attack on many models.
    pub runs: u64,
    /// All models are drawn from this seed.
    pub seed: u64,
    /// A file that keeps every score.
    pub state: Option<&'a Path>,
}

/// Trains models by a plan, on a table with all the empty records that the plan counts on, and attacks them. The result
/// depends on the plan, the records, the runs and the seed, and not on the number of threads or on interruptions.
pub fn attack_models(
    plan: &Plan,
    table: &Table,
    public: Option<&Table>,
    wishes: &TrainedWishes<'_>,
    progress: &Progress,
) -> Result<Vec<Attack>, DocumentError> {
    let &TrainedWishes { ref attacks, runs, seed, state } = wishes;
    let wanted = if attacks.is_empty() { Means::suiting(plan) } else { attacks.clone() };
    let on_many = wanted.iter().filter(|&&means| means != Means::OneRun).count() as u64;
    if on_many > 0 && runs < FEWEST_RUNS {
        return Err(DocumentError::new(format!("--runs is {runs}, but it must be at least {FEWEST_RUNS}"))
            .help("to prove ε, even a perfect attacker needs about 5·e^ε runs with the record and as many without it"));
    }
    let state = state.map(|path| State::open(path, &digest(plan, table, public, seed))).transpose();
    let state = state.map_err(|error| state_problem(&error))?;
    progress.add_parts(on_many.saturating_mul(runs).saturating_mul(2));
    let mut made: Vec<Attack> = Vec::new();
    for means in wanted {
        if made.iter().any(|attack| attack.id == means.id()) {
            continue;
        }
        let (saw, runs) = match means {
            Means::Many(kind) => {
                let attack = trained::Attack::new(kind, plan, table, public);
                let score = |world, seed| Ok(attack.score(plan, &attack.train(plan, world, seed)?));
                let scores = collect(kind.id(), runs, seed, state.as_ref(), progress, score);
                let scores = scores.map_err(|error| problem(&error))?;
                let runs = scores.with.len() + scores.without.len();
                (Saw::Scores(scores), runs)
            }
            Means::OneRun => {
                let attack = CanaryAttack::new(plan, table, MOST_CANARIES);
                let canaries = attack.train(plan, public, seed);
                (Saw::Canaries(canaries.map_err(|error| problem(&AuditError::from(error)))?), 1)
            }
        };
        made.push(Attack { id: means.id(), saw, runs });
    }
    Ok(made)
}

fn problem(error: &AuditError) -> DocumentError {
    match error {
        AuditError::Training(cause) => DocumentError::new(error.to_string()).help(help_for(cause)),
        AuditError::State(cause) => state_problem(cause),
        AuditError::NotANumber(_) => {
            DocumentError::new(error.to_string()).help("a smaller learning rate, or a domain to project to")
        }
    }
}

/// Why the file of `--state` cannot be used, and what to do.
pub fn state_problem(error: &JournalError) -> DocumentError {
    let help = match error {
        JournalError::InUse { .. } => "wait for it, or give another --state",
        JournalError::Foreign { .. } => "give --state the name of a file that does not exist yet",
        JournalError::Other { .. } => {
            "a state is for the same run, records, seed, program and version; give another --state"
        }
        JournalError::Damaged { .. } => "remove the line: what it held is computed again",
        _ => "a file in a folder that you can write to",
    };
    DocumentError::new(error.to_string()).help(help)
}
