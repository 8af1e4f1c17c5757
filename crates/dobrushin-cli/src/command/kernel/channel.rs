//! `dobrushin kernel CHANNEL.csv`: how much a finite channel makes its inputs alike.

use super::DivergencesArgs;
use super::combine::Combined;
use crate::cli::{LevelArgs, probability};
use crate::level::levels;
use crate::output::Report;
use crate::plot::{Line, Plot};
use crate::probabilities;
use crate::problem::Problem;
use crate::profile_plot::{Picture, Profile};
use crate::watch::Watch;
use clap::Args;
use dobrushin::divergence::{DiscretePair, FiniteLaw, NamedDivergence};
use dobrushin::kernel::{ContractionCurve, FiniteKernel, Kernel, Passage};
use dobrushin::{Delta, Enclosure, Gamma, Probability};
use dobrushin_document::ask::{self, ChannelWishes};
use dobrushin_document::report::{BendReport, KernelReport, Level, PassageReport};
use dobrushin_document::text::Style;
use dobrushin_document::{csv, json, text};
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
pub struct ChannelArgs {
    /// CSV with a row of output probabilities for each input; a header line is allowed, and "-" is standard input
    #[arg(required = true)]
    pub channel: Option<PathBuf>,
    /// Divide every row, and the laws of --mu and --nu, by its sum
    #[arg(long)]
    pub normalise: bool,
    /// Send the output through another channel; you can give this flag several times
    #[arg(long, value_name = "CHANNEL")]
    pub then: Vec<PathBuf>,
    /// Put another channel beside it, for an independent second input: inputs and outputs are pairs, in lexicographic
    /// order. You can give this flag several times; --then comes first
    #[arg(long, value_name = "CHANNEL")]
    pub times: Vec<PathBuf>,
    /// Put this many copies of all that side by side, for independent inputs. If inputs² × outputs of the result is
    /// above 2^28, only bounds from the parts are shown
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub power: u32,
    #[command(flatten)]
    pub at: LevelArgs,
    /// Also show the tight curve F_γ(e): how large E_γ can be after the channel if it is e before
    #[arg(long, value_name = "E", value_delimiter = ',', value_parser = probability,
          allow_negative_numbers = true)]
    pub tight: Vec<Probability>,
    /// Also show every bend of the curve γ ↦ η_γ
    #[arg(long)]
    pub curve: bool,
    /// A law μ of the input, as one line or one column of probabilities: with --nu, also show what the channel leaves
    /// of divergences of μ from ν, exactly and by each bound
    #[arg(long, value_name = "LAW", requires = "nu")]
    pub mu: Option<PathBuf>,
    /// The law ν of the input
    #[arg(long, value_name = "LAW", requires = "mu")]
    pub nu: Option<PathBuf>,
    #[command(flatten)]
    pub divergences: DivergencesArgs,
}

impl ChannelArgs {
    /// The files that are read, with what each of them is.
    pub fn inputs(&self) -> Vec<(&'static str, &PathBuf)> {
        let channels = self.channel.iter().chain(&self.then).chain(&self.times);
        let laws = self.mu.iter().chain(&self.nu);
        channels.map(|path| ("the channel", path)).chain(laws.map(|path| ("the law", path))).collect()
    }

    /// The files that are read.
    pub fn files(&self) -> Vec<&PathBuf> {
        self.inputs().into_iter().map(|(_, path)| path).collect()
    }

    fn needs_the_channel(&self) -> Option<&'static str> {
        let flags = [
            ("--mu", self.mu.is_some()),
            ("--curve", self.curve),
            ("--plot", self.at.plot.is_some()),
            ("--tight", !self.tight.is_empty()),
        ];
        flags.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }
}

/// Everything that the table of the channel tells.
pub fn run(arguments: &ChannelArgs, style: Style) -> Result<Report, Problem> {
    let divergences = arguments.divergences.wanted(arguments.mu.is_some(), "--mu and --nu")?;
    let combined = Combined::read(arguments)?;
    let asked = levels(&arguments.at.epsilon, &arguments.at.gamma)?;
    let deltas = ask::and_zero(&arguments.at.delta);
    let mut report = match &combined.formed {
        Some(kernel) => {
            let laws = arguments.mu.as_deref().zip(arguments.nu.as_deref());
            let laws = laws.map(|(mu, nu)| pair(mu, nu, kernel, arguments.normalise)).transpose()?;
            let asked = Asked { levels: &asked, deltas: &deltas, laws, divergences: &divergences };
            of_kernel(kernel, combined.title(), arguments, &asked, !style.quiet)?
        }
        None => {
            if let Some(flag) = arguments.needs_the_channel() {
                return Err(Problem::new(format!(
                    "{flag} needs the channel itself, but {} is too large: inputs² × outputs is above 2^28",
                    combined.title()
                ))
                .help(format!("leave out {flag}, or combine fewer channels")));
            }
            KernelReport::new(combined.title(), combined.bounded(&asked, &deltas))
        }
    };
    (report.inputs, report.outputs) = combined.size();
    report.composition = combined.composition(&asked);
    report.product = combined.product(&asked);
    Ok(Report::new(text::kernel(&report, style), json::of(&report)).with_table(csv::kernel(&report)))
}

