//! `dobrushin divergence`: how far apart two laws are, in every sense.

use crate::cli::{LevelArgs, checked, finite, positive};
use crate::laws;
use crate::level::{fields, levels};
use crate::output::{Report, bounds, object};
use crate::plot::{Line, Plot};
use crate::problem::Problem;
use crate::profile_plot::{Picture, Profile};
use clap::{Args, Subcommand};
use dobrushin::divergence::{GaussianPair, LaplacePair, Pair};
use dobrushin::numeric::decimal as number;
use dobrushin::{Delta, Enclosure, Gamma, NonNegative, Positive, RenyiOrder};
use dobrushin_document::csv::{Cell, Table};
use dobrushin_document::json::{Bounds, number as json_number};
use dobrushin_document::report::Level;
use dobrushin_document::text::Style;
use dobrushin_document::text::{Block, Text, heading, table};
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct DivergenceArgs {
    #[command(subcommand)]
    pub pair: PairArgs,
}

/// Two laws P and Q.
#[derive(Debug, Subcommand)]
pub enum PairArgs {
    /// Two Gaussian laws with covariance σ²I, in any dimension
    Gaussian {
        /// Distance between the means, ‖m₁ − m₂‖
        #[arg(long, value_parser = distance, allow_negative_numbers = true)]
        distance: NonNegative,
        /// Standard deviation σ of the noise
        #[arg(long, value_parser = |s: &str| positive("sigma", s), allow_negative_numbers = true)]
        sigma: Positive,
        #[command(flatten)]
        at: LevelArgs,
        #[command(flatten)]
        orders: OrderArgs,
    },
    /// Two Laplace laws of the same scale
    Laplace {
        /// Distance between the centres, |m₁ − m₂|
        #[arg(long, value_parser = distance, allow_negative_numbers = true)]
        distance: NonNegative,
        /// Scale v of the noise
        #[arg(long, value_parser = |s: &str| positive("scale", s), allow_negative_numbers = true)]
        scale: Positive,
        #[command(flatten)]
        at: LevelArgs,
        #[command(flatten)]
        orders: OrderArgs,
    },
    /// Two laws on finitely many outcomes, from a CSV file
    Discrete {
        /// CSV with P and Q as two columns (one outcome per line) or as two rows; a header line is allowed, and "-" is
        /// standard input
        file: PathBuf,
        /// Divide P and Q by their sums
        #[arg(long)]
        normalise: bool,
        #[command(flatten)]
        at: LevelArgs,
        #[command(flatten)]
        orders: OrderArgs,
    },
}

#[derive(Args, Debug)]
pub struct OrderArgs {
    /// Rényi orders α > 0 ("inf" is allowed), separated by commas
    #[arg(long, value_delimiter = ',', value_parser = order, default_values = ["2"],
          allow_negative_numbers = true)]
    pub order: Vec<RenyiOrder>,
}

fn distance(text: &str) -> Result<NonNegative, String> {
    finite("distance", text, NonNegative::new)
}

fn order(text: &str) -> Result<RenyiOrder, String> {
    checked(text, RenyiOrder::new)
}

/// The divergences of the pair that the arguments describe.
pub fn run(arguments: &DivergenceArgs, style: Style) -> Result<Report, Problem> {
    match &arguments.pair {
        PairArgs::Gaussian { distance, sigma, at, orders } => {
            let pair = GaussianPair::new(distance.get(), sigma.get())?;
            let title = format!("Gaussian pair, distance/σ = {}", number::plain(pair.ratio().midpoint()));
            report(&pair, None, &title, at, orders, style)
        }
        PairArgs::Laplace { distance, scale, at, orders } => {
            let pair = LaplacePair::new(distance.get(), scale.get())?;
            let title = format!("Laplace pair, distance/scale = {}", number::plain(pair.ratio().midpoint()));
            report(&pair, None, &title, at, orders, style)
        }
        PairArgs::Discrete { file, normalise, at, orders } => {
            let pair = laws::pair(file, *normalise)?;
            let title = format!("Two laws on {} outcomes", pair.p().len());
            report(&pair, Some(&pair.reversed()), &title, at, orders, style)
        }
    }
}

