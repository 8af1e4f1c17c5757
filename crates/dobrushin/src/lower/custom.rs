//! A chain that the user gives step by step.

use super::{Composed, ComposedPart, Released, nothing_is_hidden};
use crate::chain::{Branch, Count, Mixture, Participation, Step, StepNoise, Stop};
use crate::mechanism::{Mechanism, Neighbours, Sampling};
use crate::run::{Assumption, CustomChain, Release, in_the_way, missing};
use crate::{Enclosure, NonNegative, NotApplicable, Positive};

impl CustomChain {
    /// What is released.
    pub(super) fn released(&self) -> Result<Released, NotApplicable> {
        let stop = match self.release {
            Release::Last => Stop::End,
            Release::RandomStop => {
                let starts = u64::from(self.chain.start().is_some());
                let steps = self.chain.steps();
                let steps =
                    steps.ok_or_else(|| missing!("a random stop needs a number of steps: {}", StepCount))?;
                Stop::Uniform(steps - starts)
            }
            Release::RandomSkip => {
                return Err(in_the_way!("skipping steps is not analysed for chains: {}", Release));
            }
            Release::All => {
                return Err(nothing_is_hidden());
            }
        };
        let branch = Branch { weight: Enclosure::ONE, chain: self.chain.clone(), stop };
        Ok(Released {
            views: vec![Mixture::new(vec![branch])],
            ranges: Vec::new(),
            assumptions: self.assumptions(Assumption::PublishesOnlyTheRelease),
            notes: Vec::new(),
            exception: Enclosure::ZERO,
            recent: None,
        })
    }

    /// What an observer of every iterate sees: in step t, two laws at most d_t/s_t apart, with the probability of
    /// participation.
    pub(super) fn composition(&self) -> Result<Composed, NotApplicable> {
        let mut parts = Vec::new();
        for (step, count) in self.observed_steps()? {
            if step.participation.is_never() || step.displacement == Enclosure::ZERO {
                continue;
            }
            let Count::Times(count) = count else {
                return Err(missing!(
                    "composition grows for ever, so it has no bound for every number of steps: give {}",
                    StepCount
                ));
            };
            // Neighbours that replace a record are two contributions apart.
            let multiplier = Enclosure::from(2.0) * step.noise.size() / step.displacement.max(step.absence);
            let noise_multiplier = Positive::new(multiplier.lower())?;
            let mechanism = match step.noise {
                StepNoise::Gaussian(_) => Mechanism::Gaussian { noise_multiplier },
                StepNoise::Laplace(_) => Mechanism::Laplace { noise_multiplier },
            };
            let sampling = match step.participation {
                Participation::Sometimes(probability) => Sampling::WithoutReplacement(probability),
                _ => Sampling::Every,
            };
            parts.push(ComposedPart { mechanism, sampling, neighbours: Neighbours::ReplaceOne, count });
        }
        Ok(Composed { parts, assumptions: self.assumptions(Assumption::MayPublish(Release::All)) })
    }

    /// The steps, given all earlier iterates but not the starts: starts that are apart make the first iterates differ by
    /// what the first update leaves of their distance.
    fn observed_steps(&self) -> Result<Vec<(Step, Count)>, NotApplicable> {
        let mut steps: Vec<(Step, Count)> =
            self.chain.stretches().map(|stretch| (stretch.step.clone(), stretch.count)).collect();
        if self.chain.start().is_none() {
            return Ok(steps);
        }
        let apart = steps.remove(0).0.displacement;
        let Some((step, count)) = steps.first_mut() else {
            return Ok(steps);
        };
        let distance = match step.participation {
            Participation::Never => step.modulus.at(apart),
            Participation::Always => step.crossed_at(apart),
            Participation::Sometimes(_) => Enclosure::INFINITE,
        };
        if distance.upper() == f64::INFINITY {
            return Err(NotApplicable::beyond(
                "the two runs start apart, and an observer of the first iterate may see by how much: composition needs \
                 run.start-distance, a modulus of the first step, and participation that is not random in it",
            ));
        }
        let first = Step {
            displacement: distance,
            absence: distance,
            participation: Participation::Always,
            ..step.clone()
        };
        if let Count::Times(times) = count {
            *times -= 1;
        }
        steps.insert(0, (first, Count::Times(1)));
        Ok(steps)
    }

    fn assumptions(&self, release: Assumption) -> Vec<Assumption> {
        let laplace =
            self.chain.stretches().any(|stretch| matches!(stretch.step.noise, StepNoise::Laplace(_)));
        let mut all = vec![
            Assumption::StepsAsGiven,
            Assumption::DisplacementsAsGiven,
            Assumption::IndependentSteps,
            release,
        ];
        all.extend(laplace.then_some(Assumption::OneDimension));
        all.extend(self.chain.start().map(|start| Assumption::StartsApart {
            distance: start.distance.map(NonNegative::get),
            divergence: !start.divergence.is_empty(),
        }));
        all
    }
}
