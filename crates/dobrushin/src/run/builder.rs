//! Runs, described one fact at a time.

use super::training::{
    Algorithm, Batch, Centre, Contribution, Divisor, DomainFacts, Evaluation, IncompleteBatch, LearningRate,
    Length, LossFacts, Noise, NoiseKind, Order, Record, Release, Training,
};
use super::{Fact, Forgotten, Run, RunError};
use crate::mechanism::Neighbours;
use crate::{NonNegative, Positive, Probability};

/// A noisy iteration under construction.
///
/// Nothing is assumed that you do not say: without [`release`](Self::release) every iterate counts as published, and a
/// loss about which you say nothing may be any loss. [`build`](Self::build) checks the numbers and names the first that
/// is wrong.
///
/// ```
/// use dobrushin::run::{Order, Release, Run, Training};
///
/// let run = Run::dp_sgd(60_000).batch_size(512).order(Order::Poisson).epochs(20.0);
/// let run = run.release(Release::Last).clip_norm(1.0);
/// let built = run.clone().noise_multiplier(1.0).build()?;
/// assert_eq!(built.as_training().and_then(Training::steps), Some(2344));
///
/// let refused = run.noise_multiplier(-1.0).build();
/// let message = "update.noise-multiplier is -1, but it must be positive and finite";
/// assert_eq!(refused.err().map(|error| error.to_string()).as_deref(), Some(message));
/// # Ok::<(), dobrushin::run::RunError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a run is described, but it is not built"]
pub struct RunBuilder {
    algorithm: Algorithm,
    records: u64,
    length: Option<Length>,
    batch: Option<Batch>,
    order: Option<Order>,
    incomplete_batch: Option<IncompleteBatch>,
    release: Release,
    neighbours: Neighbours,
    record: Record,
    public_steps: u64,
    forgetting: Vec<Forgotten>,
    tasks: u64,
    centre: Option<Centre>,
    evaluation: Option<Evaluation>,
    learning_rate: Option<LearningRate>,
    contribution: Option<Contribution>,
    noise_kind: NoiseKind,
    noise: Option<Noise>,
    weight_decay: f64,
    divide_by: Divisor,
    loss: LossFacts,
    domain: DomainFacts,
    /// The first number that was refused.
    refused: Option<RunError>,
}

impl Run {
    /// DP-SGD on this many records: clipped gradients of random batches, and noise.
    pub fn dp_sgd(records: u64) -> RunBuilder {
        RunBuilder::new(Algorithm::DpSgd, records)
    }

    /// Projected noisy stochastic gradient descent on this many records. By default each step uses one record, and each
    /// record is used once.
    ///
    /// ```
    /// use dobrushin::{Delta, Question, Release, Run};
    ///
    /// // The steps that follow hide a record, so that the first one is protected better than the last.
    /// let run = Run::pnsgd(1000).learning_rate(0.1).lipschitz(1.0).gradient_noise(2.0).release(Release::Last);
    /// let run = run.convex().smoothness(1.0).diameter(1.0).build()?;
    /// let question = Question::EpsilonAt(Delta::new(1e-5)?);
    /// let (first, last) = (run.of_record(1)?.account(question), run.of_record(1000)?.account(question));
    /// assert!(first.guarantee()?.epsilon() < 0.1 * last.guarantee()?.epsilon());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn pnsgd(records: u64) -> RunBuilder {
        RunBuilder::new(Algorithm::Pnsgd, records)
    }

    /// Noisy gradient descent: every step uses all of this many records.
    pub fn gradient_descent(records: u64) -> RunBuilder {
        RunBuilder::new(Algorithm::GradientDescent, records)
    }

    /// Online gradient descent: each of this many records is used once, as it arrives.
    pub fn online(records: u64) -> RunBuilder {
        RunBuilder::new(Algorithm::Online, records)
    }
}

/// Declares setters for values that need no check of their own.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident($($value:ident: $type:ty)?) => $($field:ident).+ = $put:expr;)*) => {
        $($(#[$doc])*
        pub fn $name(mut self $(, $value: $type)?) -> Self {
            self.$($field).+ = $put;
            self
        })*
    };
}

