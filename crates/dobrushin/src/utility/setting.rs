//! A training run as a descent on a convex function.
//!
//! The function is the population risk if every record is used at most once, and the empirical risk of the given
//! records if every step draws independently from all of them. In both cases the mean gradient of a batch is unbiased
//! given the past, and its second moment is at most
//! - L² for a mean over a batch of fixed size: a mean of vectors of norm at most L has norm at most L;
//! - L²·(1 + (1−p)/b) for a Poisson batch divided by b = pn: Σξ_i·g_i/b has the mean ḡ, ‖ḡ‖ ≤ L, and the
//!   variance Σp(1−p)·‖g_i‖²/b² ≤ n·p(1−p)·L²/b² = (1−p)·L²/b.
//!
//! Noise s on the iterate is noise s/η on the gradient: it adds d·(s/η)² (Laplace: 2(s/η)², as d = 1).
//!
//! # Several passes in turn
//! From the second pass on, records in turn have already moved the iterate at which their gradient is taken, so the
//! gradient of a step is biased. But a whole pass of M steps, from y to y⁺, is like one step of rate Mη on the empirical
//! risk F = (1/M)·Σ f_j: for every u in the set that is known before it, E‖y⁺ − u‖² ≤ ‖y − u‖² − 2Mη·(F(y) − F(u)) +
//! (Mη)²·G² with
//!
//! G² = g²/M + L²·(M−1)/M + (2L√V/M²)·Σ_{j<M} √j, g² = L² + V, V = d(s/η)² the noise of one step.
//!
//! Proof. After j steps the mean square of the distance from y is at most (η·(Lj + √(Vj)))²: a step, seen from y, makes
//! b² at most (b + ηL)² + η²V. So f_j at the iterate is at least f_j(y) − L·η·(Lj + √(Vj)) on average. The inequalities
//! ‖x_{j+1} − u‖² ≤ ‖x_j − u‖² − 2η·⟨g_j + Z, x_j − u⟩ + η²·‖g_j + Z‖², in which the mean of the inner product is at least
//! that of f_j(x_j) − f_j(u), add up to the claim, since Σ f_j = M·F whatever the order of the pass. This is all that the
//! lemma of [`super::descent`] uses, so its bounds hold for the iterates after each pass. ∎

use super::descent::{Descent, GradientStep, Ground};
use crate::run::{Algorithm, Divisor, Fact, NoiseKind, Order, Release, Training, in_the_way, missing};
use crate::{Enclosure, NotApplicable};

/// The quantity that a bound on the utility of a run bounds.
///
/// ```
/// use dobrushin::utility::{self, Measure};
/// use dobrushin::Run;
///
/// // An online run is for its regret.
/// let run = Run::online(1000).learning_rate(0.1).lipschitz(1.0).gradient_noise(1.0).convex();
/// let utility = utility::of(&run.smoothness(1.0).diameter(2.0).dimension(5).build()?)?;
/// assert_eq!(utility.best().map(|best| best.measure), Some(Measure::AverageRegret));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// E[F(w)] − min F, F(w) the expected loss of a new record.
    PopulationRisk,
    /// E[F(w)] − min F, F(w) the mean loss of the given records.
    EmpiricalRisk,
    /// E[Σ f_t(w_t) − min_u Σ f_t(u)]/n, the cost of the plays minus that of the best fixed one.
    AverageRegret,
}

impl Measure {
    /// Its name, for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::PopulationRisk => "excess-population-risk",
            Self::EmpiricalRisk => "excess-empirical-risk",
            Self::AverageRegret => "average-regret",
        }
    }

    /// Its name, for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::PopulationRisk => "expected excess population risk",
            Self::EmpiricalRisk => "expected excess empirical risk",
            Self::AverageRegret => "expected average regret",
        }
    }
}

/// A run as a descent.
pub(super) struct Setting {
    pub ground: Ground,
    pub descent: Result<Descent, NotApplicable>,
    /// The risk that is bounded for its iterates.
    pub measure: Measure,
    /// The number of steps that use private records.
    pub private: u64,
    /// The number of passes, if there are several and the descent is one from pass to pass.
    pub passes: Option<u64>,
    /// What must hold besides convexity, in words.
    pub assumptions: Vec<String>,
}

/// The most different steps.
const MOST_DIFFERENT: u64 = 1_000_000;

