//! `dobrushin kernel`: how much a finite channel makes its inputs alike.

use crate::cli::{LevelArgs, probability};
use crate::level::Level;
use crate::output::{Report, bounds, object};
use crate::plot::{Line, Plot};
use crate::probabilities;
use crate::problem::Problem;
use crate::profile_plot::{Picture, Profile};
use clap::Args;
use dobrushin::kernel::{ChiSquaredContraction, Contraction, ContractionCurve, FiniteKernel, Kernel};
use dobrushin::numeric::decimal as number;
use dobrushin::{Delta, Enclosure, Gamma, Probability};
use dobrushin_document::text::Style;
use dobrushin_document::text::{Text, table};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct KernelArgs {
    /// CSV with a row of output probabilities for each input; a header line is allowed, and "-" is standard input
    pub channel: PathBuf,
    /// Divide every row by its sum
    #[arg(long)]
    pub normalise: bool,
    #[command(flatten)]
    pub at: LevelArgs,
    /// Also show the tight curve F_γ(e): how large E_γ can be after the channel if it is e before
    #[arg(long, value_name = "E", value_delimiter = ',', value_parser = probability,
          allow_negative_numbers = true)]
    pub tight: Vec<Probability>,
    /// Also show every bend of the curve γ ↦ η_γ
    #[arg(long)]
    pub curve: bool,
}

/// Everything that the table of the channel tells.
pub fn run(arguments: &KernelArgs, style: Style) -> Result<Report, Problem> {
    let kernel = read(arguments)?;
    let answers = Answers::compute(&kernel, arguments, !style.quiet)?;
    if let (Some(path), Some(curve)) = (&arguments.at.plot, &answers.curve) {
        draw(&kernel, curve, &answers.levels)?.write(path)?;
    }
    Ok(Report::new(answers.text(&kernel, style), answers.json(&kernel)))
}

fn read(arguments: &KernelArgs) -> Result<FiniteKernel, Problem> {
    let rows = probabilities::read(&arguments.channel)?;
    let built =
        if arguments.normalise { FiniteKernel::proportional_to(rows) } else { FiniteKernel::new(rows) };
    built.map_err(|error| {
        let problem = Problem::new(format!("{} is not a channel: {error}", arguments.channel.display()));
        match error {
            dobrushin::Error::SumNotOne { .. } => problem.help("--normalise divides every row by its sum"),
            _ => problem.help("rows are inputs (counted without header), columns are outputs"),
        }
    })
}

/// η at one level.
struct AtLevel {
    level: Level,
    eta: Contraction,
    /// F_γ(e) for the inputs that are asked for.
    tight: Vec<(Probability, Enclosure)>,
}

struct Answers {
    levels: Vec<AtLevel>,
    tv: Contraction,
    chi2: ChiSquaredContraction,
    epsilon_at_delta: Vec<(Delta, Enclosure)>,
    curve: Option<ContractionCurve>,
    list_knots: bool,
}

impl Answers {
    fn compute(kernel: &FiniteKernel, arguments: &KernelArgs, show_progress: bool) -> Result<Self, Problem> {
        let progress = progress(show_progress);
        progress.set_message("contraction");
        let levels = Level::all(&arguments.at)?.into_iter().map(|level| {
            let tight = arguments.tight.iter().map(|&e| (e, kernel.tight(level.gamma, e))).collect();
            AtLevel { eta: kernel.contraction_with_pair(level.gamma), level, tight }
        });
        let levels = levels.collect();
        // δ = 0 is always worth knowing.
        let zero = Delta::new(0.0)?;
        let mut deltas = arguments.at.delta.clone();
        if !deltas.contains(&zero) {
            deltas.insert(0, zero);
        }
        progress.set_message("local privacy");
        let epsilon_at_delta = deltas.into_iter().map(|delta| (delta, kernel.epsilon_at(delta))).collect();
        let rows = kernel.inputs() as u64;
        start(&progress, "η of χ² and KL", rows);
        let chi2 = kernel.chi_squared_contraction_with_progress(|| progress.inc(1));
        let wanted = arguments.curve || arguments.at.plot.is_some();
        let curve = wanted.then(|| {
            start(&progress, "the whole curve", rows);
            kernel.curve_with_progress(|| progress.inc(1))
        });
        progress.finish_and_clear();
        let tv = kernel.contraction_with_pair(Gamma::ONE);
        Ok(Self { levels, tv, chi2, epsilon_at_delta, curve, list_knots: arguments.curve })
    }

