//! The mean of a law on a ball.

use super::fano::most_likely;
use super::moments::biased;
use super::search::summit;
use super::{Coefficient, Reports, RiskBound, kept, number, sorted};
use dobrushin::{Enclosure, Positive, Probability};
use std::num::NonZeroU32;

/// All laws on a ball of R^d, whose mean is estimated with squared Euclidean error.
///
/// ```
/// use dobrushin::{Delta, Epsilon, Positive};
/// use dobrushin_local::LocalPrivacy;
/// use dobrushin_local::risk::{Ball, Reports};
///
/// // (r²/4)/(2nη_KL) with r = 2, η_KL = 1/4 and n = 1000: 1/500.
/// let reports = Reports::promised(LocalPrivacy { epsilon: Epsilon::new(3_f64.ln())?, delta: Delta::new(0.0)? });
/// let ball = Ball { radius: Positive::new(2.0)?, dimension: 3.try_into()? };
/// let bound = ball.two_points(&reports, 1000.try_into()?);
/// assert!((bound.value.lower() - 2e-3).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ball {
    /// r.
    pub radius: Positive,
    /// d.
    pub dimension: NonZeroU32,
}

impl Ball {
    /// Every bound, the best first.
    pub fn bounds(&self, reports: &Reports, records: NonZeroU32) -> Vec<RiskBound> {
        sorted(vec![
            self.two_points(reports, records),
            self.assouad(reports, records),
            self.fano(reports, records),
        ])
    }

    /// (r²/4)·min{1, 1/(2nη_KL)}, from two points on one line (E17), which replaces LDC Corollary 2.
    pub fn two_points(&self, reports: &Reports, records: NonZeroU32) -> RiskBound {
        let rate = Enclosure::from(2.0) * reports.effective_records(records);
        let value = self.squared_radius() / (Enclosure::from(4.0) * rate.max(Enclosure::ONE));
        RiskBound { id: "ball-two-point", value, coefficient: reports.of_one(Coefficient::Information) }
    }

    /// The best over m ≤ d and h of (r²h²/m)·[1 − c]^(2n).
    ///
    /// # Guarantee
    /// For a vector v of m signs, let X be ±r times one of the first m axes, drawn at random, with the sign v_i with
    /// probability (1 + h)/2: the mean is (rh/m)·v. Under uniform v the risk is a sum over coordinates, each with two
    /// points at distance 2rh/m. BC is jointly concave, so between the two mixtures over the other signs it is at least
    /// its value for fixed signs, [1 − c]^n with c the contracted (1 − √(1−h²))/m, at total variation h/m. m = 1 is the
    /// case of two points.
    pub fn assouad(&self, reports: &Reports, records: NonZeroU32) -> RiskBound {
        let at = |m: f64, ln_h: f64| {
            let h = Probability::new(ln_h.exp()).map_or(Enclosure::ONE, Enclosure::from);
            let m = Enclosure::from(m);
            let (loss, by) = reports.affinity_loss(biased(h) / m, h / m);
            (self.squared_radius() / m * (h * kept(loss, records)).square(), by)
        };
        let least = -(f64::from(records.get()) + 4.0).ln() - 4.0;
        let best_h = |m: f64| at(m, summit((least, 0.0), 48, |ln_h| at(m, ln_h).0.lower()));
        let d = f64::from(self.dimension.get());
        let around = summit((0.0, d.ln()), 24, |ln_m| best_h(ln_m.exp().round()).0.lower()).exp();
        let candidates = [1.0, around.floor(), around.ceil(), d].map(|m| m.clamp(1.0, d));
        let values = candidates.map(best_h);
        let best = values
            .into_iter()
            .fold(values[0], |best, one| if one.0.lower() > best.0.lower() { one } else { best });
        RiskBound { id: "ball-assouad", value: best.0, coefficient: best.1 }
    }

    /// The best over m ≤ d, D and h of 2(rh/m)²·D·P_e.
    ///
    /// # Guarantee
    /// By Gilbert and Varshamov there are at least 2^m/Σ_{j<D} C(m, j) ≥ e^(m(ln 2 − h_b((D−1)/m))) vectors of m signs
    /// that differ pairwise in at least D places, D ≤ m/2 + 1. With X as in [`Ball::assouad`], their means are
    /// 2(rh/m)√D apart, and I(X; V) ≤ ln 2 − h_b((1−h)/2), the divergence from h = 0. P_e is the least error that the
    /// information in the reports allows (Fano), and E18 has the constant. It replaces LDC (45).
    pub fn fano(&self, reports: &Reports, records: NonZeroU32) -> RiskBound {
        let d = f64::from(self.dimension.get());
        let dimensions = std::iter::successors(Some(d), |m| (*m > 1.0).then(|| (m / 2.0).floor().max(1.0)));
        let mut best = (Enclosure::ZERO, reports.of_one(Coefficient::Information));
        for m in dimensions {
            for share in [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4] {
                let differences = (share * m).ceil();
                let at = |ln_h: f64| self.packing(reports, records, m, differences, ln_h);
                let least = -0.5 * (f64::from(records.get()) + 4.0).ln() - 3.0;
                let value = at(summit((least, 0.0), 24, |ln_h| at(ln_h).0.lower()));
                if value.0.lower() > best.0.lower() {
                    best = value;
                }
            }
        }
        RiskBound { id: "ball-fano", value: best.0, coefficient: best.1 }
    }

    /// The bound of one packing; m and D are integers with 1 ≤ D ≤ m/2 + 1.
    fn packing(
        &self,
        reports: &Reports,
        records: NonZeroU32,
        m: f64,
        differences: f64,
        ln_h: f64,
    ) -> (Enclosure, Coefficient) {
        let h = Probability::new(ln_h.exp()).map_or(Enclosure::ONE, Enclosure::from);
        let (m, differences) = (Enclosure::from(m), Enclosure::from(differences));
        let ln_2 = Enclosure::from(2.0).ln();
        let ln_size = m * (ln_2 - entropy((differences - Enclosure::ONE) / m)).positive_part();
        let of_one = (ln_2 - entropy((Enclosure::ONE - h) / Enclosure::from(2.0))).positive_part();
        let of_all = (number(records) * of_one).min(m * ln_2);
        let (information, by) = reports.reported_information(records, of_one, of_all);
        let error = Enclosure::ONE - most_likely((-ln_size).exp(), information);
        let half_separation = self.squared_radius() * (h / m).square() * differences;
        (Enclosure::from(2.0) * half_separation * error.positive_part(), by)
    }

    fn squared_radius(&self) -> Enclosure {
        Enclosure::from(self.radius).square()
    }
}

/// h_b(p) = −p·ln p − (1−p)·ln(1−p).
fn entropy(p: Enclosure) -> Enclosure {
    let part = |x: Enclosure| if x.upper() <= 0.0 { Enclosure::ZERO } else { -(x.positive_part() * x.ln()) };
    part(p) + part(Enclosure::ONE - p)
}
