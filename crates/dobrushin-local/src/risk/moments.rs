//! The mean of a law with a bounded moment.

use super::search::{summit, summit_of_two};
use super::{Coefficient, Reports, RiskBound, kept, number};
use dobrushin::{Enclosure, Error, Probability};
use std::num::NonZeroU32;

/// All laws on the line with E|X|^k ≤ 1, whose mean is estimated with squared error; for E|X|^k ≤ m^k multiply by m².
///
/// ```
/// use dobrushin::{Delta, Epsilon};
/// use dobrushin_local::LocalPrivacy;
/// use dobrushin_local::risk::{MomentClass, Reports};
///
/// let reports = Reports::promised(LocalPrivacy { epsilon: Epsilon::new(1.0)?, delta: Delta::new(0.0)? });
/// // Heavier tails are harder: fewer moments leave a larger error.
/// let risk = |moments| Ok(MomentClass::new(moments)?.risk(&reports, 1000.try_into()?).value.lower());
/// let risks: Result<Vec<f64>, Box<dyn std::error::Error>> = [1.5, 2.0, f64::INFINITY].into_iter().map(risk).collect();
/// assert!(risks?.is_sorted_by(|a, b| a > b));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MomentClass {
    /// 1/k.
    inverse: Enclosure,
}

impl MomentClass {
    /// # Errors
    /// [`Error::OutOfRange`] unless k > 1 (∞: numbers in [−1, 1]).
    pub fn new(moments: f64) -> Result<Self, Error> {
        if moments.is_nan() || moments <= 1.0 {
            return Err(Error::OutOfRange { name: "moments", value: moments, accepted: "above 1" });
        }
        Ok(Self { inverse: Enclosure::ONE / Enclosure::from(moments) })
    }

    /// The bound (LC) from two laws: mass w(1±h)/2 at a, w(1∓h)/2 at −a, and 1 − w at 0, a = w^(−1/k).
    ///
    /// # Guarantee
    /// E|X|^k = 1, the means are ±w^(1−1/k)·h, 1 − BC = w(1 − √(1−h²)) and TV = wh. Two points at a distance Δ have
    /// Bayes risk at least Δ²/4·BC² of the reports: R ≥ w^s·h²·[1 − c]^(2n), s = 2(k−1)/k, with c the contracted 1 −
    /// BC: φ times it in E16, the best of [`Reports`] here. It replaces CED Corollary 2 = LDC Corollary 1, which are
    /// false.
    pub fn at(
        &self,
        reports: &Reports,
        records: NonZeroU32,
        w: Probability,
        h: Probability,
    ) -> (Enclosure, Coefficient) {
        let (w, h) = (Enclosure::from(w), Enclosure::from(h));
        let (loss, by) = reports.affinity_loss(w * biased(h), w * h);
        (w.powf(self.exponent()) * (h * kept(loss, records)).square(), by)
    }

    /// The best bound over all w and h.
    pub fn risk(&self, reports: &Reports, records: NonZeroU32) -> RiskBound {
        let at = |ln_w: f64, ln_h: f64| {
            // e^x ≤ 1 for x ≤ 0.
            match (Probability::new(ln_w.exp()), Probability::new(ln_h.exp())) {
                (Ok(w), Ok(h)) => self.at(reports, records, w, h),
                _ => (Enclosure::ZERO, Coefficient::Information),
            }
        };
        // w or h² is about 1/(nη), or 1/(nη)² where e^ε − 1 is used.
        let least = -(f64::from(records.get()) + 4.0).ln() - 4.0;
        let height = |ln_w: f64, ln_h: f64| at(ln_w, ln_h).0.lower();
        let (ln_w, ln_h) = summit_of_two(((least, 0.0), (0.75 * least, 0.0)), 24, height);
        let edges = [
            (ln_w, ln_h),
            (summit((least, 0.0), 48, |ln_w| height(ln_w, 0.0)), 0.0),
            (0.0, summit((least, 0.0), 48, |ln_h| height(0.0, ln_h))),
        ];
        let values = edges.map(|(ln_w, ln_h)| at(ln_w, ln_h));
        let best = values
            .into_iter()
            .fold(values[0], |best, one| if one.0.lower() > best.0.lower() { one } else { best });
        RiskBound { id: "mean-moments", value: best.0, coefficient: best.1 }
    }

    /// h = 1 and w = min{1, s/(c(2n + s))}, c = η_KL: the best w for that h in closed form.
    pub fn risk_with_signs(&self, reports: &Reports, records: NonZeroU32) -> Enclosure {
        let s = self.exponent();
        let twice = Enclosure::from(2.0) * number(records);
        let w = (s / (reports.information() * (twice + s))).min(Enclosure::ONE);
        w.powf(s) * kept(reports.information() * w, records).square()
    }

    /// ¼·min{1, (2nη_KL)^(−min(1, s))}.
    ///
    /// # Guarantee
    /// (LC) with h = 1, w = min{1, 1/(2nη)}, or w = 1, h² = min{1, 1/(2nη)} (E16).
    pub fn simple_risk(&self, reports: &Reports, records: NonZeroU32) -> RiskBound {
        let rate = Enclosure::from(2.0) * reports.effective_records(records);
        let power = self.exponent().min(Enclosure::ONE);
        let value = quarter(rate.max(Enclosure::ONE).powf(-power));
        RiskBound { id: "mean-moments-simple", value, coefficient: reports.of_one(Coefficient::Information) }
    }

    /// ¼·min{1, [4/(n(e^ε − 1)²)]^((k−1)/k)}, for δ = 0.
    ///
    /// # Guarantee
    /// (LC) with h = 1, w² = min{1, 4/(n(e^ε−1)²)} and 1 − BC ≤ (e^ε − 1)²·w²/8 (E16).
    pub fn pure_risk(&self, reports: &Reports, records: NonZeroU32) -> Option<RiskBound> {
        let level = reports.pure_level()?.exp_m1();
        let rate = number(records) * level.square() / Enclosure::from(4.0);
        let power = self.exponent() / Enclosure::from(2.0);
        let value = quarter(rate.max(Enclosure::ONE).powf(-power));
        Some(RiskBound { id: "mean-moments-pure", value, coefficient: Coefficient::Level })
    }

    /// s = 2(k − 1)/k.
    fn exponent(&self) -> Enclosure {
        Enclosure::from(2.0) * (Enclosure::ONE - self.inverse)
    }
}

/// 1 − √(1 − h²) = h²/(1 + √(1 − h²)).
pub(super) fn biased(h: Enclosure) -> Enclosure {
    let root = (Enclosure::ONE - h.square()).positive_part().sqrt();
    h.square() / (Enclosure::ONE + root)
}

fn quarter(x: Enclosure) -> Enclosure {
    x / Enclosure::from(4.0)
}
