//! The facts that can be known about a run.

use std::fmt;

macro_rules! facts {
    ($($(#[$doc:meta])* $fact:ident = $name:literal,)+) => {
        /// A fact about a run, known or missing.
        ///
        /// It is displayed as the name of its section and its own name, as in run files: `update.clip-norm`; `{:#}`
        /// writes it under the heading of its section, as `[update] clip-norm`.
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
            /// All facts.
            pub const ALL: &[Self] = &[$(Self::$fact),+];

            /// Its name, with the name of its section.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$fact => $name,)+
                }
            }
        }
    };
}

facts! {
    /// The algorithm.
    Algorithm = "run.algorithm",
    /// The number of records.
    Records = "run.records",
    /// The number of steps.
    Steps = "run.steps",
    /// The number of passes over the records.
    Epochs = "run.epochs",
    /// The (expected) size of a batch.
    BatchSize = "run.batch-size",
    /// The probability of Poisson sampling.
    SamplingProbability = "run.sampling-probability",
    /// The records that a step uses.
    Order = "run.order",
    /// How records at the end of a pass that fill no batch are handled.
    IncompleteBatch = "run.incomplete-batch",
    /// What is published.
    Release = "run.release",
    /// Which data sets are neighbours.
    Neighbours = "run.neighbours",
    /// The record for which the guarantee holds.
    Record = "run.record",
    /// The number of further steps that use only public data.
    PublicSteps = "run.public-steps",
    /// The number of records that a request deletes.
    ForgetRecords = "forget.records",
    /// The number of clean steps after a request.
    ForgetSteps = "forget.steps",
    /// The number of such runs on the same records that are released.
    Tasks = "run.tasks",
    /// The list of tasks that differ.
    TaskList = "task",
    /// The number of equal tasks.
    TaskCount = "task.count",
    /// The record with which a pass of a task begins.
    TaskFirst = "task.first",
    /// Whether a pass of a task goes backward.
    TaskReversed = "task.reversed",
    /// η.
    LearningRate = "update.learning-rate",
    /// The norm to which gradients are clipped.
    ClipNorm = "update.clip-norm",
    /// The largest norm of gradients that are not clipped.
    Lipschitz = "update.lipschitz",
    /// The law of the noise.
    NoiseKind = "update.noise",
    /// m: the noise on a sum of gradients, over the clip norm.
    NoiseMultiplier = "update.noise-multiplier",
    /// σ: the noise on the average gradient.
    GradientNoise = "update.gradient-noise",
    /// s: the noise on the iterate.
    IterateNoise = "update.iterate-noise",
    /// λ.
    WeightDecay = "update.weight-decay",
    /// What the sum of the gradients is divided by.
    DivideBy = "update.divide-by",
    /// Everything known about each record's loss.
    Loss = "loss",
    /// Whether the loss is convex.
    Convex = "loss.convex",
    /// The Lipschitz constant of its gradient.
    Smoothness = "loss.smoothness",
    /// How strongly convex it is.
    StrongConvexity = "loss.strong-convexity",
    /// Whether it is that of a generalised linear model.
    GeneralisedLinear = "loss.generalised-linear",
    /// Everything known about the set of iterates.
    Domain = "domain",
    /// Its diameter.
    Diameter = "domain.diameter",
    /// Its dimension.
    Dimension = "domain.dimension",
    /// The noise of the mean that is taken before training, over one record's contribution.
    CentreNoise = "centre.noise-multiplier",
    /// The noise of an evaluation of the released model, over one record's contribution.
    EvaluationNoise = "evaluation.noise-multiplier",
    /// What is trained.
    Model = "model.kind",
    /// What every record is made to satisfy before a model is trained.
    Schema = "model.schema",
    /// The list of mechanisms.
    Mechanisms = "mechanism",
    /// The kind of mechanism.
    MechanismKind = "mechanism.kind",
    /// The number of times it is used.
    MechanismCount = "mechanism.count",
    /// The part of the data on which it is used.
    MechanismSampling = "mechanism.sampling",
    /// The probability with which it uses a record.
    MechanismSamplingProbability = "mechanism.sampling-probability",
    /// Its noise over one record's contribution.
    MechanismNoiseMultiplier = "mechanism.noise-multiplier",
    /// The standard deviation of its noise.
    MechanismSigma = "mechanism.sigma",
    /// The scale of its noise.
    MechanismScale = "mechanism.scale",
    /// The largest change that one record makes to the quantity that the noise is added to.
    MechanismSensitivity = "mechanism.sensitivity",
    /// The ε of randomised response, or of a mechanism about which nothing more is known.
    MechanismEpsilon = "mechanism.epsilon",
    /// The δ of a mechanism about which nothing more is known.
    MechanismDelta = "mechanism.delta",
    /// The number of its answers.
    MechanismCategories = "mechanism.categories",
    /// The probabilities of its outputs.
    MechanismChannel = "mechanism.channel",
    /// The points of its privacy profile.
    MechanismPoints = "mechanism.points",
    /// The number of times a step of a chain is repeated.
    StepCount = "step.count",
    /// Its noise.
    StepNoise = "step.iterate-noise",
    /// The law of its noise.
    StepNoiseKind = "step.noise",
    /// The largest distance of two iterates after it.
    StepModulus = "step.modulus",
    /// The largest distance by which one record moves it.
    StepDisplacement = "step.displacement",
    /// The probability that the record takes part in it.
    StepParticipation = "step.participation",
    /// The largest distance of two iterates after it, if only one of them has the record.
    StepCrossed = "step.crossed",
    /// The largest growth of an iterate's norm in it.
    StepGrowth = "step.growth",
}

impl Fact {
    /// Its name without the name of its section.
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
