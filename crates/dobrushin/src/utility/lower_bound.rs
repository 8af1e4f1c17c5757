//! What no private algorithm can do better than: lower bounds on the excess risk, with constants.
//!
//! The worst losses are straight: f(w, x) = −L·⟨w, x⟩ on the ball of radius R, with records of norm at most 1. They are
//! convex, L-Lipschitz and of smoothness 0, so the bounds hold for every class of losses that contains them. With the
//! mean record m the excess of w is L·(R·‖m‖ − ⟨w, m⟩).
//!
//! # Two points (Le Cam)
//! Records ±1 of mean h or −h along one line: the excesses of w at both means add up to 2·L·R·h at least where nothing
//! tells the two apart. So the larger expected excess is at least L·R·h·(1 − T), T the total variation between the
//! outputs.
//! - *Without privacy* T² ≤ 1 − B², where B = (1 − h²)^{n/2} is the Bhattacharyya coefficient of n records.
//! - *Local privacy*: a record has two values, so that its (ε, δ)-private report is computed from that of the mechanism
//!   which tells the value with probability δ, and otherwise answers at random, truthfully with probability
//!   e^ε/(1 + e^ε): the trade-off function of that mechanism is the lowest one (Kairouz, Oh, Viswanath 2015). This holds
//!   also if reports are asked for one after another. Its B of one record is δ·√(1 − h²) + (1 − δ)·√(1 − τ²h²), τ =
//!   tanh(ε/2).
//! - *Central privacy*: coupled record by record, the two data sets differ in H ~ Bin(n, h) records. Outputs on data sets
//!   that differ in k records have a total variation of at most k·φ, φ = τ + δ·(1 − τ), and, as k neighbours in a row are
//!   (kε, δ·(e^{kε} − 1)/(e^ε − 1))-private, of at most (1 + 2δ/(e^ε − 1))·tanh(kε/2). Both are concave in k, so that T is
//!   at most their value at nh. With m records public, these add at most √(1 − (1 − h²)^m).
//! - *Empirical risk*: r records are all 1 or all −1 and the others 0, so that h = r/n and H = r.
//!
//! # Tracing (fingerprinting)
//! Records X/√d, X ∈ {±1}^d with independent coordinates of mean p_j, and every p_j drawn from the density ∝ (1 − p²)^k.
//! For every function w_j of n records, E[w_j·Σ_i(X_ij − p_j) | p] = (1 − p_j²)·∂E[w_j | p]/∂p_j, and integration by
//! parts gives E[w_j·Σ_i(X_ij − p_j)] = 2(k+1)·E[w_j·p_j]. Summed over coordinates, E⟨w, p⟩ = A/(2(k+1)), where A =
//! Σ_i E⟨w, X_i − p⟩ says how much of its records the model contains. So if A ≤ R·ℓ, the mean excess is at least
//! L·R·(a − ℓ/(2(k+1)·√d)), for a = E‖p‖/√d ≥ √(v·d/(κ + d − 1)), v = E p² = 1/(2k+3), κ = E p⁴/v² = 3(2k+3)/(2k+5)
//! (Hölder: (E‖p‖²)³ ≤ (E‖p‖)²·E‖p‖⁴).
//! - *Without privacy* ℓ = √(nd): A ≤ R·√(E‖Σ(X_i − p)‖²).
//! - *Central privacy* ℓ = n·c, c = sinh ε + (1 + e^{−ε})·δ·√d. With X_i exchanged for an independent copy in the data, w′
//!   is independent of X_i, and α′ = ⟨w′, X_i − p⟩ has the mean 0 and E α′² ≤ R². Privacy, tail by tail, gives
//!   E α ≤ e^ε·E α′₊ − e^{−ε}·E α′₋ + (1 + e^{−ε})·δ·E(R·‖X_i − p‖) ≤ sinh ε·E|α′| + (1 + e^{−ε})·δ·R·√d. With m public
//!   records ℓ = (n − m)·c + √(md). With k models, each on its own coordinates of the same records, E α′² ≤ kR² for the
//!   sum over models, and the mean excess of the models has sinh ε/√k for sinh ε.
//! - *Local privacy* ℓ = √n·y. Given p, S_i = E[X_i − p | the first i reports] are martingale differences, A =
//!   E⟨w, Σ S_i⟩ ≤ R·√(Σ E‖S_i‖²), and E‖S_i‖² = E⟨S_i, X_i − p⟩ = y² ≤ sinh ε·y + (1 + e^{−ε})·δ·2d by the argument
//!   above, as ‖S_i‖ ≤ 2√d.
//! - *Empirical risk* with N of n records of this kind and the others 0: the mean record is Σ X_i/(n√d), and E⟨w, ΣX_i⟩ =
//!   A + N·E⟨w, p⟩, E‖ΣX_i‖ ≥ N·E‖p‖ (Jensen): the excess is at least (N/n)·L·R·(a − N·c/(2(k+1)·√d) − c/√d). ∎

