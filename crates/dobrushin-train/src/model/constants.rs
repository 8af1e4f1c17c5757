//! What declared bounds say of a loss.

use super::{Loss, Model};
use crate::{Bounds, Target};
use dobrushin::numeric::normal;
use dobrushin::{Enclosure, Positive, Probability};

/// What holds for every record within the bounds, and every parameter within reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constants {
    /// L: the largest norm of a record's gradient before clipping, rounded up; none if it may be any.
    pub lipschitz: Option<f64>,
    /// β: the Lipschitz constant of the gradient that is used, rounded up; none if nothing is known.
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
    /// L and β of the loss of every record within the bounds, on the parameters of norm at most `reach`, if gradients are
    /// clipped to norm `clip`. Without `reach` the parameters may be any, without `clip` nothing is clipped.
    ///
    /// Nothing is said of a model that does not fit the bounds (see [`Model::check`]). No loss here is strongly convex:
    /// it does not change along parameters that are orthogonal to x. A ridge penalty is weight decay, outside of the
    /// gradients.
    ///
    /// # Guarantee
    /// Let r = ‖x‖ ≤ R, B = R·reach, so that scores are at most B, and let targets be between l and u, Y = max(|l|, |u|).
    /// All constants are computed with outward rounding, and their upper ends reported.
    ///
    /// *One score.* The gradient is ℓ′(⟨w, x⟩, y)·x, the Hessian ℓ″·xxᵀ. So L = sup r|ℓ′| and β = sup r²ℓ″. Every ℓ is
    /// convex, an average of convex functions being convex, so that |ℓ′| is largest at an end of the scores.
    /// Clipping replaces ℓ′ by its nearest value in ±C/r, which is again increasing in the score: the clipped gradient is
    /// that of a convex function, and its slope is ℓ″ where |ℓ′| < C/r, and 0 elsewhere.
    ///
    /// | loss | L/R | β without clipping |
    /// |---|---|---|
    /// | squared | B + Y | R² |
    /// | Huber | min(width, B + Y) | R² |
    /// | logistic | σ(B) | R²/4 |
    /// | smoothed hinge | min(1, (1 + B)/width) | R²/width |
    /// | hinge | Φ((1 + B)/(λR)) | R/(λ√(2π)) |
    /// | quantile | max(τ, 1 − τ) | R/(λ√(2π)) |
    /// | Poisson | max(e^B − l, u − e^(−B)) | R²e^B |
    ///
    /// In the second column |ℓ′| was taken at the ends; all grow with r, as r·Φ((1 + r·reach)/(λr)) does, whose derivative
    /// is at least Φ(a) − aφ(a) > 0 at a = (1 + r·reach)/(λr). In the third, σ′ = σ(1 − σ) ≤ 1/4; for the smoothed losses
    /// ℓ″ = φ(·)/(λr) ≤ 1/(λr√(2π)), which is smaller than what holds for every Lipschitz loss (PAI Theorem 33: L/λ).
    ///
    /// With clipping, β can be smaller:
    /// - Logistic: p = |ℓ′| < C/r has r²ℓ″ = r²p(1 − p). If C < R/2 this is at most C(R − C): for r ≤ 2C it is at most
    ///   r²/4 ≤ C² < C(R − C), and for larger r at most C(r − C).
    /// - Quantile: p = Φ((z − y)/(λr)) has ℓ′ = p − τ and r²ℓ″ = (r/λ)·I(p), where I = φ∘Φ⁻¹ is concave and symmetric
    ///   about its maximum at 1/2. Unclipped p are nearer than C/r to τ, so that I(p) ≤ I(h) with
    ///   h = min(1/2, min(τ, 1 − τ) + C/r). As a function of C/r that is concave and not negative at 0, so that it
    ///   grows at most in proportion, and r·I(h) is largest at r = R. The hinge is the case τ = 0.
    /// - Poisson: unclipped scores have e^z < y + C/r, so that r²ℓ″ ≤ R²u + CR. This needs no reach.
    ///
    /// *Softmax.* The gradient is (p − e_y)⊗x. ‖p − e_y‖² ≤ 2(1 − p_y)², and no score exceeds that of class y by more than
    /// ‖W_j − W_y‖·r ≤ √2·B, so that L = √2·R·σ(√2·B + ln(classes − 1)), at most √2·R. The Hessian is
    /// (diag(p) − ppᵀ)⊗xxᵀ, and vᵀ(diag(p) − ppᵀ)v is the variance of v_J, J ~ p: at most (max v − min v)²/4 ≤ ‖v‖²/2.
    /// So β = R²/2, also with clipping, which as a projection brings no two gradients further apart. But clipped they are
    /// not those of a convex function if there are three classes or more: p − e_y changes its direction.
    ///
    /// *Network.* Nothing.
    pub fn constants(&self, bounds: &Bounds, reach: Option<f64>, clip: Option<Positive>) -> Constants {
        if self.check(bounds).is_err() {
            return Constants::NOTHING;
        }
        let norm = Enclosure::from(bounds.norm);
        let score = match reach {
            Some(reach) if reach >= 0.0 => norm * Enclosure::from(reach),
            _ => Enclosure::INFINITE,
        };
        match self {
            Self::Linear { loss, .. } => Constants {
                lipschitz: finite(norm * loss.steepest(norm, score, bounds.target)),
                smoothness: finite(loss.curvature(norm, score, bounds.target, clip.map(Enclosure::from))),
                convex: true,
                generalised_linear: true,
            },
            Self::Softmax { classes, .. } => {
                let root = Enclosure::from(2.0).sqrt();
                let others = Enclosure::from(*classes as u64 - 1).ln();
                Constants {
                    lipschitz: finite(norm * root * logistic(root * score + others)),
                    smoothness: finite(norm.square() / Enclosure::from(2.0)),
                    convex: true,
                    generalised_linear: false,
                }
            }
            Self::Network { .. } => Constants::NOTHING,
        }
    }
}

