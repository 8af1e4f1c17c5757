//! A chain that the user gives step by step.

use super::{Composed, ComposedPart, Released};
use crate::chain::{Branch, Count, Mixture, Participation, StepNoise, Stop};
use crate::mechanism::{Mechanism, Neighbours, Sampling};
use crate::run::{CustomChain, Release};
use crate::{Enclosure, NotApplicable, Positive};

impl CustomChain {
    /// What is released.
    pub(super) fn released(&self) -> Result<Released, NotApplicable> {
        let stop =
            match self.release {
                Release::Last => Stop::End,
                Release::RandomStop => Stop::Uniform(self.chain.steps().ok_or_else(|| {
                    NotApplicable::new("a random stop needs a number of steps: step.count")
                })?),
                Release::RandomSkip => {
                    return Err(NotApplicable::new("skipping steps is not analysed for chains: run.release"));
                }
                Release::All => {
                    return Err(NotApplicable::new(
                        "every iterate is released, so nothing is hidden: run.release is \"all\"",
                    ));
                }
            };
        let branch = Branch { weight: Enclosure::ONE, chain: self.chain.clone(), stop };
        Ok(Released {
            views: vec![Mixture::new(vec![branch])],
            assumptions: self
                .assumptions("only what run.release says is published; all other iterates stay secret"),
            notes: Vec::new(),
        })
    }

    /// What an observer of every iterate sees: in step t two laws at most d_t/s_t apart, with the
    /// participation's probability.
    pub(super) fn composition(&self) -> Result<Composed, NotApplicable> {
        let mut parts = Vec::new();
        for stretch in self.chain.stretches() {
            let step = stretch.step;
            if step.participation.is_never() || step.displacement == Enclosure::ZERO {
                continue;
            }
            let Count::Times(count) = stretch.count else {
                return Err(NotApplicable::new(
                    "composition grows for ever, so it has no bound for every number of steps: give step.count",
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
        Ok(Composed { parts, assumptions: self.assumptions("every iterate may be published") })
    }

    fn assumptions(&self, release: &str) -> Vec<String> {
        let words = [
            "the steps are as the file says for every data set and both neighbours: noise, modulus, displacement",
            "the displacement of a step bounds how far its update moves when the record is replaced, and when it is \
             left out",
            "the noise of every step is independent, secret, and continuous (not rounded); so is participation at random",
            release,
        ];
        let laplace =
            self.chain.stretches().any(|stretch| matches!(stretch.step.noise, StepNoise::Laplace(_)));
        let further = laplace.then_some("the iterate has one dimension");
        words.into_iter().chain(further).map(str::to_owned).collect()
    }
}
