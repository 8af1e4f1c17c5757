//! What every store must do. Each claim is given places for new ledgers.

use crate::people::{budget, is_whole, made, opened, promise, reserve, roll, share};
use crate::server::Server;
use dobrushin::profile::{Allowance, ApproximateProfile, PiecewiseProfile, RunningCost};
use dobrushin::{Delta, Epsilon, Neighbours};
use dobrushin_ledger::{Budget, Choice, Ledger, LedgerError, Place, Spend, Status, Terms};
use dobrushin_reference::depth;
use std::collections::BTreeMap;
use std::num::NonZeroU32;

type Claim = fn(&Place);

const CLAIMS: &[(&str, Claim)] = &[
    ("what is reserved counts until it is aborted", what_is_reserved_counts_until_it_is_aborted),
    ("a refusal changes nothing", a_refusal_changes_nothing),
    ("whoever opens it sees the same", whoever_opens_it_sees_the_same),
    ("only what is reserved is settled, and once", only_what_is_reserved_is_settled_and_once),
    ("what is leaving is not aborted", what_is_leaving_is_not_aborted),
    ("releases are planned before the first", releases_are_planned_before_the_first),
    ("random histories add up", random_histories_add_up),
    ("the smallest spend counts", the_smallest_spend_counts),
    ("no clock matters", no_clock_matters),
    ("a budget of one's own counts", a_budget_of_ones_own_counts),
    ("planned releases are composed exactly", planned_releases_are_composed_exactly),
    ("a release that cannot be counted is not reserved", a_release_that_cannot_be_counted_is_not_reserved),
    ("there is one ledger in a place", there_is_one_ledger_in_a_place),
    ("any name is a name", any_name_is_a_name),
];

#[test]
fn ledgers_in_files_do_what_is_claimed() {
    let folder = tempfile::tempdir().expect("a folder");
    for (number, (name, claim)) in CLAIMS.iter().enumerate() {
        eprintln!("a file: {name}");
        claim(&Place::File(folder.path().join(format!("{number}.ledger"))));
    }
}

#[test]
fn ledgers_in_databases_do_what_is_claimed() {
    let Some(server) = Server::start() else { return };
    for (name, claim) in CLAIMS {
        eprintln!("a database: {name}");
        claim(&server.place());
    }
}

#[test]
fn what_was_committed_survives_a_crash_of_the_server() {
    let Some(server) = Server::start() else { return };
    let place = server.place();
    let id = {
        let mut ledger = made(&place, 1.0, 0.0);
        let id = reserve(&mut ledger, &promise(0.5, 0.0), &["ada"]).expect("it fits").id;
        server.crash();
        // The connection is gone, and that is said.
        assert!(matches!(ledger.commit(id, None), Err(LedgerError::Store { .. })));
        id
    };
    let mut ledger = opened(&place);
    assert_eq!(ledger.release(id).expect("a release").status, Status::Reserved);
    ledger.commit(id, None).expect("it is reserved");
    server.crash();
    let mut ledger = opened(&place);
    assert_eq!(ledger.release(id).expect("a release").status, Status::Committed);
    assert!((share(&mut ledger, "ada") - 0.5).abs() < 1e-9);
    is_whole(&mut ledger);
}

fn what_is_reserved_counts_until_it_is_aborted(place: &Place) {
    let mut ledger = made(place, 1.0, 0.0);
    let first = reserve(&mut ledger, &promise(0.6, 0.0), &["ada", "ben"]).expect("it fits");
    assert_eq!((first.id, first.people, first.records), (1, 2, 2));
    let refused = reserve(&mut ledger, &promise(0.6, 0.0), &["cy", "ada"]).expect_err("it is too much");
    assert!(matches!(&refused, LedgerError::OverBudget(over) if over.count == 1 && over.first == ["ada"]));
    assert!(refused.is_answer());
    ledger.abort(first.id, None).expect("it is reserved");
    assert_eq!((share(&mut ledger, "ada"), share(&mut ledger, "ben")), (0.0, 0.0));
    let second = reserve(&mut ledger, &promise(0.6, 0.0), &["cy", "ada"]).expect("it fits now");
    assert_eq!(second.id, 2);
    ledger.commit(second.id, Some("made".to_owned())).expect("it is reserved");
    assert!(share(&mut ledger, "ada") > 0.59 && share(&mut ledger, "ben") == 0.0);
    is_whole(&mut ledger);
}

