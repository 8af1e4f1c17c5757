//! Which parameters of a noisy iteration are consistent.

use super::training::{
    Algorithm, Batch, Divisor, IncompleteBatch, LearningRate, Length, Noise, NoiseKind, Order, Record,
    Training,
};
use super::{Fact, RunError};
use crate::Positive;
use crate::mechanism::Neighbours;

impl Training {
    /// Refuses contradictions.
    pub(super) fn check(&self) -> Result<(), RunError> {
        self.check_batches()?;
        self.check_order()?;
        self.check_length()?;
        self.check_rates()?;
        self.check_neighbours()?;
        self.check_evaluation()?;
        self.check_forgetting(MOST_COUNT)?;
        self.check_facts()
    }

    fn check_batches(&self) -> Result<(), RunError> {
        if self.records == 0 {
            return Err(RunError::new(Fact::Records, ZERO, "records = 60000"));
        }
        for (fact, count) in
            [(Fact::Records, self.records), (Fact::PublicSteps, self.public_steps), (Fact::Tasks, self.tasks)]
        {
            if count > MOST_COUNT {
                let message = format!("is {count}, but it must be at most {MOST_COUNT}");
                return Err(RunError::new(fact, message, "a smaller number"));
            }
        }
        if self.tasks == 0 {
            return Err(RunError::new(Fact::Tasks, ZERO, "tasks = 10"));
        }
        match self.batch {
            Batch::Size(0) => Err(RunError::new(Fact::BatchSize, ZERO, "batch-size = 256")),
            Batch::Size(size) if size > self.records => Err(RunError::new(
                Fact::BatchSize,
                format!("is {size}, but there are only {} records", self.records),
                format!("at most {}", Fact::Records),
            )
            .against(Fact::Records)),
            Batch::Size(size) if self.order == Order::Full && size != self.records => Err(RunError::new(
                Fact::BatchSize,
                format!("is {size}, but order = \"full\" uses all {} records in each step", self.records),
                "leave batch-size out, or choose another order",
            )
            .against(Fact::Order)),
            Batch::Probability(p) if p.get() == 0.0 => Err(RunError::new(
                Fact::SamplingProbability,
                "is 0, but it must be above 0 and at most 1",
                "sampling-probability = 0.01",
            )),
            Batch::Probability(_) if self.order != Order::Poisson => Err(RunError::new(
                Fact::SamplingProbability,
                "is for order = \"poisson\" only",
                "give batch-size instead, or order = \"poisson\"",
            )
            .against(Fact::Order)),
            _ => Ok(()),
        }
    }

    fn check_order(&self) -> Result<(), RunError> {
        match (self.algorithm, self.order) {
            (Algorithm::GradientDescent, order) if order != Order::Full => Err(RunError::new(
                Fact::Order,
                "must be \"full\" for algorithm = \"gradient-descent\"",
                "for batches use algorithm = \"dp-sgd\" or \"pnsgd\"",
            )
            .against(Fact::Algorithm)),
            (Algorithm::Online, order) if order != Order::Once => Err(RunError::new(
                Fact::Order,
                "must be \"once\" for algorithm = \"online\"",
                "for several passes use algorithm = \"pnsgd\"",
            )
            .against(Fact::Algorithm)),
            (_, Order::Allocation) if self.divide_by == Divisor::Actual => Err(RunError::new(
                Fact::DivideBy,
                "is \"actual\", but with order = \"allocation\" the size of a batch tells how many records chose it",
                "divide-by = \"batch-size\": every sum is divided by the same number",
            )
            .against(Fact::Order)),
            _ => self.check_incomplete_batch(),
        }
    }

    fn check_incomplete_batch(&self) -> Result<(), RunError> {
        let refuse = |message: &str, help| {
            Err(RunError::new(Fact::IncompleteBatch, message, help).against(Fact::Order))
        };
        match (self.incomplete_batch, self.order) {
            (Some(_), order) if !order.is_by_passes() => refuse(
                "is for records in turn: order = \"once\", \"cyclic\" or \"shuffled\"",
                "leave it out: no batch of this order is incomplete",
            ),
            (Some(IncompleteBatch::Fill), Order::Once) => refuse(
                "is \"fill\", but order = \"once\" has no next pass to fill a batch up from",
                "incomplete-batch = \"drop\", \"short\" or \"pad\"",
            ),
            _ => Ok(()),
        }
    }

