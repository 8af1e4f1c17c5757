//! A chain that the user gives step by step.

use super::{Composed, ComposedPart, Released, nothing_is_hidden};
use crate::chain::{Branch, Count, Mixture, Participation, StepNoise, Stop};
use crate::mechanism::{Mechanism, Neighbours, Sampling};
use crate::run::{Assumption, CustomChain, Release, in_the_way, missing};
use crate::{Enclosure, NotApplicable, Positive};

impl CustomChain {
    /// What is released.
    pub(super) fn released(&self) -> Result<Released, NotApplicable> {
        let stop = match self.release {
            Release::Last => Stop::End,
            Release::RandomStop => Stop::Uniform(
                self.chain
                    .steps()
                    .ok_or_else(|| missing!("a random stop needs a number of steps: {}", StepCount))?,
            ),
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
            assumptions: self.assumptions(Assumption::PublishesOnlyTheRelease),
            notes: Vec::new(),
            exception: Enclosure::ZERO,
        })
    }

    /// What an observer of every iterate sees: in step t, two laws at most d_t/s_t apart, with the probability of
    /// participation.
    pub(super) fn composition(&self) -> Result<Composed, NotApplicable> {
        let mut parts = Vec::new();
        for stretch in self.chain.stretches() {
            let step = stretch.step;
            if step.participation.is_never() || step.displacement == Enclosure::ZERO {
                continue;
            }
            let Count::Times(count) = stretch.count else {
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
        all
    }
}
