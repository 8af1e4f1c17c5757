//! The gradients of the other records along a segment.
//!
//! Everything happens in one coordinate w. Each of the other records has the gradient
//!
//! ```text
//! g(w) = drift + jump·sign(w − m) + inner·clamp(w − m, ±t) + outer·(w − m − clamp(w − m, ±t)),
//! ```
//!
//! cut off at ±C where gradients are clipped. Its slopes are such as the claims about the loss allow: at least the strong
//! convexity, at least 0 for convex losses, at least −β and at most β for smooth ones; and only a loss that is not smooth has
//! a jump. Negative slopes push iterates apart. Positive inner slopes denoise: they compress the noise around the centre
//! and keep what is far away. Positive outer slopes make the tails thin, so that less is needed to be told from them.

use super::documented::Documented;
use crate::{Error, Map};

/// The gradient of each other record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Landscape {
    pub centre: f64,
    pub drift: f64,
    pub jump: f64,
    pub inner: f64,
    /// t.
    pub reach: f64,
    pub outer: f64,
}

/// Numbers that must not be larger than claimed are smaller by this share, which covers their roundings.
const SAFE: f64 = 1.0 - 1e-12;

impl Landscape {
    /// Losses as flat as is claimed.
    pub fn flat(of: &Documented<'_>) -> Self {
        let slope = of.run.loss.strong_convexity.map_or(0.0, |rho| rho.get());
        Self { centre: 0.0, drift: 0.0, jump: 0.0, inner: slope, reach: f64::INFINITY, outer: slope }
    }

    /// Whether nothing pushes.
    pub fn is_still(&self) -> bool {
        [self.drift, self.jump, self.inner, self.outer] == [0.0; 4]
    }

    /// Those that are tried on a segment from −`half` to `half`, over which the noise of all steps spreads by `deviation`
    /// without any of this; those that help most often come first.
    pub fn tried(of: &Documented<'_>, half: f64, deviation: f64) -> Vec<Self> {
        let flat = Self::flat(of);
        let mut all = vec![flat];
        let (Some(norm), Some(rate), Some(noise)) = (of.norm(), of.learning_rate(1), of.noise(1)) else {
            return all;
        };
        let loss = &of.run.loss;
        let most = norm * SAFE;
        let steepest = loss.smoothness.map_or(f64::INFINITY, |beta| beta.get() * SAFE);
        if loss.convex != Some(true) && flat.inner == 0.0 {
            let places = [0.0, 0.5, -0.5].map(|place| place * half);
            all.extend(places.map(|centre| match steepest.is_finite() {
                true => Self { centre, inner: -steepest, reach: most / steepest, ..flat },
                false => Self { centre, jump: -most, ..flat },
            }));
        }
        // Slopes up to that at which a step keeps nothing.
        let whole = steepest.min((1.0 - of.run.weight_decay) / rate) * SAFE;
        let slopes = || [1.0, 0.2].map(|share| whole * share).into_iter().filter(|slope| *slope > flat.inner);
        all.push(Self { drift: 0.5 * most, ..flat });
        for far in [1.5 * noise, 4.0 * noise, deviation] {
            all.extend(slopes().map(|inner| Self { inner, reach: far.min(most / inner), ..flat }));
        }
        all.extend(slopes().map(|outer| Self { outer, reach: 2.0 * deviation, ..flat }));
        all.retain(|one| one.is_short(of, half));
        all
    }

    /// g(w), if nothing is clipped.
    fn at(&self, w: f64) -> f64 {
        let x = w - self.centre;
        let near = x.clamp(-self.reach, self.reach);
        self.drift + self.jump * x.signum() + self.inner * near + self.outer * (x - near)
    }

    /// Whether the gradient is as short as is claimed between −`half` and `half`. Longer ones are clipped, if they are.
    fn is_short(&self, of: &Documented<'_>, half: f64) -> bool {
        let ends = [-half, half, self.centre - self.reach, self.centre + self.reach];
        let inside = ends.into_iter().filter(|end| end.abs() <= half);
        let longest = inside.map(|w| self.at(w).abs()).fold(self.drift.abs() + self.jump.abs(), f64::max);
        of.norm().is_some_and(|norm| longest <= norm || (of.is_clipped() && self.jump == 0.0))
    }