    fn check_length(&self) -> Result<(), RunError> {
        let pass = self.batches_in_a_pass();
        let too_long = |fact, length: String| {
            let message = format!("is {length}, but order = \"once\" ends after one pass, {pass} steps");
            let help = "order = \"cyclic\" or \"shuffled\" for more";
            Err(RunError::new(fact, message, help).against(Fact::Order))
        };
        match self.length {
            Length::Steps(0) => Err(RunError::new(Fact::Steps, ZERO, "steps = 1000")),
            Length::Steps(steps) if self.order == Order::Once && steps > pass => {
                too_long(Fact::Steps, steps.to_string())
            }
            Length::Epochs(epochs) if self.order == Order::Once && epochs.get() > 1.0 => {
                too_long(Fact::Epochs, epochs.get().to_string())
            }
            Length::Steps(steps) if steps > MOST_COUNT => Err(RunError::new(
                Fact::Steps,
                format!("is {steps}, but it must be at most {MOST_COUNT}"),
                "steps = \"any\" asks for a guarantee for every number of steps",
            )),
            Length::Epochs(epochs)
                if self.steps_in_epochs().is_some_and(|steps| steps.upper() > MOST_COUNT as f64) =>
            {
                Err(RunError::new(
                    Fact::Epochs,
                    format!("is {:e}, which is more than {MOST_COUNT} steps", epochs.get()),
                    "steps = \"any\" asks for a guarantee for every number of steps",
                ))
            }
            Length::Any if self.order == Order::Once => too_long(Fact::Steps, "\"any\"".to_owned()),
            Length::Epochs(epochs) if epochs.get() > MOST_EPOCHS => Err(RunError::new(
                Fact::Epochs,
                format!("is {:e}, but it must be at most {MOST_EPOCHS:e}", epochs.get()),
                "steps = \"any\" asks for a guarantee for every number of steps",
            )),
            _ => Ok(()),
        }
    }

    fn check_rates(&self) -> Result<(), RunError> {
        let further = self.public_steps.saturating_add(self.clean_steps());
        let steps = self.steps().map(|steps| steps.saturating_add(further));
        let check = |fact, values: usize| {
            if steps == Some(values as u64) {
                return Ok(());
            }
            let steps = steps.map_or("any number of".to_owned(), |s| s.to_string());
            let message = format!("lists {values} values for {steps} steps");
            let help = "one value for each step, public and clean ones included, or one number";
            Err(RunError::new(fact, message, help).against(Fact::Steps))
        };
        if let Some(LearningRate::List(rates)) = &self.learning_rate {
            check(Fact::LearningRate, rates.len())?;
        }
        if let Noise::GradientList(noises) = &self.noise {
            check(Fact::GradientNoise, noises.len())?;
        }
        Ok(())
    }

    fn check_neighbours(&self) -> Result<(), RunError> {
        let whole = self.batch == Batch::Size(self.records);
        if self.neighbours == Neighbours::AddOrRemoveOne && self.order == Order::WithoutReplacement && whole {
            return Err(RunError::new(
                Fact::Neighbours,
                format!(
                    "is \"add-or-remove-one\", but without a record there is no batch of {} records",
                    Fact::BatchSize
                ),
                "a smaller batch-size, or order = \"full\"",
            )
            .against(Fact::BatchSize));
        }
        if self.neighbours == Neighbours::AddOrRemoveOne && self.order.is_by_passes() {
            return Err(RunError::new(
                Fact::Neighbours,
                "is \"add-or-remove-one\", but with records in turn a removed record moves all later ones \
                 into other batches",
                "neighbours = \"replace-one\" or \"zero-out\"",
            )
            .against(Fact::Order));
        }
        match self.record {
            Record::Worst => Ok(()),
            Record::Index(_) if !matches!(self.order, Order::Once | Order::Cyclic) => Err(RunError::new(
                Fact::Record,
                "is an index, but only order = \"once\" or \"cyclic\" gives records a fixed place",
                "record = \"worst\"",
            )
            .against(Fact::Order)),
            Record::Index(index) if index == 0 || index > self.records => Err(RunError::new(
                Fact::Record,
                format!("is {index}, but it must be between 1 and the number of records, {}", self.records),
                "record = \"worst\", or an index",
            )
            .against(Fact::Records)),
            Record::Index(_) if self.tasks > 1 => Err(RunError::new(
                Fact::Record,
                format!("is an index, but each of {} tasks has its own order", self.tasks),
                "record = \"worst\", or tasks = 1",
            )
            .against(Fact::Tasks)),
            Record::Index(_) => Ok(()),
        }
    }