fn a_refusal_changes_nothing(place: &Place) {
    let mut ledger = made(place, 1.0, 0.0);
    reserve(&mut ledger, &promise(0.7, 0.0), &["zoe"]).expect("it fits");
    let before = everything(&mut ledger);
    // All the others would fit.
    let names: Vec<String> =
        (0..500).map(|person| format!("person {person}")).chain(["zoe".to_owned()]).collect();
    assert!(matches!(reserve(&mut ledger, &promise(0.7, 0.0), &names), Err(LedgerError::OverBudget(_))));
    assert_eq!(everything(&mut ledger), before);
    let mut over = Vec::new();
    let mut all = roll(&mut ledger, &names);
    ledger
        .over_budget(&promise(0.7, 0.0), &mut all, &mut |name, places| {
            over.push((name.to_vec(), places.to_vec()))
        })
        .expect("it can be asked");
    assert_eq!(over, [(b"zoe".to_vec(), vec![501])]);
    all.leave_out(over.into_iter().map(|(name, places)| (name.into(), places)));
    let reserved = ledger.reserve(&promise(0.7, 0.0), &mut all, None).expect("it fits without her");
    assert_eq!((reserved.people, reserved.records), (500, 500));
    is_whole(&mut ledger);
}

fn whoever_opens_it_sees_the_same(place: &Place) {
    let mut one = made(place, 1.0, 1e-6);
    let mut other = opened(place);
    let id = reserve(&mut one, &promise(0.3, 1e-8), &["ada"]).expect("it fits").id;
    assert_eq!(other.release(id).expect("a release").status, Status::Reserved);
    other.commit(id, None).expect("it is reserved");
    assert!(matches!(one.abort(id, None), Err(LedgerError::NotReserved { status: "committed", .. })));
    assert_eq!(everything(&mut one), everything(&mut other));
    one.set_budget(budget(0.1, 0.0)).expect("it can be written");
    assert!(share(&mut other, "ada") > 1.0);
    assert!(reserve(&mut other, &promise(1e-300, 0.0), &["ada"]).is_err());
}

fn only_what_is_reserved_is_settled_and_once(place: &Place) {
    let mut ledger = made(place, 1.0, 0.0);
    for id in [0, 1, u64::MAX] {
        assert!(matches!(ledger.commit(id, None), Err(LedgerError::NoSuchRelease(wrong)) if wrong == id));
        assert!(matches!(ledger.abort(id, None), Err(LedgerError::NoSuchRelease(_))));
        assert!(matches!(ledger.note(id, "a note".to_owned()), Err(LedgerError::NoSuchRelease(_))));
    }
    let id = reserve(&mut ledger, &promise(0.5, 0.0), &["ada"]).expect("it fits").id;
    ledger.abort(id, None).expect("it is reserved");
    assert!(matches!(ledger.abort(id, None), Err(LedgerError::NotReserved { status: "aborted", .. })));
    assert!(matches!(ledger.commit(id, None), Err(LedgerError::NotReserved { status: "aborted", .. })));
    assert_eq!(share(&mut ledger, "ada"), 0.0);
}

