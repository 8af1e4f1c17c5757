//! Runs that publish every iterate, and lists of mechanisms: what is released are independent numbers, each of which
//! follows one of two laws that are known.

use super::Instance;
use super::documented::Documented;
use super::effect::Others;
use super::symmetric::SymmetricLoss;
use dobrushin::divergence::{DiscretePair, FiniteLaw};
use dobrushin::kernel::FiniteKernel;
use dobrushin::loss::{
    AllocatedLoss, Composition, DominatingPair, Exchanged, FiniteLoss, GaussianLoss, LossLaw, Part,
    PoissonLoss,
};
use dobrushin::mechanism::{Mechanism, Neighbours, Sampling, dominating_pair};
use dobrushin::run::{Divisor, Mechanisms, NoiseKind, Order, Release};
use dobrushin::{Positive, Probability};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Steps whose numbers differ are looked at one by one, up to this many.
const MOST_STEPS: u64 = 1 << 16;

/// The instance of a run that publishes every iterate: the increments of one coordinate.
///
/// The domain must not hide them: there is none, or it may be a ball of so many dimensions that every step starts from
/// its centre (see [`super::last_step`]).
pub(super) fn instances(of: &Documented<'_>) -> Vec<Instance> {
    let run = of.run;
    let hidden = run.domain.diameter.is_some() && run.domain.dimension.is_some();
    if run.release != Release::All || run.noise_kind != NoiseKind::Gaussian || hidden {
        return Vec::new();
    }
    [Others::Still, Others::Opposed].into_iter().filter_map(|others| instance(of, others)).collect()
}

fn instance(of: &Documented<'_>, others: Others) -> Option<Instance> {
    let run = of.run;
    let strong = run.loss.strong_convexity.is_some_and(|rho| rho.get() > 0.0);
    if (run.order == Order::Poisson && run.divide_by == Divisor::Actual)
        || run.order == Order::Shuffled
        || strong
    {
        return None;
    }
    let effect = of.effect(others)?;
    let amount = effect.amounts.first()?.least;
    let ratio = |time: u64| Some(of.learning_rate(time)? * of.norm()? * amount / of.noise(time)?);
    let mut uses: BTreeMap<u64, u64> = BTreeMap::new();
    let mut add = |time: u64, count: u64| -> Option<()> {
        *uses.entry(ratio(time)?.to_bits()).or_insert(0) += count * run.tasks;
        Some(())
    };
    match run.order {
        Order::Once | Order::Cyclic => {
            let place = *of.places().first()?;
            for time in (0..of.passes().min(MOST_STEPS)).filter_map(|pass| of.step_of(pass, place)) {
                add(time, 1)?;
            }
        }
        _ if of.has_equal_steps() => add(1, of.private)?,
        _ => (1..=of.private.min(MOST_STEPS)).try_for_each(|time| add(time, 1))?,
    }
    let rate = match run.order {
        Order::Poisson | Order::WithoutReplacement => of.rate_of_use().min(1.0),
        _ => 1.0,
    };
    let mut parts = Vec::new();
    if run.order == Order::Allocation {
        parts = passes(of, ratio(1)?, effect.opposite)?;
    } else {
        for (bits, count) in uses {
            parts.push(Part { pair: pair(f64::from_bits(bits), rate, effect.opposite)?, count });
        }
    }
    let apart = if run.neighbours == Neighbours::ReplaceOne { 2.0 } else { 1.0 };
    let sums = [
        run.centre.map(|c| (c.noise_multiplier, 1)),
        run.evaluation.map(|e| (e.noise_multiplier, run.tasks)),
    ];
    for (noise, count) in sums.into_iter().flatten() {
        parts.push(Part { pair: pair(apart / noise.get(), 1.0, false)?, count });
    }
    let words = "every iterate is published: the record pushes one coordinate the same way whenever it is used, and the \
                 difference of two iterates tells it"
        .to_owned();
    Some(Instance { profile: Arc::new(Composition::new(parts)), words, densities: None })
}

/// The passes of equal steps, in each of which the record pushes once, in a step drawn at random: the vector of all
/// increments is N(r·e_j, I) with j uniform, against N(0, I).
fn passes(of: &Documented<'_>, ratio: f64, opposite: bool) -> Option<Vec<Part>> {
    if opposite || !of.has_equal_steps() {
        return None;
    }
    let step: Arc<dyn LossLaw> =
        Arc::new(GaussianLoss::new(Positive::new(ratio * (1.0 - super::uses::ROUNDING)).ok()?));
    let batches = of.steps_in_a_pass() as u64;
    let mut parts = Vec::new();
    for (steps, count) in [(batches, of.private / batches), (of.private % batches, 1)] {
        if steps > 0 && count > 0 {
            let pair = AllocatedLoss::new(&[(Arc::clone(&step), steps)], batches).ok()?.pair();
            parts.push(Part { pair, count: count * of.run.tasks });
        }
    }
    Some(parts)
}

