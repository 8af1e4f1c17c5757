//! What all figures need: runs from text, ranges, and the best of all analyses.

use crate::plot::{Axis, Line, Scale, Series};
use crate::problem::Problem;
use dobrushin::account::{Options, analyses_for_curves};
use dobrushin::profile::PrivacyProfile;
use dobrushin::run::Run;
use dobrushin::{Enclosure, Epsilon};
use dobrushin_document::RunFile;
use std::f64::consts::LN_10;
use std::sync::Arc;

/// The run that a run file describes.
pub fn run(text: &str) -> Result<Run, Problem> {
    Ok(RunFile::parse(text, "the run of a figure")?.run()?)
}

/// The smallest bound on δ among all analyses that apply to a run.
pub struct Best(Vec<Arc<dyn PrivacyProfile>>);

impl Best {
    pub fn of(run: &Run) -> Self {
        let analysed = analyses_for_curves(run, &Options::default()).into_iter();
        Self(
            analysed
                .filter(|analysed| analysed.rigorous)
                .filter_map(|analysed| analysed.profile.ok())
                .collect(),
        )
    }

    /// log₁₀ of the bound.
    pub fn log10_delta(&self, epsilon: Epsilon) -> f64 {
        self.0.iter().map(|profile| log10(profile.log_delta(epsilon))).fold(0.0, f64::min)
    }
}

/// One analysis of a run, as a profile.
pub fn analysis(run: &Run, id: &'static str) -> Result<Arc<dyn PrivacyProfile>, Problem> {
    let only = Options { only: vec![id], ..Options::default() };
    let analysed = analyses_for_curves(run, &only).into_iter().next();
    let missing = || Problem::new(format!("there is no analysis {id:?}"));
    let profile = analysed.ok_or_else(missing)?.profile;
    profile.map_err(|reason| Problem::new(format!("{id} does not apply: {reason}")))
}

/// The upper end of a natural logarithm, as a decimal one.
pub fn log10(ln: Enclosure) -> f64 {
    ln.upper() / LN_10
}

/// 0, step, 2·step, … up to the end, and a few small values before the first step.
pub fn levels(end: f64, steps: u32) -> Vec<Epsilon> {
    let level = |i: u32| end * f64::from(i) / f64::from(steps);
    let small =
        [1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02].into_iter().filter(|small| *small < level(1));
    let all = std::iter::once(0.0).chain(small).chain((1..=steps).map(level));
    all.filter_map(|level| Epsilon::new(level).ok()).collect()
}

/// 1, 2, 5, 10, 20, 50, … up to the end.
pub fn decades(end: u64) -> Vec<u64> {
    let powers = std::iter::successors(Some(1_u64), |power| power.checked_mul(10));
    powers.flat_map(|power| [1, 2, 5].map(|digit| digit * power)).take_while(|steps| *steps <= end).collect()
}

/// A curve at these levels.
pub fn over(levels: &[Epsilon], label: &str, line: Line, height: impl Fn(Epsilon) -> f64) -> Series {
    let points = levels.iter().map(|&epsilon| (epsilon.get(), height(epsilon))).collect();
    Series::new(label, points, line)
}

pub fn linear(label: &str) -> Axis {
    Axis { label: label.to_owned(), scale: Scale::Linear }
}

pub fn logarithmic(label: &str) -> Axis {
    Axis { label: label.to_owned(), scale: Scale::Log10 }
}

/// Paragraphs of a caption.
pub fn caption<const N: usize>(paragraphs: [&str; N]) -> Vec<String> {
    paragraphs.map(str::to_owned).to_vec()
}
