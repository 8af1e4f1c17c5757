//! Numbers that the papers print, beside the true ones.

use crate::problem::Problem;
use dobrushin::divergence::{ChiSquared, DiscretePair, FiniteLaw, GaussianPair, Pair};
use dobrushin::kernel::{FiniteKernel, GaussianKernel, Kernel, output_bound};
use dobrushin::numeric::decimal;
use dobrushin::{Delta, Enclosure, Epsilon, Gamma};
use dobrushin_local::{Coins, LocalPrivacy};
use std::num::NonZeroU32;

/// A number in a paper.
pub struct Claim {
    /// Where the number stands, and what it is about.
    pub what: &'static str,
    /// The number that is printed.
    pub printed: &'static str,
    /// The true number.
    pub value: Enclosure,
    /// The entry of docs/errata.md about it; `None` if the number is right.
    pub erratum: Option<&'static str>,
}

impl Claim {
    /// The true number, to five digits.
    pub fn shown(&self) -> String {
        let value = self.value.midpoint();
        decimal::plain(format!("{value:.4e}").parse().unwrap_or(value))
    }
}

/// All numbers that are compared.
pub fn claims() -> Result<Vec<Claim>, Problem> {
    let claim = |what, printed, value, erratum| Claim { what, printed, value, erratum };
    let gaussian = (GaussianPair::new(2.0, 1.0)?, GaussianKernel::new(1.0, 1.0)?);
    let law = |name, probabilities: &[f64]| FiniteLaw::new(name, probabilities.to_vec());
    let binary = DiscretePair::new(law("mu", &[0.9, 0.1])?, law("nu", &[0.6, 0.4])?)?;
    let channel = FiniteKernel::new(vec![vec![0.9, 0.1], vec![0.4, 0.6]])?;
    let quarter = FiniteKernel::new(vec![vec![0.75, 0.25], vec![0.25, 0.75]])?;
    let coin = Coins::new(NonZeroU32::MIN);
    let coins = Coins::new(NonZeroU32::new(20).unwrap_or(NonZeroU32::MIN));
    let published = |epsilon: f64| -> Result<Enclosure, Problem> {
        Ok(LocalPrivacy { epsilon: Epsilon::new(epsilon)?, delta: Delta::new(1e-4)? }.published(20))
    };
    let ratio = |epsilon: f64| -> Result<Enclosure, Problem> {
        let contraction = published(epsilon)?;
        let theorem = coins.risk_by_hockey_stick(contraction, Gamma::from_epsilon(epsilon)?);
        Ok(theorem / coins.risk_by_information(contraction * coins.information()))
    };
    Ok(vec![
        claim(
            "CED Example 1, equation 16: bound on χ²",
            "0.49",
            gaussian.1.total_variation() * gaussian.0.chi_squared(),
            Some("E20"),
        ),
        claim(
            "CED Example 1, Corollary 1: bound on χ²",
            "0.26",
            output_bound(&gaussian.0, &gaussian.1, &ChiSquared),
            Some("E20"),
        ),
        claim(
            "CED Example 2, equation 16: bound on χ²",
            "0.19",
            channel.total_variation() * binary.chi_squared(),
            Some("E20"),
        ),
        claim(
            "CED Example 2, Corollary 1: bound on χ² (rounded down)",
            "0.17",
            output_bound(&binary, &channel, &ChiSquared),
            Some("E20"),
        ),
        claim("CED Remark 2: I(Θ; X) of one toss", "0.19", coin.information(), None),
        claim(
            "CED Remark 2, equation 25: Bayes risk of one toss",
            "0.03",
            coin.risk_by_information(coin.information()),
            Some("E20"),
        ),
        claim(
            "CED Remark 2, equation 27: Bayes risk of one toss",
            "0.08",
            coin.risk_by_best_hockey_stick(Enclosure::ONE),
            Some("E20"),
        ),
        claim("CED Theorem 4 over Corollary 3, ε = 2", "above 1", ratio(2.0)?, None),
        claim("CED Theorem 4 over Corollary 3, ε = 2.5", "above 1", ratio(2.5)?, Some("E21")),
        claim(
            "LDC: η_KL of a binary channel that flips 1 in 4",
            "0.875",
            quarter.chi_squared_contraction().value,
            Some("E19"),
        ),
    ])
}
