//! Ledgers, people and releases to try things on.

use dobrushin::profile::ApproximateProfile;
use dobrushin::{Delta, Epsilon, Neighbours};
use dobrushin_ledger::{Budget, Choice, Ledger, LedgerError, Place, Reserved, Roll, Spend, Terms};

pub fn budget(epsilon: f64, delta: f64) -> Budget {
    Budget::new(Epsilon::new(epsilon).expect("ε"), Delta::new(delta).expect("δ"), Choice::Adaptive)
}

/// A new ledger in which everybody may spend (ε, δ).
pub fn made(place: &Place, epsilon: f64, delta: f64) -> Ledger {
    let terms = Terms::new(Neighbours::ReplaceOne, budget(epsilon, delta), 100, [7; 16]);
    Ledger::create(place, terms).expect("a new ledger")
}

pub fn opened(place: &Place) -> Ledger {
    Ledger::open(place).expect("a ledger")
}

/// Something that promises (ε, δ).
pub fn promise(epsilon: f64, delta: f64) -> Spend {
    let profile = ApproximateProfile::new(Epsilon::new(epsilon).expect("ε"), Delta::new(delta).expect("δ"));
    Spend::of_profile(&profile, "claim", format!("promises ({epsilon}, {delta})"), serde_json::Value::Null)
}

pub fn roll(ledger: &mut Ledger, names: &[impl AsRef<str>]) -> Roll {
    let mut roll = Roll::new(&ledger.terms().expect("terms"));
    names.iter().for_each(|name| roll.add(name.as_ref().as_bytes()).expect("a name"));
    roll
}

pub fn reserve(
    ledger: &mut Ledger,
    spend: &Spend,
    names: &[impl AsRef<str>],
) -> Result<Reserved, LedgerError> {
    let mut roll = roll(ledger, names);
    ledger.reserve(spend, &mut roll, Some("2026-01-31".to_owned()))
}

/// The share of their budget that somebody has spent; 0 if nobody knows them.
pub fn share(ledger: &mut Ledger, name: &str) -> f64 {
    match ledger.person(name) {
        Ok(standing) => standing.spent.share,
        Err(LedgerError::NoSuchPerson(_)) => 0.0,
        Err(error) => panic!("{error}"),
    }
}

/// That everything is whole.
pub fn is_whole(ledger: &mut Ledger) {
    let checked = ledger.check().expect("it can be read");
    assert!(checked.faults.is_empty(), "{:?}", checked.faults);
}
