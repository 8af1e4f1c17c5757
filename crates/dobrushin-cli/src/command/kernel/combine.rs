//! Channels from files: one after the other, and side by side.

use super::channel::ChannelArgs;
use crate::probabilities;
use crate::problem::Problem;
use dobrushin::kernel::{Composition, ContractionCurve, FiniteKernel, Kernel, Product, side_by_side};
use dobrushin::profile::PrivacyProfile;
use dobrushin::{Delta, Enclosure, Epsilon, Gamma};
use dobrushin_document::json::Bounds;
use dobrushin_document::report::{
    Coefficients, ComposedEta, CompositionReport, EtaReport, Level, ProductEta, ProductReport,
};
use dobrushin_local::LocalProfile;
use std::path::{Path, PathBuf};

/// A product is formed if inputs² × outputs, the cost of comparing its inputs, is at most this.
const MOST_COMPARISONS: f64 = (1_u64 << 28) as f64;

/// What the user combined.
pub struct Combined {
    /// The channels in sequence; the first alone, if there is no `--then`.
    sequence: Vec<FiniteKernel>,
    /// The channels side by side, each as often as `--power` says: the sequence, then those of `--times`.
    factors: Vec<FiniteKernel>,
    power: usize,
    /// The channel of all of them, unless it is too large.
    pub formed: Option<FiniteKernel>,
}

impl Combined {
    /// Reads the channels and combines them.
    pub fn read(arguments: &ChannelArgs) -> Result<Self, Problem> {
        let named = arguments.files();
        if named.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
            return Err(Problem::new(
                "standard input (\"-\") is given for two files, but it can be read only once",
            )
            .help("give a file for all but one"));
        }
        let read = |path: &PathBuf| read(path, arguments.normalise);
        let first = arguments.channel.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let others = arguments.then.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let sequence: Vec<FiniteKernel> = first.into_iter().chain(others).collect();
        let names: Vec<&PathBuf> = arguments.channel.iter().chain(&arguments.then).collect();
        let mut parts = sequence.iter().zip(&names);
        let Some((first, mut before)) = parts.next() else {
            return Err(Problem::new("no channel is given").help("kernel CHANNEL.csv"));
        };
        let mut composed = first.clone();
        for (next, name) in parts {
            if composed.outputs() != next.inputs() {
                return Err(Problem::new(format!(
                    "--then {} has {} inputs, but {} before it has {} outputs",
                    name.display(),
                    next.inputs(),
                    before.display(),
                    composed.outputs()
                ))
                .help("an output of one channel is the input of the next: it needs a row for each column before it"));
            }
            (composed, before) = (composed.then(next)?, name);
        }
        let beside = arguments.times.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let factors: Vec<FiniteKernel> = std::iter::once(composed).chain(beside).collect();
        let power = arguments.power as usize;
        let formed = form(&factors, power)?;
        Ok(Self { sequence, factors, power, formed })
    }

    /// The number of channels side by side.
    fn count(&self) -> usize {
        self.factors.len() * self.power
    }

    /// The numbers of inputs and outputs of all channels, unless they are astronomic.
    pub fn size(&self) -> (Option<u64>, Option<u64>) {
        let of = |count: fn(&FiniteKernel) -> usize| {
            let once = self.factors.iter().try_fold(1_u64, |all, part| all.checked_mul(count(part) as u64));
            once.and_then(|once| once.checked_pow(u32::try_from(self.power).ok()?))
        };
        (of(FiniteKernel::inputs), of(FiniteKernel::outputs))
    }

    /// What all channels together are, in words.
    pub fn title(&self) -> String {
        let count = |value: Option<u64>| value.map_or("more than 2^64".to_owned(), |value| value.to_string());
        let (inputs, outputs) = self.size();
        let size = format!("{} inputs and {} outputs", count(inputs), count(outputs));
        match (self.count(), self.sequence.len()) {
            (1, 1) => format!("Channel with {size}"),
            (1, length) => format!("{length} channels in sequence, with {size}"),
            (width, _) => format!("{width} channels side by side, with {size}"),
        }
    }

    /// What the coefficients of the channels in sequence would say.
    pub fn composition(&self, levels: &[Level]) -> Option<CompositionReport> {
        if self.sequence.len() == 1 {
            return None;
        }
        let multiplied = |of: &dyn Fn(&FiniteKernel) -> Enclosure| {
            Bounds(self.sequence.iter().fold(Enclosure::ONE, |product, part| product * of(part)))
        };
        let chain = Composition(boxed(&self.sequence, 1));
        let eta = |&level: &Level| ComposedEta {
            level,
            tight: Bounds(chain.contraction(level.gamma)),
            published: Bounds(chain.published_contraction(level.gamma)),
        };
        Some(CompositionReport {
            channels: self.sequence.len(),
            tv: multiplied(&Kernel::total_variation),
            chi2: multiplied(&|part| part.chi_squared_contraction().value),
            eta: levels.iter().map(eta).collect(),
        })
    }

    /// What the coefficients of the channels side by side say.
    pub fn product(&self, levels: &[Level]) -> Option<ProductReport> {
        if self.count() == 1 {
            return None;
        }
        let all = Product(boxed(&self.factors, self.power));
        let eta = |&level: &Level| ProductEta {
            level,
            value: Bounds(all.contraction(level.gamma)),
            tv_published: Bounds(all.published_total_variation(level.gamma)),
        };
        Some(ProductReport {
            channels: self.count(),
            formed: self.formed.is_some(),
            tv: Bounds(all.total_variation()),
            tv_published: Bounds(all.published_total_variation(Gamma::ONE)),
            chi2: Bounds(self.chi2_of_all()),
            eta: levels.iter().map(eta).collect(),
        })
    }

    fn chi2_of_all(&self) -> Enclosure {
        let each: Vec<Enclosure> =
            self.factors.iter().map(|part| part.chi_squared_contraction().value).collect();
        side_by_side((0..self.power).flat_map(|_| each.iter().copied()))
    }

    /// The coefficients of a product that is too large to form: from below by the largest of its parts, since all other
    /// inputs may be equal, and from above by their worst pairs of laws side by side: E_γ of two inputs of the product is
    /// at most that of products of pairs that dominate those of the parts, as in the composition of mechanisms.
    pub fn bounded(&self, levels: &[Level], deltas: &[Delta]) -> Coefficients {
        let times = self.power as u64;
        let parts: Vec<(LocalProfile, u64)> =
            self.factors.iter().map(|part| (LocalProfile::of_channel(part), times)).collect();
        let all = LocalProfile::compose(&parts);
        let at = |epsilon: Epsilon| {
            let parts = parts.iter().map(|(part, _)| part.delta(epsilon));
            above(parts, all.delta(epsilon).min(Enclosure::ONE))
        };
        // η_γ = η_{1/γ}.
        let eta = |gamma: Gamma| {
            let epsilon = gamma.epsilon().abs();
            let [most, least] =
                [epsilon.lower(), epsilon.upper()].map(|e| Epsilon::new(e).map_or(Enclosure::UNIT, at));
            Enclosure::between(least.lower().min(most.upper()), most.upper())
        };
        let epsilon_at = |&delta: &Delta| {
            if delta.get() == 0.0 {
                // The largest likelihood ratio of the product is the product of the largest ratios.
                let pure = self.factors.iter().map(FiniteKernel::largest_log_ratio).sum::<Enclosure>();
                return (delta, pure * Enclosure::from(times));
            }
            (delta, above(parts.iter().map(|(part, _)| part.epsilon(delta)), all.epsilon(delta)))
        };
        let chi2 = self.factors.iter().map(|part| part.chi_squared_contraction().value);
        Coefficients {
            eta: levels.iter().map(|&level| EtaReport::new(level, eta(level.gamma), None, [])).collect(),
            tv: (eta(Gamma::ONE), None),
            chi2: (above(chi2, self.chi2_of_all()), None),
            epsilon_at_delta: deltas.iter().map(epsilon_at).collect(),
        }
    }
}

