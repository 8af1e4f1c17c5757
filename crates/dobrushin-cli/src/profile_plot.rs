//! Pictures of δ against ε.

use crate::plot::{Axis, Line, Plot, Scale, Series};
use dobrushin::{Delta, Enclosure, Gamma};
use std::f64::consts::LN_10;

/// The number of points of a curve.
const POINTS: u32 = 400;

/// A curve ε ↦ ln δ, drawn at its upper ends.
pub struct Profile<'a> {
    /// The name.
    pub label: String,
    /// How the curve is drawn.
    pub line: Line,
    /// ln δ at a level.
    pub ln_delta: &'a dyn Fn(Gamma) -> Enclosure,
    /// The level at which the curve reaches the floor of the picture; ∞ if it never does.
    pub end: f64,
}

/// What is drawn, and where the picture ends.
pub struct Picture<'a> {
    pub title: String,
    /// The name of the vertical axis.
    pub value: &'static str,
    pub profiles: Vec<Profile<'a>>,
    /// Levels ε at which a curve bends.
    pub knots: Vec<f64>,
    /// Levels ε that get a mark …
    pub asked: Vec<f64>,
    /// … on this profile …
    pub marked: usize,
    /// … with this name.
    pub mark: String,
    pub caption: String,
    /// Values below it are not drawn.
    pub floor: Delta,
}

impl Picture<'_> {
    /// δ on a logarithmic axis against ε from 0.
    pub fn draw(self) -> Plot {
        let last_knot = self.knots.iter().copied().filter(|k| k.is_finite()).fold(0.0, f64::max);
        let ends = self.profiles.iter().map(|profile| profile.end);
        let end = match ends.clone().fold(0.0, f64::max) {
            end if end > 0.0 && end < 700.0 => end,
            end if end.is_finite() => {
                if end > 0.0 {
                    700.0
                } else {
                    1.0
                }
            }
            _ => 1.2 * last_knot + 1.0,
        };
        let even = (0..=POINTS).map(|i| end * f64::from(i) / f64::from(POINTS));
        let mut levels: Vec<f64> =
            even.chain(self.knots.iter().copied()).chain(ends).filter(|e| (0.0..=end).contains(e)).collect();
        levels.sort_by(f64::total_cmp);
        let mut series = Vec::new();
        for profile in &self.profiles {
            let points = self.points(profile, &levels);
            series.push(Series::new(profile.label.clone(), points, profile.line));
        }
        let asked: Vec<f64> = self.asked.iter().copied().filter(|e| (0.0..=end).contains(e)).collect();
        if let (Some(marked), false) = (self.profiles.get(self.marked), asked.is_empty()) {
            let points = self.points(marked, &asked);
            series.push(Series::new(self.mark.clone(), points, Line::Marks));
        }
        Plot {
            title: self.title,
            x: Axis { label: "ε".to_owned(), scale: Scale::Linear },
            y: Axis { label: self.value.to_owned(), scale: Scale::Log10 },
            series,
            caption: vec![self.caption],
        }
    }

    fn points(&self, profile: &Profile, levels: &[f64]) -> Vec<(f64, f64)> {
        let floor = self.floor.get().log10() - 1e-9;
        let point = |&epsilon: &f64| {
            let gamma = Gamma::from_epsilon(epsilon).unwrap_or(Gamma::ONE);
            let exponent = (profile.ln_delta)(gamma).upper() / LN_10;
            (epsilon, if exponent < floor { f64::NEG_INFINITY } else { exponent })
        };
        levels.iter().map(point).collect()
    }
}
