//! The papers' theorems that choose noise and learning rate for a given privacy level, and promise an excess risk.
//!
//! The algorithm is projected noisy SGD on n records, each used once, in a set within a ball of radius R: w ← Π(w −
//! η·(∇f(w, x) + σZ)), all losses convex and L-Lipschitz. Noise is calibrated exactly, where the papers use σ =
//! 2L·√(2·ln(1.25/δ))/ε, which is insufficient for large ε (E10).
//!
//! [`Prescription::published`] is the promise of the paper at that noise, and [`Prescription::excess`] is that of
//! [`super::Descent`] at the same noise and learning rate.

use super::smoothing::{Smoothing, smoothing};
use super::{Descent, GradientStep, Ground, sums};
use crate::numeric::theta::{largest_r, theta_range};
use crate::{Delta, Enclosure, Epsilon, Error, Positive};
use std::num::NonZeroU64;

/// The learning problem.
///
/// ```
/// use dobrushin::utility::prescribe::Problem;
/// use dobrushin::{Epsilon, Positive};
///
/// let (lipschitz, radius) = (Positive::new(1.0)?, Positive::new(1.0)?);
/// let problem = Problem { records: 1000.try_into()?, dimension: 20.try_into()?, lipschitz, radius };
/// // Each later step hides the first record better than the last.
/// let delta = |record| problem.delta_of_record(Positive::new(4.0)?, record, Epsilon::new(0.1)?);
/// assert!(delta(1)?.upper() < delta(1000)?.lower());
/// assert!(delta(1001).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Problem {
    /// n: independent draws from one distribution.
    pub records: NonZeroU64,
    /// d.
    pub dimension: NonZeroU64,
    /// L: no gradient of one record's loss exceeds this norm.
    pub lipschitz: Positive,
    /// R: the set of models lies in a ball of this radius.
    pub radius: Positive,
}

/// The required privacy, for neighbours that differ in one replaced record.
///
/// ```
/// use dobrushin::utility::prescribe::{Privacy, Problem, stop};
/// use dobrushin::{Delta, Epsilon, Positive};
///
/// let (lipschitz, radius) = (Positive::new(1.0)?, Positive::new(1.0)?);
/// let problem = Problem { records: 1000.try_into()?, dimension: 20.try_into()?, lipschitz, radius };
/// let noise = |epsilon| -> Result<f64, dobrushin::Error> {
///     let privacy = Privacy { epsilon: Epsilon::new(epsilon)?, delta: Delta::new(1e-5)? };
///     Ok(stop(problem, privacy)?.gradient_noise.get())
/// };
/// // More privacy needs more noise.
/// assert!(noise(0.5)? > noise(1.0)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Privacy {
    /// ε.
    pub epsilon: Epsilon,
    /// δ.
    pub delta: Delta,
}

/// The parameters to use, and the promised result.
///
/// ```
/// use dobrushin::numeric::theta;
/// use dobrushin::utility::prescribe::{Privacy, Problem, stop};
/// use dobrushin::{Delta, Epsilon, Positive};
///
/// let (lipschitz, radius) = (Positive::new(1.0)?, Positive::new(1.0)?);
/// let problem = Problem { records: 1000.try_into()?, dimension: 20.try_into()?, lipschitz, radius };
/// let (epsilon, delta) = (Epsilon::new(1.0)?, Delta::new(1e-5)?);
/// let plan = stop(problem, Privacy { epsilon, delta })?;
/// // The noise is the least that hides a gradient of norm 1 that becomes its opposite.
/// let least = theta::smallest_noise(Positive::new(2.0)?, epsilon, delta).upper();
/// assert!((plan.gradient_noise.get() / least - 1.0).abs() < 1e-9);
/// assert!(plan.excess.upper() <= plan.published.upper());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prescription {
    /// σ: the noise of every coordinate of the gradient.
    pub gradient_noise: Positive,
    /// η; for [`online`], the first of the rates η/√t.
    pub learning_rate: Positive,
    /// The expected excess risk as the paper promises it, with errors corrected.
    pub published: Enclosure,
    /// A smaller bound on the same.
    pub excess: Enclosure,
    /// The largest smoothness β of the losses for which the privacy promise holds; ∞ if any smoothness is allowed.
    pub largest_smoothness: f64,
}

