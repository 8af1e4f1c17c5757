//! All losses of one score, so that a claim about every loss is tested on those to come too.

use dobrushin::{Positive, Probability};
use dobrushin_train::loss::{Keys, Kind};
use dobrushin_train::{Bounds, Loss, Model, Target};
use std::convert::Infallible;

/// One size for every number above 0, and one level.
struct Numbers {
    size: f64,
    level: f64,
}

impl Keys for Numbers {
    type Error = Infallible;

    fn positive(&self, _: &'static str) -> Result<Positive, Infallible> {
        Ok(Positive::new(self.size).expect("above 0"))
    }

    fn probability(&self, _: &'static str) -> Result<Option<Probability>, Infallible> {
        Ok(Some(Probability::new(self.level).expect("a probability")))
    }
}

/// Each with its name, and with these numbers where it takes any.
pub fn every_loss(size: f64, level: f64) -> Vec<(&'static str, Loss)> {
    let read = |kind: Kind| {
        let Ok(loss) = Loss::read(kind.name, &Numbers { size, level });
        (kind.name, loss.expect("a kind is the name of a loss"))
    };
    Loss::kinds().into_iter().map(read).collect()
}

/// Whether a loss accepts targets.
pub fn accepts(loss: Loss, target: Target) -> bool {
    let bounds = Bounds { dimension: 1, norm: Positive::new(1.0).expect("above 0"), target };
    Model::Linear { loss, features: 1 }.check(&bounds).is_ok()
}
