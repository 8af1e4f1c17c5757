//! Whether a model fits the records.

use super::Model;
use crate::loss::cross_entropy;
use crate::{Bounds, Target};

/// A model with more parameters is refused.
const MOST_PARAMETERS: usize = 100_000_000;

impl Model {
    /// Whether the model has the features of the records, a loss for their targets, and not too many parameters.
    ///
    /// # Errors
    /// What does not fit, and what would.
    pub fn check(&self, bounds: &Bounds) -> Result<(), String> {
        let features = match self {
            Self::Linear { features, .. }
            | Self::Softmax { features, .. }
            | Self::Network { features, .. } => *features,
        };
        if features != bounds.dimension || features == 0 {
            return Err(format!(
                "the model has {features} features and the records have {}: both must be the same number, 1 or more",
                bounds.dimension
            ));
        }
        if let Target::Range { lower, upper } = bounds.target
            && !(bounds.target.ends().is_some_and(|(least, most)| least <= most)
                && lower.is_finite()
                && upper.is_finite())
        {
            return Err(format!(
                "targets are declared to be between {lower} and {upper}: declare two finite numbers, the smaller first"
            ));
        }
        match self {
            Self::Linear { loss, .. } => loss.as_score_loss().check(bounds.target)?,
            Self::Softmax { classes, .. } => cross_entropy::check("softmax", *classes, bounds.target)?,
            Self::Network { hidden, classes, .. } => {
                cross_entropy::check("network", *classes, bounds.target)?;
                if hidden.is_empty() || hidden.contains(&0) {
                    return Err(format!(
                        "the hidden layers of the network are {hidden:?}: give one layer or more, each with 1 unit or more, \
                         or choose softmax, which has none"
                    ));
                }
            }
        }
        if self.parameters() > MOST_PARAMETERS {
            return Err(format!(
                "the model has {} parameters: at most {MOST_PARAMETERS} are supported; use fewer features or units",
                self.parameters()
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{Hinge, Huber, Logistic, Loss, Poisson, Quantile, SmoothedHinge, Squared};
    use dobrushin::{Positive, Probability};

    fn bounds(target: Target) -> Bounds {
        Bounds { dimension: 3, norm: one(), target }
    }

    fn one() -> Positive {
        Positive::new(1.0).expect("above 0")
    }

    fn linear(loss: impl Into<Loss>) -> Model {
        Model::Linear { loss: loss.into(), features: 3 }
    }

    #[test]
    fn a_loss_is_accepted_for_its_own_kind_of_target_only() {
        let level = Probability::new(0.5).expect("a probability");
        let classes = [
            ("logistic", Loss::from(Logistic)),
            ("smoothed-hinge", SmoothedHinge { width: one() }.into()),
            ("hinge", Hinge { smoothing: one() }.into()),
        ];
        let numbers = [
            ("squared", Loss::from(Squared)),
            ("huber", Huber { width: one() }.into()),
            ("quantile", Quantile { level, smoothing: one() }.into()),
            ("poisson", Poisson.into()),
        ];
        for (name, loss) in classes {
            assert_eq!(linear(loss).check(&bounds(Target::Classes(2))), Ok(()));
            for target in [Target::Classes(1), Target::Classes(3), Target::Range { lower: 0.0, upper: 1.0 }] {
                let message = linear(loss).check(&bounds(target)).expect_err("does not fit");
                assert!(message.contains(name) && message.contains("two classes"), "{message}");
            }
        }
        for (name, loss) in numbers {
            assert_eq!(linear(loss).check(&bounds(Target::Range { lower: 0.0, upper: 9.0 })), Ok(()));
            let message = linear(loss).check(&bounds(Target::Classes(2))).expect_err("does not fit");
            assert!(message.contains(name) && message.contains("declare a range"), "{message}");
        }
        let below = linear(Poisson).check(&bounds(Target::Range { lower: -1.0, upper: 9.0 }));
        assert!(below.expect_err("negative counts").contains("between -1 and 9"));
        for level in [0.0, 1.0] {
            let level = Probability::new(level).expect("a probability");
            let model = linear(Quantile { level, smoothing: one() });
            assert!(model.check(&bounds(Target::Range { lower: 0.0, upper: 9.0 })).is_err());
        }
        for (lower, upper) in [(1.0, 0.0), (f64::NAN, 0.0), (0.0, f64::INFINITY)] {
            assert!(linear(Squared).check(&bounds(Target::Range { lower, upper })).is_err());
        }
    }

    #[test]
    fn classes_features_and_layers_must_agree_with_the_records() {
        let softmax = |classes| Model::Softmax { classes, features: 3 };
        let network = |hidden: &[usize]| Model::Network { hidden: hidden.to_vec(), classes: 4, features: 3 };
        let four = bounds(Target::Classes(4));
        assert_eq!(softmax(4).check(&four), Ok(()));
        assert!(softmax(3).check(&four).is_err());
        assert!(softmax(1).check(&bounds(Target::Classes(1))).is_err());
        assert_eq!(network(&[2, 5]).check(&four), Ok(()));
        assert!(network(&[]).check(&four).is_err());
        assert!(network(&[2, 0]).check(&four).is_err());
        assert!(network(&[2]).check(&bounds(Target::Range { lower: 0.0, upper: 4.0 })).is_err());
        assert!(Model::Softmax { classes: 4, features: 2 }.check(&four).is_err());
    }

    #[test]
    fn a_number_of_parameters_that_overflows_is_refused_like_any_other_that_is_too_large() {
        for units in [30_000_000, usize::MAX / 2, usize::MAX] {
            let model = Model::Network { hidden: vec![units, units], classes: 4, features: 3 };
            let message = model.check(&bounds(Target::Classes(4))).expect_err("too many");
            assert!(message.contains("100000000"), "{message}");
        }
        let model = Model::Network { hidden: vec![1000, 1000], classes: 4, features: 3 };
        assert_eq!(model.check(&bounds(Target::Classes(4))), Ok(()));
        assert_eq!(model.parameters(), 4 * 1000 + 1001 * 1000 + 1001 * 4);
    }
}