fn report(
    pair: &dyn Pair,
    reversed: Option<&dyn Pair>,
    title: &str,
    at: &LevelArgs,
    orders: &OrderArgs,
    style: Style,
) -> Result<Report, Problem> {
    let levels = levels(&at.epsilon, &at.gamma)?;
    let mut text = Text::default();
    text.answer(heading(title).then_apart(profile_table(pair, reversed, &levels, style)));
    let named: [(&str, &str, Enclosure); 4] = [
        ("tv", "total variation", pair.total_variation()),
        ("kl", "Kullback–Leibler (nats)", pair.kl()),
        ("chi2", "χ²", pair.chi_squared()),
        ("hellinger2", "squared Hellinger, ∫(√p − √q)²", pair.hellinger_squared()),
    ];
    let renyi: Vec<(f64, Enclosure)> = orders.order.iter().map(|&o| (o.get(), pair.renyi(o))).collect();
    let row = |name: String, value: Enclosure| [name, style.upper(value), number::width(value)];
    let rows = named.iter().map(|(_, name, value)| row((*name).to_owned(), *value));
    let renyi_rows =
        renyi.iter().map(|(order, value)| row(format!("Rényi of order {}", number::plain(*order)), *value));
    text.answer(table(["divergence of P from Q", "at most", "width"], rows.chain(renyi_rows)));
    let inverse: Vec<(Delta, Enclosure)> =
        at.delta.iter().map(|&d| (d, both_ways(pair, reversed, d))).collect();
    if !inverse.is_empty() {
        let rows = inverse.iter().map(|(d, e)| [number::plain(d.get()), style.upper(*e), number::width(*e)]);
        text.answer(table(["delta", "epsilon at most", "width"], rows));
    }
    text.explanation(
        "delta is E_γ with γ = e^epsilon. Printed bounds are rounded up; \"width\" is how much \
         smaller the true value can be, relatively. See: dobrushin explain hockey-stick",
    );
    if let Some(path) = &at.plot {
        draw(pair, reversed, title, &levels)?.write(path)?;
    }
    let mut json = object([
        ("points", points_json(pair, reversed, &levels)),
        (
            "renyi",
            renyi.iter().map(|(o, v)| json!({ "order": json_number(*o), "value": bounds(*v) })).collect(),
        ),
        (
            "epsilon_at_delta",
            inverse.iter().map(|(d, e)| json!({ "delta": d.get(), "epsilon": bounds(*e) })).collect(),
        ),
    ]);
    json.extend(named.iter().map(|(key, _, value)| ((*key).to_owned(), bounds(*value))));
    let inputs = (named, renyi, inverse);
    Ok(Report::new(text, Value::Object(json)).with_table(table_of(pair, reversed, &levels, &inputs)))
}

impl PairArgs {
    /// Where the pair is compared, and the files that are written.
    pub fn at(&self) -> &LevelArgs {
        match self {
            Self::Gaussian { at, .. } | Self::Laplace { at, .. } | Self::Discrete { at, .. } => at,
        }
    }
}

/// Divergences with a name, Rényi divergences by their order, and ε by δ.
type Numbers<'a> = ([(&'a str, &'a str, Enclosure); 4], Vec<(f64, Enclosure)>, Vec<(Delta, Enclosure)>);

/// A row for each number, with what it is and where it is taken.
fn table_of(pair: &dyn Pair, reversed: Option<&dyn Pair>, levels: &[Level], numbers: &Numbers) -> Table {
    let mut table = Table::new(["what", "epsilon", "gamma", "order", "delta", "lower", "upper"]);
    let mut add = |what: &str, at: [Option<f64>; 4], value: Enclosure| {
        let ends = Cell::ends(Some(Bounds(value)));
        table.push([what.into()].into_iter().chain(at.map(Cell::from)).chain(ends).collect());
    };
    for level in levels {
        let at = [Some(level.epsilon()), level.given_as_gamma(), None, None];
        add("delta", at, pair.hockey_stick(level.gamma));
        add("log_delta", at, pair.ln_hockey_stick(level.gamma));
        if let Some(reversed) = reversed {
            add("delta_reversed", at, reversed.hockey_stick(level.gamma));
            add("log_delta_reversed", at, reversed.ln_hockey_stick(level.gamma));
        }
    }
    let (named, renyi, inverse) = numbers;
    for (key, _, value) in named {
        add(key, [None; 4], *value);
    }
    for (order, value) in renyi {
        add("renyi", [None, None, Some(*order), None], *value);
    }
    for (delta, epsilon) in inverse {
        add("epsilon", [None, None, None, Some(delta.get())], *epsilon);
    }
    table
}