/// Declares setters for finite numbers above 0.
macro_rules! positives {
    ($($(#[$doc:meta])* $name:ident: $fact:ident => $($field:ident).+ = $put:expr;)*) => {
        $($(#[$doc])*
        pub fn $name(self, $name: f64) -> Self {
            let checked = Positive::new($name);
            self.checked(Fact::$fact, $name, "positive and finite", checked, |run, value| run.$($field).+ = Some($put(value)))
        })*
    };
}

impl RunBuilder {
    fn new(algorithm: Algorithm, records: u64) -> Self {
        Self {
            algorithm,
            records,
            length: None,
            batch: None,
            order: None,
            incomplete_batch: None,
            // Where nothing is said, the least private possibility is assumed.
            release: Release::All,
            neighbours: Neighbours::ReplaceOne,
            record: Record::Worst,
            public_steps: 0,
            forgetting: Vec::new(),
            tasks: 1,
            centre: None,
            evaluation: None,
            learning_rate: None,
            contribution: None,
            noise_kind: NoiseKind::Gaussian,
            noise: None,
            weight_decay: 0.0,
            divide_by: Divisor::BatchSize,
            loss: LossFacts::default(),
            domain: DomainFacts::default(),
            refused: None,
        }
    }

    setters! {
        /// Which records the steps use.
        order(order: Order) => order = Some(order);
        /// The number of records in a batch; with [`Order::Poisson`] the expected number.
        batch_size(size: u64) => batch = Some(Batch::Size(size));
        /// The number of steps.
        steps(steps: u64) => length = Some(Length::Steps(steps));
        /// The guarantee must hold for every number of steps.
        any_number_of_steps() => length = Some(Length::Any);
        /// How an incomplete last batch of a pass is handled.
        incomplete_batch(ending: IncompleteBatch) => incomplete_batch = Some(ending);
        /// What is published.
        release(release: Release) => release = release;
        /// Which data sets are neighbours.
        neighbours(neighbours: Neighbours) => neighbours = neighbours;
        /// The record for which the guarantee holds.
        record(record: Record) => record = record;
        /// The number of further steps, after all others, that use only public data.
        public_steps(steps: u64) => public_steps = steps;
        /// The number of such runs on the same records that are released.
        tasks(tasks: u64) => tasks = tasks;
        /// Laplace noise in place of Gaussian noise, for iterates of one dimension.
        laplace() => noise_kind = NoiseKind::Laplace;
        /// Every step multiplies the iterate by 1 − λ.
        weight_decay(lambda: f64) => weight_decay = lambda;
        /// What the sum of the gradients is divided by.
        divide_by(divisor: Divisor) => divide_by = divisor;
        /// Every record's loss is convex.
        convex() => loss.convex = Some(true);
        /// Every record's loss is a function of ⟨w, x⟩ and y.
        generalised_linear() => loss.generalised_linear = Some(true);
        /// The dimension of the iterates.
        dimension(dimension: u64) => domain.dimension = Some(dimension);
    }

    positives! {
        /// The number of passes over the records.
        epochs: Epochs => length = Length::Epochs;
        /// The noise of a mean of the records that is taken before the first step, over one record's contribution.
        centre_noise: CentreNoise => centre = |noise_multiplier| Centre { noise_multiplier };
        /// The noise of an evaluation of the released model on the same records, over one record's contribution.
        evaluation_noise: EvaluationNoise => evaluation = |noise_multiplier| Evaluation { noise_multiplier };
        /// η.
        learning_rate: LearningRate => learning_rate = LearningRate::Constant;
        /// The norm to which every record's gradient is clipped.
        clip_norm: ClipNorm => contribution = Contribution::Clipped;
        /// The largest norm that a record's gradient can have.
        lipschitz: Lipschitz => contribution = Contribution::Lipschitz;
        /// The noise over the clip norm, the convention of Opacus and TensorFlow Privacy.
        noise_multiplier: NoiseMultiplier => noise = Noise::Multiplier;
        /// The noise on the average gradient.
        gradient_noise: GradientNoise => noise = Noise::Gradient;
        /// The noise on the iterate.
        iterate_noise: IterateNoise => noise = Noise::Iterate;
        /// The Lipschitz constant β of every record's gradient.
        smoothness: Smoothness => loss.smoothness = std::convert::identity;
        /// The diameter of the closed convex set to which every iterate is projected.
        diameter: Diameter => domain.diameter = std::convert::identity;
    }

    /// The probability with which a step draws each record, with [`Order::Poisson`].
    pub fn sampling_probability(self, probability: f64) -> Self {
        let (fact, checked) = (Fact::SamplingProbability, Probability::new(probability));
        self.checked(fact, probability, "above 0 and at most 1", checked, |run, value| {
            run.batch = Some(Batch::Probability(value));
        })
    }

    /// Every record's loss is ρ-strongly convex.
    pub fn strong_convexity(self, rho: f64) -> Self {
        let (fact, checked) = (Fact::StrongConvexity, NonNegative::new(rho));
        self.checked(fact, rho, "0 or more", checked, |run, value| run.loss.strong_convexity = Some(value))
    }

    /// A learning rate that changes from step to step.
    pub fn learning_rates(mut self, rates: LearningRate) -> Self {
        self.learning_rate = Some(rates);
        self
    }

    /// Noise on the average gradient that changes from step to step.
    pub fn gradient_noises(mut self, noises: Vec<Positive>) -> Self {
        self.noise = Some(Noise::GradientList(noises));
        self
    }

    /// After all steps so far, this many records are deleted, and this many clean steps are made on what remains.
    pub fn forget(mut self, records: u64, steps: u64) -> Self {
        self.forgetting.push(Forgotten { records, steps });
        self
    }

    fn checked<T, E>(
        mut self,
        fact: Fact,
        value: f64,
        accepted: &str,
        checked: Result<T, E>,
        put: impl FnOnce(&mut Self, T),
    ) -> Self {
        match checked {
            Ok(value) => put(&mut self, value),
            Err(_) => {
                let refused =
                    || RunError::new(fact, format!("is {value}, but it must be {accepted}"), "another value");
                self.refused.get_or_insert_with(refused);
            }
        }
        self
    }

    /// The run, if everything that was said is consistent.
    ///
    /// # Errors
    /// [`RunError`] names the first number that is out of range, what is missing, or what contradicts the rest.
    pub fn build(self) -> Result<Run, RunError> {
        Run::training(self.training()?)
    }

    /// The numbers of the run, not yet checked against each other: for whoever adds facts of its own, as a trainer does.
    ///
    /// # Errors
    /// [`RunError`] names the first number that is out of range, or what is missing.
    pub fn training(self) -> Result<Training, RunError> {
        if let Some(refused) = self.refused {
            return Err(refused);
        }
        let missing = |fact, help| RunError::new(fact, "is missing", help);
        let order = self.order.or(self.algorithm.usual_order());
        let order = order.ok_or_else(|| missing(Fact::Order, "order = \"poisson\""))?;
        let length = self.length.or(order.usual_length());
        let length = length.ok_or_else(|| missing(Fact::Steps, "steps = 1000"))?;
        let batch = self.batch.or(self.algorithm.usual_batch(order, self.records));
        Ok(Training {
            algorithm: self.algorithm,
            records: self.records,
            length,
            batch: batch.ok_or_else(|| missing(Fact::BatchSize, "batch-size = 256"))?,
            order,
            incomplete_batch: self.incomplete_batch,
            release: self.release,
            neighbours: self.neighbours,
            record: self.record,
            public_steps: self.public_steps,
            forgetting: self.forgetting,
            tasks: self.tasks,
            centre: self.centre,
            evaluation: self.evaluation,
            learning_rate: self.learning_rate,
            contribution: self.contribution,
            noise_kind: self.noise_kind,
            noise: self
                .noise
                .ok_or_else(|| missing(Fact::NoiseMultiplier, "noise-multiplier = 1.0, or another noise"))?,
            weight_decay: self.weight_decay,
            divide_by: self.divide_by,
            loss: self.loss,
            domain: self.domain,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A builder with every field set, each number different.
    fn everything() -> RunBuilder {
        Run::dp_sgd(1000)
            .order(Order::Cyclic)
            .batch_size(30)
            .epochs(3.0)
            .incomplete_batch(IncompleteBatch::Pad)
            .release(Release::Last)
            .neighbours(Neighbours::ZeroOut)
            .public_steps(5)
            .tasks(7)
            .centre_noise(13.0)
            .evaluation_noise(11.0)
            .learning_rate(0.13)
            .clip_norm(17.0)
            .noise_multiplier(1.9)
            .weight_decay(0.23)
            .divide_by(Divisor::Actual)
            .convex()
            .generalised_linear()
            .smoothness(0.29)
            .strong_convexity(0.031)
            .diameter(37.0)
            .dimension(41)
    }

    #[test]
    fn every_word_is_heard() {
        let positive = |value| Positive::new(value).expect("positive");
        let expected = Training {
            algorithm: Algorithm::DpSgd,
            records: 1000,
            length: Length::Epochs(positive(3.0)),
            batch: Batch::Size(30),
            order: Order::Cyclic,
            incomplete_batch: Some(IncompleteBatch::Pad),
            release: Release::Last,
            neighbours: Neighbours::ZeroOut,
            record: Record::Worst,
            public_steps: 5,
            forgetting: Vec::new(),
            tasks: 7,
            centre: Some(Centre { noise_multiplier: positive(13.0) }),
            evaluation: Some(Evaluation { noise_multiplier: positive(11.0) }),
            learning_rate: Some(LearningRate::Constant(positive(0.13))),
            contribution: Some(Contribution::Clipped(positive(17.0))),
            noise_kind: NoiseKind::Gaussian,
            noise: Noise::Multiplier(positive(1.9)),
            weight_decay: 0.23,
            divide_by: Divisor::Actual,
            loss: LossFacts {
                convex: Some(true),
                smoothness: Some(positive(0.29)),
                strong_convexity: NonNegative::new(0.031).ok(),
                generalised_linear: Some(true),
            },
            domain: DomainFacts { diameter: Some(positive(37.0)), dimension: Some(41) },
        };
        let built = everything().build().expect("it fits together");
        assert_eq!(built.as_training(), Some(&expected));
        let others =
            everything().tasks(1).steps(43).lipschitz(4.7).gradient_noise(5.3).record(Record::Index(59));
        let expected = Training {
            length: Length::Steps(43),
            tasks: 1,
            contribution: Some(Contribution::Lipschitz(positive(4.7))),
            noise: Noise::Gradient(positive(5.3)),
            record: Record::Index(59),
            ..expected
        };
        assert_eq!(others.build().expect("it fits together").as_training(), Some(&expected));
        let drawn = Run::dp_sgd(1000).order(Order::Poisson).sampling_probability(0.061).any_number_of_steps();
        let drawn = drawn.iterate_noise(6.7).laplace().build().expect("it fits together");
        let drawn = drawn.as_training().expect("it is an iteration");
        assert_eq!(drawn.batch, Batch::Probability(Probability::new(0.061).expect("a probability")));
        assert_eq!((drawn.length, drawn.noise_kind), (Length::Any, NoiseKind::Laplace));
        assert_eq!(drawn.noise, Noise::Iterate(positive(6.7)));
    }

    #[test]
    fn what_is_not_said_is_the_least_private_or_missing() {
        let run = Run::pnsgd(10).iterate_noise(1.0).build().expect("everything else is usual");
        let training = run.as_training().expect("it is an iteration");
        assert_eq!(
            (training.release, training.order, training.batch),
            (Release::All, Order::Once, Batch::Size(1))
        );
        assert_eq!((training.steps(), training.loss), (Some(10), LossFacts::default()));
        let fact = |builder: RunBuilder| builder.build().err().map(|error| error.fact);
        assert_eq!(fact(Run::pnsgd(10)), Some(Fact::NoiseMultiplier));
        assert_eq!(fact(Run::dp_sgd(10).noise_multiplier(1.0)), Some(Fact::Order));
        assert_eq!(fact(Run::dp_sgd(10).order(Order::Poisson).noise_multiplier(1.0)), Some(Fact::Steps));
        assert_eq!(
            fact(Run::dp_sgd(10).order(Order::Poisson).steps(1).noise_multiplier(1.0)),
            Some(Fact::BatchSize)
        );
    }

    #[test]
    fn the_first_number_that_is_wrong_is_named() {
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let refused = everything().diameter(wrong).noise_multiplier(wrong).build();
            assert_eq!(refused.err().map(|error| error.fact), Some(Fact::Diameter), "{wrong}");
        }
        for wrong in [-0.1, f64::NAN, f64::INFINITY] {
            // No function is infinitely convex, whether its smoothness is known or not.
            let refused = Run::pnsgd(10).iterate_noise(1.0).convex().strong_convexity(wrong).build();
            assert_eq!(refused.err().map(|error| error.fact), Some(Fact::StrongConvexity), "{wrong}");
        }
        for wrong in [-0.1, 1.1, f64::NAN] {
            let refused = everything().sampling_probability(wrong).build();
            assert_eq!(refused.err().map(|error| error.fact), Some(Fact::SamplingProbability), "{wrong}");
        }
    }
}