/// N(r, 1) with this probability, else N(0, 1), against N(0, 1), or against the same with −r.
fn pair(ratio: f64, rate: f64, opposite: bool) -> Option<DominatingPair> {
    let ratio = Positive::new(ratio * (1.0 - super::uses::ROUNDING)).ok()?;
    Some(match (opposite, rate >= 1.0) {
        (false, true) => DominatingPair::symmetric(Arc::new(GaussianLoss::new(ratio))),
        (true, true) => {
            DominatingPair::symmetric(Arc::new(GaussianLoss::new(Positive::new(2.0 * ratio.get()).ok()?)))
        }
        (true, false) => {
            DominatingPair::symmetric(Arc::new(SymmetricLoss::new(ratio, Probability::new(rate).ok()?)))
        }
        (false, false) => {
            let law = || PoissonLoss::new(GaussianLoss::new(ratio), Probability::new(rate).ok()?).ok();
            DominatingPair::new(Arc::new(law()?), Arc::new(Exchanged(law()?)))
        }
    })
}

/// The laws of the two inputs of a channel that are farthest apart in variation. Which two these are may depend on ε, so
/// others can be farther apart at some.
fn farthest_inputs(channel: &FiniteKernel) -> Option<DominatingPair> {
    let rows: Vec<Vec<f64>> = (0..channel.inputs())
        .map(|input| channel.row_enclosures(input).map(|p| p.midpoint()).collect())
        .collect();
    let variation = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).max(0.0)).sum::<f64>();
    let pairs = (0..rows.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    let (i, j) = pairs
        .max_by(|a, b| variation(&rows[a.0], &rows[a.1]).total_cmp(&variation(&rows[b.0], &rows[b.1])))?;
    let law = |row: &[f64]| FiniteLaw::proportional_to("a row", row.to_vec()).ok();
    let pair = DiscretePair::new(law(&rows[i])?, law(&rows[j])?).ok()?;
    let law = Arc::new(FiniteLoss::from_pair(&pair));
    Some(DominatingPair::new(law.clone(), Arc::new(Exchanged(law))))
}

/// The mechanisms of a list whose worst case is known exactly; the others are left out, which tells less.
pub(super) fn mechanisms(list: &Mechanisms) -> Option<Instance> {
    let mut parts = Vec::new();
    for used in &list.uses {
        let exact = match (&used.mechanism, used.sampling, list.neighbours) {
            // Nothing is known of these but a bound.
            (Mechanism::Profile(_) | Mechanism::Exponential { .. }, _, _) => None,
            (Mechanism::Allocated { .. }, _, Neighbours::ReplaceOne) => None,
            (Mechanism::Channel(channel), Sampling::Every, _) => farthest_inputs(channel),
            // Some mechanism is no better than (ε, δ), and a sampled one is not looked at.
            (Mechanism::Approximate { .. }, sampling, _) if sampling != Sampling::Every => None,
            (Mechanism::Channel(_), _, _) => None,
            (mechanism, Sampling::Every, neighbours) => {
                dominating_pair(mechanism, Sampling::Every, neighbours).ok()
            }
            (
                mechanism,
                sampling @ Sampling::Poisson(_),
                Neighbours::AddOrRemoveOne | Neighbours::ZeroOut,
            ) => dominating_pair(mechanism, sampling, list.neighbours).ok(),
            (Mechanism::Gaussian { noise_multiplier }, Sampling::Poisson(rate), Neighbours::ReplaceOne) => {
                pair(1.0 / noise_multiplier.get(), rate.get(), true)
            }
            (Mechanism::Gaussian { noise_multiplier }, Sampling::WithoutReplacement(rate), neighbours) => {
                let gradients = if neighbours == Neighbours::ZeroOut { 1.0 } else { 2.0 };
                pair(gradients / noise_multiplier.get(), rate.get(), false)
            }
            _ => None,
        };
        parts.extend(exact.map(|pair| Part { pair, count: used.count }));
    }
    let left_out = list.uses.len() - parts.len();
    if parts.is_empty() {
        return None;
    }
    let rest =
        if left_out > 0 { format!("; {left_out} of the mechanisms are left out") } else { String::new() };
    let words = format!("every mechanism meets the two data sets on which it differs most{rest}");
    Some(Instance { profile: Arc::new(Composition::new(parts)), words, densities: None })
}