/// The smallest ε that holds for both orders of the laws, as privacy needs.
fn both_ways(pair: &dyn Pair, reversed: Option<&dyn Pair>, delta: Delta) -> Enclosure {
    let backwards = reversed.map_or(Enclosure::ZERO, |reversed| reversed.smallest_epsilon(delta));
    pair.smallest_epsilon(delta).max(backwards)
}

fn profile_table(pair: &dyn Pair, reversed: Option<&dyn Pair>, levels: &[Level], style: Style) -> Block {
    let common = |level: &Level| {
        let value = pair.hockey_stick(level.gamma);
        let logarithm = style.upper(pair.ln_hockey_stick(level.gamma));
        [level.name(), style.upper(value), number::width(value), logarithm]
    };
    match reversed {
        None => table(["epsilon", "delta at most", "width", "ln delta at most"], levels.iter().map(common)),
        Some(reversed) => {
            let header = [
                "epsilon",
                "P from Q: delta at most",
                "width",
                "ln delta at most",
                "Q from P: delta at most",
            ];
            let rows = levels.iter().map(|level| {
                let [name, value, width, logarithm] = common(level);
                [name, value, width, logarithm, style.upper(reversed.hockey_stick(level.gamma))]
            });
            table(header, rows)
        }
    }
}

fn points_json(pair: &dyn Pair, reversed: Option<&dyn Pair>, levels: &[Level]) -> Value {
    let point = |level: &Level| {
        let mut point = fields(level);
        point.insert("delta".to_owned(), bounds(pair.hockey_stick(level.gamma)));
        point.insert("log_delta".to_owned(), bounds(pair.ln_hockey_stick(level.gamma)));
        if let Some(reversed) = reversed {
            point.insert("delta_reversed".to_owned(), bounds(reversed.hockey_stick(level.gamma)));
            point.insert("log_delta_reversed".to_owned(), bounds(reversed.ln_hockey_stick(level.gamma)));
        }
        Value::Object(point)
    };
    levels.iter().map(point).collect()
}

fn draw(
    pair: &dyn Pair,
    reversed: Option<&dyn Pair>,
    title: &str,
    levels: &[Level],
) -> Result<Plot, Problem> {
    // A curve that ends is nearly vertical there; one that does not end is drawn further.
    let floor = Delta::new(if pair.last_epsilon().is_some() { 1e-6 } else { 1e-12 })?;
    let forward = |gamma: Gamma| pair.ln_hockey_stick(gamma);
    let backward = |gamma: Gamma| reversed.map_or(-Enclosure::INFINITE, |r| r.ln_hockey_stick(gamma));
    let mut profiles = vec![Profile {
        label: "E_γ(P‖Q)".to_owned(),
        line: Line::Guarantee,
        ln_delta: &forward,
        end: pair.smallest_epsilon(floor).upper(),
    }];
    if let Some(reversed) = reversed {
        let end = reversed.smallest_epsilon(floor).upper();
        profiles
            .push(Profile { label: "E_γ(Q‖P)".to_owned(), line: Line::Solid, ln_delta: &backward, end });
    }
    let picture = Picture {
        title: title.to_owned(),
        value: "δ",
        profiles,
        knots: pair.knots().into_iter().map(f64::ln).collect(),
        asked: levels.iter().map(Level::epsilon).collect(),
        marked: 0,
        mark: "asked for".to_owned(),
        caption: "δ = E_γ with γ = e^ε: upper ends of certified enclosures.".to_owned(),
        floor,
    };
    Ok(picture.draw())
}