fn what_is_leaving_is_not_aborted(place: &Place) {
    let mut ledger = made(place, 1.0, 0.0);
    let id = reserve(&mut ledger, &promise(0.5, 0.0), &["ada"]).expect("it fits").id;
    ledger.leaves(id).expect("it is reserved");
    assert!(matches!(ledger.abort(id, None), Err(LedgerError::NotReserved { status: "leaving", .. })));
    assert!(matches!(ledger.leaves(id), Err(LedgerError::NotReserved { .. })));
    assert!(share(&mut ledger, "ada") > 0.49);
    // It failed before anything left.
    ledger.stays(id).expect("it is leaving");
    ledger.abort(id, None).expect("it is reserved");
    // Somebody aborted it first, so nothing may leave.
    assert!(matches!(ledger.leaves(id), Err(LedgerError::NotReserved { status: "aborted", .. })));
    assert!(matches!(ledger.stays(id), Err(LedgerError::NotReserved { .. })));
    let id = reserve(&mut ledger, &promise(0.5, 0.0), &["ada"]).expect("it fits").id;
    ledger.leaves(id).expect("it is reserved");
    ledger.commit(id, None).expect("it is leaving");
    assert!(matches!(ledger.stays(id), Err(LedgerError::NotReserved { status: "committed", .. })));
    is_whole(&mut ledger);
}

fn releases_are_planned_before_the_first(place: &Place) {
    let mut ledger = made(place, 1.0, 1e-6);
    let planned = Budget { choice: Choice::Planned, ..budget(1.0, 1e-6) };
    // Before the first release, everything can still be planned.
    ledger.set_budget(planned).expect("nothing was released");
    ledger.set_budget(budget(1.0, 1e-6)).expect("it can be written");
    reserve(&mut ledger, &promise(0.1, 0.0), &["ada"]).expect("it fits");
    assert!(matches!(ledger.set_budget(planned), Err(LedgerError::Invalid { .. })));
    let mut both = roll(&mut ledger, &["ada", "ben"]);
    assert!(matches!(ledger.set_budget_of(&mut both, planned), Err(LedgerError::Invalid { .. })));
    assert!(matches!(ledger.person("ben"), Err(LedgerError::NoSuchPerson(_))), "nothing was changed");
    let mut ben = roll(&mut ledger, &["ben"]);
    ledger.set_budget_of(&mut ben, planned).expect("he was in no release");
    ledger.set_budget_of(&mut ben, Budget { epsilon: 0.5, ..planned }).expect("it was planned before");
    is_whole(&mut ledger);
}

