//! How much of a gradient is kept.

/// No contribution is longer: the sum of 2³² gradients of this length is still far from the largest f32.
const LARGEST: f64 = (1_u128 << 90) as f64;

/// The largest norm of a contribution, and what happens to a longer gradient.
#[derive(Clone, Copy)]
pub struct Clip {
    limit: f64,
    /// Whether a longer gradient is scaled down; otherwise it is left out.
    scales: bool,
}

impl Clip {
    /// Clips contributions to this norm, or leaves their length alone.
    pub fn to(norm: Option<f64>) -> Self {
        Self { limit: norm.unwrap_or(LARGEST).min(LARGEST), scales: norm.is_some() }
    }

    /// The factor for a gradient of this norm; 0 if the norm is NaN.
    pub fn factor(self, norm: f64) -> f32 {
        self.clipped(1.0, norm)
    }

    /// The clipped derivative of a gradient ℓ′·x, where ‖x‖ is the norm; 0 if that is not finite.
    ///
    /// It increases with ℓ′, however large ℓ′ is: a linear model's clipped gradients are those of a convex function.
    pub fn clipped(self, derivative: f64, norm: f64) -> f32 {
        let most = self.limit / norm;
        let kept = if derivative.abs() <= most {
            derivative
        } else if self.scales && !derivative.is_nan() {
            most.copysign(derivative)
        } else {
            0.0
        } as f32;
        if kept.is_finite() { kept } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_no_longer_than_the_limit_and_never_no_number() {
        let numbers = [0.0, 1e-300, 1e-40, 0.3, 1.0, 7.0, 1e30, 1e200, f64::MAX, f64::INFINITY, f64::NAN];
        for clip in [None, Some(1e-3), Some(1.0), Some(1e300)] {
            let limit = clip.unwrap_or(LARGEST).min(LARGEST);
            for norm in numbers {
                for derivative in numbers.iter().flat_map(|&d| [d, -d]) {
                    let kept = f64::from(Clip::to(clip).clipped(derivative, norm));
                    assert!(kept.is_finite() && kept * derivative >= 0.0 || kept == 0.0);
                    assert!(norm.is_nan() || kept == 0.0 || kept.abs() * norm <= limit * (1.0 + 1e-7));
                }
            }
        }
    }

    #[test]
    fn short_gradients_stay_as_they_are_and_long_ones_have_the_norm_of_the_clip() {
        assert_eq!(Clip::to(Some(2.0)).clipped(-0.25, 7.0), -0.25);
        assert_eq!(Clip::to(Some(2.0)).clipped(-5.0, 8.0), -0.25);
        assert_eq!(Clip::to(Some(2.0)).clipped(-f64::MAX, 8.0), -0.25);
        assert_eq!(Clip::to(Some(2.0)).factor(8.0), 0.25);
        assert_eq!(Clip::to(None).factor(1e20), 1.0);
        assert_eq!(Clip::to(None).factor(1e30), 0.0);
    }
}
