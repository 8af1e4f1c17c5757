//! Two given laws of a record are harder to tell apart than two worst records: their reports are nearly the same.

use super::reports::{MOST_COMPOSED, composed};
use super::{Coefficient, Reports, RiskBound, kept};
use crate::LocalPrivacy;
use dobrushin::divergence::Pair;
use dobrushin::numeric::{Boundary, binomial, boundary, partition_point};
use dobrushin::{Delta, Enclosure, Epsilon, Gamma, Probability};
use std::num::NonZeroU32;

/// How alike the reports are under two laws of a record.
///
/// ```
/// use dobrushin::divergence::{DiscretePair, FiniteLaw};
/// use dobrushin::{Delta, Epsilon};
/// use dobrushin_local::LocalPrivacy;
/// use dobrushin_local::risk::{Indistinguishable, Reports};
///
/// let (p, q) = (FiniteLaw::new("P", vec![0.6, 0.4])?, FiniteLaw::new("Q", vec![0.4, 0.6])?);
/// let reports = Reports::promised(LocalPrivacy { epsilon: Epsilon::new(1.0)?, delta: Delta::new(0.0)? });
/// let alike = Indistinguishable::between(&DiscretePair::new(p, q)?, &reports);
/// // Randomised response with ε = 1 reports heads with probability 0.5462 or 0.4538, and ln(0.5462/0.4538) is 0.1854.
/// assert!(alike.pure().is_some_and(|epsilon| (epsilon.get() - 0.1854).abs() < 1e-4));
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Indistinguishable {
    /// Every one of these (ε′, δ′) holds between the laws of a report.
    pairs: Vec<LocalPrivacy>,
}

impl Indistinguishable {
    /// The (ε′, δ′) that follow from every promise that the reports keep; none from published coefficients.
    ///
    /// # Guarantee
    /// Let K be (ε, δ)-locally private, e = E_γ(P‖Q) and γ̃ = 1 + (γ−1)/e. Then E_γ(PK‖QK) ≤ e·η_γ̃(K): write P as the
    /// mixture of W and P′ with the weights 1−e and e, and γQ as (1−e)·W plus (γ−1+e)·Q′ (Balle, Barthe, Gaboardi, Geumlek
    /// 2019). If γ ≥ 1 + (e^ε−1)·e, γ̃ is at least e^ε, so E_γ(PK‖QK) ≤ e·δ; the same for Q and P. So the laws of a report
    /// are (ln γ, δ·e)-indistinguishable for the larger e of both, given all earlier reports. By Kairouz, Oh and
    /// Viswanath (2017) all n reports are then a post-processing of n times "reveal with probability δ′, else randomised
    /// response with ε′", also if channels depend on earlier reports.
    pub fn between(pair: &impl Pair, reports: &Reports) -> Self {
        let contraction = reports.total_variation().upper();
        // (0, η_TV) is a promise that always holds.
        let always = Epsilon::new(0.0).ok().zip(Delta::new(contraction).ok());
        let always = always.filter(|_| !reports.promises().is_empty());
        let always = always.map(|(epsilon, delta)| LocalPrivacy { epsilon, delta });
        let promises = reports.promises().iter().copied().chain(always);
        Self { pairs: promises.filter_map(|promise| reduced(pair, promise)).collect() }
    }

    /// The least ε′ with δ′ = 0, if there is one.
    pub fn pure(&self) -> Option<Epsilon> {
        let pure = self.pairs.iter().filter(|pair| pair.delta.get() == 0.0).map(|pair| pair.epsilon);
        pure.min_by(|a, b| a.get().total_cmp(&b.get()))
    }

    /// A bound on the error ½(P(accept Q) + Q(accept P)) of every test from n reports: ½(1 − TV) of the responses.
    pub fn error(&self, records: NonZeroU32) -> Option<RiskBound> {
        self.bound("two-point-composed", records, |pair| {
            let rest = Enclosure::ONE - composed(pair, Gamma::ONE, records);
            rest.positive_part() / Enclosure::from(2.0)
        })
    }

    /// A bound on the error of the second kind at level α of every test from n reports.
    ///
    /// # Guarantee
    /// E_γ = sup_A [P(A) − γQ(A)] at the sets where a test accepts, and where it rejects, gives β ≥ (1 − E_γ − α)/γ and β ≥
    /// 1 − E_γ − γα, for every γ. The γ that matter are the likelihood ratios e^(kε′), k = n, n − 2, …
    pub fn missed(&self, records: NonZeroU32, level: Probability) -> Option<RiskBound> {
        self.bound("testing-composed", records, |pair| missed(pair, records, level))
    }

