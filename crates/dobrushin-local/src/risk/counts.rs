//! How often each value occurs among independent records: all that matters about them.

use dobrushin::numeric::gamma;
use dobrushin::{Enclosure, Error, Positive};

/// Every vector of counts of the values of n records, with the logarithm of the number of orders.
pub(super) struct Counts(Vec<(Enclosure, Vec<u32>)>);

/// The largest number of counts that are enumerated.
const MOST_COUNTS: f64 = 200_000.0;

impl Counts {
    /// How many counts there are of this many records.
    pub fn number(records: u32, outcomes: usize) -> f64 {
        let places = outcomes.saturating_sub(1);
        (1..=places).fold(1.0, |ways, i| ways * (f64::from(records) + i as f64) / i as f64)
    }

    /// All counts of this many records.
    pub fn of(records: u32, outcomes: usize) -> Result<Self, Error> {
        let places = outcomes.saturating_sub(1);
        let number = Self::number(records, outcomes);
        if number > MOST_COUNTS {
            let accepted = "at most 200000: give fewer records, or outcomes";
            return Err(Error::OutOfRange {
                name: "the number of different counts",
                value: number.round(),
                accepted,
            });
        }
        let mut counts = vec![(records, Vec::new())];
        for _ in 0..places {
            let longer = counts.into_iter().flat_map(|(left, counts): (u32, Vec<u32>)| {
                (0..=left).map(move |next| (left - next, [counts.as_slice(), &[next]].concat()))
            });
            counts = longer.collect();
        }
        let complete = counts.into_iter().map(|(left, mut counts)| {
            counts.push(left);
            let repeated: Enclosure = counts.iter().map(|&count| ln_factorial(count)).sum();
            (ln_factorial(records) - repeated, counts)
        });
        Ok(Self(complete.collect()))
    }

    /// The multinomial law of the counts, if a record has these probabilities.
    pub fn law(&self, record: impl Iterator<Item = Enclosure>) -> Vec<Enclosure> {
        let ln: Vec<Enclosure> = record.map(Enclosure::ln).collect();
        self.0.iter().map(|(orders, counts)| probability(*orders, counts, &ln)).collect()
    }
}

/// The multinomial probability of counts.
fn probability(ln_orders: Enclosure, counts: &[u32], ln: &[Enclosure]) -> Enclosure {
    let present = counts.iter().zip(ln).filter(|(count, _)| **count > 0);
    if present.clone().any(|(_, ln)| ln.upper() == f64::NEG_INFINITY) {
        return Enclosure::ZERO;
    }
    let exponent: Enclosure = present.map(|(&count, &ln)| Enclosure::from(f64::from(count)) * ln).sum();
    (ln_orders + exponent).exp().min(Enclosure::ONE)
}

fn ln_factorial(n: u32) -> Enclosure {
    Positive::new(f64::from(n) + 1.0).map_or(Enclosure::ENTIRE, gamma::ln_gamma)
}