impl Setting {
    pub(super) fn of(training: &Training) -> Result<Self, NotApplicable> {
        if !training.forgetting.is_empty() {
            return Err(in_the_way!(
                "records were deleted ({}): ask about the run without them",
                ForgetRecords
            ));
        }
        let ground = ground(training)?;
        let dimension = dimension(training)?;
        let mut measure = measure(training)?;
        let Some(private) = training.whole_steps() else {
            return Err(missing!(
                "the utility is that of a whole number of steps: give {} as a number",
                Steps
            ));
        };
        let passes = passes(training, private);
        if passes.is_some() {
            measure = Measure::EmpiricalRisk;
        } else {
            check_batches(training, private)?;
        }
        let total = private.saturating_add(training.public_steps);
        let step = |time: u64| gradient_step(training, ground, dimension, time);
        let descent = if let Some(passes) = passes {
            let whole = |step| Descent::equal(ground, passes, pass(training, ground, step));
            step(1).map(whole)
        } else if training.has_equal_steps() {
            step(1).map(|step| Descent::equal(ground, total, step))
        } else if total > MOST_DIFFERENT {
            Err(in_the_way!(
                "{total} different steps: at most {MOST_DIFFERENT} are looked at, or one {}",
                LearningRate
            ))
        } else {
            let steps: Result<_, NotApplicable> = (1..=total).map(step).collect();
            steps.and_then(|steps| Descent::varying(ground, steps))
        };
        Ok(Self { ground, descent, measure, private, passes, assumptions: assumptions(training, measure) })
    }

    /// What must hold for a bound on a measure, in words.
    pub(super) fn assumptions(&self, measure: Measure) -> Vec<String> {
        let mut words = vec![sampling_words(measure).to_owned()];
        words.extend(self.assumptions.iter().cloned());
        words
    }
}

/// D and L, if the gradients are those of convex functions on a bounded set.
fn ground(training: &Training) -> Result<Ground, NotApplicable> {
    if training.centre.is_some() {
        return Err(in_the_way!("the losses that are minimised depend on a noisy mean: {}", CentreNoise));
    }
    if training.loss.convex == Some(false) {
        return Err(in_the_way!("the loss is not convex: {} is false", Convex));
    }
    if !training.is_convex() {
        return Err(missing!("nothing says that the loss is convex: {} = true would", Convex));
    }
    if !training.uses_convexity() {
        return Err(NotApplicable::missing(
            &[Fact::Lipschitz, Fact::GeneralisedLinear],
            format!(
                "clipped gradients ({}) of a convex loss need not be those of any convex function: give {} if gradients \
                 are never longer, or {} = true",
                Fact::ClipNorm,
                Fact::Lipschitz,
                Fact::GeneralisedLinear
            ),
        ));
    }
    let Some(diameter) = training.domain.diameter else {
        return Err(missing!("the domain is unbounded: {:#} is missing", Diameter));
    };
    let Some(contribution) = training.contribution else {
        return Err(missing!("gradients may have any norm: give {} or {}", Lipschitz, ClipNorm));
    };
    if training.weight_decay > 0.0 {
        return Err(in_the_way!(
            "weight decay is no gradient of the loss: put it into the loss, and leave {} out",
            WeightDecay
        ));
    }
    Ok(Ground { diameter, lipschitz: contribution.norm() })
}

fn dimension(training: &Training) -> Result<Enclosure, NotApplicable> {
    match (training.noise_kind, training.domain.dimension) {
        (NoiseKind::Laplace, _) => Ok(Enclosure::ONE),
        (NoiseKind::Gaussian, Some(dimension)) => Ok(Enclosure::from(dimension)),
        (NoiseKind::Gaussian, None) => {
            Err(missing!("noise costs more the more dimensions it has: {:#} is missing", Dimension))
        }
    }
}

fn measure(training: &Training) -> Result<Measure, NotApplicable> {
    match (training.order, training.divide_by) {
        (Order::Once | Order::Cyclic | Order::Shuffled, _) => Ok(Measure::PopulationRisk),
        (Order::Allocation, _) => Err(in_the_way!(
            "the batches of a pass depend on each other, so a step's gradient is biased given the steps before it: {} = \
             \"poisson\" or \"without-replacement\"",
            Order
        )),
        (Order::Poisson, Divisor::Actual) => Err(in_the_way!(
            "a batch that may be empty, divided by its size, has a gradient that is biased: {} = \"batch-size\", or {} = \
             \"without-replacement\"",
            DivideBy,
            Order
        )),
        _ if training.public_steps > 0 => Err(in_the_way!(
            "steps on other data ({0}) are no steps on the empirical risk of the given records: {0} = 0, or {1} = \
             \"once\" for the population risk",
            PublicSteps,
            Order
        )),
        _ => Ok(Measure::EmpiricalRisk),
    }
}

