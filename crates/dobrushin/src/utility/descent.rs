//! Noisy projected descent on a convex function, and the expected quality of its iterates.
//!
//! x_t = Π_K(x_{t−1} − η_t·G_t) for t = 1, …, n, with E[G_t | x_0, …, x_{t−1}] ∈ ∂F(x_{t−1}) and E‖G_t‖² ≤ G_t², on a
//! convex set K of diameter D that contains x_0; F is convex on K, with a subgradient of norm at most L everywhere; η_1
//! ≥ η_2 ≥ … .
//!
//! # The lemma
//! For all a ≤ b ≤ n and every u ∈ K that x_0, …, x_a determine,
//!
//! Σ_{t=a}^{b} E[F(x_t) − F(u)] ≤ Δ + ½·(Σ_{t=a+1}^{b} η_t·G_t² + η·L²),
//!
//! where η = η_{b+1} (η_n if b = n), and Δ = D²/(2η) for any u, Δ = (D²/2)·(1/η − 1/η_{a+1}) for u = x_a.
//!
//! Proof. Let x_b be followed by one more step, with the rate η and an exact subgradient of norm at most L at x_b,
//! without noise; this step need not actually be taken. Projection moves no point away from u, so ‖x_{t+1} − u‖² ≤ ‖x_t
//! − u‖² − 2η_{t+1}·⟨G_{t+1}, x_t − u⟩ + η_{t+1}²·‖G_{t+1}‖². The mean of the inner product is at least E[F(x_t) −
//! F(u)], since u and x_t are known before G_{t+1} is drawn. Divided by 2η_{t+1} and summed, the squared distances give
//! at most Σ‖x_t − u‖²·(1/(2η_{t+1}) − 1/(2η_t)), with no second term at t = a. Every bracket is ≥ 0 and every square
//! at most D², or 0 at t = a if u = x_a. ∎

use super::sums;
use crate::numeric::elementary::powi;
use crate::run::Fact;
use crate::{Enclosure, NotApplicable, Positive};
use std::ops::RangeInclusive;

/// The setting of a descent.
///
/// ```
/// use dobrushin::Positive;
/// use dobrushin::utility::Ground;
///
/// // Nothing on a set of diameter 2 is worse than 2·3, if gradients are at most 3.
/// let ground = Ground { diameter: Positive::new(2.0)?, lipschitz: Positive::new(3.0)? };
/// assert!(ground.any_point().contains(6.0));
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ground {
    /// D: the diameter of the set.
    pub diameter: Positive,
    /// L: at every point, some subgradient of F has norm at most this.
    pub lipschitz: Positive,
}

impl Ground {
    /// F(x) − F* ≤ L·D.
    ///
    /// # Guarantee
    /// It bounds the excess of every point of the set: F(x) − F(u) ≤ ⟨g, x − u⟩ for the subgradient g at x.
    pub fn any_point(self) -> Enclosure {
        self.lipschitz() * self.diameter()
    }

    /// L·D·√(d/(2(d+1))): F(c) − F* for the centre c of the smallest ball that contains the set; the factor is 1/√2 if
    /// the dimension is not known.
    ///
    /// # Guarantee
    /// The ball has at most this radius over L, and its centre is in the set if that is closed and convex (Jung 1901). So
    /// a model that was chosen without looking at the data has no larger excess, and a bound of this size says nothing.
    ///
    /// ```
    /// use dobrushin::Positive;
    /// use dobrushin::utility::Ground;
    ///
    /// // The middle of an interval is at most half of its length away from everything in it.
    /// let ground = Ground { diameter: Positive::new(2.0)?, lipschitz: Positive::new(3.0)? };
    /// assert!(ground.best_blind_point(Some(1)).contains(3.0));
    /// # Ok::<(), dobrushin::Error>(())
    /// ```
    pub fn best_blind_point(self, dimension: Option<u64>) -> Enclosure {
        let share = dimension.map_or(Enclosure::from(0.5), |dimension| {
            let d = Enclosure::from(dimension);
            d / (Enclosure::from(2.0) * (d + Enclosure::ONE))
        });
        self.any_point() * share.sqrt()
    }