/// Every record is protected by its own noise only, and the model at a random time 1, …, n is released.
///
/// # Guarantee
/// Every step is (ε, δ)-private by itself: θ_ε(2L/σ) ≤ δ was checked. With η = 2R/(G·√n), G² = L² + dσ², the expected
/// excess population risk is at most 2RG/√n (Feldman et al. 2018, Theorem 29, has 4RG/√n).
///
/// # Errors
/// [`Error::OutOfRange`] if no noise gives the privacy, or any noise does.
///
/// ```
/// use dobrushin::utility::prescribe::{Privacy, Problem, stop};
/// use dobrushin::{Delta, Epsilon, Positive};
///
/// let problem = Problem {
///     records: 1_000_000.try_into()?,
///     dimension: 20.try_into()?,
///     lipschitz: Positive::new(1.0)?,
///     radius: Positive::new(1.0)?,
/// };
/// let plan = stop(problem, Privacy { epsilon: Epsilon::new(1.0)?, delta: Delta::new(1e-5)? })?;
/// assert!((plan.gradient_noise.get() - 7.461).abs() < 1e-3);
/// assert!(plan.excess.upper() < 0.067);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn stop(problem: Problem, privacy: Privacy) -> Result<Prescription, Error> {
    let noise = problem.noise(privacy, 1)?;
    let plan =
        problem.plan(noise, Rate { factor: 2.0.into(), published: 4.0.into() }, 1..=problem.records.get())?;
    Ok(Prescription { largest_smoothness: f64::INFINITY, ..plan })
}

/// Up to half of the first records are skipped at random; early records are better protected.
///
/// # Guarantee
/// Every step is (ε, δ)-private by itself; record t is (ε₀, θ_{ε₀}(2L/(σ·√(n−t+1))))-private for every ε₀ if
/// losses are as smooth as the prescription says, see [`Problem::delta_of_record`] (Theorem 30; the printed
/// (ε/√(n−t+1), δ) holds only where the classical formula for σ does, E11). With η = √8·R/(G·√n) the expected
/// excess is at most 2√2·RG/√n (the paper has 4√2·RG/√n, and misprints √8·R as √(8R)).
///
/// # Errors
/// [`Error::OutOfRange`] if no noise gives the privacy, or any noise does.
///
/// ```
/// use dobrushin::utility::prescribe::{Privacy, Problem, skip, stop};
/// use dobrushin::{Delta, Epsilon, Positive};
///
/// let (lipschitz, radius) = (Positive::new(1.0)?, Positive::new(1.0)?);
/// let problem = Problem { records: 1000.try_into()?, dimension: 20.try_into()?, lipschitz, radius };
/// let privacy = Privacy { epsilon: Epsilon::new(1.0)?, delta: Delta::new(1e-5)? };
/// // The same noise as for a random stop, and a bound √2 times as large.
/// let (skipped, stopped) = (skip(problem, privacy)?, stop(problem, privacy)?);
/// assert_eq!(skipped.gradient_noise, stopped.gradient_noise);
/// let ratio = skipped.published.upper() / stopped.published.upper();
/// assert!((ratio - 2_f64.sqrt()).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn skip(problem: Problem, privacy: Privacy) -> Result<Prescription, Error> {
    problem.skipping(problem.noise(privacy, 1)?)
}

/// The last m of the n records are public: the noise that hides the others can be smaller by a factor √(m + 1).
///
/// # Guarantee
/// The model, after up to half of the first records were skipped at random, is (ε, δ)-private for every record except
/// the last m: θ_ε(2L/(σ·√(m+1))) ≤ δ was checked (Corollary 31; the printed σ lacks a factor √2 and is not private,
/// E12). The excess is that of [`skip`].
///
/// # Errors
/// [`Error::OutOfRange`] if no noise gives the privacy or any noise does, or if no record is private.
///
/// ```
/// use dobrushin::utility::prescribe::{Privacy, Problem, public, skip};
/// use dobrushin::{Delta, Epsilon, Positive};
///
/// let (lipschitz, radius) = (Positive::new(1.0)?, Positive::new(1.0)?);
/// let problem = Problem { records: 1000.try_into()?, dimension: 20.try_into()?, lipschitz, radius };
/// let privacy = Privacy { epsilon: Epsilon::new(1.0)?, delta: Delta::new(1e-5)? };
/// // With 99 public records at the end, a tenth of the noise is enough.
/// let (some, none) = (public(problem, privacy, 99)?, skip(problem, privacy)?);
/// assert!((some.gradient_noise.get() / none.gradient_noise.get() - 0.1).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn public(problem: Problem, privacy: Privacy, public_records: u64) -> Result<Prescription, Error> {
    if public_records >= problem.records.get() {
        let accepted = "smaller than the number of records";
        return Err(Error::OutOfRange { name: "public records", value: public_records as f64, accepted });
    }
    problem.skipping(problem.noise(privacy, public_records + 1)?)
}