/// The number of passes, if records take turns in several whole passes of equal steps on full batches, and the model
/// after the last one is released.
fn passes(training: &Training, private: u64) -> Option<u64> {
    let in_turn =
        matches!(training.order, Order::Cyclic | Order::Shuffled) && !training.has_incomplete_batches();
    let released = matches!(training.release, Release::Last | Release::All) && training.public_steps == 0;
    let batches = training.batches_in_a_pass();
    let several = private > batches && private.is_multiple_of(batches);
    (in_turn && released && several && training.has_equal_steps()).then(|| private / batches)
}

/// A whole pass as one step on the empirical risk, from any of its steps.
fn pass(training: &Training, ground: Ground, step: GradientStep) -> GradientStep {
    let (count, norm) = (Enclosure::from(training.batches_in_a_pass()), ground.lipschitz());
    let variance = (step.second_moment - norm.square()).positive_part();
    let two = Enclosure::from(2.0);
    // Σ_{j<M} √j ≤ ∫_1^M √x dx.
    let roots = two / Enclosure::from(3.0) * (count * count.sqrt() - Enclosure::ONE).positive_part();
    let drift = norm.square() * (count - Enclosure::ONE) / count
        + two * norm * variance.sqrt() * roots / count.square();
    GradientStep { rate: count * step.rate, second_moment: step.second_moment / count + drift }
}

/// Records that take turns: each once, in batches of equal size.
fn check_batches(training: &Training, private: u64) -> Result<(), NotApplicable> {
    if !training.order.is_by_passes() {
        return Ok(());
    }
    if private > training.batches_in_a_pass() {
        return Err(in_the_way!(
            "from the second pass on, records in turn have already moved the iterate at which their gradient is taken: \
             {} = \"once\", or \"poisson\", \"without-replacement\" or \"full\" for several passes",
            Order
        ));
    }
    if private == training.batches_in_a_pass() && !training.has_full_batches() {
        return Err(in_the_way!(
            "the last batch is smaller than the others: {} must divide {}, {} must be \"drop\", or {} must end before it",
            BatchSize,
            Records,
            IncompleteBatch,
            Steps
        ));
    }
    Ok(())
}

fn gradient_step(
    training: &Training,
    ground: Ground,
    dimension: Enclosure,
    time: u64,
) -> Result<GradientStep, NotApplicable> {
    let rate = training
        .rate_of(time)
        .ok_or_else(|| missing!("how far a step goes is unknown: give {}", LearningRate))?;
    let norm = ground.lipschitz();
    let mut mean = norm.square();
    if training.order == Order::Poisson {
        let batch = training.nominal_batch();
        let share = batch / Enclosure::from(training.records);
        mean = mean * (Enclosure::ONE + (Enclosure::ONE - share).positive_part() / batch);
    }
    let noise = training.noise_at(time, rate, norm) / rate;
    let variance = match training.noise_kind {
        NoiseKind::Gaussian => dimension * noise.square(),
        NoiseKind::Laplace => Enclosure::from(2.0) * noise.square(),
    };
    Ok(GradientStep { rate, second_moment: mean + variance })
}

fn sampling_words(measure: Measure) -> &'static str {
    match measure {
        Measure::PopulationRisk => "the records are independent draws from one distribution",
        Measure::EmpiricalRisk => {
            "the risk is the mean loss of exactly these records; what a new record would lose is not bounded"
        }
        Measure::AverageRegret => {
            "the costs were fixed in advance: no cost depends on the plays; that of a step is the mean loss of its records"
        }
    }
}

fn assumptions(training: &Training, measure: Measure) -> Vec<String> {
    let norm = training.contribution.map_or(0.0, |contribution| contribution.norm().get());
    let mut words = vec![if training.is_clipped() {
        format!(
            "the risk is that of the loss whose gradients are the clipped ones: it is convex, and {norm}-Lipschitz; where \
             nothing is clipped it is the loss itself"
        )
    } else {
        format!("every record's loss is convex, with gradients (or subgradients) of norm at most {norm}")
    }];
    if let Some(diameter) = training.domain.diameter {
        words.push(format!(
            "the start is in, and every step is projected to, one closed convex set of diameter {}; the best point is \
             the best of that set",
            diameter.get()
        ));
    }
    if measure == Measure::PopulationRisk && training.public_steps > 0 {
        words.push(format!(
            "the data of the {} public steps are further draws from the same distribution, in batches of the same size",
            training.public_steps
        ));
    }
    if training.tasks > 1 {
        words.push(format!("the bound is for each of the {} runs", training.tasks));
    }
    if training.algorithm == Algorithm::Online && training.nominal_batch().upper() > 1.0 {
        words.push("a step plays once, and then sees all records of its batch".to_owned());
    }
    words.push(
        "the expectation is over the noise, the sampling and, where they are random, the records".to_owned(),
    );
    words
}