use super::prescribe::{Privacy, Problem};
use crate::Enclosure;
use crate::numeric::GoldenSection;
use crate::numeric::elementary::powi;
use std::num::NonZeroU64;

/// The names of the theorems.
const TWO_POINTS: &str = "lower-two-points";
const TRACING: &str = "lower-tracing";

/// The algorithms that a lower bound is about.
///
/// ```
/// use dobrushin::utility::prescribe::{Privacy, Problem};
/// use dobrushin::utility::{Learner, least_excess};
/// use dobrushin::{Delta, Epsilon, Positive};
///
/// let (lipschitz, radius) = (Positive::new(1.0)?, Positive::new(1.0)?);
/// let problem = Problem { records: 10_000.try_into()?, dimension: 400.try_into()?, lipschitz, radius };
/// let privacy = Privacy { epsilon: Epsilon::new(0.1)?, delta: Delta::new(1e-6)? };
/// let least = |learner| least_excess(problem, privacy, learner).excess.lower();
/// // Whoever may not see the records themselves learns less from them.
/// let central = Learner::Central { public_records: 0, tasks: 1.try_into()? };
/// assert!(least(Learner::Local) > 10.0 * least(central));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learner {
    /// Models that are (ε, δ)-private together, for all records except some public ones; the excess population risk.
    Central {
        /// How many of the records are public.
        public_records: u64,
        /// The number of models; the bound is on the mean of their excesses.
        tasks: NonZeroU64,
    },
    /// A model, or plays, computed from one (ε, δ)-private report of each record, asked for one after another; the
    /// excess population risk, or the average regret.
    Local,
    /// An (ε, δ)-private model; the excess empirical risk.
    Empirical,
}

/// The excess that no algorithm of a kind can avoid.
///
/// ```
/// use dobrushin::utility::prescribe::{Privacy, Problem};
/// use dobrushin::utility::{Learner, least_excess};
/// use dobrushin::{Delta, Epsilon, Positive};
///
/// let (lipschitz, radius) = (Positive::new(1.0)?, Positive::new(1.0)?);
/// let problem = Problem { records: 10_000.try_into()?, dimension: 1.try_into()?, lipschitz, radius };
/// let privacy = Privacy { epsilon: Epsilon::new(10.0)?, delta: Delta::new(1e-6)? };
/// let least = least_excess(problem, privacy, Learner::Central { public_records: 0, tasks: 1.try_into()? });
/// // So little privacy costs nothing beyond what 10000 records cannot tell: 0.27/√n.
/// assert_eq!(least.excess, least.without_privacy);
/// assert!((least.excess.lower() - 0.0027).abs() < 1e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LowerBound {
    /// The bound; its lower end is guaranteed.
    pub excess: Enclosure,
    /// The theorem.
    pub id: &'static str,
    /// What no algorithm can avoid even without privacy; 0 for the empirical risk.
    pub without_privacy: Enclosure,
}