/// k models are trained on the same records, and each is released at its own random time.
///
/// # Guarantee
/// All of them together are (ε, δ)-private if losses are as smooth as the prescription says, with
/// σ = 4L·√(q·ln(1/δ))/ε, q = max{2k·H_n/n, 2·ln(1/δ)} (Theorem 32, which has ln n for H_n and is then wrong for
/// n = 1, E9). With η = 4R/(G·√n) the expected excess of each is at most 2.5·RG/√n (the paper has 4RG/√n).
///
/// # Errors
/// [`Error::OutOfRange`] unless 0 < ε < 1 and 0 < δ < 1/2.
///
/// ```
/// use dobrushin::utility::prescribe::{Privacy, Problem, tasks};
/// use dobrushin::{Delta, Epsilon, Positive};
///
/// let (lipschitz, radius) = (Positive::new(1.0)?, Positive::new(1.0)?);
/// let problem = Problem { records: 1000.try_into()?, dimension: 20.try_into()?, lipschitz, radius };
/// let privacy = Privacy { epsilon: Epsilon::new(0.5)?, delta: Delta::new(1e-5)? };
/// let noise = |models: u64| Ok(tasks(problem, privacy, models.try_into()?)?.gradient_noise.get());
/// // As long as 2k·H_n/n is below 2·ln(1/δ), the noise does not depend on the number of models.
/// let noise: Result<Vec<f64>, Box<dyn std::error::Error>> = [1, 100, 10_000].into_iter().map(noise).collect();
/// let noise = noise?;
/// assert!(noise[0] == noise[1] && noise[1] < noise[2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn tasks(problem: Problem, privacy: Privacy, tasks: NonZeroU64) -> Result<Prescription, Error> {
    let (epsilon, delta) = (privacy.epsilon.get(), privacy.delta.get());
    if !(epsilon > 0.0 && epsilon < 1.0) {
        return Err(Error::OutOfRange { name: "epsilon", value: epsilon, accepted: "above 0 and below 1" });
    }
    if !(delta > 0.0 && delta < 0.5) {
        return Err(Error::OutOfRange { name: "delta", value: delta, accepted: "above 0 and below 1/2" });
    }
    let n = problem.records.get();
    let (two, log) = (Enclosure::from(2.0), -Enclosure::from(delta).ln());
    let each = two * Enclosure::from(tasks.get()) * sums::harmonic(n) / Enclosure::from(n);
    let q = each.max(two * log);
    let noise = Enclosure::from(4.0) * problem.norm() * (q * log).sqrt() / Enclosure::from(epsilon);
    let noise = Positive::named("gradient noise", noise.upper())?;
    problem.plan(noise, Rate { factor: 4.0.into(), published: 4.0.into() }, 1..=n)
}