    pub(super) fn diameter(self) -> Enclosure {
        self.diameter.into()
    }

    pub(super) fn lipschitz(self) -> Enclosure {
        self.lipschitz.into()
    }
}

/// One step x ← Π_K(x − η·G).
///
/// ```
/// use dobrushin::Positive;
/// use dobrushin::utility::{Descent, GradientStep, Ground};
///
/// let ground = Ground { diameter: Positive::new(1.0)?, lipschitz: Positive::new(1.0)? };
/// // Noise of variance 3 makes the second moment of a gradient of norm 1 four times as large.
/// let step = |second_moment: f64| GradientStep { rate: 0.1.into(), second_moment: second_moment.into() };
/// let excess = |step| Descent::equal(ground, 1000, step).average(1..=1000).upper();
/// assert!(excess(step(1.0)) < excess(step(4.0)));
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GradientStep {
    /// η.
    pub rate: Enclosure,
    /// An upper bound on E‖G‖², noise included.
    pub second_moment: Enclosure,
}

impl GradientStep {
    /// η·G².
    fn cost(self) -> Enclosure {
        self.rate * self.second_moment
    }
}

/// A noisy projected descent, as described at the top of this module.
///
/// ```
/// use dobrushin::Positive;
/// use dobrushin::utility::{Descent, GradientStep, Ground};
///
/// let ground = Ground { diameter: Positive::new(1.0)?, lipschitz: Positive::new(1.0)? };
/// let step = GradientStep { rate: 0.1.into(), second_moment: 1.0.into() };
/// // With D = L = G = 1 and m times: (1/η + η·m)/(2m), which is 0.1 for η = 0.1 and m = 100.
/// let descent = Descent::equal(ground, 100, step);
/// assert!((descent.average(1..=100).upper() - 0.1).abs() < 1e-12);
/// // The last iterate may be worse than the average of all.
/// assert!(descent.last().upper() > descent.average(1..=100).upper());
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Descent {
    ground: Ground,
    steps: Steps,
}

#[derive(Clone, Debug, PartialEq)]
enum Steps {
    Equal {
        count: u64,
        step: GradientStep,
    },
    /// The steps, at least one; the rates do not increase.
    Varying(Vec<GradientStep>),
}

impl Descent {
    /// This many equal steps; 0 is treated as 1.
    pub fn equal(ground: Ground, count: u64, step: GradientStep) -> Self {
        Self { ground, steps: Steps::Equal { count: count.max(1), step } }
    }

    /// Steps whose rates do not increase.
    ///
    /// # Errors
    /// [`NotApplicable`] if a rate is larger than the previous one, or there is no step.
    pub fn varying(ground: Ground, steps: Vec<GradientStep>) -> Result<Self, NotApplicable> {
        let grows = |pair: &[GradientStep]| {
            pair[1].rate.upper() > pair[0].rate.upper() || pair[1].rate.lower() > pair[0].rate.lower()
        };
        match steps.windows(2).position(grows) {
            Some(place) => Err(NotApplicable::because_of(
                &[Fact::LearningRate],
                format!(
                    "the learning rate grows at step {}, and the bounds need one that never does: {}",
                    place + 2,
                    Fact::LearningRate
                ),
            )),
            None if steps.is_empty() => Err(NotApplicable::beyond("there is no step")),
            None => Ok(Self { ground, steps: Steps::Varying(steps) }),
        }
    }

    /// n.
    pub fn count(&self) -> u64 {
        match &self.steps {
            Steps::Equal { count, .. } => *count,
            Steps::Varying(steps) => steps.len() as u64,
        }
    }

    /// G² of equal steps.
    pub(super) fn second_moment(&self) -> Option<f64> {
        match &self.steps {
            Steps::Equal { step, .. } => Some(step.second_moment.midpoint()),
            Steps::Varying(_) => None,
        }
    }

