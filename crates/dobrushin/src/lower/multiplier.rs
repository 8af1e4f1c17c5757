//! Noise over contribution, step by step.

use crate::run::{Fact, LearningRate, Noise, NoiseKind, Order, Training, in_the_way, missing};
use crate::{Enclosure, NotApplicable, Positive};

/// The noise multipliers of the steps in which one record takes part.
pub(super) struct Multipliers {
    /// Each multiplier with the number of its steps.
    pub groups: Vec<(Positive, u64)>,
    /// The largest number of groups, if different multipliers were merged under the smallest of their group.
    pub merged: Option<usize>,
}

/// Noise over contribution: m_t = s_t·b/(η_t·C).
pub(super) enum Ratios {
    /// The same in every step.
    Equal(Enclosure),
    /// One for each step, rounded down.
    Each(Vec<f64>),
}

/// The most groups; each needs a convolution.
const MOST_GROUPS: usize = 64;
/// The most steps that are considered one by one.
const MOST_DIFFERENT: u64 = 1_000_000;

impl Training {
    /// m_t = s_t·b/(η_t·C), rounded down, for a record that takes part as often as possible.
    ///
    /// # Guarantee
    /// The groups can be ordered so that each step's multiplier is at most that of the step in which any given record
    /// takes part: less noise is less private.
    pub(super) fn multipliers(&self) -> Result<Multipliers, NotApplicable> {
        let Some(participations) = self.participations() else {
            return Err(missing!(
                "composition grows for ever, so it has no bound for every number of steps: give {}",
                Steps
            ));
        };
        let double = self.most_double_uses();
        if double > 0 && self.noise_kind == NoiseKind::Laplace {
            return Err(in_the_way!(
                "a batch that is filled up from the next pass may hold a record twice, which is not analysed for Laplace \
                 noise: {} = \"drop\", \"short\" or \"pad\"",
                IncompleteBatch
            ));
        }
        // μ² of a double use equals that of four single ones, so the worst case has as many pairs as can meet.
        let equal = |multiplier: Enclosure| {
            let once = (rounded_down(multiplier)?, participations - 2 * double);
            let twice = (rounded_down(multiplier / Enclosure::from(2.0))?, double);
            Ok(Multipliers { groups: vec![once, twice], merged: None })
        };
        match self.ratios()? {
            Ratios::Equal(ratio) => equal(ratio),
            Ratios::Each(ratios) => self.changing(ratios, participations),
        }
    }

    /// m_t = s_t·b/(η_t·C) of every step.
    pub(super) fn ratios(&self) -> Result<Ratios, NotApplicable> {
        let divisor = self.smallest_divisor();
        Ok(match &self.noise {
            // s·b/(ηC) with s = η·m·C/b is m itself.
            Noise::Multiplier(m) if divisor == self.nominal_batch() => Ratios::Equal(Enclosure::from(*m)),
            Noise::Multiplier(m) => Ratios::Equal(Enclosure::from(*m) * divisor / self.nominal_batch()),
            Noise::Gradient(sigma) => Ratios::Equal(Enclosure::from(*sigma) * divisor / self.norm()?),
            Noise::GradientList(list) => {
                let share = divisor / self.norm()?;
                let of = |step: u64| {
                    list.get(step as usize - 1)
                        .map_or(Enclosure::ZERO, |&sigma| Enclosure::from(sigma) * share)
                };
                self.each(of)?
            }
            Noise::Iterate(noise) => {
                let noise = Enclosure::from(*noise) * divisor / self.norm()?;
                match &self.learning_rate {
                    None => {
                        return Err(NotApplicable::missing(
                            &[Fact::LearningRate],
                            format!(
                                "{} says nothing about one step without the learning rate: give {}",
                                Fact::IterateNoise.key(),
                                Fact::LearningRate
                            ),
                        ));
                    }
                    Some(LearningRate::Constant(rate)) => Ratios::Equal(noise / Enclosure::from(*rate)),
                    Some(_) => self.each(|step| noise / self.rate_of(step).unwrap_or(Enclosure::INFINITE))?,
                }
            }
        })
    }