/// The largest of the lower bounds on the worst expected excess.
///
/// # Guarantee
/// For every algorithm of this kind there are convex L-Lipschitz losses on the ball of radius R, straight ones, and a
/// law of the records (for [`Learner::Empirical`]: a data set), for which its expected excess is at least the lower end.
/// The proofs are at the top of this module. For plays, the average regret on independent records is at least the mean
/// excess of the plays, since the best fixed point on the sum is at least as good as the best one for the law.
///
/// ```
/// use dobrushin::utility::prescribe::{Privacy, Problem, stop};
/// use dobrushin::utility::{Learner, least_excess};
/// use dobrushin::{Delta, Epsilon, Positive};
///
/// let (lipschitz, radius) = (Positive::new(1.0)?, Positive::new(1.0)?);
/// let problem = Problem { records: 1_000_000.try_into()?, dimension: 20.try_into()?, lipschitz, radius };
/// let privacy = Privacy { epsilon: Epsilon::new(1.0)?, delta: Delta::new(1e-5)? };
/// let (least, promised) = (least_excess(problem, privacy, Learner::Local), stop(problem, privacy)?);
/// assert!(least.excess.lower() < promised.excess.upper());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn least_excess(problem: Problem, privacy: Privacy, learner: Learner) -> LowerBound {
    let class = Class::new(problem, privacy);
    let plain = class
        .two_points_apart(class.records, |h| by_sampling(class.records, Enclosure::ONE, Enclosure::ONE, h));
    let (without_privacy, found) = match learner {
        Learner::Central { public_records, tasks } => {
            let public = Enclosure::from(public_records.min(problem.records.get()));
            let private = (class.records - public).positive_part();
            let shift = |h| {
                class.between_data_sets(private * h) + by_sampling(public, Enclosure::ONE, Enclosure::ONE, h)
            };
            let leak =
                private * class.leak(Enclosure::from(tasks.get()).sqrt()) + (public * class.dimension).sqrt();
            let two = class.two_points_apart(class.records * class.records, shift);
            (plain, [(plain, TWO_POINTS), (two, TWO_POINTS), (class.tracing(leak), TRACING)])
        }
        Learner::Local => {
            let shift = |h| by_sampling(class.records, class.delta, class.tanh(Enclosure::ONE), h);
            let two = class.two_points_apart(class.records, shift);
            let leak = class.records.sqrt() * class.leak_of_a_report();
            (plain, [(plain, TWO_POINTS), (two, TWO_POINTS), (class.tracing(leak), TRACING)])
        }
        Learner::Empirical => {
            let none = (Enclosure::ZERO, TWO_POINTS);
            (Enclosure::ZERO, [none, (class.two_data_sets(), TWO_POINTS), (class.tracing_some(), TRACING)])
        }
    };
    let best =
        found.into_iter().reduce(|best, next| if next.0.lower() > best.0.lower() { next } else { best });
    let (share, id) = best.unwrap_or((Enclosure::ZERO, TWO_POINTS));
    let scale = Enclosure::from(problem.lipschitz) * Enclosure::from(problem.radius);
    LowerBound { excess: scale * share, id, without_privacy: scale * without_privacy }
}

/// The numbers of a class of problems; all bounds are shares of L·R.
#[derive(Clone, Copy)]
struct Class {
    records: Enclosure,
    dimension: Enclosure,
    epsilon: Enclosure,
    delta: Enclosure,
}

/// How many places a search tries.
const CUTS: u32 = 60;

impl Class {
    fn new(problem: Problem, privacy: Privacy) -> Self {
        Self {
            records: problem.records.get().into(),
            dimension: problem.dimension.get().into(),
            epsilon: privacy.epsilon.into(),
            delta: privacy.delta.into(),
        }
    }

    /// tanh(kε/2).
    fn tanh(self, k: Enclosure) -> Enclosure {
        let grown = (k * self.epsilon).exp_m1();
        if grown.lower() > 0.0 {
            Enclosure::ONE / (Enclosure::ONE + Enclosure::from(2.0) / grown)
        } else {
            // It is at most kε/2.
            Enclosure::between(0.0, (Enclosure::from(0.5) * k * self.epsilon).upper().min(1.0))
        }
    }

    /// The most that the outputs on data sets k records apart differ in total variation.
    fn between_data_sets(self, k: Enclosure) -> Enclosure {
        let one = self.tanh(Enclosure::ONE);
        let in_a_row = k * (one + self.delta * (Enclosure::ONE - one));
        let grown = self.epsilon.exp_m1();
        let together = if grown.lower() > 0.0 {
            (Enclosure::ONE + Enclosure::from(2.0) * self.delta / grown) * self.tanh(k)
        } else {
            Enclosure::ONE
        };
        in_a_row.min(together).min(Enclosure::ONE)
    }

    /// The largest h·(1 − T(h)) over h ≤ 1, looked for around h = 1/√`size`.
    fn two_points_apart(self, size: Enclosure, shift: impl Fn(Enclosure) -> Enclosure) -> Enclosure {
        let value = |h: Enclosure| h * (Enclosure::ONE - shift(h)).positive_part();
        let middle = -0.5 * libm::log(size.midpoint());
        // Privacy moves the best h by some powers of ε, up or down.
        let search =
            GoldenSection::new((middle - 5.0, 0.0), |ln: f64| -value(libm::exp(ln).min(1.0).into()).lower());
        best_of([libm::exp(search.narrowed(CUTS).lowest().0).min(1.0), 1.0], |h| value(h.into()))
    }

    /// c, where the noise of `tasks` models is shared: `root` is the root of their number.
    fn leak(self, root: Enclosure) -> Enclosure {
        self.sinh() / root + self.both_tails() * self.dimension.sqrt()
    }

