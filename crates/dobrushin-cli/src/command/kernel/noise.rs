//! `dobrushin kernel gaussian` and `laplace`: noise that is added to a point of an interval.

use super::DivergencesArgs;
use crate::cli::{LevelArgs, finite, positive, probability};
use crate::level::levels;
use crate::output::Report;
use crate::plot::{Line, Plot};
use crate::problem::Problem;
use crate::profile_plot::{Picture, Profile};
use clap::Args;
use dobrushin::divergence::{GaussianPair, LaplacePair, Pair};
use dobrushin::kernel::{GaussianKernel, Kernel, LaplaceKernel, Passage};
use dobrushin::numeric::decimal as number;
use dobrushin::{Delta, Enclosure, Gamma, NonNegative, Positive, Probability};
use dobrushin_document::ask;
use dobrushin_document::report::{Coefficients, EtaReport, KernelReport, Level, NoiseReport, PassageReport};
use dobrushin_document::text::Style;
use dobrushin_document::{csv, json, text};

#[derive(Args, Debug)]
pub struct GaussianArgs {
    /// Standard deviation σ of the noise
    #[arg(long, value_parser = |s: &str| positive("sigma", s), allow_negative_numbers = true)]
    pub sigma: Positive,
    #[command(flatten)]
    pub common: NoiseArgs,
}

#[derive(Args, Debug)]
pub struct LaplaceArgs {
    /// Scale v of the noise
    #[arg(long, value_parser = |s: &str| positive("scale", s), allow_negative_numbers = true)]
    pub scale: Positive,
    #[command(flatten)]
    pub common: NoiseArgs,
}

#[derive(Args, Debug)]
pub struct NoiseArgs {
    /// Length of the interval that inputs never leave; for Gaussian noise, the diameter of a set of any dimension
    #[arg(long, value_parser = length, allow_negative_numbers = true)]
    pub length: NonNegative,
    #[command(flatten)]
    pub at: LevelArgs,
    /// Also show the tight curve F_γ(e): how large E_γ can be after the noise if it is e before
    #[arg(long, value_name = "E", value_delimiter = ',', value_parser = probability,
          allow_negative_numbers = true)]
    pub tight: Vec<Probability>,
    /// Two Gaussian laws with means this far apart, moved into the interval, are the input: show what the noise leaves
    /// of their divergences
    #[arg(long, value_name = "DISTANCE", value_parser = |s: &str| finite("input distance", s, NonNegative::new),
          allow_negative_numbers = true, requires = "input_sigma")]
    pub input_distance: Option<NonNegative>,
    /// The standard deviation of these two laws
    #[arg(long, value_name = "SIGMA", value_parser = |s: &str| positive("input sigma", s),
          allow_negative_numbers = true, requires = "input_distance")]
    pub input_sigma: Option<Positive>,
    #[command(flatten)]
    pub divergences: DivergencesArgs,
}

fn length(text: &str) -> Result<NonNegative, String> {
    finite("length", text, NonNegative::new)
}

/// What Gaussian noise does.
pub fn gaussian(arguments: &GaussianArgs, style: Style) -> Result<Report, Problem> {
    let (length, sigma) = (arguments.common.length.get(), arguments.sigma.get());
    let kernel = GaussianKernel::new(length, sigma)?;
    let noise = NoiseReport { noise: "gaussian", length, sigma: Some(sigma), scale: None };
    let words = format!("Gaussian noise of standard deviation {}", number::plain(sigma));
    let ends = GaussianPair::new(length, sigma)?;
    Noise { kernel: &kernel, ends: &ends, chi2: kernel.chi_squared_contraction() }.report(
        noise,
        &words,
        &arguments.common,
        style,
    )
}

/// What Laplace noise does.
pub fn laplace(arguments: &LaplaceArgs, style: Style) -> Result<Report, Problem> {
    let (length, scale) = (arguments.common.length.get(), arguments.scale.get());
    let kernel = LaplaceKernel::new(length, scale)?;
    let noise = NoiseReport { noise: "laplace", length, sigma: None, scale: Some(scale) };
    let words = format!("Laplace noise of scale {}", number::plain(scale));
    let ends = LaplacePair::new(length, scale)?;
    Noise { kernel: &kernel, ends: &ends, chi2: kernel.chi_squared_contraction() }.report(
        noise,
        &words,
        &arguments.common,
        style,
    )
}

/// Noise, with the laws of its output at the two ends.
struct Noise<'a> {
    kernel: &'a dyn Kernel,
    ends: &'a dyn Pair,
    chi2: Enclosure,
}

impl Noise<'_> {
    fn report(
        &self,
        noise: NoiseReport,
        words: &str,
        arguments: &NoiseArgs,
        style: Style,
    ) -> Result<Report, Problem> {
        let title = format!("{words} on an interval of length {}", number::plain(noise.length));
        let asked = levels(&arguments.at.epsilon, &arguments.at.gamma)?;
        let eta = |&level: &Level| {
            let tight = arguments.tight.iter().map(|&e| (e, self.kernel.tight(level.gamma, e)));
            EtaReport::new(level, self.kernel.contraction(level.gamma), None, tight)
        };
        let found = Coefficients {
            eta: asked.iter().map(eta).collect(),
            tv: (self.kernel.total_variation(), None),
            chi2: (self.chi2, None),
            epsilon_at_delta: ask::and_zero(&arguments.at.delta)
                .into_iter()
                .map(|delta| (delta, self.ends.smallest_epsilon(delta)))
                .collect(),
        };
        let mut report = KernelReport::new(title.clone(), found);
        report.noise = Some(noise);
        let given = arguments.input_distance.is_some();
        let wanted = arguments.divergences.wanted(given, "--input-distance and --input-sigma")?;
        if let (Some(distance), Some(sigma)) = (arguments.input_distance, arguments.input_sigma) {
            let laws = GaussianPair::new(distance.get(), sigma.get())?;
            let passage = |f: &_| Passage::through_kernel(&laws, self.kernel, self.chi2, f);
            report.divergences = wanted.iter().map(|f| PassageReport::new(f, &passage(f))).collect();
        }
        if let Some(path) = &arguments.at.plot {
            self.draw(title, &asked)?.write(path)?;
        }
        Ok(Report::new(text::kernel(&report, style), json::of(&report)).with_table(csv::kernel(&report)))
    }

    fn draw(&self, title: String, levels: &[Level]) -> Result<Plot, Problem> {
        let floor = Delta::new(if self.ends.last_epsilon().is_some() { 1e-6 } else { 1e-12 })?;
        let eta = |gamma: Gamma| self.ends.ln_hockey_stick(gamma);
        let picture = Picture {
            title,
            value: "η",
            profiles: vec![Profile {
                label: "η = δ of local privacy".to_owned(),
                line: Line::Guarantee,
                ln_delta: &eta,
                end: self.ends.smallest_epsilon(floor).upper(),
            }],
            knots: Vec::new(),
            asked: levels.iter().map(Level::epsilon).collect(),
            marked: 0,
            mark: "asked for".to_owned(),
            caption: super::channel::CAPTION.to_owned(),
            floor,
        };
        Ok(picture.draw())
    }
}
