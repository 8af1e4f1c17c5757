//! Many who use one ledger at the same time: never over budget, and nobody's spend is lost.

use crate::people::{is_whole, made, opened, promise, reserve, share};
use crate::server::Server;
use dobrushin_ledger::{LedgerError, Place};
use dobrushin_reference::depth;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many reserve at once.
const CROWD: usize = 2000;

#[test]
fn two_thousand_at_once_never_overspend_in_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    crowd(&Place::File(folder.path().join("people.ledger")), CROWD);
}

#[test]
fn two_thousand_at_once_never_overspend_in_a_database() {
    let Some(server) = Server::start() else { return };
    // Each of them has a connection, and so a process of the server.
    crowd(&server.place(), depth(500, CROWD));
}

/// Everybody asks for a tenth of Ada's budget, and for as much of one of 400 others' budgets.
fn crowd(place: &Place, size: usize) {
    const OTHERS: usize = 400;
    // Costs are rounded up.
    let mut ledger = made(place, 1.0 + 1e-6, 0.0);
    let (spend, barrier) = (promise(0.1, 0.0), Barrier::new(size));
    let granted = AtomicU64::new(0);
    let (spend, barrier, granted_to) = (&spend, &barrier, &granted);
    std::thread::scope(|scope| {
        for number in 0..size {
            let work = move || {
                let mut mine = opened(place);
                barrier.wait();
                // Every fourth is for somebody else alone.
                let names = match number % 4 {
                    0 => vec![format!("other {}", number / 4 % OTHERS)],
                    _ => vec!["ada".to_owned(), format!("with ada {number}")],
                };
                match reserve(&mut mine, spend, &names) {
                    Ok(reserved) if number % 4 == 0 => {
                        mine.commit(reserved.id, None).map(drop).expect("it is reserved")
                    }
                    // Some fail before anything is released.
                    Ok(reserved) if number % 3 == 0 => {
                        mine.abort(reserved.id, None).map(drop).expect("it is reserved")
                    }
                    Ok(_) => drop(granted_to.fetch_add(1, Ordering::Relaxed)),
                    Err(LedgerError::OverBudget(over)) => assert_eq!(over.first, ["ada"]),
                    Err(error) => panic!("{error}: {:?}", std::error::Error::source(&error)),
                }
            };
            std::thread::Builder::new().stack_size(1 << 20).spawn_scoped(scope, work).expect("a thread");
        }
    });
    let granted = granted.into_inner();
    assert!((1..=10).contains(&granted), "Ada's budget is for ten: {granted}");
    let spent = share(&mut ledger, "ada");
    assert!((spent - 0.1 * granted as f64).abs() < 1e-5, "{spent}");
    // What the last ones aborted is hers again, and no more.
    let more = (0..20).filter(|_| reserve(&mut ledger, spend, &["ada"]).is_ok()).count();
    assert_eq!(more as u64, 10 - granted);
    for other in 0..OTHERS.min(size / 4) {
        let asked = (0..size).filter(|number| number % 4 == 0 && number / 4 % OTHERS == other).count();
        let spent = share(&mut ledger, &format!("other {other}"));
        assert!((spent - 0.1 * asked as f64).abs() < 1e-5, "{other}: {spent} of {asked}");
    }
    is_whole(&mut ledger);
}
