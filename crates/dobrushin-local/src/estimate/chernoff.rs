//! Intervals with guaranteed coverage, from moments.
//!
//! If ln E e^(±t(Y − m)) ≤ ψ(t) for each of n independent reports, their mean is off by more than
//! (ψ(t) + ln(2/α)/n)/t with probability at most α, for every t > 0. Any t gives a bound; a good one is searched for.

use dobrushin::{Enclosure, Positive};

/// The smallest such distance for n reports, where t is searched for around √(2·ln(2/α)/(n·v)), which is optimal for a
/// normal law of variance v.
pub(super) fn half_width(
    records: u64,
    error: Enclosure,
    variance: Enclosure,
    log_moment: impl Fn(Positive) -> Enclosure,
) -> f64 {
    let share = ln_of_two_over(error) / Enclosure::from(records);
    let centre = 0.5 * (2.0 * share.midpoint() / variance.midpoint()).ln();
    let at = |t: Positive| ((log_moment(t) + share) / Enclosure::from(t)).upper();
    least(centre, at)
}

/// The smallest n for which the distance is at most `width`: ln(2/α)/(t·width − ψ(t)), where t is searched for around
/// width/v.
pub(super) fn records(
    width: Positive,
    error: Enclosure,
    variance: Enclosure,
    log_moment: impl Fn(Positive) -> Enclosure,
) -> f64 {
    let ln = ln_of_two_over(error);
    let centre = (width.get() / variance.midpoint()).ln();
    let at = |t: Positive| {
        let gain = Enclosure::from(t) * Enclosure::from(width) - log_moment(t);
        if gain.lower() > 0.0 { (ln / gain).upper() } else { f64::INFINITY }
    };
    least(centre, at).ceil()
}

fn ln_of_two_over(error: Enclosure) -> Enclosure {
    (Enclosure::from(2.0) / error).ln()
}

/// The least value found of a function of t, on a grid in ln t around a centre and between its neighbours.
fn least(centre: f64, f: impl Fn(Positive) -> f64) -> f64 {
    let at = |ln_t: f64| Positive::new(ln_t.exp()).map_or(f64::INFINITY, &f);
    let net = (-NET..=4).map(|i| centre + STEP * f64::from(i));
    let (_, mut from) = net
        .map(|ln_t| (at(ln_t), ln_t))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .unwrap_or((f64::INFINITY, centre));
    let mut best = at(from);
    let mut step = STEP;
    for _ in 0..REFINEMENTS {
        step /= 2.0;
        for ln_t in [from - step, from + step] {
            let value = at(ln_t);
            if value < best {
                (best, from) = (value, ln_t);
                break;
            }
        }
    }
    best
}

/// The grid: heavy tails need smaller t.
const NET: i32 = 40;
const STEP: f64 = 0.25;
/// The function is flat near its minimum: t to within 2⁻¹² suffices.
const REFINEMENTS: u32 = 12;