/// What is asked about a channel.
struct Asked<'a> {
    levels: &'a [Level],
    deltas: &'a [Delta],
    laws: Option<DiscretePair>,
    divergences: &'a [NamedDivergence],
}

fn of_kernel(
    kernel: &FiniteKernel,
    title: String,
    arguments: &ChannelArgs,
    asked: &Asked,
    show_progress: bool,
) -> Result<KernelReport, Problem> {
    let mut watch = None;
    let wishes = ChannelWishes { levels: asked.levels, deltas: asked.deltas, tight: &arguments.tight };
    let found = ask::channel(kernel, &wishes, &mut |what| {
        // Only one line is shown at a time.
        watch = None;
        watch.insert(Watch::new(show_progress, 0, what)).progress().clone()
    });
    drop(watch);
    let (chi2, _) = found.chi2;
    let wanted = arguments.curve || arguments.at.plot.is_some() || asked.laws.is_some();
    let curve = wanted.then(|| {
        let watch = Watch::new(show_progress, kernel.inputs() as u64, "curve");
        kernel.curve_with_progress(|| watch.progress().advance(1))
    });
    let mut report = KernelReport::new(title, found);
    if let Some(curve) = &curve {
        if let Some(path) = &arguments.at.plot {
            draw(kernel, curve, asked.levels)?.write(path)?;
        }
        report.curve = arguments.curve.then(|| BendReport::all(curve));
        report.divergences = left_of(kernel, (curve, chi2), asked)?;
    }
    Ok(report)
}

/// What the channel leaves of the divergences of two laws, if they are given.
fn left_of(
    kernel: &FiniteKernel,
    known: (&ContractionCurve, Enclosure),
    asked: &Asked,
) -> Result<Vec<PassageReport>, Problem> {
    let Some(laws) = &asked.laws else { return Ok(Vec::new()) };
    let passage = |f: &_| -> Result<PassageReport, Problem> {
        Ok(PassageReport::new(f, &Passage::through_channel(laws, kernel, known, f)?))
    };
    asked.divergences.iter().map(passage).collect()
}

/// Two laws on the inputs of a channel.
fn pair(mu: &Path, nu: &Path, kernel: &FiniteKernel, normalise: bool) -> Result<DiscretePair, Problem> {
    let law = |flag: &str, path: &Path| -> Result<FiniteLaw, Problem> {
        let rows = probabilities::read(path)?;
        let name = format!("{flag} {}", path.display());
        let (lines, columns) = (rows.len(), rows.first().map_or(0, Vec::len));
        if lines > 1 && columns > 1 {
            return Err(Problem::new(format!(
                "{name} has {lines} lines of {columns} numbers, but a law is one line or one column"
            )));
        }
        let values = rows.concat();
        if values.len() != kernel.inputs() {
            return Err(Problem::new(format!(
                "{name} has {} probabilities, but the channel has {} inputs",
                values.len(),
                kernel.inputs()
            ))
            .help("give a probability for each input, in the order of the rows; inputs of channels side by side are in lexicographic order"));
        }
        let built =
            if normalise { FiniteLaw::proportional_to(&name, values) } else { FiniteLaw::new(&name, values) };
        built.map_err(|error| {
            let problem = Problem::new(error.to_string());
            let help = "--normalise divides it, and every row of the channel, by its sum";
            if matches!(error, dobrushin::Error::SumNotOne { .. }) { problem.help(help) } else { problem }
        })
    };
    Ok(DiscretePair::new(law("--mu", mu)?, law("--nu", nu)?)?)
}

/// What is drawn, in words.
pub const CAPTION: &str =
    "η_γ with γ = e^ε: the channel is (ε, η)-locally private. Upper ends of certified enclosures.";

fn draw(kernel: &FiniteKernel, curve: &ContractionCurve, levels: &[Level]) -> Result<Plot, Problem> {
    let floor = Delta::new(1e-6)?;
    let eta = |gamma: Gamma| curve.contraction(gamma).ln();
    let picture = Picture {
        title: format!(
            "Contraction of a channel with {} inputs and {} outputs",
            kernel.inputs(),
            kernel.outputs()
        ),
        value: "η",
        profiles: vec![Profile {
            label: "η = δ of local privacy".to_owned(),
            line: Line::Guarantee,
            ln_delta: &eta,
            end: curve.epsilon_at(floor).upper(),
        }],
        knots: curve.bends().map(|(gamma, _)| gamma.ln()).collect(),
        asked: levels.iter().map(Level::epsilon).collect(),
        marked: 0,
        mark: "asked for".to_owned(),
        caption: CAPTION.to_owned(),
        floor,
    };
    Ok(picture.draw())
}
