//! Which of several laws the records have: a family (Fano's method), and a hypercube (Assouad's).

use super::setting::{enclosed, uniform, wrong_or_right};
use super::{Answer, Findings, Quantity, Setting, Side};
use crate::risk::hypercube::total;
use crate::risk::pairs::{largest_risk_of_a_pair, risk_of_pairs};
use crate::risk::{Family, Hypercube, Loss, Reports, RiskBound};
use dobrushin::divergence::FiniteLaw;
use dobrushin::{Enclosure, Error, NonNegative};

/// Bounds on the error of every guess among equally likely laws, and, with the least distance between their parameters
/// and a loss, on the largest risk of every estimator (LDC Lemma 4).
///
/// # Guarantee
/// The guess errs with at least the risk that [`bayes`](super::bayes()) gives for a uniform prior and the loss 1 of a wrong
/// guess. By information this is Fano's inequality with min{n·η_KL·I(V; X), (1 − (1−η_KL)^n)·I(V; X^n)} (E17), where the
/// information of all records is exact if they can be enumerated. The largest risk is also at least that between any two of
/// the laws.
///
/// # Errors
/// The errors of [`Family::new`], and [`Error::LengthMismatch`] if the channel takes another number of values.
pub fn family(
    laws: &[FiniteLaw],
    risk: Option<(NonNegative, Loss)>,
    setting: &Setting,
) -> Result<Findings, Error> {
    let of_one = Family::new(laws)?.information();
    setting.check(laws[0].len())?;
    let (count, losses) = (laws.len(), wrong_or_right(laws.len()));
    let equal = FiniteLaw::proportional_to("the prior", vec![1.0; count])?;
    let problem = setting.problem(&equal, laws, &losses)?;
    let errors = |reports: &Reports| {
        let renamed = |bound: RiskBound| match bound.id {
            "bayes-information" => RiskBound { id: "fano", ..bound },
            _ => bound,
        };
        let pairs = risk_of_pairs(&equal, laws, &losses, reports, setting.records());
        problem.risk(reports).into_iter().map(renamed).chain(pairs).collect::<Vec<_>>()
    };
    let what = "the probability that the best guess is wrong".to_owned();
    let error = Answer::compare(setting, ("guessing-error", what, Side::AtLeast), errors);
    let (all, prior) = (enclosed(laws), uniform(count));
    let error = error.with_exact(
        setting.clear(&all).and_then(|clear| clear.bayes_risk(&prior, &losses)),
        setting.reported(&all).and_then(|reported| reported.bayes_risk(&prior, &losses)),
    );
    let risk = risk.map(|(separation, loss)| {
        let factor = loss.of_many(separation);
        let what = "the largest risk of the best estimator".to_owned();
        let scaled = |bound: RiskBound| RiskBound { value: factor * bound.value, ..bound };
        let risk = Answer::compare(setting, ("minimax-risk", what, Side::AtLeast), |reports| {
            let pair = largest_risk_of_a_pair(laws, (separation, loss), reports, setting.records());
            errors(reports).into_iter().map(scaled).chain(pair).collect()
        });
        risk.with_floor(error.clear.map(|clear| factor * clear))
    });
    let quantities = vec![
        Quantity { id: "information", what: "I(V; X) of one record, nats".to_owned(), value: of_one },
        Quantity {
            id: "information_of_all",
            what: "I(V; X^n) of all records, nats".to_owned(),
            value: problem.information(),
        },
    ];
    Ok(Findings { quantities, answers: std::iter::once(error).chain(risk).collect() })
}

/// Bounds on the mean number of wrong guesses of the signs, and, with the distance in each coordinate and a loss that is a
/// sum over coordinates, on the largest risk of every estimator.
///
/// # Guarantee
/// Of [`Hypercube::errors`] and [`Hypercube::risk`].
///
/// # Errors
/// The errors of [`Hypercube::risk`], and [`Error::LengthMismatch`] if the channel takes another number of values.
pub fn hypercube(
    cube: &Hypercube,
    laws: &[FiniteLaw],
    risk: Option<(&[NonNegative], Loss)>,
    setting: &Setting,
) -> Result<Findings, Error> {
    setting.check(laws[0].len())?;
    let (records, all) = (setting.records(), enclosed(laws));
    let what = "the mean number of signs that the best guess gets wrong".to_owned();
    let wrong = Answer::compare(setting, ("wrong-signs", what, Side::AtLeast), |reports| {
        vec![total(cube.errors(reports, records), reports)]
    });
    let exact = |laws: &[Vec<Enclosure>]| -> Option<Enclosure> {
        Some(cube.exact_errors(laws, records)?.into_iter().sum())
    };
    let wrong = wrong.with_exact(exact(&all), setting.pushed(&all).and_then(|laws| exact(&laws)));
    let mut answers = vec![wrong];
    if let Some((separations, loss)) = risk {
        cube.risk(setting.reports(), records, separations, loss)?;
        let what = "the largest risk of the best estimator (a sum over coordinates)".to_owned();
        let risk = Answer::compare(setting, ("minimax-risk", what, Side::AtLeast), |reports| {
            cube.risk(reports, records, separations, loss).into_iter().collect()
        });
        let floor = cube.exact_errors(&all, records).map(|errors| {
            errors.iter().zip(separations).map(|(&error, &apart)| loss.of_two(apart) * error).sum()
        });
        answers.push(risk.with_floor(floor));
    }
    let each = cube.errors(setting.reports(), records).into_iter().enumerate();
    let quantities = each.map(|(j, bound)| Quantity {
        id: "sign_error",
        what: format!("the bound on a wrong guess of sign {}", j + 1),
        value: bound.value,
    });
    Ok(Findings { quantities: quantities.collect(), answers })
}
