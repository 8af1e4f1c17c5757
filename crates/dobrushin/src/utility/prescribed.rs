//! A run for a learning problem and a privacy level: noise, learning rate, what it promises, and what no run can promise.
//!
//! [`super::prescribe`] has the papers' theorems one by one. Here the noise is the least with which
//! [`Run::account`](crate::Run::account) confirms the level, the learning rate is the one that minimises the bound on
//! the excess, and the bound is that of [`super::of`] for exactly this run.

use super::lower_bound::{Learner, LowerBound, least_excess};
use super::prescribe::{self, Privacy, Problem};
use super::report::optimal_rate;
use super::smoothing::{Smoothing, smoothing};
use super::{Measure, of};
use crate::account::{CalibrationError, Options, Question, analyses};
use crate::numeric::decimal;
use crate::numeric::elementary::powi;
use crate::run::{LearningRate, Order, Parameter, Release, Run, RunBuilder};
use crate::{Enclosure, Error, NotApplicable, Positive};
use std::num::NonZeroU64;

/// How records are used, and who sees what.
///
/// ```
/// use dobrushin::utility::Scheme;
///
/// // A public tail and k models need hidden steps, and hidden steps need smooth losses.
/// assert!(Scheme::PublicTail { records: 50 }.needs_smoothness());
/// assert!(!Scheme::Local.needs_smoothness());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// One pass whose every step may be seen (Feldman et al. 2018, Theorem 29).
    Local,
    /// One pass that skips up to half of its start at random; earlier records are better protected (Theorem 30,
    /// Corollary 34).
    PerRecord,
    /// [`Scheme::PerRecord`] with public records at the end; the others are private (Corollary 31).
    PublicTail {
        /// The number of public records, which are among all records.
        records: u64,
    },
    /// Several models on the same records, each of one pass that stops at random (Theorem 32).
    Tasks {
        /// The number of models.
        tasks: NonZeroU64,
    },
    /// Several passes in the same order, of which the last model is released (Theorem 35).
    Passes {
        /// The number of passes.
        passes: NonZeroU64,
    },
    /// Online descent whose every play may be seen (Asoodeh, Diaz, Calmon 2023, Proposition 2).
    Online,
}

impl Scheme {
    /// Its name, for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::PerRecord => "per-record",
            Self::PublicTail { .. } => "public-tail",
            Self::Tasks { .. } => "tasks",
            Self::Passes { .. } => "passes",
            Self::Online => "online",
        }
    }

    /// The theorem about its privacy and utility, by which [`crate::statement::find`] finds it.
    pub fn theorem(self) -> &'static str {
        match self {
            Self::Local => "prescription-stop",
            Self::PerRecord => "prescription-skip",
            Self::PublicTail { .. } => "prescription-public",
            Self::Tasks { .. } => "prescription-tasks",
            Self::Passes { .. } => "prescription-passes",
            Self::Online => "prescription-online",
        }
    }

    /// Whether its privacy, or that of early records, rests on steps that keep models together.
    pub fn needs_smoothness(self) -> bool {
        !matches!(self, Self::Local | Self::Online)
    }

    fn release(self) -> Release {
        match self {
            Self::Local | Self::Online => Release::All,
            Self::PerRecord | Self::PublicTail { .. } => Release::RandomSkip,
            Self::Tasks { .. } => Release::RandomStop,
            Self::Passes { .. } => Release::Last,
        }
    }

    /// The algorithms among which a lower bound compares it.
    pub fn learner(self) -> Learner {
        let central = |public_records, tasks| Learner::Central { public_records, tasks };
        match self {
            Self::Local | Self::PerRecord | Self::Online => Learner::Local,
            Self::PublicTail { records } => central(records, NonZeroU64::MIN),
            Self::Tasks { tasks } => central(0, tasks),
            Self::Passes { passes: NonZeroU64::MIN } => central(0, NonZeroU64::MIN),
            Self::Passes { .. } => Learner::Empirical,
        }
    }
}

