//! How much each of several private reports contracts, and all of them together.

use super::{kept, number};
use crate::{LocalPrivacy, LocalProfile};
use dobrushin::kernel::{FiniteKernel, Kernel};
use dobrushin::numeric::binomial;
use dobrushin::{Delta, Enclosure, Epsilon, Gamma};
use std::fmt;
use std::num::NonZeroU32;

/// What is known about every single channel between a record and its report.
///
/// ```
/// use dobrushin::{Delta, Epsilon};
/// use dobrushin_local::LocalPrivacy;
/// use dobrushin_local::risk::Reports;
///
/// // 1000 reports with ε = ln 3 tell no more than 250 records without privacy.
/// let reports = Reports::promised(LocalPrivacy { epsilon: Epsilon::new(3_f64.ln())?, delta: Delta::new(0.0)? });
/// assert!((reports.effective_records(1000.try_into()?).upper() - 250.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Reports {
    total_variation: Enclosure,
    information: Enclosure,
    origin: Origin,
}

/// Where the coefficients come from.
#[derive(Clone, Debug)]
enum Origin {
    /// The least coefficients that hold for every channel with this promise.
    Promise(LocalPrivacy),
    /// φ and φ_n of the papers.
    Published(LocalPrivacy),
    /// This channel's own coefficients, the smallest ε at which it is private with δ = 0, and some promises that it
    /// keeps.
    Channel { kernel: FiniteKernel, epsilon: Enclosure, promises: Vec<LocalPrivacy> },
    /// A mechanism's own coefficients, and the same as for a channel.
    Mechanism { epsilon: Enclosure, promises: Vec<LocalPrivacy> },
    /// The records themselves.
    Clear,
}

/// The contraction coefficient that gave the best bound.
///
/// ```
/// use dobrushin::{Delta, Epsilon, divergence::GaussianPair};
/// use dobrushin_local::LocalPrivacy;
/// use dobrushin_local::risk::{Coefficient, Reports, TwoPoints};
///
/// // As published, both coefficients are φ; nothing else is used.
/// let reports = Reports::published(LocalPrivacy { epsilon: Epsilon::new(1.0)?, delta: Delta::new(0.0)? });
/// let bounds = TwoPoints::of(&GaussianPair::new(0.1, 1.0)?).error(&reports, 100.try_into()?);
/// assert!(bounds.iter().all(|bound| {
///     matches!(bound.coefficient, Coefficient::Published | Coefficient::PublishedOfAll)
/// }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coefficient {
    /// φ = 1 − (1 − δ)e^(−ε), as published, of one report.
    Published,
    /// φ_n = 1 − e^(−nε)(1 − δ)^n, as published, of all reports together.
    PublishedOfAll,
    /// η_TV of one report.
    TotalVariation,
    /// η_TV of all reports together.
    TotalVariationOfAll,
    /// η_KL = η_χ² of one report.
    Information,
    /// η_KL of all reports together.
    InformationOfAll,
    /// η_γ of all reports together.
    HockeyStickOfAll,
    /// e^ε − 1, for δ = 0: the largest relative excess of a report's probability for one record over that for another.
    Level,
    /// 1: the records are not private.
    Clear,
    /// ε′ and δ′ between the laws of a report under two given laws of a record.
    Indistinguishability,
    /// The largest I(X; Z) for any law of X, for δ = 0.
    Capacity,
}

impl fmt::Display for Coefficient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Published => "φ",
            Self::PublishedOfAll => "φ_n",
            Self::TotalVariation => "η_TV",
            Self::TotalVariationOfAll => "η_TV of all",
            Self::Information => "η_KL",
            Self::InformationOfAll => "η_KL of all",
            Self::HockeyStickOfAll => "η_γ of all",
            Self::Level => "e^ε − 1",
            Self::Clear => "1",
            Self::Indistinguishability => "ε′",
            Self::Capacity => "capacity",
        })
    }
}

impl Reports {
    /// Every channel keeps this promise: δ + (1 − δ)·tanh(ε/2) for η_TV, and its square for η_KL, which randomised
    /// response attains.
    pub fn promised(privacy: LocalPrivacy) -> Self {
        let (total_variation, information) = (privacy.total_variation(), privacy.information());
        Self { total_variation, information, origin: Origin::Promise(privacy) }
    }

    /// The same with the coefficients of the papers, φ and φ_n, which are never smaller.
    pub fn published(privacy: LocalPrivacy) -> Self {
        let phi = privacy.published(1);
        Self { total_variation: phi, information: phi, origin: Origin::Published(privacy) }
    }