    /// A bound on E_γ, γ ≥ 1, between the laws of all n reports.
    pub(super) fn hockey_stick(&self, gamma: Gamma, records: NonZeroU32) -> Option<Enclosure> {
        if records.get() > MOST_COMPOSED {
            return None;
        }
        self.pairs.iter().map(|&pair| composed(pair, gamma, records)).reduce(Enclosure::min)
    }

    fn bound(
        &self,
        id: &'static str,
        records: NonZeroU32,
        of: impl Fn(LocalPrivacy) -> Enclosure,
    ) -> Option<RiskBound> {
        if records.get() > MOST_COMPOSED {
            return None;
        }
        let best = self.pairs.iter().map(|&pair| of(pair)).max_by(|a, b| a.lower().total_cmp(&b.lower()));
        best.map(|value| RiskBound { id, value, coefficient: Coefficient::Indistinguishability })
    }
}

/// The smallest γ with γ ≥ 1 + (e^ε − 1)·E_γ in both directions, and δ·E_γ there.
fn reduced(pair: &impl Pair, promise: LocalPrivacy) -> Option<LocalPrivacy> {
    let excess = Enclosure::from(promise.epsilon).exp_m1();
    let apart = |gamma: f64| {
        let both = |gamma: Gamma| pair.hockey_stick(gamma).max(pair.hockey_stick_reversed(gamma));
        Gamma::new(gamma).map_or(Enclosure::UNIT, both).min(Enclosure::ONE)
    };
    let holds = |gamma: f64| {
        let least = if excess == Enclosure::ZERO { Enclosure::ZERO } else { excess * apart(gamma) };
        (Enclosure::from(gamma) - Enclosure::ONE).lower() >= least.upper()
    };
    let most = (Enclosure::ONE + excess).upper().next_up();
    let gamma = match (holds(1.0), most < f64::MAX && holds(most)) {
        (true, _) => 1.0,
        (_, true) => boundary(Boundary { holds: most, fails: 1.0 }, 1.0f64.midpoint(most), holds).holds,
        _ => return None,
    };
    let delta = (Enclosure::from(promise.delta) * apart(gamma)).min(Enclosure::ONE);
    Some(LocalPrivacy {
        epsilon: Epsilon::new(Enclosure::from(gamma).ln().upper().max(0.0)).ok()?,
        delta: Delta::new(delta.upper()).ok()?,
    })
}

/// The smallest error of the second kind between n randomised responses, at the γ that are likelihood ratios.
///
/// The best test rejects from some number l of truths on, at γ = e^((2l−n)ε′). It has level α if that many lies have
/// probability α/(1−δ′)^n; every γ gives a bound, so l need not be exact.
fn missed(pair: LocalPrivacy, records: NonZeroU32, level: Probability) -> Enclosure {
    let (n, alpha) = (u64::from(records.get()), Enclosure::from(level));
    let lie = (-Enclosure::from(pair.epsilon)).exp();
    let lie = lie / (Enclosure::ONE + lie);
    let hidden = kept(pair.delta.into(), records);
    let is_too_likely = |l: usize| (hidden * binomial::at_least(n, l as u64, lie)).midpoint() > level.get();
    let turn = partition_point(0..n as usize + 1, is_too_likely) as f64;
    let at = |l: f64| {
        let ratio = 2.0 * l.clamp(0.0, n as f64) - n as f64;
        let gamma = Gamma::from_epsilon(ratio.abs() * pair.epsilon.get()).ok();
        gamma.filter(|gamma| gamma.value().upper() < f64::MAX).map_or(Enclosure::ZERO, |gamma| {
            let rest = Enclosure::ONE - composed(pair, gamma, records);
            let above =
                if ratio >= 0.0 { rest - gamma.value() * alpha } else { (rest - alpha) / gamma.value() };
            above.positive_part()
        })
    };
    let near = (-NEAR..=NEAR).map(|i| at(turn + f64::from(i)));
    // γ = 1 also serves where the ratios are too large.
    near.fold(at(0.5 * n as f64), Enclosure::max).min(Enclosure::ONE)
}

/// How far from the guess other numbers of truths are tried.
const NEAR: i32 = 2;
