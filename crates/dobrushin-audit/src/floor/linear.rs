//! Linear instances: the record pushes in one direction whenever it is used, and nothing else moves that coordinate but
//! decay, curvature and noise.
//!
//! All other records share one loss, (h/2)·w² in the coordinate in question, or one whose gradient is constant. The
//! record's gradient is a constant C more in D, and less, or none, in D′. Such losses are convex, h-strongly convex,
//! h-smooth and generalised linear, and their gradients are unchanged by clipping as long as they are no longer than C.
//! The released number is then Σ g_t·(push of step t, if it uses the record) + N(0, S²), S² = Σ g_t²·s_t², where g_t is
//! the product of what later steps keep, 1 − λ − ηh. [`Bells`] says what that tells.
//!
//! With curvature, or with a domain, the description holds only as long as the iterate is near the middle: the
//! probability that it ever leaves is counted against the floor.

use super::Instance;
use super::bells::Bells;
use super::documented::{Documented, nearly};
use super::effect::{Effect, Others};
use super::uses::{Atom, Use, sum_law};
use dobrushin::mechanism::Neighbours;
use dobrushin::numeric::{elementary, normal};
use dobrushin::run::{Divisor, NoiseKind, Order, Release};
use dobrushin::{Enclosure, Probability};

/// Steps whose numbers differ are looked at one by one, up to this many.
const MOST_STEPS: u64 = 1 << 20;
/// At most this many uses are looked at, from the last one back; earlier ones count only for the width.
const MOST_USES: usize = 1500;
/// A use that the later steps shrink below this share of the last one is left out.
const FORGOTTEN: f64 = 1e-5;
/// Releases at random times are looked at one by one, up to this many.
const MOST_SPANS: u64 = 256;

/// All linear instances of a run; `small` is the probability of exceptions that is not worth noticing.
pub(super) fn instances(of: &Documented<'_>, small: f64) -> Vec<Instance> {
    let both = [Others::Still, Others::Opposed];
    both.into_iter().flat_map(|others| with(of, others, &curvatures(of, others), small)).collect()
}

/// The instances in which all other losses are constant.
pub(super) fn still(of: &Documented<'_>, small: f64) -> Vec<Instance> {
    with(of, Others::Still, &[0.0], small)
}

fn with(of: &Documented<'_>, others: Others, curvatures: &[f64], small: f64) -> Vec<Instance> {
    if of.run.noise_kind != NoiseKind::Gaussian {
        return Vec::new();
    }
    let mut found = Vec::new();
    if let Some(effect) = of.effect(others) {
        // It is one record about whom all releases tell.
        let places = match of.run.order {
            Order::Once | Order::Cyclic => of.places(),
            Order::Shuffled
            | Order::Allocation
            | Order::Poisson
            | Order::WithoutReplacement
            | Order::Full => vec![0],
        };
        for &curvature in curvatures {
            let instance =
                |&place: &u64| Linear { of, others, effect: &effect, curvature, place, small }.instance();
            found.extend(places.iter().filter_map(instance));
        }
    }
    found
}

/// The curvatures of the others' losses that are tried. A run without a claim about convexity allows more.
fn curvatures(of: &Documented<'_>, others: Others) -> Vec<f64> {
    let run = of.run;
    let least = run.loss.strong_convexity.map_or(0.0, |rho| rho.get());
    // Opposed gradients have no room to change. The number of others in a Poisson batch is random, and so would be the
    // curvature of the batch, unless it is divided by that number.
    let is_random = matches!(run.order, Order::Poisson | Order::Allocation);
    let fixed = others == Others::Opposed || (is_random && run.divide_by == Divisor::BatchSize);
    if fixed {
        return if least == 0.0 { vec![0.0] } else { vec![] };
    }
    let (Some(rate), true) = (of.learning_rate(1), of.has_equal_steps()) else {
        return vec![least];
    };
    let keep = 1.0 - run.weight_decay;
    // The curvature at which a step keeps nothing.
    let all = keep / rate;
    let most = run.loss.smoothness.map_or(all, |beta| beta.get().min(all));
    if most <= least {
        return vec![least];
    }
    // What is lost in a step, from the least to the most, in equal ratios.
    let lost = |curvature: f64| (run.weight_decay + rate * curvature).max(1e-6);
    let ratio = lost(most) / lost(least);
    // Random uses take a convolution each.
    let parts = if matches!(run.order, Order::Once | Order::Cyclic | Order::Full) { 6 } else { 2 };
    let between = (1..parts).map(|i| {
        let share = f64::from(i) / f64::from(parts);
        (lost(least) * elementary::exp(elementary::ln(ratio) * share) - run.weight_decay) / rate
    });
    [least].into_iter().chain(between.filter(|h| *h > least && *h < most)).chain([most]).collect()
}

