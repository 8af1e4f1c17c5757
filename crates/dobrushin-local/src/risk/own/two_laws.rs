//! Which of two laws the records have (Le Cam's method).

use super::setting::{enclosed, uniform, wrong_or_right};
use super::{Answer, Findings, Quantity, Setting, Side};
use crate::risk::Loss;
use crate::risk::hypercube::{two_laws_errors, two_laws_risks};
use dobrushin::divergence::{DiscretePair, Pair};
use dobrushin::{Enclosure, Error, NonNegative};

/// Bounds on the error of every test between two laws, and, with the distance of their parameters and a loss, on the
/// largest risk of every estimator (CED Lemmas 4 and 5, LDC Lemma 3).
///
/// # Guarantee
/// Of [`TwoPoints::error`](crate::risk::TwoPoints::error), [`TwoPoints::risk`](crate::risk::TwoPoints::risk), in both
/// orders of the laws, and [`Indistinguishable::error`](crate::risk::Indistinguishable::error).
///
/// # Errors
/// [`Error::LengthMismatch`] if the channel takes another number of values.
pub fn two_laws(
    pair: &DiscretePair,
    risk: Option<(NonNegative, Loss)>,
    setting: &Setting,
) -> Result<Findings, Error> {
    setting.check(pair.p().len())?;
    let records = setting.records();
    let laws = enclosed([pair.p(), pair.q()]);
    let (prior, losses) = (uniform(2), wrong_or_right(2));
    let error = Answer::compare(
        setting,
        ("testing-error", "the mean of the two errors of the best test".to_owned(), Side::AtLeast),
        |reports| two_laws_errors(pair, reports, records),
    );
    let error = error.with_exact(
        setting.clear(&laws).and_then(|clear| clear.bayes_risk(&prior, &losses)),
        setting.reported(&laws).and_then(|reported| reported.bayes_risk(&prior, &losses)),
    );
    let risk = risk.map(|(separation, loss)| {
        let what = "the largest risk of the best estimator".to_owned();
        let risk = Answer::compare(setting, ("minimax-risk", what, Side::AtLeast), |reports| {
            two_laws_risks(pair, reports, records, separation, loss)
        });
        let from_error = |error: Option<Enclosure>| error.map(|error| loss.of_two(separation) * error);
        risk.with_floor(from_error(error.clear))
    });
    Ok(Findings { quantities: divergences(pair), answers: std::iter::once(error).chain(risk).collect() })
}

/// How far apart two laws are.
pub(super) fn divergences(pair: &DiscretePair) -> Vec<Quantity> {
    let affinity = Enclosure::ONE - pair.hellinger_squared() / Enclosure::from(2.0);
    [
        ("tv", "total variation of P and Q", pair.total_variation()),
        ("kl", "KL(P‖Q), nats", pair.kl()),
        ("kl_reversed", "KL(Q‖P), nats", pair.reversed().kl()),
        ("affinity", "affinity ∫√(dP·dQ)", affinity.positive_part()),
    ]
    .map(|(id, what, value)| Quantity { id, what: what.to_owned(), value })
    .to_vec()
}