    /// Every record goes through this channel, independently of the others.
    pub fn through(kernel: &FiniteKernel) -> Self {
        let information = kernel.chi_squared_contraction().value;
        let epsilon = kernel.largest_log_ratio();
        let most = epsilon.upper().min(MOST_PROMISED);
        let promises = LEVELS.iter().filter_map(|part| keeps(kernel, part * most)).collect();
        let origin = Origin::Channel { kernel: kernel.clone(), epsilon, promises };
        Self { total_variation: kernel.total_variation(), information, origin }
    }

    /// Every record goes through this mechanism, as it is realised; its matrix, rounded to `f64`, has the exact η_KL if
    /// it is known.
    ///
    /// ```
    /// use dobrushin::{Delta, Epsilon};
    /// use dobrushin_local::frequency::{FrequencyOracle, Response};
    /// use dobrushin_local::risk::Reports;
    ///
    /// // Randomised response among ten categories tells less than between two.
    /// let of = |categories| -> Result<f64, dobrushin::Error> {
    ///     let oracle = Response::new(categories, Epsilon::new(1.0)?, Delta::new(0.0)?)?;
    ///     Ok(Reports::of(&oracle.privacy(), oracle.channel().as_ref()).information().upper())
    /// };
    /// assert!(of(10)? < of(2)?);
    /// # Ok::<(), dobrushin::Error>(())
    /// ```
    pub fn of(profile: &LocalProfile, matrix: Option<&FiniteKernel>) -> Self {
        let by_profile = profile.chi_squared_contraction();
        let information = matrix.map_or(by_profile, |matrix| {
            let eta = matrix.chi_squared_contraction().value + Enclosure::between(-ROUNDED, ROUNDED);
            eta.positive_part().min(Enclosure::ONE)
        });
        let at = |epsilon: f64| Epsilon::new(epsilon).map_or(Enclosure::UNIT, |level| profile.delta(level));
        let epsilon = Delta::new(0.0).map_or(Enclosure::INFINITE, |zero| profile.epsilon(zero));
        let most = epsilon.upper().min(MOST_PROMISED);
        let promise = |part: &f64| promise(part * most, at(part * most));
        let promises = LEVELS.iter().filter_map(promise).collect();
        Self { total_variation: at(0.0), information, origin: Origin::Mechanism { epsilon, promises } }
    }

    /// Every record is reported as it is: no privacy.
    pub fn clear() -> Self {
        Self { total_variation: Enclosure::ONE, information: Enclosure::ONE, origin: Origin::Clear }
    }

    /// η_TV of one report.
    pub fn total_variation(&self) -> Enclosure {
        self.total_variation
    }

    /// η_KL = η_χ² of one report, which is that of every operator-convex f: of 1 − BC, and of the Hellinger divergences
    /// of order up to 2 (Choi, Ruskai, Seneta 1994).
    pub fn information(&self) -> Enclosure {
        self.information
    }

    /// φ, if a promise is known.
    pub fn phi(&self) -> Option<Enclosure> {
        match &self.origin {
            Origin::Promise(privacy) | Origin::Published(privacy) => Some(privacy.published(1)),
            Origin::Channel { .. } | Origin::Mechanism { .. } | Origin::Clear => None,
        }
    }

    /// n·η_KL: this many records without privacy are at least as informative as n reports.
    pub fn effective_records(&self, records: NonZeroU32) -> Enclosure {
        number(records) * self.information
    }

    /// η_γ of n reports together; η_TV at γ = 1.
    ///
    /// # Guarantee
    /// η_γ is at most this, also for sequentially interactive reports. The two laws of all reports agree where all n
    /// pairs of answers can be coupled to agree, with probability (1 − η_TV)^n; and under a promise, or one that a
    /// channel keeps, the answers to any two data sets are a post-processing of n times "reveal with probability δ,
    /// else randomised response" (Kairouz, Oh, Viswanath 2017), whose E_γ is 1 − (1−δ)^n·[1 − Σ_l
    /// C(n,l)·(q^l(1−q)^(n−l) − γq^(n−l)(1−q)^l)₊], q = e^ε/(1 + e^ε).
    pub fn hockey_stick_of(&self, gamma: Gamma, records: NonZeroU32) -> Enclosure {
        let coupled = Enclosure::ONE - kept(self.total_variation, records);
        let promises = match &self.origin {
            Origin::Published(privacy) => return privacy.published(records.get()).min(coupled),
            Origin::Channel { kernel, .. } if records.get() == 1 => return kernel.contraction(gamma),
            _ => self.promises(),
        };
        if records.get() > MOST_COMPOSED {
            return coupled;
        }
        promises.iter().fold(coupled, |least, &privacy| least.min(composed(privacy, gamma, records)))
    }