    fn text(&self, kernel: &FiniteKernel, style: Style) -> Text {
        let mut text = Text::default();
        let title = format!("Channel with {} inputs and {} outputs", kernel.inputs(), kernel.outputs());
        let rows = self.levels.iter().map(|at| {
            let Contraction { value, pair } = at.eta;
            [at.level.name(), style.upper(value), number::width(value), inputs(pair, value)]
        });
        let profile = table(["epsilon", "eta = delta at most", "width", "inputs"], rows);
        text.answer(format!("{title}\n\n{profile}"));
        let rows = self
            .epsilon_at_delta
            .iter()
            .map(|(d, e)| [number::plain(d.get()), style.upper(*e), number::width(*e)]);
        text.answer(table(["delta", "locally private at epsilon", "width"], rows));
        let chi2 = self.chi2;
        let row = |name: &str, value: Enclosure, by: String| {
            [name.to_owned(), style.upper(value), number::width(value), by]
        };
        let weighted = format!("{} (weight {:.4})", inputs(chi2.pair, chi2.value), chi2.weight);
        let rows = [
            row("total variation (Dobrushin)", self.tv.value, inputs(self.tv.pair, self.tv.value)),
            row("χ², KL, squared Hellinger", chi2.value, weighted),
        ];
        text.answer(table(["contraction of", "at most", "width", "inputs"], rows));
        if self.levels.iter().any(|at| !at.tight.is_empty()) {
            let rows = self.levels.iter().flat_map(|at| {
                at.tight.iter().map(move |(e, tight)| {
                    let linear = at.eta.value * Enclosure::from(*e);
                    [at.level.name(), number::plain(e.get()), style.upper(*tight), style.upper(linear)]
                })
            });
            text.answer(table(["epsilon", "E_γ before", "after: tight", "after: eta·E_γ"], rows));
        }
        if let Some(curve) = self.curve.as_ref().filter(|_| self.list_knots) {
            let rows = knots(curve).map(|(gamma, value, pair)| {
                [style.nearest(gamma), style.nearest(gamma.ln()), style.upper(value), inputs(pair, value)]
            });
            text.answer(table(["bend at gamma", "epsilon", "eta at most", "inputs below it"], rows));
        }
        text.explanation(
            "eta is the contraction coefficient of E_γ with γ = e^epsilon, and the channel is (epsilon, eta)-locally\n\
             private. Every f-divergence with f″(1) > 0 contracts at least as χ² and at most as total variation says.\n\
             Printed bounds are rounded up; \"width\" is how much smaller the true value can be, relatively.\n\
             See: dobrushin explain contraction-coefficient, chi2-contraction, tight-curve",
        );
        text
    }

    fn json(&self, kernel: &FiniteKernel) -> Value {
        let eta = self.levels.iter().map(|at| {
            let mut entry = at.level.json();
            entry.insert("value".to_owned(), bounds(at.eta.value));
            entry.insert("pair".to_owned(), from_one(at.eta.pair));
            if !at.tight.is_empty() {
                let tight = at.tight.iter().map(|(e, f)| json!({ "before": e.get(), "after": bounds(*f) }));
                entry.insert("tight".to_owned(), tight.collect());
            }
            Value::Object(entry)
        });
        let deltas =
            self.epsilon_at_delta.iter().map(|(d, e)| json!({ "delta": d.get(), "epsilon": bounds(*e) }));
        let mut json = object([
            ("inputs", json!(kernel.inputs())),
            ("outputs", json!(kernel.outputs())),
            ("eta", eta.collect()),
            ("tv", bounds(self.tv.value)),
            ("chi2", bounds(self.chi2.value)),
            ("kl", bounds(self.chi2.value)),
            ("tv_maximiser", json!({ "pair": from_one(self.tv.pair) })),
            ("chi2_maximiser", json!({ "pair": from_one(self.chi2.pair), "weight": self.chi2.weight })),
            ("epsilon_at_delta", deltas.collect()),
        ]);
        if let Some(curve) = self.curve.as_ref().filter(|_| self.list_knots) {
            let bend = |(gamma, value, pair): (f64, Enclosure, _)| json!({ "gamma": gamma, "epsilon": gamma.ln(), "value": bounds(value), "pair": from_one(pair) });
            json.insert("curve".to_owned(), knots(curve).map(bend).collect());
        }
        Value::Object(json)
    }
}

/// Where the curve bends, its value there, and the pair that attains it just below.
fn knots(curve: &ContractionCurve) -> impl Iterator<Item = (f64, Enclosure, (usize, usize))> {
    curve.bends().filter_map(|(gamma, pair)| {
        Gamma::new(gamma).ok().map(|level| (gamma, curve.contraction(level), pair))
    })
}

/// The inputs, counted from 1; empty where all pairs are alike.
fn inputs((x, y): (usize, usize), value: Enclosure) -> String {
    if value.upper() == 0.0 { "–".to_owned() } else { format!("{}, {}", x + 1, y + 1) }
}

fn from_one((x, y): (usize, usize)) -> Value {
    json!([x + 1, y + 1])
}

fn draw(kernel: &FiniteKernel, curve: &ContractionCurve, levels: &[AtLevel]) -> Result<Plot, Problem> {
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
            label: "η = δ of local privacy",
            line: Line::Solid,
            ln_delta: &eta,
            end: curve.epsilon_at(floor).upper(),
        }],
        knots: curve.bends().map(|(gamma, _)| gamma.ln()).collect(),
        asked: levels.iter().map(|at| at.level.epsilon()).collect(),
        marked: 0,
        caption:
            "η_γ with γ = e^ε: the channel is (ε, η)-locally private. Upper ends of certified enclosures."
                .to_owned(),
        floor,
    };
    Ok(picture.draw())
}

/// This is shown only on a terminal.
fn progress(show: bool) -> ProgressBar {
    let bar = if show { ProgressBar::no_length() } else { ProgressBar::hidden() };
    bar.set_style(ProgressStyle::default_spinner());
    bar
}

fn start(bar: &ProgressBar, what: &'static str, rows: u64) {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} rows, {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message(what);
    bar.set_length(rows);
    bar.set_position(0);
}
