//! Records that were deleted after training.
//!
//! One of the deleted records pushes one coordinate the same way whenever it is used; the losses of all others, deleted
//! or not, are constant. In the run that is compared its slot is always empty. So the two differ as a run differs with and
//! without the record until its request, and nothing pushes in the steps that follow: whether slots are empty there makes no
//! difference to losses that are constant.
//!
//! Records that are drawn at random are looked at until the last request, which deletes one of them. Where records take
//! turns it is the first request, since a pass may begin with the clean steps.
//!
//! Constant losses are not strongly convex: where that is claimed, there is no instance of this kind.

use super::Instance;
use super::documented::runs;
use super::linear;
use dobrushin::run::{Length, Training};

/// The linear instances of a run after which records were deleted.
pub(super) fn instances(training: &Training, small: f64) -> Vec<Instance> {
    if training.loss.strong_convexity.is_some_and(|rho| rho.get() > 0.0) {
        return Vec::new();
    }
    let [between @ .., last] = &training.forgetting[..] else {
        return Vec::new();
    };
    let before: u64 = between.iter().map(|request| request.steps).sum();
    let mut followed = Training { forgetting: Vec::new(), ..training.clone() };
    match training.length {
        _ if training.order.is_by_passes() => followed.public_steps = before + last.steps,
        Length::Steps(steps) => {
            followed.length = Length::Steps(steps + before);
            followed.public_steps = last.steps;
        }
        Length::Epochs(_) | Length::Any => followed.public_steps = before + last.steps,
    }
    runs(&followed).iter().flat_map(|of| linear::still(of, small)).collect()
}