impl Loss {
    /// sup |ℓ′| over scores up to `score` (which may be ∞) and over targets, of records with features of that norm.
    fn steepest(&self, norm: Enclosure, score: Enclosure, target: Target) -> Enclosure {
        let (lower, upper) = range(target);
        let gap = score + Enclosure::from(target.largest());
        match *self {
            Self::Squared => gap,
            Self::Huber { width } => gap.min(width.into()),
            Self::Logistic => logistic(score),
            Self::SmoothedHinge { width } => {
                ((Enclosure::ONE + score) / Enclosure::from(width)).min(Enclosure::ONE)
            }
            Self::Hinge { smoothing } => {
                let deviation = Enclosure::from(smoothing) * norm;
                ((Enclosure::ONE + score) / deviation).map_monotone(normal::cdf)
            }
            Self::Quantile { level, .. } => {
                let level = Enclosure::from(level);
                level.max(Enclosure::ONE - level)
            }
            Self::Poisson => (score.exp() - lower).max(upper - (-score).exp()),
        }
    }

    /// sup ‖x‖²·ℓ″ over the scores where ‖x‖·|ℓ′| is below `clip`.
    fn curvature(
        &self,
        norm: Enclosure,
        score: Enclosure,
        target: Target,
        clip: Option<Enclosure>,
    ) -> Enclosure {
        let square = norm.square();
        match *self {
            Self::Squared | Self::Huber { .. } => square,
            Self::Logistic => match clip {
                Some(clip) if clip.upper() < norm.lower() / 2.0 => clip * (norm - clip),
                _ => square / Enclosure::from(4.0),
            },
            Self::SmoothedHinge { width } => square / Enclosure::from(width),
            Self::Hinge { smoothing } => {
                norm / Enclosure::from(smoothing) * isoperimetry(Enclosure::ZERO, norm, clip)
            }
            Self::Quantile { level, smoothing } => {
                norm / Enclosure::from(smoothing) * isoperimetry(level.into(), norm, clip)
            }
            Self::Poisson => {
                let within_reach = square * score.exp();
                let (_, most) = range(target);
                clip.map_or(within_reach, |clip| within_reach.min(square * most + clip * norm))
            }
        }
    }
}

