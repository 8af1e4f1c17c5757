//! What can be known of a run.

use std::fmt;

macro_rules! facts {
    ($($(#[$doc:meta])* $fact:ident = $name:literal,)+) => {
        /// A thing that is known of a run, or missing.
        ///
        /// It is written as the name of its section and its own, which are also those of run files: `update.clip-norm`;
        /// `{:#}` writes it under the heading of its section, as `[update] clip-norm`.
        ///
        /// ```
        /// use dobrushin::run::Fact;
        /// assert_eq!(Fact::ClipNorm.to_string(), "update.clip-norm");
        /// assert_eq!(format!("{:#}", Fact::ClipNorm), "[update] clip-norm");
        /// assert_eq!(Fact::ClipNorm.key(), "clip-norm");
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Fact {
            $($(#[$doc])* $fact,)+
        }

        impl Fact {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$fact),+];

            /// Its name, with that of its section.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$fact => $name,)+
                }
            }
        }
    };
}

facts! {
    /// Which algorithm is run.
    Algorithm = "run.algorithm",
    /// How many records there are.
    Records = "run.records",
    /// The number of steps.
    Steps = "run.steps",
    /// The number of passes over the records.
    Epochs = "run.epochs",
    /// The (expected) size of a batch.
    BatchSize = "run.batch-size",
    /// The probability of Poisson sampling.
    SamplingProbability = "run.sampling-probability",
    /// Which records a step uses.
    Order = "run.order",
    /// What becomes of records at the end of a pass that fill no batch.
    IncompleteBatch = "run.incomplete-batch",
    /// What is published.
    Release = "run.release",
    /// Which data sets are neighbours.
    Neighbours = "run.neighbours",
    /// For which record the guarantee is.
    Record = "run.record",
    /// How many further steps use public data only.
    PublicSteps = "run.public-steps",
    /// How many such runs on the same records are released.
    Tasks = "run.tasks",
    /// η.
    LearningRate = "update.learning-rate",
    /// The norm to which gradients are clipped.
    ClipNorm = "update.clip-norm",
    /// The largest norm of gradients that are not clipped.
    Lipschitz = "update.lipschitz",
    /// The law of the noise.
    NoiseKind = "update.noise",
    /// m: the noise over the clip norm, of a sum of gradients.
    NoiseMultiplier = "update.noise-multiplier",
    /// σ: the noise on the average gradient.
    GradientNoise = "update.gradient-noise",
    /// s: the noise on the iterate.
    IterateNoise = "update.iterate-noise",
    /// λ.
    WeightDecay = "update.weight-decay",
    /// What the sum of the gradients is divided by.
    DivideBy = "update.divide-by",
    /// All that is known of each record's loss.
    Loss = "loss",
    /// Whether the loss is convex.
    Convex = "loss.convex",
    /// The Lipschitz constant of its gradient.
    Smoothness = "loss.smoothness",
    /// How strongly convex it is.
    StrongConvexity = "loss.strong-convexity",
    /// Whether it is that of a generalised linear model.
    GeneralisedLinear = "loss.generalised-linear",
    /// All that is known of the set of iterates.
    Domain = "domain",
    /// Its diameter.
    Diameter = "domain.diameter",
    /// Its dimension.
    Dimension = "domain.dimension",
    /// The noise of an evaluation of what is released, over what one record contributes.
    EvaluationNoise = "evaluation.noise-multiplier",
    /// What is trained.
    Model = "model.kind",
    /// What the records are made to obey before a model is trained.
    Schema = "model.schema",
    /// The list of mechanisms.
    Mechanisms = "mechanism",
    /// Which mechanism it is.
    MechanismKind = "mechanism.kind",
    /// How often it is used.
    MechanismCount = "mechanism.count",
    /// On which part of the data it is used.
    MechanismSampling = "mechanism.sampling",
    /// The probability with which it uses a record.
    MechanismSamplingProbability = "mechanism.sampling-probability",
    /// Its noise over what one record contributes.
    MechanismNoiseMultiplier = "mechanism.noise-multiplier",
    /// The standard deviation of its noise.
    MechanismSigma = "mechanism.sigma",
    /// The scale of its noise.
    MechanismScale = "mechanism.scale",
    /// By how much one record changes what the noise is added to.
    MechanismSensitivity = "mechanism.sensitivity",
    /// The ε of a mechanism of which no more is known, or of randomised response.
    MechanismEpsilon = "mechanism.epsilon",
    /// The δ of a mechanism of which no more is known.
    MechanismDelta = "mechanism.delta",
    /// How many answers it has.
    MechanismCategories = "mechanism.categories",
    /// The probabilities of its outputs.
    MechanismChannel = "mechanism.channel",
    /// The points of its privacy profile.
    MechanismPoints = "mechanism.points",
    /// How often a step of a chain is repeated.
    StepCount = "step.count",
    /// Its noise.
    StepNoise = "step.iterate-noise",
    /// The law of its noise.
    StepNoiseKind = "step.noise",
    /// How far apart it leaves two iterates.
    StepModulus = "step.modulus",
    /// How far one record moves it.
    StepDisplacement = "step.displacement",
    /// With which probability the record takes part in it.
    StepParticipation = "step.participation",
    /// How far apart it leaves two iterates if only one of them has the record.
    StepCrossed = "step.crossed",
    /// By how much it lets the norm of an iterate grow.
    StepGrowth = "step.growth",
}

impl Fact {
    /// Its name without that of its section.
    pub fn key(self) -> &'static str {
        self.name().split_once('.').map_or(self.name(), |(_, key)| key)
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name().split_once('.') {
            Some((section, key)) if f.alternate() => write!(f, "[{section}] {key}"),
            _ => f.write_str(self.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_facts_have_the_same_name() {
        let mut names: Vec<&str> = Fact::ALL.iter().map(|fact| fact.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Fact::ALL.len());
    }
}