    fn check_evaluation(&self) -> Result<(), RunError> {
        for (fact, multiplier) in [
            (Fact::CentreNoise, self.centre.map(|centre| centre.noise_multiplier)),
            (Fact::EvaluationNoise, self.evaluation.map(|evaluation| evaluation.noise_multiplier)),
        ] {
            let multiplier = multiplier.map_or(1.0, Positive::get);
            if !(1e-2..=1e12).contains(&multiplier) {
                let message = format!("is {multiplier:e}, but it must be between 0.01 and 1e12");
                return Err(RunError::new(fact, message, "noise-multiplier = 50"));
            }
        }
        if self.centre.is_some() && self.algorithm == Algorithm::Online {
            let message = "is given, but online learning uses each record before it has seen the next";
            let help = "leave [centre] out, or algorithm = \"pnsgd\"";
            return Err(RunError::new(Fact::CentreNoise, message, help).against(Fact::Algorithm));
        }
        Ok(())
    }

    fn check_facts(&self) -> Result<(), RunError> {
        if !(0.0..=1.0).contains(&self.weight_decay) {
            let message = format!("is {}, but it must be between 0 and 1", self.weight_decay);
            let help = "weight-decay = 0.001: every step multiplies the iterate by 1 − 0.001";
            return Err(RunError::new(Fact::WeightDecay, message, help));
        }
        if let Some(rho) = self.loss.strong_convexity.filter(|rho| rho.get() > 0.0) {
            let refuse = |other, why: String| {
                let message = format!("is {}, but {why}", rho.get());
                Err(RunError::new(Fact::StrongConvexity, message, "correct one of the two").against(other))
            };
            match (self.loss.smoothness, self.loss.convex) {
                _ if rho.get() == f64::INFINITY => {
                    return Err(RunError::new(
                        Fact::StrongConvexity,
                        "is infinite, but it must be a finite number",
                        "strong-convexity = 0.01",
                    ));
                }
                (Some(beta), _) if rho.get() > beta.get() => {
                    let other = Fact::Smoothness;
                    refuse(other, format!("it cannot exceed {other}, {}", beta.get()))?;
                }
                (_, Some(false)) => refuse(Fact::Convex, format!("{} is false", Fact::Convex))?,
                _ => (),
            }
        }
        match (self.noise_kind, self.domain.dimension) {
            (_, Some(0)) => Err(RunError::new(Fact::Dimension, ZERO, "dimension = 785")),
            (NoiseKind::Laplace, Some(dimension)) if dimension > 1 => Err(RunError::new(
                Fact::NoiseKind,
                format!("is \"laplace\", which is for one dimension, but {} is {dimension}", Fact::Dimension),
                "noise = \"gaussian\"",
            )
            .against(Fact::Dimension)),
            _ => Ok(()),
        }
    }
}

/// The error of an invalid count.
const ZERO: &str = "is 0, but it must be 1 or more";
/// The most steps, records or tasks: sums of a few of them fit into a u64.
const MOST_COUNT: u64 = 1 << 60;
/// Beyond this, a number of passes is meaningless.
const MOST_EPOCHS: f64 = 1e9;