    /// η_KL of n reports together, 1 − (1 − η_KL)^n.
    ///
    /// # Guarantee
    /// I(V; Z^n) is at most this times I(V; X^n), also for sequentially interactive reports (Polyanskiy and Wu 2017):
    /// I(V; Z^n) ≤ I(V; Z^(n−1)) + η·I(V; X_n | Z^(n−1)) ≤ (1 − η)·I(V; Z^(n−1)) + η·I(V; X^n), and so on by induction.
    pub fn information_of(&self, records: NonZeroU32) -> Enclosure {
        Enclosure::ONE - kept(self.information, records)
    }

    /// A bound on I(V; Z^n) from I(V; X) of one record and I(V; X^n) of all, or from any upper bound on the latter (the
    /// entropy of V, or LDC Corollary 5 with V = X: the entropy of X).
    ///
    /// # Guarantee
    /// The smaller of n·η_KL·I(V; X), for records that are independent given V, and (1 − (1−η_KL)^n)·I(V; X^n) (E17).
    pub fn reported_information(
        &self,
        records: NonZeroU32,
        of_one: Enclosure,
        of_all: Enclosure,
    ) -> (Enclosure, Coefficient) {
        let each = (number(records) * self.information * of_one, self.of_one(Coefficient::Information));
        let all = (self.information_of(records) * of_all, self.of_all(Coefficient::InformationOfAll));
        if each.0.upper() <= all.0.upper() { each } else { all }
    }

    /// The largest I(X; Z) of one report, for δ = 0: m − 1 − ln m with m = ε·e^ε/(e^ε − 1), in nats.
    ///
    /// # Guarantee
    /// I(X; Z) is at most this for every law of X. For every report z the ratios r(x) = K(z|x)/P(z) have mean 1 and lie
    /// in [1/m, e^ε/m] for some 1 ≤ m ≤ e^ε, and I(X; Z) is the mean of r·ln r, which is convex: E[r·ln r] is at most the
    /// chord at 1, ε·e^ε/(e^ε − 1)·(1 − 1/m) − ln m, and this is largest at m = ε·e^ε/(e^ε − 1). The law of X may depend
    /// on earlier reports, so that I(V; Z^n) ≤ Σ I(X_i; Z_i | Z^(i−1)) is at most n times this.
    ///
    /// ```
    /// use dobrushin::{Delta, Epsilon};
    /// use dobrushin_local::LocalPrivacy;
    /// use dobrushin_local::risk::Reports;
    ///
    /// let reports = Reports::promised(LocalPrivacy { epsilon: Epsilon::new(0.01)?, delta: Delta::new(0.0)? });
    /// // About ε²/8.
    /// assert!(reports.capacity().is_some_and(|most| (most.upper() / (1e-4 / 8.0) - 1.0).abs() < 1e-2));
    /// # Ok::<(), dobrushin::Error>(())
    /// ```
    pub fn capacity(&self) -> Option<Enclosure> {
        let epsilon = self.pure_level()?;
        if epsilon.upper() <= 0.0 {
            return Some(Enclosure::ZERO);
        }
        // It grows with ε.
        let level = Enclosure::from(epsilon.upper());
        let m = level / -(-level).exp_m1();
        let most = m - Enclosure::ONE - m.ln();
        Some(most.positive_part())
    }

    /// The least of [`Reports::reported_information`] and n times the capacity of a report.
    pub fn least_information(
        &self,
        records: NonZeroU32,
        of_one: Enclosure,
        of_all: Enclosure,
    ) -> (Enclosure, Coefficient) {
        let contracted = self.reported_information(records, of_one, of_all);
        match self.capacity().map(|most| number(records) * most) {
            Some(most) if most.upper() < contracted.0.upper() => (most, Coefficient::Capacity),
            _ => contracted,
        }
    }

    /// Promises (ε, δ) that every report keeps.
    pub(super) fn promises(&self) -> &[LocalPrivacy] {
        match &self.origin {
            Origin::Promise(privacy) => std::slice::from_ref(privacy),
            Origin::Channel { promises, .. } | Origin::Mechanism { promises, .. } => promises,
            Origin::Published(_) | Origin::Clear => &[],
        }
    }

    /// A bound on 1 − BC of one report under two laws of a record, from their 1 − BC and their total variation.
    ///
    /// # Guarantee
    /// 1 − BC is half a squared Hellinger distance, which η_KL contracts. For δ = 0 also, with y = (e^ε − 1)·TV,
    /// 1 − BC ≤ ½(√(1 + y) − 1)² ≤ y²/8: if q is the smallest likelihood of a report, both likelihoods are at least q
    /// and differ by at most y·q, and ½(√(q + yq) − √q)² sums to at most the claim (E16).
    pub(super) fn affinity_loss(
        &self,
        affinity_loss: Enclosure,
        total_variation: Enclosure,
    ) -> (Enclosure, Coefficient) {
        let contracted = (self.information * affinity_loss, self.of_one(Coefficient::Information));
        let Some(epsilon) = self.pure_level() else {
            return contracted;
        };
        let root = (Enclosure::ONE + epsilon.exp_m1() * total_variation).sqrt();
        let by_level = ((root - Enclosure::ONE).square() / Enclosure::from(2.0), Coefficient::Level);
        if by_level.0.upper() < contracted.0.upper() { by_level } else { contracted }
    }

