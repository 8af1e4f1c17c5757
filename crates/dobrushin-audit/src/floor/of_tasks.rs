//! Several runs on the same records, each of which tells an independent number.
//!
//! In every run the record pushes one coordinate, as in [`super::before_and_after`]; the runs have losses of their own. Normal laws
//! at distances μ₁, μ₂, … that are seen together are as far apart as two at distance √Σμ².

use super::Instance;
use super::before_and_after;
use super::densities::Normal;
use super::documented;
use super::except::Except;
use dobrushin::NonNegative;
use dobrushin::profile::GaussianProfile;
use dobrushin::run::{Record, Tasks, Training};
use std::sync::Arc;

/// The instance for the record that is asked about, or for the one about which most is told among those that some run uses
/// last or first.
pub(super) fn instance(tasks: &Tasks, small: f64) -> Option<Instance> {
    let records = tasks.records();
    let candidates: Vec<u64> = match tasks.record {
        Record::Index(index) => vec![index],
        Record::Worst => {
            let ends = tasks
                .tasks
                .iter()
                .flat_map(|task| [1, records].map(|place| task.turn.record(place, records)));
            ends.collect()
        }
    };
    let told = candidates.into_iter().filter_map(|record| told(tasks, record, small));
    let (square, exception) = told.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    let distance = NonNegative::new(square.sqrt() * (1.0 - 1e-12)).ok()?;
    let profile = Except::new(Arc::new(GaussianProfile::new(distance)), exception);
    let words = "linear: in every run the record pushes one coordinate; the others have quadratic losses if they come before \
                 it, and otherwise as flat ones as are claimed"
        .to_owned();
    let densities = Arc::new(Normal { distance: distance.get() });
    Some(Instance { profile: Arc::new(profile), words, densities: Some(densities) })
}

/// The sum of the squared distances, and the probability of exceptions. Runs of other kinds are left out.
fn told(tasks: &Tasks, record: u64, small: f64) -> Option<(f64, f64)> {
    let (mut square, mut exception) = (0.0, 0.0);
    for task in &tasks.tasks {
        let place = task.turn.place(record, tasks.records());
        let training = Training { record: Record::Index(place), ..task.training.clone() };
        let found = documented::runs(&training)
            .iter()
            .filter_map(|of| before_and_after::told(of, place - 1, small))
            .reduce(|best, next| if next.distance < best.distance { next } else { best });
        if let Some(found) = found {
            let count = task.count as f64;
            square += found.distance * found.distance * count;
            exception += found.exception * count;
        }
    }
    (square > 0.0).then_some((square, exception))
}