/// What is to be learned, how privately, and how.
///
/// ```
/// use dobrushin::utility::prescribe::{Privacy, Problem};
/// use dobrushin::utility::{Request, Scheme};
/// use dobrushin::{Delta, Epsilon, Positive, Question};
///
/// let (lipschitz, radius) = (Positive::new(1.0)?, Positive::new(1.0)?);
/// let problem = Problem { records: 100_000.try_into()?, dimension: 5.try_into()?, lipschitz, radius };
/// let privacy = Privacy { epsilon: Epsilon::new(1.0)?, delta: Delta::new(1e-6)? };
/// let scheme = Scheme::PublicTail { records: 99 };
/// let found = Request { problem, privacy, scheme, smoothness: None }.prescribe()?;
/// // The run is confirmed, its promise says something, and it is above what nobody can undercut.
/// assert!(found.run.account(Question::EpsilonAt(privacy.delta)).guarantee()?.epsilon() <= 1.0);
/// assert!(!found.vacuous && found.excess.upper() < 0.1);
/// assert!(found.least.excess.lower() <= found.excess.upper());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// The learning problem; public records are among its records.
    pub problem: Problem,
    /// The required privacy, for neighbours that differ in one replaced record.
    pub privacy: Privacy,
    /// How records are used, and who sees what.
    pub scheme: Scheme,
    /// β: the smoothness of the losses. If it is `None`, and the scheme needs it, the losses are averaged.
    pub smoothness: Option<Positive>,
}

/// The run to make, and what it promises.
#[derive(Clone)]
pub struct Prescribed {
    /// The run, confirmed by its account.
    pub run: Run,
    /// σ: the noise of every coordinate of the gradient.
    pub gradient_noise: Positive,
    /// η.
    pub learning_rate: LearningRate,
    /// ε of the run at the required δ.
    pub epsilon: Enclosure,
    /// The analysis that shows it.
    pub analysis: &'static str,
    /// What [`Prescribed::excess`] bounds.
    pub measure: Measure,
    /// The bound on the excess, with that of the averaging of the losses.
    pub excess: Enclosure,
    /// The theorem that shows it.
    pub theorem: &'static str,
    /// Whether a model that was chosen without looking at the data satisfies the bound too.
    pub vacuous: bool,
    /// The excess of such a model.
    pub blind: Enclosure,
    /// How the losses are averaged, if they are.
    pub smoothing: Option<Smoothing>,
    /// What the paper prescribes, if it does.
    pub published: Option<Published>,
    /// What no algorithm of the kind can avoid.
    pub least: LowerBound,
}

/// What a paper prescribes and promises, and what holds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Published {
    /// σ as it is printed; `None` if the paper leaves it open.
    pub gradient_noise: Option<Positive>,
    /// η as it is printed, with misprints corrected; for online descent the first of the rates η/√t.
    pub learning_rate: Option<Enclosure>,
    /// The bound as it is printed; `None` if there is none. For online descent it is at the least σ.
    pub excess: Option<Enclosure>,
    /// The ε that this σ really gives at the required δ, by the best of our analyses.
    pub epsilon: Option<Enclosure>,
    /// The δ that this σ really gives at the required ε.
    pub delta: Option<Enclosure>,
    /// The entry of the errata about it.
    pub erratum: Option<&'static str>,
}

/// How close to ε the noise of several models is searched, …
const CLOSE: f64 = 5e-4;
/// … in at most this many trials.
const SECANTS: u32 = 12;
/// How often noise is increased until the account confirms it.
const NUDGES: i32 = 40;
/// The digits of prescribed numbers: noise is rounded up, and learning rates down.
const DIGITS: usize = 10;

impl Request {
    /// The run to make.
    ///
    /// # Guarantee
    /// The account of the run, by composition and by shift, was seen to confirm (ε, δ); an account by all analyses is at
    /// least as good. The excess is at most the upper end of [`Prescribed::excess`], under the assumptions of
    /// [`super::of`]; averaged losses add [`Smoothing::error`] to it.
    ///
    /// # Errors
    /// [`CalibrationError`] if a number is out of range, or no noise in range is enough.
    pub fn prescribe(&self) -> Result<Prescribed, CalibrationError> {
        if self.privacy.epsilon.get() == 0.0 {
            return Err(Error::OutOfRange { name: "epsilon", value: 0.0, accepted: "above 0" }.into());
        }
        let mut noise = self.noise()?;
        for power in 0..NUDGES {
            noise = rounded(noise, decimal::upper)?;
            let (run, learning_rate, smoothing) = self.run(noise)?;
            let (epsilon, analysis) = self.achieved(&run)?;
            if epsilon.upper() <= self.privacy.epsilon.get() {
                return self.promise(run, noise, learning_rate, smoothing, (epsilon, analysis));
            }
            noise = Positive::named("gradient noise", noise.get() * (1.0 + 1e-10 * powi(2f64, power)))?;
        }
        Err(NotApplicable::beyond("no noise was found with which the account confirms the privacy level")
            .into())
    }

