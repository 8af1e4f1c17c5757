//! A test of one law against another: its error of the second kind, its exponent, and how many records it needs.

use super::setting::enclosed;
use super::two_laws::divergences;
use super::{Answer, Findings, Setting, Side};
use crate::risk::{Coefficient, Indistinguishable, Reports, RiskBound, Testing};
use dobrushin::divergence::{DiscretePair, Pair};
use dobrushin::numeric::partition_point;
use dobrushin::{Enclosure, Error, Probability};
use std::num::NonZeroU32;

/// Bounds on the error of the second kind at level α, on its exponent, and on how many records a test needs whose error
/// of the second kind is at most β (CED Corollary 4, E21).
///
/// # Guarantee
/// Of [`Testing::missed`], [`Testing::exponent`], [`Testing::records_needed`] and [`Indistinguishable::missed`]. For δ = 0
/// the exponent is also at most ε′·tanh(ε′/2), the divergence between the randomised responses with the ε′ of
/// [`Indistinguishable`].
///
/// # Errors
/// [`Error::LengthMismatch`] if the channel takes another number of values, [`Error::OutOfRange`] as for
/// [`Testing::records_needed`].
pub fn testing(
    pair: &DiscretePair,
    level: Probability,
    wanted: Option<Probability>,
    setting: &Setting,
) -> Result<Findings, Error> {
    setting.check(pair.p().len())?;
    let (records, testing) = (setting.records(), Testing::new(pair.clone()));
    let laws = enclosed([pair.p(), pair.q()]);
    let what = "the error of the second kind of the best test".to_owned();
    let missed = Answer::compare(setting, ("missed", what, Side::AtLeast), |reports| {
        let composed = Indistinguishable::between(pair, reports).missed(records, level);
        testing.missed(reports, records, level).into_iter().chain(composed).collect()
    });
    let missed = missed.with_exact(
        setting.clear(&laws).map(|clear| clear.missed(level.into())),
        setting.reported(&laws).map(|reported| reported.missed(level.into())),
    );
    let what = "the exponent −(1/n)·ln β for many records (nats)".to_owned();
    let mut exponent = Answer::compare(setting, ("exponent", what, Side::AtMost), |reports| {
        let by = reports.of_one(Coefficient::Information);
        let contracted = RiskBound { id: "testing-renyi", value: testing.exponent(reports), coefficient: by };
        let pure = Indistinguishable::between(pair, reports).pure().map(|epsilon| RiskBound {
            id: "testing-composed",
            value: responses_divergence(epsilon.into()),
            coefficient: Coefficient::Indistinguishability,
        });
        std::iter::once(contracted).chain(pure).collect()
    });
    (exponent.clear, exponent.through) =
        (Some(pair.kl()), setting.pushed(&laws).map(|laws| divergence(&laws)));
    let mut answers = vec![missed, exponent];
    if let Some(beta) = wanted {
        testing.records_needed(setting.reports(), level, beta)?;
        let what = "the number of records that a test with these errors needs".to_owned();
        answers.push(Answer::compare(setting, ("records-needed", what, Side::AtLeast), |reports| {
            let known = testing.records_needed_by(reports, level, beta).unwrap_or_default();
            known.into_iter().chain(composed_records(pair, reports, level, beta)).collect()
        }));
    }
    Ok(Findings { quantities: divergences(pair), answers })
}

/// The first number of reports at which randomised responses are told apart well enough.
fn composed_records(
    pair: &DiscretePair,
    reports: &Reports,
    level: Probability,
    wanted: Probability,
) -> Option<RiskBound> {
    let alike = Indistinguishable::between(pair, reports);
    let is_refuted = |n: usize| {
        let bound = NonZeroU32::new(n as u32).and_then(|n| alike.missed(n, level));
        bound.is_some_and(|bound| bound.value.lower() > wanted.get())
    };
    // More reports never hurt, so every number up to a refuted one is refuted.
    let doubled = std::iter::successors(Some(1), |n| Some(2 * n)).take_while(|n| *n <= MOST_RECORDS);
    let enough = doubled.clone().find(|n| !is_refuted(*n)).unwrap_or(MOST_RECORDS + 1);
    let first = partition_point(enough / 2 + 1..enough, is_refuted);
    let (value, coefficient) = (Enclosure::from(first as f64), Coefficient::Indistinguishability);
    (first > 1).then_some(RiskBound { id: "testing-composed", value, coefficient })
}

/// Numbers of reports beyond this are not tried.
const MOST_RECORDS: usize = 1_000_000;

/// KL between randomised response and its mirror image, ε·tanh(ε/2).
fn responses_divergence(epsilon: Enclosure) -> Enclosure {
    let half = (-epsilon).exp_m1();
    epsilon * -half / (Enclosure::from(2.0) + half)
}

/// KL(P‖Q) of two laws.
fn divergence(laws: &[Vec<Enclosure>]) -> Enclosure {
    let terms = laws[0].iter().zip(&laws[1]).filter(|(p, _)| **p != Enclosure::ZERO);
    terms.map(|(&p, &q)| p * (p / q).ln()).sum::<Enclosure>().positive_part()
}