struct Linear<'a> {
    of: &'a Documented<'a>,
    others: Others,
    effect: &'a Effect,
    curvature: f64,
    /// The place of the record, counted from 0, where records take turns.
    place: u64,
    small: f64,
}

/// The weights g_t of the steps of a span, up to its end.
enum Weights {
    /// keep^(end − t).
    Equal { keep: f64, end: u64 },
    /// One for each step from `first` on.
    Listed { first: u64, weights: Vec<f64> },
}

impl Weights {
    fn at(&self, time: u64) -> f64 {
        match self {
            Self::Equal { keep, end } => power(*keep, end - time),
            Self::Listed { first, weights } => weights[(time - first) as usize],
        }
    }
}

/// keep^count, to within a few roundings also where the count is huge.
pub(super) fn power(keep: f64, count: u64) -> f64 {
    match count {
        0 => 1.0,
        1 => keep,
        _ if keep <= 0.0 => 0.0,
        _ => elementary::exp(elementary::ln(keep) * count as f64),
    }
}

impl Linear<'_> {
    fn instance(&self) -> Option<Instance> {
        let of = self.of;
        let (push, exits) = self.push()?;
        let bells = match of.run.release {
            Release::Last | Release::All => self.span(push, (0, of.steps()), of.run.tasks)?,
            Release::RandomStop | Release::RandomSkip => {
                let spans: Vec<(u64, u64)> = match of.run.release {
                    Release::RandomStop if of.steps() <= MOST_SPANS => {
                        (1..=of.steps()).map(|stop| (0, stop)).collect()
                    }
                    Release::RandomSkip if of.private / 2 < MOST_SPANS => {
                        (0..=of.private / 2).map(|skipped| (skipped, of.steps())).collect()
                    }
                    _ => return None,
                };
                let share = 1.0 / spans.len() as f64;
                let parts = spans.into_iter().map(|span| Some((share, self.span(push, span, 1)?)));
                Bells::mixture(parts.collect::<Option<_>>()?)?
            }
        };
        let bells = bells.except((exits + self.effect.exception) * of.run.tasks as f64);
        let apart = if of.run.neighbours == Neighbours::ReplaceOne { 2.0 } else { 1.0 };
        let sums = [
            of.run.centre.map(|centre| (centre.noise_multiplier.get(), 1.0)),
            of.run.evaluation.map(|after| (after.noise_multiplier.get(), of.run.tasks as f64)),
        ];
        let square: f64 =
            sums.into_iter().flatten().map(|(noise, count)| (apart / noise) * (apart / noise) * count).sum();
        let bells = if square > 0.0 { bells.beside(square.sqrt()) } else { bells };
        Some(bells.instance(self.words()))
    }

    /// What a use moves the iterate by, for each length of a gradient that counts; and the probability that the iterate
    /// leaves the part where the instance is linear.
    fn push(&self) -> Option<(f64, f64)> {
        let of = self.of;
        let norm = of.norm()?;
        let strong = of.run.loss.strong_convexity.map_or(0.0, |rho| rho.get());
        // A strongly convex loss has long gradients somewhere. Without a domain, its bound is that of what the record
        // adds to the gradient ρ·w.
        let free = if of.run.domain.diameter.is_none() && !of.is_clipped() { strong } else { 0.0 };
        let bends = self.curvature - free;
        if bends <= 0.0 && of.run.domain.diameter.is_none() {
            return Some((norm, 0.0));
        }
        if !of.has_equal_steps() {
            return None;
        }
        if self.others == Others::Opposed {
            return self.drifting(norm);
        }
        let (reach, exits) = self.reach(norm)?;
        if of.run.domain.diameter.is_some_and(|diameter| 2.0 * reach > diameter.get()) {
            return None;
        }
        let left = norm - bends * reach;
        (left > 0.0).then_some((left, exits))
    }

    /// The same if all others push one way: the domain must be wide enough for all steps.
    fn drifting(&self, norm: f64) -> Option<(f64, f64)> {
        let of = self.of;
        let (steps, rate, noise) = (of.steps() as f64, of.learning_rate(1)?, of.noise(1)?);
        // Each step is beyond this with a small enough probability.
        let far = normal::tail_inverse(Probability::new(self.small / (2.0 * steps)).ok()?).upper();
        // A record that is alone in its batch pushes back as far as another one pushes.
        let both_ways = if of.batch() < 2.0 { 2.0 } else { 1.0 };
        let width = both_ways * steps * rate * norm + 2.0 * far * noise * steps.sqrt();
        let fits = of.run.domain.diameter.is_some_and(|diameter| width * (1.0 + 1e-9) <= diameter.get());
        fits.then_some((norm, self.small))
    }

    /// How far from its start the iterate ever is, and the probability that it is further away.
    fn reach(&self, norm: f64) -> Option<(f64, f64)> {
        let of = self.of;
        let (keep, rate, noise) = (of.keep(1, self.curvature)?, of.learning_rate(1)?, of.noise(1)?);
        let steps = of.steps() as f64;
        let exits = self.small / 2.0;
        // Without decay the iterate is a random walk, which is beyond a level at some time at most twice as often as in
        // the end (Lévy); with it, each step counts.
        let (variance, times) = if keep < 1.0 {
            (noise * noise * (1.0 - power(keep, 2 * of.steps())) / (1.0 - keep * keep), 2.0 * steps)
        } else {
            (noise * noise * steps, 4.0)
        };
        let z = normal::tail_inverse(Probability::new(exits / times).ok()?).upper();
        let most = self.effect.amounts.iter().map(|atom| atom.most).fold(0.0, f64::max);
        // A record that is replaced pushes half of that one way, and half the other.
        let halves = of.run.neighbours == Neighbours::ReplaceOne && !self.effect.opposite;
        let push = rate * norm * most * if halves { 0.5 } else { 1.0 };
        let (uses, many) = self.most_uses(keep, exits / steps)?;
        Some(((uses * push + z * variance.sqrt()) * (1.0 + 1e-9), exits + many))
    }

    /// The largest sum of what is left of all uses at any time, in units of one, and the probability that it is larger.
    fn most_uses(&self, keep: f64, rarely: f64) -> Option<(f64, f64)> {
        let of = self.of;
        let geometric = |share: f64, count: f64| if share < 1.0 { 1.0 / (1.0 - share) } else { count };
        match of.run.order {
            Order::Full => Some((geometric(keep, of.private as f64).min(of.private as f64), 0.0)),
            Order::Once => Some((1.0, 0.0)),
            Order::Cyclic => {
                let left = power(keep, of.steps_in_a_pass() as u64);
                Some((geometric(left, of.passes() as f64).min(of.passes() as f64), 0.0))
            }
            // The last use of a pass and the first of the next may be neighbours.
            Order::Shuffled | Order::Allocation => {
                let left = power(keep, of.steps_in_a_pass() as u64);
                Some((1.0 + geometric(left, of.passes() as f64).min(of.passes() as f64), 0.0))
            }
            Order::Poisson | Order::WithoutReplacement => {
                let law = sum_law(&self.uses(1.0, &self.weights((0, of.steps()))?, (0, of.steps()))?)?;
                let mut beyond = law.lost;
                let mut atoms = law.upper.iter().rev().peekable();
                while let Some((_, mass)) = atoms.peek() {
                    if beyond + mass > rarely {
                        break;
                    }
                    beyond += mass;
                    atoms.next();
                }
                let unit = of.learning_rate(1)?
                    * self.effect.amounts.iter().map(|atom| atom.most).fold(0.0, f64::max);
                // What was forgotten is less than all uses at every step, however old.
                let forgotten = if keep < 1.0 { FORGOTTEN / (1.0 - keep) } else { 0.0 };
                let most = atoms.next().map_or(0.0, |(value, _)| *value) / unit + forgotten;
                Some((most, beyond.min(1.0) * of.steps() as f64 * (1.0 + 1e-6)))
            }
        }
    }

    fn weights(&self, (from, to): (u64, u64)) -> Option<Weights> {
        if self.of.has_equal_steps() {
            let keep = self.of.keep(1, self.curvature)?;
            return (keep >= 0.0).then_some(Weights::Equal { keep, end: to });
        }
        if to - from > MOST_STEPS {
            return None;
        }
        let mut weights = vec![1.0; (to - from) as usize];
        for index in (1..weights.len()).rev() {
            let keep = self.of.keep(from + index as u64 + 1, self.curvature)?;
            if keep < 0.0 {
                return None;
            }
            weights[index - 1] = weights[index] * keep;
        }
        Some(Weights::Listed { first: from + 1, weights })
    }

    /// The standard deviation of the released number.
    fn width(&self, weights: &Weights, (from, to): (u64, u64)) -> Option<Enclosure> {
        Some(match weights {
            Weights::Equal { keep, .. } => {
                let (noise, square) = (nearly(self.of.noise(1)?), nearly(keep * keep));
                let count = to - from;
                let variance = if *keep < 1.0 {
                    let one = Enclosure::ONE;
                    (one - nearly(power(*keep, 2 * count))) / (one - square)
                } else {
                    Enclosure::from(count)
                };
                noise * variance.sqrt()
            }
            Weights::Listed { first, weights } => {
                let squares = (*first..).zip(weights).map(|(time, weight)| {
                    let own = weight * self.of.noise(time)?;
                    Some(own * own)
                });
                nearly(squares.sum::<Option<f64>>()?).sqrt()
            }
        })
    }

    /// The released number of a span of steps, or the sum of several such numbers.
    fn span(&self, push: f64, span: (u64, u64), tasks: u64) -> Option<Bells> {
        let weights = self.weights(span)?;
        let mut uses = self.uses(push, &weights, span)?;
        uses.iter_mut().for_each(|of| of.count *= tasks);
        let width = self.width(&weights, span)? * Enclosure::from(tasks).sqrt();
        Some(Bells::new(&sum_law(&uses)?, width, self.effect.opposite))
    }

    /// What each use in a span of steps adds to the released number.
    fn uses(&self, push: f64, weights: &Weights, (from, to): (u64, u64)) -> Option<Vec<Use>> {
        let of = self.of;
        let last = to.min(of.private);
        let amount = |time: u64, probability: f64| -> Option<Vec<Atom>> {
            let factor = weights.at(time) * of.learning_rate(time)? * push;
            let scaled = |atom: &Atom| Atom {
                least: factor * atom.least,
                most: factor * atom.most,
                probability: probability * atom.probability,
            };
            Some(self.effect.amounts.iter().map(scaled).collect())
        };
        if last <= from {
            return Some(Vec::new());
        }
        let whole = matches!(weights, Weights::Equal { keep, .. } if *keep == 1.0);
        match of.run.order {
            Order::Poisson | Order::WithoutReplacement | Order::Full => {
                let rate = if of.run.order == Order::Full { 1.0 } else { of.rate_of_use().min(1.0) };
                if whole {
                    return Some(vec![Use { atoms: amount(last, rate)?, count: last - from }]);
                }
                if let (Weights::Equal { keep, .. }, Order::Full) = (weights, of.run.order) {
                    // A geometric sum.
                    let sum = (1.0 - power(*keep, last - from)) / (1.0 - keep);
                    let atoms = amount(last, 1.0)?;
                    let all = |atom: Atom| Atom { least: atom.least * sum, most: atom.most * sum, ..atom };
                    return Some(vec![Use { atoms: atoms.into_iter().map(all).collect(), count: 1 }]);
                }
                let mut uses = Vec::new();
                for time in (from + 1..=last).rev().take(MOST_USES) {
                    if weights.at(time) < FORGOTTEN * weights.at(last) {
                        break;
                    }
                    uses.push(Use { atoms: amount(time, rate)?, count: 1 });
                }
                Some(uses)
            }
            Order::Once | Order::Cyclic => {
                let times = (0..of.passes()).rev().filter_map(|pass| of.step_of(pass, self.place));
                let times = times.filter(|time| (from + 1..=last).contains(time));
                let mut sum = 0.0;
                for time in times.take(MOST_STEPS as usize) {
                    let atoms = amount(time, 1.0)?;
                    let added = atoms.first().map_or(0.0, |atom| atom.least);
                    sum += added;
                    if added < 1e-12 * sum {
                        break;
                    }
                }
                Some(vec![Use { atoms: vec![Atom::new(sum, 1.0)], count: 1 }])
            }
            Order::Shuffled | Order::Allocation => self.by_places(&amount, weights, (from, last)),
        }
    }

    /// In each pass the record has a place of its own, and each is equally likely.
    fn by_places(
        &self,
        amount: &dyn Fn(u64, f64) -> Option<Vec<Atom>>,
        weights: &Weights,
        (from, last): (u64, u64),
    ) -> Option<Vec<Use>> {
        let of = self.of;
        let pass_length = of.steps_in_a_pass();
        if of.ending == dobrushin::run::IncompleteBatch::Fill {
            return None;
        }
        let (steps, batch) = (pass_length as u64, of.batch());
        let mut uses = Vec::new();
        for pass in (0..of.passes()).rev() {
            let times: Vec<u64> = (pass * steps + 1..=(pass + 1) * steps)
                .filter(|time| (from + 1..=last).contains(time))
                .collect();
            if times.is_empty() || uses.len() > MOST_USES {
                break;
            }
            let mut atoms = Vec::new();
            let drawn = of.run.order == Order::Allocation;
            let share = if drawn { 1.0 / pass_length } else { batch / of.run.records as f64 };
            for time in &times {
                // The last batch of a pass may hold fewer records.
                let share = match (time - 1) % steps == steps - 1 && !drawn {
                    true => (share).min(1.0 - share * (steps - 1) as f64).max(0.0),
                    false => share,
                };
                atoms.extend(amount(*time, share)?);
            }
            let equal = |atom: &Atom| {
                atom.most <= atoms[0].least * (1.0 + 1e-12) && atom.least >= atoms[0].most * (1.0 - 1e-12)
            };
            let all: f64 = atoms.iter().map(|atom| atom.probability).sum();
            if atoms.iter().all(equal) {
                let certain = if all > 1.0 - 1e-9 && times.len() as u64 == steps && of.is_every_record_used()
                {
                    1.0
                } else {
                    all.min(1.0)
                };
                atoms = vec![Atom { probability: certain, ..atoms[0] }];
            } else {
                atoms = grouped(atoms);
            }
            uses.push(Use { atoms, count: 1 });
            if weights.at(times[0]) < FORGOTTEN * weights.at(last) {
                break;
            }
        }
        Some(uses)
    }

    fn words(&self) -> String {
        let of = self.of;
        let decay = 1.0 - of.keep(of.steps().max(1), self.curvature).unwrap_or(1.0);
        let others = match (self.others, self.curvature > 0.0) {
            (Others::Opposed, _) => "have gradients opposite to its own".to_owned(),
            (Others::Still, false) => "have constant losses".to_owned(),
            (Others::Still, true) => {
                format!(
                    "have quadratic losses of curvature {}",
                    dobrushin::numeric::decimal::nearest(self.curvature, 4)
                )
            }
        };
        let hidden = if decay > 0.0 && of.steps() > 1 {
            format!(
                ", and each step forgets {} % of it",
                dobrushin::numeric::decimal::nearest(100.0 * decay, 3)
            )
        } else {
            String::new()
        };
        let steps = of.here_after();
        format!(
            "linear: the record pushes one coordinate the same way whenever it is used; the others {others}{hidden}{steps}"
        )
    }
}

impl Documented<'_> {
    /// Whether each pass uses each record.
    fn is_every_record_used(&self) -> bool {
        self.ending != dobrushin::run::IncompleteBatch::Drop
            || self.run.records as f64 == self.steps_in_a_pass() * self.batch()
    }
}

/// Amounts in order, put into groups.
fn grouped(mut atoms: Vec<Atom>) -> Vec<Atom> {
    const GROUPS: usize = 64;
    atoms.sort_by(|a, b| a.least.total_cmp(&b.least));
    let size = atoms.len().div_ceil(GROUPS);
    let join = |group: &[Atom]| Atom {
        least: group.iter().map(|atom| atom.least).fold(f64::INFINITY, f64::min),
        most: group.iter().map(|atom| atom.most).fold(0.0, f64::max),
        probability: group.iter().map(|atom| atom.probability).sum(),
    };
    atoms.chunks(size).map(join).collect()
}