    fn sinh(self) -> Enclosure {
        Enclosure::from(0.5) * (self.epsilon.exp_m1() - (-self.epsilon).exp_m1())
    }

    /// (1 + e^{−ε})·δ.
    fn both_tails(self) -> Enclosure {
        (Enclosure::ONE + (-self.epsilon).exp()) * self.delta
    }

    /// y: the root of y² = sinh ε·y + (1 + e^{−ε})·δ·2d, and at most √d.
    fn leak_of_a_report(self) -> Enclosure {
        let (half, two) = (Enclosure::from(0.5), Enclosure::from(2.0));
        let rest = two * two * self.both_tails() * two * self.dimension;
        let root = half * (self.sinh() + (self.sinh().square() + rest).sqrt());
        root.min(self.dimension.sqrt())
    }

    /// a − ℓ/(2(k+1)·√d) for a good k.
    fn tracing(self, leak: Enclosure) -> Enclosure {
        let plain = (self.records * self.dimension).sqrt();
        self.traced(leak.min(plain), Enclosure::ZERO)
    }

    /// a − ℓ/(2(k+1)·√d), less something that does not depend on k, for a good k.
    fn traced(self, leak: Enclosure, less: Enclosure) -> Enclosure {
        let share = leak / self.dimension.sqrt();
        let value = |k: f64| {
            let (k, d) = (Enclosure::from(k), self.dimension);
            let (one, two, three) = (Enclosure::ONE, Enclosure::from(2.0), Enclosure::from(3.0));
            let variance = one / (two * k + three);
            let kurtosis = three * (two * k + three) / (two * k + Enclosure::from(5.0));
            let size = (variance * d / (kurtosis + d - one)).sqrt();
            size - share / (two * (k + one)) - less
        };
        let most = libm::log(1.0 + 4.0 * powi(share.midpoint(), 2)) + 1.0;
        if !most.is_finite() {
            return Enclosure::ZERO;
        }
        let search = GoldenSection::new((0.0, most), |ln: f64| -value(libm::expm1(ln)).lower());
        best_of([libm::expm1(search.narrowed(CUTS).lowest().0), 0.0], value).positive_part()
    }

    /// (r/n)·(1 − T) for a good number r of records.
    fn two_data_sets(self) -> Enclosure {
        let value = |r: f64| {
            let r = Enclosure::from(r);
            r / self.records * (Enclosure::ONE - self.between_data_sets(r)).positive_part()
        };
        self.best_count(value)
    }

    /// Tracing N of the records, for a good N.
    fn tracing_some(self) -> Enclosure {
        let leak = self.leak(Enclosure::ONE);
        let value = |count: f64| {
            let count = Enclosure::from(count);
            count / self.records * self.traced(count * leak, leak / self.dimension.sqrt())
        };
        self.best_count(value)
    }

    /// The largest value over whole numbers of records.
    fn best_count(self, value: impl Fn(f64) -> Enclosure) -> Enclosure {
        let most = self.records.lower();
        let whole = |ln: f64| libm::exp(ln).floor().clamp(1.0, most);
        let search = GoldenSection::new((0.0, libm::log(most)), |ln: f64| -value(whole(ln)).lower());
        best_of([whole(search.narrowed(CUTS).lowest().0), 1.0], value)
    }
}

/// The better of two places, each of which is valid.
fn best_of(places: [f64; 2], value: impl Fn(f64) -> Enclosure) -> Enclosure {
    let [one, other] = places.map(value);
    if one.lower() >= other.lower() { one } else { other }
}

/// √(1 − B²) for this many records ±1 of mean ±h, of each of which the value is told with probability `told`, and
/// otherwise a value whose mean is `kept` times as large.
fn by_sampling(count: Enclosure, told: Enclosure, kept: Enclosure, h: Enclosure) -> Enclosure {
    if count == Enclosure::ZERO {
        return Enclosure::ZERO;
    }
    // 1 − √(1 − x), without cancellation.
    let missing = |x: Enclosure| x / (Enclosure::ONE + (Enclosure::ONE - x).positive_part().sqrt());
    let square = h.square();
    let loss = told * missing(square) + (Enclosure::ONE - told) * missing(kept.square() * square);
    let ln = (-loss.min(Enclosure::ONE)).ln_1p();
    // 1 − B².
    let apart = -(Enclosure::from(2.0) * count * ln).exp_m1();
    apart.positive_part().min(Enclosure::ONE).sqrt()
}