/// A history of random releases is held against sums in memory, which share nothing with how a ledger stores them.
fn random_histories_add_up(place: &Place) {
    let mut random = Random(7);
    let mut ledger = made(place, 2.0, 1e-6);
    let allowance = Allowance::new(Epsilon::new(2.0).expect("ε"), Delta::new(1e-6).expect("δ"));
    // What counts, by release and name.
    let mut counted: BTreeMap<(u64, String), RunningCost> = BTreeMap::new();
    let spent = |counted: &BTreeMap<(u64, String), RunningCost>, name: &str| {
        let of_name = counted.iter().filter(|((_, whose), _)| whose == name);
        of_name.fold(RunningCost::default(), |sum, (_, cost)| sum.and(*cost))
    };
    let mut open: Vec<u64> = Vec::new();
    let (mut refused, mut accepted) = (0, 0);
    for _ in 0..depth(60, 600) {
        match random.below(4) {
            0 if !open.is_empty() => {
                let id = open.swap_remove(random.below(open.len() as u64) as usize);
                ledger.commit(id, None).expect("it is reserved");
            }
            1 if !open.is_empty() => {
                let id = open.swap_remove(random.below(open.len() as u64) as usize);
                ledger.abort(id, None).expect("it is reserved");
                counted.retain(|(release, _), _| *release != id);
            }
            _ => {
                let (epsilon, delta) = (0.1 * random.below(8) as f64, 1e-9 * random.below(3) as f64);
                let names: Vec<String> =
                    (0..1 + random.below(40)).map(|_| format!("p{}", random.below(60))).collect();
                let mut records: BTreeMap<&str, u32> = BTreeMap::new();
                names.iter().for_each(|name| *records.entry(name).or_default() += 1);
                let costs: Vec<(&str, RunningCost)> = records
                    .into_iter()
                    .map(|(name, count)| (name, group_cost(epsilon, delta, count)))
                    .collect();
                let fits = costs.iter().all(|&(name, cost)| allowance.fits(&spent(&counted, name).and(cost)));
                match reserve(&mut ledger, &promise(epsilon, delta), &names) {
                    Ok(found) => {
                        assert!(fits, "{costs:?}");
                        accepted += 1;
                        open.push(found.id);
                        counted.extend(costs.iter().map(|&(name, cost)| ((found.id, name.to_owned()), cost)));
                    }
                    Err(LedgerError::OverBudget(_)) => {
                        assert!(!fits, "{costs:?}");
                        refused += 1;
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }
    assert!(refused > 3 && accepted > 3, "{refused} {accepted}");
    let mut found = Vec::new();
    ledger
        .people(&mut |person| {
            found.push((person.name.to_owned(), person.share));
            Ok(())
        })
        .expect("it can be read");
    for (name, share) in found {
        assert_eq!(share, allowance.share(&spent(&counted, &name)), "{name}");
    }
    is_whole(&mut ledger);
}

/// What this many records of a person cost, computed once more.
fn group_cost(epsilon: f64, delta: f64, count: u32) -> RunningCost {
    let profile = ApproximateProfile::new(Epsilon::new(epsilon).expect("ε"), Delta::new(delta).expect("δ"));
    let everywhere = dobrushin::account::PlaceCost::everywhere("claim", &profile);
    let count = NonZeroU32::new(count).expect("at least one");
    let profile: PiecewiseProfile = match count {
        NonZeroU32::MIN => everywhere.profile,
        _ => dobrushin::account::cost_of_group(&[everywhere], count),
    };
    RunningCost::of(&profile)
}

fn the_smallest_spend_counts(place: &Place) {
    // An eighth of δ is for what is never private, in units of 2^-120: this budget holds one of them.
    let mut ledger = made(place, 1.0, 7e-36);
    reserve(&mut ledger, &promise(0.0, 1e-320), &["ada"]).expect("one unit is there");
    assert!(share(&mut ledger, "ada") > 0.0);
    assert!(matches!(reserve(&mut ledger, &promise(0.0, 1e-320), &["ada"]), Err(LedgerError::OverBudget(_))));
    reserve(&mut ledger, &promise(0.0, 0.0), &["ada"]).expect("nothing costs nothing");
    ledger.set_budget(budget(1e-300, 0.0)).expect("it can be written");
    assert!(matches!(reserve(&mut ledger, &promise(1e-320, 0.0), &["ben"]), Err(LedgerError::OverBudget(_))));
}

fn no_clock_matters(place: &Place) {
    let mut ledger = made(place, 1.0, 0.0);
    for made in [Some("2126-01-01"), Some("1970-01-01"), None, Some("not a day")] {
        let mut people = roll(&mut ledger, &["ada"]);
        ledger.reserve(&promise(0.25, 0.0), &mut people, made.map(str::to_owned)).expect("it fits");
    }
    assert!(reserve(&mut ledger, &promise(0.25, 0.0), &["ada"]).is_err());
    is_whole(&mut ledger);
}

fn a_budget_of_ones_own_counts(place: &Place) {
    let mut ledger = made(place, 1.0, 0.0);
    let mut few = roll(&mut ledger, &["ada", "ben"]);
    assert_eq!(ledger.set_budget_of(&mut few, budget(0.2, 0.0)).expect("it can be written"), 2);
    let refused =
        reserve(&mut ledger, &promise(0.5, 0.0), &["cy", "ben", "ada"]).expect_err("it is too much");
    assert!(matches!(refused, LedgerError::OverBudget(over) if over.count == 2));
    // Everybody else's may change, and theirs stays.
    ledger.set_budget(budget(10.0, 0.0)).expect("it can be written");
    assert!(reserve(&mut ledger, &promise(0.5, 0.0), &["ada"]).is_err());
    reserve(&mut ledger, &promise(5.0, 0.0), &["cy"]).expect("it fits");
    let standing = ledger.person("ada").expect("she has a budget");
    assert!(standing.own_budget && standing.releases.is_empty() && standing.budget.epsilon == 0.2);
    is_whole(&mut ledger);
}

fn planned_releases_are_composed_exactly(place: &Place) {
    let planned = Budget::new(Epsilon::new(1.0).expect("ε"), Delta::new(1e-6).expect("δ"), Choice::Planned);
    let terms = Terms::new(Neighbours::ReplaceOne, planned, 100, [7; 16]);
    let mut ledger = Ledger::create(place, terms).expect("a new ledger");
    // 22 of these Gaussians are at distance √22·0.05 = 0.2345, where ε is 0.9901; with 23 of them it is 1.0141.
    let bell = dobrushin::profile::GaussianProfile::new(dobrushin::NonNegative::new(0.05).expect("μ"));
    let bell = Spend::of_profile(&bell, "claim", "a bell".to_owned(), serde_json::Value::Null);
    let most = (0..40).take_while(|_| reserve(&mut ledger, &bell, &["ada"]).is_ok()).count();
    assert_eq!(most, 22);
    let standing = ledger.person("ada").expect("she is there");
    assert!(
        standing.planned_epsilon <= 1.0 && standing.planned_epsilon > 0.99,
        "{}",
        standing.planned_epsilon
    );
    is_whole(&mut ledger);
}

fn a_release_that_cannot_be_counted_is_not_reserved(place: &Place) {
    let mut ledger = made(place, f64::MAX, 0.5);
    // Beyond what a sum can hold.
    for _ in 0..3 {
        let _ = reserve(&mut ledger, &promise(f64::MAX, 0.0), &["ada"]);
    }
    assert!(reserve(&mut ledger, &promise(f64::MAX, 0.0), &["ada"]).is_err());
    assert!(reserve(&mut ledger, &promise(0.0, 1.0), &["ben"]).is_err());
    // A budget without an end is none.
    assert!(matches!(ledger.set_budget(budget(f64::INFINITY, 0.0)), Err(LedgerError::Invalid { .. })));
    assert_eq!(ledger.terms().expect("terms").budget.epsilon, f64::MAX);
    is_whole(&mut ledger);
}

fn there_is_one_ledger_in_a_place(place: &Place) {
    assert!(Ledger::open(place).is_err());
    let mut first = made(place, 1.0, 0.0);
    reserve(&mut first, &promise(0.5, 0.0), &["ada"]).expect("it fits");
    let terms = Terms::new(Neighbours::ReplaceOne, budget(9.0, 0.0), 100, [7; 16]);
    assert!(matches!(Ledger::create(place, terms), Err(LedgerError::Store { .. })));
    assert_eq!(first.terms().expect("terms").budget.epsilon, 1.0);
    assert!((share(&mut first, "ada") - 0.5).abs() < 1e-9);
}

fn any_name_is_a_name(place: &Place) {
    let names = ["'; DROP TABLE meta; --", "=1+1", "a\u{0}b", "\u{202e}", "ä", "a\u{308}", "x", " x "];
    let mut ledger = made(place, 1.0, 0.0);
    let reserved = reserve(&mut ledger, &promise(0.1, 0.0), &names).expect("it fits");
    // Spaces around a name do not belong to it; another way to write a letter does.
    assert_eq!((reserved.people, reserved.records), (7, 8));
    assert!((share(&mut ledger, "x") - 0.2).abs() < 1e-6);
    let mut found = Vec::new();
    ledger
        .people(&mut |person| {
            found.push(person.name.to_owned());
            Ok(())
        })
        .expect("it can be read");
    assert!(names.iter().all(|name| found.contains(&name.trim().to_owned())), "{found:?}");
    is_whole(&mut ledger);
}

/// All that a ledger says.
fn everything(ledger: &mut Ledger) -> (Terms, Vec<dobrushin_ledger::Release>, Vec<(String, f64)>) {
    let (mut releases, mut people) = (Vec::new(), Vec::new());
    ledger.releases(&mut |release| releases.push(release)).expect("it can be read");
    ledger
        .people(&mut |person| {
            people.push((person.name.to_owned(), person.share));
            Ok(())
        })
        .expect("it can be read");
    (ledger.terms().expect("terms"), releases, people)
}

/// Random numbers, by xorshift: the same in every run.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }
}