    /// ε, if δ = 0.
    pub(super) fn pure_level(&self) -> Option<Enclosure> {
        let epsilon = match &self.origin {
            Origin::Promise(LocalPrivacy { epsilon, delta }) if delta.get() == 0.0 => {
                Enclosure::from(*epsilon)
            }
            Origin::Channel { epsilon, .. } | Origin::Mechanism { epsilon, .. } => *epsilon,
            _ => return None,
        };
        epsilon.upper().is_finite().then_some(epsilon)
    }

    /// The name of a coefficient of one report.
    pub(super) fn of_one(&self, coefficient: Coefficient) -> Coefficient {
        match self.origin {
            Origin::Published(_) => Coefficient::Published,
            Origin::Clear => Coefficient::Clear,
            _ => coefficient,
        }
    }

    /// The name of a coefficient of all reports.
    pub(super) fn of_all(&self, coefficient: Coefficient) -> Coefficient {
        match self.origin {
            Origin::Published(_) => Coefficient::PublishedOfAll,
            Origin::Clear => Coefficient::Clear,
            _ => coefficient,
        }
    }
}

/// For more reports than this, η_γ of all is not worth computing: 1 − (1−η_TV)^n is used.
pub(super) const MOST_COMPOSED: u32 = 1_000_000;

/// The promises of a channel that are considered: at these fractions of its ε for δ = 0, or of the largest useful one.
const LEVELS: [f64; 4] = [0.25, 0.5, 0.75, 1.0];
const MOST_PROMISED: f64 = 4.0;

/// The promise that a channel keeps at ε.
fn keeps(kernel: &FiniteKernel, epsilon: f64) -> Option<LocalPrivacy> {
    promise(epsilon, kernel.contraction(Gamma::from_epsilon(epsilon).ok()?))
}

fn promise(epsilon: f64, delta: Enclosure) -> Option<LocalPrivacy> {
    Some(LocalPrivacy { epsilon: Epsilon::new(epsilon).ok()?, delta: Delta::new(delta.upper()).ok()? })
}

/// What rounding every entry of a matrix to `f64`, after a few dozen operations, can change in η_KL: if each entry is
/// within a factor of 1 ± e, ∫pq/(λp + (1−λ)q) = 1 − η is within 1 ± 4e.
const ROUNDED: f64 = 1e-13;

/// An enclosure of γ that leaves more choices than this gives nothing.
const MOST_CANDIDATES: u64 = 4;

/// E_γ of n times "reveal with probability δ, else randomised response".
pub(super) fn composed(privacy: LocalPrivacy, gamma: Gamma, records: NonZeroU32) -> Enclosure {
    let gamma = if gamma.is_below_one() { gamma.reciprocal() } else { gamma };
    let hidden = kept(Enclosure::from(privacy.delta), records);
    let responses = responses(privacy.epsilon, gamma, records);
    (Enclosure::ONE - hidden * (Enclosure::ONE - responses)).min(Enclosure::ONE)
}

/// E_γ of n randomised responses, P(B ≥ l) − γ·P(B′ ≥ l) with B ~ Bin(n, q), B′ ~ Bin(n, 1 − q) and the first l with
/// (2l − n)·ε ≥ ln γ; if several may be this l, the best one.
fn responses(epsilon: Epsilon, gamma: Gamma, records: NonZeroU32) -> Enclosure {
    let level = Enclosure::from(epsilon);
    let n = u64::from(records.get());
    if epsilon.get() == 0.0 {
        return Enclosure::ZERO;
    }
    let truth = Enclosure::ONE / (Enclosure::ONE + (-level).exp());
    let lie = (-level).exp() / (Enclosure::ONE + (-level).exp());
    let turn = (Enclosure::from(n) + gamma.epsilon() / level) / Enclosure::from(2.0);
    let from = turn.lower().max(0.0) as u64;
    let to = if turn.upper() < n as f64 { turn.upper() as u64 + 1 } else { n + 1 };
    if to > from.saturating_add(MOST_CANDIDATES) {
        return Enclosure::UNIT;
    }
    let excess = |l: u64| {
        let [likely, unlikely] = [truth, lie].map(|p| binomial::at_least(n, l, p));
        let cost = if unlikely == Enclosure::ZERO { unlikely } else { gamma.value() * unlikely };
        (likely - cost).positive_part()
    };
    (from..=to).map(excess).fold(Enclosure::ZERO, Enclosure::max)
}