    /// The mean of E[F(x_t) − F*] over consecutive times t in 0, …, n; infinite if there are none.
    ///
    /// With m times and equal steps: (D²/η + η·((m−1)·G² + L²))/(2m).
    ///
    /// # Guarantee
    /// The upper end bounds the expected excess of the iterate at a uniformly random one of these times, and of the
    /// average of these iterates (as F is convex): the lemma at the top of this module, for u a minimum of F.
    ///
    /// It also bounds the expected average regret Σ[f_t(x_{t−1}) − f_t(u)]/m for convex costs f_t that were fixed in
    /// advance, if E[G_t | past] ∈ ∂f_t(x_{t−1}): the proof uses no other property of F in any step.
    pub fn average(&self, times: RangeInclusive<u64>) -> Enclosure {
        let (first, last) = times.into_inner();
        if first > last || last > self.count() {
            return Enclosure::INFINITE;
        }
        let count = Enclosure::from(last - first + 1);
        let (end, costs) = match &self.steps {
            Steps::Equal { step, .. } => (step.rate, Enclosure::from(last - first) * step.cost()),
            Steps::Varying(steps) => {
                let (first, last) = (first as usize, last as usize);
                let end = steps.get(last).unwrap_or(&steps[steps.len() - 1]);
                (end.rate, steps[first..last].iter().map(|step| step.cost()).sum())
            }
        };
        self.mean(count, end, costs)
    }

    /// E[F(x_n) − F*], for the best m ≤ n + 1.
    ///
    /// With equal steps: D²/(2ηm) + (η/2)·(G²·H_{m−1} + L²).
    ///
    /// # Guarantee
    /// The upper end bounds it. Proof (Shamir, Zhang 2013, for varying rates): let S_k be the mean of E F over the last
    /// k iterates. The lemma with u = x_{n−k} and b = n says k·S_k − k·E F(x_{n−k}) ≤ A_k = ½·(Σ_{t>n−k} η_t·G_t² +
    /// η_n·L² + D²·(1/η_n − 1/η_{n−k+1})), and E F(x_{n−k}) = (k+1)·S_{k+1} − k·S_k. So S_k ≤ S_{k+1} + A_k/(k(k+1)),
    /// and S_1 ≤ S_m + Σ_{k<m} A_k/(k(k+1)), where S_m − F* is [`Descent::average`] of the last m. For equal steps
    /// 2A_k/η = k·G² + L², Σ 1/(k+1) = H_m − 1 and Σ 1/(k(k+1)) = 1 − 1/m. ∎
    pub fn last(&self) -> Enclosure {
        match &self.steps {
            Steps::Equal { count, step } => self.last_of_equal(*count, *step),
            Steps::Varying(steps) => self.last_of_varying(steps),
        }
    }

    fn last_of_equal(&self, count: u64, step: GradientStep) -> Enclosure {
        let Ground { diameter, .. } = self.ground;
        // The next m is better while m + 1 ≤ D²/(ηG)²; any m is a bound.
        let square = powi(diameter.get() / step.rate.midpoint(), 2) / step.second_moment.midpoint();
        let m = (square as u64).clamp(1, count.saturating_add(1));
        let spread = self.ground.diameter().square() / (Enclosure::from(m) * step.rate);
        let size = step.second_moment * sums::harmonic(m - 1) + self.ground.lipschitz().square();
        Enclosure::from(0.5) * (spread + step.rate * size)
    }

    fn last_of_varying(&self, steps: &[GradientStep]) -> Enclosure {
        let square = self.ground.diameter().square();
        let end = steps[steps.len() - 1].rate;
        let mut best = self.mean(Enclosure::ONE, end, Enclosure::ZERO);
        let (mut costs, mut climbs) = (Enclosure::ZERO, Enclosure::ZERO);
        for (before, step) in steps.iter().rev().enumerate() {
            let k = Enclosure::from(before as u64 + 1);
            costs = costs + step.cost();
            let spread = square * (Enclosure::ONE / end - Enclosure::ONE / step.rate).positive_part();
            let climb = costs + end * self.ground.lipschitz().square() + spread;
            let m = k + Enclosure::ONE;
            climbs = climbs + Enclosure::from(0.5) * climb / (k * m);
            let bound = self.mean(m, end, costs) + climbs;
            best = if bound.upper() < best.upper() { bound } else { best };
        }
        best
    }

