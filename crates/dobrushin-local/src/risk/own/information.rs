//! How much reports tell about the records, and about what the records depend on, in bits.

use super::setting::enclosed;
use super::{Answer, Findings, Quantity, Setting, Side};
use crate::risk::{Coefficient, Reports, RiskBound};
use dobrushin::divergence::{FiniteLaw, mutual_information_of};
use dobrushin::{Enclosure, Error};

/// Bounds on I(X; Z) of one record and its report (LDC Corollary 5), and on I(V; Z^n) of a variable V with this prior, on
/// which the law of the records depends (LDC Lemma 4), all in bits. A single law has no V.
///
/// # Guarantee
/// I(X; Z) ≤ η_KL·H(X) and at most the capacity of a report, [`Reports::capacity`]; I(V; Z^n) is at most
/// [`Reports::reported_information`], and n times the capacity.
///
/// # Errors
/// [`Error::LengthMismatch`] if the prior, the laws and the channel do not fit each other.
pub fn information(prior: &FiniteLaw, laws: &[FiniteLaw], setting: &Setting) -> Result<Findings, Error> {
    let no_losses = vec![vec![0.0]; laws.len()];
    let problem = setting.problem(prior, laws, &no_losses)?;
    setting.check(laws[0].len())?;
    let records = setting.records();
    let (all, weights) = (enclosed(laws), prior.enclosures().collect::<Vec<_>>());
    let outcomes = all[0].len();
    let record: Vec<Enclosure> = (0..outcomes)
        .map(|x| all.iter().zip(&weights).map(|(law, &w)| w * law[x]).sum::<Enclosure>().min(Enclosure::ONE))
        .collect();
    let entropy: Enclosure = record
        .iter()
        .filter(|p| **p != Enclosure::ZERO)
        .map(|&p| -(p * p.ln()))
        .sum::<Enclosure>()
        .positive_part();
    let of_capacity = |reports: &Reports, times: Enclosure| {
        reports.capacity().map(|most| RiskBound {
            id: "local-capacity",
            value: in_bits(times * most),
            coefficient: Coefficient::Capacity,
        })
    };
    let what = "I(X; Z) of a record and its report (bits)".to_owned();
    let mut one = Answer::compare(setting, ("record-information", what, Side::AtMost), |reports| {
        let value =
            in_bits(if entropy == Enclosure::ZERO { entropy } else { reports.information() * entropy });
        let by = reports.of_one(Coefficient::Information);
        let contracted = RiskBound { id: "local-information", value, coefficient: by };
        std::iter::once(contracted).chain(of_capacity(reports, Enclosure::ONE)).collect()
    });
    one.clear = Some(in_bits(entropy));
    one.through = setting.pushed(&identity(outcomes)).map(|rows| {
        let joint: Vec<Vec<Enclosure>> =
            rows.iter().zip(&record).map(|(row, &p)| row.iter().map(|&k| p * k).collect()).collect();
        in_bits(mutual_information_of(&joint))
    });
    let mut answers = vec![one];
    if laws.len() > 1 {
        let (of_one, of_all) = (problem.information_of_one(), problem.information());
        let what = "I(V; Z^n) of V and all reports (bits)".to_owned();
        let mut answer = Answer::compare(setting, ("report-information", what, Side::AtMost), |reports| {
            let (value, coefficient) = reports.reported_information(records, of_one, of_all);
            let contracted = RiskBound { id: "local-information", value: in_bits(value), coefficient };
            let n = Enclosure::from(f64::from(records.get()));
            std::iter::once(contracted).chain(of_capacity(reports, n)).collect()
        });
        answer.clear = setting.clear(&all).map(|clear| in_bits(clear.information(&weights)));
        answer.through = setting.reported(&all).map(|reported| in_bits(reported.information(&weights)));
        answers.push(answer);
    }
    let mut quantities =
        vec![Quantity { id: "entropy", what: "H(X), bits".to_owned(), value: in_bits(entropy) }];
    if laws.len() > 1 {
        let what = "I(V; X) of one record, bits".to_owned();
        quantities.push(Quantity { id: "information", what, value: in_bits(problem.information_of_one()) });
    }
    Ok(Findings { quantities, answers })
}

fn in_bits(nats: Enclosure) -> Enclosure {
    nats / Enclosure::from(2.0).ln()
}

/// Laws that are certain of each value.
fn identity(outcomes: usize) -> Vec<Vec<Enclosure>> {
    let certain =
        |x: usize| (0..outcomes).map(|y| if x == y { Enclosure::ONE } else { Enclosure::ZERO }).collect();
    (0..outcomes).map(certain).collect()
}