/// [`skip`] for losses that need not be smooth: each is averaged over N(0, λ²I).
///
/// # Guarantee
/// The privacy of [`skip`] for losses of any smoothness. λ = L·η/2 makes the averaged losses just smooth enough,
/// 2/η, and adds at most L·λ·E‖Z‖ to the excess (Theorem 33 and Corollary 34). The published bound has the paper's
/// λ = R·ε/(2·√(n·ln(1/δ))), if that is larger, and √d for E‖Z‖; the printed one has ln(1.25/δ) for the
/// root of ln(1/δ) and is smaller than that for δ below about 1e-14 (E21).
///
/// # Errors
/// [`Error::OutOfRange`] if no noise gives the privacy, or any noise does.
///
/// ```
/// use dobrushin::utility::prescribe::{Privacy, Problem, skip, smoothed};
/// use dobrushin::{Delta, Epsilon, Positive};
///
/// let (lipschitz, radius) = (Positive::new(1.0)?, Positive::new(1.0)?);
/// let problem = Problem { records: 1000.try_into()?, dimension: 20.try_into()?, lipschitz, radius };
/// let privacy = Privacy { epsilon: Epsilon::new(1.0)?, delta: Delta::new(1e-5)? };
/// let (plan, smoothing) = smoothed(problem, privacy)?;
/// // The averaged losses are smooth enough, for the price of the smoothing.
/// assert!(smoothing.smoothness.upper() <= plan.largest_smoothness);
/// assert!(plan.excess.upper() > skip(problem, privacy)?.excess.upper());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn smoothed(problem: Problem, privacy: Privacy) -> Result<(Prescription, Smoothing), Error> {
    let plan = skip(problem, privacy)?;
    let (norm, half) = (problem.norm(), Enclosure::from(0.5));
    let mut deviation = (half * norm * Enclosure::from(plan.learning_rate)).upper();
    let smoothing = loop {
        let smooth =
            smoothing(problem.lipschitz, problem.dimension, Positive::named("smoothing", deviation)?);
        if smooth.smoothness.upper() <= plan.largest_smoothness {
            break smooth;
        }
        deviation = deviation.next_up();
    };
    let log = -Enclosure::from(privacy.delta).ln();
    let root = (Enclosure::from(problem.records.get()) * log).sqrt();
    let paper = half * Enclosure::from(problem.radius) * Enclosure::from(privacy.epsilon) / root;
    let paper = paper.max(smoothing.deviation.into());
    let published = plan.published + norm * paper * Enclosure::from(problem.dimension.get()).sqrt();
    Ok((Prescription { published, excess: plan.excess + smoothing.error, ..plan }, smoothing))
}

/// Online gradient descent: one play for each record, with the rates η_t = D/(L·√t), D = 2R.
///
/// # Guarantee
/// Every step is (ε, δ)-private by itself. The expected average regret of the n plays is at most (1/n)·(D²/(2η_n) +
/// ½·Σ_{t<n} η_t·(L² + dσ²) + ½·η_n·L²), for any costs that are fixed in advance; for random ones, this is the excess
/// of the play at a random time, before its cost is known (Asoodeh, Diaz, Calmon 2023, Proposition 2, has 3LD/(2√n) +
/// (d/(2n))·Σ_{t≤n} η_t·σ²; the algorithm it is stated for releases the iterate after that, E21).
///
/// # Errors
/// [`Error::OutOfRange`] if no noise gives the privacy, or any noise does.
///
/// ```
/// use dobrushin::utility::prescribe::{Privacy, Problem, online};
/// use dobrushin::{Delta, Epsilon, Positive};
///
/// let (lipschitz, radius) = (Positive::new(2.0)?, Positive::new(1.0)?);
/// let problem = Problem { records: 1000.try_into()?, dimension: 20.try_into()?, lipschitz, radius };
/// let plan = online(problem, Privacy { epsilon: Epsilon::new(1.0)?, delta: Delta::new(1e-5)? })?;
/// // The first rate is D/L = 2R/L.
/// assert_eq!(plan.learning_rate.get(), 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn online(problem: Problem, privacy: Privacy) -> Result<Prescription, Error> {
    let gradient_noise = problem.noise(privacy, 1)?;
    let ground = problem.ground()?;
    let (diameter, norm) = (ground.diameter(), problem.norm());
    let learning_rate = Positive::named("learning rate", (diameter / norm).midpoint())?;
    let (first, n) = (Enclosure::from(learning_rate), problem.records.get());
    let (count, half) = (Enclosure::from(n), Enclosure::from(0.5));
    let end = first / count.sqrt();
    let variance = Enclosure::from(problem.dimension.get()) * Enclosure::from(gradient_noise).square();
    let costs = first * sums::inverse_roots(n - 1) * (norm.square() + variance) + end * norm.square();
    let noise = variance * first * sums::inverse_roots(n);
    let published = Enclosure::from(1.5) * norm * diameter / count.sqrt() + half * noise / count;
    let excess = half * (diameter.square() / end + costs) / count;
    Ok(Prescription { gradient_noise, learning_rate, published, excess, largest_smoothness: f64::INFINITY })
}