    /// The least σ, up to rounding.
    fn noise(&self) -> Result<Positive, CalibrationError> {
        let Self { problem, privacy, scheme, .. } = *self;
        let of_one = || prescribe::skip(problem, privacy).map(|plan| plan.gradient_noise);
        Ok(match scheme {
            Scheme::Local | Scheme::PerRecord | Scheme::Online => of_one()?,
            Scheme::PublicTail { records } => prescribe::public(problem, privacy, records)?.gradient_noise,
            // μ² = (2L/σ)²·(1 + (passes − 1)/n) for the last record (E-GDP).
            Scheme::Passes { passes } => {
                let earlier = Enclosure::from(passes.get() - 1) / Enclosure::from(problem.records.get());
                let factor = (Enclosure::ONE + earlier).sqrt();
                Positive::named("gradient noise", (Enclosure::from(of_one()?) * factor).upper())?
            }
            Scheme::Tasks { tasks } => {
                let enough = Enclosure::from(of_one()?) * Enclosure::from(tasks.get()).sqrt();
                let enough = Positive::named("gradient noise", enough.upper())?;
                // A single model is quickly searched, and a good place to start from.
                let alone = Self { scheme: Scheme::Tasks { tasks: NonZeroU64::MIN }, ..*self };
                let start = if tasks == NonZeroU64::MIN { enough } else { alone.noise()? };
                let start = (start.get() * libm::pow(tasks.get() as f64, 0.25)).min(enough.get());
                self.noise_of_tasks(Positive::named("gradient noise", start)?, enough)?
            }
        })
    }

    /// The least σ of several models, by shift, up to a small share of ε; `enough` is enough even if every step is seen.
    ///
    /// ln ε is almost straight in ln σ, so a few secants find it. Whatever they find is confirmed afterwards.
    fn noise_of_tasks(&self, start: Positive, enough: Positive) -> Result<Positive, CalibrationError> {
        let target = self.privacy.epsilon.get();
        let aim = target * (1.0 - 0.5 * CLOSE);
        let (mut best, mut noise, mut power) = (enough, start, 1.5);
        let mut before: Option<(f64, f64)> = None;
        for _ in 0..SECANTS {
            let epsilon = self.achieved(&self.run(noise)?.0)?.0.upper();
            if epsilon <= target {
                best = if noise < best { noise } else { best };
                if epsilon >= target * (1.0 - CLOSE) {
                    break;
                }
            }
            let other =
                before.filter(|(other, there)| *other != noise.get() && *there > 0.0 && epsilon > 0.0);
            if let Some((other, there)) = other {
                power = (libm::log(there / epsilon) / libm::log(noise.get() / other)).clamp(0.5, 4.0);
            }
            before = Some((noise.get(), epsilon));
            // An ε of 0 says only that there is too much noise.
            let factor = if epsilon > 0.0 { libm::pow(epsilon / aim, 1.0 / power) } else { 0.5 };
            noise = Positive::named("gradient noise", noise.get() * factor)?;
        }
        Ok(best)
    }