/// I(h) = φ(Φ⁻¹(h)) = h/M(Q⁻¹(h)) with the Mills ratio M, for h = min(1/2, min(τ, 1 − τ) + C/R), of which the upper end
/// is taken: I increases up to 1/2.
fn isoperimetry(level: Enclosure, norm: Enclosure, clip: Option<Enclosure>) -> Enclosure {
    let half = Enclosure::from(0.5);
    let share = clip.map_or(half, |clip| level.min(Enclosure::ONE - level) + clip / norm).min(half).upper();
    Probability::new(share).map_or(Enclosure::INFINITE, |share| {
        Enclosure::from(share) / normal::tail_inverse(share).map_monotone(normal::mills_ratio)
    })
}

/// σ(x) = 1/(1 + e^(−x)).
fn logistic(x: Enclosure) -> Enclosure {
    Enclosure::ONE / (Enclosure::ONE + (-x).exp())
}

/// The ends of the targets.
fn range(target: Target) -> (Enclosure, Enclosure) {
    match target {
        Target::Range { lower, upper } => (lower.into(), upper.into()),
        Target::Classes(count) => (Enclosure::ZERO, Enclosure::from(count as u64)),
    }
}

fn finite(constant: Enclosure) -> Option<f64> {
    Some(constant.upper()).filter(|upper| upper.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dobrushin::numeric::Boundary;
    use dobrushin_reference::{Random, Real, cdf, is_inside, mills};

    fn positive(value: f64) -> Positive {
        Positive::new(value).expect("above 0")
    }

    /// Whether the constant is the exact number or a little more, never less.
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
            let of = |loss, clip: Option<f64>| {
                let target = match loss {
                    Loss::Logistic | Loss::Hinge { .. } => Target::Classes(2),
                    _ => Target::Range { lower: 0.5, upper },
                };
                let model = Model::Linear { loss, features: 3 };
                model.constants(&bounds(target), Some(reach), clip.map(positive))
            };
            let (r, smoothing) = (real(norm), positive(width));
            let score = &r * &real(reach);

            let squared = of(Loss::Squared, None);
            assert!(rounds_up(squared.lipschitz, &(&r * &(&score + &real(upper)))));
            assert!(rounds_up(squared.smoothness, &(&r * &r)));

            assert!(rounds_up(of(Loss::Logistic, None).lipschitz, &(&r * &logistic(&score))));
            let clip = norm / 7.0;
            let clipped = &real(clip) * &(&r - &real(clip));
            assert!(rounds_up(of(Loss::Logistic, Some(clip)).smoothness, &clipped));

            let hinge = of(Loss::Hinge { smoothing }, None);
            let share = cdf(&(&(&one + &score) / &(&real(width) * &r)));
            assert!(rounds_up(hinge.lipschitz, &(&r * &share)));
            assert!(rounds_up(hinge.smoothness, &(&(&r / &real(width)) * &peak)));

            let counts = of(Loss::Poisson, None);
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

    #[test]
    fn the_slope_of_a_clipped_smoothed_loss_is_the_density_at_its_quantile() {
        for (level, norm, clip) in [(0.0, 2.0, 0.1), (0.25, 1.0, 0.1), (0.9, 5.0, 1.5), (0.05, 3.0, 1.0)] {
            let computed = isoperimetry(level.into(), Enclosure::from(norm), Some(Enclosure::from(clip)));
            let share = (f64::min(level, 1.0 - level) + clip / norm).min(0.5);
            // Φ⁻¹ by bisection of an independent Φ.
            let below = |x: f64| cdf(&Real::from_f64(x, 128)).to_f64() < share;
            let quantile = Boundary { holds: -9.0, fails: 0.0 }.halved(60, below).fails;
            let density = (-quantile * quantile / 2.0_f64).exp() / (2.0 * std::f64::consts::PI).sqrt();
            assert!((computed.upper() / density - 1.0).abs() < 1e-12, "{level}: {computed} {density}");
        }
    }
}
