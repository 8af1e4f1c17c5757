//! Mechanisms with bounded reports.

use super::{MeanMechanism, Target};
use dobrushin::Enclosure;

/// The smaller of Hoeffding's and Bennett's bounds on ln E e^(±t(Y − m)), for a mechanism whose reports Y lie in a
/// range.
///
/// # Guarantee
/// Hoeffding: t²(u − l)²/8. Bennett: (v/D²)·(e^(tD) − 1 − tD) with |Y − m| ≤ D and E(Y − m)² ≤ v, since
/// (e^x − 1 − x)/x² increases.
pub(super) fn log_moment(mechanism: &dyn MeanMechanism, t: Enclosure, of: Target) -> Enclosure {
    let Some((least, most)) = mechanism.range() else {
        return Enclosure::INFINITE;
    };
    let [least, most] = [least, most].map(Enclosure::from);
    let bounds = mechanism.bounds();
    let deviation = (most - Enclosure::from(bounds.lower())).max(Enclosure::from(bounds.upper()) - least);
    let by_range = t.square() * (most - least).square() / Enclosure::from(8.0);
    let x = t * deviation;
    let excess = (x.exp_m1() - x).positive_part();
    let by_variance = mechanism.worst_variance(of) / deviation.square() * excess;
    by_range.min(by_variance)
}