    /// The run with this noise, its learning rate, and the averaging of losses.
    fn run(&self, noise: Positive) -> Result<(Run, LearningRate, Option<Smoothing>), CalibrationError> {
        let missing = || NotApplicable::beyond("no learning rate is between 0 and infinity");
        let builder = self.builder(noise);
        let training = builder.clone().learning_rate(1.0).training()?;
        let rate = match self.scheme {
            Scheme::Online => {
                // (D²/(2c) + c·G²)·√n is least at c = D/(√2·G).
                let size = (2.0 * self.second_moment(noise).midpoint()).sqrt();
                let limit = self.smoothness.map_or(f64::INFINITY, |beta| 2.0 / beta.get());
                Positive::named("learning rate", (2.0 * self.problem.radius.get() / size).min(limit))?
            }
            _ => optimal_rate(&training, None).ok_or_else(missing)?,
        };
        let rate = rounded(rate, decimal::lower)?;
        let rates = match self.scheme {
            Scheme::Online => LearningRate::InverseSqrt(rate),
            _ => LearningRate::Constant(rate),
        };
        let builder = builder.learning_rates(rates.clone());
        if self.smoothness.is_some() || !self.scheme.needs_smoothness() {
            return Ok((builder.build()?, rates, None));
        }
        let smooth = self.smoothing(rate)?;
        Ok((builder.smoothness(smooth.smoothness.upper()).build()?, rates, Some(smooth)))
    }

    fn builder(&self, noise: Positive) -> RunBuilder {
        let Problem { records, dimension, lipschitz, radius } = self.problem;
        let n = records.get();
        let run = match self.scheme {
            Scheme::Online => Run::online(n),
            Scheme::Local | Scheme::PerRecord => Run::pnsgd(n),
            Scheme::PublicTail { records } => Run::pnsgd(n.saturating_sub(records)).public_steps(records),
            Scheme::Tasks { tasks } => Run::pnsgd(n).tasks(tasks.get()),
            Scheme::Passes { passes } => {
                Run::pnsgd(n).order(Order::Cyclic).steps(n.saturating_mul(passes.get()))
            }
        };
        let run = run.release(self.scheme.release()).lipschitz(lipschitz.get()).gradient_noise(noise.get());
        let run = run.convex().diameter(2.0 * radius.get()).dimension(dimension.get());
        match self.smoothness {
            Some(beta) => run.smoothness(beta.get()),
            None => run,
        }
    }

    /// The averaging that makes losses just smooth enough: β = L/λ ≤ 2/η.
    fn smoothing(&self, rate: Positive) -> Result<Smoothing, Error> {
        let mut deviation = 0.5 * self.problem.lipschitz.get() * rate.get();
        loop {
            let named = Positive::named("smoothing", deviation)?;
            let smooth = smoothing(self.problem.lipschitz, self.problem.dimension, named);
            if smooth.smoothness.upper() * rate.get() <= 2.0 {
                return Ok(smooth);
            }
            deviation = deviation.next_up();
        }
    }

    /// G² = L² + dσ².
    fn second_moment(&self, noise: Positive) -> Enclosure {
        let d = Enclosure::from(self.problem.dimension.get());
        Enclosure::from(self.problem.lipschitz).square() + d * Enclosure::from(noise).square()
    }

    /// ε of a run at the required δ, by the analyses that are quick.
    fn achieved(&self, run: &Run) -> Result<(Enclosure, &'static str), CalibrationError> {
        let account = run.account_by(Question::EpsilonAt(self.privacy.delta), &quickly());
        let best = account.guarantee()?;
        Ok((best.answer.value, best.id))
    }