    /// A ratio for each step, rounded down.
    fn each(&self, ratio: impl Fn(u64) -> Enclosure) -> Result<Ratios, NotApplicable> {
        let steps = self.steps().unwrap_or(u64::MAX);
        if steps > MOST_DIFFERENT {
            return Err(NotApplicable::beyond(format!(
                "a learning rate or noise that changes in each of {steps} steps: at most {MOST_DIFFERENT} are looked at"
            )));
        }
        Ok(Ratios::Each((1..=steps).map(|step| ratio(step).lower()).collect()))
    }

    fn norm(&self) -> Result<Enclosure, NotApplicable> {
        self.contribution.map(|c| Enclosure::from(c.norm())).ok_or_else(|| {
            missing!("one record's gradient may have any norm: give {} or {}", ClipNorm, Lipschitz)
        })
    }

    /// The groups if the multiplier changes from step to step.
    fn changing(&self, ratios: Vec<f64>, participations: u64) -> Result<Multipliers, NotApplicable> {
        let used = self.used_by_one_record(ratios, participations)?;
        let (groups, merged) = grouped(used, MOST_GROUPS);
        let groups = groups
            .into_iter()
            .map(|(multiplier, count)| Ok((rounded_down(Enclosure::from(multiplier))?, count)))
            .collect::<Result<_, NotApplicable>>()?;
        Ok(Multipliers { groups, merged: merged.then_some(MOST_GROUPS) })
    }

    /// The multipliers that one record meets in the worst case: all of them, or the smallest of each pass.
    fn used_by_one_record(&self, all: Vec<f64>, participations: u64) -> Result<Vec<f64>, NotApplicable> {
        let smallest = |some: &[f64]| some.iter().copied().fold(f64::INFINITY, f64::min);
        match self.order {
            Order::Poisson | Order::WithoutReplacement | Order::Full => Ok(all),
            Order::Once => Ok(vec![smallest(&all)]),
            Order::Cyclic | Order::Shuffled | Order::Allocation => {
                let pass = self.batches_in_a_pass();
                let passes: Vec<f64> = all.chunks(pass as usize).map(smallest).collect();
                // Otherwise passes may begin at other steps, because of an incomplete batch.
                if passes.len() as u64 != participations || !self.has_equal_passes() {
                    return Err(in_the_way!(
                        "with noise that changes from step to step, {} must divide {}, or {} must be \"drop\", \
                         \"short\" or \"pad\"",
                        BatchSize,
                        Records,
                        IncompleteBatch
                    ));
                }
                Ok(passes)
            }
        }
    }
}

fn rounded_down(multiplier: Enclosure) -> Result<Positive, NotApplicable> {
    Positive::new(multiplier.lower()).map_err(|_| {
        NotApplicable::beyond(format!("the noise over one record's contribution is {multiplier}"))
    })
}

/// Equal values, counted; if there are more than `most` different ones, all in one cell of a geometric grid are replaced by the
/// smallest in the cell.
pub(super) fn grouped(mut values: Vec<f64>, most: usize) -> (Vec<(f64, u64)>, bool) {
    values.sort_by(f64::total_cmp);
    let mut groups = counted(&values, |a, b| a == b);
    let merged = groups.len() > most;
    if merged && let (Some(first), Some(last)) = (values.first(), values.last()) {
        let cell = libm::pow(last / first, 1.0 / (most.max(2) - 1) as f64);
        groups = counted(&values, |start, value| value <= start * cell);
    }
    (groups, merged)
}

/// Runs of a sorted list, each under its first value.
fn counted(sorted: &[f64], same: impl Fn(f64, f64) -> bool) -> Vec<(f64, u64)> {
    let mut groups: Vec<(f64, u64)> = Vec::new();
    for &value in sorted {
        match groups.last_mut() {
            Some((start, count)) if same(*start, value) => *count += 1,
            _ => groups.push((value, 1)),
        }
    }
    groups
}