/// From the largest of the parts to the upper end of a bound.
fn above(parts: impl Iterator<Item = Enclosure>, bound: Enclosure) -> Enclosure {
    let least = parts.map(Enclosure::lower).fold(0.0, f64::max);
    Enclosure::between(least.min(bound.upper()), bound.upper())
}

/// The channels, all of them this many times, as kernels of which only the curve is known.
fn boxed(parts: &[FiniteKernel], times: usize) -> Vec<Box<dyn Kernel>> {
    let curves: Vec<ContractionCurve> = parts.iter().map(FiniteKernel::curve).collect();
    let all = (0..times).flat_map(|_| curves.iter());
    all.map(|curve| Box::new(curve.clone()) as Box<dyn Kernel>).collect()
}

/// The channel of all factors, each to this power; `None` if it is too large.
fn form(factors: &[FiniteKernel], power: usize) -> Result<Option<FiniteKernel>, Problem> {
    let size = |count: fn(&FiniteKernel) -> usize| {
        let logarithm: f64 = factors.iter().map(|part| (count(part) as f64).ln()).sum();
        (logarithm * power as f64).exp()
    };
    let (inputs, outputs) = (size(FiniteKernel::inputs), size(FiniteKernel::outputs));
    let all: Vec<&FiniteKernel> = (0..power).flat_map(|_| factors).collect();
    let [first, others @ ..] = &all[..] else { return Ok(None) };
    if !others.is_empty() && inputs * inputs * outputs > MOST_COMPARISONS * (1.0 + 1e-9) {
        return Ok(None);
    }
    let mut product = (*first).clone();
    for next in others {
        product = product.beside(next)?;
    }
    Ok(Some(product))
}

fn read(path: &Path, normalise: bool) -> Result<FiniteKernel, Problem> {
    let rows = probabilities::read(path)?;
    let built = if normalise { FiniteKernel::proportional_to(rows) } else { FiniteKernel::new(rows) };
    built.map_err(|error| {
        let problem = Problem::new(format!("{} is not a channel: {error}", path.display()));
        match error {
            dobrushin::Error::SumNotOne { .. } => problem.help("--normalise divides every row by its sum"),
            _ => problem.help("rows are inputs (counted without header), columns are outputs"),
        }
    })
}