    /// (D²/η + Σ η_t·G_t² + η·L²)/(2m).
    fn mean(&self, count: Enclosure, end: Enclosure, costs: Enclosure) -> Enclosure {
        let total = self.ground.diameter().square() / end + costs + end * self.ground.lipschitz().square();
        total / (Enclosure::from(2.0) * count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ground(diameter: f64, lipschitz: f64) -> Ground {
        let positive = |value| Positive::new(value).expect("positive");
        Ground { diameter: positive(diameter), lipschitz: positive(lipschitz) }
    }

    fn step(rate: f64, second_moment: f64) -> GradientStep {
        GradientStep { rate: rate.into(), second_moment: second_moment.into() }
    }

    #[test]
    fn equal_steps_and_a_list_of_them_have_the_same_bounds() {
        for (rate, moment, count) in [(0.1, 5.0, 1), (0.1, 5.0, 100), (2.0, 1.0, 30), (1e-3, 900.0, 1000)] {
            let equal = Descent::equal(ground(2.0, 1.0), count, step(rate, moment));
            let list = Descent::varying(ground(2.0, 1.0), vec![step(rate, moment); count as usize])
                .expect("rates do not grow");
            for times in [0..=0, 0..=count - 1, 1..=count, count / 2..=count, count..=count] {
                let (a, b) = (equal.average(times.clone()), list.average(times));
                assert!((a.upper() / b.upper() - 1.0).abs() < 1e-12, "{a} {b}");
            }
            let (a, b) = (equal.last(), list.last());
            assert!((a.upper() / b.upper() - 1.0).abs() < 1e-12, "{rate} {moment} {count}: {a} {b}");
        }
    }

    /// S_1 ≤ S_m + Σ_{k<m} A_k/(k(k+1)), with every sum written out.
    #[test]
    fn the_last_of_falling_rates_is_the_best_of_all_windows() {
        let (diameter, lipschitz) = (3.0, 0.5);
        for n in [1_usize, 2, 7, 60] {
            for power in [0.0, 0.5, 1.5] {
                let rate = |t: usize| 0.8 / (t as f64).powf(power);
                let moment = |t: usize| 1.0 + (t % 3) as f64;
                let cost = |t: usize| rate(t) * moment(t);
                let end = rate(n) * lipschitz * lipschitz;
                let average = |m: usize| {
                    let costs: f64 = (n + 2 - m..=n).map(cost).sum();
                    (diameter * diameter / rate(n) + costs + end) / (2.0 * m as f64)
                };
                let climb = |k: usize| {
                    let costs: f64 = (n - k + 1..=n).map(cost).sum();
                    let spread = diameter * diameter * (1.0 / rate(n) - 1.0 / rate(n - k + 1));
                    (costs + end + spread) / (2.0 * (k * (k + 1)) as f64)
                };
                let window = |m: usize| average(m) + (1..m).map(climb).sum::<f64>();
                let best = (1..=n + 1).map(window).fold(f64::INFINITY, f64::min);
                let steps = (1..=n).map(|t| step(rate(t), moment(t))).collect();
                let found = Descent::varying(ground(diameter, lipschitz), steps).expect("rates fall").last();
                assert!((found.upper() / best - 1.0).abs() < 1e-12, "{n} {power}: {found} {best}");
            }
        }
    }

    #[test]
    fn times_that_are_none_have_no_bound() {
        let descent = Descent::equal(ground(2.0, 1.0), 3, step(0.1, 1.0));
        let backwards = RangeInclusive::new(2, 1);
        assert_eq!(descent.average(backwards), Enclosure::INFINITE);
        assert_eq!(descent.average(0..=4), Enclosure::INFINITE);
        assert!(descent.average(0..=3).upper().is_finite());
    }

    #[test]
    fn a_rate_that_grows_is_refused_with_its_place() {
        let steps = vec![step(0.2, 1.0), step(0.1, 1.0), step(0.1, 1.0), step(0.11, 1.0)];
        let error = Descent::varying(ground(1.0, 1.0), steps).expect_err("0.11 > 0.1");
        assert!(error.to_string().contains("step 4") && error.to_string().contains("update.learning-rate"));
    }
}
