//! What declared bounds say about a loss.

use super::Model;
use crate::Bounds;
use crate::loss::{Within, cross_entropy};
use dobrushin::{Enclosure, Positive};

/// What holds for every record within the bounds, and every parameter within reach.
///
/// ```
/// use dobrushin::Positive;
/// use dobrushin_train::loss::Logistic;
/// use dobrushin_train::{Bounds, Model, Target};
///
/// // The logistic loss has L = R and β = R²/4.
/// let bounds = Bounds { dimension: 3, norm: Positive::new(2.0)?, target: Target::Classes(2) };
/// let constants = Model::Linear { loss: Logistic.into(), features: 3 }.constants(&bounds, None, None);
/// assert!(constants.convex && constants.generalised_linear);
/// assert!(constants.lipschitz.is_some_and(|l| (l - 2.0).abs() < 1e-9));
/// assert!(constants.smoothness.is_some_and(|beta| (beta - 1.0).abs() < 1e-9));
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constants {
    /// L: the largest norm of a record's gradient before clipping, rounded up; `None` if it is not bounded.
    pub lipschitz: Option<f64>,
    /// β: the Lipschitz constant of the gradient that is used, rounded up; `None` if nothing is known.
    pub smoothness: Option<f64>,
    /// Whether the loss is convex.
    pub convex: bool,
    /// Whether it depends on one score ⟨w, x⟩, so that clipped gradients are those of a convex function.
    pub generalised_linear: bool,
}

impl Constants {
    const NOTHING: Self =
        Self { lipschitz: None, smoothness: None, convex: false, generalised_linear: false };
}

impl Model {
    /// L and β of the loss of every record within the bounds, on the parameters of norm at most `reach`, if gradients
    /// are clipped to norm `clip`. Without `reach`, the parameters are not bounded; without `clip`, nothing is clipped.
    ///
    /// Nothing is claimed about a model that does not fit the bounds (see [`Model::check`]). No loss here is strongly
    /// convex, because it does not change along parameters that are orthogonal to x. A ridge penalty is weight decay,
    /// outside the gradients.
    ///
    /// # Guarantee
    /// They are what is proved where each loss is defined, in [`crate::loss`], computed with outward rounding; the
    /// upper ends are reported. Nothing is known about a network.
    pub fn constants(&self, bounds: &Bounds, reach: Option<f64>, clip: Option<Positive>) -> Constants {
        if self.check(bounds).is_err() {
            return Constants::NOTHING;
        }
        let within = Within::new(bounds.norm, reach, bounds.target);
        let (lipschitz, smoothness, generalised_linear) = match self {
            Self::Linear { loss, .. } => {
                let loss = loss.as_score_loss();
                (loss.lipschitz(&within), loss.smoothness(&within, clip.map(Enclosure::from)), true)
            }
            Self::Softmax { classes, .. } => {
                (cross_entropy::lipschitz(*classes, &within), cross_entropy::smoothness(&within), false)
            }
            Self::Network { .. } => return Constants::NOTHING,
        };
        Constants {
            lipschitz: finite(lipschitz),
            smoothness: finite(smoothness),
            convex: true,
            generalised_linear,
        }
    }
}

fn finite(constant: Enclosure) -> Option<f64> {
    Some(constant.upper()).filter(|upper| upper.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Target;
    use crate::loss::{Hinge, Logistic, Loss, Poisson, Squared};
    use dobrushin::numeric::Random;
    use dobrushin_reference::{Real, cdf, is_inside, mills};

    fn positive(value: f64) -> Positive {
        Positive::new(value).expect("above 0")
    }

    /// Whether the constant is the exact number or slightly more, never less.
    fn rounds_up(constant: Option<f64>, exact: &Real) -> bool {
        constant.is_some_and(|upper| is_inside(upper * (1.0 - 1e-13), upper, exact))
    }

    #[test]
    fn constants_are_exact_values_rounded_up() {
        let mut random = Random::new(7);
        let real = |value: f64| Real::from_f64(value, 256);
        let (one, two) = (real(1.0), real(2.0));
        let logistic = |x: &Real| &one / &(&one + &(-x).exp());
        let peak = &one / &(&two * &mills(&real(0.0)));
        for _ in 0..100 {
            let (norm, reach) = (random.log_between(0.1, 20.0), random.log_between(0.01, 1.0));
            let (width, upper) = (random.log_between(0.1, 3.0), random.between(1.0, 5.0));
            let bounds = |target| Bounds { dimension: 3, norm: positive(norm), target };
            let of = |loss: Loss, clip: Option<f64>| {
                let target = match loss {
                    Loss::Logistic(_) | Loss::Hinge(_) => Target::Classes(2),
                    _ => Target::Range { lower: 0.5, upper },
                };
                let model = Model::Linear { loss, features: 3 };
                model.constants(&bounds(target), Some(reach), clip.map(positive))
            };
            let (r, smoothing) = (real(norm), positive(width));
            let score = &r * &real(reach);

            let squared = of(Squared.into(), None);
            assert!(rounds_up(squared.lipschitz, &(&r * &(&score + &real(upper)))));
            assert!(rounds_up(squared.smoothness, &(&r * &r)));

            assert!(rounds_up(of(Logistic.into(), None).lipschitz, &(&r * &logistic(&score))));
            let clip = norm / 7.0;
            let clipped = &real(clip) * &(&r - &real(clip));
            assert!(rounds_up(of(Logistic.into(), Some(clip)).smoothness, &clipped));

            let hinge = of(Hinge { smoothing }.into(), None);
            let share = cdf(&(&(&one + &score) / &(&real(width) * &r)));
            assert!(rounds_up(hinge.lipschitz, &(&r * &share)));
            assert!(rounds_up(hinge.smoothness, &(&(&r / &real(width)) * &peak)));

            let counts = of(Poisson.into(), None);
            let (high, low) = (&score.exp() - &real(0.5), &real(upper) - &(-&score).exp());
            let steepest = if (&high - &low).is_negative() { low } else { high };
            assert!(rounds_up(counts.lipschitz, &(&r * &steepest)));
            assert!(rounds_up(counts.smoothness, &(&(&r * &r) * &score.exp())));

            let softmax = Model::Softmax { classes: 5, features: 3 };
            let softmax = softmax.constants(&bounds(Target::Classes(5)), Some(reach), None);
            let root = two.sqrt();
            let steepest = &(&r * &root) * &logistic(&(&(&root * &score) + &real(4.0).ln()));
            assert!(rounds_up(softmax.lipschitz, &steepest));
            assert!(rounds_up(softmax.smoothness, &(&(&r * &r) / &two)));
        }
    }
}