    /// w ↦ keep·w − rate·g(w) + by, with g cut off at ±`norm`.
    pub fn map(&self, keep: f64, rate: f64, by: f64, norm: f64) -> Result<Map, Error> {
        if rate == 0.0 || (self.is_still()) {
            return Map::affine(keep, by);
        }
        // g is a line between these.
        let mut breaks = vec![self.centre - self.reach, self.centre, self.centre + self.reach];
        breaks.retain(|at| at.is_finite());
        if self.jump == 0.0 && self.inner == self.outer {
            breaks.clear();
        }
        let slope_at = |w: f64| if (w - self.centre).abs() < self.reach { self.inner } else { self.outer };
        let middles = |breaks: &[f64]| -> Vec<f64> {
            let (Some(first), Some(last)) = (breaks.first(), breaks.last()) else {
                return vec![self.centre];
            };
            let between = breaks.windows(2).map(|pair| pair[0].midpoint(pair[1]));
            std::iter::once(first - 1.0).chain(between).chain([last + 1.0]).collect()
        };
        // Where it reaches ±norm.
        let mut cut = Vec::new();
        for middle in middles(&breaks) {
            let (slope, value) = (slope_at(middle), self.at(middle));
            let crossings = [-norm, norm].map(|end| middle + (end - value) / slope);
            let piece = |w: f64| breaks.partition_point(|b| *b <= w);
            cut.extend(crossings.into_iter().filter(|at| at.is_finite() && piece(*at) == piece(middle)));
        }
        breaks.extend(cut);
        breaks.sort_by(f64::total_cmp);
        breaks.dedup();
        let pieces = middles(&breaks).into_iter().map(|middle| {
            let (slope, value) = (slope_at(middle), self.at(middle));
            match value.abs() <= norm * (1.0 + 1e-15) {
                true => (keep - rate * slope, by - rate * (value - slope * middle)),
                false => (keep, by - rate * norm * value.signum()),
            }
        });
        let pieces = pieces.collect();
        Map::new(breaks, pieces)
    }

    /// In words, after "the others".
    pub fn words(&self) -> String {
        let number = |value: f64| dobrushin::numeric::decimal::nearest(value, 3);
        if self.is_still() {
            return "have constant losses".to_owned();
        }
        if self.jump != 0.0 {
            return format!(
                "push away from {} with gradients of {}",
                number(self.centre),
                number(-self.jump)
            );
        }
        if self.inner == self.outer && self.drift == 0.0 {
            return format!("have quadratic losses of curvature {}", number(self.inner));
        }
        if self.drift != 0.0 {
            return format!("push against it with gradients of {}", number(self.drift));
        }
        format!(
            "have losses of curvature {} within {} of {}, and of curvature {} beyond",
            number(self.inner),
            number(self.reach),
            number(self.centre),
            number(self.outer)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_is_a_step_along_the_gradient_cut_off_at_the_norm() {
        let flat = Landscape { centre: 0.25, drift: 0.1, jump: 0.0, inner: 0.0, reach: 0.5, outer: 0.0 };
        let landscapes = [
            flat,
            Landscape { inner: 0.7, ..flat },
            Landscape { outer: 1.5, ..flat },
            Landscape { inner: -0.4, outer: 0.3, ..flat },
            Landscape { jump: -0.6, ..flat },
            Landscape { inner: 0.3, outer: 0.3, reach: f64::INFINITY, ..flat },
        ];
        for landscape in landscapes {
            let map = landscape.map(0.9, 0.2, 0.05, 1.0).expect("moderate");
            for step in -400..400 {
                let w = f64::from(step) * 0.0101 + 0.003;
                let expected = 0.9 * w - 0.2 * landscape.at(w).clamp(-1.0, 1.0) + 0.05;
                assert!(
                    (map.at(w) - expected).abs() < 1e-12,
                    "{landscape:?} at {w}: {} {expected}",
                    map.at(w)
                );
            }
        }
    }
}
