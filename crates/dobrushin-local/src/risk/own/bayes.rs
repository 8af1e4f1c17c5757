//! The Bayes risk of an estimator, for a prior, a model and losses in tables.

use super::setting::enclosed;
use super::{Answer, Findings, Quantity, Setting, Side};
use crate::risk::pairs::risk_of_pairs;
use crate::risk::{Coefficient, Coins, Reports, RiskBound};
use dobrushin::divergence::FiniteLaw;
use dobrushin::{Enclosure, Error, Gamma};

/// A parameter with a prior, a law of a record for each of its values, and a loss for each value and estimate.
#[derive(Clone, Copy, Debug)]
pub struct Prior<'a> {
    /// The prior.
    pub weights: &'a FiniteLaw,
    /// The law of a record at each value of the parameter.
    pub laws: &'a [FiniteLaw],
    /// The loss of each estimate at each value of the parameter.
    pub losses: &'a [Vec<f64>],
}

/// Bounds on the Bayes risk of every estimator (CED Corollary 3, Theorem 4 and equation 27), and the E_γ-information of
/// the records at some γ.
///
/// # Guarantee
/// Of [`BayesProblem::risk`](crate::risk::BayesProblem::risk), and the mean over pairs of values: whoever knows the parameter tells the estimator one other
/// value that it might be, and the risk between these two is bounded as in [`two_laws`](super::two_laws()).
///
/// # Errors
/// The errors of [`BayesProblem::uncounted`](crate::risk::BayesProblem::uncounted), and [`Error::LengthMismatch`] if the channel takes another number of values.
pub fn bayes(prior: Prior<'_>, gammas: &[Gamma], setting: &Setting) -> Result<Findings, Error> {
    let Prior { weights, laws, losses } = prior;
    let records = setting.records();
    let problem = setting.problem(weights, laws, losses)?;
    setting.check(laws[0].len())?;
    let what = "the Bayes risk of the best estimator".to_owned();
    let risk = Answer::compare(setting, ("bayes-risk", what, Side::AtLeast), |reports| {
        let pairs = risk_of_pairs(weights, laws, losses, reports, records);
        problem.risk(reports).into_iter().chain(pairs).collect()
    });
    let (all, prior) = (enclosed(laws), weights.enclosures().collect::<Vec<_>>());
    let risk = risk.with_exact(
        setting.clear(&all).and_then(|clear| clear.bayes_risk(&prior, losses)),
        setting.reported(&all).and_then(|reported| reported.bayes_risk(&prior, losses)),
    );
    let of_one = problem.information_of_one();
    let mut quantities = vec![
        Quantity { id: "information", what: "I(Θ; X) of one record, nats".to_owned(), value: of_one },
        Quantity {
            id: "information_of_all",
            what: "I(Θ; X^n) of all records, nats".to_owned(),
            value: problem.information(),
        },
    ];
    quantities.extend(gammas.iter().flat_map(|&gamma| {
        let at = |what: &str| {
            format!("{what} at γ = {}", dobrushin::numeric::decimal::plain(gamma.value().midpoint()))
        };
        let information = problem.hockey_stick_information(gamma);
        let contraction = setting.reports().hockey_stick_of(gamma, records);
        [
            Quantity { id: "gamma_information", what: at("I_γ(Θ; X^n)"), value: information },
            Quantity { id: "gamma_contraction", what: at("η_γ of all reports"), value: contraction },
            Quantity {
                id: "gamma_risk",
                what: at("the bound of bayes-hockey-stick"),
                value: problem.risk_by_hockey_stick(contraction, gamma),
            },
        ]
    }));
    Ok(Findings { quantities, answers: vec![risk] })
}

/// The same for a coin whose bias Θ is uniform on [0, 1] and the loss |Θ − estimate| (CED Example 5 and Remark 2).
///
/// # Guarantee
/// Of [`Coins::risk_by_information`] and [`Coins::risk_by_best_hockey_stick`], with η_TV of all reports, which is at least
/// every η_γ.
///
/// # Errors
/// [`Error::LengthMismatch`] if the channel does not take two values.
pub fn coin(setting: &Setting) -> Result<Findings, Error> {
    setting.check(2)?;
    let records = setting.records();
    let (coins, one) = (Coins::new(records), Coins::new(std::num::NonZeroU32::MIN).information());
    let all = coins.information();
    let risks = |reports: &Reports| {
        let (information, coefficient) = reports.least_information(records, one, all);
        let contraction: Enclosure = reports.hockey_stick_of(Gamma::ONE, records);
        vec![
            RiskBound { id: "bayes-information", value: coins.risk_by_information(information), coefficient },
            RiskBound {
                id: "bayes-hockey-stick",
                value: coins.risk_by_best_hockey_stick(contraction),
                coefficient: reports.of_all(Coefficient::TotalVariationOfAll),
            },
        ]
    };
    let what = "the mean absolute error of the best estimator".to_owned();
    let risk = Answer::compare(setting, ("bayes-risk", what, Side::AtLeast), risks);
    let quantities = vec![
        Quantity { id: "information", what: "I(Θ; X) of one toss, nats".to_owned(), value: one },
        Quantity { id: "information_of_all", what: "I(Θ; X^n) of all tosses, nats".to_owned(), value: all },
    ];
    Ok(Findings { quantities, answers: vec![risk] })
}