impl Problem {
    /// δ of one record, counted from 1, at ε, if only the last model is released (skipping or not) and losses
    /// are at most 2/η-smooth: θ_ε(2L/(σ·√(n−t+1))).
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if there is no such record.
    pub fn delta_of_record(
        &self,
        gradient_noise: Positive,
        record: u64,
        at: Epsilon,
    ) -> Result<Enclosure, Error> {
        let later =
            self.records.get().checked_sub(record).filter(|_| record > 0).ok_or(Error::OutOfRange {
                name: "record",
                value: record as f64,
                accepted: "between 1 and the number of records",
            })?;
        let noise = Enclosure::from(gradient_noise) * Enclosure::from(later + 1).sqrt();
        Ok(theta_range(at.into(), self.sensitivity() / noise))
    }

    fn norm(&self) -> Enclosure {
        self.lipschitz.into()
    }

    /// 2L: the largest distance by which a replaced record moves a gradient.
    fn sensitivity(&self) -> Enclosure {
        Enclosure::from(2.0) * self.norm()
    }

    fn ground(&self) -> Result<Ground, Error> {
        let diameter = Positive::named("diameter", 2.0 * self.radius.get())?;
        Ok(Ground { diameter, lipschitz: self.lipschitz })
    }

    /// The smallest σ that was checked to have θ_ε(2L/(σ·√steps)) ≤ δ.
    fn noise(&self, Privacy { epsilon, delta }: Privacy, steps: u64) -> Result<Positive, Error> {
        let shift = self.sensitivity() / Enclosure::from(steps).sqrt();
        let largest = Enclosure::from(largest_r(epsilon, delta).lower());
        if delta.get() == 0.0 || largest == Enclosure::ZERO {
            return Err(Error::OutOfRange { name: "delta", value: delta.get(), accepted: "above 0" });
        }
        if largest == Enclosure::INFINITE {
            let accepted = "finite, with a delta below 1: otherwise no noise is needed";
            return Err(Error::OutOfRange { name: "epsilon", value: epsilon.get(), accepted });
        }
        let mut noise = Positive::named("gradient noise", (shift / largest).upper())?;
        while theta_range(epsilon.into(), shift / Enclosure::from(noise)).upper() > delta.get() {
            noise = Positive::named("gradient noise", noise.get().next_up())?;
        }
        Ok(noise)
    }

    /// Skipping up to half of the records.
    fn skipping(&self, noise: Positive) -> Result<Prescription, Error> {
        let n = self.records.get();
        let (factor, published) = (Enclosure::from(8.0).sqrt(), Enclosure::from(32.0).sqrt());
        self.plan(noise, Rate { factor, published }, n - n / 2..=n)
    }

    /// η = factor·R/(G·√n), and the resulting promise.
    fn plan(
        &self,
        gradient_noise: Positive,
        rate: Rate,
        times: std::ops::RangeInclusive<u64>,
    ) -> Result<Prescription, Error> {
        let variance = Enclosure::from(self.dimension.get()) * Enclosure::from(gradient_noise).square();
        let second_moment = self.norm().square() + variance;
        let scale = (Enclosure::from(self.records.get()) * second_moment).sqrt();
        let radius = Enclosure::from(self.radius);
        let learning_rate = (rate.factor * radius / scale).midpoint();
        let learning_rate = Positive::named("learning rate", learning_rate)?;
        let step = GradientStep { rate: learning_rate.into(), second_moment };
        let count = Enclosure::from(self.records.get());
        let published = rate.published * radius * second_moment.sqrt() / count.sqrt();
        let excess = Descent::equal(self.ground()?, self.records.get(), step).average(times);
        let largest_smoothness = (Enclosure::from(2.0) / Enclosure::from(learning_rate)).lower();
        Ok(Prescription { gradient_noise, learning_rate, published, excess, largest_smoothness })
    }
}

/// The constants of a theorem.
struct Rate {
    /// The factor of R/(G·√n) in the learning rate.
    factor: Enclosure,
    /// The factor of R·G/√n in the bound.
    published: Enclosure,
}
