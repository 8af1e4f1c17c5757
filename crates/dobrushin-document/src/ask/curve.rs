//! A run with one or two of its parameters varied.

use crate::error::DocumentError;
use crate::report::{Curve, Worth};
use crate::run_file::{Setting, Sweep};
use dobrushin::account::{Account, Options, Question};
use dobrushin::run::Run;
use dobrushin::utility;
use rayon::prelude::*;

/// A curve, or a table for two parameters, has at most this many points: each takes some ten kilobytes until all are
/// printed.
pub const MOST_POINTS: usize = 100_000;

/// Refuses to vary the same key twice, more than two keys, or too many points.
pub fn refuse_sweeps(sweeps: &[Sweep]) -> Result<(), DocumentError> {
    if sweeps.len() > 2 {
        return Err(DocumentError::new(format!("--over is given {} times", sweeps.len()))
            .help("once, or twice for two parameters"));
    }
    if let [a, b] = sweeps
        && a.key == b.key
    {
        return Err(
            DocumentError::new(format!("--over varies {} twice", a.key)).help("give two different keys")
        );
    }
    let numbers = sweeps.iter().map(Sweep::count);
    let points = numbers.clone().fold(1_usize, usize::saturating_mul);
    if points > MOST_POINTS {
        let each = numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(" × ");
        return Err(DocumentError::new(format!(
            "--over asks for {each} = {points} points: at most {MOST_POINTS} are computed"
        ))
        .help("give fewer values, or a smaller number with --points"));
    }
    Ok(())
}

/// Asks a question at every point. `at` gives the run with settings, and the question that it asks itself. What
/// `options` watch counts points.
pub fn curve<E: Send>(
    sweeps: Vec<Sweep>,
    question: Question,
    with_utility: bool,
    options: &Options,
    at: impl Fn(Vec<Setting>) -> Result<(Run, Option<Question>), E> + Sync,
) -> Result<Curve, E> {
    let points = Curve::points(&sweeps);
    let progress = &options.progress;
    progress.add_parts(points.len() as u64);
    let options = Options { progress: dobrushin::Progress::default(), ..options.clone() };
    // A target that is varied is also asked for.
    let varied = sweeps.iter().any(Sweep::is_of_target);
    let accounts = points
        .par_iter()
        .map(|point| {
            let settings = sweeps.iter().zip(point).map(|(sweep, &index)| sweep.setting(index));
            let (run, own) = at(settings.collect())?;
            let worth = with_utility.then(|| utility::of(&run));
            let account = run.account_by(own.filter(|_| varied).unwrap_or(question), &options);
            progress.advance(1);
            Ok((account, worth))
        })
        .collect::<Result<Vec<_>, E>>()?;
    let (accounts, worths): (Vec<Account>, Vec<Option<Worth>>) = accounts.into_iter().unzip();
    let worths = worths.into_iter().collect();
    Ok(Curve { sweeps, points, accounts, worths, question })
}
