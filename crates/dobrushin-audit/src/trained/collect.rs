//! Many models of both worlds, one in each thread.

use super::World;
use super::state::State;
use crate::{JournalError, Scores};
use dobrushin::Progress;
use dobrushin::numeric::Random;
use dobrushin_train::TrainError;
use rayon::prelude::*;

/// Why an audit ended without an answer.
///
/// ```
/// use dobrushin::Progress;
/// use dobrushin_audit::trained::{AuditError, collect};
/// use dobrushin_train::TrainError;
///
/// let failed = collect("fails", 1, 1, None, &Progress::default(), |_, _| Err(TrainError::Diverged));
/// assert_eq!(failed.err(), Some(AuditError::Training(TrainError::Diverged)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuditError {
    /// A model could not be trained.
    #[error("a model could not be trained: {0}")]
    Training(#[from] TrainError),
    /// What was computed could not be kept.
    #[error(transparent)]
    State(#[from] JournalError),
    /// A score is NaN or infinite.
    #[error("a score is {0}")]
    NotANumber(String),
}

/// Trains and scores this many models in each world, in parallel, each with its own seed. Scores that the state
/// knows are not computed again, and every new one is kept there at once. `progress` advances by one for each score.
///
/// The scores depend on the first seed and on the name of the attack only, not on the number of threads or on
/// interruptions.
///
/// # Errors
/// [`AuditError`]; the state keeps what was computed until then.
///
/// ```
/// use dobrushin::Progress;
/// use dobrushin_audit::trained::{World, collect};
///
/// // A trainer that releases nothing but whether the record is there.
/// let scores = collect("told", 3, 1, None, &Progress::default(), |world, _| Ok(f64::from(world == World::With)))?;
/// assert_eq!((scores.with, scores.without), (vec![1.0; 3], vec![0.0; 3]));
/// # Ok::<(), dobrushin_audit::trained::AuditError>(())
/// ```
pub fn collect(
    attack: &str,
    runs: u64,
    seed: u64,
    state: Option<&State>,
    progress: &Progress,
    score: impl Fn(World, u64) -> Result<f64, TrainError> + Sync,
) -> Result<Scores, AuditError> {
    let one = |world: World, run: u64| -> Result<f64, AuditError> {
        let known = state.and_then(|state| state.known(attack, world, run));
        let value = match known {
            Some(value) => value,
            None => {
                let value = score(world, seed_of(attack, seed, world, run))?;
                if !value.is_finite() {
                    return Err(AuditError::NotANumber(value.to_string()));
                }
                if let Some(state) = state {
                    state.keep(attack, world, run, value)?;
                }
                value
            }
        };
        progress.advance(1);
        Ok(value)
    };
    let all = |world| (0..runs).into_par_iter().map(move |run| (world, run));
    let found: Vec<f64> = all(World::With)
        .chain(all(World::Without))
        .map(|(world, run)| one(world, run))
        .collect::<Result<_, _>>()?;
    let (with, without) = found.split_at(runs as usize);
    Ok(Scores { with: with.to_vec(), without: without.to_vec() })
}

/// The seed of a run: those of different runs are different numbers of one sequence, which is a permutation.
fn seed_of(attack: &str, seed: u64, world: World, run: u64) -> u64 {
    let name = attack.bytes().fold(seed, |hash, byte| Random::new(hash ^ u64::from(byte)).bits());
    Random::new(name.wrapping_add(2 * run + world as u64)).bits()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_runs_have_one_seed() {
        let mut seeds = HashSet::new();
        for attack in ["crafted-gradient", "extreme-record"] {
            for world in World::BOTH {
                for run in 0..1000 {
                    assert!(seeds.insert(seed_of(attack, 7, world, run)));
                }
            }
        }
    }
}