    fn promise(
        &self,
        run: Run,
        gradient_noise: Positive,
        learning_rate: LearningRate,
        smoothing: Option<Smoothing>,
        (epsilon, analysis): (Enclosure, &'static str),
    ) -> Result<Prescribed, CalibrationError> {
        let utility = of(&run)?;
        let best = utility.best().ok_or_else(|| NotApplicable::beyond("no theorem bounds its excess"))?;
        let error = smoothing.map_or(Enclosure::ZERO, |smoothing| smoothing.error);
        let excess = best.value + error;
        Ok(Prescribed {
            gradient_noise,
            learning_rate,
            epsilon,
            analysis,
            measure: best.measure,
            excess,
            theorem: best.id,
            vacuous: best.is_vacuous() || excess.upper() >= best.blind.lower(),
            blind: best.blind,
            smoothing,
            published: self.published(&run)?,
            least: least_excess(self.problem, self.privacy, self.scheme.learner()),
            run,
        })
    }

    /// What the paper prescribes, as it is printed, and what its noise really gives.
    fn published(&self, run: &Run) -> Result<Option<Published>, CalibrationError> {
        let Problem { records, dimension, lipschitz, radius } = self.problem;
        let [n, d] = [records, dimension].map(|count| Enclosure::from(count.get()));
        let [norm, radius] = [lipschitz, radius].map(Enclosure::from);
        let (epsilon, delta) = (Enclosure::from(self.privacy.epsilon), Enclosure::from(self.privacy.delta));
        let number = |value: f64| Enclosure::from(value);
        let log = (number(1.25) / delta).ln();
        let classical = number(2.0) * norm * (number(2.0) * log).sqrt() / epsilon;
        let (noise, rate, bound, erratum) = match self.scheme {
            Scheme::Local => (classical, number(2.0), number(4.0), Some("E10")),
            Scheme::PerRecord => (classical, number(8.0).sqrt(), number(32.0).sqrt(), Some("E11")),
            Scheme::PublicTail { records: 0 } => return Ok(None),
            Scheme::PublicTail { records } => {
                let noise = number(2.0) * norm * (log / Enclosure::from(records)).sqrt() / epsilon;
                (noise, number(8.0).sqrt(), number(32.0).sqrt(), Some("E12"))
            }
            Scheme::Tasks { tasks } => {
                if self.privacy.epsilon.get() >= 1.0 || self.privacy.delta.get() >= 0.5 {
                    return Ok(None);
                }
                let two_logs = -number(2.0) * delta.ln();
                let q = (number(2.0) * Enclosure::from(tasks.get()) * n.ln() / n).max(two_logs);
                let noise = number(4.0) * norm * (number(0.5) * q * two_logs).sqrt() / epsilon;
                (noise, number(4.0), number(4.0), Some("E9"))
            }
            Scheme::Passes { .. } => {
                let noise = number(5.0) * norm * (-delta.ln()).sqrt() / epsilon;
                return self.really(run, noise, Published::default()).map(Some);
            }
            Scheme::Online => {
                let plan = prescribe::online(self.problem, self.privacy)?;
                return Ok(Some(Published {
                    learning_rate: Some(plan.learning_rate.into()),
                    excess: Some(plan.published),
                    erratum: Some("E21"),
                    ..Published::default()
                }));
            }
        };
        let noise = Enclosure::from(noise.midpoint());
        // As printed, the bound of Corollary 31 has the variance that its σ should have.
        let meant = if erratum == Some("E12") { number(2.0) * noise.square() } else { noise.square() };
        let size = |variance: Enclosure| (norm.square() + d * variance).sqrt();
        let smooth = match (self.scheme, self.smoothness) {
            (Scheme::PerRecord, None) => epsilon * d.sqrt() / (number(2.0) * log),
            _ => Enclosure::ZERO,
        };
        let excess = bound * radius * (size(meant) + norm * smooth) / n.sqrt();
        let learning_rate = Some(rate * radius / (size(noise.square()) * n.sqrt()));
        let published = Published { learning_rate, excess: Some(excess), erratum, ..Published::default() };
        self.really(run, noise, published).map(Some)
    }

    /// What a published noise gives.
    fn really(
        &self,
        run: &Run,
        noise: Enclosure,
        published: Published,
    ) -> Result<Published, CalibrationError> {
        let noise = Positive::named("published gradient noise", noise.midpoint())?;
        let run = run.with(Parameter::GradientNoise, noise.get())?;
        let profiles: Vec<_> =
            analyses(&run, &quickly()).into_iter().filter_map(|found| found.profile.ok()).collect();
        let least =
            |answers: Vec<Enclosure>| answers.into_iter().min_by(|a, b| a.upper().total_cmp(&b.upper()));
        Ok(Published {
            gradient_noise: Some(noise),
            epsilon: least(profiles.iter().map(|profile| profile.epsilon(self.privacy.delta)).collect()),
            delta: least(profiles.iter().map(|profile| profile.delta(self.privacy.epsilon)).collect()),
            ..published
        })
    }
}

/// The analyses that the noise of a scheme rests on; all others can only lower ε.
fn quickly() -> Options {
    Options { only: vec!["composition", "shift"], ..Options::default() }
}

/// A number with few digits, rounded in the direction of a printer of bounds.
fn rounded(value: Positive, print: impl Fn(Enclosure, usize) -> String) -> Result<Positive, Error> {
    let short = print(value.into(), DIGITS).parse().unwrap_or(value.get());
    Positive::named("prescribed number", short)
}
