//! Models, and what declared bounds say about their losses.

mod check;
mod constants;
mod prediction;
mod start;

pub use constants::Constants;

use crate::loss::{Key, Kind, Loss};

/// What is trained: parameters, and a loss of them for each record.
///
/// Parameters are one vector. A linear model has one for each feature. A softmax model has those of class 0 first, then
/// those of class 1, and so on. A network has, layer by layer, the weights of each unit (row by row), then the units'
/// offsets.
///
/// ```
/// use dobrushin_train::Model;
///
/// // A weight for each class and feature; a network has one offset for each unit besides.
/// assert_eq!(Model::Softmax { classes: 10, features: 5 }.parameters(), 50);
/// let network = Model::Network { hidden: vec![4], classes: 3, features: 5 };
/// assert_eq!(network.parameters(), (5 + 1) * 4 + (4 + 1) * 3);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Model {
    /// ℓ(⟨w, x⟩, y).
    Linear {
        /// ℓ.
        loss: Loss,
        /// The number of features.
        features: usize,
    },
    /// Cross-entropy of softmax(Wx).
    Softmax {
        /// The number of classes.
        classes: usize,
        /// The number of features.
        features: usize,
    },
    /// Cross-entropy of the softmax of a network with rectified hidden units.
    Network {
        /// The sizes of the hidden layers, at least one.
        hidden: Vec<usize>,
        /// The number of classes.
        classes: usize,
        /// The number of features.
        features: usize,
    },
}

impl Model {
    /// The values of `model.kind` in a run file: every loss of one score, and the models of several scores.
    pub fn kinds() -> Vec<Kind> {
        let hidden = &[Key { name: "hidden", example: "hidden = 256" }];
        let several = [Kind { name: "softmax", keys: &[] }, Kind { name: "network", keys: hidden }];
        Loss::kinds().into_iter().chain(several).collect()
    }

    /// The number of parameters; if they cannot be counted, the largest number.
    pub fn parameters(&self) -> usize {
        match self {
            Self::Linear { features, .. } => *features,
            Self::Softmax { classes, features } => classes.saturating_mul(*features),
            Self::Network { hidden, classes, features } => {
                let mut inputs = *features;
                let mut total = 0_usize;
                for &units in hidden.iter().chain([classes]) {
                    total = total.saturating_add(inputs.saturating_add(1).saturating_mul(units));
                    inputs = units;
                }
                total
            }
        }
    }
}
