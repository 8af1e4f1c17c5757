//! Values of δ that are too large to protect anybody.

use crate::Enclosure;
use crate::numeric::decimal;
use crate::run::Run;

/// A warning about a δ that is not below 1/n, for a run on n records; `None` if it is, or if n is not known.
///
/// Consider the mechanism that draws one of n records at random and publishes it in full. If one record changes, the
/// law of its output changes by at most 1/n, so it is (0, 1/n)-private. A δ of 1/n or more therefore allows it. Where
/// the number of records is itself secret, n is the bound that was declared for it.
///
/// ```
/// use dobrushin::Run;
/// use dobrushin::account::large_delta;
///
/// let run = Run::gradient_descent(1000).steps(10).noise_multiplier(5.0).build()?;
/// assert!(large_delta(&run, 1e-3).is_some());
/// assert!(large_delta(&run, 1e-5).is_none());
/// # Ok::<(), dobrushin::RunError>(())
/// ```
pub fn large_delta(run: &Run, delta: f64) -> Option<String> {
    // δ as it was given; a computed one has more digits than a sentence needs.
    let shown = match decimal::plain(delta) {
        given if given.len() <= 8 => given,
        _ => decimal::briefly(Enclosure::from(delta)),
    };
    if delta >= 1.0 {
        return Some(format!(
            "δ = {shown} is no guarantee: everything is (ε, 1)-private, even publishing all records in full"
        ));
    }
    let records = run.records()?;
    (delta >= 1.0 / records as f64).then(|| {
        format!(
            "δ = {shown} is not below 1/n for the n = {records} records: publishing one of them in full, drawn at random, \
             would be allowed. δ should be well below 1/n"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Question;
    use crate::mechanism::{Mechanism, Neighbours, Sampling};
    use crate::run::{MechanismUse, Mechanisms};
    use crate::{Delta, Positive};

    #[test]
    fn without_a_number_of_records_only_a_delta_of_1_is_too_large() {
        let mechanism = Mechanism::Gaussian { noise_multiplier: Positive::new(1.0).expect("positive") };
        let uses = vec![MechanismUse { mechanism, sampling: Sampling::Every, count: 1 }];
        let run = Run::mechanisms(Mechanisms { neighbours: Neighbours::ReplaceOne, uses }).expect("a run");
        assert_eq!(large_delta(&run, 0.5), None);
        assert!(large_delta(&run, 1.0).is_some_and(|words| words.contains("no guarantee")));
        let of = |delta: f64| {
            let question = Question::EpsilonAt(Delta::new(delta).expect("a probability"));
            run.account(question)
        };
        assert!(of(1.0).guarantee().is_ok() && of(1.0).certifiable().is_none());
        assert!(of(0.5).certifiable().is_some() && of(0.5).concern.is_none());
    }
}
